//! What can still become of a suspicion: which threads can still lead to the culprit, and whether the culprit can still get there.
//!
//! Everything here is a question about sets of monitored locations, one bit each, and errs on one side only: what is called impossible is
//! impossible.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use palisade_lang::Value;

use super::views::{
    LOCATION_VIEWS, PENDING_VIEWS, RELEASED_VIEWS, SEEN, SEEN_IN_MESSAGE, THREAD_VIEWS,
};
use super::{AWARE, Aim, OUT, READ, Suspicion, WRITTEN};
use crate::ra::facts::{Accept, Edge, Facts, Future, Horizon};
use crate::ra::sets::Set;

/// A set of threads or of monitored locations, a bit for each.
pub type Mask = u128;

/// How many of them there can be.
pub const MASK_BITS: usize = Mask::BITS as usize;

/// What a thread may do, as sets of monitored locations.
#[derive(Clone, Debug, Default)]
pub struct Masks {
    /// Locations that it may read without writing.
    pub reads: Mask,
    /// Locations that it may store to.
    pub stores: Mask,
    /// Locations that it may update.
    pub updates: Mask,
    /// Locations where what it does depends on the value that it finds.
    pub chooses: Mask,
    /// Locations that it may read without acquiring.
    pub loose_reads: Mask,
    /// Locations that it may write without releasing.
    pub loose_writes: Mask,
    /// Whether it may execute a fence that acquires.
    pub acquire_fence: bool,
    /// All locations of the program that it may access, if there are few: for these a bit each by place.
    pub places: Mask,
    /// What its reads accept; the place is the number of the monitored location.
    read_accepts: Vec<Accept>,
    /// What its stores and updates accept to follow.
    write_accepts: Vec<Accept>,
    /// Locations where some read, and some update, accepts every value.
    free: [Mask; 2],
}

impl Masks {
    fn new(facts: &Facts, future: &Future) -> Self {
        let mask = |has: &dyn Fn(usize) -> bool| {
            let tracked = facts.tracked.iter().enumerate();
            tracked.fold(0 as Mask, |mask, (place, x)| match x {
                Some(x) => mask | Mask::from(has(place)) << x,
                None => mask,
            })
        };
        let accepts = |numbers: &Set| {
            let numbers = numbers.members().map(|n| facts.accepts[n]);
            let tracked = |accept: Accept| {
                let place = facts.tracked[accept.place]?;
                Some(Accept { place, ..accept })
            };
            numbers.filter_map(tracked).collect()
        };
        let read_accepts: Vec<Accept> = accepts(&future.read_accepts);
        let write_accepts: Vec<Accept> = accepts(&future.write_accepts);
        // A fence goes through whatever it finds.
        let fence = facts.tracked[facts.fence_place()].map_or(0, |f| 1 << f);
        let places = (0..facts.places.min(MASK_BITS)).filter(|&place| future.touches(place));
        Masks {
            reads: mask(&|place| future.reads.has(place)),
            stores: mask(&|place| future.stores.has(place)),
            updates: mask(&|place| future.updates.has(place)),
            chooses: mask(&|place| future.chooses.has(place)),
            loose_reads: mask(&|place| future.loose_reads.has(place)),
            loose_writes: mask(&|place| future.loose_writes.has(place)),
            acquire_fence: future.acquire_fence,
            places: places.fold(0, |mask, place| mask | 1 << place),
            free: [free(&read_accepts), free(&write_accepts) | fence],
            read_accepts,
            write_accepts,
        }
    }

    fn join(&mut self, other: &Masks) {
        self.reads |= other.reads;
        self.stores |= other.stores;
        self.updates |= other.updates;
        self.chooses |= other.chooses;
        self.loose_reads |= other.loose_reads;
        self.loose_writes |= other.loose_writes;
        self.acquire_fence |= other.acquire_fence;
        self.places |= other.places;
        self.free[0] |= other.free[0];
        self.free[1] |= other.free[1];
        for (mine, theirs) in [
            (&mut self.read_accepts, &other.read_accepts),
            (&mut self.write_accepts, &other.write_accepts),
        ] {
            for accept in theirs {
                if !mine.contains(accept) {
                    mine.push(*accept);
                }
            }
        }
    }

