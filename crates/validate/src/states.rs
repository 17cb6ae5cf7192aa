//! The states that a run goes through, for people who want to watch it.

use crate::replay::Replay;
use palisade_lang::{Instance, LocationId, Program, Value};
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
            let machine = Ra::new(&program).ok()?;
            Some(follow(&machine, &program, witness, of_ra))
        }
        Model::C20 | Model::Rc11 => None,
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
