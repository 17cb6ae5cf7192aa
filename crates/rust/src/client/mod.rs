//! The most general client of a type: threads that call its safe public functions in any order, as its signatures and auto traits allow.
//!
//! [`api`] reads what the crate offers, [`shape`] how values of its types are made, [`text`] writes a client in Rust. It is compiled as a module of the
//! user's crate, and what the compiler refuses is left out: the compiler alone says which types may be shared and sent. [`any`] turns the threads of the
//! program that comes of it into any number of copies.

mod any;
mod api;
pub mod linear;
mod mirror;
mod shape;
mod text;

use crate::compile::{self, CompileError, Compiler};
use crate::index::Index;
use crate::program::{self, Places};
use crate::run::build::Wanted;
use crate::{Loaded, NotLoaded, Options};
use api::Api;
use palisade_lang::{Diagnostic, Program, Source, Span};
use rustc_hash::FxHashMap;
use shape::{Instance, Scope, Shape};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use text::{By, Line, Root, Writer};

/// How many threads a client has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// This many.
    These(usize),
    /// Any number.
    Any,
}

/// Which client is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// The type, such as `SpinLock<T>`.
    pub ty: String,
    /// How many threads; two, and then any number, where nothing is said.
    pub threads: Option<Threads>,
    /// How many calls each thread makes at most; any number where nothing is said, if the memory for that is bounded.
    pub calls: Option<usize>,
    /// The sequential model by which some order of the calls has to explain what they return, where that is asked.
    pub linearizable: Option<String>,
}

/// Threads where nothing is said.
const THREADS: usize = 2;
/// Calls of a thread where any number needs memory without a bound.
const CALLS: usize = 2;
/// How often the compiler is asked again.
const MAX_ROUNDS: usize = 40;
/// The name of the client's module.
const MODULE: &str = "palisade_client";
/// The most threads that can be asked for.
const MOST_THREADS: usize = 8;

type Trouble = Vec<Diagnostic>;

fn trouble(message: impl Into<String>, help: &str) -> Trouble {
    vec![Diagnostic::error(Span::default(), message.into()).help(help)]
}

/// Reads a file as the client of one of its types.
pub fn load(
    path: &Path,
    source: &Source,
    options: &Options,
    client: &Client,
) -> Result<Loaded, NotLoaded> {
    let not = |diagnostics| NotLoaded {
        source: source.clone(),
        diagnostics,
    };
    let mut files = Index::default();
    let cfg = crate::cfg::Cfg::of(&options.compiler);
    files
        .read(path, source.text(), "", &cfg, FxHashMap::default())
        .map_err(|e| {
            let message = format!("{}: {}", e.file.display(), e.message);
            not(vec![Diagnostic::error(Span::default(), message)])
        })?;
    let api = Api::read(
        files
            .files
            .iter()
            .zip(&files.modules)
            .map(|((path, text), module)| (path.as_path(), &**text, module.as_str())),
    );
    let threads = match client.threads {
        Some(Threads::These(count)) if !(1..=MOST_THREADS).contains(&count) => {
            let message = format!("a client has 1 to {MOST_THREADS} threads, or any number");
            return Err(not(trouble(
                message,
                "say `--threads 2` or `--threads any`",
            )));
        }
        Some(Threads::These(count)) => count,
        _ => THREADS,
    };
    let asked = Asked::new(&api, &client.ty).map_err(not)?;
    let linear = match &client.linearizable {
        None => None,
        Some(model) => {
            let help = "`--linearizable` is explained in the book, under Rust";
            let model = linear::Model::of(model).map_err(|why| not(trouble(why, help)))?;
            if client.threads == Some(Threads::Any) {
                let message = "an order of all calls is looked for where their number is known";
                return Err(not(trouble(message, "say `--threads 2`")));
            }
            let calls = client.calls.unwrap_or(CALLS);
            Some(linear::Plan { model, calls })
        }
    };
    let mut session = Session {
        path,
        source,
        options,
        api: &api,
        asked: &asked,
        threads,
        any: client.threads == Some(Threads::Any),
        linear: linear.as_ref(),
    };
    let first = session.attempt(client.calls);
    // Where values live in memory that is allocated, only a number of calls can be followed.
    let mut again = None;
    let unbounded = client.calls.is_none() && linear.is_none();
    let met = match &first {
        Ok(made) => made.programs.iter().any(|(_, p)| !p.bounds.is_empty()),
        Err(not) => not.growing,
    };
    if unbounded && met {
        again = session.attempt(Some(CALLS)).ok();
    }
    let made = match (first, again) {
        (_, Some(made)) => made,
        (Ok(made), None) => made,
        (Err(not), None) => return Err(not.why),
    };
    Ok(session.loaded(made, client))
}

