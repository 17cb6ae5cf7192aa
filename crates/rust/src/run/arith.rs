//! Numbers of Rust's widths in 64-bit values: what is known is computed, the rest becomes an expression.

use super::value::{Pointer, Val};
use crate::mir::IntTy;
use palisade_lang::{BinaryOp, Domain, Expr, RegisterId, UnaryOp};
use std::rc::Rc;

/// An expression of a thread.
pub type Term = Expr<RegisterId>;

/// The number that stands for a value in memory and registers.
pub fn stored(value: i128) -> i64 {
    value as u64 as i64
}

/// A value for an expression: a known one, if it needs no register.
pub fn simplify(term: &Term, ty: IntTy) -> Val {
    match term.constant(Domain::FULL) {
        Some(value) => Val::Int(ty.wrap(i128::from(value)), ty),
        None => Val::Sym(Rc::new(term.clone()), ty),
    }
}

/// The expression for a number.
pub fn term(value: &Val) -> Option<Term> {
    match value {
        Val::Int(value, _) => Some(Expr::Const(stored(*value))),
        Val::Sym(term, _) => Some((**term).clone()),
        _ => None,
    }
}

fn binary(op: BinaryOp, left: Term, right: Term) -> Term {
    let built = Expr::binary(op, left, right);
    match built.constant(Domain::FULL) {
        Some(value) => Expr::Const(value),
        None => built,
    }
}

/// `left == right`
pub fn equal(left: Term, right: i64) -> Term {
    binary(BinaryOp::Equal, left, Expr::Const(right))
}

/// Takes an expression to the values of a type.
pub fn wrap(term: Term, ty: IntTy) -> Term {
    if ty.bits >= 64 {
        return term;
    }
    if ty.signed {
        let shift = i64::from(64 - ty.bits);
        let up = binary(BinaryOp::ShiftLeft, term, Expr::Const(shift));
        return binary(BinaryOp::ShiftRight, up, Expr::Const(shift));
    }
    binary(BinaryOp::BitAnd, term, Expr::Const((1i64 << ty.bits) - 1))
}

/// `left OP right` for comparisons of numbers of type `ty`.
fn compare(op: BinaryOp, left: Term, right: Term, ty: IntTy) -> Term {
    let order = matches!(
        op,
        BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual
    );
    if !order || ty.signed || ty.bits < 64 {
        return binary(op, left, right);
    }
    // Numbers from 2^63 on are below 0 as they are kept: with the first bit turned round, the order is right.
    let turn = |term| binary(BinaryOp::BitXor, term, Expr::Const(i64::MIN));
    if let Expr::Const(limit @ 0..) = right {
        let small = binary(op, left.clone(), Expr::Const(limit));
        let (join, sign) = match op {
            BinaryOp::Less | BinaryOp::LessEqual => (BinaryOp::And, BinaryOp::GreaterEqual),
            _ => (BinaryOp::Or, BinaryOp::Less),
        };
        let sign = binary(sign, left, Expr::Const(0));
        return binary(join, sign, small);
    }
    binary(op, turn(left), turn(right))
}

/// What came of an operation.
pub enum Computed {
    /// A value.
    Value(Val),
    /// A value with the flag of an overflow.
    Pair(Val, Val),
    /// The operation needs numbers below 2^63: the operands that must be.
    NeedsSmall(Vec<Term>, Val),
    /// The operation is not known here.
    Unknown,
}

fn comparison(name: &str) -> Option<BinaryOp> {
    Some(match name {
        "Eq" => BinaryOp::Equal,
        "Ne" => BinaryOp::NotEqual,
        "Lt" => BinaryOp::Less,
        "Le" => BinaryOp::LessEqual,
        "Gt" => BinaryOp::Greater,
        "Ge" => BinaryOp::GreaterEqual,
        _ => return None,
    })
}

