//! What is asked of TSO runs: `robust`, `persistent`, reachability.

use super::waiting::a_never_is_true;
use super::{Runs, Visit, holds_everywhere};
use palisade_lang::{LocationId, Program, Value};
use palisade_memory::{Machine, Sc, Step, StepKind, Tso, sc, tso};
use rustc_hash::FxHashSet;

/// `reach` under TSO: whether an error of the program (a failed `assert` included) occurs in some TSO run, or a `never` is true in some
/// state that TSO reaches in which all buffers are empty.
pub fn tso_reach(program: &Program) -> Option<bool> {
    tso_safe(program).map(|safe| !safe)
}

/// `safe` under TSO: not [`tso_reach`].
pub fn tso_safe(program: &Program) -> Option<bool> {
    let mut runs = Runs::new(Tso::new(program));
    // A `never` may see every step.
    runs.local_first &= program.nevers.is_empty();
    let machine = &runs.machine;
    holds_everywhere(machine.initial(), |state| {
        let steps = runs.steps(state);
        let forbidden = match state.is_flushed() {
            true => a_never_is_true(program, &state.locals, &state.memory, None),
            false => Some(false),
        };
        let Some(forbidden) = forbidden else {
            return Visit::TooLarge;
        };
        let error = steps
            .iter()
            .any(|(step, _)| matches!(step.kind, StepKind::Error(_)));
        if forbidden || error {
            return Visit::Violated;
        }
        Visit::Next(steps.into_iter().map(|(_, next)| next).collect())
    })
}

/// An event of a trace: thread, and place in its program order.
type EventId = (u8, u8);

/// What happens-before needs to know of an event. Locations tell loads from stores enough: a load has a source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Event {
    location: LocationId,
    /// For what reads: the store that it reads from, `None` for the initial value.
    source: Option<Option<EventId>>,
    /// The block that it is in, counted from 1 in its thread; 0 for none.
    block: u8,
}

/// A trace (Bouajjani et al. 2013, extended version, App. A) as it grows along a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Trace {
    /// Program order.
    events: Vec<Vec<Event>>,
    /// Store order, for each location.
    stores: Vec<Vec<EventId>>,
    /// The issued stores that are still in the buffers.
    pending: Vec<Vec<EventId>>,
    /// How many blocks each thread has begun.
    blocks: Vec<u8>,
}

impl Trace {
    fn new(threads: usize, locations: usize) -> Self {
        Trace {
            events: vec![Vec::new(); threads],
            stores: vec![Vec::new(); locations],
            pending: vec![Vec::new(); threads],
            blocks: vec![0; threads],
        }
    }

    /// The trace with one more action.
    fn then(&self, step: &Step) -> Trace {
        let mut trace = self.clone();
        let thread = step.thread;
        if step.kind == StepKind::AtomicBegin {
            trace.blocks[thread] += 1;
        }
        let Some(location) = step.location else {
            return trace;
        };
        let id = (thread as u8, trace.events[thread].len() as u8);
        let newest = trace.stores[location.index()].last().copied();
        let own = trace.pending[thread]
            .iter()
            .rev()
            .find(|e| trace.events[thread][usize::from(e.1)].location == location)
            .copied();
        let block = if step.atomic { trace.blocks[thread] } else { 0 };
        let mut add = |source| {
            trace.events[thread].push(Event {
                location,
                source,
                block,
            });
        };
        match step.kind {
            StepKind::Load => add(Some(own.or(newest))),
            StepKind::Issue => {
                add(None);
                trace.pending[thread].push(id);
            }
            StepKind::Flush => {
                let flushed = trace.pending[thread].remove(0);
                trace.stores[location.index()].push(flushed);
            }
            StepKind::Store => {
                add(None);
                trace.stores[location.index()].push(id);
            }
            StepKind::Rmw => {
                add(Some(newest));
                trace.stores[location.index()].push(id);
            }
            _ => {}
        }
        trace
    }

    /// Whether happens-before (program order, store order, source, conflict), with every block as one node, has a cycle.
    fn has_cycle(&self) -> bool {
        // Nodes: events in program order, an event of the same block as the one before is the same node.
        let mut node_of = Vec::new();
        let mut nodes = 0;
        for events in &self.events {
            let mut of_thread: Vec<usize> = Vec::new();
            for (i, event) in events.iter().enumerate() {
                let same = i > 0 && event.block != 0 && events[i - 1].block == event.block;
                if !same {
                    nodes += 1;
                }
                of_thread.push(nodes - 1);
            }
            node_of.push(of_thread);
        }
        let node = |id: EventId| node_of[usize::from(id.0)][usize::from(id.1)];
        let mut edges = vec![0u64; nodes];
        assert!(nodes <= 64, "not a program for brute force");
        let mut edge = |from: usize, to: usize| {
            if from != to {
                edges[from] |= 1 << to;
            }
        };
        for of_thread in &node_of {
            for pair in of_thread.windows(2) {
                edge(pair[0], pair[1]);
            }
        }
        for stores in &self.stores {
            for pair in stores.windows(2) {
                edge(node(pair[0]), node(pair[1]));
            }
        }
        for (thread, events) in self.events.iter().enumerate() {
            for (index, event) in events.iter().enumerate() {
                let Some(source) = event.source else {
                    continue;
                };
                let load = (thread as u8, index as u8);
                let order = &self.stores[event.location.index()];
                if let Some(source) = source {
                    edge(node(source), node(load));
                }
                // The first store behind the source; the others follow in store order. A read-modify-write does not conflict with
                // itself, but with the store behind it, which store order says already.
                let behind = match source {
                    None => order.first(),
                    Some(source) => {
                        let place = order.iter().position(|&s| s == source);
                        place.and_then(|p| order.get(p + 1))
                    }
                };
                if let Some(&store) = behind {
                    edge(node(load), node(store));
                }
            }
        }
        has_cycle(&edges)
    }
}

