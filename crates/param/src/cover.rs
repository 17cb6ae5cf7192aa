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

use std::collections::BinaryHeap;
use std::rc::Rc;

use palisade_check::counted::{Count, MANY, Step, System};
use rustc_hash::FxHashMap;

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

/// The steps of a system, remembered over several walks.
pub(crate) struct Cover<'s> {
    system: &'s mut dyn System,
    steps: FxHashMap<(u32, Option<u32>), Rc<[Step]>>,
    transfers: FxHashMap<(u32, u32), u32>,
    /// Ideals stored, over all walks.
    pub states: u64,
    /// Steps taken between ideals.
    pub transitions: u64,
}

type Copies = Vec<(u32, Count)>;

/// An ideal.
struct Ideal {
    shared: u32,
    /// Sorted by local.
    copies: Box<[(u32, Count)]>,
    /// Not covered by a greater one.
    alive: bool,
}

/// One walk.
struct Walk {
    cap: Count,
    ideals: Vec<Ideal>,
    /// By base of the shared part.
    antichains: FxHashMap<u32, Vec<u32>>,
    /// Greatest first: it may cover what else is waiting. Among equals, the one found first.
    queue: BinaryHeap<(u32, std::cmp::Reverse<u32>)>,
    bytes: u64,
}

impl<'s> Cover<'s> {
    pub fn new(system: &'s mut dyn System) -> Self {
        Cover {
            system,
            steps: FxHashMap::default(),
            transfers: FxHashMap::default(),
            states: 0,
            transitions: 0,
        }
    }

    /// Why what was said not to be bad may be bad.
    pub fn doubt(&self) -> Option<String> {
        self.system.doubt()
    }

    /// Walks with numbers up to `cap`, over at most `most` ideals. `stop` is asked now and then, with the number of ideals and bytes.
    pub fn explore(
        &mut self,
        cap: Count,
        most: u64,
        stop: &mut dyn FnMut(u64, u64) -> Option<String>,
    ) -> End {
        let mut walk = Walk {
            cap,
            ideals: Vec::new(),
            antichains: FxHashMap::default(),
            queue: BinaryHeap::new(),
            bytes: 0,
        };
        let (rows, mut locals) = self.system.initial();
        locals.sort_unstable();
        locals.dedup();
        for shared in rows {
            let copies = locals.iter().map(|&local| (local, MANY)).collect();
            if self.enter(&mut walk, shared, copies) {
                return End::Bad;
            }
        }
        let mut expanded = 0u64;
        while let Some((_, std::cmp::Reverse(number))) = walk.queue.pop() {
            let ideal = &walk.ideals[number as usize];
            if !ideal.alive {
                continue;
            }
            if expanded % 64 == 0
                && let Some(why) = stop(
                    self.states,
                    walk.bytes
                        + self.system.bytes()
                        + (self.steps.len() * 160 + self.transfers.len() * 24) as u64,
                )
            {
                return End::Stopped(why);
            }
            if walk.ideals.len() as u64 > most {
                return End::TooMany;
            }
            expanded += 1;
            let (shared, copies) = (ideal.shared, ideal.copies.to_vec());
            let movers = std::iter::once(None).chain((0..copies.len()).map(Some));
            for mover in movers {
                let local = mover.map(|at| copies[at].0);
                for step in self.steps(shared, local).iter() {
                    if step.violates {
                        return End::Bad;
                    }
                    self.transitions += 1;
                    let after = self.fire(&walk, &copies, mover, step);
                    if self.enter(&mut walk, step.shared, after) {
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

    fn steps(&mut self, shared: u32, mover: Option<u32>) -> Rc<[Step]> {
        if let Some(known) = self.steps.get(&(shared, mover)) {
            return known.clone();
        }
        let mut steps = self.system.steps(shared, mover);
        steps.dedup();
        let steps: Rc<[Step]> = steps.into();
        self.steps.insert((shared, mover), steps.clone());
        steps
    }

    /// The copies after a step.
    fn fire(
        &mut self,
        walk: &Walk,
        copies: &[(u32, Count)],
        mover: Option<usize>,
        step: &Step,
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
                let system = &mut self.system;
                let to = *self
                    .transfers
                    .entry((broadcast, local))
                    .or_insert_with(|| system.transfer(broadcast, local));
                walk.add(&mut after, to, count);
            }
        }
        if let Some(to) = step.to {
            walk.add(&mut after, to, 1);
        }
        after
    }

    /// Adds what copies can do, one after the other, without changing anything else: if any number of them can begin, any number can arrive.
    fn saturate(&mut self, walk: &Walk, shared: u32, copies: &mut Copies) {
        let mut work: Vec<u32> = copies
            .iter()
            .filter(|(_, count)| *count == MANY)
            .map(|(local, _)| *local)
            .collect();
        while let Some(local) = work.pop() {
            for step in self.steps(shared, Some(local)).iter() {
                if let Some(to) = step.to
                    && step.shared == shared
                    && step.broadcast.is_none()
                    && !step.violates
                    && !copies.contains(&(to, MANY))
                {
                    walk.add(copies, to, MANY);
                    work.push(to);
                }
            }
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
                .any(|&greater| greater != local && self.system.local_covers(greater, local))
        });
    }

    /// Whether one ideal covers another.
    fn covers(
        &self,
        (shared, copies): (u32, &[(u32, Count)]),
        (smaller, fewer): (u32, &[(u32, Count)]),
    ) -> bool {
        self.system.shared_covers(shared, smaller)
            && fewer.iter().all(|&(local, count)| {
                let same = copies.binary_search_by_key(&local, |c| c.0);
                same.is_ok_and(|at| copies[at].1 >= count)
                    || copies.iter().any(|&(greater, many)| {
                        many == MANY && self.system.local_covers(greater, local)
                    })
            })
    }

    /// Enters an ideal unless it is covered; whether it is bad.
    fn enter(&mut self, walk: &mut Walk, shared: u32, mut copies: Copies) -> bool {
        let base = self.system.base(shared);
        let known = walk.antichains.get(&base).map_or(&[][..], |a| &a[..]);
        let is_covered = |cover: &Self, copies: &[(u32, Count)]| {
            known.iter().any(|&number| {
                let ideal = &walk.ideals[number as usize];
                cover.covers((ideal.shared, &ideal.copies), (shared, copies))
            })
        };
        if is_covered(self, &copies) {
            return false;
        }
        self.saturate(walk, shared, &mut copies);
        if is_covered(self, &copies) {
            return false;
        }
        if self.system.is_bad(shared, &copies) {
            return true;
        }
        let number = walk.ideals.len() as u32;
        let mut antichain = walk.antichains.remove(&base).unwrap_or_default();
        antichain.retain(|&smaller| {
            let ideal = &mut walk.ideals[smaller as usize];
            ideal.alive = !self.covers((shared, &copies), (ideal.shared, &ideal.copies));
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
    /// Adds copies in a local, and counts them as many if they are more than the cap.
    fn add(&self, copies: &mut Copies, local: u32, count: Count) {
        let at = match copies.binary_search_by_key(&local, |c| c.0) {
            Ok(at) => at,
            Err(at) => {
                copies.insert(at, (local, 0));
                at
            }
        };
        let sum = copies[at].1.saturating_add(count);
        copies[at].1 = if sum > self.cap { MANY } else { sum };
    }
}
