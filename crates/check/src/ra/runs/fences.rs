//! Whether a run can execute sc fences in the order in which they take effect.
//!
//! In a graph without sc accesses the sc fences take effect in an order that contains `[F];(hb ∪ hb;eco;hb);[F]`, and a run executes events in an order that
//! contains `po ∪ rf`. If every way along `po ∪ rf` from one sc fence to another is one of happens-before, both can be the same order: a cycle through both would be one of the
//! first alone, which is none. Such a way leaves a thread by a write that another thread reads, and comes to the next fence or to the next such write behind that read. The first write is published by the
//! fence; each further one has to publish what was read before it. So it is enough that no thread reads what others have written and, behind it, writes what others read, without that the read acquires and
//! the write releases, or fences between them do that. A read-modify-write carries on what the write published that it reads.

use palisade_lang::{Op, Program, Thread};

use crate::ra::facts::{Facts, Fences, Future};

/// Whether that is so.
pub(crate) fn fences_in_order(program: &Program) -> bool {
    let facts = Facts::new(program, Fences::Fences);
    let instances = program.instances();
    (0..instances.len()).all(|instance| {
        let others = || (0..instances.len()).filter(move |&other| other != instance);
        let all_of = |other: usize| facts.future_of_thread(program, other);
        let is_written = |place: usize| others().any(|other| all_of(other).writes(place));
        let is_read = |place: usize| {
            others().any(|other| {
                let future = all_of(other);
                future.reads.has(place) || future.updates.has(place)
            })
        };
        let thread = program.thread(instances[instance].thread);
        let effects = facts.effects(instance, thread);
        publishes_what_it_reads(program, thread, &effects, is_read, is_written)
    })
}

/// What was read behind a point's last fences.
#[derive(Clone, Copy, Default, PartialEq)]
struct Unpublished {
    /// Some of it is not acquired.
    pending: bool,
    /// Some of it is not published by a relaxed write.
    read: bool,
}

fn publishes_what_it_reads(
    program: &Program,
    thread: &Thread,
    effects: &[Option<&Future>],
    is_read: impl Fn(usize) -> bool,
    is_written: impl Fn(usize) -> bool,
) -> bool {
    let mut at = vec![None::<Unpublished>; thread.points.len()];
    at[thread.initial.index()] = Some(Unpublished::default());
    let mut changed = true;
    while changed {
        changed = false;
        for (transition, effect) in thread.transitions.iter().zip(effects) {
            let (Some(mut now), Some(effect)) = (at[transition.from.index()], effect) else {
                continue;
            };
            if let Op::Fence(order) = transition.op {
                now.pending &= !order.acquires();
                if order.releases() {
                    now.read = now.pending;
                }
            }
            for place in 0..program.locations.len() {
                let reads = effect.reads.has(place) || effect.updates.has(place);
                if effect.writes(place) && is_read(place) {
                    let bad = match effect.loose_writes.has(place) {
                        true => now.read,
                        false => now.pending,
                    };
                    if bad {
                        return false;
                    }
                }
                if reads && is_written(place) {
                    now.read = true;
                    now.pending |= effect.loose_reads.has(place);
                }
            }
            let behind = &mut at[transition.to.index()];
            let joined = match *behind {
                None => now,
                Some(before) => Unpublished {
                    pending: before.pending || now.pending,
                    read: before.read || now.read,
                },
            };
            if *behind != Some(joined) {
                *behind = Some(joined);
                changed = true;
            }
        }
    }
    true
}
