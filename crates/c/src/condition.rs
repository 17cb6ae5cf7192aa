//! The conditions of `#if`, and the numbers in a program.

use crate::lex::{Kind, Token, characters};

/// The value of a condition; names are 0.
pub fn evaluate(tokens: &[Token]) -> Result<i64, String> {
    let mut reader = Reader {
        tokens,
        at: 0,
        unused: 0,
    };
    let value = reader.conditional(0)?.value;
    match reader.tokens.get(reader.at) {
        None => Ok(value),
        Some(token) => Err(format!("`{}` does not belong into a condition", token.text)),
    }
}

struct Reader<'t> {
    tokens: &'t [Token],
    at: usize,
    /// How many operators around this have no use for its value: `0 && …`.
    unused: usize,
}

/// A value, and whether it has no sign.
#[derive(Clone, Copy)]
struct Counted {
    value: i64,
    unsigned: bool,
}

impl Counted {
    fn signed(value: i64) -> Self {
        Counted {
            value,
            unsigned: false,
        }
    }
}

/// Deeper conditions are refused.
const DEEPEST: usize = 100;

impl Reader<'_> {
    fn take(&mut self, punct: &str) -> bool {
        let found = self.tokens.get(self.at).is_some_and(|t| t.is(punct));
        self.at += usize::from(found);
        found
    }

    fn conditional(&mut self, depth: usize) -> Result<Counted, String> {
        if depth > DEEPEST {
            return Err("this condition is nested too deeply".into());
        }
        let condition = self.binary(0, depth)?;
        if !self.take("?") {
            return Ok(condition);
        }
        let holds = condition.value != 0;
        let yes = self.used_if(holds, |this| this.conditional(depth + 1))?;
        if !self.take(":") {
            return Err("a `?` needs a `:`".into());
        }
        let no = self.used_if(!holds, |this| this.conditional(depth + 1))?;
        Ok(Counted {
            value: if holds { yes.value } else { no.value },
            unsigned: yes.unsigned || no.unsigned,
        })
    }

    /// Reads an operand: where it is not used, nothing in it is computed.
    fn used_if<T>(&mut self, used: bool, read: impl FnOnce(&mut Self) -> T) -> T {
        self.unused += usize::from(!used);
        let value = read(self);
        self.unused -= usize::from(!used);
        value
    }

    fn binary(&mut self, level: usize, depth: usize) -> Result<Counted, String> {
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
                    let used = match *operator {
                        "||" => left.value == 0,
                        "&&" => left.value != 0,
                        _ => true,
                    };
                    let right = self.used_if(used, |this| this.binary(level + 1, depth))?;
                    left = match apply(operator, left, right) {
                        Err(_) if self.unused > 0 => Counted::signed(0),
                        value => value?,
                    };
                    continue 'next;
                }
            }
            return Ok(left);
        }
    }

    fn unary(&mut self, depth: usize) -> Result<Counted, String> {
        if depth > DEEPEST {
            return Err("this condition is nested too deeply".into());
        }
        if self.take("!") {
            let operand = self.unary(depth + 1)?;
            return Ok(Counted::signed(i64::from(operand.value == 0)));
        }
        if self.take("-") {
            let operand = self.unary(depth + 1)?;
            let value = operand.value.wrapping_neg();
            return Ok(Counted { value, ..operand });
        }
        if self.take("+") {
            return self.unary(depth + 1);
        }
        if self.take("~") {
            let operand = self.unary(depth + 1)?;
            let value = !operand.value;
            return Ok(Counted { value, ..operand });
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
                Some(number) => Ok(Counted {
                    value: number.value,
                    unsigned: number.unsigned || number.value < 0,
                }),
                None => Err(format!("`{}` is no integer", token.text)),
            },
            Kind::Char => {
                let value = characters(&token.text).first().copied().unwrap_or(0);
                Ok(Counted::signed(value))
            }
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
                Ok(Counted::signed(0))
            }
            _ => Err(format!("`{}` does not belong into a condition", token.text)),
        }
    }
}

fn apply(operator: &str, left: Counted, right: Counted) -> Result<Counted, String> {
    let (l, r) = (left.value, right.value);
    let both = left.unsigned || right.unsigned;
    // As numbers without a sign, where one of them has none.
    let order = match both {
        true => (l as u64).cmp(&(r as u64)),
        false => l.cmp(&r),
    };
    let truth = match operator {
        "||" => Some(l != 0 || r != 0),
        "&&" => Some(l != 0 && r != 0),
        "==" => Some(l == r),
        "!=" => Some(l != r),
        "<=" => Some(order.is_le()),
        ">=" => Some(order.is_ge()),
        "<" => Some(order.is_lt()),
        ">" => Some(order.is_gt()),
        _ => None,
    };
    if let Some(truth) = truth {
        return Ok(Counted::signed(i64::from(truth)));
    }
    let value = match operator {
        "|" => l | r,
        "^" => l ^ r,
        "&" => l & r,
        "<<" => l.wrapping_shl(r as u32),
        ">>" if left.unsigned => (l as u64).wrapping_shr(r as u32) as i64,
        ">>" => l.wrapping_shr(r as u32),
        "+" => l.wrapping_add(r),
        "-" => l.wrapping_sub(r),
        "*" => l.wrapping_mul(r),
        "/" | "%" if r == 0 => return Err("a division by zero in this condition".into()),
        "/" if both => (l as u64 / r as u64) as i64,
        "/" => l.wrapping_div(r),
        _ if both => (l as u64 % r as u64) as i64,
        _ => l.wrapping_rem(r),
    };
    let unsigned = match operator {
        "<<" | ">>" => left.unsigned,
        _ => both,
    };
    Ok(Counted { value, unsigned })
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
