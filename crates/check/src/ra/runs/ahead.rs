//! Which locations a thread may still read, and which of them only after it has written them.

use palisade_lang::{PointId, Program};

use super::messages::Reads;
use crate::ra::facts::{Facts, Fences};
use crate::ra::sets::Set;

/// For each running thread and each of its points.
pub(super) struct Ahead(Vec<Vec<OfPoint>>);

#[derive(Clone)]
struct OfPoint {
    /// What may be read without being written, at any time.
    reads: Set,
    /// The same, with nothing before it that certainly writes there.
    first: Set,
}

impl Ahead {
    pub fn new(program: &Program) -> Ahead {
        let facts = Facts::new(program, Fences::Fences);
        let instances = program.instances().into_iter().enumerate();
        Ahead(
            instances
                .map(|(number, instance)| of_thread(program, &facts, number, instance.thread))
                .collect(),
        )
    }

    pub fn of(&self, instance: usize, point: PointId, place: usize) -> Reads {
        let of_point = &self.0[instance][point.index()];
        match (of_point.first.has(place), of_point.reads.has(place)) {
            (true, _) => Reads::Perhaps,
            (false, true) => Reads::BehindStore,
            (false, false) => Reads::Never,
        }
    }
}

fn of_thread(
    program: &Program,
    facts: &Facts,
    instance: usize,
    thread: palisade_lang::ThreadId,
) -> Vec<OfPoint> {
    let thread = program.thread(thread);
    let places = program.locations.len();
    let nothing = OfPoint {
        reads: Set::empty(facts.places),
        first: Set::empty(facts.places),
    };
    let effects = facts.effects(instance, thread);
    // What a transition may only read, and what it certainly writes. What a block does is not known before its end.
    let does: Vec<Option<(Set, Option<usize>)>> = thread
        .transitions
        .iter()
        .zip(effects)
        .map(|(transition, effect)| {
            let effect = effect?;
            let in_block = thread.points[transition.from.index()].atomic;
            let mut reads = effect.reads.clone();
            if in_block {
                reads.join(&effect.updates);
                reads.join(&effect.stores);
            }
            let mut written = (0..places).filter(|&place| effect.writes(place));
            let certain = match (written.next(), written.next()) {
                (Some(place), None) if !in_block && !(0..places).any(|p| reads.has(p)) => {
                    Some(place)
                }
                _ => None,
            };
            Some((reads, certain))
        })
        .collect();
    let mut points = vec![nothing; thread.points.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (transition, does) in thread.transitions.iter().zip(&does).rev() {
            let Some((reads, certain)) = does else {
                continue;
            };
            let mut behind = points[transition.to.index()].clone();
            if let Some(place) = certain {
                behind.first.remove(*place);
            }
            behind.reads.join(reads);
            behind.first.join(reads);
            let here = &mut points[transition.from.index()];
            changed |= here.reads.join(&behind.reads);
            changed |= here.first.join(&behind.first);
        }
    }
    points
}
