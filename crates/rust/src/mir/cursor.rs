//! A place in a line of text, and what can be asked there.

use super::{SourceSpan, Unknown};
use crate::scope::Scopes;
use std::rc::Rc;

/// How the crate's own things are called, and what names of others mean.
#[derive(Clone, Copy)]
pub struct Names<'a> {
    /// Put before paths that are not absolute: the name by which others call the crate, with `::`, or nothing.
    pub prefix: &'a str,
    /// The modules of all crates, where they are known.
    pub scopes: Option<&'a Scopes>,
}

impl Names<'_> {
    /// Names that stand alone.
    pub const NONE: Names<'static> = Names {
        prefix: "",
        scopes: None,
    };

    /// The crate's name.
    pub fn home(&self) -> &str {
        self.prefix.trim_end_matches("::")
    }
}

/// Where the parser stands.
pub(super) struct Cursor<'a> {
    /// What is left.
    pub rest: &'a str,
    /// The line's number, for messages.
    pub line: usize,
    /// What names mean.
    pub names: Names<'a>,
}

pub(super) type Read<T> = Result<T, Unknown>;

impl<'a> Cursor<'a> {
    pub fn new(rest: &'a str, line: usize, names: Names<'a>) -> Self {
        Cursor { rest, line, names }
    }

    pub fn fail<T>(&self, expected: &str) -> Read<T> {
        let text: String = self.rest.chars().take(80).collect();
        Err(Unknown {
            line: self.line,
            text,
            expected: expected.to_owned(),
        })
    }

    pub fn spaces(&mut self) {
        self.rest = self.rest.trim_start();
    }

    pub fn peek(&self, text: &str) -> bool {
        self.rest.starts_with(text)
    }

    pub fn eat(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    pub fn expect(&mut self, text: &str) -> Read<()> {
        if self.eat(text) {
            Ok(())
        } else {
            self.fail(&format!("`{text}`"))
        }
    }

    /// A word of letters, digits, `_` and `#`; may be empty.
    pub fn word(&mut self) -> &'a str {
        let end = self
            .rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    pub fn number(&mut self) -> Read<i128> {
        let negative = self.eat("-");
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(self.rest.len());
        let Ok(value) = self.rest[..end].parse::<u128>() else {
            return self.fail("a number");
        };
        self.rest = &self.rest[end..];
        let value = value as i128;
        Ok(if negative { -value } else { value })
    }

    /// Everything up to the bracket that closes the one before; that one is eaten.
    pub fn until_closing(&mut self, open: char, close: char) -> Read<&'a str> {
        let mut depth = 0usize;
        let mut before = ' ';
        for (at, c) in self.rest.char_indices() {
            // The `>` of `->` and `=>` closes nothing.
            let arrow = c == '>' && (before == '-' || before == '=');
            before = c;
            if c == open {
                depth += 1;
            } else if c == close && !arrow {
                if depth == 0 {
                    let inside = &self.rest[..at];
                    self.rest = &self.rest[at + c.len_utf8()..];
                    return Ok(inside);
                }
                depth -= 1;
            }
        }
        self.fail(&format!("`{close}`"))
    }

    /// A list up to `close`, which is eaten.
    pub fn list<T>(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Read<T>,
    ) -> Read<Vec<T>> {
        let mut items = Vec::new();
        loop {
            self.spaces();
            if self.eat(close) {
                return Ok(items);
            }
            items.push(item(self)?);
            self.spaces();
            if !self.eat(",") {
                self.expect(close)?;
                return Ok(items);
            }
        }
    }
}

/// `a.rs:36:19: 36:22`, with whatever follows cut off.
pub(crate) fn source_span(text: &str) -> Option<SourceSpan> {
    let text = text.trim();
    let text = text.split(" (#").next().unwrap_or(text);
    let (head, end) = text.rsplit_once(": ")?;
    let (file_line, column) = head.rsplit_once(':')?;
    let (file, line) = file_line.rsplit_once(':')?;
    let (end_line, end_column) = end.trim().split_once(':')?;
    Some(SourceSpan {
        file: Rc::from(file),
        start: (line.parse().ok()?, column.parse().ok()?),
        end: (end_line.parse().ok()?, end_column.parse().ok()?),
    })
}
