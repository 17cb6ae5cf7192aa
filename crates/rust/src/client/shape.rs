//! Types as a client sees them: how a value is made, and what can be done with one.

use super::api::{Api, Of, path_of};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A type with everything in it that a client has to know.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A parameter of the type that is asked about: a value that nothing looks into.
    Token,
    Unit,
    Bool,
    Number,
    Str,
    /// `Duration` or `Instant`.
    Time(&'static str),
    Option(Rc<Shape>),
    /// Of a `Result`, what it holds if all is well.
    Result(Rc<Shape>),
    /// `&` or `&mut`.
    Ref(bool, Rc<Shape>),
    Tuple(Vec<Shape>),
    /// `Box`, `Arc`, `Rc`, `Cell` and their like, by the function that makes them.
    Wrapped(&'static str, Rc<Shape>),
    /// A closure that takes these and returns that.
    Closure(Vec<Shape>, Rc<Shape>),
    /// A type of the crate.
    Local(Instance),
    /// Something else, as it is written.
    Other(String),
}

/// A type of the crate with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    pub adt: usize,
    pub arguments: Vec<(String, Shape)>,
}

/// What names stand for where a type is written.
pub struct Scope<'a> {
    pub api: &'a Api,
    pub parameters: FxHashMap<String, Shape>,
    pub self_: Option<Instance>,
    pub module: &'a str,
}

const DEEPEST: usize = 12;

