//! What MIR does not say: which `impl` stands at a place, the names of generic parameters, the numbers of an enum's variants. It is read
//! from the source with `syn`.

use crate::cfg::Cfg;
use crate::mir::{Body, Names, Ty, Unit, parse_type_text};
use crate::scope::{Scopes, Usual};
use proc_macro2::LineColumn;
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use syn::spanned::Spanned;
use syn::visit::Visit;

/// An `impl`, or a derived one.
#[derive(Debug)]
pub struct Impl {
    /// Its type parameters and constants.
    pub generics: Vec<Rc<str>>,
    /// The trait, if it is one of a trait.
    pub trait_: Option<Ty>,
    /// The type.
    pub self_ty: Ty,
    /// The functions in it, as numbers of bodies.
    pub functions: FxHashMap<Rc<str>, usize>,
    /// Associated types, with their own parameters.
    pub types: FxHashMap<Rc<str>, (Vec<Rc<str>>, Ty)>,
    /// The module it is in, for types of the same name.
    pub module: String,
    /// Whether it is known which type its name means.
    pub exact: bool,
    /// The same of the trait's name.
    pub exact_trait: bool,
}

/// What `#[repr(…)]` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr {
    /// `C`: the fields are in the order in which they are written.
    pub c: bool,
    /// `packed`: no field has a larger alignment.
    pub packed: Option<usize>,
    /// The bytes of the integer type that an enum's numbers have.
    pub int: Option<usize>,
    /// `align`: 1 where it is not said.
    pub align: usize,
}

impl Default for Repr {
    fn default() -> Repr {
        Repr {
            c: false,
            packed: None,
            int: None,
            align: 1,
        }
    }
}

/// The fields of a struct, a union or a variant.
#[derive(Clone, Debug)]
pub struct Struct {
    /// The parameters.
    pub generics: Vec<Rc<str>>,
    /// The types of the fields.
    pub fields: Vec<Ty>,
    /// How it lies in memory.
    pub repr: Repr,
    /// The module it is in, until it is found out what names mean there.
    module: Option<String>,
}

/// An enum's variant: its name, its number in values, and its fields' names.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The name.
    pub name: Rc<str>,
    /// The number that stands for it.
    pub discriminant: i128,
    /// Whether the number is written, and not one more than the one before it.
    given: bool,
}

/// A text that `syn` could not read.
#[derive(Debug)]
pub struct Unreadable {
    /// The file.
    pub file: PathBuf,
    /// What `syn` says.
    pub message: String,
}

/// Everything by its name. Several crates can be added.
#[derive(Default, Debug)]
pub struct Index {
    /// All bodies.
    pub bodies: Vec<Rc<Body>>,
    /// Bodies by their paths, with `[n]` for promoted constants.
    pub by_path: FxHashMap<String, usize>,
    /// All impls.
    pub impls: Vec<Impl>,
    /// Closures' bodies by their places, and by the function that they are in and their places: a macro makes several closures at one place.
    pub closures: FxHashMap<Rc<str>, usize>,
    /// Places of several closures; with the function, where even that is not enough.
    pub ambiguous: FxHashSet<Rc<str>>,
    /// Paths of several bodies.
    pub twice: FxHashSet<String>,
    /// The variants of enums, by path.
    pub enums: FxHashMap<String, Vec<Variant>>,
    /// Numbers of variants that are computed: the enum, the variant's place in it, and where that is written.
    computed: Vec<(String, usize, String)>,
    /// The names of structs' fields, and of the fields of variants (`Enum::Variant`).
    pub fields: FxHashMap<String, Vec<Rc<str>>>,
    /// How many fields of a union hold anything, by path.
    pub unions: FxHashMap<String, usize>,
    /// Generic parameters of functions, by path.
    pub generics: FxHashMap<String, Vec<Rc<str>>>,
    /// Which allocation is which static.
    pub statics: FxHashMap<Rc<str>, Rc<str>>,
    /// Constants printed as one value.
    pub constants: FxHashMap<String, crate::mir::Constant>,
    /// Functions with the attribute `#[test]`, in the order of the text.
    pub tests: Vec<String>,
    /// Those of them that have to panic (`#[should_panic]`).
    pub panicking: Vec<String>,
    /// Files that belong to the crate, with their texts.
    pub files: Vec<(PathBuf, Rc<str>)>,
    /// The module that each of the files is.
    pub modules: Vec<String>,
    /// What names mean in each module.
    pub scopes: Scopes,
    /// Crates that could not be read, and why.
    pub unread: FxHashMap<String, String>,
    /// The parameters of structs, the types of their fields, and how they lie in memory.
    pub structs: FxHashMap<String, Struct>,
    /// The same of the variants of enums.
    pub variants: FxHashMap<String, Vec<Struct>>,
    /// The same of unions.
    pub union_fields: FxHashMap<String, Struct>,
    /// The usual arguments of traits. They may name `Self`, so that they are put in only where the type is known.
    pub usual_of_traits: FxHashMap<String, Vec<Usual>>,
    /// The usual arguments of types and traits whose names are not found out yet.
    usual: Vec<(String, Vec<Usual>)>,
    /// Which of them are traits'.
    traits: FxHashSet<String>,
    /// Other names of types, with their parameters.
    aliases: FxHashMap<String, (Vec<Rc<str>>, Ty)>,
    impls_at: FxHashMap<(Rc<str>, u32, u32), usize>,
}

