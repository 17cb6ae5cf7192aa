//! What a crate offers: its types with their safe public functions, as the source writes them.

use rustc_hash::FxHashMap;
use std::path::Path;
use std::rc::Rc;
use syn::visit::Visit;

/// A struct or an enum.
pub struct Adt {
    pub name: String,
    /// The module that it is defined in, such as `sync::lock`; nothing for the root.
    pub module: String,
    pub generics: syn::Generics,
    /// The variants, if it is an enum and none of them has fields.
    pub variants: Vec<String>,
    pub functions: Vec<Function>,
    /// Traits that it implements, with the associated types; those without a meaning for clients are left out.
    pub traits: Vec<TraitImpl>,
}

/// An implementation of a trait.
pub struct TraitImpl {
    pub name: String,
    pub of: Rc<Of>,
    pub types: Vec<(String, syn::Type)>,
}

/// The `impl` that something is in.
pub struct Of {
    pub generics: syn::Generics,
    pub self_ty: syn::Type,
    pub module: String,
}

/// A function that can be named from outside.
pub struct Function {
    pub sig: syn::Signature,
    /// Nothing for functions of modules.
    pub of: Option<Rc<Of>>,
    pub module: String,
}

/// All of a crate.
#[derive(Default)]
pub struct Api {
    pub types: Vec<Adt>,
    /// Public functions of modules.
    pub functions: Vec<Function>,
    /// Type aliases by name.
    pub aliases: FxHashMap<String, syn::ItemType>,
}

impl Api {
    /// Reads the files of a crate, each with its module.
    pub fn read<'a>(files: impl Iterator<Item = (&'a Path, &'a str, &'a str)>) -> Api {
        let mut api = Api::default();
        let mut impls = Vec::new();
        for (_, text, module) in files {
            // What cannot be read is complained about by the compiler.
            let Ok(file) = crate::syntax::parse_file(text) else {
                continue;
            };
            let mut reader = Reader {
                api: &mut api,
                impls: &mut impls,
                module: module.to_owned(),
            };
            reader.visit_file(&file);
        }
        for (of, item) in impls {
            api.add_impl(&of, item);
        }
        api
    }

    /// The type of this name that is nearest to a module: defined there, further out, or anywhere.
    pub fn find(&self, path: &[String], from: &str) -> Option<usize> {
        let name = path.last()?;
        let front = path[..path.len() - 1].join("::");
        let front = front.strip_prefix("crate").unwrap_or(&front);
        let front = front.trim_start_matches("::");
        let fits = |at: &usize| {
            let adt = &self.types[*at];
            adt.name == *name
                && (matches!(front, "" | "self" | "super")
                    || adt.module == front
                    || adt.module.starts_with(&format!("{front}::"))
                    || adt.module.ends_with(&format!("::{front}")))
        };
        let all: Vec<usize> = (0..self.types.len()).filter(fits).collect();
        let distance = |at: &usize| match self.types[*at].module.as_str() {
            module if module == from => 0,
            module if from.starts_with(module) => 1,
            module if module.starts_with(from) => 2,
            _ => 3,
        };
        all.into_iter().min_by_key(distance)
    }

    fn add_impl(&mut self, of: &Rc<Of>, item: syn::ItemImpl) {
        let Some(path) = path_of(&of.self_ty) else {
            return;
        };
        let Some(number) = self.find(&path, &of.module) else {
            return;
        };
        let adt = &mut self.types[number];
        if let Some((negative, path, _)) = &item.trait_ {
            let Some(last) = path.segments.last() else {
                return;
            };
            if negative.is_some() {
                return;
            }
            let types = item.items.iter().filter_map(|inner| match inner {
                syn::ImplItem::Type(ty) => Some((ty.ident.to_string(), ty.ty.clone())),
                _ => None,
            });
            adt.traits.push(TraitImpl {
                name: last.ident.to_string(),
                of: of.clone(),
                types: types.collect(),
            });
            return;
        }
        for inner in item.items {
            if let syn::ImplItem::Fn(function) = inner
                && matches!(function.vis, syn::Visibility::Public(_))
                && !is_hidden(&function.attrs)
            {
                let name = &function.sig.ident;
                // The same function for another configuration.
                if adt.functions.iter().any(|f| f.sig.ident == *name) {
                    continue;
                }
                adt.functions.push(Function {
                    sig: function.sig,
                    of: Some(of.clone()),
                    module: of.module.clone(),
                });
            }
        }
    }
}

/// The names of a path type.
pub fn path_of(ty: &syn::Type) -> Option<Vec<String>> {
    match ty {
        syn::Type::Path(path) if path.qself.is_none() => Some(
            path.path
                .segments
                .iter()
                .map(|s| s.ident.to_string())
                .collect(),
        ),
        syn::Type::Paren(inner) => path_of(&inner.elem),
        syn::Type::Group(inner) => path_of(&inner.elem),
        _ => None,
    }
}

fn is_hidden(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || matches!(&attribute.meta, syn::Meta::List(list)
                if list.path.is_ident("cfg") && list.tokens.to_string() == "test")
    })
}

struct Reader<'a> {
    api: &'a mut Api,
    impls: &'a mut Vec<(Rc<Of>, syn::ItemImpl)>,
    module: String,
}

impl Reader<'_> {
    fn add(&mut self, name: String, generics: &syn::Generics, variants: Vec<String>) {
        self.api.types.push(Adt {
            name,
            module: self.module.clone(),
            generics: generics.clone(),
            variants,
            functions: Vec::new(),
            traits: Vec::new(),
        });
    }

    fn derives(&mut self, attributes: &[syn::Attribute], generics: &syn::Generics, name: &str) {
        let Ok(self_ty) = syn::parse_str(name) else {
            return;
        };
        let of = Rc::new(Of {
            generics: generics.clone(),
            self_ty,
            module: self.module.clone(),
        });
        let Some(adt) = self.api.types.last_mut() else {
            return;
        };
        for attribute in attributes {
            if attribute.path().is_ident("derive") {
                let _ = attribute.parse_nested_meta(|meta| {
                    if let Some(last) = meta.path.segments.last() {
                        adt.traits.push(TraitImpl {
                            name: last.ident.to_string(),
                            of: of.clone(),
                            types: Vec::new(),
                        });
                    }
                    Ok(())
                });
            }
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.content.is_none() || is_hidden(&item.attrs) {
            return;
        }
        let inner = match self.module.is_empty() {
            true => item.ident.to_string(),
            false => format!("{}::{}", self.module, item.ident),
        };
        let before = std::mem::replace(&mut self.module, inner);
        syn::visit::visit_item_mod(self, item);
        self.module = before;
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        let name = item.ident.to_string();
        self.add(name.clone(), &item.generics, Vec::new());
        self.derives(&item.attrs, &item.generics, &name);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        let plain = item.variants.iter().all(|v| v.fields.is_empty());
        let names = item.variants.iter().map(|v| v.ident.to_string());
        let variants = if plain { names.collect() } else { Vec::new() };
        let name = item.ident.to_string();
        self.add(name.clone(), &item.generics, variants);
        self.derives(&item.attrs, &item.generics, &name);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.api
            .aliases
            .insert(item.ident.to_string(), item.clone());
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let of = Rc::new(Of {
            generics: item.generics.clone(),
            self_ty: (*item.self_ty).clone(),
            module: self.module.clone(),
        });
        self.impls.push((of, item.clone()));
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if matches!(item.vis, syn::Visibility::Public(_)) && !is_hidden(&item.attrs) {
            self.api.functions.push(Function {
                sig: item.sig.clone(),
                of: None,
                module: self.module.clone(),
            });
        }
    }
}
