//! C11 as a language of programs.
//!
//! [`parse`] reads a C file: it is preprocessed (`preprocess`, with headers of our own in `headers`), parsed (`parser`, `parse_code`), given types and
//! turned into the middle form of `palisade-lower` (`unit`, `body`, `value`, `calls`, `atomics`), which makes the program.
//!
//! ```
//! let text = "#include <pthread.h>\n#include <stdatomic.h>\natomic_int x;\n\
//!     void *set(void *p) { atomic_store(&x, 1); return 0; }\n\
//!     int main() { pthread_t t; pthread_create(&t, 0, set, 0); return 0; }";
//! let read = palisade_c::parse("set.c", text, &palisade_c::Options::default()).unwrap();
//! assert_eq!(read.program.threads.len(), 1);
//! ```

mod ast;
mod atomics;
mod body;
mod calls;
mod condition;
mod escape;
mod headers;
mod init;
mod lex;
mod library;
mod packed;
mod parse_code;
mod parser;
mod preprocess;
mod types;
mod unit;
mod value;

use palisade_lang::{Diagnostic, Language, Parsed, Source, Span};
use palisade_lower::{Limits, Unit};
use std::path::{Path, PathBuf};

/// What the caller knows beyond the text.
#[derive(Clone, Debug)]
pub struct Options {
    /// Directories in which included files are looked for.
    pub include: Vec<PathBuf>,
    /// Macros, as if the text began with `#define NAME VALUE`.
    pub defines: Vec<(String, String)>,
    /// The function with which the program begins.
    pub entry: String,
    /// How far what C leaves unlimited is followed.
    pub limits: Limits,
    /// How an included file is read: its text, or why there is none.
    pub read: fn(&Path) -> Result<String, String>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            include: Vec::new(),
            defines: Vec::new(),
            entry: "main".to_string(),
            limits: Limits::default(),
            read: |path| std::fs::read_to_string(path).map_err(|error| error.to_string()),
        }
    }
}

/// The headers with the kernel's names, as they are called in a source.
const KERNEL_HEADERS: [&str; 2] = ["<palisade/linux.h>", "<lkmm.h>"];

/// Said where one of them is used.
const NOT_THE_KERNELS_MODEL: &str = "`palisade/linux.h` maps the kernel's names to the atomics of C11: this is not the Linux kernel's memory model, and dependencies order nothing here";

/// Why a text is no program, and the text with all files that it includes, to which the places belong.
pub type Failure = (Source, Vec<Diagnostic>);

/// Reads a C program whose first file has this name and text.
pub fn parse(name: &str, text: &str, options: &Options) -> Result<Parsed, Failure> {
    let (ast, source, companions) = read_files(name, text, &[], options)?;
    let missing = ast.missing();
    let mut beside = Vec::new();
    for path in companions {
        let known = path == Path::new(name) || beside.contains(&path);
        if known || missing.is_empty() {
            continue;
        }
        let Ok(text) = (options.read)(&path) else {
            continue;
        };
        // One that has a beginning of its own is another program.
        let begins = |ast: &ast::Ast| ast.definitions.iter().any(|d| *d.name == *options.entry);
        let other = read_files(&path.to_string_lossy(), &text, &[], options);
        if !(begins(&ast) && other.is_ok_and(|(other, ..)| begins(&other))) {
            beside.push(path);
        }
    }
    let (ast, source) = match beside.is_empty() {
        true => (ast, source),
        false => {
            let (ast, source, _) = read_files(name, text, &beside, options)?;
            (ast, source)
        }
    };
    let refuse = |error: Diagnostic| (source.clone(), vec![error]);
    if !beside.is_empty() {
        ast.defined_once(&source).map_err(|error| refuse(*error))?;
    }
    let whole = Span::new(0, text.find('\n').unwrap_or(text.len()));
    let mut translated =
        unit::translate(&ast, &options.entry, whole).map_err(|error| refuse(*error))?;
    for function in &mut translated.functions {
        let file = source.included_at(function.span.start);
        function.library = file.is_some_and(headers::is_own);
    }
    let unit = Unit {
        name: None,
        source: source.clone(),
        language: Language::C,
        objects: translated.objects,
        functions: translated.functions,
        entry: translated.entry,
        limits: Limits {
            stride: translated.stride,
            reach: translated.reach,
            leap: translated.leap,
            ..options.limits
        },
    };
    let mut parsed = palisade_lower::lower(&unit).map_err(|errors| (source.clone(), errors))?;
    parsed.warnings.extend(translated.warnings);
    let mut kernel = KERNEL_HEADERS.iter();
    if kernel.any(|name| source.file_named(name).is_some()) {
        parsed
            .warnings
            .push(Diagnostic::warning(whole, NOT_THE_KERNELS_MODEL));
    }
    for path in beside {
        let shown = path.display();
        let message = format!("`{shown}` is read as well: it is beside a header that is included");
        parsed.warnings.push(Diagnostic::warning(whole, message));
    }
    Ok(parsed)
}

/// The syntax of a text, with what it includes and the files that follow it, and where further files of the program may be.
fn read_files(
    name: &str,
    text: &str,
    more: &[PathBuf],
    options: &Options,
) -> Result<(ast::Ast, Source, Vec<PathBuf>), Failure> {
    let read = &options.read;
    let preprocess = |before: &[&str]| {
        let path = Path::new(name);
        let (include, defines) = (&options.include, &options.defines);
        let read = |path: &Path| read(path);
        preprocess::Preprocessor::run(path, text, before, more, include, defines, &read)
            .map_err(|(errors, files)| (Source::of_files(name, text, files, []), errors))
    };
    let mut done = preprocess(&[])?;
    let is_own = |(name, _): &(String, String)| headers::is_own(name);
    let mut before = match done.files.iter().any(is_own) {
        true => Vec::new(),
        false => headers::behind(&done.tokens),
    };
    for header in headers::behind_calls(&done.tokens) {
        let included = format!("<{header}>");
        let is_there = done.files.iter().any(|(name, _)| *name == included);
        if !is_there && !before.contains(&header) {
            before.push(header);
        }
    }
    if !before.is_empty() {
        done = preprocess(&before)?;
    }
    let source = Source::of_files(name, text, done.files, []);
    match parser::parse(done.tokens, done.of_headers) {
        Ok(ast) => Ok((ast, source, done.companions)),
        Err(error) => Err((source, vec![error])),
    }
}
