//! The backward search with load buffers for any number of threads.
//!
//! A configuration has memory, the fixed threads with their buffers, and any number of copies, each with a local state and a buffer. The order is that of
//! [`super`] for the fixed threads, and for copies multiset embedding over it: each copy of the smaller configuration has one of its own in the greater one, in the same
//! local state and with a buffer that is at least as large. That is a well-quasi-order, too (Higman), and more copies can do no less. A step depends on
//! memory and the thread that moves alone. So the configurations from which something that must not be can be reached are those above finitely
//! many minimal ones, which are found as in [`super::backward`]; a copy that moves may also be one that was not asked for behind the step: then
//! it *joins*.
//!
//! Predecessors are looked for among what a forward walk sees: for each node (memory, the fixed threads, and the copy that is inside a block) the local states that copies may be in, as
//! many as they like, and for each of them the messages that a buffer may hold there.

mod written;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::rc::Rc;

use palisade_lang::{Copies, LocationId, Order, Program};
use palisade_threads::{ActionKind, Effect, Footprint, LocalId, View};
use rustc_hash::FxHashMap;

use super::messages::{EMPTY, Message, Messages, NONE, SetId, Sets, WordId, Words};
use super::moved::{Moved, held_behind, readable, without_offered};
use super::overview::{Detail, Kind};
use crate::Options;
use crate::classes::by_class;
use crate::counted::{MANY, NeverOfCopies, code_reductions, not_upward_closed};
use crate::state::Frame;

/// What came out for all numbers of copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WithCopies {
    /// Nothing that must not be can be reached, with any number of copies; so many minimal configurations lead there.
    Safe(usize),
    /// It can, with so many copies of each thread that may have any number, and perhaps with fewer.
    Unsafe(u32),
    /// It cannot be asked for all numbers at once, and why.
    OnlyInstances(String),
    /// A limit was hit.
    Stopped(String),
}

/// The code and the local state of a copy.
pub(super) type Local = (u32, u32);

/// A copy with its word.
type Copy = (Local, WordId);

/// The thread that takes a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mover {
    /// A fixed thread, by its component.
    Fixed(usize),
    /// A copy.
    Copy(Local),
    /// The copy that is inside a block.
    Inside(Local),
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    from: u32,
    mover: Mover,
    /// The thread behind the step; never [`Mover::Fixed`] where a copy moved.
    after: Mover,
    kind: Kind,
}

/// A node of the forward walk.
pub(super) struct Node {
    /// A row of the instance in which the copies' components are 0, and behind it the copy inside a block: its code plus 1 and its local state, or zeros.
    pub row: Rc<[u32]>,
    /// What the buffers of fixed threads may hold, in the order of their components.
    fixed: Vec<SetId>,
    /// The local states of copies, and what their buffers may hold.
    pub copies: BTreeMap<Local, SetId>,
    /// Steps that lead here.
    edges: Vec<Edge>,
    /// Something is known about it.
    seen: bool,
    waiting: bool,
}

struct Element {
    node: u32,
    fixed: Box<[WordId]>,
    /// In ascending order.
    copies: Box<[Copy]>,
    alive: bool,
}

pub(super) struct Search<'f, 'p> {
    frame: &'f Frame<'p>,
    pub view: View<'f>,
    /// The components of fixed threads.
    pub fixed: Vec<usize>,
    nevers: Vec<NeverOfCopies>,
    messages: Messages,
    sets: Sets,
    words: Words,
    pub nodes: Vec<Node>,
    ids: FxHashMap<Rc<[u32]>, u32>,
    needed: FxHashMap<(SetId, u32, u32), SetId>,
    /// What a thread may hold behind a step, by what it may hold before it.
    behind: FxHashMap<(SetId, Kind), SetId>,
    work: VecDeque<u32>,
    initial: Vec<u32>,
    initial_copies: Vec<Local>,
    goals: Vec<(u32, Vec<Local>)>,
    elements: Vec<Element>,
    buckets: FxHashMap<u32, Vec<u32>>,
    queue: BinaryHeap<Reverse<(u32, u32)>>,
    reached: Option<u32>,
    bytes: u64,
    detail: Detail,
}

