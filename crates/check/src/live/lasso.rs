//! The run that shows a hang: the way to a cycle, and the cycle.

use std::collections::VecDeque;

use palisade_lang::Program;
use palisade_memory::{Criterion, Event, EventKind, Model, Pattern, PatternKind, Witness};
use rustc_hash::{FxHashMap, FxHashSet};

use super::fair::Stay;
use super::graph::{Edge, Graph};
use super::{Hang, words};
use crate::run::{Run, event_at, events, step};
use crate::state::Frame;

/// Whether every thread that moves in these turns stays in one loop that has a way out.
pub(super) fn all_are_stuck(graph: &Graph<'_, '_>, stay: &Stay) -> bool {
    let mut edges = stay.turns.iter().flat_map(|&turn| graph.edges_of(turn));
    edges.all(|edge| edge.stays)
}

/// One step: the thread and its edge.
type Taken = (usize, Edge);

/// The witness for a hang.
pub(super) fn witness(
    program: &Program,
    graph: &Graph<'_, '_>,
    stay: &Stay,
    hang: &Hang,
) -> Witness {
    let entry = stay.states[0];
    let prefix = way_to(graph, entry);
    let cycle = round(graph, stay, entry);
    let mut replay = Replay::new(program, graph.frame);
    replay.take(&prefix);
    replay.take(&cycle);
    let listed = replay.events;
    let loop_start = prefix.len().min(listed.len());
    let names: Vec<String> = program.instances().into_iter().map(|i| i.name).collect();
    let stuck = &names[stay.thread];
    let own: Vec<usize> = (loop_start..listed.len())
        .filter(|&e| listed[e].thread == *stuck)
        .collect();
    Witness {
        model: Model::Sc,
        criterion: Criterion::Live,
        events: listed,
        cycle: Vec::new(),
        edges: Vec::new(),
        pattern: Some(Pattern {
            kind: PatternKind::Stuck,
            events: own,
            message: words::hang(program, graph, stay, hang),
        }),
        loop_start: Some(loop_start),
        copies: None,
    }
}

/// The shortest way to a state.
fn way_to(graph: &Graph<'_, '_>, mut state: usize) -> Vec<Taken> {
    let mut way = Vec::new();
    while graph.parents[state].0 != u32::MAX {
        let (from, edge) = graph.parents[state];
        let turns = &graph.turns[graph.turns_of(from as usize)];
        let turn = turns.iter().find(|t| (t.begin..t.end).contains(&edge));
        way.extend(turn.map(|t| (t.thread as usize, graph.edges[edge])));
        state = from as usize;
    }
    way.reverse();
    way
}

/// What a round has still to do.
#[derive(Default)]
struct Todo {
    /// Edges to take, as (turn, index).
    edges: FxHashSet<(usize, usize)>,
    /// For each thread that does not move: states in which it cannot, one of which is to be visited.
    places: Vec<FxHashSet<usize>>,
    /// Turns all of whose choices are to be made, or have been.
    chosen: FxHashSet<usize>,
}

impl Todo {
    fn is_done(&self) -> bool {
        self.edges.is_empty() && self.places.is_empty()
    }

    fn visit(&mut self, state: usize) {
        self.places.retain(|states| !states.contains(&state));
    }

    fn take(&mut self, graph: &Graph<'_, '_>, turn: usize, index: usize) {
        let choices = graph.edges_of(turn).len();
        if choices > 1 && self.chosen.insert(turn) {
            self.edges.extend((0..choices).map(|choice| (turn, choice)));
        }
        self.edges.remove(&(turn, index));
    }
}

