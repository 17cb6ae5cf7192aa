//! From a text to a program, whatever language it is written in.

use palisade_lang::pal::source_with_includes;
use palisade_lang::parse::guess_language;
use palisade_lang::source::MAX_SOURCE_BYTES;
use palisade_lang::{Diagnostic, Language, ParseOptions, Program, Source};
use palisade_report::Failure;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Larger files are refused. Far below what `lang` could take, so that an endless input does not fill the memory.
const MOST_BYTES: usize = 256 << 20;
const _: () = assert!(MOST_BYTES <= MAX_SOURCE_BYTES);

/// The client of a type of a Rust file: threads that call what the type offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientOf {
    /// The type, such as `SpinLock<T>`.
    pub ty: String,
    /// How many threads it has.
    pub threads: Option<ClientThreads>,
    /// How many calls each of them makes at most.
    pub calls: Option<usize>,
    /// The sequential model by which some order of the calls has to explain what they return, where that is asked.
    pub linearizable: Option<String>,
}

/// How many threads a client has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientThreads {
    /// This many.
    These(usize),
    /// Any number.
    Any,
}

/// How a text is read.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Its language; where none is given, it follows from the file's name, or else from a look at the text.
    pub language: Option<Language>,
    /// Values are taken modulo this, as if the program said `domain N;`: for languages that cannot say it.
    pub domain: Option<i64>,
    /// Directories in which files that a C program includes are looked for.
    pub include: Vec<PathBuf>,
    /// Macros, as if a C program began with `#define NAME VALUE`.
    pub defines: Vec<(String, String)>,
    /// The function with which a C program begins; `main` where none is given.
    pub entry: Option<String>,
    /// Of a Rust file, this function with `#[test]`.
    pub test: Option<String>,
    /// The edition of a Rust file.
    pub edition: Option<String>,
    /// More arguments for the Rust compiler.
    pub rustc: Vec<String>,
    /// Of a Rust file, the client of this type.
    pub client: Option<ClientOf>,
    /// Of a Rust file, whether memory that is never freed is an error.
    pub leaks: bool,
    /// How a file that the text includes is read: its text, or why there is none.
    pub files: fn(&Path) -> Result<String, String>,
}

impl Default for Reading {
    fn default() -> Self {
        Reading {
            language: None,
            domain: None,
            include: Vec::new(),
            defines: Vec::new(),
            entry: None,
            test: None,
            edition: None,
            rustc: Vec::new(),
            client: None,
            leaks: false,
            files: included_text,
        }
    }
}

/// The same text, read with more room than at first.
#[derive(Clone)]
pub struct Wider(Arc<dyn Fn() -> Result<Input, Failure> + Send + Sync>);

impl Wider {
    /// Reads it.
    pub fn read(&self) -> Result<Input, Failure> {
        (self.0)()
    }

    /// Whether this reason of an unknown answer says that there was too little room.
    pub fn is_for(&self, reason: &str) -> bool {
        is_too_small(reason)
    }
}

impl fmt::Debug for Wider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Wider")
    }
}

/// A program, and what should be said about its text all the same.
#[derive(Clone, Debug)]
pub struct Input {
    /// The program.
    pub program: Program,
    /// What looks like a mistake and is none.
    pub warnings: Vec<Diagnostic>,
    /// What has to be said with every answer about it.
    pub notes: Vec<String>,
    /// The same program with any number of threads, where that is a question of its own: asked where the answer is `holds`.
    pub also: Option<Program>,
    /// The text of a client that was made for it.
    pub client: Option<String>,
    /// Where the program has little room, which makes it small: the same with more. Asked for where a run needs it.
    pub wider: Option<Wider>,
}

impl Input {
    /// With all the room that there is.
    pub fn whole(self) -> Result<Input, Failure> {
        match &self.wider {
            Some(wider) => wider.read(),
            None => Ok(self),
        }
    }