    /// Locations that it may access.
    #[inline]
    pub fn touches(&self) -> Mask {
        self.reads | self.stores | self.updates
    }

    /// Locations that it may write.
    #[inline]
    pub fn writes(&self) -> Mask {
        self.stores | self.updates
    }

    /// Whether some access may be the one that is suspected.
    fn accepts(&self, suspicion: Suspicion, value: Option<Value>) -> bool {
        let accepted = |accepts: &[Accept]| {
            accepts.iter().any(|accept| {
                accept.place == suspicion.location
                    && match suspicion.aim {
                        Aim::Any | Aim::Racing | Aim::Using => true,
                        Aim::Choosing => accept.chooses,
                        Aim::Writing => !accept.chooses,
                    }
                    && value.is_none_or(|value| accept.accepts(value))
            })
        };
        suspicion.aim != Aim::Writing && accepted(&self.read_accepts)
            || suspicion.plain && accepted(&self.write_accepts)
    }

    /// What it may read and update in this memory.
    #[inline]
    fn enabled(&self, memory: &[Value]) -> (Mask, Mask) {
        let enabled = |accepts: &[Accept], free: Mask, all: Mask| {
            let mut mask = free;
            if all & !free != 0 {
                for accept in accepts.iter().filter(|a| a.accepts(memory[a.place])) {
                    mask |= 1 << accept.place;
                }
            }
            mask & all
        };
        (
            enabled(&self.read_accepts, self.free[0], self.reads),
            enabled(&self.write_accepts, self.free[1], self.updates),
        )
    }
}

/// The locations where everything is accepted.
fn free(accepts: &[Accept]) -> Mask {
    let all = accepts.iter().filter(|a| a.predicate.is_none());
    all.fold(0, |mask, accept| mask | 1 << accept.place)
}

/// What an instruction does, as masks.
#[derive(Debug)]
struct Doing {
    masks: Masks,
    /// The location that it accesses, if there is only one and it is monitored: as a set.
    only: Mask,
}

/// The instructions of a thread, by where they begin.
#[derive(Debug)]
struct Ways {
    edges: Vec<Edge>,
    /// For each point the place of its first edge; behind them the number of edges.
    first: Vec<usize>,
}

impl Ways {
    fn new(edges: &[Edge]) -> Self {
        let points = edges.iter().map(|e| e.from.max(e.to) as usize + 1).max();
        let mut edges = edges.to_vec();
        edges.sort_by_key(|edge| edge.from);
        let mut first = vec![0; points.unwrap_or(0) + 1];
        for edge in &edges {
            first[edge.from as usize + 1] += 1;
        }
        let mut sum = 0;
        for count in &mut first {
            sum += *count;
            *count = sum;
        }
        Ways { edges, first }
    }

    fn points(&self) -> usize {
        self.first.len() - 1
    }

    fn from(&self, point: u32) -> &[Edge] {
        let point = point as usize;
        &self.edges[self.first[point]..self.first[point + 1]]
    }
}

/// All different futures as masks.
#[derive(Debug)]
pub struct Futures {
    by_number: Vec<Doing>,
    /// For each running thread; copies of one thread share it.
    ways: Vec<Arc<Ways>>,
    /// What synchronises is more than a write and the read of it.
    seqcst: bool,
}

impl Futures {
    /// From the facts about a program with so many running threads and at most 64 monitored locations.
    pub fn new(facts: &Facts, threads: usize) -> Self {
        let doing = |future: &Future| {
            let masks = Masks::new(facts, future);
            let mut accessed = (0..facts.places).filter(|&place| future.touches(place));
            let only = match (accessed.next(), accessed.next()) {
                (Some(_), None) => masks.touches(),
                _ => 0,
            };
            Doing { masks, only }
        };
        let mut ways: Vec<Arc<Ways>> = Vec::new();
        for thread in 0..threads {
            let edges = facts.edges(thread);
            let same = (0..thread).find(|&other| Arc::ptr_eq(facts.edges(other), edges));
            ways.push(match same {
                Some(other) => ways[other].clone(),
                None => Arc::new(Ways::new(edges)),
            });
        }
        Futures {
            by_number: facts.futures.iter().map(doing).collect(),
            ways,
            seqcst: facts.seqcst,
        }
    }

