//! From a path of the attack search to the TSO run that it stands for, and the happens-before cycle in it.

use std::collections::VecDeque;

use palisade_explore::Finding;
use palisade_lang::{LocationId, Program, Value};
use palisade_memory::{Criterion, Edge, Event, EventKind, Model, RelationName, Witness};
use palisade_threads::{ActionKind, LocalId, View};

use super::attack::{AttackSpace, Phase, role};
use crate::run::{Run, RunStep, push_tso_events, step};
use crate::sc::{Access, StepLabel};
use crate::state::Frame;

/// The run `τ1 · isu(st_A) · τ2 · ld_A · τ3 · st_A · τ4`.
#[derive(Debug)]
pub(crate) struct AttackRun {
    /// Everything up to the last step of `τ3`; the attacker's delayed stores are issued only.
    pub steps: Vec<RunStep>,
    /// The step that issues `st_A`.
    pub store: usize,
    /// The step that is `ld_A`.
    pub load: usize,
    /// The attacker.
    pub attacker: usize,
}

/// The witness for a finding of the search.
pub(crate) fn witness(
    space: &AttackSpace<'_, '_>,
    view: &mut View<'_>,
    finding: &Finding,
) -> Option<Witness> {
    let program = space.frame.program();
    let run = replay(space, view, finding)?;
    let names: Vec<String> = program.instances().into_iter().map(|i| i.name).collect();
    let mut trace = Trace::default();
    let mut store = None;
    let mut load = None;
    let mut delayed = Vec::new();
    for (index, step) in run.steps.iter().enumerate() {
        let delays = step.instance == run.attacker && index >= run.store;
        let first = trace.events.len();
        push_tso_events(program, &names, step, !delays, &mut trace.events);
        trace.extend(program, step);
        if index == run.store {
            store = Some(first);
        }
        if index == run.load {
            load = Some(first);
        }
        if delays && matches!(step.kind, ActionKind::Store { .. }) {
            delayed.push((first, step));
        }
    }
    for (issue, step) in delayed {
        let event = Event {
            kind: EventKind::Flush,
            issue: Some(issue),
            ..trace.events[issue].clone()
        };
        trace.events.push(event);
        trace.extend(program, step);
    }
    let (cycle, edges) = trace.cycle(store?, load?)?;
    Some(Witness {
        model: Model::Tso,
        criterion: Criterion::Robust,
        events: trace.events,
        cycle,
        edges,
        pattern: None,
        loop_start: None,
        copies: None,
    })
}

/// Replays a path. Interchangeable threads were sorted in every state: here each gets its identity back.
pub(crate) fn replay(
    space: &AttackSpace<'_, '_>,
    view: &mut View<'_>,
    finding: &Finding,
) -> Option<AttackRun> {
    let frame = space.frame;
    let layout = &space.layout;
    let first = finding.path.get(0)?;
    let mut run = Run {
        steps: Vec::new(),
        row: first.row[..frame.width()].to_vec(),
        error: None,
    };
    // Which running thread stands in which component of the sorted row.
    let mut instance_at: Vec<usize> = (0..frame.thread_count()).collect();
    let mut attack = None;
    let mut load = None;
    let mut buffer: Vec<(LocationId, Value)> = Vec::new();
    for (before, after) in finding.path.iter().zip(finding.path.iter().skip(1)) {
        let label = StepLabel::decode(after.label);
        let instance = instance_at[label.component];
        let phase_before = Phase::of(before.row[layout.phase]);
        let phase_after = Phase::of(after.row[layout.phase]);
        if phase_before == Phase::Prefix && phase_after == Phase::Alone {
            attack = Some((instance, run.steps.len()));
        }
        match attack {
            Some((attacker, _)) if attacker == instance => {
                if phase_after == Phase::Chain {
                    load = Some(run.steps.len());
                }
                attacker_step(space, view, &mut run, &mut buffer, instance, label);
            }
            _ => step(frame, view, &mut run, instance, label.action, label.outcome),
        }
        let chain_begins = phase_before != Phase::Chain && phase_after == Phase::Chain;
        instance_at = find_again(
            frame,
            &instance_at,
            label.component,
            |c| match chain_begins {
                true => (role::ORIGINAL, before.row[c]),
                false => (before.row[layout.roles + c], before.row[c]),
            },
            |c| (after.row[layout.roles + c], after.row[c]),
        );
        let state = |c: usize| (after.row[layout.roles + c], after.row[c]);
        frame.settle_ties(&mut instance_at, |i, j| state(i) == state(j));
    }
    let (attacker, store) = attack?;
    Some(AttackRun {
        steps: run.steps,
        store,
        load: load?,
        attacker,
    })
}

