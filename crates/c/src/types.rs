//! How large types are, in bytes for `sizeof` and in cells for memory.

use crate::ast::{Ast, Record, RecordId, Type, TypeKind};
use crate::packed::is_packed;
use palisade_lang::{Diagnostic, Span, Value};
use palisade_lower::{Cell, Width};
use std::rc::Rc;

/// What went wrong, or what is not supported.
pub(crate) type Done<T> = Result<T, Box<Diagnostic>>;

/// An error at a place.
pub(crate) fn fail<T>(span: Span, message: impl Into<String>) -> Done<T> {
    Err(Box::new(Diagnostic::error(span, message)))
}

/// Objects of more cells are refused.
const MOST_CELLS: u64 = 1 << 16;

impl Type {
    /// The integer type behind it: of a pointer, that of its number.
    pub(crate) fn width(&self) -> Option<Width> {
        Some(match &*self.kind {
            TypeKind::Bool => Width {
                bits: 1,
                signed: false,
            },
            TypeKind::Int { bits, signed } => Width {
                bits: *bits,
                signed: *signed,
            },
            TypeKind::Pointer(_) | TypeKind::Function(_) => Width {
                bits: 64,
                signed: true,
            },
            _ => return None,
        })
    }

    pub(crate) fn is_pointer(&self) -> bool {
        matches!(&*self.kind, TypeKind::Pointer(_))
    }

    pub(crate) fn is_void(&self) -> bool {
        matches!(&*self.kind, TypeKind::Void)
    }

    pub(crate) fn is_scalar(&self) -> bool {
        self.width().is_some()
    }

    pub(crate) fn record(&self) -> Option<RecordId> {
        match &*self.kind {
            TypeKind::Record(id) => Some(*id),
            _ => None,
        }
    }

    /// What it points to.
    pub(crate) fn pointee(&self) -> Option<&Type> {
        match &*self.kind {
            TypeKind::Pointer(to) => Some(to),
            _ => None,
        }
    }

    /// A name for people.
    pub(crate) fn describe(&self, ast: &Ast) -> String {
        match &*self.kind {
            TypeKind::Void => "void".into(),
            TypeKind::Bool => "bool".into(),
            TypeKind::Int { bits, signed } => {
                format!("{}int{bits}", if *signed { "" } else { "u" })
            }
            TypeKind::Float(_) => "floating".into(),
            TypeKind::Pointer(to) => format!("{} *", to.describe(ast)),
            TypeKind::Array(element, _) => format!("{}[]", element.describe(ast)),
            TypeKind::Record(id) => record_name(&ast.records[id.0 as usize]),
            TypeKind::Function(_) => "function".into(),
            TypeKind::TypeOf(_) => "typeof".into(),
        }
    }
}

/// The tag of a struct.
pub(crate) fn record_name(record: &Record) -> String {
    let name = record.name.as_deref();
    name.unwrap_or(if record.union { "union" } else { "struct" })
        .to_string()
}

/// Looks up the length of an array, which may need the program's constants.
pub(crate) trait Lengths {
    /// The length that the expression gives.
    fn length(&mut self, expr: &Rc<crate::ast::Expr>) -> Done<u64>;
    /// The type that `typeof` gives.
    fn type_of(&mut self, expr: Option<&Rc<crate::ast::Expr>>, span: Span) -> Done<Type>;
    /// An object may be looked at as numbers of another sign.
    fn mixes_signs(&mut self);
    /// The program.
    fn ast(&self) -> &Ast;
}

/// The type without `typeof`.
pub(crate) fn resolved(ty: &Type, span: Span, lengths: &mut dyn Lengths) -> Done<Type> {
    match &*ty.kind {
        TypeKind::TypeOf(expr) => {
            let mut found = lengths.type_of(expr.as_ref(), span)?;
            found.atomic |= ty.atomic;
            found.volatile |= ty.volatile;
            Ok(found)
        }
        _ => Ok(ty.clone()),
    }
}

