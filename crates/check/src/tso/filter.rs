//! Dismisses attacks without a search: those whose store and load lie on no critical cycle (Shasha and Snir), whatever values are read.
//!
//! An attack (thread, store, load) needs a way from the store to the load on which nothing waits for the buffer, and a happens-before path from the
//! load over accesses of other threads to one that touches the store's location. Here the path is looked for among instructions, over
//! the locations that each may touch: an instruction is on the path if it may conflict with one that is on it, or if it may come after
//! one of the same thread. An `atomic` block is on it as a whole.
//!
//! Values matter in one place: where no thread but the attacker writes the store's location and others only `wait` for it, they wait for
//! what the location holds *before* the store. If no such value lets them go on, no thread closes the cycle.

use palisade_lang::{Instance, LocationId, Op, PointId, Program, Thread};
use palisade_threads::Footprint;
use rustc_hash::FxHashMap;

use super::overtake::{later_loads, overtaken_stores};
use crate::values::{Possible, Values, extend, possible_values};

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
    let later: Vec<_> = program.threads.iter().map(later_loads).collect();
    let possible = filter.then(|| possible_values(program));
    let touched = possible.as_ref().map(|p| p.touched(program));
    let follow: Vec<Vec<Vec<usize>>> = match filter {
        true => program.threads.iter().map(following_accesses).collect(),
        false => Vec::new(),
    };
    let exact = program.locations.len() <= 64;
    for (attacker, instance) in instances.iter().enumerate() {
        let code = instance.thread.index();
        let mut may_begin = vec![false; program.threads[code].transitions.len()];
        let pairs = later[code].iter().map(|&loads| u64::from(loads));
        attacks.all += pairs.clone().sum::<u64>();
        match &touched {
            None => {
                attacks.left += pairs.sum::<u64>();
                for (may_begin, &loads) in may_begin.iter_mut().zip(&later[code]) {
                    *may_begin = loads > 0;
                }
            }
            Some(touched) => {
                let thread = &program.threads[code];
                let mut known: FxHashMap<u64, u64> = FxHashMap::default();
                let mut waited: FxHashMap<usize, bool> = FxHashMap::default();
                for (load, stores) in overtaken_stores(thread, &touched[attacker], exact, true) {
                    let loaded = touched[attacker][load];
                    let reached = *known.entry(loaded).or_insert_with(|| {
                        path_from(program, &instances, touched, &follow, attacker, loaded)
                    });
                    let critical = stores.into_iter().filter(|&store| {
                        let only_waited_for = *waited.entry(store).or_insert_with(|| {
                            exact
                                && possible.as_ref().is_some_and(|possible| {
                                    is_waited_for_in_vain(
                                        program, &instances, possible, touched, attacker, store,
                                    )
                                })
                        });
                        reached & touched[attacker][store] != 0 && !only_waited_for
                    });
                    for store in critical {
                        attacks.left += 1;
                        may_begin[store] = true;
                    }
                }
            }
        }
        attacks.may_begin.push(may_begin);
    }
    attacks
}

/// Whether others access the location of a store only by `wait`s that what was there before the store does not let go on.
fn is_waited_for_in_vain(
    program: &Program,
    instances: &[Instance],
    possible: &Possible,
    touched: &[Vec<u64>],
    attacker: usize,
    store: usize,
) -> bool {
    let location = touched[attacker][store];
    if location.count_ones() != 1 {
        return false;
    }
    let mut waits = Vec::new();
    for (helper, instance) in instances.iter().enumerate() {
        if helper == attacker {
            continue;
        }
        for (index, transition) in program
            .thread(instance.thread)
            .transitions
            .iter()
            .enumerate()
        {
            match &transition.op {
                _ if touched[helper][index] & location == 0 => {}
                Op::Wait {
                    relation, value, ..
                } => match possible.evaluate(helper, value) {
                    Some(values) => waits.push((*relation, values)),
                    None => return false,
                },
                _ => return false,
            }
        }
    }
    let thread = program.thread(instances[attacker].thread);
    let before = values_before(
        program,
        thread,
        possible,
        &touched[attacker],
        attacker,
        location,
    );
    let Some(before) = &before[thread.transitions[store].from.index()] else {
        return false;
    };
    waits.iter().all(|(relation, values)| {
        before
            .iter()
            .all(|&found| values.iter().all(|&wanted| !relation.holds(found, wanted)))
    })
}

/// For each point of a thread, the values that a location may hold which no other thread writes.
fn values_before(
    program: &Program,
    thread: &Thread,
    possible: &Possible,
    touched: &[u64],
    instance: usize,
    location: u64,
) -> Vec<Values> {
    let mut values: Vec<Values> = vec![Some(Vec::new()); thread.points.len()];
    let id = LocationId(location.trailing_zeros());
    let initial = program.domain.reduce(program.location(id).initial);
    values[thread.initial.index()] = Some(vec![initial]);
    let mut work = vec![thread.initial];
    while let Some(point) = work.pop() {
        let begin = thread.transitions.partition_point(|t| t.from < point);
        for (index, transition) in thread.transitions.iter().enumerate().skip(begin) {
            if transition.from != point {
                break;
            }
            let mut after = values[point.index()].clone();
            match &transition.op {
                _ if touched[index] & location == 0 => {}
                Op::Store { value, .. } => {
                    let stored = possible.reduced(possible.evaluate(instance, value));
                    // A store that may go elsewhere may leave what is there.
                    let kept = if touched[index] == location {
                        Some(Vec::new())
                    } else {
                        after
                    };
                    after = kept.zip(stored).map(|(mut kept, stored)| {
                        extend(&mut kept, &stored);
                        kept
                    });
                }
                Op::Rmw { .. } => after = None,
                _ => {}
            }
            let known = &mut values[transition.to.index()];
            let grown = match (&mut *known, after) {
                (None, _) => false,
                (known, None) => {
                    *known = None;
                    true
                }
                (Some(known), Some(after)) => extend(known, &after),
            };
            if grown {
                work.push(transition.to);
            }
        }
    }
    values
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

#[cfg(test)]
mod tests {
    use super::*;

    fn left(text: &str) -> u64 {
        attacks(&palisade_testkit::program(text), true).left
    }

    #[test]
    fn nobody_closes_a_cycle_by_waiting_for_the_delayed_value() {
        // At first the flag is down: a thread that waits for that goes on.
        let down = "shared f, y; thread a { f = 0; let r = y; }
             thread b { y = 1; fence; wait(f == 0); }";
        assert_eq!(left(down), 1);
        let raised = "shared f, y; thread a { f = 1; fence; f = 0; let r = y; }
             thread b { y = 1; fence; wait(f == 0); }";
        assert_eq!(left(raised), 0);
        let looked_at = "shared f, y; thread a { f = 1; fence; f = 0; let r = y; }
             thread b { y = 1; fence; let s = f; }";
        assert_eq!(left(looked_at), 1);
    }
}
