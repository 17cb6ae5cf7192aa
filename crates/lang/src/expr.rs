//! Expressions: arithmetic without side effects over registers (or over whatever `A` is).

use std::fmt;

/// A value of the analysed program.
pub type Value = i64;

/// An expression over atoms `A`: registers in a thread's code, more in a `never`.
///
/// Expressions never touch memory: front ends turn every load inside a source expression into an instruction of its own.
/// Their height is bounded by the parsers ([`MAX_HEIGHT`]), so recursion over them is safe.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr<A> {
    /// A literal. Not reduced by a `domain` until it is operated on or stored.
    Const(Value),
    /// A register, or another thing that has a value.
    Atom(A),
    /// An operator with one operand.
    Unary(UnaryOp, Box<Expr<A>>),
    /// An operator with two operands. `And` and `Or` evaluate the right one only when needed.
    Binary(BinaryOp, Box<Expr<A>>, Box<Expr<A>>),
    /// The address of an array's element: `first + index`, an error if `index` is not in `0 .. length`.
    Element {
        /// The address of element 0.
        first: Value,
        /// How many elements there are.
        length: u32,
        /// Which one.
        index: Box<Expr<A>>,
    },
}

/// No expression in a `Program` is higher than this; parsers refuse what would be.
pub const MAX_HEIGHT: usize = 500;

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UnaryOp {
    /// `!`: 1 for 0, and 0 for everything else.
    Not,
    /// `-`
    Negate,
    /// `~`
    Complement,
}

/// Operators with two operands, as in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Multiply,
    Divide,
    Remainder,
    Add,
    Subtract,
    ShiftLeft,
    ShiftRight,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    BitAnd,
    BitXor,
    BitOr,
    And,
    Or,
    /// The smaller operand. In a read-modify-write only ([`crate::RmwAction::Fetch`]): no language has an operator for it.
    Min,
    /// The larger operand, in the same way.
    Max,
}

/// The relations that `wait` knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Relation {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Relation {
    /// Whether `left REL right`.
    pub fn holds(self, left: Value, right: Value) -> bool {
        match self {
            Relation::Equal => left == right,
            Relation::NotEqual => left != right,
            Relation::Less => left < right,
            Relation::LessEqual => left <= right,
            Relation::Greater => left > right,
            Relation::GreaterEqual => left >= right,
        }
    }

    /// How it is written, as in C.
    pub fn symbol(self) -> &'static str {
        match self {
            Relation::Equal => "==",
            Relation::NotEqual => "!=",
            Relation::Less => "<",
            Relation::LessEqual => "<=",
            Relation::Greater => ">",
            Relation::GreaterEqual => ">=",
        }
    }
}

impl UnaryOp {
    /// How it is written, as in C.
    pub fn symbol(self) -> &'static str {
        match self {
            UnaryOp::Not => "!",
            UnaryOp::Negate => "-",
            UnaryOp::Complement => "~",
        }
    }
}

impl BinaryOp {
    /// How it is written, as in C.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Multiply => "*",
            BinaryOp::Divide => "/",
            BinaryOp::Remainder => "%",
            BinaryOp::Add => "+",
            BinaryOp::Subtract => "-",
            BinaryOp::ShiftLeft => "<<",
            BinaryOp::ShiftRight => ">>",
            BinaryOp::Less => "<",
            BinaryOp::LessEqual => "<=",
            BinaryOp::Greater => ">",
            BinaryOp::GreaterEqual => ">=",
            BinaryOp::Equal => "==",
            BinaryOp::NotEqual => "!=",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitXor => "^",
            BinaryOp::BitOr => "|",
            BinaryOp::And => "&&",
            BinaryOp::Or => "||",
            BinaryOp::Min => "min",
            BinaryOp::Max => "max",
        }
    }

    /// C's precedence: a larger number binds tighter.
    pub fn precedence(self) -> u8 {
        match self {
            BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => 10,
            BinaryOp::Add | BinaryOp::Subtract => 9,
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => 8,
            BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual => 7,
            BinaryOp::Equal | BinaryOp::NotEqual => 6,
            BinaryOp::BitAnd => 5,
            BinaryOp::BitXor => 4,
            BinaryOp::BitOr => 3,
            BinaryOp::And => 2,
            BinaryOp::Or => 1,
            BinaryOp::Min | BinaryOp::Max => 11,
        }
    }
}

