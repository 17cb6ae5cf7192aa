//! The flags of a processor, and the conditions of its jumps.
//!
//! Each flag is a register of its own, and only those exist that some jump of the thread asks for.

use super::{Column, split_word};
use crate::expr::{BinaryOp, Expr, UnaryOp, Value};
use crate::program::{Op, RegisterExpr, RegisterId};
use crate::source::Span;

/// What a jump can ask for. `Less` is "sign differs from overflow", which the signed comparisons need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flag {
    Zero,
    Sign,
    Carry,
    Overflow,
    Less,
}

/// What a jump waits for: one of these flags is set, or, negated, none of them is.
#[derive(Clone, Copy)]
pub(super) struct Condition {
    flags: &'static [Flag],
    negated: bool,
}

impl Condition {
    /// The condition of a conditional jump that is modelled.
    pub(super) fn of(mnemonic: &str) -> Option<Condition> {
        use Flag::{Carry, Less, Overflow, Sign, Zero};
        let (flags, negated): (&'static [Flag], bool) = match mnemonic {
            "je" | "jz" => (&[Zero], false),
            "jne" | "jnz" => (&[Zero], true),
            "js" => (&[Sign], false),
            "jns" => (&[Sign], true),
            "jo" => (&[Overflow], false),
            "jno" => (&[Overflow], true),
            "jb" | "jnae" | "jc" => (&[Carry], false),
            "jae" | "jnb" | "jnc" => (&[Carry], true),
            "jbe" | "jna" => (&[Carry, Zero], false),
            "ja" | "jnbe" => (&[Carry, Zero], true),
            "jl" | "jnge" => (&[Less], false),
            "jge" | "jnl" => (&[Less], true),
            "jle" | "jng" => (&[Less, Zero], false),
            "jg" | "jnle" => (&[Less, Zero], true),
            _ => return None,
        };
        Some(Condition { flags, negated })
    }
}

/// The flags of one thread.
#[derive(Default)]
pub(super) struct Flags {
    /// By flag: whether a jump asks for it.
    asked_for: [bool; 5],
    /// By flag: the register that holds it, once an instruction has set it.
    registers: [Option<RegisterId>; 5],
}

impl Flags {
    /// The flags that the jumps among these instructions ask for.
    pub(super) fn asked_for<'a>(instructions: impl Iterator<Item = &'a str>) -> Self {
        let mut flags = Flags::default();
        for text in instructions {
            let mnemonic = split_word(text).0.to_ascii_lowercase();
            for flag in Condition::of(&mnemonic).map_or(&[][..], |c| c.flags) {
                flags.asked_for[*flag as usize] = true;
            }
        }
        flags
    }

    pub(super) fn is_asked_for(&self, flag: Flag) -> bool {
        self.asked_for[flag as usize]
    }

    pub(super) fn any(&self) -> bool {
        self.asked_for.contains(&true)
    }

    /// The condition over the registers; `None` where no instruction so far sets one of its flags.
    pub(super) fn condition(&self, asked: Condition) -> Option<RegisterExpr> {
        let mut any: Option<RegisterExpr> = None;
        for flag in asked.flags {
            let flag = Expr::Atom(self.registers[*flag as usize]?);
            any = Some(match any {
                None => flag,
                Some(others) => Expr::binary(BinaryOp::Or, others, flag),
            });
        }
        let any = any?;
        Some(match asked.negated {
            true => Expr::unary(UnaryOp::Not, any),
            false => any,
        })
    }
}

/// The operands and the result of an instruction that sets the flags, each already taken to its width and without a sign.
pub(super) struct Computed {
    pub(super) left: RegisterExpr,
    pub(super) right: RegisterExpr,
    pub(super) result: RegisterExpr,
    pub(super) size: u32,
}

/// How an instruction sets carry and overflow.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Sum,
    Difference,
    /// Both are cleared.
    Logic,
    /// By a number of bits that is not 0.
    ShiftLeft(u32),
    ShiftRight(u32),
    ShiftArithmetic(u32),
}

impl Column {
    /// Sets the flags that are asked for. With `keep_carry`, as `inc` and `dec` do, the carry stays what it is.
    ///
    /// `false` where the processor leaves a flag undefined that a jump of this thread asks for.
    pub(super) fn set_flags(
        &mut self,
        kind: Kind,
        keep_carry: bool,
        computed: &Computed,
        span: Span,
    ) -> bool {
        for flag in [
            Flag::Zero,
            Flag::Sign,
            Flag::Carry,
            Flag::Overflow,
            Flag::Less,
        ] {
            if !self.flags.is_asked_for(flag) || flag == Flag::Carry && keep_carry {
                continue;
            }
            let value = match self.exact {
                true => exact_flag(flag, kind, computed),
                false => small_flag(flag, kind, computed),
            };
            let Some(value) = value else {
                return false;
            };
            let register = match self.flags.registers[flag as usize] {
                Some(register) => register,
                None => {
                    let register = self.builder.register(None, span);
                    self.flags.registers[flag as usize] = Some(register);
                    register
                }
            };
            self.step(Op::Assign(register, value), span);
        }
        true
    }
}

