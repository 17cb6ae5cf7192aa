//! The searches on small nets, known ones and random ones.

use std::collections::{BTreeSet, HashSet};

use palisade_check::counted::{CopyStep, Count, MANY, System};

use crate::antichain::{Multiset, add, is_within, remove};
use crate::backward::{Backward, End as BackwardEnd, Proof};
use crate::cover::{Cover, End};
use crate::steps::Steps;

/// A step of a net: shared part and local before it, shared part and local behind it, the broadcast.
type Rule = (u32, Option<u32>, u32, Option<u32>, Option<u32>);

/// A system that is a table.
#[derive(Clone, Debug, Default)]
struct Net {
    rules: Vec<Rule>,
    /// For each broadcast, where it brings each local.
    broadcasts: Vec<Vec<u32>>,
    /// Shared parts with the copies that make them bad.
    bad: Vec<(u32, Vec<u32>)>,
    /// All copies begin here, at the shared part 0.
    start: u32,
}

impl System for Net {
    fn initial(&mut self) -> (Vec<u32>, Vec<u32>) {
        (vec![0], vec![self.start])
    }

    fn steps(&mut self, shared: u32, mover: Option<u32>) -> Vec<CopyStep> {
        let enabled = self.rules.iter().filter(|r| (r.0, r.1) == (shared, mover));
        enabled
            .map(|&(_, _, shared, to, broadcast)| CopyStep {
                shared,
                to,
                broadcast,
                violates: false,
            })
            .collect()
    }

    fn transfer(&mut self, broadcast: u32, local: u32) -> u32 {
        self.broadcasts[broadcast as usize][local as usize]
    }

    fn is_bad(&mut self, shared: u32, copies: &[(u32, Count)]) -> bool {
        let present: Multiset = copies
            .iter()
            .map(|&(local, count)| {
                (
                    local,
                    if count == MANY {
                        u16::MAX
                    } else {
                        count.into()
                    },
                )
            })
            .collect();
        let mut bad = self.bad.iter();
        bad.any(|(s, choice)| *s == shared && is_within(&multiset(choice), &present))
    }

    fn bad_choices(&mut self, shared: u32, locals: &[u32]) -> Vec<Vec<u32>> {
        let of_shared = self.bad.iter().filter(|(s, _)| *s == shared);
        of_shared
            .filter(|(_, choice)| choice.iter().all(|l| locals.contains(l)))
            .map(|(_, choice)| choice.clone())
            .collect()
    }

    fn bytes(&self) -> u64 {
        0
    }
}

fn multiset(locals: &[u32]) -> Multiset {
    let mut copies = Multiset::new();
    for &local in locals {
        add(&mut copies, local);
    }
    copies
}

impl Net {
    /// Whether something bad can be reached with so many copies, by looking at all states.
    fn instance_is_bad(&mut self, copies: u32) -> bool {
        let first = (0, multiset(&vec![self.start; copies as usize]));
        let mut seen: HashSet<(u32, Multiset)> = HashSet::from([first.clone()]);
        let mut todo = vec![first];
        while let Some((shared, copies)) = todo.pop() {
            let counted: Vec<(u32, Count)> = copies.iter().map(|&(l, c)| (l, c as Count)).collect();
            if self.is_bad(shared, &counted) {
                return true;
            }
            for &(from, mover, behind, to, broadcast) in &self.rules {
                let is_there = |l: u32| copies.iter().any(|c| c.0 == l);
                if from != shared || mover.is_some_and(|l| !is_there(l)) {
                    continue;
                }
                let mut rest = copies.clone();
                if let Some(mover) = mover {
                    remove(&mut rest, mover);
                }
                let mut after = Multiset::new();
                for (local, count) in rest {
                    let local =
                        broadcast.map_or(local, |b| self.broadcasts[b as usize][local as usize]);
                    for _ in 0..count {
                        add(&mut after, local);
                    }
                }
                if let Some(to) = to {
                    add(&mut after, to);
                }
                if seen.insert((behind, after.clone())) {
                    todo.push((behind, after));
                }
            }
        }
        false
    }

    fn backward(&mut self, cap: Count) -> (BackwardEnd, Proof) {
        let mut steps = Steps::new(self);
        let mut go_on = |_: u64, _: u64| None;
        let ideals = Cover::default()
            .collect(&mut steps, cap, u64::MAX, &mut go_on)
            .unwrap();
        let mut search = Backward::new(&mut steps, ideals, &mut go_on).unwrap();
        let end = search.search(u64::MAX, &mut go_on);
        (end, search.proof())
    }

