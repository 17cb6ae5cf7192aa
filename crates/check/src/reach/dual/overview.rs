//! The forward walk that the backward search stays within: states without their buffers, and for each thread the messages that its buffer may hold.
//!
//! A node is control, registers and memory, as a row of the [`Frame`]. Each thread of a node has one set of messages, joined over all ways that lead
//! there, so there are as few nodes as states without buffers. The walk knows more runs than there are; what it does not see does not exist.

use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

use palisade_lang::{LocationId, Order};
use palisade_threads::{ActionKind, Effect, Footprint, LocalId, View};
use rustc_hash::FxHashMap;

use super::messages::{Message, Messages, NONE, SetId, Sets};
use super::moved::{held_behind, readable};
use crate::state::Frame;
use crate::waiting::is_deadlock;

/// What a step does with the buffer of its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// Nothing.
    Ignores,
    /// It needs it empty.
    NeedsEmpty,
    /// It reads this (plain) message, from the thread's newest own store to the location or as the oldest message.
    Reads(Message),
    /// It writes memory, and appends this (own) message.
    Writes(Message),
}

/// A step from a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub from: u32,
    pub to: u32,
    /// The component of the thread that moves, in the row before the step.
    pub component: u32,
    /// Where it is afterwards.
    pub next: LocalId,
    pub kind: Kind,
    pub action: u32,
}

/// Something that must not be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// This `never` is true.
    Never(usize),
    /// This action of the thread in this component is an error of the program.
    Error {
        component: usize,
        action: usize,
        transition: u32,
    },
}

/// A step, before it is known which node it leads to.
struct Move {
    component: usize,
    row: Vec<u32>,
    next: LocalId,
    kind: Kind,
    action: usize,
}

/// How much the walk tells apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Detail {
    /// All that it can, and messages that a thread will not read any more are left out.
    #[default]
    Needed,
    /// All that it can.
    All,
    /// Neither stores nor what needs an empty buffer take messages away: the backward search is on its own. For tests.
    #[cfg(test)]
    Little,
}

/// What the walk has seen.
#[derive(Default)]
pub(super) struct Overview {
    pub messages: Messages,
    pub sets: Sets,
    rows: Vec<Rc<[u32]>>,
    ids: FxHashMap<Rc<[u32]>, u32>,
    /// For each node and component, what the thread's buffer may hold.
    held: Vec<Box<[SetId]>>,
    /// For each node and component, what memory offers to the thread.
    offered: Vec<Box<[SetId]>>,
    /// The thread that is inside `atomic`.
    holders: Vec<Option<usize>>,
    detail: Detail,
    /// What a thread may hold behind a step, by what it may hold before it.
    behind: FxHashMap<(SetId, Kind), SetId>,
    /// What a thread may hold of a set, by its code and where it is.
    needed: FxHashMap<(SetId, u32, u32), SetId>,
    /// Nodes whose sets have changed, in turn.
    work: VecDeque<u32>,
    waiting: Vec<bool>,
    pub initial: Vec<u32>,
    pub goals: Vec<(u32, Goal)>,
    /// By the node that they lead to, once the walk is over.
    edges: Vec<Edge>,
    first_edge: Vec<u32>,
    /// Nodes that were looked at, each as often as it was.
    pub steps: u64,
    bytes: u64,
}

impl Overview {
    /// Begins with the states at the beginning.
    pub fn new(frame: &Frame<'_>, detail: Detail) -> Self {
        let mut overview = Overview {
            detail,
            ..Overview::default()
        };
        let mut view = frame.threads.view();
        for row in frame.initial_rows(&mut view) {
            let node = overview.enter(frame, &mut view, &row);
            overview.initial.push(node);
            let nothing = vec![NONE; frame.thread_count()];
            overview.join(frame, &mut view, node, &nothing);
        }
        overview
    }

    pub fn nodes(&self) -> usize {
        self.rows.len()
    }

    pub fn row(&self, node: u32) -> &Rc<[u32]> {
        &self.rows[node as usize]
    }

    /// What the buffer of the thread in a component may hold.
    pub fn held(&self, node: u32, component: usize) -> SetId {
        self.held[node as usize][component]
    }

