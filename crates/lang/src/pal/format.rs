//! One way to write a program: `palisade fmt`.
//!
//! Only the space between tokens changes: what is written stays, comments included, and that is looked at once more before the new text leaves.
//! Where lines end is the author's choice in two places, inside a statement and for a block that fits on one line; everywhere else a
//! statement has a line of its own.

use crate::source::{Diagnostic, Span};

use super::diagnostics::Diagnostics;
use super::lexer::{self, Tok, Token};
use super::{include, parser};

/// Blocks on one line are left so if the line is not longer than this.
const WIDTH: usize = 100;

/// How deep a block, and the second line of a statement, stand below their first line.
const STEP: usize = 2;
const CONTINUED: usize = 4;

/// The text of a program as it is written best. A text that cannot be read as a program is an error; what is not declared, or stands in another file, is not.
pub fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    let mut diagnostics = Diagnostics::default();
    let tokens = lexer::tokens(text, 0..text.len(), &mut diagnostics);
    let nothing = |_: &str, _: Span| String::new();
    let mut own = tokens.clone();
    for at in include::includes(text, &tokens).into_iter().rev() {
        own.drain(at..at + 3);
    }
    parser::parse(text, own, &nothing, &mut diagnostics);
    if diagnostics.has_errors() {
        return Err(diagnostics.finish().err().unwrap_or_default());
    }
    let pieces = pieces(text, &tokens);
    let mut formatted = Writer::new(text, &pieces).write();
    if text.contains("\r\n") {
        formatted = formatted.replace('\n', "\r\n");
    }
    if text.starts_with('\u{feff}') {
        formatted.insert(0, '\u{feff}');
    }
    match same_words(text, &tokens, &formatted) {
        true => Ok(formatted),
        false => Err(vec![Diagnostic::error(
            Span::default(),
            "this program cannot be formatted without changing it: please report it",
        )]),
    }
}

/// Whether the new text has the same tokens and the same comments.
fn same_words(old: &str, tokens: &[Token], new: &str) -> bool {
    let mut diagnostics = Diagnostics::default();
    let others = lexer::tokens(new, 0..new.len(), &mut diagnostics);
    let words = |text: &str, tokens: &[Token]| -> Vec<String> {
        let mut words = Vec::new();
        for piece in pieces(text, tokens) {
            for comment in &piece.comments {
                words.push(comment.text.replace('\r', "").trim_end().to_owned());
            }
            words.push(piece.text.to_owned());
        }
        words
    };
    words(old, tokens) == words(new, &others)
}

/// A token with the comments before it.
struct Piece<'a> {
    kind: Tok,
    text: &'a str,
    start: usize,
    end: usize,
    comments: Vec<Comment<'a>>,
    /// Line ends between what stands before (a comment, a token) and the token.
    lines_before: usize,
    /// Whether something stands between this token and the one before it.
    apart: bool,
}

struct Comment<'a> {
    text: &'a str,
    /// `// …`
    to_line_end: bool,
    lines_before: usize,
    /// How many bytes stand before it in its line.
    column: usize,
}

fn pieces<'a>(text: &'a str, tokens: &[Token]) -> Vec<Piece<'a>> {
    let mut pieces = Vec::with_capacity(tokens.len());
    let mut at = if text.starts_with('\u{feff}') { 3 } else { 0 };
    for token in tokens {
        let (start, end) = (token.span.start as usize, token.span.end as usize);
        let apart = start > at;
        let mut comments = Vec::new();
        let mut lines = 0;
        while at < start {
            let rest = &text[at..start];
            if rest.starts_with("//") {
                let length = rest.find('\n').unwrap_or(rest.len());
                comments.push(comment(text, at, length, true, lines));
                at += length;
                lines = 0;
            } else if let Some(inside) = rest.strip_prefix("/*") {
                let length = inside.find("*/").map_or(rest.len(), |l| l + 4);
                comments.push(comment(text, at, length, false, lines));
                at += length;
                lines = 0;
            } else {
                let length = rest.chars().next().map_or(1, char::len_utf8);
                lines += usize::from(rest.starts_with('\n'));
                at += length;
            }
        }
        pieces.push(Piece {
            kind: token.kind,
            text: &text[start..end],
            start,
            end,
            comments,
            lines_before: lines,
            apart,
        });
        at = end;
    }
    pieces
}