/// The type that is asked about.
struct Asked {
    instance: Instance,
    /// The ways to write its path, best first.
    paths: Vec<String>,
    arguments: String,
    notes: Vec<String>,
}

impl Asked {
    fn new(api: &Api, text: &str) -> Result<Asked, Trouble> {
        let unknown = |message: String| {
            let mut names: Vec<&str> = api.types.iter().map(|t| t.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            let help = match names.is_empty() {
                true => "the file defines no type".to_owned(),
                false => format!("the types here are {}", names.join(", ")),
            };
            trouble(message, &help)
        };
        let Ok(ty) = syn::parse_str::<syn::Type>(text) else {
            return Err(unknown(format!("`{text}` is no type")));
        };
        let names = api::path_of(&ty).unwrap_or_default();
        let Some(adt) = api.find(&names, "") else {
            return Err(unknown(format!("there is no type `{text}`")));
        };
        let given = match &ty {
            syn::Type::Path(path) => match path.path.segments.last().map(|s| &s.arguments) {
                Some(syn::PathArguments::AngleBracketed(list)) => Some(list),
                _ => None,
            },
            _ => None,
        };
        let scope = Scope {
            api,
            parameters: FxHashMap::default(),
            self_: None,
            module: "",
        };
        let mut given = given.map(|list| list.args.iter()).into_iter().flatten();
        let mut arguments = Vec::new();
        let mut written = Vec::new();
        let mut notes = Vec::new();
        let found = &api.types[adt];
        for parameter in &found.generics.params {
            match parameter {
                syn::GenericParam::Lifetime(_) => {}
                syn::GenericParam::Type(parameter) => {
                    let name = parameter.ident.to_string();
                    let value = given.by_ref().find_map(|argument| match argument {
                        syn::GenericArgument::Type(ty) => Some(ty),
                        _ => None,
                    });
                    let chosen = value.filter(|ty| !is_parameter(ty, &name));
                    if value.is_none() && parameter.default.is_some() {
                        arguments.push((name.clone(), Shape::Other(name)));
                        continue;
                    }
                    match chosen {
                        Some(ty) => {
                            arguments.push((name, scope.shape(ty)));
                            written.push(source_of(text, ty));
                        }
                        None => {
                            notes.push(format!(
                                "{name} is u8, of which nothing depends on the value"
                            ));
                            arguments.push((name, Shape::Token));
                            written.push("u8".to_owned());
                        }
                    }
                }
                syn::GenericParam::Const(parameter) => {
                    let name = parameter.ident.to_string();
                    let value = given.next().map(|argument| source_of(text, argument));
                    let value = value.filter(|value| *value != name);
                    if value.is_none() {
                        notes.push(format!("{name} is 2"));
                    }
                    arguments.push((name, Shape::Number));
                    written.push(value.unwrap_or_else(|| "2".to_owned()));
                }
            }
        }
        let mut module = found.module.as_str();
        let mut paths = vec![text::path_to(module, &found.name)];
        while let Some((outer, _)) = module.rsplit_once("::") {
            module = outer;
            paths.push(text::path_to(module, &found.name));
        }
        paths.push(text::path_to("", &found.name));
        paths.dedup();
        Ok(Asked {
            instance: Instance { adt, arguments },
            paths,
            arguments: match written.is_empty() {
                true => String::new(),
                false => format!("<{}>", written.join(", ")),
            },
            notes,
        })
    }
}

/// Whether an argument is only a name for "any type".
fn is_parameter(ty: &syn::Type, name: &str) -> bool {
    matches!(api::path_of(ty).as_deref(), Some([only]) if *only == name || only.len() == 1)
}

/// The text of a piece of what was parsed.
fn source_of(text: &str, piece: &impl syn::spanned::Spanned) -> String {
    let range = piece.span().byte_range();
    text.get(range).unwrap_or("_").to_owned()
}

struct Session<'a> {
    path: &'a Path,
    source: &'a Source,
    options: &'a Options,
    api: &'a Api,
    asked: &'a Asked,
    threads: usize,
    any: bool,
    linear: Option<&'a linear::Plan>,
}

