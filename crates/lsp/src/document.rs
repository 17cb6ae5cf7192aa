//! A text in the editor: places in it as the protocol counts them, and what is wrong with it.

use lsp_types::{
    Diagnostic, DiagnosticSeverity, Position, Range, TextDocumentContentChangeEvent, Uri,
};
use palisade::{Input, Reading, limits};
use palisade_lang::parse::guess_language;
use palisade_lang::{Language, Severity, Source, Span};
use palisade_report::Failure;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Longer texts are not read while they are edited.
const MOST_WHILE_EDITING: usize = 1 << 20;
/// Reading takes no longer than this while a text is edited.
const LONGEST_WHILE_EDITING: Duration = Duration::from_secs(2);

/// A text that is open.
#[derive(Clone, Debug)]
pub struct Document {
    pub uri: Uri,
    /// The file's name, where it has one: includes are looked for beside it.
    pub name: String,
    pub text: Arc<str>,
    pub version: i32,
}

impl Document {
    pub fn new(uri: Uri, text: String, version: i32) -> Document {
        Document {
            name: path(&uri),
            uri,
            text: text.into(),
            version,
        }
    }

    pub fn language(&self) -> Language {
        guess_language(&Source::new(self.name.as_str(), &*self.text))
    }

    /// A change of the whole text, or of a range.
    pub fn change(&mut self, change: TextDocumentContentChangeEvent) {
        self.text = match change.range {
            None => change.text.into(),
            Some(range) => {
                let (from, to) = (self.offset(range.start), self.offset(range.end));
                let (from, to) = (from.min(to), from.max(to));
                let (before, after) = (&self.text[..from], &self.text[to..]);
                format!("{before}{}{after}", change.text).into()
            }
        };
    }

    /// The byte offset of a place; the nearest one where there is no such place.
    pub fn offset(&self, at: Position) -> usize {
        let mut start = 0;
        for _ in 0..at.line {
            match self.text[start..].find('\n') {
                Some(length) => start += length + 1,
                None => return self.text.len(),
            }
        }
        let mut units = at.character as usize;
        for (offset, c) in self.text[start..].char_indices() {
            if units == 0 || c == '\n' {
                return start + offset;
            }
            units = units.saturating_sub(c.len_utf16());
        }
        self.text.len()
    }

    /// The place of a byte offset.
    pub fn position(&self, offset: usize) -> Position {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &self.text[..offset];
        let line = before.matches('\n').count();
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        Position::new(line as u32, before[start..].encode_utf16().count() as u32)
    }

    /// The ranges of spans that are sorted and do not overlap, in one pass over the text.
    pub fn ranges(&self, spans: &[Span]) -> Vec<Range> {
        let (mut at, mut place) = (0, Position::default());
        let mut position = |offset: u32| {
            let piece = self.text.get(at..offset as usize).unwrap_or("");
            place.line += piece.matches('\n').count() as u32;
            if let Some(end) = piece.rfind('\n') {
                place.character = 0;
                at += end + 1;
            }
            let rest = self.text.get(at..offset as usize).unwrap_or("");
            place.character += rest.encode_utf16().count() as u32;
            at = offset as usize;
            place
        };
        spans
            .iter()
            .map(|span| Range::new(position(span.start), position(span.end)))
            .collect()
    }

    pub fn range(&self, span: Span) -> Range {
        Range::new(
            self.position(span.start as usize),
            self.position(span.end as usize),
        )
    }

    /// A line, counted from 1, without the space before it.
    pub fn line(&self, number: u32) -> Range {
        let line = number.saturating_sub(1);
        let text = self.text.lines().nth(line as usize).unwrap_or("");
        let units = |text: &str| text.encode_utf16().count() as u32;
        let indent = units(text) - units(text.trim_start());
        Range::new(
            Position::new(line, indent),
            Position::new(line, units(text.trim_end())),
        )
    }

    /// The word at a place, with its span.
    pub fn word(&self, at: Position) -> Option<(&str, Span)> {
        let offset = self.offset(at);
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let before = self.text[..offset].char_indices().rev();
        let start = before.take_while(|(_, c)| is_word(*c)).last();
        let start = start.map_or(offset, |(at, _)| at);
        let length = self.text[offset..].find(|c: char| !is_word(c));
        let end = length.map_or(self.text.len(), |length| offset + length);
        (start < end).then(|| (&self.text[start..end], Span::new(start, end)))
    }