/// Decides `safe` under TSO for all numbers of copies. `stop` is asked now and then, with the number of configurations and bytes.
pub fn with_any_number_of_copies(
    program: &Program,
    options: &Options,
    stop: &mut dyn FnMut(u64, u64) -> Option<String>,
) -> WithCopies {
    decide(program, options, Detail::Needed, stop, &mut |_| {})
}

/// The states of a certificate: all nodes of the forward walk, and the minimal configurations, if nothing that must not be can be reached.
pub fn load_buffer_copies(
    program: &Program,
    options: &Options,
    stop: &mut dyn FnMut(u64, u64) -> Option<String>,
) -> (WithCopies, Vec<Vec<i64>>) {
    // What checks them does not know what a thread will read.
    let mut states = Vec::new();
    let end = decide(program, options, Detail::All, stop, &mut |search| {
        states = search.written();
    });
    (end, states)
}

/// Hands the search to `safe` where it has found nothing.
pub(super) fn decide(
    program: &Program,
    options: &Options,
    detail: Detail,
    stop: &mut dyn FnMut(u64, u64) -> Option<String>,
    safe: &mut dyn FnMut(&mut Search<'_, '_>),
) -> WithCopies {
    if let Some(why) = not_upward_closed(program) {
        return WithCopies::OnlyInstances(why);
    }
    // What checks a certificate does not know which values are alike.
    let merged = match detail == Detail::Needed && options.reductions.dead_registers {
        true => by_class(program),
        false => None,
    };
    let program = merged.as_ref().unwrap_or(program);
    let instance = instance_of(program);
    let frame = Frame::new(&instance, &code_reductions(options));
    let mut search = Search::new(program, &frame, detail);
    let end = search.walk(stop).and_then(|()| search.backward(stop));
    match end {
        Err(why) => WithCopies::Stopped(why),
        Ok(Some(copies)) => WithCopies::Unsafe(copies),
        Ok(None) => {
            safe(&mut search);
            WithCopies::Safe(search.elements.iter().filter(|e| e.alive).count())
        }
    }
}

/// One copy of each thread, and what the program says about any number of them.
pub(super) fn instance_of(program: &Program) -> Program {
    let mut instance = program.with_copies(1);
    instance.nevers.clone_from(&program.nevers);
    instance
}

impl<'f, 'p> Search<'f, 'p> {
    /// Begins with any number of copies of a program in one of whose instances the frame is.
    pub(super) fn new(program: &Program, frame: &'f Frame<'p>, detail: Detail) -> Self {
        let is_any = |code: usize| program.threads[code].copies == Copies::Any;
        let conditions = program.nevers.iter().flat_map(|n| &n.conditions);
        let mut search = Search {
            view: frame.threads.view(),
            fixed: (0..frame.thread_count())
                .filter(|&c| !is_any(frame.codes[c]))
                .collect(),
            nevers: conditions.map(|c| NeverOfCopies::new(program, c)).collect(),
            frame,
            messages: Messages::default(),
            sets: Sets::default(),
            words: Words::default(),
            nodes: Vec::new(),
            ids: FxHashMap::default(),
            needed: FxHashMap::default(),
            behind: FxHashMap::default(),
            work: VecDeque::new(),
            initial: Vec::new(),
            initial_copies: Vec::new(),
            goals: Vec::new(),
            elements: Vec::new(),
            buckets: FxHashMap::default(),
            queue: BinaryHeap::new(),
            reached: None,
            bytes: 0,
            detail,
        };
        search.begin();
        search
    }
}

impl Search<'_, '_> {
    fn begin(&mut self) {
        let frame = self.frame;
        let copies: Vec<usize> = (0..frame.thread_count())
            .filter(|c| !self.fixed.contains(c))
            .collect();
        for row in frame.initial_rows(&mut self.view) {
            let mut shared = row.clone();
            for &component in &copies {
                let local = (frame.codes[component] as u32, row[component]);
                if !self.initial_copies.contains(&local) {
                    self.initial_copies.push(local);
                }
                shared[component] = 0;
            }
            shared.extend([0, 0]);
            let node = self.enter(&shared);
            if !self.initial.contains(&node) {
                self.initial.push(node);
            }
        }
        for node in self.initial.clone() {
            let fixed = vec![NONE; self.fixed.len()];
            let copies = self.initial_copies.iter().map(|&local| (local, NONE));
            let copies: Vec<(Local, SetId)> = copies.collect();
            self.join(node, &fixed, &copies);
        }
    }

