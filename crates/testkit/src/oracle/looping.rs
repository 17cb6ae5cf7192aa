//! Brute force for programs with loops: the same definitions, on runs of any length.
//!
//! A run of a program with loops has no end, and neither has its trace. What can still come of a trace is finite, though: an event to which no new
//! edge of happens-before can lead, and from which none can start, matters only as a way between others. So a trace keeps the events that can still get edges and what leads from which to which, and forgets
//! the rest ([`Reach`]); two runs that come to the same state with the same such summary have the same future, and one of them is looked at. Whether a
//! cycle was closed on the way is kept for good.
//!
//! Buffers, and the messages that a thread can still read, may be without bound. They have a bound here: `Some(false)` is certain, and `Some(true)`
//! means that no run within that bound violates. Tests hold these functions against the plain ones on programs without loops, where a bound
//! that is large enough makes them exact.

use super::{Runs, Visit, holds_everywhere};
use palisade_lang::{LocationId, Program, Value};
use palisade_memory::{Local, Machine, Ra, Sc, Step, StepKind, Tso, ra, sc, tso};

/// An event that is kept: its number.
type Node = Option<usize>;

/// Which of the events that are kept leads to which, by a path of any length.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Reach {
    /// For each event the set of those behind it.
    behind: Vec<u128>,
    /// Whether a cycle was closed: nothing else matters then.
    cyclic: bool,
}

impl Reach {
    fn node(&mut self) -> usize {
        self.behind.push(0);
        assert!(self.behind.len() <= 128, "not a program for brute force");
        self.behind.len() - 1
    }

    fn edge(&mut self, from: Node, to: usize) {
        let Some(from) = from.filter(|&from| from != to) else {
            return;
        };
        if self.behind[to] >> from & 1 == 1 {
            self.cyclic = true;
        }
        let reached = self.behind[to] | 1 << to;
        for (node, behind) in self.behind.iter_mut().enumerate() {
            if node == from || *behind >> from & 1 == 1 {
                *behind |= reached;
            }
        }
    }

    /// Forgets every event that none of these slots holds, and numbers the others in the order of the slots.
    fn forget_others(&mut self, slots: Vec<&mut Node>) {
        if self.cyclic {
            self.behind.clear();
            slots.into_iter().for_each(|slot| *slot = None);
            return;
        }
        let mut kept: Vec<usize> = Vec::new();
        for slot in slots {
            *slot = slot.map(|node| {
                let place = kept.iter().position(|&k| k == node);
                place.unwrap_or_else(|| {
                    kept.push(node);
                    kept.len() - 1
                })
            });
        }
        let renumbered = |set: u128| {
            let bits = kept.iter().enumerate();
            bits.fold(0, |sum, (new, &old)| sum | (set >> old & 1) << new)
        };
        self.behind = kept.iter().map(|&k| renumbered(self.behind[k])).collect();
    }
}

/// A trace of TSO, as far as it matters for what follows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Trace {
    reach: Reach,
    /// The last event of each thread.
    last: Vec<Node>,
    /// The node of the block that a thread is in.
    block: Vec<Node>,
    /// For each store in a buffer: itself, and the last load that read it there.
    pending: Vec<Vec<(Node, Node)>>,
    /// The last store of each location.
    newest: Vec<Node>,
    /// For each location and thread, the last load of the newest store (or of the initial value): earlier ones come before it in program order.
    readers: Vec<Vec<Node>>,
}

impl Trace {
    fn new(threads: usize, locations: usize) -> Self {
        Trace {
            reach: Reach::default(),
            last: vec![None; threads],
            block: vec![None; threads],
            pending: vec![Vec::new(); threads],
            newest: vec![None; locations],
            readers: vec![vec![None; threads]; locations],
        }
    }

    fn event(&mut self, step: &Step) -> usize {
        let thread = step.thread;
        let node = match self.block[thread] {
            Some(node) if step.atomic => node,
            _ => self.reach.node(),
        };
        if step.atomic {
            self.block[thread] = Some(node);
        }
        self.reach.edge(self.last[thread], node);
        self.last[thread] = Some(node);
        node
    }