    fn forward(&mut self, cap: Count) -> End {
        let mut steps = Steps::new(self);
        Cover::default().explore(&mut steps, cap, u64::MAX, &mut |_, _| None)
    }
}

/// Copies wait (0), take a lock (shared part 1) and are inside (1).
fn lock() -> Net {
    Net {
        rules: vec![
            (0, Some(0), 1, Some(1), None),
            (1, Some(1), 0, Some(0), None),
        ],
        bad: vec![(0, vec![1, 1]), (1, vec![1, 1])],
        ..Net::default()
    }
}

#[test]
fn a_lock_is_safe_and_a_broken_one_is_not() {
    let (end, proof) = lock().backward(0);
    assert_eq!(end, BackwardEnd::Safe);
    // Never two inside, and none inside while another copy finds the lock free.
    let basis = [
        (0, vec![(0, 1), (1, 1)]),
        (0, vec![(1, 2)]),
        (1, vec![(1, 2)]),
    ];
    assert_eq!(proof.basis, basis);
    assert!(proof.is_valid(&mut lock()));
    let mut broken = lock();
    broken.rules.push((1, Some(0), 1, Some(1), None));
    assert_eq!(broken.backward(0).0, BackwardEnd::Bad(2));
    assert_eq!(broken.backward(1).0, BackwardEnd::Bad(2));
}

/// With the numbers that the forward walk keeps, nothing bad is left to go back from.
#[test]
fn a_better_over_approximation_leaves_less_to_search() {
    let (end, proof) = lock().backward(1);
    assert_eq!(end, BackwardEnd::Safe);
    assert!(proof.basis.is_empty(), "{proof:?}");
    assert!(proof.is_valid(&mut lock()));
}

/// A counter in the shared part, up to `most`: copies come in (1) and go out, and at 0 no copy is inside.
fn counter(most: u32) -> Net {
    let mut net = Net::default();
    for count in 0..most {
        net.rules.push((count, Some(0), count + 1, Some(1), None));
        net.rules.push((count + 1, Some(1), count, Some(0), None));
    }
    net.bad.push((0, vec![1]));
    net
}

#[test]
fn a_counter_needs_as_many_copies_as_it_counts() {
    let mut net = counter(7);
    let (end, proof) = net.backward(0);
    assert_eq!(end, BackwardEnd::Safe);
    let basis: Vec<_> = (0..=7).map(|c| (c, vec![(1, c as u16 + 1)])).collect();
    assert_eq!(proof.basis, basis);
    assert!(proof.is_valid(&mut net));
    assert_eq!(net.forward(6), End::Bad);
    assert_eq!(net.forward(7), End::Safe);
    // One more that comes in without being counted.
    net.rules.push((7, Some(0), 7, Some(1), None));
    assert_eq!(net.backward(0).0, BackwardEnd::Bad(8));
    assert!(!net.instance_is_bad(7) && net.instance_is_bad(8));
}

/// A broadcast sends all copies home: what is before it may have been anywhere.
#[test]
fn broadcasts_are_undone_by_all_their_origins() {
    // Copies go from 0 to 1 and from 1 to 2; a fixed thread sends all copies to 3 and opens the way from 3 to 4.
    let mut net = Net {
        rules: vec![
            (0, Some(0), 0, Some(1), None),
            (0, Some(1), 0, Some(2), None),
            (0, None, 1, None, Some(0)),
            (1, Some(3), 1, Some(4), None),
        ],
        broadcasts: vec![vec![3, 3, 3, 3, 4]],
        bad: vec![(1, vec![4, 4])],
        start: 0,
    };
    assert_eq!(net.backward(0).0, BackwardEnd::Bad(2));
    // Without the first step, and with a broadcast that only takes those at 1, no copy gets there.
    net.rules.remove(0);
    net.broadcasts = vec![vec![0, 3, 2, 3, 4]];
    let (end, proof) = net.backward(0);
    assert_eq!(end, BackwardEnd::Safe);
    assert!(proof.is_valid(&mut net));
}

