//! SCM, the monitor of paper 003, section 5: what must be known about the execution graph of an SC run to see where RA could leave it.
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

use palisade_lang::Value;

use super::facts::{Accept, Classes};
use super::sets::{has, insert, intersect, members, remove, subtract, unite, words};

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
    location_words: usize,
    /// Words of a set of slots.
    slot_words: usize,
    /// Words of a monitor.
    pub words: usize,
}

/// What an access is to the memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessType {
    /// R
    Read,
    /// W
    Write,
    /// RMW
    Update,
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

    fn thread_words(&self) -> usize {
        self.location_words + 2 * self.slot_words
    }

    /// Where the thread's part is: V_SC, V and V_RMW.
    pub fn thread(&self, thread: usize) -> std::ops::Range<usize> {
        let at = thread * self.thread_words();
        at..at + self.thread_words()
    }

    fn v_sc(&self, thread: usize) -> std::ops::Range<usize> {
        let at = thread * self.thread_words();
        at..at + self.location_words
    }

    fn v(&self, thread: usize) -> std::ops::Range<usize> {
        let at = thread * self.thread_words() + self.location_words;
        at..at + self.slot_words
    }

    fn v_rmw(&self, thread: usize) -> std::ops::Range<usize> {
        let at = thread * self.thread_words() + self.location_words + self.slot_words;
        at..at + self.slot_words
    }

    fn location(&self, location: usize) -> usize {
        self.threads * self.thread_words() + location * 2 * (self.location_words + self.slot_words)
    }

    fn m_sc(&self, location: usize) -> std::ops::Range<usize> {
        let at = self.location(location);
        at..at + self.location_words
    }

    fn w_sc(&self, location: usize) -> std::ops::Range<usize> {
        let at = self.location(location) + self.location_words;
        at..at + self.location_words
    }

    fn w(&self, location: usize) -> std::ops::Range<usize> {
        let at = self.location(location) + 2 * self.location_words;
        at..at + self.slot_words
    }

    fn w_rmw(&self, location: usize) -> std::ops::Range<usize> {
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
                // V'_SC(τ) = M'_SC(x) = W'_SC(x) = V_SC(τ) ∪ M_SC(x); nobody else is aware of the new write.
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
    members: Vec<(usize, Value)>,
    /// For each location, its slots.
    masks: Vec<Vec<u64>>,
    capacity: usize,
}