/// What can go wrong when a value is computed: an error of the analysed program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ProgramError {
    /// An `assert` whose condition is false.
    AssertionFailed,
    /// `/` or `%` by zero.
    DivisionByZero,
    /// A shift by less than 0 or more than 63.
    ShiftOutOfRange(Value),
    /// An array index outside the array of that many elements.
    IndexOutOfRange(Value, u32),
    /// An address at which there is no location.
    NoSuchLocation(Value),
    /// A computed address led a read-modify-write, a `wait` or an ordered access to a `nonatomic` location.
    AtomicAccessToNonatomic(Value),
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProgramError::AssertionFailed => write!(f, "the assertion fails"),
            ProgramError::DivisionByZero => write!(f, "division by zero"),
            ProgramError::ShiftOutOfRange(by) => {
                write!(f, "a shift by {by}, which is not in 0 to 63")
            }
            ProgramError::IndexOutOfRange(index, length) => {
                write!(f, "index {index} is outside the array of {length} elements")
            }
            ProgramError::NoSuchLocation(address) => {
                write!(f, "there is no location with the address {address}")
            }
            ProgramError::AtomicAccessToNonatomic(address) => write!(
                f,
                "the location with the address {address} is nonatomic and takes plain loads and stores only"
            ),
        }
    }
}

/// What is in memory that was freed, where a front end follows that. A program that stores this very number is not told from it; it is chosen so that
/// none will.
pub const FREED: Value = Value::MIN + 0x0BAD_F00D_DEAC;

/// What is in memory that nothing was written to. It is `FREED | 1`, so that one comparison finds both.
pub const UNSET: Value = FREED | 1;

/// What the cell before an allocated block says about it, where blocks can be given back.
pub mod block_state {
    use super::Value;

    /// No number that a program computes, so that what is no block is not taken for one.
    pub const FIRST: Value = Value::MIN + 0x0B10_C000_0000;
    /// It is being given back.
    pub const GOING: Value = FIRST - 1;
    /// Added where it was given back.
    pub const GIVEN_BACK: Value = 1;

    /// It has so many cells, and is in use, or nothing has its address yet.
    pub fn in_use(cells: u32) -> Value {
        FIRST + 2 * Value::from(cells)
    }

    /// Such a number as people read it; `None` for others.
    pub(super) fn in_words(value: Value) -> Option<&'static str> {
        let state = value.checked_sub(FIRST)?;
        match state {
            -1 => Some("being freed"),
            0..0x2_0000_0000 if state % 2 == 0 => Some("in use"),
            0..0x2_0000_0000 => Some("freed"),
            _ => None,
        }
    }
}

/// A value as people read it.
pub fn value_in_words(value: Value) -> String {
    match value {
        UNSET => "nothing".to_owned(),
        FREED => "freed memory".to_owned(),
        value => match block_state::in_words(value) {
            Some(words) => words.to_owned(),
            None => value.to_string(),
        },
    }
}

/// How results are taken into range: all 64-bit values with wrap-around, or modulo N into `0 .. N`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Domain(Option<Value>);

impl Domain {
    /// All 64-bit values.
    pub const FULL: Domain = Domain(None);

    /// Values modulo `size`; `None` where `size` is below 2.
    pub fn modulo(size: Value) -> Option<Domain> {
        (size >= 2).then_some(Domain(Some(size)))
    }

    /// N of `domain N;`, if there is one.
    pub fn size(self) -> Option<Value> {
        self.0
    }

    /// Takes a result or a stored value into the domain.
    #[inline]
    pub fn reduce(self, value: Value) -> Value {
        match self.0 {
            None => value,
            Some(size) => value.rem_euclid(size),
        }
    }

    /// Applies an operator with one operand.
    #[inline]
    pub fn unary(self, op: UnaryOp, operand: Value) -> Value {
        self.reduce(match op {
            UnaryOp::Not => (operand == 0) as Value,
            UnaryOp::Negate => operand.wrapping_neg(),
            UnaryOp::Complement => !operand,
        })
    }

    /// Applies an operator with two operands, both of them evaluated.
    #[inline]
    pub fn binary(self, op: BinaryOp, left: Value, right: Value) -> Result<Value, ProgramError> {
        let result = match op {
            BinaryOp::Multiply => left.wrapping_mul(right),
            BinaryOp::Divide | BinaryOp::Remainder if right == 0 => {
                return Err(ProgramError::DivisionByZero);
            }
            BinaryOp::Divide => left.wrapping_div(right),
            BinaryOp::Remainder => left.wrapping_rem(right),
            BinaryOp::Add => left.wrapping_add(right),
            BinaryOp::Subtract => left.wrapping_sub(right),
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight if !(0..=63).contains(&right) => {
                return Err(ProgramError::ShiftOutOfRange(right));
            }
            BinaryOp::ShiftLeft => left.wrapping_shl(right as u32),
            BinaryOp::ShiftRight => left >> right,
            BinaryOp::Less => (left < right) as Value,
            BinaryOp::LessEqual => (left <= right) as Value,
            BinaryOp::Greater => (left > right) as Value,
            BinaryOp::GreaterEqual => (left >= right) as Value,
            BinaryOp::Equal => (left == right) as Value,
            BinaryOp::NotEqual => (left != right) as Value,
            BinaryOp::BitAnd => left & right,
            BinaryOp::BitXor => left ^ right,
            BinaryOp::BitOr => left | right,
            BinaryOp::And => (left != 0 && right != 0) as Value,
            BinaryOp::Or => (left != 0 || right != 0) as Value,
            BinaryOp::Min => left.min(right),
            BinaryOp::Max => left.max(right),
        };
        Ok(self.reduce(result))
    }
}

