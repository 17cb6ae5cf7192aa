//! From text to tokens.

use std::ops::Range;

use crate::source::{Diagnostic, Span};

use super::diagnostics::Diagnostics;

/// A token: what it is, and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub kind: Tok,
    pub span: Span,
}

macro_rules! tokens {
    (words { $($word:ident = $text:literal,)* } signs { $($sign:ident = $symbol:literal,)* }) => {
        /// The kinds of tokens. Words that mean something only in one place (`load`, `relaxed`, `end`, `domain`, …) are names here.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Tok {
            Name,
            Int,
            /// `"…"`, the name of an included file.
            Text,
            /// Characters that mean nothing; they are reported already.
            Strange,
            End,
            $($word,)*
            $($sign,)*
        }

        impl Tok {
            /// How the token is written; `None` for names, numbers and the end.
            pub fn text(self) -> Option<&'static str> {
                match self {
                    Tok::Name | Tok::Int | Tok::Text | Tok::Strange | Tok::End => None,
                    $(Tok::$word => Some($text),)*
                    $(Tok::$sign => Some($symbol),)*
                }
            }

            /// Whether it is a reserved word.
            pub fn is_word(self) -> bool {
                matches!(self, $(Tok::$word)|*)
            }

            fn word(text: &[u8]) -> Tok {
                $(if text == $text.as_bytes() { return Tok::$word; })*
                Tok::Name
            }
        }
    };
}

tokens! {
    words {
        Const = "const",
        Nonatomic = "nonatomic",
        Shared = "shared",
        Fn = "fn",
        Thread = "thread",
        Never = "never",
        Let = "let",
        Bcas = "bcas",
        Wait = "wait",
        Fence = "fence",
        Skip = "skip",
        Assume = "assume",
        Assert = "assert",
        If = "if",
        Else = "else",
        While = "while",
        Loop = "loop",
        Break = "break",
        Continue = "continue",
        Choose = "choose",
        Or = "or",
        Atomic = "atomic",
        Goto = "goto",
        Return = "return",
        Me = "me",
        Cas = "cas",
        Fadd = "fadd",
        Xchg = "xchg",
    }
    signs {
        OpenBrace = "{",
        CloseBrace = "}",
        OpenParen = "(",
        CloseParen = ")",
        OpenBracket = "[",
        CloseBracket = "]",
        Comma = ",",
        Semicolon = ";",
        Colon = ":",
        Dot = ".",
        DotDot = "..",
        Arrow = "->",
        AddAssign = "+=",
        SubtractAssign = "-=",
        AndAssign = "&=",
        OrAssign = "|=",
        XorAssign = "^=",
        At = "@",
        Assign = "=",
        Star = "*",
        Slash = "/",
        Percent = "%",
        Plus = "+",
        Minus = "-",
        ShiftLeft = "<<",
        ShiftRight = ">>",
        Less = "<",
        LessEqual = "<=",
        Greater = ">",
        GreaterEqual = ">=",
        Equal = "==",
        NotEqual = "!=",
        And = "&",
        Caret = "^",
        Bar = "|",
        AndAnd = "&&",
        OrOr = "||",
        Not = "!",
        Tilde = "~",
    }
}

/// The longest reserved word.
const LONGEST_WORD: usize = 9;

/// Cuts a piece of the text, one file, into tokens, always with an [`Tok::End`] at the end. What is no token is reported and becomes a
/// [`Tok::Strange`].
pub(super) fn tokens(whole: &str, file: Range<usize>, diagnostics: &mut Diagnostics) -> Vec<Token> {
    let text = whole.get(..file.end).unwrap_or(whole);
    let bytes = text.as_bytes();
    let mut tokens = Vec::with_capacity(file.len() / 3 + 1);
    let mut at = file.start;
    if text.get(at..).is_some_and(|t| t.starts_with('\u{feff}')) {
        at += 3;
    }
    while at < bytes.len() {
        let start = at;
        let kind = match bytes[at] {
            b' ' | b'\t' | b'\r' | b'\n' => {
                at += 1;
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at = memchr(bytes, at, b'\n');
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at = block_comment(bytes, start, diagnostics);
                continue;
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                at = word_end(bytes, at);
                match &bytes[start..at] {
                    word if word.len() <= LONGEST_WORD => Tok::word(word),
                    _ => Tok::Name,
                }
            }
            b'0'..=b'9' => {
                at = word_end(bytes, at);
                Tok::Int
            }
            b'"' => {
                let line_end = memchr(bytes, at, b'\n');
                match bytes[at + 1..line_end].iter().position(|b| *b == b'"') {
                    Some(length) => at += length + 2,
                    None => {
                        at = line_end;
                        diagnostics.push(
                            Diagnostic::error(
                                Span::new(start, at),
                                "there is no `\"` at the end of this",
                            )
                            .label("the file's name begins here"),
                        );
                    }
                }
                Tok::Text
            }
            first => match sign(first, bytes.get(at + 1).copied()) {
                Some((kind, length)) => {
                    at += length;
                    kind
                }
                None => {
                    at = strange_end(text, at);
                    report_strange(text, start, at, diagnostics);
                    Tok::Strange
                }
            },
        };
        tokens.push(Token {
            kind,
            span: Span::new(start, at),
        });
    }
    tokens.push(Token {
        kind: Tok::End,
        span: Span::new(bytes.len(), bytes.len()),
    });
    tokens
}