impl Index {
    /// Reads the files of a crate from its root. `home` is its name, `others` are the names that it has for other crates.
    pub fn read(
        &mut self,
        root: &Path,
        text: &str,
        home: &str,
        cfg: &Cfg,
        others: FxHashMap<String, String>,
    ) -> Result<(), Unreadable> {
        self.scopes.crates.insert(home.to_owned(), others);
        let first = self.impls.len();
        self.add_file(root, text, home, cfg, 0)?;
        self.find_out(first);
        Ok(())
    }

    /// How a crate's text is to be read: what names mean in it. `prefix` is what its paths begin with.
    pub fn names<'a>(&'a self, prefix: &'a str) -> Names<'a> {
        Names {
            prefix,
            scopes: Some(&self.scopes),
        }
    }

    /// Whether this is the name of a crate, which stands first in paths.
    pub fn is_crate(&self, name: &str) -> bool {
        name == "std" || !name.is_empty() && self.scopes.crates.contains_key(name)
    }

    /// Adds the MIR of a crate whose files were read.
    pub fn add(&mut self, unit: Unit) {
        self.statics.extend(unit.statics);
        self.constants.extend(unit.constants);
        // Which of several constants of one name is meant is not said.
        for path in &unit.twice {
            self.constants.remove(path);
        }
        self.twice.extend(unit.twice);
        for body in unit.bodies {
            self.add_body(body);
        }
    }

    /// Finds out what the names in impls mean, from this one on, and in the usual arguments of types.
    fn find_out(&mut self, first: usize) {
        for (path, usual) in std::mem::take(&mut self.usual) {
            let module = path.rsplit_once("::").map_or("", |(front, _)| front);
            let names: Vec<Rc<str>> = usual.iter().map(|(name, _)| name.clone()).collect();
            let meant = usual.iter().map(|(name, ty)| {
                let ty = ty.as_ref();
                let ty = ty.map(|ty| self.meant(module, ty, &names, &mut true, 0));
                (name.clone(), ty)
            });
            let meant = meant.collect();
            match self.traits.contains(&path) {
                true => self.usual_of_traits.insert(path, meant),
                false => self.scopes.defaults.insert(path, meant),
            };
        }
        let mut structs = std::mem::take(&mut self.structs);
        let mut variants = std::mem::take(&mut self.variants);
        let mut unions = std::mem::take(&mut self.union_fields);
        let all = structs.values_mut().chain(unions.values_mut());
        for found in all.chain(variants.values_mut().flatten()) {
            if let Some(module) = found.module.take() {
                let meant = |ty| self.meant(&module, ty, &found.generics, &mut true, 0);
                found.fields = found.fields.iter().map(meant).collect();
            }
        }
        self.structs = structs;
        self.variants = variants;
        self.union_fields = unions;
        let mut impls = std::mem::take(&mut self.impls);
        for found in &mut impls[first..] {
            let module = found.module.clone();
            let mut exact = true;
            let ty = self.meant(&module, &found.self_ty, &found.generics, &mut exact, 0);
            if matches!((&found.self_ty, &ty), (Ty::Adt(name, _), Ty::Adt(..))
                if !found.generics.contains(name))
            {
                found.exact = exact;
            }
            found.self_ty = ty;
            let types = found.types.iter().map(|(name, (own, ty))| {
                let all: Vec<Rc<str>> = found.generics.iter().chain(own).cloned().collect();
                let ty = self.meant(&module, ty, &all, &mut true, 0);
                (name.clone(), (own.clone(), ty))
            });
            found.types = types.collect();
            if let Some(trait_) = &found.trait_ {
                let mut exact = true;
                let trait_ = self.meant(&module, trait_, &found.generics, &mut exact, 0);
                found.trait_ = Some(trait_);
                found.exact_trait = exact;
            }
        }
        self.impls = impls;
    }