/// An operation on two numbers.
pub fn operate(name: &str, left: &Val, right: &Val) -> Computed {
    if let (Val::Int(a, ty), Val::Int(b, other)) = (left, right) {
        return operate_known(name, *a, *b, *ty, *other);
    }
    let (ty, other) = match (left, right) {
        (Val::Sym(_, a) | Val::Int(_, a), Val::Sym(_, b) | Val::Int(_, b)) => (*a, *b),
        _ => return Computed::Unknown,
    };
    let (Some(a), Some(b)) = (term(left), term(right)) else {
        return Computed::Unknown;
    };
    if ty.bits > 64 {
        return Computed::Unknown;
    }
    if let Some(op) = comparison(name) {
        return Computed::Value(simplify(&compare(op, a, b, ty), IntTy::BOOL));
    }
    let base = name
        .trim_end_matches("WithOverflow")
        .trim_end_matches("Unchecked")
        .trim_start_matches("Checked");
    let plain = |op| wrap(binary(op, a.clone(), b.clone()), ty);
    let result = match base {
        "Add" => plain(BinaryOp::Add),
        "Sub" => plain(BinaryOp::Subtract),
        "Mul" => plain(BinaryOp::Multiply),
        "BitAnd" => binary(BinaryOp::BitAnd, a.clone(), b.clone()),
        "BitOr" => binary(BinaryOp::BitOr, a.clone(), b.clone()),
        "BitXor" => binary(BinaryOp::BitXor, a.clone(), b.clone()),
        "Shl" => {
            let by = binary(BinaryOp::BitAnd, b, Expr::Const(i64::from(ty.bits) - 1));
            return Computed::Value(simplify(&wrap(binary(BinaryOp::ShiftLeft, a, by), ty), ty));
        }
        "Shr" => {
            let by = binary(BinaryOp::BitAnd, b, Expr::Const(i64::from(ty.bits) - 1));
            let shifted = binary(BinaryOp::ShiftRight, a, by.clone());
            if ty.signed || ty.bits < 64 {
                return Computed::Value(simplify(&shifted, ty));
            }
            let Expr::Const(by) = by else {
                return Computed::Unknown;
            };
            let mask = (u64::MAX >> by) as i64;
            let shifted = binary(BinaryOp::BitAnd, shifted, Expr::Const(mask));
            return Computed::Value(simplify(&shifted, ty));
        }
        "Div" | "Rem" => {
            let op = if base == "Div" {
                BinaryOp::Divide
            } else {
                BinaryOp::Remainder
            };
            let value = simplify(&wrap(binary(op, a.clone(), b.clone()), ty), ty);
            if ty.signed || ty.bits < 64 {
                return Computed::Value(value);
            }
            let terms = [a, b]
                .into_iter()
                .filter(|t| !matches!(t, Expr::Const(0..)));
            return Computed::NeedsSmall(terms.collect(), value);
        }
        _ => return Computed::Unknown,
    };
    let value = simplify(&result, ty);
    let _ = other;
    if !name.ends_with("WithOverflow") && !name.starts_with("Checked") {
        return Computed::Value(value);
    }
    let overflow = if ty.bits < 64 {
        let op = match base {
            "Add" => BinaryOp::Add,
            "Sub" => BinaryOp::Subtract,
            _ => BinaryOp::Multiply,
        };
        binary(BinaryOp::NotEqual, binary(op, a, b), result)
    } else if !ty.signed && base == "Add" {
        compare(BinaryOp::Less, result, a, ty)
    } else if !ty.signed && base == "Sub" {
        compare(BinaryOp::Less, a, b, ty)
    } else {
        return Computed::Unknown;
    };
    Computed::Pair(value, simplify(&overflow, IntTy::BOOL))
}

fn operate_known(name: &str, a: i128, b: i128, ty: IntTy, other: IntTy) -> Computed {
    if let Some(op) = comparison(name) {
        let holds = match op {
            BinaryOp::Equal => a == b,
            BinaryOp::NotEqual => a != b,
            BinaryOp::Less => a < b,
            BinaryOp::LessEqual => a <= b,
            BinaryOp::Greater => a > b,
            _ => a >= b,
        };
        return Computed::Value(Val::bool(holds));
    }
    let base = name
        .trim_end_matches("WithOverflow")
        .trim_end_matches("Unchecked")
        .trim_start_matches("Checked");
    let by = b.rem_euclid(i128::from(ty.bits.max(1))) as u32;
    let exact = match base {
        "Add" => a.checked_add(b),
        "Sub" => a.checked_sub(b),
        "Mul" => a.checked_mul(b),
        "Div" => a.checked_div(b),
        "Rem" => a.checked_rem(b),
        "BitAnd" => Some(a & b),
        "BitOr" => Some(a | b),
        "BitXor" => Some(a ^ b),
        "Shl" if ty.bits <= 64 => Some(ty.wrap(a << by)),
        "Shr" => Some(a >> by),
        _ => None,
    };
    let _ = other;
    let Some(exact) = exact else {
        return Computed::Unknown;
    };
    // Numbers of 128 bits are kept in 127: others are not computed.
    if ty.bits > 64 && !ty.signed && exact < 0 {
        return Computed::Unknown;
    }
    let value = Val::Int(ty.wrap(exact), ty);
    if name.ends_with("WithOverflow") || name.starts_with("Checked") {
        return Computed::Pair(value, Val::bool(ty.wrap(exact) != exact));
    }
    Computed::Value(value)
}