    /// The store is the newest of the location from now on.
    fn store(&mut self, location: LocationId, store: usize) {
        let readers = &mut self.readers[location.index()];
        self.reach.edge(self.newest[location.index()], store);
        for reader in readers {
            self.reach.edge(reader.take(), store);
        }
        self.newest[location.index()] = Some(store);
    }

    /// The trace with one more action, which was done in this state.
    fn then(&self, before: &tso::State, step: &Step) -> Trace {
        let mut trace = self.clone();
        let thread = step.thread;
        if matches!(step.kind, StepKind::AtomicBegin | StepKind::AtomicEnd) {
            trace.block[thread] = None;
        }
        let Some(location) = step.location.filter(|_| !self.reach.cyclic) else {
            return trace;
        };
        match step.kind {
            StepKind::Load => {
                let mut own = before.buffers[thread].iter();
                let own = own.rposition(|pending| pending.location == location);
                let load = trace.event(step);
                if let Some(own) = own {
                    let (store, reader) = &mut trace.pending[thread][own];
                    *reader = Some(load);
                    trace.reach.edge(*store, load);
                } else {
                    trace.reach.edge(trace.newest[location.index()], load);
                    trace.readers[location.index()][thread] = Some(load);
                }
            }
            StepKind::Issue => {
                let store = trace.event(step);
                trace.pending[thread].push((Some(store), None));
            }
            StepKind::Flush => {
                if let (Some(store), reader) = trace.pending[thread].remove(0) {
                    trace.store(location, store);
                    trace.readers[location.index()][thread] = reader;
                }
            }
            StepKind::Store => {
                let store = trace.event(step);
                trace.store(location, store);
            }
            StepKind::Rmw => {
                let both = trace.event(step);
                trace.reach.edge(trace.newest[location.index()], both);
                trace.store(location, both);
            }
            _ => {}
        }
        let pending = trace.pending.iter_mut().flatten();
        let pending = pending.flat_map(|(store, reader)| [store, reader]);
        let threads = trace.last.iter_mut().chain(&mut trace.block);
        let slots = threads
            .chain(pending)
            .chain(&mut trace.newest)
            .chain(trace.readers.iter_mut().flatten());
        trace.reach.forget_others(slots.collect());
        if trace.reach.cyclic {
            trace.pending.iter_mut().for_each(Vec::clear);
        }
        trace
    }
}

/// Whether every buffer has at most so many stores.
fn fits(state: &tso::State, most: usize) -> bool {
    state.buffers.iter().all(|buffer| buffer.len() <= most)
}

/// [`super::tso_robust`] for runs of any length in which no buffer has more than so many stores.
pub fn tso_robust_looping(program: &Program, most: usize) -> Option<bool> {
    let runs = Runs::new(Tso::new(program));
    let threads = runs.machine.code().instances.len();
    let trace = Trace::new(threads, program.locations.len());
    let initial = (runs.machine.initial(), trace);
    holds_everywhere(initial, |(state, trace): &(tso::State, Trace)| {
        if state.is_flushed() && trace.reach.cyclic {
            return Visit::Violated;
        }
        let steps = runs.steps(state).into_iter();
        let steps = steps.filter(|(_, next)| fits(next, most));
        let next = steps.map(|(step, next)| {
            let trace = trace.then(state, &step);
            (next, trace)
        });
        Visit::Next(next.collect())
    })
}

/// What a trace of persistence says of an access: the instruction, the location, the values read and written.
type Access = (usize, LocationId, Option<Value>, Option<Value>);

/// An SC run that has the trace of a TSO run so far, as far as there is one.
///
/// It makes each store when the TSO run does (the order of stores is the same, and so is memory), and each load as soon as memory has the value: a load changes nothing,
/// so making it earlier never hurts. What it cannot make yet waits, in program order. A load that waits can still be made when memory changes; when a later store of its
/// thread reaches memory first, it never can.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Follower {
    /// For each thread, where it can be: a trace does not say which local steps were made.
    locals: Vec<Vec<Local>>,
    /// For each thread, what waits.
    waiting: Vec<Vec<Access>>,
    /// Whether no SC run has this trace, whatever follows.
    lost: bool,
}

