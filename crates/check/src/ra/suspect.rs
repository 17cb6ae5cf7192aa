//! The search for one stale access at a time.
//!
//! SCM keeps, for all threads and locations at once, what could be stale. But what it says about one stale write *w* does not depend on
//! what it says about others. So this search guesses: a *culprit* τ, a location x, the write w of x that τ will find stale, and the
//! last write `w_max_x` of x before that. Before the guess it is nothing but the SC walk; behind it a few bits are enough:
//!
//! - for each thread and location whether it is *unseen*: no write to x behind w is hb-before the thread's last event, or the
//!   location's last write (one slot of V and W in Figure 6);
//! - for each thread whether it is *aware* of `w_max_x` (one column of V_SC in Figure 5).
//!
//! The program is not robust if and only if a culprit that is unseen and aware is about to access x in a way that could be stale
//! (Theorem 5.1). It is enough to look at few runs:
//!
//! 1. What is not hb_SC-before an event of the culprit can be left out of the execution graph: the rest is still a run under SC, and
//!    the culprit still stands where it stood.
//! 2. Runs with the same graph are equivalent, so w's successor w′ comes as late as possible, and then `w_max_x`: all events behind w′ are
//!    hb_SC-behind w′, and all events behind `w_max_x` are hb_SC-behind `w_max_x`. Nobody else moves any more. So M_SC and W_SC are
//!    simple: the locations that were accessed, and those that were written, since then.
//! 3. If w is not the write just before `w_max_x`, then that one would not do: its value is not the one that the culprit needs, or a
//!    read-modify-write follows it and the culprit writes.

use std::cmp::Ordering;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering as Memory};

use palisade_explore::{Finding, Space, Successors};
use palisade_lang::{LocationId, Order, Value};
use palisade_threads::{ActionKind, Effect, LocalId, View};

use super::blocks::{Block, Blocks, Way};
use super::facts::{Facts, Horizon};
use super::monitor::AccessType;
use super::prospects::{Futures, Next, Standing};
use super::search::{StepTaken, Violation};
use crate::Reductions;
use crate::sc::{StepLabel, execute};
use crate::state::Frame;

/// Of a thread: no write behind w has come to it.
pub const UNSEEN: u32 = 1;
/// Of a thread: one of its events is hb_SC-behind `w_max_x` (w′ before that is there).
pub const AWARE: u32 = 2;
/// Of a thread: it is the culprit.
pub const CULPRIT: u32 = 4;
/// Of a thread, alone: it does not matter any more, and stands for ever where it began.
pub const OUT: u32 = 8;
/// Of a location (beside [`UNSEEN`]): it was read since.
pub const READ: u32 = 2;
/// Of a location: it was written since.
pub const WRITTEN: u32 = 4;

/// Which access of the culprit is suspected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// Any: w is the write just before `w_max_x`.
    Any,
    /// One that looks at the value, and needs another one than those that came behind w.
    Choosing,
    /// A store, or an update of any value: w is the last write that no update follows.
    Writing,
}

/// What is suspected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suspicion {
    /// x, by its number among the monitored locations.
    pub location: usize,
    /// The access.
    pub aim: Aim,
    /// `w_max_x` is there: nobody writes x any more.
    pub last: bool,
    /// w′ is a plain store: a write can go between w and w′.
    pub plain: bool,
}

impl Suspicion {
    fn encode(self) -> u32 {
        let aim = match self.aim {
            Aim::Any => 0,
            Aim::Choosing => 1,
            Aim::Writing => 2,
        };
        1 + (self.location as u32 * 3 + aim) * 4 + u32::from(self.last) * 2 + u32::from(self.plain)
    }

    fn decode(number: u32) -> Option<Self> {
        let number = number.checked_sub(1)?;
        Some(Suspicion {
            location: number as usize / 12,
            aim: match number / 4 % 3 {
                0 => Aim::Any,
                1 => Aim::Choosing,
                _ => Aim::Writing,
            },
            last: number & 2 != 0,
            plain: number & 1 != 0,
        })
    }
}

