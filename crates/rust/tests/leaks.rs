//! Memory that is never freed: the programs of programs/rust/leaks, whose second line is `// leaks VERDICT, else VERDICT`: the first where leaks are asked for, the
//! second where they are not. A run that violates is judged again by `validate`.

#[allow(dead_code)]
#[path = "../../lower/tests/expected/mod.rs"]
mod expected;

use palisade_check::{Criterion, Model, check};
use palisade_lang::Source;
use std::path::{Path, PathBuf};

fn found(file: &Path, text: &str, leaks: bool) -> String {
    let source = Source::new(&*file.to_string_lossy(), text);
    let options = palisade_rust::Options {
        leaks,
        ..palisade_rust::Options::default()
    };
    match palisade_rust::load(file, &source, &options) {
        Ok(loaded) => {
            let program = palisade_rust::together(loaded.programs);
            expected::ask(check, &program, Model::C20, Criterion::Safe)
        }
        Err(not) => format!("not read: {}", not.diagnostics[0].message),
    }
}

#[test]
fn leaks_are_found_where_they_are_asked_for() {
    let compiler = palisade_rust::compile::Compiler::default();
    if palisade_rust::compile::version(&compiler).is_none() {
        palisade_testkit::skipped("Rust compiler");
        return;
    }
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/rust/leaks");
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory)
        .expect("programs/rust/leaks is part of the project")
        .map(|entry| entry.expect("a readable directory").path())
        .collect();
    files.sort();
    assert!(files.len() >= 9, "programs/rust/leaks has lost programs");
    let mut wrong = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a text");
        let line = text.lines().find_map(|line| line.strip_prefix("// leaks "));
        let (with, without) = line
            .and_then(|line| line.split_once(", else "))
            .expect("two verdicts");
        for (leaks, expected) in [(true, with), (false, without)] {
            let found = found(&file, &text, leaks);
            if found != expected {
                wrong.push(format!(
                    "{} {leaks}: {found}, not {expected}",
                    file.display()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
