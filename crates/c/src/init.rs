//! Initial values: which expression is for which cell.

use crate::ast::*;
use crate::packed::is_packed;
use crate::types::{Done, Lengths, cells, fail, member, resolved};
use crate::unit::Translator;
use palisade_lang::Span;

/// The expressions that initialise the scalars of an object, each with the number of its cell and its type. Structs that one expression
/// initialises are there as a whole.
pub(crate) fn values(
    translator: &mut Translator<'_>,
    ty: &Type,
    init: &Init,
    cell: u64,
    into: &mut Vec<(u64, Type, Expr)>,
) -> Done<()> {
    if ty
        .record()
        .is_some_and(|id| id.0 < translator.ast.of_headers)
        && is_written_out(init)
    {
        // As the machine's headers define the type, not ours: what is ready for use is 0 here.
        return match first_not_zero(translator, init)? {
            Some(span) => fail(
                span,
                "such a beginning of an object of the library is not supported",
            ),
            None => Ok(()),
        };
    }
    if let Init::List(_, span) = init
        && is_packed(ty, *span, translator)?
    {
        // As a whole.
        let whole = ExprKind::Compound(ty.plain(), init.clone().into());
        into.push((cell, ty.clone(), Expr::new(whole, *span)));
        return Ok(());
    }
    match init {
        Init::Expr(expr) => {
            // What a literal holds may stand there itself.
            if let ExprKind::Compound(literal, inner) = &expr.kind
                && is_same_aggregate(ty, literal)
                && !is_packed(ty, expr.span, translator)?
            {
                return values(translator, ty, inner, cell, into);
            }
            if let (TypeKind::Array(element, _), ExprKind::String(text)) = (&*ty.kind, &expr.kind) {
                let length = cells(ty, expr.span, translator)?;
                for (at, code) in text.iter().chain([&0]).enumerate() {
                    if (at as u64) < length {
                        let kind = ExprKind::Int(*code, Type::int(32, true));
                        let span = expr.span;
                        into.push((cell + at as u64, element.clone(), Expr::new(kind, span)));
                    }
                }
                return Ok(());
            }
            into.push((cell, ty.clone(), expr.clone()));
            Ok(())
        }
        Init::List(entries, span) => {
            let mut at = 0;
            aggregate(translator, ty, entries, &mut at, cell, *span, true, into)
        }
    }
}

/// Whether both are the same struct, or arrays.
pub(crate) fn is_same_aggregate(one: &Type, other: &Type) -> bool {
    match (&*one.kind, &*other.kind) {
        (TypeKind::Record(one), TypeKind::Record(other)) => one == other,
        (TypeKind::Array(..), TypeKind::Array(..)) => true,
        _ => false,
    }
}

/// Whether something is initialised as a macro of a header does it: by a list, or by a number.
fn is_written_out(init: &Init) -> bool {
    match init {
        Init::Expr(expr) => matches!(expr.kind, ExprKind::Int(..)),
        Init::List(..) => true,
    }
}

/// Where the first of these constants is that is not 0.
fn first_not_zero(translator: &mut Translator<'_>, init: &Init) -> Done<Option<Span>> {
    match init {
        Init::Expr(expr) => match translator.integer(expr)? {
            Some(0) => Ok(None),
            _ => Ok(Some(expr.span)),
        },
        Init::List(entries, _) => {
            for (_, init) in entries {
                if let Some(span) = first_not_zero(translator, init)? {
                    return Ok(Some(span));
                }
            }
            Ok(None)
        }
    }
}

