//! `live` against brute force by its definition: explicit graphs, fair cycles; and by hand. Every witness goes through validation.

use std::sync::atomic::AtomicBool;

use palisade_check::{Answer, Control, Criterion, Model, Options, Verdict, check};
use palisade_lang::Program;
use palisade_testkit::{Shape, compare, oracle, program};

fn answer(program: &Program, model: Model) -> Answer {
    answer_within(program, &Options::new(model, Criterion::Live))
}

fn answer_within(program: &Program, options: &Options) -> Answer {
    let control = Control {
        cancel: &AtomicBool::new(false),
        progress: &|_| {},
    };
    let answer = check(program, options, &control).unwrap();
    for witness in &answer.witnesses {
        if let Err(invalid) = palisade_validate::validate(program, witness) {
            panic!("{invalid:?}\n{witness:#?}\n{}", program.source.text());
        }
    }
    answer
}

fn decided(program: &Program, model: Model) -> Option<bool> {
    verdict(answer(program, model))
}

fn decided_within(program: &Program, model: Model, states: u64) -> Option<bool> {
    let options = Options {
        most_states: Some(states),
        ..Options::new(model, Criterion::Live)
    };
    verdict(answer_within(program, &options))
}

fn verdict(answer: Answer) -> Option<bool> {
    match answer.verdict {
        Verdict::Holds => Some(true),
        Verdict::Violated => Some(false),
        Verdict::Unknown(_) => None,
    }
}

fn agree(shape: &Shape, programs: u64) {
    let expected = |program: &Program| oracle::within(600, || oracle::sc_live(program));
    let search = |program: &Program| decided(program, Model::Sc);
    let compared = compare(shape, 0..programs, expected, search);
    println!("{compared:?}");
    assert!(compared.programs * 10 >= programs * 5);
    assert!(compared.violated * 20 >= compared.programs);
    assert!(compared.violated * 20 <= compared.programs * 19);
}

#[test]
fn random_programs_with_loops() {
    let shape = Shape {
        accesses: 5,
        ..Shape::LOOPS
    };
    agree(&shape, 14_000);
}

#[test]
fn random_programs_with_loops_and_many_locked_instructions() {
    let shape = Shape {
        accesses: 5,
        locked: 60,
        blocks: false,
        ..Shape::LOOPS
    };
    agree(&shape, 6_000);
}

/// Many of these are not robust, so that the buffers decide.
#[test]
fn random_programs_under_tso() {
    let shape = Shape {
        accesses: 5,
        locked: 15,
        store_buffering: 70,
        properties: false,
        ..Shape::LOOPS
    };
    let expected = |program: &Program| oracle::within(700, || oracle::tso_live(program));
    let search = |program: &Program| decided(program, Model::Tso);
    let compared = compare(&shape, 0..4_000, expected, search);
    println!("{compared:?}");
    assert!(compared.programs >= 1_500);
    assert!(compared.violated * 20 >= compared.programs);
    assert!(compared.violated * 20 <= compared.programs * 19);
}

/// What waits in loops, what waits otherwise, what retries and what serves for ever, with many programs that are not robust.
fn weak_shape(base: Shape) -> Shape {
    Shape {
        accesses: 6,
        threads: (2, 3),
        loops: true,
        spins: 18,
        nonatomic: false,
        pointers: false,
        properties: false,
        ..base
    }
}

/// Compares with brute force where memory is fair, and says how many programs that are not robust were decided.
fn agree_where_memory_is_fair(
    model: Model,
    shape: &Shape,
    programs: u64,
    oracle: fn(&Program) -> Option<bool>,
) {
    let expected = |p: &Program| {
        let polled = oracle::polled(p.source.text());
        oracle::within(500, || oracle(&program(&polled)))
    };
    let search = |p: &Program| decided_within(p, model, 300);
    let compared = compare(shape, 0..programs, expected, search);
    println!("{}: {compared:?}", model.name());
    assert!(compared.programs * 10 >= programs * 5);
    assert!(compared.violated * 20 >= compared.programs);
    assert!(compared.violated * 20 <= compared.programs * 19);
}

