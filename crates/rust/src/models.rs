//! The standard library, as far as threads can see it: a crate in Rust, compiled and executed like the user's.

use crate::cfg::Cfg;
use crate::compile::Compiler;
use crate::index::Index;
use palisade_lang::{Diagnostic, Span};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The models, but for the atomic types.
const MODELS: [&str; 7] = [
    include_str!("models/std.rs"),
    include_str!("models/memory.rs"),
    include_str!("models/prim.rs"),
    include_str!("models/collections.rs"),
    include_str!("models/sync.rs"),
    include_str!("models/thread.rs"),
    include_str!("models/task.rs"),
];
/// One atomic integer type: `ATOMIC` is its name and `NUMBER` what it holds.
const INTEGER: &str = include_str!("models/atomic_integer.rs");

/// Maps and sets: `MAP` and `SET` are their names, `MAPS` and `SETS` their modules.
const MAP: &str = include_str!("models/map.rs");

/// Crates whose names the compiler needs where a file uses them and does not say where they are.
const CRATES: [(&str, &str); 4] = [
    ("loom", include_str!("models/loom.rs")),
    ("shuttle", include_str!("models/shuttle.rs")),
    ("atomic_wait", include_str!("models/atomic_wait.rs")),
    ("libc", include_str!("models/libc.rs")),
];

/// How the file of the models is called.
pub const FILE: &str = "palisade_models.rs";

/// Whether a file is the models'.
pub fn is_model(path: &Path) -> bool {
    path.ends_with(FILE)
}

/// The text of the whole crate.
pub fn text() -> String {
    let mut atomics = String::new();
    for (atomic, number) in [
        ("AtomicU8", "u8"),
        ("AtomicU16", "u16"),
        ("AtomicU32", "u32"),
        ("AtomicU64", "u64"),
        ("AtomicUsize", "usize"),
        ("AtomicI8", "i8"),
        ("AtomicI16", "i16"),
        ("AtomicI32", "i32"),
        ("AtomicI64", "i64"),
        ("AtomicIsize", "isize"),
    ] {
        atomics.push_str(&INTEGER.replace("ATOMIC", atomic).replace("NUMBER", number));
    }
    let map = |first: &str, module: &str, bound: &str, sorted: &str| {
        let text = MAP.replace("MAPS", &format!("{module}_map"));
        let text = text.replace("SETS", &format!("{module}_set"));
        let text = text.replace("MAP", &format!("{first}Map"));
        let text = text.replace("SET", &format!("{first}Set"));
        text.replace("BOUND", bound).replace("SORTED", sorted)
    };
    let maps = map("Hash", "hash", "PartialEq + PartialOrd", "false")
        + &map("BTree", "btree", "PartialOrd", "true");
    let models = MODELS.join("\n");
    let models = models.replace("// ATOMIC INTEGERS", &atomics);
    models.replace("// MAPS AND SETS", &maps)
}

/// Adds the models to what is known.
pub fn add(index: &mut Index, compiler: &Compiler) -> Result<(), Vec<Diagnostic>> {
    let text = text();
    let mir = mir(&text, compiler)?;
    index
        .read(
            Path::new(FILE),
            &text,
            "std",
            &Cfg::default(),
            FxHashMap::default(),
        )
        .map_err(|e| broken(format!("{}: {}", e.file.display(), e.message)))?;
    let unit = crate::parsed(&mir, compiler, index.names("std::"))?;
    index.add(unit);
    Ok(())
}

/// The MIR of the models, which each compiler is asked for once.
fn mir(text: &str, compiler: &Compiler) -> Result<Arc<str>, Vec<Diagnostic>> {
    static KNOWN: Mutex<Vec<(PathBuf, Arc<str>)>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, mir)) = known.iter().find(|(rustc, _)| *rustc == compiler.rustc) {
        return Ok(mir.clone());
    }
    let scratch = tempfile::tempdir().map_err(|e| broken(e.to_string()))?;
    let path = scratch.path().join(FILE);
    std::fs::write(&path, text).map_err(|e| broken(e.to_string()))?;
    let own = Compiler {
        test: false,
        edition: "2021".to_owned(),
        arguments: vec![
            "--crate-type=lib".to_owned(),
            format!("--remap-path-prefix={}/=", scratch.path().display()),
        ],
        ..compiler.clone()
    };
    let mir: Arc<str> = Arc::from(crate::mir_of(&path, &own)?);
    known.push((compiler.rustc.clone(), mir.clone()));
    Ok(mir)
}

/// The compiler's arguments for the crates that a text uses and that are known here, with the directory that holds them. `text`: the file, or several.
pub fn crates(
    text: &str,
    compiler: &Compiler,
) -> Result<(Vec<String>, tempfile::TempDir), Vec<Diagnostic>> {
    let scratch = tempfile::tempdir().map_err(|e| broken(e.to_string()))?;
    let mut arguments = Vec::new();
    for (name, stub) in CRATES {
        let used = text.contains(&format!("{name}::"));
        let given = compiler
            .arguments
            .iter()
            .any(|a| a.contains(&format!("{name}=")));
        if !used || given {
            continue;
        }
        let path = scratch.path().join(format!("{name}.rs"));
        let library = scratch.path().join(format!("lib{name}.rmeta"));
        std::fs::write(&path, stub).map_err(|e| broken(e.to_string()))?;
        crate::compile::library(&path, &library, name, compiler)
            .map_err(|e| broken(format!("{e:?}")))?;
        arguments.push("--extern".to_owned());
        arguments.push(format!("{name}={}", library.display()));
    }
    Ok((arguments, scratch))
}

fn broken(why: String) -> Vec<Diagnostic> {
    let message = format!("the models of the standard library cannot be used: {why}");
    vec![Diagnostic::error(Span::default(), message)]
}
