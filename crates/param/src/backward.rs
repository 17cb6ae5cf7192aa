//! Coverability in well-structured systems with broadcasts, backward.
//!
//! The states from which a bad one can be reached are upward closed: more copies can only do more. So they are kept as their minimal elements (an
//! [`Antichain`]), beginning with those that are bad, and what leads into the set by one step is added until nothing more does. By Dickson's lemma that
//! comes to an end. If no state at the beginning is in the set then, the criterion holds for every number of copies.
//!
//! A predecessor of "at least the copies `m` at the shared part `b`" by a step from `a` to `b` that takes a copy from `l` to `l'`: at `a`, a copy at `l`, and beside it
//! for each copy of `m` but for one at `l'` (if there is one) a copy that the step's broadcast brings there; without a broadcast, that copy itself.
//! All predecessors are above one of these.
//!
//! Systems only know their steps forward, so steps are made over all that can be reached by an over-approximation ([`Cover::collect`]), and turned around. The same
//! over-approximation prunes: what is not in it cannot be reached, and need not be gone back to.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use palisade_check::counted::{Count, MANY};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::antichain::{Antichain, Multiset, add, is_within, remove, size};
use crate::cover::Cover;
use crate::steps::Steps;

/// Why nothing bad can be reached, with any number of copies: something that can be checked by the steps alone.
///
/// Let O be the states of the ideals (an ideal is a shared part, and for each local how many copies at most; [`MANY`] is any number), and B those states of O that are
/// above an element of the basis (a shared part and, for each local, how many copies at least). Then
///
/// * the states at the beginning are in O but not in B, for any number of copies;
/// * a step from O leads into O;
/// * a step from O that leads into B comes from B;
/// * all bad states of O are in B.
///
/// Shared parts and locals are the numbers of the system that was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// All states that can be reached are in one of these.
    pub ideals: Vec<(u32, Vec<(u32, Count)>)>,
    /// The backward basis: from states above these, something bad might be reached, and from no others.
    pub basis: Vec<(u32, Vec<(u32, u16)>)>,
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Nothing bad can be reached, with any number of copies.
    Safe,
    /// So many copies (in all) are enough for something bad.
    Bad(u32),
    /// There are more elements than the search was allowed to add. It can go on.
    TooMany,
    /// A limit was hit.
    Stopped(String),
}

/// For each local how many copies there are at most, sorted by local.
type AtMost = Box<[(u32, Count)]>;

/// A step, as seen from where it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Rule {
    from: u32,
    mover: Option<u32>,
    to: Option<u32>,
    broadcast: Option<u32>,
}

/// So many predecessors may be looked at for each element that may be added.
const TRIES: u64 = 200;

/// A search that can be continued.
pub(crate) struct Backward {
    /// What can be reached, by shared part.
    ideals: FxHashMap<u32, Vec<AtMost>>,
    /// By the shared part behind them.
    rules: FxHashMap<u32, Vec<Rule>>,
    /// For each broadcast and local, the locals that it brings there.
    origins: FxHashMap<(u32, u32), Vec<u32>>,
    initial: FxHashSet<u32>,
    initial_locals: Vec<u32>,
    antichain: Antichain,
    /// The smallest first: it may supersede others.
    queue: BinaryHeap<Reverse<(u32, u32)>>,
    bytes: u64,
    /// Elements added.
    pub states: u64,
    /// Predecessors computed.
    pub transitions: u64,
    /// The same and those that came to nothing, over all.
    tried: u64,
    /// Something bad can be reached with so many copies.
    bad: Option<u32>,
}

