//! Fences and other repairs written into the user's own text, with comments and layout kept.

use crate::program::{Language, Op, Order, PlaceId, PlaceKind, Program, ThreadId};
use crate::reordered::fence_statement;
use crate::repair::Repair;
use crate::source::Span;

/// The program's text with a fence at each of these places: what [`Program::with_fences`] does to the program, done to its text.
///
/// A label that some `goto` names stays before the fence, so that a jump there executes it; any other label stays with its
/// statement. On failure, says why the language has no way to write it.
pub fn fenced_text(program: &Program, places: &[PlaceId]) -> Result<String, String> {
    let repairs: Vec<Repair> = places.iter().map(|place| Repair::Fence(*place)).collect();
    repaired_text(program, &repairs)
}

/// The program's text with these repairs: what [`Program::repaired`] does to the program, done to its text.
pub fn repaired_text(program: &Program, repairs: &[Repair]) -> Result<String, String> {
    let mut edits = Vec::new();
    let fence = fence_statement(program.language, Order::SeqCst);
    if program.language == Language::Trencher {
        repair_automata(program, repairs, &mut edits)?;
        edits.sort_by_key(|edit| (edit.at, edit.order));
        return applied(program, &edits);
    }
    for repair in repairs {
        match *repair {
            Repair::Fence(id) => {
                let place = &program.places[id.index()];
                match (program.language, place.kind) {
                    (Language::Litmus, _) => {
                        return Err("fences cannot be written into litmus tests yet".to_owned());
                    }
                    (_, PlaceKind::BeforeStatement) => {
                        edits.push(before_statement(program, place.span, &fence));
                    }
                    (_, PlaceKind::BlockEnd) => {
                        edits.push(at_block_end(program, place.span, &fence));
                    }
                    (_, PlaceKind::State) => {
                        return Err("only automata have states to put fences before".to_owned());
                    }
                }
            }
            Repair::Rmw(span) => rewrite_access(program, span, false, &mut edits)?,
            Repair::SeqCst(span) => rewrite_access(program, span, true, &mut edits)?,
            // It stands there already.
            Repair::Keep(_) => {}
        }
    }
    edits.sort_by_key(|edit| (edit.at, edit.order));
    applied(program, &edits)
}

/// The first file with these changes. Others are included by more programs than this one: they are not changed.
pub(crate) fn applied(program: &Program, edits: &[Edit]) -> Result<String, String> {
    let text = program.source.text();
    let other = edits.iter().find(|edit| edit.at > text.len());
    if let Some(edit) = other {
        let place = program.source.place(edit.at as u32);
        return Err(format!(
            "{place} is in an included file, which is not changed"
        ));
    }
    Ok(apply(text, edits))
}

/// The program's text without these fences: what [`Program::without_fences`] does to the program, done to its text.
pub fn text_without_fences(program: &Program, fences: &[Span]) -> Result<String, String> {
    let mut edits = Vec::new();
    for &span in fences {
        edits.push(without_fence(program, span)?);
    }
    edits.sort_by_key(|edit| (edit.at, edit.order));
    applied(program, &edits)
}

/// Takes a fence out of the text.
pub(crate) fn without_fence(program: &Program, span: Span) -> Result<Edit, String> {
    let text = program.source.whole_text();
    let (start, end) = (span.start as usize, span.end as usize);
    Ok(match program.language {
        Language::Litmus => {
            return Err("fences cannot be taken out of litmus tests yet".to_owned());
        }
        Language::Trencher => {
            let (at, removed) = token(text, span, 3)
                .ok_or_else(|| "this fence is not where it should be".to_owned())?;
            Edit {
                at,
                removed,
                text: "noop".to_owned(),
                order: AFTER_INSERTIONS,
            }
        }
        // A label needs a statement.
        _ if !labels_before(program, start).0.is_empty() => Edit {
            at: start,
            removed: end - start,
            text: "skip;".to_owned(),
            order: AFTER_INSERTIONS,
        },
        _ => without_statement(text, start, end),
    })
}