    /// A type that is written in a module, with the names of definitions.
    fn meant(
        &self,
        module: &str,
        ty: &Ty,
        generics: &[Rc<str>],
        exact: &mut bool,
        depth: usize,
    ) -> Ty {
        let of = |ty: &Ty| self.meant(module, ty, generics, &mut true, depth);
        match ty {
            Ty::Adt(name, args) if args.is_empty() && generics.contains(name) => ty.clone(),
            Ty::Adt(name, _) if &**name == "Self" || name.starts_with("Self::") => ty.clone(),
            Ty::Adt(name, args) => {
                let mut args: Vec<Ty> = args.iter().map(of).collect();
                let Some(path) = self.scopes.definition(module, name) else {
                    *exact = false;
                    return Ty::Adt(name.clone(), args);
                };
                match self.aliases.get(&path) {
                    Some((parameters, target)) if depth < 10 => {
                        let front = path.rsplit_once("::").map_or("", |(front, _)| front);
                        let target = self.meant(front, target, parameters, exact, depth + 1);
                        replaced(&target, parameters, &args)
                    }
                    _ => {
                        self.scopes.complete(&path, &mut args);
                        Ty::Adt(Rc::from(path), args)
                    }
                }
            }
            Ty::Tuple(tys) => Ty::Tuple(tys.iter().map(of).collect()),
            // The length may be the name of a constant.
            Ty::Array(ty, length) => Ty::Array(Rc::new(of(ty)), Rc::new(of(length))),
            Ty::Slice(ty) => Ty::Slice(Rc::new(of(ty))),
            Ty::Ref(ty) => Ty::Ref(Rc::new(of(ty))),
            Ty::Ptr(ty) => Ty::Ptr(Rc::new(of(ty))),
            Ty::Projection(ty, trait_, name, args) => Ty::Projection(
                Rc::new(of(ty)),
                Rc::new(of(trait_)),
                name.clone(),
                args.iter().map(of).collect(),
            ),
            other => other.clone(),
        }
    }

    /// Finds out the numbers of variants that are computed: `value` gives that of a constant, by its body.
    pub fn complete_enums(
        &mut self,
        value: impl Fn(&Index, usize) -> Option<i128>,
    ) -> Result<(), String> {
        let computed = std::mem::take(&mut self.computed);
        let mut failed = Vec::new();
        // One may be computed from another that comes behind it: until nothing changes.
        for round in 0..MAX_ROUNDS {
            let mut changed = false;
            failed.clear();
            for (path, at, place) in &computed {
                let known = self.enums.get(path).and_then(|variants| variants.get(*at));
                let Some((name, old)) = known.map(|v| (v.name.clone(), v.discriminant)) else {
                    continue;
                };
                let body = self.by_path.get(&format!("{path}::{name}::{{constant#0}}"));
                let number = body.and_then(|&body| value(self, body));
                match number.filter(|number| i32::try_from(*number).is_ok()) {
                    Some(number) if number == old && round > 0 => {}
                    Some(number) if round + 1 < MAX_ROUNDS => {
                        changed |= number != old;
                        self.give_number(path, *at, number);
                    }
                    _ => failed.push((path, place, name)),
                }
            }
            if !changed && round > 0 {
                break;
            }
        }
        for (path, place, name) in failed {
            if !self.is_crate(path.split("::").next().unwrap_or("")) {
                return Err(format!(
                    "{place}: the number of the variant {name} is computed; write it as a number"
                ));
            }
            // Of another crate: it is as if the enum were not known, where it is used at all.
            for variant in self.enums.remove(path).unwrap_or_default() {
                self.fields.remove(&format!("{path}::{}", variant.name));
            }
            self.variants.remove(path);
            self.enums.insert(path.clone(), Vec::new());
        }
        Ok(())
    }

    /// Gives a variant its number, and those behind it that have none of their own the next ones.
    fn give_number(&mut self, path: &str, at: usize, number: i128) {
        let variants = self.enums.get_mut(path).into_iter().flatten();
        let behind = variants.skip(at).enumerate();
        for (number, (far, variant)) in (number..).zip(behind) {
            if far > 0 && variant.given {
                break;
            }
            variant.discriminant = number;
        }
    }

    fn add_body(&mut self, body: Body) {
        let number = self.bodies.len();
        let segments: Vec<&str> = split_path(&body.path);
        if let [.., place, name] = segments.as_slice()
            && let Some(place) = place.strip_prefix("<impl at ")
            && let Some(at) = self.impl_at(place.trim_end_matches('>'))
        {
            self.impls[at].functions.insert(Rc::from(*name), number);
        }
        if body.path.ends_with('}') && body.arguments > 0 {
            let mut ty = &body.locals[1].ty;
            if let Ty::Ref(inner) = ty {
                ty = inner;
            }
            if let Ty::Closure(place, _) = ty {
                let parent = body.path.rsplit_once("::").map_or("", |(front, _)| front);
                for key in [place.clone(), closure_in(parent, place)] {
                    if self.closures.insert(key.clone(), number).is_some() {
                        self.ambiguous.insert(key);
                    }
                }
            }
        }
        self.by_path.insert(body.path.clone(), number);
        self.bodies.push(Rc::new(body));
    }

