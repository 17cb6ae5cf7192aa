//! Safety and data races under SC, persistence and reachability under TSO, against brute force by the definitions, with every reduction on and
//! each of them off; every witness goes through validation.

mod common;

use std::sync::atomic::AtomicBool;

use palisade_check::{Control, Criterion, Model, Options, Reductions, Route, Verdict, check};
use palisade_lang::Program;
use palisade_testkit::{Compared, Shape, compare, compare_many, oracle};

fn decide(
    program: &Program,
    model: Model,
    criterion: Criterion,
    reductions: Reductions,
    jobs: usize,
) -> Option<bool> {
    let options = Options {
        reductions,
        jobs,
        ..Options::new(model, criterion)
    };
    decided(program, &options)
}

fn decided(program: &Program, options: &Options) -> Option<bool> {
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
    match answer.verdict {
        Verdict::Holds => Some(true),
        Verdict::Violated => Some(false),
        Verdict::Unknown(_) => None,
    }
}

/// All on, and for a part of the programs all on but one.
fn agree(
    shape: &Shape,
    programs: u64,
    model: Model,
    criterion: Criterion,
    expected: fn(&Program) -> Option<bool>,
) -> Compared {
    let compared = compare_many(shape, 0, programs, expected, |program| {
        decide(program, model, criterion, Reductions::ALL, 1)
    });
    println!("{compared:?}");
    let mut begin = programs + compared.skipped;
    for reductions in common::ONE_OFF {
        compare(shape, begin..begin + programs / 20, expected, |program| {
            decide(program, model, criterion, reductions, 2)
        });
        begin += programs / 20;
    }
    compared
}

#[test]
fn safety_under_sc() {
    agree(
        &Shape::SC,
        10_000,
        Model::Sc,
        Criterion::Safe,
        oracle::sc_safe,
    );
}

#[test]
fn data_races() {
    agree(
        &Shape::SC,
        10_000,
        Model::Sc,
        Criterion::Drf,
        oracle::sc_drf,
    );
}

#[test]
fn persistence() {
    let compared = agree(
        &Shape::TSO,
        20_000,
        Model::Tso,
        Criterion::Persistent,
        oracle::tso_persistent,
    );
    assert!(compared.violated * 10 >= compared.programs);
}

#[test]
fn reachability_under_tso() {
    agree(
        &Shape::TSO_REACH,
        10_000,
        Model::Tso,
        Criterion::Safe,
        oracle::tso_safe,
    );
}

/// One of two copies gets a register with which the condition goes wrong, whichever it is: the other one makes it true all the same.
#[test]
fn an_error_for_one_copy_is_none_for_another() {
    for condition in [
        "x == 2 && a[t[0].r] == 0",
        "x == 2 && t[1]@end && 1 / (t[0].r - 1) == -1",
        "x == 2 && *(&x + 7 * (t[1].r / 3)) == 2",
        "x == 2 && (t[0].r == 5 && t[1].r == 5 || 1 >> -t[0].r == 1)",
    ] {
        for (losers, winner, loser) in [(1, 0, 5), (1, 5, 0), (2, 0, 5), (2, 5, 0)] {
            let text = format!(
                "shared a[2], lock, x;\nthread t[{}] {{\n  let r = 1;\n  let l = cas(lock, 0, 1);\n  if l == 0 {{ r = {winner}; }} else {{ r = {loser}; }}\n  fadd(x, 1);\n}}\nnever {};\n",
                losers + 1,
                condition.replace("x == 2", &format!("x == {}", losers + 1)),
            );
            let program = palisade_testkit::program(&text);
            let expected = oracle::sc_safe(&program);
            for reductions in [Reductions::ALL, Reductions::NONE] {
                let found = decide(&program, Model::Sc, Criterion::Safe, reductions, 1);
                assert_eq!(found, expected, "{text}");
            }
            for route in [
                Route::Any,
                Route::Lazy,
                Route::Bounded,
                Route::Buffers,
                Route::Dual,
            ] {
                assert_eq!(by_route(&program, route), expected, "{route:?}: {text}");
            }
        }
    }
}