/// Takes a statement out, with its line if nothing else is in it.
pub(crate) fn without_statement(text: &str, start: usize, end: usize) -> Edit {
    let rest = &text[end..];
    let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let after = &rest[blanks..];
    let line_end = ["\r\n", "\n"].iter().find(|e| after.starts_with(**e));
    let (at, end) = match (indentation(text, start), line_end) {
        (Some(before), Some(newline)) => (start - before.len(), end + blanks + newline.len()),
        // The last of its line: what stands before it is followed by nothing.
        (None, Some(_)) => (text[..start].trim_end_matches([' ', '\t']).len(), end),
        _ => (start, end + blanks),
    };
    Edit {
        at,
        removed: end - at,
        text: String::new(),
        order: AFTER_INSERTIONS,
    }
}

/// Puts `text` in the place of `removed` bytes.
pub(crate) struct Edit {
    pub at: usize,
    pub removed: usize,
    pub text: String,
    /// Which of two edits at the same offset comes first: what ends an access, then what belongs before a statement, then what changes it or takes it out.
    /// Of two ends, that of the inner access comes first, which begins later.
    pub order: (u8, i64),
}

/// Where something is taken out, what is put in at the same place comes first.
const AFTER_INSERTIONS: (u8, i64) = (3, 0);

impl Edit {
    /// The same, counted from further on in the text.
    pub fn moved_by(&self, start: usize) -> Self {
        Edit {
            at: self.at - start,
            removed: self.removed,
            text: self.text.clone(),
            order: self.order,
        }
    }
}

pub(crate) fn apply(text: &str, edits: &[Edit]) -> String {
    let mut result = String::with_capacity(text.len() + 32 * edits.len());
    let mut done = 0;
    for edit in edits {
        result.push_str(&text[done..edit.at]);
        result.push_str(&edit.text);
        done = edit.at + edit.removed;
    }
    result.push_str(&text[done..]);
    result
}

fn insertion(at: usize, text: String) -> Edit {
    Edit {
        at,
        removed: 0,
        text,
        order: (1, 0),
    }
}

/// The blanks before `at` if nothing else stands before it in its line.
fn indentation(text: &str, at: usize) -> Option<&str> {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let before = &text[start..at];
    before.trim().is_empty().then_some(before)
}

