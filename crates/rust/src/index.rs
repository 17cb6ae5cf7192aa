//! What MIR does not say: which `impl` stands at a place, the names of generic parameters, the numbers of an enum's variants. It is read
//! from the source with `syn`.

use crate::mir::{Body, Ty, Unit, parse_type_text};
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
    /// Associated types.
    pub types: FxHashMap<Rc<str>, Ty>,
    /// The module it is in, for types of the same name.
    pub module: String,
}

/// An enum's variant: its name, its number in values, and its fields' names.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The name.
    pub name: Rc<str>,
    /// The number that stands for it.
    pub discriminant: i128,
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
    /// The names of structs' fields, and of the fields of variants (`Enum::Variant`).
    pub fields: FxHashMap<String, Vec<Rc<str>>>,
    /// Generic parameters of functions, by path.
    pub generics: FxHashMap<String, Vec<Rc<str>>>,
    /// Which allocation is which static.
    pub statics: FxHashMap<Rc<str>, Rc<str>>,
    /// Constants printed as one value.
    pub constants: FxHashMap<String, crate::mir::Constant>,
    /// Functions with the attribute `#[test]`, in the order of the text.
    pub tests: Vec<String>,
    /// Files that belong to the crate, with their texts.
    pub files: Vec<(PathBuf, Rc<str>)>,
    /// The module that each of the files is.
    pub modules: Vec<String>,
    impls_at: FxHashMap<(Rc<str>, u32, u32), usize>,
}

impl Index {
    /// Adds a crate: the files from its root, and its MIR. `prefix` is what its paths begin with.
    pub fn add(
        &mut self,
        root: &Path,
        text: &str,
        unit: Unit,
        prefix: &str,
    ) -> Result<(), Unreadable> {
        self.add_file(root, text, prefix.trim_end_matches("::"), 0)?;
        for (alloc, path) in unit.statics {
            self.statics
                .insert(Rc::from(format!("{prefix}{alloc}")), path);
        }
        self.constants.extend(unit.constants);
        self.twice.extend(unit.twice);
        for body in unit.bodies {
            self.add_body(body);
        }
        Ok(())
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

    /// The impl that a body belongs to.
    pub fn impl_of(&self, path: &str) -> Option<usize> {
        let segments = split_path(path);
        let place = segments.iter().find_map(|s| s.strip_prefix("<impl at "))?;
        self.impl_at(place.trim_end_matches('>'))
    }

    fn add_file(
        &mut self,
        path: &Path,
        text: &str,
        module: &str,
        depth: usize,
    ) -> Result<(), Unreadable> {
        let unreadable = |message: String| Unreadable {
            file: path.to_owned(),
            message,
        };
        let file = syn::parse_file(text).map_err(|e| {
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
        };
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
                    self.add_file(&candidate, &text, &name, depth + 1)?;
                    break;
                }
            }
        }
        Ok(())
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
        parse_type_text(&text, "").unwrap_or_else(|_| Ty::Opaque(Rc::from(text)))
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
                };
                self.add_impl(meta.path.span().start(), found);
                Ok(())
            });
        }
    }

    fn add_fields(&mut self, path: String, fields: &syn::Fields) {
        let names = fields
            .iter()
            .enumerate()
            .map(|(at, field)| match &field.ident {
                Some(ident) => Rc::from(ident.to_string()),
                None => Rc::from(at.to_string()),
            });
        self.index.fields.insert(path, names.collect());
    }

    /// Reads what is inside, with a longer path.
    fn inside(&mut self, name: &str, read: impl FnOnce(&mut Self)) {
        let path = self.path_to(name);
        let before = std::mem::replace(&mut self.module, path);
        read(self);
        self.module = before;
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let name = item.ident.to_string();
        if item.content.is_some() {
            self.inside(&name, |r| syn::visit::visit_item_mod(r, item));
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
        self.add_fields(self.path_to(&name), &item.fields);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        let name = item.ident.to_string();
        self.add_derives(&item.attrs, &name, &item.generics);
        let mut next = 0i128;
        let mut variants = Vec::new();
        for variant in &item.variants {
            if let Some((_, expr)) = &variant.discriminant {
                match number_of(expr) {
                    Some(number) => next = number,
                    None => self.trouble.push(format!(
                        "{}:{}: the number of the variant {} is computed; write it as a number",
                        expr.span().start().line,
                        expr.span().start().column + 1,
                        variant.ident
                    )),
                }
            }
            let ident = variant.ident.to_string();
            self.add_fields(self.path_to(&format!("{name}::{ident}")), &variant.fields);
            variants.push(Variant {
                name: Rc::from(ident),
                discriminant: next,
            });
            next += 1;
        }
        self.index.enums.insert(self.path_to(&name), variants);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let start = match &item.unsafety {
            Some(unsafety) => unsafety.span().start(),
            None => item.impl_token.span().start(),
        };
        let mut types = FxHashMap::default();
        for inner in &item.items {
            if let syn::ImplItem::Type(ty) = inner {
                types.insert(Rc::from(ty.ident.to_string()), self.ty_of(&ty.ty));
            }
        }
        let found = Impl {
            generics: generics_of(&item.generics),
            trait_: item.trait_.as_ref().map(|(_, path, _)| self.ty_of(path)),
            self_ty: self.ty_of(&item.self_ty),
            functions: FxHashMap::default(),
            types,
            module: self.module.clone(),
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
        self.inside(&name, |r| syn::visit::visit_item_trait(r, item));
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
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
        if item.attrs.iter().any(|a| a.path().is_ident("test")) {
            self.index.tests.push(path);
        }
        self.inside(&name, |r| syn::visit::visit_item_fn(r, item));
    }
}
