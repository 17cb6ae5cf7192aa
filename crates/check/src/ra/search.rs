//! The SC walk with monitors.
//!
//! A state is the program's state under SC (a *base*: locals and memory) and a monitor. Monitors are interned, and what an access does
//! to a monitor is remembered, so that a step is mostly two look-ups.
//!
//! Monitors are ordered: one that has all the bits of another finds every violation that the other finds, because Figures 5 and 6
//! and the conditions of Theorem 5.3 are monotone in every bit. So for each base only the greatest monitors are kept.

use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

use palisade_lang::{LocationId, Order, Value};
use palisade_threads::{ActionKind, Effect, LocalId, View};

use super::bases::Bases;
use super::blocks::{Block, Blocks};
use super::facts::{Accept, Facts, Future};
use super::monitor::{Access, AccessType, Layout, Outlook, Scratch, Slots, ThreadOutlook};
use super::queue::Queue;
use super::sets::{Set, insert, members, words};
use super::table::MonitorTable;
use crate::sc::execute;
use crate::state::Frame;
use crate::{Control, Options, Progress};

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// The thread's action could read or overwrite something stale (Theorem 5.3).
    Stale {
        /// The component of the thread.
        thread: usize,
        /// Which of its actions.
        action: usize,
    },
    /// Two threads could access a `nonatomic` location at the same time (Def. 6.1).
    Race {
        /// Component and action of one …
        first: (usize, usize),
        /// … and the other; one of the two writes.
        second: (usize, usize),
    },
}

/// Why a search ended before everything was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The time is up.
    Timeout,
    /// The memory is full.
    Memory,
    /// Somebody interrupted it.
    Cancelled,
}

/// How a search ended.
#[derive(Debug)]
pub enum End {
    /// Everything was seen, and there is no violation.
    Robust,
    /// There is one, in the state with this number.
    Violated(u32, Violation),
    /// A limit was hit.
    Stopped(Stopped),
    /// There was no room for so many slots.
    TooManySlots,
}

/// One step between states.
#[derive(Clone, Debug)]
pub struct StepTaken {
    /// The component of the thread.
    pub thread: usize,
    /// Which of its actions.
    pub action: usize,
    /// Which of the outcomes.
    pub outcome: usize,
}

/// A state.
#[derive(Clone, Copy, Debug)]
struct Node {
    base: u32,
    monitor: u32,
    /// The state that it was found from; itself for an initial one.
    parent: u32,
    /// Whether it was expanded.
    expanded: bool,
}

/// One of the greatest monitors of a base.
#[derive(Clone, Copy, Debug)]
struct Kept {
    /// The first word of the packed monitor, to tell most monitors apart at once.
    first: u64,
    /// How many bits it has.
    weight: u32,
    monitor: u32,
    node: u32,
}

const NONE: u32 = u32::MAX;
/// The monitor of a state that another one covers: it need not be expanded.
const COVERED: u32 = u32::MAX;

/// A remembered step of a monitor. Entries replace each other; it is only a memory.
#[derive(Clone, Copy, Debug)]
struct Remembered {
    monitor: u32,
    outlook: u32,
    access: u64,
    result: u32,
}

const FIRST_REMEMBERED: usize = 1 << 8;
const MOST_REMEMBERED: usize = 1 << 20;

/// Room for so many pairs that were met.
const MOST_MET: usize = 1 << 22;

const FORGOTTEN: Remembered = Remembered {
    monitor: NONE,
    outlook: NONE,
    access: 0,
    result: 0,
};

/// The search.
pub struct Search<'f, 'p> {
    frame: &'f Frame<'p>,
    facts: &'f Facts,
    options: &'f Options,
    view: View<'f>,
    layout: Layout,
    slots: Slots,
    monitors: MonitorTable,
    queue: Queue,
    /// The monitor of the state that is being expanded.
    current: Vec<u64>,
    outlooks: Vec<Outlook>,
    outlook_numbers: FxHashMap<Box<[u32]>, u32>,
    bases: Bases,
    /// For each base the states with the greatest monitors.
    chains: Vec<Vec<Kept>>,
    kept_bytes: u64,
    /// Pairs of base and monitor that were met lately.
    met: Vec<u64>,
    nodes: Vec<Node>,
    remembered: Vec<Remembered>,
    /// How often a step was not remembered since there is this much room for them.
    missed: usize,
    blocks: Blocks,
    scratch: Scratch,
    monitor: Vec<u64>,
    unsorted: Vec<u64>,
    words: Vec<u64>,
    futures: Vec<u32>,
    too_many_slots: bool,
    /// Steps taken between states.
    pub transitions: u64,
    /// An assertion failed or another error of the program was reached.
    pub error_seen: bool,
}

