//! What can be known about fragility without running a program: which stores may be e1, and which locations matter.
//!
//! A pattern needs a store and, with nothing but loads and local steps between, a load of another location that some other thread may write
//! with another value than it holds: not one in which there is never anything but its first value.

use palisade_lang::{LocationId, Op, Program, Thread};

use crate::tso::overtake::drains;
use crate::tso::values::Possible;
use palisade_threads::Footprint;

/// What is left to be looked for.
#[derive(Debug)]
pub(crate) struct Candidates {
    /// How many pairs of a store and a load that follows it directly there are, over all running threads.
    pub all: u64,
    /// How many are left.
    pub left: u64,
    /// For each running thread and instruction: whether it may be e1.
    pub may_be_delayed: Vec<Vec<bool>>,
    /// The locations of such stores and of the loads that may overtake them, folded to 64 bits.
    pub watched: u64,
}

/// The pairs of e1 and e that a program may have; with `filter` off, all that no fence separates. Only threads that `pivots` allows are looked at.
pub(crate) fn candidates(
    program: &Program,
    possible: &Possible,
    filter: bool,
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
        .filter(|(_, values)| exact && values.as_ref().is_some_and(|v| v.len() == 1))
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
        may_be_delayed: Vec::new(),
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
            candidates.may_be_delayed.push(may_be_delayed);
            continue;
        }
        for (store, transition) in thread.transitions.iter().enumerate() {
            let inside = thread.points[transition.from.index()].atomic;
            if !matches!(transition.op, Op::Store { .. }) || drains(&transition.op) || inside {
                continue;
            }
            for load in loads_behind(thread, store, blocks) {
                candidates.all += 1;
                let (stored, loaded) = (touched[pivot][store], touched[pivot][load]);
                let same_location = exact && stored.count_ones() == 1 && stored == loaded;
                if filter && (same_location || loaded & written_by_others & !constant == 0) {
                    continue;
                }
                candidates.left += 1;
                may_be_delayed[store] = true;
                candidates.watched |= stored | loaded;
            }
        }
        candidates.may_be_delayed.push(may_be_delayed);
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