/// Whether a graph of at most 64 nodes has a cycle: take away nodes without successors until nothing changes.
pub(super) fn has_cycle(edges: &[u64]) -> bool {
    let mut left: u64 = if edges.len() == 64 {
        u64::MAX
    } else {
        (1 << edges.len()) - 1
    };
    loop {
        let before = left;
        for (node, successors) in edges.iter().enumerate() {
            if successors & left == 0 {
                left &= !(1 << node);
            }
        }
        if left == before {
            return left != 0;
        }
    }
}

/// `robust` against TSO: every TSO computation has the trace of an SC computation, which is so exactly if its happens-before relation has
/// no cycle (Bouajjani et al. 2013, extended version, section 3, Lemma 1, App. A).
///
/// A *computation* is a run from the initial state to a state in which all buffers are empty; it need not be complete otherwise. So a run
/// counts as soon as, and whenever, all buffers are empty, whatever the threads could still do, and a run that can never empty the buffers
/// again (because a thread is stuck inside a block) does not count. The nodes of a trace are loads, stores and read-modify-writes; `wait`
/// and `bcas` only where they go on, a `cas` that fails as a load. A store's place in program order is where it was issued, its place in
/// store order where it left the buffer. Each `atomic` block is one node; edges inside it are no cycle. Fences, local steps and errors are
/// in no cycle and so not recorded.
pub fn tso_robust(program: &Program) -> Option<bool> {
    let runs = Runs::new(Tso::new(program));
    let threads = runs.machine.code().instances.len();
    let trace = Trace::new(threads, program.locations.len());
    holds_everywhere(
        (runs.machine.initial(), trace),
        |(state, trace): &(tso::State, Trace)| {
            if trace.events.iter().map(Vec::len).sum::<usize>() > 64 {
                return Visit::TooLarge;
            }
            if state.is_flushed() && trace.has_cycle() {
                return Visit::Violated;
            }
            let steps = runs.steps(state).into_iter();
            Visit::Next(
                steps
                    .map(|(step, next)| (next, trace.then(&step)))
                    .collect(),
            )
        },
    )
}

/// An instruction, the location, and the values read and written.
type Access = (usize, LocationId, Option<Value>, Option<Value>);

/// A trace as persistence sees it (Abdulla et al. 2015, section 6).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Orders {
    /// For each thread, its writes, reads and read-modify-writes.
    program: Vec<Vec<Access>>,
    /// The updates of memory of all threads: thread, location, value.
    store: Vec<(usize, LocationId, Option<Value>)>,
}

impl Orders {
    fn then(&self, step: &Step) -> Orders {
        let mut orders = self.clone();
        let Some(location) = step.location else {
            return orders;
        };
        if matches!(
            step.kind,
            StepKind::Load | StepKind::Store | StepKind::Issue | StepKind::Rmw
        ) {
            orders.program[step.thread].push((step.transition, location, step.read, step.written));
        }
        if step.is_write() {
            orders.store.push((step.thread, location, step.written));
        }
        orders
    }
}

/// `persistent` (Abdulla et al. 2015, section 6): every complete TSO run (one that ends with all buffers empty) has the trace of an SC run, where a
/// trace is the pair of the program orders with values and the total store order.
///
/// Program orders list each thread's writes, reads and read-modify-writes with their instruction and values; a `cas` that fails is a read;
/// `wait` and `bcas` are in it only where they go on; fences are not. The store order is the order of all updates of memory, whichever thread made
/// them. The accesses of an `atomic` block stand in both orders one by one; that they stand together follows from the machines, since
/// no other thread moves, and no buffer is flushed, while a thread is inside a block.
pub fn tso_persistent(program: &Program) -> Option<bool> {
    let sc_runs = Runs::new(Sc::new(program));
    let nothing = Orders {
        program: vec![Vec::new(); sc_runs.machine.code().instances.len()],
        store: Vec::new(),
    };
    let mut of_sc_runs = FxHashSet::default();
    let initial = (sc_runs.machine.initial(), nothing.clone());
    holds_everywhere(initial, |(state, orders): &(sc::State, Orders)| {
        of_sc_runs.insert(orders.clone());
        let steps = sc_runs.steps(state).into_iter();
        Visit::Next(
            steps
                .map(|(step, next)| (next, orders.then(&step)))
                .collect(),
        )
    })?;
    let runs = Runs::new(Tso::new(program));
    let initial = (runs.machine.initial(), nothing);
    holds_everywhere(initial, |(state, orders): &(tso::State, Orders)| {
        if state.is_flushed() && !of_sc_runs.contains(orders) {
            return Visit::Violated;
        }
        let steps = runs.steps(state).into_iter();
        Visit::Next(
            steps
                .map(|(step, next)| (next, orders.then(&step)))
                .collect(),
        )
    })
}
