//! Robustness against release/acquire: by hand, against brute force, and with every reduction switched off.

use palisade_check::{
    Answer, Control, Criterion, Model, Options, Progress, Reductions, Verdict, check,
};
use palisade_lang::Program;
use palisade_testkit::oracle::{ra_robust, ra_safe};
use palisade_testkit::{Shape, compare, program};
use palisade_validate::validate;
use std::sync::atomic::AtomicBool;

/// Random programs of which enough are not robust.
const SHAPE: Shape = Shape {
    store_buffering: 40,
    locked: 30,
    ..Shape::RA
};

fn is_robust_with(program: &Program, reductions: Reductions) -> Option<bool> {
    let options = Options {
        reductions,
        ..Options::new(Model::Ra, Criterion::Robust)
    };
    let cancel = AtomicBool::new(false);
    let control = Control {
        cancel: &cancel,
        progress: &|_: &Progress| {},
    };
    let answer = check(program, &options, &control).ok()?;
    match answer.verdict {
        Verdict::Holds => Some(true),
        Verdict::Violated => {
            let witness = answer.witnesses.first();
            let witness = witness.expect("every violation has a witness");
            if let Err(invalid) = validate(program, witness) {
                panic!("{invalid}\n{}\n{witness:#?}", program.source.text());
            }
            Some(false)
        }
        Verdict::Unknown(why) => panic!("{why}"),
    }
}

fn is_robust(program: &Program) -> Option<bool> {
    is_robust_with(program, Reductions::ALL)
}

#[test]
fn litmus_shapes() {
    let robust = |text: &str| is_robust(&program(text)).expect("it has a meaning");
    let two = |a: &str, b: &str| {
        robust(&format!(
            "shared x, y, f; thread a {{ {a} }} thread b {{ {b} }}"
        ))
    };
    assert!(!two("x = 1; let r = y;", "y = 1; let r = x;"), "SB");
    assert!(two("x = 1; y = 1;", "let r = y; let s = x;"), "MP");
    assert!(two("let r = y; x = 1;", "let r = x; y = 1;"), "LB");
    assert!(!two("x = 1; y = 2;", "y = 1; x = 2;"), "2+2W");
    assert!(
        two("x = 1; fence; let r = y;", "y = 1; fence; let r = x;"),
        "SB+fences"
    );
    assert!(
        !two("x = 1; fence; let r = y;", "y = 1; let r = x;"),
        "SB+fence+po"
    );
    assert!(
        two("xchg(x, 1); let r = y;", "xchg(y, 1); let r = x;")
            == two("x = 1; let r = y;", "y = 1; let r = x;")
    );
    assert!(
        two(
            "x = 1; fadd(f, 0); let r = y;",
            "y = 1; fadd(f, 0); let r = x;"
        ),
        "SB+rmws"
    );
    assert!(two("x = 1; wait(y == 1);", "y = 1; wait(x == 1);"), "BAR");
    assert!(
        !two("x = 1; while y != 1 { }", "y = 1; while x != 1 { }"),
        "BAR, spinning"
    );
    assert!(
        two("let r = cas(x, 0, 1);", "let r = cas(x, 0, 1);"),
        "2RMW"
    );
    let iriw = |between: &str| {
        robust(&format!(
            "shared x, y; thread a {{ x = 1; }} thread b {{ let r = x; {between} r = y; }}
             thread c {{ let r = y; {between} r = x; }} thread d {{ y = 1; }}"
        ))
    };
    assert!(!iriw(""), "IRIW");
    assert!(iriw("fence;"), "IRIW+fences");
}

#[test]
fn races_are_violations() {
    let racy = program("nonatomic shared d; thread a { d = 1; } thread b { let r = d; }");
    assert_eq!(is_robust(&racy), Some(false));
    let passed = program(
        "shared f; nonatomic shared d; thread a { d = 1; f = 1; } thread b { wait(f == 1); let r = d; }",
    );
    assert_eq!(is_robust(&passed), Some(true));
}

#[test]
fn agrees_with_brute_force() {
    let compared = compare(&SHAPE, 0..20_500, ra_robust, is_robust);
    assert!(compared.programs >= 20_000, "{compared:?}");
    assert!(compared.violated * 5 >= compared.programs, "{compared:?}");
}