    fn impl_at(&self, place: &str) -> Option<usize> {
        // `a.rs:10:1: 10:20`
        let (head, _) = place.rsplit_once(": ")?;
        let (rest, column) = head.rsplit_once(':')?;
        let (file, line) = rest.rsplit_once(':')?;
        let key = (Rc::from(file), line.parse().ok()?, column.parse().ok()?);
        self.impls_at.get(&key).copied()
    }

    fn add_file(
        &mut self,
        path: &Path,
        text: &str,
        module: &str,
        cfg: &Cfg,
        depth: usize,
    ) -> Result<(), Unreadable> {
        let unreadable = |message: String| Unreadable {
            file: path.to_owned(),
            message,
        };
        let file = crate::syntax::parse_file(text).map_err(|e| {
            let at = e.span().start();
            unreadable(format!("{}:{}: {e}", at.line, at.column + 1))
        })?;
        self.files.push((path.to_owned(), Rc::from(text)));
        self.modules.push(module.to_owned());
        let mut reader = Reader {
            index: self,
            file: Rc::from(path.to_string_lossy().as_ref()),
            text,
            module: module.to_owned(),
            owner: None,
            modules: Vec::new(),
            trouble: Vec::new(),
            cfg,
        };
        reader.scope().real = true;
        reader.visit_file(&file);
        if let Some(trouble) = reader.trouble.pop() {
            return Err(unreadable(trouble));
        }
        let modules = reader.modules;
        if depth > 20 {
            return Err(unreadable("modules nest too deeply".to_owned()));
        }
        let directory = path.parent().unwrap_or(Path::new(""));
        let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or("");
        let own = directory.join(stem);
        let owner = depth == 0 || matches!(stem, "mod" | "lib" | "main");
        for (name, given) in modules {
            let base = if owner { directory } else { &own };
            let last = name.rsplit("::").next().unwrap_or(&name);
            let candidates = match given {
                Some(given) => vec![directory.join(given)],
                None => vec![
                    base.join(format!("{last}.rs")),
                    base.join(last).join("mod.rs"),
                ],
            };
            for candidate in candidates {
                if let Ok(text) = std::fs::read_to_string(&candidate) {
                    self.add_file(&candidate, &text, &name, cfg, depth + 1)?;
                    break;
                }
            }
        }
        Ok(())
    }
}

/// Numbers of variants that are computed from one another are known after so many rounds.
const MAX_ROUNDS: usize = 8;

/// A type with other types for its parameters.
pub fn replaced(ty: &Ty, parameters: &[Rc<str>], with: &[Ty]) -> Ty {
    let of = |ty: &Ty| replaced(ty, parameters, with);
    match ty {
        Ty::Adt(name, args) if args.is_empty() => {
            let at = parameters.iter().position(|p| p == name);
            let value = at.and_then(|at| with.get(at));
            value.unwrap_or(ty).clone()
        }
        Ty::Adt(name, args) => Ty::Adt(name.clone(), args.iter().map(of).collect()),
        Ty::Tuple(tys) => Ty::Tuple(tys.iter().map(of).collect()),
        Ty::Array(ty, length) => Ty::Array(Rc::new(of(ty)), Rc::new(of(length))),
        Ty::Slice(ty) => Ty::Slice(Rc::new(of(ty))),
        Ty::Ref(ty) => Ty::Ref(Rc::new(of(ty))),
        Ty::Ptr(ty) => Ty::Ptr(Rc::new(of(ty))),
        other => other.clone(),
    }
}

/// How a closure is called by its function and its place.
pub fn closure_in(function: &str, place: &str) -> Rc<str> {
    Rc::from(format!("{place}@{function}"))
}

/// The segments of a path, where `<impl at a.rs:1:1: 1:9>` is one.
pub fn split_path(path: &str) -> Vec<&str> {
    let mut segments = Vec::new();
    let mut depth = 0;
    let mut start = 0;
    let bytes = path.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'<' | b'{' => depth += 1,
            b'>' | b'}' => depth -= 1,
            b':' if depth == 0 && bytes.get(at + 1) == Some(&b':') => {
                segments.push(&path[start..at]);
                start = at + 2;
                at += 1;
            }
            _ => {}
        }
        at += 1;
    }
    segments.push(&path[start..]);
    segments
}

/// Reads one file.
struct Reader<'a> {
    index: &'a mut Index,
    file: Rc<str>,
    text: &'a str,
    /// The path of the module or function that is being read.
    module: String,
    /// The path of the type whose own functions are being read: what is defined inside them is called by it.
    owner: Option<String>,
    /// Modules in files of their own, with the path that an attribute gives.
    modules: Vec<(String, Option<String>)>,
    /// What cannot be read.
    trouble: Vec<String>,
    /// What is compiled.
    cfg: &'a Cfg,
}