/// `!a`
pub fn not(value: &Val) -> Option<Val> {
    match value {
        Val::Int(value, IntTy::BOOL) => Some(Val::Int(1 - value, IntTy::BOOL)),
        Val::Int(_, ty) if ty.bits > 64 && !ty.signed => None,
        Val::Int(value, ty) => Some(Val::Int(ty.wrap(!value), *ty)),
        Val::Sym(term, IntTy::BOOL) => {
            let not = Expr::unary(UnaryOp::Not, (**term).clone());
            Some(simplify(&not, IntTy::BOOL))
        }
        Val::Sym(term, ty) => {
            let not = Expr::unary(UnaryOp::Complement, (**term).clone());
            Some(simplify(&wrap(not, *ty), *ty))
        }
        _ => None,
    }
}

/// `-a`
pub fn negate(value: &Val) -> Option<Val> {
    match value {
        Val::Int(value, ty) => Some(Val::Int(ty.wrap(value.checked_neg()?), *ty)),
        Val::Sym(term, ty) => {
            let negated = Expr::unary(UnaryOp::Negate, (**term).clone());
            Some(simplify(&wrap(negated, *ty), *ty))
        }
        _ => None,
    }
}

/// `a as T` for numbers.
pub fn convert(value: &Val, to: IntTy) -> Option<Val> {
    match value {
        Val::Int(value, _) if to.bits > 64 && !to.signed && *value < 0 => None,
        Val::Int(value, _) => Some(Val::Int(to.wrap(*value), to)),
        Val::Sym(term, from) => {
            let fits = to.bits > from.bits && (to.signed || !from.signed)
                || to == *from
                || to.bits == 64 && from.bits <= 64;
            let term = (**term).clone();
            let term = if fits { term } else { wrap(term, to) };
            Some(simplify(&term, to))
        }
        _ => None,
    }
}

/// The low bits of an address that may hold something else.
pub const MAX_TAG: u8 = 7;

/// Operations on the low bits of a pointer, and comparisons of pointers.
pub fn with_pointer(
    name: &str,
    left: &Val,
    right: &Val,
    code: &mut dyn FnMut(&Pointer) -> i64,
) -> Option<Val> {
    match (name, left, right) {
        ("Eq" | "Ne", Val::Ptr(a), Val::Ptr(b)) => Some(Val::bool(
            (a.loc == b.loc && a.tag == b.tag) == (name == "Eq"),
        )),
        ("Eq" | "Ne", Val::Ptr(_), Val::Int(..)) | ("Eq" | "Ne", Val::Int(..), Val::Ptr(_)) => {
            Some(Val::bool(name == "Ne"))
        }
        ("Eq" | "Ne", Val::Ptr(p), Val::Sym(term, _))
        | ("Eq" | "Ne", Val::Sym(term, _), Val::Ptr(p)) => {
            let op = if name == "Eq" {
                BinaryOp::Equal
            } else {
                BinaryOp::NotEqual
            };
            let other = Expr::Const(code(p));
            Some(simplify(&binary(op, (**term).clone(), other), IntTy::BOOL))
        }
        ("BitOr" | "Add" | "BitXor", Val::Ptr(p), Val::Int(bits @ 0..=7, _))
        | ("BitOr" | "Add" | "BitXor", Val::Int(bits @ 0..=7, _), Val::Ptr(p)) => {
            let tag = match name {
                "BitOr" => p.tag | *bits as u8,
                "BitXor" => p.tag ^ *bits as u8,
                _ => p.tag + *bits as u8,
            };
            if tag > MAX_TAG {
                return None;
            }
            Some(Val::Ptr(Rc::new(Pointer {
                tag,
                ..(**p).clone()
            })))
        }
        ("Sub", Val::Ptr(p), Val::Int(bits @ 0..=7, _)) if p.tag >= *bits as u8 => {
            let tag = p.tag - *bits as u8;
            Some(Val::Ptr(Rc::new(Pointer {
                tag,
                ..(**p).clone()
            })))
        }
        // How far two addresses of one value are apart.
        ("Sub", Val::Ptr(p), Val::Ptr(q)) if p.loc == q.loc => Some(Val::Int(
            i128::from(p.tag) - i128::from(q.tag),
            IntTy::ISIZE,
        )),
        ("BitAnd", Val::Ptr(p), Val::Int(bits, ty))
        | ("BitAnd", Val::Int(bits, ty), Val::Ptr(p)) => {
            if (0..=7).contains(bits) {
                return Some(Val::Int(i128::from(p.tag) & bits, *ty));
            }
            let low = (*bits & 7) as u8;
            // Only the low bits may be cut off.
            if stored(*bits) | 7 != -1 {
                return None;
            }
            Some(Val::Ptr(Rc::new(Pointer {
                tag: p.tag & low,
                ..(**p).clone()
            })))
        }
        _ => None,
    }
}
