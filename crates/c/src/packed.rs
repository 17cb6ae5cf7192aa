//! Structs that are atomic as a whole: all members in one cell, each in some of its bits.
//!
//! Up to 8 bytes the bits are those that the members have. Of larger structs, as a pointer with a counter, members of 64 bits get as many as there are left:
//! addresses and counters of a search are small, and a run in which a value needs more meets a bound.

use crate::ast::*;
use crate::body::Body;
use crate::types::{Done, Lengths, cells, fail, resolved, scalars};
use crate::unit::Translator;
use crate::value::{Place, Value};
use palisade_lang::{BinaryOp, Expr as LangExpr, Order, Span};
use palisade_lower::{self as lower, Action, Atom, ValueExpr};

/// Where a member is in the cell.
#[derive(Clone, Debug)]
struct Part {
    ty: Type,
    shift: u32,
    bits: u32,
    signed: bool,
}

impl Part {
    /// As many ones as it has bits.
    fn mask(&self) -> i64 {
        match self.bits {
            64 => -1,
            bits => (1 << bits) - 1,
        }
    }

    /// Whether a value of its type may need more bits than it has.
    fn is_narrowed(&self) -> bool {
        self.ty.width().is_none_or(|width| width.bits > self.bits)
    }

    /// Its bits where they belong.
    fn placed(&self, value: ValueExpr) -> ValueExpr {
        let masked = lower::binary(BinaryOp::BitAnd, value, LangExpr::Const(self.mask()));
        let shift = LangExpr::Const(i64::from(self.shift));
        lower::binary(BinaryOp::ShiftLeft, masked, shift)
    }

    /// Its value in the cell.
    fn taken(&self, cell: ValueExpr) -> ValueExpr {
        let by = |bits: u32| LangExpr::Const(i64::from(bits));
        match self.signed {
            true => {
                let up = lower::binary(BinaryOp::ShiftLeft, cell, by(64 - self.shift - self.bits));
                lower::binary(BinaryOp::ShiftRight, up, by(64 - self.bits))
            }
            false => {
                let down = lower::binary(BinaryOp::ShiftRight, cell, by(self.shift));
                lower::binary(BinaryOp::BitAnd, down, LangExpr::Const(self.mask()))
            }
        }
    }
}

/// What is stored in the cell of such a struct.
fn stored() -> Type {
    Type::int(64, true)
}

/// Whether all members of a struct of this type are in one cell.
pub(crate) fn is_packed(ty: &Type, span: Span, lengths: &mut dyn Lengths) -> Done<bool> {
    Ok(ty.atomic && ty.record().is_some() && cells(&ty.plain(), span, lengths)? > 1)
}

fn parts(ty: &Type, span: Span, lengths: &mut dyn Lengths) -> Done<Vec<Part>> {
    let mut types = Vec::new();
    scalars(&ty.plain(), span, lengths, &mut types)?;
    let widths: Vec<_> = types.iter().filter_map(Type::width).collect();
    let needed = |most: u32| widths.iter().map(|w| w.bits.min(most)).sum::<u32>();
    let Some(most) = (8..=64).rev().find(|most| needed(*most) <= 64) else {
        return fail(span, "atomic structs of so many members are not supported");
    };
    if widths.len() != types.len() {
        return fail(span, "floating-point numbers are not supported");
    }
    let mut shift = 0;
    let placed = types.into_iter().zip(widths).map(|(ty, width)| {
        let bits = width.bits.min(most);
        let part = Part {
            // Numbers of functions are below 0.
            signed: width.signed,
            ty,
            shift,
            bits,
        };
        shift += bits;
        part
    });
    Ok(placed.collect())
}

