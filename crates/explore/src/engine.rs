//! The walk itself: level after level, by one thread or by several.
//!
//! The states are divided into shards by their hash. A thread expands some states of the current level
//! and sorts the successors by shard; when it has enough for one shard, it locks that shard and inserts
//! them all at once. So locks are rarely contended, and the memory accesses of a batch overlap.
//!
//! What is not enough for a shard when the level has no more states is inserted when all threads have come that far, by one of them for each
//! shard, if possible the same in every level. In levels of a few hundred states that is nearly everything: were all threads to insert
//! a little into every shard, processors would spend much of their time on fetching from each other what they have just changed.
//!
//! Levels with few states are walked by one thread, without waking the others; and as long as there are few states in all, they are together in
//! the first shard: many small batches, and many small pieces of memory, would take longer.

mod divided;
mod far;
mod far_kept;
mod packing;
mod spread;
mod spread_kept;

pub(crate) use far_kept::ON_DISK;
pub(crate) use spread::Spread;

use crate::any::{AnySpace, AnyWorker};
use crate::best::{Best, keep_best};
use crate::budget::{Budget, Full};
use crate::disk::Disk;
use crate::kept::{Back, Keeper, Milestone};
use crate::levels::{Levels, SHARDS, Span, shard_of};
use crate::line::prefetch;
use crate::pack::{Layout, hash_of};
use crate::recent::Recent;
use crate::shard::Shard;
use crate::space::{Emitted, Successors};
use crate::states::States;
use crate::task::{Alone, Task};
use crate::team::{Leader, Team, lock, lock_soon, threads};
use crate::walk::{Callback, Limits, Progress, Reason, Stats};
use std::collections::HashMap;
use std::io::{ErrorKind, Read};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::thread::Builder;
use web_time::{Duration, Instant};

/// Records for one shard that are inserted at once.
const BATCH: usize = 128;
/// From this many states on, a level is walked by all threads …
const PARALLEL: u64 = 128;
/// … but not before there are this many in all: starting threads takes longer than walking them. Only then are they divided into shards.
const HIRE: u64 = 4096;
/// With this many states, the packing is fitted to what was seen.
const FIT: u64 = 1 << 16;
/// Bits of a state before that, as far as they are enough for all components.
const GENEROUS: usize = 192;
/// From this many states on, what was sent lately is remembered, to send less.
const REMEMBER: u64 = 4096;
/// Expansions between two looks at the clock.
const TICK: u64 = 256;

/// All that one walking thread needs.
struct Walker<'a> {
    /// Which one of them it is.
    number: usize,
    worker: AnyWorker<'a>,
    emitted: Emitted,
    /// Packed states that are being expanded.
    chunk: Vec<u64>,
    row: Vec<u32>,
    sender: Sender,
    best: HashMap<u64, Best>,
    /// `best` has something from this level.
    news: bool,
    transitions: u64,
    /// Expansions since the last look at the clock.
    ticks: u64,
}

impl<'a> Walker<'a> {
    fn new(worker: AnyWorker<'a>, width: usize, number: usize) -> Self {
        Walker {
            number,
            worker,
            emitted: Emitted::default(),
            chunk: Vec::new(),
            row: vec![0; width],
            sender: Sender::default(),
            best: HashMap::new(),
            news: false,
            transitions: 0,
            ticks: 0,
        }
    }

    /// Forgets what was found on a level that is walked again.
    fn forget_level(&mut self) {
        self.best.clear();
        self.news = false;
        self.transitions = 0;
        self.sender = Sender::default();
    }
}

/// Successors on their way to the shards.
#[derive(Default)]
struct Sender {
    outgoing: Box<Outgoing>,
    /// What all threads have left for one shard: empty, but kept for its memory.
    gathered: Vec<u64>,
    /// Shards that have got new states, a bit for each.
    grown: u64,
    /// New states that are not yet counted for all.
    new: u64,
    recent: Recent,
    /// Whether to use `recent`: not while there are few states, which are in some cache anyway.
    remember: bool,
    away: spread::Away,
    /// A record that is being made: kept for its memory.
    record: Vec<u64>,
}