/// A step of the search: what happened, and where it leads.
struct Target<'a> {
    taken: StepTaken,
    row: &'a [u32],
    monitor: u32,
    /// For each component of the new row, the component of the old one that it was.
    from: &'a [usize],
}

impl<'f, 'p> Search<'f, 'p> {
    /// A search with room for so many slots.
    pub fn new(
        frame: &'f Frame<'p>,
        facts: &'f Facts,
        options: &'f Options,
        capacity: usize,
        shortest: bool,
    ) -> Self {
        let layout = Layout::new(frame.thread_count(), facts.tracked_count, capacity);
        Search {
            frame,
            facts,
            options,
            view: frame.threads.view(),
            slots: Slots::new(facts.tracked_count, capacity),
            monitors: MonitorTable::new(layout.widths()),
            queue: Queue::new(shortest),
            layout,
            outlooks: Vec::new(),
            outlook_numbers: FxHashMap::default(),
            bases: Bases::new(frame.width()),
            chains: Vec::new(),
            kept_bytes: 0,
            met: vec![u64::MAX; FIRST_REMEMBERED],
            nodes: Vec::new(),
            remembered: vec![FORGOTTEN; FIRST_REMEMBERED],
            missed: 0,
            blocks: Blocks::default(),
            scratch: Scratch::default(),
            current: Vec::new(),
            monitor: Vec::new(),
            unsorted: Vec::new(),
            words: Vec::new(),
            futures: Vec::new(),
            too_many_slots: false,
            transitions: 0,
            error_seen: false,
        }
    }

    /// How many states are stored.
    pub fn states(&self) -> u64 {
        self.nodes.len() as u64
    }

    /// How many bytes the search holds.
    pub fn bytes(&self) -> u64 {
        self.bases.bytes()
            + self.monitors.bytes()
            + self.queue.bytes()
            + self.kept_bytes * 2
            + (self.nodes.capacity() * size_of::<Node>()
                + self.chains.capacity() * size_of::<Vec<Kept>>()
                + self.met.len() * 8
                + self.remembered.len() * size_of::<Remembered>()) as u64
    }

    /// Searches until a violation is found, everything is seen, or a limit is hit.
    pub fn run(&mut self, start: Instant, control: &Control<'_>) -> End {
        let initial = self.layout.initial();
        for row in self.frame.initial_rows(&mut self.view) {
            let outlook = self.outlook(&row);
            self.monitor.clone_from(&initial);
            let monitor = self.finish_monitor(outlook);
            self.insert(&row, monitor, NONE);
        }
        let mut last_report = start;
        let mut expanded = 0u64;
        let mut row = vec![0; self.frame.width()];
        let mut targets: Vec<(u32, u32)> = Vec::new();
        while let Some(number) = self.queue.pop() {
            let node = self.nodes[number as usize];
            if node.monitor == COVERED {
                continue;
            }
            if expanded % 1024 == 0 {
                if let Some(stopped) = self.limit(start, control) {
                    return End::Stopped(stopped);
                }
                if last_report.elapsed() > Duration::from_millis(200) {
                    last_report = Instant::now();
                    (control.progress)(&Progress {
                        states: self.nodes.len() as u64,
                        frontier: self.queue.len(),
                        memory_bytes: self.bytes(),
                        queries: (0, 0),
                        rounds: None,
                    });
                }
            }
            expanded += 1;
            self.nodes[number as usize].expanded = true;
            self.bases.get(node.base, &mut row);
            self.enter(node.monitor);
            if let Some(violation) = self.violation(&row) {
                return End::Violated(number, violation);
            }
            targets.clear();
            self.expand(&row, node.monitor, &mut |search, target| {
                let base = search.bases.number(target.row);
                targets.push((base, target.monitor));
            });
            self.transitions += targets.len() as u64;
            if self.too_many_slots {
                return End::TooManySlots;
            }
            for &(base, monitor) in &targets {
                self.insert_base(base, monitor, number);
            }
        }
        End::Robust
    }

    /// To be called before a state with this monitor is looked at.
    fn enter(&mut self, monitor: u32) {
        self.view.begin_state();
        self.monitors.get(monitor, &mut self.current);
    }

