//! Collecting what is wrong, without repeating it.

use rustc_hash::FxHashSet as HashSet;

use crate::source::{Diagnostic, Severity, Span};

/// More errors than this are counted and not shown.
const MAX_ERRORS: usize = 200;

/// How many declared names are looked at for "did you mean": enough for every program that a person wrote.
const MAX_CANDIDATES: usize = 10_000;

/// What has been found so far.
#[derive(Default)]
pub(super) struct Diagnostics {
    list: Vec<Diagnostic>,
    /// A function is checked once for every call: its errors are told once.
    seen: HashSet<(Span, String)>,
    errors: usize,
}

impl Diagnostics {
    /// Adds one, unless it was said before.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.is_full() {
            self.errors += (diagnostic.severity == Severity::Error) as usize;
            return;
        }
        if self
            .seen
            .insert((diagnostic.span, diagnostic.message.clone()))
        {
            self.errors += (diagnostic.severity == Severity::Error) as usize;
            self.list.push(diagnostic);
        }
    }

    /// Whether further errors are only counted.
    pub fn is_full(&self) -> bool {
        self.list.len() >= MAX_ERRORS
    }

    /// Whether there is an error.
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Warnings if there is no error, all errors otherwise, in the order of the text.
    pub fn finish(self) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
        let mut list = self.list;
        list.sort_by_key(|d| d.span);
        if self.errors == 0 {
            return Ok(list);
        }
        let shown = list.len();
        list.retain(|d| d.severity == Severity::Error);
        let hidden = self.errors.saturating_sub(list.len());
        if shown >= MAX_ERRORS && hidden > 0 {
            let last = list.last().map_or(Span::default(), |d| d.span);
            list.push(Diagnostic::error(
                last,
                format!("and {hidden} more errors, which are not shown"),
            ));
        }
        Err(list)
    }

    /// `did you mean …?` with the declared name that is nearest to `wrong`.
    pub fn suggest<'a>(
        &self,
        wrong: &str,
        declared: impl IntoIterator<Item = &'a str>,
    ) -> Option<String> {
        if self.is_full() {
            return None;
        }
        nearest(wrong, declared).map(|name| format!("did you mean `{name}`?"))
    }
}

/// The nearest of the declared names, if it is near enough to be what was meant.
fn nearest<'a>(wrong: &str, declared: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (wrong.len() / 3).clamp(1, 3);
    declared
        .into_iter()
        .take(MAX_CANDIDATES)
        .filter(|name| name.len() <= 64 && name.len().abs_diff(wrong.len()) <= allowed)
        .filter_map(|name| {
            let distance = edit_distance(wrong.as_bytes(), name.as_bytes());
            (distance <= allowed && name != wrong && distance < wrong.len())
                .then_some((distance, name))
        })
        .min()
        .map(|(_, name)| name)
}

/// How many letters must be inserted, removed, changed or swapped with their neighbour; case counts for little.
fn edit_distance(a: &[u8], b: &[u8]) -> usize {
    if a.eq_ignore_ascii_case(b) {
        return 0;
    }
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut current = vec![0; b.len() + 1];
    for (i, x) in a.iter().enumerate() {
        current[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = last[j] + (x != y) as usize;
            let mut best = changed.min(last[j + 1] + 1).min(current[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                best = best.min(before[j - 1] + 1);
            }
            current[j + 1] = best;
        }
        std::mem::swap(&mut before, &mut last);
        std::mem::swap(&mut last, &mut current);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested() {
        assert_eq!(nearest("flg", ["turn", "flag"]), Some("flag"));
        assert_eq!(nearest("Flag", ["turn", "flag"]), Some("flag"));
        assert_eq!(nearest("trun", ["turn", "flag"]), Some("turn"));
        assert_eq!(nearest("something", ["turn", "flag"]), None);
        assert_eq!(nearest("x", ["y", "z"]), None);
    }
}
