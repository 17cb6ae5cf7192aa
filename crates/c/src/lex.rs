//! Characters to tokens, as the preprocessor sees them.

use palisade_lang::{Diagnostic, Span};
use std::rc::Rc;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name or a keyword.
    Name,
    /// An integer or floating constant, as written.
    Number,
    /// `'a'`, with its quotes.
    Char,
    /// `"text"`, with its quotes.
    String,
    /// An operator or a bracket.
    Punct,
    /// Any other character.
    Other,
    /// The end of the program.
    End,
}

/// A token.
#[derive(Clone, Debug)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// As it is written.
    pub text: Rc<str>,
    /// Where it is; a token that a macro makes is where the macro is used.
    pub span: Span,
    /// White space stands before it.
    pub space: bool,
    /// It is the first of its line.
    pub first: bool,
    /// The macros that it comes from, which are not expanded in it again.
    pub hidden: Option<Rc<Hidden>>,
}

/// Names of macros, as a list.
#[derive(Debug)]
pub struct Hidden {
    /// One of them.
    pub name: Rc<str>,
    /// The others.
    pub next: Option<Rc<Hidden>>,
    /// How many there are.
    pub count: usize,
}

impl Hidden {
    /// The list with one more name.
    pub fn with(name: Rc<str>, next: Option<Rc<Hidden>>) -> Rc<Hidden> {
        let count = 1 + next.as_ref().map_or(0, |next| next.count);
        Rc::new(Hidden { name, next, count })
    }

    /// The names that are in both lists.
    pub fn both(one: &Option<Rc<Hidden>>, other: &Option<Rc<Hidden>>) -> Option<Rc<Hidden>> {
        let (mut result, mut entry) = (None, one);
        while let Some(hidden) = entry {
            if contains(other, &hidden.name) {
                result = Some(Hidden::with(hidden.name.clone(), result));
            }
            entry = &hidden.next;
        }
        result
    }

    /// The names that are in one list or the other.
    pub fn either(one: Rc<Hidden>, other: &Rc<Hidden>) -> Rc<Hidden> {
        let (mut result, mut entry) = (one, Some(other));
        while let Some(hidden) = entry {
            if !contains(&Some(result.clone()), &hidden.name) {
                result = Hidden::with(hidden.name.clone(), Some(result));
            }
            entry = hidden.next.as_ref();
        }
        result
    }
}

fn contains(mut hidden: &Option<Rc<Hidden>>, name: &str) -> bool {
    while let Some(entry) = hidden {
        if &*entry.name == name {
            return true;
        }
        hidden = &entry.next;
    }
    false
}

impl Token {
    /// Whether it is this operator or bracket.
    pub fn is(&self, punct: &str) -> bool {
        self.kind == Kind::Punct && &*self.text == punct
    }

    /// Whether it is this word.
    pub fn is_name(&self, name: &str) -> bool {
        self.kind == Kind::Name && &*self.text == name
    }

    /// Whether that macro is not expanded in it.
    pub fn hides(&self, name: &str) -> bool {
        contains(&self.hidden, name)
    }
}

const PUNCTUATION: &[&str] = &[
    "...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "*=",
    "/=", "%=", "+=", "-=", "&=", "^=", "|=", "##", "[", "]", "(", ")", "{", "}", ".", "&", "*",
    "+", "-", "~", "!", "/", "%", "<", ">", "^", "|", "?", ":", ";", "=", ",", "#",
];