impl Slots {
    /// No slots yet.
    pub fn new(locations: usize, capacity: usize) -> Self {
        Slots {
            numbers: FxHashMap::default(),
            members: Vec::new(),
            masks: vec![vec![0; words(capacity)]; locations],
            capacity,
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

/// What the threads may still do, all together, and what follows from it for monitors: which of their bits can still matter.
#[derive(Debug)]
pub struct Outlook {
    /// For each thread, by monitored location.
    threads: Vec<ThreadOutlook>,
    /// For each location, the threads that its W can still reach: those that may read it or update it, and those behind them.
    ra_of_location: Vec<Vec<usize>>,
    /// For each location, the threads that its M_SC can still reach.
    m_of_location: Vec<Vec<usize>>,
    /// For each location, the threads that its W_SC can still reach.
    w_of_location: Vec<Vec<usize>>,
    /// For how many slots the slot sets were made.
    slots: usize,
}

/// What one thread may still do.
#[derive(Clone, Debug, Default)]
pub struct ThreadOutlook {
    /// Locations that it may read without writing.
    reads: Vec<u64>,
    /// Locations that it may store to.
    stores: Vec<u64>,
    /// Locations that it may update.
    updates: Vec<u64>,
    /// What its reads accept, with the monitored location as place.
    read_accepts: Vec<Accept>,
    /// What its stores and updates accept to follow.
    write_accepts: Vec<Accept>,
    /// Slots that it could read stale: those that some read accepts.
    read_slots: Vec<u64>,
    /// Slots that it could overwrite stale.
    write_slots: Vec<u64>,
    /// Threads that its V and V_RMW can still reach.
    ra_reach: Vec<usize>,
    /// Threads that its V_SC can still reach.
    sc_reach: Vec<usize>,
}

impl ThreadOutlook {
    /// From sets of monitored locations, and from what is accepted there.
    pub fn new(
        [reads, stores, updates]: [Vec<u64>; 3],
        [read_accepts, write_accepts]: [Vec<Accept>; 2],
    ) -> Self {
        ThreadOutlook {
            reads,
            stores,
            updates,
            read_accepts,
            write_accepts,
            ..ThreadOutlook::default()
        }
    }

    fn may_read(&self, x: usize) -> bool {
        has(&self.reads, x)
    }

    fn may_write(&self, x: usize) -> bool {
        has(&self.stores, x) || has(&self.updates, x)
    }

    fn may_access(&self, x: usize) -> bool {
        self.may_read(x) || self.may_write(x)
    }
}

impl Outlook {
    /// From what each thread may still do.
    pub fn new(layout: &Layout, mut threads: Vec<ThreadOutlook>) -> Self {
        let count = threads.len();
        let locations = 0..layout.locations;
        // V(τ) goes into W(y) when τ writes y, and from there into V(π) when π reads or updates y.
        let ra = closure(count, |from, to| {
            locations.clone().any(|y| {
                threads[from].may_write(y)
                    && (threads[to].may_read(y) || has(&threads[to].updates, y))
            })
        });
        // V_SC(τ) goes into M_SC(y) when τ accesses y, and from there into V_SC(π) when π writes it; through W_SC(y) also to readers.
        let sc = closure(count, |from, to| {
            locations.clone().any(|y| {
                threads[from].may_access(y) && threads[to].may_write(y)
                    || threads[from].may_write(y) && threads[to].may_read(y)
            })
        });
        let behind = |reach: &[Vec<bool>], first: &dyn Fn(usize) -> bool| -> Vec<usize> {
            (0..count)
                .filter(|&to| (0..count).any(|from| first(from) && (from == to || reach[from][to])))
                .collect()
        };
        let outlook = Outlook {
            ra_of_location: locations
                .clone()
                .map(|y| {
                    behind(&ra, &|t| {
                        threads[t].may_read(y) || has(&threads[t].updates, y)
                    })
                })
                .collect(),
            m_of_location: locations
                .clone()
                .map(|y| behind(&sc, &|t| threads[t].may_write(y)))
                .collect(),
            w_of_location: locations
                .clone()
                .map(|y| behind(&sc, &|t| threads[t].may_read(y)))
                .collect(),
            threads: Vec::new(),
            slots: usize::MAX,
        };
        for (index, thread) in threads.iter_mut().enumerate() {
            let reached = |reach: &[Vec<bool>]| (0..count).filter(|&t| reach[index][t]).collect();
            thread.ra_reach = reached(&ra);
            thread.sc_reach = reached(&sc);
            thread.read_slots = vec![0; layout.slot_words];
            thread.write_slots = vec![0; layout.slot_words];
        }
        Outlook { threads, ..outlook }
    }

    fn update_slots(&mut self, slots: &Slots) {
        if self.slots == slots.len() {
            return;
        }
        self.slots = slots.len();
        for thread in &mut self.threads {
            for slot in 0..slots.len() {
                let (location, value) = slots.members[slot];
                let accepted = |accepts: &[Accept]| {
                    accepts
                        .iter()
                        .any(|a| a.place == location && a.accepts(value))
                };
                if accepted(&thread.read_accepts) {
                    insert(&mut thread.read_slots, slot);
                }
                if accepted(&thread.write_accepts) {
                    insert(&mut thread.write_slots, slot);
                }
            }
        }
    }
}

/// The transitive closure of a relation on `0 .. count`.
fn closure(count: usize, related: impl Fn(usize, usize) -> bool) -> Vec<Vec<bool>> {
    let mut reach: Vec<Vec<bool>> = (0..count)
        .map(|a| (0..count).map(|b| a != b && related(a, b)).collect())
        .collect();
    for middle in 0..count {
        for from in 0..count {
            if reach[from][middle] {
                let behind = reach[middle].clone();
                for (to, further) in reach[from].iter_mut().zip(behind) {
                    *to |= further;
                }
            }
        }
    }
    reach
}

/// Room for [`Layout::forget`].
#[derive(Debug, Default)]
pub struct Scratch {
    direct: Vec<u64>,
    direct_rmw: Vec<u64>,
    threats: Vec<u64>,
    set: Vec<u64>,
}

impl Layout {
    /// Brings a monitor into a form that monitors with the same future share.
    ///
    /// Bits that can never contribute to a violation are cleared, bits that say nothing beyond others are set. Each rule keeps what can
    /// be found from the state on:
    ///
    /// 1. V(τ)(x) is looked at when τ reads x. It also flows, over W(y), into other threads' V, but only by intersection: a bit matters
    ///    only as long as some thread that it can reach has it too and may read x. (When the value is overwritten again, all of them
    ///    get the bit anew.) The same for W, and for V_RMW and W_RMW with writes of x.
    /// 2. x in V_SC(τ) is looked at when τ accesses x while it could do so stale. If no thread that the bit can reach is threatened in
    ///    this way, it does not matter: the next write to x gives all threads and locations a new bit.
    /// 3. x ∈ V_SC(τ), where τ itself is not threatened, says nothing if everything that τ may still access has x in M_SC already.
    ///    x ∈ M_SC(y) says nothing if all threads that may write y are aware of x, and x ∈ W_SC(y) if all that may read it are.
    pub fn forget(
        &self,
        monitor: &mut [u64],
        outlook: &mut Outlook,
        slots: &Slots,
        scratch: &mut Scratch,
    ) {
        outlook.update_slots(slots);
        let Scratch {
            direct,
            direct_rmw,
            threats,
            set,
        } = scratch;
        let (lw, kw) = (self.location_words, self.slot_words);
        direct.clear();
        direct.resize(self.threads * kw, 0);
        direct_rmw.clear();
        direct_rmw.resize(self.threads * kw, 0);
        threats.clear();
        threats.resize(self.threads * lw, 0);
        // Rule 1.
        for (thread, may) in outlook.threads.iter().enumerate() {
            let own = &mut direct[thread * kw..][..kw];
            own.copy_from_slice(&monitor[self.v(thread)]);
            intersect(own, &may.read_slots);
            let own_rmw = &mut direct_rmw[thread * kw..][..kw];
            own_rmw.copy_from_slice(&monitor[self.v_rmw(thread)]);
            intersect(own_rmw, &may.write_slots);
            let threatened = &mut threats[thread * lw..][..lw];
            for slot in members(own).chain(members(own_rmw)) {
                insert(threatened, slots.location(slot));
            }
        }
        let gather = |from: &[u64], width: usize, threads: &[usize], into: &mut Vec<u64>| {
            for &thread in threads {
                unite(into, &from[thread * width..][..width]);
            }
        };
        for (thread, may) in outlook.threads.iter().enumerate() {
            for (all, range) in [
                (&*direct, self.v(thread)),
                (&*direct_rmw, self.v_rmw(thread)),
            ] {
                set.clear();
                set.extend_from_slice(&all[thread * kw..][..kw]);
                gather(all, kw, &may.ra_reach, set);
                intersect(&mut monitor[range], set);
            }
        }
        for y in 0..self.locations {
            for (all, range) in [(&*direct, self.w(y)), (&*direct_rmw, self.w_rmw(y))] {
                set.clear();
                set.resize(kw, 0);
                gather(all, kw, &outlook.ra_of_location[y], set);
                intersect(&mut monitor[range], set);
            }
        }
        // Rule 2.
        for (thread, may) in outlook.threads.iter().enumerate() {
            set.clear();
            set.extend_from_slice(&threats[thread * lw..][..lw]);
            gather(threats, lw, &may.sc_reach, set);
            intersect(&mut monitor[self.v_sc(thread)], set);
        }
        for y in 0..self.locations {
            for (reached, range) in [
                (&outlook.m_of_location[y], self.m_sc(y)),
                (&outlook.w_of_location[y], self.w_sc(y)),
            ] {
                set.clear();
                set.resize(lw, 0);
                gather(threats, lw, reached, set);
                remove(set, y);
                intersect(&mut monitor[range], set);
            }
        }
        self.saturate(monitor, outlook, threats, set);
    }

    /// Rule 3.
    fn saturate(
        &self,
        monitor: &mut [u64],
        outlook: &Outlook,
        threats: &[u64],
        set: &mut Vec<u64>,
    ) {
        let lw = self.location_words;
        let mask = |reached: &[usize], into: &mut Vec<u64>| {
            into.clear();
            into.resize(lw, 0);
            for &thread in reached {
                unite(into, &threats[thread * lw..][..lw]);
            }
        };
        let mut relevant = Vec::with_capacity(lw);
        for (thread, may) in outlook.threads.iter().enumerate() {
            mask(&may.sc_reach, set);
            subtract(set, &threats[thread * lw..][..lw]);
            for y in (0..self.locations).filter(|&y| may.may_access(y)) {
                // Bits that M_SC(y) would have to have: where it matters there.
                mask(&outlook.m_of_location[y], &mut relevant);
                subtract(&mut relevant, &monitor[self.m_sc(y)]);
                remove(&mut relevant, y);
                subtract(set, &relevant);
            }
            unite(&mut monitor[self.v_sc(thread)], set);
        }
        for y in 0..self.locations {
            for readers in [false, true] {
                let (reached, range) = if readers {
                    (&outlook.w_of_location[y], self.w_sc(y))
                } else {
                    (&outlook.m_of_location[y], self.m_sc(y))
                };
                mask(reached, set);
                remove(set, y);
                for (thread, may) in outlook.threads.iter().enumerate() {
                    let concerned = if readers {
                        may.may_read(y)
                    } else {
                        may.may_write(y)
                    };
                    if concerned {
                        mask(&may.sc_reach, &mut relevant);
                        unite(&mut relevant, &threats[thread * lw..][..lw]);
                        subtract(&mut relevant, &monitor[self.v_sc(thread)]);
                        subtract(set, &relevant);
                    }
                }
                unite(&mut monitor[range], set);
            }
        }
    }
}
