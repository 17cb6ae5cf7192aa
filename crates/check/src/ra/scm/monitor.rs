//! SCM, the monitor of Lahav and Margalit 2019, section 5: what must be known about the execution graph of an SC run to see where RA could leave it.
//!
//! A monitor is a row of bit sets. For every thread τ: V_SC(τ), the locations x such that τ is hb_SC-aware of the last write to x
//! (`w_max_x`); V(τ), the values of each location that τ could read from an older write; V_RMW(τ), those of them behind which a
//! write could go. For every location y: M_SC(y) and W_SC(y), the locations x such that `w_max_x` is hb_SC-before some access of y, and
//! before `w_max_y`; W(y) and W_RMW(y), what a thread that has seen `w_max_y` could still read and overwrite.
//!
//! Values are kept as *slots*: a slot is a location and a class of values that no instruction tells apart (section 5.1; the summary
//! bits CV, CW of App. C are the slots of the values that are not critical).
//!
//! `x ∈ M_SC(x)` and `x ∈ W_SC(x)` are always true and therefore not kept.

use rustc_hash::FxHashMap;

use palisade_lang::{LocationId, Order, Value};
use palisade_threads::ActionKind;

use crate::ra::blocks::Way;
use crate::ra::facts::{Classes, Facts};
use crate::ra::sets::{has, insert, intersect, remove, subtract, unite, words};
use crate::ra::step::AccessType;
use crate::{Options, sc};

/// A search holds so many monitors at least, and must not need more than [`MOST_BYTES`] for them.
const MONITORS_AT_ONCE: u64 = 16;
const MOST_BYTES: u64 = 8 << 30;

/// How a monitor is laid out.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Running threads.
    pub threads: usize,
    /// Locations that are monitored.
    pub locations: usize,
    /// Room for slots.
    slots: usize,
    /// Words of a set of locations.
    pub(super) location_words: usize,
    /// Words of a set of slots.
    pub(super) slot_words: usize,
    /// Words of a monitor.
    pub words: usize,
}

/// An access, as far as monitors care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// τ
    pub thread: usize,
    /// x, by its number among the monitored locations.
    pub location: usize,
    /// What it is.
    pub kind: AccessType,
    /// The slot of the value that a write or update replaces; 0 for a read.
    pub slot: usize,
}

impl Layout {
    /// The layout for so many threads, monitored locations and slots.
    pub fn new(threads: usize, locations: usize, slots: usize) -> Self {
        let (location_words, slot_words) = (words(locations), words(slots));
        Layout {
            threads,
            locations,
            slots,
            location_words,
            slot_words,
            words: threads * (location_words + 2 * slot_words)
                + locations * 2 * (location_words + slot_words),
        }
    }

    /// Whether memory holds at least a few monitors.
    pub fn fits(&self, options: &Options) -> bool {
        let most = options.memory.unwrap_or(u64::MAX).min(MOST_BYTES);
        self.words as u64 * 8 * MONITORS_AT_ONCE <= most
    }

    fn thread_words(&self) -> usize {
        self.location_words + 2 * self.slot_words
    }

    /// Where the thread's part is: V_SC, V and V_RMW.
    pub fn thread(&self, thread: usize) -> std::ops::Range<usize> {
        let at = thread * self.thread_words();
        at..at + self.thread_words()
    }

    pub fn v_sc(&self, thread: usize) -> std::ops::Range<usize> {
        let at = thread * self.thread_words();
        at..at + self.location_words
    }

    pub fn v(&self, thread: usize) -> std::ops::Range<usize> {
        let at = thread * self.thread_words() + self.location_words;
        at..at + self.slot_words
    }

    pub fn v_rmw(&self, thread: usize) -> std::ops::Range<usize> {
        let at = thread * self.thread_words() + self.location_words + self.slot_words;
        at..at + self.slot_words
    }

    fn location(&self, location: usize) -> usize {
        self.threads * self.thread_words() + location * 2 * (self.location_words + self.slot_words)
    }

    pub fn m_sc(&self, location: usize) -> std::ops::Range<usize> {
        let at = self.location(location);
        at..at + self.location_words
    }

    pub fn w_sc(&self, location: usize) -> std::ops::Range<usize> {
        let at = self.location(location) + self.location_words;
        at..at + self.location_words
    }

    pub fn w(&self, location: usize) -> std::ops::Range<usize> {
        let at = self.location(location) + 2 * self.location_words;
        at..at + self.slot_words
    }

    pub fn w_rmw(&self, location: usize) -> std::ops::Range<usize> {
        let at = self.location(location) + 2 * self.location_words + self.slot_words;
        at..at + self.slot_words
    }

