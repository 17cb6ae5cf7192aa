//! The SC walk with monitors.
//!
//! A state is the program's state under SC (a *base*: locals and memory) and a monitor. Monitors are interned, and what an access does
//! to a monitor is remembered, so that a step is mostly two look-ups.
//!
//! Monitors are ordered: one that has all the bits of another finds every violation that the other finds, because Figures 5 and 6
//! and the conditions of Theorem 5.3 are monotone in every bit. So for each base only the greatest monitors are kept.

use std::cell::OnceCell;
use web_time::{Duration, Instant};

use rustc_hash::FxHashMap;

use palisade_lang::{LocationId, Value};
use palisade_threads::{LocalId, View};

use super::bases::Bases;
use super::monitor::{Access, Layout, Slots};
use super::outlook::{Outlook, Scratch, ThreadOutlook};
use super::queue::Queue;
use super::table::MonitorTable;
use crate::ra::blocks::Blocks;
use crate::ra::facts::{Accept, Facts, Future};
use crate::ra::sets::{Set, insert, words};
use crate::ra::step::{StepTaken, Violation};
use crate::state::Frame;
use crate::{Control, Options, Progress};

/// Why a search ended before everything was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The time is up.
    Timeout,
    /// The memory is full.
    Memory,
    /// It was interrupted.
    Cancelled,
    /// As many states as were wanted are seen.
    States,
}

impl Stopped {
    /// In words.
    pub fn why(self) -> &'static str {
        match self {
            Stopped::Timeout => "the time limit is reached",
            Stopped::Memory => "the memory limit is reached",
            Stopped::Cancelled => "it was interrupted",
            Stopped::States => "as many states as were wanted are seen",
        }
    }
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
    pub(super) frame: &'f Frame<'p>,
    pub(super) facts: &'f Facts,
    pub(super) options: &'f Options,
    /// How many bytes there may be; looked up once.
    memory: OnceCell<Option<u64>>,
    pub(super) view: View<'f>,
    pub(super) layout: Layout,
    pub(super) slots: Slots,
    pub(super) monitors: MonitorTable,
    queue: Queue,
    /// The monitor of the state that is being expanded.
    pub(super) current: Vec<u64>,
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
    pub(super) blocks: Blocks,
    scratch: Scratch,
    pub(super) monitor: Vec<u64>,
    pub(super) unsorted: Vec<u64>,
    words: Vec<u64>,
    pub(super) futures: Vec<u32>,
    /// Steps taken between states.
    pub transitions: u64,
    /// An assertion failed or another error of the program was reached.
    pub error_seen: bool,
}

/// A step of the search: what happened, and where it leads.
pub(super) struct Target<'a> {
    pub(super) taken: StepTaken,
    pub(super) row: &'a [u32],
    pub(super) monitor: u32,
    /// For each component of the new row, the component of the old one that it was.
    pub(super) from: &'a [usize],
}

impl<'f, 'p> Search<'f, 'p> {
    /// A search with room for so many slots; `None` if memory does not hold even a few states.
    pub fn new(
        frame: &'f Frame<'p>,
        facts: &'f Facts,
        options: &'f Options,
        capacity: usize,
        shortest: bool,
    ) -> Option<Self> {
        let layout = Layout::new(frame.thread_count(), facts.tracked_count, capacity);
        if !layout.fits(options) {
            return None;
        }
        Some(Search {
            frame,
            facts,
            options,
            memory: OnceCell::new(),
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
            transitions: 0,
            error_seen: false,
        })
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
        // Large monitors take their time.
        let look_every = ((1 << 20) / self.layout.words).clamp(1, 1024) as u64;
        let mut expanded = 0u64;
        let mut row = vec![0; self.frame.width()];
        let mut targets: Vec<(u32, u32)> = Vec::new();
        while let Some(number) = self.queue.pop() {
            let node = self.nodes[number as usize];
            if node.monitor == COVERED {
                continue;
            }
            if expanded.is_multiple_of(look_every) {
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
            if self.slots.overflowed {
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
        if self.options.most_states.is_some_and(|m| self.states() >= m) {
            return Some(Stopped::States);
        }
        // Growing a table needs the old and the new one for a moment.
        let held = palisade_explore::resident_bytes().unwrap_or(0);
        let needed = (self.bytes() * 2).max(held);
        let most = self.memory.get_or_init(|| self.options.memory_limit());
        if most.is_some_and(|most| needed > most) || self.nodes.len() as u32 >= NONE - 1024 * 1024 {
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
    pub(super) fn outlook(&mut self, row: &[u32]) -> u32 {
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
    pub(super) fn next_monitor(
        &mut self,
        monitor: u32,
        access: Option<Access>,
        outlook: u32,
    ) -> u32 {
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

    pub(super) fn memory(&mut self, row: &[u32], location: LocationId) -> Value {
        self.view.value(row[self.frame.component(location)])
    }

    /// The steps from an initial state to this one, with threads under their own names: `instance_at[component]` at the end says which
    /// running thread stands in which component of the last row.
    fn path(&mut self, node: u32) -> (Vec<StepTaken>, Vec<usize>) {
        let mut chain = vec![node];
        let mut at = node;
        while self.nodes[at as usize].parent != at {
            at = self.nodes[at as usize].parent;
            chain.push(at);
        }
        chain.reverse();
        let mut instance_at: Vec<usize> = (0..self.frame.thread_count()).collect();
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
                taken.thread = instance_at[taken.thread];
                instance_at = from.iter().map(|&f| instance_at[f]).collect();
                steps.push(taken);
            }
        }
        (steps, instance_at)
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
        let (steps, instance_at) = self.path(node);
        let violation = violation.with_threads(&instance_at);
        (row, steps, violation)
    }

    /// Calls `visit` with every state that no other one covers: the view, the row and the monitor.
    pub fn for_each_state<E>(
        &mut self,
        mut visit: impl FnMut(&mut View<'f>, &[u32], &Layout, &Slots, &[u64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut row = vec![0; self.frame.width()];
        for base in 0..self.chains.len() {
            self.bases.get(base as u32, &mut row);
            for kept in 0..self.chains[base].len() {
                self.enter(self.chains[base][kept].monitor);
                visit(
                    &mut self.view,
                    &row,
                    &self.layout,
                    &self.slots,
                    &self.current,
                )?;
            }
        }
        Ok(())
    }

    /// The view and the blocks' ways, for code that replays a path.
    pub fn tools(&mut self) -> (&mut View<'f>, &mut Blocks) {
        (&mut self.view, &mut self.blocks)
    }
}
