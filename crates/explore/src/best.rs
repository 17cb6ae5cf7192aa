//! Which of several findings of the same kind is shown.

use crate::any::AnySpace;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The best finding of a kind so far.
#[derive(Clone)]
pub(crate) struct Best {
    pub(crate) level: u64,
    pub(crate) row: Box<[u32]>,
    pub(crate) step: Option<u64>,
}

impl Best {
    /// The order of findings of one kind; the least is the one to show.
    fn compare(&self, other: &Best, space: AnySpace<'_>) -> Ordering {
        (self.level, self.step.is_some())
            .cmp(&(other.level, other.step.is_some()))
            .then_with(|| space.compare(&self.row, &other.row))
            .then_with(|| match (self.step, other.step) {
                (Some(step), Some(other)) => space.compare_steps(&self.row, step, other),
                (step, other) => step.cmp(&other),
            })
    }
}

/// Keeps `new` if it is better than what there is.
pub(crate) fn keep_best(best: &mut HashMap<u64, Best>, kind: u64, new: Best, space: AnySpace<'_>) {
    match best.entry(kind) {
        Entry::Vacant(entry) => {
            entry.insert(new);
        }
        Entry::Occupied(mut entry) => {
            if new.compare(entry.get(), space).is_lt() {
                entry.insert(new);
            }
        }
    }
}