/// The value of an integer token: decimal or `0x…`. Up to 2^63, which only a minus in front makes a 64-bit value.
pub(super) fn integer(text: &str) -> Option<u64> {
    let value = match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    value.ok().filter(|value| *value <= 1 << 63)
}

fn memchr(bytes: &[u8], from: usize, wanted: u8) -> usize {
    bytes[from..]
        .iter()
        .position(|b| *b == wanted)
        .map_or(bytes.len(), |length| from + length)
}

fn word_end(bytes: &[u8], from: usize) -> usize {
    bytes[from..]
        .iter()
        .position(|b| !(b.is_ascii_alphanumeric() || *b == b'_'))
        .map_or(bytes.len(), |length| from + length)
}

fn block_comment(bytes: &[u8], start: usize, diagnostics: &mut Diagnostics) -> usize {
    match bytes[start + 2..].windows(2).position(|two| two == b"*/") {
        Some(length) => start + 2 + length + 2,
        None => {
            diagnostics.push(
                Diagnostic::error(
                    Span::new(start, start + 2),
                    "this comment never ends: there is no `*/` after it",
                )
                .label("the comment begins here"),
            );
            bytes.len()
        }
    }
}

fn sign(first: u8, second: Option<u8>) -> Option<(Tok, usize)> {
    let two = match (first, second) {
        (b'<', Some(b'<')) => Some(Tok::ShiftLeft),
        (b'>', Some(b'>')) => Some(Tok::ShiftRight),
        (b'<', Some(b'=')) => Some(Tok::LessEqual),
        (b'>', Some(b'=')) => Some(Tok::GreaterEqual),
        (b'=', Some(b'=')) => Some(Tok::Equal),
        (b'!', Some(b'=')) => Some(Tok::NotEqual),
        (b'&', Some(b'&')) => Some(Tok::AndAnd),
        (b'|', Some(b'|')) => Some(Tok::OrOr),
        (b'.', Some(b'.')) => Some(Tok::DotDot),
        (b'-', Some(b'>')) => Some(Tok::Arrow),
        (b'+', Some(b'=')) => Some(Tok::AddAssign),
        (b'-', Some(b'=')) => Some(Tok::SubtractAssign),
        (b'&', Some(b'=')) => Some(Tok::AndAssign),
        (b'|', Some(b'=')) => Some(Tok::OrAssign),
        (b'^', Some(b'=')) => Some(Tok::XorAssign),
        _ => None,
    };
    if let Some(kind) = two {
        return Some((kind, 2));
    }
    let one = match first {
        b'{' => Tok::OpenBrace,
        b'}' => Tok::CloseBrace,
        b'(' => Tok::OpenParen,
        b')' => Tok::CloseParen,
        b'[' => Tok::OpenBracket,
        b']' => Tok::CloseBracket,
        b',' => Tok::Comma,
        b';' => Tok::Semicolon,
        b':' => Tok::Colon,
        b'.' => Tok::Dot,
        b'@' => Tok::At,
        b'=' => Tok::Assign,
        b'*' => Tok::Star,
        b'/' => Tok::Slash,
        b'%' => Tok::Percent,
        b'+' => Tok::Plus,
        b'-' => Tok::Minus,
        b'<' => Tok::Less,
        b'>' => Tok::Greater,
        b'&' => Tok::And,
        b'^' => Tok::Caret,
        b'|' => Tok::Bar,
        b'!' => Tok::Not,
        b'~' => Tok::Tilde,
        _ => return None,
    };
    Some((one, 1))
}

/// The end of a run of characters that begin no token, so that a line of them is one error.
fn strange_end(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        let b = bytes[at];
        let ordinary = b.is_ascii_alphanumeric()
            || b.is_ascii_whitespace()
            || b == b'_'
            || b == b'"'
            || sign(b, None).is_some();
        if ordinary {
            break;
        }
        at += 1;
    }
    // A run of bytes that are not ASCII ends at a character's end, because it ends before an ASCII byte.
    at.max(from + 1)
}

fn report_strange(text: &str, start: usize, end: usize, diagnostics: &mut Diagnostics) {
    let strange: String = text
        .get(start..end)
        .unwrap_or("")
        .chars()
        .take(8)
        .flat_map(char::escape_debug)
        .collect();
    let mut diagnostic = Diagnostic::error(
        Span::new(start, end),
        format!("`{strange}` means nothing here"),
    );
    let help = match strange.as_str() {
        "#" => Some("comments begin with `//`"),
        "?" => Some("there is no `?:`; use `if`"),
        "'" | "\\" => Some("there are no characters and no macros"),
        s if !s.is_ascii() => {
            Some("names and signs are ASCII; only comments can have other characters")
        }
        _ => None,
    };
    if let Some(help) = help {
        diagnostic = diagnostic.help(help);
    }
    diagnostics.push(diagnostic);
}
