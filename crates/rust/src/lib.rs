//! Rust as it stands: a Rust file becomes a [`palisade_lang::Program`] by way of the MIR that the user's own compiler makes of it.
//!
//! The way: [`compile`] runs the compiler, [`mir`] reads its text, [`index`] adds what only the source says, [`run`] executes every thread from
//! the root, computing what is known and making an instruction of everything that only a run can know, and [`program`] gives the result
//! the user's names and places. The standard library is a small crate of models (`models`), executed like the user's code.

mod cfg;
pub mod client;
pub mod compile;
mod crates;
pub mod index;
pub mod mir;
mod models;
pub mod program;
pub mod run;
pub mod scope;
mod statements;
mod syntax;
mod together;

use compile::{CompileError, Compiler};
use index::Index;
use palisade_lang::{Diagnostic, LineColumn, Program, Source, Span};
use program::Places;
use run::build::{Execution, Merging, Wanted};
use std::path::{Path, PathBuf};
pub use together::together;

/// What the caller wants of a file.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How the compiler is called.
    pub compiler: Compiler,
    /// Only this test; all functions with `#[test]` otherwise.
    pub test: Option<String>,
    /// The client of a type instead of what the file begins with.
    pub client: Option<client::Client>,
    /// Whether memory that is never freed is an error.
    pub leaks: bool,
    /// Whether vectors that threads share and channels have room for a few elements only. That makes far fewer control points; a run that needs more
    /// meets a limit ([`is_too_few`]).
    pub few_elements: bool,
}

/// Whether this limit is one that a run meets only because of [`Options::few_elements`].
pub fn is_too_few(limit: &str) -> bool {
    let limits = [
        "a Vec with more than 4 elements that several threads share",
        "a channel with more than 4 messages",
    ];
    limits.iter().any(|of_few| limit.contains(of_few))
}

/// Why a file could not be read.
#[derive(Clone, Debug)]
pub struct NotLoaded {
    /// The text, with all files that belong to it.
    pub source: Source,
    /// What is wrong.
    pub diagnostics: Vec<Diagnostic>,
}

/// A program for each root of a file.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The root's name and its program.
    pub programs: Vec<(String, Program)>,
    /// What should be said all the same.
    pub warnings: Vec<Diagnostic>,
    /// What has to be said with every answer.
    pub notes: Vec<String>,
    /// The same with any number of threads, where that is a question of its own.
    pub also: Option<Program>,
    /// The text of the client, if one was made.
    pub client: Option<String>,
}

/// Reads the Rust file `path`, whose text is `source`.
pub fn load(path: &Path, source: &Source, options: &Options) -> Result<Loaded, NotLoaded> {
    if let Some(client) = &options.client {
        return client::load(path, source, options, client);
    }
    load_merging(path, source, options, Merging::Alike)
}

/// The same, but for clients, where the caller says which states of a thread are one control point: for tests that compare.
#[doc(hidden)]
pub fn load_merging(
    path: &Path,
    source: &Source,
    options: &Options,
    merging: Merging,
) -> Result<Loaded, NotLoaded> {
    let mut programs = Vec::new();
    let places = |whole: &Source, names: &[String], name: &str, execution: &Execution<'_>| {
        let places = Places::new(whole, names);
        program::program(execution, whole, &places, name)
    };
    let left_out = each_root(
        path,
        source,
        options,
        merging,
        &mut |whole, names, name, execution| {
            programs.push((name.to_owned(), places(whole, names, name, execution)));
        },
    )?;
    let note = |name: String| {
        let short = name.rsplit("::").next().unwrap_or(&name);
        format!(
            "the test `{short}` has to panic and is left out: `--test {short}` asks about it, and should find it violated"
        )
    };
    Ok(Loaded {
        programs,
        warnings: Vec::new(),
        notes: left_out.into_iter().map(note).collect(),
        also: None,
        client: None,
    })
}

/// Executes each root of a file, for callers that want to see what comes of it.
pub fn executions(
    path: &Path,
    source: &Source,
    options: &Options,
    mut show: impl FnMut(&str, &Execution<'_>),
) -> Result<(), NotLoaded> {
    let mut show = |_: &Source, _: &[String], name: &str, execution: &Execution<'_>| {
        show(name, execution);
    };
    each_root(path, source, options, Merging::Alike, &mut show).map(|_| ())
}