    fn enter(&mut self, row: &[u32]) -> u32 {
        if let Some(&node) = self.ids.get(row) {
            return node;
        }
        let row: Rc<[u32]> = row.into();
        let node = self.nodes.len() as u32;
        self.ids.insert(row.clone(), node);
        self.bytes += 200 + 12 * row.len() as u64;
        self.nodes.push(Node {
            row,
            fixed: vec![NONE; self.fixed.len()],
            copies: BTreeMap::new(),
            edges: Vec::new(),
            seen: false,
            waiting: false,
        });
        node
    }

    fn inside(&self, node: u32) -> Option<Local> {
        let row = &self.nodes[node as usize].row;
        let code = row[self.frame.width()].checked_sub(1)?;
        Some((code, row[self.frame.width() + 1]))
    }

    /// Whether some thread is inside a block.
    fn is_held(&mut self, node: u32) -> bool {
        self.inside(node).is_some() || self.fixed_inside(node).is_some()
    }

    fn fixed_inside(&mut self, node: u32) -> Option<usize> {
        let row = self.nodes[node as usize].row.clone();
        let (frame, view) = (self.frame, &mut self.view);
        let mut fixed = self.fixed.iter().copied();
        fixed.find(|&c| view.is_atomic(frame.codes[c], LocalId(row[c])))
    }

    /// The messages of a set that a thread may still read, and its own ones.
    fn only_needed(&mut self, (code, local): Local, set: SetId) -> SetId {
        if self.detail != Detail::Needed {
            return set;
        }
        let key = (set, code, local);
        if let Some(&known) = self.needed.get(&key) {
            return known;
        }
        let future = self.view.future_footprint(code as usize, LocalId(local));
        let Search { sets, messages, .. } = self;
        let left = sets.filter(set, |m| {
            m.is_own() || future.reads & Footprint::bit(messages.location(m)) != 0
        });
        self.needed.insert(key, left);
        left
    }

    /// What memory offers.
    fn offered(&mut self, node: u32) -> SetId {
        if self.is_held(node) {
            return NONE;
        }
        let row = self.nodes[node as usize].row.clone();
        let locations = (0..self.frame.program().locations.len() as u32).map(LocationId);
        let messages: Vec<Message> = locations
            .map(|l| self.messages.of(l, row[self.frame.component(l)]))
            .collect();
        self.sets.of(messages)
    }

    /// Adds to what threads may hold at a node.
    fn join(&mut self, node: u32, fixed: &[SetId], copies: &[(Local, SetId)]) {
        let offered = self.offered(node);
        let at = node as usize;
        let mut changed = !std::mem::replace(&mut self.nodes[at].seen, true);
        for (index, &set) in fixed.iter().enumerate() {
            let component = self.fixed[index];
            let local = (
                self.frame.codes[component] as u32,
                self.nodes[at].row[component],
            );
            let all = self.sets.union(set, offered);
            let all = self.only_needed(local, all);
            let before = self.nodes[at].fixed[index];
            let joined = self.sets.union(before, all);
            changed |= joined != before;
            self.nodes[at].fixed[index] = joined;
        }
        for &(local, set) in copies {
            let all = self.sets.union(set, offered);
            let all = self.only_needed(local, all);
            let before = self.nodes[at].copies.get(&local).copied();
            let joined = self.sets.union(before.unwrap_or(NONE), all);
            if before != Some(joined) {
                changed = true;
                self.nodes[at].copies.insert(local, joined);
                self.bytes += 24;
            }
        }
        if changed && !self.nodes[at].waiting {
            self.nodes[at].waiting = true;
            self.work.push_back(node);
        }
    }

