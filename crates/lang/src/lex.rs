//! What the smaller front ends share: collecting errors, guessing what was meant, and C-like tokens.

use crate::source::{Diagnostic, Span};

/// After this many errors the rest is only counted: nobody reads more, and a file of 10 MB that is no program at all must not take
/// forever.
const MAX_ERRORS: usize = 1000;

/// Errors and warnings, collected while a parser goes on.
#[derive(Debug, Default)]
pub(crate) struct Errors {
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    dropped: usize,
}

impl Errors {
    pub(crate) fn error(&mut self, diagnostic: Diagnostic) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(diagnostic);
        } else {
            self.dropped += 1;
        }
    }

    pub(crate) fn warn(&mut self, diagnostic: Diagnostic) {
        if self.warnings.len() < MAX_ERRORS {
            self.warnings.push(diagnostic);
        }
    }

    pub(crate) fn any(&self) -> bool {
        !self.errors.is_empty()
    }

    /// The warnings, or everything that is wrong, in the order of the text.
    pub(crate) fn finish(mut self) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
        if self.errors.is_empty() {
            self.warnings.sort_by_key(|d| d.span);
            return Ok(self.warnings);
        }
        self.errors.sort_by_key(|d| d.span);
        if self.dropped > 0 {
            let last = self.errors[self.errors.len() - 1].span;
            self.errors.push(Diagnostic::error(
                last,
                format!("there are {} more errors", self.dropped),
            ));
        }
        Err(self.errors)
    }
}

/// The candidate that was probably meant by a mistyped word, if one is close.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    const MAX_CANDIDATES: usize = 2000;
    if word.len() > 40 {
        return None;
    }
    let allowed = match word.chars().count() {
        0..=2 => 1,
        3..=5 => 2,
        _ => 3,
    };
    candidates
        .take(MAX_CANDIDATES)
        .filter(|c| c.len() <= word.len() + 4 && *c != word)
        .map(|c| (distance(word, c), c))
        .filter(|(d, c)| *d <= allowed && *d < word.len().max(c.len()))
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
}

/// `did you mean …?`, where something is close.
pub(crate) fn did_you_mean<'a>(
    word: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<String> {
    nearest(word, candidates).map(|c| format!("did you mean `{c}`?"))
}

/// Adds a help text, where there is one.
pub(crate) fn with_help(diagnostic: Diagnostic, help: Option<String>) -> Diagnostic {
    match help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

/// Edit distance: insertions, deletions, replacements, case changes for free.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(!x.eq_ignore_ascii_case(y));
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// A text as it is quoted in messages: not longer than a line.
pub(crate) fn quote(text: &str) -> String {
    const LONGEST: usize = 40;
    if text.chars().count() <= LONGEST {
        return format!("`{text}`");
    }
    let short: String = text.chars().take(LONGEST).collect();
    format!("`{short}…`")
}

/// The span of the end of a text, for errors about what is missing there.
pub(crate) fn end_of(text: &str) -> Span {
    let end = text.trim_end().len();
    Span::new(end, end)
}