#[test]
fn each_reduction_alone_agrees_with_brute_force() {
    let none = Reductions::NONE;
    let alone = [
        none,
        Reductions {
            local_steps: true,
            ..none
        },
        Reductions {
            dead_registers: true,
            ..none
        },
        Reductions {
            symmetry: true,
            ..none
        },
        Reductions {
            partial_order: true,
            ..none
        },
        Reductions {
            monitors: true,
            ..none
        },
        Reductions {
            suspects: true,
            ..none
        },
        Reductions {
            suspects: true,
            monitors: true,
            ..none
        },
        Reductions {
            suspects: true,
            partial_order: true,
            ..none
        },
        Reductions {
            subsumption: true,
            ..none
        },
    ];
    for (index, reductions) in alone.into_iter().enumerate() {
        let first = 100_000 * (index as u64 + 1);
        compare(&Shape::RA, first..first + 200, ra_robust, |p| {
            is_robust_with(p, reductions)
        });
    }
}

#[test]
fn reductions_change_no_verdict_of_programs_with_loops() {
    let shape = Shape {
        properties: false,
        blocks: false,
        rmw_blocks: true,
        orders: false,
        locked: 40,
        ..Shape::LOOPS
    };
    let all = Reductions::ALL;
    let without = [
        Reductions::NONE,
        Reductions {
            symmetry: false,
            ..all
        },
        Reductions {
            partial_order: false,
            ..all
        },
        Reductions {
            monitors: false,
            ..all
        },
        Reductions {
            subsumption: false,
            suspects: false,
            ..all
        },
        Reductions {
            suspects: false,
            ..all
        },
    ];
    for (index, reductions) in without.into_iter().enumerate() {
        let first = 1_000 * index as u64;
        compare(
            &shape,
            first..first + 200,
            |p| is_robust_with(p, reductions),
            is_robust,
        );
    }
}

/// Far behind the part of the search that goes by age: the greatest monitors come first there.
#[test]
fn a_violation_that_is_far_away_is_found() {
    let deep = |last: &str| {
        program(&format!(
            "domain 32; shared a, b, x, y;
             thread p {{ let r; while r < 24 {{ r = fadd(a, 1) + 1; }} x = 1; {last} r = y; }}
             thread q {{ let r; while r < 24 {{ r = fadd(b, 1) + 1; }} y = 1; {last} r = x; }}
             thread s {{ loop {{ choose {{ let r = a; }} or {{ let r = b; }} }} }}
             thread t {{ loop {{ choose {{ let r = a; }} or {{ let r = b; }} }} }}"
        ))
    };
    assert_eq!(is_robust(&deep("")), Some(false));
    let no_readers = |last: &str| {
        let text = deep(last).source.text().to_owned();
        program(text.split("thread s").next().expect("the first part"))
    };
    assert_eq!(is_robust(&no_readers("")), Some(false));
    assert_eq!(is_robust(&no_readers("fence;")), Some(true));
}

fn ask(program: &Program, options: &Options) -> palisade_check::Answer {
    let cancel = AtomicBool::new(false);
    let control = Control {
        cancel: &cancel,
        progress: &|_: &Progress| {},
    };
    check(program, options, &control).expect("it has a meaning")
}

#[test]
fn all_violations_are_listed() {
    let all = |text: &str| {
        let program = program(text);
        let options = Options {
            all: true,
            ..Options::new(Model::Ra, Criterion::Robust)
        };
        let answer = ask(&program, &options);
        for witness in &answer.witnesses {
            validate(&program, witness).expect("a valid witness");
        }
        answer.witnesses.len()
    };
    // Each of the two loads can be the stale one.
    let sb = "shared x, y; thread a { x = 1; let r = y; } thread b { y = 1; let r = x; }";
    assert_eq!(all(sb), 2);
    // Each second store; b's load of y could be stale only behind an event that a's store of y comes before.
    let more = "shared x, y; thread a { x = 1; y = 2; } thread b { y = 1; x = 2; let r = y; }";
    assert_eq!(all(more), 2);
    let races = "nonatomic shared d, e; thread a { d = 1; e = 1; } thread b { d = 2; e = 2; }";
    // What comes behind a race has no meaning: the second one is none.
    assert_eq!(all(races), 1);
    let two = "nonatomic shared d, e; thread a { d = 1; } thread b { d = 2; } thread c { e = 1; } thread f { e = 2; }";
    assert_eq!(all(two), 2);
    let robust = "shared x, y; thread a { x = 1; y = 1; } thread b { let r = y; r = x; }";
    assert_eq!(all(robust), 0);
}