/// The state space: a row of the SC walk, and behind it what is suspected.
pub struct Suspects<'f, 'p> {
    frame: &'f Frame<'p>,
    facts: &'f Facts,
    reductions: Reductions,
    futures: Futures,
    /// A row at the beginning: where what does not matter stands.
    beginning: Vec<u32>,
    /// An assertion failed or another error of the program was reached.
    pub error_seen: AtomicBool,
}

/// What a walking thread carries along.
pub struct Worker<'t> {
    /// The automata.
    pub view: View<'t>,
    /// The ways through blocks.
    pub blocks: Blocks,
    horizons: Vec<Horizon>,
    standing: Standing,
    row: Vec<u32>,
    fresh: Vec<u32>,
    from: Vec<usize>,
    outcomes: Vec<Outcome>,
}

/// An access to a monitored location.
#[derive(Clone, Copy, Debug)]
struct Access {
    location: usize,
    kind: AccessType,
    /// The number of the value that was there.
    old: u32,
}

/// What a step of a thread does.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    action: usize,
    outcome: usize,
    local: LocalId,
    written: Option<(usize, u32)>,
    access: Option<Access>,
}

/// A step, and for each component of the new row the one of the old row that it was.
struct Taken<'a> {
    step: StepTaken,
    point: u32,
    from: &'a [usize],
}

/// What is done with each step: it is told the new row.
type Visit<'v> = dyn FnMut(&Taken<'_>, &[u32]) + 'v;

impl<'f, 'p> Suspects<'f, 'p> {
    /// The space of a program; `None` if there are too many threads or locations for it.
    pub fn new(frame: &'f Frame<'p>, facts: &'f Facts, reductions: Reductions) -> Option<Self> {
        if frame.thread_count() > 64 || facts.tracked_count > 64 {
            return None;
        }
        Some(Suspects {
            frame,
            facts,
            reductions,
            futures: Futures::new(facts, frame.thread_count()),
            beginning: frame
                .initial_rows(&mut frame.threads.view())
                .into_iter()
                .next()
                .unwrap_or_default(),
            error_seen: AtomicBool::new(false),
        })
    }

    fn suspicion_at(&self) -> usize {
        self.frame.width()
    }

    fn value_at(&self) -> usize {
        self.frame.width() + 1
    }

    fn thread_at(&self, thread: usize) -> usize {
        self.frame.width() + 2 + thread
    }

    fn location_at(&self, location: usize) -> usize {
        self.frame.width() + 2 + self.frame.thread_count() + location
    }

