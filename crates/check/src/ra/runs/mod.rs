//! `safe` under RA, C++20 and RC11 where a program is not robust: all its states, with messages and views.
//!
//! A row is that of SC (threads; of each location the value that is last in modification order) and behind it the number of the messages.
//! Where threads write in loops there may be no end to it: such a program is only followed so far. A race on a `nonatomic` location has no
//! meaning, so anything may follow: that is not safe either.
//!
//! Views are exact where no event is sequentially consistent. Of sc fences (not accesses) they are exact if a run can execute them in an order that the model allows them to take effect in:
//! see [`fences_in_order`]. Otherwise there are two ways. Without what sc events add to acquire and release (`SeqCst::Weaker`) there are more runs than the model has: nothing wrong in them means nothing wrong,
//! and what is wrong counts if its graph is one of the model's, by the definition. With sc fences that take effect in the order of the run (`SeqCst::InOrder`) there are fewer.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use palisade_explore::{Space, Successors};
use palisade_lang::{LocationId, Op, Order, PointId, Program, ProgramError, Thread, Value};
use palisade_memory::c20::graph::{load_order, store_order};
use palisade_threads::{ActionKind, Effect, Footprint, LocalId, View};

use self::ahead::Ahead;
use self::messages::{Access, Messages, NewMessage, Pool, Reads, Watched, Written};
use super::facts::{Facts, Fences};
use crate::checkpoint::Kept;
use crate::live::rounds::Hangs;
use crate::safe::ERROR;
use crate::sc::StepLabel;
use crate::state::Frame;
use crate::waiting::{is_deadlock, is_deadlock_in_old_block};

mod ahead;
mod fences;
mod messages;
mod walk;
mod witness;

pub(crate) use fences::fences_in_order;
pub(crate) use walk::{Walked, check, races, states};

/// The kind of a race's finding.
const RACE: u64 = 1 << 62;

/// The kind of a hang's finding.
const HANG: u64 = 1 << 61;

/// The kind of a state that is not followed, with the number of the location: see [`MOST_MESSAGES`].
const TOO_MANY: u64 = 1 << 60;

/// Of no location more messages than these are kept: each of them may be read, and where threads write in loops there may be no end to them.
const MOST_MESSAGES: usize = 64;

/// What sequentially consistent events are taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeqCst {
    /// Release/acquire: an sc fence is a read-modify-write of one extra location.
    Updates,
    /// Sc fences take effect in the order in which they are executed; sc accesses acquire and release.
    InOrder,
    /// They acquire and release, and nothing more.
    Weaker,
}

/// What the model makes of orders.
struct Rules {
    seqcst: SeqCst,
    /// Where data may race, in C++20.
    watched: Watched,
    /// By location: whether the order of sc fences tells something about it.
    by_order: Vec<bool>,
    /// By running thread: whether it has a fence that acquires, and one that releases.
    acquire_fence: Vec<bool>,
    release_fence: Vec<bool>,
}

impl Rules {
    fn new(program: &Program, seqcst: SeqCst) -> Self {
        let instances = program.instances();
        let loose = seqcst != SeqCst::Updates;
        let has_fence = |which: fn(Order) -> bool| {
            let of_thread = |thread: &Thread| {
                let mut ops = thread.transitions.iter().map(|t| &t.op);
                loose && ops.any(|op| matches!(op, Op::Fence(order) if which(*order)))
            };
            let of_instance = |i: &palisade_lang::Instance| of_thread(program.thread(i.thread));
            instances.iter().map(of_instance).collect()
        };
        let watched = match loose {
            false => Watched::default(),
            true => {
                let facts = Facts::new(program, Fences::Fences);
                let locations = program.locations.iter().zip(&facts.nonatomic);
                Watched::new(
                    instances.len(),
                    locations.map(|(location, &plain)| (plain, !location.nonatomic)),
                )
            }
        };
        Rules {
            seqcst,
            watched,
            by_order: program.locations.iter().map(|l| !l.nonatomic).collect(),
            acquire_fence: has_fence(Order::acquires),
            release_fence: has_fence(Order::releases),
        }
    }

