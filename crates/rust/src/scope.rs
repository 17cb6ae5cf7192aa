//! What a name means where it stands: the modules of all crates with what they define and what they import. The compiler prints the things of other crates
//! by the way on which they can be reached, and impls are written with the names of their module: both lead to one definition here.

use crate::mir::Ty;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// A module's own names.
#[derive(Debug, Default)]
pub struct Module {
    /// Whether it is a module, and not the body of a function, whose names end with it.
    pub real: bool,
    /// What is defined here: types, functions, constants, traits.
    pub items: FxHashSet<String>,
    /// `use a::b as c`: the name and the way.
    pub uses: Vec<(String, Vec<String>)>,
    /// `use a::*`
    pub globs: Vec<Vec<String>>,
}

/// What a way leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Found {
    Module(String),
    Item(String),
}

/// A parameter of a type, and what it usually is.
pub type Usual = (Rc<str>, Option<Ty>);

/// All modules by their paths; the crate that is asked about has no name in front.
#[derive(Debug, Default)]
pub struct Scopes {
    /// The modules.
    pub modules: FxHashMap<String, Module>,
    /// The values of types' parameters where none is written: the compiler leaves out what is the same.
    pub defaults: FxHashMap<String, Vec<Usual>>,
    /// Each crate by its name here, with the names that it has for others.
    pub crates: FxHashMap<String, FxHashMap<String, String>>,
}

/// No chain of imports is longer.
const MAX_CHAIN: usize = 40;

/// The names by which one crate is known to others, made one.
pub fn same_crate(first: &str) -> Option<&'static str> {
    match first {
        "std" | "core" | "alloc" | "loom" | "shuttle" => Some("std"),
        // A module of the models: its functions have names that the standard library could have.
        "atomic_wait" => Some("std::atomic_wait"),
        "crossbeam_utils" => Some("std::crossbeam_utils"),
        "libc" => Some("std::libc"),
        _ => None,
    }
}

/// What is imported everywhere, as far as impls are written for it.
fn prelude(name: &str) -> Option<&'static str> {
    Some(match name {
        "Option" => "std::option::Option",
        "Result" => "std::result::Result",
        "Vec" => "std::vec::Vec",
        "Box" => "std::boxed::Box",
        "String" => "std::string::String",
        _ => return None,
    })
}

fn join(front: &str, name: &str) -> String {
    match front.is_empty() {
        true => name.to_owned(),
        false => format!("{front}::{name}"),
    }
}

impl Scopes {
    /// Adds the arguments of a type that are left out because they are the usual ones.
    pub fn complete(&self, path: &str, args: &mut Vec<Ty>) {
        let Some(defaults) = self.defaults.get(path) else {
            return;
        };
        let names: Vec<Rc<str>> = defaults.iter().map(|(name, _)| name.clone()).collect();
        for (_, usual) in defaults.iter().skip(args.len()) {
            match usual {
                // It may name the parameters before it.
                Some(usual) => args.push(crate::index::replaced(usual, &names, args)),
                None => return,
            }
        }
    }