#[test]
fn answers_are_the_same_for_every_number_of_searching_threads() {
    let shape = Shape {
        properties: false,
        blocks: false,
        rmw_blocks: true,
        orders: false,
        ..Shape::LOOPS
    };
    compare(
        &shape,
        0..60,
        |p| {
            let answers = [1, 2, 5].map(|jobs| {
                let options = Options {
                    jobs,
                    ..Options::new(Model::Ra, Criterion::Robust)
                };
                let cancel = AtomicBool::new(false);
                let control = Control {
                    cancel: &cancel,
                    progress: &|_: &Progress| {},
                };
                let answer = check(p, &options, &control).ok()?;
                let (states, steps) = (answer.stats.states, answer.stats.transitions);
                Some((answer.verdict, answer.witnesses, states, steps))
            });
            assert_eq!(answers[0], answers[1]);
            assert_eq!(answers[0], answers[2]);
            answers[0].as_ref().map(|a| a.0 == Verdict::Holds)
        },
        is_robust,
    );
}

fn safe(program: &Program) -> Option<Answer> {
    let cancel = AtomicBool::new(false);
    let control = Control {
        cancel: &cancel,
        progress: &|_: &Progress| {},
    };
    let answer = check(program, &Options::new(Model::Ra, Criterion::Safe), &control).ok()?;
    for witness in &answer.witnesses {
        if let Err(invalid) = validate(program, witness) {
            panic!("{invalid}\n{}\n{witness:#?}", program.source.text());
        }
    }
    Some(answer)
}

fn is_safe(program: &Program) -> Option<bool> {
    let answer = safe(program)?;
    match answer.verdict {
        Verdict::Holds => Some(true),
        Verdict::Violated => {
            assert_eq!(answer.witnesses.len(), 1, "{}", program.source.text());
            Some(false)
        }
        Verdict::Unknown(why) => panic!("{why}"),
    }
}

#[test]
fn safe_programs_need_not_be_robust() {
    let ask = |text: &str| is_safe(&program(text)).expect("it has a meaning");
    let mp = "shared x, y; thread a { x = 1; y = 1; } thread b { wait(y == 1); assert x == 1; }";
    assert!(ask(mp));
    assert!(!ask(
        "shared x; thread a { x = 1; } thread b { assert x == 1; }"
    ));
    let sb = |never: &str| {
        ask(&format!(
            "shared x, y; thread a {{ x = 1; let r = y; }} thread b {{ y = 1; let r = x; }} never {never};"
        ))
    };
    assert!(!sb("a@end && b@end && a.r == 0 && b.r == 0"));
    assert!(sb("a@end && b@end && a.r == 2"));
    // 2+2W: only RA ends like this.
    let writes = "shared x, y; thread a { x = 1; y = 2; } thread b { y = 1; x = 2; }";
    assert!(!ask(&format!(
        "{writes} never a@end && b@end && x == 1 && y == 1;"
    )));
    assert!(ask(&format!(
        "{writes} never a@end && b@end && x == 1 && y == 0;"
    )));
    // The spinning reader sees the stores of one thread in their order, whatever else is stale.
    let loops = "domain 3; shared x, y, f; thread a { x = 1; y = 1; f = 1; let r = f; }
                 thread b { while y == 0 { } f = 2; let r = x; } never b@end && b.r == 0;";
    assert!(ask(loops));
}

#[test]
fn what_has_no_end_is_followed_for_a_while() {
    let text = "shared x, y; thread a { loop { x = x + 1; y = x; } } thread b { loop { y = y + 1; let r = x; } } never x < 0;";
    let program = program(text);
    let options = Options {
        most_states: Some(1000),
        ..Options::new(Model::Ra, Criterion::Safe)
    };
    let cancel = AtomicBool::new(false);
    let control = Control {
        cancel: &cancel,
        progress: &|_: &Progress| {},
    };
    let answer = check(&program, &options, &control).expect("it has a meaning");
    assert!(
        matches!(&answer.verdict, Verdict::Unknown(_)),
        "{:?}",
        answer.verdict
    );
}

#[test]
fn safe_agrees_with_brute_force() {
    let shape = Shape {
        properties: true,
        ..SHAPE
    };
    let compared = compare(&shape, 300_000..310_000, ra_safe, is_safe);
    assert!(compared.programs >= 9_700, "{compared:?}");
    assert!(compared.violated * 5 >= compared.programs, "{compared:?}");
}