    /// The forward walk, and the steps that it has seen.
    pub(super) fn walk(
        &mut self,
        stop: &mut dyn FnMut(u64, u64) -> Option<String>,
    ) -> Result<(), String> {
        let mut looks = 0u64;
        while let Some(node) = self.work.pop_front() {
            if looks.is_multiple_of(64)
                && let Some(why) = stop(self.nodes.len() as u64, self.bytes)
            {
                return Err(why);
            }
            looks += 1;
            self.nodes[node as usize].waiting = false;
            for (to, edge) in self.steps(node) {
                let from = &self.nodes[node as usize];
                let mut fixed = from.fixed.clone();
                let mut copies: Vec<(Local, SetId)> =
                    from.copies.iter().map(|(l, s)| (*l, *s)).collect();
                let held = self.held(node, edge.mover);
                let behind = self.held_behind(held, edge.kind);
                match edge.after {
                    Mover::Fixed(component) => {
                        if let Some(at) = self.fixed.iter().position(|&c| c == component) {
                            fixed[at] = behind;
                        }
                    }
                    Mover::Copy(local) => copies.push((local, behind)),
                    Mover::Inside(_) => {}
                }
                self.join(to, &fixed, &copies);
            }
        }
        for node in 0..self.nodes.len() as u32 {
            if node % 64 == 0
                && let Some(why) = stop(self.nodes.len() as u64, self.bytes)
            {
                return Err(why);
            }
            for (to, edge) in self.steps(node) {
                self.nodes[to as usize].edges.push(edge);
                self.bytes += size_of::<Edge>() as u64;
            }
            self.look_for_goals(node);
        }
        Ok(())
    }

    fn held_behind(&mut self, held: SetId, kind: Kind) -> SetId {
        if let Some(&known) = self.behind.get(&(held, kind)) {
            return known;
        }
        let behind = match kind {
            #[cfg(test)]
            Kind::Writes(written) if self.detail == Detail::Little => {
                let written = self.sets.of([written]);
                self.sets.union(held, written)
            }
            #[cfg(test)]
            _ if self.detail == Detail::Little => held,
            _ => held_behind(&self.messages, &mut self.sets, held, kind),
        };
        self.behind.insert((held, kind), behind);
        behind
    }

    fn held(&self, node: u32, mover: Mover) -> SetId {
        let node = &self.nodes[node as usize];
        match mover {
            Mover::Fixed(component) => {
                let at = self.fixed.iter().position(|&c| c == component);
                at.map_or(NONE, |at| node.fixed[at])
            }
            Mover::Copy(local) => node.copies.get(&local).copied().unwrap_or(NONE),
            Mover::Inside(_) => NONE,
        }
    }

    /// The components that may move at a node.
    fn movers(&mut self, node: u32) -> Vec<Mover> {
        if let Some(local) = self.inside(node) {
            return vec![Mover::Inside(local)];
        }
        if let Some(component) = self.fixed_inside(node) {
            return vec![Mover::Fixed(component)];
        }
        let fixed = self.fixed.iter().map(|&c| Mover::Fixed(c));
        let copies = self.nodes[node as usize].copies.keys();
        fixed.chain(copies.map(|&l| Mover::Copy(l))).collect()
    }

    fn code_and_local(&self, node: u32, mover: Mover) -> Local {
        match mover {
            Mover::Fixed(component) => (
                self.frame.codes[component] as u32,
                self.nodes[node as usize].row[component],
            ),
            Mover::Copy(local) | Mover::Inside(local) => local,
        }
    }