impl Follower {
    /// The thread makes its next access in this memory, or cannot.
    fn make(&mut self, machine: &Sc<'_>, memory: &[Value], thread: usize, access: Access) -> bool {
        let mut reached: Vec<Local> = Vec::new();
        let mut seen = self.locals[thread].clone();
        let mut todo = seen.clone();
        while let Some(local) = todo.pop() {
            let mut state = sc::State {
                locals: machine.code().initial_locals(),
                memory: memory.to_vec(),
            };
            state.locals[thread] = local;
            for (step, mut next) in machine.unhindered_steps_of(&state, thread) {
                let local = next.locals.swap_remove(thread);
                match step.location {
                    None if local.stopped || seen.contains(&local) => {}
                    None => {
                        seen.push(local.clone());
                        todo.push(local);
                    }
                    Some(location) => {
                        let made = (step.transition, location, step.read, step.written);
                        if made == access && !reached.contains(&local) {
                            reached.push(local);
                        }
                    }
                }
            }
        }
        if reached.is_empty() {
            return false;
        }
        reached.sort();
        self.locals[thread] = reached;
        true
    }

    /// Every thread makes the loads that it can make now.
    fn catch_up(&mut self, machine: &Sc<'_>, memory: &[Value]) {
        for thread in 0..self.waiting.len() {
            while let Some(&access) = self.waiting[thread].first()
                && access.3.is_none()
                && self.make(machine, memory, thread, access)
            {
                self.waiting[thread].remove(0);
            }
        }
    }

    /// After a step of TSO from one state to another.
    fn follow(&mut self, machine: &Sc<'_>, step: &Step, before: &tso::State, after: &tso::State) {
        let Some(location) = step.location.filter(|_| !self.lost) else {
            return;
        };
        let thread = step.thread;
        let access = (step.transition, location, step.read, step.written);
        match step.kind {
            StepKind::Issue | StepKind::Load => self.waiting[thread].push(access),
            StepKind::Flush => {
                let next = self.waiting[thread].first().copied();
                let is_next = next.is_some_and(|(_, _, _, written)| written.is_some());
                self.lost = !is_next
                    || !self.make(machine, &before.memory, thread, self.waiting[thread][0]);
                if is_next {
                    self.waiting[thread].remove(0);
                }
            }
            _ => {
                let alone = self.waiting[thread].is_empty();
                self.lost = !alone || !self.make(machine, &before.memory, thread, access);
            }
        }
        self.catch_up(machine, &after.memory);
        if self.lost {
            self.waiting.iter_mut().for_each(Vec::clear);
            self.locals.iter_mut().for_each(Vec::clear);
        }
    }

    fn has_the_trace(&self) -> bool {
        !self.lost && self.waiting.iter().all(Vec::is_empty)
    }
}

/// [`super::tso_persistent`] for runs of any length in which no buffer has more than so many stores.
pub fn tso_persistent_looping(program: &Program, most: usize) -> Option<bool> {
    const MOST_WAITING: usize = 24;
    let follower = Sc::new(program);
    let runs = Runs::new(Tso::new(program));
    let start = Follower {
        locals: follower
            .initial()
            .locals
            .into_iter()
            .map(|l| vec![l])
            .collect(),
        waiting: vec![Vec::new(); runs.machine.code().instances.len()],
        lost: false,
    };
    let initial = (runs.machine.initial(), start);
    holds_everywhere(initial, |(state, sc): &(tso::State, Follower)| {
        if state.is_flushed() && !sc.has_the_trace() {
            return Visit::Violated;
        }
        if sc.waiting.iter().any(|w| w.len() > MOST_WAITING) {
            return Visit::TooLarge;
        }
        let steps = runs.steps(state).into_iter();
        let steps = steps.filter(|(_, next)| fits(next, most));
        let next = steps.map(|(step, next)| {
            let mut sc = sc.clone();
            sc.follow(&follower, &step, state, &next);
            (next, sc)
        });
        Visit::Next(next.collect())
    })
}

