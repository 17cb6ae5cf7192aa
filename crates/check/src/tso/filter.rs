//! Dismisses attacks without a search: those whose store and load lie on no critical cycle (Shasha and Snir), whatever values are read.
//!
//! An attack (thread, store, load) needs a way from the store to the load on which nothing waits for the buffer, and a happens-before path from the
//! load over accesses of other threads to one that touches the store's location. Here the path is looked for among instructions, over
//! the locations that each may touch: an instruction is on the path if it may conflict with one that is on it, or if it may come after
//! one of the same thread. An `atomic` block is on it as a whole.

use palisade_lang::{Op, PointId, Program, Thread};
use palisade_threads::Footprint;
use rustc_hash::FxHashMap;

use super::overtake::{drains, pairs};
use super::values::touched_locations;

/// What is left to be searched for.
#[derive(Debug)]
pub(crate) struct Attacks {
    /// How many pairs of a store and a later load there are, over all running threads.
    pub all: u64,
    /// How many are left.
    pub left: u64,
    /// For each running thread and instruction: whether an attack that is left begins with it.
    pub may_begin: Vec<Vec<bool>>,
}

/// The attacks on a program; with `filter`, only those on critical cycles are left, otherwise all.
pub(crate) fn attacks(program: &Program, filter: bool) -> Attacks {
    let instances = program.instances();
    let mut attacks = Attacks {
        all: 0,
        left: 0,
        may_begin: Vec::new(),
    };
    let code_pairs: Vec<_> = program.threads.iter().map(pairs).collect();
    let touched = filter.then(|| touched_locations(program));
    let follow: Vec<Vec<Vec<usize>>> = match filter {
        true => program.threads.iter().map(following_accesses).collect(),
        false => Vec::new(),
    };
    let exact = program.locations.len() <= 64;
    for (attacker, instance) in instances.iter().enumerate() {
        let code = instance.thread.index();
        let pairs = &code_pairs[code];
        let mut may_begin = vec![false; program.threads[code].transitions.len()];
        attacks.all += pairs.len() as u64;
        let left = match &touched {
            None => pairs.clone(),
            Some(touched) => {
                let thread = &program.threads[code];
                let mut left = Vec::new();
                let mut known: FxHashMap<u64, u64> = FxHashMap::default();
                for (load, stores) in overtaken_stores(thread, &touched[attacker], exact) {
                    let loaded = touched[attacker][load];
                    let reached = *known.entry(loaded).or_insert_with(|| {
                        path_from(program, &instances, touched, &follow, attacker, loaded)
                    });
                    let critical = |&store: &usize| reached & touched[attacker][store] != 0;
                    let critical = stores.into_iter().filter(critical);
                    left.extend(critical.map(|store| (store as u32, load as u32)));
                }
                left
            }
        };
        attacks.left += left.len() as u64;
        for (store, _) in left {
            may_begin[store as usize] = true;
        }
        attacks.may_begin.push(may_begin);
    }
    attacks
}

/// For each load outside blocks the stores that it may overtake: there is a way from the store to the load on which nothing waits for the buffer, and
/// nothing is certainly stored to the loaded location, because then the load reads it from the buffer.
fn overtaken_stores(thread: &Thread, touched: &[u64], exact: bool) -> Vec<(usize, Vec<usize>)> {
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

/// The locations that helpers may access on a path that begins with a load of one of the locations in `loaded`.
fn path_from(
    program: &Program,
    instances: &[palisade_lang::Instance],
    touched: &[Vec<u64>],
    follow: &[Vec<Vec<usize>>],
    attacker: usize,
    loaded: u64,
) -> u64 {
    let mut on_path = Footprint {
        reads: loaded,
        writes: 0,
    };
    let mut accessed = 0;
    let mut joined: Vec<Vec<bool>> = touched.iter().map(|t| vec![false; t.len()]).collect();
    let mut work = Vec::new();
    loop {
        let mut changed = false;
        for (helper, instance) in instances.iter().enumerate() {
            if helper == attacker {
                continue;
            }
            let code = instance.thread.index();
            for (index, transition) in program.threads[code].transitions.iter().enumerate() {
                if joined[helper][index]
                    || !footprint(&transition.op, touched[helper][index]).conflicts(on_path)
                {
                    continue;
                }
                changed = true;
                work.push(index);
                joined[helper][index] = true;
                while let Some(at) = work.pop() {
                    let op = &program.threads[code].transitions[at].op;
                    let locations = touched[helper][at];
                    on_path = on_path.union(footprint(op, locations));
                    accessed |= locations;
                    for &next in &follow[code][at] {
                        if !joined[helper][next] {
                            joined[helper][next] = true;
                            work.push(next);
                        }
                    }
                }
            }
        }
        if !changed {
            return accessed;
        }
    }
}

fn footprint(op: &Op, locations: u64) -> Footprint {
    match op {
        Op::Load { .. } | Op::Wait { .. } => Footprint {
            reads: locations,
            writes: 0,
        },
        Op::Store { .. } => Footprint {
            reads: 0,
            writes: locations,
        },
        _ => Footprint {
            reads: locations,
            writes: locations,
        },
    }
}

/// For each instruction those that may come next; inside `atomic` also those that may have come before, because a block is one node.
fn following_accesses(thread: &Thread) -> Vec<Vec<usize>> {
    let mut outgoing: Vec<Vec<usize>> = vec![Vec::new(); thread.points.len()];
    let mut incoming: Vec<Vec<usize>> = vec![Vec::new(); thread.points.len()];
    for (index, transition) in thread.transitions.iter().enumerate() {
        outgoing[transition.from.index()].push(index);
        incoming[transition.to.index()].push(index);
    }
    let inside = |point: PointId| thread.points[point.index()].atomic;
    thread
        .transitions
        .iter()
        .map(|transition| {
            let mut next = outgoing[transition.to.index()].clone();
            if inside(transition.from) {
                next.extend(&incoming[transition.from.index()]);
            }
            next
        })
        .collect()
}