    /// The order that an access has.
    fn order(
        &self,
        program: &Program,
        location: LocationId,
        kind: ActionKind,
        wrote: bool,
    ) -> Order {
        let written = kind.order(wrote).unwrap_or(Order::AcqRel);
        match kind {
            _ if self.seqcst == SeqCst::Updates => match program.location(location).nonatomic {
                true => Order::NonAtomic,
                false => Order::AcqRel,
            },
            ActionKind::Store { .. } => store_order(program, location, written),
            ActionKind::Rmw { .. } if wrote => written,
            _ => load_order(program, location, written),
        }
    }
}

struct RaSpace<'f, 'p> {
    frame: &'f Frame<'p>,
    rules: Rules,
    pool: Pool,
    /// What threads may still read; nothing where what makes no difference is not forgotten.
    ahead: Option<Ahead>,
    /// Whether steps that commute with all that other threads may do are taken first.
    reduces: bool,
    /// Whether an error of the program is something to be found.
    errors: bool,
    /// Where `live` is asked.
    hangs: Option<Hangs<'p>>,
    /// A thread met an error inside an `atomic` block, which keeps the others out.
    stopped_in_block: AtomicBool,
    /// Only runs of so many spells: steps of one thread. Then a row has one number more: which spell it is, and whose.
    spells: Option<u32>,
}

struct RaWorker<'t> {
    view: View<'t>,
    row: Vec<u32>,
}

/// One thing that an action can come to.
enum Turn {
    /// A step.
    Step {
        read: Option<Value>,
        written: Option<Value>,
        /// Which message is read, or which one the new one is put behind.
        at: Option<usize>,
        made: Option<Written>,
        messages: Messages,
    },
    /// An error of the program.
    Error(ProgramError),
    /// An access that races with an earlier one.
    Race {
        read: Option<Value>,
        written: Option<Value>,
        /// As of a step; not said under release/acquire.
        at: Option<usize>,
    },
}

impl RaSpace<'_, '_> {
    /// The component of the messages.
    fn component(&self) -> usize {
        self.frame.width()
    }

    /// The number of the spell that the next step of a thread belongs to: 0 where they are not counted, nothing if it would be one too many.
    fn spell(&self, row: &[u32], thread: usize) -> Option<u32> {
        let Some(most) = self.spells else {
            return Some(0);
        };
        let threads = self.frame.thread_count() as u32;
        // 0 before the first step; then how many there were before, and the thread, and 1.
        let now = row[self.component() + 1].checked_sub(1);
        let (before, is_same) = match now {
            None => (0, true),
            Some(now) => (now / threads, now % threads == thread as u32),
        };
        let before = before + u32::from(!is_same);
        (before < most).then_some(before * threads + thread as u32 + 1)
    }

    fn put_spell(&self, row: &mut [u32], spell: u32) {
        if self.spells.is_some() {
            row[self.component() + 1] = spell;
        }
    }

    /// Everything that an action of a thread can come to; nothing where it has to wait.
    fn turns(&self, before: &Messages, thread: usize, kind: ActionKind, block: bool) -> Vec<Turn> {
        let program = self.frame.program();
        let quiet = |messages| Turn::Step {
            read: None,
            written: None,
            at: None,
            made: None,
            messages,
        };
        let mut turns = Vec::new();
        match kind {
            ActionKind::Error(error) => turns.push(Turn::Error(error)),
            ActionKind::Local | ActionKind::AtomicBegin => turns.push(quiet(before.clone())),
            ActionKind::AtomicEnd => {
                let mut messages = before.clone();
                messages.leave();
                turns.push(quiet(messages));
            }
            ActionKind::Fence(order) => {
                let mut messages = before.clone();
                match self.rules.seqcst {
                    SeqCst::Updates if order == Order::SeqCst => messages.fence_as_update(thread),
                    // Weaker fences do nothing.
                    SeqCst::Updates => {}
                    seqcst => {
                        let in_order = seqcst == SeqCst::InOrder;
                        messages.fence(thread, order, in_order, &self.rules.by_order);
                    }
                }
                turns.push(quiet(messages));
            }
            ActionKind::Load { location, .. } | ActionKind::Wait { location, .. } => {
                let access = self.access(location, kind, false);
                for at in self.choices(before, thread, access) {
                    let value = before.value_at(location, at);
                    if let ActionKind::Wait {
                        relation,
                        value: right,
                        ..
                    } = kind
                        && !relation.holds(value, right)
                    {
                        continue;
                    }
                    turns.push(self.reading(before, thread, access, at, block));
                }
            }
            ActionKind::Store {
                location, value, ..
            } => {
                let access = self.access(location, kind, true);
                for at in self.choices(before, thread, access) {
                    turns.extend(self.writing(before, thread, access, at, (None, value), block));
                }
            }
            ActionKind::Rmw {
                location, update, ..
            } => {
                let access = |writes| self.access(location, kind, writes);
                for at in before.choices(thread, location) {
                    let old = before.value_at(location, at);
                    match update.effect(program.domain, old) {
                        Err(error) => turns.push(Turn::Error(error)),
                        Ok(Effect::Blocks) => {}
                        Ok(Effect::Fails) => {
                            turns.push(self.reading(before, thread, access(false), at, block));
                        }
                        Ok(Effect::Writes(new)) => {
                            let values = (Some(old), new);
                            turns.extend(self.writing(
                                before,
                                thread,
                                access(true),
                                at,
                                values,
                                block,
                            ));
                        }
                    }
                }
            }
        }
        turns
    }