/// Size and alignment in bytes.
pub(crate) fn size(ty: &Type, span: Span, lengths: &mut dyn Lengths) -> Done<(u64, u64)> {
    Ok(match &*ty.kind {
        TypeKind::Void | TypeKind::Function(_) | TypeKind::Bool => (1, 1),
        TypeKind::Int { bits, .. } => (u64::from(bits / 8), u64::from(bits / 8)),
        TypeKind::Float(bytes) => (u64::from(*bytes), u64::from(*bytes)),
        TypeKind::Pointer(_) => (8, 8),
        TypeKind::Array(element, length) => {
            let (bytes, align) = size(element, span, lengths)?;
            let length = match length {
                Some(length) => lengths.length(length)?,
                None => 0,
            };
            (bytes.saturating_mul(length), align)
        }
        TypeKind::Record(id) => {
            let record = lengths.ast().records[id.0 as usize].clone();
            let Some(fields) = &record.fields else {
                let name = record_name(&record);
                return fail(span, format!("`{name}` is not defined"));
            };
            let (mut total, mut align) = (0u64, 1u64);
            for field in fields {
                let (bytes, own) = size(&field.ty, field.span, lengths)?;
                align = align.max(own);
                if record.union {
                    total = total.max(bytes);
                } else {
                    total = total.next_multiple_of(own).saturating_add(bytes);
                }
            }
            (total.next_multiple_of(align), align)
        }
        TypeKind::TypeOf(_) => {
            let ty = resolved(ty, span, lengths)?;
            size(&ty, span, lengths)?
        }
    })
}

/// Whether a number has a sign.
pub(crate) fn sign(ty: &Type) -> Option<bool> {
    match &*ty.kind {
        TypeKind::Int { signed, .. } => Some(*signed),
        _ => None,
    }
}

/// How many cells an object of this type has.
pub(crate) fn cells(ty: &Type, span: Span, lengths: &mut dyn Lengths) -> Done<u64> {
    let count = match &*ty.kind {
        TypeKind::Void => 1,
        TypeKind::Array(element, length) => {
            let each = cells(element, span, lengths)?;
            let length = match length {
                Some(length) => lengths.length(length)?,
                None => 0,
            };
            each.saturating_mul(length)
        }
        TypeKind::Record(_) if is_packed(ty, span, lengths)? => 1,
        TypeKind::Record(id) => {
            let record = lengths.ast().records[id.0 as usize].clone();
            let Some(fields) = &record.fields else {
                let name = record_name(&record);
                return fail(span, format!("`{name}` is not defined"));
            };
            let mut total = 0u64;
            let mut widths: Option<Vec<(u64, bool)>> = None;
            let mut signs: Option<Vec<Option<bool>>> = None;
            for field in fields {
                if field.bits {
                    return fail(field.span, "bit-fields are not supported");
                }
                let own = cells(&field.ty, field.span, lengths)?;
                if !record.union {
                    total += own;
                } else if total != 0 && own != total && own > 0 {
                    let message = "a union whose members have different shapes is not supported";
                    return fail(field.span, message);
                } else {
                    total = total.max(own);
                    let mut types = Vec::new();
                    scalars(&field.ty, field.span, lengths, &mut types)?;
                    let mut own = Vec::new();
                    for ty in &types {
                        let floating = matches!(&*ty.kind, TypeKind::Float(_));
                        own.push((size(ty, field.span, lengths)?.0, floating));
                    }
                    if widths.as_ref().is_some_and(|widths| *widths != own) {
                        let message = "a union whose members have scalars of different sizes is not supported";
                        return fail(field.span, message);
                    }
                    widths = Some(own);
                    let own = types.iter().map(sign).collect();
                    if signs.as_ref().is_some_and(|signs| *signs != own) {
                        lengths.mixes_signs();
                    }
                    signs = Some(own);
                }
            }
            total
        }
        TypeKind::TypeOf(_) => {
            let ty = resolved(ty, span, lengths)?;
            cells(&ty, span, lengths)?
        }
        _ => 1,
    };
    match count > MOST_CELLS {
        true => fail(
            span,
            format!("this object has {count} scalars, which is too many"),
        ),
        false => Ok(count),
    }
}