    /// The program, if it can be read while the editor waits for it; what is wrong with it; or which limit was met.
    pub fn read(&self) -> Result<Result<Input, Failure>, &'static str> {
        let (name, text) = (self.name.clone(), self.text.to_string());
        let within = limits::Limits {
            timeout: Some(LONGEST_WHILE_EDITING),
            memory: Some(limits::held() + (1 << 30)),
        };
        let never = AtomicBool::new(false);
        limits::within(within, &never, move |_| {
            palisade::guarded(|| palisade::read(&name, text, &Reading::default()))
        })
    }

    /// What is wrong with the text. Rust is read by its compiler, which the text is not ready for while it is edited.
    pub fn problems(&self) -> Vec<Diagnostic> {
        if self.language() == Language::Rust {
            return Vec::new();
        }
        if self.text.len() > MOST_WHILE_EDITING {
            let message = "this text is too long to be read while it is edited: save it";
            return vec![remark(Range::default(), message)];
        }
        match self.read() {
            Ok(Ok(input)) => {
                let source = &input.program.source;
                input
                    .warnings
                    .iter()
                    .map(|w| self.problem(source, w))
                    .collect()
            }
            Ok(Err(Failure::Text(source, problems))) => {
                problems.iter().map(|p| self.problem(&source, p)).collect()
            }
            Ok(Err(failure)) => vec![error(Range::default(), &failure.reason())],
            Err(reason) => vec![remark(
                Range::default(),
                &format!("this text could not be read while it is edited: {reason}"),
            )],
        }
    }

    fn problem(&self, source: &Source, problem: &palisade_lang::Diagnostic) -> Diagnostic {
        let mut message = problem.message.clone();
        if let Some(help) = &problem.help {
            message.push_str(&format!(" ({help})"));
        }
        let range = match source.included_at(problem.span.start) {
            None => self.range(problem.span),
            Some(_) => {
                message = format!("{}: {message}", source.place(problem.span.start));
                Range::default()
            }
        };
        match problem.severity {
            Severity::Error => error(range, &message),
            Severity::Warning => Diagnostic {
                severity: Some(DiagnosticSeverity::WARNING),
                ..error(range, &message)
            },
        }
    }
}

fn error(range: Range, message: &str) -> Diagnostic {
    Diagnostic {
        range,
        severity: Some(DiagnosticSeverity::ERROR),
        source: Some("palisade".to_owned()),
        message: message.to_owned(),
        ..Diagnostic::default()
    }
}

/// Something to know.
pub fn remark(range: Range, message: &str) -> Diagnostic {
    Diagnostic {
        severity: Some(DiagnosticSeverity::INFORMATION),
        ..error(range, message)
    }
}

/// The path of a file's address; the address itself for texts that are no files.
fn path(uri: &Uri) -> String {
    let text = uri.as_str();
    let Some(rest) = text.strip_prefix("file://") else {
        return text.to_owned();
    };
    let mut bytes = Vec::with_capacity(rest.len());
    let mut left = rest.bytes();
    while let Some(byte) = left.next() {
        let digits = left.as_slice_of_two();
        match (byte, digits) {
            (b'%', Some(value)) => {
                bytes.push(value);
                left.nth(1);
            }
            _ => bytes.push(byte),
        }
    }
    let path = String::from_utf8_lossy(&bytes).into_owned();
    // On Windows an address has a `/` before the drive.
    match path.as_bytes() {
        [b'/', drive, b':', ..] if drive.is_ascii_alphabetic() => path[1..].to_owned(),
        _ => path,
    }
}

trait TwoDigits {
    /// The value of the next two hexadecimal digits.
    fn as_slice_of_two(&self) -> Option<u8>;
}

impl TwoDigits for std::str::Bytes<'_> {
    fn as_slice_of_two(&self) -> Option<u8> {
        let mut ahead = self.clone();
        let (high, low) = (ahead.next()?, ahead.next()?);
        let digit = |byte: u8| char::from(byte).to_digit(16);
        Some((digit(high)? * 16 + digit(low)?) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str) -> Document {
        Document::new("file:///a%20b/c.pal".parse().unwrap(), text.to_owned(), 1)
    }

    #[test]
    fn places_count_as_the_protocol_does() {
        let document = document("a\n😀b ä\r\nc");
        assert_eq!(document.name, "/a b/c.pal");
        for (offset, line, character) in [(0, 0, 0), (2, 1, 0), (6, 1, 2), (8, 1, 4), (12, 2, 0)] {
            let at = Position::new(line, character);
            assert_eq!(document.position(offset), at);
            assert_eq!(document.offset(at), offset);
        }
        assert_eq!(document.offset(Position::new(9, 9)), document.text.len());
        assert_eq!(document.word(Position::new(1, 3)).unwrap().0, "b");
    }

    #[test]
    fn changes_of_ranges_and_of_everything() {
        let mut document = document("one\ntwo\n");
        let change = |range, text: &str| TextDocumentContentChangeEvent {
            range,
            range_length: None,
            text: text.to_owned(),
        };
        let at = |a, b| Position::new(a, b);
        document.change(change(Some(Range::new(at(0, 1), at(1, 1))), "X"));
        assert_eq!(&*document.text, "oXwo\n");
        document.change(change(Some(Range::new(at(7, 0), at(0, 0))), ""));
        assert_eq!(&*document.text, "");
        document.change(change(None, "all"));
        assert_eq!(&*document.text, "all");
    }
}
