//! Robustness against C++20: by hand, against brute force, and with every reduction switched off.

use palisade_check::{Control, Criterion, Model, Options, Progress, Reductions, Verdict, check};
use palisade_lang::Program;
use palisade_testkit::oracle::{c20_drf, c20_robust, c20_safe, rc11_drf, rc11_robust, rc11_safe};
use palisade_testkit::{Shape, compare, program};
use palisade_validate::validate;
use std::sync::atomic::AtomicBool;

fn is_robust_with(program: &Program, reductions: Reductions) -> Option<bool> {
    let options = Options {
        reductions,
        ..Options::new(Model::C20, Criterion::Robust)
    };
    holds(program, &options)
}

fn ask(model: Model, criterion: Criterion) -> impl Fn(&Program) -> Option<bool> {
    move |program| holds(program, &Options::new(model, criterion))
}

fn holds(program: &Program, options: &Options) -> Option<bool> {
    let cancel = AtomicBool::new(false);
    let control = Control {
        cancel: &cancel,
        progress: &|_: &Progress| {},
    };
    let answer = check(program, options, &control).ok()?;
    match answer.verdict {
        Verdict::Holds => Some(true),
        Verdict::Violated => {
            let witness = answer.witnesses.first();
            let witness = witness.unwrap_or_else(|| {
                panic!("no witness for\n{}", program.source.text());
            });
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

fn robust(text: &str) -> bool {
    is_robust(&program(text)).expect("it has a meaning")
}

fn two(a: &str, b: &str) -> bool {
    robust(&format!(
        "shared x, y, f; thread a {{ {a} }} thread b {{ {b} }}"
    ))
}

#[test]
fn orders_of_accesses() {
    assert!(!two("x = 1; let r = y;", "y = 1; let r = x;"), "SB");
    let sc = "seqcst";
    let sb = |s: &str, l: &str| {
        two(
            &format!("x.store(1, {s}); let r = y.load({l});"),
            &format!("y.store(1, {s}); let r = x.load({l});"),
        )
    };
    assert!(sb(sc, sc), "SB+scs");
    assert!(!sb("release", sc), "SB+rels+scs");
    assert!(!sb(sc, "acquire"), "SB+scs+acqs");
    let mp = |s: &str, l: &str| {
        two(
            &format!("x.store(1, relaxed); y.store(1, {s});"),
            &format!("let r = y.load({l}); let s = x.load(relaxed);"),
        )
    };
    assert!(mp("release", "acquire"), "MP");
    assert!(!mp("relaxed", "acquire"), "MP+rlx+acq");
    assert!(!mp("release", "relaxed"), "MP+rel+rlx");
    assert!(mp(sc, sc), "MP+scs");
    assert!(
        two(
            "let r = y.load(relaxed); x.store(1, relaxed);",
            "let r = x.load(relaxed); y.store(1, relaxed);"
        ),
        "LB"
    );
    assert!(
        two(
            "x.store(1, relaxed);",
            "let r = x.load(relaxed); let s = x.load(relaxed);"
        ),
        "CoRR"
    );
}

#[test]
fn fences() {
    assert!(
        two("x = 1; fence; let r = y;", "y = 1; fence; let r = x;"),
        "SB+fences"
    );
    assert!(
        !two(
            "x = 1; fence(acqrel); let r = y;",
            "y = 1; fence; let r = x;"
        ),
        "SB+fence+weak"
    );
    // Under release/acquire, where a fence is a read-modify-write of one location, this is not robust.
    assert!(robust(
        "shared x, y; thread a { fence; x = 1; } thread b { x = 2; y = 1; } thread c { y = 2; fence; }"
    ));
    let mp = |rel: &str, acq: &str| {
        two(
            &format!("x.store(1, relaxed); {rel} y.store(1, relaxed);"),
            &format!("let r = y.load(relaxed); {acq} let s = x.load(relaxed);"),
        )
    };
    assert!(mp("fence(release);", "fence(acquire);"), "MP+fences");
    assert!(!mp("fence(acquire);", "fence(acquire);"));
    assert!(!mp("fence(release);", "fence(release);"));
    assert!(mp("fence(seqcst);", "fence(acqrel);"));
}

#[test]
fn seqcst_accesses_are_not_fences_around_them() {
    assert!(!robust(
        "shared x, y;
         thread a { x.store(1, seqcst); y.store(1, release); }
         thread b { fadd(y, 1, seqcst); let r = y.load(acquire); }
         thread c { y.store(3, seqcst); let s = x.load(seqcst); }"
    ));
    assert!(robust(
        "shared x, y;
         thread a { x.store(1, seqcst); } thread b { x = 2; y = 1; } thread c { y.store(2, seqcst); }"
    ));
    let iriw = |w: &str, r: &str| {
        robust(&format!(
            "shared x, y; thread a {{ x.store(1, {w}); }} thread b {{ let r = x.load({r}); r = y.load({r}); }}
             thread c {{ let r = y.load({r}); r = x.load({r}); }} thread d {{ y.store(1, {w}); }}"
        ))
    };
    assert!(iriw("seqcst", "seqcst"));
    assert!(iriw("release", "seqcst"));
    assert!(!iriw("seqcst", "acquire"));
}

#[test]
fn races_by_happens_before() {
    let racy = |order: &str| {
        !robust(&format!(
            "shared f; nonatomic shared d;
             thread a {{ d = 1; f.store(1, {order}); }}
             thread b {{ if f.load(acquire) == 1 {{ let r = d; }} }}"
        ))
    };
    assert!(racy("relaxed"));
    assert!(!racy("release"));
    assert!(!robust(
        "nonatomic shared d; thread a { d = 1; } thread b { let r = d; }"
    ));
    // A reference count whose decrement does not acquire.
    let count = |order: &str, fence: &str| {
        robust(&format!(
            "shared n = 2; nonatomic shared d;
             thread t[2] {{ let r = d; r = fadd(n, -1, {order}); if r == 1 {{ {fence} d = 1; }} }}"
        ))
    };
    assert!(count("acqrel", ""));
    assert!(!count("release", ""));
    assert!(count("release", "fence(acquire);"));
    assert!(!count("relaxed", "fence(acquire);"));
    // A plain store of a location that is otherwise atomic: what is waited for brings the store with it, if it is released and acquired.
    for waits in ["wait(f == 1, ORDER);", "bcas(f, 1, 2, ORDER);"] {
        let plain = |order: &str| {
            let waits = waits.replace("ORDER", order);
            robust(&format!(
                "shared f; thread a {{ {waits} }} thread b {{ f.store(3, nonatomic); f = 1; }}"
            ))
        };
        assert!(plain("acquire"), "{waits}");
        assert!(!plain("relaxed"), "{waits}");
    }
    assert!(!robust(
        "shared f; thread a { let r = f; } thread b { f.store(3, nonatomic); f = 1; }"
    ));
    // Only an old value, which is not used, races with the plain store.
    let unused = program(
        "shared x, y;
         thread a { let r = y.load(relaxed); if r != 0 { r = x; } }
         thread b { x.store(0, nonatomic); x = 1; y.store(1, relaxed); }",
    );
    // A read-modify-write is ordered by what it reads, also where the program is not robust.
    let ordered = program(
        "shared x, y;
         thread a { let r = cas(y, 1, 1, acquire); x = 2; r = y; }
         thread b { let r = y.load(nonatomic); y = 1; x = 0; }",
    );
    assert_eq!(ask(Model::C20, Criterion::Drf)(&ordered), Some(true));
    assert_eq!(c20_drf(&ordered), Some(true));
    let safe = ask(Model::C20, Criterion::Safe);
    assert_eq!(safe(&unused), Some(false));
    assert_eq!(c20_safe(&unused), Some(false));
}

#[test]
fn agrees_with_brute_force() {
    let compared = compare(&Shape::C20, 0..20_500, c20_robust, is_robust);
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
            static_filter: true,
            ..none
        },
    ];
    for (index, reductions) in alone.into_iter().enumerate() {
        let first = 100_000 * (index as u64 + 1);
        compare(&Shape::C20, first..first + 300, c20_robust, |p| {
            is_robust_with(p, reductions)
        });
    }
}

/// A proof that forgets values first, and the program itself where that is not enough.
#[test]
fn forgetting_values_agrees_with_brute_force() {
    let forgets = |criterion| Options {
        abstraction: palisade_check::Abstraction::From(0),
        ..Options::new(Model::C20, criterion)
    };
    let forgetting = |program: &Program| holds(program, &forgets(Criterion::Robust));
    compare(&Shape::C20, 800_000..802_000, c20_robust, forgetting);
    let asserting = Shape {
        properties: true,
        ..Shape::C20
    };
    compare(&asserting, 820_000..821_000, c20_robust, forgetting);
    compare(&asserting, 830_000..831_000, c20_drf, |program| {
        holds(program, &forgets(Criterion::Drf))
    });
    let loops = |program: &Program| {
        palisade_testkit::oracle::within(1_000, || c20_robust(program)).filter(|robust| !robust)
    };
    // What brute force finds in loops, as far as it gets.
    compare(&Shape::C20_LOOPS, 810_000..810_200, loops, forgetting);
}

#[test]
fn safe_agrees_with_brute_force() {
    for (first, model, oracle) in [
        (
            200_000,
            Model::C20,
            c20_safe as fn(&Program) -> Option<bool>,
        ),
        (300_000, Model::Rc11, rc11_safe),
    ] {
        let shape = Shape {
            properties: true,
            ..Shape::C20
        };
        let compared = compare(
            &shape,
            first..first + 2_000,
            oracle,
            ask(model, Criterion::Safe),
        );
        assert!(compared.violated * 20 >= compared.programs, "{compared:?}");
    }
}

#[test]
fn drf_agrees_with_brute_force() {
    for (first, model, oracle) in [
        (400_000, Model::C20, c20_drf as fn(&Program) -> Option<bool>),
        (500_000, Model::Rc11, rc11_drf),
    ] {
        compare(
            &Shape::C20,
            first..first + 1_500,
            oracle,
            ask(model, Criterion::Drf),
        );
    }
}

#[test]
fn rc11_agrees_with_brute_force() {
    let robust = ask(Model::Rc11, Criterion::Robust);
    let without_sc = compare(&Shape::RC11, 600_000..620_200, rc11_robust, &robust);
    assert!(without_sc.programs >= 20_000, "{without_sc:?}");
    compare(&Shape::C20, 700_000..702_000, rc11_robust, &robust);
}

/// All that can be written in C++ and Rust: exchanges with two orders and those that may fail for no reason, `fetch_…`, waiting, orders where pointers lead.
#[test]
fn all_kinds_of_accesses_agree_with_brute_force() {
    let methods = &Shape::C20_METHODS;
    let stating = &Shape {
        properties: true,
        ..Shape::C20_METHODS
    };
    let first = 900_000;
    let mut compared = Vec::new();
    for (shape, model, criterion, oracle, programs) in [
        (
            methods,
            Model::C20,
            Criterion::Robust,
            c20_robust as fn(&Program) -> Option<bool>,
            2_000,
        ),
        (methods, Model::Rc11, Criterion::Robust, rc11_robust, 500),
        (methods, Model::C20, Criterion::Drf, c20_drf, 500),
        (methods, Model::Rc11, Criterion::Drf, rc11_drf, 300),
        (stating, Model::C20, Criterion::Safe, c20_safe, 300),
        (stating, Model::Rc11, Criterion::Safe, rc11_safe, 300),
    ] {
        let seeds = first..first + programs;
        compared.push(compare(shape, seeds, oracle, ask(model, criterion)));
    }
    println!("{compared:?}");
    assert!(
        compared[0].violated * 5 >= compared[0].programs,
        "{compared:?}"
    );
}

/// What is forgotten where threads only write a location, or write it before they read it: chains of read-modify-writes, and stores that nobody reads.
#[test]
fn writers_that_lag_behind_agree_with_brute_force() {
    let mut violated = 0;
    let wanted = 1_500;
    for seed in 0..wanted {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut pick = |of: &[&'static str]| of[rng.usize(..of.len())];
        let mut text = String::from("shared x, y;\n");
        let mut stated = Vec::new();
        for thread in 0..3 {
            text.push_str(&format!("thread t{thread} {{\n"));
            for at in 0..3 {
                let at_location = pick(&["x", "x", "y"]);
                let value = pick(&["1", "2"]);
                let (load, store) = (pick(&["relaxed", "acquire"]), pick(&["relaxed", "release"]));
                let rmw = pick(&["relaxed", "relaxed", "acquire", "release", "acqrel"]);
                let line = match pick(&["xchg", "fadd", "store", "store", "load", "cas"]) {
                    "xchg" => format!("let r{at} = xchg({at_location}, {value}, {rmw});"),
                    "fadd" => format!("let r{at} = fadd({at_location}, 1, {rmw});"),
                    "cas" => format!("let r{at} = cas({at_location}, {value}, 3, {rmw}, {load});"),
                    "load" => format!("let r{at} = {at_location}.load({load});"),
                    _ => format!("{at_location}.store({value}, {store});"),
                };
                if line.starts_with("let") {
                    stated.push(format!("t{thread}.r{at} == {}", pick(&["0", "1", "2"])));
                }
                text.push_str(&format!("  {line}\n"));
            }
            text.push_str("}\n");
            stated.push(format!("t{thread}@end"));
        }
        let memory = format!("x == {}", pick(&["0", "1", "2", "3"]));
        while stated.len() > 4 {
            stated.remove(rng.usize(..stated.len()));
        }
        text.push_str(&format!("never {memory} && {};\n", stated.join(" && ")));
        let program = program(&text);
        let expected = c20_safe(&program);
        let found = ask(Model::C20, Criterion::Safe)(&program);
        assert_eq!(found, expected, "{text}");
        violated += u64::from(found == Some(false));
    }
    println!("{violated} of {wanted} violated");
    assert!(
        violated * 10 >= wanted && violated * 10 <= wanted * 9,
        "{violated}"
    );
}
