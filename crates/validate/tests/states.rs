//! The states that the run of a witness goes through. Here, and not beside the code, because the witnesses come from a search.

use palisade_check::{Control, Criterion, Options, QUESTIONS, check};
use palisade_lang::Program;
use palisade_memory::{EventKind, Model, Witness};
use palisade_testkit::{Shape, program, random_sketch};
use palisade_validate::states;
use palisade_validate::states::{Memory, Snapshot};
use std::sync::atomic::AtomicBool;

fn witness(program: &Program, model: Model, criterion: Criterion) -> Option<Witness> {
    let cancel = AtomicBool::new(false);
    let control = Control {
        cancel: &cancel,
        progress: &|_| {},
    };
    let answer = check(program, &Options::new(model, criterion), &control).ok()?;
    answer.witnesses.into_iter().next()
}

#[test]
fn store_buffering_step_by_step() {
    let text = "shared x, y;\nthread p { x = 1; let r = y; }\nthread q { y = 1; let r = x; }\n";
    let program = program(text);
    let witness = witness(&program, Model::Tso, Criterion::Robust).unwrap();
    let states = states(&program, &witness).unwrap().states;
    assert_eq!(states.len(), witness.events.len() + 1);
    let Memory::Values { values, buffers } = &states[1].memory else {
        panic!("TSO has one value for each location");
    };
    // After the first step one store waits and memory is as it was.
    assert_eq!(values, &[0, 0]);
    assert_eq!(buffers.iter().map(Vec::len).sum::<usize>(), 1);
    let Memory::Values { values, buffers } = &states.last().unwrap().memory else {
        panic!("TSO has one value for each location");
    };
    assert_eq!(values, &[1, 1]);
    assert!(buffers.iter().all(Vec::is_empty));
}

#[test]
fn every_witness_of_random_programs_can_be_watched() {
    let mut seen = 0;
    for (shape, seeds) in [
        (Shape::TSO, 0..50),
        (Shape::RA, 50..90),
        (Shape::SC, 90..120),
        (Shape::C20, 120..160),
    ] {
        for seed in seeds {
            let program = program(&random_sketch(seed, &shape).to_string());
            for &(model, criterion) in QUESTIONS {
                let Some(witness) = witness(&program, model, criterion) else {
                    continue;
                };
                let states = states(&program, &witness).unwrap().states;
                // The accesses of a race may exclude each other: then the last is not a state of its own.
                let missing = witness.events.len() + 1 - states.len();
                let most = if criterion == Criterion::Drf || model == Model::Ra {
                    2
                } else {
                    0
                };
                assert!(
                    missing <= most,
                    "seed {seed}, {model:?} {criterion:?}: {missing}"
                );
                values_agree(&program, &witness, &states);
                seen += 1;
            }
        }
    }
    assert!(seen > 100, "{seen}");
}

/// Memory holds what the event has just written.
fn values_agree(program: &Program, witness: &Witness, states: &[Snapshot]) {
    for (event, state) in witness.events.iter().zip(&states[1..]) {
        let writes = [EventKind::Store, EventKind::Flush, EventKind::Rmw];
        let location = program
            .locations
            .iter()
            .position(|l| Some(&l.name) == event.location.as_ref());
        if let (Memory::Values { values, .. }, true, Some(location)) =
            (&state.memory, writes.contains(&event.kind), location)
        {
            assert_eq!(Some(values[location]), event.value);
        }
    }
}
