//! How states are packed while they are walked: what did not fit makes components wider, and what has been seen says how wide they have to be.

use super::{Engine, FIT, Slot};
use crate::budget::Full;
use crate::pack::{Layout, bits_of};
use crate::shard::Shard;
use crate::team::{lock, threads};
use crate::walk::Reason;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

/// From this many states on, memory is dearer than the time for another change of the packing.
const MANY: u64 = 1 << 22;
/// How many more bits than its numbers need a component gets: a change of packing costs as much as there are states, so what seems to
/// grow gets more than it needs now. A component with a handful of numbers is a flag, or a short enumeration.
fn spare_bits(bits: u32, states: u64) -> u32 {
    match bits {
        0..=3 => 0,
        _ if states >= MANY => 1,
        _ => 3,
    }
}

impl Engine<'_> {
    pub(super) fn note_too_large(&self, numbers: &[u32]) {
        let mut too_large = lock(&self.too_large);
        for (largest, &number) in too_large.iter_mut().zip(numbers) {
            *largest = number.max(*largest);
        }
        self.pause.store(true, Relaxed);
    }

    /// Changes the packing so that what was too large fits. A change costs as much as there are states, so there must be few:
    /// what is nearly full becomes wider along with it, and while there are not too many states, all that seems to grow.
    pub(super) fn widen(&self) -> Result<(), Full> {
        let mut too_large = lock(&self.too_large);
        let states = self.states.load(Relaxed);
        let mut used = vec![0; self.space.width()];
        if states >= FIT {
            self.measure(&mut used);
        }
        let layout = Arc::clone(&self.read_task().layout);
        let bits: Vec<u32> = (too_large.iter().zip(&used).zip(layout.bits()))
            .map(|((&new, &used), bits)| {
                let need = bits_of(new).max(used);
                bits.max(need + spare_bits(need, states)).min(u32::BITS)
            })
            .collect();
        too_large.fill(0);
        drop(too_large);
        let result = self.repack(self.layout_with(&bits));
        self.pause.store(self.stopped().is_some(), Relaxed);
        result
    }

    /// Changes the packing to what the states so far need.
    pub(super) fn fit(&self) {
        let mut bits = vec![0; self.space.width()];
        self.measure(&mut bits);
        for bits in &mut bits {
            *bits = (*bits + spare_bits(*bits, FIT)).min(u32::BITS);
        }
        let layout = Layout::new(&bits);
        if layout.bytes() < self.read_task().layout.bytes() {
            // Without memory for it, the walk has stopped.
            let _ = self.repack(layout);
        }
    }

    /// A packing with these bits. States that may be on disk stay in order.
    fn layout_with(&self, bits: &[u32]) -> Layout {
        match self.far.get() {
            Some(far) => Layout::ordered(far.order(), bits),
            None => Layout::new(bits),
        }
    }

    fn measure(&self, bits: &mut [u32]) {
        let most = Mutex::new(bits);
        self.for_each_shard(&self.shards, |shard| {
            let mut bits = vec![0; self.space.width()];
            shard.measure(&mut bits);
            for (most, bits) in lock(&most).iter_mut().zip(bits) {
                *most = bits.max(*most);
            }
        });
    }

    /// Does something with every shard while no thread walks, with as many threads as there may be.
    fn for_each_shard(&self, shards: &[Slot], work: impl Fn(&mut Shard) + Sync) {
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(slot) = shards.get(next.fetch_add(1, Relaxed)) {
                work(&mut lock(&slot.0));
            }
        };
        let few = self.states.load(Relaxed) < FIT;
        let others = if few { 0 } else { threads(self.jobs) - 1 };
        std::thread::scope(|scope| {
            for _ in 0..others {
                // A thread that is not there does nothing, and the others do it all.
                let _ = Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
    }

    /// Changes the packing so that components have at least so many bits.
    pub(crate) fn make_room(&self, bits: &[u32]) -> Result<(), Full> {
        let old = Arc::clone(&self.read_task().layout);
        let new: Vec<u32> = old.bits().zip(bits).map(|(a, &b)| a.max(b)).collect();
        if old.bits().eq(new.iter().copied()) {
            return Ok(());
        }
        self.repack(self.layout_with(&new))
    }

    fn repack(&self, layout: Layout) -> Result<(), Full> {
        let layout = Arc::new(layout);
        let full = AtomicBool::new(false);
        let repack = |shards, budget| {
            self.for_each_shard(shards, |shard| {
                if !full.load(Relaxed) && shard.repack(&layout, budget).is_err() {
                    full.store(true, Relaxed);
                }
            });
        };
        repack(&self.shards, &self.budget);
        if let Some(far) = self.far.get() {
            repack(far.fresh(), far.budget());
            if let Err(error) = far.repack(&layout) {
                self.fail(&error);
                return Err(Full);
            }
        }
        if full.into_inner() {
            self.stop(Reason::Memory);
            return Err(Full);
        }
        self.task
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .layout = layout;
        Ok(())
    }
}
