//! Coverability in well-structured systems with broadcasts, forward and from above.
//!
//! A set of states with any number of copies is kept as *ideals*: a shared part, and for each local how many copies there are at most, a number or [`MANY`]
//! (any number). [`Cover::explore`] walks over ideals; wherever there come to be more than `cap` copies in one local, it counts [`MANY`]. That makes the
//! walk finite, and what it sees is an over-approximation: if it sees nothing bad, there is nothing bad, for every number of copies. And if there is
//! nothing bad at all, some cap shows it: the states that can be covered are then a finite union of ideals, and with their largest number as cap the
//! walk never leaves them. So greater and greater caps on this side, and more and more copies of an ordinary program on the other, decide every question
//! ("expand, enlarge and check").
//!
//! Only the greatest ideals are kept (an antichain): what is covered by another one need not be looked at.
//!
//! [`Cover::collect`] is the same walk, but it does not stop at what is bad, and only compares what has the same shared part and the same locals: what it
//! sees is the over-approximation over which `backward` searches.

use std::collections::BinaryHeap;

use palisade_check::counted::{CopyStep, Count, MANY};
use rustc_hash::FxHashMap;

use crate::steps::Steps;

/// How a walk ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Nothing bad can be covered, with any number of copies.
    Safe,
    /// Something bad is among what the walk saw, which may be more than there is.
    Bad,
    /// There are more states than the walk was allowed to see.
    TooMany,
    /// A limit was hit.
    Stopped(String),
}

/// So many comparisons there may be for each ideal that may be seen.
const COMPARISONS: u64 = 500;

/// Walks over ideals.
#[derive(Debug, Default)]
pub(crate) struct Cover {
    /// Ideals stored, over all walks.
    pub states: u64,
    /// Steps taken between ideals.
    pub transitions: u64,
}

type Copies = Vec<(u32, Count)>;

/// An ideal.
#[derive(Debug)]
struct Ideal {
    shared: u32,
    /// Sorted by local.
    copies: Box<[(u32, Count)]>,
    /// Not covered by a greater one.
    alive: bool,
}

/// One walk.
#[derive(Debug)]
struct Walk {
    cap: Count,
    /// All that can be reached is wanted, bad or not, and nothing that only does less than something else is left out.
    collects: bool,
    ideals: Vec<Ideal>,
    /// By base of the shared part.
    antichains: FxHashMap<u32, Vec<u32>>,
    /// Greatest first: it may cover what else is waiting. Among equals, the one found first.
    queue: BinaryHeap<(u32, std::cmp::Reverse<u32>)>,
    bytes: u64,
    /// How often ideals were compared.
    compared: u64,
}

impl Cover {
    /// Walks with numbers up to `cap`, over at most `most` ideals. `stop` is asked now and then, with the number of ideals and bytes.
    pub fn explore(
        &mut self,
        steps: &mut Steps<'_>,
        cap: Count,
        most: u64,
        stop: &mut dyn FnMut(u64, u64) -> Option<String>,
    ) -> End {
        self.walk(steps, &mut Walk::new(cap, false), most, stop)
    }

    /// Everything that a walk with numbers up to `cap` can see. Where it ends otherwise than with [`End::Safe`], there is nothing.
    pub fn collect(
        &mut self,
        steps: &mut Steps<'_>,
        cap: Count,
        most: u64,
        stop: &mut dyn FnMut(u64, u64) -> Option<String>,
    ) -> Result<Vec<(u32, Copies)>, End> {
        let mut walk = Walk::new(cap, true);
        match self.walk(steps, &mut walk, most, stop) {
            End::Safe => {}
            other => return Err(other),
        }
        let alive = walk.ideals.into_iter().filter(|ideal| ideal.alive);
        Ok(alive.map(|i| (i.shared, i.copies.into_vec())).collect())
    }

    fn walk(
        &mut self,
        steps: &mut Steps<'_>,
        walk: &mut Walk,
        most: u64,
        stop: &mut dyn FnMut(u64, u64) -> Option<String>,
    ) -> End {
        let (rows, locals) = steps.initial();
        for shared in rows {
            let copies = locals.iter().map(|&local| (local, MANY)).collect();
            if self.enter(steps, walk, shared, copies) {
                return End::Bad;
            }
        }
        let mut expanded = 0u64;
        while let Some((_, std::cmp::Reverse(number))) = walk.queue.pop() {
            let ideal = &walk.ideals[number as usize];
            if !ideal.alive {
                continue;
            }
            if expanded.is_multiple_of(64)
                && let Some(why) = stop(self.states, walk.bytes + steps.bytes())
            {
                return End::Stopped(why);
            }
            if walk.ideals.len() as u64 > most || walk.compared > most.saturating_mul(COMPARISONS) {
                return End::TooMany;
            }
            expanded += 1;
            let (shared, copies) = (ideal.shared, ideal.copies.to_vec());
            let movers = std::iter::once(None).chain((0..copies.len()).map(Some));
            for mover in movers {
                let local = mover.map(|at| copies[at].0);
                for step in steps.of(shared, local).iter() {
                    match (step.violates, walk.collects) {
                        (true, true) => continue,
                        (true, false) => return End::Bad,
                        (false, _) => {}
                    }
                    self.transitions += 1;
                    let after = self.fire(steps, walk.cap, &copies, mover, step);
                    if self.enter(steps, walk, step.shared, after) {
                        return End::Bad;
                    }
                    if !walk.ideals[number as usize].alive {
                        break;
                    }
                }
                // Something greater has come: all that can be found from here can be found from there.
                if !walk.ideals[number as usize].alive {
                    break;
                }
            }
        }
        End::Safe
    }