#[test]
fn random_programs_under_ra() {
    agree_where_memory_is_fair(Model::Ra, &weak_shape(Shape::RA), 1_200, oracle::ra_live);
}

#[test]
fn random_programs_under_c20() {
    let shape = Shape {
        seqcst_accesses: false,
        seqcst_fences: false,
        ..weak_shape(Shape::C20_LOOPS)
    };
    agree_where_memory_is_fair(Model::C20, &shape, 1_200, oracle::c20_live);
}

/// With `seqcst` events there are no messages and views: hangs that begin after few events must be found.
#[test]
fn random_programs_under_c20_with_all_orders() {
    let shape = Shape {
        accesses: 5,
        ..weak_shape(Shape::C20_LOOPS)
    };
    let expected = |p: &Program| oracle::within(400, || oracle::c20_hangs(p));
    let search = |p: &Program| decided_within(p, Model::C20, 300);
    let compared = compare(&shape, 0..600, expected, search);
    println!("hangs of all orders: {compared:?}");
    assert!(compared.programs >= 150);
}

/// What brute force is given in place of `wait` and `bcas` hangs where they do.
#[test]
fn waiting_is_asking_again_and_again() {
    let shape = weak_shape(Shape::RA);
    let expected = |p: &Program| oracle::within(600, || oracle::sc_live(p));
    let search = |p: &Program| {
        let polled = oracle::polled(p.source.text());
        oracle::within(1_000, || oracle::sc_live(&program(&polled)))
    };
    let compared = compare(&shape, 0..1_000, expected, search);
    assert!(compared.programs >= 500);
}

fn hang(text: &str) -> Option<String> {
    let answer = answer(&program(text), Model::Sc);
    match answer.verdict {
        Verdict::Holds => None,
        Verdict::Violated => {
            let pattern = answer.witnesses[0].pattern.as_ref();
            Some(pattern.unwrap().message.clone())
        }
        Verdict::Unknown(reason) => panic!("{reason}"),
    }
}

#[test]
fn waiting() {
    let both =
        "shared x, y; thread a { while x == 0 { } y = 1; } thread b { while y == 0 { } x = 1; }";
    let message = hang(both).unwrap();
    assert!(message.starts_with("`a` waits for ever"), "{message}");
    assert!(message.contains("`b`"), "{message}");
    let woken = "shared x; thread a { while x == 0 { } } thread b { x = 1; }";
    assert_eq!(hang(woken), None);
    let late = "shared x; thread a { wait(x == 1); } thread b { x = 1; x = 0; }";
    assert!(hang(late).unwrap().contains("`a` waits for ever"));
    let assumed = "shared x; thread a { assume x == 1; }";
    assert!(hang(assumed).unwrap().contains("`a` waits for ever"));
}

#[test]
fn starving() {
    let spinlock = "shared l; thread t[2] { loop { while xchg(l, 1) == 1 { } l = 0; } }";
    let message = hang(spinlock).unwrap();
    assert!(message.contains("is starved"), "{message}");
    // Each takes the lock once: the other comes to its turn.
    let once = "shared l; thread t[2] { while xchg(l, 1) == 1 { } l = 0; }";
    assert_eq!(hang(once), None);
    let retries = "domain 4; shared n; thread t[2] { loop { let r = 0; let s = 1; while s != r { r = n; s = cas(n, r, r + 1); } } }";
    assert!(hang(retries).unwrap().contains("is starved"));
}

#[test]
fn livelocks() {
    let polite = "shared a, b;
        thread p { loop { a = 1; if b == 0 { break; } a = 0; } a = 0; }
        thread q { loop { b = 1; if a == 0 { break; } b = 0; } b = 0; }";
    assert!(hang(polite).unwrap().starts_with("livelock"));
}