type Visit<'a> = dyn FnMut(&Source, &[String], &str, &Execution<'_>) + 'a;

/// Visits the execution of each root. The tests that are left out.
fn each_root(
    path: &Path,
    source: &Source,
    options: &Options,
    merging: Merging,
    visit: &mut Visit<'_>,
) -> Result<Vec<String>, NotLoaded> {
    let not = |diagnostics: Vec<Diagnostic>| NotLoaded {
        source: source.clone(),
        diagnostics,
    };
    let text = source.text();
    let test = !has_main(text) || options.test.is_some();
    let mut compiler = options.compiler.clone();
    compiler.test = test;
    // A file that does not stand alone is a module of the crate that it lies in.
    let alone = compiled(path, text, &compiler);
    let home = match &alone {
        Err(_) if test => home_of(path),
        _ => None,
    };
    let (root, root_text, module, mir) = match (alone, home) {
        (Err(why), Some(home)) => match compiled(&home.root, &home.texts, &compiler) {
            Ok(mir) => (home.root, home.text, home.module, mir),
            Err(_) => return Err(not(why)),
        },
        (mir, _) => {
            let mir = mir.map_err(not)?;
            (path.to_owned(), text.to_owned(), String::new(), mir)
        }
    };
    let index = indexed(&root, &root_text, &mir, &compiler).map_err(not)?;
    let (whole, names) = whole_source(path, source, &index, &|_| None);
    let mut roots = roots(&index, options, test, &module).map_err(not)?;
    // A test that has to panic would make the others violated: it is asked about where it is named, or where there is no other.
    let has_to_panic = |root: &(String, usize)| index.panicking.contains(&root.0);
    let mut left_out = Vec::new();
    if options.test.is_none() && !roots.iter().all(has_to_panic) {
        let panicking = roots.iter().filter(|root| has_to_panic(root));
        left_out.extend(panicking.map(|root| root.0.clone()));
        roots.retain(|root| !has_to_panic(root));
    }
    for (name, body) in roots {
        let wanted = Wanted {
            merging,
            leaks: options.leaks,
            few_elements: options.few_elements,
        };
        match run::build::execute(&index, body, wanted) {
            Ok(execution) => visit(&whole, &names, &name, &execution),
            Err(trouble) => {
                let span = Places::new(&whole, &names).innermost(&trouble.spans);
                let mut diagnostic = Diagnostic::error(span, trouble.refusal.message);
                diagnostic.help = trouble.refusal.help;
                return Err(NotLoaded {
                    source: whole,
                    diagnostics: vec![diagnostic],
                });
            }
        }
    }
    Ok(left_out)
}

/// Everything that a crate is executed with: the models, the crates that it uses, and itself.
pub(crate) fn indexed(
    root: &Path,
    text: &str,
    mir: &str,
    compiler: &Compiler,
) -> Result<Index, Vec<Diagnostic>> {
    let mut index = Index::default();
    models::add(&mut index, compiler)?;
    let others = crates::add(&mut index, mir, compiler)?;
    index
        .read(root, text, "", &cfg::Cfg::of(compiler), others)
        .map_err(|e| {
            let message = format!("{}: {}", e.file.display(), e.message);
            vec![Diagnostic::error(Span::default(), message)]
        })?;
    let mut unit = parsed(mir, compiler, index.names(""))?;
    // Where that form is not to be had, such closures are refused where they are met.
    unit.complete_captures(|| {
        let mut compiler = compiler.clone();
        let captures = models::crates(text, &compiler)
            .ok()
            .and_then(|(more, _crates)| {
                compiler.arguments.extend(more);
                compile::captures_of(root, &compiler).ok()
            });
        mir::read_captures(&captures.unwrap_or_default(), index.names(""))
    });
    index.add(unit);
    index
        .complete_enums(run::build::constant_of)
        .map_err(|message| {
            let message = format!("{}: {message}", root.display());
            vec![Diagnostic::error(Span::default(), message)]
        })?;
    Ok(index)
}