/// For every shard, what will go there.
struct Outgoing {
    /// Records of hash and words.
    records: [Vec<u64>; SHARDS],
    /// Shards for which there is something, a bit for each.
    waiting: u64,
}

impl Default for Outgoing {
    fn default() -> Self {
        Outgoing {
            records: [const { Vec::new() }; SHARDS],
            waiting: 0,
        }
    }
}

impl Outgoing {
    #[inline(always)]
    fn push(&mut self, shard: usize, record: &[u64]) {
        self.waiting |= 1 << shard;
        self.records[shard].extend_from_slice(record);
    }

    fn clear(&mut self) {
        bits(std::mem::take(&mut self.waiting)).for_each(|shard| self.records[shard].clear());
    }
}

/// The numbers of the bits that are set.
fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (bit < u64::BITS).then_some(bit as usize)
    })
}

/// A shard that threads take turns with.
pub(crate) type Slot = Alone<Mutex<Shard>>;

/// What a thread has left for the thread that will insert it.
type Left = Alone<RwLock<Box<Outgoing>>>;

/// Tells the caller how far the walk is. Only the thread that called has one.
pub(crate) struct Reporter<'a> {
    pub(crate) callback: Option<Callback<'a>>,
    /// Keeps the walk, to go on later.
    pub(crate) keeper: Option<&'a mut dyn Keeper>,
    /// A walk to go on with.
    pub(crate) kept: Option<&'a mut dyn Read>,
    /// The same, where several processes have each written a part.
    pub(crate) parts: Vec<Box<dyn Read + Send>>,
    last: Instant,
    last_states: u64,
    memory_looked_at: Instant,
}

impl<'a> Reporter<'a> {
    pub(crate) fn new(callback: Option<Callback<'a>>) -> Self {
        let now = Instant::now();
        Reporter {
            callback,
            keeper: None,
            kept: None,
            parts: Vec::new(),
            last: now,
            last_states: 0,
            memory_looked_at: now,
        }
    }
}

/// What the walking threads share.
pub(crate) struct Engine<'a> {
    pub(crate) space: AnySpace<'a>,
    jobs: usize,
    stop_at_first: bool,
    cancel: Option<&'a AtomicBool>,
    most_states: Option<u64>,
    deadline: Option<Instant>,
    pub(crate) budget: Budget,
    /// The reason to stop, plus one; 0 is to go on.
    stop: AtomicU8,
    pub(crate) shards: Box<[Slot]>,
    /// Every state is in its shard. Before that, all of them are in the first one.
    divided: AtomicBool,
    task: RwLock<Task>,
    /// What each of several threads has left when a level has no more states; nothing before there are several.
    left: OnceLock<Box<[Left]>>,
    disk: Option<&'a Disk>,
    /// The states on disk, once memory has no room for all.
    far: OnceLock<far::Far>,
    /// Where other processes have a part of the states.
    pub(crate) spread: Option<Spread<'a>>,
    /// What the team does in this round: insert what was left, or expand.
    inserting: AtomicBool,
    /// What was begun but has to be done after the packing has changed.
    leftovers: Mutex<Vec<Span>>,
    /// For every component the largest number that did not fit.
    too_large: Mutex<Vec<u32>>,
    /// All threads are to finish what they are doing, because of `stop` or `too_large`.
    pause: AtomicBool,
    grown: AtomicU64,
    pub(crate) best: Mutex<HashMap<u64, Best>>,
    pub(crate) states: AtomicU64,
    pub(crate) expanded: AtomicU64,
    pub(crate) transitions: AtomicU64,
}

/// What is left when the walk is over.
pub(crate) struct Walked<'a> {
    pub(crate) complete: bool,
    pub(crate) stopped: Option<Reason>,
    pub(crate) stats: Stats,
    pub(crate) best: HashMap<u64, Best>,
    pub(crate) states: States,
    pub(crate) workers: Vec<AnyWorker<'a>>,
    pub(crate) spread: Option<Spread<'a>>,
}

