//! Witnesses made by brute force: what validation is tested with.

use crate::oracle::LIMIT;
use palisade_lang::Program;
use palisade_memory::c20::{C20Graph, EventId, Graph, Relations, State};
use palisade_memory::witness::InitialName;
use palisade_memory::{
    Criterion, Edge, Event, EventKind, EventRef, Machine, Model, Pattern, PatternKind,
    RelationName, Step, StepKind, Witness,
};
use rustc_hash::FxHashMap;
use std::collections::{HashMap, VecDeque};

/// A run of C++20 or RC11 whose execution graph SC does not have, or that has a race; one of the fewest steps.
pub fn c20_violation(program: &Program, model: Model) -> Option<Witness> {
    let machine = C20Graph::new(program, model).ok()?;
    let mut came: FxHashMap<State, Option<(State, Step)>> = FxHashMap::default();
    came.insert(machine.initial(), None);
    let mut todo = VecDeque::from([machine.initial()]);
    while let Some(state) = todo.pop_front() {
        let inside = machine.code().holder(&state.locals).is_some();
        let relations = Relations::new(&state.graph);
        if state.raced || !(inside || relations.is_sc()) {
            let mut steps = Vec::new();
            let mut at = &state;
            while let Some(Some((before, step))) = came.get(at) {
                steps.push((step.clone(), at.graph.clone()));
                at = before;
            }
            steps.reverse();
            return witness(&machine, model, &steps, &relations);
        }
        for (step, next) in machine.steps(&state) {
            if !came.contains_key(&next) {
                came.insert(next.clone(), Some((state.clone(), step)));
                todo.push_back(next);
            }
        }
        if came.len() > LIMIT {
            return None;
        }
    }
    None
}

fn witness(
    machine: &C20Graph<'_>,
    model: Model,
    steps: &[(Step, Graph)],
    relations: &Relations,
) -> Option<Witness> {
    let code = machine.code();
    let program = code.program;
    let graph = &steps.last()?.1;
    let mut events: Vec<Event> = Vec::new();
    // For each message its event, and for each node of the graph the events that read and write for it.
    let mut makers: HashMap<u32, usize> = HashMap::new();
    let mut readers: HashMap<EventId, usize> = HashMap::new();
    let mut writers: HashMap<EventId, usize> = HashMap::new();
    for (step, after) in steps {
        let kind = match step.kind {
            StepKind::Load => EventKind::Load,
            StepKind::Store => EventKind::Store,
            StepKind::Rmw => EventKind::Rmw,
            StepKind::Fence => EventKind::Fence,
            StepKind::Race => match (step.read, step.written) {
                (Some(_), None) => EventKind::Load,
                (None, _) => EventKind::Store,
                (Some(_), Some(_)) => EventKind::Rmw,
            },
            _ => continue,
        };
        let index = events.len();
        let place = program.source.line_column(machine.span(step).start);
        let message = step.message.map(|id| match makers.get(&id) {
            Some(&event) => EventRef::Event(event),
            None => EventRef::Initial(InitialName::Init),
        });
        let id = EventId {
            thread: step.thread as u32,
            index: after.events[step.thread].len() as u32 - 1,
        };
        if let Some(made) = step.made {
            makers.entry(made).or_insert(index);
            writers.entry(id).or_insert(index);
        }
        if kind != EventKind::Store {
            readers.entry(id).or_insert(index);
        }
        events.push(Event {
            thread: code.instances[step.thread].name.clone(),
            kind,
            location: step.location.map(|l| program.location(l).name.clone()),
            value: step.written.or(step.read),
            read: step.read.filter(|_| kind == EventKind::Rmw),
            file: None,
            line: place.line,
            column: place.column,
            issue: None,
            rf: message.filter(|_| matches!(kind, EventKind::Load | EventKind::Rmw)),
            after: message.filter(|_| kind == EventKind::Store),
            order: (!step.atomic).then(|| after.event(id).order.into()),
            atomic: step.atomic,
            addresses: Default::default(),
        });
    }
    let mut witness = Witness {
        model,
        criterion: Criterion::Robust,
        events,
        cycle: Vec::new(),
        edges: Vec::new(),
        pattern: None,
        loop_start: None,
        copies: None,
    };
    let event_of = |id: EventId, writes: bool| match writes {
        true => writers.get(&id).copied(),
        false => readers.get(&id).or(writers.get(&id)).copied(),
    };
    if let Some(&(a, b)) = relations.races(graph).first() {
        let mut both = vec![event_of(a, false)?, event_of(b, false)?];
        both.sort_unstable();
        witness.pattern = Some(Pattern {
            kind: PatternKind::Race,
            events: both,
            message: "a race".to_owned(),
        });
        return Some(witness);
    }
    for edge in shortest_cycle(graph, relations)? {
        let (from, to, relation) = edge;
        let (from, to) = (relations.ids[from], relations.ids[to]);
        let edge = Edge {
            from: event_of(
                from,
                matches!(relation, RelationName::Rf | RelationName::Co),
            )?,
            to: event_of(to, matches!(relation, RelationName::Fr | RelationName::Co))?,
            relation,
        };
        witness.cycle.push(edge.from);
        witness.edges.push(edge);
    }
    Some(witness)
}

/// A shortest cycle of `po ∪ rf ∪ mo ∪ fr`, without fences.
fn shortest_cycle(
    graph: &Graph,
    relations: &Relations,
) -> Option<Vec<(usize, usize, RelationName)>> {
    let size = relations.ids.len();
    let edge = |a: usize, b: usize| {
        let is_fence = |e: usize| graph.event(relations.ids[e]).is_fence();
        if is_fence(a) || is_fence(b) {
            return None;
        }
        [
            (&relations.po, RelationName::Po),
            (&relations.rf, RelationName::Rf),
            (&relations.mo, RelationName::Co),
            (&relations.fr, RelationName::Fr),
        ]
        .into_iter()
        .find_map(|(relation, name)| relation.contains(a, b).then_some(name))
    };
    let mut best: Option<Vec<(usize, usize, RelationName)>> = None;
    for start in 0..size {
        let mut came = vec![None; size];
        let mut todo = VecDeque::from([start]);
        while let Some(a) = todo.pop_front() {
            for (b, slot) in came.iter_mut().enumerate() {
                if let Some(name) = edge(a, b)
                    && slot.is_none()
                {
                    *slot = Some((a, name));
                    todo.push_back(b);
                }
            }
        }
        let mut cycle = Vec::new();
        let mut at = start;
        while let Some((before, name)) = came[at] {
            cycle.push((before, at, name));
            at = before;
            if at == start {
                break;
            }
        }
        cycle.reverse();
        if !cycle.is_empty() && best.as_ref().is_none_or(|b| cycle.len() < b.len()) {
            best = Some(cycle);
        }
    }
    best
}
