//! Programs of other tools, where they are present.

use palisade_check::{Control, Criterion, Model, Options, Verdict, check};
use palisade_lang::Program;
use std::path::{Path, PathBuf};

fn corpus() -> Option<PathBuf> {
    palisade_testkit::corpus_dir().map(|directory| directory.join("c"))
}

fn read(path: &Path, defines: &[&str]) -> Result<Program, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let defines = defines.iter().map(|define| {
        let (name, value) = define.split_once('=').unwrap_or((define, "1"));
        (name.to_string(), value.to_string())
    });
    let options = palisade_c::Options {
        defines: defines.collect(),
        ..palisade_c::Options::default()
    };
    let name = path.to_string_lossy();
    match palisade_c::parse(&name, &text, &options) {
        Ok(parsed) => Ok(parsed.program),
        Err((source, errors)) => {
            let error = &errors[0];
            let place = source.place(error.span.start);
            Err(format!("{name}:{place}: {}", error.message))
        }
    }
}

fn ask(program: &Program, model: Model, criterion: Criterion) -> Verdict {
    let cancel = std::sync::atomic::AtomicBool::new(false);
    let control = Control {
        cancel: &cancel,
        progress: &|_| {},
    };
    let mut options = Options::new(model, criterion);
    options.timeout = Some(std::time::Duration::from_secs(30));
    match check(program, &options, &control) {
        Ok(answer) => answer.verdict,
        Err(refusal) => Verdict::Unknown(refusal.message),
    }
}

/// The programs of a test: what its variants include, or its one file.
fn programs(directory: &Path) -> Vec<PathBuf> {
    let files = |directory: &Path| -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(directory) else {
            return Vec::new();
        };
        let paths = entries.flatten().map(|entry| entry.path());
        let mut paths: Vec<_> = paths
            .filter(|path| path.extension().is_some_and(|e| e == "c"))
            .collect();
        paths.sort();
        paths
    };
    let variants = files(&directory.join("variants"));
    match variants.is_empty() {
        true => files(directory),
        false => variants,
    }
}

fn rows(path: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path).expect("a table");
    let rows = text.lines().skip(1);
    rows.map(|row| row.split('\t').map(str::to_string).collect())
        .collect()
}

#[test]
fn more_executions_than_under_sc_means_not_robust() {
    let Some(corpus) = corpus() else { return };
    let mut wrong = Vec::new();
    for row in rows(&corpus.join("genmc.tsv")) {
        let (name, expected) = (&row[0], &row[4]);
        let defines: Vec<&str> = row[3]
            .split_whitespace()
            .filter_map(|argument| argument.strip_prefix("-D"))
            .collect();
        let file = programs(&corpus.join("genmc").join(name)).remove(0);
        let program = match read(&file, &defines) {
            Ok(program) => program,
            Err(error) => {
                wrong.push(error);
                continue;
            }
        };
        let verdict = ask(&program, Model::Rc11, Criterion::Robust);
        let robust = verdict == Verdict::Holds;
        if verdict != Verdict::Holds && verdict != Verdict::Violated || (expected == "no") == robust
        {
            wrong.push(format!("{name}: {verdict:?}, expected {expected}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_race_is_found_in_each_racy_program() {
    let Some(corpus) = corpus() else { return };
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(corpus.join("genmc/racy")).expect("a directory") {
        let directory = entry.expect("an entry").path();
        for file in programs(&directory) {
            let verdict = match read(&file, &[]) {
                Ok(program) => ask(&program, Model::C20, Criterion::Safe),
                Err(error) => Verdict::Unknown(error),
            };
            if verdict != Verdict::Violated {
                wrong.push(format!("{}: {verdict:?}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn locks_with_weakened_orders() {
    let Some(corpus) = corpus() else { return };
    let mut wrong = Vec::new();
    for row in rows(&corpus.join("locks.tsv")) {
        let (name, expected) = (&row[0], row[1].as_str());
        let (base, change) = name.split_once('-').unwrap_or((name, ""));
        let mut defines = vec!["NTHREADS=2".to_string()];
        if !change.is_empty() {
            let change = change.to_uppercase();
            // Where a lock has but one such place, its macro has the shorter name, or is `FAIL`.
            let short = change.trim_end_matches("_LOCK").trim_end_matches("_UNLOCK");
            defines.push(short.to_string());
            if base == "clh_mutex" || base == "ticket_awnsb_mutex" {
                defines.push("FAIL".to_string());
            }
            defines.push(change);
        }
        let defines: Vec<&str> = defines.iter().map(String::as_str).collect();
        let file = corpus.join("locks").join(format!("{base}.c"));
        let verdict = match read(&file, &defines) {
            Ok(program) => ask(&program, Model::C20, Criterion::Safe),
            Err(error) => Verdict::Unknown(error),
        };
        let right = match expected {
            "safe" => verdict == Verdict::Holds,
            "unsafe" => verdict == Verdict::Violated,
            _ => matches!(verdict, Verdict::Holds | Verdict::Violated),
        };
        println!("{name}: {verdict:?}, there {expected}");
        if !right {
            wrong.push(format!("{name}: {verdict:?}, expected {expected}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