/// The text with all files that belong to it, and how the compiler calls each. `shown` gives a file another name for people.
fn whole_source(
    path: &Path,
    source: &Source,
    index: &Index,
    shown: &dyn Fn(&Path) -> Option<String>,
) -> (Source, Vec<String>) {
    let own = path.to_string_lossy().into_owned();
    let mut names = vec![own];
    let mut others = Vec::new();
    for (file, text) in &index.files {
        if file == path || models::is_model(file) {
            continue;
        }
        let name = file.to_string_lossy().into_owned();
        others.push((
            shown(file).unwrap_or_else(|| name.clone()),
            text.to_string(),
        ));
        names.push(name);
    }
    let whole = match others.is_empty() {
        true => source.clone(),
        false => Source::of_files(source.name(), source.text(), others, []),
    };
    (whole, names)
}

/// The compiler's text for a file, with the crates that it uses and that are known here.
fn compiled(path: &Path, text: &str, compiler: &Compiler) -> Result<String, Vec<Diagnostic>> {
    let mut compiler = compiler.clone();
    let (arguments, _crates) = models::crates(text, &compiler)?;
    compiler.arguments.extend(arguments);
    compile::mir_of(path, &compiler).map_err(|e| match e {
        CompileError::Refused(said) => refused(path, text, &said),
        other => not_compiled(other),
    })
}

/// At most so many of the compiler's errors are shown.
const MAX_ERRORS: usize = 8;

/// What the compiler says against a file (`FILE:LINE:COLUMN: error…: MESSAGE`), at its places.
fn refused(path: &Path, text: &str, said: &str) -> Vec<Diagnostic> {
    let source = Source::new(path.to_string_lossy(), text);
    let prefix = format!("{}:", path.display());
    let placed = |line: &str| {
        let (place, message) = line.strip_prefix(&prefix)?.split_once(": ")?;
        let (line, column) = place.split_once(':')?;
        let line_column = LineColumn {
            line: line.parse().ok()?,
            column: column.parse().ok()?,
        };
        let start = source.offset(None, line_column) as usize;
        let rest = text.get(start..)?;
        let word = |c: &char| c.is_alphanumeric() || *c == '_';
        let length: usize = rest.chars().take_while(word).map(char::len_utf8).sum();
        let span = Span::new(start, start + length.max(1).min(rest.len()));
        let (code, message) = message.strip_prefix("error")?.split_once(": ")?;
        let message = format!("the Rust compiler does not accept it: {message} {code}");
        Some(Diagnostic::error(span, message.trim_end()).help(help_for(said)))
    };
    let found: Vec<_> = said.lines().filter_map(placed).take(MAX_ERRORS).collect();
    match found.is_empty() {
        true => not_compiled(CompileError::Refused(said.to_owned())),
        false => found,
    }
}

/// What to do where the compiler has refused a file.
fn help_for(said: &str) -> &'static str {
    // A path or a crate that is not found.
    let codes = ["[E0432]", "[E0433]", "[E0463]"];
    match codes.iter().any(|code| said.contains(code)) {
        true => "a package is read with what it depends on by `cargo palisade check`",
        false => "cargo check shows everything that is wrong",
    }
}

/// The crate that a file is a module of.
struct Home {
    /// Its first file.
    root: PathBuf,
    /// The text of that.
    text: String,
    /// The texts of all its files, to see which crates they use.
    texts: String,
    /// The module that the file is, with `::` behind it.
    module: String,
}

/// Not more files than this are looked at.
const MAX_FILES: usize = 500;

/// The crate in whose directory a file lies: the nearest `lib.rs` or `main.rs` above it.
fn home_of(path: &Path) -> Option<Home> {
    let directories = path.ancestors().skip(1).take(8);
    let root = directories
        .flat_map(|directory| [directory.join("lib.rs"), directory.join("main.rs")])
        .find(|root| root != path && root.is_file())?;
    let directory = root.parent()?;
    let inside = path.strip_prefix(directory).ok()?.with_extension("");
    let names = inside.iter().map(|name| name.to_string_lossy());
    let names: Vec<String> = names
        .filter(|name| name != "mod")
        .map(|n| n.into_owned())
        .collect();
    let mut texts = String::new();
    let mut todo = vec![directory.to_owned()];
    let mut count = 0;
    while let Some(directory) = todo.pop() {
        let here = match directory.as_os_str().is_empty() {
            true => Path::new("."),
            false => &directory,
        };
        for entry in std::fs::read_dir(here).ok()?.flatten() {
            let file = entry.path();
            count += 1;
            if count > MAX_FILES {
                return None;
            }
            if file.is_dir() {
                todo.push(file);
            } else if file.extension().is_some_and(|e| e == "rs") {
                texts.push_str(&std::fs::read_to_string(&file).unwrap_or_default());
            }
        }
    }
    Some(Home {
        text: std::fs::read_to_string(&root).ok()?,
        root,
        texts,
        module: names.join("::") + "::",
    })
}

