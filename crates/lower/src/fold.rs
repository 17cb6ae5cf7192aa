//! Expressions made smaller where that changes nothing.

use palisade_lang::{BinaryOp, Domain, Expr, UnaryOp, Value};

/// `left op right`, folded. The operands are folded already.
pub fn binary<A: Clone + PartialEq>(op: BinaryOp, left: Expr<A>, right: Expr<A>) -> Expr<A> {
    use BinaryOp::*;
    if let (Expr::Const(l), Expr::Const(r)) = (&left, &right)
        && let Ok(value) = Domain::FULL.binary(op, *l, *r)
    {
        return Expr::Const(value);
    }
    match (op, &left, &right) {
        (Add | BitOr | BitXor, Expr::Const(0), _) => return right,
        (Add | Subtract | BitOr | BitXor | ShiftLeft | ShiftRight, _, Expr::Const(0)) => {
            return left;
        }
        (Multiply, _, Expr::Const(1)) | (Divide, _, Expr::Const(1)) => return left,
        (Multiply, Expr::Const(1), _) => return right,
        (Multiply | BitAnd, _, Expr::Const(0)) if !can_fail(&left) => return Expr::Const(0),
        (Multiply | BitAnd, Expr::Const(0), _) if !can_fail(&right) => return Expr::Const(0),
        (And, Expr::Const(0), _) => return Expr::Const(0),
        (Or, Expr::Const(value), _) if *value != 0 => return Expr::Const(1),
        // Constants go to the right and together.
        (Add, Expr::Const(_), _) => return binary(Add, right, left),
        (Add, Expr::Binary(Add, inner, by), Expr::Const(more)) => {
            if let Expr::Const(by) = **by {
                let sum = Expr::Const(by.wrapping_add(*more));
                return binary(Add, (**inner).clone(), sum);
            }
        }
        (Subtract, _, Expr::Const(by)) if *by != Value::MIN => {
            let negated = Expr::Const(by.wrapping_neg());
            if matches!(left, Expr::Binary(Add, _, ref c) if matches!(**c, Expr::Const(_))) {
                return binary(Add, left, negated);
            }
        }
        (NotEqual, _, Expr::Const(0)) if is_truth(&left) => return left,
        (Equal, _, Expr::Const(0)) if is_truth(&left) => return not(left),
        _ => {}
    }
    Expr::binary(op, left, right)
}

/// `op operand`, folded.
pub fn unary<A: Clone + PartialEq>(op: UnaryOp, operand: Expr<A>) -> Expr<A> {
    match (op, operand) {
        (_, Expr::Const(value)) => Expr::Const(Domain::FULL.unary(op, value)),
        (UnaryOp::Not, operand) => not(operand),
        (_, operand) => Expr::unary(op, operand),
    }
}

/// 1 where the condition is 0, else 0.
pub fn not<A: Clone + PartialEq>(condition: Expr<A>) -> Expr<A> {
    use BinaryOp::*;
    match condition {
        Expr::Const(value) => Expr::Const(Value::from(value == 0)),
        Expr::Unary(UnaryOp::Not, inner) if is_truth(&inner) => *inner,
        Expr::Binary(op, left, right) => {
            let opposite = match op {
                Equal => NotEqual,
                NotEqual => Equal,
                Less => GreaterEqual,
                LessEqual => Greater,
                Greater => LessEqual,
                GreaterEqual => Less,
                _ => return Expr::unary(UnaryOp::Not, Expr::Binary(op, left, right)),
            };
            Expr::Binary(opposite, left, right)
        }
        other => Expr::unary(UnaryOp::Not, other),
    }
}

/// Whether the value is 0 or 1.
pub fn is_truth<A>(expr: &Expr<A>) -> bool {
    use BinaryOp::*;
    match expr {
        Expr::Const(value) => (0..=1).contains(value),
        Expr::Unary(UnaryOp::Not, _) => true,
        Expr::Binary(op, ..) => matches!(
            op,
            Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual | And | Or
        ),
        _ => false,
    }
}

fn can_fail<A>(expr: &Expr<A>) -> bool {
    match expr {
        Expr::Const(_) | Expr::Atom(_) => false,
        Expr::Unary(_, operand) => can_fail(operand),
        Expr::Binary(op, left, right) => {
            use BinaryOp::*;
            matches!(op, Divide | Remainder | ShiftLeft | ShiftRight)
                || can_fail(left)
                || can_fail(right)
        }
        Expr::Element { .. } => true,
    }
}

/// The same expression with its atoms replaced, folded.
pub fn replace<A, B: Clone + PartialEq>(
    expr: &Expr<A>,
    atom: &mut impl FnMut(&A) -> Expr<B>,
) -> Expr<B> {
    match expr {
        Expr::Const(value) => Expr::Const(*value),
        Expr::Atom(a) => atom(a),
        Expr::Unary(op, operand) => unary(*op, replace(operand, atom)),
        Expr::Binary(op, left, right) => {
            let left = replace(left, atom);
            binary(*op, left, replace(right, atom))
        }
        Expr::Element {
            first,
            length,
            index,
        } => {
            let index = replace(index, atom);
            match index {
                Expr::Const(at) if (0..Value::from(*length)).contains(&at) => {
                    Expr::Const(first + at)
                }
                index => Expr::Element {
                    first: *first,
                    length: *length,
                    index: Box::new(index),
                },
            }
        }
    }
}

/// An integer type: how many bits, and whether with a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Width {
    /// 1 to 64.
    pub bits: u32,
    /// Whether it has a sign.
    pub signed: bool,
}

impl Width {
    /// The least and the largest value, as they are kept in 64 bits: an unsigned 64-bit value from 2^63 on is kept as a negative number.
    pub fn range(self) -> (Value, Value) {
        match (self.bits, self.signed) {
            (64.., _) => (Value::MIN, Value::MAX),
            (bits, true) => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            (bits, false) => (0, (1 << bits) - 1),
        }
    }

    /// The value of this type that is congruent.
    pub fn wrap(self, value: Value) -> Value {
        if self.bits >= 64 {
            return value;
        }
        let up = 64 - self.bits;
        match self.signed {
            true => value << up >> up,
            false => value & ((1 << self.bits) - 1),
        }
    }
}

/// The expression taken into the type, where `range` (of the expression) says that it may leave it.
pub fn wrap<A: Clone + PartialEq>(expr: Expr<A>, to: Width, range: (Value, Value)) -> Expr<A> {
    let (low, high) = to.range();
    if low <= range.0 && range.1 <= high {
        return expr;
    }
    if let Expr::Const(value) = expr {
        return Expr::Const(to.wrap(value));
    }
    let up = Expr::Const(Value::from(64 - to.bits));
    match to.signed {
        false => binary(BinaryOp::BitAnd, expr, Expr::Const(high)),
        true => binary(
            BinaryOp::ShiftRight,
            binary(BinaryOp::ShiftLeft, expr, up.clone()),
            up,
        ),
    }
}
