//! What is known of C++20 and RC11 without a search: facts that brute force must show on random programs.

use palisade_lang::{Op, Order, Program};
use palisade_memory::ra_accepts::blocks_end;
use palisade_memory::{Criterion, Model, OrderName, Pattern, PatternKind, RelationName, Witness};
use palisade_testkit::oracle::{
    c20_drf, c20_robust, c20_safe, ra_robust, rc11_robust, rc11_safe, sc_safe, shown,
    shown_by_views,
};
use palisade_testkit::witness::c20_violation;
use palisade_testkit::{Shape, compare, random_sketch};
use palisade_validate::validate;

#[test]
fn enough_random_programs_are_robust_and_enough_are_not() {
    for shape in [Shape::C20, Shape::RC11] {
        let compared = compare(&shape, 0..400, c20_robust, c20_robust);
        assert!(compared.programs >= 380, "{compared:?}");
        assert!(compared.violated * 5 >= compared.programs, "{compared:?}");
        assert!(
            compared.violated * 5 <= compared.programs * 4,
            "{compared:?}"
        );
    }
}

fn orders(program: &mut Program) -> Vec<&mut Order> {
    let transitions = program.threads.iter_mut().flat_map(|t| &mut t.transitions);
    transitions
        .filter_map(|t| match &mut t.op {
            Op::Load { order, .. }
            | Op::Wait { order, .. }
            | Op::Store { order, .. }
            | Op::Rmw { order, .. }
            | Op::Fence(order) => Some(order),
            _ => None,
        })
        .collect()
}

fn has_fence(program: &Program) -> bool {
    let mut transitions = program.threads.iter().flat_map(|t| &t.transitions);
    transitions.any(|t| matches!(t.op, Op::Fence(_)))
}

/// Without fences, release/acquire is what C++20 makes of these orders.
#[test]
fn default_orders_without_fences_are_release_acquire() {
    let fenceless = |p: &Program| if has_fence(p) { None } else { ra_robust(p) };
    let compared = compare(&Shape::RA, 0..3_000, fenceless, c20_robust);
    assert!(compared.programs >= 1_000, "{compared:?}");
    assert!(compared.violated * 5 >= compared.programs, "{compared:?}");
}

/// The two models differ in sequentially consistent accesses only.
#[test]
fn without_seqcst_accesses_the_models_agree() {
    let compared = compare(&Shape::RC11, 10_000..12_000, c20_robust, rc11_robust);
    assert!(compared.violated * 5 >= compared.programs, "{compared:?}");
    let with = Shape {
        properties: true,
        ..Shape::RC11
    };
    compare(&with, 0..500, c20_safe, rc11_safe);
}

/// C++20 has no graph that RC11 does not have, where they differ.
#[test]
fn robust_against_rc11_is_robust_against_c20() {
    let only_robust = |p: &Program| rc11_robust(p).filter(|&robust| robust);
    compare(&Shape::C20, 20_000..21_000, only_robust, c20_robust);
}

/// Stronger orders only take graphs away.
#[test]
fn stronger_orders_keep_robustness() {
    let only_robust = |p: &Program| c20_robust(p).filter(|&robust| robust);
    for seed in 0..4 {
        compare(
            &Shape::C20,
            30_000 + 300 * seed..30_300 + 300 * seed,
            only_robust,
            |p| {
                let mut program = p.clone();
                let mut orders = orders(&mut program);
                let count = orders.len().max(1);
                if let Some(order) = orders.get_mut(seed as usize % count) {
                    **order = Order::SeqCst;
                }
                // In an `atomic` block, or at a plain location, the order has no meaning.
                c20_robust(&program).or(Some(true)).filter(|_| {
                    let plain = program.locations.iter().any(|l| l.nonatomic);
                    !plain
                })
            },
        );
    }
}

/// What SC shows, C++20 shows; and if the program is robust, nothing else.
#[test]
fn robust_programs_are_as_safe_as_under_sc() {
    let shape = Shape {
        properties: true,
        ..Shape::C20
    };
    let expected = |p: &Program| {
        let under_sc = sc_safe(p)?;
        match c20_robust(p)? {
            true if blocks_end(p) => Some(under_sc),
            _ if under_sc => None,
            _ => Some(false),
        }
    };
    let compared = compare(&shape, 40_000..41_000, expected, c20_safe);
    assert!(compared.programs >= 400, "{compared:?}");
    assert!(compared.violated * 5 >= compared.programs, "{compared:?}");
}

/// A race is a violation of every criterion.
#[test]
fn races_violate_everything() {
    let racy = |p: &Program| c20_drf(p).filter(|&free| !free);
    compare(&Shape::C20, 50_000..50_400, racy, c20_robust);
    compare(&Shape::C20, 50_400..50_800, racy, c20_safe);
}

