//! From FILE to program: directories, standard input, and everything that can be wrong with a file.

use crate::args::ReadingArgs;
pub use palisade::Input;
use palisade::{file_text, text_of};
use palisade_lang::parse::guess_language;
use palisade_lang::{Language, Source};
use palisade_report::Failure;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

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
                "there is no program in this directory (.pal, .txt, .trencher, .tpl, .litmus, .c, .i, .rs)"
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
        Some("pal" | "trencher" | "tpl" | "litmus" | "c" | "i" | "rs") => true,
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
    let name = match is_stdin(path) {
        true => "<stdin>".to_owned(),
        false => display_name(path),
    };
    palisade::read(&name, text, &reading.reading())
}

/// Reads a whole file, or says why not.
pub fn read_text(path: &Path) -> Result<String, String> {
    match is_stdin(path) {
        true => text_of(Ok(std::io::stdin().lock())),
        false => file_text(path),
    }
}