fn generics_of(generics: &syn::Generics) -> Vec<Rc<str>> {
    let names = generics.params.iter().filter_map(|param| match param {
        syn::GenericParam::Type(ty) => Some(ty.ident.to_string()),
        syn::GenericParam::Const(constant) => Some(constant.ident.to_string()),
        syn::GenericParam::Lifetime(_) => None,
    });
    names.map(|name| Rc::from(name.as_str())).collect()
}

/// The value of a simple expression of numbers.
fn number_of(expr: &syn::Expr) -> Option<i128> {
    match expr {
        syn::Expr::Lit(lit) => match &lit.lit {
            syn::Lit::Int(int) => int.base10_parse().ok(),
            syn::Lit::Byte(byte) => Some(i128::from(byte.value())),
            _ => None,
        },
        syn::Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Neg(_)) => {
            number_of(&unary.expr)?.checked_neg()
        }
        syn::Expr::Paren(inner) => number_of(&inner.expr),
        syn::Expr::Binary(binary) => {
            let (left, right) = (number_of(&binary.left)?, number_of(&binary.right)?);
            match binary.op {
                syn::BinOp::Shl(_) if (0..64).contains(&right) => Some(left << right),
                syn::BinOp::BitOr(_) => Some(left | right),
                syn::BinOp::Add(_) => left.checked_add(right),
                syn::BinOp::Sub(_) => left.checked_sub(right),
                _ => None,
            }
        }
        _ => None,
    }
}

impl Reader<'_> {
    fn path_to(&self, name: &str) -> String {
        if self.module.is_empty() {
            name.to_owned()
        } else {
            format!("{}::{name}", self.module)
        }
    }

    /// The text of a piece, on one line.
    fn text_of(&self, piece: &impl Spanned) -> String {
        let range = piece.span().byte_range();
        let text = self.text.get(range).unwrap_or("");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn ty_of(&self, piece: &impl Spanned) -> Ty {
        let text = self.text_of(piece);
        parse_type_text(&text).unwrap_or_else(|_| Ty::Opaque(Rc::from(text)))
    }

    /// The usual arguments of a type, where it has some.
    fn add_usual(&mut self, name: &str, generics: &syn::Generics) {
        let usual: Vec<(Rc<str>, Option<Ty>)> = generics
            .params
            .iter()
            .filter_map(|param| match param {
                syn::GenericParam::Type(ty) => {
                    let usual = ty.default.as_ref().map(|d| self.ty_of(d));
                    Some((Rc::from(ty.ident.to_string()), usual))
                }
                syn::GenericParam::Const(constant) => {
                    let usual = constant.default.as_ref().and_then(number_of);
                    Some((Rc::from(constant.ident.to_string()), usual.map(Ty::Const)))
                }
                syn::GenericParam::Lifetime(_) => None,
            })
            .collect();
        if usual.iter().any(|(_, usual)| usual.is_some()) {
            let path = self.path_to(name);
            self.index.usual.push((path, usual));
        }
    }

    fn add_impl(&mut self, at: LineColumn, found: Impl) {
        let key = (self.file.clone(), at.line as u32, at.column as u32 + 1);
        self.index.impls_at.insert(key, self.index.impls.len());
        self.index.impls.push(found);
    }

    fn add_derives(&mut self, attributes: &[syn::Attribute], name: &str, generics: &syn::Generics) {
        let generics = generics_of(generics);
        let parameter = |name: &Rc<str>| Ty::Adt(name.clone(), Vec::new());
        let args: Vec<Ty> = generics.iter().map(parameter).collect();
        for attribute in attributes {
            if !attribute.path().is_ident("derive") {
                continue;
            }
            let _ = attribute.parse_nested_meta(|meta| {
                let trait_ = meta.path.segments.last().map(|s| s.ident.to_string());
                let found = Impl {
                    generics: generics.clone(),
                    trait_: trait_.map(|t| Ty::Adt(Rc::from(t), Vec::new())),
                    self_ty: Ty::Adt(Rc::from(name), args.clone()),
                    functions: FxHashMap::default(),
                    types: FxHashMap::default(),
                    module: self.module.clone(),
                    exact: false,
                    exact_trait: false,
                };
                self.add_impl(meta.path.span().start(), found);
                Ok(())
            });
        }
    }

    fn add_fields(&mut self, path: String, fields: &syn::Fields) {
        let names = fields
            .iter()
            .filter(|field| self.cfg.has(&field.attrs))
            .enumerate()
            .map(|(at, field)| match &field.ident {
                Some(ident) => Rc::from(ident.to_string()),
                None => Rc::from(at.to_string()),
            });
        self.index.fields.insert(path, names.collect());
    }

    fn struct_of(&self, fields: &syn::Fields, generics: &syn::Generics, repr: Repr) -> Struct {
        let fields = fields.iter().filter(|f| self.cfg.has(&f.attrs));
        Struct {
            generics: generics_of(generics),
            fields: fields.map(|field| self.ty_of(&field.ty)).collect(),
            repr,
            module: Some(self.module.clone()),
        }
    }

    /// Reads what is inside, with a longer path.
    fn inside(&mut self, name: &str, read: impl FnOnce(&mut Self)) {
        let path = self.path_to(name);
        let before = std::mem::replace(&mut self.module, path);
        read(self);
        self.module = before;
    }
}

