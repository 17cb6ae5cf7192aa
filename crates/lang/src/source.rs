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

/// The text of a program: one file, with the name that the user gave it, or several, where it includes others. Cheap to clone.
///
/// Offsets count through all files, one after the other, the first one from 0. A line and a column belong to the file that they are in.
#[derive(Clone, PartialEq, Eq)]
pub struct Source(Arc<SourceText>);

#[derive(PartialEq, Eq)]
struct SourceText {
    /// At least one.
    files: Vec<FileEntry>,
    /// All files, with a line end after each but the last.
    text: String,
    /// Byte offset at which each line starts, through all files.
    line_starts: Vec<u32>,
    /// Files that were asked for and cannot be had, each with the reason.
    missing: Vec<(String, String)>,
}

#[derive(PartialEq, Eq)]
struct FileEntry {
    name: String,
    span: Span,
    /// The index of its first line among all lines.
    first_line: u32,
}

/// One of the files of a [`Source`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceFile<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// The offset of its first byte in the source.
    pub start: u32,
}

/// Texts above this size are refused, so that every offset fits a `u32`.
pub const MAX_SOURCE_BYTES: usize = 1 << 30;

impl Source {
    /// A text of one file. Anything beyond [`MAX_SOURCE_BYTES`] is cut off; callers refuse such files first.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Source::of_files(name, text, [], [])
    }

    /// A text of several files: the first one, those that it includes, and those that it includes but that cannot be had, with the reason.
    pub fn of_files(
        name: impl Into<String>,
        text: impl Into<String>,
        others: impl IntoIterator<Item = (String, String)>,
        missing: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        let mut all = text.into();
        cut(&mut all);
        let mut files = vec![FileEntry {
            name: name.into(),
            span: Span::new(0, all.len()),
            first_line: 0,
        }];
        for (name, text) in others {
            all.push('\n');
            let start = all.len();
            all.push_str(&text);
            cut(&mut all);
            files.push(FileEntry {
                name,
                span: Span::new(start.min(all.len()), all.len()),
                first_line: 0,
            });
        }
        let line_starts: Vec<u32> = std::iter::once(0)
            .chain(all.match_indices('\n').map(|(at, _)| at as u32 + 1))
            .collect();
        for file in &mut files {
            let line = line_starts.partition_point(|&start| start <= file.span.start);
            file.first_line = line.saturating_sub(1) as u32;
        }
        Source(Arc::new(SourceText {
            files,
            text: all,
            line_starts,
            missing: missing.into_iter().collect(),
        }))
    }

    /// The same with another text in the first file.
    pub fn with_text(&self, text: impl Into<String>) -> Self {
        let others = self.files().skip(1);
        let others = others.map(|file| (file.name.to_owned(), file.text.to_owned()));
        let missing = self.0.missing.iter().cloned();
        Source::of_files(self.name(), text, others, missing)
    }

    /// The name of the first file, which stands for the program.
    pub fn name(&self) -> &str {
        &self.0.files[0].name
    }

    /// The text of the first file.
    pub fn text(&self) -> &str {
        self.slice(self.0.files[0].span)
    }

    /// The text of all files, to which offsets belong.
    pub fn whole_text(&self) -> &str {
        &self.0.text
    }

    /// The files, in the order of their offsets.
    pub fn files(&self) -> impl ExactSizeIterator<Item = SourceFile<'_>> {
        self.0.files.iter().map(|file| self.file(file))
    }

    /// The file that an offset is in.
    pub fn file_at(&self, offset: u32) -> SourceFile<'_> {
        self.file(self.entry_at(offset))
    }

    /// The file that an offset is in, unless it is the first one.
    pub fn included_at(&self, offset: u32) -> Option<&str> {
        let entry = self.entry_at(offset);
        (entry.span.start > 0).then_some(entry.name.as_str())
    }

    /// The file of that name.
    pub fn file_named(&self, name: &str) -> Option<SourceFile<'_>> {
        let entry = self.0.files.iter().find(|file| file.name == name);
        entry.map(|file| self.file(file))
    }

    /// Why the file of that name is not here, where it was asked for.
    pub fn why_missing(&self, name: &str) -> Option<&str> {
        let mut missing = self.0.missing.iter();
        let found = missing.find(|(missing, _)| missing == name);
        found.map(|(_, reason)| reason.as_str())
    }

    fn entry_at(&self, offset: u32) -> &FileEntry {
        let files = &self.0.files;
        let after = files.partition_point(|file| file.span.start <= offset);
        &files[after.saturating_sub(1)]
    }

    fn file<'a>(&'a self, entry: &'a FileEntry) -> SourceFile<'a> {
        SourceFile {
            name: &entry.name,
            text: self.slice(entry.span),
            start: entry.span.start,
        }
    }

    /// The text of a span (empty where the span lies outside the text).
    pub fn slice(&self, span: Span) -> &str {
        self.0
            .text
            .get(span.start as usize..span.end as usize)
            .unwrap_or("")
    }

    /// Line and column of a byte offset, in its file.
    pub fn line_column(&self, offset: u32) -> LineColumn {
        let line = self.0.line_starts.partition_point(|&start| start <= offset);
        let start = self.0.line_starts[line.saturating_sub(1)] as usize;
        let end = (offset as usize).min(self.0.text.len());
        let before = self.0.text.get(start..end).unwrap_or("");
        LineColumn {
            line: (line.max(1) as u32).saturating_sub(self.entry_at(offset).first_line),
            column: before.chars().count() as u32 + 1,
        }
    }

    /// `line:column` of an offset in the first file, `file:line:column` in another one.
    pub fn place(&self, offset: u32) -> String {
        let at = self.line_column(offset);
        match self.included_at(offset) {
            None => at.to_string(),
            Some(name) => format!("{name}:{at}"),
        }
    }

    /// The offset of a line and a column, in the first file or in the one of that name; the nearest one where there is no such place.
    pub fn offset(&self, file: Option<&str>, at: LineColumn) -> u32 {
        let files = &self.0.files;
        let named = files.iter().find(|entry| Some(entry.name.as_str()) == file);
        let entry = named.unwrap_or(&files[0]);
        let line = entry.first_line as usize + (at.line as usize).saturating_sub(1);
        let Some(&start) = self.0.line_starts.get(line) else {
            return entry.span.end;
        };
        let column: usize = self
            .line_text_at(start)
            .chars()
            .take(at.column.saturating_sub(1) as usize)
            .map(char::len_utf8)
            .sum();
        (start + column as u32).min(entry.span.end)
    }

    /// The text of the line that an offset is in, without its line end.
    pub fn line_text_at(&self, offset: u32) -> &str {
        let starts = &self.0.line_starts;
        let line = starts.partition_point(|&start| start <= offset);
        let start = starts[line.saturating_sub(1)] as usize;
        let end = starts
            .get(line)
            .map_or(self.0.text.len(), |&next| next as usize);
        self.0.text[start..end].trim_end_matches(['\n', '\r'])
    }
}

