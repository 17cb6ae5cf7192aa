//! The programs of programs/rust, and the tests in loom's style of programs/rust/loom, each with the verdicts that it must get, judged again by `validate` where
//! a run violates; and the clients of the types in programs/rust/clients.

#[allow(dead_code)]
#[path = "../../lower/tests/expected/mod.rs"]
mod expected;

use palisade_check::{Control, Criterion, Model, Options, Verdict, check};
use palisade_lang::Source;
use std::path::{Path, PathBuf};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/rust")
}

/// What is wrong about one file.
fn wrong(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).expect("a text");
    let name = file.to_string_lossy();
    let source = Source::new(&*name, &*text);
    let loaded = palisade_rust::load(file, &source, &palisade_rust::Options::default());
    let program = match loaded {
        Ok(loaded) => palisade_rust::together(loaded.programs),
        Err(not) => {
            let said = not.diagnostics.iter().map(|d| {
                let place = not.source.place(d.span.start);
                format!("{name}:{place}: {}", d.message)
            });
            return said.collect();
        }
    };
    expected::wrong(check, &name, &text, &program)
}

/// What is wrong about the files of a directory, which has at least so many.
fn wrong_in(directory: &Path, at_least: usize) -> Vec<String> {
    let compiler = palisade_rust::compile::Compiler::default();
    if palisade_rust::compile::version(&compiler).is_none() {
        palisade_testkit::skipped("Rust compiler");
        return Vec::new();
    }
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory)
        .expect("a part of the project")
        .map(|entry| entry.expect("a readable directory").path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    let name = directory.display();
    assert!(files.len() >= at_least, "{name} has lost programs");
    files.iter().flat_map(|file| wrong(file)).collect()
}

#[test]
fn verdicts_are_as_expected() {
    let wrong = wrong_in(&directory(), 40);
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn tests_in_looms_style_are_as_expected() {
    let wrong = wrong_in(&directory().join("loom"), 8);
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// What is wrong about the client of one file: its second line is `// client TYPE: VERDICT`, and behind `any: ` the verdict for any number of threads.
fn wrong_client(file: &Path) -> Option<String> {
    let text = std::fs::read_to_string(file).expect("a text");
    let name = file.to_string_lossy();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("// client "));
    let (ty, verdict) = line
        .and_then(|line| line.split_once(": "))
        .expect("a client");
    let (verdict, any) = match verdict.split_once(", any ") {
        Some((verdict, any)) => (verdict, Some(any)),
        None => (verdict, None),
    };
    let options = palisade_rust::Options {
        client: Some(palisade_rust::client::Client {
            ty: ty.to_owned(),
            threads: None,
            calls: None,
            linearizable: None,
        }),
        ..palisade_rust::Options::default()
    };
    let source = Source::new(&*name, &*text);
    let loaded = match palisade_rust::load(file, &source, &options) {
        Ok(loaded) => loaded,
        Err(not) => return Some(format!("{name}: {}", not.diagnostics[0].message)),
    };
    let program = palisade_rust::together(loaded.programs);
    let found = expected::ask(check, &program, Model::C20, Criterion::Safe);
    if found != verdict {
        return Some(format!("{name}: {found}, not {verdict}"));
    }
    let any = any?;
    let found = match &loaded.also {
        None => "not asked".to_owned(),
        Some(program) => any_number(program),
    };
    (found != any).then(|| format!("{name}: for any number of threads {found}, not {any}"))
}

fn any_number(program: &palisade_lang::Program) -> String {
    let cancel = std::sync::atomic::AtomicBool::new(false);
    let control = Control {
        cancel: &cancel,
        progress: &|_| {},
    };
    let mut options = Options::new(Model::C20, Criterion::Safe);
    options.timeout = Some(std::time::Duration::from_secs(60));
    match palisade_param::check(program, &options, &control) {
        Err(refusal) => format!("refused: {}", refusal.message),
        Ok(answer) => match answer.verdict {
            Verdict::Holds => "holds".to_owned(),
            Verdict::Violated => "violated".to_owned(),
            Verdict::Unknown(_) => "unknown".to_owned(),
        },
    }
}

#[test]
fn clients_are_as_expected() {
    let compiler = palisade_rust::compile::Compiler::default();
    if palisade_rust::compile::version(&compiler).is_none() {
        palisade_testkit::skipped("Rust compiler");
        return;
    }
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory().join("clients"))
        .expect("programs/rust/clients is part of the project")
        .map(|entry| entry.expect("a readable directory").path())
        .collect();
    files.sort();
    assert!(files.len() >= 10, "programs/rust/clients has lost programs");
    let wrong: Vec<String> = files.iter().filter_map(|file| wrong_client(file)).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