/// Each way to decide reachability alone.
fn by_route(program: &Program, route: Route) -> Option<bool> {
    let options = Options {
        route,
        jobs: 2,
        ..Options::new(Model::Tso, Criterion::Safe)
    };
    decided(program, &options)
}

#[test]
fn every_route_to_reachability_under_tso() {
    let shape = &Shape::TSO_REACH;
    let mut first = 0;
    for (route, programs) in [
        (Route::Lazy, 10_000),
        (Route::Bounded, 2_000),
        (Route::Buffers, 2_000),
        (Route::Dual, 10_000),
    ] {
        let compared = compare_many(shape, first, programs, oracle::tso_safe, |program| {
            by_route(program, route)
        });
        println!("{route:?}: {compared:?}");
        first += programs + compared.skipped;
    }
}

/// With loops there is no brute force; the ways judge each other. A way may give up, but must not contradict.
#[test]
fn the_routes_agree_where_there_are_loops() {
    let lazy = |program: &Program| {
        let options = Options {
            route: Route::Lazy,
            most_states: Some(20_000),
            ..Options::new(Model::Tso, Criterion::Safe)
        };
        decided(program, &options)
    };
    let buffers = |program: &Program| {
        let options = Options {
            route: Route::Buffers,
            most_states: Some(20_000),
            ..Options::new(Model::Tso, Criterion::Safe)
        };
        decided(program, &options)
    };
    let compared = compare_many(&Shape::LOOPS, 0, 5_000, buffers, lazy);
    println!("{compared:?}");
    assert!(compared.violated >= 500);
    // The backward search decides nearly all of them, and where another way does, it says the same.
    let dual = |program: &Program| {
        let options = Options {
            route: Route::Dual,
            most_states: Some(100_000),
            ..Options::new(Model::Tso, Criterion::Safe)
        };
        decided(program, &options)
    };
    let others = |program: &Program| buffers(program).or_else(|| lazy(program));
    let compared = compare_many(&Shape::LOOPS, 0, 5_000, others, dual);
    println!("{compared:?}");
    assert!(compared.violated >= 500);
}

/// Two threads and three bits: store buffers grow without end, and what they hold matters in its order, so that neither longer buffers nor sets of stores
/// tell. Backwards there are few configurations.
#[test]
fn a_program_that_only_load_buffers_decide() {
    let text = |wanted: &str| {
        format!(
            "shared x, y, z;
             thread p {{ let r; loop {{ x = 1; y = 1; y = 0; x = 0; r = z; }} }}
             thread q {{ let s; let t; loop {{ z = 1; atomic {{ s = y; t = x; }} assert !({wanted}); z = 0; }} }}"
        )
    };
    let safe = palisade_testkit::program(&text("s == 1 && t == 0"));
    let unsafe_one = palisade_testkit::program(&text("s == 0 && t == 1"));
    for route in [Route::Dual, Route::Any] {
        assert_eq!(by_route(&safe, route), Some(true), "{route:?}");
        assert_eq!(by_route(&unsafe_one, route), Some(false), "{route:?}");
    }
}

#[test]
fn a_robust_program_takes_one_iteration() {
    let program = palisade_testkit::program(
        "shared x, y; thread a { x = 1; fence; let r = y; } thread b { y = 1; fence; let s = x; }
         never a@end && b@end && a.r == 0 && b.s == 0;",
    );
    assert_eq!(iterations(&program, Verdict::Holds), 1);
}

#[test]
fn a_delay_takes_two_iterations() {
    let program = palisade_testkit::program(
        "shared x, y; thread a { x = 1; let r = y; } thread b { y = 1; let s = x; }
         never a@end && b@end && a.r == 0 && b.s == 0;",
    );
    assert_eq!(iterations(&program, Verdict::Violated), 2);
}

