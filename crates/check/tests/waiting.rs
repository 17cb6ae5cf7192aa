//! `deadlock`, spinning included, against brute force by its definition under every model, with every reduction on and off; and by hand. Every witness goes
//! through validation.

use std::sync::atomic::AtomicBool;

use palisade_check::note::Note;
use palisade_check::{
    Answer, Control, Criterion, Model, Options, Reductions, Route, Verdict, check,
};
use palisade_lang::Program;
use palisade_memory::{Machine, Sc};
use palisade_testkit::{Compared, Shape, compare, oracle, parse, program};

fn answer(program: &Program, options: &Options) -> Option<Answer> {
    let control = Control {
        cancel: &AtomicBool::new(false),
        progress: &|_| {},
    };
    let answer = check(program, options, &control).ok()?;
    for witness in &answer.witnesses {
        if let Err(invalid) = palisade_validate::validate(program, witness) {
            panic!("{invalid:?}\n{witness:#?}\n{}", program.source.text());
        }
    }
    Some(answer)
}

fn decided(program: &Program, options: &Options) -> Option<bool> {
    match answer(program, options)?.verdict {
        Verdict::Holds => Some(true),
        Verdict::Violated => Some(false),
        Verdict::Unknown(_) => None,
    }
}

/// The program with something about `deadlock` that it is asked for.
fn asked(base: &Program) -> Option<Program> {
    let text = base.source.text();
    let first = base.instances()[0].name.clone();
    let conditions = [
        "deadlock".to_owned(),
        "deadlock && x == 1".to_owned(),
        format!("deadlock && {first}.r0 == 1"),
        format!("deadlock && !{first}@end"),
        format!("!deadlock && {first}@end && y == 1"),
        "deadlock".to_owned(),
        format!("{first}@end && (deadlock || x == y)"),
    ];
    let number = text.bytes().map(usize::from).sum::<usize>();
    let condition = &conditions[number % conditions.len()];
    parse(&format!("{text}\nnever {condition};\n"))
}

fn agree(
    shape: &Shape,
    programs: u64,
    states: usize,
    brute_force: impl Fn(&Program) -> Option<bool>,
    search: impl Fn(&Program) -> Option<bool>,
) -> Compared {
    let expected =
        |base: &Program| oracle::within(states, || asked(base).and_then(|p| brute_force(&p)));
    let found = |base: &Program| asked(base).and_then(|p| search(&p));
    let compared = compare(shape, 0..programs, expected, found);
    println!("{compared:?}");
    assert!(compared.violated * 20 >= compared.programs);
    assert!(compared.violated * 20 <= compared.programs * 19);
    compared
}

fn with(model: Model, reductions: Reductions, route: Route) -> impl Fn(&Program) -> Option<bool> {
    let options = Options {
        reductions,
        route,
        // Graphs of executions are looked at one by one, and take long.
        most_states: Some(match model {
            Model::Sc | Model::Tso => 20_000,
            Model::Ra => 400,
            _ => 300,
        }),
        ..Options::new(model, Criterion::Safe)
    };
    move |program| decided(program, &options)
}

const LOOPS: Shape = Shape {
    accesses: 5,
    properties: false,
    ..Shape::LOOPS
};

/// What the machines say about a state is what the definition says, looked at as a whole.
#[test]
fn the_definition() {
    let (mut states, mut deadlocks) = (0, 0);
    for seed in 0..4_000 {
        let text = palisade_testkit::random_sketch(seed, &LOOPS).to_string();
        let program = program(&text);
        let machine = Sc::new(&program);
        // Some runs, chosen by the seed.
        let mut state = machine.initial();
        for step in 0..40u64 {
            let quickly =
                palisade_memory::is_deadlock(machine.code(), &state.locals, &state.memory, None);
            let by_definition = oracle::is_deadlock(&machine, &state.locals, &state.memory);
            if let (Some(quickly), Some(by_definition)) = (quickly, by_definition) {
                states += 1;
                deadlocks += u64::from(quickly);
                assert_eq!(quickly, by_definition, "{state:?}\n{text}");
            }
            let mut steps = machine.steps(&state);
            if steps.is_empty() {
                break;
            }
            let choice = (seed.wrapping_mul(31) + step * 7) % steps.len() as u64;
            state = steps.swap_remove(choice as usize).1;
        }
    }
    println!("{states} states, {deadlocks} deadlocks");
    assert!(deadlocks > 1_000 && states > 10 * deadlocks / 9);
}

