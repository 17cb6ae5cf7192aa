//! Expressions with as few parentheses as C's precedence allows.

use crate::expr::{BinaryOp, Expr, UnaryOp};

use super::Printer;

/// How tightly operators with one operand bind: more than all with two.
const UNARY: u8 = 11;
/// How tightly names, numbers and calls bind.
const PRIMARY: u8 = 12;

/// A piece of text, and how tightly it holds together.
#[derive(Clone)]
pub(super) struct Piece {
    text: String,
    binding: u8,
}

impl Piece {
    /// A name, a number, a place.
    pub fn primary(text: String) -> Self {
        Piece {
            text,
            binding: PRIMARY,
        }
    }

    /// `x.load(relaxed)`, which needs parentheses behind a `*`.
    pub fn postfix(text: String) -> Self {
        Piece {
            text,
            binding: UNARY,
        }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Writes an expression, in parentheses if it binds less tightly than `binding`.
pub(super) fn write_expr<A>(
    printer: &Printer<'_>,
    expr: &Expr<A>,
    binding: u8,
    atom: &mut impl FnMut(&A) -> Piece,
) -> String {
    let piece = piece(printer, expr, atom);
    match piece.binding >= binding.min(PRIMARY) {
        true => piece.text,
        false => format!("({})", piece.text),
    }
}

fn piece<A>(printer: &Printer<'_>, expr: &Expr<A>, atom: &mut impl FnMut(&A) -> Piece) -> Piece {
    match expr {
        Expr::Const(value) if *value < 0 => Piece {
            text: value.to_string(),
            binding: UNARY,
        },
        Expr::Const(value) => Piece::primary(value.to_string()),
        Expr::Atom(a) => atom(a),
        Expr::Unary(op, operand) => {
            let symbol = match op {
                UnaryOp::Not | UnaryOp::Negate | UnaryOp::Complement => op.symbol(),
            };
            Piece {
                text: format!("{symbol}{}", write_expr(printer, operand, UNARY, atom)),
                binding: UNARY,
            }
        }
        Expr::Binary(op, left, right) => {
            let binding = op.precedence();
            // Mixtures that people read wrongly get parentheses though C needs none.
            let (left_binding, right_binding) = match op {
                BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => (10, 10),
                BinaryOp::ShiftLeft | BinaryOp::ShiftRight => (binding, UNARY),
                _ => (binding, binding + 1),
            };
            let left = write_expr(printer, left, left_binding, atom);
            let right = write_expr(printer, right, right_binding, atom);
            Piece {
                text: format!("{left} {} {right}", op.symbol()),
                binding,
            }
        }
        // An index that is checked, and nothing else.
        Expr::Element {
            first: 0,
            length,
            index,
        } => {
            let index = write_expr(printer, index, 0, atom);
            Piece::primary(format!("index({index}, {length})"))
        }
        Expr::Element { first, index, .. } => {
            let array = printer
                .program
                .location_at(*first)
                .filter(|id| printer.program.location(*id).array.is_some());
            match array {
                Some(id) => {
                    let name = &printer.locations[id.index()];
                    Piece::primary(format!("&{name}[{}]", write_expr(printer, index, 0, atom)))
                }
                None => Piece {
                    text: format!("{first} + {}", write_expr(printer, index, 10, atom)),
                    binding: BinaryOp::Add.precedence(),
                },
            }
        }
    }
}
