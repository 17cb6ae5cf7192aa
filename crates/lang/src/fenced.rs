//! Fences written into the user's own text, with comments and layout kept.

use crate::program::{Language, PlaceId, PlaceKind, PointId, Program};
use crate::source::Span;

/// The program's text with a fence at each of these places: what [`Program::with_fences`] does to the program, done to its text.
///
/// A label that some `goto` names stays before the fence, so that whoever jumps there executes it; any other label stays with its
/// statement. On failure, says why the language has no way to write it.
pub fn fenced_text(program: &Program, places: &[PlaceId]) -> Result<String, String> {
    let mut edits = Vec::new();
    for (index, place) in program.places.iter().enumerate() {
        let id = PlaceId(index as u32);
        if !places.contains(&id) {
            continue;
        }
        match (program.language, place.kind) {
            (Language::Litmus, _) => {
                return Err("fences cannot be written into litmus tests yet".to_owned());
            }
            (_, PlaceKind::BeforeStatement) => edits.push(before_statement(program, place.span)),
            (_, PlaceKind::BlockEnd) => edits.push(at_block_end(program, place.span)),
            (_, PlaceKind::State) => split_state(program, id, &mut edits)?,
        }
    }
    edits.sort_by_key(|edit| (edit.at, edit.order));
    Ok(apply(program.source.text(), &edits))
}

/// Puts `text` in the place of `removed` bytes.
struct Edit {
    at: usize,
    removed: usize,
    text: String,
    /// Which of two edits at the same offset comes first: what belongs before a statement comes before what changes it.
    order: u8,
}

fn apply(text: &str, edits: &[Edit]) -> String {
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
        order: 0,
    }
}

/// The blanks before `at` if nothing else stands before it in its line.
fn indentation(text: &str, at: usize) -> Option<&str> {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let before = &text[start..at];
    before.trim().is_empty().then_some(before)
}

/// A line of its own where the statement begins its line, otherwise in the same line.
fn statement_before(text: &str, at: usize, statement: &str) -> Edit {
    insertion(
        at,
        match indentation(text, at) {
            Some(blanks) => format!("{statement}\n{blanks}"),
            None => format!("{statement} "),
        },
    )
}

fn before_statement(program: &Program, span: Span) -> Edit {
    let text = program.source.text();
    let bare = span.start as usize;
    let (labels, start) = labels_before(program, bare);
    if labels.iter().any(|label| has_goto(text, label)) {
        return statement_before(text, bare, "fence;");
    }
    statement_before(text, start, "fence;")
}

/// The labels of the statement that begins at `bare`, and where the first of them stands.
fn labels_before(program: &Program, bare: usize) -> (Vec<&str>, usize) {
    let text = program.source.text();
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

fn at_block_end(program: &Program, close: Span) -> Edit {
    let text = program.source.text();
    let at = close.start as usize;
    match indentation(text, at) {
        Some(blanks) => insertion(at, format!("  fence;\n{blanks}")),
        None => insertion(at, "fence; ".to_owned()),
    }
}

fn word_length(text: &str) -> usize {
    text.bytes()
        .take_while(|b| b.is_ascii_alphanumeric() || *b == b'_')
        .count()
}

/// The offset of the next thing that is neither blank nor comment.
fn skip_blanks(text: &str, mut at: usize) -> usize {
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

/// In an automaton: the state gets a twin, a fence leads from the one to the other, and everything that left the one leaves the other.
fn split_state(program: &Program, place: PlaceId, edits: &mut Vec<Edit>) -> Result<(), String> {
    let text = program.source.text();
    let unknown = || "an automaton without names of states cannot be written back".to_owned();
    let written = &program.places[place.index()];
    let thread = written.thread.ok_or_else(unknown)?;
    let thread = program.thread(thread);
    let state = written.name.as_ref().ok_or_else(unknown)?;
    let is_taken = |name: &str| {
        let mut points = thread.points.iter();
        points.any(|point| point.name.as_deref() == Some(name))
    };
    let twin = (1..)
        .map(|n| {
            format!(
                "{state}_fenced{}",
                if n == 1 { String::new() } else { n.to_string() }
            )
        })
        .find(|name| !is_taken(name))
        .ok_or_else(unknown)?;
    let fence = format!("transition {state} {twin} mfence");
    edits.push(statement_before(text, written.span.start as usize, &fence));
    for (index, point) in thread.points.iter().enumerate() {
        if point.place != Some(place) {
            continue;
        }
        for transition in thread.outgoing(PointId(index as u32)) {
            let (at, length) = second_token(text, transition.span).ok_or_else(unknown)?;
            edits.push(Edit {
                at,
                removed: length,
                text: twin.clone(),
                order: 1,
            });
        }
    }
    Ok(())
}

/// The second token of `transition FROM TO …`: offset and length. `#` begins a comment to the end of the line.
fn second_token(text: &str, span: Span) -> Option<(usize, usize)> {
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
            tokens += 1;
            if tokens == 2 {
                return Some((at, length));
            }
            at += length;
        }
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
    fn toy_programs() {
        let text = "global x;\nfn p {\n  local r;\n  l: r = x.load();\n  if (r) goto l;\n}\n";
        assert_eq!(
            fenced("a.tpl", text, &[4, 5]),
            "global x;\nfn p {\n  local r;\n  l: fence; r = x.load();\n  fence;\n  if (r) goto l;\n}\n"
        );
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
