//! `live` against brute force by its definition: explicit graphs, fair cycles; and by hand. Every witness goes through validation.

use std::sync::atomic::AtomicBool;

use palisade_check::{Answer, Control, Criterion, Model, Options, Verdict, check};
use palisade_lang::Program;
use palisade_testkit::{Shape, compare, oracle, program};

fn answer(program: &Program, model: Model) -> Answer {
    let control = Control {
        cancel: &AtomicBool::new(false),
        progress: &|_| {},
    };
    let answer = check(program, &Options::new(model, Criterion::Live), &control).unwrap();
    for witness in &answer.witnesses {
        if let Err(invalid) = palisade_validate::validate(program, witness) {
            panic!("{invalid:?}\n{witness:#?}\n{}", program.source.text());
        }
    }
    answer
}

fn decided(program: &Program, model: Model) -> Option<bool> {
    match answer(program, model).verdict {
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

/// Where all that is possible is known, live means that no state is a deadlock, if no loop changes anything. Every witness is validated.
#[test]
fn random_programs_under_ra_and_c20() {
    for (model, base, programs) in [
        (Model::Ra, Shape::RA, 500),
        (Model::C20, Shape::C20_LOOPS, 400),
    ] {
        let shape = Shape {
            accesses: 5,
            threads: (2, 3),
            loops: true,
            nonatomic: false,
            pointers: false,
            ..base
        };
        let (mut holds, mut hangs) = (0, 0);
        for seed in 0..programs {
            let text = palisade_testkit::random_sketch(seed, &shape).to_string();
            let deadlock = program(&format!("{text}\nnever deadlock;\n"));
            let base = program(&text);
            let options = Options {
                most_states: Some(300),
                ..Options::new(model, Criterion::Live)
            };
            let control = Control {
                cancel: &AtomicBool::new(false),
                progress: &|_| {},
            };
            let Ok(answer) = check(&base, &options, &control) else {
                continue;
            };
            for witness in &answer.witnesses {
                if let Err(invalid) = palisade_validate::validate(&base, witness) {
                    panic!("{invalid:?}\n{witness:#?}\n{text}");
                }
            }
            let brute_force = |program| match model {
                Model::Ra => oracle::within(200, || oracle::ra_safe(program)),
                _ => oracle::within(200, || oracle::c20_safe(program)),
            };
            match answer.verdict {
                Verdict::Holds => {
                    holds += 1;
                    // Where the program has no error, only a deadlock can make it unsafe. A loop that has no way out is
                    // one in which a thread may stay, as it is meant to, and yet it does not move.
                    let may_stay = text.contains("loop {") || text.contains("while ");
                    if !may_stay && brute_force(&base) == Some(true) {
                        assert_ne!(brute_force(&deadlock), Some(false), "{text}");
                    }
                }
                Verdict::Violated => hangs += 1,
                Verdict::Unknown(_) => {}
            }
        }
        println!("{}: {holds} hold, {hangs} hang", model.name());
        assert!(holds > 20 && hangs > 20);
    }
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
