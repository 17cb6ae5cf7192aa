//! The crates that a crate uses: each is compiled once more, to MIR, as cargo had it compiled, and executed like the user's code.

use crate::cfg::Cfg;
use crate::compile::{self, Compiler, Recorded};
use crate::index::Index;
use crate::scope::same_crate;
use palisade_lang::Diagnostic;
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};

/// Beside a compiled crate: how it was compiled.
pub const RECORD: &str = "palisade.json";
/// Beside a compiled crate: its MIR.
const KEPT: &str = "palisade.mir";
/// No more crates than this are read.
const MAX_CRATES: usize = 100;

/// The crates that the compiler is told of: their names and files.
fn externs(arguments: &[String]) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let value = match argument.strip_prefix("--extern=") {
            Some(value) => Some(value),
            None if argument == "--extern" => rest.next().map(String::as_str),
            None => None,
        };
        if let Some((name, file)) = value.and_then(|value| value.split_once('=')) {
            // `noprelude:name=file`
            let name = name.rsplit(':').next().unwrap_or(name);
            found.push((name.to_owned(), PathBuf::from(file)));
        }
    }
    found
}

/// Whether a text has this word.
fn mentions(text: &str, word: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(inside) && !text[at + word.len()..].starts_with(inside)
    })
}

/// Adds the crates that a crate with this MIR uses; the names that it has for them, with their names here.
pub fn add(
    index: &mut Index,
    mir: &str,
    compiler: &Compiler,
) -> Result<FxHashMap<String, String>, Vec<Diagnostic>> {
    let mut reader = Reader {
        index,
        compiler,
        known: FxHashMap::default(),
        names: FxHashSet::default(),
    };
    Ok(reader.used(&compiler.arguments, mir, ""))
}

struct Reader<'a> {
    index: &'a mut Index,
    compiler: &'a Compiler,
    /// The names here of what was read, by file; none where it could not be.
    known: FxHashMap<PathBuf, Option<String>>,
    names: FxHashSet<String>,
}

impl Reader<'_> {
    /// Reads the crates of these arguments that a crate mentions.
    fn used(&mut self, arguments: &[String], mir: &str, source: &str) -> FxHashMap<String, String> {
        let mut names = FxHashMap::default();
        for (name, file) in externs(arguments) {
            if same_crate(&name).is_some() || !mentions(mir, &name) && !mentions(source, &name) {
                continue;
            }
            let here = match self.known.get(&file) {
                Some(here) => here.clone(),
                None if self.known.len() >= MAX_CRATES => None,
                None => {
                    // A crate cannot use itself, but a record may be wrong.
                    self.known.insert(file.clone(), None);
                    let here = match self.read(&file) {
                        Ok(here) => Some(here),
                        Err(why) => {
                            self.index.unread.insert(name.clone(), why);
                            None
                        }
                    };
                    self.known.insert(file, here.clone());
                    here
                }
            };
            names.extend(here.map(|here| (name, here)));
        }
        names
    }

    /// Reads one crate. Where that cannot be done, its functions have no bodies, and calls of them are refused.
    fn read(&mut self, file: &Path) -> Result<String, String> {
        let record = std::fs::read_to_string(file.with_extension(RECORD))
            .map_err(|_| "cargo palisade did not compile it".to_owned())?;
        let recorded: Recorded = serde_json::from_str(&record).map_err(|e| e.to_string())?;
        let kept = file.with_extension(KEPT);
        let mir = compile::mir_of_crate(&recorded, &kept, self.compiler).map_err(|e| match e {
            compile::CompileError::Refused(said) => said.lines().next().unwrap_or("").to_owned(),
            compile::CompileError::Absent(why) | compile::CompileError::Scratch(why) => why,
            compile::CompileError::Slow(limit) => {
                format!("the compiler takes longer than {} s", limit.as_secs())
            }
            compile::CompileError::Stopped => "the compiler met a limit".to_owned(),
        })?;
        let root = recorded.directory.join(&recorded.file);
        let text = std::fs::read_to_string(&root).map_err(|e| e.to_string())?;
        let others = self.used(&recorded.arguments, &mir, &text);
        let mut here = recorded.name.clone();
        let mut number = 1;
        while !self.names.insert(here.clone()) {
            number += 1;
            here = format!("{}_{number}", recorded.name);
        }
        let own = Compiler {
            test: false,
            arguments: recorded.arguments.clone(),
            ..self.compiler.clone()
        };
        // The compiler names files as it was given them.
        let given = &recorded.file;
        self.index
            .read(given, &text, &here, &Cfg::of(&own), others)
            .map_err(|e| format!("{}: {}", e.file.display(), e.message))?;
        let prefix = format!("{here}::");
        let unit = crate::mir::parse(&mir, self.index.names(&prefix)).map_err(|e| e.to_string())?;
        self.index.add(unit);
        Ok(here)
    }
}