/// The scalars of a type, in order.
pub(crate) fn scalars(
    ty: &Type,
    span: Span,
    lengths: &mut dyn Lengths,
    into: &mut Vec<Type>,
) -> Done<()> {
    match &*ty.kind {
        TypeKind::Array(element, length) => {
            let count = match length {
                Some(length) => lengths.length(length)?,
                None => 0,
            };
            for _ in 0..count.min(MOST_CELLS) {
                scalars(element, span, lengths, into)?;
            }
        }
        TypeKind::Record(_) if is_packed(ty, span, lengths)? => into.push(ty.clone()),
        TypeKind::Record(id) => {
            let record = lengths.ast().records[id.0 as usize].clone();
            let fields = record.fields.unwrap_or_default();
            let all = if record.union {
                fields.len().min(1)
            } else {
                fields.len()
            };
            for field in &fields[..all] {
                scalars(&field.ty, field.span, lengths, into)?;
            }
        }
        TypeKind::TypeOf(_) => {
            let ty = resolved(ty, span, lengths)?;
            scalars(&ty, span, lengths, into)?;
        }
        _ => into.push(ty.clone()),
    }
    Ok(())
}

/// The cells of an object of this type, with what follows the object's name.
pub(crate) fn layout(
    ty: &Type,
    name: &str,
    span: Span,
    lengths: &mut dyn Lengths,
    into: &mut Vec<Cell>,
) -> Done<()> {
    match &*ty.kind {
        TypeKind::Array(element, length) => {
            let length = match length {
                Some(length) => lengths.length(length)?,
                None => 0,
            };
            cells(ty, span, lengths)?;
            let first = into.len() as u32;
            for index in 0..length {
                layout(element, &format!("{name}[{index}]"), span, lengths, into)?;
                if element.is_scalar()
                    && let Some(cell) = into.last_mut()
                {
                    cell.array = Some((first, length as u32));
                }
            }
        }
        TypeKind::Record(_) if is_packed(ty, span, lengths)? => into.push(Cell::new(name)),
        TypeKind::Record(id) => {
            let record = lengths.ast().records[id.0 as usize].clone();
            cells(ty, span, lengths)?;
            let fields = record.fields.as_deref().unwrap_or(&[]);
            let fields = match record.union {
                true => &fields[..fields.len().min(1)],
                false => fields,
            };
            for field in fields {
                let inner = match &field.name {
                    Some(field) => format!("{name}.{field}"),
                    None => name.to_string(),
                };
                layout(&field.ty, &inner, field.span, lengths, into)?;
            }
        }
        TypeKind::TypeOf(_) => {
            let ty = resolved(ty, span, lengths)?;
            layout(&ty, name, span, lengths, into)?;
        }
        _ => into.push(Cell::new(name)),
    }
    Ok(())
}

/// Where a member is, in cells and in bytes, and its type.
pub(crate) fn member(
    id: RecordId,
    name: &str,
    span: Span,
    lengths: &mut dyn Lengths,
) -> Done<Option<(Value, u64, Type)>> {
    let record = lengths.ast().records[id.0 as usize].clone();
    let Some(fields) = &record.fields else {
        let name = record_name(&record);
        return fail(span, format!("`{name}` is not defined"));
    };
    let (mut at, mut bytes) = (0u64, 0u64);
    for field in fields {
        let (own, align) = size(&field.ty, field.span, lengths)?;
        bytes = bytes.next_multiple_of(align);
        if field.bits {
            return fail(field.span, "bit-fields are not supported");
        }
        let found = match (&field.name, field.ty.record()) {
            (Some(field_name), _) if **field_name == *name => Some((0, 0, field.ty.clone())),
            (None, Some(inner)) => member(inner, name, span, lengths)?,
            _ => None,
        };
        if let Some((cell, byte, ty)) = found {
            return Ok(Some((at as Value + cell, bytes + byte, ty)));
        }
        if !record.union {
            at += cells(&field.ty, field.span, lengths)?;
            bytes += own;
        }
    }
    Ok(None)
}