#[test]
fn a_proof_without_a_part_is_none() {
    let mut net = counter(4);
    let (_, proof) = net.backward(0);
    assert!(proof.is_valid(&mut net));
    for at in 0..proof.basis.len() {
        let mut less = proof.clone();
        less.basis.remove(at);
        assert!(!less.is_valid(&mut net), "without {:?}", proof.basis[at]);
    }
    for at in 0..proof.ideals.len() {
        let mut less = proof.clone();
        less.ideals.remove(at);
        assert!(!less.is_valid(&mut net), "without {:?}", proof.ideals[at]);
    }
    let mut more = proof.clone();
    more.basis.push((0, vec![(0, 9)]));
    assert!(!more.is_valid(&mut net), "the beginning is in it");
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(limit)) as u32
    }

    fn net(&mut self) -> Net {
        const SHARED: u32 = 3;
        const LOCALS: u32 = 4;
        let mut net = Net::default();
        for _ in 0..self.below(2) {
            net.broadcasts
                .push((0..LOCALS).map(|_| self.below(LOCALS)).collect());
        }
        for _ in 0..5 + self.below(9) {
            let broadcast = match net.broadcasts.len() as u32 {
                0 => None,
                some if self.below(3) == 0 => Some(self.below(some)),
                _ => None,
            };
            let is_fixed = self.below(6) == 0;
            let mover = (!is_fixed).then(|| self.below(LOCALS));
            // Now and then a copy becomes a part of the shared part.
            let to = mover
                .filter(|_| self.below(8) > 0)
                .map(|_| self.below(LOCALS));
            net.rules
                .push((self.below(SHARED), mover, self.below(SHARED), to, broadcast));
        }
        let size = 1 + self.below(3);
        let choice = (0..size).map(|_| self.below(LOCALS)).collect();
        net.bad.push((self.below(SHARED), choice));
        net
    }
}

/// On random nets: what is said to be bad is bad with so many copies, and with fewer or as many by a walk over all states; what is said to be safe
/// is bad with none of the first numbers, the proof is one, and the forward walk agrees.
#[test]
fn random_nets_agree_with_all_their_states() {
    let mut random = Random(5);
    let mut seen = BTreeSet::new();
    let (mut safe, mut bad, mut needs_counting) = (0, 0, 0);
    for number in 0..4000 {
        let mut net = random.net();
        let (end, proof) = net.backward(0);
        let (pruned, pruned_proof) = net.backward(1);
        match end {
            BackwardEnd::Safe => {
                safe += 1;
                needs_counting += u32::from(!proof.basis.is_empty());
                assert_eq!(pruned, BackwardEnd::Safe, "{number}: {net:?}");
                for copies in 1..=4 {
                    assert!(!net.instance_is_bad(copies), "{number}: {net:?}");
                }
                assert!(proof.is_valid(&mut net.clone()), "{number}: {net:?}");
                assert!(pruned_proof.is_valid(&mut net.clone()), "{number}: {net:?}");
                let found = (1..10).map(|cap| net.forward(cap));
                assert!(
                    found.into_iter().any(|e| e == End::Safe),
                    "{number}: {net:?}"
                );
            }
            BackwardEnd::Bad(copies) => {
                bad += 1;
                seen.insert(copies);
                assert!(matches!(pruned, BackwardEnd::Bad(_)), "{number}: {net:?}");
                if copies <= 6 {
                    assert!(net.instance_is_bad(copies), "{number}: {net:?}");
                }
                for cap in 0..4 {
                    assert_eq!(net.forward(cap), End::Bad, "{number}: {net:?}");
                }
            }
            other => panic!("{number}: {other:?}"),
        }
    }
    assert!(safe > 500 && bad > 500, "{safe} safe, {bad} bad");
    assert!(needs_counting > 50, "{needs_counting}");
    assert!(seen.len() >= 3, "{seen:?}");
}

/// What is robust for every number of copies uses no stale value either.
#[test]
fn observational_follows_from_robust() {
    let ask = |order: &str| {
        let program = palisade_testkit::program(&format!(
            "shared f, d; thread w {{ d.store(1, relaxed); f.store(1, release); }}
             thread r[*] {{ if f.load({order}) == 1 {{ let x = d.load(relaxed); if x == 0 {{ skip; }} }} }}"
        ));
        let options = palisade_check::Options::new(
            palisade_check::Model::C20,
            palisade_check::Criterion::Observational,
        );
        let control = palisade_check::Control {
            cancel: &std::sync::atomic::AtomicBool::new(false),
            progress: &|_| {},
        };
        crate::check(&program, &options, &control).map(|answer| answer.verdict)
    };
    assert_eq!(ask("acquire").ok(), Some(palisade_check::Verdict::Holds));
    assert_eq!(ask("relaxed").ok(), Some(palisade_check::Verdict::Violated));
}
