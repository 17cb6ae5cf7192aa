//! What the smaller front ends share: collecting errors, guessing what was meant, and C-like tokens.

use crate::expr::{BinaryOp, UnaryOp};
use crate::source::{Diagnostic, Span};

/// After this many errors the rest is only counted: more would not be read, and a file of 10 MB that is no program at all must not take
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

/// What a token is; its text is in its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A word: a letter or `_`, then letters, digits and `_`.
    Word,
    /// A number, decimal or hexadecimal; `None` where it needs more than 64 bits.
    Number(Option<i64>),
    /// A text in double quotes.
    Text,
    /// An operator or a bracket.
    Symbol,
    /// A character that no language here knows.
    Unknown,
    /// The end of the text.
    End,
}

/// A token of a C-like language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    pub(crate) span: Span,
}

impl Token<'_> {
    /// Whether this is the given word or symbol.
    pub(crate) fn is(&self, text: &str) -> bool {
        matches!(self.kind, Kind::Word | Kind::Symbol) && self.text == text
    }

    /// How it is called in a message.
    pub(crate) fn describe(&self) -> String {
        match self.kind {
            Kind::End => "the end of the text".to_string(),
            _ => quote(self.text),
        }
    }
}

/// Symbols of more than one character.
const SYMBOLS: [&str; 12] = [
    "&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "->", "/\\", "\\/", "+=",
];

/// The tokens of a text with C's comments (`//` and `/* */`), one after the other.
///
/// It is small and can be copied, so looking further ahead is reading from a copy.
#[derive(Clone, Copy)]
pub(crate) struct Tokens<'a> {
    text: &'a str,
    at: usize,
    end: usize,
    /// Whether `(* … *)` is a comment as well.
    caml_comments: bool,
    next: Token<'a>,
    /// Where the last token that was taken ends.
    pub(crate) previous_end: u32,
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Tokens::within(text, Span::new(0, text.len()), false)
    }

    /// The tokens of a part of a text.
    pub(crate) fn within(text: &'a str, part: Span, caml_comments: bool) -> Self {
        let mut tokens = Tokens {
            text,
            at: part.start as usize,
            end: part.end as usize,
            caml_comments,
            next: Token {
                kind: Kind::End,
                text: "",
                span: part,
            },
            previous_end: part.start,
        };
        tokens.next = tokens.scan();
        tokens
    }

    /// The whole text.
    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    pub(crate) fn peek(&self) -> Token<'a> {
        self.next
    }

    /// The token after the next one.
    pub(crate) fn peek_second(&self) -> Token<'a> {
        let mut copy = *self;
        copy.take();
        copy.next
    }

    pub(crate) fn take(&mut self) -> Token<'a> {
        let token = self.next;
        if token.kind != Kind::End {
            self.previous_end = token.span.end;
            self.next = self.scan();
        }
        token
    }

    /// Takes the next token if it is this one.
    pub(crate) fn take_if(&mut self, text: &str) -> Option<Token<'a>> {
        self.next.is(text).then(|| self.take())
    }

    fn skip_space(&mut self) {
        let bytes = &self.text.as_bytes()[..self.end];
        loop {
            let rest = &bytes[self.at..];
            let space = rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
            self.at += space;
            let rest = &bytes[self.at..];
            let length_to = |end: &[u8]| {
                let found = rest[2..].windows(end.len()).position(|w| w == end);
                found.map_or(rest.len(), |at| at + 2 + end.len())
            };
            self.at += match rest {
                [b'/', b'/', ..] => rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len()),
                [b'/', b'*', ..] => length_to(b"*/"),
                [b'(', b'*', ..] if self.caml_comments => length_to(b"*)"),
                _ => return,
            };
        }
    }

    fn scan(&mut self) -> Token<'a> {
        self.skip_space();
        let start = self.at;
        let rest = &self.text[start..self.end];
        let (kind, length) = match rest.chars().next() {
            None => (Kind::End, 0),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => (Kind::Word, word_length(rest)),
            Some(c) if c.is_ascii_digit() => {
                let length = word_length(rest);
                (Kind::Number(number(&rest[..length])), length)
            }
            Some('"') => {
                let length = rest[1..].find('"').map_or(rest.len(), |at| at + 2);
                (Kind::Text, length)
            }
            Some(c) => match SYMBOLS.iter().find(|s| rest.starts_with(**s)) {
                Some(symbol) => (Kind::Symbol, symbol.len()),
                None if c.is_ascii_graphic() => (Kind::Symbol, 1),
                None => (Kind::Unknown, c.len_utf8()),
            },
        };
        self.at = start + length;
        Token {
            kind,
            text: &self.text[start..self.at],
            span: Span::new(start, self.at),
        }
    }
}

fn word_length(text: &str) -> usize {
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    text.bytes().take_while(is_part).count()
}

fn number(text: &str) -> Option<i64> {
    match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// C's operators with two operands.
pub(crate) fn binary_operator(symbol: &str) -> Option<BinaryOp> {
    Some(match symbol {
        "*" => BinaryOp::Multiply,
        "/" => BinaryOp::Divide,
        "%" => BinaryOp::Remainder,
        "+" => BinaryOp::Add,
        "-" => BinaryOp::Subtract,
        "<<" => BinaryOp::ShiftLeft,
        ">>" => BinaryOp::ShiftRight,
        "<" => BinaryOp::Less,
        "<=" => BinaryOp::LessEqual,
        ">" => BinaryOp::Greater,
        ">=" => BinaryOp::GreaterEqual,
        "==" => BinaryOp::Equal,
        "!=" => BinaryOp::NotEqual,
        "&" => BinaryOp::BitAnd,
        "^" => BinaryOp::BitXor,
        "|" => BinaryOp::BitOr,
        "&&" => BinaryOp::And,
        "||" => BinaryOp::Or,
        _ => return None,
    })
}

/// C's operators with one operand.
pub(crate) fn unary_operator(symbol: &str) -> Option<UnaryOp> {
    Some(match symbol {
        "!" => UnaryOp::Not,
        "-" => UnaryOp::Negate,
        "~" => UnaryOp::Complement,
        _ => return None,
    })
}
