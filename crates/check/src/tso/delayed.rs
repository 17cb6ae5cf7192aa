//! What can be known about fragility and triangular races without running a program: which stores may be the first of a pattern, and which locations matter.
//!
//! Both patterns need a store and, with nothing but loads and local steps between, a load of another location that some other thread may write. For
//! fragility it must be with another value than it holds: a location in which there is never anything but its first value does not count.

use palisade_lang::{LocationId, Op, Program, Thread};

use super::overtake::overtaken_stores;
use crate::state::Frame;
use crate::values::Possible;
use palisade_memory::tso::drains;
use palisade_threads::Footprint;

/// What is left to be looked for.
#[derive(Debug)]
pub(crate) struct Candidates {
    /// How many pairs of a store and a load that follows it directly there are, over all running threads.
    pub all: u64,
    /// How many are left.
    pub left: u64,
    /// For each running thread and instruction: whether it may be the store that is delayed.
    pub stores: Vec<Vec<bool>>,
    /// The locations of such stores and of the loads that may overtake them, folded to 64 bits.
    pub watched: u64,
}

impl Candidates {
    /// Whether a store of a running thread may be the one that is delayed. Interchangeable threads have the same code, so the first of them speaks for all.
    pub fn may_be_delayed(&self, frame: &Frame<'_>, pivot: usize, store: u32) -> bool {
        self.stores[speaker(frame, pivot)][store as usize]
    }

    /// Whether a running thread may delay any store.
    pub fn may_be_pivot(&self, frame: &Frame<'_>, pivot: usize) -> bool {
        self.stores[speaker(frame, pivot)].contains(&true)
    }
}

fn speaker(frame: &Frame<'_>, instance: usize) -> usize {
    frame.group_of[instance].map_or(instance, |group| frame.groups[group][0])
}

/// What another thread has to do with the location that is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Other {
    /// Store to it.
    Stores,
    /// Change its value.
    Changes,
}

/// The pairs of a store and a load that a program may have; with `filter` off, all that no fence separates. Only threads that `pivots` allows are
/// looked at.
pub(crate) fn candidates(
    program: &Program,
    possible: &Possible,
    filter: bool,
    other: Other,
    pivots: &dyn Fn(usize) -> bool,
) -> Candidates {
    let instances = program.instances();
    let touched = possible.touched(program);
    let exact = program.locations.len() <= 64;
    // Locations that never change, where each has a bit of its own.
    let constant = possible
        .memory
        .iter()
        .enumerate()
        .filter(|_| exact && other == Other::Changes)
        .filter(|(_, values)| values.as_ref().is_some_and(|v| v.len() == 1))
        .fold(0, |set, (index, _)| {
            set | Footprint::bit(LocationId(index as u32))
        });
    // A block may have to miss several stores at once, so then stores do not end the search for a load.
    let blocks = program
        .threads
        .iter()
        .any(|t| t.transitions.iter().any(|t| t.op == Op::AtomicBegin));
    let mut candidates = Candidates {
        all: 0,
        left: 0,
        stores: Vec::new(),
        watched: 0,
    };
    for (pivot, instance) in instances.iter().enumerate() {
        let thread = program.thread(instance.thread);
        let written_by_others = instances
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != pivot)
            .flat_map(|(other, instance)| {
                let ops = program.thread(instance.thread).transitions.iter();
                ops.zip(&touched[other])
            })
            .filter(|(t, _)| matches!(t.op, Op::Store { .. } | Op::Rmw { .. }))
            .fold(0, |set, (_, locations)| set | locations);
        let mut may_be_delayed = vec![false; thread.transitions.len()];
        if !pivots(pivot) {
            candidates.stores.push(may_be_delayed);
            continue;
        }
        for (store, transition) in thread.transitions.iter().enumerate() {
            let inside = thread.points[transition.from.index()].atomic;
            if !matches!(transition.op, Op::Store { .. }) || drains(&transition.op) || inside {
                continue;
            }
            let loads = loads_behind(thread, store, blocks).len() as u64;
            candidates.all += loads;
            if !filter {
                candidates.left += loads;
                may_be_delayed[store] = loads > 0;
            }
        }
        let pairs = match filter {
            true => overtaken_stores(thread, &touched[pivot], exact, blocks),
            false => Vec::new(),
        };
        for (load, stores) in pairs {
            let loaded = touched[pivot][load];
            if loaded & written_by_others & !constant == 0 {
                continue;
            }
            for store in stores {
                candidates.left += 1;
                may_be_delayed[store] = true;
                candidates.watched |= touched[pivot][store] | loaded;
            }
        }
        candidates.stores.push(may_be_delayed);
    }
    if !filter {
        candidates.watched = u64::MAX;
    }
    candidates
}

/// The loads that can follow a store with only loads and local steps between; with `past_stores`, also plain stores.
fn loads_behind(thread: &Thread, store: usize, past_stores: bool) -> Vec<usize> {
    let mut loads = Vec::new();
    let mut seen = vec![false; thread.points.len()];
    let mut work = vec![thread.transitions[store].to];
    seen[work[0].index()] = true;
    while let Some(point) = work.pop() {
        let begin = thread.transitions.partition_point(|t| t.from < point);
        for (index, transition) in thread.transitions.iter().enumerate().skip(begin) {
            if transition.from != point {
                break;
            }
            if drains(&transition.op) || (!past_stores && matches!(transition.op, Op::Store { .. }))
            {
                continue;
            }
            if matches!(transition.op, Op::Load { .. } | Op::Wait { .. }) {
                loads.push(index);
            }
            if !seen[transition.to.index()] {
                seen[transition.to.index()] = true;
                work.push(transition.to);
            }
        }
    }
    loads
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::possible_values;

    fn left(text: &str, other: Other) -> u64 {
        let program = palisade_testkit::program(text);
        let possible = possible_values(&program);
        candidates(&program, &possible, true, other, &|_| true).left
    }

    #[test]
    fn a_load_of_what_was_just_stored_overtakes_nothing() {
        // Because of the block, the store to x may wait behind the one to y.
        let own =
            "shared x, y; thread a { x = 1; y = 1; let r = y; } thread b { atomic { y = 2; } }";
        assert_eq!(left(own, Other::Stores), 0);
        let other =
            "shared x, y; thread a { y = 1; x = 1; let r = y; } thread b { atomic { y = 2; } }";
        assert_eq!(left(other, Other::Stores), 1);
    }

    #[test]
    fn what_never_changes_matters_only_for_races() {
        let text = "shared x, y; thread a { x = 1; let r = y; } thread b { y = 0; }";
        assert_eq!(left(text, Other::Stores), 1);
        assert_eq!(left(text, Other::Changes), 0);
    }

    #[test]
    fn nothing_is_loaded_behind_what_is_never_true() {
        let text = "shared x, y; thread a { x = 1; assume 0; let r = y; } thread b { y = 1; }";
        assert_eq!(left(text, Other::Stores), 0);
    }
}