    /// The thread that is inside `atomic`, as a component.
    pub fn holder(&self, node: u32) -> Option<usize> {
        self.holders[node as usize]
    }

    /// The steps that lead to a node; once the walk is over.
    pub fn edges_to(&self, node: u32) -> Range<usize> {
        self.first_edge[node as usize] as usize..self.first_edge[node as usize + 1] as usize
    }

    pub fn edge(&self, number: usize) -> Edge {
        self.edges[number]
    }

    /// About how many bytes it holds.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether the walk is over.
    pub fn is_complete(&self) -> bool {
        !self.first_edge.is_empty()
    }

    /// Goes on, and looks at no more than so many nodes. `stop` is asked now and then.
    pub fn walk(
        &mut self,
        frame: &Frame<'_>,
        most: u64,
        stop: &mut dyn FnMut(u64, u64) -> Option<String>,
    ) -> Result<(), String> {
        let mut view = frame.threads.view();
        let last = self.steps.saturating_add(most);
        while self.steps < last {
            if self.steps.is_multiple_of(256)
                && let Some(why) = stop(self.rows.len() as u64, self.bytes)
            {
                return Err(why);
            }
            let Some(node) = self.work.pop_front() else {
                return self.collect_edges(frame, &mut view, stop);
            };
            self.steps += 1;
            self.waiting[node as usize] = false;
            for step in self.moves(frame, &mut view, node) {
                let to = self.enter(frame, &mut view, &step.row);
                let sets = self.sets_after(frame, node, &step);
                self.join(frame, &mut view, to, &sets);
            }
        }
        Ok(())
    }

    /// Writes down the steps, now that the sets are known.
    fn collect_edges(
        &mut self,
        frame: &Frame<'_>,
        view: &mut View<'_>,
        stop: &mut dyn FnMut(u64, u64) -> Option<String>,
    ) -> Result<(), String> {
        let mut edges = Vec::new();
        for node in 0..self.rows.len() as u32 {
            if node % 256 == 0
                && let Some(why) = stop(self.rows.len() as u64, self.bytes)
            {
                return Err(why);
            }
            for step in self.moves(frame, view, node) {
                edges.push(Edge {
                    from: node,
                    to: self.ids[&step.row[..]],
                    component: step.component as u32,
                    next: step.next,
                    kind: step.kind,
                    action: step.action as u32,
                });
                self.bytes += size_of::<Edge>() as u64;
            }
        }
        edges.sort_by_key(|edge| edge.to);
        self.first_edge = vec![0; self.rows.len() + 1];
        for edge in &edges {
            self.first_edge[edge.to as usize + 1] += 1;
        }
        for node in 0..self.rows.len() {
            self.first_edge[node + 1] += self.first_edge[node];
        }
        self.edges = edges;
        Ok(())
    }

    /// The number of a row; where it is new, what it must not be is looked for.
    fn enter(&mut self, frame: &Frame<'_>, view: &mut View<'_>, row: &[u32]) -> u32 {
        if let Some(&node) = self.ids.get(row) {
            return node;
        }
        let node = self.rows.len() as u32;
        let row: Rc<[u32]> = row.into();
        self.rows.push(row.clone());
        self.ids.insert(row.clone(), node);
        let holder = frame.atomic_thread(view, &row);
        self.holders.push(holder);
        let offered = self.offers(frame, view, &row, holder);
        self.offered.push(offered);
        // No thread holds anything yet, which is less than the empty set: the first look at the node is still to come.
        self.held.push(Box::new([]));
        self.waiting.push(false);
        self.bytes += 160 + 12 * row.len() as u64;
        self.look_for_goals(frame, view, node, &row, holder);
        node
    }

