//! Source text, places in it, and what is said about them.

use std::fmt;
use std::sync::Arc;

/// A piece of the source text: byte offsets, end exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span from `start` to `end`, in bytes.
    pub fn new(start: usize, end: usize) -> Self {
        Span {
            start: start as u32,
            end: end as u32,
        }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

/// A line and a column, both counted from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineColumn {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in characters.
    pub column: u32,
}

impl fmt::Display for LineColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// One input file: its name as the user gave it, and its text. Cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Source(Arc<SourceText>);

#[derive(PartialEq, Eq)]
struct SourceText {
    name: String,
    text: String,
    /// Byte offset at which each line starts.
    line_starts: Vec<u32>,
}

/// Texts above this size are refused, so that every offset fits a `u32`.
pub const MAX_SOURCE_BYTES: usize = 1 << 30;

impl Source {
    /// Wraps a text. Anything beyond [`MAX_SOURCE_BYTES`] is cut off; callers refuse such files first.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let mut text = text.into();
        if text.len() > MAX_SOURCE_BYTES {
            let mut end = MAX_SOURCE_BYTES;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text.truncate(end);
        }
        let line_starts = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at as u32 + 1))
            .collect();
        Source(Arc::new(SourceText {
            name: name.into(),
            text,
            line_starts,
        }))
    }

    /// The file's name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The text of a span (empty where the span lies outside the text).
    pub fn slice(&self, span: Span) -> &str {
        self.0
            .text
            .get(span.start as usize..span.end as usize)
            .unwrap_or("")
    }

    /// Line and column of a byte offset.
    pub fn line_column(&self, offset: u32) -> LineColumn {
        let line = self.0.line_starts.partition_point(|&start| start <= offset);
        let start = self.0.line_starts[line.saturating_sub(1)] as usize;
        let end = (offset as usize).min(self.0.text.len());
        let before = self.0.text.get(start..end).unwrap_or("");
        LineColumn {
            line: line.max(1) as u32,
            column: before.chars().count() as u32 + 1,
        }
    }

    /// The text of a line (from 1) without its line end.
    pub fn line_text(&self, line: u32) -> &str {
        let starts = &self.0.line_starts;
        let Some(&start) = starts.get((line as usize).wrapping_sub(1)) else {
            return "";
        };
        let end = starts
            .get(line as usize)
            .map_or(self.0.text.len(), |&next| next as usize);
        self.0.text[start as usize..end].trim_end_matches(['\n', '\r'])
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({})", self.0.name)
    }
}

/// How bad a [`Diagnostic`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The program cannot be analysed.
    Error,
    /// It can, but probably does not say what was meant.
    Warning,
}

/// Something to tell the user about a place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// The place.
    pub span: Span,
    /// A short text for the place itself, such as what was expected there.
    pub label: String,
    /// What would be right, or was probably meant.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Error,
            message: message.into(),
            span,
            label: String::new(),
            help: None,
        }
    }

    /// A warning at `span`.
    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Warning,
            ..Diagnostic::error(span, message)
        }
    }

    /// Adds the text shown at the place itself.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds what would be right.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
