//! Three routes to the same verdict: the direct search, the instrumented program under our own SC walk, and the same under SPIN.

use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use palisade_check::{Control, Criterion, Model, Options, Reductions, Verdict, check, instrument};
use palisade_lang::Program;
use palisade_lang::print::{PromelaOptions, to_pal, to_promela};
use palisade_memory::PatternKind;
use palisade_testkit::{Shape, compare};

/// `Some(true)`: no violation; `None`: not known within the limits.
fn ask(program: &Program, options: &Options) -> (Option<bool>, bool) {
    let cancel = AtomicBool::new(false);
    let control = Control {
        cancel: &cancel,
        progress: &|_| {},
    };
    let answer = check(program, options, &control).expect("it can be asked");
    let goal = answer.witnesses.iter().any(|w| {
        w.pattern
            .as_ref()
            .is_some_and(|p| p.kind == PatternKind::Never)
    });
    let decided = match answer.verdict {
        Verdict::Holds => Some(true),
        Verdict::Violated => Some(false),
        Verdict::Unknown(_) => None,
    };
    (decided, goal)
}

fn directly(program: &Program) -> Option<bool> {
    let options = Options::new(Model::Tso, Criterion::Robust);
    ask(program, &options).0
}

/// The instrumented program reaches its goal under SC. Errors of the program are no goal, so all findings are wanted.
fn by_instrumentation(program: &Program, timeout: u64) -> Option<bool> {
    let options = Options {
        all: true,
        timeout: Some(Duration::from_secs(timeout)),
        ..Options::new(Model::Sc, Criterion::Safe)
    };
    let (decided, goal) = ask(&instrument(program), &options);
    match (decided, goal) {
        (_, true) => Some(false),
        (None, false) => None,
        (Some(_), false) => Some(true),
    }
}

#[test]
fn the_instrumented_program_agrees_on_random_programs() {
    for (shape, seeds) in [(&Shape::TSO, 0..1_500), (&Shape::LOOPS, 0..500)] {
        let compared = compare(shape, seeds, directly, |program| {
            by_instrumentation(program, 20)
        });
        println!("{compared:?}");
        assert!(compared.skipped * 20 <= compared.programs);
    }
}

/// What is printed as `.pal` and read again still agrees.
#[test]
fn the_printed_instrumented_program_agrees() {
    let compared = compare(&Shape::LOOPS, 70_000..70_100, directly, |program| {
        let printed = to_pal(&instrument(program));
        let read = palisade_testkit::program(&printed);
        let options = Options {
            all: true,
            reductions: Reductions::ALL,
            ..Options::new(Model::Sc, Criterion::Safe)
        };
        Some(!ask(&read, &options).1)
    });
    println!("{compared:?}");
}

#[test]
fn the_instrumented_program_agrees_on_the_programs_of_the_house() {
    let programs = palisade_testkit::workspace_dir().join("programs");
    let mut compared = (0, 0);
    for directory in ["litmus", "mutex", "sync", "locks"] {
        let Ok(entries) = std::fs::read_dir(programs.join(directory)) else {
            continue;
        };
        let mut files: Vec<_> = entries.flatten().map(|e| e.path()).collect();
        files.sort();
        for file in files {
            let Ok(text) = std::fs::read_to_string(&file) else {
                continue;
            };
            let Some(program) = palisade_testkit::parse(&text) else {
                continue;
            };
            let fixed = |t: &palisade_lang::Thread| t.copies != palisade_lang::Copies::Any;
            if text.len() > 4_000 || !program.threads.iter().all(fixed) {
                continue;
            }
            let direct = directly(&program);
            match by_instrumentation(&program, 2) {
                None => compared.1 += 1,
                found => {
                    assert_eq!(direct, found, "{}", file.display());
                    compared.0 += 1;
                }
            }
        }
    }
    println!("{} programs, {} left out", compared.0, compared.1);
}

fn runs(program: &str, argument: &str) -> bool {
    Command::new(program)
        .arg(argument)
        .output()
        .is_ok_and(|o| o.status.success())
}

/// SPIN's answer to an instrumented program: an assertion is violated or not.
fn by_spin(program: &Program, directory: &std::path::Path) -> Option<bool> {
    let model = to_promela(&instrument(program), &PromelaOptions::default()).ok()?;
    std::fs::create_dir_all(directory).ok()?;
    std::fs::write(directory.join("model.pml"), model).ok()?;
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(directory)
            .output()
            .ok()?;
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    run("spin", &["-a", "model.pml"])?;
    run("cc", &["-O1", "-DSAFETY", "-o", "pan", "pan.c"])?;
    let said = run("./pan", &["-m1000000", "-E"])?;
    if said.contains("error: max search depth too small") {
        return None;
    }
    let errors = said.split("errors: ").nth(1)?;
    Some(errors.trim_start().starts_with('0'))
}

#[test]
fn spin_agrees() {
    if !runs("spin", "-V") || !runs("cc", "--version") {
        println!("spin or cc is not installed");
        return;
    }
    let directory = std::env::temp_dir().join(format!("palisade-spin-{}", std::process::id()));
    // Programs without errors of their own, which SPIN would report as well.
    let shape = Shape {
        pointers: false,
        accesses: 6,
        ..Shape::TSO
    };
    let compared = compare(&shape, 0..12, directly, |program| {
        by_spin(program, &directory)
    });
    println!("{compared:?}");
    let _ = std::fs::remove_dir_all(&directory);
}
