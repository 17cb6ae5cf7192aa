//! What is known of C++20 and RC11 without a search: facts that brute force must show on random programs.

use palisade_lang::{Op, Order, Program};
use palisade_memory::Model;
use palisade_memory::ra_accepts::blocks_end;
use palisade_testkit::oracle::{
    c20_drf, c20_robust, c20_safe, ra_robust, rc11_robust, rc11_safe, sc_safe,
};
use palisade_testkit::{Shape, compare};

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

/// The states of the two are the same sets where no access is sequentially consistent.
#[test]
fn the_same_states_without_seqcst_accesses() {
    let all = |model: Model| move |p: &Program| palisade_testkit::oracle::shown(p, model);
    compare(
        &Shape::RC11,
        60_000..60_200,
        |p| all(Model::C20)(p).map(|_| true),
        |p| Some(all(Model::C20)(p)? == all(Model::Rc11)(p)?),
    );
}
