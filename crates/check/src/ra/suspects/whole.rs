//! All suspicions as they are, for a certificate: no culprit is guessed, no run left out, no state made smaller. What is known of the last write is then followed whole: of a
//! location [`READ`] says that the last write of x is before some access of it, and [`WRITTEN`] that it is before its last write.

use std::cmp::Ordering;

use palisade_explore::{Space, Successors};
use palisade_lang::{Order, Program};
use palisade_threads::{LocalId, View};

use super::views::{self, HAPPENED, LOCATION_BASE, SEEN, THREAD_BASE};
use super::{AWARE, Access, Aim, Monitored, Outcome, READ, Suspects, Suspicion, WRITTEN, Worker};
use crate::certificate::put_state;
use crate::checkpoint::Kept;
use crate::ra::facts::Classes;
use crate::ra::step::AccessType;
use crate::sc::StepLabel;

/// The states of SC, and what may be suspected in them.
pub struct Whole<'s, 'f, 'p>(pub &'s Suspects<'f, 'p>);

impl<'f> Whole<'_, 'f, '_> {
    /// The rows behind an access that begins a suspicion.
    fn begun(&self, fresh: &[u32], thread: usize, access: Access) -> Vec<Vec<u32>> {
        let space = self.0;
        let mut rows = Vec::new();
        let writes = access.kind != AccessType::Read;
        if let Some(monitored) = access.monitored().filter(|_| writes) {
            let mut row = fresh.to_vec();
            let suspicion = Suspicion {
                location: monitored.location,
                aim: Aim::Any,
                last: true,
                plain: access.kind == AccessType::Write,
                nonatomic: false,
            };
            row[space.suspicion_at()] = suspicion.encode();
            let is_critical = match &space.facts.classes[access.place] {
                Classes::Single => true,
                Classes::By(predicates) => {
                    let old = space.frame.threads.value(access.old);
                    predicates.iter().any(|p| p.1 == old)
                }
            };
            row[space.value_at()] = if is_critical { access.old + 1 } else { 0 };
            self.access(&mut row, suspicion, thread, monitored);
            rows.push(row);
        }
        if space.facts.nonatomic[access.place] {
            let mut row = fresh.to_vec();
            let suspicion = Suspicion {
                location: access.place,
                aim: Aim::Racing,
                last: true,
                plain: writes,
                nonatomic: access.order == Order::NonAtomic,
            };
            row[space.suspicion_at()] = suspicion.encode();
            row[space.thread_at(thread)] = HAPPENED;
            if let Some(monitored) = access.monitored() {
                self.access(&mut row, suspicion, thread, monitored);
            }
            rows.push(row);
        }
        rows
    }

    /// What a step does to a suspicion.
    fn go_on(&self, row: &mut [u32], suspicion: Suspicion, thread: usize, outcome: &Outcome) {
        if let Some(access) = outcome.access.and_then(Access::monitored) {
            self.access(row, suspicion, thread, access);
        }
        if let Some(order) = outcome.fence {
            let status = &mut row[self.0.thread_at(thread)];
            match suspicion.stale_location() {
                Some(_) => views::fence(status, order),
                None => views::fence_by_happens_before(status, order),
            }
        }
    }

    fn access(&self, row: &mut [u32], suspicion: Suspicion, thread: usize, access: Monitored) {
        let space = self.0;
        let (at, of_location) = (space.thread_at(thread), space.location_at(access.location));
        let own = suspicion.stale_location() == Some(access.location);
        if suspicion.stale_location().is_some() {
            let writes = access.kind != AccessType::Read;
            if own && writes {
                // From now on it is this one that is the last.
                for thread in 0..space.frame.thread_count() {
                    row[space.thread_at(thread)] &= !AWARE;
                }
                for location in 0..space.facts.tracked_count {
                    row[space.location_at(location)] &= !(READ | WRITTEN);
                }
                row[at] |= AWARE;
                row[of_location] |= READ | WRITTEN;
            } else if writes {
                if row[at] & AWARE != 0 || row[of_location] & READ != 0 {
                    row[at] |= AWARE;
                    row[of_location] |= READ | WRITTEN;
                }
            } else {
                let was_written = row[of_location] & WRITTEN != 0;
                if row[at] & AWARE != 0 {
                    row[of_location] |= READ;
                }
                if was_written {
                    row[at] |= AWARE;
                }
            }
        }
        let (mut status, mut location) = (row[at], row[of_location]);
        views::access(&mut status, &mut location, access.as_views_see_it(), own);
        (row[at], row[of_location]) = (status, location);
    }

    /// Whether every thread has seen what is suspected to be missed.
    fn is_refuted(&self, row: &[u32]) -> bool {
        self.0.threads_of(row).iter().all(|s| s & SEEN != 0)
    }