    /// How many bits of each word of a monitor can be used.
    pub fn widths(&self) -> Vec<u32> {
        let set = |size: usize, words: usize| {
            (0..words).map(move |word| size.saturating_sub(word * 64).clamp(1, 64) as u32)
        };
        let locations = || set(self.locations, self.location_words);
        let slots = || set(self.slots, self.slot_words);
        let mut widths = Vec::with_capacity(self.words);
        for _ in 0..self.threads {
            widths.extend(locations().chain(slots()).chain(slots()));
        }
        for _ in 0..self.locations {
            widths.extend(locations().chain(locations()).chain(slots()).chain(slots()));
        }
        widths
    }

    /// The monitor at the beginning: all threads are aware of all initial writes, and nothing is stale.
    pub fn initial(&self) -> Vec<u64> {
        let mut monitor = vec![0; self.words];
        for thread in 0..self.threads {
            for location in 0..self.locations {
                insert(&mut monitor[self.v_sc(thread)], location);
            }
        }
        monitor
    }

    /// Whether the thread is hb_SC-aware of the last write to the location.
    #[inline]
    pub fn is_aware(&self, monitor: &[u64], thread: usize, location: usize) -> bool {
        has(&monitor[self.v_sc(thread)], location)
    }

    /// V(τ): what the thread could read stale.
    #[inline]
    pub fn stale_reads<'m>(&self, monitor: &'m [u64], thread: usize) -> &'m [u64] {
        &monitor[self.v(thread)]
    }

    /// V_RMW(τ): what the thread could overwrite stale.
    #[inline]
    pub fn stale_writes<'m>(&self, monitor: &'m [u64], thread: usize) -> &'m [u64] {
        &monitor[self.v_rmw(thread)]
    }

    /// Figures 5 and 6. `own_slots`: the slots of the accessed location.
    pub fn apply(
        &self,
        monitor: &mut [u64],
        access: Access,
        own_slots: &[u64],
        scratch: &mut Vec<u64>,
    ) {
        let Access {
            thread,
            location: x,
            kind,
            slot,
        } = access;
        // hb_SC (Fig. 5)
        scratch.clear();
        scratch.extend_from_slice(&monitor[self.v_sc(thread)]);
        match kind {
            AccessType::Read => {
                // M'_SC(x) = M_SC(x) ∪ V_SC(τ); V'_SC(τ) = V_SC(τ) ∪ W_SC(x)
                unite(&mut monitor[self.m_sc(x)], scratch);
                unite(scratch, &monitor[self.w_sc(x)]);
                insert(scratch, x);
                monitor[self.v_sc(thread)].copy_from_slice(scratch);
            }
            AccessType::Write | AccessType::Update => {
                // V'_SC(τ) = M'_SC(x) = W'_SC(x) = V_SC(τ) ∪ M_SC(x); no other thread is aware of the new write.
                unite(scratch, &monitor[self.m_sc(x)]);
                insert(scratch, x);
                for other in 0..self.threads {
                    remove(&mut monitor[self.v_sc(other)], x);
                }
                for y in 0..self.locations {
                    remove(&mut monitor[self.m_sc(y)], x);
                    remove(&mut monitor[self.w_sc(y)], x);
                }
                monitor[self.v_sc(thread)].copy_from_slice(scratch);
                remove(scratch, x);
                monitor[self.m_sc(x)].copy_from_slice(scratch);
                monitor[self.w_sc(x)].copy_from_slice(scratch);
            }
        }
        // What RA allows (Fig. 6). W(x)(x) and W_RMW(x)(x) are always empty.
        scratch.clear();
        scratch.extend_from_slice(&monitor[self.v(thread)]);
        match kind {
            AccessType::Read => {
                intersect(scratch, &monitor[self.w(x)]);
                monitor[self.v(thread)].copy_from_slice(scratch);
                scratch.copy_from_slice(&monitor[self.v_rmw(thread)]);
                intersect(scratch, &monitor[self.w_rmw(x)]);
                monitor[self.v_rmw(thread)].copy_from_slice(scratch);
            }
            AccessType::Write => {
                subtract(scratch, own_slots);
                self.overwritten(monitor, x, slot, true);
                monitor[self.v(thread)].copy_from_slice(scratch);
                monitor[self.w(x)].copy_from_slice(scratch);
                scratch.copy_from_slice(&monitor[self.v_rmw(thread)]);
                subtract(scratch, own_slots);
                monitor[self.v_rmw(thread)].copy_from_slice(scratch);
                monitor[self.w_rmw(x)].copy_from_slice(scratch);
            }
            AccessType::Update => {
                intersect(scratch, &monitor[self.w(x)]);
                self.overwritten(monitor, x, slot, false);
                monitor[self.v(thread)].copy_from_slice(scratch);
                monitor[self.w(x)].copy_from_slice(scratch);
                scratch.copy_from_slice(&monitor[self.v_rmw(thread)]);
                intersect(scratch, &monitor[self.w_rmw(x)]);
                monitor[self.v_rmw(thread)].copy_from_slice(scratch);
                monitor[self.w_rmw(x)].copy_from_slice(scratch);
            }
        }
    }

    /// What a write by another thread does to a thread's part (see [`Layout::thread`]): it is not aware of the new write to `x`, and
    /// could still read the value in `slot`; behind a plain store it could also still write there.
    pub fn overtake(&self, part: &mut [u64], x: usize, slot: usize, plain: bool) {
        let [aware, reads, writes] = self.pieces(part);
        remove(aware, x);
        insert(reads, slot);
        if plain {
            insert(writes, slot);
        }
    }

    /// The pieces of a thread's part: V_SC, V and V_RMW.
    pub fn pieces<'m>(&self, part: &'m mut [u64]) -> [&'m mut [u64]; 3] {
        let (aware, stale) = part.split_at_mut(self.location_words);
        let (reads, writes) = stale.split_at_mut(self.slot_words);
        [aware, reads, writes]
    }

    /// The value in `slot` becomes one that others could still read; behind a plain store they could also still write there.
    /// (What this does to the writer and to `x` itself is overwritten by the caller.)
    fn overwritten(&self, monitor: &mut [u64], x: usize, slot: usize, plain: bool) {
        for thread in 0..self.threads {
            insert(&mut monitor[self.v(thread)], slot);
            if plain {
                insert(&mut monitor[self.v_rmw(thread)], slot);
            }
        }
        for z in (0..self.locations).filter(|&z| z != x) {
            insert(&mut monitor[self.w(z)], slot);
            if plain {
                insert(&mut monitor[self.w_rmw(z)], slot);
            }
        }
    }
}