#[test]
fn servers_are_not_stuck() {
    let peterson = "shared flag[2], turn;
        thread p[2] { loop { flag[me] = 1; turn = 1 - me; while flag[1 - me] == 1 && turn == 1 - me { } flag[me] = 0; } }";
    assert_eq!(hang(peterson), None);
    assert_eq!(hang("shared x; thread a { loop { x = 1; x = 0; } }"), None);
    let ticket = "domain 4; shared next, now;
        thread t[2] { loop { let my = fadd(next, 1); while now != my { } now = my + 1; } }";
    assert_eq!(hang(ticket), None);
}

/// What serves for ever beside others that have ended is not stuck, wherever memory is weak enough to be looked at run by run.
#[test]
fn servers_are_not_stuck_where_memory_is_weak() {
    let beside = "shared x, y; thread a { x = 1; let r = y; } thread b { y = 1; let r = x; } thread c { loop { let r = x; } }";
    let stuck = "shared x, y; thread a { x = 1; let r = y; } thread b { y = 1; let r = x; } thread c { loop { while x == 2 { } wait(y == 2); } }";
    for model in [Model::Ra, Model::C20, Model::Rc11] {
        assert_eq!(decided(&program(beside), model), Some(true));
        assert_eq!(decided(&program(stuck), model), Some(false));
    }
}

#[test]
fn what_goes_on_for_ever_is_shown_where_memory_is_weak() {
    let sleeping = "shared flag, waiting, woken;
        thread waker { flag = 1; if waiting == 1 { woken = 1; } }
        thread sleeper { waiting = 1; if flag == 0 { while woken == 0 { } } }";
    for model in [Model::Ra, Model::C20, Model::Rc11] {
        let answer = answer(&program(sleeping), model);
        assert_eq!(answer.verdict, Verdict::Violated);
        let witness = &answer.witnesses[0];
        assert!(witness.loop_start.unwrap() < witness.events.len());
        let message = &witness.pattern.as_ref().unwrap().message;
        assert!(message.starts_with("`sleeper` waits for ever"), "{message}");
    }
}

#[test]
fn choices_are_made_each_way() {
    let rounds = "shared x; thread a { loop { choose { break; } or { x = 1 - x; } } }";
    assert_eq!(hang(rounds), None);
    let weak = "shared x; thread a { while x.compare_exchange_weak(0, 1) != 0 { } }";
    assert_eq!(hang(weak), None);
}

#[test]
fn blocks_are_one_step() {
    let busy = "shared x, y; thread a { loop { atomic { x = 1; x = 0; } } } thread b { y = 1; }";
    assert_eq!(hang(busy), None);
    let endless = "shared x, y; thread a { atomic { while x == 0 { } } } thread b { x = 1; }";
    assert!(hang(endless).is_some());
    // An error inside a block keeps the others out for ever, also from steps that touch no memory; an error elsewhere does not.
    let kept_out = "shared x; thread a { let r; atomic { assert r == 1; } } thread b { let s; assume s == 0; }";
    assert!(hang(kept_out).unwrap().contains("`b` waits for ever"));
    let stopped = "shared x; thread a { let r; assert r == 1; } thread b { let s; assume s == 0; }";
    assert_eq!(hang(stopped), None);
    for text in [kept_out, stopped] {
        let program = program(text);
        assert_eq!(decided(&program, Model::Sc), oracle::sc_live(&program));
    }
}

#[test]
fn limits_are_said() {
    let program = program("shared x; thread a { loop { x = x + 1; } }");
    let options = Options {
        most_states: Some(5000),
        ..Options::new(Model::Sc, Criterion::Live)
    };
    let control = Control {
        cancel: &AtomicBool::new(false),
        progress: &|_| {},
    };
    let answer = check(&program, &options, &control).unwrap();
    assert!(matches!(answer.verdict, Verdict::Unknown(_)));
}