/// An execution graph of RA, as far as it matters for what follows: which thread wrote and which threads have read each message that is still there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Graph {
    reach: Reach,
    /// The last event of each thread.
    last: Vec<Node>,
    /// The node of the block that a thread is in.
    block: Node,
    /// For each location and message the write; none for the initial one.
    writes: Vec<Vec<Node>>,
    /// For each location, message and thread the last read.
    readers: Vec<Vec<Vec<Node>>>,
}

impl Graph {
    fn new(state: &ra::State) -> Self {
        let (threads, locations) = (state.locals.len(), state.messages.len());
        Graph {
            reach: Reach::default(),
            last: vec![None; threads],
            block: None,
            writes: vec![vec![None]; locations],
            readers: vec![vec![vec![None; threads]]; locations],
        }
    }

    fn event(&mut self, step: &Step) -> usize {
        let node = match self.block {
            Some(node) if step.atomic => node,
            _ => self.reach.node(),
        };
        if step.atomic {
            self.block = Some(node);
        }
        self.reach.edge(self.last[step.thread], node);
        self.last[step.thread] = Some(node);
        node
    }

    /// The graph with one more step, which led from one state to another.
    fn then(&self, step: &Step, before: &ra::State, after: &ra::State) -> Graph {
        let mut graph = self.clone();
        if matches!(step.kind, StepKind::AtomicBegin | StepKind::AtomicEnd) {
            graph.block = None;
        }
        let fences = before.messages.len() - 1;
        let location = match (step.kind, step.location) {
            (StepKind::Fence, _) if step.made.is_some() => fences,
            (_, Some(location)) => location.index(),
            _ => return graph,
        };
        if self.reach.cyclic || step.kind == StepKind::Race {
            return graph;
        }
        let place = |state: &ra::State, id: Option<u32>| {
            let messages = state.messages[location].iter();
            messages
                .enumerate()
                .find(|(_, m)| Some(m.id) == id)
                .map(|(p, _)| p)
        };
        // The message that is read or written behind. Inside a block that has written, it is the one before its own.
        let Some(old) = place(before, step.message) else {
            return graph;
        };
        let node = graph.event(step);
        let reads = step.kind != StepKind::Store;
        if reads {
            graph.reach.edge(graph.writes[location][old], node);
        }
        if reads && step.made.is_none() {
            graph.readers[location][old][step.thread] = Some(node);
            // An old message is read: the write behind it comes later.
            if let Some(&Some(next)) = graph.writes[location].get(old + 1) {
                graph.reach.edge(Some(node), next);
            }
        }
        let is_new = after.messages[location].len() > before.messages[location].len();
        if is_new && let Some(new) = place(after, step.made) {
            graph.reach.edge(graph.writes[location][old], node);
            for reader in graph.readers[location][old].clone() {
                graph.reach.edge(reader, node);
            }
            let threads = graph.last.len();
            graph.writes[location].insert(new, Some(node));
            graph.readers[location].insert(new, vec![None; threads]);
            if let Some(&Some(next)) = graph.writes[location].get(new + 1) {
                graph.reach.edge(Some(node), next);
            }
        }
        graph
    }
}