/// The slots: numbers for pairs of a monitored location and a class of its values.
#[derive(Debug)]
pub struct Slots {
    numbers: FxHashMap<(usize, i64), usize>,
    /// For each slot, its location and a value of its class.
    pub(super) members: Vec<(usize, Value)>,
    /// For each location, its slots.
    masks: Vec<Vec<u64>>,
    capacity: usize,
    /// Whether there was no room for a slot: what was found since then means nothing.
    pub overflowed: bool,
}

impl Slots {
    /// No slots yet.
    pub fn new(locations: usize, capacity: usize) -> Self {
        Slots {
            numbers: FxHashMap::default(),
            members: Vec::new(),
            masks: vec![vec![0; words(capacity)]; locations],
            capacity,
            overflowed: false,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// The slot of a value; `None` if there is no room for a new one.
    pub fn slot(&mut self, location: usize, classes: &Classes, value: Value) -> Option<usize> {
        let key = (location, classes.class(value));
        if let Some(&slot) = self.numbers.get(&key) {
            return Some(slot);
        }
        let slot = self.members.len();
        if slot >= self.capacity {
            return None;
        }
        self.numbers.insert(key, slot);
        self.members.push((location, value));
        insert(&mut self.masks[location], slot);
        Some(slot)
    }

    /// The access to monitored memory that an executed instruction is; `None` if monitors do not care. `old` says what its
    /// location held before.
    pub fn access_of(
        &mut self,
        facts: &Facts,
        thread: usize,
        kind: ActionKind,
        done: &sc::Access,
        old: impl FnOnce(LocationId) -> Value,
    ) -> Option<Access> {
        match (kind, kind.location(), done.written) {
            (ActionKind::Fence(Order::SeqCst), ..) => {
                self.access(facts, thread, facts.fence_place(), AccessType::Update, 0)
            }
            (_, None, _) => None,
            (_, Some(location), None) => {
                self.access(facts, thread, location.index(), AccessType::Read, 0)
            }
            (_, Some(location), Some(_)) => {
                let kind = match done.read {
                    None => AccessType::Write,
                    Some(_) => AccessType::Update,
                };
                self.access(facts, thread, location.index(), kind, old(location))
            }
        }
    }

    /// The access that one way through a block is: the block touches this location, which held `old` before.
    pub fn access_of_block(
        &mut self,
        facts: &Facts,
        thread: usize,
        location: Option<LocationId>,
        way: &Way,
        old: Value,
    ) -> Option<Access> {
        let location = location.filter(|_| way.reads)?;
        let kind = match way.written {
            Some(_) => AccessType::Update,
            None => AccessType::Read,
        };
        self.access(facts, thread, location.index(), kind, old)
    }

    fn access(
        &mut self,
        facts: &Facts,
        thread: usize,
        place: usize,
        kind: AccessType,
        old: Value,
    ) -> Option<Access> {
        let location = facts.tracked[place]?;
        let slot = match kind {
            AccessType::Read => 0,
            _ => self
                .slot(location, &facts.classes[place], old)
                .unwrap_or_else(|| {
                    self.overflowed = true;
                    0
                }),
        };
        Some(Access {
            thread,
            location,
            kind,
            slot,
        })
    }

    /// All slots of a location.
    pub fn of(&self, location: usize) -> &[u64] {
        &self.masks[location]
    }

    /// The location of a slot.
    pub fn location(&self, slot: usize) -> usize {
        self.members[slot].0
    }

    /// A value of the slot's class.
    pub fn value(&self, slot: usize) -> Value {
        self.members[slot].1
    }
}