fn iterations(program: &Program, verdict: Verdict) -> u64 {
    let options = Options {
        route: Route::Lazy,
        ..Options::new(Model::Tso, Criterion::Safe)
    };
    let control = Control {
        cancel: &AtomicBool::new(false),
        progress: &|_| {},
    };
    let answer = check(program, &options, &control).unwrap();
    assert_eq!(answer.verdict, verdict);
    answer.stats.iterations
}

/// App. A of the paper: violations of robustness without end, and none of them matters. The abstraction of buffers as sets tells.
#[test]
fn a_program_that_unrolling_never_finishes() {
    let program = palisade_testkit::program(
        "shared x, y;
         thread p { let r; loop { choose { x = 1 - r; } or { r = y; } or { assume r == 2; break; } } goal: skip; }
         thread q { let r; loop { choose { y = 1 - r; } or { r = x; } or { assume r == 2; break; } } goal: skip; }
         never p@goal || q@goal;",
    );
    for route in [Route::Any, Route::Buffers, Route::Dual] {
        assert_eq!(by_route(&program, route), Some(true));
    }
}

/// Several stores of one thread must wait at once, more than any sequence found first has: each round asks for twice as many.
#[test]
fn long_delays_out_of_a_loop() {
    let program = palisade_testkit::program(
        "shared x, y;
         thread p { let i; while i < 6 { x = i; i = i + 1; } let r = y; }
         thread q { y = 1; fence; let a = x; let b = x; let c = x; }
         never p@end && q@end && p.r == 0 && q.a == 1 && q.b == 3 && q.c == 5;",
    );
    for route in [Route::Any, Route::Buffers, Route::Lazy, Route::Dual] {
        assert_eq!(by_route(&program, route), Some(false), "{route:?}");
    }
}

#[test]
fn a_block_may_miss_several_stores_at_once() {
    let program = palisade_testkit::program(
        "shared x, w, y; thread a { x = 1; w = 1; let r = y; }
         thread b { atomic { let s = x; let t = w; if s == 0 && t == 0 { y = 1; } } }",
    );
    for reductions in [Reductions::ALL, Reductions::NONE] {
        let found = decide(&program, Model::Tso, Criterion::Persistent, reductions, 1);
        assert_eq!(found, Some(false));
    }
}

/// Where numbers grow without end, there is no answer, but what would lead to one.
#[test]
fn data_without_a_bound_is_named() {
    let program = palisade_testkit::program(
        "shared x, y; thread a { loop { x = x + 1; let r = y; } } thread b { loop { y = y + 1; let s = x; assert s < 1000000; } }",
    );
    for route in [Route::Dual, Route::Any] {
        let options = Options {
            route,
            timeout: Some(std::time::Duration::from_millis(300)),
            ..Options::new(Model::Tso, Criterion::Safe)
        };
        let control = Control {
            cancel: &AtomicBool::new(false),
            progress: &|_| {},
        };
        let Verdict::Unknown(reason) = check(&program, &options, &control).unwrap().verdict else {
            panic!("there is no end of states");
        };
        assert!(reason.contains("`x` may hold any number") && reason.contains("--domain"));
    }
}

/// A locked instruction on a location that must not have any, known only by its address.
#[test]
fn a_pointer_to_nonatomic_data() {
    let program = palisade_testkit::program(
        "shared x, y, z; nonatomic shared d;
         thread a { x = 1; let r = y; if r == 0 { z = 1; } }
         thread b { y = 1; let s = x; if s == 0 { wait(z == 1); let p = &d; fadd(*p, 1); } }",
    );
    for route in [Route::Any, Route::Lazy, Route::Buffers, Route::Dual] {
        assert_eq!(by_route(&program, route), Some(false), "{route:?}");
    }
}
