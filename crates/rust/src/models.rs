//! The standard library, as far as threads can see it: a crate in Rust, compiled and executed like the user's.

use crate::compile::Compiler;
use crate::index::Index;
use palisade_lang::{Diagnostic, Span};
use std::path::Path;

/// The models, but for the atomic types.
const MODELS: &str = include_str!("models/std.rs");
/// One atomic integer type: `ATOMIC` is its name and `NUMBER` what it holds.
const INTEGER: &str = include_str!("models/atomic_integer.rs");

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
    MODELS.replace("// ATOMIC INTEGERS", &atomics)
}

/// Adds the models to what is known.
pub fn add(index: &mut Index, compiler: &Compiler) -> Result<(), Vec<Diagnostic>> {
    let broken = |why: String| {
        vec![Diagnostic::error(
            Span::default(),
            format!("the models of the standard library cannot be used: {why}"),
        )]
    };
    let scratch = tempfile::tempdir().map_err(|e| broken(e.to_string()))?;
    let path = scratch.path().join(FILE);
    let text = text();
    std::fs::write(&path, &text).map_err(|e| broken(e.to_string()))?;
    let compiler = Compiler {
        test: false,
        edition: "2021".to_owned(),
        arguments: vec![
            "--crate-type=lib".to_owned(),
            format!("--remap-path-prefix={}/=", scratch.path().display()),
        ],
        ..compiler.clone()
    };
    let unit = crate::unit_of(&path, &compiler, "std::")?;
    index
        .add(Path::new(FILE), &text, unit, "std::")
        .map_err(|e| broken(format!("{}: {}", e.file.display(), e.message)))
}