impl Backward {
    /// Turns the steps of an over-approximation around, and begins with what is bad in it. An error where `stop` says so.
    pub fn new(
        steps: &mut Steps<'_>,
        ideals: Vec<(u32, Vec<(u32, Count)>)>,
        stop: &mut dyn FnMut(u64, u64) -> Option<String>,
    ) -> Result<Self, String> {
        let (initial, initial_locals) = steps.initial();
        let mut search = Backward {
            ideals: FxHashMap::default(),
            rules: FxHashMap::default(),
            origins: FxHashMap::default(),
            initial: initial.into_iter().collect(),
            initial_locals,
            antichain: Antichain::default(),
            queue: BinaryHeap::new(),
            bytes: 0,
            states: 0,
            transitions: 0,
            tried: 0,
            bad: None,
        };
        // In the order of the ideals, so that everything is the same in each run.
        let mut order: Vec<u32> = Vec::new();
        for (shared, copies) in ideals {
            let known = search.ideals.entry(shared).or_default();
            if known.is_empty() {
                order.push(shared);
            }
            search.bytes += 64 + 8 * copies.len() as u64;
            known.push(copies.into());
        }
        let mut broadcasts: FxHashSet<(u32, u32)> = FxHashSet::default();
        let mut bad: Vec<(u32, Vec<u32>)> = Vec::new();
        for (number, &shared) in order.iter().enumerate() {
            if number % 64 == 0
                && let Some(why) = stop(0, search.bytes + steps.bytes())
            {
                return Err(why);
            }
            let mut locals: Vec<u32> = search.ideals[&shared]
                .iter()
                .flat_map(|ideal| ideal.iter().map(|c| c.0))
                .collect();
            locals.sort_unstable();
            locals.dedup();
            for mover in std::iter::once(None).chain(locals.iter().copied().map(Some)) {
                let mut rules: Vec<(u32, Rule)> = Vec::new();
                for step in steps.of(shared, mover).iter() {
                    if step.violates {
                        bad.push((shared, mover.into_iter().collect()));
                        continue;
                    }
                    let rule = Rule {
                        from: shared,
                        mover,
                        to: step.to,
                        broadcast: step.broadcast,
                    };
                    // A step that is like none, seen from here: more copies than it leads to.
                    let idle =
                        step.shared == shared && step.broadcast.is_none() && step.to == mover;
                    if !idle && !rules.contains(&(step.shared, rule)) {
                        rules.push((step.shared, rule));
                    }
                }
                for (behind, rule) in rules {
                    if let Some(broadcast) = rule.broadcast {
                        for &local in &locals {
                            if broadcasts.insert((broadcast, local)) {
                                let to = steps.transfer(broadcast, local);
                                search
                                    .origins
                                    .entry((broadcast, to))
                                    .or_default()
                                    .push(local);
                            }
                        }
                    }
                    search.rules.entry(behind).or_default().push(rule);
                    search.bytes += 40;
                }
            }
            let choices = steps.system.bad_choices(shared, &locals);
            bad.extend(choices.into_iter().map(|choice| (shared, choice)));
        }
        for (shared, choice) in bad {
            let mut copies = Multiset::new();
            for local in choice {
                add(&mut copies, local);
            }
            if search.can_be_reached(shared, &copies) {
                search.enter(shared, copies);
            }
        }
        Ok(search)
    }

    /// Whether a state is in the over-approximation.
    fn can_be_reached(&self, shared: u32, copies: &[(u32, u16)]) -> bool {
        self.ideals.get(&shared).is_some_and(|ideals| {
            ideals.iter().any(|ideal| {
                copies.iter().all(|&(local, count)| {
                    ideal
                        .binary_search_by_key(&local, |c| c.0)
                        .is_ok_and(|at| ideal[at].1 == MANY || u16::from(ideal[at].1) >= count)
                })
            })
        })
    }

    /// Adds an element that can be reached as far as is known.
    fn enter(&mut self, shared: u32, copies: Multiset) {
        let size = size(&copies);
        let is_initial = self.initial.contains(&shared)
            && copies
                .iter()
                .all(|(local, _)| self.initial_locals.binary_search(local).is_ok());
        let bytes = 96 + 8 * copies.len() as u64;
        let Some(number) = self.antichain.insert(shared, copies) else {
            return;
        };
        if is_initial {
            self.bad = Some(self.bad.map_or(size, |bad| bad.min(size)));
        }
        self.bytes += bytes;
        self.states += 1;
        self.queue.push(Reverse((size, number)));
    }

    /// Goes on until all is found, or `most` elements were added or looked for with little success. `stop` is asked now and then, with the number of elements and bytes.
    pub fn search(&mut self, most: u64, stop: &mut dyn FnMut(u64, u64) -> Option<String>) -> End {
        let mut expanded = 0u64;
        let first = self.tried;
        loop {
            if let Some(copies) = self.bad {
                return End::Bad(copies.max(1));
            }
            if self.antichain.added() as u64 > most
                || self.tried - first > most.saturating_mul(TRIES)
            {
                return End::TooMany;
            }
            let Some(Reverse((_, number))) = self.queue.pop() else {
                return End::Safe;
            };
            if !self.antichain.get(number).alive {
                continue;
            }
            if expanded.is_multiple_of(64)
                && let Some(why) = stop(self.states, self.bytes)
            {
                self.queue.push(Reverse((0, number)));
                return End::Stopped(why);
            }
            expanded += 1;
            let shared = self.antichain.get(number).shared;
            let copies = self.antichain.get(number).copies.to_vec();
            for at in 0..self.rules.get(&shared).map_or(0, Vec::len) {
                let rule = self.rules[&shared][at];
                self.tried += 1;
                for before in self.before(shared, &copies, rule) {
                    self.transitions += 1;
                    self.enter(rule.from, before);
                }
                if !self.antichain.get(number).alive {
                    break;
                }
            }
        }
    }