/// Which running thread stands in which component of a sorted row after the one in component `mover` has moved, given what is known of each component
/// before and after. A thread that has not moved is found again by that, and the place that is left is the mover's.
pub(crate) fn find_again(
    frame: &Frame<'_>,
    instance_at: &[usize],
    mover: usize,
    before: impl Fn(usize) -> (u32, u32),
    after: impl Fn(usize) -> (u32, u32),
) -> Vec<usize> {
    let mut others: Vec<(usize, (u32, u32))> = (0..instance_at.len())
        .filter(|&c| c != mover)
        .map(|c| (c, before(c)))
        .collect();
    (0..instance_at.len())
        .map(|component| {
            let key = after(component);
            let group = frame.group_of[component];
            let same_place =
                |c: usize| c == component || (group.is_some() && group == frame.group_of[c]);
            let found = others
                .iter()
                .position(|&(c, its)| its == key && same_place(c));
            match found {
                Some(at) => instance_at[others.swap_remove(at).0],
                None => instance_at[mover],
            }
        })
        .collect()
}

/// A step of the attacker, which sees its own buffer first.
fn attacker_step(
    space: &AttackSpace<'_, '_>,
    view: &mut View<'_>,
    run: &mut Run,
    buffer: &mut Vec<(LocationId, Value)>,
    instance: usize,
    label: StepLabel,
) {
    let frame = space.frame;
    let (code, local) = (frame.codes[instance], LocalId(run.row[instance]));
    let taken = view.action(code, local, label.action);
    let mut access = Access {
        read: None,
        written: None,
    };
    match taken.kind {
        ActionKind::Load { location, .. } | ActionKind::Wait { location, .. } => {
            let own = buffer.iter().rev().find(|(l, _)| *l == location);
            access.read = Some(match own {
                Some(&(_, value)) => value,
                None => view.value(run.row[frame.component(location)]),
            });
        }
        ActionKind::Store {
            location, value, ..
        } => {
            access.written = Some((location, value));
            buffer.push((location, value));
        }
        _ => {}
    }
    let read = access.read.unwrap_or(0);
    if let Some(next) = view
        .resume(code, local, label.action, read)
        .get(label.outcome)
    {
        run.row[instance] = next.0;
    }
    run.steps.push(RunStep {
        instance,
        transition: taken.transition,
        kind: taken.kind,
        access,
        atomic: false,
    });
}