    /// A program that nothing else has to be said about.
    fn plain(program: Program, warnings: Vec<Diagnostic>) -> Input {
        Input {
            program,
            warnings,
            notes: Vec::new(),
            also: None,
            client: None,
            wider: None,
        }
    }
}

/// Whether an answer is unknown because its program had too little room.
#[cfg(feature = "rust")]
fn is_too_small(reason: &str) -> bool {
    palisade_rust::is_too_few(reason)
}

#[cfg(not(feature = "rust"))]
fn is_too_small(_: &str) -> bool {
    false
}

/// Reads the text of the file of this name as a program, with the files that it includes.
pub fn read(name: &str, text: String, reading: &Reading) -> Result<Input, Failure> {
    if reading.language.is_none()
        && let Some(why) = not_read(name)
    {
        return Err(Failure::Message(why));
    }
    let source = Source::new(name, text);
    let language = reading.language.unwrap_or_else(|| guess_language(&source));
    if reading.leaks && (language != Language::Rust || reading.client.is_some()) {
        let why = "memory that is never freed is looked for in Rust programs, and not with a client: leave out `--leaks`";
        return Err(Failure::Message(why.to_owned()));
    }
    let source = match language {
        Language::C => return read_c(name, source.text(), reading),
        Language::Rust => return read_rust(source, reading),
        Language::Pal => with_includes(&source, reading.files),
        _ => source,
    };
    let options = ParseOptions {
        language: Some(language),
        domain: reading.domain,
    };
    match palisade_lang::parse(&source, &options) {
        Ok(parsed) => Ok(Input::plain(parsed.program, parsed.warnings)),
        Err(diagnostics) => Err(Failure::Text(source, diagnostics)),
    }
}

/// What to do about a file whose name says that it is in a language that is not read here.
fn not_read(name: &str) -> Option<String> {
    let (_, extension) = name.rsplit_once('.')?;
    let (language, instead) = match extension {
        "cpp" | "cc" | "cxx" | "hpp" | "hh" | "hxx" => (
            "C++",
            "a C file (`<stdatomic.h>` has the same orders), or in .pal, where methods are those of `std::atomic`,",
        ),
        "h" => ("a header alone", "a C file that includes it"),
        "s" | "S" | "asm" => ("assembly", "a litmus test for X86 (.litmus)"),
        "go" => ("Go", IN_OTHERS),
        "java" | "kt" | "scala" => ("a language of the JVM", IN_OTHERS),
        "cs" => ("C#", IN_OTHERS),
        "zig" => ("Zig", IN_OTHERS),
        "swift" => ("Swift", IN_OTHERS),
        "py" => ("Python", IN_OTHERS),
        "js" | "ts" => ("JavaScript", IN_OTHERS),
        _ => return None,
    };
    Some(format!(
        "{language} is not read here: the same algorithm as {instead} is; `--from` reads the file as another language all the same"
    ))
}

const IN_OTHERS: &str = "a Rust, C or .pal program";

/// The text of a `.pal` program with the files that it includes.
pub fn with_includes(source: &Source, files: fn(&Path) -> Result<String, String>) -> Source {
    let text = source.text().to_owned();
    source_with_includes(source.name(), text, &mut |file| files(Path::new(file)))
}

/// Reads a C program, with the files that it includes.
fn read_c(name: &str, text: &str, reading: &Reading) -> Result<Input, Failure> {
    if reading.domain.is_some() {
        let message = "`--domain` is not for C programs: their types say which values there are";
        return Err(Failure::Message(message.to_owned()));
    }
    let usual = palisade_c::Options::default();
    let options = palisade_c::Options {
        include: reading.include.clone(),
        defines: reading.defines.clone(),
        entry: reading.entry.clone().unwrap_or(usual.entry),
        read: reading.files,
        limits: usual.limits,
    };
    match palisade_c::parse(name, text, &options) {
        Ok(parsed) => Ok(Input::plain(parsed.program, parsed.warnings)),
        Err((source, diagnostics)) => Err(Failure::Text(source, diagnostics)),
    }
}