    /// The copies after a step.
    pub fn fire(
        &mut self,
        steps: &mut Steps<'_>,
        cap: Count,
        copies: &[(u32, Count)],
        mover: Option<usize>,
        step: &CopyStep,
    ) -> Copies {
        let mut after = copies.to_vec();
        if let Some(at) = mover {
            match after[at].1 {
                MANY => {}
                1 => {
                    after.remove(at);
                }
                ref mut count => *count -= 1,
            }
        }
        if let Some(broadcast) = step.broadcast {
            let before = std::mem::take(&mut after);
            for (local, count) in before {
                let to = steps.transfer(broadcast, local);
                put(cap, &mut after, to, count);
            }
        }
        if let Some(to) = step.to {
            put(cap, &mut after, to, 1);
        }
        after
    }

    /// Adds what copies can do, one after the other, without changing anything else: if any number of them can begin, any number can arrive.
    fn saturate(&mut self, steps: &mut Steps<'_>, walk: &Walk, shared: u32, copies: &mut Copies) {
        let mut work: Vec<u32> = copies
            .iter()
            .filter(|(_, count)| *count == MANY)
            .map(|(local, _)| *local)
            .collect();
        while let Some(local) = work.pop() {
            for step in steps.of(shared, Some(local)).iter() {
                if let Some(to) = step.to
                    && step.shared == shared
                    && step.broadcast.is_none()
                    && !step.violates
                    && !copies.contains(&(to, MANY))
                {
                    put(walk.cap, copies, to, MANY);
                    work.push(to);
                }
            }
        }
        if walk.collects {
            return;
        }
        // A copy is of no use where there are many that can do all that it can.
        let many: Vec<u32> = copies
            .iter()
            .filter(|(_, count)| *count == MANY)
            .map(|(local, _)| *local)
            .collect();
        copies.retain(|&(local, _)| {
            !many
                .iter()
                .any(|&greater| greater != local && steps.system.local_covers(greater, local))
        });
    }

    /// Whether one ideal covers another.
    fn covers(
        steps: &Steps<'_>,
        collects: bool,
        (shared, copies): (u32, &[(u32, Count)]),
        (smaller, fewer): (u32, &[(u32, Count)]),
    ) -> bool {
        (shared == smaller || !collects && steps.system.shared_covers(shared, smaller))
            && fewer.iter().all(|&(local, count)| {
                let same = copies.binary_search_by_key(&local, |c| c.0);
                same.is_ok_and(|at| copies[at].1 >= count)
                    || !collects
                        && copies.iter().any(|&(greater, many)| {
                            many == MANY && steps.system.local_covers(greater, local)
                        })
            })
    }

    /// Enters an ideal unless it is covered; whether it is bad.
    fn enter(
        &mut self,
        steps: &mut Steps<'_>,
        walk: &mut Walk,
        shared: u32,
        mut copies: Copies,
    ) -> bool {
        let base = match walk.collects {
            true => shared,
            false => steps.system.base(shared),
        };
        walk.compared += walk.antichains.get(&base).map_or(0, Vec::len) as u64;
        let known = walk.antichains.get(&base).map_or(&[][..], |a| &a[..]);
        let is_covered = |steps: &Steps<'_>, copies: &[(u32, Count)]| {
            known.iter().any(|&number| {
                let ideal = &walk.ideals[number as usize];
                let greater = (ideal.shared, &ideal.copies[..]);
                Self::covers(steps, walk.collects, greater, (shared, copies))
            })
        };
        if is_covered(steps, &copies) {
            return false;
        }
        self.saturate(steps, walk, shared, &mut copies);
        if is_covered(steps, &copies) {
            return false;
        }
        if !walk.collects && steps.system.is_bad(shared, &copies) {
            return true;
        }
        let number = walk.ideals.len() as u32;
        let mut antichain = walk.antichains.remove(&base).unwrap_or_default();
        antichain.retain(|&smaller| {
            let ideal = &mut walk.ideals[smaller as usize];
            let smaller = (ideal.shared, &ideal.copies[..]);
            ideal.alive = !Self::covers(steps, walk.collects, (shared, &copies), smaller);
            ideal.alive
        });
        antichain.push(number);
        walk.antichains.insert(base, antichain);
        let weight = copies.iter().fold(0u32, |sum, (_, count)| {
            sum.saturating_add(match *count {
                MANY => 1 << 12,
                count => count.into(),
            })
        });
        walk.bytes += 96 + 8 * copies.len() as u64;
        walk.ideals.push(Ideal {
            shared,
            copies: copies.into(),
            alive: true,
        });
        walk.queue.push((weight, std::cmp::Reverse(number)));
        self.states += 1;
        false
    }
}

impl Walk {
    fn new(cap: Count, collects: bool) -> Self {
        Walk {
            cap,
            collects,
            ideals: Vec::new(),
            antichains: FxHashMap::default(),
            queue: BinaryHeap::new(),
            bytes: 0,
            compared: 0,
        }
    }
}

/// Adds copies in a local, and counts them as many if they are more than the cap.
fn put(cap: Count, copies: &mut Copies, local: u32, count: Count) {
    let at = match copies.binary_search_by_key(&local, |c| c.0) {
        Ok(at) => at,
        Err(at) => {
            copies.insert(at, (local, 0));
            at
        }
    };
    let sum = copies[at].1.saturating_add(count);
    copies[at].1 = if sum > cap { MANY } else { sum };
}
