//! What of a monitor can still matter, and what cannot.

use super::monitor::{Layout, Slots};
use crate::ra::facts::Accept;
use crate::ra::sets::{has, insert, intersect, members, remove, subtract, unite};

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