/// Fills an object from a list, from entry `at` on.
#[allow(clippy::too_many_arguments)]
fn aggregate(
    translator: &mut Translator<'_>,
    ty: &Type,
    entries: &[(Vec<Designator>, Init)],
    at: &mut usize,
    cell: u64,
    span: Span,
    outermost: bool,
    into: &mut Vec<(u64, Type, Expr)>,
) -> Done<()> {
    let ty = &resolved(ty, span, translator)?;
    match &*ty.kind {
        TypeKind::Array(element, length) => {
            let each = cells(element, span, translator)?;
            let length = match length {
                Some(length) => translator.length(length)?,
                None => 0,
            };
            let mut index = 0;
            while *at < entries.len() {
                let mut last = None;
                match entries[*at].0.first() {
                    None => {}
                    Some(Designator::Field(_)) => return Ok(()),
                    Some(_) if !outermost => return Ok(()),
                    Some(Designator::Index(expr)) => index = translator.element(expr)?,
                    Some(Designator::Range(from, to)) => {
                        index = translator.element(from)?;
                        last = Some(translator.element(to)?);
                    }
                }
                let last = last.unwrap_or(index);
                if last >= length || last < index {
                    return match outermost {
                        true => fail(span, "there are more values than elements"),
                        false => Ok(()),
                    };
                }
                let first = *at;
                while index <= last {
                    *at = first;
                    let here = cell + index * each;
                    entry(translator, element, entries, at, 1, here, span, into)?;
                    index += 1;
                }
                if !outermost && index >= length {
                    return Ok(());
                }
            }
            Ok(())
        }
        TypeKind::Record(id) => {
            let record = translator.ast.records[id.0 as usize].clone();
            let fields = record.fields.unwrap_or_default();
            let mut next = 0;
            while *at < entries.len() {
                let (offset, field) = match entries[*at].0.first() {
                    Some(Designator::Field(name)) => {
                        if !outermost {
                            return Ok(());
                        }
                        let found = member(*id, name, span, translator)?;
                        let Some((offset, _, field)) = found else {
                            return fail(span, format!("there is no member `{name}`"));
                        };
                        let position = fields.iter().position(|f| f.name.as_ref() == Some(name));
                        next = position.map_or(next, |at| at + 1);
                        (offset as u64, field)
                    }
                    Some(Designator::Index(_) | Designator::Range(..)) => return Ok(()),
                    None => {
                        let Some(field) = fields.get(next) else {
                            return match outermost {
                                true => fail(span, "there are more values than members"),
                                false => Ok(()),
                            };
                        };
                        let mut offset = 0;
                        if !record.union {
                            for before in &fields[..next] {
                                offset += cells(&before.ty, span, translator)?;
                            }
                        }
                        next += 1;
                        (offset, field.ty.clone())
                    }
                };
                entry(
                    translator,
                    &field,
                    entries,
                    at,
                    1,
                    cell + offset,
                    span,
                    into,
                )?;
                if !outermost && (next >= fields.len() || record.union) {
                    return Ok(());
                }
            }
            Ok(())
        }
        _ => match entries.get(*at) {
            Some((_, init)) => {
                *at += 1;
                values(translator, ty, init, cell, into)
            }
            None => Ok(()),
        },
    }
}

/// One entry of a list, of whose designators `used` are behind us.
#[allow(clippy::too_many_arguments)]
fn entry(
    translator: &mut Translator<'_>,
    ty: &Type,
    entries: &[(Vec<Designator>, Init)],
    at: &mut usize,
    used: usize,
    cell: u64,
    span: Span,
    into: &mut Vec<(u64, Type, Expr)>,
) -> Done<()> {
    let (designators, init) = &entries[*at];
    if designators.len() > used {
        let rest = [(designators[used..].to_vec(), init.clone())];
        *at += 1;
        return aggregate(translator, ty, &rest, &mut 0, cell, span, true, into);
    }
    match init {
        Init::List(..) => {
            *at += 1;
            values(translator, ty, init, cell, into)
        }
        Init::Expr(expr) => {
            let is_text = matches!(expr.kind, ExprKind::String(_));
            let inner = match &*ty.kind {
                TypeKind::Array(..) => !is_text,
                // A struct may come as a whole, from a variable or a call.
                TypeKind::Record(_) => !matches!(
                    expr.kind,
                    ExprKind::Name(_) | ExprKind::Call(..) | ExprKind::Compound(..)
                ),
                _ => false,
            };
            if inner && !designators.is_empty() {
                // The designators lead here; what follows in the list goes on from here.
                let mut rest = entries[*at..].to_vec();
                rest[0].0.clear();
                let mut read = 0;
                aggregate(translator, ty, &rest, &mut read, cell, span, false, into)?;
                *at += read.max(1);
                return Ok(());
            }
            if inner {
                return aggregate(translator, ty, entries, at, cell, span, false, into);
            }
            *at += 1;
            values(translator, ty, init, cell, into)
        }
    }
}
