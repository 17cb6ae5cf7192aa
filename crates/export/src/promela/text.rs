//! Expressions as Promela text, with the range that their values are known to lie in.
//!
//! Promela computes with C's `int`. Ranges tell where a result must be taken into the domain, and where it might not fit.

use palisade_lang::{BinaryOp, Domain, Expr, UnaryOp, ranges};

/// An expression as text. Anything but a name, an element or a number is in parentheses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) text: String,
    pub(super) least: i128,
    pub(super) largest: i128,
}

/// Why an expression cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unwritable {
    /// Not at this place: it depends on what is not known before the step.
    Here,
    /// Not at all in Promela.
    Anywhere(String),
}

pub(super) const INT: (i128, i128) = (i32::MIN as i128, i32::MAX as i128);

impl Text {
    pub(super) fn new(text: impl Into<String>, (least, largest): (i128, i128)) -> Self {
        Text {
            text: text.into(),
            least,
            largest,
        }
    }

    pub(super) fn lies_in(&self, least: i128, largest: i128) -> bool {
        least <= self.least && self.largest <= largest
    }
}

/// Takes a value into the domain, where it is not known to be there.
pub(super) fn reduce(domain: Domain, value: Text) -> Result<Text, Unwritable> {
    let Some(size) = domain.size() else {
        if value.lies_in(INT.0, INT.1) {
            return Ok(value);
        }
        // Without a domain it is not known how large values become; Promela's wrap around at 32 bits.
        return Ok(Text::new(value.text, INT));
    };
    let size = i128::from(size);
    if value.lies_in(0, size - 1) {
        return Ok(value);
    }
    let sum = value.largest + size;
    if !value.lies_in(INT.0, INT.1) || sum > INT.1 {
        return Err(Unwritable::Anywhere(format!(
            "with a domain of {size} values, results do not fit Promela's integers of 32 bits"
        )));
    }
    let text = value.text;
    let text = if value.least >= 0 {
        format!("({text} % {size})")
    } else if value.least >= -size {
        format!("(({text} + {size}) % {size})")
    } else {
        format!("((({text} % {size}) + {size}) % {size})")
    };
    Ok(Text::new(text, (0, size - 1)))
}

/// An expression's text, given its atoms'.
pub(super) fn expr<A>(
    domain: Domain,
    expression: &Expr<A>,
    atom: &mut dyn FnMut(&A) -> Result<Text, Unwritable>,
) -> Result<Text, Unwritable> {
    match expression {
        Expr::Const(value) => constant(i128::from(*value)),
        Expr::Atom(a) => atom(a),
        Expr::Unary(op, operand) => {
            let operand = expr(domain, operand, atom)?;
            reduce(domain, unary(*op, operand))
        }
        Expr::Binary(op, left, right) => {
            let left = expr(domain, left, atom)?;
            let right = expr(domain, right, atom)?;
            reduce(domain, binary(*op, left, right)?)
        }
        Expr::Element {
            first,
            length,
            index,
        } => {
            let index = expr(domain, index, atom)?;
            let first = i128::from(*first);
            let last = first + i128::from(*length) - 1;
            Ok(Text::new(
                format!("({first} + {})", index.text),
                (first, last),
            ))
        }
    }
}

/// The condition under which computing an expression goes well; `None` where it always does.
pub(super) fn goes_well<A>(
    domain: Domain,
    expression: &Expr<A>,
    atom: &mut dyn FnMut(&A) -> Result<Text, Unwritable>,
    atom_goes_well: &mut dyn FnMut(&A) -> Result<Option<String>, Unwritable>,
) -> Result<Option<String>, Unwritable> {
    match expression {
        Expr::Const(_) => Ok(None),
        Expr::Atom(a) => atom_goes_well(a),
        Expr::Unary(_, operand) => goes_well(domain, operand, atom, atom_goes_well),
        Expr::Binary(op, left, right) => {
            let left_well = goes_well(domain, left, atom, atom_goes_well)?;
            let right_well = goes_well(domain, right, atom, atom_goes_well)?;
            let operation_well = match op {
                BinaryOp::Divide | BinaryOp::Remainder => {
                    let divisor = expr(domain, right, atom)?;
                    let is_zero_possible = divisor.least <= 0 && divisor.largest >= 0;
                    is_zero_possible.then(|| format!("({} != 0)", divisor.text))
                }
                BinaryOp::ShiftLeft | BinaryOp::ShiftRight => {
                    let by = expr(domain, right, atom)?;
                    if !by.lies_in(0, 31) {
                        return Err(Unwritable::Anywhere(
                            "Promela's integers of 32 bits cannot be shifted so far".to_string(),
                        ));
                    }
                    None
                }
                _ => None,
            };
            // The right side of `&&` and `||` is computed only when needed.
            let right_well = match (op, right_well) {
                (_, None) => None,
                (BinaryOp::And, Some(well)) => {
                    let left = expr(domain, left, atom)?;
                    Some(format!("(!{} || {well})", left.text))
                }
                (BinaryOp::Or, Some(well)) => {
                    let left = expr(domain, left, atom)?;
                    Some(format!("({} || {well})", left.text))
                }
                (_, well) => well,
            };
            Ok(all([left_well, right_well, operation_well]))
        }
        Expr::Element { length, index, .. } => {
            let well = goes_well(domain, index, atom, atom_goes_well)?;
            let index = expr(domain, index, atom)?;
            Ok(all([well, index_goes_well(&index, *length)]))
        }
    }
}