/// A client that was compiled, with its programs.
struct Made {
    programs: Vec<(Root, Program)>,
    text: String,
    left_out: BTreeMap<String, String>,
    called: BTreeMap<String, By>,
    calls: Option<usize>,
}

struct NotMade {
    why: NotLoaded,
    /// Whether fewer calls could help.
    growing: bool,
}

impl Session<'_> {
    fn not(&self, diagnostics: Trouble) -> NotMade {
        NotMade {
            why: NotLoaded {
                source: self.source.clone(),
                diagnostics,
            },
            growing: false,
        }
    }

    fn attempt(&mut self, calls: Option<usize>) -> Result<Made, NotMade> {
        let mut compiler = self.options.compiler.clone();
        let crates = crate::models::crates(self.source.text(), &compiler);
        let (arguments, _crates) = crates.map_err(|e| self.not(e))?;
        compiler.arguments.extend(arguments);
        compiler.test = false;
        if !crate::has_main(self.source.text()) {
            compiler.arguments.push("--crate-type=lib".to_owned());
        }
        let mirror = mirror::Mirror::new(self.path, self.source.text(), MODULE);
        let mirror = mirror.map_err(|e| self.not(trouble(e, "set TMPDIR to another directory")))?;
        compiler.arguments.push(mirror.remap.clone());
        let mut writer = Writer {
            api: self.api,
            subject: self.asked.instance.clone(),
            subject_type: String::new(),
            threads: self.threads,
            calls,
            refused: FxHashMap::default(),
            left_out: BTreeMap::new(),
            called: BTreeMap::new(),
        };
        let mut refusal = None;
        for path in &self.asked.paths {
            writer.subject_type = format!("{path}{}", self.asked.arguments);
            match compiled(&mirror, &compiler, &mut writer, |w| (w.facts(), ())) {
                Ok(_) => {
                    refusal = None;
                    break;
                }
                Err(diagnostics) => refusal = refusal.or(Some(diagnostics)),
            }
            writer.refused.clear();
        }
        if let Some(diagnostics) = refusal {
            return Err(self.not(diagnostics));
        }
        let mut wrong = None;
        let found = compiled(&mirror, &compiler, &mut writer, |w| match self.linear {
            None => w.roots(),
            Some(plan) => plan.roots(w).unwrap_or_else(|why| {
                wrong = Some(why);
                Default::default()
            }),
        });
        if let Some((message, help)) = wrong {
            return Err(self.not(trouble(message, help)));
        }
        let (mir, roots) = found.map_err(|e| self.not(e))?;
        if roots.is_empty() {
            return Err(self.not(self.nothing_to_do(&mut writer)));
        }
        // In a crate without the standard library, the client has brought it along.
        let mir = mir.replace(&format!("{MODULE}::std::"), "std::");
        let index = crate::indexed(self.path, &mirror.root_text, &mir, &compiler)
            .map_err(|e| self.not(e))?;
        let (whole, names) = crate::whole_source(self.path, self.source, &index, &|file| {
            (file == mirror.client).then(|| format!("client of {}", self.asked_name()))
        });
        let mut programs = Vec::new();
        for root in roots {
            let Some(&body) = index.by_path.get(&format!("{MODULE}::{}", root.name)) else {
                continue;
            };
            let places = Places::new(&whole, &names);
            let wanted = Wanted {
                leaks: self.options.leaks,
                few_elements: self.options.few_elements,
                ..Wanted::default()
            };
            match crate::run::build::execute(&index, body, wanted) {
                Ok(execution) => {
                    let made = program::program(&execution, &whole, &places, &root.name);
                    programs.push((root, renamed(made)));
                }
                Err(found) => {
                    let span = places.innermost(&found.spans);
                    let mut diagnostic = Diagnostic::error(span, found.refusal.message);
                    diagnostic.help = found.refusal.help;
                    return Err(NotMade {
                        growing: diagnostic.message.contains("in every round"),
                        why: NotLoaded {
                            source: whole,
                            diagnostics: vec![diagnostic],
                        },
                    });
                }
            }
        }
        let text = std::fs::read_to_string(&mirror.client).unwrap_or_default();
        Ok(Made {
            programs,
            text,
            left_out: std::mem::take(&mut writer.left_out),
            called: std::mem::take(&mut writer.called),
            calls,
        })
    }

    fn asked_name(&self) -> String {
        let adt = &self.api.types[self.asked.instance.adt];
        format!("{}{}", adt.name, self.asked.arguments)
    }

    fn nothing_to_do(&self, writer: &mut Writer<'_>) -> Trouble {
        let name = self.asked_name();
        let adt = &self.api.types[self.asked.instance.adt];
        let message = match (writer.openings().is_empty(), self.linear) {
            (false, Some(plan)) => format!(
                "no threads can call functions of a {name} that {} has",
                plan.model.name()
            ),
            (true, _) => format!(
                "no client can make a {name}: it has no safe public function that returns one"
            ),
            (false, None) => format!(
                "no two threads can use a {name}: it is not Sync, or has nothing to call by reference, and it cannot be cloned and sent"
            ),
        };
        let mut reasons: Vec<String> = writer
            .left_out
            .iter()
            .map(|(what, why)| format!("{what}: {why}"))
            .collect();
        reasons.sort();
        let help = match reasons.is_empty() {
            true => "only functions that are `pub` and safe are called".to_owned(),
            false => reasons.join("; "),
        };
        let mut all = trouble(message, &help);
        all[0].span = definition(self.source, &adt.name);
        all
    }

    fn loaded(&self, made: Made, client: &Client) -> Loaded {
        let threads = self.threads;
        let mut notes = Vec::new();
        let kind = |by: By| {
            let names = made.called.iter().filter(move |(_, b)| **b == by);
            let names: Vec<&str> = names.map(|(name, _)| short(name)).collect();
            names
        };
        let per_thread = match made.calls {
            None => "any number of times".to_owned(),
            Some(most) => format!("at most {most} times each"),
        };
        let any = match (self.any, threads) {
            (true, _) => "any number of threads".to_owned(),
            (false, 1) => "one thread".to_owned(),
            (false, _) => format!("{threads} threads"),
        };
        let name = self.asked_name();
        let all = [By::Shared, By::Mut, By::Value].into_iter().flat_map(kind);
        let all = listed(&all.collect::<Vec<_>>());
        match self.linear {
            None => notes.push(format!(
                "the client of {name}: {any} that call {all} in any order, {per_thread}"
            )),
            Some(plan) => notes.extend(plan.notes(&name, &all, &made.text)),
        }
        if made.calls.is_some() && client.calls.is_none() {
            notes.push(
                "any number of calls would need memory without a bound: `--calls N` asks for more"
                    .to_owned(),
            );
        }
        let alone: Vec<&str> = kind(By::Mut).into_iter().chain(kind(By::Value)).collect();
        if !alone.is_empty() {
            notes.push(format!(
                "{}: called only by the thread that has the value, or before the threads start and after they have ended",
                listed(&alone)
            ));
        }
        if made.text.contains(text::NUMBER) {
            notes.push("numbers that are arguments are 0, 1 or 2".to_owned());
        }
        notes.extend(self.asked.notes.iter().cloned());
        if !made.left_out.is_empty() {
            let each = made.left_out.iter();
            let each: Vec<String> = each
                .map(|(what, why)| format!("{} ({why})", short(what)))
                .collect();
            notes.push(format!("not called: {}", each.join(", ")));
        }
        let wanted = (client.threads.is_none() || self.any) && self.linear.is_none();
        let free = made.programs.iter().filter(|(root, _)| root.free && wanted);
        let copies = free.map(|(root, program)| match root.shared {
            true => Some((root.name.clone(), any::any(program)?)),
            // Each copy would need a value of its own, made before it starts.
            false => None,
        });
        let also = copies
            .collect::<Option<Vec<_>>>()
            .filter(|all| !all.is_empty());
        let also = also.map(crate::together);
        let mut programs = Vec::new();
        for (root, mut program) in made.programs {
            if root.free {
                // Whoever leaks a guard has to wait for ever.
                program.nevers.clear();
            }
            programs.push((root.name, program));
        }
        let mut loaded = Loaded {
            programs,
            warnings: Vec::new(),
            notes,
            also: None,
            client: Some(made.text),
        };
        if self.any {
            match also {
                Some(program) => loaded.programs = vec![("client".to_owned(), program)],
                None => loaded.notes.push(format!(
                    "the threads are not all alike, or have memory of their own: the answer is for {threads} threads, not for any number"
                )),
            }
        } else {
            if wanted && also.is_none() {
                loaded.notes.push("for any number of threads it is not asked: the threads are not all alike, or have memory of their own".to_owned());
            }
            loaded.also = also;
        }
        loaded
    }
}