    fn access(&self, location: LocationId, kind: ActionKind, writes: bool) -> Access {
        let order = self
            .rules
            .order(self.frame.program(), location, kind, writes);
        Access {
            location,
            order,
            writes,
        }
    }

    fn races(&self, before: &Messages, thread: usize, access: Access) -> bool {
        match self.rules.seqcst {
            SeqCst::Updates => {
                access.order == Order::NonAtomic && !before.knows_newest(thread, access.location)
            }
            _ => before.races(&self.rules.watched, thread, access),
        }
    }

    /// The same for an access that reads the message at a place: an atomic one may be ordered by what it acquires there.
    fn races_reading(&self, before: &Messages, thread: usize, access: Access, at: usize) -> bool {
        self.races(before, thread, access)
            && (access.order == Order::NonAtomic || {
                let mut behind = before.clone();
                behind.read(thread, access.location, at, access.order);
                self.races(&behind, thread, access)
            })
    }

    /// The places of the messages that an access may read, or put its own behind. Of one that races, one is enough.
    fn choices(&self, before: &Messages, thread: usize, access: Access) -> std::ops::Range<usize> {
        let all = before.choices(thread, access.location);
        match access.order == Order::NonAtomic && self.races(before, thread, access) {
            true => all.end - 1..all.end,
            false => all,
        }
    }

    /// The thread reads the message at a place, and writes nothing.
    fn reading(
        &self,
        before: &Messages,
        thread: usize,
        access: Access,
        at: usize,
        block: bool,
    ) -> Turn {
        let location = access.location;
        let read = Some(before.value_at(location, at));
        let in_model = self.rules.seqcst != SeqCst::Updates;
        let goes_on = block && before.block_has_begun();
        if !goes_on && self.races_reading(before, thread, access, at) {
            return Turn::Race {
                read: read.filter(|_| in_model),
                written: None,
                at: in_model.then_some(at),
            };
        }
        let mut messages = before.clone();
        if !goes_on || !in_model {
            messages.read(thread, location, at, access.order);
            messages.watch(&self.rules.watched, thread, access);
        }
        if block {
            messages.enter(location, at);
        }
        Turn::Step {
            read,
            written: None,
            at: Some(at),
            made: None,
            messages,
        }
    }