/// The tokens of a file that begins at the offset `base`.
pub fn tokens(text: &str, base: u32, errors: &mut Vec<Diagnostic>) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    let mut space = false;
    let mut first = true;
    let span = |from: usize, to: usize| Span::new(base as usize + from, base as usize + to);
    while at < bytes.len() {
        let byte = bytes[at];
        match byte {
            b'\n' => {
                first = true;
                space = true;
                at += 1;
                continue;
            }
            b'\\' if text[at + 1..].starts_with('\n') => {
                at += 2;
                space = true;
                continue;
            }
            b'\\' if text[at + 1..].starts_with("\r\n") => {
                at += 3;
                space = true;
                continue;
            }
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => {
                space = true;
                at += 1;
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    // A comment goes on behind a line that ends in a backslash.
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at = at.min(bytes.len());
                space = true;
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                match text[at + 2..].find("*/") {
                    Some(length) => at += length + 4,
                    None => {
                        let message = "this comment has no end";
                        errors.push(Diagnostic::error(span(at, at + 2), message));
                        at = bytes.len();
                    }
                }
                space = true;
                continue;
            }
            _ => {}
        }
        let (kind, length) = token_at(&text[at..]);
        tokens.push(Token {
            kind,
            text: text[at..at + length].into(),
            span: span(at, at + length),
            space,
            first,
            hidden: None,
        });
        at += length;
        space = false;
        first = false;
    }
    tokens
}

/// The kind and the length of the token that the text begins with.
fn token_at(text: &str) -> (Kind, usize) {
    let bytes = text.as_bytes();
    // Letters of any alphabet, as compilers have it.
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_' || *b == b'$' || *b >= 0x80;
    let byte = bytes[0];
    // Prefixes of literals.
    for prefix in ["u8", "L", "u", "U", ""] {
        if let Some(rest) = text.strip_prefix(prefix)
            && let Some(quote @ (b'"' | b'\'')) = rest.as_bytes().first()
        {
            return match quoted(rest, *quote) {
                Some(length) if *quote == b'"' => (Kind::String, prefix.len() + length),
                Some(length) => (Kind::Char, prefix.len() + length),
                None => (Kind::Other, prefix.len().max(1)),
            };
        }
    }
    if is_name(&byte) && !byte.is_ascii_digit() {
        return (Kind::Name, bytes.iter().take_while(|b| is_name(b)).count());
    }
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    if digit(0) || (byte == b'.' && digit(1)) {
        let mut length = 1;
        while let Some(next) = bytes.get(length) {
            let exponent = matches!(bytes[length - 1], b'e' | b'E' | b'p' | b'P');
            let sign = matches!(next, b'+' | b'-') && exponent && !text.starts_with("0x");
            if !(is_name(next) || *next == b'.' || sign) {
                break;
            }
            length += 1;
        }
        return (Kind::Number, length);
    }
    for punct in PUNCTUATION {
        if text.starts_with(punct) {
            return (Kind::Punct, punct.len());
        }
    }
    (Kind::Other, text.chars().next().map_or(1, char::len_utf8))
}

/// The length of a literal in quotes.
fn quoted(text: &str, quote: u8) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'\n' => return None,
            byte if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

/// The characters of a literal in quotes, as numbers.
pub fn characters(literal: &str) -> Vec<i64> {
    let inner = literal.trim_start_matches(|c| c != '"' && c != '\'');
    let inner = inner.get(1..inner.len().saturating_sub(1)).unwrap_or("");
    let mut result = Vec::new();
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            let mut buffer = [0; 4];
            let bytes = c.encode_utf8(&mut buffer).bytes();
            result.extend(bytes.map(|b| i64::from(b as i8)));
            continue;
        }
        let value = match chars.next() {
            Some('n') => 10,
            Some('t') => 9,
            Some('r') => 13,
            Some('a') => 7,
            Some('b') => 8,
            Some('f') => 12,
            Some('v') => 11,
            Some('x') => {
                let mut value: i64 = 0;
                while let Some(digit) = chars.peek().and_then(|c| c.to_digit(16)) {
                    value = value.wrapping_mul(16).wrapping_add(i64::from(digit));
                    chars.next();
                }
                i64::from(value as i8)
            }
            Some(digit @ '0'..='7') => {
                let mut value = digit as i64 - '0' as i64;
                for _ in 0..2 {
                    if let Some(digit) = chars.peek().and_then(|c| c.to_digit(8)) {
                        value = value * 8 + i64::from(digit);
                        chars.next();
                    }
                }
                i64::from(value as i8)
            }
            Some(other) => other as i64,
            None => 92,
        };
        result.push(value);
    }
    result
}