/// Without the type's name.
fn short(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

fn listed(names: &[&str]) -> String {
    match names {
        [] => "nothing".to_owned(),
        _ => names.join(", "),
    }
}

/// Threads of a client have numbers, not lines.
fn renamed(mut program: Program) -> Program {
    for (at, thread) in program.threads.iter_mut().enumerate().skip(1) {
        thread.name = format!("thread{at}");
    }
    program
}

/// Where a type is defined, for complaints about it.
fn definition(source: &Source, name: &str) -> Span {
    for word in ["struct ", "enum "] {
        let text = format!("{word}{name}");
        if let Some(at) = source.text().find(&text) {
            return Span::new(at + word.len(), at + text.len());
        }
    }
    Span::default()
}

/// Compiles what `write` gives, leaving out what the compiler refuses, until it accepts it.
fn compiled<T>(
    mirror: &mirror::Mirror,
    compiler: &Compiler,
    writer: &mut Writer<'_>,
    mut write: impl FnMut(&mut Writer<'_>) -> (Vec<Line>, T),
) -> Result<(String, T), Trouble> {
    for _ in 0..MAX_ROUNDS {
        let (lines, result) = write(writer);
        std::fs::write(&mirror.client, text::text(&lines))
            .map_err(|e| trouble(e.to_string(), "set TMPDIR to another directory"))?;
        let said = match compile::mir_of(&mirror.root, compiler) {
            Ok(mir) => return Ok((mir, result)),
            Err(CompileError::Refused(said)) => said,
            Err(_) => crate::mir_of(&mirror.root, compiler)
                .err()
                .map_or_else(String::new, |d| {
                    d.first().map_or_else(String::new, |d| d.message.clone())
                }),
        };
        let mut new = false;
        let mut other = None;
        for (number, message) in complaints(&said, &mirror.client) {
            let line = number.and_then(|number| lines.get(number - 1));
            match line.and_then(|line| line.key.as_ref()) {
                Some(key) => {
                    new |= writer
                        .refused
                        .insert(key.to_string(), message.clone())
                        .is_none();
                    if key.contains("::") && !key.contains(" is ") {
                        writer
                            .left_out
                            .insert(key.to_string(), format!("the compiler: {message}"));
                    }
                }
                None => {
                    other.get_or_insert(message);
                }
            }
        }
        if !new {
            let first = said.lines().find(|line| line.contains("error"));
            let message = other.or(first.map(str::to_owned)).unwrap_or(said);
            return Err(trouble(
                format!("the Rust compiler does not accept the client: {message}"),
                "cargo check shows whether it accepts the file without it",
            ));
        }
    }
    Err(trouble(
        "the client cannot be written",
        "please report this, with the file",
    ))
}

/// The lines of the client that the compiler complains about; no number for other files.
fn complaints(said: &str, client: &Path) -> Vec<(Option<usize>, String)> {
    let file = client.to_string_lossy();
    let mut found = Vec::new();
    for line in said.lines() {
        let Some((place, message)) = line.split_once(": error") else {
            continue;
        };
        let message = message
            .split_once(": ")
            .map_or(message, |(_, m)| m)
            .trim()
            .to_owned();
        let number = place
            .strip_prefix(&*file)
            .and_then(|rest| rest.trim_start_matches(':').split(':').next())
            .and_then(|number| number.parse().ok());
        found.push((number, message));
    }
    found
}

/// Where the client's own file is for the compiler.
pub fn client_file(directory: &Path) -> PathBuf {
    directory.join("client.rs")
}
