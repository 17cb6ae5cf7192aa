//! The states that a run goes through, for people who want to watch it.

use crate::replay::Replay;
use palisade_lang::{Instance, LocationId, Order, Program, Value};
use palisade_memory::c20::{self, C20Graph, consistent};
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
    /// All values that have been written to each location (RA, C++20, RC11).
    Messages {
        /// The values of each location in modification order.
        values: Vec<Vec<Value>>,
        /// For each running copy, and each location: the oldest of the values that it may still read.
        views: Vec<Vec<usize>>,
    },
}

/// With more events, what threads may still read takes too long to find out under C++20.
const MOST_EVENTS: usize = 150;

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
        Model::C20 | Model::Rc11 => {
            if witness.events.len() > MOST_EVENTS {
                return None;
            }
            let machine = C20Graph::without_judging(&program, witness.model).ok()?;
            let of_c20 = |state: &c20::State| of_c20(&program, witness.model, state);
            Some(follow(&machine, &program, witness, of_c20))
        }
    }
}

fn follow<M: Machine>(
    machine: &M,
    program: &Program,
    witness: &Witness,
    snapshot: impl Fn(&M::State) -> Snapshot,
) -> States {
    let silent_fences = !witness.model.has_messages();
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

/// What a thread may still read, is by the definition what a relaxed load of it may read in a graph of the model.
fn of_c20(program: &Program, model: Model, state: &c20::State) -> Snapshot {
    let graph = &state.graph;
    let initial: Vec<Value> = program.locations.iter().map(|l| l.initial).collect();
    let places = |location: LocationId| 0..=graph.mo[location.index()].len();
    let locations = || (0..program.locations.len()).map(|index| LocationId(index as u32));
    let value = |location, place| graph.value(location, graph.write_at(location, place), &initial);
    let may_read = |thread: usize, location: LocationId, place: usize| {
        let order = match program.location(location).nonatomic {
            true => Order::NonAtomic,
            false => Order::Relaxed,
        };
        let mut longer = graph.clone();
        longer.read(thread, order, location, graph.write_at(location, place));
        consistent(&longer, model)
    };
    let oldest = |thread: usize, location: LocationId| {
        let newest = graph.mo[location.index()].len();
        // What is older than something that may not be read may not be read either.
        let may = |&place: &usize| may_read(thread, location, place);
        places(location)
            .rev()
            .take_while(may)
            .last()
            .unwrap_or(newest)
    };
    Snapshot {
        locals: state.locals.clone(),
        memory: Memory::Messages {
            values: locations()
                .map(|l| places(l).map(|place| value(l, place)).collect())
                .collect(),
            views: (0..state.locals.len())
                .map(|thread| locations().map(|l| oldest(thread, l)).collect())
                .collect(),
        },
    }
}