    /// The steps from a node, as far as its sets allow, and where they lead.
    fn steps(&mut self, node: u32) -> Vec<(u32, Edge)> {
        let mut steps = Vec::new();
        let frame = self.frame;
        let domain = frame.program().domain;
        let row = self.nodes[node as usize].row.clone();
        for mover in self.movers(node) {
            self.view.begin_state();
            let (code, local) = self.code_and_local(node, mover);
            let (code, local) = (code as usize, LocalId(local));
            let in_block = self.view.is_atomic(code, local);
            let held = self.held(node, mover);
            for action in 0..self.view.actions(code, local) {
                let taken = self.view.action(code, local, action).kind;
                let mut found = Vec::new();
                match taken {
                    ActionKind::Error(_) => {}
                    ActionKind::Local => found.push((0, Kind::Ignores, None)),
                    ActionKind::Fence(order) if order != Order::SeqCst => {
                        found.push((0, Kind::Ignores, None));
                    }
                    ActionKind::Fence(_) | ActionKind::AtomicBegin | ActionKind::AtomicEnd => {
                        found.push((0, Kind::NeedsEmpty, None));
                    }
                    ActionKind::Load { location, .. } | ActionKind::Wait { location, .. } => {
                        let goes_on = |read| match taken {
                            ActionKind::Wait {
                                relation, value, ..
                            } => relation.holds(read, value),
                            _ => true,
                        };
                        let choices = match in_block {
                            true => vec![None],
                            false => {
                                let all = readable(&self.messages, &self.sets, held, location);
                                all.into_iter().map(Some).collect()
                            }
                        };
                        for choice in choices {
                            let (value, kind) = match choice {
                                None => (row[frame.component(location)], Kind::NeedsEmpty),
                                Some(m) => (self.messages.content(m).1, Kind::Reads(m)),
                            };
                            let read = self.view.value(value);
                            if goes_on(read) {
                                found.push((read, kind, None));
                            }
                        }
                    }
                    ActionKind::Store {
                        location,
                        value,
                        order,
                    } => {
                        let value = self.view.value_id(value);
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
                        let read = self.view.value(row[frame.component(location)]);
                        match update.effect(domain, read) {
                            Err(_) | Ok(Effect::Blocks) => {}
                            Ok(Effect::Fails) => found.push((read, Kind::NeedsEmpty, None)),
                            Ok(Effect::Writes(value)) => {
                                let written = Some((location, self.view.value_id(value)));
                                found.push((read, Kind::NeedsEmpty, written));
                            }
                        }
                    }
                }
                for (read, kind, written) in found {
                    let nexts = self.view.resume(code, local, action, read).to_vec();
                    for next in nexts {
                        let mut after = row.to_vec();
                        if let Some((location, value)) = written {
                            after[frame.component(location)] = value;
                        }
                        let moved = match mover {
                            Mover::Fixed(component) => {
                                after[component] = next.0;
                                mover
                            }
                            Mover::Copy(_) | Mover::Inside(_) => {
                                let width = frame.width();
                                let inside = self.view.is_atomic(code, next);
                                after[width] = if inside { code as u32 + 1 } else { 0 };
                                after[width + 1] = if inside { next.0 } else { 0 };
                                match inside {
                                    true => Mover::Inside((code as u32, next.0)),
                                    false => Mover::Copy((code as u32, next.0)),
                                }
                            }
                        };
                        let to = self.enter(&after);
                        let edge = Edge {
                            from: node,
                            mover,
                            after: moved,
                            kind,
                        };
                        steps.push((to, edge));
                    }
                }
            }
        }
        steps
    }

    fn look_for_goals(&mut self, node: u32) {
        let frame = self.frame;
        let row = self.nodes[node as usize].row.clone();
        let mut locals: Vec<Local> = self.nodes[node as usize].copies.keys().copied().collect();
        // The copy inside a block is there, once.
        let inside = self.inside(node);
        let mut present: Vec<(usize, LocalId, u8)> = (locals.iter())
            .map(|&(code, local)| (code as usize, LocalId(local), MANY))
            .collect();
        if let Some((code, local)) = inside {
            present.push((code as usize, LocalId(local), 1));
            locals.push((code, local));
        }
        let last = inside.map(|_| locals.len() - 1);
        for never in &self.nevers {
            let row = &row[..frame.width()];
            never.for_each_choice(frame, &mut self.view, row, &present, &mut |chosen| {
                let chosen = chosen.iter().filter(|&&at| Some(at) != last);
                let copies = chosen.map(|&at| locals[at]).collect();
                self.goals.push((node, copies));
                false
            });
        }
        for mover in self.movers(node) {
            let (code, local) = self.code_and_local(node, mover);
            let (code, local) = (code as usize, LocalId(local));
            for action in 0..self.view.actions(code, local) {
                let errs = match self.view.action(code, local, action).kind {
                    ActionKind::Error(_) => true,
                    ActionKind::Rmw {
                        location, update, ..
                    } => {
                        let read = self.view.value(row[frame.component(location)]);
                        update.effect(frame.program().domain, read).is_err()
                    }
                    _ => false,
                };
                if errs {
                    let copies = match mover {
                        Mover::Copy(local) => vec![local],
                        _ => Vec::new(),
                    };
                    self.goals.push((node, copies));
                }
            }
        }
    }