/// A run's events with what happens-before is made of.
#[derive(Default)]
struct Trace {
    events: Vec<Event>,
    facts: Vec<Facts>,
    /// For each running thread how many blocks it has begun.
    blocks: Vec<u32>,
    /// For each location its stores, in the order in which they reach memory, by the event that stands for them.
    order: Vec<Vec<usize>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Facts {
    thread: usize,
    /// Loads, stores and read-modify-writes; a store is its issue, where it has one.
    is_node: bool,
    location: Option<LocationId>,
    /// 0 outside blocks.
    block: u32,
    /// For what reads: 0 for the initial value, else the place of the store that it reads from in the location's order, from 1. Loads from
    /// the own buffer read a store that has no place yet.
    source: Source,
    /// For what writes: its place, from 1; 0 as long as it is in the buffer.
    place: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Source {
    #[default]
    None,
    Place(usize),
    Own(usize),
}

impl Trace {
    /// Takes notice of the events that `step` has added.
    fn extend(&mut self, program: &Program, step: &RunStep) {
        if self.order.is_empty() {
            self.order = vec![Vec::new(); program.locations.len()];
            self.blocks = vec![0; program.instances().len()];
        }
        if step.kind == ActionKind::AtomicBegin {
            self.blocks[step.instance] += 1;
        }
        for index in self.facts.len()..self.events.len() {
            let event = &self.events[index];
            let mut facts = Facts {
                thread: step.instance,
                is_node: matches!(
                    event.kind,
                    EventKind::Load | EventKind::Store | EventKind::Issue | EventKind::Rmw
                ),
                location: step.kind.location(),
                block: match step.atomic {
                    true => self.blocks[step.instance],
                    false => 0,
                },
                ..Facts::default()
            };
            if let Some(location) = facts.location {
                let order = &mut self.order[location.index()];
                match event.kind {
                    EventKind::Load => {
                        let own = (0..index).rev().find(|&e| {
                            let other = &self.facts[e];
                            self.events[e].kind == EventKind::Issue
                                && other.thread == facts.thread
                                && other.location == facts.location
                                && other.place == 0
                        });
                        facts.source = match own {
                            Some(store) => Source::Own(store),
                            None => Source::Place(order.len()),
                        };
                    }
                    EventKind::Rmw => {
                        facts.source = Source::Place(order.len());
                        order.push(index);
                        facts.place = order.len();
                    }
                    EventKind::Store => {
                        order.push(index);
                        facts.place = order.len();
                    }
                    EventKind::Flush => {
                        let issue = event.issue.unwrap_or(index);
                        order.push(issue);
                        let place = order.len();
                        if issue < index {
                            self.facts[issue].place = place;
                        }
                    }
                    _ => {}
                }
            }
            self.facts.push(facts);
        }
    }

    fn same_node(&self, a: usize, b: usize) -> bool {
        let (x, y) = (&self.facts[a], &self.facts[b]);
        a == b || (x.thread == y.thread && x.block != 0 && x.block == y.block)
    }

    /// The relation of happens-before that leads from one event to another, if there is one.
    fn relation(&self, a: usize, b: usize) -> Option<RelationName> {
        let (x, y) = (&self.facts[a], &self.facts[b]);
        if x.thread == y.thread {
            return (a < b && !self.same_node(a, b)).then_some(RelationName::Po);
        }
        if x.location.is_none() || x.location != y.location {
            return None;
        }
        let source = |facts: &Facts| match facts.source {
            Source::None => None,
            Source::Place(place) => Some(place),
            Source::Own(store) => Some(self.facts[store].place),
        };
        if x.place != 0 && source(y) == Some(x.place) {
            return Some(RelationName::Rf);
        }
        if x.place != 0 && y.place != 0 && x.place < y.place {
            return Some(RelationName::Co);
        }
        if y.place != 0 && source(x).is_some_and(|from| from < y.place) {
            return Some(RelationName::Fr);
        }
        None
    }

    /// A shortest cycle that begins with `store`, then `load` of the same thread.
    fn cycle(&self, store: usize, load: usize) -> Option<(Vec<usize>, Vec<Edge>)> {
        let nodes: Vec<usize> = (0..self.facts.len())
            .filter(|&e| self.facts[e].is_node)
            .collect();
        // For each event that was reached: the edge that led to its node.
        let mut reached: Vec<Option<Edge>> = vec![None; self.facts.len()];
        let mut seen = vec![false; self.facts.len()];
        let mut queue = VecDeque::from([load]);
        seen[load] = true;
        while let Some(at) = queue.pop_front() {
            let leaving: Vec<usize> = match self.facts[at].block {
                0 => vec![at],
                _ => nodes
                    .iter()
                    .copied()
                    .filter(|&e| self.same_node(at, e))
                    .collect(),
            };
            for from in leaving {
                for &to in &nodes {
                    if seen[to] || self.same_node(from, to) {
                        continue;
                    }
                    let Some(relation) = self.relation(from, to) else {
                        continue;
                    };
                    let edge = Edge { from, to, relation };
                    if to == store {
                        return Some(self.collect(store, load, edge, &reached));
                    }
                    for &other in &nodes {
                        if self.same_node(other, to) {
                            seen[other] = true;
                            reached[other] = Some(edge);
                        }
                    }
                    queue.push_back(to);
                }
            }
        }
        None
    }

    fn collect(
        &self,
        store: usize,
        load: usize,
        last: Edge,
        reached: &[Option<Edge>],
    ) -> (Vec<usize>, Vec<Edge>) {
        let mut edges = vec![last];
        let mut at = last.from;
        while at != load
            && let Some(edge) = reached[at]
        {
            edges.push(edge);
            at = edge.from;
        }
        edges.push(Edge {
            from: store,
            to: load,
            relation: RelationName::Po,
        });
        edges.reverse();
        let cycle = edges.iter().map(|edge| edge.from).collect();
        (cycle, edges)
    }
}