/// The machine with views reaches the same states and races as the graphs.
#[test]
fn views_show_what_graphs_show() {
    let shape = Shape {
        seqcst_fences: false,
        properties: true,
        ..Shape::RC11
    };
    let compared = compare(&shape, 80_000..82_000, c20_drf, |p| {
        let (by_views, races) = shown_by_views(p)?;
        let by_graphs = shown(p, Model::C20)?;
        assert_eq!(by_views, by_graphs, "{}", p.source.text());
        Some(!races)
    });
    assert!(compared.programs >= 1_900, "{compared:?}");
}

/// The states of the two are the same sets where no access is sequentially consistent.
#[test]
fn the_same_states_without_seqcst_accesses() {
    let all = |model: Model| move |p: &Program| shown(p, model);
    compare(
        &Shape::RC11,
        60_000..60_200,
        |p| all(Model::C20)(p).map(|_| true),
        |p| Some(all(Model::C20)(p)? == all(Model::Rc11)(p)?),
    );
}

/// What brute force finds is a witness, and none for a program with the strongest orders, where that is robust.
#[test]
fn validation_accepts_what_brute_force_finds() {
    let mut stronger_rejects = 0;
    for model in [Model::C20, Model::Rc11] {
        for seed in 70_000..71_000 {
            let text = random_sketch(seed, &Shape::C20).to_string();
            let program = palisade_testkit::program(&text);
            let Some(mut witness) = c20_violation(&program, model) else {
                continue;
            };
            if let Err(invalid) = validate(&program, &witness) {
                panic!("seed {seed}: {invalid}\n{text}\n{witness:#?}");
            }
            let mut other = witness.clone();
            other.criterion = Criterion::Persistent;
            assert!(validate(&program, &other).is_err());
            for event in &mut witness.events {
                event.order = None;
            }
            let mut strong = program.clone();
            for order in orders(&mut strong) {
                *order = Order::SeqCst;
            }
            if c20_robust(&strong) == Some(true) {
                stronger_rejects += 1;
                assert!(validate(&strong, &witness).is_err(), "seed {seed}: {text}");
            }
        }
    }
    assert!(stronger_rejects > 100, "{stronger_rejects}");
}

#[test]
fn witnesses_are_judged_by_the_definition() {
    let text = "shared x, y;
        thread a { x.store(1, release); let r = y.load(acquire); }
        thread b { y.store(1, release); let r = x.load(acquire); }
        never a@end && b@end && a.r == 0 && b.r == 0;";
    let sb = palisade_testkit::program(text);
    let good = c20_violation(&sb, Model::C20).expect("not robust");
    assert_eq!(validate(&sb, &good), Ok(()));
    let rejects = |change: &dyn Fn(&mut Witness)| {
        let mut witness = good.clone();
        change(&mut witness);
        validate(&sb, &witness).expect_err("wrong").message
    };
    assert!(rejects(&|w| w.events[0].order = Some(OrderName::SeqCst)).contains("order"));
    rejects(&|w| {
        w.events.pop();
    });
    rejects(&|w| w.edges[0].relation = RelationName::Rf);
    rejects(&|w| w.events[3].value = Some(1));
    rejects(&|w| w.model = Model::Tso);
    // The same run reaches what is forbidden, and no value is used but by the `never`.
    let mut unsafe_run = good.clone();
    unsafe_run.criterion = Criterion::Safe;
    unsafe_run.cycle.clear();
    unsafe_run.edges.clear();
    unsafe_run.pattern = Some(Pattern {
        kind: PatternKind::Never,
        events: Vec::new(),
        message: String::new(),
    });
    assert_eq!(validate(&sb, &unsafe_run), Ok(()));
    let mut observed = good.clone();
    observed.criterion = Criterion::Observational;
    assert_eq!(validate(&sb, &observed), Ok(()));
    let line = text.lines().count();
    let without: Vec<&str> = text.lines().take(line - 1).collect();
    let unused = palisade_testkit::program(&without.join("\n"));
    assert_eq!(validate(&unused, &good), Ok(()));
    assert!(
        validate(&unused, &observed)
            .expect_err("not used")
            .message
            .contains("not used")
    );
    // A branch on a copy of the value is a use.
    let stale = &good.events[3].thread;
    let (mine, theirs) = match stale.as_str() {
        "a" => ("y.load(acquire); }", "x.load(acquire); }"),
        _ => ("x.load(acquire); }", "y.load(acquire); }"),
    };
    let uses = |load: &str| {
        let branch = load.replace("; }", "; let s = r + 1; if s == 1 { skip; } }");
        palisade_testkit::program(&without.join("\n").replace(load, &branch))
    };
    assert_eq!(validate(&uses(mine), &observed), Ok(()));
    assert!(validate(&uses(theirs), &observed).is_err());
}