impl<'a> Engine<'a> {
    pub(crate) fn new(
        space: AnySpace<'a>,
        jobs: usize,
        limits: &Limits<'a>,
        stop_at_first: bool,
    ) -> Self {
        let width = space.width();
        // Begin generously: a change of packing is cheap only in bulk. It is fitted later.
        let generous = (GENEROUS / width.max(1)).clamp(1, 8) as u32;
        let layout = Arc::new(Layout::new(&vec![generous; width]));
        let slot = |number| Alone(Mutex::new(Shard::new(Arc::clone(&layout), number)));
        Engine {
            space,
            jobs,
            stop_at_first,
            cancel: limits.cancel,
            most_states: limits.states,
            deadline: limits
                .timeout
                .and_then(|timeout| Instant::now().checked_add(timeout)),
            budget: match limits.disk {
                None => Budget::new(limits.memory, limits.machine),
                Some(disk) => Budget::that_spares(limits.memory, limits.machine, disk.room()),
            },
            disk: limits.disk,
            far: OnceLock::new(),
            spread: Spread::new(space, limits),
            stop: AtomicU8::new(0),
            shards: (0..SHARDS as u32).map(slot).collect(),
            divided: AtomicBool::new(false),
            task: RwLock::new(Task::new(layout)),
            left: OnceLock::new(),
            inserting: AtomicBool::new(false),
            leftovers: Mutex::new(Vec::new()),
            too_large: Mutex::new(vec![0; width]),
            pause: AtomicBool::new(false),
            grown: AtomicU64::new(0),
            best: Mutex::new(HashMap::new()),
            states: AtomicU64::new(0),
            expanded: AtomicU64::new(0),
            transitions: AtomicU64::new(0),
        }
    }

    fn stopped(&self) -> Option<Reason> {
        Reason::of_code(self.stop.load(Relaxed))
    }

    fn stop(&self, reason: Reason) {
        // The first reason counts.
        let _ = self
            .stop
            .compare_exchange(0, reason.code(), Relaxed, Relaxed);
        self.pause.store(true, Relaxed);
    }

