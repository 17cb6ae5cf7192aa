//! The conditions of `#if`, and the numbers in a program.

use crate::lex::{Kind, Token, characters};

/// The value of a condition; names are 0.
pub fn evaluate(tokens: &[Token]) -> Result<i64, String> {
    let mut reader = Reader { tokens, at: 0 };
    let value = reader.conditional(0)?;
    match reader.tokens.get(reader.at) {
        None => Ok(value),
        Some(token) => Err(format!("`{}` does not belong into a condition", token.text)),
    }
}

struct Reader<'t> {
    tokens: &'t [Token],
    at: usize,
}

/// Deeper conditions are refused.
const DEEPEST: usize = 100;

impl Reader<'_> {
    fn take(&mut self, punct: &str) -> bool {
        let found = self.tokens.get(self.at).is_some_and(|t| t.is(punct));
        self.at += usize::from(found);
        found
    }

    fn conditional(&mut self, depth: usize) -> Result<i64, String> {
        if depth > DEEPEST {
            return Err("this condition is nested too deeply".into());
        }
        let condition = self.binary(0, depth)?;
        if !self.take("?") {
            return Ok(condition);
        }
        let yes = self.conditional(depth + 1)?;
        if !self.take(":") {
            return Err("a `?` needs a `:`".into());
        }
        let no = self.conditional(depth + 1)?;
        Ok(if condition != 0 { yes } else { no })
    }

    fn binary(&mut self, level: usize, depth: usize) -> Result<i64, String> {
        const LEVELS: &[&[&str]] = &[
            &["||"],
            &["&&"],
            &["|"],
            &["^"],
            &["&"],
            &["==", "!="],
            &["<=", ">=", "<", ">"],
            &["<<", ">>"],
            &["+", "-"],
            &["*", "/", "%"],
        ];
        let Some(operators) = LEVELS.get(level) else {
            return self.unary(depth);
        };
        let mut left = self.binary(level + 1, depth)?;
        'next: loop {
            for operator in *operators {
                if self.take(operator) {
                    let right = self.binary(level + 1, depth)?;
                    left = apply(operator, left, right)?;
                    continue 'next;
                }
            }
            return Ok(left);
        }
    }

    fn unary(&mut self, depth: usize) -> Result<i64, String> {
        if depth > DEEPEST {
            return Err("this condition is nested too deeply".into());
        }
        if self.take("!") {
            return Ok(i64::from(self.unary(depth + 1)? == 0));
        }
        if self.take("-") {
            return Ok(self.unary(depth + 1)?.wrapping_neg());
        }
        if self.take("+") {
            return self.unary(depth + 1);
        }
        if self.take("~") {
            return Ok(!self.unary(depth + 1)?);
        }
        if self.take("(") {
            let value = self.conditional(depth + 1)?;
            return match self.take(")") {
                true => Ok(value),
                false => Err("a bracket is not closed in this condition".into()),
            };
        }
        let Some(token) = self.tokens.get(self.at) else {
            return Err("this condition ends too early".into());
        };
        self.at += 1;
        match token.kind {
            Kind::Number => match number(&token.text) {
                Some(number) => Ok(number.value),
                None => Err(format!("`{}` is no integer", token.text)),
            },
            Kind::Char => Ok(characters(&token.text).first().copied().unwrap_or(0)),
            Kind::Name => {
                // A macro that does not exist, also one that would be like a function.
                if self.take("(") {
                    let mut depth = 1;
                    while depth > 0 && self.at < self.tokens.len() {
                        depth += i32::from(self.tokens[self.at].is("("));
                        depth -= i32::from(self.tokens[self.at].is(")"));
                        self.at += 1;
                    }
                }
                Ok(0)
            }
            _ => Err(format!("`{}` does not belong into a condition", token.text)),
        }
    }
}

fn apply(operator: &str, left: i64, right: i64) -> Result<i64, String> {
    Ok(match operator {
        "||" => i64::from(left != 0 || right != 0),
        "&&" => i64::from(left != 0 && right != 0),
        "|" => left | right,
        "^" => left ^ right,
        "&" => left & right,
        "==" => i64::from(left == right),
        "!=" => i64::from(left != right),
        "<=" => i64::from(left <= right),
        ">=" => i64::from(left >= right),
        "<" => i64::from(left < right),
        ">" => i64::from(left > right),
        "<<" => left.wrapping_shl(right as u32),
        ">>" => left.wrapping_shr(right as u32),
        "+" => left.wrapping_add(right),
        "-" => left.wrapping_sub(right),
        "*" => left.wrapping_mul(right),
        "/" | "%" if right == 0 => return Err("a division by zero in this condition".into()),
        "/" => left.wrapping_div(right),
        _ => left.wrapping_rem(right),
    })
}

/// An integer constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// Its bits.
    pub value: i64,
    /// Written with `u`.
    pub unsigned: bool,
    /// Written with `l`.
    pub long: bool,
    /// Written in decimal.
    pub decimal: bool,
}

/// Reads an integer constant; `None` where it is none (a floating one, say).
pub fn number(text: &str) -> Option<Number> {
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = if let Some(rest) = lower.strip_prefix("0x") {
        (rest, 16)
    } else if let Some(rest) = lower.strip_prefix("0b") {
        (rest, 2)
    } else if lower.len() > 1 && lower.starts_with('0') {
        (&lower[1..], 8)
    } else {
        (&lower[..], 10)
    };
    let end = digits
        .find(|c: char| !c.is_digit(radix))
        .unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(end);
    if !matches!(
        suffix,
        "" | "u" | "l" | "ul" | "lu" | "ll" | "ull" | "llu" | "z" | "uz" | "zu"
    ) {
        return None;
    }
    let value = match digits {
        "" if radix == 8 => 0,
        digits => u64::from_str_radix(digits, radix).ok()?,
    };
    Some(Number {
        value: value as i64,
        unsigned: suffix.contains('u'),
        long: suffix.contains('l') || suffix.contains('z'),
        decimal: radix == 10,
    })
}
