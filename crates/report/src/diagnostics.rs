//! What is wrong with a program's text: file, line, column, the excerpt, what was expected, what was probably meant.

use crate::look::Look;
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use palisade_lang::{Diagnostic, Severity, Source, Span};

/// Lines longer than this are not shown: they could not be read.
const LONGEST_LINE: usize = 2000;

/// All of them, each with its place, with an empty line after each.
pub fn render(source: &Source, diagnostics: &[Diagnostic], look: Look) -> String {
    let renderer = if look.colour {
        Renderer::styled()
    } else {
        Renderer::plain()
    }
    .decor_style(DecorStyle::Ascii)
    .term_width(look.width);
    let mut result = String::new();
    for diagnostic in diagnostics {
        result.push_str(&renderer.render(&[group(source, diagnostic)]));
        result.push_str("\n\n");
    }
    result
}

fn group<'a>(source: &'a Source, diagnostic: &'a Diagnostic) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = level
        .primary_title(diagnostic.message.as_str())
        .element(place(source, diagnostic));
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    group
}

/// The line with the place marked; only `file:line:column` where there is nothing to show.
fn place<'a>(source: &'a Source, diagnostic: &'a Diagnostic) -> Element<'a> {
    let at = source.line_column(diagnostic.span.start);
    let line = source.line_text_at(diagnostic.span.start);
    let name = source.file_at(diagnostic.span.start).name;
    if line.trim().is_empty() || line.len() > LONGEST_LINE {
        return Origin::path(name)
            .line(at.line as usize)
            .char_column(at.column as usize)
            .into();
    }
    let range = within_line(line, at.column, diagnostic.span);
    let mut annotation = AnnotationKind::Primary.span(range);
    if !diagnostic.label.is_empty() {
        annotation = annotation.label(diagnostic.label.as_str());
    }
    Snippet::source(line)
        .path(name)
        .line_start(at.line as usize)
        .annotation(annotation)
        .into()
}

/// The part of the span that lies in its first line, in bytes of the line; at least one character where there is one.
fn within_line(line: &str, column: u32, span: Span) -> std::ops::Range<usize> {
    let start = line
        .char_indices()
        .nth(column.saturating_sub(1) as usize)
        .map_or(line.len(), |(at, _)| at);
    let length = span.end.saturating_sub(span.start) as usize;
    let mut end = (start + length).min(line.len());
    while !line.is_char_boundary(end) {
        end += 1;
    }
    let next = line[start..].chars().next().map_or(0, char::len_utf8);
    start..end.max(start + next)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str, diagnostics: &[Diagnostic]) -> String {
        render(&Source::new("lock.pal", text), diagnostics, Look::PLAIN)
    }

    #[test]
    fn a_place_with_a_label_and_help() {
        let text = "shared flag, turn;\nthread p {\n  flga = 1;\n}\n";
        let at = text.find("flga").unwrap();
        insta::assert_snapshot!(show(
            text,
            &[
                Diagnostic::error(Span::new(at, at + 4), "`flga` was never declared")
                    .label("no such name")
                    .help("did you mean `flag`?"),
                Diagnostic::warning(Span::new(0, 18), "`turn` is never used"),
            ]
        ));
    }

    #[test]
    fn the_end_of_the_text_has_nothing_to_show() {
        let text = "thread p {\n";
        insta::assert_snapshot!(show(
            text,
            &[Diagnostic::error(
                Span::new(text.len(), text.len()),
                "expected `}`, found the end"
            ),]
        ));
    }

    #[test]
    fn odd_spans_do_no_harm() {
        for text in ["", "\n", "ä", "ää\u{0}", &"x".repeat(5000)] {
            for start in 0..4 {
                for end in 0..9 {
                    let diagnostic = Diagnostic::error(Span { start, end }, "odd");
                    assert!(show(text, &[diagnostic]).contains("odd"));
                }
            }
        }
    }
}