/// The condition under which an index is inside an array.
pub(super) fn index_goes_well(index: &Text, length: u32) -> Option<String> {
    let length = i128::from(length);
    let text = &index.text;
    match (index.least >= 0, index.largest < length) {
        (true, true) => None,
        (true, false) => Some(format!("({text} < {length})")),
        (false, true) => Some(format!("({text} >= 0)")),
        (false, false) => Some(format!("({text} >= 0 && {text} < {length})")),
    }
}

/// The conjunction of the conditions that there are.
pub(super) fn all(conditions: impl IntoIterator<Item = Option<String>>) -> Option<String> {
    let conditions: Vec<String> = conditions.into_iter().flatten().collect();
    match conditions.len() {
        0 => None,
        1 => conditions.into_iter().next(),
        _ => Some(format!("({})", conditions.join(" && "))),
    }
}

fn constant(value: i128) -> Result<Text, Unwritable> {
    if !(INT.0..=INT.1).contains(&value) {
        return Err(Unwritable::Anywhere(format!(
            "the number {value} does not fit Promela's integers of 32 bits"
        )));
    }
    let text = match value < 0 {
        true => format!("({value})"),
        false => value.to_string(),
    };
    Ok(Text::new(text, (value, value)))
}

fn unary(op: UnaryOp, operand: Text) -> Text {
    let range = ranges::unary(op, (operand.least, operand.largest));
    if op == UnaryOp::Not {
        // Negated comparisons read better the other way round.
        let text = match (range, negated_comparison(&operand.text)) {
            ((0, 0), _) => "0".to_string(),
            ((1, 1), _) => "1".to_string(),
            (_, Some(text)) => text,
            _ => format!("(!{})", operand.text),
        };
        return Text::new(text, range);
    }
    Text::new(format!("({}{})", op.symbol(), operand.text), range)
}

/// `(a != b)` for `(a == b)`, where neither operand is itself compound.
fn negated_comparison(text: &str) -> Option<String> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    if inner.contains(['(', ')', '&', '|', '!']) {
        return None;
    }
    let mut words = inner.split(' ');
    let (left, op, right) = (words.next()?, words.next()?, words.next()?);
    if words.next().is_some() {
        return None;
    }
    let op = match op {
        "==" => "!=",
        "<" => ">=",
        ">=" => "<",
        ">" => "<=",
        "<=" => ">",
        _ => return None,
    };
    Some(format!("({left} {op} {right})"))
}

fn binary(op: BinaryOp, left: Text, right: Text) -> Result<Text, Unwritable> {
    let is_shift = matches!(op, BinaryOp::ShiftLeft | BinaryOp::ShiftRight);
    if is_shift && !right.lies_in(0, 31) {
        return Err(Unwritable::Anywhere(
            "Promela's integers of 32 bits cannot be shifted so far".to_string(),
        ));
    }
    let range = ranges::binary(op, (left.least, left.largest), (right.least, right.largest));
    // Comparisons whose outcome is known need not be made.
    let is_truth =
        matches!(op, BinaryOp::And | BinaryOp::Or) || op.precedence() == 6 || op.precedence() == 7;
    if is_truth && range.0 == range.1 {
        return Ok(Text::new(range.0.to_string(), range));
    }
    let is_one = |t: &Text| (t.least, t.largest) == (1, 1);
    let is_zero = |t: &Text| (t.least, t.largest) == (0, 0);
    match op {
        BinaryOp::And if is_one(&left) && right.lies_in(0, 1) => return Ok(right),
        BinaryOp::And if is_one(&right) && left.lies_in(0, 1) => return Ok(left),
        BinaryOp::Or if is_zero(&left) && right.lies_in(0, 1) => return Ok(right),
        BinaryOp::Or if is_zero(&right) && left.lies_in(0, 1) => return Ok(left),
        _ => {}
    }
    let (left, right) = (left.text, right.text);
    let text = match op {
        BinaryOp::Min => format!("({left} < {right} -> {left} : {right})"),
        BinaryOp::Max => format!("({left} > {right} -> {left} : {right})"),
        _ => format!("({left} {} {right})", op.symbol()),
    };
    Ok(Text::new(text, range))
}