/// A way from a state round through its component and back, on which each thread moves or is where it cannot, and each choice is made each way.
fn round(graph: &Graph<'_, '_>, stay: &Stay, entry: usize) -> Vec<Taken> {
    let mut turns_of: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    let mut todo = Todo::default();
    let mut first_turn = vec![None; graph.frame.thread_count()];
    for &state in &stay.states {
        let taken = graph.turns_of(state);
        let taken = taken.filter(|turn| stay.turns.binary_search(turn).is_ok());
        for turn in taken {
            turns_of.entry(state).or_default().push(turn);
            first_turn[graph.turns[turn].thread as usize].get_or_insert(turn);
        }
    }
    for (thread, turn) in first_turn.into_iter().enumerate() {
        match turn {
            Some(turn) => {
                todo.edges.insert((turn, 0));
            }
            None => {
                let states = stay.states.iter().copied();
                let places: FxHashSet<usize> =
                    states.filter(|&s| graph.cannot_move(s, thread)).collect();
                // There are none where another thread's block never ends.
                if !places.is_empty() {
                    todo.places.push(places);
                }
            }
        }
    }
    let mut way: Vec<Taken> = Vec::new();
    let mut here = entry;
    todo.visit(here);
    while !todo.is_done() || here != entry {
        let steps = shortest(graph, &turns_of, here, |state, edge| match edge {
            Some(edge) => todo.edges.contains(&edge),
            None if todo.is_done() => state == entry,
            None => todo.places.iter().any(|states| states.contains(&state)),
        });
        if steps.is_empty() {
            break;
        }
        for (turn, index) in steps {
            let edge = graph.edges_of(turn)[index];
            way.push((graph.turns[turn].thread as usize, edge));
            here = edge.to as usize;
            todo.take(graph, turn, index);
            todo.visit(here);
        }
    }
    way
}

/// The shortest way from a state, of at least one step, to a state or over an edge that is wanted: as pairs of a turn and the index of an edge.
fn shortest(
    graph: &Graph<'_, '_>,
    turns_of: &FxHashMap<usize, Vec<usize>>,
    from: usize,
    wanted: impl Fn(usize, Option<(usize, usize)>) -> bool,
) -> Vec<(usize, usize)> {
    let mut reached: FxHashMap<usize, (usize, (usize, usize))> = FxHashMap::default();
    let mut queue = VecDeque::from([from]);
    let way_back = |reached: &FxHashMap<usize, (usize, (usize, usize))>, mut at: usize, last| {
        let mut way = vec![last];
        while at != from {
            let (before, edge) = reached[&at];
            way.push(edge);
            at = before;
        }
        way.reverse();
        way
    };
    while let Some(state) = queue.pop_front() {
        for &turn in turns_of.get(&state).into_iter().flatten() {
            for (index, edge) in graph.edges_of(turn).iter().enumerate() {
                let to = edge.to as usize;
                if wanted(to, Some((turn, index))) || wanted(to, None) {
                    return way_back(&reached, state, (turn, index));
                }
                if to != from && !reached.contains_key(&to) {
                    reached.insert(to, (state, (turn, index)));
                    queue.push_back(to);
                }
            }
        }
    }
    Vec::new()
}

/// The steps as events, every one of them.
struct Replay<'f, 'p> {
    program: &'f Program,
    frame: &'f Frame<'p>,
    names: Vec<String>,
    run: Run,
    events: Vec<Event>,
}

impl<'f, 'p> Replay<'f, 'p> {
    fn new(program: &'f Program, frame: &'f Frame<'p>) -> Self {
        let first = frame.initial_rows(&mut frame.threads.view()).swap_remove(0);
        Replay {
            program,
            frame,
            names: program.instances().into_iter().map(|i| i.name).collect(),
            run: Run {
                steps: Vec::new(),
                row: first,
                error: None,
            },
            events: Vec::new(),
        }
    }

    fn take(&mut self, steps: &[Taken]) {
        let (program, names) = (self.program, &self.names);
        let mut view = self.frame.threads.view();
        for &(thread, edge) in steps {
            let (action, outcome) = (edge.action as usize, edge.outcome as usize);
            step(
                self.frame,
                &mut view,
                &mut self.run,
                thread,
                action,
                outcome,
            );
            let Some(last) = self.run.steps.pop() else {
                continue;
            };
            let at = last.transition;
            let one = Run {
                steps: vec![last],
                row: Vec::new(),
                error: None,
            };
            let event = events(program, &one, names).pop();
            let local = || event_at(program, thread, at, EventKind::Local, None, names);
            self.events.push(event.unwrap_or_else(local));
        }
    }
}
