//! What can be known about overtaking without running a program: which loads may follow a store with no fence between.

use palisade_lang::{Address, Expr, LocationId, Op, Order, PointId, RegisterId, Thread};
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

/// Whether an instruction can only be executed, or only be left, with an empty buffer. One that is never executed is among them.
pub(crate) fn drains(op: &Op) -> bool {
    match op {
        Op::Assume(Expr::Const(0)) => true,
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

/// For each load outside blocks the stores that it may overtake: there is a way from the store to the load on which nothing waits for the buffer, and
/// nothing is certainly stored to the loaded location, because then the load reads it from the buffer. Without `past_stores` there is no other store on
/// that way either. `touched` are the locations that each instruction may touch; where `exact`, each location has a bit of its own.
pub(crate) fn overtaken_stores(
    thread: &Thread,
    touched: &[u64],
    exact: bool,
    past_stores: bool,
) -> Vec<(usize, Vec<usize>)> {
    let mut incoming: Vec<Vec<usize>> = vec![Vec::new(); thread.points.len()];
    for (index, transition) in thread.transitions.iter().enumerate() {
        incoming[transition.to.index()].push(index);
    }
    let mut result = Vec::new();
    for (load, transition) in thread.transitions.iter().enumerate() {
        if !matches!(transition.op, Op::Load { .. } | Op::Wait { .. })
            || thread.points[transition.from.index()].atomic
        {
            continue;
        }
        let certain = (exact && touched[load].count_ones() == 1).then_some(touched[load]);
        let mut stores = Vec::new();
        let mut seen = vec![false; thread.points.len()];
        let mut work = vec![transition.from];
        seen[transition.from.index()] = true;
        while let Some(point) = work.pop() {
            for &before in &incoming[point.index()] {
                let earlier = &thread.transitions[before];
                if drains(&earlier.op) {
                    continue;
                }
                if let Op::Store { .. } = earlier.op {
                    if certain == Some(touched[before]) {
                        continue;
                    }
                    stores.push(before);
                    if !past_stores {
                        continue;
                    }
                }
                if !seen[earlier.from.index()] {
                    seen[earlier.from.index()] = true;
                    work.push(earlier.from);
                }
            }
        }
        if !stores.is_empty() {
            result.push((load, stores));
        }
    }
    result
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

/// For each instruction in how many of the [`pairs`] it is the store. There may be as many pairs as the square of the code's length: they are
/// counted for 64 loads at a time, and not listed.
pub(crate) fn later_loads(thread: &Thread) -> Vec<u32> {
    let outside = |point: PointId| !thread.points[point.index()].atomic;
    let loads: Vec<usize> = (thread.transitions.iter().enumerate())
        .filter(|(_, t)| matches!(t.op, Op::Load { .. } | Op::Wait { .. }) && outside(t.from))
        .map(|(index, _)| index)
        .collect();
    let mut incoming: Vec<Vec<usize>> = vec![Vec::new(); thread.points.len()];
    for transition in &thread.transitions {
        incoming[transition.to.index()].push(transition.from.index());
    }
    let mut counts = vec![0; thread.transitions.len()];
    for some in loads.chunks(64) {
        // Which of these loads can come after a point.
        let mut after = vec![0_u64; thread.points.len()];
        let mut work = Vec::new();
        for (bit, &load) in some.iter().enumerate() {
            let from = thread.transitions[load].from.index();
            after[from] |= 1 << bit;
            work.push(from);
        }
        while let Some(point) = work.pop() {
            for &from in &incoming[point] {
                if after[point] & !after[from] != 0 {
                    after[from] |= after[point];
                    work.push(from);
                }
            }
        }
        for (count, transition) in counts.iter_mut().zip(&thread.transitions) {
            if matches!(transition.op, Op::Store { .. }) && outside(transition.from) {
                *count += after[transition.to.index()].count_ones();
            }
        }
    }
    counts
}

fn outgoing(thread: &Thread, point: PointId) -> std::ops::Range<usize> {
    let begin = thread.transitions.partition_point(|t| t.from < point);
    let length = thread.transitions[begin..].partition_point(|t| t.from == point);
    begin..begin + length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted_as_they_are_listed() {
        let many = "let r = y; x = 1; ".repeat(100);
        for text in [
            "shared x, y; thread a { x = 1; let r = y; y = 2; }".to_owned(),
            "shared x, y; thread a { loop { x = 1; if y == 1 { break; } atomic { x = 2; let r = y; } wait(x == 1); } y = 3; let s = x; }"
                .to_owned(),
            format!("shared x, y; thread a {{ {many} while x == 1 {{ {many} }} }}"),
        ] {
            let program = palisade_testkit::program(&text);
            let thread = &program.threads[0];
            let mut listed = vec![0; thread.transitions.len()];
            for (store, _) in pairs(thread) {
                listed[store as usize] += 1;
            }
            assert_eq!(later_loads(thread), listed);
        }
    }
}