    /// A row as numbers; `None` where a thread is stuck, or was stopped by an error.
    pub fn put(&self, view: &mut View<'f>, row: &[u32], numbers: &mut Vec<i64>) -> Option<()> {
        let space = self.0;
        if space.frame.atomic_thread(view, row).is_some() {
            return None;
        }
        put_state(space.frame, view, row, None, numbers)?;
        let Some(suspicion) = Suspicion::decode(row[space.suspicion_at()]) else {
            numbers.extend([0; 5]);
            return Some(());
        };
        let location = suspicion.location as i64;
        numbers.extend(match suspicion.stale_location() {
            Some(_) => {
                let value = space.value(view, row);
                let followed = i64::from(!suspicion.plain);
                let is_critical = i64::from(value.is_some());
                [1, location, followed, is_critical, value.unwrap_or(0)]
            }
            None => {
                let writes = i64::from(suspicion.plain);
                [2, location, writes, i64::from(suspicion.nonatomic), 0]
            }
        });
        for &status in space.threads_of(row) {
            let views = |from: u32| i64::from(status >> (THREAD_BASE + from) & 0b1111);
            let own = i64::from(status >> (THREAD_BASE + 12) & 1);
            let all = views(0) << 8 | views(4) << 4 | views(8);
            numbers.push(all << 2 | own << 1 | i64::from(status & AWARE != 0));
        }
        for location in 0..space.facts.tracked_count {
            let status = row[space.location_at(location)];
            let message = i64::from(status >> LOCATION_BASE & 0b1111);
            let flag = |from: u32| i64::from(status >> (LOCATION_BASE + from) & 1);
            let known = i64::from(status & READ != 0) << 1 | i64::from(status & WRITTEN != 0);
            numbers.push(message << 4 | flag(4) << 3 | flag(5) << 2 | known);
        }
        Some(())
    }
}

impl<'f> Space for Whole<'_, 'f, '_> {
    type Worker = Worker<'f>;

    fn worker(&self) -> Worker<'f> {
        self.0.worker()
    }

    fn width(&self) -> usize {
        self.0.width()
    }

    fn bounds(&self) -> Option<Vec<u32>> {
        self.0.bounds()
    }

    fn initial(&self, worker: &mut Worker<'f>, out: &mut Successors<'_>) {
        self.0.initial(worker, out);
    }

    fn expand(&self, worker: &mut Worker<'f>, row: &[u32], out: &mut Successors<'_>) {
        let space = self.0;
        worker.view.begin_state();
        if space.frame.atomic_thread(&mut worker.view, row).is_some() {
            return;
        }
        let suspicion = Suspicion::decode(row[space.suspicion_at()]);
        for thread in 0..space.frame.thread_count() {
            let code = space.frame.codes[thread];
            let point = worker.view.point(code, LocalId(row[thread]));
            let point = point.map_or(0, |p| p.0);
            space.outcomes(worker, row, thread);
            let outcomes = std::mem::take(&mut worker.outcomes);
            for outcome in &outcomes {
                if worker.view.is_atomic(code, outcome.local) {
                    // Stuck in a block: nothing happens any more.
                    continue;
                }
                let label = StepLabel {
                    component: thread,
                    action: outcome.action,
                    outcome: outcome.outcome,
                };
                let label = label.encode(point);
                let mut fresh = row.to_vec();
                fresh[thread] = outcome.local.0;
                if let Some((component, value)) = outcome.written {
                    fresh[component] = value;
                }
                let mut arrive = |row: &[u32]| {
                    if row[space.suspicion_at()] == 0 || !self.is_refuted(row) {
                        out.push(label, row);
                    }
                };
                match suspicion {
                    Some(suspicion) => {
                        self.go_on(&mut fresh, suspicion, thread, outcome);
                        arrive(&fresh);
                    }
                    None => {
                        arrive(&fresh);
                        if let Some(access) = outcome.access {
                            let begun = self.begun(&fresh, thread, access);
                            begun.iter().for_each(|row| arrive(row));
                        }
                    }
                }
            }
            worker.outcomes = outcomes;
        }
    }

    fn compare(&self, a: &[u32], b: &[u32]) -> Ordering {
        self.0.compare(a, b)
    }

    fn compare_steps(&self, row: &[u32], a: u64, b: u64) -> Ordering {
        self.0.compare_steps(row, a, b)
    }
}

impl Kept for Whole<'_, '_, '_> {
    fn program(&self) -> &Program {
        self.0.program()
    }

    fn keep(&self, out: &mut Vec<i64>) {
        Kept::keep(self.0, out);
    }

    fn recall(&self, numbers: &mut dyn Iterator<Item = i64>) -> Option<()> {
        Kept::recall(self.0, numbers)
    }
}