/// How the lines of the text end.
fn line_end(text: &str) -> &'static str {
    match text.split_once('\n') {
        Some((line, _)) if line.ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// A line of its own where the statement begins its line, otherwise in the same line.
fn statement_before(text: &str, at: usize, statement: &str) -> Edit {
    insertion(
        at,
        match indentation(text, at) {
            Some(blanks) => format!("{statement}{}{blanks}", line_end(text)),
            None => format!("{statement} "),
        },
    )
}

pub(crate) fn before_statement(program: &Program, span: Span, fence: &str) -> Edit {
    let text = program.source.whole_text();
    let bare = span.start as usize;
    let (labels, start) = labels_before(program, bare);
    if labels.iter().any(|label| has_goto(text, label)) {
        return statement_before(text, bare, fence);
    }
    statement_before(text, start, fence)
}

/// The labels of the statement that begins at `bare`, and where the first of them stands.
fn labels_before(program: &Program, bare: usize) -> (Vec<&str>, usize) {
    let text = program.source.whole_text();
    let mut labels = Vec::new();
    let mut start = bare;
    let belongs = |span: Span, start: usize| {
        let colon = skip_blanks(text, span.end as usize);
        text[colon..].starts_with(':') && skip_blanks(text, colon + 1) == start
    };
    let all = || program.threads.iter().flat_map(|thread| &thread.labels);
    while let Some(label) =
        all().find(|label| (label.span.end as usize) < start && belongs(label.span, start))
    {
        labels.push(program.source.slice(label.span));
        start = label.span.start as usize;
    }
    (labels, start)
}

pub(crate) fn at_block_end(program: &Program, close: Span, fence: &str) -> Edit {
    let text = program.source.whole_text();
    let at = close.start as usize;
    match indentation(text, at) {
        Some(blanks) => insertion(at, format!("  {fence}{}{blanks}", line_end(text))),
        None => insertion(at, format!("{fence} ")),
    }
}

pub(crate) fn word_length(text: &str) -> usize {
    text.bytes()
        .take_while(|b| b.is_ascii_alphanumeric() || *b == b'_')
        .count()
}

/// The offset of the next thing that is neither blank nor comment.
pub(crate) fn skip_blanks(text: &str, mut at: usize) -> usize {
    loop {
        let rest = &text[at..];
        let trimmed = rest.trim_start();
        at += rest.len() - trimmed.len();
        if trimmed.starts_with("//") {
            at += trimmed.find('\n').unwrap_or(trimmed.len());
        } else if trimmed.starts_with("/*") {
            at += trimmed.find("*/").map_or(trimmed.len(), |end| end + 2);
        } else {
            return at;
        }
    }
}

/// Whether some `goto` names the label. A mention in a comment counts too: then the fence stands behind the label for no reason, which
/// does no harm.
fn has_goto(text: &str, label: &str) -> bool {
    text.match_indices("goto").any(|(at, goto)| {
        let name = skip_blanks(text, at + goto.len());
        let length = word_length(&text[name..]);
        &text[name..name + length] == label
    })
}

/// In an automaton: a state with a fence gets a twin, a fence leads from the one to the other, and everything that left the one leaves the other. An access
/// that becomes a read-modify-write goes from a new state, to which `lock` leads, to another, which `unlock` leaves; one that becomes `seqcst` goes
/// to a new state that an `mfence` leaves.
fn repair_automata(
    program: &Program,
    repairs: &[Repair],
    edits: &mut Vec<Edit>,
) -> Result<(), String> {
    let text = program.source.whole_text();
    let unknown = || "an automaton without names of states cannot be written back".to_owned();
    for (index, thread) in program.threads.iter().enumerate() {
        let mut taken: Vec<String> = (thread.points.iter())
            .filter_map(|point| point.name.clone())
            .collect();
        let mut new_state = |state: &str, purpose: &str| {
            let name = (1..)
                .map(|n| match n {
                    1 => format!("{state}_{purpose}"),
                    _ => format!("{state}_{purpose}{n}"),
                })
                .find(|name| !taken.contains(name))
                .unwrap_or_default();
            taken.push(name.clone());
            name
        };
        // The states that are split, each with its twin.
        let mut twins: Vec<(PlaceId, String)> = Vec::new();
        for repair in repairs {
            let Repair::Fence(place) = *repair else {
                continue;
            };
            let written = &program.places[place.index()];
            if written.thread != Some(ThreadId(index as u32)) {
                continue;
            }
            let state = written.name.as_ref().ok_or_else(unknown)?;
            let twin = new_state(state, "fenced");
            let fence = format!("transition {state} {twin} mfence");
            edits.push(statement_before(text, written.span.start as usize, &fence));
            twins.push((place, twin));
        }
        // A state that is reached with and without the lock is two points, so that an instruction may be there twice.
        let mut done: Vec<Span> = Vec::new();
        for transition in &thread.transitions {
            let place = thread.points[transition.from.index()].place;
            let twin = (twins.iter()).find_map(|(id, twin)| (Some(*id) == place).then_some(twin));
            let shows = |wanted: fn(&Repair) -> bool| {
                repairs.iter().any(|r| wanted(r) && r.changes(transition))
            };
            let locked = shows(|r| matches!(r, Repair::Rmw(_)));
            let fenced = shows(|r| matches!(r, Repair::SeqCst(_)));
            if twin.is_none() && !locked && !fenced || done.contains(&transition.span) {
                continue;
            }
            done.push(transition.span);
            let word = |number| token(text, transition.span, number).ok_or_else(unknown);
            let replace = |(at, length): (usize, usize), name: &str| Edit {
                at,
                removed: length,
                text: name.to_owned(),
                order: (3, 0),
            };
            let (from, to) = (word(1)?, word(2)?);
            let named = |(at, length): (usize, usize)| &text[at..at + length];
            let mut state = twin.map_or_else(|| named(from).to_owned(), Clone::clone);
            let mut before = Vec::new();
            if locked {
                let inside = new_state(named(from), "locked");
                before.push(format!("transition {state} {inside} lock"));
                state = inside;
            }
            if locked || fenced {
                let (purpose, leaving) = match locked {
                    true => ("unlock", "unlock"),
                    false => ("stored", "mfence"),
                };
                let behind = new_state(named(from), purpose);
                before.push(format!("transition {behind} {} {leaving}", named(to)));
                edits.push(replace(to, &behind));
            }
            if state != named(from) {
                edits.push(replace(from, &state));
            }
            for statement in before {
                let at = transition.span.start as usize;
                edits.push(statement_before(text, at, &statement));
            }
        }
    }
    Ok(())
}

/// A token of `transition FROM TO …`, counted from 0: offset and length. `#` begins a comment to the end of the line.
fn token(text: &str, span: Span, wanted: usize) -> Option<(usize, usize)> {
    let end = span.end as usize;
    let mut at = span.start as usize;
    let mut tokens = 0;
    while at < end {
        let rest = &text[at..end];
        let first = rest.chars().next()?;
        if first.is_whitespace() {
            at += first.len_utf8();
        } else if first == '#' {
            at += rest.find('\n').unwrap_or(rest.len());
        } else {
            let length = rest
                .find(|c: char| c.is_whitespace() || c == '#')
                .unwrap_or(rest.len());
            if tokens == wanted {
                return Some((at, length));
            }
            tokens += 1;
            at += length;
        }
    }
    None
}

/// Turns a store into an exchange (or, with `seqcst`, into a `seqcst` store), or a load into an addition of 0.
fn rewrite_access(
    program: &Program,
    span: Span,
    seqcst: bool,
    edits: &mut Vec<Edit>,
) -> Result<(), String> {
    let cannot = || {
        let at = program.source.line_column(span.start);
        format!("the access at {at} cannot be written as a read-modify-write in this language")
    };
    let (exchange, add) = match program.language {
        Language::Pal => ("xchg(", "fadd("),
        Language::Tpl => ("exchange(", "FADD("),
        Language::Trencher | Language::Litmus | Language::C | Language::Rust => {
            return Err(cannot());
        }
    };
    let all = program.threads.iter().flat_map(|t| &t.transitions);
    let is_store = all
        .filter(|t| t.span == span)
        .find_map(|t| match t.op {
            Op::Store { .. } => Some(true),
            Op::Load { .. } => Some(false),
            _ => None,
        })
        .ok_or_else(cannot)?;
    let text = program.source.slice(span);
    let base = span.start as usize;
    let (mut begin, end) = (0, text.trim_end_matches(';').trim_end().len());
    let opener = |at: usize, word: &str| Edit {
        at: base + at,
        removed: 0,
        text: word.to_owned(),
        order: (2, -i64::from(span.end)),
    };
    let closer = |at: usize, word: &str| Edit {
        at: base + at,
        removed: 0,
        text: word.to_owned(),
        order: (0, -i64::from(span.start)),
    };
    let change = |from: usize, to: usize, word: &str| Edit {
        at: base + from,
        removed: to - from,
        text: word.to_owned(),
        order: (3, 0),
    };
    // `unlock(x)` stores 0.
    if is_store && program.language == Language::Tpl && text.starts_with("unlock") {
        edits.push(change(0, text.find('(').ok_or_else(cannot)? + 1, exchange));
        edits.push(closer(text[..end].rfind(')').ok_or_else(cannot)?, ", 0"));
        return Ok(());
    }
    // `r = x.load();` is one instruction there.
    if !is_store && program.language == Language::Tpl {
        let assign = top_level(text, "=").ok_or_else(cannot)?;
        begin = skip_blanks(text, assign + 1);
    }
    let word = if is_store { "store" } else { "load" };
    // `place . word (`: the place's end and what stands behind the parenthesis.
    let method = top_level(&text[begin..end], ".").and_then(|dot| {
        let dot = begin + dot;
        let name = skip_blanks(text, dot + 1);
        let open = skip_blanks(text, name + word_length(&text[name..]));
        let is_it = &text[name..name + word_length(&text[name..])] == word;
        (is_it && text[open..].starts_with('(')).then_some((dot, open + 1))
    });
    match (is_store, method, seqcst) {
        (true, Some((dot, arguments)), false) => {
            edits.push(opener(begin, exchange));
            edits.push(change(dot, arguments, ", "));
        }
        (true, Some(_), true) => {
            let close = text[..end].rfind(')').ok_or_else(cannot)?;
            edits.push(closer(close, ", seqcst"));
        }
        (true, None, _) => {
            let assign = top_level(text, "=").ok_or_else(cannot)?;
            let value = assign + 1 + text[assign + 1..].len()
                - text[assign + 1..].trim_start_matches([' ', '\t']).len();
            let place = text[..assign].trim_end_matches([' ', '\t']).len();
            if seqcst {
                edits.push(change(place, value, ".store("));
                edits.push(closer(end, ", seqcst)"));
            } else {
                edits.push(opener(begin, exchange));
                edits.push(change(place, value, ", "));
                edits.push(closer(end, ")"));
            }
        }
        (false, Some((dot, _)), _) => {
            let close = text[..end].rfind(')').ok_or_else(cannot)?;
            edits.push(opener(begin, add));
            edits.push(change(dot, close, ", 0"));
        }
        (false, None, _) => {
            edits.push(opener(begin, add));
            edits.push(closer(end, ", 0)"));
        }
    }
    Ok(())
}

/// Where a sign stands outside all brackets and comments; `=` is not part of a comparison.
pub(crate) fn top_level(text: &str, sign: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0usize;
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        if rest.starts_with(b"//") || rest.starts_with(b"/*") {
            at = skip_blanks(text, at);
            continue;
        }
        if depth == 0 && rest.starts_with(sign.as_bytes()) {
            let beside = |other: Option<&u8>| other.is_some_and(|b| b"=!<>".contains(b));
            if sign != "=" || !(beside(rest.get(1)) || at > 0 && beside(bytes.get(at - 1))) {
                return Some(at);
            }
        }
        match rest[0] {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::equal::same_program;
    use crate::parse::{ParseOptions, parse};
    use crate::source::Source;

    fn program(name: &str, text: &str) -> Program {
        let source = Source::new(name, text);
        match parse(&source, &ParseOptions::default()) {
            Ok(parsed) => parsed.program,
            Err(errors) => panic!("{name}: {errors:?}\n{text}"),
        }
    }

    /// The text with fences at all places whose line is in `lines`.
    fn fenced(name: &str, text: &str, lines: &[u32]) -> String {
        let program = program(name, text);
        let places: Vec<PlaceId> = (0..program.places.len() as u32)
            .map(PlaceId)
            .filter(|place| {
                let span = program.places[place.index()].span;
                lines.contains(&program.source.line_column(span.start).line)
            })
            .collect();
        let result = fenced_text(&program, &places).unwrap();
        let again = self::program(name, &result);
        same_program(&program.with_fences(&places), &again).unwrap();
        result
    }

    #[test]
    fn ends_of_lines_stay() {
        let text = "shared x, y;\r\nthread p {\r\n\tx = 1;\r\n\tlet r = y;\r\n}\r\n";
        let expected =
            "shared x, y;\r\nthread p {\r\n\tx = 1;\r\n\tfence;\r\n\tlet r = y;\r\n}\r\n";
        assert_eq!(fenced("a.pal", text, &[4]), expected);
    }

    #[test]
    fn layout_and_comments_stay() {
        let text = "shared x, y; // two\nthread p {\n  x = 1; // first\n  let r = y;\n}\n";
        assert_eq!(
            fenced("a.pal", text, &[4]),
            "shared x, y; // two\nthread p {\n  x = 1; // first\n  fence;\n  let r = y;\n}\n"
        );
        assert_eq!(
            fenced("a.pal", text, &[5]),
            "shared x, y; // two\nthread p {\n  x = 1; // first\n  let r = y;\n  fence;\n}\n"
        );
        assert_eq!(
            fenced("a.pal", "shared x;\nthread p { loop {\nx = 1;\n} }", &[3]),
            "shared x;\nthread p { loop {\nfence;\nx = 1;\n} }"
        );
    }

    #[test]
    fn several_statements_in_a_line() {
        assert_eq!(
            fenced("a.pal", "shared x; thread p { x = 1; }", &[1]),
            "shared x; thread p { fence; x = 1; fence; }"
        );
    }

    #[test]
    fn labels_that_are_jumped_to_stay_before_the_fence() {
        assert_eq!(
            fenced(
                "a.pal",
                "shared x;\nthread p {\n  l: x = 1;\n  goto l;\n}",
                &[3]
            ),
            "shared x;\nthread p {\n  l: fence; x = 1;\n  goto l;\n}"
        );
        assert_eq!(
            fenced(
                "a.pal",
                "shared x;\nthread p {\n  l: x = 1;\n}\nnever p@l;",
                &[3]
            ),
            "shared x;\nthread p {\n  fence;\n  l: x = 1;\n}\nnever p@l;"
        );
    }

    #[test]
    fn states_are_split() {
        let text = "thread t\ninitial q\ntransition q r write 1 0 # one\n  transition  q  q read a 1\n\
                    transition r q_fenced noop\nend\n";
        assert_eq!(
            fenced("a.txt", text, &[3]),
            "thread t\ninitial q\ntransition q q_fenced2 mfence\ntransition q_fenced2 r write 1 0 # one\n  \
             transition  q_fenced2  q read a 1\ntransition r q_fenced noop\nend\n"
        );
    }

    #[test]
    fn accesses_of_automata() {
        let text = "thread t\ninitial q\ntransition q r write 1 0 # one\ntransition r s read a 1\ntransition s q check a\nend\n";
        let program = program("a.txt", text);
        let place = |name: &str| {
            let mut places = program.places.iter();
            let index = places.position(|p| p.name.as_deref() == Some(name));
            Repair::Fence(PlaceId(index.unwrap() as u32))
        };
        let rmw = program.rmw_repairs();
        let order = program.order_repairs();
        assert_eq!((rmw.len(), order.len()), (2, 1));
        for (repairs, expected) in [
            (
                vec![rmw[0]],
                "thread t\ninitial q\ntransition q q_locked lock\ntransition q_unlock r unlock\n\
                 transition q_locked q_unlock write 1 0 # one\ntransition r s read a 1\ntransition s q check a\nend\n",
            ),
            (
                vec![order[0], place("q")],
                "thread t\ninitial q\ntransition q q_fenced mfence\ntransition q_stored r mfence\n\
                 transition q_fenced q_stored write 1 0 # one\ntransition r s read a 1\ntransition s q check a\nend\n",
            ),
            (
                vec![rmw[1], place("r")],
                "thread t\ninitial q\ntransition q r write 1 0 # one\ntransition r r_fenced mfence\n\
                 transition r_fenced r_locked lock\ntransition r_unlock s unlock\n\
                 transition r_locked r_unlock read a 1\ntransition s q check a\nend\n",
            ),
        ] {
            let new = repaired_text(&program, &repairs).unwrap();
            assert_eq!(new, expected);
            let again = self::program("a.txt", &new);
            same_program(&program.repaired(&repairs), &again).unwrap();
        }
    }

    #[test]
    fn toy_programs() {
        let text = "global x;\nfn p {\n  local r;\n  l: r = x.load();\n  if (r) goto l;\n}\n";
        assert_eq!(
            fenced("a.tpl", text, &[4, 5]),
            "global x;\nfn p {\n  local r;\n  l: fence; r = x.load();\n  fence;\n  if (r) goto l;\n}\n"
        );
    }

    #[test]
    fn accesses_become_read_modify_writes() {
        let text = "shared x, y[2], p;\nthread t {\n  x = y[x]; // c\n  y[0].store(*p);\n  *p = 1;\n  \
                    if x == 1 && y[1].load() != x { x = 0; }\n}\n";
        let program = program("a.pal", text);
        let repairs = program.rmw_repairs();
        let new = repaired_text(&program, &repairs).unwrap();
        assert_eq!(
            new,
            "shared x, y[2], p;\nthread t {\n  xchg(x, fadd(y[fadd(x, 0)], 0)); // c\n  \
             xchg(y[0], fadd(*fadd(p, 0), 0));\n  xchg(*fadd(p, 0), 1);\n  \
             if fadd(x, 0) == 1 && fadd(y[1], 0) != fadd(x, 0) { xchg(x, 0); }\n}\n"
        );
        let again = self::program("a.pal", &new);
        same_program(&program.repaired(&repairs), &again).unwrap();
    }

    #[test]
    fn stores_become_seqcst() {
        let text = "shared x, y;\nthread t {\n  x = y;\n  y.store(2);\n}\n";
        let program = program("a.pal", text);
        let repairs = program.order_repairs();
        let new = repaired_text(&program, &repairs).unwrap();
        assert_eq!(
            new,
            "shared x, y;\nthread t {\n  x.store(y, seqcst);\n  y.store(2, seqcst);\n}\n"
        );
        let again = self::program("a.pal", &new);
        same_program(&program.repaired(&repairs), &again).unwrap();
    }

    #[test]
    fn accesses_of_toy_programs() {
        let text = "global x, l;\nfn p {\n  local r;\n  lock(l);\n  r = x.load();\n  x.store(r + 1);\n  unlock(l);\n}\n";
        let program = program("a.tpl", text);
        let repairs = program.rmw_repairs();
        let new = repaired_text(&program, &repairs).unwrap();
        assert_eq!(
            new,
            "global x, l;\nfn p {\n  local r;\n  lock(l);\n  r = FADD(x, 0);\n  exchange(x, r + 1);\n  exchange(l, 0);\n}\n"
        );
        let again = self::program("a.tpl", &new);
        same_program(&program.repaired(&repairs), &again).unwrap();
    }

    #[test]
    fn fences_are_taken_out() {
        let text = "shared x;\nthread t {\n  x = 1;\n  fence;\n  fence; // why\n  l: fence; x = 2; fence;\n  x = 3; fence; x = 4;\n}\nnever t@l;\n";
        let program = program("a.pal", text);
        let fences = program.existing_fences();
        let new = text_without_fences(&program, &fences).unwrap();
        assert_eq!(
            new,
            "shared x;\nthread t {\n  x = 1;\n  // why\n  l: skip; x = 2;\n  x = 3; x = 4;\n}\nnever t@l;\n"
        );
        let again = self::program("a.pal", &new);
        same_program(&program.without_fences(&fences), &again).unwrap();
        let text =
            "thread t\ninitial q\ntransition q r mfence # m\ntransition r s write 1 0\nend\n";
        let program = self::program("a.txt", text);
        let new = text_without_fences(&program, &program.existing_fences()).unwrap();
        assert_eq!(new, text.replace("mfence", "noop"));
    }

    /// At each single place of each program that comes with the project.
    #[test]
    fn the_text_says_what_the_program_says() {
        let mut directories = vec![std::path::PathBuf::from(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../programs"
        ))];
        let mut checked = 0;
        while let Some(directory) = directories.pop() {
            for entry in std::fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    directories.push(path);
                } else if path.extension().is_some_and(|e| e == "pal") {
                    let text = std::fs::read_to_string(&path).unwrap();
                    let program = program("a.pal", &text);
                    for place in (0..program.places.len() as u32).map(PlaceId) {
                        let new = fenced_text(&program, &[place]).unwrap();
                        let again = self::program("a.pal", &new);
                        same_program(&program.with_fences(&[place]), &again)
                            .unwrap_or_else(|e| panic!("{}: {e}\n{new}", path.display()));
                        checked += 1;
                    }
                }
            }
        }
        assert!(checked > 1000, "{checked}");
    }
}
