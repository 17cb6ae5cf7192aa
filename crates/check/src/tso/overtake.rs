//! What can be known about overtaking without running a program: which loads may follow a store with no fence between.

use palisade_lang::{Address, LocationId, Op, Order, PointId, RegisterId, Thread};
use palisade_threads::Footprint;

/// For each point of a thread's code the locations that it may load before it has to wait for its buffer, folded to 64 bits.
/// 0 where it can load nothing.
pub(crate) fn overtaking_loads(thread: &Thread) -> Vec<u64> {
    let mut result = vec![0u64; thread.points.len()];
    let mut incoming: Vec<Vec<usize>> = vec![Vec::new(); thread.points.len()];
    for (index, transition) in thread.transitions.iter().enumerate() {
        incoming[transition.to.index()].push(index);
    }
    let mut work: Vec<usize> = (0..thread.transitions.len()).collect();
    while let Some(index) = work.pop() {
        let transition = &thread.transitions[index];
        if drains(&transition.op) {
            continue;
        }
        let mut loads = result[transition.to.index()];
        if let Op::Load { address, .. } | Op::Wait { address, .. } = &transition.op {
            loads |= locations(address);
        }
        let from = transition.from.index();
        if loads & !result[from] != 0 {
            result[from] |= loads;
            work.extend(&incoming[from]);
        }
    }
    result
}

/// Whether an instruction can only be executed, or only be left, with an empty buffer.
pub(crate) fn drains(op: &Op) -> bool {
    match op {
        Op::Rmw { .. } | Op::AtomicBegin | Op::AtomicEnd => true,
        Op::Fence(order) | Op::Store { order, .. } => *order == Order::SeqCst,
        _ => false,
    }
}

/// The locations that an address may stand for, folded to 64 bits.
pub(crate) fn locations(address: &Address<RegisterId>) -> u64 {
    match address {
        Address::Direct(location) => Footprint::bit(*location),
        Address::Element { first, length, .. } => (0..(*length).min(64)).fold(0, |set, i| {
            set | Footprint::bit(LocationId(first.0.wrapping_add(i)))
        }),
        Address::Pointer(_) => u64::MAX,
    }
}

/// All pairs of a store and a load of a thread's code, outside blocks, in which the load can come after the store, as indices of
/// transitions.
pub(crate) fn pairs(thread: &Thread) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    let outside = |point: PointId| !thread.points[point.index()].atomic;
    for (store, transition) in thread.transitions.iter().enumerate() {
        if !matches!(transition.op, Op::Store { .. }) || !outside(transition.from) {
            continue;
        }
        let mut seen = vec![false; thread.points.len()];
        let mut work: Vec<PointId> = vec![transition.to];
        seen[transition.to.index()] = true;
        while let Some(point) = work.pop() {
            for next in outgoing(thread, point) {
                let op = &thread.transitions[next].op;
                if matches!(op, Op::Load { .. } | Op::Wait { .. }) && outside(point) {
                    pairs.push((store as u32, next as u32));
                }
                let to = thread.transitions[next].to;
                if !seen[to.index()] {
                    seen[to.index()] = true;
                    work.push(to);
                }
            }
        }
    }
    pairs
}

fn outgoing(thread: &Thread, point: PointId) -> std::ops::Range<usize> {
    let begin = thread.transitions.partition_point(|t| t.from < point);
    let length = thread.transitions[begin..].partition_point(|t| t.from == point);
    begin..begin + length
}