#[test]
fn random_programs_under_sc() {
    let all = with(Model::Sc, Reductions::ALL, Route::Any);
    let compared = agree(&LOOPS, 11_000, 3_000, oracle::sc_safe, all);
    assert!(compared.programs >= 10_000);
    let none = with(Model::Sc, Reductions::NONE, Route::Any);
    agree(&LOOPS, 1_500, 3_000, oracle::sc_safe, none);
}

#[test]
fn random_programs_under_tso() {
    let any = with(Model::Tso, Reductions::ALL, Route::Any);
    let compared = agree(&LOOPS, 14_000, 2_000, oracle::tso_safe, any);
    assert!(compared.programs >= 10_000);
    for route in [Route::Lazy, Route::Buffers, Route::Dual] {
        let route = with(Model::Tso, Reductions::ALL, route);
        agree(&LOOPS, 700, 4_000, oracle::tso_safe, route);
    }
}

#[test]
fn random_programs_under_ra() {
    let shape = Shape {
        accesses: 5,
        threads: (2, 3),
        loops: true,
        ..Shape::RA
    };
    let ra = with(Model::Ra, Reductions::ALL, Route::Any);
    let compared = agree(&shape, 800, 300, oracle::ra_safe, ra);
    assert!(compared.programs >= 200);
    let loop_free = Shape {
        accesses: 6,
        ..Shape::RA
    };
    let ra = with(Model::Ra, Reductions::ALL, Route::Any);
    agree(&loop_free, 300, 5_000, oracle::ra_safe, ra);
}

#[test]
fn random_programs_under_c20() {
    let shape = Shape {
        accesses: 5,
        ..Shape::C20_LOOPS
    };
    let c20 = with(Model::C20, Reductions::ALL, Route::Any);
    let compared = agree(&shape, 800, 150, oracle::c20_safe, c20);
    assert!(compared.programs >= 150);
}

fn holds(text: &str, model: Model) -> bool {
    let program = program(text);
    let options = Options {
        most_states: Some(50_000),
        ..Options::new(model, Criterion::Safe)
    };
    decided(&program, &options).unwrap_or_else(|| panic!("{}: {text}", model.name()))
}

const MODELS: [Model; 5] = [Model::Sc, Model::Tso, Model::Ra, Model::C20, Model::Rc11];

