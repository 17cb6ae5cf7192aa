//! What can still become of a suspicion: who can still lead to the culprit, and whether the culprit can still get there.

use palisade_lang::Value;

use super::facts::{Facts, Horizon, Predicate};
use super::suspect::{AWARE, READ, Suspicion, UNSEEN, WRITTEN};

/// What a thread may still do, as sets of monitored locations.
#[derive(Clone, Debug, Default)]
pub struct Masks {
    /// Locations that it may read without writing.
    pub reads: u64,
    /// Locations that it may store to.
    pub stores: u64,
    /// Locations that it may update.
    pub updates: u64,
    /// Locations where what it does depends on the value that it finds.
    pub chooses: u64,
    /// By location: what its reads accept; `None` for any value.
    read_accepts: Vec<Vec<Option<Predicate>>>,
    /// By location: what its stores and updates accept to follow.
    write_accepts: Vec<Vec<Option<Predicate>>>,
}

impl Masks {
    /// Locations that it may access.
    #[inline]
    pub fn touches(&self) -> u64 {
        self.reads | self.stores | self.updates
    }

    /// Locations that it may write.
    #[inline]
    pub fn writes(&self) -> u64 {
        self.stores | self.updates
    }

    /// Whether it may access the location stale where this value is stale, and (if `plain`) a write could follow it.
    fn accepts(&self, location: usize, value: Option<Value>, plain: bool) -> bool {
        let accepted = |accepts: &[Option<Predicate>]| {
            accepts.iter().any(|predicate| match (predicate, value) {
                (Some((relation, operand)), Some(value)) => relation.holds(value, *operand),
                _ => true,
            })
        };
        accepted(&self.read_accepts[location]) || plain && accepted(&self.write_accepts[location])
    }
}

/// All different futures as masks.
#[derive(Debug)]
pub struct Futures {
    by_number: Vec<Masks>,
    /// The monitored locations' places.
    pub places: Vec<usize>,
    /// The number of the fences' place among the monitored locations.
    pub fence: Option<usize>,
}

impl Futures {
    /// From the facts about a program, with at most 64 monitored locations.
    pub fn new(facts: &Facts) -> Self {
        let places: Vec<usize> = (0..facts.places)
            .filter(|&place| facts.tracked[place].is_some())
            .collect();
        let by_number = facts
            .futures
            .iter()
            .map(|future| {
                let mask = |has: &dyn Fn(usize) -> bool| {
                    let numbered = places.iter().enumerate();
                    numbered.fold(0, |mask, (x, &place)| mask | u64::from(has(place)) << x)
                };
                let accepts = |numbers: &super::sets::Set| {
                    let mut by_location = vec![Vec::new(); places.len()];
                    for accept in numbers.members().map(|n| facts.accepts[n]) {
                        if let Some(x) = facts.tracked[accept.place] {
                            by_location[x].push(accept.predicate);
                        }
                    }
                    by_location
                };
                Masks {
                    reads: mask(&|place| future.reads.has(place)),
                    stores: mask(&|place| future.stores.has(place)),
                    updates: mask(&|place| future.updates.has(place)),
                    chooses: mask(&|place| future.chooses.has(place)),
                    read_accepts: accepts(&future.read_accepts),
                    write_accepts: accepts(&future.write_accepts),
                }
            })
            .collect();
        Futures {
            by_number,
            places,
            fence: facts.tracked[facts.fence_place()],
        }
    }

    /// A future by its number.
    #[inline]
    pub fn of(&self, number: u32) -> &Masks {
        &self.by_number[number as usize]
    }

    /// The threads whose events can still come hb_SC-before an event of the culprit, and the culprit.
    pub fn leading_to(&self, horizons: &[Horizon], culprit: usize) -> u64 {
        self.closure(horizons, culprit, |from, to| {
            from.touches() & to.writes() | from.writes() & to.reads
        })
    }

    /// The same for hb.
    fn seen_by(&self, horizons: &[Horizon], culprit: usize) -> u64 {
        self.closure(horizons, culprit, |from, to| {
            from.writes() & (to.reads | to.updates)
        })
    }

    fn closure(
        &self,
        horizons: &[Horizon],
        culprit: usize,
        flows: impl Fn(&Masks, &Masks) -> u64,
    ) -> u64 {
        let mut set = 1u64 << culprit;
        let mut work = set;
        while work != 0 {
            let to = work.trailing_zeros() as usize;
            work &= work - 1;
            for (from, horizon) in horizons.iter().enumerate() {
                let known = set >> from & 1 == 1;
                if !known && flows(self.of(horizon.future), self.of(horizons[to].future)) != 0 {
                    set |= 1 << from;
                    work |= 1 << from;
                }
            }
        }
        set
    }
}

/// What a thread that is not aware can do next.
#[derive(Clone, Copy, Debug, Default)]
pub struct Next {
    /// Locations that it can read without writing.
    pub reads: u64,
    /// Locations that it can store to.
    pub stores: u64,
    /// Locations that it can update.
    pub updates: u64,
}

