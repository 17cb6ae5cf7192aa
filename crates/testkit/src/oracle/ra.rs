//! What is asked of release/acquire: `robust`, `safe`.

use super::ra_graph::{EventId, Graph, RaGraph};
use super::waiting::a_never_is_true;
use super::{Runs, Visit, holds_everywhere};
use palisade_lang::Program;
use palisade_memory::{Machine, Step, StepKind};

/// `robust` against RA (Lahav and Margalit 2019, Def. 4.9): every state of the program together with an execution graph that RA reaches
/// (section 4.2: RAG; with `nonatomic` locations RAG+NA of section 6) is reached by SC too. That is so exactly if no race on a `nonatomic`
/// location is reached (⊥), and no reached graph has a cycle in `hb_SC = po ∪ rf ∪ mo ∪ fr`.
///
/// `None` also where the program has no meaning under RA (see `palisade_memory::ra_accepts`). An `atomic` block is one event; a graph
/// counts when no thread is inside a block, or when the block is stuck.
pub fn ra_robust(program: &Program) -> Option<bool> {
    let runs = Runs::new(RaGraph::new(program).ok()?);
    let machine = &runs.machine;
    holds_everywhere(machine.initial(), |state| {
        if machine.is_too_large(state) {
            return Visit::TooLarge;
        }
        let steps = runs.steps(state);
        let inside = machine.code().holder(&state.locals).is_some();
        let counts = !inside || (steps.is_empty() && !machine.is_dead_end(state));
        if state.raced || (counts && !is_sequentially_consistent(&state.graph)) {
            return Visit::Violated;
        }
        Visit::Next(steps.into_iter().map(|(_, next)| next).collect())
    })
}

/// `safe` under RA: no run reaches an error of the program (a failed `assert` included), a race on a `nonatomic` location, or a state in which a
/// `never` is true, where of each location the value counts that is last in modification order.
pub fn ra_safe(program: &Program) -> Option<bool> {
    let machine = RaGraph::new(program).ok()?;
    holds_everywhere(machine.initial(), |state| {
        if machine.is_too_large(state) {
            return Visit::TooLarge;
        }
        let steps = machine.steps(state);
        let error = |(step, _): &(Step, _)| matches!(step.kind, StepKind::Error(_));
        let memory = machine.newest(state);
        if state.raced || steps.iter().any(error) {
            return Visit::Violated;
        }
        match a_never_is_true(
            program,
            &state.locals,
            &memory,
            machine.seen_by_block(state),
        ) {
            Some(true) if machine.is_real(state) => return Visit::Violated,
            Some(_) => {}
            None => return Visit::TooLarge,
        }
        Visit::Next(steps.into_iter().map(|(_, next)| next).collect())
    })
}

/// Whether `po ∪ rf ∪ mo ∪ fr` has no cycle.
fn is_sequentially_consistent(graph: &Graph) -> bool {
    let mut first_of = Vec::new();
    let mut nodes = 0;
    for events in &graph.events {
        first_of.push(nodes);
        nodes += events.len();
    }
    if nodes > 64 {
        return !has_large_cycle(graph);
    }
    let node = |id: EventId| first_of[usize::from(id.thread)] + usize::from(id.index);
    let mut edges = vec![0u64; nodes];
    for_each_edge(graph, |from, to| edges[node(from)] |= 1 << node(to));
    !super::tso::has_cycle(&edges)
}

fn for_each_edge(graph: &Graph, mut edge: impl FnMut(EventId, EventId)) {
    let id = |thread: usize, index: usize| EventId {
        thread: thread as u8,
        index: index as u8,
    };
    for (thread, events) in graph.events.iter().enumerate() {
        for (index, event) in events.iter().enumerate() {
            let me = id(thread, index);
            if index > 0 {
                edge(id(thread, index - 1), me);
            }
            let Some(write) = event.rf else {
                continue;
            };
            if let Some(write) = write {
                edge(write, me);
            }
            let place = graph.mo_index(event.location, write);
            if let Some(&later) = graph.mo[event.location].get(place)
                && later != me
            {
                edge(me, later);
            }
        }
    }
    for order in &graph.mo {
        for pair in order.windows(2) {
            edge(pair[0], pair[1]);
        }
    }
}

/// The same check for more than 64 events.
fn has_large_cycle(graph: &Graph) -> bool {
    let mut edges = Vec::new();
    for_each_edge(graph, |from, to| edges.push((from, to)));
    loop {
        let before = edges.len();
        let sources: std::collections::HashSet<_> = edges.iter().map(|e| e.0).collect();
        edges.retain(|(_, to)| sources.contains(to));
        if edges.len() == before {
            return !edges.is_empty();
        }
    }
}