    /// A future by its number.
    #[inline]
    pub fn of(&self, number: u32) -> &Masks {
        &self.by_number[number as usize].masks
    }

    /// What a thread may do from a point on until it reads one of the sealed locations or accesses x; the access of x is included.
    fn until(&self, thread: usize, point: u32, sealed: Mask, x: Mask) -> Masks {
        let ways = &self.ways[thread];
        let mut found = Masks::default();
        let mut joined = vec![false; self.by_number.len()];
        let mut seen = vec![false; ways.points()];
        let mut queue = VecDeque::new();
        // A point without instructions, at the end of a thread, may be none of these.
        if let Some(seen) = seen.get_mut(point as usize) {
            *seen = true;
            queue.push_back(point);
        }
        while let Some(point) = queue.pop_front() {
            for edge in ways.from(point) {
                let does = &self.by_number[edge.does as usize];
                let reads = does.masks.reads | does.masks.updates;
                let acquires = reads & !does.masks.loose_reads;
                if does.only & acquires & sealed & !x != 0 {
                    continue;
                }
                if !std::mem::replace(&mut joined[edge.does as usize], true) {
                    found.join(&does.masks);
                }
                if does.only & x == 0 && !std::mem::replace(&mut seen[edge.to as usize], true) {
                    queue.push_back(edge.to);
                }
            }
        }
        found
    }

    /// The threads whose events can still come hb_SC-before an event of the culprit, and the culprit.
    fn leading_to(&self, among: Mask, horizons: &[Horizon], culprit: usize) -> Mask {
        self.closure(among, horizons, culprit, |from, to| {
            from.touches() & to.writes() | from.writes() & to.reads
        })
    }

    /// The same for what is known of w's successor: by hb, and with sc events by every order between accesses.
    fn seen_by(&self, among: Mask, horizons: &[Horizon], culprit: usize) -> Mask {
        if self.seqcst {
            return self.leading_to(among, horizons, culprit);
        }
        self.closure(among, horizons, culprit, |from, to| {
            from.writes() & (to.reads | to.updates)
        })
    }

    fn closure(
        &self,
        among: Mask,
        horizons: &[Horizon],
        culprit: usize,
        flows: impl Fn(&Masks, &Masks) -> Mask,
    ) -> Mask {
        let mut set: Mask = 1 << culprit;
        let mut work = set;
        while work != 0 {
            let to = work.trailing_zeros() as usize;
            work &= work - 1;
            for (from, horizon) in horizons.iter().enumerate() {
                let eligible = among & !set;
                if eligible >> from & 1 == 1
                    && flows(self.of(horizon.future), self.of(horizons[to].future)) != 0
                {
                    set |= 1 << from;
                    work |= 1 << from;
                }
            }
        }
        set
    }
}

/// Sets of locations that are accessed in the three ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    /// Read without writing.
    pub reads: Mask,
    /// Stored to.
    pub stores: Mask,
    /// Updated.
    pub updates: Mask,
}

impl Accesses {
    /// Adds what a thread may do: in this memory, where `written` may have been written and `closed` must not; whether that is more.
    fn add(&mut self, may: &Masks, memory: &[Value], written: Mask, closed: Mask) -> bool {
        let (reads, updates) = may.enabled(memory);
        let before = *self;
        self.reads |= reads | may.reads & written;
        self.stores |= may.stores & !closed;
        self.updates |= (updates | may.updates & written) & !closed;
        before != *self
    }
}

/// What a thread that is not aware can do next.
#[derive(Clone, Copy, Debug, Default)]
pub struct Next {
    /// In this memory.
    pub now: Accesses,
    /// In some memory.
    pub ever: Accesses,
}

/// How threads and locations stand to a suspicion; see [`super::Suspects`].
#[derive(Debug, Default)]
pub struct Standing {
    /// By thread.
    pub threads: Vec<u32>,
    /// By monitored location.
    pub locations: Vec<u32>,
    /// By thread.
    pub horizons: Vec<Horizon>,
    /// By thread; empty for those that are aware.
    pub nexts: Vec<Next>,
    /// The culprit is about to do what is suspected, whether it is aware or not (only for a race).
    pub culprit_is_there: bool,
    /// What is in the monitored locations.
    pub memory: Vec<Value>,
    /// Remembered: what a thread may do until it reads something sealed.
    until: FxHashMap<(usize, u32, Mask, Mask), Arc<Masks>>,
}

