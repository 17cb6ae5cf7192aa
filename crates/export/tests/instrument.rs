//! Three routes to the same verdict: the direct search, the instrumented program under our own SC walk, and the same under SPIN.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use palisade_check::sc::{Observed, Observer, ScSpace};
use palisade_check::state::Frame;
use palisade_check::{Control, Criterion, Model, Options, Reductions, Verdict, check};
use palisade_explore::{Limits, Successors, Walk};
use palisade_export::{attacks, instrument, instrument_persistence, to_promela};
use palisade_lang::print::to_pal;
use palisade_lang::{Copies, Program};
use palisade_testkit::{Shape, compare, spin};
use palisade_threads::View;

/// A criterion with its source-to-source construction.
type Route = (Criterion, fn(&Program) -> Program);

const ROUTES: [Route; 2] = [
    (Criterion::Robust, |program| instrument(program, None)),
    (Criterion::Persistent, instrument_persistence),
];

/// `Some(true)`: it holds; `None`: not known within the limits.
fn directly(program: &Program, criterion: Criterion) -> Option<bool> {
    let options = Options {
        timeout: Some(Duration::from_secs(20)),
        ..Options::new(Model::Tso, criterion)
    };
    let control = Control {
        cancel: &AtomicBool::new(false),
        progress: &|_| {},
    };
    match check(program, &options, &control).ok()?.verdict {
        Verdict::Holds => Some(true),
        Verdict::Violated => Some(false),
        Verdict::Unknown(_) => None,
    }
}

/// Looks for the goal. Errors of the program are no goal.
struct Goal;

impl Observer for Goal {
    fn observe(
        &self,
        frame: &Frame<'_>,
        view: &mut View<'_>,
        state: Observed<'_>,
        out: &mut Successors<'_>,
    ) {
        if frame.is_true(view, state.row, &frame.nevers[0], state.deadlock) {
            out.report(0);
        }
    }

    fn error(&self, _: usize, _: u32, _: u64, _: &mut Successors<'_>) {}

    fn watched_writes(&self) -> u64 {
        0
    }
}

/// Whether the goal is out of reach under SC; `None` if that takes more states.
fn unreachable(instrumented: &Program, states: u64) -> Option<bool> {
    let frame = Frame::new(instrumented, &Reductions::ALL);
    let space = ScSpace {
        frame: &frame,
        observer: Goal,
        partial_order: true,
    };
    let limits = Limits {
        states: Some(states),
        ..Limits::default()
    };
    let outcome = Walk::new(&space).limits(limits).stop_at_first(true).run();
    match outcome.stopped {
        _ if !outcome.findings.is_empty() => Some(false),
        None => Some(true),
        Some(_) => None,
    }
}

#[test]
fn the_instrumented_program_agrees_on_random_programs() {
    for (criterion, instrument) in ROUTES {
        for (shape, seeds) in [(&Shape::TSO, 0..1_500), (&Shape::LOOPS, 0..500)] {
            let compared = compare(
                shape,
                seeds,
                |program| directly(program, criterion),
                |program| unreachable(&instrument(program), 1_000_000),
            );
            println!("{}: {compared:?}", criterion.name());
            assert!(compared.skipped * 20 <= compared.programs);
        }
    }
}

/// A program is robust iff none of its attacks has a witness.
#[test]
fn the_instrumented_programs_of_all_attacks_agree() {
    let compared = compare(
        &Shape::TSO,
        80_000..80_400,
        |program| directly(program, Criterion::Robust),
        |program| {
            let mut robust = Some(true);
            for attack in attacks(program) {
                match unreachable(&instrument(program, Some(&attack)), 1_000_000) {
                    Some(true) => {}
                    Some(false) => return Some(false),
                    None => robust = None,
                }
            }
            robust
        },
    );
    println!("{compared:?}");
    assert!(compared.skipped * 20 <= compared.programs);
}

/// What is printed as `.pal` and read again still agrees.
#[test]
fn the_printed_instrumented_program_agrees() {
    for (criterion, instrument) in ROUTES {
        let compared = compare(
            &Shape::LOOPS,
            70_000..70_100,
            |program| directly(program, criterion),
            |program| {
                let read = palisade_testkit::program(&to_pal(&instrument(program)));
                unreachable(&read, 1_000_000)
            },
        );
        println!("{}: {compared:?}", criterion.name());
    }
}

/// The programs of the house that have a fixed number of threads.
fn house() -> Vec<(PathBuf, Program)> {
    let mut directories = vec![palisade_testkit::workspace_dir().join("programs")];
    let mut files = Vec::new();
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|e| e == "pal") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
        .into_iter()
        .filter(|file| !file.components().any(|part| part.as_os_str() == "large"))
        .filter_map(|file| {
            let text = std::fs::read_to_string(&file).ok()?;
            let program = palisade_testkit::parse(&text)?;
            let fixed = program.threads.iter().all(|t| t.copies != Copies::Any);
            fixed.then_some((file, program))
        })
        .collect()
}