fn comment(text: &str, at: usize, length: usize, to_line_end: bool, lines: usize) -> Comment<'_> {
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    Comment {
        text: text[at..at + length].trim_end(),
        to_line_end,
        lines_before: lines,
        column: at - line,
    }
}

/// A line of the new text.
#[derive(Default)]
struct Line {
    indent: usize,
    code: String,
    /// A comment after the code, and where it stood in its line.
    comment: Option<(String, usize)>,
}

/// What an open brace belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Braces {
    /// Everything between them stands on one line.
    Flat,
    /// One statement for each line.
    Block,
    /// The fields of a struct, the names of an enum: lines end where the author ended them.
    List,
}

struct Writer<'a, 'p> {
    text: &'a str,
    pieces: &'p [Piece<'a>],
    /// For each `{` its `}`.
    closes: Vec<usize>,
    /// Operators that stand before their only operand.
    unary: Vec<bool>,
    lines: Vec<Line>,
    line: Line,
    open: Vec<Braces>,
    /// Parentheses and brackets that are open.
    inside: usize,
    /// The next token begins a statement or an item.
    fresh: bool,
    /// How the blocks of a chain are written, once that is known of its first one.
    decided: Vec<Option<Braces>>,
}

impl<'a, 'p> Writer<'a, 'p> {
    fn new(text: &'a str, pieces: &'p [Piece<'a>]) -> Self {
        let mut closes = vec![0; pieces.len()];
        let mut open = Vec::new();
        for (at, piece) in pieces.iter().enumerate() {
            match piece.kind {
                Tok::OpenBrace => open.push(at),
                Tok::CloseBrace => {
                    if let Some(start) = open.pop() {
                        closes[start] = at;
                    }
                }
                _ => {}
            }
        }
        let unary = (0..pieces.len()).map(|at| is_unary(pieces, at)).collect();
        Writer {
            text,
            pieces,
            closes,
            unary,
            lines: Vec::new(),
            line: Line::default(),
            open: Vec::new(),
            inside: 0,
            fresh: true,
            decided: vec![None; pieces.len()],
        }
    }

    fn write(mut self) -> String {
        for at in 0..self.pieces.len() {
            self.comments(at);
            if self.pieces[at].kind == Tok::End {
                break;
            }
            self.token(at);
        }
        self.end_line();
        self.joined()
    }

    /// The indent of a line that begins now.
    fn indent(&self) -> usize {
        let deep = self.open.iter().filter(|b| **b != Braces::Flat).count() * STEP;
        let continued = !self.fresh && self.open.last() != Some(&Braces::List);
        deep + if continued { CONTINUED } else { 0 }
    }

    fn end_line(&mut self) {
        if !self.line.code.is_empty() || self.line.comment.is_some() {
            self.lines.push(std::mem::take(&mut self.line));
        }
    }

    /// An empty line, if the author left one and this is no beginning or end of a block.
    fn empty_line(&mut self, lines: usize, before: Tok) {
        let starts = self
            .lines
            .last()
            .is_none_or(|line| line.code.ends_with('{'));
        let fits = self.fresh || self.open.last() == Some(&Braces::List);
        if lines > 1 && !starts && fits && !matches!(before, Tok::CloseBrace | Tok::End) {
            self.lines.push(Line::default());
        }
    }

    fn comments(&mut self, at: usize) {
        let piece = &self.pieces[at];
        let ends_block = piece.kind == Tok::CloseBrace;
        for comment in &piece.comments {
            let own_line = comment.lines_before > 0 || (at == 0 && self.line.code.is_empty());
            // A comment that goes on below the one before it stays there.
            let below = comment.lines_before == 1
                && comment.column > self.indent()
                && self.line.code.is_empty()
                && self.line.comment.is_none()
                && matches!(self.lines.last(), Some(Line { comment: Some((_, column)), .. }) if *column == comment.column);
            if own_line && below && comment.to_line_end {
                self.line.indent = self.indent();
                self.line.comment = Some((comment.text.to_owned(), comment.column));
                self.end_line();
                continue;
            }
            if own_line {
                self.end_line();
                self.empty_line(comment.lines_before, Tok::Name);
                self.line.indent = self.indent();
                self.line.code = comment.text.to_owned();
                if comment.to_line_end {
                    self.end_line();
                }
                continue;
            }
            let last = std::ptr::eq(comment, piece.comments.last().unwrap_or(comment));
            let line_ends = piece.lines_before > 0 || !self.flat() && (self.fresh || ends_block);
            let ends_line = comment.to_line_end || last && line_ends;
            let anything = !self.line.code.is_empty();
            match (ends_line, anything) {
                (true, true) => {
                    self.line.comment = Some((comment.text.to_owned(), comment.column));
                    self.end_line();
                }
                // After a line that has ended already: it belongs to that line.
                (true, false) => match self.lines.last_mut() {
                    Some(line) if line.comment.is_none() => {
                        line.comment = Some((comment.text.to_owned(), comment.column));
                    }
                    _ => {
                        self.line.indent = self.indent();
                        self.line.code = comment.text.to_owned();
                        self.end_line();
                    }
                },
                (false, true) => {
                    self.line.code.push(' ');
                    self.line.code.push_str(comment.text);
                }
                (false, false) => {
                    self.line.indent = self.indent();
                    self.line.code = comment.text.to_owned();
                }
            }
        }
    }

    fn token(&mut self, at: usize) {
        let piece = &self.pieces[at];
        let braces = match piece.kind {
            Tok::OpenBrace => Some(self.braces(at)),
            _ => None,
        };
        if piece.kind == Tok::CloseBrace {
            let closed = self.open.pop();
            if closed != Some(Braces::Flat) {
                self.end_line();
            }
            self.fresh = true;
        }
        let joins = self.joins(at);
        if self.line.code.is_empty() {
            self.empty_line(self.lines_above(at), piece.kind);
            let other_branch = matches!(piece.kind, Tok::Else | Tok::Or);
            self.fresh |= other_branch;
            self.line.indent = self.indent();
        } else if piece.lines_before > 0 && !joins && !self.flat() {
            self.end_line();
            self.empty_line(self.lines_above(at), piece.kind);
            self.line.indent = self.indent();
        } else if at > 0 && (self.space(at - 1, at) || !piece.comments.is_empty()) {
            self.line.code.push(' ');
        }
        self.line.code.push_str(piece.text);
        match piece.kind {
            Tok::OpenParen | Tok::OpenBracket => self.inside += 1,
            Tok::CloseParen | Tok::CloseBracket => self.inside = self.inside.saturating_sub(1),
            _ => {}
        }
        self.fresh = false;
        let next = self.pieces.get(at + 1).map_or(Tok::End, |p| p.kind);
        match piece.kind {
            Tok::OpenBrace => {
                let braces = braces.unwrap_or(Braces::Block);
                self.open.push(braces);
                self.fresh = true;
                if braces != Braces::Flat {
                    self.end_line_before(at + 1);
                }
            }
            Tok::CloseBrace if next == Tok::Semicolon => {}
            Tok::CloseBrace => {
                self.fresh = true;
                if !self.flat() && !matches!(next, Tok::Else | Tok::Or) {
                    self.end_line_before(at + 1);
                }
            }
            Tok::Semicolon if self.inside == 0 => {
                self.fresh = true;
                if !self.flat() {
                    self.end_line_before(at + 1);
                }
            }
            // A label stands before its statement.
            Tok::Colon if self.is_label(at) => self.fresh = true,
            _ => {}
        }
    }

    /// Ends the line, unless a comment before the next token still belongs to it.
    fn end_line_before(&mut self, next: usize) {
        let comment = self.pieces.get(next).and_then(|p| p.comments.first());
        if comment.is_none_or(|comment| comment.lines_before > 0) {
            self.end_line();
        }
    }

    fn lines_above(&self, at: usize) -> usize {
        self.pieces[at].lines_before
    }

    fn flat(&self) -> bool {
        self.open.last() == Some(&Braces::Flat)
    }

    /// Whether the token stands on the line of the one before it, wherever it stood.
    fn joins(&self, at: usize) -> bool {
        let kind = self.pieces[at].kind;
        let before = at.checked_sub(1).map_or(Tok::End, |b| self.pieces[b].kind);
        match kind {
            Tok::OpenBrace => before != Tok::CloseBrace && before != Tok::Semicolon && !self.fresh,
            Tok::Else | Tok::Or => before == Tok::CloseBrace,
            Tok::Semicolon | Tok::Comma => true,
            _ => self.fresh && before == Tok::Colon,
        }
    }

    fn is_label(&self, at: usize) -> bool {
        let word = |ago: usize| at.checked_sub(ago).map(|i| self.pieces[i].kind);
        let begins = matches!(
            word(2),
            None | Some(Tok::OpenBrace | Tok::CloseBrace | Tok::Semicolon | Tok::Colon)
        );
        word(1) == Some(Tok::Name) && begins && self.inside == 0
    }

    /// How the block that begins here is written.
    fn braces(&mut self, at: usize) -> Braces {
        if self.flat() {
            return Braces::Flat;
        }
        if let Some(decided) = self.decided[at] {
            return decided;
        }
        let list = self.is_list(at);
        let (opens, end, one_line) = self.chain(at);
        let braces = match (one_line && self.fits(at, end), list) {
            (true, _) => Braces::Flat,
            (false, true) => Braces::List,
            (false, false) => Braces::Block,
        };
        for open in opens {
            self.decided[open] = Some(braces);
        }
        braces
    }

    /// `struct NAME {`, `enum {`, `enum NAME {`.
    fn is_list(&self, at: usize) -> bool {
        let word = |ago: usize| at.checked_sub(ago).map_or("", |i| self.pieces[i].text);
        let item = self.open.is_empty();
        item && (word(1) == "enum" || word(2) == "enum" || word(2) == "struct")
    }

    /// The blocks of the chain that begins here (`if … { } else { }`), where it ends, and whether each of them is on one line.
    fn chain(&self, at: usize) -> (Vec<usize>, usize, bool) {
        let mut one_line = true;
        let mut opens = vec![at];
        let mut open = at;
        loop {
            let close = self.closes[open];
            let (from, to) = (self.pieces[open].start, self.pieces[close].end);
            one_line &= close > open && !self.text[from..to].contains('\n');
            let next = self.pieces.get(close + 1).map(|p| p.kind);
            let rest = self.pieces.get(close + 1..).unwrap_or_default();
            let ahead = rest.iter().position(|p| p.kind == Tok::OpenBrace);
            match ahead {
                Some(ahead) if matches!(next, Some(Tok::Else | Tok::Or)) => {
                    open = close + 1 + ahead;
                    opens.push(open);
                }
                _ => return (opens, close, one_line),
            }
        }
    }

    /// Whether everything from here to there fits on the line that is being written.
    fn fits(&self, from: usize, to: usize) -> bool {
        let mut width = self.line.indent + self.line.code.chars().count();
        for at in from..=to {
            let piece = &self.pieces[at];
            let comments = piece.comments.iter().map(|c| c.text.chars().count() + 1);
            width += 1 + piece.text.len() + comments.sum::<usize>();
            width -= usize::from(at > 0 && !self.space(at - 1, at) && piece.comments.is_empty());
            if width > WIDTH {
                return false;
            }
        }
        true
    }

    /// Whether there is a space between two tokens of a line.
    fn space(&self, left: usize, right: usize) -> bool {
        use Tok::*;
        let (l, r) = (self.pieces[left].kind, self.pieces[right].kind);
        if glued(self.pieces[left].text, self.pieces[right].text) {
            return true;
        }
        match (l, r) {
            (_, Semicolon | Comma | CloseParen | CloseBracket | Colon) => false,
            (OpenParen | OpenBracket | Dot | DotDot | Arrow | At, _) => false,
            (_, Dot | DotDot | Arrow | At) => false,
            _ if self.unary[left] => false,
            (Assert | Assume, OpenParen) => self.pieces[right].apart,
            (Cas | Fadd | Xchg | Bcas | Wait | Fence, OpenParen) => false,
            (Name | Me | Int | CloseParen | CloseBracket, OpenParen | OpenBracket) => {
                is_in(self.pieces, left)
            }
            _ => true,
        }
    }

    /// The lines with their comments, which stand below each other where lines with comments follow each other.
    fn joined(self) -> String {
        let mut out = String::with_capacity(self.text.len() + self.text.len() / 8);
        let mut at = 0;
        while at < self.lines.len() {
            let rest = &self.lines[at..];
            let run = rest.iter().take_while(|l| l.comment.is_some()).count();
            let width = |line: &Line| match line.code.is_empty() {
                true => 0,
                false => line.indent + line.code.chars().count(),
            };
            // A comment below another one stands deeper than a comment of its own would.
            let least = |line: &Line| match line.code.is_empty() {
                true => line.indent + 1,
                false => width(line) + 2,
            };
            let column = rest[..run].iter().map(least).max().unwrap_or(0);
            for line in &rest[..run.max(1)] {
                if !line.code.is_empty() {
                    out.extend(std::iter::repeat_n(' ', line.indent));
                    out.push_str(&line.code);
                }
                if let Some((comment, _)) = &line.comment {
                    out.extend(std::iter::repeat_n(' ', column - width(line)));
                    out.push_str(comment);
                }
                out.push('\n');
            }
            at += run.max(1);
        }
        out
    }
}

/// Whether two tokens without a space between them would be read as something else.
fn glued(left: &str, right: &str) -> bool {
    let (Some(l), Some(r)) = (left.chars().last(), right.chars().next()) else {
        return false;
    };
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match (l, r) {
        _ if word(l) && word(r) => true,
        ('&', '&') | ('|', '|') | ('-', '>') | ('/', '/' | '*') => true,
        ('<', '<') | ('>', '>') | ('.', '.') => true,
        (_, '=') => !word(l) && !matches!(l, ')' | ']'),
        _ => false,
    }
}

/// Whether an operator stands before its only operand: nothing that could be its left one stands before it.
fn is_unary(pieces: &[Piece<'_>], at: usize) -> bool {
    let operator = match pieces[at].kind {
        Tok::Not | Tok::Tilde => return true,
        Tok::Minus | Tok::Star | Tok::And => true,
        _ => false,
    };
    let Some(before) = at.checked_sub(1) else {
        return operator;
    };
    let ends_operand = matches!(
        pieces[before].kind,
        Tok::Name | Tok::Int | Tok::Me | Tok::CloseParen | Tok::CloseBracket
    );
    operator && (!ends_operand || is_in(pieces, before))
}

/// The word `in` of a `for`.
fn is_in(pieces: &[Piece<'_>], at: usize) -> bool {
    at >= 2 && pieces[at].text == "in" && pieces[at - 2].text == "for"
}