#[test]
fn orders_and_blocks_are_refused_by_name() {
    let ask = |text: &str| {
        let cancel = AtomicBool::new(false);
        let control = Control {
            cancel: &cancel,
            progress: &|_: &Progress| {},
        };
        let options = Options::new(Model::Ra, Criterion::Robust);
        check(&program(text), &options, &control)
    };
    let relaxed = "shared x; thread a { x.store(1, relaxed); }";
    let refused = ask(relaxed).expect_err("no meaning");
    assert!(refused.span.is_some() && refused.message.contains("relaxed"));
    let seqcst = "shared x, y; thread a { x.store(1, seqcst); let r = y.load(seqcst); }
                  thread b { y.store(1, seqcst); let r = x.load(seqcst); }";
    // Every access that is not known here is named, and where it is known.
    let refused = ask(seqcst).expect_err("no meaning").message;
    for named in [
        "`x.store(1, seqcst);` at 1:25",
        "`y.load(seqcst)` at 1:53",
        "`y.store(1, seqcst);` at 2:30",
        "`x.load(seqcst)` at 2:58",
        "`c20` and `rc11`",
    ] {
        assert!(refused.contains(named), "{named} in: {refused}");
    }
    let block = "shared x, y; thread a { atomic { x = 1; y = 1; } }";
    let refused = ask(block).expect_err("no read-modify-write");
    assert!(refused.message.contains("atomic block"));
    let update = "shared x, y; thread a { x = 1; atomic { let r = y; y = r + 1; } let s = x; }
                  thread b { atomic { let r = y; y = r + 1; } x = 2; }";
    assert!(ask(update).is_ok());
}

/// In Trencher's automata a read-modify-write is written as `lock`, read, write, `unlock`.
#[test]
fn locked_reads_and_writes_of_automata_are_read_modify_writes() {
    let automaton = |between: &str| {
        let thread = |name: &str, own: u32, other: u32| {
            format!(
                "thread {name}\ninitial a\ntransition a b write 1 {own}\n{between}\ntransition g h read s {other}\nend\n"
            )
        };
        let text = thread("p", 0, 1) + &thread("q", 1, 0);
        let source = palisade_lang::Source::new("automaton.txt".to_owned(), text);
        palisade_lang::parse(&source, &Default::default())
            .expect("a program")
            .program
    };
    assert_eq!(is_robust(&automaton("transition b g noop")), Some(false));
    let update = "transition b c lock\ntransition c d read r 5\ntransition d e local r + r 1\n\
                  transition e f write r 5\ntransition f g unlock";
    assert_eq!(is_robust(&automaton(update)), Some(true));
    // Locked, but of two locations: that is no read-modify-write, and has no meaning under RA.
    let two = update.replace("write r 5", "write r 6");
    assert_eq!(is_robust(&automaton(&two)), None);
}

/// Rocker's programs, with the verdict in their first line.
#[test]
fn rockers_programs_get_their_verdicts() {
    let Some(corpus) = palisade_testkit::corpus_dir() else {
        return;
    };
    let mut seen = 0;
    for directory in ["litmus", "submission"] {
        let files = std::fs::read_dir(corpus.join("rocker").join(directory));
        for file in files.expect("the directory").flatten() {
            let text = std::fs::read_to_string(file.path()).expect("a text");
            let name = file.file_name().to_string_lossy().into_owned();
            let source = palisade_lang::Source::new(name.clone(), text.clone());
            let parsed = palisade_lang::parse(&source, &Default::default());
            let program = parsed.expect("a program").program;
            let robust = !text.starts_with("// NOTROBUST");
            // `wait2` says itself that it is robust where values are told apart. That is our meaning: the stale value of y that the
            // wait could find is 0, and it waits for 1. Brute force agrees below.
            let robust = robust || name == "wait2.tpl";
            assert_eq!(is_robust(&program), Some(robust), "{name}");
            if name == "wait2.tpl" {
                assert_eq!(ra_robust(&program), Some(true), "{name}");
            }
            seen += 1;
        }
    }
    assert!(seen > 30);
}

/// Where there are very many locations, nothing is kept of each pair of them.
#[test]
fn very_many_locations() {
    let text = |count: usize| {
        format!(
            "shared a[{count}], x, y;
            thread p {{ x = 1; let r = y; let i = a[r]; a[i] = 2; }}
            thread q {{ y = 1; let s = x; a[s] = 1; }}
            never p@end && q@end && p.r == 0 && q.s == 0;"
        )
    };
    let ask = |text: &str, criterion: Criterion| {
        let cancel = AtomicBool::new(false);
        let control = Control {
            cancel: &cancel,
            progress: &|_: &Progress| {},
        };
        let options = Options::new(Model::Ra, criterion);
        let answer = check(&program(text), &options, &control).expect("it has a meaning");
        answer.verdict
    };
    for criterion in [Criterion::Robust, Criterion::Safe] {
        for count in [1_000, 200_000] {
            assert_eq!(ask(&text(count), criterion), Verdict::Violated);
        }
    }
}