/// How threads and locations stand to a suspicion; see `suspect`.
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
}

impl Standing {
    /// Brings what does not matter any more into one form; `false` if the culprit cannot get there any more.
    pub fn settle(
        &mut self,
        futures: &Futures,
        suspicion: Suspicion,
        culprit: usize,
        value: Option<Value>,
    ) -> bool {
        let x = suspicion.location;
        // A fence that somebody who has seen w′ went through is seen for ever: whoever goes through one has seen it too.
        let sealed = futures
            .fence
            .is_some_and(|f| self.locations[f] & UNSEEN == 0);
        let horizon = self.horizons[culprit];
        let reachable = if sealed {
            horizon.before_fence
        } else {
            horizon.future
        };
        if !futures.of(reachable).accepts(x, value, suspicion.plain) {
            return false;
        }
        let leading = futures.leading_to(&self.horizons, culprit);
        if suspicion.last {
            if self.threads[culprit] & AWARE == 0 && !self.can_wake(futures, leading, culprit, x) {
                return false;
            }
        } else {
            let chooses = futures.of(horizon.future).chooses >> x & 1 == 1;
            let writer = (0..self.threads.len()).any(|thread| {
                let may = futures.of(self.horizons[thread].future);
                let writes = if chooses { may.writes() } else { may.updates };
                thread != culprit && leading >> thread & 1 == 1 && writes >> x & 1 == 1
            });
            if !writer {
                return false;
            }
        }
        let seen_by = futures.seen_by(&self.horizons, culprit);
        let (mut looked_at, mut waited_for) = (0, 0);
        for (thread, status) in self.threads.iter_mut().enumerate() {
            if leading >> thread & 1 == 0 {
                // It never moves again.
                *status = UNSEEN;
                continue;
            }
            if seen_by >> thread & 1 == 0 {
                *status |= UNSEEN;
            } else {
                let may = futures.of(self.horizons[thread].future);
                looked_at |= may.reads | may.updates;
            }
            if *status & AWARE == 0 {
                let next = self.nexts[thread];
                waited_for |= next.reads | next.stores | next.updates;
            }
        }
        for (location, status) in self.locations.iter_mut().enumerate() {
            if looked_at >> location & 1 == 0 && location != x {
                *status |= UNSEEN;
            }
            if waited_for >> location & 1 == 0 {
                *status &= UNSEEN;
            }
        }
        true
    }

    /// Whether the culprit can become aware while it has not seen w′.
    fn can_wake(&self, futures: &Futures, leading: u64, culprit: usize, x: usize) -> bool {
        let count = self.threads.len();
        let (mut accessed, mut written, mut seen) = (0u64, 0u64, 0u64);
        for (location, status) in self.locations.iter().enumerate() {
            accessed |= u64::from(status & (READ | WRITTEN) != 0) << location;
            written |= u64::from(status & WRITTEN != 0) << location;
            seen |= u64::from(status & UNSEEN == 0) << location;
        }
        // What aware threads may do, and what those may do that are unseen on top of it.
        let (mut touches, mut writes, mut reads) = (0u64, 0u64, 0u64);
        let (mut unseen_writes, mut unseen_stores) = (0u64, 0u64);
        let (mut aware, mut unseen) = (0u64, 0u64);
        let mut changed = true;
        while changed {
            changed = false;
            for thread in (0..count).filter(|t| leading >> t & 1 == 1) {
                let bit = 1u64 << thread;
                let status = self.threads[thread];
                let (wakes, stays_unseen) = if status & AWARE != 0 {
                    (true, status & UNSEEN != 0)
                } else {
                    let next = self.nexts[thread];
                    let not_x = !(1u64 << x);
                    let stores = next.stores & not_x & (accessed | touches);
                    let read = next.reads & (written | writes);
                    let updated = next.updates & not_x & (accessed | touches);
                    // Where the last write is unseen when it is read.
                    let fresh_read =
                        next.reads & (written & !seen | unseen_writes & !seen | unseen_stores);
                    let fresh_update = next.updates
                        & not_x
                        & ((accessed | reads | unseen_writes) & !seen | unseen_stores);
                    (
                        stores | read | updated != 0,
                        status & UNSEEN != 0 && stores | (fresh_read & not_x) | fresh_update != 0,
                    )
                };
                let may = futures.of(self.horizons[thread].future);
                if wakes && aware & bit == 0 {
                    aware |= bit;
                    touches |= may.touches();
                    writes |= may.writes();
                    reads |= may.reads;
                    changed = true;
                }
                if wakes && stays_unseen && unseen & bit == 0 {
                    if thread == culprit {
                        return true;
                    }
                    unseen |= bit;
                    unseen_writes |= may.writes();
                    unseen_stores |= may.stores;
                    changed = true;
                }
            }
        }
        false
    }
}