impl<A> Expr<A> {
    /// `op operand`
    pub fn unary(op: UnaryOp, operand: Expr<A>) -> Self {
        Expr::Unary(op, Box::new(operand))
    }

    /// `left op right`
    pub fn binary(op: BinaryOp, left: Expr<A>, right: Expr<A>) -> Self {
        Expr::Binary(op, Box::new(left), Box::new(right))
    }

    /// The expression's value, given its atoms' values.
    pub fn eval(
        &self,
        domain: Domain,
        atom: &mut impl FnMut(&A) -> Result<Value, ProgramError>,
    ) -> Result<Value, ProgramError> {
        match self {
            Expr::Const(value) => Ok(*value),
            Expr::Atom(a) => atom(a),
            Expr::Unary(op, operand) => Ok(domain.unary(*op, operand.eval(domain, atom)?)),
            Expr::Binary(op, left, right) => {
                let left = left.eval(domain, atom)?;
                match op {
                    BinaryOp::And if left == 0 => return Ok(0),
                    BinaryOp::Or if left != 0 => return Ok(1),
                    _ => {}
                }
                domain.binary(*op, left, right.eval(domain, atom)?)
            }
            Expr::Element {
                first,
                length,
                index,
            } => {
                let index = index.eval(domain, atom)?;
                if (0..Value::from(*length)).contains(&index) {
                    Ok(first + index)
                } else {
                    Err(ProgramError::IndexOutOfRange(index, *length))
                }
            }
        }
    }

    /// How many operators, atoms and literals there are.
    pub fn size(&self) -> u64 {
        match self {
            Expr::Const(_) | Expr::Atom(_) => 1,
            Expr::Unary(_, operand) | Expr::Element { index: operand, .. } => 1 + operand.size(),
            Expr::Binary(_, left, right) => 1 + left.size() + right.size(),
        }
    }

    /// Calls `visit` for every atom, from left to right.
    pub fn for_each_atom(&self, visit: &mut impl FnMut(&A)) {
        match self {
            Expr::Const(_) => {}
            Expr::Atom(a) => visit(a),
            Expr::Unary(_, operand) => operand.for_each_atom(visit),
            Expr::Binary(_, left, right) => {
                left.for_each_atom(visit);
                right.for_each_atom(visit);
            }
            Expr::Element { index, .. } => index.for_each_atom(visit),
        }
    }

    /// The same expression with every atom replaced.
    pub fn map_atoms<B>(&self, map: &mut impl FnMut(&A) -> Expr<B>) -> Expr<B> {
        match self {
            Expr::Const(value) => Expr::Const(*value),
            Expr::Atom(a) => map(a),
            Expr::Unary(op, operand) => Expr::unary(*op, operand.map_atoms(map)),
            Expr::Binary(op, left, right) => {
                let left = left.map_atoms(map);
                Expr::binary(*op, left, right.map_atoms(map))
            }
            Expr::Element {
                first,
                length,
                index,
            } => Expr::Element {
                first: *first,
                length: *length,
                index: Box::new(index.map_atoms(map)),
            },
        }
    }

    /// The value, if no atom occurs and nothing goes wrong.
    pub fn constant(&self, domain: Domain) -> Option<Value> {
        self.eval(domain, &mut |_| Err(ProgramError::AssertionFailed))
            .ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_takes_results_into_range() {
        let domain = Domain::modulo(4).unwrap();
        assert_eq!(domain.unary(UnaryOp::Negate, 1), 3);
        assert_eq!(domain.binary(BinaryOp::Subtract, 0, 1), Ok(3));
        assert_eq!(domain.binary(BinaryOp::Add, 3, 1), Ok(0));
        assert!(Domain::modulo(1).is_none());
    }

    #[test]
    fn division_truncates_and_wraps() {
        let full = Domain::FULL;
        assert_eq!(full.binary(BinaryOp::Divide, -7, 2), Ok(-3));
        assert_eq!(full.binary(BinaryOp::Remainder, -7, 2), Ok(-1));
        assert_eq!(full.binary(BinaryOp::Divide, i64::MIN, -1), Ok(i64::MIN));
        assert_eq!(
            full.binary(BinaryOp::Divide, 1, 0),
            Err(ProgramError::DivisionByZero)
        );
    }

    #[test]
    fn the_right_side_is_evaluated_only_when_needed() {
        let crash = Expr::binary(BinaryOp::Divide, Expr::Const(1), Expr::<u8>::Const(0));
        let guarded = Expr::binary(BinaryOp::And, Expr::Const(0), crash);
        assert_eq!(guarded.constant(Domain::FULL), Some(0));
    }
}