    /// Walks with as many threads as the caller wants, if there are levels that are worth it.
    pub(crate) fn run(self, reporter: &mut Reporter<'_>) -> Walked<'a> {
        let width = self.space.width();
        let mut leader = Walker::new(self.space.worker(), width, 0);
        let team = Team::default();
        let engine = &self;
        let (complete, levels, ends, mut workers) = std::thread::scope(|scope| {
            let mut members = Vec::new();
            let leaving = Leader(&team);
            let mut hire = || {
                let jobs = threads(engine.jobs);
                for number in 1..jobs {
                    let round = team.join();
                    let team = &team;
                    let member = Builder::new().spawn_scoped(scope, move || {
                        let mut walker = Walker::new(engine.space.worker(), width, number);
                        team.serve(round, || match engine.inserting.load(Relaxed) {
                            false => engine.expand(&mut walker, None),
                            true => engine.insert_left(&mut walker),
                        });
                        walker.worker
                    });
                    // The machine may have no thread for us.
                    match member {
                        Ok(member) => members.push(member),
                        Err(_) => team.resign(),
                    }
                }
            };
            let (complete, levels, ends) = engine.walk(&mut leader, reporter, &team, &mut hire);
            drop(leaving);
            let workers: Vec<AnyWorker<'a>> = members
                .into_iter()
                .filter_map(|member| member.join().ok())
                .collect();
            (complete, levels, ends, workers)
        });
        workers.push(leader.worker);
        let base = self.far.get().map_or(0, far::Far::base);
        let stats = Stats {
            states: self.states.load(Relaxed),
            transitions: self.transitions.load(Relaxed),
            levels: base + levels.len(),
            peak_memory_bytes: self.budget.peak(),
        };
        let stopped = self.stopped();
        let best = self
            .best
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let shards = self.shards.into_vec().into_iter();
        let shards = shards.map(|slot| slot.0.into_inner().unwrap_or_else(PoisonError::into_inner));
        let shelf = self.far.into_inner().map(far::Far::into_shelf);
        let states = States::new(width, shards.collect(), levels, ends).with_shelf(shelf, base);
        Walked {
            complete,
            stopped,
            stats,
            best,
            states,
            workers,
            spread: self.spread,
        }
    }

    /// Level after level.
    fn walk(
        &self,
        leader: &mut Walker<'_>,
        reporter: &mut Reporter<'_>,
        team: &Team,
        hire: &mut dyn FnMut(),
    ) -> (bool, Levels, [u32; SHARDS]) {
        let mut levels = Levels::default();
        let mut ends = [0; SHARDS];
        let mut spans = Vec::new();
        let mut fitted = false;
        let mut resumed = false;
        let mut milestone = None;
        // What is kept is divided, and so is what is on disk.
        let divided = reporter.kept.is_some()
            || !reporter.parts.is_empty()
            || reporter.keeper.is_some()
            || self.disk.is_some()
            || self.spread.is_some();
        self.divided.store(divided, Relaxed);
        if let Some(kept) = reporter.kept.take() {
            match self.read_back(kept) {
                Ok(Back::Here(read, read_ends)) => {
                    (levels, ends) = (read, read_ends);
                    levels.backward(ends).next(&mut spans);
                    resumed = true;
                }
                Ok(Back::There(level)) => {
                    if let Some(far) = self.far.get() {
                        return self.walk_on(far, level, leader, reporter, team, hire);
                    }
                }
                Ok(Back::Gone) => {}
                Err(error) if error.kind() == ErrorKind::OutOfMemory => self.stop(Reason::Memory),
                Err(_) => self.stop(Reason::Damaged),
            }
        }
        let mut parts = std::mem::take(&mut reporter.parts);
        if !parts.is_empty() {
            match self.read_parts(&mut parts, leader) {
                Ok((read, read_ends)) => {
                    (levels, ends) = (read, read_ends);
                    levels.backward(ends).next(&mut spans);
                    resumed = true;
                }
                Err(error) if error.kind() == ErrorKind::OutOfMemory => self.stop(Reason::Memory),
                Err(_) => self.stop(Reason::Damaged),
            }
        }
        if !resumed {
            self.begin(leader);
        }
        let mut complete = false;
        loop {
            let known = std::mem::take(&mut resumed);
            if !known {
                self.collect(leader, &mut ends, &mut spans);
            }
            let due = (reporter.keeper.as_mut()).is_some_and(|keeper| keeper.is_due());
            let all = self.all_together(&spans, due);
            if !known && all.new > 0 {
                self.add_level(&mut levels, &mut ends, &spans);
            }
            if all.new == 0 {
                complete = self.stopped().is_none();
                break;
            }
            if self.ends(&all) || self.stop_at_first && all.found {
                break;
            }
            if self.most_states.is_some_and(|most| all.states >= most) {
                self.stop(Reason::States);
                break;
            }
            if !self.divided.load(Relaxed) && self.states.load(Relaxed) >= HIRE {
                self.divide(&mut levels, &mut ends, &mut spans);
            }
            if !fitted && self.states.load(Relaxed) >= FIT {
                fitted = true;
                self.fit();
            }
            if reporter.keeper.is_some() || self.disk.is_some() {
                milestone = Some(self.milestone(&levels, &ends));
            }
            if let (Some(keeper), Some(now), true) = (&mut reporter.keeper, &milestone, all.due) {
                self.keep(now, &levels, *keeper);
            }
            self.expand_level(levels.len() - 1, &mut spans, leader, reporter, team, hire);
        }
        if self.stopped() == Some(Reason::Memory)
            && let room = self.disk.and_then(|disk| self.room(disk))
            && self.all_agree(room.is_some() && milestone.is_some())
            && let (Some(disk), Some(room)) = (self.disk, room)
            && let Some(milestone) = milestone.take()
        {
            return self.walk_far(disk, room, milestone, levels, leader, reporter, team, hire);
        }
        // A walk that a limit has stopped may be given more another time.
        if let (Some(keeper), Some(milestone), Some(reason)) =
            (&mut reporter.keeper, milestone, self.stopped())
            && !matches!(reason, Reason::States | Reason::Hosts)
        {
            self.keep(&milestone, &levels, *keeper);
        }
        (complete, levels, ends)
    }

    /// Has the walk written down as it stood at `milestone`. Of several processes, each writes its part; these count when all of them are written.
    fn keep(&self, milestone: &Milestone, levels: &Levels, keeper: &mut dyn Keeper) {
        let Some(spread) = &self.spread else {
            return keeper.keep(&mut |out| self.write_down(milestone, levels, out));
        };
        let mut written = false;
        keeper.keep(&mut |out| {
            self.write_part(spread, milestone, levels, out)?;
            written = true;
            Ok(())
        });
        if self.all_agree(written) {
            keeper.agreed();
        }
    }

    fn add_level(&self, levels: &mut Levels, ends: &mut [u32; SHARDS], spans: &[Span]) {
        let held = levels.bytes();
        let pushed = match spans {
            [] => levels.push_empty(),
            _ => levels.push(spans),
        };
        if pushed.is_err() {
            self.stop(Reason::Memory);
            for span in spans {
                ends[span.shard] = span.range.start;
            }
        } else if self.budget.take(levels.bytes() - held).is_err() {
            // They are held all the same, and given back one day.
            self.budget.count(levels.bytes() - held);
            self.stop(Reason::Memory);
        }
    }

    /// Inserts the initial states.
    fn begin(&self, leader: &mut Walker<'_>) {
        loop {
            let layout = Arc::clone(&self.read_task().layout);
            leader.emitted.clear();
            let mut out = Successors::new(&[], &[], 0, &layout, &mut leader.emitted);
            leader.worker.initial(&mut out);
            if leader.emitted.too_large.is_empty() {
                let inserted = self
                    .send(&mut leader.emitted, &mut leader.sender, &layout)
                    .and_then(|()| self.flush(&mut leader.sender));
                // Every process knows the initial states by itself.
                leader.sender.away = spread::Away::default();
                self.count_new(&mut leader.sender);
                if inserted.is_err() {
                    self.stop(Reason::Memory);
                }
                return;
            }
            self.note_too_large(&leader.emitted.too_large);
            if self.widen().is_err() {
                return;
            }
        }
    }

    /// The states that are new since the last call.
    fn collect(&self, leader: &mut Walker<'_>, ends: &mut [u32; SHARDS], spans: &mut Vec<Span>) {
        spans.clear();
        let grown = std::mem::take(&mut leader.sender.grown) | self.grown.swap(0, Relaxed);
        for shard in bits(grown) {
            let len = lock(&self.shards[shard].0).len();
            spans.push(Span {
                shard,
                range: ends[shard]..len,
            });
            ends[shard] = len;
        }
    }

    fn expand_level(
        &self,
        level: u64,
        spans: &mut Vec<Span>,
        leader: &mut Walker<'_>,
        reporter: &mut Reporter<'_>,
        team: &Team,
        hire: &mut dyn FnMut(),
    ) {
        loop {
            let states: u64 = spans.iter().map(|span| span.range.len() as u64).sum();
            self.expand_all(level, spans, states, leader, reporter, team, hire);
            spans.extend(self.read_task().rest());
            spans.append(&mut lock(&self.leftovers));
            // A number did not fit: change the packing and do the rest.
            let narrow = self.pause.load(Relaxed) && self.stopped().is_none();
            if narrow && self.widen().is_ok() {
                continue;
            }
            match &self.spread {
                Some(spread) if self.exchange(spread, leader, !spans.is_empty()) => {}
                _ => return,
            }
        }
    }

    /// Expands states of a level, by as many threads as so many of them are worth, until there are no more or there is a pause.
    #[allow(clippy::too_many_arguments)]
    fn expand_all(
        &self,
        level: u64,
        spans: &mut Vec<Span>,
        states: u64,
        leader: &mut Walker<'_>,
        reporter: &mut Reporter<'_>,
        team: &Team,
        hire: &mut dyn FnMut(),
    ) {
        let large = states >= PARALLEL && self.states.load(Relaxed) >= HIRE;
        let threads = if large { threads(self.jobs) } else { 1 };
        self.task
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .assign(level, spans, threads);
        if threads == 1 {
            return self.expand(leader, Some(reporter));
        }
        if team.is_empty() {
            hire();
        }
        self.inserting.store(false, Relaxed);
        team.start();
        self.expand(leader, Some(reporter));
        team.finish();
        self.inserting.store(true, Relaxed);
        team.start();
        self.insert_left(leader);
        team.finish();
    }

    fn read_task(&self) -> std::sync::RwLockReadGuard<'_, Task> {
        self.task.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does a part of the task: chunk after chunk, until there are no more or there is a pause. If there are several threads, each then calls
    /// [`Engine::insert_left`] when all of them are done with this.
    fn expand(&self, walker: &mut Walker<'_>, mut reporter: Option<&mut Reporter<'_>>) {
        let task = self.read_task();
        walker.sender.remember = self.states.load(Relaxed) >= REMEMBER;
        if walker.sender.remember {
            walker.sender.recent.fit(&task.layout);
        }
        while !self.pause.load(Relaxed) && self.has_turn() {
            let count = match task.take(walker.number) {
                Some(span) => self.expand_span(walker, &task, &span),
                None => match self.far.get() {
                    Some(far) => self.expand_from(far, walker, &task),
                    None => break,
                },
            };
            match count {
                Ok(0) => break,
                Ok(count) => {
                    walker.ticks += count;
                    self.count_turn(count);
                }
                Err(Full) => {
                    self.stop(Reason::Memory);
                    break;
                }
            }
            if walker.ticks >= TICK {
                self.tick(walker, &task, reporter.as_deref_mut());
            }
        }
        if let Some(spread) = &self.spread {
            walker.sender.away.flush(spread);
        }
        match task.threads() {
            1 => self.insert_rest(&mut walker.sender),
            _ => self.leave(walker),
        }
        self.transitions
            .fetch_add(std::mem::take(&mut walker.transitions), Relaxed);
        if std::mem::take(&mut walker.news) {
            let mut best = lock(&self.best);
            for (&kind, new) in &walker.best {
                // What was reported on this level is on it, or on the next one.
                if new.level >= task.level {
                    let new = Best {
                        level: new.level,
                        row: new.row.clone(),
                        step: new.step,
                    };
                    keep_best(&mut best, kind, new, self.space);
                }
            }
        }
    }

    fn left(&self) -> &[Left] {
        let left = || (0..threads(self.jobs)).map(|_| Left::default());
        self.left.get_or_init(|| left().collect())
    }

    /// Leaves what is to be inserted to the thread that will do it.
    fn leave(&self, walker: &mut Walker<'_>) {
        let mut left = self.left()[walker.number]
            .0
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        // It was inserted after the last level.
        left.clear();
        std::mem::swap(&mut *left, &mut walker.sender.outgoing);
    }

    /// Inserts what all threads have left into some of the shards.
    fn insert_left(&self, walker: &mut Walker<'_>) {
        let task = self.read_task();
        let all = self.left().iter();
        let all: Vec<_> = all
            .map(|left| left.0.read().unwrap_or_else(PoisonError::into_inner))
            .collect();
        let sender = &mut walker.sender;
        let mut gathered = std::mem::take(&mut sender.gathered);
        while let Some(shard) = task.take_shard(walker.number) {
            gathered.clear();
            all.iter()
                .for_each(|left| gathered.extend_from_slice(&left.records[shard]));
            if !gathered.is_empty() && self.insert(sender, shard, &gathered).is_err() {
                self.stop(Reason::Memory);
                break;
            }
        }
        sender.gathered = gathered;
        self.count(sender);
    }

    /// Inserts what is left when there is nothing more to expand.
    fn insert_rest(&self, sender: &mut Sender) {
        if self.flush(sender).is_err() {
            self.stop(Reason::Memory);
        }
        self.count(sender);
    }

    /// Lets all threads know what one has inserted.
    fn count(&self, sender: &mut Sender) {
        self.count_new(sender);
        self.grown
            .fetch_or(std::mem::take(&mut sender.grown), Relaxed);
    }

    /// Expands states of a shard: how many there are.
    fn expand_span(&self, walker: &mut Walker<'_>, task: &Task, span: &Span) -> Result<u64, Full> {
        let Span { shard, range } = span;
        lock_soon(&self.shards[*shard].0).read(range.clone(), &mut walker.chunk);
        let done = self.expand_chunk(walker, task, range.len())?;
        if done < range.len() {
            let rest = Span {
                shard: *shard,
                range: range.start + done as u32..range.end,
            };
            lock(&self.leftovers).push(rest);
        }
        Ok(range.len() as u64)
    }

    /// Expands some states that are on disk: how many there are.
    fn expand_from(
        &self,
        far: &far::Far,
        walker: &mut Walker<'_>,
        task: &Task,
    ) -> Result<u64, Full> {
        let count = self.take_far(far, walker, &task.layout);
        let done = self.expand_chunk(walker, task, count)?;
        if done < count {
            self.put_back(far, walker, &task.layout, done);
        }
        Ok(count as u64)
    }

    /// Expands the states in a walker's chunk, as long as numbers fit: how many.
    fn expand_chunk(
        &self,
        walker: &mut Walker<'_>,
        task: &Task,
        count: usize,
    ) -> Result<usize, Full> {
        let layout = &*task.layout;
        let words = layout.words();
        let mut done = count;
        walker.emitted.clear();
        for i in 0..count {
            let before = walker.emitted.used();
            let base = &walker.chunk[i * words..(i + 1) * words];
            let key = layout.unpack(base, &mut walker.row);
            let row = &walker.row[..];
            let mut out = Successors::new(row, base, key, layout, &mut walker.emitted);
            walker.worker.expand(row, &mut out);
            if !walker.emitted.too_large.is_empty() {
                // Nothing of this expansion counts; it will be repeated.
                self.note_too_large(&walker.emitted.too_large);
                walker.emitted.truncate(before);
                done = i;
                break;
            }
            if !walker.emitted.reports.is_empty() {
                self.note_reports(walker, task.level);
            }
        }
        walker.transitions += (walker.emitted.records().len() / (words + 1)) as u64;
        // All at once: while one record is looked at, others are on their way from memory.
        self.send(&mut walker.emitted, &mut walker.sender, layout)?;
        Ok(done)
    }

    #[cold]
    fn note_reports(&self, walker: &mut Walker<'_>, level: u64) {
        for report in &walker.emitted.reports {
            let (level, row) = match &report.successor {
                None => (level, &walker.row[..]),
                Some(row) => (level + 1, &row[..]),
            };
            let kind = report.kind;
            if walker
                .best
                .get(&kind)
                .is_none_or(|best| best.level >= level)
            {
                let new = Best {
                    level,
                    row: row.into(),
                    step: report.step,
                };
                keep_best(&mut walker.best, kind, new, self.space);
                walker.news = true;
            }
        }
    }

    /// Sorts what was emitted by shard.
    #[inline]
    fn send(
        &self,
        emitted: &mut Emitted,
        sender: &mut Sender,
        layout: &Layout,
    ) -> Result<(), Full> {
        // Loops over words are unrolled for the common sizes.
        match layout.words() {
            1 => self.send_words::<1>(emitted, sender, layout, 1),
            2 => self.send_words::<2>(emitted, sender, layout, 2),
            3 => self.send_words::<3>(emitted, sender, layout, 3),
            words => self.send_words::<0>(emitted, sender, layout, words),
        }
    }

    /// `W` is the number of words of a state, or 0 if it is not known when this is compiled.
    #[inline]
    fn send_words<const W: usize>(
        &self,
        emitted: &mut Emitted,
        sender: &mut Sender,
        layout: &Layout,
        words: usize,
    ) -> Result<(), Full> {
        let words = if W == 0 { words } else { W };
        let stride = words + 1;
        let spread = self.spread.as_ref();
        let divided = self.divided.load(Relaxed);
        // From here on, the records have hashes in place of the keys.
        for record in emitted.records_mut().chunks_exact_mut(stride) {
            record[0] = hash_of(record[0]);
            if sender.remember {
                prefetch(sender.recent.place(record[0], stride));
            }
        }
        for record in emitted.records().chunks_exact(stride) {
            if sender.remember && sender.recent.replace(record) {
                continue;
            }
            if let Some(spread) = spread
                && !sender.away.keeps(spread, layout, &record[1..])
            {
                continue;
            }
            let shard = if divided { shard_of(record[0]) } else { 0 };
            sender.outgoing.push(shard, record);
            if sender.outgoing.records[shard].len() >= BATCH * stride {
                self.flush_shard(sender, shard)?;
            }
        }
        Ok(())
    }

    /// Inserts everything that is still waiting.
    fn flush(&self, sender: &mut Sender) -> Result<(), Full> {
        let waiting = std::mem::take(&mut sender.outgoing.waiting);
        for shard in bits(waiting) {
            self.flush_shard(sender, shard)?;
        }
        Ok(())
    }

    /// Lets all threads know how many new states one has found.
    fn count_new(&self, sender: &mut Sender) {
        self.states
            .fetch_add(std::mem::take(&mut sender.new), Relaxed);
    }

    fn flush_shard(&self, sender: &mut Sender, shard: usize) -> Result<(), Full> {
        let mut records = std::mem::take(&mut sender.outgoing.records[shard]);
        let result = self.insert(sender, shard, &records);
        records.clear();
        sender.outgoing.records[shard] = records;
        result
    }

    fn insert(&self, sender: &mut Sender, shard: usize, records: &[u64]) -> Result<(), Full> {
        if let Some(far) = self.far.get() {
            return match self.gather(far, shard, records) {
                true => Ok(()),
                false => Err(Full),
            };
        }
        let mut part = lock_soon(&self.shards[shard].0);
        let before = part.len();
        let result = part.insert(records, &self.budget);
        // Also without memory for all of them, some may have been inserted.
        let new = part.len() - before;
        drop(part);
        if new > 0 {
            sender.grown |= 1 << shard;
            sender.new += u64::from(new);
        }
        result
    }

    /// Whether the time is over, or the caller does not want more.
    fn is_over(&self) -> bool {
        if self.cancel.is_some_and(|cancel| cancel.load(Relaxed)) {
            self.stop(Reason::Cancelled);
        }
        if self
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
        {
            self.stop(Reason::Timeout);
        }
        self.stopped().is_some()
    }

    /// Looks at the clock, at the memory and at the requests of the caller.
    #[cold]
    fn tick(&self, walker: &mut Walker<'_>, task: &Task, reporter: Option<&mut Reporter<'_>>) {
        self.count_new(&mut walker.sender);
        self.expanded
            .fetch_add(std::mem::take(&mut walker.ticks), Relaxed);
        let Some(reporter) = reporter else {
            self.is_over();
            return;
        };
        let now = Instant::now();
        self.is_over();
        if now - reporter.memory_looked_at >= Duration::from_millis(20) {
            reporter.memory_looked_at = now;
            if self.budget.check().is_err() {
                self.stop(Reason::Memory);
            }
        }
        let since = now - reporter.last;
        if since >= Duration::from_millis(200) {
            if let Some(callback) = &mut reporter.callback {
                let states = self.states.load(Relaxed);
                // There are fewer where a level is begun anew, because memory has ended in it.
                let new = states.saturating_sub(reporter.last_states);
                callback(&Progress {
                    states,
                    states_per_second: new as f64 / since.as_secs_f64(),
                    frontier: states.saturating_sub(self.expanded.load(Relaxed)),
                    level: task.level,
                    memory_bytes: self.budget.look(),
                });
                reporter.last_states = states;
            }
            reporter.last = now;
        }
    }

    /// Forgets all states.
    pub(crate) fn forget(&self) {
        let layout = Arc::clone(&self.read_task().layout);
        for (number, slot) in self.shards.iter().enumerate() {
            *lock(&slot.0) = Shard::new(Arc::clone(&layout), number as u32);
        }
        lock(&self.best).clear();
        for count in [&self.states, &self.expanded, &self.transitions] {
            count.store(0, Relaxed);
        }
    }
}