/// Without the feature `rust` nothing can run a compiler.
#[cfg(not(feature = "rust"))]
fn read_rust(_: Source, _: &Reading) -> Result<Input, Failure> {
    let why = "Rust is read by way of the Rust compiler, which cannot be run here: use the command `palisade`";
    Err(Failure::Message(why.to_owned()))
}

/// Reads a Rust file by way of the user's compiler.
#[cfg(feature = "rust")]
fn read_rust(source: Source, reading: &Reading) -> Result<Input, Failure> {
    let path = PathBuf::from(source.name());
    if included_text(&path).as_deref() != Ok(source.text()) {
        let why = "Rust is read by the compiler, which needs a file: this text is not, or not yet, the text of one";
        return Err(Failure::Message(why.to_owned()));
    }
    let client = reading.client.as_ref();
    let client = client.map(|client| palisade_rust::client::Client {
        ty: client.ty.clone(),
        threads: client.threads.map(|threads| match threads {
            ClientThreads::These(count) => palisade_rust::client::Threads::These(count),
            ClientThreads::Any => palisade_rust::client::Threads::Any,
        }),
        calls: client.calls,
        linearizable: client.linearizable.clone(),
    });
    let usual = palisade_rust::compile::Compiler::default();
    let compiler = palisade_rust::compile::Compiler {
        edition: reading.edition.clone().unwrap_or(usual.edition),
        arguments: reading.rustc.clone(),
        ..usual
    };
    let options = palisade_rust::Options {
        compiler,
        test: reading.test.clone(),
        client,
        leaks: reading.leaks,
        few_elements: true,
    };
    let whole = palisade_rust::Options {
        few_elements: false,
        ..options.clone()
    };
    let mut small = loaded(&path, &source, &options)?;
    let is_small = |bound: &palisade_lang::Bound| is_too_small(&bound.message);
    let also = small.also.as_ref();
    let mut programs = std::iter::once(&small.program).chain(also);
    if programs.any(|program| program.bounds.iter().any(is_small)) {
        small.wider = Some(Wider(Arc::new(move || loaded(&path, &source, &whole))));
    }
    Ok(small)
}

#[cfg(feature = "rust")]
fn loaded(
    path: &Path,
    source: &Source,
    options: &palisade_rust::Options,
) -> Result<Input, Failure> {
    match palisade_rust::load(path, source, options) {
        Ok(loaded) => Ok(Input {
            program: palisade_rust::together(loaded.programs),
            warnings: loaded.warnings,
            notes: loaded.notes,
            also: loaded.also,
            client: loaded.client,
            wider: None,
        }),
        Err(not) => Err(Failure::Text(not.source, not.diagnostics)),
    }
}

/// The text of a file, or why it is none.
pub fn file_text(path: &Path) -> Result<String, String> {
    text_of(File::open(path))
}

/// The same for a file that another one names: such a name does not lead to devices and pipes, which may never end.
pub fn included_text(path: &Path) -> Result<String, String> {
    match std::fs::metadata(path) {
        Ok(about) if !about.is_file() => Err("is no file".to_owned()),
        _ => file_text(path),
    }
}

/// The text that a stream has to give, or why it is none.
pub fn text_of(stream: std::io::Result<impl Read>) -> Result<String, String> {
    let mut bytes = Vec::new();
    // One byte more than is allowed tells an endless input from a large one.
    let most = MOST_BYTES as u64 + 1;
    if let Err(error) = stream.and_then(|stream| stream.take(most).read_to_end(&mut bytes)) {
        return Err(format!("cannot be read: {error}"));
    }
    if bytes.len() > MOST_BYTES {
        return Err("is larger than 256 MiB, which is too large for a program".to_owned());
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|b| **b == b'\n').count() + 1;
        format!("is not a text: line {line} is not valid UTF-8")
    })
}
