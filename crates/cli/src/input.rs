//! From FILE to program: directories, standard input, and everything that can be wrong with a file.

use crate::args::ReadingArgs;
use palisade_lang::pal::source_with_includes;
use palisade_lang::parse::guess_language;
use palisade_lang::source::MAX_SOURCE_BYTES;
use palisade_lang::{Diagnostic, Language, ParseOptions, Program, Source};
use palisade_report::Failure;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// Larger files are refused. Far below what `lang` could take, so that an endless input does not fill the memory.
const MOST_BYTES: usize = 256 << 20;
const _: () = assert!(MOST_BYTES <= MAX_SOURCE_BYTES);

/// A program, and what should be said about its text all the same.
pub struct Input {
    pub program: Program,
    pub warnings: Vec<Diagnostic>,
}

/// One thing to look at: a file, or a complaint about an argument that leads to none.
pub enum Job {
    File(PathBuf),
    Trouble(PathBuf, String),
}

/// The arguments with directories replaced by the programs in them, in the order of their names.
pub fn expand(arguments: &[PathBuf]) -> Vec<Job> {
    let mut jobs = Vec::new();
    for (at, argument) in arguments.iter().enumerate() {
        if is_stdin(argument) && arguments[..at].iter().any(|earlier| is_stdin(earlier)) {
            let trouble = "standard input can be read only once".to_owned();
            jobs.push(Job::Trouble(argument.clone(), trouble));
            continue;
        }
        if is_stdin(argument) || !argument.is_dir() {
            jobs.push(Job::File(argument.clone()));
            continue;
        }
        let before = jobs.len();
        let tree = WalkDir::new(argument)
            .sort_by_file_name()
            .into_iter()
            .filter_entry(|entry| entry.depth() == 0 || !is_hidden(entry.file_name()));
        for entry in tree {
            match entry {
                // A link to a file counts, a link to a directory does not: it may lead round in a circle.
                Ok(entry) if entry.path().is_file() && is_program(entry.path()) => {
                    jobs.push(Job::File(entry.into_path()));
                }
                Ok(_) => {}
                Err(error) => {
                    let path = error.path().unwrap_or(argument).to_owned();
                    jobs.push(Job::Trouble(path, format!("cannot be read: {error}")));
                }
            }
        }
        if jobs.len() == before {
            jobs.push(Job::Trouble(
                argument.clone(),
                "there is no program in this directory (.pal, .txt, .trencher, .tpl, .litmus, .c)"
                    .to_owned(),
            ));
        }
    }
    jobs
}

fn is_hidden(name: &std::ffi::OsStr) -> bool {
    name.to_string_lossy().starts_with('.')
}

/// In a tree, a `.txt` counts only if it looks like an automaton: most texts are none.
fn is_program(path: &Path) -> bool {
    match path.extension().and_then(|e| e.to_str()) {
        Some("pal" | "trencher" | "tpl" | "litmus" | "c" | "rs") => true,
        Some("txt") => read_text(path)
            .is_ok_and(|text| guess_language(&Source::new("", text)) == Language::Trencher),
        _ => false,
    }
}

pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The name that is shown for a file.
pub fn display_name(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Reads a file as a program.
pub fn read(path: &Path, reading: &ReadingArgs) -> Result<Input, Failure> {
    let text = read_text(path).map_err(Failure::Message)?;
    parse(path, text, reading)
}

/// Reads the text of this file as a program, with the files that it includes.
pub fn parse(path: &Path, text: String, reading: &ReadingArgs) -> Result<Input, Failure> {
    let name = if is_stdin(path) {
        "<stdin>".to_owned()
    } else {
        display_name(path)
    };
    let language = reading.from.map(Language::from);
    if language.unwrap_or_else(|| guess_language(&Source::new(&*name, &*text))) == Language::C {
        return read_c(&name, &text, reading);
    }
    let options = ParseOptions {
        language,
        domain: reading.domain,
    };
    let source = source(name, text, options.language);
    let language = options.language.unwrap_or_else(|| guess_language(&source));
    if language == Language::Rust {
        return read_rust(path, source, reading);
    }
    match palisade_lang::parse(&source, &options) {
        Ok(parsed) => Ok(Input {
            program: parsed.program,
            warnings: parsed.warnings,
        }),
        Err(diagnostics) => Err(Failure::Text(source, diagnostics)),
    }
}

/// The text of a program with the files that it includes.
pub fn source(name: String, text: String, language: Option<Language>) -> Source {
    let source = Source::new(name, text);
    match language.unwrap_or_else(|| guess_language(&source)) {
        Language::Pal => {
            let name = source.name().to_owned();
            let text = source.text().to_owned();
            source_with_includes(&name, text, &mut |file| match std::fs::metadata(file) {
                Ok(about) if !about.is_file() => Err("is no file".to_owned()),
                _ => read_text(Path::new(file)),
            })
        }
        _ => source,
    }
}

/// Reads a C program, with the files that it includes.
fn read_c(name: &str, text: &str, reading: &ReadingArgs) -> Result<Input, Failure> {
    if reading.domain.is_some() {
        let message = "`--domain` is not for C programs: their types say which values there are";
        return Err(Failure::Message(message.to_owned()));
    }
    let defines = reading.define.iter().map(|define| {
        let (name, value) = define.split_once('=').unwrap_or((define, "1"));
        (name.to_owned(), value.to_owned())
    });
    let options = palisade_c::Options {
        include: reading.include.clone(),
        defines: defines.collect(),
        entry: reading.entry.clone().unwrap_or_else(|| "main".to_owned()),
        read: read_text,
        ..palisade_c::Options::default()
    };
    match palisade_c::parse(name, text, &options) {
        Ok(parsed) => Ok(Input {
            program: parsed.program,
            warnings: parsed.warnings,
        }),
        Err((source, diagnostics)) => Err(Failure::Text(source, diagnostics)),
    }
}

/// Reads a Rust file by way of the user's compiler.
fn read_rust(path: &Path, source: Source, reading: &ReadingArgs) -> Result<Input, Failure> {
    if is_stdin(path) {
        let why = "Rust cannot be read from standard input: the compiler needs a file";
        return Err(Failure::Message(why.to_owned()));
    }
    let options = palisade_rust::Options {
        test: reading.test.clone(),
        ..palisade_rust::Options::default()
    };
    match palisade_rust::load(path, &source, &options) {
        Ok(mut loaded) if loaded.programs.len() == 1 => Ok(Input {
            program: loaded.programs.remove(0).1,
            warnings: loaded.warnings,
        }),
        Ok(loaded) => {
            let names: Vec<&str> = loaded
                .programs
                .iter()
                .map(|(name, _)| name.as_str())
                .collect();
            let why = format!(
                "there are several tests; choose one with --test: {}",
                names.join(", ")
            );
            Err(Failure::Message(why))
        }
        Err(not) => Err(Failure::Text(not.source, not.diagnostics)),
    }
}

/// Reads a whole file, or says why not.
pub fn read_text(path: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    // One byte more than is allowed tells an endless input from a large one.
    let most = MOST_BYTES as u64 + 1;
    let result = if is_stdin(path) {
        std::io::stdin().lock().take(most).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes))
    };
    if let Err(error) = result {
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