    /// The thread writes behind the message at a place, having read that one or not.
    fn writing(
        &self,
        before: &Messages,
        thread: usize,
        access: Access,
        at: usize,
        (read, value): (Option<Value>, Value),
        block: bool,
    ) -> Option<Turn> {
        let in_model = self.rules.seqcst != SeqCst::Updates;
        let goes_on = block && before.block_has_begun();
        let access = Access {
            // A block is one read-modify-write that acquires and releases.
            order: if block { Order::AcqRel } else { access.order },
            ..access
        };
        let mut messages = before.clone();
        let raced = match read {
            Some(_) => self.races_reading(before, thread, access, at),
            None => self.races(before, thread, access),
        };
        if !raced {
            if read.is_some() && (!goes_on || !in_model) {
                messages.read(thread, access.location, at, access.order);
            }
            // It counts before its message is made, which tells of it.
            messages.watch(&self.rules.watched, thread, access);
        }
        let joined = read.is_some() || if in_model { goes_on } else { block };
        let new = NewMessage {
            // Under release/acquire every message tells what its writer knows; that of a nonatomic store is never asked.
            order: if in_model {
                access.order
            } else {
                Order::AcqRel
            },
            joined,
            in_block: block,
        };
        let made = messages.write(thread, access.location, at, value, new)?;
        Some(match raced {
            true => Turn::Race {
                read: read.filter(|_| in_model),
                written: Some(value),
                at: in_model.then_some(at),
            },
            false => Turn::Step {
                read,
                written: Some(value),
                at: Some(at),
                made: Some(made),
                messages,
            },
        })
    }

    /// Whether a state is one of the program. Inside a block it need not be: where the block has read what no read-modify-write can read, and
    /// every way on comes to a store, there is no such run.
    fn is_real(&self, view: &mut View<'_>, row: &[u32]) -> bool {
        let frame = self.frame;
        let messages = self.pool.get(row[self.component()]);
        let (Some(holder), false) = (frame.atomic_thread(view, row), messages.block_can_store())
        else {
            return true;
        };
        // The block only reads one message, again and again: only the local state changes.
        let code = frame.codes[holder];
        let mut path = vec![(LocalId(row[holder]), None::<Vec<LocalId>>)];
        let mut dead: Vec<LocalId> = Vec::new();
        while let Some((local, ways)) = path.last_mut() {
            let local = *local;
            if ways.is_none() {
                let mut found = Vec::new();
                let (mut stores, mut ends) = (false, false);
                for action in 0..view.actions(code, local) {
                    let taken = view.action(code, local, action);
                    stores |= self.is_store(&messages, taken.kind);
                    for turn in self.turns(&messages, holder, taken.kind, true) {
                        match turn {
                            Turn::Step { read, .. } => {
                                let read = read.unwrap_or(0);
                                found.extend_from_slice(view.resume(code, local, action, read));
                            }
                            Turn::Error(_) | Turn::Race { .. } => ends = true,
                        }
                    }
                }
                if ends || (found.is_empty() && !stores) {
                    return true;
                }
                *ways = Some(found);
            }
            let Some(next) = ways.as_mut().and_then(Vec::pop) else {
                dead.push(local);
                path.pop();
                continue;
            };
            let outside = !view.is_atomic(code, next);
            let goes_on = path.len() > palisade_memory::ENDLESS;
            if outside || goes_on || path.iter().any(|(on_path, _)| *on_path == next) {
                return true;
            }
            if !dead.contains(&next) {
                path.push((next, None));
            }
        }
        false
    }

    /// Whether an action of a block is a store, given what the block has read.
    fn is_store(&self, messages: &Messages, kind: ActionKind) -> bool {
        match kind {
            ActionKind::Store { .. } => true,
            ActionKind::Rmw {
                location, update, ..
            } => messages.choices(0, location).any(|at| {
                let old = messages.value_at(location, at);
                matches!(
                    update.effect(self.frame.program().domain, old),
                    Ok(Effect::Writes(_))
                )
            }),
            _ => false,
        }
    }

    /// Whether it is enough to look at the next step of this thread: whatever the others do before it, they could do behind it.
    ///
    /// That is so where no other thread may come into conflict with it any more. A nonatomic access need not be looked at in any other order either: if another thread
    /// may come into conflict with it before it, that access races with it, and does so, too, when it comes behind it, since the thread has told nothing in the
    /// meantime. The step must not be one that a `never` sees, and must not go back in the code, so that in every cycle all threads are looked at somewhere.
    fn goes_alone(&self, view: &mut View<'_>, row: &[u32], thread: usize) -> bool {
        let frame = self.frame;
        let (code, local) = (frame.codes[thread], LocalId(row[thread]));
        let actions = view.actions(code, local);
        if actions == 0 || view.may_close_loop(code, local) || view.is_visible(code, local) {
            return false;
        }
        (0..actions).all(|action| {
            let kind = view.action(code, local, action).kind;
            match kind {
                ActionKind::Local | ActionKind::Error(_) => true,
                ActionKind::Fence(order) => {
                    order != Order::SeqCst || self.rules.seqcst != SeqCst::InOrder
                }
                ActionKind::Load { location, .. } | ActionKind::Store { location, .. } => {
                    let writes = matches!(kind, ActionKind::Store { .. });
                    if writes && !frame.nevers.is_empty() {
                        return false;
                    }
                    let order = self.rules.order(frame.program(), location, kind, writes);
                    let place = 1 << (location.index() % 64);
                    order == Order::NonAtomic
                        || (0..frame.thread_count()).all(|other| {
                            let (code, local) = (frame.codes[other], LocalId(row[other]));
                            let future = view.future_footprint(code, local);
                            let conflicts = match writes {
                                true => future.reads | future.writes,
                                false => future.writes,
                            };
                            other == thread
                                || view.actions(code, local) == 0
                                || conflicts & place == 0
                        })
                }
                _ => false,
            }
        })
    }