impl Scope<'_> {
    pub fn shape(&self, ty: &syn::Type) -> Shape {
        self.shape_at(ty, 0)
    }

    fn shape_at(&self, ty: &syn::Type, depth: usize) -> Shape {
        let inner = |ty: &syn::Type| Rc::new(self.shape_at(ty, depth + 1));
        if depth > DEEPEST {
            return Shape::Other("a type that is too deep".to_owned());
        }
        match ty {
            syn::Type::Paren(ty) => self.shape_at(&ty.elem, depth + 1),
            syn::Type::Group(ty) => self.shape_at(&ty.elem, depth + 1),
            syn::Type::Reference(reference) => {
                Shape::Ref(reference.mutability.is_some(), inner(&reference.elem))
            }
            syn::Type::Tuple(tuple) if tuple.elems.is_empty() => Shape::Unit,
            syn::Type::Tuple(tuple) => {
                let each = tuple.elems.iter().map(|ty| self.shape_at(ty, depth + 1));
                Shape::Tuple(each.collect())
            }
            syn::Type::ImplTrait(of) => self
                .bounds(of.bounds.iter(), depth)
                .unwrap_or_else(|| Shape::Other("impl Trait".to_owned())),
            syn::Type::Path(path) => self.path(path, depth),
            syn::Type::Ptr(_) => Shape::Other("a raw pointer".to_owned()),
            syn::Type::Slice(_) => Shape::Other("a slice".to_owned()),
            syn::Type::Array(_) => Shape::Other("an array".to_owned()),
            syn::Type::TraitObject(_) => Shape::Other("a trait object".to_owned()),
            _ => Shape::Other("a type of another kind".to_owned()),
        }
    }

    fn path(&self, path: &syn::TypePath, depth: usize) -> Shape {
        let Some(last) = path.path.segments.last() else {
            return Shape::Other("nothing".to_owned());
        };
        let name = last.ident.to_string();
        let single = path.path.segments.len() == 1 && path.qself.is_none();
        if single {
            if let Some(known) = self.parameters.get(&name) {
                return known.clone();
            }
            if name == "Self" {
                return match &self.self_ {
                    Some(instance) => Shape::Local(instance.clone()),
                    None => Shape::Other(name),
                };
            }
        }
        let arguments: Vec<&syn::Type> = match &last.arguments {
            syn::PathArguments::AngleBracketed(list) => list
                .args
                .iter()
                .filter_map(|argument| match argument {
                    syn::GenericArgument::Type(ty) => Some(ty),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        };
        let first = || {
            Rc::new(match arguments.first() {
                Some(ty) => self.shape_at(ty, depth + 1),
                None => Shape::Unit,
            })
        };
        let names = path_of(&syn::Type::Path(path.clone())).unwrap_or_default();
        if let Some(adt) = self.api.find(&names, self.module) {
            let given = match &last.arguments {
                syn::PathArguments::AngleBracketed(list) => Some(list),
                _ => None,
            };
            return Shape::Local(self.instance(adt, given, depth));
        }
        if let Some(alias) = self.api.aliases.get(&name) {
            let parameters = alias.generics.type_params().map(|p| p.ident.to_string());
            let values = arguments.iter().map(|ty| self.shape_at(ty, depth + 1));
            let scope = Scope {
                api: self.api,
                parameters: parameters.zip(values).collect(),
                self_: None,
                module: self.module,
            };
            return scope.shape_at(&alias.ty, depth + 1);
        }
        match name.as_str() {
            "bool" => Shape::Bool,
            "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i16" | "i32" | "i64"
            | "i128" | "isize" | "char" => Shape::Number,
            "str" => Shape::Str,
            "Duration" => Shape::Time("std::time::Duration::from_millis(1)"),
            "Instant" => Shape::Time("std::time::Instant::now()"),
            "Option" => Shape::Option(first()),
            "Result" | "LockResult" | "TryLockResult" => Shape::Result(first()),
            "Box" => Shape::Wrapped("std::boxed::Box::new", first()),
            "Arc" => Shape::Wrapped("std::sync::Arc::new", first()),
            "Rc" => Shape::Wrapped("std::rc::Rc::new", first()),
            "Cell" => Shape::Wrapped("std::cell::Cell::new", first()),
            "PhantomData" => Shape::Unit,
            _ => Shape::Other(names.join("::")),
        }
    }

    /// A type of the crate with the arguments that are written.
    pub fn instance(
        &self,
        adt: usize,
        given: Option<&syn::AngleBracketedGenericArguments>,
        depth: usize,
    ) -> Instance {
        let given = given.map(|list| list.args.iter()).into_iter().flatten();
        let mut given = given.filter_map(|argument| match argument {
            syn::GenericArgument::Type(ty) => Some(self.shape_at(ty, depth + 1)),
            syn::GenericArgument::Const(_) => Some(Shape::Number),
            _ => None,
        });
        let mut arguments = Vec::new();
        for parameter in &self.api.types[adt].generics.params {
            let name = match parameter {
                syn::GenericParam::Type(ty) => ty.ident.to_string(),
                syn::GenericParam::Const(constant) => constant.ident.to_string(),
                syn::GenericParam::Lifetime(_) => continue,
            };
            let value = given.next();
            let unknown = || Shape::Other(name.clone());
            arguments.push((name.clone(), value.unwrap_or_else(unknown)));
        }
        Instance { adt, arguments }
    }

    /// What bounds make of a parameter: a closure, or what it can be made from.
    fn bounds<'b>(
        &self,
        bounds: impl Iterator<Item = &'b syn::TypeParamBound>,
        depth: usize,
    ) -> Option<Shape> {
        for bound in bounds {
            let syn::TypeParamBound::Trait(of) = bound else {
                continue;
            };
            let last = of.path.segments.last()?;
            match (last.ident.to_string().as_str(), &last.arguments) {
                ("Fn" | "FnMut" | "FnOnce", syn::PathArguments::Parenthesized(call)) => {
                    let takes = call.inputs.iter().map(|ty| self.shape_at(ty, depth + 1));
                    let gives = match &call.output {
                        syn::ReturnType::Default => Shape::Unit,
                        syn::ReturnType::Type(_, ty) => self.shape_at(ty, depth + 1),
                    };
                    return Some(Shape::Closure(takes.collect(), Rc::new(gives)));
                }
                ("Into" | "Borrow", syn::PathArguments::AngleBracketed(list)) => {
                    if let Some(syn::GenericArgument::Type(ty)) = list.args.first() {
                        return Some(self.shape_at(ty, depth + 1));
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Adds the parameters of a function, as far as their bounds say what they are.
    pub fn add(&mut self, generics: &syn::Generics) {
        // What a closure returns may be a parameter that nothing is known about.
        for parameter in generics.type_params() {
            let name = parameter.ident.to_string();
            self.parameters.entry(name).or_insert(Shape::Unit);
        }
        for parameter in generics.type_params() {
            if let Some(shape) = self.bounds(parameter.bounds.iter(), 0) {
                self.parameters.insert(parameter.ident.to_string(), shape);
            }
        }
        let predicates = generics.where_clause.iter().flat_map(|w| &w.predicates);
        for predicate in predicates {
            if let syn::WherePredicate::Type(predicate) = predicate
                && let Some([name]) = path_of(&predicate.bounded_ty).as_deref()
                && let Some(shape) = self.bounds(predicate.bounds.iter(), 0)
            {
                self.parameters.insert(name.clone(), shape);
            }
        }
    }
}

/// The scope inside an `impl`, for an instance of its type.
pub fn inside<'a>(api: &'a Api, of: &'a Of, instance: &Instance) -> Scope<'a> {
    let mut parameters = FxHashMap::default();
    let written = match &of.self_ty {
        syn::Type::Path(path) => path.path.segments.last(),
        _ => None,
    };
    let list = match written.map(|segment| &segment.arguments) {
        Some(syn::PathArguments::AngleBracketed(list)) => Some(list),
        _ => None,
    };
    match list {
        Some(list) => {
            let written = list.args.iter().filter_map(|argument| match argument {
                syn::GenericArgument::Type(ty) => Some(path_of(ty)),
                syn::GenericArgument::Const(_) => Some(None),
                _ => None,
            });
            for (names, (_, shape)) in written.zip(&instance.arguments) {
                if let Some([name]) = names.as_deref() {
                    parameters.insert(name.clone(), shape.clone());
                }
            }
        }
        None => parameters.extend(instance.arguments.iter().cloned()),
    }
    Scope {
        api,
        parameters,
        self_: Some(instance.clone()),
        module: &of.module,
    }
}

/// An expression that is any value of the type, or why there is none.
pub fn made(
    api: &Api,
    shape: &Shape,
    subject: Option<(&Instance, &str)>,
) -> Result<String, String> {
    let inner = |shape: &Shape| made(api, shape, subject);
    Ok(match shape {
        Shape::Token => "1".to_owned(),
        Shape::Unit => "()".to_owned(),
        Shape::Bool => "choose()".to_owned(),
        Shape::Number => super::text::NUMBER.to_owned(),
        Shape::Str => return Err("str".to_owned()),
        Shape::Time(text) => (*text).to_owned(),
        Shape::Option(shape) => format!("choose().then(|| {})", inner(shape)?),
        Shape::Result(shape) => format!("Ok({})", inner(shape)?),
        Shape::Ref(false, shape) if **shape == Shape::Str => "\"\"".to_owned(),
        Shape::Ref(false, shape) => match (&**shape, subject) {
            (Shape::Local(instance), Some((own, name))) if instance == own => name.to_owned(),
            _ => format!("&{}", inner(shape)?),
        },
        Shape::Ref(true, shape) => format!("&mut {}", inner(shape)?),
        Shape::Tuple(shapes) => {
            let each: Result<Vec<String>, String> = shapes.iter().map(inner).collect();
            format!("({},)", each?.join(", "))
        }
        Shape::Wrapped(function, shape) => format!("{function}({})", inner(shape)?),
        Shape::Closure(takes, gives) => {
            let names = vec!["_"; takes.len()];
            format!("|{}| {}", names.join(", "), inner(gives)?)
        }
        Shape::Local(instance) => {
            let adt = &api.types[instance.adt];
            if adt.variants.is_empty() {
                return Err(adt.name.clone());
            }
            let path = super::text::path_to(&adt.module, &adt.name);
            let last = adt.variants.len() - 1;
            let arms: Vec<String> = adt
                .variants
                .iter()
                .enumerate()
                .map(|(at, variant)| match at == last {
                    true => format!("_ => {path}::{variant}"),
                    false => format!("{at} => {path}::{variant}"),
                })
                .collect();
            format!("match pick({}) {{ {} }}", arms.len(), arms.join(", "))
        }
        Shape::Other(text) => return Err(text.clone()),
    })
}
