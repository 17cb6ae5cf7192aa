//! The programs of programs/param, with 1 … 5 copies as ordinary programs, and by each search alone.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use palisade_check::{Control, Criterion, Model, Options, Verdict};
use palisade_lang::Program;
use palisade_param::{Engine, Proved, prove};
use palisade_testkit::{program, workspace_dir};

/// So many copies are checked as ordinary programs.
const MOST_COPIES: u32 = 5;

/// A line of a header: a question, and the smallest number of copies that violates the criterion, if there is one.
#[derive(Clone, Debug)]
struct Expectation {
    file: String,
    program: Program,
    model: Model,
    criterion: Criterion,
    violated: Option<u32>,
}

fn expectations() -> Vec<Expectation> {
    let mut files: Vec<_> = std::fs::read_dir(workspace_dir().join("programs/param"))
        .expect("programs/param is part of the project")
        .map(|entry| entry.expect("a readable directory").path())
        .collect();
    files.sort();
    let mut found = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).expect("a readable program");
        let program = program(&text);
        for line in text.lines() {
            let Some((question, answer)) = line
                .strip_prefix("// expect ")
                .and_then(|rest| rest.split_once(": "))
            else {
                continue;
            };
            let (model, criterion) = question.split_once(' ').expect("a model and a criterion");
            let models = [Model::Sc, Model::Tso, Model::Ra];
            let criteria = [
                Criterion::Safe,
                Criterion::Drf,
                Criterion::Trf,
                Criterion::Robust,
                Criterion::Persistent,
            ];
            let copies = answer.split(", ").find_map(|p| p.strip_prefix("copies "));
            let copies = copies.map(|c| c.trim().parse().expect("a number of copies"));
            assert_eq!(
                copies.is_some(),
                answer.starts_with("violated"),
                "{path:?}: {line}"
            );
            found.push(Expectation {
                file: path.file_name().unwrap().to_string_lossy().into_owned(),
                program: program.clone(),
                model: models.into_iter().find(|m| m.name() == model).unwrap(),
                criterion: criteria
                    .into_iter()
                    .find(|c| c.name() == criterion)
                    .unwrap(),
                violated: copies,
            });
        }
    }
    assert!(
        found.len() > 150,
        "programs/param has lost its expectations"
    );
    found
}

fn with_control<T>(ask: impl FnOnce(&Control<'_>) -> T) -> T {
    let cancel = AtomicBool::new(false);
    ask(&Control {
        cancel: &cancel,
        progress: &|_| {},
    })
}

/// Does something for each thing, several at a time.
fn for_each<T: Sync>(things: &[T], act: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(|| {
                while let Some(thing) = things.get(next.fetch_add(1, Ordering::Relaxed)) {
                    act(thing);
                }
            });
        }
    });
}

/// How long one instance may take; with `PALISADE_PATIENCE` (in seconds) longer.
fn time_limit() -> Duration {
    let seconds = std::env::var("PALISADE_PATIENCE").ok();
    Duration::from_secs(seconds.and_then(|s| s.parse().ok()).unwrap_or(1))
}

#[test]
fn given_numbers_of_copies_agree() {
    let mut work = Vec::new();
    for expectation in expectations() {
        for copies in 1..=expectation.violated.unwrap_or(MOST_COPIES) {
            work.push((expectation.clone(), copies));
        }
    }
    let left_out = Mutex::new(Vec::new());
    for_each(&work, |(expectation, copies)| {
        let name = format!(
            "{} {} {} with {copies}",
            expectation.file,
            expectation.model.name(),
            expectation.criterion.name()
        );
        let options = Options {
            timeout: Some(time_limit()),
            jobs: 1,
            ..Options::new(expectation.model, expectation.criterion)
        };
        let instance = expectation.program.with_copies(*copies);
        let start = Instant::now();
        let answer = with_control(|control| palisade_check::check(&instance, &options, control));
        let answer = answer.unwrap_or_else(|refusal| panic!("{name}: {}", refusal.message));
        let expected = expectation.violated == Some(*copies);
        match answer.verdict {
            Verdict::Holds => assert!(!expected, "{name}: it holds"),
            Verdict::Violated => assert!(expected, "{name}: it is violated"),
            Verdict::Unknown(_) => left_out.lock().unwrap().push(name),
        }
        if start.elapsed() > Duration::from_secs(2) {
            println!("slow {:?}", start.elapsed());
        }
    });
    let left_out = left_out.into_inner().unwrap();
    println!(
        "{} of {} left out: {left_out:#?}",
        left_out.len(),
        work.len()
    );
    assert!(left_out.len() * 2 < work.len(), "too many are left out");
}