impl Body<'_, '_> {
    /// The cell for a struct whose address this is.
    pub fn pack(&mut self, value: &Value, ty: &Type, span: Span) -> Done<Value> {
        let mut cell = LangExpr::Const(0);
        for (index, part) in parts(ty, span, self.translator)?.iter().enumerate() {
            let place = Place::Memory(self.behind(value.expr.clone(), index as i64));
            let member = self.load(place, &part.ty.plain(), span)?;
            if part.is_narrowed() {
                let same = lower::binary(
                    BinaryOp::Equal,
                    part.taken(part.placed(member.expr.clone())),
                    member.expr.clone(),
                );
                let message = "a member of an atomic struct of more than 8 bytes is beyond the bits that are kept of it";
                self.bound_unless(same, message, span);
            }
            cell = lower::binary(BinaryOp::BitOr, cell, part.placed(member.expr));
        }
        let cell = Value {
            expr: cell,
            ty: stored(),
        };
        Ok(self.kept(cell, span))
    }

    /// A new struct with the members that are in this cell.
    pub fn unpack(&mut self, cell: ValueExpr, ty: &Type, span: Span) -> Done<Value> {
        let memory = self.memory("copy", &ty.plain(), span)?;
        let expr = LangExpr::Atom(Atom::AddressOf(memory));
        self.unpack_to(&expr, cell, ty, span)?;
        Ok(Value {
            expr,
            ty: ty.plain(),
        })
    }

    /// The same, into the struct at an address.
    pub fn unpack_to(
        &mut self,
        address: &ValueExpr,
        cell: ValueExpr,
        ty: &Type,
        span: Span,
    ) -> Done<()> {
        for (index, part) in parts(ty, span, self.translator)?.iter().enumerate() {
            let store = Action::Store {
                address: self.behind(address.clone(), index as i64),
                value: part.taken(cell.clone()),
                order: Order::NonAtomic,
            };
            self.emit(store, span);
        }
        Ok(())
    }

    /// A value for an atomic operation on an object of this type.
    pub fn operand(&mut self, expr: &Expr, ty: &Type) -> Done<Value> {
        let value = self.rvalue_for(expr, ty)?;
        self.as_stored(value, ty, expr.span)
    }

    /// The value as it is in memory.
    pub fn as_stored(&mut self, value: Value, ty: &Type, span: Span) -> Done<Value> {
        match is_packed(ty, span, self.translator)? {
            true => self.pack(&value, ty, span),
            false => Ok(value),
        }
    }

    /// What an atomic operation has read in memory.
    pub fn as_read(&mut self, value: Value, ty: &Type, span: Span) -> Done<Value> {
        match is_packed(ty, span, self.translator)? {
            true => self.unpack(value.expr, ty, span),
            false => Ok(value),
        }
    }

    /// The type of what is in memory.
    pub fn stored_type(&mut self, ty: &Type, span: Span) -> Done<Type> {
        Ok(match is_packed(ty, span, self.translator)? {
            true => stored(),
            false => ty.clone(),
        })
    }
}

/// The cell for an initial value, where it is a list of constants and addresses.
pub(crate) fn initial(
    translator: &mut Translator<'_>,
    ty: &Type,
    init: &Init,
    span: Span,
) -> Done<Option<ValueExpr>> {
    let mut values = Vec::new();
    crate::init::values(translator, &ty.plain(), init, 0, &mut values)?;
    let parts = parts(ty, span, translator)?;
    let mut cell = LangExpr::Const(0);
    for (index, target, expr) in values {
        let target = resolved(&target, span, translator)?;
        let (Some(part), Some(value)) = (
            parts.get(index as usize),
            translator.constant(&expr, Some(&target))?,
        ) else {
            return Ok(None);
        };
        if let LangExpr::Const(value) = value
            && part.is_narrowed()
            && part.taken(part.placed(LangExpr::Const(value))) != LangExpr::Const(value)
        {
            return fail(
                expr.span,
                "this is beyond the bits that are kept of a member of an atomic struct of more than 8 bytes",
            );
        }
        cell = lower::binary(BinaryOp::BitOr, cell, part.placed(value));
    }
    Ok(Some(cell))
}
