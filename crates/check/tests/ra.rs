//! Robustness against release/acquire: by hand, against brute force, and with every reduction switched off.

use palisade_check::{Control, Criterion, Model, Options, Progress, Reductions, Verdict, check};
use palisade_lang::Program;
use palisade_testkit::oracle::ra_robust;
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
