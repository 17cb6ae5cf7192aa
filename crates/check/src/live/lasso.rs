//! The run that shows a hang: the way to a cycle, and the cycle.

use std::collections::VecDeque;

use palisade_lang::Program;
use palisade_memory::{Criterion, Event, EventKind, Model, Pattern, PatternKind, Witness};
use palisade_threads::LocalId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::fair::Stay;
use super::graph::{Edge, Graph};
use super::{Hang, words};
use crate::reach::BufferView;
use crate::run::{Run, RunStep, event_at, events, events_with_all_fences};
use crate::sc::{Access, execute};

/// Whether every thread that moves in these turns stays in one loop that has a way out.
pub(super) fn all_are_stuck(graph: &Graph<'_, '_>, stay: &Stay) -> bool {
    let mut edges = stay.turns.iter().flat_map(|&turn| graph.edges_of(turn));
    edges.all(|edge| edge.stays)
}

/// One step: from which state, the thread or buffer, and its edge.
type Taken = (usize, usize, Edge);

/// The witness for a hang.
pub(super) fn witness(
    program: &Program,
    graph: &Graph<'_, '_>,
    stay: &Stay,
    hang: &Hang,
    lists_all: bool,
) -> Witness {
    let entry = stay.states[0];
    let prefix = way_to(graph, entry);
    let cycle = round(graph, stay, entry);
    let mut replay = Replay::new(program, graph);
    replay.take(&prefix, lists_all);
    let loop_start = replay.events.len();
    replay.take(&cycle, true);
    let listed = replay.events;
    let names: Vec<String> = program.instances().into_iter().map(|i| i.name).collect();
    let stuck = &names[stay.thread];
    let own: Vec<usize> = (loop_start..listed.len())
        .filter(|&e| listed[e].thread == *stuck)
        .collect();
    Witness {
        model: match graph.tso {
            None => Model::Sc,
            Some(_) => Model::Tso,
        },
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
        way.extend(turn.map(|t| (from as usize, t.thread as usize, graph.edges[edge])));
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
    let mut first_turn = vec![None; graph.movers()];
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
            way.push((here, graph.turns[turn].thread as usize, edge));
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
struct Replay<'g, 'f, 'p> {
    program: &'g Program,
    graph: &'g Graph<'f, 'p>,
    names: Vec<String>,
    events: Vec<Event>,
    /// For each thread the events that issued its pending stores, the oldest first.
    pending: Vec<VecDeque<usize>>,
}

impl<'g, 'f, 'p> Replay<'g, 'f, 'p> {
    fn new(program: &'g Program, graph: &'g Graph<'f, 'p>) -> Self {
        Replay {
            program,
            graph,
            names: program.instances().into_iter().map(|i| i.name).collect(),
            events: Vec::new(),
            pending: vec![VecDeque::new(); graph.frame.thread_count()],
        }
    }

    fn take(&mut self, steps: &[Taken], lists_all: bool) {
        for &(from, mover, edge) in steps {
            let event = match mover >= self.names.len() {
                true => self.flush(self.graph.owner(mover)),
                false => self.step(from, mover, edge.action as usize, lists_all),
            };
            self.events.extend(event);
        }
    }

    fn flush(&mut self, thread: usize) -> Option<Event> {
        let issue = self.pending[thread].pop_front()?;
        Some(Event {
            kind: EventKind::Flush,
            issue: Some(issue),
            ..self.events[issue].clone()
        })
    }

    fn step(
        &mut self,
        from: usize,
        thread: usize,
        action: usize,
        lists_all: bool,
    ) -> Option<Event> {
        let (program, frame, row) = (self.program, self.graph.frame, self.graph.row(from));
        let mut view = frame.threads.view();
        let (code, local) = (frame.codes[thread], LocalId(row[thread]));
        let taken = view.action(code, local, action);
        let atomic = view.is_atomic(code, local);
        let mut issued = None;
        let done = match self.graph.tso {
            None => execute(frame, &mut view, row, taken.kind),
            Some(space) => {
                let mut buffers = BufferView::new(space.buffers);
                let done = space.execute(&mut view, &mut buffers, row, thread, taken.kind);
                done.map(|done| {
                    done.map(|done| {
                        issued = done.issued;
                        done.access
                    })
                })
            }
        };
        let nothing = Access {
            read: None,
            written: None,
        };
        let one = Run {
            steps: vec![RunStep {
                instance: thread,
                transition: taken.transition,
                kind: taken.kind,
                access: done.ok().flatten().unwrap_or(nothing),
                atomic,
            }],
            row: Vec::new(),
            error: None,
        };
        let local = || {
            let kind = EventKind::Local;
            event_at(program, thread, taken.transition, kind, None, &self.names)
        };
        let event = match lists_all {
            true => events(program, &one, &self.names).pop(),
            false => events_with_all_fences(program, &one, &self.names).pop(),
        };
        let mut event = event.or_else(|| lists_all.then(local))?;
        if let Some(store) = issued {
            event.kind = EventKind::Issue;
            event.value = Some(store.value);
            self.pending[thread].push_back(self.events.len());
        }
        Some(event)
    }
}
