//! How large types are, and what they are if all their bytes are zero.

use super::machine::Machine;
use super::need::{Run, refuse};
use super::value::{Agg, Step, Val};
use crate::mir::{IntTy, Ty};
use std::rc::Rc;

/// Types nest no deeper than this.
const MAX_DEPTH: usize = 40;

impl Machine<'_> {
    /// The length of an array, where it is a number or a constant with a name.
    fn length_of(&self, length: &Ty) -> Option<i128> {
        match length {
            Ty::Const(count) => Some(*count),
            Ty::Adt(path, _) => match self.index.constants.get(&**path) {
                Some(crate::mir::Constant::Int(count, _)) => Some(*count),
                _ => None,
            },
            _ => None,
        }
    }

    /// The types of a struct's fields.
    fn field_types(&self, ty: &Ty) -> Option<Vec<Ty>> {
        let Ty::Adt(path, args) = ty else { return None };
        let found = self.index.structs.get(&**path)?;
        let with = found.generics.iter().cloned().zip(args.iter().cloned());
        let with = Rc::new(with.collect());
        let fields = found.fields.iter();
        Some(fields.map(|field| self.substitute(field, &with)).collect())
    }

    /// How many bytes a type has, and what it is aligned to. Of enums and of what is not known here, both are those of a pointer.
    pub fn size_and_align(&self, ty: &Ty, depth: usize) -> (usize, usize) {
        let of_parts = |parts: &[Ty], least: usize| {
            let parts: Vec<(usize, usize)> = parts
                .iter()
                .map(|part| self.size_and_align(part, depth + 1))
                .collect();
            let align = parts.iter().map(|(_, align)| *align).max().unwrap_or(1);
            let align = align.max(least);
            let size: usize = parts.iter().map(|(size, _)| *size).sum();
            (size.next_multiple_of(align), align)
        };
        match ty {
            _ if depth > MAX_DEPTH => (8, 8),
            Ty::Int(int) => {
                let size = usize::from(int.bits).div_ceil(8);
                (size, size)
            }
            Ty::Tuple(parts) => of_parts(parts, 1),
            Ty::FnDef(_) | Ty::Never => (0, 1),
            Ty::Array(element, length) => {
                let (size, align) = self.size_and_align(element, depth + 1);
                let length = self.length_of(length).unwrap_or(1);
                (size * usize::try_from(length).unwrap_or(0), align)
            }
            Ty::Ref(inner) | Ty::Ptr(inner) => match **inner {
                Ty::Slice(_) | Ty::Str | Ty::Dyn(_) => (16, 8),
                _ => (8, 8),
            },
            Ty::Adt(path, _) => match &**path {
                "std::marker::PhantomData" | "std::marker::PhantomPinned" => (0, 1),
                "std::boxed::Box" | "std::sync::Arc" | "std::rc::Rc" => (8, 8),
                "std::vec::Vec" | "std::string::String" => (24, 8),
                _ => match (self.field_types(ty), self.index.structs.get(&**path)) {
                    (Some(fields), Some(found)) => of_parts(&fields, found.align),
                    _ => (8, 8),
                },
            },
            _ => (8, 8),
        }
    }

    /// Whether values of a type do something when they are dropped. Of what is not known here, they do.
    pub fn type_needs_drop(&self, ty: &Ty, depth: usize) -> bool {
        let any = |parts: &[Ty]| parts.iter().any(|ty| self.type_needs_drop(ty, depth + 1));
        match ty {
            _ if depth > MAX_DEPTH => true,
            Ty::Int(_) | Ty::Float | Ty::Str | Ty::Never | Ty::Ref(_) | Ty::Ptr(_) => false,
            Ty::FnDef(_) | Ty::FnPtr | Ty::Const(_) => false,
            Ty::Tuple(parts) => any(parts),
            Ty::Array(ty, _) | Ty::Slice(ty) => self.type_needs_drop(ty, depth + 1),
            Ty::Adt(path, args) => match &**path {
                "std::mem::ManuallyDrop" | "std::mem::MaybeUninit" | "std::marker::PhantomData" => {
                    false
                }
                "std::boxed::Box" => true,
                "std::option::Option" | "std::result::Result" => any(args),
                _ if self.drop_impl(ty).is_some() => true,
                _ => match self.field_types(ty) {
                    Some(fields) => any(&fields),
                    None => true,
                },
            },
            _ => true,
        }
    }

    /// The way from a value of one type to the one of another type that begins at the same place, where it goes through an array.
    pub fn way_into(&self, from: &Ty, to: &Ty) -> Option<Vec<Step>> {
        let mut from = from.clone();
        let mut way = Vec::new();
        let mut array = false;
        while from != *to {
            if way.len() > MAX_DEPTH {
                return None;
            }
            from = match &from {
                Ty::Array(element, _) => {
                    array = true;
                    way.push(Step::Index(0));
                    (**element).clone()
                }
                _ => {
                    let first = self.field_types(&from)?.into_iter().next()?;
                    way.push(Step::Field(0));
                    first
                }
            };
        }
        array.then_some(way)
    }

    /// The value whose bytes are all zero.
    pub fn zeroed(&mut self, ty: &Ty, depth: usize) -> Run<Val> {
        let no = || refuse(format!("zeroed memory as {ty}"));
        if depth > MAX_DEPTH {
            return no();
        }
        let value = |fields, variant| {
            Ok(Val::Agg(Rc::new(Agg {
                ty: ty.clone(),
                variant,
                fields,
            })))
        };
        match ty {
            Ty::Int(int) => Ok(Val::Int(0, *int)),
            Ty::Ptr(_) => Ok(Val::Int(0, IntTy::USIZE)),
            Ty::Tuple(parts) => Ok(Val::tuple(self.all_zeroed(parts, depth)?)),
            Ty::Array(element, length) => {
                // The length may be a constant that is still to be computed.
                let count = match (self.length_of(length), &**length) {
                    (None, Ty::Adt(path, _)) => match self.index.by_path.get(&**path) {
                        Some(&number) => self.evaluate(number, Rc::default())?.known(),
                        None => None,
                    },
                    (count, _) => count,
                };
                let Some(count @ 0..=4096) = count else {
                    return no();
                };
                let element = self.zeroed(element, depth + 1)?;
                Ok(Val::Agg(Rc::new(Agg {
                    ty: Ty::Array(Rc::new(Ty::Never), Rc::new(Ty::Const(count))),
                    variant: None,
                    fields: vec![element; count as usize],
                })))
            }
            Ty::Adt(path, args) => match &**path {
                "std::marker::PhantomData" => value(Vec::new(), None),
                // A pointer that may be missing is missing where it is null.
                "std::option::Option" => match args.first() {
                    Some(Ty::Ref(_)) => value(Vec::new(), Some(0)),
                    Some(Ty::Adt(inner, _))
                        if matches!(
                            &**inner,
                            "std::ptr::NonNull" | "std::boxed::Box" | "std::sync::Arc"
                        ) =>
                    {
                        value(Vec::new(), Some(0))
                    }
                    _ => no(),
                },
                "std::boxed::Box" | "std::sync::Arc" | "std::rc::Rc" | "std::ptr::NonNull"
                | "std::vec::Vec" => no(),
                _ => match self.field_types(ty) {
                    Some(fields) => value(self.all_zeroed(&fields, depth)?, None),
                    None => no(),
                },
            },
            _ => no(),
        }
    }
    fn all_zeroed(&mut self, parts: &[Ty], depth: usize) -> Run<Vec<Val>> {
        parts.iter().map(|ty| self.zeroed(ty, depth + 1)).collect()
    }
}
