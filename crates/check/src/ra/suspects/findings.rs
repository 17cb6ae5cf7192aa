//! What is wrong in a state, and how a run leads there.

use palisade_explore::Finding;
use palisade_lang::{LocationId, Order};
use palisade_threads::{ActionKind, Effect, LocalId, View};

use super::{AWARE, Access, Aim, Suspects, Suspicion, Worker, label, views};
use crate::ra::blocks::Block;
use crate::ra::step::{AccessType, StepTaken, Violation};

impl<'f> Suspects<'f, '_> {
    /// What is wrong in a state.
    pub(super) fn violations(&self, worker: &mut Worker<'f>, row: &[u32]) -> Vec<Violation> {
        match Suspicion::decode(row[self.suspicion_at()]) {
            None => self.races(&mut worker.view, row),
            Some(suspicion) if suspicion.aim == Aim::Racing => self.racing(worker, row, suspicion),
            Some(suspicion) if suspicion.aim == Aim::Using => {
                let thread = self.culprit(row);
                let used = self.is_used(&mut worker.view, thread, LocalId(row[thread]));
                used.then_some(Violation::Used { thread })
                    .into_iter()
                    .collect()
            }
            Some(suspicion) => self.stale(worker, row, suspicion),
        }
    }

    /// Races on nonatomic locations (Def. 6.1), the first for each location.
    pub(super) fn races(&self, view: &mut View<'_>, row: &[u32]) -> Vec<Violation> {
        let mut plain: Vec<(usize, usize, LocationId, bool)> = Vec::new();
        let mut races = Vec::new();
        let mut racy: Vec<LocationId> = Vec::new();
        if self.frame.atomic_thread(view, row).is_some() {
            return races;
        }
        for (thread, &code) in self.frame.codes.iter().enumerate() {
            let local = LocalId(row[thread]);
            for action in 0..view.actions(code, local) {
                let kind = view.action(code, local, action).kind;
                let Some(location) = kind.location() else {
                    continue;
                };
                if !self.frame.program().location(location).nonatomic || racy.contains(&location) {
                    // Places that are accessed in both ways are left to suspicions.
                    continue;
                }
                let writes = matches!(kind, ActionKind::Store { .. });
                let other = plain.iter().find(|(other, _, place, other_writes)| {
                    *other != thread && *place == location && (writes || *other_writes)
                });
                if let Some(&(other, other_action, _, _)) = other {
                    racy.push(location);
                    races.push(Violation::Race {
                        first: (other, other_action),
                        second: (thread, action),
                    });
                }
                plain.push((thread, action, location, writes));
            }
        }
        races
    }

    /// What the culprit is about to do that races with the access which began the suspicion.
    fn racing(&self, worker: &mut Worker<'f>, row: &[u32], suspicion: Suspicion) -> Vec<Violation> {
        let culprit = self.culprit(row);
        if self.frame.atomic_thread(&mut worker.view, row).is_some() {
            return Vec::new();
        }
        self.outcomes(worker, row, culprit);
        // What the access itself reads may come with the first access: then they are in order. Where loads may be blind, they may read something else.
        let synchronises = |access: Access| {
            let reads_what_is_newest = self.roles.is_none();
            reads_what_is_newest
                && access.monitored().is_some_and(|monitored| {
                    let mut status = row[self.thread_at(culprit)];
                    let mut location = row[self.location_at(monitored.location)];
                    let seen = monitored.as_views_see_it();
                    views::access(&mut status, &mut location, seen, false);
                    status & views::SEEN != 0
                })
        };
        let races = worker.outcomes.iter().filter(|outcome| {
            outcome.blind.is_none()
                && outcome.access.is_some_and(|access| {
                    access.place == suspicion.location
                        && (suspicion.plain || access.kind != AccessType::Read)
                        && (suspicion.nonatomic || access.order == Order::NonAtomic)
                        && !synchronises(access)
                })
        });
        races
            .map(|outcome| Violation::Unordered {
                thread: culprit,
                action: outcome.action,
                outcome: outcome.outcome,
            })
            .take(1)
            .collect()
    }

    /// What the culprit is about to do stale.
    pub(super) fn stale(
        &self,
        worker: &mut Worker<'f>,
        row: &[u32],
        suspicion: Suspicion,
    ) -> Vec<Violation> {
        let culprit = self.culprit(row);
        if !suspicion.last
            || row[self.thread_at(culprit)] & (AWARE | views::SEEN) != AWARE
            || self.frame.atomic_thread(&mut worker.view, row).is_some()
        {
            return Vec::new();
        }
        let Worker { view, blocks, .. } = worker;
        let value = self.value(view, row);
        let domain = self.frame.program().domain;
        let (code, local) = (self.frame.codes[culprit], LocalId(row[culprit]));
        let place = self.places[suspicion.location];
        let status = row[self.thread_at(culprit)];
        // Whether an access of this order may be stale.
        let may = |order: Order| views::may_be_stale(status, self.order(place, order));
        let mut found = Vec::new();
        for action in 0..view.actions(code, local) {
            let taken = view.action(code, local, action);
            let kind = taken.kind;
            let location = match kind {
                ActionKind::AtomicBegin => blocks.location(view, code, local, action),
                other => other.location(),
            };
            // A load that can be blind does no harm by itself, and a plain one that could be stale races, which is found as such.
            let is_plain_load = matches!(kind, ActionKind::Load { .. })
                && kind.order(false).map(|order| self.order(place, order))
                    == Some(Order::NonAtomic);
            let harmless = self.roles.is_some_and(|roles| {
                let role = roles.of(code, taken.transition);
                role.blind || role.may_be_blind || is_plain_load
            });
            if harmless || location.is_none_or(|l| l.index() != place) {
                continue;
            }
            let wrote = |wrote| kind.order(wrote).is_some_and(may);
            let possible = match (kind, value) {
                (ActionKind::Load { .. }, _) => wrote(false),
                (ActionKind::Store { .. }, _) => suspicion.plain && wrote(true),
                (
                    ActionKind::Wait {
                        relation, value, ..
                    },
                    Some(found),
                ) => relation.holds(found, value) && wrote(false),
                (ActionKind::Rmw { .. }, None) => suspicion.plain && wrote(true),
                (ActionKind::Rmw { update, .. }, Some(found)) => match update.effect(domain, found)
                {
                    Ok(Effect::Fails) => wrote(false),
                    Ok(Effect::Writes(_)) => suspicion.plain && wrote(true),
                    _ => false,
                },
                (ActionKind::AtomicBegin, Some(found)) => {
                    let block = Block {
                        code,
                        local,
                        action,
                    };
                    let ways = blocks.ways(view, domain, block, found);
                    ways.iter().any(|way| {
                        way.reads && (way.written.is_none() || suspicion.plain) && may(way.order())
                    })
                }
                _ => false,
            };
            if possible {
                found.push(Violation::Stale {
                    thread: culprit,
                    action,
                });
            }
        }
        found
    }

    /// The kind of finding that a violation is: one for each access of a thread and location, and one for each location that is raced for.
    pub(super) fn kind(&self, view: &mut View<'_>, row: &[u32], violation: &Violation) -> u64 {
        let (race, (thread, action)) = match *violation {
            Violation::Stale { thread, action } => (0, (thread, action)),
            Violation::Race { first, .. } => (1 << 63, first),
            Violation::Unordered { thread, action, .. } => (1 << 63, (thread, action)),
            Violation::Used { thread } => return 1 << 62 | self.frame.codes[thread] as u64,
        };
        let (code, local) = (self.frame.codes[thread], LocalId(row[thread]));
        let taken = view.action(code, local, action);
        let location = match Suspicion::decode(row[self.suspicion_at()]) {
            Some(suspicion) => suspicion.location as u64,
            None => taken.kind.location().map_or(0, |l| u64::from(l.0)),
        };
        if race != 0 {
            return race | location;
        }
        (code as u64) << 48 | u64::from(taken.transition) << 20 | location
    }

    /// What leads to a finding: the initial row, the steps, and the violation, all with threads at their own places.
    pub fn story(
        &self,
        worker: &mut Worker<'f>,
        finding: &Finding,
    ) -> Option<(Vec<u32>, Vec<StepTaken>, Violation)> {
        let first = finding.path.get(0)?.row;
        let mut instance_at: Vec<usize> = (0..self.frame.thread_count()).collect();
        let mut steps = Vec::new();
        for (before, after) in finding.path.iter().zip(finding.path.iter().skip(1)) {
            let mut found: Option<(StepTaken, Vec<usize>)> = None;
            worker.view.begin_state();
            self.steps(worker, before.row, &mut |taken, row| {
                if found.is_none() && row == after.row && label(taken) == after.label {
                    found = Some((taken.step.clone(), taken.from.to_vec()));
                }
            });
            let (mut step, from) = found?;
            step.thread = instance_at[step.thread];
            instance_at = from.iter().map(|&f| instance_at[f]).collect();
            let state = |thread: usize| (after.row[thread], after.row[self.thread_at(thread)]);
            let are_alike = |i, j| state(i) == state(j);
            self.frame.settle_ties(&mut instance_at, are_alike);
            steps.push(step);
        }
        let last = finding.path.last()?.row;
        worker.view.begin_state();
        let violations = self.violations(worker, last);
        let violation = violations
            .into_iter()
            .find(|v| self.kind(&mut worker.view, last, v) == finding.kind)?;
        let violation = violation.with_threads(&instance_at);
        Some((first[..self.frame.width()].to_vec(), steps, violation))
    }
}