    fn threads_of<'r>(&self, row: &'r [u32]) -> &'r [u32] {
        &row[self.thread_at(0)..self.location_at(0)]
    }

    fn culprit(&self, row: &[u32]) -> usize {
        let threads = self.threads_of(row).iter();
        threads.clone().position(|s| s & CULPRIT != 0).unwrap_or(0)
    }

    /// The value of w, if it matters.
    fn value(&self, view: &mut View<'_>, row: &[u32]) -> Option<Value> {
        let id = row[self.value_at()].checked_sub(1)?;
        Some(view.value(id))
    }

    fn look_ahead(&self, view: &mut View<'_>, row: &[u32], horizons: &mut Vec<Horizon>) {
        horizons.clear();
        for (instance, &code) in self.frame.codes.iter().enumerate() {
            let local = LocalId(row[instance]);
            let out = row[self.thread_at(instance)] == OUT;
            horizons.push(if out {
                Horizon::default()
            } else {
                self.facts.horizon(view, instance, code, local)
            });
        }
    }

    /// What a thread can do next, in this memory.
    fn outcomes(&self, worker: &mut Worker<'f>, row: &[u32], thread: usize) {
        let mut outcomes = std::mem::take(&mut worker.outcomes);
        outcomes.clear();
        let (code, local) = (self.frame.codes[thread], LocalId(row[thread]));
        let view = &mut worker.view;
        for action in 0..view.actions(code, local) {
            let kind = view.action(code, local, action).kind;
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
                    let access = location.filter(|_| way.reads).and_then(|location| {
                        Some(Access {
                            location: self.facts.tracked[location.index()]?,
                            kind: match way.written {
                                Some(_) => AccessType::Update,
                                None => AccessType::Read,
                            },
                            old: row[self.frame.component(location)],
                        })
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
            let access = match kind {
                ActionKind::Fence(Order::SeqCst) => {
                    let place = self.facts.tracked[self.facts.fence_place()];
                    place.map(|location| Access {
                        location,
                        kind: AccessType::Update,
                        old: 0,
                    })
                }
                _ => kind.location().and_then(|location| {
                    Some(Access {
                        location: self.facts.tracked[location.index()]?,
                        kind: match (done.read, done.written) {
                            (_, None) => AccessType::Read,
                            (None, Some(_)) => AccessType::Write,
                            (Some(_), Some(_)) => AccessType::Update,
                        },
                        old: row[self.frame.component(location)],
                    })
                }),
            };
            let written = done
                .written
                .map(|(location, value)| (self.frame.component(location), view.value_id(value)));
            let nexts = view.resume(code, local, action, done.read.unwrap_or(0));
            for (outcome, &local) in nexts.iter().enumerate() {
                outcomes.push(Outcome {
                    action,
                    outcome,
                    local,
                    written,
                    access,
                });
            }
        }
        worker.outcomes = outcomes;
    }

    fn ways(
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
    fn steps(&self, worker: &mut Worker<'f>, row: &[u32], visit: &mut Visit<'_>) {
        let frame = self.frame;
        if frame.atomic_thread(&mut worker.view, row).is_some() {
            // Somebody is stuck in a block: nothing happens any more.
            return;
        }
        let mut horizons = std::mem::take(&mut worker.horizons);
        self.look_ahead(&mut worker.view, row, &mut horizons);
        let suspicion = Suspicion::decode(row[self.suspicion_at()]);
        let threads = self.threads_of(row).iter().enumerate();
        let mut movers = threads.fold(0u64, |movers, (thread, status)| {
            movers | u64::from(*status != OUT) << thread
        });
        if self.reductions.partial_order {
            let mut alone: Option<usize> = None;
            for thread in 0..frame.thread_count() {
                let free = suspicion.is_none() || row[self.thread_at(thread)] & AWARE != 0;
                if free
                    && movers >> thread & 1 == 1
                    && alone.is_none_or(|other| self.comes_first(row, thread, other))
                    && self.may_go_alone(&mut worker.view, row, &horizons, thread)
                {
                    alone = Some(thread);
                }
            }
            if let Some(alone) = alone {
                movers = 1 << alone;
            }
        }
        for thread in 0..frame.thread_count() {
            if movers >> thread & 1 == 0 || self.has_twin(row, thread) {
                continue;
            }
            let code = frame.codes[thread];
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
                // Stuck in a block: nobody moves any more, and nothing is left to be found.
                let stuck = worker.view.is_atomic(code, outcome.local);
                if suspicion.is_none() {
                    worker.row.clone_from(&fresh);
                    self.arrive(worker, &step, point, visit);
                }
                match suspicion {
                    _ if stuck => {}
                    None => {
                        self.suspect(worker, &fresh, outcome, &step, point, &horizons, visit);
                    }
                    Some(suspicion) => {
                        self.go_on(worker, row, &fresh, suspicion, outcome, &step, point, visit)
                    }
                }
                worker.fresh = fresh;
            }
            worker.outcomes = outcomes;
        }
        worker.horizons = horizons;
    }

    /// Begins a suspicion with a step that writes: it is w′.
    #[allow(clippy::too_many_arguments)]
    fn suspect(
        &self,
        worker: &mut Worker<'f>,
        fresh: &[u32],
        outcome: &Outcome,
        step: &StepTaken,
        point: u32,
        horizons: &[Horizon],
        visit: &mut Visit<'_>,
    ) {
        let Some(access) = outcome.access.filter(|a| a.kind != AccessType::Read) else {
            return;
        };
        if Some(access.location) == self.futures.fence {
            // Everybody only updates it: its last write is the only one that can be followed.
            return;
        }
        let plain = access.kind == AccessType::Write;
        let mut surveyed = false;
        for culprit in (0..self.frame.thread_count()).filter(|&c| c != step.thread) {
            let may = self.futures.of(horizons[culprit].future);
            if may.touches() >> access.location & 1 == 0 {
                continue;
            }
            let chooses = may.chooses >> access.location & 1 == 1;
            for aim in [Aim::Any, Aim::Choosing, Aim::Writing] {
                // By 3 above.
                let possible = match aim {
                    Aim::Any => true,
                    Aim::Choosing => chooses,
                    Aim::Writing => plain,
                };
                if !possible {
                    continue;
                }
                let suspicion = Suspicion {
                    location: access.location,
                    aim,
                    last: aim == Aim::Any,
                    plain,
                };
                if self.reductions.monitors {
                    let old = Some(worker.view.value(access.old));
                    let class = self.class_of(&mut worker.view, suspicion, horizons[culprit], old);
                    let value = class.checked_sub(1).map(|id| worker.view.value(id));
                    if !worker.standing.can_get_there(
                        &self.futures,
                        suspicion,
                        culprit,
                        horizons[culprit],
                        value,
                    ) {
                        continue;
                    }
                    if !surveyed {
                        surveyed = true;
                        self.survey(worker, fresh);
                    }
                }
                let row = &mut worker.row;
                row.clear();
                row.extend_from_slice(fresh);
                row[self.suspicion_at()] = suspicion.encode();
                row[self.value_at()] = access.old + 1;
                for thread in 0..self.frame.thread_count() {
                    row[self.thread_at(thread)] = UNSEEN;
                }
                row[self.thread_at(culprit)] |= CULPRIT;
                row[self.thread_at(step.thread)] = AWARE;
                for location in 0..self.facts.tracked_count {
                    row[self.location_at(location)] = UNSEEN;
                }
                row[self.location_at(access.location)] = WRITTEN;
                if !self.reductions.monitors || self.settle(worker, suspicion, culprit) {
                    self.arrive(worker, step, point, visit);
                }
            }
        }
    }

    /// Goes on with a suspicion.
    #[allow(clippy::too_many_arguments)]
    fn go_on(
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
        let Some(access) = outcome.access else {
            if status & AWARE != 0 {
                worker.row.clear();
                worker.row.extend_from_slice(fresh);
                self.keep(worker, suspicion, culprit, step, point, visit);
            }
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
        if access.kind != AccessType::Write && location & UNSEEN == 0 {
            status &= !UNSEEN;
        }
        let aimed = writes && access.location == suspicion.location;
        if aimed {
            status &= !UNSEEN;
        }
        location = match access.kind {
            AccessType::Read => (location & UNSEEN) | (location & WRITTEN).max(READ),
            AccessType::Write | AccessType::Update => (status & UNSEEN) | WRITTEN,
        };
        if thread == culprit && status & UNSEEN == 0 {
            return;
        }
        if !aimed {
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
            Aim::Any => true,
            Aim::Writing => plain,
            Aim::Choosing => {
                let classes = &self.facts.classes[self.futures.places[access.location]];
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
                    row[self.location_at(other)] &= UNSEEN;
                }
            }
            row[self.thread_at(thread)] = status;
            row[at] = location;
            self.keep(worker, suspicion, culprit, step, point, visit);
        }
    }

    /// A step leads to `worker.row`, if there is still something to be found there.
    fn keep(
        &self,
        worker: &mut Worker<'f>,
        suspicion: Suspicion,
        culprit: usize,
        step: &StepTaken,
        point: u32,
        visit: &mut Visit<'_>,
    ) {
        if self.reductions.monitors {
            let row = std::mem::take(&mut worker.row);
            self.survey(worker, &row);
            worker.row = row;
            if !self.settle(worker, suspicion, culprit) {
                return;
            }
        }
        self.arrive(worker, step, point, visit);
    }

    /// Finds out what the threads of a row can do.
    fn survey(&self, worker: &mut Worker<'f>, row: &[u32]) {
        let Worker {
            view,
            blocks,
            standing,
            ..
        } = worker;
        self.look_ahead(view, row, &mut standing.horizons);
        standing.memory.clear();
        for &place in &self.futures.places {
            let component = self.frame.component(LocationId(place as u32));
            let fence = place == self.facts.fence_place();
            standing
                .memory
                .push(if fence { 0 } else { view.value(row[component]) });
        }
        standing.nexts.clear();
        for thread in 0..self.frame.thread_count() {
            let asleep = row[self.thread_at(thread)] & (AWARE | OUT) == 0;
            standing.nexts.push(if asleep {
                self.next(view, blocks, row, thread)
            } else {
                Next::default()
            });
        }
    }

    /// The class of the value of w, as the row has it: only if the culprit looks at it.
    fn class_of(
        &self,
        view: &mut View<'_>,
        suspicion: Suspicion,
        culprit: Horizon,
        value: Option<Value>,
    ) -> u32 {
        let may = self.futures.of(culprit.future);
        let looks = may.chooses >> suspicion.location & 1 == 1 && suspicion.aim != Aim::Writing;
        let classes = &self.facts.classes[self.futures.places[suspicion.location]];
        match value.filter(|_| looks) {
            Some(value) => 1 + view.value_id(classes.representative(value)),
            None => 0,
        }
    }

    /// Brings the new row, which was surveyed, into a form that rows with the same prospects share; `false` if it has none.
    fn settle(&self, worker: &mut Worker<'f>, suspicion: Suspicion, culprit: usize) -> bool {
        let Worker {
            view,
            row,
            standing,
            ..
        } = worker;
        let value = self.value(view, row);
        let class = self.class_of(view, suspicion, standing.horizons[culprit], value);
        row[self.value_at()] = class;
        let value = self.value(view, row);
        standing.threads.clear();
        standing.threads.extend_from_slice(self.threads_of(row));
        standing.locations.clear();
        standing
            .locations
            .extend_from_slice(&row[self.location_at(0)..]);
        let Some(places) = standing.settle(&self.futures, suspicion, culprit, value) else {
            return false;
        };
        for (thread, &status) in standing.threads.iter().enumerate() {
            row[self.thread_at(thread)] = status;
            if status == OUT {
                row[thread] = self.beginning[thread];
            }
        }
        if self.facts.places <= 64 {
            for place in (0..self.facts.fence_place()).filter(|place| places >> place & 1 == 0) {
                let component = self.frame.component(LocationId(place as u32));
                row[component] = self.beginning[component];
            }
        }
        row[self.location_at(0)..].copy_from_slice(&standing.locations);
        true
    }

    /// What a thread can do next to monitored locations.
    fn next(&self, view: &mut View<'_>, blocks: &mut Blocks, row: &[u32], thread: usize) -> Next {
        let mut next = Next::default();
        let (code, local) = (self.frame.codes[thread], LocalId(row[thread]));
        for action in 0..view.actions(code, local) {
            let kind = view.action(code, local, action).kind;
            let place = match kind {
                ActionKind::Fence(Order::SeqCst) => Some(self.facts.fence_place()),
                ActionKind::AtomicBegin => blocks
                    .location(view, code, local, action)
                    .map(LocationId::index),
                _ => kind.location().map(LocationId::index),
            };
            let Some(location) = place.and_then(|place| self.facts.tracked[place]) else {
                continue;
            };
            let bit = 1u64 << location;
            match kind {
                ActionKind::Store { .. } => next.ever.stores |= bit,
                ActionKind::Fence(_) => {
                    next.ever.updates |= bit;
                    next.now.updates |= bit;
                }
                ActionKind::AtomicBegin => {
                    next.ever.reads |= bit;
                    next.ever.updates |= bit;
                    next.now.reads |= bit;
                    next.now.updates |= bit;
                }
                _ => {
                    next.ever.reads |= bit;
                    if matches!(kind, ActionKind::Rmw { .. }) {
                        next.ever.updates |= bit;
                    }
                    match execute(self.frame, view, row, kind) {
                        Ok(Some(done)) if done.written.is_some() => next.now.updates |= bit,
                        Ok(Some(_)) => next.now.reads |= bit,
                        _ => {}
                    }
                }
            }
        }
        next
    }

    /// Whether only this thread has to be explored in this state.
    ///
    /// It has to be able to move; whatever it does next must not conflict with anything that another thread may ever do, and must not go
    /// back in the code (so that every cycle has a state in which all threads are explored). Then its step can come first in every
    /// run from here that has it, and can be added to every run that has not: it makes nobody aware, hides nothing from anybody, and is
    /// no w′ for any culprit.
    fn may_go_alone(
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
                ActionKind::Fence(Order::SeqCst) => (self.facts.fence_place(), true),
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
                if other != thread && (future.writes(place) || writes && future.touches(place)) {
                    return false;
                }
            }
            can_move |= !matches!(execute(self.frame, view, row, kind), Ok(None));
        }
        can_move
    }

    /// An order of threads by what they are: the order of interchangeable threads in a row depends on when their local states were found.
    fn comes_first(&self, row: &[u32], a: usize, b: usize) -> bool {
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
    fn has_twin(&self, row: &[u32], thread: usize) -> bool {
        self.frame.group_of[thread].is_some_and(|group| {
            thread > self.frame.groups[group][0]
                && row[thread] == row[thread - 1]
                && row[self.thread_at(thread)] == row[self.thread_at(thread - 1)]
        })
    }

    /// A step leads to `worker.row`: puts interchangeable threads into a canonical order, and tells the visitor.
    fn arrive(&self, worker: &mut Worker<'f>, step: &StepTaken, point: u32, visit: &mut Visit<'_>) {
        let Worker { row, from, .. } = worker;
        from.clear();
        from.extend(0..self.frame.thread_count());
        if !self.frame.groups.is_empty() {
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
        let taken = Taken {
            step: step.clone(),
            point,
            from,
        };
        visit(&taken, row);
    }

    /// What is wrong in a state.
    fn violations(&self, worker: &mut Worker<'f>, row: &[u32]) -> Vec<Violation> {
        match Suspicion::decode(row[self.suspicion_at()]) {
            None => self.races(&mut worker.view, row),
            Some(suspicion) => self.stale(worker, row, suspicion),
        }
    }

    /// Races on nonatomic locations (Def. 6.1), the first for each location.
    fn races(&self, view: &mut View<'_>, row: &[u32]) -> Vec<Violation> {
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

    /// What the culprit is about to do stale.
    fn stale(&self, worker: &mut Worker<'f>, row: &[u32], suspicion: Suspicion) -> Vec<Violation> {
        let culprit = self.culprit(row);
        if !suspicion.last
            || row[self.thread_at(culprit)] & (AWARE | UNSEEN) != AWARE | UNSEEN
            || self.frame.atomic_thread(&mut worker.view, row).is_some()
        {
            return Vec::new();
        }
        let Worker { view, blocks, .. } = worker;
        let value = self.value(view, row);
        let domain = self.frame.program().domain;
        let (code, local) = (self.frame.codes[culprit], LocalId(row[culprit]));
        let place = self.futures.places[suspicion.location];
        let mut found = Vec::new();
        for action in 0..view.actions(code, local) {
            let kind = view.action(code, local, action).kind;
            let location = match kind {
                ActionKind::AtomicBegin => blocks.location(view, code, local, action),
                other => other.location(),
            };
            if location.is_none_or(|l| l.index() != place) {
                continue;
            }
            let possible = match (kind, value) {
                (ActionKind::Load { .. }, _) => true,
                (ActionKind::Store { .. }, _) => suspicion.plain,
                (
                    ActionKind::Wait {
                        relation, value, ..
                    },
                    Some(found),
                ) => relation.holds(found, value),
                (ActionKind::Rmw { .. }, None) => suspicion.plain,
                (ActionKind::Rmw { update, .. }, Some(found)) => match update.effect(domain, found)
                {
                    Ok(Effect::Fails) => true,
                    Ok(Effect::Writes(_)) => suspicion.plain,
                    _ => false,
                },
                (ActionKind::AtomicBegin, Some(found)) => {
                    let block = Block {
                        code,
                        local,
                        action,
                    };
                    let ways = blocks.ways(view, domain, block, found);
                    ways.iter()
                        .any(|way| way.reads && (way.written.is_none() || suspicion.plain))
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
    fn kind(&self, view: &mut View<'_>, row: &[u32], violation: &Violation) -> u64 {
        let (race, (thread, action)) = match *violation {
            Violation::Stale { thread, action } => (0, (thread, action)),
            Violation::Race { first, .. } => (1 << 63, first),
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
        let mut who: Vec<usize> = (0..self.frame.thread_count()).collect();
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
            step.thread = who[step.thread];
            who = from.iter().map(|&f| who[f]).collect();
            steps.push(step);
        }
        let last = finding.path.last()?.row;
        worker.view.begin_state();
        let violations = self.violations(worker, last);
        let violation = violations
            .into_iter()
            .find(|v| self.kind(&mut worker.view, last, v) == finding.kind)?;
        let violation = match violation {
            Violation::Stale { thread, action } => Violation::Stale {
                thread: who[thread],
                action,
            },
            Violation::Race { first, second } => Violation::Race {
                first: (who[first.0], first.1),
                second: (who[second.0], second.1),
            },
        };
        Some((first[..self.frame.width()].to_vec(), steps, violation))
    }
}

fn label(taken: &Taken<'_>) -> u64 {
    StepLabel {
        component: taken.step.thread,
        action: taken.step.action,
        outcome: taken.step.outcome,
    }
    .encode(taken.point)
}

impl<'f> Space for Suspects<'f, '_> {
    type Worker = Worker<'f>;

    fn worker(&self) -> Worker<'f> {
        Worker {
            view: self.frame.threads.view(),
            blocks: Blocks::default(),
            horizons: Vec::new(),
            standing: Standing::default(),
            row: Vec::new(),
            fresh: Vec::new(),
            from: Vec::new(),
            outcomes: Vec::new(),
        }
    }

    fn width(&self) -> usize {
        self.location_at(self.facts.tracked_count)
    }

    fn initial(&self, worker: &mut Worker<'f>, out: &mut Successors<'_>) {
        for mut row in self.frame.initial_rows(&mut worker.view) {
            row.resize(self.width(), 0);
            out.push(0, &row);
        }
    }

    fn expand(&self, worker: &mut Worker<'f>, row: &[u32], out: &mut Successors<'_>) {
        worker.view.begin_state();
        for violation in self.violations(worker, row) {
            let kind = self.kind(&mut worker.view, row, &violation);
            out.report(kind);
        }
        self.steps(worker, row, &mut |taken, row| out.push(label(taken), row));
    }

    fn compare(&self, a: &[u32], b: &[u32]) -> Ordering {
        let threads = &self.frame.threads;
        let mut at = 0;
        while at < self.frame.thread_count() {
            let code = self.frame.codes[at];
            let length = self.frame.group_of[at].map_or(1, |g| self.frame.groups[g].len());
            let by_content = |x: &(u32, u32), y: &(u32, u32)| {
                threads
                    .compare_locals(code, LocalId(x.0), LocalId(y.0))
                    .then(x.1.cmp(&y.1))
            };
            let sorted = |row: &[u32]| {
                let mut members: Vec<(u32, u32)> = (at..at + length)
                    .map(|thread| (row[thread], row[self.thread_at(thread)]))
                    .collect();
                members.sort_by(by_content);
                members
            };
            for (x, y) in sorted(a).iter().zip(&sorted(b)) {
                match by_content(x, y) {
                    Ordering::Equal => {}
                    other => return other,
                }
            }
            at += length;
        }
        for component in self.frame.thread_count()..self.frame.width() {
            let value = |row: &[u32]| threads.value(row[component]);
            match value(a).cmp(&value(b)) {
                Ordering::Equal => {}
                other => return other,
            }
        }
        let value = |row: &[u32]| {
            row[self.value_at()]
                .checked_sub(1)
                .map(|id| threads.value(id))
        };
        let locations = self.location_at(0);
        a[self.suspicion_at()]
            .cmp(&b[self.suspicion_at()])
            .then_with(|| value(a).cmp(&value(b)))
            .then_with(|| a[locations..].cmp(&b[locations..]))
    }
}