    /// The crate that a module is in.
    fn crate_of<'a>(&self, module: &'a str) -> &'a str {
        let first = module.split("::").next().unwrap_or("");
        match first == "std" || self.crates.contains_key(first) {
            true => first,
            false => "",
        }
    }

    /// What one word means in a module, seen from outside.
    fn member(&self, module: &str, name: &str, depth: usize) -> Option<Found> {
        if depth > MAX_CHAIN {
            return None;
        }
        let whole = join(module, name);
        let own = self.modules.get(module);
        if own.is_some_and(|own| own.items.contains(name)) {
            return Some(Found::Item(whole));
        }
        if self.modules.contains_key(&whole) {
            return Some(Found::Module(whole));
        }
        let own = own?;
        let imported = own.uses.iter().filter(|(known, _)| known == name);
        for (_, way) in imported {
            if let Some(found) = self.way(module, way, depth + 1) {
                return Some(found);
            }
        }
        own.globs.iter().find_map(|way| {
            let Found::Module(from) = self.way(module, way, depth + 1)? else {
                return None;
            };
            match from == module {
                true => None,
                false => self.member(&from, name, depth + 1),
            }
        })
    }

    /// What a way that is written in a module leads to.
    fn way(&self, module: &str, way: &[String], depth: usize) -> Option<Found> {
        if depth > MAX_CHAIN {
            return None;
        }
        let home = self.crate_of(module);
        let (first, mut rest) = way.split_first()?;
        let outer = |module: &str| {
            let outer = module.rsplit_once("::").map_or("", |(outer, _)| outer);
            outer.to_owned()
        };
        let mut found = match first.as_str() {
            "crate" | "$crate" => Found::Module(home.to_owned()),
            "self" => Found::Module(module.to_owned()),
            "super" => Found::Module(outer(module)),
            "::" => {
                let (name, more) = rest.split_first()?;
                rest = more;
                self.other_crate(home, name)
                    .or_else(|| self.member(home, name, depth + 1))?
            }
            first => {
                let begin = self.member(module, first, depth + 1);
                let begin = begin.or_else(|| self.other_crate(home, first));
                // The edition of 2015 begins at the crate.
                begin.or_else(|| match module == home {
                    true => None,
                    false => self.member(home, first, depth + 1),
                })?
            }
        };
        while let Some((next, more)) = rest.split_first() {
            found = match (found, next.as_str()) {
                (Found::Module(at), "super") => Found::Module(outer(&at)),
                (Found::Module(at), "self") => Found::Module(at),
                (Found::Module(at), next) if self.is_known(&at) => {
                    self.member(&at, next, depth + 1)?
                }
                // The models have not everything that the standard library has.
                (Found::Module(at) | Found::Item(at), next) => Found::Item(join(&at, next)),
            };
            rest = more;
        }
        Some(found)
    }

    fn is_known(&self, module: &str) -> bool {
        self.modules.contains_key(module) && self.crate_of(module) != "std"
    }

    fn other_crate(&self, home: &str, name: &str) -> Option<Found> {
        if let Some(name) = same_crate(name) {
            return Some(Found::Module(name.to_owned()));
        }
        let known = self.crates.get(home).and_then(|names| names.get(name));
        let known = known.or_else(|| self.crates.get_key_value(name).map(|(name, _)| name));
        known.map(|name| Found::Module(name.clone()))
    }

    /// The definition that the path of a type means in a module, where that can be found out.
    pub fn definition(&self, module: &str, path: &str) -> Option<String> {
        let way: Vec<String> = path.split("::").map(str::to_owned).collect();
        let mut at = module;
        loop {
            // A function's items are known inside it, and so is what its module knows.
            match self.way(at, &way, 0) {
                Some(Found::Item(path)) => return Some(path),
                Some(Found::Module(_)) => return None,
                None => {}
            }
            if at.is_empty() || self.modules.get(at).is_some_and(|module| module.real) {
                break;
            }
            at = at.rsplit_once("::").map_or("", |(outer, _)| outer);
        }
        match way.as_slice() {
            [name] => prelude(name).map(str::to_owned),
            _ => None,
        }
    }

    /// How many words of a path name its definition, and which: the path is as the compiler prints it for the crate `home`.
    pub fn printed(&self, home: &str, words: &[&str]) -> Option<(usize, String)> {
        let first = words.first()?;
        if same_crate(first).is_some() {
            return None;
        }
        // What is of the same crate is printed by its definition.
        let own = join(home, first);
        let root = self.modules.get(home);
        let module = self.modules.contains_key(&own) && self.crate_of(&own) == home;
        if module || root.is_some_and(|root| root.items.contains(*first)) {
            return None;
        }
        let Found::Module(mut at) = self.other_crate(home, first)? else {
            return None;
        };
        for (count, word) in words.iter().enumerate().skip(1) {
            match self.member(&at, word, 0) {
                Some(Found::Module(next)) => at = next,
                Some(Found::Item(item)) => return Some((count + 1, item)),
                None => return Some((count, at)),
            }
        }
        Some((words.len(), at))
    }
}