    /// The backward search: the number of copies with which something that must not be can be reached.
    fn backward(
        &mut self,
        stop: &mut dyn FnMut(u64, u64) -> Option<String>,
    ) -> Result<Option<u32>, String> {
        for (node, copies) in std::mem::take(&mut self.goals) {
            let fixed = vec![EMPTY; self.fixed.len()];
            let copies = copies.into_iter().map(|local| (local, EMPTY)).collect();
            self.add(node, fixed, copies);
        }
        let mut expanded = 0u64;
        while let Some(Reverse((_, number))) = self.queue.pop() {
            if let Some(copies) = self.reached {
                return Ok(Some(copies));
            }
            if !self.elements[number as usize].alive {
                continue;
            }
            if expanded.is_multiple_of(64)
                && let Some(why) = stop(self.elements.len() as u64, self.bytes)
            {
                return Err(why);
            }
            expanded += 1;
            self.expand(number);
        }
        Ok(self.reached)
    }

    fn expand(&mut self, number: u32) {
        let element = &self.elements[number as usize];
        let (node, fixed, copies) = (element.node, element.fixed.clone(), element.copies.clone());
        for edge in self.nodes[node as usize].edges.clone() {
            // The thread behind the step: what is left when it is taken away, and its word.
            let mut ways: Vec<(Vec<Copy>, WordId)> = Vec::new();
            match edge.after {
                Mover::Fixed(component) => {
                    let at = self.fixed.iter().position(|&c| c == component);
                    ways.push((copies.to_vec(), at.map_or(EMPTY, |at| fixed[at])));
                }
                Mover::Inside(_) => ways.push((copies.to_vec(), EMPTY)),
                Mover::Copy(local) => {
                    let mut tried = Vec::new();
                    for (at, &(other, word)) in copies.iter().enumerate() {
                        if other == local && !tried.contains(&word) {
                            tried.push(word);
                            let mut rest = copies.to_vec();
                            rest.remove(at);
                            ways.push((rest, word));
                        }
                    }
                    // One that was not asked for; where it changes nothing else, more is asked for than before.
                    if edge.from != node {
                        ways.push((copies.to_vec(), EMPTY));
                    }
                }
            }
            for (rest, word) in ways {
                let held_behind = self.held(node, edge.after);
                let held = self.held(edge.from, edge.mover);
                let moved = Moved {
                    messages: &self.messages,
                    sets: &self.sets,
                    kind: edge.kind,
                    held,
                    held_behind,
                };
                for before in moved.words_before(&mut self.words, word) {
                    let mut fixed = fixed.to_vec();
                    let mut copies = rest.clone();
                    match edge.mover {
                        Mover::Fixed(component) => {
                            if let Some(at) = self.fixed.iter().position(|&c| c == component) {
                                fixed[at] = before;
                            }
                        }
                        Mover::Copy(local) => copies.push((local, before)),
                        Mover::Inside(_) if before != EMPTY => continue,
                        Mover::Inside(_) => {}
                    }
                    self.add_if_possible(edge.from, fixed, copies);
                    if !self.elements[number as usize].alive {
                        return;
                    }
                }
            }
        }
    }