/// Forgets messages that no thread can read or write behind any more, and with them everything that only they say; numbers of messages and
/// events begin anew.
fn forget_old(program: &Program, state: &mut ra::State, graph: &mut Graph) {
    for location in 0..state.messages.len() {
        let nonatomic = program.locations.get(location).is_some_and(|l| l.nonatomic);
        let newest = state.messages[location].len() - 1;
        // A nonatomic location is read and written where its newest message is known: all others are alike.
        let first = match nonatomic {
            true => newest.saturating_sub(1),
            false => {
                let views = state.views.iter().map(|view| view[location]);
                let block = state
                    .block
                    .iter()
                    .filter(|b| b.location.index() == location);
                // A block that has written may write again, behind the message that it read.
                let read = block.map(|b| b.time - usize::from(b.written));
                views.chain(read).min().unwrap_or(0)
            }
        };
        state.messages[location].drain(..first);
        if !graph.reach.cyclic {
            graph.writes[location].drain(..first);
            graph.readers[location].drain(..first);
        }
        let messages = state.messages.iter_mut().flatten().map(|m| &mut m.view);
        for view in state.views.iter_mut().chain(messages) {
            if let Some(known) = view.get_mut(location) {
                *known = known.saturating_sub(first);
            }
        }
        if let Some(block) = state
            .block
            .as_mut()
            .filter(|b| b.location.index() == location)
        {
            block.time -= first;
        }
    }
    let locations = state.messages.len();
    let mut id = 0;
    for message in state.messages.iter_mut().flatten() {
        // The views of initial messages are left out; they say the same as zeros.
        message.view.resize(locations, 0);
        id += 1;
        message.id = id;
    }
    state.made = id;
    if graph.reach.cyclic {
        *graph = Graph {
            reach: Reach {
                cyclic: true,
                ..Reach::default()
            },
            ..Graph::new(state)
        };
        return;
    }
    let threads = graph.last.iter_mut().chain([&mut graph.block]);
    let slots = threads
        .chain(graph.writes.iter_mut().flatten())
        .chain(graph.readers.iter_mut().flatten().flatten());
    graph.reach.forget_others(slots.collect());
}

/// [`super::ra_robust`] for runs of any length in which at most so many messages of a location can still be read.
pub fn ra_robust_looping(program: &Program, most: usize) -> Option<bool> {
    let runs = Runs::new(Ra::new(program).ok()?);
    let machine = &runs.machine;
    let start = machine.initial();
    let graph = Graph::new(&start);
    holds_everywhere((start, graph), |(state, graph): &(ra::State, Graph)| {
        let steps = runs.steps(state);
        let inside = machine.code().holder(&state.locals).is_some();
        let counts = !inside || (steps.is_empty() && !machine.is_dead_end(state));
        if state.raced || (counts && graph.reach.cyclic) {
            return Visit::Violated;
        }
        let next = steps.into_iter().filter_map(|(step, mut next)| {
            let mut graph = graph.then(&step, state, &next);
            forget_old(program, &mut next, &mut graph);
            let fits = next.messages.iter().all(|m| m.len() <= most);
            fits.then_some((next, graph))
        });
        Visit::Next(next.collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(text: &str) -> Program {
        crate::parse(text).unwrap()
    }

    #[test]
    fn loops_of_any_length_are_seen_to_be_robust() {
        let fenced = program(
            "domain 2; shared x, y;
             thread p { loop { x = 1; fence; let r = y; x = 0; fence; } }
             thread q { loop { y = 1; fence; let s = x; y = 0; fence; } }",
        );
        assert_eq!(tso_robust_looping(&fenced, 3), Some(true));
        assert_eq!(tso_persistent_looping(&fenced, 3), Some(true));
        let open = program(
            "domain 2; shared x, y;
             thread p { loop { x = 1; let r = y; x = 0; } }
             thread q { loop { y = 1; let s = x; y = 0; } }",
        );
        assert_eq!(tso_robust_looping(&open, 3), Some(false));
        assert_eq!(tso_persistent_looping(&open, 3), Some(false));
        assert_eq!(ra_robust_looping(&open, 3), Some(false));
        let passing = program(
            "domain 2; shared x, y;
             thread p { loop { wait(y == 0); x = 1; y = 1; } }
             thread q { loop { wait(y == 1); let s = x; y = 0; } }",
        );
        assert_eq!(ra_robust_looping(&passing, 4), Some(true));
        assert_eq!(tso_robust_looping(&passing, 3), Some(true));
    }
}
