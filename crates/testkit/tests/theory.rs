//! What the papers prove must be true of brute force, too.

use palisade_lang::Program;
use palisade_memory::{Local, Machine, Ra, StepKind};
use palisade_testkit::oracle::ra_graph::RaGraph;
use palisade_testkit::{Shape, oracle, program, random_sketch};
use std::collections::HashSet;

fn programs(shape: &Shape, count: u64) -> impl Iterator<Item = (String, Program)> {
    (0..count).map(move |seed| {
        let text = random_sketch(seed, shape).to_string();
        let program = program(&text);
        (text, program)
    })
}

/// Abdulla et al. 2015, Fig. 1: drf implies trf, trf implies robust and persistent.
#[test]
fn the_criteria_are_ordered_by_strength() {
    for (text, program) in programs(&Shape::TSO, 3000) {
        let Some(trf) = oracle::tso_trf(&program) else {
            continue;
        };
        if trf {
            assert_ne!(oracle::tso_robust(&program), Some(false), "{text}");
            assert_ne!(oracle::tso_persistent(&program), Some(false), "{text}");
        } else {
            assert_ne!(oracle::sc_drf_all_locations(&program), Some(true), "{text}");
        }
    }
}

/// A robust or persistent program has no other errors and reaches no other states under TSO than under SC.
#[test]
fn robust_and_persistent_programs_are_as_safe_as_under_sc() {
    for (text, program) in programs(&Shape::TSO_REACH, 3000) {
        let (sc, tso) = (oracle::sc_safe(&program), oracle::tso_safe(&program));
        if let (Some(sc), Some(tso)) = (sc, tso)
            && sc != tso
        {
            assert!(sc, "{text}");
            assert_ne!(oracle::tso_robust(&program), Some(true), "{text}");
            assert_ne!(oracle::tso_persistent(&program), Some(true), "{text}");
        }
    }
}

/// Lahav and Margalit 2019, Lemma 4.8: timestamps and execution graphs reach the same states of programs, and race in the same programs.
#[test]
fn both_forms_of_release_acquire_agree() {
    let mut compared = 0;
    for (text, program) in programs(&Shape::RA, 1500) {
        let (Ok(views), Ok(graphs)) = (Ra::new(&program), RaGraph::new(&program)) else {
            continue;
        };
        let limit = 4_000;
        let a = reached(&views, limit, |s| s.raced);
        let b = reached(&graphs, limit, |s| s.raced);
        if let (Some(a), Some(b)) = (a, b) {
            assert!(a == b, "{text}");
            compared += 1;
        }
    }
    assert!(compared > 700);
}

type Reached = (HashSet<Vec<Local>>, bool);

/// The states of the program outside blocks that a machine reaches, and whether it races; `None` above the limit.
fn reached<M: Machine>(
    machine: &M,
    limit: usize,
    raced: impl Fn(&M::State) -> bool,
) -> Option<Reached> {
    let mut seen = HashSet::new();
    let mut found = (HashSet::new(), false);
    let mut todo = vec![machine.initial()];
    while let Some(state) = todo.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        if seen.len() > limit {
            return None;
        }
        found.1 |= raced(&state);
        let locals = machine.locals(&state);
        if machine.code().holder(locals).is_none() {
            found.0.insert(locals.to_vec());
        }
        for (step, next) in machine.steps(&state) {
            assert!(step.kind != StepKind::Issue);
            todo.push(next);
        }
    }
    Some(found)
}

/// Lahav and Margalit 2019, Prop. 4.10: a program that is robust against RA has no error under RA that it has not under SC.
#[test]
fn robust_programs_are_as_safe_under_ra_as_under_sc() {
    let shape = Shape {
        properties: true,
        ..Shape::RA
    };
    for (text, mut program) in programs(&shape, 2000) {
        program.nevers.clear();
        if oracle::ra_robust(&program) == Some(true) {
            assert_eq!(
                oracle::ra_safe(&program),
                oracle::sc_safe(&program),
                "{text}"
            );
        }
    }
}

/// The shares of violations that make comparisons worth their time.
#[test]
fn enough_random_programs_violate_each_criterion() {
    let share = |shape: &Shape, decide: &dyn Fn(&Program) -> Option<bool>| {
        let answers: Vec<bool> = programs(shape, 1000)
            .filter_map(|(_, p)| decide(&p))
            .collect();
        assert!(answers.len() >= 990);
        answers.iter().filter(|holds| !**holds).count() as f64 / answers.len() as f64
    };
    let robust = share(&Shape::TSO, &oracle::tso_robust);
    let persistent = share(&Shape::TSO, &oracle::tso_persistent);
    let ra = share(&Shape::RA, &oracle::ra_robust);
    assert!(robust > 0.2 && robust < 0.6, "{robust}");
    assert!(persistent > 0.1 && persistent < 0.6, "{persistent}");
    assert!(ra > 0.2 && ra < 0.6, "{ra}");
}

/// All shapes give programs that the language accepts.
#[test]
fn random_programs_are_programs() {
    for shape in [
        Shape::SC,
        Shape::TSO_REACH,
        Shape::RA,
        Shape::LOOPS,
        Shape::PARAMETERISED,
    ] {
        for (text, program) in programs(&shape, 2000) {
            assert_eq!(program.is_parameterised(), shape.parameterised, "{text}");
        }
    }
}