    fn limit(&self, start: Instant, control: &Control<'_>) -> Option<Stopped> {
        if control.cancel.load(std::sync::atomic::Ordering::Relaxed) {
            return Some(Stopped::Cancelled);
        }
        if self.options.timeout.is_some_and(|t| start.elapsed() >= t) {
            return Some(Stopped::Timeout);
        }
        // Growing a table needs the old and the new one for a moment.
        if self.options.memory.is_some_and(|m| self.bytes() * 2 > m)
            || self.nodes.len() as u32 >= NONE - 1024 * 1024
        {
            return Some(Stopped::Memory);
        }
        None
    }

    fn insert(&mut self, row: &[u32], monitor: u32, parent: u32) {
        let base = self.bases.number(row);
        self.insert_base(base, monitor, parent);
    }

    /// Enters a state unless it is known or covered.
    fn insert_base(&mut self, base: u32, monitor: u32, parent: u32) {
        // Whatever was entered or covered once stays covered: most states are met many times.
        let met = u64::from(base) << 32 | u64::from(monitor);
        let at = (met.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & (self.met.len() - 1);
        if std::mem::replace(&mut self.met[at], met) == met {
            return;
        }
        let (weight, first) = (
            self.monitors.weight(monitor),
            self.monitors.first_word(monitor),
        );
        if base as usize >= self.chains.len() {
            self.chains.resize(base as usize + 1, Vec::new());
        }
        let (monitors, nodes) = (&self.monitors, &mut self.nodes);
        let chain = &mut self.chains[base as usize];
        if self.options.reductions.subsumption {
            // A monitor can only cover lighter ones.
            let covered = chain.iter().any(|kept| {
                kept.weight >= weight
                    && first & !kept.first == 0
                    && monitors.covers(kept.monitor, monitor)
            });
            if covered {
                return;
            }
            chain.retain(|kept| {
                let covered = kept.weight < weight
                    && kept.first & !first == 0
                    && monitors.covers(monitor, kept.monitor);
                // A state that was expanded keeps its monitor: a run to others may go through it.
                let node = &mut nodes[kept.node as usize];
                if covered && !node.expanded {
                    node.monitor = COVERED;
                }
                !covered
            });
        } else if chain.iter().any(|kept| kept.monitor == monitor) {
            return;
        }
        let number = nodes.len() as u32;
        chain.push(Kept {
            first,
            weight,
            monitor,
            node: number,
        });
        nodes.push(Node {
            base,
            monitor,
            parent: if parent == NONE { number } else { parent },
            expanded: false,
        });
        self.kept_bytes += size_of::<Kept>() as u64;
        self.queue.push(number, weight);
        if self.nodes.len() > self.met.len() && self.met.len() < MOST_MET {
            let room = self.met.len() * 4;
            self.met.clear();
            self.met.resize(room, u64::MAX);
        }
    }

    /// The outlook of the threads in a row.
    fn outlook(&mut self, row: &[u32]) -> u32 {
        self.futures.clear();
        for (instance, &code) in self.frame.codes.iter().enumerate() {
            let local = LocalId(row[instance]);
            self.futures.push(
                self.facts
                    .horizon(&mut self.view, instance, code, local)
                    .future,
            );
        }
        if let Some(&known) = self.outlook_numbers.get(&self.futures[..]) {
            return known;
        }
        let facts = self.facts;
        let set = |pick: &dyn Fn(usize) -> bool| {
            let mut set = vec![0; words(facts.tracked_count)];
            for (place, tracked) in facts.tracked.iter().enumerate() {
                if let Some(x) = tracked
                    && pick(place)
                {
                    insert(&mut set, *x);
                }
            }
            set
        };
        let accepts = |numbers: &Set| {
            let numbers = numbers.members().map(|n| facts.accepts[n]);
            numbers
                .filter_map(|accept| {
                    let place = facts.tracked[accept.place]?;
                    Some(Accept { place, ..accept })
                })
                .collect()
        };
        let threads = self
            .futures
            .iter()
            .map(|&future| {
                let future: &Future = &facts.futures[future as usize];
                ThreadOutlook::new(
                    [
                        set(&|place| future.reads.has(place)),
                        set(&|place| future.stores.has(place)),
                        set(&|place| future.updates.has(place)),
                    ],
                    [
                        accepts(&future.read_accepts),
                        accepts(&future.write_accepts),
                    ],
                )
            })
            .collect();
        let number = self.outlooks.len() as u32;
        self.outlooks.push(Outlook::new(&self.layout, threads));
        self.outlook_numbers
            .insert(self.futures.clone().into(), number);
        number
    }

    /// Takes what cannot matter out of `self.monitor` and gives it its number.
    fn finish_monitor(&mut self, outlook: u32) -> u32 {
        if self.options.reductions.monitors {
            self.layout.forget(
                &mut self.monitor,
                &mut self.outlooks[outlook as usize],
                &self.slots,
                &mut self.scratch,
            );
        }
        self.monitors.number(&self.monitor)
    }

    /// The monitor after an access from the state that is being expanded, in a state with this outlook.
    fn next_monitor(&mut self, monitor: u32, access: Option<Access>, outlook: u32) -> u32 {
        if access.is_none() && !self.options.reductions.monitors {
            return monitor;
        }
        let code = match access {
            None => 0,
            Some(a) => {
                1 + (((a.thread * self.layout.locations + a.location) as u64) << 2 | a.kind as u64)
                    + ((a.slot as u64) << 40)
            }
        };
        let key = (u64::from(monitor) << 32 | u64::from(outlook))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .wrapping_add(code.wrapping_mul(0xd6e8_feb8_6659_fd93));
        let mut at = (key >> 40) as usize & (self.remembered.len() - 1);
        let known = self.remembered[at];
        if known.monitor == monitor && known.outlook == outlook && known.access == code {
            return known.result;
        }
        self.monitor.clone_from(&self.current);
        if let Some(access) = access {
            self.layout.apply(
                &mut self.monitor,
                access,
                self.slots.of(access.location),
                &mut self.words,
            );
        }
        let result = self.finish_monitor(outlook);
        self.missed += 1;
        if self.missed > 2 * self.remembered.len() && self.remembered.len() < MOST_REMEMBERED {
            let room = self.remembered.len() * 4;
            self.remembered.clear();
            self.remembered.resize(room, FORGOTTEN);
            self.missed = 0;
            at = (key >> 40) as usize & (room - 1);
        }
        self.remembered[at] = Remembered {
            monitor,
            outlook,
            access: code,
            result,
        };
        result
    }

    /// The access to monitored memory that a step is; `None` if monitors do not care.
    fn access(
        &mut self,
        thread: usize,
        place: usize,
        kind: AccessType,
        old: Value,
    ) -> Option<Access> {
        let location = self.facts.tracked[place]?;
        let mut slot = 0;
        if kind != AccessType::Read {
            match self.slots.slot(location, &self.facts.classes[place], old) {
                Some(found) => slot = found,
                None => self.too_many_slots = true,
            }
        }
        Some(Access {
            thread,
            location,
            kind,
            slot,
        })
    }

    fn memory(&mut self, row: &[u32], location: LocationId) -> Value {
        self.view.value(row[self.frame.component(location)])
    }

    /// Looks for a violation in a state: Theorem 5.3 for each access that some thread could do next, and races.
    fn violation(&mut self, row: &[u32]) -> Option<Violation> {
        let mut plain: Vec<(usize, usize, LocationId, bool)> = Vec::new();
        for (thread, &code) in self.frame.codes.iter().enumerate() {
            let local = LocalId(row[thread]);
            if self.view.is_atomic(code, local) {
                // Only a thread that got stuck in a block stands inside one, and then nothing happens any more.
                return None;
            }
            for action in 0..self.view.actions(code, local) {
                let kind = self.view.action(code, local, action).kind;
                if let Some(location) = kind.location()
                    && self.frame.program().location(location).nonatomic
                {
                    let writes = matches!(kind, ActionKind::Store { .. });
                    let other = plain.iter().find(|(other, _, place, other_writes)| {
                        *other != thread && *place == location && (writes || *other_writes)
                    });
                    if let Some(&(other, other_action, _, _)) = other {
                        return Some(Violation::Race {
                            first: (other, other_action),
                            second: (thread, action),
                        });
                    }
                    plain.push((thread, action, location, writes));
                } else if self.could_be_stale(code, local, thread, action, kind) {
                    return Some(Violation::Stale { thread, action });
                }
            }
        }
        None
    }

    /// Theorem 5.3 for one action.
    fn could_be_stale(
        &mut self,
        code: usize,
        local: LocalId,
        thread: usize,
        action: usize,
        kind: ActionKind,
    ) -> bool {
        let location = match kind {
            ActionKind::AtomicBegin => {
                let Some(location) = self.blocks.location(&mut self.view, code, local, action)
                else {
                    return false;
                };
                location
            }
            // A fence updates a place that everybody only updates: its last write is the only one that it can follow.
            other => match other.location() {
                Some(location) => location,
                None => return false,
            },
        };
        let Some(x) = self.facts.tracked[location.index()] else {
            return false;
        };
        let monitor = &self.current;
        if !self.layout.is_aware(monitor, thread, x) {
            return false;
        }
        let own = self.slots.of(x);
        let pick = |stale: &[u64]| -> Vec<usize> {
            let mut picked = own.to_vec();
            super::sets::intersect(&mut picked, stale);
            members(&picked).collect()
        };
        let reads = pick(self.layout.stale_reads(monitor, thread));
        let writes = pick(self.layout.stale_writes(monitor, thread));
        if reads.is_empty() && writes.is_empty() {
            return false;
        }
        let domain = self.frame.program().domain;
        match kind {
            ActionKind::Load { .. } => !reads.is_empty(),
            ActionKind::Store { .. } => !writes.is_empty(),
            ActionKind::Wait {
                relation, value, ..
            } => reads
                .iter()
                .any(|&slot| relation.holds(self.slots.value(slot), value)),
            ActionKind::Rmw { update, .. } => {
                let effect = |slot: usize| update.effect(domain, self.slots.value(slot));
                reads.iter().any(|&s| effect(s) == Ok(Effect::Fails))
                    || writes
                        .iter()
                        .any(|&s| matches!(effect(s), Ok(Effect::Writes(_))))
            }
            ActionKind::AtomicBegin => {
                let mut found = false;
                for (stale, writing) in [(reads, false), (writes, true)] {
                    for slot in stale {
                        let value = self.slots.value(slot);
                        let ways = self.blocks.ways(
                            &mut self.view,
                            domain,
                            Block {
                                code,
                                local,
                                action,
                            },
                            value,
                        );
                        found |= ways
                            .iter()
                            .any(|way| way.reads && way.written.is_some() == writing);
                    }
                }
                found
            }
            _ => false,
        }
    }

    /// Whether only this thread has to be explored in this state.
    ///
    /// It has to be able to move; whatever it does next must not conflict with anything that another thread may ever do, and must not go
    /// back in the code (so that every cycle has a state in which all threads are explored). Then what it does next changes no check of
    /// another thread's access, now or later: it is the last event of its thread and nothing follows it in hb_SC. And others can
    /// not change the check of its own next access: they do not write its location, and only its own steps make it aware of more.
    fn may_go_alone(&mut self, row: &[u32], thread: usize) -> bool {
        let (code, local) = (self.frame.codes[thread], LocalId(row[thread]));
        let actions = self.view.actions(code, local);
        if actions == 0 || self.view.may_close_loop(code, local) {
            return false;
        }
        let mut can_move = false;
        for action in 0..actions {
            let kind = self.view.action(code, local, action).kind;
            let (place, writes) = match kind {
                ActionKind::Local | ActionKind::Error(_) => {
                    can_move = true;
                    continue;
                }
                ActionKind::Fence(Order::SeqCst) => (self.facts.fence_place(), true),
                ActionKind::Fence(_) => {
                    can_move = true;
                    continue;
                }
                ActionKind::AtomicBegin | ActionKind::AtomicEnd => return false,
                ActionKind::Load { location, .. } | ActionKind::Wait { location, .. } => {
                    (location.index(), false)
                }
                ActionKind::Store { location, .. } | ActionKind::Rmw { location, .. } => {
                    (location.index(), true)
                }
            };
            for (other, &future) in self.futures.iter().enumerate() {
                if other == thread {
                    continue;
                }
                let future = &self.facts.futures[future as usize];
                if future.writes(place) || writes && future.touches(place) {
                    return false;
                }
            }
            can_move |= !matches!(execute(self.frame, &mut self.view, row, kind), Ok(None));
        }
        can_move
    }

    /// Calls `visit` for every step of a state.
    fn expand(&mut self, row: &[u32], monitor: u32, visit: &mut dyn FnMut(&mut Self, Target<'_>)) {
        let threads = self.frame.thread_count();
        if self.frame.atomic_thread(&mut self.view, row).is_some() {
            return;
        }
        let outlook = self.outlook(row);
        let alone = if self.options.reductions.partial_order {
            (0..threads).find(|&thread| self.may_go_alone(row, thread))
        } else {
            None
        };
        let mut new_row = row.to_vec();
        let mut from = Vec::new();
        for thread in 0..threads {
            if alone.is_some_and(|alone| alone != thread) || self.has_twin(row, thread) {
                continue;
            }
            let (code, local) = (self.frame.codes[thread], LocalId(row[thread]));
            for action in 0..self.view.actions(code, local) {
                let kind = self.view.action(code, local, action).kind;
                if kind == ActionKind::AtomicBegin {
                    self.expand_block(row, monitor, thread, action, visit);
                    continue;
                }
                let Ok(done) = execute(self.frame, &mut self.view, row, kind) else {
                    self.error_seen = true;
                    continue;
                };
                let Some(done) = done else {
                    continue;
                };
                self.error_seen |= matches!(kind, ActionKind::Error(_));
                let access = match kind {
                    ActionKind::Fence(Order::SeqCst) => {
                        self.access(thread, self.facts.fence_place(), AccessType::Update, 0)
                    }
                    _ => match (kind.location(), done.written) {
                        (Some(location), None) => {
                            self.access(thread, location.index(), AccessType::Read, 0)
                        }
                        (Some(location), Some(_)) => {
                            let old = self.memory(row, location);
                            let kind = match done.read {
                                None => AccessType::Write,
                                Some(_) => AccessType::Update,
                            };
                            self.access(thread, location.index(), kind, old)
                        }
                        (None, _) => None,
                    },
                };
                let written = done.written.map(|(location, value)| {
                    (self.frame.component(location), self.view.value_id(value))
                });
                let read = done.read.unwrap_or(0);
                let outcomes = self.view.resume(code, local, action, read).len();
                for outcome in 0..outcomes {
                    let next = self.view.resume(code, local, action, read)[outcome];
                    new_row.copy_from_slice(row);
                    new_row[thread] = next.0;
                    if let Some((component, value)) = written {
                        new_row[component] = value;
                    }
                    let taken = StepTaken {
                        thread,
                        action,
                        outcome,
                    };
                    self.arrive(
                        taken,
                        outlook,
                        monitor,
                        access,
                        &mut new_row,
                        &mut from,
                        visit,
                    );
                }
            }
        }
    }

    fn expand_block(
        &mut self,
        row: &[u32],
        monitor: u32,
        thread: usize,
        action: usize,
        visit: &mut dyn FnMut(&mut Self, Target<'_>),
    ) {
        let (code, local) = (self.frame.codes[thread], LocalId(row[thread]));
        let location = self.blocks.location(&mut self.view, code, local, action);
        let old = location.map_or(0, |location| self.memory(row, location));
        let domain = self.frame.program().domain;
        let block = Block {
            code,
            local,
            action,
        };
        let ways = self.blocks.ways(&mut self.view, domain, block, old);
        let outlook = self.outlook(row);
        let mut new_row = row.to_vec();
        let mut from = Vec::new();
        for (outcome, way) in ways.iter().enumerate() {
            self.error_seen |= way.error;
            let access = match location {
                Some(location) if way.reads => {
                    let kind = match way.written {
                        Some(_) => AccessType::Update,
                        None => AccessType::Read,
                    };
                    self.access(thread, location.index(), kind, old)
                }
                _ => None,
            };
            new_row.copy_from_slice(row);
            new_row[thread] = way.local.0;
            if let (Some(location), Some(value)) = (location, way.written) {
                new_row[self.frame.component(location)] = self.view.value_id(value);
            }
            let taken = StepTaken {
                thread,
                action,
                outcome,
            };
            self.arrive(
                taken,
                outlook,
                monitor,
                access,
                &mut new_row,
                &mut from,
                visit,
            );
        }
    }

    /// A step leads to `row`: finds the monitor there, sorts interchangeable threads, and tells the visitor.
    #[allow(clippy::too_many_arguments)]
    fn arrive(
        &mut self,
        taken: StepTaken,
        outlook_before: u32,
        monitor: u32,
        access: Option<Access>,
        row: &mut [u32],
        from: &mut Vec<usize>,
        visit: &mut dyn FnMut(&mut Self, Target<'_>),
    ) {
        let outlook = self.outlook(row);
        let mut next = if access.is_none() && outlook == outlook_before {
            monitor
        } else {
            self.next_monitor(monitor, access, outlook)
        };
        from.clear();
        from.extend(0..self.frame.thread_count());
        if !self.frame.groups.is_empty() {
            next = self.sort_threads(row, next, from);
        }
        visit(
            self,
            Target {
                taken,
                row,
                monitor: next,
                from,
            },
        );
    }

    /// Puts interchangeable threads into a canonical order, by local state and by what the monitor says of them.
    fn sort_threads(&mut self, row: &mut [u32], monitor: u32, from: &mut [usize]) -> u32 {
        self.monitors.get(monitor, &mut self.unsorted);
        let (layout, unsorted) = (&self.layout, &self.unsorted);
        for group in &self.frame.groups {
            from[group[0]..group[0] + group.len()].sort_by(|&a, &b| {
                row[a]
                    .cmp(&row[b])
                    .then_with(|| unsorted[layout.thread(a)].cmp(&unsorted[layout.thread(b)]))
            });
        }
        if from.iter().enumerate().all(|(to, &from)| to == from) {
            return monitor;
        }
        self.monitor.clone_from(unsorted);
        let mut locals = row[..from.len()].to_vec();
        for (to, &from) in from.iter().enumerate() {
            locals[to] = row[from];
            self.monitor[layout.thread(to)].copy_from_slice(&unsorted[layout.thread(from)]);
        }
        row[..locals.len()].copy_from_slice(&locals);
        self.monitors.number(&self.monitor)
    }

    /// Whether the thread before this one is interchangeable with it and in the same state: then both do the same.
    fn has_twin(&self, row: &[u32], thread: usize) -> bool {
        self.frame.group_of[thread].is_some_and(|group| {
            let monitor = &self.current;
            thread > self.frame.groups[group][0]
                && row[thread] == row[thread - 1]
                && monitor[self.layout.thread(thread)] == monitor[self.layout.thread(thread - 1)]
        })
    }

    /// The steps from an initial state to this one, with threads under their own names: `who[component]` at the end says which
    /// running thread stands in which component of the last row.
    fn path(&mut self, node: u32) -> (Vec<StepTaken>, Vec<usize>) {
        let mut chain = vec![node];
        let mut at = node;
        while self.nodes[at as usize].parent != at {
            at = self.nodes[at as usize].parent;
            chain.push(at);
        }
        chain.reverse();
        let mut who: Vec<usize> = (0..self.frame.thread_count()).collect();
        let mut steps = Vec::new();
        let mut row = vec![0; self.frame.width()];
        for pair in chain.windows(2) {
            let (before, after) = (self.nodes[pair[0] as usize], self.nodes[pair[1] as usize]);
            self.bases.get(before.base, &mut row);
            self.enter(before.monitor);
            let mut goal = vec![0; row.len()];
            self.bases.get(after.base, &mut goal);
            let mut found: Option<(StepTaken, Vec<usize>)> = None;
            self.expand(&row, before.monitor, &mut |_, target| {
                if found.is_none() && target.row == goal && target.monitor == after.monitor {
                    found = Some((target.taken, target.from.to_vec()));
                }
            });
            if let Some((mut taken, from)) = found {
                taken.thread = who[taken.thread];
                who = from.iter().map(|&f| who[f]).collect();
                steps.push(taken);
            }
        }
        (steps, who)
    }

    /// What leads to a violation: the initial row, the steps, and the violation, all with threads at their own places.
    pub fn story(
        &mut self,
        node: u32,
        violation: Violation,
    ) -> (Vec<u32>, Vec<StepTaken>, Violation) {
        let mut first = node;
        while self.nodes[first as usize].parent != first {
            first = self.nodes[first as usize].parent;
        }
        let mut row = vec![0; self.frame.width()];
        self.bases.get(self.nodes[first as usize].base, &mut row);
        let (steps, who) = self.path(node);
        let violation = match violation {
            Violation::Stale { thread, action } => Violation::Stale {
                thread: who[thread],
                action,
            },
            Violation::Race { first, second } => Violation::Race {
                first: (who[first.0], first.1),
                second: (who[second.0], second.1),
            },
        };
        (row, steps, violation)
    }

    /// The view and the blocks' ways, for whoever replays a path.
    pub fn tools(&mut self) -> (&mut View<'f>, &mut Blocks) {
        (&mut self.view, &mut self.blocks)
    }
}