#[test]
fn each_search_alone_agrees() {
    let work: Vec<(Expectation, Engine)> = expectations()
        .into_iter()
        .filter(|e| (e.model, e.criterion) != (Model::Tso, Criterion::Safe))
        .flat_map(|e| [(e.clone(), Engine::Forward), (e, Engine::Backward)])
        .collect();
    let lines = Mutex::new(Vec::new());
    for_each(&work, |(expectation, engine)| {
        let name = format!(
            "{} {} {} {engine:?}",
            expectation.file,
            expectation.model.name(),
            expectation.criterion.name()
        );
        let options = Options {
            timeout: Some(time_limit()),
            jobs: 1,
            ..Options::new(expectation.model, expectation.criterion)
        };
        let start = Instant::now();
        let proved =
            with_control(|control| prove(&expectation.program, &options, control, *engine, 50_000));
        let proved = proved.unwrap_or_else(|refusal| panic!("{name}: {}", refusal.message));
        let what = match proved {
            Some(Proved::Holds(proof)) => {
                assert_eq!(expectation.violated, None, "{name}");
                match proof {
                    Some(proof) => format!(
                        "holds: {} ideals, basis {}",
                        proof.ideals.len(),
                        proof.basis.len()
                    ),
                    None => "holds".into(),
                }
            }
            Some(Proved::Violated(copies)) => {
                assert!(expectation.violated.is_some_and(|c| c <= copies), "{name}");
                format!("violated with {copies}")
            }
            other => format!("{other:?}"),
        };
        lines
            .lock()
            .unwrap()
            .push(format!("{name}: {what} {:.2?}", start.elapsed()));
    });
    let mut lines = lines.into_inner().unwrap();
    lines.sort();
    for line in lines {
        println!("{line}");
    }
}

fn alone(text: &str, engine: Engine, most: u64) -> Option<Proved> {
    let options = Options::new(Model::Sc, Criterion::Safe);
    with_control(|control| prove(&program(text), &options, control, engine, most)).unwrap()
}

/// The forward search does not count so far, and never ends.
#[test]
fn only_the_backward_search_counts_permits() {
    let path = workspace_dir().join("programs/param/semaphore.pal");
    let text = std::fs::read_to_string(path).expect("a readable program");
    let few = text.replace("PERMITS = 300", "PERMITS = 3");
    let holds = |proved: Option<Proved>| matches!(proved, Some(Proved::Holds(_)));
    assert!(holds(alone(&few, Engine::Forward, 10_000)));
    assert!(holds(alone(&few, Engine::Backward, 10_000)));
    assert_eq!(alone(&text, Engine::Forward, 50_000), Some(Proved::Open));
    assert!(holds(alone(&text, Engine::Backward, 10_000)));
    // With seven inside, the count may be forgotten.
    let broken = text.replace("PERMITS = 300", "PERMITS = 9").replace(
        "cs: fadd",
        "if inside == 7 { choose { } or { inside = 0; } }\n    cs: fadd",
    );
    assert!(matches!(
        alone(&broken, Engine::Backward, 10_000),
        Some(Proved::Violated(7..))
    ));
}

/// A condition that goes wrong for one choice of copies is true for another: the copy that comes first has another register than all others.
#[test]
fn an_error_for_one_choice_is_none_for_another() {
    for (condition, copies, relation) in [
        ("a[t[0].r] == 0 && t[0]@done && x == 2", 2, "=="),
        (
            "a[t[1].r] == 0 && t[0]@done && t[1]@done && t[2]@done",
            3,
            "!=",
        ),
        ("1 / (5 - t[0].r) == 0 && x == 3", 3, "!="),
        ("*(&x + t[0].r) == 3 && t[1]@done && x == 3", 3, "=="),
        (
            "t[0]@done && a[t[0].r + 1] == 0 || a[t[1].r] == 0 && x == 3",
            2,
            "!=",
        ),
    ] {
        let text = format!(
            "domain 8;\nshared x, a[2], lock;\nthread t[*] {{\n  let r = 5;\n  if cas(lock, 0, 1) {relation} 0 {{ r = 0; }}\n  atomic {{ let n = x; assume n < 3; x = n + 1; }}\n  done: skip;\n  wait(lock == 2);\n}}\nnever {condition};\n"
        );
        let program = program(&text);
        let options = Options::new(Model::Sc, Criterion::Safe);
        let answer = with_control(|control| palisade_param::check(&program, &options, control));
        let answer = answer.unwrap_or_else(|refusal| panic!("{condition}: {}", refusal.message));
        let witness = answer.witnesses.first();
        let witness = witness.unwrap_or_else(|| panic!("{condition}: {:?}", answer.verdict));
        assert_eq!(witness.copies, Some(copies), "{condition}");
        palisade_validate::validate(&program, witness).unwrap();
        for engine in [Engine::Forward, Engine::Backward] {
            let proved = alone(&text, engine, 10_000);
            assert!(!matches!(proved, Some(Proved::Holds(_))), "{condition}");
        }
    }
}

/// That some copy is at `l` makes the condition go wrong: it may be false again with more copies, and is not asked for all numbers.
#[test]
fn a_condition_that_more_copies_make_go_wrong() {
    let text = "domain 4;\nshared x, turn;\nthread t[*] {\n  choose { bcas(turn, 0, 1); l: wait(x == 3); }\n  or { wait(turn == 1); m: wait(x == 3); }\n}\n";
    for (condition, is_asked) in [
        ("(t@l && 1 / x == 1) || t[0]@m", false),
        ("t[0]@m || (t@l && 1 / x == 1)", true),
        ("t@l && 1 / x == 1", true),
    ] {
        let text = format!("{text}never {condition};\n");
        let asked = alone(&text, Engine::Backward, 1000).is_some();
        assert_eq!(asked, is_asked, "{condition}");
        let options = Options::new(Model::Sc, Criterion::Safe);
        let answer =
            with_control(|control| palisade_param::check(&program(&text), &options, control));
        if let Verdict::Unknown(why) = answer.unwrap().verdict {
            assert!(
                !is_asked && why.contains("false again"),
                "{condition}: {why}"
            );
        }
    }
}