/// So many masks are remembered.
const MOST_REMEMBERED: usize = 1 << 16;

/// The threads that can still be of importance.
struct Reach {
    /// Threads that are or can become aware.
    aware: Mask,
    /// Those that can do so unseen.
    unseen: Mask,
}

impl Standing {
    /// Whether the culprit can come to the access that is suspected, just behind w′.
    pub fn can_get_there(
        &mut self,
        futures: &Futures,
        suspicion: Suspicion,
        culprit: usize,
        horizon: Horizon,
        value: Option<Value>,
    ) -> bool {
        let sealed = suspicion.mask();
        let way = self.until(futures, culprit, horizon, sealed, suspicion);
        way.accepts(suspicion, value)
    }

    fn until(
        &mut self,
        futures: &Futures,
        thread: usize,
        horizon: Horizon,
        sealed: Mask,
        suspicion: Suspicion,
    ) -> Arc<Masks> {
        if horizon.future == 0 {
            return Arc::default();
        }
        let x = suspicion.mask();
        let key = (thread, horizon.point, sealed, x);
        if self.until.len() > MOST_REMEMBERED {
            self.until.clear();
        }
        let until = self.until.entry(key);
        let masks =
            until.or_insert_with(|| Arc::new(futures.until(thread, horizon.point, sealed, x)));
        masks.clone()
    }

    /// Brings what does not matter any more into one form; `None` if the culprit cannot get there any more. Otherwise what the threads
    /// that still matter may access, as a set of places.
    pub fn settle(
        &mut self,
        futures: &Futures,
        suspicion: Suspicion,
        culprit: usize,
        value: Option<Value>,
    ) -> Option<Mask> {
        let count = self.threads.len();
        let x = suspicion.mask();
        // Where the last write brings w's successor along, and no store will come that does not: whatever acquires there has seen it.
        let mut stored = 0;
        for (thread, horizon) in self.horizons.iter().enumerate() {
            let may = futures.of(horizon.future);
            stored |= match self.threads[thread] & SEEN {
                0 => may.stores,
                _ => may.stores & may.loose_writes,
            };
        }
        let locations = self.locations.iter().enumerate();
        let seen = locations.fold(0 as Mask, |set, (location, status)| {
            set | Mask::from(status & SEEN_IN_MESSAGE != 0) << location
        });
        let sealed = seen & !stored | x;
        let horizon = self.horizons[culprit];
        let way = self.until(futures, culprit, horizon, sealed, suspicion);
        if suspicion.aim != Aim::Racing && !way.accepts(suspicion, value) {
            return None;
        }
        let mut reach = self.reach(futures, suspicion, culprit, seen, sealed);
        if self.culprit_is_there {
            reach.aware |= 1 << culprit;
        } else if reach.unseen >> culprit & 1 == 0 {
            return None;
        }
        if !suspicion.last {
            let writer = (0..count).any(|thread| {
                let may = futures.of(self.horizons[thread].future);
                let writes = match suspicion.aim {
                    Aim::Writing => may.updates,
                    _ => may.writes(),
                };
                thread != culprit && reach.aware >> thread & 1 == 1 && writes & x != 0
            });
            if !writer {
                return None;
            }
        }
        let leading = futures.leading_to(reach.aware, &self.horizons, culprit);
        let seen_by = futures.seen_by(leading, &self.horizons, culprit);
        let (mut looked_at, mut waited_for, mut places) = (0, 0, 0);
        for (thread, status) in self.threads.iter_mut().enumerate() {
            let may = futures.of(self.horizons[thread].future);
            if leading >> thread & 1 == 0 {
                *status = OUT;
                continue;
            }
            places |= may.places;
            if seen_by >> thread & 1 == 0 {
                *status &= !THREAD_VIEWS;
            } else if futures.seqcst {
                looked_at |= may.touches();
            } else {
                looked_at |= may.reads | may.updates;
            }
            if !may.acquire_fence {
                *status &= !PENDING_VIEWS;
            }
            if may.loose_writes == 0 {
                *status &= !RELEASED_VIEWS;
            }
            if *status & AWARE == 0 {
                let next = self.nexts[thread].ever;
                waited_for |= next.reads | next.stores | next.updates;
            }
        }
        for (location, status) in self.locations.iter_mut().enumerate() {
            if looked_at >> location & 1 == 0 {
                *status &= !LOCATION_VIEWS;
            }
            if waited_for >> location & 1 == 0 {
                *status &= LOCATION_VIEWS;
            }
        }
        Some(places)
    }