    /// Forgets what makes no difference any more for threads that stand as in a row.
    fn forget(&self, view: &mut View<'_>, row: &[u32], messages: &mut Messages) -> Vec<Vec<usize>> {
        let frame = self.frame;
        let program = frame.program();
        let Some(ahead) = &self.ahead else {
            return Vec::new();
        };
        let points: Vec<Option<PointId>> = (0..frame.thread_count())
            .map(|i| view.point(frame.codes[i], LocalId(row[i])))
            .collect();
        let futures: Vec<Option<Footprint>> = (0..frame.thread_count())
            .map(|i| {
                let (code, local) = (frame.codes[i], LocalId(row[i]));
                let future = view.future_footprint(code, local);
                (view.actions(code, local) > 0).then_some(future)
            })
            .collect();
        let may = |thread: usize, place: usize, what: fn(&Footprint) -> u64| {
            let future = futures[thread].as_ref();
            future.is_some_and(|future| what(future) >> (place % 64) & 1 == 1)
        };
        messages.forget(
            |thread| futures[thread].is_some(),
            |thread, place| may(thread, place, |future| future.reads | future.writes),
            |thread, place| may(thread, place, |future| future.reads),
            |place| program.locations[place].nonatomic,
            |thread, place| {
                let of = |point| ahead.of(thread, point, place);
                points[thread].map_or(Reads::Never, of)
            },
            &self.rules.watched,
        )
    }
}

impl Kept for RaSpace<'_, '_> {
    fn program(&self) -> &Program {
        self.frame.program()
    }

    fn keep(&self, out: &mut Vec<i64>) {
        self.frame.threads.keep_numbers(out);
        self.pool.keep_numbers(out);
    }

    fn recall(&self, numbers: &mut dyn Iterator<Item = i64>) -> Option<()> {
        self.frame.threads.recall_numbers(numbers)?;
        let locations = self.program().locations.len();
        let threads = self.frame.thread_count();
        self.pool
            .recall_numbers(locations, &self.rules.watched, threads, numbers)
    }

    fn doubt(&self) -> Option<&'static str> {
        self.frame.doubt()
    }
}