/// Cuts off what is beyond [`MAX_SOURCE_BYTES`].
fn cut(text: &mut String) {
    if text.len() > MAX_SOURCE_BYTES {
        let mut end = MAX_SOURCE_BYTES;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({})", self.name())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, column: u32) -> LineColumn {
        LineColumn { line, column }
    }

    #[test]
    fn lines_and_columns_belong_to_their_file() {
        let others = [
            ("b".to_string(), "ä x\ny".to_string()),
            ("c".to_string(), String::new()),
            ("d".to_string(), "z\n".to_string()),
        ];
        let missing = [("e".to_string(), "gone".to_string())];
        let source = Source::of_files("a", "one\ntwo", others, missing);
        assert_eq!(source.text(), "one\ntwo");
        let names: Vec<&str> = source.files().map(|f| f.name).collect();
        assert_eq!(names, ["a", "b", "c", "d"]);
        for (text, file, line, column) in [
            ("one", "a", 1, 1),
            ("wo", "a", 2, 2),
            ("ä", "b", 1, 1),
            ("x", "b", 1, 3),
            ("y", "b", 2, 1),
            ("z", "d", 1, 1),
        ] {
            let offset = source.whole_text().find(text).unwrap() as u32;
            assert_eq!(source.file_at(offset).name, file, "{text}");
            assert_eq!(source.line_column(offset), at(line, column), "{text}");
            assert_eq!(source.offset(Some(file), at(line, column)), offset);
        }
        assert_eq!(source.offset(None, at(2, 1)), 4);
        assert_eq!(source.offset(None, at(9, 9)), 7);
        assert_eq!(source.line_text_at(5), "two");
        assert_eq!(source.place(5), "2:2");
        let y = source.file_named("b").unwrap().start + 5;
        assert_eq!(source.place(y), "b:2:1");
        assert_eq!(source.file_named("c").map(|f| f.text), Some(""));
        assert_eq!(source.why_missing("e"), Some("gone"));
        assert!(source.file_named("e").is_none());
    }
}
