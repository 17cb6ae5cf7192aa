//! Which parts of a text are compiled: `#[cfg(…)]` by what the compiler is told and what it says of its target.

use crate::compile::Compiler;
use rustc_hash::FxHashSet;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use syn::punctuated::Punctuated;

/// What is set: names, and names with values.
#[derive(Clone, Debug, Default)]
pub struct Cfg {
    set: FxHashSet<(String, Option<String>)>,
}

type Line = (String, Option<String>);

fn line(text: &str) -> Line {
    match text.split_once('=') {
        Some((name, value)) => (
            name.trim().to_owned(),
            Some(value.trim().trim_matches('"').to_owned()),
        ),
        None => (text.trim().to_owned(), None),
    }
}

/// What the compiler sets for its target, which it is asked for once.
fn of_target(rustc: &PathBuf, target: Option<&str>) -> Vec<Line> {
    type Known = Vec<((PathBuf, Option<String>), Vec<Line>)>;
    static KNOWN: Mutex<Known> = Mutex::new(Vec::new());
    let key = (rustc.clone(), target.map(str::to_owned));
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, lines)) = known.iter().find(|(asked, _)| *asked == key) {
        return lines.clone();
    }
    let mut command = Command::new(rustc);
    command.args(["--print=cfg"]);
    command.args(target.iter().flat_map(|target| ["--target", target]));
    let output = command.output().map(|output| output.stdout);
    let text = String::from_utf8_lossy(&output.unwrap_or_default()).into_owned();
    let lines: Vec<Line> = text
        .lines()
        .map(line)
        .filter(|(name, _)| name != "debug_assertions")
        .collect();
    known.push((key, lines.clone()));
    lines
}

impl Cfg {
    /// What is set for a crate that is compiled like this.
    pub fn of(compiler: &Compiler) -> Cfg {
        let arguments = &compiler.arguments;
        let behind = |flag: &'static str| {
            let pairs = arguments.windows(2);
            let pairs = pairs.filter(move |pair| pair[0] == flag);
            pairs.map(|pair| pair[1].as_str())
        };
        let joined = arguments.iter().filter_map(|a| a.strip_prefix("--cfg="));
        let target = behind("--target").next();
        let mut set: FxHashSet<Line> = of_target(&compiler.rustc, target).into_iter().collect();
        set.extend(behind("--cfg").chain(joined).map(line));
        if compiler.test {
            set.insert(("test".to_owned(), None));
        }
        Cfg { set }
    }

    fn is_set(&self, meta: &syn::Meta) -> bool {
        let name = |path: &syn::Path| path.get_ident().map(ToString::to_string);
        match meta {
            syn::Meta::Path(path) => {
                let name = name(path).unwrap_or_default();
                name == "true" || self.set.contains(&(name, None))
            }
            syn::Meta::NameValue(pair) => match &pair.value {
                syn::Expr::Lit(syn::ExprLit {
                    lit: syn::Lit::Str(value),
                    ..
                }) => {
                    let name = name(&pair.path).unwrap_or_default();
                    self.set.contains(&(name, Some(value.value())))
                }
                _ => false,
            },
            syn::Meta::List(list) => {
                let inner =
                    list.parse_args_with(Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated);
                let Ok(inner) = inner else { return false };
                match name(&list.path).as_deref() {
                    Some("all") => inner.iter().all(|meta| self.is_set(meta)),
                    Some("any") => inner.iter().any(|meta| self.is_set(meta)),
                    Some("not") => !inner.iter().any(|meta| self.is_set(meta)),
                    _ => false,
                }
            }
        }
    }

    /// Whether what has these attributes is compiled.
    pub fn has(&self, attributes: &[syn::Attribute]) -> bool {
        attributes
            .iter()
            .filter(|attribute| attribute.path().is_ident("cfg"))
            .all(|attribute| match attribute.parse_args::<syn::Meta>() {
                Ok(meta) => self.is_set(&meta),
                // `#[cfg(false)]` is no path.
                Err(_) => attribute
                    .parse_args::<syn::LitBool>()
                    .is_ok_and(|literal| literal.value),
            })
    }
}
