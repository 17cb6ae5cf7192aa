//! Values of expressions, once more: written from the language's reference, with arithmetic in 128 bits.

use palisade_lang::{BinaryOp, Domain, Expr, UnaryOp, Value};

/// The program has gone wrong: an assertion, an index, an address, a division, a shift.
#[derive(Debug)]
pub struct Wrong;

/// The value that a result is stored as.
pub fn reduce(domain: Domain, value: Value) -> Value {
    domain.size().map_or(value, |size| value.rem_euclid(size))
}

/// The value of an expression, given those of its atoms.
pub fn value<A>(
    expr: &Expr<A>,
    domain: Domain,
    atom: &dyn Fn(&A) -> Result<Value, Wrong>,
) -> Result<Value, Wrong> {
    match expr {
        Expr::Const(constant) => Ok(*constant),
        Expr::Atom(a) => atom(a),
        Expr::Unary(op, operand) => {
            let operand = i128::from(value(operand, domain, atom)?);
            let result = match op {
                UnaryOp::Not => i128::from(operand == 0),
                UnaryOp::Negate => -operand,
                UnaryOp::Complement => -operand - 1,
            };
            Ok(reduce(domain, result as Value))
        }
        Expr::Binary(op, left, right) => {
            let left = value(left, domain, atom)?;
            match (op, left != 0) {
                (BinaryOp::And, false) => return Ok(0),
                (BinaryOp::Or, true) => return Ok(1),
                _ => {}
            }
            binary(*op, domain, left, value(right, domain, atom)?)
        }
        Expr::Element {
            first,
            length,
            index,
        } => {
            let index = value(index, domain, atom)?;
            match (0..Value::from(*length)).contains(&index) {
                true => Ok(first + index),
                false => Err(Wrong),
            }
        }
    }
}

/// What an operator makes of two values. `&&` and `||` have been asked about the left one already.
pub fn binary(op: BinaryOp, domain: Domain, left: Value, right: Value) -> Result<Value, Wrong> {
    let (l, r) = (i128::from(left), i128::from(right));
    let shifts = (0..64).contains(&right);
    let result = match op {
        BinaryOp::Multiply => l * r,
        BinaryOp::Divide if r != 0 => l / r,
        BinaryOp::Remainder if r != 0 => l % r,
        BinaryOp::Add => l + r,
        BinaryOp::Subtract => l - r,
        BinaryOp::ShiftLeft if shifts => l << r,
        BinaryOp::ShiftRight if shifts => l >> r,
        BinaryOp::Divide | BinaryOp::Remainder | BinaryOp::ShiftLeft | BinaryOp::ShiftRight => {
            return Err(Wrong);
        }
        BinaryOp::Less => (l < r).into(),
        BinaryOp::LessEqual => (l <= r).into(),
        BinaryOp::Greater => (l > r).into(),
        BinaryOp::GreaterEqual => (l >= r).into(),
        BinaryOp::Equal => (l == r).into(),
        BinaryOp::NotEqual => (l != r).into(),
        BinaryOp::BitAnd => l & r,
        BinaryOp::BitXor => l ^ r,
        BinaryOp::BitOr => l | r,
        BinaryOp::And => (l != 0 && r != 0).into(),
        BinaryOp::Or => (l != 0 || r != 0).into(),
        BinaryOp::Min => l.min(r),
        BinaryOp::Max => l.max(r),
    };
    // The lowest 64 bits: values wrap around.
    Ok(reduce(domain, result as Value))
}