pub(crate) fn has_main(text: &str) -> bool {
    syntax::parse_file(text).is_ok_and(|file| {
        file.items.iter().any(|item| {
            matches!(item, syn::Item::Fn(f)
                if f.sig.ident == "main" && !f.attrs.iter().any(|a| a.path().is_ident("test")))
        })
    })
}

fn roots(
    index: &Index,
    options: &Options,
    test: bool,
    module: &str,
) -> Result<Vec<(String, usize)>, Vec<Diagnostic>> {
    let tests: Vec<(String, usize)> = index
        .tests
        .iter()
        .filter(|name| !name.starts_with("std::") && name.starts_with(module))
        .filter_map(|name| index.by_path.get(name).map(|&body| (name.clone(), body)))
        .collect();
    if let Some(wanted) = &options.test {
        let matches = |name: &str| name == wanted || name.ends_with(&format!("::{wanted}"));
        let found: Vec<_> = tests
            .iter()
            .filter(|(name, _)| matches(name))
            .cloned()
            .collect();
        if !found.is_empty() {
            return Ok(found);
        }
        let names: Vec<&str> = tests.iter().map(|(name, _)| name.as_str()).collect();
        let known = match names.is_empty() {
            true => "there is none in this file".to_owned(),
            false => format!("there are {}", names.join(", ")),
        };
        return Err(vec![
            Diagnostic::error(Span::default(), format!("there is no test {wanted}")).help(known),
        ]);
    }
    if let Some(&main) = index.by_path.get("main")
        && !test
    {
        return Ok(vec![("main".to_owned(), main)]);
    }
    if tests.is_empty() {
        return Err(vec![
            Diagnostic::error(
                Span::default(),
                "nothing to begin with: there is no `fn main` and no `#[test]`",
            )
            .help("write a `fn main` or a `#[test]` function that starts threads, or ask about everything that uses one of its types: `--client TYPE`"),
        ]);
    }
    Ok(tests)
}

fn error(message: String, help: &str) -> Vec<Diagnostic> {
    vec![Diagnostic::error(Span::default(), message).help(help)]
}

pub(crate) fn mir_of(path: &Path, compiler: &Compiler) -> Result<String, Vec<Diagnostic>> {
    compile::mir_of(path, compiler).map_err(not_compiled)
}

/// Why there is no MIR, in words.
fn not_compiled(why: CompileError) -> Vec<Diagnostic> {
    match why {
        CompileError::Absent(why) => error(
            format!("the Rust compiler cannot be run: {why}"),
            "install Rust, or say with RUSTC where the compiler is",
        ),
        CompileError::Refused(said) => error(
            format!(
                "the Rust compiler does not accept it: {}",
                said.lines().next().unwrap_or("").trim()
            ),
            help_for(&said),
        ),
        CompileError::Slow(limit) => error(
            format!("the Rust compiler takes longer than {} s", limit.as_secs()),
            "check a smaller file",
        ),
        CompileError::Stopped => error(
            "the Rust compiler was stopped: it took more than the limits allow".to_owned(),
            "check a smaller file",
        ),
        CompileError::Scratch(why) => error(
            format!("no scratch directory can be used: {why}"),
            "set TMPDIR to one",
        ),
    }
}

pub(crate) fn parsed(
    text: &str,
    compiler: &Compiler,
    names: mir::Names<'_>,
) -> Result<mir::Unit, Vec<Diagnostic>> {
    mir::parse(text, names).map_err(|unknown| {
        let version = compile::version(compiler).unwrap_or_default();
        error(
            format!("the compiler ({version}) writes something that is not known here: {unknown}"),
            "compilers from 1.85 on are read; please report this one",
        )
    })
}
