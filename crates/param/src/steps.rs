//! The steps of a system, remembered over several searches.

use std::rc::Rc;

use palisade_check::counted::{CopyStep, System};
use rustc_hash::FxHashMap;

/// A system whose steps are computed once.
pub(crate) struct Steps<'s> {
    pub system: &'s mut dyn System,
    steps: FxHashMap<(u32, Option<u32>), Rc<[CopyStep]>>,
    transfers: FxHashMap<(u32, u32), u32>,
}

impl<'s> Steps<'s> {
    pub fn new(system: &'s mut dyn System) -> Self {
        Steps {
            system,
            steps: FxHashMap::default(),
            transfers: FxHashMap::default(),
        }
    }

    /// The steps of a copy that stands there, or (`None`) of the fixed threads.
    pub fn of(&mut self, shared: u32, mover: Option<u32>) -> Rc<[CopyStep]> {
        if let Some(known) = self.steps.get(&(shared, mover)) {
            return known.clone();
        }
        let mut steps = self.system.steps(shared, mover);
        steps.dedup();
        let steps: Rc<[CopyStep]> = steps.into();
        self.steps.insert((shared, mover), steps.clone());
        steps
    }

    /// Where a broadcast brings a copy that did not make the step.
    pub fn transfer(&mut self, broadcast: u32, local: u32) -> u32 {
        let system = &mut self.system;
        *self
            .transfers
            .entry((broadcast, local))
            .or_insert_with(|| system.transfer(broadcast, local))
    }

    /// The shared parts at the beginning, and the locals of which there is any number then, both in ascending order.
    pub fn initial(&mut self) -> (Vec<u32>, Vec<u32>) {
        let (mut shared, mut locals) = self.system.initial();
        for numbers in [&mut shared, &mut locals] {
            numbers.sort_unstable();
            numbers.dedup();
        }
        (shared, locals)
    }

    /// Bytes held, roughly.
    pub fn bytes(&self) -> u64 {
        self.system.bytes() + (self.steps.len() * 160 + self.transfers.len() * 24) as u64
    }
}
