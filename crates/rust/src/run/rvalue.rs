//! What assignments compute, and constants.

use super::arith::{self, Computed};
use super::knowledge::{ObjectKey, Shape};
use super::machine::Machine;
use super::need::{Need, Refusal, Run, refuse};
use super::state::{Code, Frame, State};
use super::value::{Agg, Loc, ObjectId, Pointer, Step, Val};
use crate::mir::{BodyKind, Constant, FnPath, IntTy, Place, Rvalue, SourceSpan, Substitution, Ty};
use std::rc::Rc;

/// Numbers up to this are told apart where a counter is compared with them.
const MAX_TOLD_APART: i64 = 12;

/// Not more constants are computed for one another.
const MAX_CONSTANTS_WITHIN: usize = 40;

/// A constant is computed in no more steps than this.
const MAX_CONSTANT_STEPS: usize = 200_000;

impl Machine<'_> {
    /// The value of the right side of an assignment.
    pub fn rvalue(
        &mut self,
        state: &State,
        rvalue: &Rvalue,
        moved: &mut Vec<Loc>,
        target: Option<&Place>,
    ) -> Run<Val> {
        match rvalue {
            Rvalue::Use(operand) => self.operand(state, operand, moved),
            Rvalue::Ref(place) => {
                let found = self.place(state, place)?;
                if let Some(value) = found.virtual_value {
                    return Ok(value);
                }
                Ok(Val::Ptr(Rc::new(Pointer {
                    loc: found.loc,
                    length: found.length,
                    tag: 0,
                })))
            }
            Rvalue::Len(place) => {
                let found = self.place(state, place)?;
                Ok(Val::usize(self.length(state, &found)? as usize))
            }
            Rvalue::Discriminant(place) => {
                let found = self.place(state, place)?;
                let number = self.discriminant(state, &found.loc)?;
                // It has the type of the enum's numbers, by which a match tells them apart.
                let ty = match target {
                    Some(target) => self.place(state, target)?.ty,
                    None => Ty::Never,
                };
                Ok(match (number, ty) {
                    (Val::Int(number, _), Ty::Int(int)) => Val::Int(int.wrap(number), int),
                    (number, _) => number,
                })
            }
            Rvalue::Binary(name, left, right) if self.is_struct(state, name, target)? => {
                let fields = vec![
                    self.operand(state, left, moved)?,
                    self.operand(state, right, moved)?,
                ];
                Ok(struct_of(name, fields))
            }
            Rvalue::Unary(name, operand) if self.is_struct(state, name, target)? => {
                let fields = vec![self.operand(state, operand, moved)?];
                Ok(struct_of(name, fields))
            }
            Rvalue::Binary(name, left, right) => {
                let left = self.operand(state, left, moved)?;
                let right = self.operand(state, right, moved)?;
                self.binary(state, name, &left, &right)
            }
            Rvalue::Unary(name, operand) => {
                let value = self.operand(state, operand, moved)?;
                self.unary(state, name, &value)
            }
            Rvalue::Nullary(name, ty) => match &**name {
                "SizeOf" | "AlignOf" => {
                    let generic = self.code(state)?.arguments.clone();
                    let ty = self.substitute(ty, &generic);
                    self.size_or_align(&ty, &**name == "SizeOf")
                }
                _ => Ok(Val::bool(false)),
            },
            Rvalue::Cast(operand, ty, kind) => {
                let from = match operand {
                    crate::mir::Operand::Copy(place) | crate::mir::Operand::Move(place) => {
                        self.place(state, place)?.ty
                    }
                    crate::mir::Operand::Const(_) => Ty::Never,
                };
                let value = self.operand(state, operand, moved)?;
                let generic = self.code(state)?.arguments.clone();
                let ty = self.substitute(ty, &generic);
                let from = self.substitute(&from, &generic);
                self.cast(state, value, &from, &ty, kind)
            }
            Rvalue::Repeat(operand, length) => {
                let value = self.operand(state, operand, moved)?;
                let generic = self.code(state)?.arguments.clone();
                let length = self.substitute(length, &generic);
                let Ty::Const(count) = length else {
                    return refuse(format!(
                        "an array of {length} elements: the number is not known"
                    ));
                };
                if count > 4096 {
                    return refuse("an array of more than 4096 elements");
                }
                Ok(Val::Agg(Rc::new(Agg {
                    ty: Ty::Array(Rc::new(Ty::Never), Rc::new(Ty::Const(count))),
                    variant: None,
                    fields: vec![value; count as usize],
                })))
            }
            Rvalue::Array(operands) => {
                let fields = self.operands(state, operands, moved)?;
                let count = fields.len() as i128;
                Ok(Val::Agg(Rc::new(Agg {
                    ty: Ty::Array(Rc::new(Ty::Never), Rc::new(Ty::Const(count))),
                    variant: None,
                    fields,
                })))
            }
            Rvalue::Tuple(operands) => Ok(Val::tuple(self.operands(state, operands, moved)?)),
            Rvalue::Closure(ty, _, operands) => {
                let generic = self.code(state)?.arguments.clone();
                let ty = self.exact_closure(state, self.substitute(ty, &generic))?;
                let body = match &ty {
                    Ty::Closure(place, _) => self.index.closures.get(place),
                    _ => None,
                };
                if body.is_some_and(|&body| self.index.bodies[body].captured() > operands.len()) {
                    return Err(Need::Refuse(Refusal {
                        message: "a closure that uses several parts of one variable: the compiler does not say which".to_owned(),
                        help: Some("put each part into a variable of its own before the closure".to_owned()),
                    }));
                }
                Ok(Val::Agg(Rc::new(Agg {
                    ty,
                    variant: None,
                    fields: self.operands(state, operands, moved)?,
                })))
            }
            Rvalue::Aggregate(path, names, operands) => {
                let fields = self.operands(state, operands, moved)?;
                let generic = self.code(state)?.arguments.clone();
                let path = self.substitute_path(path, &generic);
                let declared = target
                    .map(|place| self.place(state, place).map(|f| f.ty))
                    .transpose()?;
                let declared = declared.map(|ty| self.substitute(&ty, &generic));
                // A function that is put into a variable is printed as a struct without fields would be.
                if let Some(Ty::FnDef(function)) = &declared {
                    return Ok(Val::Fn(function.clone(), Rc::default()));
                }
                self.aggregate(&path, names, fields, declared)
            }
            Rvalue::ThreadLocal(name) => {
                let own: Rc<str> = Rc::from(format!("{name}@{}", self.thread));
                let object = self.know.object(ObjectKey::Static(own.clone()));
                if self.know.is_shared(object) {
                    return Ok(Val::pointer(self.static_(&own)?));
                }
                Ok(Val::pointer(Loc {
                    object,
                    path: Vec::new(),
                }))
            }
        }
    }

    /// Whether what looks like an operator is a tuple struct of the user with the same name.
    fn is_struct(&mut self, state: &State, name: &str, target: Option<&Place>) -> Run<bool> {
        if !self.index.fields.contains_key(name) {
            return Ok(false);
        }
        let Some(place) = target else {
            return Ok(false);
        };
        let ty = self.place(state, place)?.ty;
        Ok(matches!(ty, Ty::Adt(path, _) if *path == *name))
    }

    /// The type of a closure that is made in the function on top, where its place alone does not say which it is.
    fn exact_closure(&self, state: &State, ty: Ty) -> Run<Ty> {
        let Ty::Closure(place, generic) = &ty else {
            return Ok(ty);
        };
        if !self.index.ambiguous.contains(place) {
            return Ok(ty);
        }
        let function = &self.code(state)?.body.path;
        let function = function.split("::promoted[").next().unwrap_or(function);
        let exact = crate::index::closure_in(function, place);
        if self.index.ambiguous.contains(&exact) || !self.index.closures.contains_key(&exact) {
            return refuse("closures that a macro makes several times in one function");
        }
        Ok(Ty::Closure(exact, generic.clone()))
    }

    fn operands(
        &mut self,
        state: &State,
        operands: &[crate::mir::Operand],
        moved: &mut Vec<Loc>,
    ) -> Run<Vec<Val>> {
        operands
            .iter()
            .map(|o| self.operand(state, o, moved))
            .collect()
    }

    /// A struct or a variant.
    pub fn aggregate(
        &mut self,
        path: &FnPath,
        names: &[Rc<str>],
        fields: Vec<Val>,
        declared: Option<Ty>,
    ) -> Run<Val> {
        let whole = path.plain();
        let args: Vec<Ty> = path
            .segments
            .iter()
            .flat_map(|(_, args)| args.clone())
            .collect();
        if let Some((enum_path, name)) = whole.rsplit_once("::")
            && let Some(variants) = self.index.enums.get(enum_path)
            && let Some(variant) = variants.iter().find(|v| *v.name == *name)
        {
            return Ok(Val::Agg(Rc::new(Agg {
                ty: Ty::Adt(Rc::from(enum_path), args),
                variant: Some(variant.discriminant as i32),
                fields,
            })));
        }
        // A union, or an enum whose definition is not seen.
        if let Some(Ty::Adt(declared, _)) = &declared
            && whole
                .rsplit_once("::")
                .is_some_and(|(front, _)| front == &**declared)
            && !self.index.fields.contains_key(&whole)
        {
            return refuse(format!(
                "the enum {declared}, whose definition is not in the file"
            ));
        }
        let fields = match (self.index.unions.get(&whole), fields.as_slice(), names) {
            (None, ..) => fields,
            // It has the one field that was written.
            (Some(0 | 1), [value], [name]) => {
                let known = self.index.fields.get(&whole).into_iter().flatten();
                let of = |field: &Rc<str>| match field == name {
                    true => value.clone(),
                    false => Val::Uninit,
                };
                known.map(of).collect()
            }
            _ => {
                return refuse(format!(
                    "the union {whole}: what is written by one field and read by another is not followed"
                ));
            }
        };
        Ok(Val::Agg(Rc::new(Agg {
            ty: Ty::Adt(Rc::from(whole), args),
            variant: None,
            fields,
        })))
    }

    /// The number of the variant that is there.
    pub fn discriminant(&mut self, state: &State, loc: &Loc) -> Run<Val> {
        if self.know.is_shared(loc.object) {
            return match self.know.shape(loc).cloned() {
                Some(Shape::Variants(_, variants)) => {
                    let variant = self.read_tag(state, loc, &variants)?;
                    Ok(Val::Int(i128::from(variant), IntTy::ISIZE))
                }
                Some(_) => Ok(Val::Int(0, IntTy::ISIZE)),
                None => Ok(Val::Uninit),
            };
        }
        match self.read(state, loc)? {
            Val::Agg(agg) => match agg.variant {
                Some(variant) => Ok(Val::Int(i128::from(variant), IntTy::ISIZE)),
                None => Ok(Val::Int(0, IntTy::ISIZE)),
            },
            Val::Uninit => Ok(Val::Uninit),
            _ => refuse("the variant of something that is no enum"),
        }
    }

    /// An operation on two values.
    pub fn binary(&mut self, state: &State, name: &str, left: &Val, right: &Val) -> Run<Val> {
        if name == "Offset" {
            return self.offset(state, left, right, false);
        }
        if let Some(value) = self.told_apart(state, name, left, right)? {
            return Ok(value);
        }
        // A number may be seen through a wrapper.
        if let (Val::Agg(wrapper), Val::Int(..) | Val::Sym(..)) = (left, right)
            && let ([inner], None) = (wrapper.fields.as_slice(), wrapper.variant)
        {
            return self.binary(state, name, &inner.clone(), right);
        }
        if let (Val::Int(..) | Val::Sym(..), Val::Agg(wrapper)) = (left, right)
            && let ([inner], None) = (wrapper.fields.as_slice(), wrapper.variant)
        {
            return self.binary(state, name, left, &inner.clone());
        }
        // Units are equal.
        if let (Val::Agg(a), Val::Agg(b)) = (left, right) {
            if a.fields.is_empty() && b.fields.is_empty() {
                return Ok(Val::bool(name == "Eq"));
            }
            if a.fields.len() == 1 && b.fields.len() == 1 {
                return self.binary(state, name, &a.fields[0].clone(), &b.fields[0].clone());
            }
        }
        if let ("Eq" | "Ne", Val::Ptr(_), Val::Ptr(_)) = (name, left, right) {
            self.know.compare();
        }
        // Bits that only a run knows are put into the low bits of an address: each choice of them is another pointer.
        if matches!(name, "BitOr" | "BitXor" | "Add")
            && let (Val::Ptr(_), bits @ Val::Sym(..)) | (bits @ Val::Sym(..), Val::Ptr(_)) =
                (left, right)
        {
            let low: Vec<i64> = (0..=i64::from(arith::MAX_TAG)).collect();
            let limit = "a number is joined with an address that is more than its low three bits";
            let bits = self.one_of_or(state, bits, &low, limit)?;
            return match left {
                Val::Ptr(_) => self.binary(state, name, left, &bits),
                _ => self.binary(state, name, &bits, right),
            };
        }
        let mut codes = Vec::new();
        let found = arith::with_pointer(name, left, right, &mut |pointer| {
            codes.push(pointer.clone());
            self.know.code(pointer)
        });
        if let Some(value) = found {
            for pointer in codes {
                self.escape(&pointer)?;
            }
            return Ok(value);
        }
        if name == "Cmp" {
            return self.three_way(state, left, right);
        }
        match arith::operate(name, left, right) {
            Computed::Value(value) => self.settle(state, value),
            Computed::Pair(value, flag) => {
                let value = self.settle(state, value)?;
                Ok(Val::tuple(vec![value, flag]))
            }
            Computed::NeedsSmall(terms, value) => {
                for term in terms {
                    let small = palisade_lang::Expr::binary(
                        palisade_lang::BinaryOp::GreaterEqual,
                        term.clone(),
                        palisade_lang::Expr::Const(0),
                    );
                    if !self.truth(state, &arith::simplify(&small, IntTy::BOOL))? {
                        return Err(Need::Bound(
                            "a number of 2^63 or more is divided".to_owned(),
                        ));
                    }
                }
                self.settle(state, value)
            }
            Computed::Unknown => match (left, right) {
                (Val::Uninit, _) | (_, Val::Uninit) => Err(Need::Fail(
                    "memory is read that nothing was written to".to_owned(),
                )),
                (Val::Int(..), Val::Int(0, _)) if matches!(name, "Div" | "Rem") => {
                    Err(Need::Fail("division by zero".to_owned()))
                }
                (Val::Ptr(_), _) | (_, Val::Ptr(_))
                    if matches!(name, "Lt" | "Le" | "Gt" | "Ge" | "Cmp") =>
                {
                    refuse(
                        "which of two addresses is the larger one: addresses are no numbers here",
                    )
                }
                _ => refuse(format!("the operation {name} on these values")),
            },
        }
    }

    /// A comparison of a number that is known with one that only a run knows, where such numbers are told apart: a loop that counts up to one comes to an end.
    fn told_apart(
        &mut self,
        state: &State,
        name: &str,
        left: &Val,
        right: &Val,
    ) -> Run<Option<Val>> {
        let compares = matches!(name, "Lt" | "Le" | "Gt" | "Ge" | "Eq" | "Ne");
        if !self.tells_apart || !compares {
            return Ok(None);
        }
        let (known, number) = match (left, right) {
            (Val::Int(known, _), Val::Sym(..)) => (*known, right),
            (Val::Sym(..), Val::Int(known, _)) => (*known, left),
            _ => return Ok(None),
        };
        let Val::Sym(term, ty) = number else {
            return Ok(None);
        };
        if *ty == IntTy::BOOL || !matches!(**term, palisade_lang::Expr::Atom(_)) {
            return Ok(None);
        }
        use palisade_lang::{BinaryOp, Expr};
        let mut others: Option<arith::Term> = None;
        let mut choices = Vec::new();
        for small in 0..=MAX_TOLD_APART {
            let value = Val::Int(i128::from(small), *ty);
            choices.push((arith::equal((**term).clone(), small), value));
            let differs = Expr::binary(BinaryOp::NotEqual, (**term).clone(), Expr::Const(small));
            others = Some(match others {
                None => differs,
                Some(others) => Expr::binary(BinaryOp::And, others, differs),
            });
        }
        choices.extend(others.map(|others| (others, Val::Uninit)));
        let chosen = self.ask(state, Need::Fork(choices))?;
        if chosen == Val::Uninit {
            return match i64::try_from(known).is_ok_and(|k| (MAX_TOLD_APART..1 << 20).contains(&k))
            {
                true => Err(Need::Bound(format!(
                    "a loop counts beyond {MAX_TOLD_APART}, up to a number that only a run knows"
                ))),
                false => Ok(None),
            };
        }
        let (left, right) = match left {
            Val::Sym(..) => (&chosen, right),
            _ => (left, &chosen),
        };
        match arith::operate(name, left, right) {
            Computed::Value(value) => Ok(Some(value)),
            _ => Ok(None),
        }
    }

    /// Numbers that are computed go into a register, so that a loop comes back to where it was; conditions stay as they are.
    fn settle(&mut self, state: &State, value: Val) -> Run<Val> {
        match &value {
            Val::Sym(term, ty)
                if *ty != IntTy::BOOL && !matches!(**term, palisade_lang::Expr::Atom(_)) =>
            {
                self.ask(state, Need::Assign((**term).clone(), *ty))
            }
            _ => Ok(value),
        }
    }

    fn three_way(&mut self, state: &State, left: &Val, right: &Val) -> Run<Val> {
        let less = self.binary(state, "Lt", left, right)?;
        let number = if self.truth(state, &less)? {
            -1
        } else {
            let equal = self.binary(state, "Eq", left, right)?;
            i32::from(!self.truth(state, &equal)?)
        };
        Ok(Val::Agg(Rc::new(Agg {
            ty: Ty::Adt(Rc::from("std::cmp::Ordering"), Vec::new()),
            variant: Some(number),
            fields: Vec::new(),
        })))
    }

    fn unary(&mut self, state: &State, name: &str, value: &Val) -> Run<Val> {
        let result = match name {
            "Not" => arith::not(value),
            "Neg" => arith::negate(value),
            "PtrMetadata" => match value {
                Val::Ptr(pointer) => Some(match pointer.length {
                    Some(length) => Val::usize(length as usize),
                    None => match self.slice_length(state, pointer) {
                        Ok(length) => Val::usize(length as usize),
                        Err(_) => Val::unit(),
                    },
                }),
                Val::Text(text) if !text.contains('\0') => Some(Val::usize(text.len())),
                _ => None,
            },
            _ => None,
        };
        match result {
            Some(value) => self.settle(state, value),
            None if *value == Val::Uninit => Err(Need::Fail(
                "memory is read that nothing was written to".to_owned(),
            )),
            None => refuse(format!("the operation {name} on this value")),
        }
    }

    /// `value as ty`
    pub fn cast(&mut self, state: &State, value: Val, from: &Ty, ty: &Ty, kind: &str) -> Run<Val> {
        if let Val::Agg(agg) = &value
            && let (Ty::Int(int), Some(variant)) = (ty, agg.variant)
        {
            return Ok(Val::Int(int.wrap(i128::from(variant)), *int));
        }
        if kind.starts_with("IntToInt") {
            let Ty::Int(int) = ty else {
                return refuse(format!("a number as {ty}"));
            };
            if let Val::Ptr(_) = value {
                return Ok(value);
            }
            return match arith::convert(&value, *int) {
                Some(value) => self.settle(state, value),
                None => refuse(format!("this value as {ty}")),
            };
        }
        if kind.contains("Unsize") {
            return self.unsize(value, from);
        }
        if kind.contains("Float") {
            return Ok(Val::Text(Rc::from(super::intrinsics::UNKNOWN_TEXT)));
        }
        if kind.starts_with("Transmute") {
            return self.transmute(state, value, ty);
        }
        // A number as an address, or back: it is one of 64 bits.
        if kind.contains("Provenance") && matches!(value, Val::Int(..) | Val::Sym(..)) {
            let to = match ty {
                Ty::Int(int) => *int,
                _ => IntTy::USIZE,
            };
            return match arith::convert(&value, to) {
                Some(value) => self.settle(state, value),
                None => refuse(format!("this value as {ty}")),
            };
        }
        // Pointers stay what they are; a pointer to an array becomes one to its first element.
        if let (Val::Ptr(pointer), Ty::Ref(old) | Ty::Ptr(old), Ty::Ref(new) | Ty::Ptr(new)) =
            (&value, from, ty)
        {
            let slice = matches!(**new, Ty::Slice(_) | Ty::Str | Ty::Dyn(_));
            let mut pointer = (**pointer).clone();
            if !slice {
                pointer.length = None;
            }
            if !slice && let Some(way) = self.way_into(old, new) {
                pointer.loc.path.extend(way);
            }
            return Ok(Val::Ptr(Rc::new(pointer)));
        }
        Ok(value)
    }

    fn unsize(&self, value: Val, from: &Ty) -> Run<Val> {
        match value {
            Val::Ptr(pointer) => {
                let inner = match from {
                    Ty::Ref(inner) | Ty::Ptr(inner) => (**inner).clone(),
                    Ty::Adt(_, args) if args.len() == 1 => args[0].clone(),
                    _ => Ty::Never,
                };
                let Ty::Array(_, length) = inner else {
                    return Ok(Val::Ptr(pointer));
                };
                let Ty::Const(length) = *length else {
                    return refuse("an array whose length is not known");
                };
                Ok(Val::Ptr(Rc::new(Pointer {
                    loc: pointer.loc.then(Step::Index(0)),
                    length: Some(length as u32),
                    tag: pointer.tag,
                })))
            }
            Val::Agg(agg) => {
                // What an `Rc` or `Arc` points to has counts before the array.
                if let Ty::Adt(path, args) = from
                    && matches!(args.first(), Some(Ty::Array(..)))
                    && matches!(super::call::last(path), "Rc" | "Arc" | "Weak")
                {
                    return refuse(format!("a {from} as one of a slice"));
                }
                let mut fields = agg.fields.clone();
                if let Some(first) = fields.first_mut() {
                    *first = self.unsize(first.clone(), from)?;
                }
                Ok(Val::Agg(Rc::new(Agg {
                    ty: agg.ty.clone(),
                    variant: agg.variant,
                    fields,
                })))
            }
            other => Ok(other),
        }
    }

    /// The same bits as another type: wrappers come and go.
    pub fn transmute(&mut self, state: &State, value: Val, ty: &Ty) -> Run<Val> {
        match (value, ty) {
            // A variant without fields, as its number.
            (Val::Agg(agg), Ty::Int(int))
                if agg.fields.is_empty()
                    && let Some(variant) = agg.variant =>
            {
                Ok(Val::Int(int.wrap(i128::from(variant)), *int))
            }
            (Val::Agg(agg), Ty::Ref(_) | Ty::Ptr(_) | Ty::Int(_))
                if agg.variant.is_none() && !agg.fields.is_empty() =>
            {
                // Beside what it holds, a wrapper has only what is empty.
                let is_empty =
                    |value: &Val| matches!(value, Val::Agg(agg) if agg.fields.is_empty());
                let others = agg.fields.iter().skip(1).any(|field| !is_empty(field));
                if others && matches!(ty, Ty::Int(_)) {
                    return refuse(format!("the bits of several values as {ty}"));
                }
                self.transmute(state, agg.fields[0].clone(), ty)
            }
            // Numbers of an array are followed as those of one with numbers as wide.
            (Val::Agg(agg), Ty::Array(element, length)) if matches!(**element, Ty::Int(_)) => {
                let bits = |ty: &Ty| match ty {
                    Ty::Int(int) => Some(int.bits),
                    _ => None,
                };
                let as_wide = |value: &Val| match value {
                    Val::Int(_, int) | Val::Sym(_, int) => Some(int.bits) == bits(element),
                    Val::Uninit => true,
                    _ => false,
                };
                let is_array = matches!(agg.ty, Ty::Array(..))
                    && **length == Ty::Const(agg.fields.len() as i128);
                match agg.fields.as_slice() {
                    fields if is_array && fields.iter().all(as_wide) => Ok(Val::Agg(agg)),
                    [only @ Val::Agg(_)] => self.transmute(state, only.clone(), ty),
                    _ => refuse(format!("the bits of a value as {ty}")),
                }
            }
            (value @ Val::Agg(_), _) => Ok(value),
            // A number as an enum whose variants have no fields.
            (value @ (Val::Int(..) | Val::Sym(..)), Ty::Adt(path, _))
                if let Some(variants) = self.index.variants.get(&**path)
                    && variants.iter().all(|variant| variant.fields.is_empty()) =>
            {
                let numbers = self.index.enums.get(&**path).into_iter().flatten();
                let numbers: Vec<i64> = numbers.map(|v| v.discriminant as i64).collect();
                let limit = format!("a number as {path} that is none of its variants");
                let (Val::Int(_, int) | Val::Sym(_, int)) = &value else {
                    return refuse(format!("the bits of a value as {ty}"));
                };
                let of_type = |number: i64| int.wrap(i128::from(number));
                let kept: Vec<i64> = numbers.iter().map(|n| arith::stored(of_type(*n))).collect();
                let chosen = self.one_of_or(state, &value, &kept, &limit)?;
                let found = numbers
                    .iter()
                    .find(|n| chosen.known() == Some(of_type(**n)));
                match found.and_then(|number| i32::try_from(*number).ok()) {
                    Some(variant) => Ok(Val::Agg(Rc::new(Agg {
                        ty: ty.clone(),
                        variant: Some(variant),
                        fields: Vec::new(),
                    }))),
                    None => Err(Need::Fail(limit)),
                }
            }
            (value, Ty::Adt(path, _)) if !self.index.enums.contains_key(&**path) => {
                match self.index.fields.get(&**path).map(Vec::len) {
                    Some(1) => Ok(Val::Agg(Rc::new(Agg {
                        ty: ty.clone(),
                        variant: None,
                        fields: vec![value],
                    }))),
                    _ => refuse(format!("the bits of a value as {ty}")),
                }
            }
            (value, Ty::Int(int)) if !matches!(value, Val::Ptr(_)) => {
                match arith::convert(&value, *int) {
                    Some(value) => self.settle(state, value),
                    None => refuse(format!("the bits of a value as {ty}")),
                }
            }
            (value, Ty::Ref(_) | Ty::Ptr(_) | Ty::FnPtr | Ty::Int(_)) => Ok(value),
            (_, ty) => refuse(format!("the bits of a value as {ty}")),
        }
    }

    /// The value of a constant.
    pub fn constant_value(&mut self, state: &State, constant: &Constant) -> Run<Val> {
        match constant {
            Constant::Int(value, ty) => Ok(Val::Int(*value, *ty)),
            Constant::Unit => Ok(Val::unit()),
            Constant::Text(text) => Ok(Val::Text(text.clone())),
            Constant::Other(text) => {
                if let Some(ty) = text.strip_prefix("ZeroSized: ") {
                    return Ok(Val::Agg(Rc::new(Agg {
                        ty: Ty::Adt(Rc::from(ty), Vec::new()),
                        variant: None,
                        fields: Vec::new(),
                    })));
                }
                Ok(Val::Text(text.clone()))
            }
            Constant::Alloc(name) => match self.index.statics.get(name).cloned() {
                Some(path) => {
                    let loc = self.static_(&path)?;
                    Ok(Val::pointer(loc))
                }
                None => Ok(Val::Text(name.clone())),
            },
            Constant::Path(path) => {
                let code = self.code(state)?;
                let generic = code.arguments.clone();
                // A promoted constant belongs to the body that uses it, however its path is written.
                if path.name().starts_with("promoted[") {
                    let key = format!("{}::{}", code.body.path, path.name());
                    if let Some(&number) = self.index.by_path.get(&key) {
                        return self.evaluate(number, generic);
                    }
                }
                match self.path_value(path, &generic)? {
                    Val::Agg(agg) if matches!(agg.ty, Ty::Closure(..)) && agg.fields.is_empty() => {
                        let ty = self.exact_closure(state, agg.ty.clone())?;
                        Ok(Val::Agg(Rc::new(Agg {
                            ty,
                            ..(*agg).clone()
                        })))
                    }
                    value => Ok(value),
                }
            }
        }
    }

    /// Whether this is a static of one thread's own.
    pub fn is_thread_local(&self, object: ObjectId) -> bool {
        matches!(self.know.key(object), ObjectKey::Static(path) if path.contains('@'))
    }

    /// Makes a static of the thread's own, if it was not used yet. Where no other thread can see it, it is memory of the thread's own.
    pub fn begin_thread_local(&mut self, state: &mut State, name: &str) -> Run<()> {
        let own: Rc<str> = Rc::from(format!("{name}@{}", self.thread));
        let object = self.know.object(ObjectKey::Static(own));
        if self.leaks {
            // What it leads to is no leak, which the first thread must see when all have ended.
            self.know.share(object);
        }
        if self.know.is_shared(object) || state.heap.contains_key(&object) {
            return Ok(());
        }
        let Some(&number) = self.index.by_path.get(name) else {
            return refuse(format!("the static {name}, which is not in this file"));
        };
        let short = name.rsplit("::").next().unwrap_or(name);
        self.know
            .names
            .entry(object)
            .or_insert_with(|| short.to_owned());
        let value = self.evaluate(number, Rc::default())?;
        Rc::make_mut(&mut state.heap).insert(object, value);
        Ok(())
    }

    /// The object that a static is, with its initial value.
    pub fn static_(&mut self, path: &Rc<str>) -> Run<Loc> {
        let object = self.know.object(ObjectKey::Static(path.clone()));
        let loc = Loc {
            object,
            path: Vec::new(),
        };
        if !self.statics.insert(object) {
            return Ok(loc);
        }
        // A thread's own static has the thread's number behind its path.
        let name = path.split_once('@').map_or(&**path, |(name, _)| name);
        let Some(&number) = self.index.by_path.get(name) else {
            return refuse(format!("the static {path}, which is not in this file"));
        };
        self.know
            .names
            .entry(object)
            .or_insert_with(|| path.rsplit("::").next().unwrap_or(path).to_owned());
        let value = self.evaluate(number, Rc::default())?;
        let before = (self.initial, self.spawned, self.constant);
        (self.initial, self.spawned, self.constant) = (true, false, false);
        let mut state = State::default();
        let written = self.write(&mut state, &loc, value);
        (self.initial, self.spawned, self.constant) = before;
        // Every thread reaches a static: the first one sets it alone only before it spawns another.
        self.fresh.remove(&object);
        written?;
        Ok(loc)
    }

    fn path_value(&mut self, path: &Rc<FnPath>, generic: &Rc<Substitution>) -> Run<Val> {
        let path = Rc::new(self.substitute_path(path, generic));
        let plain = path.plain();
        // `<impl u32>::MAX`, or `std::u32::MAX` as it was written once.
        let module = match path.segments.as_slice() {
            [(front, _), (module, args), _] if &**front == "std" && args.is_empty() => {
                crate::mir::parse_type_text(module).ok()
            }
            _ => None,
        };
        if let [.., (_, args), (name, _)] = path.segments.as_slice()
            && let [Ty::Int(int)] = module
                .as_ref()
                .map_or(args.as_slice(), std::slice::from_ref)
            && matches!(&**name, "MAX" | "MIN" | "BITS")
            && int.bits <= 64
        {
            let top = match *int {
                IntTy::CHAR => 0x11_0000,
                int => 1i128 << (int.bits - u8::from(int.signed)),
            };
            return Ok(match &**name {
                "MAX" => Val::Int(top - 1, *int),
                "MIN" => Val::Int(if int.signed { -top } else { 0 }, *int),
                _ => Val::Int(
                    i128::from(int.bits),
                    IntTy {
                        bits: 32,
                        signed: false,
                    },
                ),
            });
        }
        if path.qualified.is_none() {
            if let Some(constant) = self.index.constants.get(&plain)
                && let Constant::Int(value, ty) = constant
            {
                return Ok(Val::Int(*value, *ty));
            }
            if let Some(&number) = self.index.by_path.get(&plain)
                && self.index.bodies[number].kind == BodyKind::Constant
            {
                return self.evaluate(number, generic.clone());
            }
            // Parameters have no crate in front of them.
            let own = match path.segments.as_slice() {
                [(first, _), rest @ ..] if self.index.is_crate(first) => rest,
                all => all,
            };
            if let [(name, _)] = own {
                if let Some((_, Ty::Const(value))) = generic.iter().find(|(p, _)| p == name) {
                    return Ok(Val::Int(*value, IntTy::USIZE));
                }
                if let Some(place) = name.strip_prefix("{closure@") {
                    let place = Rc::from(place.trim_end_matches('}'));
                    return Ok(Val::Agg(Rc::new(Agg {
                        ty: Ty::Closure(place, generic.clone()),
                        variant: None,
                        fields: Vec::new(),
                    })));
                }
            }
            if let Some((enum_path, name)) = plain.rsplit_once("::")
                && let Some(variants) = self.index.enums.get(enum_path)
                && let Some(variant) = variants.iter().find(|v| *v.name == *name)
                && self.index.fields.get(&plain).is_none_or(Vec::is_empty)
            {
                let args = path.segments.iter().flat_map(|(_, args)| args.clone());
                return Ok(Val::Agg(Rc::new(Agg {
                    ty: Ty::Adt(Rc::from(enum_path), args.collect()),
                    variant: Some(variant.discriminant as i32),
                    fields: Vec::new(),
                })));
            }
            if self.index.fields.get(&plain).is_some_and(Vec::is_empty) {
                return self.aggregate(&path, &[], Vec::new(), None);
            }
        }
        // Constants of types and traits.
        if let Some((number, generic)) = self.function(&path, &State::default(), &[])?
            && self.index.bodies[number].kind == BodyKind::Constant
        {
            return self.evaluate(number, Rc::new(generic));
        }
        // A constant in a function of an impl.
        if let Some(((name, _), front)) = path.segments.split_last()
            && !front.is_empty()
        {
            let parent = FnPath {
                qualified: path.qualified.clone(),
                segments: front.to_vec(),
            };
            if let Some((number, generic)) = self.function(&parent, &State::default(), &[])? {
                let key = format!("{}::{name}", self.index.bodies[number].path);
                if let Some(&number) = self.index.by_path.get(&key)
                    && self.index.bodies[number].kind == BodyKind::Constant
                {
                    return self.evaluate(number, Rc::new(generic));
                }
                if let Some(Constant::Int(value, ty)) = self.index.constants.get(&key) {
                    return Ok(Val::Int(*value, *ty));
                }
            }
            let constant =
                name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase);
            if constant && self.function(&path, &State::default(), &[])?.is_none() {
                return refuse(format!(
                    "the constant {plain}, whose value is not known here"
                ));
            }
        }
        Ok(Val::Fn(path, generic.clone()))
    }

    /// Computes a constant, a static's initial value or a promoted constant.
    pub fn evaluate(&mut self, number: usize, generic: Rc<Substitution>) -> Run<Val> {
        let key = (number as u32, generic.clone());
        if let Some(value) = self.evaluated.get(&key).cloned() {
            self.begin_statics(&value, 0)?;
            return Ok(value);
        }
        let path = &self.index.bodies[number].path;
        if self.index.twice.contains(path) {
            let name = path.rsplit("::").next().unwrap_or(path);
            return Err(Need::Refuse(Refusal {
                message: format!("several constants that are called {name}"),
                help: Some("give each of them a name of its own".to_owned()),
            }));
        }
        if self.constants_within > MAX_CONSTANTS_WITHIN {
            return refuse("a constant that is computed by too many others");
        }
        self.constants_within += 1;
        let before = (self.thread, self.constant, self.initial, self.position);
        (self.thread, self.constant, self.initial) = (u32::MAX, true, false);
        let mut state = State::default();
        let result = self
            .push(
                &mut state,
                number,
                generic,
                Vec::new(),
                None,
                &SourceSpan::default(),
            )
            .and_then(|()| self.run_constant(&mut state));
        (self.thread, self.constant, self.initial, self.position) = before;
        self.constants_within -= 1;
        let value = result?;
        self.evaluated.insert(key, value.clone());
        Ok(value)
    }

    /// Gives the statics that a constant leads to their first values: constants are known from an earlier round, statics begin again.
    fn begin_statics(&mut self, value: &Val, depth: usize) -> Run<()> {
        let mut objects = Vec::new();
        value.for_each(&mut |value| {
            if let Val::Ptr(pointer) = value {
                objects.push(pointer.loc.object);
            }
        });
        for object in objects {
            if depth < MAX_CONSTANTS_WITHIN
                && let Some(inner) = self.know.constant_value(object).cloned()
            {
                self.begin_statics(&inner, depth + 1)?;
            } else if let ObjectKey::Static(path) = self.know.key(object).clone() {
                self.static_(&path)?;
            }
        }
        Ok(())
    }

    fn run_constant(&mut self, state: &mut State) -> Run<Val> {
        for _ in 0..MAX_CONSTANT_STEPS {
            let returns = state.frames.len() == 1
                && matches!(&*state.frames[0], Frame::Code(Code { body, block, statement, .. })
                if body.blocks.get(*block as usize).is_some_and(|b| {
                    b.statements.len() == *statement as usize
                        && matches!(b.terminator, Some((crate::mir::Terminator::Return, _)))
                }));
            if returns {
                let result = self.local(state, 0)?;
                let value = self.read(state, &result)?;
                return self.keep(state, value);
            }
            self.step(state)?;
        }
        refuse("a constant that takes too long to compute")
    }

    /// What a constant points to becomes a constant, too.
    fn keep(&mut self, state: &State, value: Val) -> Run<Val> {
        match value {
            Val::Ptr(pointer) => {
                let loc = &pointer.loc;
                if self.know.is_shared(loc.object)
                    || !matches!(
                        self.know.key(loc.object),
                        super::knowledge::ObjectKey::Local(..)
                            | super::knowledge::ObjectKey::Heap(..)
                    )
                {
                    return Ok(Val::Ptr(pointer));
                }
                let root = Loc {
                    object: loc.object,
                    path: Vec::new(),
                };
                let inner = self.read(state, &root)?;
                let inner = self.keep(state, inner)?;
                let object = self.know.constant(inner);
                Ok(Val::Ptr(Rc::new(Pointer {
                    loc: Loc {
                        object,
                        path: loc.path.clone(),
                    },
                    length: pointer.length,
                    tag: pointer.tag,
                })))
            }
            Val::Agg(agg) => {
                let fields: Run<Vec<Val>> = agg
                    .fields
                    .iter()
                    .map(|f| self.keep(state, f.clone()))
                    .collect();
                Ok(Val::Agg(Rc::new(Agg {
                    ty: agg.ty.clone(),
                    variant: agg.variant,
                    fields: fields?,
                })))
            }
            value => Ok(value),
        }
    }
}

fn struct_of(name: &Rc<str>, fields: Vec<Val>) -> Val {
    Val::Agg(Rc::new(Agg {
        ty: Ty::Adt(name.clone(), Vec::new()),
        variant: None,
        fields,
    }))
}