    /// The minimal states from which a step leads above an element.
    fn before(&mut self, shared: u32, copies: &Multiset, rule: Rule) -> Vec<Multiset> {
        let mut rest = copies.clone();
        if let Some(to) = rule.to {
            remove(&mut rest, to);
            // The step adds nothing that is asked for: what is before it is above what is behind it.
            if rule.broadcast.is_none()
                && rule.from == shared
                && rest.len() == copies.len()
                && rest == *copies
            {
                return Vec::new();
            }
        }
        let mut moved = Multiset::new();
        if let Some(mover) = rule.mover {
            add(&mut moved, mover);
        }
        let Some(broadcast) = rule.broadcast else {
            for (local, count) in moved {
                for _ in 0..count {
                    add(&mut rest, local);
                }
            }
            let known = self.can_be_reached(rule.from, &rest);
            return known.then_some(rest).into_iter().collect();
        };
        let mut all = vec![moved];
        for (local, count) in rest {
            let Some(origins) = self.origins.get(&(broadcast, local)) else {
                return Vec::new();
            };
            for _ in 0..count {
                let mut more: Vec<Multiset> = Vec::new();
                self.tried += (all.len() * origins.len()) as u64;
                for before in &all {
                    for &origin in origins {
                        let mut before = before.clone();
                        add(&mut before, origin);
                        if self.can_be_reached(rule.from, &before) {
                            more.push(before);
                        }
                    }
                }
                more.sort_unstable();
                more.dedup();
                all = more;
            }
        }
        all.retain(|before| self.can_be_reached(rule.from, before));
        all
    }

    /// What was found, where nothing bad can be reached.
    pub fn proof(&self) -> Proof {
        let mut ideals: Vec<(u32, Vec<(u32, Count)>)> = Vec::new();
        for (&shared, of_shared) in &self.ideals {
            ideals.extend(of_shared.iter().map(|ideal| (shared, ideal.to_vec())));
        }
        ideals.sort_unstable();
        let mut basis: Vec<(u32, Vec<(u32, u16)>)> = self
            .antichain
            .minimal()
            .map(|e| (e.shared, e.copies.to_vec()))
            .collect();
        basis.sort_unstable();
        Proof { ideals, basis }
    }
}

impl Proof {
    /// Whether it is one, by the steps of a system. A search never asks this; tests do.
    pub fn is_valid(&self, system: &mut dyn palisade_check::counted::System) -> bool {
        let mut steps = Steps::new(system);
        let (initial, initial_locals) = steps.initial();
        let mut ideals: FxHashMap<u32, Vec<&[(u32, Count)]>> = FxHashMap::default();
        for (shared, copies) in &self.ideals {
            ideals.entry(*shared).or_default().push(copies);
        }
        let covers = |shared: u32, copies: &[(u32, Count)]| {
            ideals.get(&shared).is_some_and(|ideals| {
                ideals.iter().any(|ideal| {
                    copies.iter().all(|&(local, count)| {
                        ideal
                            .iter()
                            .any(|&(other, many)| other == local && many >= count)
                    })
                })
            })
        };
        let in_basis = |shared: u32, copies: &[(u32, u16)]| {
            self.basis
                .iter()
                .any(|(s, smaller)| *s == shared && is_within(smaller, copies))
        };
        // The beginning.
        let any: Vec<(u32, Count)> = initial_locals.iter().map(|&l| (l, MANY)).collect();
        let many: Multiset = initial_locals.iter().map(|&l| (l, u16::MAX)).collect();
        if initial
            .iter()
            .any(|&shared| !covers(shared, &any) || in_basis(shared, &many))
        {
            return false;
        }
        // Steps from ideals lead into ideals.
        let mut cover = Cover::default();
        for (shared, copies) in &self.ideals {
            let movers = std::iter::once(None).chain((0..copies.len()).map(Some));
            for mover in movers {
                for step in steps.of(*shared, mover.map(|at| copies[at].0)).iter() {
                    if step.violates {
                        let bad: Multiset = mover.map(|at| (copies[at].0, 1)).into_iter().collect();
                        if !in_basis(*shared, &bad) {
                            return false;
                        }
                        continue;
                    }
                    let after = cover.fire(&mut steps, MANY - 1, copies, mover, step);
                    if !covers(step.shared, &after) {
                        return false;
                    }
                }
            }
        }
        // The same search, begun with the basis, must add nothing.
        let again = Backward::new(&mut steps, self.ideals.clone(), &mut |_, _| None);
        let Ok(mut again) = again else { return false };
        let found: Vec<(u32, Multiset)> = again
            .antichain
            .minimal()
            .map(|e| (e.shared, e.copies.to_vec()))
            .collect();
        if !found
            .iter()
            .all(|(shared, copies)| in_basis(*shared, copies))
        {
            return false;
        }
        for (shared, copies) in &self.basis {
            again.enter(*shared, copies.clone());
        }
        let before = again.states;
        again.search(u64::MAX, &mut |_, _| None) == End::Safe && again.states == before
    }
}