/// What `#[repr(…)]` says.
fn repr_of(attributes: &[syn::Attribute]) -> Repr {
    let mut repr = Repr::default();
    for attribute in attributes.iter().filter(|a| a.path().is_ident("repr")) {
        let _ = attribute.parse_nested_meta(|meta| {
            let name = meta.path.get_ident().map(ToString::to_string);
            let name = name.as_deref().unwrap_or("");
            let mut number = None;
            if meta.input.peek(syn::token::Paren) {
                let inside;
                syn::parenthesized!(inside in meta.input);
                number = Some(inside.parse::<syn::LitInt>()?.base10_parse::<usize>()?);
            }
            match (name, number) {
                ("align", Some(number)) => repr.align = number.max(1),
                ("packed", number) => repr.packed = Some(number.unwrap_or(1).max(1)),
                ("C", _) => repr.c = true,
                _ => {
                    if let Ok(Ty::Int(int)) = parse_type_text(name) {
                        repr.int = Some(usize::from(int.bits).div_ceil(8));
                    }
                }
            }
            Ok(())
        });
    }
    repr
}

/// What is inside `{ … }` in a macro's tokens.
fn groups(tokens: proc_macro2::TokenStream) -> Vec<proc_macro2::TokenStream> {
    let groups = tokens.into_iter().filter_map(|token| match token {
        proc_macro2::TokenTree::Group(group)
            if group.delimiter() == proc_macro2::Delimiter::Brace =>
        {
            Some(group.stream())
        }
        _ => None,
    });
    groups.collect()
}

/// The attributes of an item.
fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(i) => &i.attrs,
        syn::Item::Enum(i) => &i.attrs,
        syn::Item::ExternCrate(i) => &i.attrs,
        syn::Item::Fn(i) => &i.attrs,
        syn::Item::ForeignMod(i) => &i.attrs,
        syn::Item::Impl(i) => &i.attrs,
        syn::Item::Macro(i) => &i.attrs,
        syn::Item::Mod(i) => &i.attrs,
        syn::Item::Static(i) => &i.attrs,
        syn::Item::Struct(i) => &i.attrs,
        syn::Item::Trait(i) => &i.attrs,
        syn::Item::TraitAlias(i) => &i.attrs,
        syn::Item::Type(i) => &i.attrs,
        syn::Item::Union(i) => &i.attrs,
        syn::Item::Use(i) => &i.attrs,
        _ => &[],
    }
}