fn name_of(file: &Path) -> String {
    let name = file.file_stem().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Compares the direct search with the instrumented programs of the house that need at most so many states; how many were compared.
fn house_agrees(states: u64) -> usize {
    let mut least = usize::MAX;
    for (criterion, instrument) in ROUTES {
        let mut compared = 0;
        let mut too_large = Vec::new();
        for (file, program) in house() {
            let found = unreachable(&instrument(&program), states);
            let direct = directly(&program, criterion);
            if let (Some(found), Some(direct)) = (found, direct) {
                assert_eq!(direct, found, "{}: {}", criterion.name(), file.display());
                compared += 1;
            } else {
                too_large.push(name_of(&file));
            }
        }
        let name = criterion.name();
        println!(
            "{name}: {compared} programs compared, too large: {}",
            too_large.join(", ")
        );
        least = least.min(compared);
    }
    least
}

/// The instrumented programs are larger, so this is for those that need few states.
#[test]
fn the_instrumented_program_agrees_on_the_programs_of_the_house() {
    assert!(house_agrees(30_000) >= 100);
}

#[test]
#[ignore = "takes many minutes"]
fn the_instrumented_program_agrees_on_large_programs_of_the_house() {
    assert!(house_agrees(10_000_000) >= 200);
}

/// SPIN's answer to an instrumented program: an assertion is violated or not.
fn by_spin(instrumented: &Program) -> Option<bool> {
    let model = to_promela(instrumented).ok()?;
    // At most a minute; the depth is that of the search, not of a state space. Models that are too large for SPIN are refused by it.
    spin::verify(&model, &["-m1000000", "-E", "-Q1"]).ok()?
}

#[test]
fn spin_agrees() {
    if !spin::is_installed() {
        return;
    }
    // Programs without errors of their own, which SPIN would report as well.
    let shape = Shape {
        pointers: false,
        accesses: 6,
        ..Shape::TSO
    };
    for (criterion, instrument) in ROUTES {
        let compared = compare(
            &shape,
            0..8,
            |program| directly(program, criterion),
            |program| by_spin(&instrument(program)),
        );
        println!("{}: {compared:?}", criterion.name());
        // Of the house, small programs, and every eighth of them: each costs a run of the C compiler.
        let small = house().into_iter().filter(|(_, program)| {
            let instrumented = instrument(program);
            let ops: usize = instrumented
                .threads
                .iter()
                .map(|t| t.transitions.len())
                .sum();
            ops < 600 && unreachable(&instrumented, 2_000).is_some()
        });
        let programs = small.step_by(8).take(8);
        assert!(spin_agrees_on(programs, criterion, instrument) > 0);
    }
}

#[test]
#[ignore = "takes an hour, and SPIN"]
fn spin_agrees_on_the_whole_house() {
    for (criterion, instrument) in ROUTES {
        let programs = house().into_iter();
        assert!(spin_agrees_on(programs, criterion, instrument) >= 100);
    }
}

/// How many of the programs SPIN answered; all of them as the direct search does.
fn spin_agrees_on(
    programs: impl Iterator<Item = (PathBuf, Program)>,
    criterion: Criterion,
    instrument: fn(&Program) -> Program,
) -> usize {
    let mut compared = 0;
    let mut unanswered = Vec::new();
    for (file, program) in programs {
        let direct = directly(&program, criterion);
        let found = by_spin(&instrument(&program));
        if let (Some(direct), Some(found)) = (direct, found) {
            assert_eq!(direct, found, "{}: {}", criterion.name(), file.display());
            compared += 1;
        } else {
            unanswered.push(name_of(&file));
        }
    }
    let name = criterion.name();
    println!(
        "{name}: {compared} programs of the house, without an answer: {}",
        unanswered.join(", ")
    );
    compared
}
