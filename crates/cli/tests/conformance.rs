//! Every program in programs/ gets the verdicts that its header states, and every witness passes validation.
//!
//! programs/large is for measuring and is left out.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use palisade_check::{Answer, Control, Criterion, Model, Options, Verdict};
use palisade_fence::{Candidates, Costs, FenceOptions, FenceResult, Kinds, fences};
use palisade_lang::{ParseOptions, Program, Source, parse};
use palisade_param::check;

/// One line `// expect MODEL CRITERION: VERDICT[, fences N][, domain N][, copies N]`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Expectation {
    model: Model,
    criterion: Criterion,
    holds: bool,
    fences: Option<usize>,
    domain: Option<i64>,
    copies: Option<u32>,
}

fn programs_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs")
}

fn all_programs() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut dirs = vec![programs_dir()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).expect("programs/ is part of the project") {
            let path = entry.expect("a readable directory").path();
            if path.is_dir() {
                if path.file_name().is_some_and(|name| name != "large") {
                    dirs.push(path);
                }
            } else if path.extension().is_some_and(|e| e == "pal") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn expectations(text: &str) -> Result<Vec<Expectation>, String> {
    let mut found = Vec::new();
    for line in text.lines().take_while(|line| line.starts_with("//")) {
        let Some(rest) = line.strip_prefix("// expect ") else {
            continue;
        };
        found.push(expectation(rest).ok_or_else(|| format!("cannot read `{line}`"))?);
    }
    Ok(found)
}

fn expectation(text: &str) -> Option<Expectation> {
    let (question, answer) = text.split_once(": ")?;
    let (model, criterion) = question.split_once(' ')?;
    let mut parts = answer.split(", ");
    let mut expectation = Expectation {
        model: Model::ALL.into_iter().find(|m| m.name() == model)?,
        criterion: [
            Criterion::Safe,
            Criterion::Drf,
            Criterion::Trf,
            Criterion::Robust,
            Criterion::Persistent,
            Criterion::Observational,
            Criterion::Live,
        ]
        .into_iter()
        .find(|c| c.name() == criterion)?,
        holds: match parts.next()?.trim() {
            "holds" => true,
            "violated" => false,
            _ => return None,
        },
        fences: None,
        domain: None,
        copies: None,
    };
    for part in parts {
        let (what, number) = part.trim().split_once(' ')?;
        match what {
            "fences" => expectation.fences = Some(number.parse().ok()?),
            "domain" => expectation.domain = Some(number.parse().ok()?),
            "copies" => expectation.copies = Some(number.parse().ok()?),
            _ => return None,
        }
    }
    Some(expectation)
}

fn load(path: &Path, domain: Option<i64>) -> Result<Program, String> {
    let text = fs::read_to_string(path).map_err(|e| e.to_string())?;
    let source = Source::new(path.display().to_string(), text);
    let options = ParseOptions {
        domain,
        ..ParseOptions::default()
    };
    parse(&source, &options)
        .map(|parsed| parsed.program)
        .map_err(|errors| {
            errors
                .iter()
                .map(|e| {
                    let at = source.line_column(e.span.start);
                    format!("{at}: {} {}", e.message, e.label)
                })
                .collect::<Vec<_>>()
                .join("; ")
        })
}

fn control_with<T>(run: impl FnOnce(&Control<'_>) -> T) -> T {
    let cancel = AtomicBool::new(false);
    run(&Control {
        cancel: &cancel,
        progress: &|_| {},
    })
}

/// `Ok(false)` where the question cannot be asked yet.
fn meets(path: &Path, expectation: &Expectation) -> Result<bool, String> {
    let program = load(path, expectation.domain)?;
    let options = Options::new(expectation.model, expectation.criterion);
    let answer: Answer = match control_with(|control| check(&program, &options, control)) {
        Ok(answer) => answer,
        Err(refusal) if refusal.message.contains("cannot be decided yet") => return Ok(false),
        Err(refusal) => return Err(format!("refused: {}", refusal.message)),
    };
    let expected = if expectation.holds {
        Verdict::Holds
    } else {
        Verdict::Violated
    };
    if answer.verdict != expected {
        return Err(format!("the verdict is {:?}", answer.verdict));
    }
    for witness in &answer.witnesses {
        if let Some(copies) = expectation.copies
            && witness.copies != Some(copies)
        {
            return Err(format!("violated by {:?} copies", witness.copies));
        }
    }
    if let Some(count) = expectation.fences {
        let candidates = Candidates::new(&program, Kinds::FENCES, &Costs::Unit);
        let fence_options = FenceOptions::default();
        let found = control_with(|control| fences(&candidates, &options, &fence_options, control))
            .map_err(|refusal| format!("no fences: {}", refusal.message))?;
        match found.result {
            FenceResult::Optimal(set) if set.repairs.len() == count => {}
            other => return Err(format!("the fences are {other:?}")),
        }
    }
    Ok(true)
}

#[test]
fn every_program_gets_its_verdicts() {
    let mut work = Vec::new();
    let mut failures = Vec::new();
    for path in all_programs() {
        let text = fs::read_to_string(&path).expect("a readable program");
        match expectations(&text) {
            Ok(found) => work.extend(found.into_iter().map(|e| (path.clone(), e))),
            Err(error) => failures.push(format!("{}: {error}", path.display())),
        }
    }
    assert!(work.len() > 200, "programs/ has lost its expectations");
    let failures = Mutex::new(failures);
    let (next, open) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(|| {
                while let Some((path, expectation)) = work.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    match meets(path, expectation) {
                        Ok(true) => {}
                        Ok(false) => {
                            open.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(error) => {
                            let name = path
                                .strip_prefix(programs_dir())
                                .unwrap_or(path)
                                .display()
                                .to_string();
                            let line = format!(
                                "{name}: {} {}: {error}",
                                expectation.model.name(),
                                expectation.criterion.name()
                            );
                            if let Ok(mut failures) = failures.lock() {
                                failures.push(line);
                            }
                        }
                    }
                }
            });
        }
    });
    let open = open.into_inner();
    if open > 0 {
        println!("{open} of {} expectations cannot be asked yet", work.len());
    }
    let mut failures = failures.into_inner().expect("no test thread panicked");
    failures.sort();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn headers_are_read() {
    assert_eq!(
        expectation("tso robust: violated, fences 2, domain 4"),
        Some(Expectation {
            model: Model::Tso,
            criterion: Criterion::Robust,
            holds: false,
            fences: Some(2),
            domain: Some(4),
            copies: None,
        })
    );
    assert_eq!(expectation("tso robust: perhaps"), None);
}