impl Reader<'_> {
    /// The names of the module or function that is being read.
    fn scope(&mut self) -> &mut crate::scope::Module {
        let module = self.index.scopes.modules.entry(self.module.clone());
        module.or_default()
    }

    fn add_use(&mut self, way: &mut Vec<String>, tree: &syn::UseTree) {
        match tree {
            syn::UseTree::Path(path) => {
                way.push(path.ident.to_string());
                self.add_use(way, &path.tree);
                way.pop();
            }
            syn::UseTree::Name(name) => {
                let name = name.ident.to_string();
                match (name.as_str(), way.last().cloned()) {
                    ("self", Some(last)) if last != "::" => self.import(last, way.clone()),
                    _ => {
                        way.push(name.clone());
                        self.import(name, way.clone());
                        way.pop();
                    }
                }
            }
            syn::UseTree::Rename(rename) => {
                let own = rename.ident == "self";
                if !own {
                    way.push(rename.ident.to_string());
                }
                self.import(rename.rename.to_string(), way.clone());
                if !own {
                    way.pop();
                }
            }
            syn::UseTree::Glob(_) => {
                let way = way.clone();
                self.scope().globs.push(way);
            }
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.add_use(way, tree);
                }
            }
        }
    }

    fn import(&mut self, name: String, way: Vec<String>) {
        self.scope().uses.push((name, way));
    }

    /// `if #[cfg(a)] { … } else if #[cfg(b)] { … } else { … }`: what is compiled.
    fn chosen(&self, tokens: proc_macro2::TokenStream) -> Option<proc_macro2::TokenStream> {
        use proc_macro2::TokenTree;
        let mut tokens = tokens.into_iter();
        let mut holds = true;
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    let Some(TokenTree::Group(group)) = tokens.next() else {
                        return None;
                    };
                    let stream = group.stream();
                    let attribute: syn::Attribute = syn::parse_quote!(#[#stream]);
                    holds = self.cfg.has(&[attribute]);
                }
                TokenTree::Ident(word) if word == "else" => holds = true,
                TokenTree::Group(group) if holds => return Some(group.stream()),
                _ => {}
            }
        }
        None
    }

    /// Items in a macro's braces are read as if they stood there alone, where they can be.
    fn read_tokens(&mut self, tokens: proc_macro2::TokenStream, depth: usize) {
        if depth > 6 {
            return;
        }
        if let Ok(file) = syn::parse2::<syn::File>(tokens.clone())
            && !file.items.is_empty()
        {
            self.visit_file(&file);
            return;
        }
        for inside in groups(tokens) {
            self.read_tokens(inside, depth + 1);
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !self.cfg.has(attributes(item)) {
            return;
        }
        let name = match item {
            syn::Item::Const(i) => Some(&i.ident),
            syn::Item::Enum(i) => Some(&i.ident),
            syn::Item::Fn(i) => Some(&i.sig.ident),
            syn::Item::Static(i) => Some(&i.ident),
            syn::Item::Struct(i) => Some(&i.ident),
            syn::Item::Trait(i) => Some(&i.ident),
            syn::Item::Type(i) => Some(&i.ident),
            syn::Item::Union(i) => Some(&i.ident),
            _ => None,
        };
        if let Some(name) = name {
            self.scope().items.insert(name.to_string());
        }
        syn::visit::visit_item(self, item);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let mut way = Vec::new();
        // `use ::a::b` begins with a crate.
        if item.leading_colon.is_some() {
            way.push("::".to_owned());
        }
        self.add_use(&mut way, &item.tree);
    }

    fn visit_item_extern_crate(&mut self, item: &'ast syn::ItemExternCrate) {
        if let Some((_, name)) = &item.rename {
            self.import(name.to_string(), vec![item.ident.to_string()]);
        }
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        let path = self.path_to(&item.ident.to_string());
        let target = (generics_of(&item.generics), self.ty_of(&item.ty));
        self.index.aliases.insert(path, target);
    }

    fn visit_item_union(&mut self, item: &'ast syn::ItemUnion) {
        let name = item.ident.to_string();
        self.add_derives(&item.attrs, &name, &item.generics);
        self.add_usual(&name, &item.generics);
        let fields = syn::Fields::Named(item.fields.clone());
        let is_nothing = |ty: &syn::Type| matches!(ty, syn::Type::Tuple(t) if t.elems.is_empty());
        let holds = fields.iter().filter(|f| !is_nothing(&f.ty)).count();
        self.index.unions.insert(self.path_to(&name), holds);
        let found = self.struct_of(&fields, &item.generics, repr_of(&item.attrs));
        self.index.union_fields.insert(self.path_to(&name), found);
        self.add_fields(self.path_to(&name), &fields);
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        let name = item.mac.path.segments.last().map(|s| s.ident.to_string());
        let tokens = item.mac.tokens.clone();
        match name.as_deref() {
            Some("macro_rules") => {}
            Some("cfg_if") => {
                if let Some(tokens) = self.chosen(tokens) {
                    self.read_tokens(tokens, 0);
                }
            }
            _ => self.read_tokens(tokens, 0),
        }
    }

    fn visit_impl_item_macro(&mut self, item: &'ast syn::ImplItemMacro) {
        use syn::parse::{ParseStream, Parser};
        let items = |input: ParseStream<'_>| {
            syn::Attribute::parse_inner(input)?;
            let mut items = Vec::new();
            while !input.is_empty() {
                items.push(input.parse::<syn::ImplItem>()?);
            }
            Ok(items)
        };
        for item in items.parse2(item.mac.tokens.clone()).unwrap_or_default() {
            self.visit_impl_item(&item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let name = item.ident.to_string();
        if item.content.is_some() {
            self.inside(&name, |r| {
                r.scope().real = true;
                syn::visit::visit_item_mod(r, item);
            });
            return;
        }
        let mut given = None;
        for attribute in &item.attrs {
            if attribute.path().is_ident("path")
                && let syn::Meta::NameValue(pair) = &attribute.meta
                && let syn::Expr::Lit(syn::ExprLit {
                    lit: syn::Lit::Str(text),
                    ..
                }) = &pair.value
            {
                given = Some(text.value());
            }
        }
        let path = self.path_to(&name);
        self.modules.push((path, given));
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        let name = item.ident.to_string();
        self.add_derives(&item.attrs, &name, &item.generics);
        self.add_usual(&name, &item.generics);
        let repr = repr_of(&item.attrs);
        let found = self.struct_of(&item.fields, &item.generics, repr);
        self.index.structs.insert(self.path_to(&name), found);
        self.add_fields(self.path_to(&name), &item.fields);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        let name = item.ident.to_string();
        self.add_derives(&item.attrs, &name, &item.generics);
        self.add_usual(&name, &item.generics);
        let mut next = 0i128;
        let mut variants = Vec::new();
        let mut parts = Vec::new();
        let repr = repr_of(&item.attrs);
        for variant in item.variants.iter().filter(|v| self.cfg.has(&v.attrs)) {
            if let Some((_, expr)) = &variant.discriminant {
                match number_of(expr) {
                    Some(number) => next = number,
                    None => {
                        let start = expr.span().start();
                        let place = format!("{}:{}", start.line, start.column + 1);
                        let computed = (self.path_to(&name), variants.len(), place);
                        self.index.computed.push(computed);
                    }
                }
            }
            let ident = variant.ident.to_string();
            self.add_fields(self.path_to(&format!("{name}::{ident}")), &variant.fields);
            // What says which variant it is has 32 bits here.
            if i32::try_from(next).is_err() {
                self.trouble.push(format!(
                    "{}:{}: the number of the variant {ident} needs more than 32 bits",
                    variant.ident.span().start().line,
                    variant.ident.span().start().column + 1,
                ));
            }
            parts.push(self.struct_of(&variant.fields, &item.generics, repr));
            variants.push(Variant {
                name: Rc::from(ident),
                discriminant: next,
                given: variant.discriminant.is_some(),
            });
            next += 1;
        }
        self.index.enums.insert(self.path_to(&name), variants);
        self.index.variants.insert(self.path_to(&name), parts);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let start = match &item.unsafety {
            Some(unsafety) => unsafety.span().start(),
            None => item.impl_token.span().start(),
        };
        let mut types = FxHashMap::default();
        for inner in &item.items {
            if let syn::ImplItem::Type(ty) = inner
                && self.cfg.has(&ty.attrs)
            {
                let target = (generics_of(&ty.generics), self.ty_of(&ty.ty));
                types.insert(Rc::from(ty.ident.to_string()), target);
            }
        }
        let found = Impl {
            generics: generics_of(&item.generics),
            trait_: item.trait_.as_ref().map(|(_, path, _)| self.ty_of(path)),
            self_ty: self.ty_of(&item.self_ty),
            functions: FxHashMap::default(),
            types,
            module: self.module.clone(),
            exact: false,
            exact_trait: false,
        };
        let number = self.index.impls.len();
        let owner = match (&found.trait_, &found.self_ty) {
            (None, Ty::Adt(name, _)) => Some(self.path_to(name)),
            _ => None,
        };
        self.add_impl(start, found);
        let before = std::mem::replace(&mut self.owner, owner);
        self.inside(&format!("<impl {number}>"), |r| {
            syn::visit::visit_item_impl(r, item);
        });
        self.owner = before;
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !self.cfg.has(&item.attrs) {
            return;
        }
        let name = item.sig.ident.to_string();
        let path = self.path_to(&name);
        self.index
            .generics
            .insert(path, generics_of(&item.sig.generics));
        if let Some(owner) = self.owner.clone() {
            let before = std::mem::replace(&mut self.module, owner);
            self.inside(&name, |r| syn::visit::visit_impl_item_fn(r, item));
            self.module = before;
            return;
        }
        self.inside(&name, |r| syn::visit::visit_impl_item_fn(r, item));
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        let name = item.ident.to_string();
        self.index
            .generics
            .insert(self.path_to(&name), generics_of(&item.generics));
        self.index.traits.insert(self.path_to(&name));
        self.add_usual(&name, &item.generics);
        self.inside(&name, |r| syn::visit::visit_item_trait(r, item));
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if !self.cfg.has(&item.attrs) {
            return;
        }
        let name = item.sig.ident.to_string();
        let path = self.path_to(&name);
        self.index
            .generics
            .insert(path, generics_of(&item.sig.generics));
        self.inside(&name, |r| syn::visit::visit_trait_item_fn(r, item));
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let name = item.sig.ident.to_string();
        let path = self.path_to(&name);
        self.index
            .generics
            .insert(path.clone(), generics_of(&item.sig.generics));
        let has = |attribute: &str| item.attrs.iter().any(|a| a.path().is_ident(attribute));
        if has("test") {
            self.index.tests.push(path.clone());
            if has("should_panic") {
                self.index.panicking.push(path);
            }
        }
        self.inside(&name, |r| syn::visit::visit_item_fn(r, item));
    }
}
