//! Calls: which body a path stands for, and with which generic arguments.

use super::machine::Machine;
use super::need::{Need, Refusal, Run, refuse};
use super::state::State;
use super::value::{Agg, Loc, Val};
use crate::index::Impl;
use crate::mir::{Callee, FnPath, Operand, Place, SourceSpan, Substitution, Ty};
use std::rc::Rc;

/// Binds the parameters in `pattern` so that it becomes `actual`.
pub fn unify(pattern: &Ty, actual: &Ty, parameters: &[Rc<str>], found: &mut Substitution) -> bool {
    match (pattern, actual) {
        (Ty::Adt(name, args), _) if args.is_empty() && parameters.contains(name) => {
            match found.iter().find(|(parameter, _)| parameter == name) {
                Some((_, known)) => known == actual,
                None => {
                    found.push((name.clone(), actual.clone()));
                    true
                }
            }
        }
        (Ty::Adt(a, pattern), Ty::Adt(b, actual)) => {
            last(a) == last(b)
                && pattern
                    .iter()
                    .zip(actual)
                    .all(|(p, a)| unify(p, a, parameters, found))
        }
        (Ty::Tuple(pattern), Ty::Tuple(actual)) => {
            pattern.len() == actual.len()
                && pattern
                    .iter()
                    .zip(actual)
                    .all(|(p, a)| unify(p, a, parameters, found))
        }
        (Ty::Array(p, n), Ty::Array(a, m)) => {
            unify(p, a, parameters, found) && unify(n, m, parameters, found)
        }
        (Ty::Slice(p), Ty::Slice(a)) | (Ty::Ref(p), Ty::Ref(a)) | (Ty::Ptr(p), Ty::Ptr(a)) => {
            unify(p, a, parameters, found)
        }
        _ => pattern == actual,
    }
}

/// What stands behind the last `::`. This is asked so often that a general search for texts would be seen in the times.
pub fn last(path: &str) -> &str {
    let found = path.as_bytes().windows(2).rposition(|pair| pair == b"::");
    found.map_or(path, |at| &path[at + 2..])
}

/// The name of a type, as impls and traits are looked up by it.
fn head(ty: &Ty) -> &str {
    match ty {
        Ty::Adt(path, _) => last(path),
        _ => "",
    }
}

/// Whether an impl is for every type.
fn is_blanket(found: &Impl) -> bool {
    matches!(&found.self_ty, Ty::Adt(name, args) if args.is_empty() && found.generics.contains(name))
}

/// Whether a trait is one of the standard library's whose argument is usually the type itself.
fn is_operator(path: &str) -> bool {
    let Some((front, name)) = path.rsplit_once("::") else {
        return false;
    };
    match front {
        "std::cmp" => matches!(name, "PartialEq" | "PartialOrd"),
        "std::ops" => matches!(
            name.trim_end_matches("Assign"),
            "Add" | "Sub" | "Mul" | "Div" | "Rem" | "BitAnd" | "BitOr" | "BitXor" | "Shl" | "Shr"
        ),
        _ => false,
    }
}

/// What stands for methods of primitive types among the models.
fn primitive(ty: &Ty) -> &'static str {
    match ty {
        Ty::Int(crate::mir::IntTy::BOOL) => "bool",
        Ty::Int(_) => "int",
        Ty::Ptr(_) => "ptr",
        Ty::Slice(_) => "slice",
        Ty::Array(..) => "array",
        Ty::Str => "str",
        Ty::Float(_) => "float",
        _ => "other",
    }
}

