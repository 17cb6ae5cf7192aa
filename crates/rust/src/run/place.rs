//! Places: which part of which object, and of what type.

use super::arith;
use super::knowledge::Shape;
use super::machine::Machine;
use super::need::{Need, Run, refuse};
use super::state::State;
use super::value::{Loc, Pointer, Step, Val};
use crate::mir::{IntTy, Place, Projection, Substitution, Ty};
use std::rc::Rc;

/// A place that was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Where it is.
    pub loc: Loc,
    /// The length, where it is a slice.
    pub length: Option<u32>,
    /// Its type.
    pub ty: Ty,
    /// A value that is no memory: a text or a function behind a reference.
    pub virtual_value: Option<Val>,
}

/// The element that is this far behind another.
pub fn element(first: &Loc, by: u32) -> Option<Loc> {
    let mut loc = first.clone();
    match loc.path.last_mut() {
        Some(Step::Index(at)) => {
            *at = at.checked_add(by)?;
            Some(loc)
        }
        _ if by == 0 => Some(loc),
        _ => None,
    }
}

/// Types are not found out deeper.
const MAX_TYPES_WITHIN: usize = 200;

impl Machine<'_> {
    /// Replaces generic parameters.
    pub fn substitute(&self, ty: &Ty, with: &Rc<Substitution>) -> Ty {
        // A type that is found out by itself stays as it is written.
        let within = self.types_within.get();
        if within > MAX_TYPES_WITHIN {
            return ty.clone();
        }
        self.types_within.set(within + 1);
        let ty = self.substituted(ty, with);
        self.types_within.set(within);
        ty
    }

    fn substituted(&self, ty: &Ty, with: &Rc<Substitution>) -> Ty {
        let all = |tys: &[Ty]| tys.iter().map(|ty| self.substitute(ty, with)).collect();
        let one = |ty: &Ty| Rc::new(self.substitute(ty, with));
        match ty {
            Ty::Adt(name, args) if args.is_empty() => {
                let meant = |name: &str| with.iter().find(|(parameter, _)| **parameter == *name);
                if let Some((_, ty)) = meant(name) {
                    return ty.clone();
                }
                // `I::Item`, where only the bounds of `I` say whose `Item` it is.
                let short = name.split_once("::").filter(|(_, of)| !of.contains(':'));
                short
                    .and_then(|(front, of)| self.associated_of_any(&meant(front)?.1, of))
                    .unwrap_or_else(|| ty.clone())
            }
            Ty::Adt(name, args) => Ty::Adt(name.clone(), all(args)),
            Ty::Tuple(tys) => Ty::Tuple(all(tys)),
            Ty::Array(ty, length) => Ty::Array(one(ty), one(length)),
            Ty::Slice(ty) => Ty::Slice(one(ty)),
            Ty::Ref(ty) => Ty::Ref(one(ty)),
            Ty::Ptr(ty) => Ty::Ptr(one(ty)),
            Ty::Closure(place, env) if env.is_empty() => Ty::Closure(place.clone(), with.clone()),
            Ty::FnDef(path) => Ty::FnDef(Rc::new(self.substitute_path(path, with))),
            Ty::Projection(ty, trait_, name, args) => {
                let ty = self.substitute(ty, with);
                let trait_ = self.substitute(trait_, with);
                let args: Vec<Ty> = all(args);
                self.associated(&ty, &trait_, name, &args)
                    .unwrap_or_else(|| {
                        Ty::Projection(Rc::new(ty), Rc::new(trait_), name.clone(), args)
                    })
            }
            _ => ty.clone(),
        }
    }

    /// Replaces generic parameters in a path.
    pub fn substitute_path(
        &self,
        path: &crate::mir::FnPath,
        with: &Rc<Substitution>,
    ) -> crate::mir::FnPath {
        let qualified = path.qualified.as_ref().map(|(ty, trait_)| {
            let trait_ = trait_.as_ref().map(|t| self.substitute(t, with));
            (self.substitute(ty, with), trait_)
        });
        let segments = path.segments.iter().map(|(name, args)| {
            let args = args.iter().map(|ty| self.substitute(ty, with)).collect();
            (name.clone(), args)
        });
        crate::mir::FnPath {
            qualified,
            segments: segments.collect(),
        }
    }

    /// The number of a variant of an enum.
    pub fn variant(&self, ty: &Ty, name: &str) -> Option<i32> {
        if let Some(number) = name.strip_prefix('#') {
            return number.parse().ok();
        }
        let variants = match ty {
            Ty::Adt(path, _) => self.index.enums.get(&**path),
            _ => None,
        };
        let found = |variants: &Vec<crate::index::Variant>| {
            let variant = variants.iter().find(|v| &*v.name == name);
            variant.map(|v| v.discriminant as i32)
        };
        match variants {
            Some(variants) => found(variants),
            // The type is not known here: a name that only one enum has will do.
            None => {
                let mut all = self.index.enums.values().filter_map(found);
                let first = all.next()?;
                all.all(|other| other == first).then_some(first)
            }
        }
    }

    /// Finds a place.
    pub fn place(&mut self, state: &State, place: &Place) -> Run<Found> {
        let code = self.code(state)?;
        let generic = code.arguments.clone();
        let declared = code.body.locals[place.local].ty.clone();
        let of_models = code.body.path.starts_with("std::");
        let mut found = Found {
            loc: self.local(state, place.local)?,
            length: None,
            ty: if place.projection.is_empty() {
                declared.clone()
            } else {
                self.substitute(&declared, &generic)
            },
            virtual_value: None,
        };
        for step in &place.projection {
            // The bytes of a text are an array where one of them is asked for.
            if let Some(Val::Text(text)) = &found.virtual_value
                && matches!(
                    step,
                    Projection::Index(_) | Projection::ConstantIndex(_) | Projection::Subslice(..)
                )
            {
                let Some(object) = self.bytes_of(text) else {
                    return refuse("a byte of a text that is not known here");
                };
                found.virtual_value = None;
                found.length = None;
                found.loc = Loc {
                    object,
                    path: Vec::new(),
                };
            }
            match step {
                Projection::Deref => {
                    let pointer = match found.virtual_value.take() {
                        Some(value) => value,
                        None => self.read(state, &found.loc)?,
                    };
                    let inner = match &found.ty {
                        Ty::Ref(ty) | Ty::Ptr(ty) => (**ty).clone(),
                        Ty::Adt(_, args) if args.len() == 1 => args[0].clone(),
                        _ => Ty::Never,
                    };
                    match self.to_pointer(state, pointer)? {
                        Val::Ptr(pointer) if pointer.tag != 0 => {
                            return refuse("a pointer with bits in its address is followed");
                        }
                        Val::Ptr(pointer) => {
                            found.loc = pointer.loc.clone();
                            found.length = pointer.length;
                        }
                        Val::Int(0, _) => {
                            return Err(Need::Fail("a null pointer is followed".to_owned()));
                        }
                        Val::Int(..) => {
                            return Err(Need::Fail(
                                "a pointer that points nowhere is followed".to_owned(),
                            ));
                        }
                        Val::Uninit => {
                            return Err(Need::Fail(
                                "a pointer that was never set is followed".to_owned(),
                            ));
                        }
                        value @ (Val::Text(_) | Val::Fn(..) | Val::Agg(_)) => {
                            found.virtual_value = Some(value)
                        }
                        Val::Sym(..) => return refuse("a pointer that is not known is followed"),
                    }
                    found.ty = inner;
                }
                Projection::Field(field, ty) => {
                    // What macros of the standard library see inside these types; the models have one field there.
                    let inside = match &found.ty {
                        Ty::Adt(path, _) if !of_models => &**path,
                        _ => "",
                    };
                    match inside {
                        "std::mem::MaybeUninit" => found.loc.path.push(Step::Field(0)),
                        "std::mem::ManuallyDrop" | "std::mem::MaybeDangling" => {}
                        _ => found.loc.path.push(Step::Field(*field as u16)),
                    }
                    found.ty = self.substitute(ty, &generic);
                }
                Projection::Downcast(name) => {
                    let Some(variant) = self.variant(&found.ty, name) else {
                        return refuse(format!("the variant {name} of {} is not known", found.ty));
                    };
                    found.loc.path.push(Step::Variant(variant));
                }
                Projection::Index(local) => {
                    let at = self.local(state, *local)?;
                    let at = self.read(state, &at)?;
                    self.index_into(state, &mut found, &at)?;
                }
                Projection::ConstantIndex(at) => {
                    let length = self.length(state, &found)?;
                    let at = if *at < 0 { i64::from(length) + at } else { *at };
                    let at = Val::usize(usize::try_from(at).unwrap_or(usize::MAX));
                    self.index_into(state, &mut found, &at)?;
                }
                Projection::Subslice(from, to) => {
                    let length = self.length(state, &found)?;
                    let end = if *to <= 0 {
                        i64::from(length) + to
                    } else {
                        *to
                    };
                    let from = *from as u32;
                    let first = match found.length {
                        Some(_) => element(&found.loc, from),
                        None => Some(found.loc.then(Step::Index(from))),
                    };
                    let Some(first) = first else {
                        return refuse("a slice of something that is no array");
                    };
                    found.loc = first;
                    found.length = Some((end as u32).saturating_sub(from));
                }
            }
        }
        Ok(found)
    }

    /// The constant that is an array of a text's bytes.
    fn bytes_of(&mut self, text: &str) -> Option<super::value::ObjectId> {
        if !super::intrinsics::is_known(text) {
            return None;
        }
        let byte = IntTy {
            bits: 8,
            signed: false,
        };
        let bytes = text.bytes().map(|b| Val::Int(i128::from(b), byte));
        Some(self.know.constant(Val::Agg(Rc::new(super::value::Agg {
            ty: Ty::Array(Rc::new(Ty::Never), Rc::new(Ty::Const(text.len() as i128))),
            variant: None,
            fields: bytes.collect(),
        }))))
    }

    /// How many elements an array or slice has.
    pub fn length(&mut self, state: &State, found: &Found) -> Run<u32> {
        if let Some(length) = found.length {
            return Ok(length);
        }
        if let Some(Val::Text(text)) = &found.virtual_value
            && super::intrinsics::is_known(text)
        {
            return Ok(text.len() as u32);
        }
        if let Ty::Array(_, length) = &found.ty
            && let Ty::Const(length) = **length
        {
            return Ok(length as u32);
        }
        if let Some(Shape::Parts(_, count)) = self.know.shape(&found.loc) {
            return Ok(*count as u32);
        }
        if !self.know.is_shared(found.loc.object)
            && let Val::Agg(agg) = self.read(state, &found.loc)?
        {
            return Ok(agg.fields.len() as u32);
        }
        refuse("the length of this array is not known")
    }

    /// How many elements the slice has that a pointer leads to. The end of a value whose size is not fixed is the array that it was made with.
    pub fn slice_length(&mut self, state: &State, pointer: &super::value::Pointer) -> Run<u32> {
        let found = Found {
            loc: pointer.loc.clone(),
            length: pointer.length,
            ty: Ty::Never,
            virtual_value: None,
        };
        self.length(state, &found)
    }

    fn index_into(&mut self, state: &State, found: &mut Found, at: &Val) -> Run<()> {
        let length = self.length(state, found)?;
        let at = self.index_value(state, at, length)?;
        if at >= length {
            return Err(Need::Fail(format!(
                "index {at} is out of range: the length is {length}"
            )));
        }
        let loc = match found.length {
            Some(_) => element(&found.loc, at),
            None => Some(found.loc.then(Step::Index(at))),
        };
        let Some(loc) = loc else {
            return refuse("an element of something that is no array");
        };
        found.loc = loc;
        found.length = None;
        found.ty = match &found.ty {
            Ty::Array(ty, _) | Ty::Slice(ty) => (**ty).clone(),
            _ => Ty::Never,
        };
        Ok(())
    }

    /// A number below `length` that must be known: every value is followed. Numbers that are not below it come out as `length`.
    pub fn index_value(&mut self, state: &State, at: &Val, length: u32) -> Run<u32> {
        match at {
            Val::Int(at, _) => Ok(u32::try_from(*at).unwrap_or(u32::MAX)),
            Val::Sym(term, _) => {
                if length > 64 {
                    return refuse(
                        "an index that is not known into an array of more than 64 elements",
                    );
                }
                let mut others = palisade_lang::Expr::Const(1);
                let mut choices = Vec::new();
                for at in 0..length {
                    choices.push((
                        arith::equal((**term).clone(), i64::from(at)),
                        Val::usize(at as usize),
                    ));
                    let differs = palisade_lang::Expr::binary(
                        palisade_lang::BinaryOp::NotEqual,
                        (**term).clone(),
                        palisade_lang::Expr::Const(i64::from(at)),
                    );
                    others = match others {
                        palisade_lang::Expr::Const(_) => differs,
                        others => palisade_lang::Expr::binary(
                            palisade_lang::BinaryOp::And,
                            others,
                            differs,
                        ),
                    };
                }
                choices.push((others, Val::usize(length as usize)));
                let chosen = self.ask(state, Need::Fork(choices))?;
                Ok(chosen.known().unwrap_or(0) as u32)
            }
            _ => refuse("an index that is no number"),
        }
    }

    /// How many elements there are from this one on, where that is known.
    fn room(&mut self, state: &State, loc: &Loc) -> Option<u32> {
        let mut array = loc.clone();
        let at = match array.path.last() {
            Some(Step::Index(at)) => {
                let at = *at;
                array.path.pop();
                at
            }
            _ => 0,
        };
        let (ty, count) = match self.know.is_shared(array.object) {
            true => match self.know.shape(&array)? {
                Shape::Parts(ty, count) => (ty.clone(), *count),
                _ => return None,
            },
            false => match self.own(state, &array)? {
                Val::Agg(agg) => (agg.ty.clone(), agg.fields.len()),
                _ => return None,
            },
        };
        // An array of which only some elements were written so far does not say how long it is.
        let Ty::Array(_, length) = ty else {
            return None;
        };
        if *length != Ty::Const(count as i128) {
            return None;
        }
        let room = (count as u32).checked_sub(at)?;
        (room <= 64).then_some(room)
    }

    /// A pointer to elements of this type moved by a number of them.
    pub fn offset_of(
        &mut self,
        state: &State,
        pointer: &Val,
        by: &Val,
        back: bool,
        element: &Ty,
    ) -> Run<Val> {
        let size = self.layout(element, 0)?.map(|found| found.size);
        let moved = match by {
            Val::Int(by, _) if back => Some(-*by),
            Val::Int(by, _) => Some(*by),
            _ => None,
        };
        match (pointer, moved) {
            // An address of nothing: it is a number, which a program may compare and take apart.
            (Val::Int(address, _), Some(by)) => {
                let Some(size) = size else {
                    return refuse(format!("how many bytes {element} takes"));
                };
                let address = *address + by * size as i128;
                Ok(Val::Int(IntTy::USIZE.wrap(address), IntTy::USIZE))
            }
            // Bytes of something that is no array of them: tags in the low bits of its address.
            (Val::Ptr(found), Some(by))
                if size == Some(1) && self.room(state, &found.loc).is_none() =>
            {
                match u8::try_from(i128::from(found.tag) + by) {
                    Ok(tag @ 0..=7) if !matches!(found.loc.path.last(), Some(Step::Index(_))) => {
                        Ok(Val::Ptr(Rc::new(Pointer {
                            tag,
                            ..(**found).clone()
                        })))
                    }
                    _ => self.offset(state, pointer, &Val::Int(by, IntTy::ISIZE), false),
                }
            }
            _ => self.offset(state, pointer, by, back),
        }
    }

    /// A pointer moved by a number of elements.
    pub fn offset(&mut self, state: &State, pointer: &Val, by: &Val, back: bool) -> Run<Val> {
        let Val::Ptr(pointer) = pointer else {
            // Null, or another address of nothing: following it is an error, wherever it was moved to.
            if matches!(pointer, Val::Int(..)) || by.known() == Some(0) {
                return Ok(pointer.clone());
            }
            return refuse("arithmetic on a pointer that is not known");
        };
        let by = match by {
            Val::Int(by, _) => *by,
            _ => {
                // Behind the last element is as far as a pointer may go.
                let room = self.room(state, &pointer.loc).filter(|_| !back);
                let chosen = self.index_value(state, by, room.map_or(16, |room| room + 1))?;
                if room.is_some_and(|room| chosen > room) {
                    return Err(Need::Fail("a pointer leaves its allocation".to_owned()));
                }
                i128::from(chosen)
            }
        };
        let by = if back { -by } else { by };
        let mut loc = pointer.loc.clone();
        match loc.path.last_mut() {
            Some(Step::Index(at)) => match u32::try_from(i128::from(*at) + by) {
                Ok(new) => *at = new,
                Err(_) => return Err(Need::Fail("a pointer leaves its allocation".to_owned())),
            },
            _ if by == 0 => {}
            // A pointer to an array is one to its first element.
            _ => loc.path.push(match u32::try_from(by) {
                Ok(by) => Step::Index(by),
                Err(_) => return Err(Need::Fail("a pointer leaves its allocation".to_owned())),
            }),
        }
        Ok(Val::Ptr(Rc::new(Pointer {
            loc,
            length: pointer.length,
            tag: pointer.tag,
        })))
    }
}