/// What waits in a loop deadlocks like what waits in `wait`, whatever the model.
#[test]
fn spinning_is_waiting() {
    for (threads, deadlocks) in [
        (
            "thread a { while x == 0 { } y = 1; } thread b { while y == 0 { } x = 1; }",
            true,
        ),
        (
            "thread a { while x == 0 { } y = 1; } thread b { x = 1; while y == 0 { } }",
            false,
        ),
        (
            "thread a { wait(x == 1); y = 1; } thread b { while y == 0 { } x = 1; }",
            true,
        ),
        // One that comes too late to see what was there for a moment.
        (
            "thread a { while x == 0 { } } thread b { x = 1; x = 0; }",
            true,
        ),
        (
            "thread a { wait(x == 1); } thread b { x = 1; x = 0; }",
            true,
        ),
        // A failed test-and-set, or compare-and-swap, changes nothing.
        (
            "thread a { while xchg(x, 1) == 1 { } } thread b { x = 1; }",
            true,
        ),
        (
            "thread a { while cas(x, 0, 1) != 0 { } } thread b { x = 1; }",
            true,
        ),
        (
            "thread a { while xchg(x, 1) == 1 { } x = 0; } thread b { while xchg(x, 1) == 1 { } x = 0; }",
            false,
        ),
        // Registers that are not read any more do not matter; those that are do.
        (
            "thread a { let r = 5; while x == 0 { r = x + y; } } thread b { y = 1; }",
            true,
        ),
        (
            "thread a { let r = 0; while x == 0 && r < 3 { r = r + 1; } y = r; } thread b { x = 0; }",
            false,
        ),
        // A thread that has a way out takes it.
        (
            "thread a { loop { choose { break; } or { let r = x; } } } thread b { skip; }",
            false,
        ),
        (
            "thread a { loop { choose { wait(x == 1); } or { let r = y; } } } thread b { skip; }",
            true,
        ),
        // Two locations, in turn.
        (
            "thread a { loop { if x == 1 { break; } if y == 1 { break; } } } thread b { x = 1; x = 0; }",
            true,
        ),
        (
            "thread a { loop { if x == 1 { break; } if y == 1 { break; } } } thread b { x = 1; x = 0; y = 1; }",
            false,
        ),
    ] {
        for model in MODELS {
            let text = format!("shared x, y; {threads} never deadlock;");
            assert_eq!(holds(&text, model), !deadlocks, "{}: {text}", model.name());
        }
    }
}

/// What is between the steps of a loop is seen where a `never` speaks of it.
#[test]
fn places_inside_loops() {
    let text = "shared x; thread a { while x == 0 { here: skip; } } thread b { skip; } never";
    for model in MODELS {
        assert!(!holds(&format!("{text} deadlock && a@here;"), model));
        assert!(!holds(&format!("{text} deadlock && !a@here;"), model));
        assert!(holds(&format!("{text} deadlock && a@end;"), model));
    }
    let before =
        "shared x; thread a { before: skip; while x == 0 { } } never deadlock && a@before;";
    assert!(holds(before, Model::Sc));
}

#[test]
fn blocks() {
    let inside =
        "shared x, y; thread a { atomic { while x == 0 { } } } thread b { x = 1; } never deadlock;";
    assert!(!holds(inside, Model::Sc));
    assert!(!holds(inside, Model::Tso));
    let polling = "shared x; thread a { loop { atomic { let r = x; if r == 1 { break; } } } } thread b { x = 1; } never deadlock;";
    assert!(holds(polling, Model::Sc));
}

/// A hand-over that is right under SC and hangs where memory is weaker.
#[test]
fn weak_memory_hangs() {
    let sleeping = "shared flag, waiting, woken;
        thread waker { flag = 1; if waiting == 1 { woken = 1; } }
        thread sleeper { waiting = 1; if flag == 0 { while woken == 0 { } } }
        never deadlock;";
    assert!(holds(sleeping, Model::Sc));
    for model in &MODELS[1..] {
        assert!(!holds(sleeping, *model), "{}", model.name());
    }
}

#[test]
fn what_it_does_not_see_is_said() {
    let lock = "shared l; thread t[2] { while xchg(l, 1) == 1 { } l = 0; } never deadlock;";
    let answer = answer(&program(lock), &Options::new(Model::Sc, Criterion::Safe)).unwrap();
    assert_eq!(answer.verdict, Verdict::Holds);
    assert!(answer.notes.contains(&Note::SpinsWithEffect(vec![1])));
}

/// A loop with more values than are looked at is no reason for `holds`.
#[test]
fn too_many_values_are_not_decided() {
    let text = "domain 40000; shared x; thread a { let r = 0; while x == 0 { r = r + 1; } x = r; } never deadlock;";
    let options = Options::new(Model::Sc, Criterion::Safe);
    let found = decided(&program(text), &options);
    assert_ne!(found, Some(true));
}
