//! One program, three languages, one answer: random programs as `.pal`, as C and as Rust.

use palisade::{Criterion, Language, Model, Options, Program, Verdict, check};
use palisade_testkit::languages::Wordless;
use std::time::Duration;

const QUESTIONS: [(Model, Criterion); 3] = [
    (Model::C20, Criterion::Robust),
    (Model::C20, Criterion::Safe),
    (Model::C20, Criterion::Drf),
];

/// `None` where there is no answer.
fn holds(program: &Program, (model, criterion): (Model, Criterion)) -> Option<bool> {
    let options = Options::new(model, criterion).timeout(Duration::from_secs(10));
    match check(program, &options).ok()?.verdict {
        Verdict::Holds => Some(true),
        Verdict::Violated(witness) => {
            program.replay(&witness).expect("a run of the program");
            Some(false)
        }
        _ => None,
    }
}

fn pal(program: &Wordless) -> Program {
    let text = program.in_pal();
    Program::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn c(program: &Wordless) -> Program {
    let text = program.in_c();
    Program::parse_as(&text, Language::C).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn rust(program: &Wordless) -> Program {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("main.rs");
    let text = program.in_rust();
    std::fs::write(&file, &text).expect("a file");
    Program::read(&file).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The questions for which the two programs have different answers; `compared` counts those that have the same.
fn differences(
    program: &Wordless,
    other: fn(&Wordless) -> Program,
    compared: &mut [u64; 2],
) -> Vec<(Model, Criterion)> {
    let (ours, theirs) = (pal(program), other(program));
    let mut different = Vec::new();
    for question in QUESTIONS {
        if let (Some(a), Some(b)) = (holds(&ours, question), holds(&theirs, question)) {
            compared[usize::from(a)] += 1;
            if a != b {
                different.push(question);
            }
        }
    }
    different
}

fn compare(programs: impl Iterator<Item = Wordless>, other: fn(&Wordless) -> Program) -> [u64; 2] {
    let mut compared = [0, 0];
    for mut program in programs {
        let mut different = differences(&program, other, &mut compared);
        if different.is_empty() {
            continue;
        }
        loop {
            let smaller = program.smaller().into_iter().find_map(|smaller| {
                let found = differences(&smaller, other, &mut [0, 0]);
                (!found.is_empty()).then_some((smaller, found))
            });
            match smaller {
                Some((smaller, found)) => (program, different) = (smaller, found),
                None => break,
            }
        }
        panic!(
            "{different:?}\n{}\n{}\n{}",
            program.in_pal(),
            program.in_c(),
            program.in_rust()
        );
    }
    println!("{} hold, {} do not", compared[1], compared[0]);
    compared
}

/// More programs where that is asked for.
fn count(usual: u64) -> u64 {
    let asked = std::env::var("PALISADE_PROGRAMS").ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(usual)
}

#[test]
fn c_is_read_as_pal_is() {
    let programs = count(1000);
    let [violated, held] = compare((0..programs).map(Wordless::random), c);
    assert!(violated >= programs / 2 && held >= programs / 2);
}

#[test]
fn rust_is_read_as_pal_is() {
    let programs = count(40);
    let random = (0..programs).map(Wordless::random);
    // In Rust a program that stops for ever is not safe.
    let [violated, held] = compare(random.filter(|program| !program.may_wait()), rust);
    assert!(violated >= programs / 2 && held >= programs / 2);
}