/// A flag where every value is small and at least 0, or taken modulo a domain: then nothing overflows.
fn small_flag(flag: Flag, kind: Kind, computed: &Computed) -> Option<RegisterExpr> {
    let less = || {
        Expr::binary(
            BinaryOp::Less,
            computed.left.clone(),
            computed.right.clone(),
        )
    };
    Some(match (flag, kind) {
        (Flag::Zero, Kind::Difference) => Expr::binary(
            BinaryOp::Equal,
            computed.left.clone(),
            computed.right.clone(),
        ),
        (Flag::Zero, _) => is_zero(&computed.result),
        (Flag::Sign | Flag::Carry | Flag::Less, Kind::Difference) => less(),
        (
            Flag::Carry | Flag::Overflow | Flag::Less,
            Kind::ShiftLeft(_) | Kind::ShiftRight(_) | Kind::ShiftArithmetic(_),
        ) => return None,
        _ => Expr::Const(0),
    })
}

fn exact_flag(flag: Flag, kind: Kind, computed: &Computed) -> Option<RegisterExpr> {
    let Computed {
        left,
        right,
        result,
        size,
    } = computed;
    let size = *size;
    let signed = |e: &RegisterExpr| sign_extended(e.clone(), size);
    let negative = |e: RegisterExpr| Expr::binary(BinaryOp::Less, e, Expr::Const(0));
    let sign = || negative(signed(result));
    let xor =
        |a: &RegisterExpr, b: &RegisterExpr| Expr::binary(BinaryOp::BitXor, a.clone(), b.clone());
    let overflow = || match kind {
        // Below 64 bits the sum of the signed operands is exact: it overflows if it is not the signed result.
        Kind::Sum | Kind::Difference if size < 8 => {
            let op = match kind {
                Kind::Sum => BinaryOp::Add,
                _ => BinaryOp::Subtract,
            };
            let exact = Expr::binary(op, signed(left), signed(right));
            Some(Expr::binary(BinaryOp::NotEqual, exact, signed(result)))
        }
        // Both operands have a sign that the result does not have; for a difference, the second one's is turned round.
        Kind::Sum => {
            let both = Expr::binary(BinaryOp::BitAnd, xor(left, result), xor(right, result));
            Some(negative(both))
        }
        Kind::Difference => {
            let both = Expr::binary(BinaryOp::BitAnd, xor(left, right), xor(left, result));
            Some(negative(both))
        }
        Kind::Logic | Kind::ShiftArithmetic(1) => Some(Expr::Const(0)),
        Kind::ShiftLeft(1) => Some(Expr::binary(
            BinaryOp::NotEqual,
            sign(),
            bit(left, 8 * size - 1),
        )),
        Kind::ShiftRight(1) => Some(negative(signed(left))),
        Kind::ShiftLeft(_) | Kind::ShiftRight(_) | Kind::ShiftArithmetic(_) => None,
    };
    Some(match flag {
        Flag::Zero => is_zero(result),
        Flag::Sign => sign(),
        Flag::Overflow => overflow()?,
        Flag::Less if kind == Kind::Difference => {
            Expr::binary(BinaryOp::Less, signed(left), signed(right))
        }
        Flag::Less => Expr::binary(BinaryOp::NotEqual, sign(), overflow()?),
        Flag::Carry => match kind {
            Kind::Sum => below(result, left, size),
            Kind::Difference => below(left, right, size),
            Kind::Logic => Expr::Const(0),
            Kind::ShiftLeft(by) => bit(left, (8 * size).checked_sub(by)?),
            Kind::ShiftRight(by) | Kind::ShiftArithmetic(by) => {
                bit(left, (by - 1).min(8 * size - 1))
            }
        },
    })
}

fn is_zero(value: &RegisterExpr) -> RegisterExpr {
    Expr::binary(BinaryOp::Equal, value.clone(), Expr::Const(0))
}

/// Bit `number` of a value, 0 or 1.
fn bit(value: &RegisterExpr, number: u32) -> RegisterExpr {
    let shifted = Expr::binary(
        BinaryOp::ShiftRight,
        value.clone(),
        Expr::Const(number.into()),
    );
    Expr::binary(BinaryOp::BitAnd, shifted, Expr::Const(1))
}

/// `left < right` without signs: both are at least 0 below 64 bits, and with 64 bits the sign is turned round.
fn below(left: &RegisterExpr, right: &RegisterExpr, size: u32) -> RegisterExpr {
    let unsigned = |e: &RegisterExpr| match size {
        8 => Expr::binary(BinaryOp::BitXor, e.clone(), Expr::Const(Value::MIN)),
        _ => e.clone(),
    };
    Expr::binary(BinaryOp::Less, unsigned(left), unsigned(right))
}

/// The lowest bytes of a value, without a sign.
pub(in crate::litmus) fn zero_extended<A>(value: Expr<A>, size: u32) -> Expr<A> {
    if size >= 8 {
        return value;
    }
    let mask = (1 << (8 * size)) - 1;
    match value {
        Expr::Const(value) => Expr::Const(value & mask),
        value => Expr::binary(BinaryOp::BitAnd, value, Expr::Const(mask)),
    }
}

/// The lowest bytes of a value, the highest bit of which is the sign.
pub(in crate::litmus) fn sign_extended<A>(value: Expr<A>, size: u32) -> Expr<A> {
    if size >= 8 {
        return value;
    }
    let bits = Value::from(64 - 8 * size);
    match value {
        Expr::Const(value) => Expr::Const(value << bits >> bits),
        value => {
            let up = Expr::binary(BinaryOp::ShiftLeft, value, Expr::Const(bits));
            Expr::binary(BinaryOp::ShiftRight, up, Expr::Const(bits))
        }
    }
}