impl Machine<'_> {
    /// Whether an impl is for the type of this path, and not for another with the same last name.
    fn is_for(&self, found: &Impl, ty: &Ty) -> bool {
        let (Ty::Adt(name, _), Ty::Adt(path, _)) = (&found.self_ty, ty) else {
            return true;
        };
        if found.generics.contains(name) {
            return true;
        }
        if found.exact {
            return name == path;
        }
        let first = found.module.split("::").next().unwrap_or("");
        let root = if self.index.is_crate(first) {
            first
        } else {
            ""
        };
        if root == "std" && !path.starts_with("std::") {
            return false;
        }
        let join = |front: &str, name: &str| match front.is_empty() {
            true => name.to_owned(),
            false => format!("{front}::{name}"),
        };
        if let Some(rest) = name.strip_prefix("crate::") {
            return join(root, rest) == **path;
        }
        // The type that the name means where the impl stands, if it is defined there or further out.
        let mut module = found.module.as_str();
        let mut name = &**name;
        while let Some(rest) = name.strip_prefix("super::") {
            module = module.rsplit_once("::").map_or("", |(outer, _)| outer);
            name = rest;
        }
        let name = name.strip_prefix("self::").unwrap_or(name);
        loop {
            let full = join(module, name);
            if self.index.fields.contains_key(&full) || self.index.enums.contains_key(&full) {
                return full == **path;
            }
            match module.rsplit_once("::") {
                Some((outer, _)) => module = outer,
                None if !module.is_empty() => module = "",
                None => return true,
            }
        }
    }

    fn generics_of(&self, impl_number: usize, name: &str) -> Vec<Rc<str>> {
        let module = &self.index.impls[impl_number].module;
        let key = match module.is_empty() {
            true => format!("<impl {impl_number}>::{name}"),
            false => format!("{module}::<impl {impl_number}>::{name}"),
        };
        self.index.generics.get(&key).cloned().unwrap_or_default()
    }

    /// An associated type.
    pub fn associated(&self, ty: &Ty, trait_: &Ty, name: &str, args: &[Ty]) -> Option<Ty> {
        // `Add<u8>` and `Add<Point>` of one type may have different results.
        let exactly = |found: &Impl, bound: &mut Substitution| {
            self.is_of_trait(found, trait_) && self.fits_trait(found, trait_, ty, bound)
        };
        self.associated_where(ty, exactly, name, args).or_else(|| {
            self.associated_where(ty, |found, _| self.is_of_trait(found, trait_), name, args)
        })
    }

    /// An associated type of this name, of whichever trait it is.
    pub fn associated_of_any(&self, ty: &Ty, name: &str) -> Option<Ty> {
        self.associated_where(ty, |_, _| true, name, &[])
    }

    /// Whether an impl is one of this trait, and not of another one with the same last name.
    fn is_of_trait(&self, found: &Impl, trait_: &Ty) -> bool {
        let Some(of) = &found.trait_ else {
            return false;
        };
        if head(of) != head(trait_) {
            return false;
        }
        let (Ty::Adt(of, _), Ty::Adt(path, _)) = (of, trait_) else {
            return true;
        };
        // The standard library's traits are known by several paths.
        let is_std = |path: &str| path.starts_with("std::");
        !found.exact_trait || of == path || is_std(of) && is_std(path)
    }

    /// The arguments of a trait of `ty`, with those that are left out because they are the usual ones.
    fn trait_arguments(&self, path: &str, written: &Ty, ty: &Ty) -> Vec<Ty> {
        let mut args = match written {
            Ty::Adt(_, args) => args.clone(),
            _ => Vec::new(),
        };
        let own = Rc::from("Self");
        if let Some(usual) = self.index.usual_of_traits.get(path) {
            let mut names: Vec<Rc<str>> = usual.iter().map(|(name, _)| name.clone()).collect();
            names.push(own);
            for at in args.len()..usual.len() {
                let Some(usual) = &usual[at].1 else { break };
                // It may name the parameters before it, and the type itself.
                let mut values = args.clone();
                values.resize(names.len() - 1, Ty::Never);
                values.push(ty.clone());
                args.push(crate::index::replaced(usual, &names, &values));
            }
        } else if args.is_empty() && is_operator(path) {
            args.push(ty.clone());
        }
        args
    }

    /// Whether the arguments of the trait that an impl is of fit those that are asked for.
    fn fits_trait(&self, found: &Impl, trait_: &Ty, ty: &Ty, bound: &mut Substitution) -> bool {
        let (Some(of), Ty::Adt(path, _)) = (&found.trait_, trait_) else {
            return true;
        };
        let pattern = self.trait_arguments(path, of, &found.self_ty);
        let actual = self.trait_arguments(path, trait_, ty);
        let mut pairs = pattern.iter().zip(&actual);
        pairs.all(|(p, a)| unify(p, a, &found.generics, bound))
    }

    fn associated_where(
        &self,
        ty: &Ty,
        is_meant: impl Fn(&Impl, &mut Substitution) -> bool,
        name: &str,
        args: &[Ty],
    ) -> Option<Ty> {
        // What is said for all types comes last.
        let (all, some): (Vec<&Impl>, Vec<&Impl>) =
            self.index.impls.iter().partition(|found| is_blanket(found));
        for found in some.into_iter().chain(all) {
            if found.trait_.is_none() || !found.types.contains_key(name) {
                continue;
            }
            let mut bound = Substitution::new();
            if self.is_for(found, ty)
                && unify(&found.self_ty, ty, &found.generics, &mut bound)
                && is_meant(found, &mut bound)
            {
                let (own, target) = found.types.get(name)?;
                bound.extend(own.iter().cloned().zip(args.iter().cloned()));
                bound.push((Rc::from("Self"), ty.clone()));
                return Some(self.substitute(target, &Rc::new(bound)));
            }
        }
        None
    }

    /// The function that drops values of this type.
    pub fn drop_impl(&self, ty: &Ty) -> Option<(usize, Substitution)> {
        let Ty::Adt(..) = ty else { return None };
        if let Some(found) = self.drops.borrow().get(ty) {
            return found.clone();
        }
        let found = self.look_for_drop_impl(ty);
        self.drops.borrow_mut().insert(ty.clone(), found.clone());
        found
    }

    fn look_for_drop_impl(&self, ty: &Ty) -> Option<(usize, Substitution)> {
        for found in &self.index.impls {
            if found.trait_.as_ref().is_none_or(|t| head(t) != "Drop") {
                continue;
            }
            let Some(number) = found.functions.get("drop") else {
                continue;
            };
            let mut bound = Substitution::new();
            if head(&found.self_ty) == head(ty)
                && self.is_for(found, ty)
                && unify(&found.self_ty, ty, &found.generics, &mut bound)
            {
                return Some((*number, bound));
            }
        }
        None
    }

    fn in_impl(
        &self,
        number: usize,
        found: &Impl,
        ty: &Ty,
        name: &str,
        args: &[Ty],
    ) -> Option<(usize, Substitution)> {
        let body = *found.functions.get(name)?;
        let mut bound = Substitution::new();
        if !self.is_for(found, ty) || !unify(&found.self_ty, ty, &found.generics, &mut bound) {
            return None;
        }
        let names = self.generics_of(number, name);
        bound.extend(names.into_iter().zip(args.iter().cloned()));
        bound.push((Rc::from("Self"), ty.clone()));
        Some((body, bound))
    }

    /// The body that a path stands for, if there is one.
    pub fn function(
        &self,
        path: &FnPath,
        state: &State,
        arguments: &[Val],
    ) -> Run<Option<(usize, Substitution)>> {
        // For these, it depends on the value that the function is called with.
        let depends = matches!(
            &path.qualified,
            Some((Ty::Dyn(_) | Ty::Projection(..), Some(_)))
        );
        if depends {
            return self.look_for_function(path, state, arguments);
        }
        if let Some(found) = self.functions.borrow().get(path) {
            return Ok(found.clone());
        }
        let found = self.look_for_function(path, state, arguments)?;
        self.functions
            .borrow_mut()
            .insert(path.clone(), found.clone());
        Ok(found)
    }

    fn look_for_function(
        &self,
        path: &FnPath,
        state: &State,
        arguments: &[Val],
    ) -> Run<Option<(usize, Substitution)>> {
        let Some((name, args)) = path.segments.last() else {
            return Ok(None);
        };
        if let Some((ty, trait_)) = &path.qualified {
            let Some(trait_) = trait_ else {
                return Ok(self.inherent(ty, name, args));
            };
            let found = self.of_trait(ty, trait_, name, args, state, arguments)?;
            // Numbers are ordered as their own functions do it.
            return Ok(match (ty, head(trait_)) {
                (Ty::Int(_), "Ord") if found.is_none() => {
                    let key = format!("std::prim::int_{name}");
                    let number = self.index.by_path.get(&key);
                    let names = self.index.generics.get(&key).cloned().unwrap_or_default();
                    let bound = names.into_iter().zip([ty.clone()]).collect();
                    number.map(|number| (*number, bound))
                }
                _ => found,
            });
        }
        Ok(self.of_path(path, name, args))
    }

    /// The body that a path without a trait stands for.
    fn of_path(&self, path: &FnPath, name: &str, args: &[Ty]) -> Option<(usize, Substitution)> {
        let plain = path.plain();
        if let Some(&number) = self.index.by_path.get(&plain) {
            let names = self.index.generics.get(&plain).cloned().unwrap_or_default();
            return Some((
                number,
                names.into_iter().zip(args.iter().cloned()).collect(),
            ));
        }
        let front = &path.segments[..path.segments.len() - 1];
        let (type_name, type_args) = front.last()?;
        if &**type_name == "<impl>" {
            let ty = type_args.first()?;
            let key = format!("std::prim::{}_{name}", primitive(ty));
            let number = *self.index.by_path.get(&key)?;
            let names = self.index.generics.get(&key).cloned().unwrap_or_default();
            let inner = match ty {
                Ty::Ptr(inner) | Ty::Slice(inner) | Ty::Array(inner, _) => (**inner).clone(),
                ty => ty.clone(),
            };
            let length = match ty {
                Ty::Array(_, length) => Some((**length).clone()),
                _ => None,
            };
            let values = std::iter::once(inner)
                .chain(length)
                .chain(args.iter().cloned());
            return Some((number, names.into_iter().zip(values).collect()));
        }
        let names: Vec<&str> = front.iter().map(|(name, _)| &**name).collect();
        let ty = Ty::Adt(Rc::from(names.join("::")), type_args.clone());
        self.inherent(&ty, name, args)
    }

    fn inherent(&self, ty: &Ty, name: &str, args: &[Ty]) -> Option<(usize, Substitution)> {
        let mut best = None;
        for (number, found) in self.index.impls.iter().enumerate() {
            if found.trait_.is_some() || head(&found.self_ty) != head(ty) {
                continue;
            }
            if let Some(target) = self.in_impl(number, found, ty, name, args) {
                // Of types with the same name, the one in the same module.
                let Ty::Adt(path, _) = ty else {
                    return Some(target);
                };
                let exact = path.rsplit_once("::").map_or("", |(front, _)| front) == found.module;
                if exact {
                    return Some(target);
                }
                best.get_or_insert(target);
            }
        }
        best
    }

    fn of_trait(
        &self,
        ty: &Ty,
        trait_: &Ty,
        name: &str,
        args: &[Ty],
        state: &State,
        arguments: &[Val],
    ) -> Run<Option<(usize, Substitution)>> {
        let mut general = None;
        let mut special: Option<(usize, Substitution)> = None;
        let mut loose: Option<(usize, Substitution)> = None;
        for (number, found) in self.index.impls.iter().enumerate() {
            if !self.is_of_trait(found, trait_) {
                continue;
            }
            let Some(mut target) = self.in_impl(number, found, ty, name, args) else {
                continue;
            };
            let place = match self.fits_trait(found, trait_, ty, &mut target.1) {
                true if is_blanket(found) => {
                    general.get_or_insert(target);
                    continue;
                }
                true => &mut special,
                // An argument that only a closure's type would tell says nothing against it.
                false
                    if matches!(trait_, Ty::Adt(_, args)
                        if args.iter().any(|a| !self.is_settled(a))) =>
                {
                    &mut loose
                }
                false => continue,
            };
            // The compiler accepts no two for one type: they are for types that are one here, such as `u64` and `usize`. The models and clients
            // are written so that the first will do, and so it does where both do the same.
            if let Some((body, _)) = place
                && *body != target.0
                && !["std", "palisade_client"]
                    .iter()
                    .any(|own| found.module.starts_with(own))
                && !self.index.bodies[*body].does_the_same(&self.index.bodies[target.0])
            {
                return Err(Need::Refuse(Refusal {
                    message: format!(
                        "which function {name} is meant: the trait {trait_} is implemented for several types that are the same here ({ty})"
                    ),
                    help: Some("`usize` and `u64`, `isize` and `i64`, `&T` and `&mut T` are one type here: call a function of another name".to_owned()),
                }));
            }
            place.get_or_insert(target);
        }
        if special.is_some() {
            return Ok(special);
        }
        if loose.is_some() {
            return Ok(loose);
        }
        // `dyn Trait` and types that are not known here: by what the first argument is.
        if matches!(ty, Ty::Dyn(_) | Ty::Projection(..))
            && let Some(actual) = arguments.first().and_then(|v| self.runtime_type(state, v))
            && actual != *ty
            && let Some(target) = self.of_trait(&actual, trait_, name, args, state, &[])?
        {
            return Ok(Some(target));
        }
        if let Some(target) = self.default_method(ty, trait_, name, args) {
            return Ok(general.or(Some(target)));
        }
        Ok(general)
    }

    /// Whether a type has no parts that are still to be found out.
    fn is_settled(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Projection(..) | Ty::Opaque(_) => false,
            Ty::Adt(name, args) if args.is_empty() && !name.contains("::") => {
                self.index.fields.contains_key(&**name) || self.index.enums.contains_key(&**name)
            }
            Ty::Adt(_, args) | Ty::Tuple(args) => args.iter().all(|a| self.is_settled(a)),
            Ty::Ref(ty) | Ty::Ptr(ty) | Ty::Slice(ty) | Ty::Array(ty, _) => self.is_settled(ty),
            _ => true,
        }
    }

    fn default_method(
        &self,
        ty: &Ty,
        trait_: &Ty,
        name: &str,
        args: &[Ty],
    ) -> Option<(usize, Substitution)> {
        let Ty::Adt(path, trait_args) = trait_ else {
            return None;
        };
        // Numbers, pointers and what is made of them are compared by the machine.
        if path.starts_with("std::cmp::") && !matches!(ty, Ty::Adt(..)) {
            return None;
        }
        let key = format!("{path}::{name}");
        let number = *self.index.by_path.get(&key)?;
        let mut bound: Substitution = vec![(Rc::from("Self"), ty.clone())];
        let of_trait = self
            .index
            .generics
            .get(&**path)
            .cloned()
            .unwrap_or_default();
        bound.extend(of_trait.into_iter().zip(trait_args.iter().cloned()));
        let own = self.index.generics.get(&key).cloned().unwrap_or_default();
        bound.extend(own.into_iter().zip(args.iter().cloned()));
        Some((number, bound))
    }

    /// The type of a value, or of what it points to.
    fn runtime_type(&self, state: &State, value: &Val) -> Option<Ty> {
        match value {
            Val::Agg(agg) => match (&agg.ty, agg.fields.first()) {
                (Ty::Adt(path, _), Some(inner)) if &**path == "std::boxed::Box" => {
                    self.runtime_type(state, inner)
                }
                (Ty::Adt(path, _), Some(inner))
                    if last(path) == "Unique" || last(path) == "NonNull" =>
                {
                    self.runtime_type(state, inner)
                }
                (ty, _) => Some(ty.clone()),
            },
            Val::Int(_, ty) | Val::Sym(_, ty) => Some(Ty::Int(*ty)),
            Val::Ptr(pointer) => match self.know.shape(&pointer.loc) {
                Some(
                    super::knowledge::Shape::Parts(ty, _)
                    | super::knowledge::Shape::Variants(ty, _),
                ) => Some(ty.clone()),
                _ => match self.own(state, &pointer.loc) {
                    Some(Val::Agg(agg)) if agg.ty != Ty::Never => Some(agg.ty.clone()),
                    _ if pointer.loc.path.is_empty() => {
                        self.types.get(&pointer.loc.object).cloned()
                    }
                    _ => None,
                },
            },
            _ => None,
        }
    }

    /// A call.
    pub fn call(
        &mut self,
        state: &mut State,
        place: &Place,
        callee: &Callee,
        operands: &[Operand],
        next: Option<usize>,
        span: &SourceSpan,
    ) -> Run<()> {
        let mut moved = Vec::new();
        let generic = self.code(state)?.arguments.clone();
        let mut arguments = Vec::with_capacity(operands.len());
        for operand in operands {
            arguments.push(self.operand(state, operand, &mut moved)?);
        }
        let target = self.place(state, place)?;
        let path = match callee {
            Callee::Path(path) => Rc::new(self.substitute_path(path, &generic)),
            Callee::Value(operand) => {
                let value = self.operand(state, operand, &mut moved)?;
                match value {
                    Val::Fn(path, _) => path,
                    value @ Val::Agg(_) => {
                        let ty = self.substitute(&target.ty, &generic);
                        return self.call_closure(
                            state, value, arguments, target.loc, &ty, next, moved, span,
                        );
                    }
                    _ => return refuse("a call of a function that is not known"),
                }
            }
        };
        let ty = self.substitute(&target.ty, &generic);
        self.call_path(state, &path, arguments, target.loc, &ty, next, moved, span)
    }

    /// Calls what a path stands for.
    #[allow(clippy::too_many_arguments)]
    pub fn call_path(
        &mut self,
        state: &mut State,
        path: &Rc<FnPath>,
        mut arguments: Vec<Val>,
        target: Loc,
        result: &Ty,
        next: Option<usize>,
        moved: Vec<Loc>,
        span: &SourceSpan,
    ) -> Run<()> {
        if let Some((_, Some(trait_))) = &path.qualified
            && matches!(head(trait_), "FnOnce" | "FnMut" | "Fn")
            && matches!(path.name(), "call_once" | "call_mut" | "call")
        {
            let Some(Val::Agg(tuple)) = arguments.pop() else {
                return refuse("a closure that is called without arguments");
            };
            let Some(closure) = arguments.pop() else {
                return refuse("a call without a closure");
            };
            return self.call_closure(
                state,
                closure,
                tuple.fields.clone(),
                target,
                result,
                next,
                moved,
                span,
            );
        }
        if let Some(value) = self.intrinsic(state, path, &arguments, result)? {
            self.finish_call(state, &target, value, next, moved)?;
            if let Some(loc) = self.pending_drop.take()
                && self.needs_drop(state, &loc)
            {
                let items = vec![super::state::DropItem::Value(loc)];
                state.frames.push(Rc::new(super::state::Frame::Drop(items)));
            }
            return Ok(());
        }
        // A system call takes any number of arguments; those of a futex behind the fourth say how long to wait.
        let mut path = path;
        let futex;
        if path.plain() == "std::libc::syscall" && arguments.len() >= 4 {
            arguments.truncate(4);
            futex = Rc::new(FnPath {
                qualified: None,
                segments: ["std", "libc", "futex"]
                    .map(|name| (Rc::from(name), Vec::new()))
                    .to_vec(),
            });
            path = &futex;
        }
        if let Some((number, generic)) = self.function(path, state, &arguments)? {
            if self.index.twice.contains(&self.index.bodies[number].path) {
                return Err(Need::Refuse(Refusal {
                    message: format!("several functions that are called {}", path.name()),
                    help: Some("give each of them a name of its own".to_owned()),
                }));
            }
            let depth = state.frames.len() - 1;
            self.push(
                state,
                number,
                Rc::new(generic),
                arguments,
                Some(target),
                span,
            )?;
            self.after_call(state, depth, next, moved);
            return Ok(());
        }
        // `into` is another type's `from`.
        if let Some((ty, Some(Ty::Adt(trait_, args)))) = &path.qualified
            && let ("Into" | "TryInto", Some(target_ty)) = (last(trait_), args.first())
        {
            let (trait_, name) = match last(trait_) {
                "Into" => ("std::convert::From", "from"),
                _ => ("std::convert::TryFrom", "try_from"),
            };
            let of = Ty::Adt(Rc::from(trait_), vec![ty.clone()]);
            let from = Rc::new(FnPath {
                qualified: Some((target_ty.clone(), Some(of))),
                segments: vec![(Rc::from(name), Vec::new())],
            });
            return self.call_path(state, &from, arguments, target, result, next, moved, span);
        }
        // References are compared as what they lead to is.
        if let Some((Ty::Ref(inner), Some(Ty::Adt(trait_, _)))) = &path.qualified
            && matches!(last(trait_), "PartialEq" | "PartialOrd" | "Ord")
            && matches!(**inner, Ty::Adt(..) | Ty::Ref(_))
            && let [Val::Ptr(left), Val::Ptr(right)] = arguments.as_slice()
        {
            let (left, right) = (left.loc.clone(), right.loc.clone());
            let arguments = vec![self.read(state, &left)?, self.read(state, &right)?];
            let trait_ = Ty::Adt(trait_.clone(), vec![(**inner).clone()]);
            let of_inner = Rc::new(FnPath {
                qualified: Some(((**inner).clone(), Some(trait_))),
                segments: path.segments.clone(),
            });
            return self.call_path(
                state, &of_inner, arguments, target, result, next, moved, span,
            );
        }
        // A tuple struct or a variant as a function.
        let plain = path.plain();
        if self.index.fields.contains_key(&plain) {
            let value = self.aggregate(path, &[], arguments, None)?;
            return self.finish_call(state, &target, value, next, moved);
        }
        if let Some(value) = self.fallback(state, path, &arguments, result)? {
            return self.finish_call(state, &target, value, next, moved);
        }
        let shown = match &path.qualified {
            Some((ty, Some(trait_))) => format!("<{ty} as {trait_}>::{}", path.name()),
            _ => plain,
        };
        if ["std::pin::", "std::future::", "std::task::"]
            .iter()
            .any(|front| shown.contains(front))
        {
            return Err(Need::Refuse(Refusal {
                message: format!("async code is not followed: the function {shown} has no model"),
                help: Some("write a `fn main` or a `#[test]` that does with threads what the executor would do".to_owned()),
            }));
        }
        let of_crate = shown.trim_start_matches('<').split("::").next();
        let why = match of_crate.and_then(|name| self.index.unread.get(name)) {
            Some(why) => format!("is in a crate that could not be read: {why}"),
            None => "has no model".to_owned(),
        };
        Err(Need::Refuse(Refusal {
            message: format!("the function {shown} {why}"),
            help: Some("leave it out of what is checked, for example with #[cfg(not(palisade))], or write what it does here".to_owned()),
        }))
    }

    /// The result is known at once.
    pub fn finish_call(
        &mut self,
        state: &mut State,
        target: &Loc,
        value: Val,
        next: Option<usize>,
        moved: Vec<Loc>,
    ) -> Run<()> {
        self.write(state, target, value)?;
        let moved = moved.into_iter().filter(|loc| loc != target).collect();
        let depth = state.frames.len() - 1;
        self.after_call(state, depth, next, moved);
        Ok(())
    }

    fn after_call(
        &mut self,
        state: &mut State,
        depth: usize,
        next: Option<usize>,
        moved: Vec<Loc>,
    ) {
        let nowhere = Loc {
            object: u32::MAX,
            path: Vec::new(),
        };
        self.forget(state, moved, &nowhere);
        self.goto_at(state, depth, next.unwrap_or(u32::MAX as usize));
    }

    /// Calls a closure, or something else that can be called.
    #[allow(clippy::too_many_arguments)]
    pub fn call_closure(
        &mut self,
        state: &mut State,
        closure: Val,
        mut arguments: Vec<Val>,
        target: Loc,
        result: &Ty,
        next: Option<usize>,
        moved: Vec<Loc>,
        span: &SourceSpan,
    ) -> Run<()> {
        // References to closures, boxes of them and pointers to functions lead there.
        let mut by_reference = None;
        // A box that is called by value ends with the call, which is not followed: it is no leak.
        let boxed = matches!(&closure, Val::Agg(agg) if !matches!(agg.ty, Ty::Closure(..)));
        let mut callee = closure;
        for _ in 0..8 {
            match &callee {
                Val::Ptr(pointer) => {
                    let loc = pointer.loc.clone();
                    if boxed {
                        self.know.of_models.insert(loc.object);
                    }
                    let value = if self.know.is_shared(loc.object) {
                        match self.know.shape(&loc) {
                            Some(super::knowledge::Shape::Parts(ty @ Ty::Closure(..), count)) => {
                                Val::Agg(Rc::new(Agg {
                                    ty: ty.clone(),
                                    variant: None,
                                    fields: vec![Val::Uninit; *count],
                                }))
                            }
                            _ => self.read(state, &loc)?,
                        }
                    } else {
                        self.read(state, &loc)?
                    };
                    by_reference = Some(callee.clone());
                    callee = value;
                }
                Val::Agg(agg) if !matches!(agg.ty, Ty::Closure(..)) => match agg.fields.first() {
                    Some(inner) => callee = inner.clone(),
                    None => break,
                },
                _ => break,
            }
        }
        match &callee {
            Val::Fn(path, _) => {
                let path = path.clone();
                // What is made of something, or of nothing, says itself what it is.
                let made = match &path.qualified {
                    Some((ty, Some(trait_))) if matches!(head(trait_), "From" | "Default") => ty,
                    _ => result,
                };
                let result = &made.clone();
                self.call_path(state, &path, arguments, target, result, next, moved, span)
            }
            Val::Agg(agg) => {
                let Ty::Closure(place, generic) = &agg.ty else {
                    return refuse("a call of something that is no function");
                };
                let Some(&number) = self.index.closures.get(place) else {
                    return refuse(format!("the closure at {place} has no body"));
                };
                let generic = generic.clone();
                let takes_reference = matches!(self.index.bodies[number].locals[1].ty, Ty::Ref(_));
                let first = match (takes_reference, by_reference) {
                    (true, Some(pointer)) => pointer,
                    (true, None) => {
                        // The closure itself is called for the last time: it lives in the caller's frame.
                        let object = self.allocate_private(state, callee.clone())?;
                        Val::pointer(Loc {
                            object,
                            path: Vec::new(),
                        })
                    }
                    (false, Some(Val::Ptr(pointer))) => self.read(state, &pointer.loc)?,
                    (false, _) => callee.clone(),
                };
                arguments.insert(0, first);
                let depth = state.frames.len() - 1;
                self.push(state, number, generic, arguments, Some(target), span)?;
                self.after_call(state, depth, next, moved);
                Ok(())
            }
            Val::Uninit => Err(Need::Fail(
                "a function is called that was never set".to_owned(),
            )),
            _ => refuse("a call of something that is no function"),
        }
    }
}
