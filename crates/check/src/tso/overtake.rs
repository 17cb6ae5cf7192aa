//! What can be known about overtaking without running a program: which loads may follow a store with no fence between.

use palisade_lang::{Op, PointId, Thread};
use palisade_memory::tso::drains;
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
            loads |= Footprint::of(address);
        }
        let from = transition.from.index();
        if loads & !result[from] != 0 {
            result[from] |= loads;
            work.extend(&incoming[from]);
        }
    }
    result
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

/// For each store outside blocks how many loads outside blocks can come after it. There may be as many pairs as the square of the code's length: they are
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

#[cfg(test)]
mod tests {
    use super::*;

    fn outside(thread: &Thread, point: PointId) -> bool {
        !thread.points[point.index()].atomic
    }

    fn loads_after(thread: &Thread, point: PointId) -> u32 {
        let mut seen = vec![point];
        let mut at = 0;
        let mut loads = 0;
        while let Some(&point) = seen.get(at) {
            for next in thread.outgoing(point) {
                let loads_here = matches!(next.op, Op::Load { .. } | Op::Wait { .. });
                loads += u32::from(loads_here && outside(thread, point));
                if !seen.contains(&next.to) {
                    seen.push(next.to);
                }
            }
            at += 1;
        }
        loads
    }

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
            for (store, count) in listed.iter_mut().enumerate() {
                let transition = &thread.transitions[store];
                if matches!(transition.op, Op::Store { .. }) && outside(thread, transition.from) {
                    *count = loads_after(thread, transition.to);
                }
            }
            assert_eq!(later_loads(thread), listed);
        }
    }
}
