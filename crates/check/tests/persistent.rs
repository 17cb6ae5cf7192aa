//! The flattening abstraction: what it proves is true, and the answer is the same with and without it.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use palisade_check::{
    Abstraction, Answer, Control, Criterion, Level, Model, Options, Reductions, Verdict, check,
};
use palisade_lang::Program;
use palisade_testkit::{Shape, compare, program, workspace_dir};

fn ask(program: &Program, abstraction: Abstraction, reductions: Reductions) -> Answer {
    let options = Options {
        abstraction,
        reductions,
        timeout: Some(Duration::from_secs(20)),
        ..Options::new(Model::Tso, Criterion::Persistent)
    };
    let control = Control {
        cancel: &AtomicBool::new(false),
        progress: &|_| {},
    };
    let answer = check(program, &options, &control).expect("it can be asked");
    for witness in &answer.witnesses {
        if let Err(invalid) = palisade_validate::validate(program, witness) {
            panic!("{invalid:?}\n{}", program.source.text());
        }
    }
    answer
}

fn decide(program: &Program, abstraction: Abstraction) -> Option<bool> {
    match ask(program, abstraction, Reductions::ALL).verdict {
        Verdict::Holds => Some(true),
        Verdict::Violated => Some(false),
        Verdict::Unknown(_) => None,
    }
}

/// An abstract program is the only thing that `Level::Abstract` rests on, so this says that abstractly persistent implies persistent.
#[test]
fn the_answer_is_the_same_with_the_abstraction() {
    for (shape, seeds) in [(&Shape::TSO, 0..3_000), (&Shape::LOOPS, 0..1_500)] {
        for steps in 0..3 {
            let by_abstraction = std::cell::Cell::new(0);
            let compared = compare(
                shape,
                seeds.clone(),
                |program| decide(program, Abstraction::Off),
                |program| {
                    let reductions = Reductions {
                        // What the filter dismisses never reaches the abstraction.
                        static_filter: steps == 1,
                        ..Reductions::ALL
                    };
                    let answer = ask(program, Abstraction::From(steps), reductions);
                    if matches!(answer.stats.level, Some(Level::Abstract(_))) {
                        by_abstraction.set(by_abstraction.get() + 1);
                    }
                    match answer.verdict {
                        Verdict::Holds => Some(true),
                        Verdict::Violated => Some(false),
                        Verdict::Unknown(_) => None,
                    }
                },
            );
            println!("{compared:?}, {} by abstraction", by_abstraction.get());
            assert!(compared.skipped * 20 <= compared.programs);
            assert!(by_abstraction.get() >= if steps == 1 { 20 } else { 200 });
        }
    }
}

/// Read literally, the paper leaves the registers of skipped loads as they are, and would call this persistent.
#[test]
fn a_value_that_is_passed_on_by_another_thread_counts() {
    let program = program(
        "shared x, w, z; thread p { x = 1; w = 1; let r = z; } thread q { let t = x; z = t; }",
    );
    for abstraction in [
        Abstraction::Off,
        Abstraction::Auto,
        Abstraction::From(0),
        Abstraction::From(1),
        Abstraction::From(7),
    ] {
        let answer = ask(&program, abstraction, Reductions::ALL);
        assert_eq!(answer.verdict, Verdict::Violated);
        assert_eq!(answer.stats.level, Some(Level::Concrete));
    }
}

/// What a thread reads in its first steps must be up to date, also where the pivot does not read it.
#[test]
fn first_steps_see_the_stores_of_other_threads() {
    let program = program(
        "shared x, y, g; thread p { x = 1; let r = y; } thread q { skip; skip; g = 1; }
         thread s { if g == 1 { y = 1; } }",
    );
    for steps in 0..5 {
        let answer = ask(&program, Abstraction::From(steps), Reductions::ALL);
        assert_eq!(answer.verdict, Verdict::Violated);
    }
}

/// A lock that the pivot does not read stands in no thread's way in the abstract program, so that more of the others' steps are needed.
#[test]
fn refinement_ends_in_the_right_answer() {
    let guarded = program(
        "shared x, y, never_set; thread p { x = 1; let r = y; } thread q { if never_set == 1 { y = 1; } }",
    );
    let answer = ask(&guarded, Abstraction::From(0), Reductions::NONE);
    assert_eq!(answer.verdict, Verdict::Holds);
    assert_eq!(answer.stats.level, Some(Level::Abstract(2)));
}

#[test]
fn programs_with_many_threads_are_proved_abstractly() {
    let file = workspace_dir().join("programs/sync/task-scheduler.pal");
    let text = std::fs::read_to_string(file).expect("it is part of the project");
    let answer = ask(&program(&text), Abstraction::From(0), Reductions::ALL);
    assert_eq!(answer.verdict, Verdict::Holds);
    println!("{:?}", answer.stats);
}