impl<'f> Space for RaSpace<'f, '_> {
    type Worker = RaWorker<'f>;

    fn worker(&self) -> RaWorker<'f> {
        RaWorker {
            view: self.frame.threads.view(),
            row: Vec::new(),
        }
    }

    fn width(&self) -> usize {
        self.component() + 1 + usize::from(self.spells.is_some())
    }

    fn bounds(&self) -> Option<Vec<u32>> {
        let mut bounds = self.frame.bounds();
        bounds.push(self.pool.count());
        let threads = self.frame.thread_count() as u32;
        bounds.extend(self.spells.map(|most| most * threads + 1));
        Some(bounds)
    }

    fn initial(&self, worker: &mut RaWorker<'f>, out: &mut Successors<'_>) {
        let program = self.frame.program();
        let values: Vec<Value> = program
            .locations
            .iter()
            .map(|l| program.domain.reduce(l.initial))
            .collect();
        for mut row in self.frame.initial_rows(&mut worker.view) {
            let rules = &self.rules;
            let (pending, released) = (&rules.acquire_fence, &rules.release_fence);
            let mut messages = Messages::initial(&values, &rules.watched, pending, released);
            self.forget(&mut worker.view, &row, &mut messages);
            row.push(self.pool.number(&messages));
            row.extend(self.spells.map(|_| 0));
            out.push(0, &row);
        }
    }

    fn expand(&self, worker: &mut RaWorker<'f>, row: &[u32], out: &mut Successors<'_>) {
        let frame = self.frame;
        let RaWorker { view, row: next } = worker;
        view.begin_state();
        let messages = self.pool.get(row[self.component()]);
        let too_many = messages.more_than(MOST_MESSAGES);
        if let (Some(location), true) = (too_many, self.ahead.is_some()) {
            if self.spells.is_none() {
                out.report(TOO_MANY | location as u64);
            }
            return;
        }
        let holder = frame.atomic_thread(view, row);
        let alone = || {
            let mut threads = 0..frame.thread_count();
            threads.find(|&thread| self.reduces && self.goes_alone(view, row, thread))
        };
        let only = holder.or_else(alone);
        for instance in 0..frame.thread_count() {
            if only.is_some_and(|only| only != instance) {
                continue;
            }
            let Some(spell) = self.spell(row, instance) else {
                continue;
            };
            let (code, local) = (frame.codes[instance], LocalId(row[instance]));
            let point = view.point(code, local).map_or(0, |p| p.0);
            let block = view.is_atomic(code, local);
            for action in 0..view.actions(code, local) {
                let taken = view.action(code, local, action);
                let mut outcome = 0;
                for turn in self.turns(&messages, instance, taken.kind, block) {
                    let mut label = || {
                        let label = StepLabel {
                            component: instance,
                            action,
                            outcome,
                        };
                        outcome += 1;
                        label.encode(point)
                    };
                    let instruction = (code as u64) << 32 | u64::from(taken.transition);
                    match turn {
                        Turn::Error(_) if self.errors => {
                            out.report_step(label(), ERROR | instruction);
                        }
                        // It keeps all others out for ever: no step follows.
                        Turn::Error(_) if block => {
                            self.stopped_in_block.store(true, Relaxed);
                        }
                        Turn::Error(_) => {
                            next.clear();
                            next.extend_from_slice(row);
                            next[instance] = view.stopped(code).0;
                            self.put_spell(next, spell);
                            out.push(label(), next);
                        }
                        Turn::Race { .. } => out.report_step(label(), RACE | instruction),
                        Turn::Step { read, messages, .. } => {
                            let nexts = view.resume(code, local, action, read.unwrap_or(0));
                            let nexts = nexts.to_vec();
                            for after in nexts {
                                next.clear();
                                next.extend_from_slice(row);
                                next[instance] = after.0;
                                if let Some(location) = taken.kind.location() {
                                    let newest = view.value_id(messages.newest(location));
                                    next[frame.component(location)] = newest;
                                }
                                let mut messages = messages.clone();
                                self.forget(view, next, &mut messages);
                                next[self.component()] = self.pool.number(&messages);
                                self.put_spell(next, spell);
                                out.push(label(), next);
                            }
                        }
                    }
                }
            }
        }
        // A thread inside a block goes on seeing what the block has read.
        next.clear();
        next.extend_from_slice(row);
        let deadlock = match messages.seen_by_block() {
            Some((location, value)) if value != messages.newest(location) => {
                next[frame.component(location)] = view.value_id(value);
                is_deadlock_in_old_block(frame, view, next)
            }
            _ => is_deadlock(frame, view, row),
        };
        if let Some(hangs) = &self.hangs {
            let hang = || hangs.find_in_row(frame, &mut frame.threads.view(), next);
            if deadlock && self.is_real(view, row) && hang().is_some() {
                out.report(HANG);
            }
            return;
        }
        for (index, never) in frame.nevers.iter().enumerate() {
            if frame.is_true(view, row, never, deadlock) && self.is_real(view, row) {
                out.report(index as u64);
            }
        }
    }

    fn compare(&self, a: &[u32], b: &[u32]) -> Ordering {
        let component = self.component();
        let by_frame = self.frame.compare(a, b);
        by_frame
            .then_with(|| self.pool.compare(a[component], b[component]))
            .then_with(|| a[component + 1..].cmp(&b[component + 1..]))
    }
}