    fn look_for_goals(
        &mut self,
        frame: &Frame<'_>,
        view: &mut View<'_>,
        node: u32,
        row: &[u32],
        holder: Option<usize>,
    ) {
        if !frame.nevers.is_empty() {
            let deadlock = is_deadlock(frame, view, row);
            for (index, never) in frame.nevers.iter().enumerate() {
                if frame.is_true(view, row, never, deadlock) {
                    self.goals.push((node, Goal::Never(index)));
                }
            }
        }
        for (component, &code) in frame.codes.iter().enumerate() {
            if holder.is_some_and(|holder| holder != component) {
                continue;
            }
            let local = LocalId(row[component]);
            for action in 0..view.actions(code, local) {
                let taken = view.action(code, local, action);
                let errs = match taken.kind {
                    ActionKind::Error(_) => true,
                    ActionKind::Rmw {
                        location, update, ..
                    } => {
                        let read = view.value(row[frame.component(location)]);
                        update.effect(frame.program().domain, read).is_err()
                    }
                    _ => false,
                };
                if errs {
                    let goal = Goal::Error {
                        component,
                        action,
                        transition: taken.transition,
                    };
                    self.goals.push((node, goal));
                }
            }
        }
    }

    /// What memory offers to each thread.
    fn offers(
        &mut self,
        frame: &Frame<'_>,
        view: &mut View<'_>,
        row: &[u32],
        holder: Option<usize>,
    ) -> Box<[SetId]> {
        // While a thread is inside `atomic`, no other thread looks at memory.
        if holder.is_some() {
            return vec![NONE; frame.thread_count()].into();
        }
        let locations = 0..frame.program().locations.len() as u32;
        let messages: Vec<Message> = locations
            .map(LocationId)
            .map(|l| self.messages.of(l, row[frame.component(l)]))
            .collect();
        let all = self.sets.of(messages);
        (0..frame.thread_count())
            .map(|component| self.only_needed(frame, view, row, component, all))
            .collect()
    }

    /// The messages of a set that a thread may still read, and its own ones.
    fn only_needed(
        &mut self,
        frame: &Frame<'_>,
        view: &mut View<'_>,
        row: &[u32],
        component: usize,
        set: SetId,
    ) -> SetId {
        if self.detail != Detail::Needed || set == NONE {
            return set;
        }
        let (code, local) = (frame.codes[component], row[component]);
        let key = (set, code as u32, local);
        if let Some(&known) = self.needed.get(&key) {
            return known;
        }
        let reads = view.future_footprint(code, LocalId(local)).reads;
        let Overview { sets, messages, .. } = self;
        let left = sets.filter(set, |m| {
            m.is_own() || reads & Footprint::bit(messages.location(m)) != 0
        });
        self.needed.insert(key, left);
        left
    }

    /// Adds to what the threads of a node may hold.
    fn join(&mut self, frame: &Frame<'_>, view: &mut View<'_>, node: u32, sets: &[SetId]) {
        let at = node as usize;
        let row = self.rows[at].clone();
        let known = std::mem::take(&mut self.held[at]);
        let joined: Box<[SetId]> = (sets.iter().enumerate())
            .map(|(component, &set)| {
                let set = self.only_needed(frame, view, &row, component, set);
                let before = match known.get(component) {
                    Some(&before) => before,
                    None => self.offered[at][component],
                };
                self.sets.union(before, set)
            })
            .collect();
        let changed = joined != known;
        self.held[at] = joined;
        if changed && !self.waiting[at] {
            self.waiting[at] = true;
            self.work.push_back(node);
        }
    }

    /// What the threads may hold behind a step, in the order of the row behind it.
    fn sets_after(&mut self, frame: &Frame<'_>, node: u32, step: &Move) -> Vec<SetId> {
        let row = self.rows[node as usize].clone();
        let held = self.held[node as usize].clone();
        let moved = self.mover_after(held[step.component], step.kind);
        let mut sets = Vec::with_capacity(held.len());
        for component in 0..held.len() {
            let set = match frame.group_of[component] {
                None if component == step.component => moved,
                None => held[component],
                Some(group) => {
                    // Interchangeable threads are told apart by where they are; where several are at one place, each may be any of them.
                    let local = step.row[component];
                    let mut set = NONE;
                    for &member in &frame.groups[group] {
                        if member == step.component {
                            if step.next.0 == local {
                                set = self.sets.union(set, moved);
                            }
                        } else if row[member] == local {
                            set = self.sets.union(set, held[member]);
                        }
                    }
                    set
                }
            };
            sets.push(set);
        }
        sets
    }

