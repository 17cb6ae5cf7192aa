//! The steps of a state: what threads do, how a suspicion begins, and how it goes on.

use std::cmp::Ordering;
use std::sync::Arc;
use std::sync::atomic::Ordering as Memory;

use palisade_lang::{LocationId, Order};
use palisade_threads::{ActionKind, LocalId, View};

use super::views::{LOCATION_VIEWS, SEEN};
use super::{
    AWARE, Access, Aim, Blind, CULPRIT, OUT, Outcome, READ, Suspects, Suspicion, Taken, Visit,
    WRITTEN, Wanted, Worker, views,
};
use crate::ra::blocks::{Block, Blocks, Way};
use crate::ra::facts::{Fences, Horizon, effective};
use crate::ra::step::{AccessType, StepTaken};
use crate::sc::execute;

/// A step that may begin a suspicion.
pub(super) struct Began<'a> {
    /// The row behind it.
    fresh: &'a [u32],
    outcome: &'a Outcome,
    step: &'a StepTaken,
    point: u32,
    /// Where threads stood before it.
    horizons: &'a [Horizon],
}

impl<'f> Suspects<'f, '_> {
    /// What a thread can do next, in this memory.
    pub(super) fn outcomes(&self, worker: &mut Worker<'f>, row: &[u32], thread: usize) {
        let mut outcomes = std::mem::take(&mut worker.outcomes);
        outcomes.clear();
        let (code, local) = (self.frame.codes[thread], LocalId(row[thread]));
        let view = &mut worker.view;
        for action in 0..view.actions(code, local) {
            let taken = view.action(code, local, action);
            let kind = taken.kind;
            let is_blind = self
                .roles
                .is_some_and(|roles| roles.of(code, taken.transition).blind);
            if kind == ActionKind::AtomicBegin {
                let location = worker.blocks.location(view, code, local, action);
                let ways = self.ways(
                    view,
                    &mut worker.blocks,
                    row,
                    (code, local, action),
                    location,
                );
                for (outcome, way) in ways.iter().enumerate() {
                    if way.error {
                        self.error_seen.store(true, Memory::Relaxed);
                    }
                    let access = location.filter(|_| way.reads).map(|location| Access {
                        place: location.index(),
                        location: self.facts.tracked[location.index()],
                        kind: match way.written {
                            Some(_) => AccessType::Update,
                            None => AccessType::Read,
                        },
                        order: self.order(location.index(), way.order()),
                        old: row[self.frame.component(location)],
                    });
                    let written = match (location, way.written) {
                        (Some(location), Some(value)) => {
                            Some((self.frame.component(location), view.value_id(value)))
                        }
                        _ => None,
                    };
                    outcomes.push(Outcome {
                        action,
                        outcome,
                        local: way.local,
                        written,
                        access,
                        fence: None,
                        blind: None,
                    });
                }
                continue;
            }
            let Ok(done) = execute(self.frame, view, row, kind) else {
                self.error_seen.store(true, Memory::Relaxed);
                continue;
            };
            let Some(done) = done else {
                continue;
            };
            if matches!(kind, ActionKind::Error(_)) {
                self.error_seen.store(true, Memory::Relaxed);
            }
            let fences = self.facts.fences;
            let mut fence = None;
            let access = match kind {
                ActionKind::Fence(Order::SeqCst) if fences == Fences::Updates => {
                    let place = self.facts.fence_place();
                    Some(Access {
                        place,
                        location: self.facts.tracked[place],
                        kind: AccessType::Update,
                        order: Order::AcqRel,
                        old: 0,
                    })
                }
                ActionKind::Fence(order) => {
                    fence = (fences == Fences::Fences).then_some(order);
                    None
                }
                _ => kind.location().map(|location| Access {
                    place: location.index(),
                    location: self.facts.tracked[location.index()],
                    kind: match (done.read, done.written) {
                        (_, None) => AccessType::Read,
                        (None, Some(_)) => AccessType::Write,
                        (Some(_), Some(_)) => AccessType::Update,
                    },
                    order: self.order(
                        location.index(),
                        kind.order(done.written.is_some()).unwrap_or(Order::Relaxed),
                    ),
                    old: row[self.frame.component(location)],
                }),
            };
            let written = done
                .written
                .map(|(location, value)| (self.frame.component(location), view.value_id(value)));
            if is_blind {
                for (told, blind) in [(0, Blind::Skipped), (1, Blind::Suspected)] {
                    let nexts = view.resume(code, local, action, told);
                    for (outcome, &local) in nexts.iter().enumerate() {
                        outcomes.push(Outcome {
                            action,
                            outcome: 2 * outcome + told as usize,
                            local,
                            written,
                            access,
                            fence,
                            blind: Some(blind),
                        });
                    }
                }
                continue;
            }
            let nexts = view.resume(code, local, action, done.read.unwrap_or(0));
            for (outcome, &local) in nexts.iter().enumerate() {
                outcomes.push(Outcome {
                    action,
                    outcome,
                    local,
                    written,
                    access,
                    fence,
                    blind: None,
                });
            }
        }
        worker.outcomes = outcomes;
    }

    /// The order that an access counts with: under release/acquire all of them acquire and release.
    pub(super) fn order(&self, place: usize, written: Order) -> Order {
        match self.facts.fences {
            Fences::Updates => Order::AcqRel,
            Fences::Fences => effective(self.frame.program(), place, written),
        }
    }

    pub(super) fn ways(
        &self,
        view: &mut View<'_>,
        blocks: &mut Blocks,
        row: &[u32],
        (code, local, action): (usize, LocalId, usize),
        location: Option<LocationId>,
    ) -> Arc<Vec<Way>> {
        let old = location.map_or(0, |l| view.value(row[self.frame.component(l)]));
        let block = Block {
            code,
            local,
            action,
        };
        blocks.ways(view, self.frame.program().domain, block, old)
    }

    /// Visits every step of a state.
    pub(super) fn steps(&self, worker: &mut Worker<'f>, row: &[u32], visit: &mut Visit<'_>) {
        let frame = self.frame;
        if frame.atomic_thread(&mut worker.view, row).is_some() {
            // A thread is stuck in a block: nothing happens any more.
            return;
        }
        let mut horizons = std::mem::take(&mut worker.horizons);
        self.look_ahead(&mut worker.view, row, &mut horizons);
        let suspicion = Suspicion::decode(row[self.suspicion_at()]);
        let out = |thread: usize| row[self.thread_at(thread)] == OUT;
        let mut only = None;
        if self.reductions.partial_order {
            let mut alone: Option<usize> = None;
            for thread in 0..frame.thread_count() {
                let free = suspicion.is_none_or(|s| s.aim == Aim::Using)
                    || row[self.thread_at(thread)] & AWARE != 0;
                if free
                    && !out(thread)
                    && alone.is_none_or(|other| self.comes_first(row, thread, other))
                    && self.may_go_alone(&mut worker.view, row, &horizons, thread)
                {
                    alone = Some(thread);
                }
            }
            only = alone;
        }
        for thread in 0..frame.thread_count() {
            if out(thread) || only.is_some_and(|only| only != thread) || self.has_twin(row, thread)
            {
                continue;
            }
            self.steps_of_thread(worker, row, thread, suspicion, &horizons, visit);
        }
        worker.horizons = horizons;
    }

    /// Visits the steps of one thread, where no other is inside a block.
    fn steps_of_thread(
        &self,
        worker: &mut Worker<'f>,
        row: &[u32],
        thread: usize,
        suspicion: Option<Suspicion>,
        horizons: &[Horizon],
        visit: &mut Visit<'_>,
    ) {
        let code = self.frame.codes[thread];
        let point = worker.view.point(code, LocalId(row[thread]));
        let point = point.map_or(0, |p| p.0);
        self.outcomes(worker, row, thread);
        let outcomes = std::mem::take(&mut worker.outcomes);
        for outcome in &outcomes {
            let mut fresh = std::mem::take(&mut worker.fresh);
            fresh.clear();
            fresh.extend_from_slice(row);
            fresh[thread] = outcome.local.0;
            if let Some((component, value)) = outcome.written {
                fresh[component] = value;
            }
            let step = StepTaken {
                thread,
                action: outcome.action,
                outcome: outcome.outcome,
            };
            // Stuck in a block: no thread moves any more, and nothing is left to be found.
            let stuck = worker.view.is_atomic(code, outcome.local);
            if let Some(blind) = outcome.blind {
                if let Some(suspicion) = suspicion {
                    let way = (&step, point);
                    self.look_away(worker, row, &fresh, suspicion, outcome, blind, way, visit);
                }
                worker.fresh = fresh;
                continue;
            }
            if suspicion.is_none() {
                worker.row.clone_from(&fresh);
                self.arrive(worker, &step, point, visit);
            }
            match suspicion {
                _ if stuck => {}
                None => {
                    let began = Began {
                        fresh: &fresh,
                        outcome,
                        step: &step,
                        point,
                        horizons,
                    };
                    if self.wanted != Wanted::Racing {
                        self.suspect(worker, &began, visit);
                    }
                    self.suspect_race(worker, &began, visit);
                }
                Some(suspicion) if suspicion.aim == Aim::Using => {
                    worker.row.clone_from(&fresh);
                    self.walk_on(worker, &step, point, visit);
                }
                Some(suspicion) => {
                    self.go_on(worker, row, &fresh, suspicion, outcome, &step, point, visit)
                }
            }
            worker.fresh = fresh;
        }
        worker.outcomes = outcomes;
    }

    /// Visits the steps of one thread only: for any number of threads, of which a row has places for a few.
    pub fn steps_of(
        &self,
        worker: &mut Worker<'f>,
        row: &[u32],
        thread: usize,
        visit: &mut dyn FnMut(&[u32]),
    ) {
        if self.frame.atomic_thread(&mut worker.view, row).is_some() {
            return;
        }
        let mut horizons = std::mem::take(&mut worker.horizons);
        self.look_ahead(&mut worker.view, row, &mut horizons);
        let suspicion = Suspicion::decode(row[self.suspicion_at()]);
        let visit: &mut Visit<'_> = &mut |_, row| visit(row);
        self.steps_of_thread(worker, row, thread, suspicion, &horizons, visit);
        worker.horizons = horizons;
    }

    /// Begins a suspicion with a step that writes: it is w′.
    pub(super) fn suspect(
        &self,
        worker: &mut Worker<'f>,
        began: &Began<'_>,
        visit: &mut Visit<'_>,
    ) {
        let Began {
            outcome,
            step,
            horizons,
            ..
        } = *began;
        let access = outcome.access.and_then(Access::monitored);
        let Some(access) = access.filter(|a| a.kind != AccessType::Read) else {
            return;
        };
        let place = self.places[access.location];
        if place == self.facts.fence_place() {
            // All threads only update it: its last write is the only one that can be followed.
            return;
        }
        let plain = access.kind == AccessType::Write;
        let mut surveyed = false;
        for culprit in self.culprits().filter(|&c| c != step.thread) {
            let may = &self.facts.futures[horizons[culprit].future as usize];
            if !may.touches(place) || !self.critical.may_be_stale(culprit, place) {
                continue;
            }
            for aim in [Aim::Any, Aim::Choosing, Aim::Writing] {
                // By 3 above.
                let possible = match aim {
                    Aim::Any => true,
                    Aim::Choosing => may.chooses.has(place),
                    Aim::Writing => plain,
                    Aim::Racing | Aim::Using => false,
                };
                if !possible {
                    continue;
                }
                let suspicion = Suspicion {
                    location: access.location,
                    aim,
                    last: aim == Aim::Any,
                    plain,
                    nonatomic: false,
                };
                if let Some(futures) = &self.futures {
                    let old = Some(worker.view.value(access.old));
                    let class = self.class_of(&mut worker.view, suspicion, horizons[culprit], old);
                    let value = class.checked_sub(1).map(|id| worker.view.value(id));
                    if !worker.standing.can_get_there(
                        futures,
                        suspicion,
                        culprit,
                        horizons[culprit],
                        value,
                    ) {
                        continue;
                    }
                    if !surveyed {
                        surveyed = true;
                        self.survey(worker, began.fresh);
                    }
                }
                let row = &mut worker.row;
                row.clear();
                row.extend_from_slice(began.fresh);
                row[self.suspicion_at()] = suspicion.encode();
                row[self.value_at()] = access.old + 1;
                row[self.thread_at(culprit)] = CULPRIT;
                let (mut status, mut location) = (AWARE, WRITTEN);
                views::access(&mut status, &mut location, access.as_views_see_it(), true);
                row[self.thread_at(step.thread)] = status;
                row[self.location_at(access.location)] = location;
                if self.futures.is_none() || self.settle(worker, suspicion, culprit) {
                    self.arrive(worker, step, began.point, visit);
                }
            }
        }
    }

    /// Begins a suspicion with a step that may be the first of two accesses that race.
    ///
    /// Where every access synchronises, both are next in some state, and [`Suspects::races`] finds that.
    fn suspect_race(&self, worker: &mut Worker<'f>, began: &Began<'_>, visit: &mut Visit<'_>) {
        let Some(access) = began.outcome.access else {
            return;
        };
        // An atomic access of a place that is accessed in both ways may also wait for the first access.
        let mixed = access.location.is_some();
        let any_order = self.facts.loose || mixed || self.only_culprit.is_some();
        if !self.facts.nonatomic[access.place] || !any_order {
            return;
        }
        let writes = access.kind != AccessType::Read;
        let first = began.step.thread;
        let mut surveyed = false;
        for culprit in self.culprits().filter(|&c| c != first) {
            let may = &self.facts.futures[began.horizons[culprit].future as usize];
            if !may.conflicts(access.place, writes) {
                continue;
            }
            let suspicion = Suspicion {
                location: access.place,
                aim: Aim::Racing,
                last: true,
                plain: writes,
                nonatomic: access.order == Order::NonAtomic,
            };
            if self.futures.is_some() && !surveyed {
                surveyed = true;
                self.survey(worker, began.fresh);
            }
            let row = &mut worker.row;
            row.clear();
            row.extend_from_slice(began.fresh);
            row[self.suspicion_at()] = suspicion.encode();
            row[self.thread_at(culprit)] = CULPRIT;
            let (mut status, mut location) = (AWARE | SEEN, 0);
            if let Some(monitored) = access.monitored() {
                views::access(
                    &mut status,
                    &mut location,
                    monitored.as_views_see_it(),
                    false,
                );
                location |= if writes { WRITTEN } else { READ };
                row[self.location_at(monitored.location)] = location;
            }
            row[self.thread_at(first)] = status;
            if self.futures.is_none() || self.settle(worker, suspicion, culprit) {
                self.arrive(worker, began.step, began.point, visit);
            }
        }
    }

    /// Goes on with a suspicion.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn go_on(
        &self,
        worker: &mut Worker<'f>,
        before: &[u32],
        fresh: &[u32],
        suspicion: Suspicion,
        outcome: &Outcome,
        step: &StepTaken,
        point: u32,
        visit: &mut Visit<'_>,
    ) {
        let thread = step.thread;
        let mut status = before[self.thread_at(thread)];
        let culprit = self.culprit(before);
        let x = suspicion.stale_location();
        let Some(access) = outcome.access.and_then(Access::monitored) else {
            if status & AWARE == 0 {
                return;
            }
            match outcome.fence {
                Some(order) if x.is_some() => views::fence(&mut status, order),
                Some(order) => views::fence_by_happens_before(&mut status, order),
                None => {}
            }
            if thread == culprit && status & SEEN != 0 {
                return;
            }
            worker.row.clear();
            worker.row.extend_from_slice(fresh);
            worker.row[self.thread_at(thread)] = status;
            self.keep(worker, suspicion, culprit, step, point, visit);
            return;
        };
        let at = self.location_at(access.location);
        let mut location = before[at];
        let writes = access.kind != AccessType::Read;
        let wakes = match access.kind {
            AccessType::Read => WRITTEN,
            AccessType::Write | AccessType::Update => READ | WRITTEN,
        };
        if status & AWARE == 0 && location & wakes == 0 {
            return;
        }
        status |= AWARE;
        let own = x == Some(access.location);
        views::access(&mut status, &mut location, access.as_views_see_it(), own);
        location |= if writes { WRITTEN } else { READ };
        if location & WRITTEN != 0 {
            location &= !READ;
        }
        if thread == culprit && status & SEEN != 0 {
            return;
        }
        if !(own && writes) {
            let row = &mut worker.row;
            row.clear();
            row.extend_from_slice(fresh);
            row[self.thread_at(thread)] = status;
            row[at] = location;
            self.keep(worker, suspicion, culprit, step, point, visit);
            return;
        }
        if suspicion.last {
            return;
        }
        // By 3 above: not if the write that is overwritten now would do as well as w.
        let plain = access.kind == AccessType::Write;
        let as_good = match suspicion.aim {
            Aim::Any | Aim::Racing | Aim::Using => true,
            Aim::Writing => plain,
            Aim::Choosing => {
                let classes = &self.facts.classes[self.places[access.location]];
                let value = self.value(&mut worker.view, before);
                let old = worker.view.value(access.old);
                plain >= suspicion.plain
                    && value.is_none_or(|v| classes.class(v) == classes.class(old))
            }
        };
        if as_good {
            return;
        }
        for last in [true, false] {
            let suspicion = Suspicion { last, ..suspicion };
            let row = &mut worker.row;
            row.clear();
            row.extend_from_slice(fresh);
            row[self.suspicion_at()] = suspicion.encode();
            if last {
                for other in 0..self.frame.thread_count() {
                    row[self.thread_at(other)] &= !AWARE;
                }
                for other in 0..self.facts.tracked_count {
                    row[self.location_at(other)] &= LOCATION_VIEWS;
                }
            }
            row[self.thread_at(thread)] = status;
            row[at] = location;
            self.keep(worker, suspicion, culprit, step, point, visit);
        }
    }

    /// Executes a blind load, where that makes a difference.
    #[allow(clippy::too_many_arguments)]
    fn look_away(
        &self,
        worker: &mut Worker<'f>,
        before: &[u32],
        fresh: &[u32],
        suspicion: Suspicion,
        outcome: &Outcome,
        blind: Blind,
        (step, point): (&StepTaken, u32),
        visit: &mut Visit<'_>,
    ) {
        let thread = step.thread;
        let status = before[self.thread_at(thread)];
        let access = outcome.access.and_then(Access::monitored);
        let Some(access) = access.filter(|_| status & AWARE != 0) else {
            return;
        };
        let row = &mut worker.row;
        row.clear();
        row.extend_from_slice(fresh);
        match blind {
            Blind::Suspected => {
                let suspected = suspicion.aim == Aim::Any
                    && status & CULPRIT != 0
                    && access.location == suspicion.location
                    && views::may_be_stale(status, access.order);
                if !suspected {
                    return;
                }
                let using = Suspicion {
                    aim: Aim::Using,
                    plain: false,
                    ..suspicion
                };
                row[self.suspicion_at()..].fill(0);
                row[self.suspicion_at()] = using.encode();
                row[self.thread_at(thread)] = CULPRIT;
                self.walk_on(worker, step, point, visit);
            }
            Blind::Skipped => {
                // Only where the load would teach something, and could be stale at all.
                let (mut learned, mut location) =
                    (status, before[self.location_at(access.location)]);
                let known = location;
                let own = suspicion.stale_location() == Some(access.location);
                views::access(&mut learned, &mut location, access.as_views_see_it(), own);
                let teaches =
                    (learned, location & LOCATION_VIEWS) != (status, known & LOCATION_VIEWS);
                let place = self.places[access.location];
                if teaches && self.critical.may_be_stale(thread, place) {
                    self.keep(worker, suspicion, self.culprit(before), step, point, visit);
                }
            }
        }
    }

    /// A step leads to `worker.row`, where a stale value may still be used.
    fn walk_on(
        &self,
        worker: &mut Worker<'f>,
        step: &StepTaken,
        point: u32,
        visit: &mut Visit<'_>,
    ) {
        let culprit = self.culprit(&worker.row);
        let (code, local) = (self.frame.codes[culprit], LocalId(worker.row[culprit]));
        let marks = self.roles.map_or(&[][..], |roles| roles.stale_marks(code));
        let view = &mut worker.view;
        let is_marked = marks.iter().any(|&m| view.register(code, local, m) != 0);
        if is_marked || self.is_used(view, culprit, local) {
            self.arrive(worker, step, point, visit);
        }
    }

    /// Whether the thread stands at its use point.
    pub(super) fn is_used(&self, view: &mut View<'_>, thread: usize, local: LocalId) -> bool {
        let code = self.frame.codes[thread];
        let use_point = self.roles.and_then(|roles| roles.use_point(code));
        use_point.is_some() && view.point(code, local) == use_point
    }

    /// A step leads to `worker.row`, if there is still something to be found there.
    pub(super) fn keep(
        &self,
        worker: &mut Worker<'f>,
        suspicion: Suspicion,
        culprit: usize,
        step: &StepTaken,
        point: u32,
        visit: &mut Visit<'_>,
    ) {
        if self.futures.is_some() {
            let row = std::mem::take(&mut worker.row);
            self.survey(worker, &row);
            worker.row = row;
            if !self.settle(worker, suspicion, culprit) {
                return;
            }
        }
        self.arrive(worker, step, point, visit);
    }

    /// Whether only this thread has to be explored in this state.
    ///
    /// It has to be able to move; whatever it does next must not conflict with anything that another thread may ever do, and must not go
    /// back in the code (so that every cycle has a state in which all threads are explored). Then its step can come first in every
    /// run from here that has it, and can be added to every run that has not: it makes no thread aware, hides nothing from any thread, and is
    /// no w′ for any culprit.
    pub(super) fn may_go_alone(
        &self,
        view: &mut View<'_>,
        row: &[u32],
        horizons: &[Horizon],
        thread: usize,
    ) -> bool {
        let (code, local) = (self.frame.codes[thread], LocalId(row[thread]));
        let actions = view.actions(code, local);
        if actions == 0 || view.may_close_loop(code, local) {
            return false;
        }
        let mut can_move = false;
        for action in 0..actions {
            let kind = view.action(code, local, action).kind;
            let (place, writes) = match kind {
                ActionKind::Fence(Order::SeqCst) if self.facts.fences == Fences::Updates => {
                    (self.facts.fence_place(), true)
                }
                ActionKind::Local | ActionKind::Error(_) | ActionKind::Fence(_) => {
                    can_move = true;
                    continue;
                }
                ActionKind::AtomicBegin | ActionKind::AtomicEnd => return false,
                ActionKind::Load { location, .. } | ActionKind::Wait { location, .. } => {
                    (location.index(), false)
                }
                ActionKind::Store { location, .. } | ActionKind::Rmw { location, .. } => {
                    (location.index(), true)
                }
            };
            for (other, horizon) in horizons.iter().enumerate() {
                let future = &self.facts.futures[horizon.future as usize];
                if other != thread && (future.conflicts(place, writes)) {
                    return false;
                }
            }
            can_move |= !matches!(execute(self.frame, view, row, kind), Ok(None));
        }
        can_move
    }

    /// An order of threads by what they are: the order of interchangeable threads in a row depends on when their local states were found.
    pub(super) fn comes_first(&self, row: &[u32], a: usize, b: usize) -> bool {
        let group = self.frame.group_of[a];
        if group.is_none() || group != self.frame.group_of[b] {
            return a < b;
        }
        let (x, y) = (LocalId(row[a]), LocalId(row[b]));
        let order = self.frame.threads.compare_locals(self.frame.codes[a], x, y);
        let status = |thread: usize| row[self.thread_at(thread)];
        order.then(status(a).cmp(&status(b))) == Ordering::Less
    }

    /// Whether the thread before this one is interchangeable with it and in the same state: then both do the same.
    pub(super) fn has_twin(&self, row: &[u32], thread: usize) -> bool {
        self.frame.group_of[thread].is_some_and(|group| {
            thread > self.frame.groups[group][0]
                && row[thread] == row[thread - 1]
                && row[self.thread_at(thread)] == row[self.thread_at(thread - 1)]
        })
    }

    /// Puts interchangeable threads into order, by their local states and what they know; `from` says where each has stood.
    pub(super) fn sort_groups(&self, row: &mut [u32], from: &mut Vec<usize>) {
        from.clear();
        from.extend(0..self.frame.thread_count());
        if self.frame.groups.is_empty() {
            return;
        }
        let key = |row: &[u32], thread: usize| (row[thread], row[self.thread_at(thread)]);
        for group in &self.frame.groups {
            from[group[0]..group[0] + group.len()].sort_by_key(|&thread| key(row, thread));
        }
        let keys: Vec<(u32, u32)> = from.iter().map(|&thread| key(row, thread)).collect();
        for (thread, (local, status)) in keys.into_iter().enumerate() {
            row[thread] = local;
            row[self.thread_at(thread)] = status;
        }
    }

    /// A step leads to `worker.row`: puts interchangeable threads into a canonical order, and tells the visitor.
    pub(super) fn arrive(
        &self,
        worker: &mut Worker<'f>,
        step: &StepTaken,
        point: u32,
        visit: &mut Visit<'_>,
    ) {
        let Worker { row, from, .. } = worker;
        self.sort_groups(row, from);
        let taken = Taken {
            step: step.clone(),
            point,
            from,
        };
        visit(&taken, row);
    }
}
