//! The conditions of Theorem 5.3, and races.

use palisade_lang::{Domain, LocationId};
use palisade_threads::{ActionKind, Effect, LocalId, View};

use super::monitor::{Layout, Slots};
use super::search::Search;
use crate::ra::blocks::{Block, Blocks};
use crate::ra::facts::Facts;
use crate::ra::sets::{intersect, members};
use crate::ra::step::Violation;

impl Search<'_, '_> {
    /// Looks for a violation in a state: Theorem 5.3 for each access that some thread could do next, and races.
    pub(super) fn violation(&mut self, row: &[u32]) -> Option<Violation> {
        let mut plain: Vec<(usize, usize, LocationId, bool)> = Vec::new();
        for (thread, &code) in self.frame.codes.iter().enumerate() {
            let local = LocalId(row[thread]);
            if self.view.is_atomic(code, local) {
                // Only a thread that got stuck in a block stands inside one, and then nothing happens any more.
                return None;
            }
            for action in 0..self.view.actions(code, local) {
                let kind = self.view.action(code, local, action).kind;
                if let Some(location) = kind.location()
                    && self.frame.program().location(location).nonatomic
                {
                    let writes = matches!(kind, ActionKind::Store { .. });
                    let other = plain.iter().find(|(other, _, place, other_writes)| {
                        *other != thread && *place == location && (writes || *other_writes)
                    });
                    if let Some(&(other, other_action, _, _)) = other {
                        return Some(Violation::Race {
                            first: (other, other_action),
                            second: (thread, action),
                        });
                    }
                    plain.push((thread, action, location, writes));
                } else if could_be_stale(
                    &Monitored {
                        facts: self.facts,
                        layout: &self.layout,
                        slots: &self.slots,
                        monitor: &self.current,
                        domain: self.frame.program().domain,
                    },
                    &mut self.view,
                    &mut self.blocks,
                    thread,
                    Block {
                        code,
                        local,
                        action,
                    },
                ) {
                    return Some(Violation::Stale { thread, action });
                }
            }
        }
        None
    }
}

/// A monitor and what is needed to read it.
pub struct Monitored<'a> {
    /// What was known before.
    pub facts: &'a Facts,
    /// How it is laid out.
    pub layout: &'a Layout,
    /// What its slots stand for.
    pub slots: &'a Slots,
    /// The monitor itself.
    pub monitor: &'a [u64],
    /// The range of values.
    pub domain: Domain,
}

/// Theorem 5.3 for one action of the thread with this number in the monitor.
pub fn could_be_stale(
    monitored: &Monitored<'_>,
    view: &mut View<'_>,
    blocks: &mut Blocks,
    thread: usize,
    next: Block,
) -> bool {
    let Monitored {
        facts,
        layout,
        slots,
        monitor,
        domain,
    } = *monitored;
    let Block {
        code,
        local,
        action,
    } = next;
    let kind = view.action(code, local, action).kind;
    let location = match kind {
        ActionKind::AtomicBegin => {
            let Some(location) = blocks.location(view, code, local, action) else {
                return false;
            };
            location
        }
        // A fence updates a place that all threads only update: its last write is the only one that it can follow.
        other => match other.location() {
            Some(location) => location,
            None => return false,
        },
    };
    let Some(x) = facts.tracked[location.index()] else {
        return false;
    };
    if !layout.is_aware(monitor, thread, x) {
        return false;
    }
    let own = slots.of(x);
    let pick = |stale: &[u64]| -> Vec<usize> {
        let mut picked = own.to_vec();
        intersect(&mut picked, stale);
        members(&picked).collect()
    };
    let reads = pick(layout.stale_reads(monitor, thread));
    let writes = pick(layout.stale_writes(monitor, thread));
    if reads.is_empty() && writes.is_empty() {
        return false;
    }
    match kind {
        ActionKind::Load { .. } => !reads.is_empty(),
        ActionKind::Store { .. } => !writes.is_empty(),
        ActionKind::Wait {
            relation, value, ..
        } => reads
            .iter()
            .any(|&slot| relation.holds(slots.value(slot), value)),
        ActionKind::Rmw { update, .. } => {
            let effect = |slot: usize| update.effect(domain, slots.value(slot));
            reads.iter().any(|&s| effect(s) == Ok(Effect::Fails))
                || writes
                    .iter()
                    .any(|&s| matches!(effect(s), Ok(Effect::Writes(_))))
        }
        ActionKind::AtomicBegin => {
            let mut found = false;
            for (stale, writing) in [(reads, false), (writes, true)] {
                for slot in stale {
                    let ways = blocks.ways(view, domain, next, slots.value(slot));
                    found |= ways
                        .iter()
                        .any(|way| way.reads && way.written.is_some() == writing);
                }
            }
            found
        }
        _ => false,
    }
}
