//! The states that a run goes through, for people who want to watch it.

use crate::replay::Replay;
use palisade_lang::{Instance, LocationId, Program, Value};
use palisade_memory::ra_accepts::with_seqcst_fences;
use palisade_memory::{Local, Machine, Model, Ra, Sc, Tso, Witness, ra, sc, tso};
use std::collections::BTreeMap;

/// The states of a run.
#[derive(Clone, Debug)]
pub struct States {
    /// The running copies of the threads.
    pub instances: Vec<Instance>,
    /// The state before the first event, then the one after each. Where the last events of a race exclude each other, the states
    /// end before them.
    pub states: Vec<Snapshot>,
}

/// A state, whatever the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// What each running copy knows by itself.
    pub locals: Vec<Local>,
    /// What they share.
    pub memory: Memory,
}

/// What threads share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Memory {
    /// One value for each location (SC, TSO).
    Values {
        /// The values.
        values: Vec<Value>,
        /// For each running copy, the stores that wait in its buffer, oldest first; none under SC.
        buffers: Vec<Vec<(LocationId, Value)>>,
    },
    /// All values that have been written to each location (RA).
    Messages {
        /// The values of each location in modification order.
        values: Vec<Vec<Value>>,
        /// For each running copy, and each location: the oldest of the values that it may still read.
        views: Vec<Vec<usize>>,
    },
}

/// The states that the run of a witness goes through. Local steps that the witness does not mention happen as late as they can.
///
/// Nothing is judged here (see [`crate::validate`]): where the program cannot run like this, the states end early. `None` where it cannot be
/// run at all.
pub fn states(program: &Program, witness: &Witness) -> Option<States> {
    let program = match witness.copies {
        Some(copies) if copies > crate::MOST_COPIES => return None,
        Some(copies) => program.with_copies(copies),
        None => program.clone(),
    };
    match witness.model {
        Model::Sc => Some(follow(&Sc::new(&program), &program, witness, of_sc)),
        Model::Tso => Some(follow(&Tso::new(&program), &program, witness, of_tso)),
        Model::Ra => {
            let program = with_seqcst_fences(&program);
            let machine = Ra::new(&program).ok()?;
            Some(follow(&machine, &program, witness, of_ra))
        }
    }
}

fn follow<M: Machine>(
    machine: &M,
    program: &Program,
    witness: &Witness,
    snapshot: impl Fn(&M::State) -> Snapshot,
) -> States {
    let silent_fences = witness.model != Model::Ra;
    let replay = Replay::new(machine, program, &witness.events, silent_fences);
    let mut candidates = replay.start();
    let mut last = candidates.first().cloned();
    // The states of all ways so far, by what their last event was: which way was right is known at the end.
    let mut seen: Vec<BTreeMap<usize, Snapshot>> = Vec::new();
    for end in 0..=witness.events.len() {
        candidates = match replay.follow(candidates, end) {
            Ok(candidates) => candidates,
            Err(_) => break,
        };
        last = candidates.first().cloned();
        let layer = candidates.iter();
        seen.push(layer.map(|c| (c.history(), snapshot(&c.state))).collect());
    }
    let mut states = Vec::new();
    let mut at = last.map_or(0, |candidate| candidate.history());
    for mut layer in seen.into_iter().rev() {
        states.extend(layer.remove(&at));
        at = replay.before(at);
    }
    states.reverse();
    States {
        instances: machine.code().instances.clone(),
        states,
    }
}

fn of_sc(state: &sc::State) -> Snapshot {
    Snapshot {
        locals: state.locals.clone(),
        memory: Memory::Values {
            values: state.memory.clone(),
            buffers: vec![Vec::new(); state.locals.len()],
        },
    }
}

fn of_tso(state: &tso::State) -> Snapshot {
    let buffers = state.buffers.iter();
    let stores = |b: &Vec<tso::Pending>| b.iter().map(|p| (p.location, p.value)).collect();
    Snapshot {
        locals: state.locals.clone(),
        memory: Memory::Values {
            values: state.memory.clone(),
            buffers: buffers.map(stores).collect(),
        },
    }
}

fn of_ra(state: &ra::State) -> Snapshot {
    // The last list is the fences' own.
    let locations = state.messages.len().saturating_sub(1);
    let values = |m: &Vec<ra::Message>| m.iter().map(|m| m.value).collect();
    let views = state.views.iter();
    Snapshot {
        locals: state.locals.clone(),
        memory: Memory::Messages {
            values: state.messages[..locations].iter().map(values).collect(),
            views: views.map(|v| v[..locations].to_vec()).collect(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_check::{Control, Criterion, Options, QUESTIONS, check};
    use palisade_memory::EventKind;
    use palisade_testkit::{Shape, program, random_sketch};
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
}