    /// Adds what may exist at a node, without what memory offers there.
    fn add_if_possible(&mut self, node: u32, mut fixed: Vec<WordId>, mut copies: Vec<Copy>) {
        let row = self.nodes[node as usize].row.clone();
        let offers = !self.is_held(node);
        let at = &self.nodes[node as usize];
        let allowed = |words: &Words, sets: &Sets, set: SetId, word: WordId| {
            words.get(word).iter().all(|&m| sets.contains(set, m))
        };
        for (&word, &set) in fixed.iter().zip(&at.fixed) {
            if !allowed(&self.words, &self.sets, set, word) {
                return;
            }
        }
        for (local, word) in &copies {
            let set = at.copies.get(local);
            if !set.is_some_and(|&set| allowed(&self.words, &self.sets, set, *word)) {
                return;
            }
        }
        let Search {
            words,
            messages,
            frame,
            ..
        } = self;
        let in_memory = |m: Message| {
            let (location, value) = messages.content(m);
            offers && row[frame.component(location)] == value
        };
        let all = fixed.iter_mut().chain(copies.iter_mut().map(|c| &mut c.1));
        for word in all {
            *word = without_offered(words, *word, in_memory);
        }
        self.add(node, fixed, copies);
    }

    /// Adds an element, unless a smaller one is known.
    fn add(&mut self, node: u32, fixed: Vec<WordId>, mut copies: Vec<Copy>) {
        copies.sort_unstable();
        let Search {
            words,
            elements,
            buckets,
            ..
        } = self;
        let bucket = buckets.entry(node).or_default();
        let is_below = |a: (&[WordId], &[Copy]), b: (&[WordId], &[Copy])| {
            (a.0.iter().zip(b.0)).all(|(&smaller, &greater)| words.is_below(smaller, greater))
                && embeds(words, a.1, b.1)
        };
        let new = (&fixed[..], &copies[..]);
        let of = |element: &Element| -> (Box<[WordId]>, Box<[Copy]>) {
            (element.fixed.clone(), element.copies.clone())
        };
        if (bucket.iter()).any(|&known| {
            let element = &elements[known as usize];
            is_below((&element.fixed, &element.copies), new)
        }) {
            return;
        }
        bucket.retain(|&known| {
            let element = &mut elements[known as usize];
            let (fixed, copies) = of(element);
            element.alive = !is_below(new, (&fixed, &copies));
            element.alive
        });
        let number = elements.len() as u32;
        bucket.push(number);
        let all = fixed.iter().chain(copies.iter().map(|c| &c.1));
        let length: usize = all.map(|&word| words.len_of(word)).sum();
        if length == 0
            && self.initial.contains(&node)
            && copies.iter().all(|c| self.initial_copies.contains(&c.0))
        {
            let of_code = |code: u32| copies.iter().filter(|c| c.0.0 == code).count() as u32;
            let most = copies.iter().map(|c| of_code(c.0.0)).max();
            let most = most.unwrap_or(0).max(1);
            self.reached = Some(self.reached.map_or(most, |known| known.min(most)));
        }
        self.bytes += 160 + 8 * fixed.len() as u64 + 16 * copies.len() as u64;
        let size = length + copies.len();
        elements.push(Element {
            node,
            fixed: fixed.into(),
            copies: copies.into(),
            alive: true,
        });
        self.queue.push(Reverse((size as u32, number)));
    }
}

/// Whether each copy of the smaller multiset has one of its own in the greater one that is above it.
fn embeds(words: &Words, smaller: &[Copy], greater: &[Copy]) -> bool {
    if smaller.len() > greater.len() {
        return false;
    }
    let fits = |a: usize, b: usize| {
        smaller[a].0 == greater[b].0 && words.is_below(smaller[a].1, greater[b].1)
    };
    // For each of the greater one's copies, whose it is; a way is made for each of the smaller one's in turn.
    let mut taken: Vec<Option<usize>> = vec![None; greater.len()];
    fn give(
        one: usize,
        fits: &dyn Fn(usize, usize) -> bool,
        taken: &mut [Option<usize>],
        seen: &mut [bool],
    ) -> bool {
        for other in 0..taken.len() {
            if seen[other] || !fits(one, other) {
                continue;
            }
            seen[other] = true;
            if taken[other].is_none_or(|before| give(before, fits, taken, seen)) {
                taken[other] = Some(one);
                return true;
            }
        }
        false
    }
    (0..smaller.len()).all(|one| {
        let mut seen = vec![false; greater.len()];
        give(one, &fits, &mut taken, &mut seen)
    })
}