    /// What the thread that moves may hold behind its step.
    fn mover_after(&mut self, held: SetId, kind: Kind) -> SetId {
        if let Some(&known) = self.behind.get(&(held, kind)) {
            return known;
        }
        let Overview { sets, messages, .. } = self;
        let behind = match kind {
            #[cfg(test)]
            Kind::Writes(written) if self.detail == Detail::Little => {
                let written = sets.of([written]);
                sets.union(held, written)
            }
            #[cfg(test)]
            _ if self.detail == Detail::Little => held,
            _ => held_behind(messages, sets, held, kind),
        };
        self.behind.insert((held, kind), behind);
        behind
    }

    /// The steps from a node, as far as its sets allow.
    fn moves(&mut self, frame: &Frame<'_>, view: &mut View<'_>, node: u32) -> Vec<Move> {
        view.begin_state();
        let row = self.rows[node as usize].clone();
        let holder = self.holders[node as usize];
        let domain = frame.program().domain;
        let mut moves = Vec::new();
        for (component, &code) in frame.codes.iter().enumerate() {
            let twin = frame.group_of[component].is_some_and(|group| {
                component > frame.groups[group][0] && row[component] == row[component - 1]
            });
            if holder.is_some_and(|holder| holder != component) || twin {
                continue;
            }
            let local = LocalId(row[component]);
            let in_block = holder.is_some();
            let held = self.held[node as usize][component];
            for action in 0..view.actions(code, local) {
                let taken = view.action(code, local, action);
                let in_memory =
                    |view: &mut View<'_>, location| view.value(row[frame.component(location)]);
                // What it reads, does with the buffer, and writes to memory.
                let mut found = Vec::new();
                match taken.kind {
                    ActionKind::Error(_) => {}
                    ActionKind::Local => found.push((0, Kind::Ignores, None)),
                    ActionKind::Fence(order) if order != Order::SeqCst => {
                        found.push((0, Kind::Ignores, None));
                    }
                    ActionKind::Fence(_) | ActionKind::AtomicBegin | ActionKind::AtomicEnd => {
                        found.push((0, Kind::NeedsEmpty, None));
                    }
                    ActionKind::Load { location, .. } | ActionKind::Wait { location, .. } => {
                        let goes_on = |read| match taken.kind {
                            ActionKind::Wait {
                                relation, value, ..
                            } => relation.holds(read, value),
                            _ => true,
                        };
                        if in_block {
                            let read = in_memory(view, location);
                            if goes_on(read) {
                                found.push((read, Kind::NeedsEmpty, None));
                            }
                        } else {
                            for message in readable(&self.messages, &self.sets, held, location) {
                                let read = view.value(self.messages.content(message).1);
                                if goes_on(read) {
                                    found.push((read, Kind::Reads(message), None));
                                }
                            }
                        }
                    }
                    ActionKind::Store {
                        location,
                        value,
                        order,
                    } => {
                        let value = view.value_id(value);
                        // A thread does nothing between a `seqcst` store and the moment at which it has reached memory.
                        let kind = match in_block || order == Order::SeqCst {
                            true => Kind::NeedsEmpty,
                            false => Kind::Writes(self.messages.of(location, value).own()),
                        };
                        found.push((0, kind, Some((location, value))));
                    }
                    ActionKind::Rmw {
                        location, update, ..
                    } => {
                        let read = in_memory(view, location);
                        match update.effect(domain, read) {
                            Err(_) | Ok(Effect::Blocks) => {}
                            Ok(Effect::Fails) => found.push((read, Kind::NeedsEmpty, None)),
                            Ok(Effect::Writes(value)) => {
                                let written = Some((location, view.value_id(value)));
                                found.push((read, Kind::NeedsEmpty, written));
                            }
                        }
                    }
                }
                for (read, kind, written) in found {
                    let nexts = view.resume(code, local, action, read);
                    for &next in nexts {
                        let mut after = row.to_vec();
                        after[component] = next.0;
                        if let Some((location, value)) = written {
                            after[frame.component(location)] = value;
                        }
                        frame.sort_groups(&mut after);
                        moves.push(Move {
                            component,
                            row: after,
                            next,
                            kind,
                            action,
                        });
                    }
                }
            }
        }
        moves
    }
}