    /// The threads that are or can become aware, and those of them that can unseen.
    fn reach(
        &mut self,
        futures: &Futures,
        suspicion: Suspicion,
        culprit: usize,
        seen: Mask,
        sealed: Mask,
    ) -> Reach {
        let x = suspicion.mask();
        // x is not written any more when its last write is there.
        let closed = if suspicion.last { x } else { 0 };
        let (mut accessed, mut written) = (0 as Mask, 0 as Mask);
        for (location, status) in self.locations.iter().enumerate() {
            accessed |= Mask::from(status & (READ | WRITTEN) != 0) << location;
            written |= Mask::from(status & WRITTEN != 0) << location;
        }
        let mut reach = Reach {
            aware: 0,
            unseen: 0,
        };
        // What threads that are aware may do, and those of them that are unseen. What is in a location that none of them writes stays.
        let mut all = Accesses::default();
        let mut unseen = Accesses::default();
        // Where threads that are aware may write without releasing what they have seen.
        let mut loose = 0;
        // At first without what the culprit does when it is awake; if it can wake, then with it.
        let mut awake = self.threads[culprit] & AWARE != 0;
        loop {
            let mut changed = false;
            let written_ever = all.stores | all.updates;
            for thread in 0..self.threads.len() {
                let (bit, status): (Mask, u32) = (1 << thread, self.threads[thread]);
                if status & OUT != 0 {
                    continue;
                }
                if reach.aware & bit == 0 || reach.unseen & bit == 0 {
                    let (wakes, stays_unseen) = if status & AWARE != 0 {
                        (true, true)
                    } else {
                        let Next { now, ever } = self.nexts[thread];
                        let next = Accesses {
                            reads: now.reads | ever.reads & written_ever,
                            stores: ever.stores & !closed,
                            updates: (now.updates | ever.updates & written_ever) & !closed,
                        };
                        let touched = accessed | all.reads | written_ever;
                        let stores = next.stores & touched;
                        let reads = next.reads & (written | written_ever);
                        let updates = next.updates & touched;
                        // Where the last write is unseen when it is read.
                        let unseen_written = unseen.stores | unseen.updates & !seen | loose;
                        let fresh_read = next.reads & (written & !seen | unseen_written);
                        let fresh_update =
                            next.updates & ((accessed | all.reads) & !seen | unseen_written);
                        let does_not_acquire = futures.of(self.horizons[thread].future).loose_reads;
                        let fresh_loosely = (reads | updates) & does_not_acquire;
                        (
                            stores | reads | updates != 0,
                            (stores | fresh_read | fresh_update | fresh_loosely) & !x != 0,
                        )
                    };
                    if wakes && reach.aware & bit == 0 {
                        reach.aware |= bit;
                        changed = true;
                    }
                    if wakes && stays_unseen && status & SEEN == 0 && reach.unseen & bit == 0 {
                        reach.unseen |= bit;
                        changed = true;
                    }
                }
                if thread == culprit && !awake {
                    continue;
                }
                if reach.aware & bit != 0 {
                    let may = futures.of(self.horizons[thread].future);
                    changed |= all.add(may, &self.memory, written_ever, closed);
                    changed |= may.loose_writes & !loose != 0;
                    loose |= may.loose_writes;
                }
                if reach.unseen & bit != 0 {
                    let horizon = self.horizons[thread];
                    let until = self.until(futures, thread, horizon, sealed, suspicion);
                    changed |= unseen.add(&until, &self.memory, written_ever, closed);
                }
            }
            if changed {
                continue;
            }
            if awake || reach.unseen >> culprit & 1 == 0 {
                return reach;
            }
            awake = true;
        }
    }
}
