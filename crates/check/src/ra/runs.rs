//! `safe` under RA where a program is not robust: all its states, with messages and views.
//!
//! A row is that of SC (threads; of each location the value that is last in modification order) and behind it the number of the messages.
//! Where threads write in loops there may be no end to it: such a program is only followed so far. A race on a `nonatomic` location has no
//! meaning, so anything may follow: that is not safe either.

use std::cmp::Ordering;

use palisade_explore::{Finding, Space, Successors};
use palisade_lang::{LocationId, Op, Order, PointId, Program, ProgramError, Thread, Value};
use palisade_memory::witness::InitialName;
use palisade_memory::{Event, EventKind, EventRef, Pattern, PatternKind, Witness};
use palisade_threads::{ActionKind, Effect, Footprint, LocalId, View};

use super::check_meaning;
use super::messages::{Messages, Pool, Written};
use crate::certificate::{NoCertificate, Take, finished, hand_over, put_state};
use crate::checkpoint::Kept;
use crate::live::rounds::Hangs;
use crate::run::event_at;
use crate::safe::{ERROR, never_in_words};
use crate::sc::StepLabel;
use crate::search::search_within;
use crate::state::Frame;
use crate::waiting::{is_deadlock, is_deadlock_in_old_block};
use crate::{Answer, Control, Criterion, Model, Options, Reductions, Verdict};

/// The kind of a race's finding.
const RACE: u64 = 1 << 62;

/// The kind of a hang's finding.
const HANG: u64 = 1 << 61;

/// So many states are looked at where there may be no end to them and no time limit was given.
const MOST_STATES: u64 = 30_000;

/// Looks at all runs of a program under RA, as far as it gets.
pub(crate) fn check(program: &Program, options: &Options, control: &Control<'_>) -> Answer {
    follow(
        program,
        options,
        control,
        options.criterion != Criterion::Live,
    )
}

/// The same, for data races alone.
pub(crate) fn races(program: &Program, options: &Options, control: &Control<'_>) -> Answer {
    let mut stated_nothing = program.clone();
    stated_nothing.nevers.clear();
    follow(&stated_nothing, options, control, false)
}

fn follow(program: &Program, options: &Options, control: &Control<'_>, errors: bool) -> Answer {
    let reductions = Reductions {
        symmetry: false,
        ..options.reductions
    };
    let frame = Frame::new(program, &reductions);
    let space = RaSpace {
        frame: &frame,
        pool: Pool::default(),
        forgets: true,
        errors,
        hangs: Hangs::new(program, options),
    };
    let endless = program.threads.iter().any(writes_in_a_loop);
    let most = most_states(endless, options);
    let (outcome, mut answer) = search_within(&space, options, control, most);
    if let Verdict::Unknown(reason) = &mut answer.verdict {
        let with = if endless {
            "; threads write in loops, so there may be no end to it"
        } else {
            ""
        };
        *reason = format!("under RA, with all that may be read: {reason}{with}");
    }
    answer.tell(&outcome, options, |finding| Some(witness(&space, finding)));
    if answer.verdict == Verdict::Holds {
        let note = "all its runs under RA were seen, with every value that may be read";
        answer.notes.push(note.to_owned());
    }
    answer
}

fn most_states(endless: bool, options: &Options) -> Option<u64> {
    let most = (endless && options.timeout.is_none()).then_some(MOST_STATES);
    most.into_iter().chain(options.most_states).min()
}

/// Walks without forgetting anything and hands every state to `take`, for a certificate.
pub(crate) fn states(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
    take: &mut Take<'_>,
) -> Result<(), NoCertificate> {
    check_meaning(program, options).map_err(NoCertificate::Refused)?;
    let frame = Frame::new(program, &options.reductions);
    let space = RaSpace {
        frame: &frame,
        pool: Pool::default(),
        forgets: false,
        errors: true,
        hangs: None,
    };
    let endless = program.threads.iter().any(writes_in_a_loop);
    let most = most_states(endless, options);
    let (outcome, answer) = search_within(&space, options, control, most);
    finished(&outcome, answer)?;
    let mut view = frame.threads.view();
    hand_over(&outcome, take, |row, numbers| {
        put_state(&frame, &mut view, row, None, numbers)?;
        space.pool.get(row[space.component()]).put(numbers);
        Some(())
    })
}

/// Whether there is a loop with something in it that adds a message.
fn writes_in_a_loop(thread: &Thread) -> bool {
    let mut next: Vec<Vec<PointId>> = vec![Vec::new(); thread.points.len()];
    for transition in &thread.transitions {
        next[transition.from.index()].push(transition.to);
    }
    let comes_back = |from: PointId, to: PointId| {
        let mut seen = vec![false; next.len()];
        let mut work = vec![to];
        while let Some(point) = work.pop() {
            if point == from {
                return true;
            }
            if !std::mem::replace(&mut seen[point.index()], true) {
                work.extend(&next[point.index()]);
            }
        }
        false
    };
    let mut writes = thread
        .transitions
        .iter()
        .filter(|t| matches!(t.op, Op::Store { .. } | Op::Rmw { .. }));
    writes.any(|t| comes_back(t.from, t.to))
}

struct RaSpace<'f, 'p> {
    frame: &'f Frame<'p>,
    pool: Pool,
    /// Whether what makes no difference is forgotten.
    forgets: bool,
    /// Whether an error of the program is something to be found.
    errors: bool,
    /// Where `live` is asked.
    hangs: Option<Hangs<'p>>,
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
    /// An access to a `nonatomic` location whose newest message the thread does not know.
    Race { written: Option<Value> },
}

impl RaSpace<'_, '_> {
    /// The component of the messages.
    fn component(&self) -> usize {
        self.frame.width()
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
            // Weaker fences do nothing.
            ActionKind::Fence(order) if order != Order::SeqCst => turns.push(quiet(before.clone())),
            ActionKind::AtomicEnd => {
                let mut messages = before.clone();
                messages.leave();
                turns.push(quiet(messages));
            }
            ActionKind::Fence(_) => {
                let mut messages = before.clone();
                messages.fence(thread);
                turns.push(quiet(messages));
            }
            ActionKind::Load { location, .. } | ActionKind::Wait { location, .. } => {
                let nonatomic = program.location(location).nonatomic;
                if nonatomic && !before.knows_newest(thread, location) {
                    return vec![Turn::Race { written: None }];
                }
                for at in before.choices(thread, location) {
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
                    let mut messages = before.clone();
                    messages.read(thread, location, at, nonatomic);
                    if block {
                        messages.enter(location, at);
                    }
                    turns.push(Turn::Step {
                        read: Some(value),
                        written: None,
                        at: Some(at),
                        made: None,
                        messages,
                    });
                }
            }
            ActionKind::Store {
                location, value, ..
            } => {
                let nonatomic = program.location(location).nonatomic;
                if nonatomic && !before.knows_newest(thread, location) {
                    let written = Some(value);
                    return vec![Turn::Race { written }];
                }
                for at in before.choices(thread, location) {
                    let mut messages = before.clone();
                    let made = messages.write(thread, location, at, value, false, block);
                    turns.extend(made.map(|made| Turn::Step {
                        read: None,
                        written: Some(value),
                        at: Some(at),
                        made: Some(made),
                        messages,
                    }));
                }
            }
            ActionKind::Rmw {
                location, update, ..
            } => {
                for at in before.choices(thread, location) {
                    let old = before.value_at(location, at);
                    let mut messages = before.clone();
                    messages.read(thread, location, at, false);
                    let mut step = |written: Option<Value>, made, messages| {
                        turns.push(Turn::Step {
                            read: Some(old),
                            written,
                            at: Some(at),
                            made,
                            messages,
                        });
                    };
                    match update.effect(program.domain, old) {
                        Err(error) => turns.push(Turn::Error(error)),
                        Ok(Effect::Blocks) => {}
                        Ok(Effect::Fails) => {
                            if block {
                                messages.enter(location, at);
                            }
                            step(None, None, messages);
                        }
                        Ok(Effect::Writes(new)) => {
                            let made = messages.write(thread, location, at, new, true, block);
                            if made.is_some() {
                                step(Some(new), made, messages);
                            }
                        }
                    }
                }
            }
        }
        turns
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

    /// Forgets what makes no difference any more for threads that stand as in a row.
    fn forget(&self, view: &mut View<'_>, row: &[u32], messages: &mut Messages) -> Vec<usize> {
        let frame = self.frame;
        let program = frame.program();
        if !self.forgets {
            return vec![0; program.locations.len()];
        }
        let futures: Vec<Option<u64>> = (0..frame.thread_count())
            .map(|i| {
                let (code, local) = (frame.codes[i], LocalId(row[i]));
                let Footprint { reads, writes } = view.future_footprint(code, local);
                (view.actions(code, local) > 0).then_some(reads | writes)
            })
            .collect();
        messages.forget(
            |thread| futures[thread].is_some(),
            |thread, place| futures[thread].is_some_and(|bits| bits >> (place % 64) & 1 == 1),
            |place| program.locations[place].nonatomic,
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
        self.pool
            .recall_numbers(locations, self.frame.thread_count(), numbers)
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
        self.frame.width() + 1
    }

    fn bounds(&self) -> Option<Vec<u32>> {
        let mut bounds = self.frame.bounds();
        bounds.push(self.pool.count());
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
            let mut messages = Messages::initial(&values, self.frame.thread_count());
            self.forget(&mut worker.view, &row, &mut messages);
            row.push(self.pool.number(messages));
            out.push(0, &row);
        }
    }

    fn expand(&self, worker: &mut RaWorker<'f>, row: &[u32], out: &mut Successors<'_>) {
        let frame = self.frame;
        let RaWorker { view, row: next } = worker;
        view.begin_state();
        let messages = self.pool.get(row[self.component()]);
        let only = frame.atomic_thread(view, row);
        for instance in 0..frame.thread_count() {
            if only.is_some_and(|only| only != instance) {
                continue;
            }
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
                        Turn::Error(_) => {
                            next.clear();
                            next.extend_from_slice(row);
                            next[instance] = view.stopped(code).0;
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
                                next[self.component()] = self.pool.number(messages);
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
        by_frame.then_with(|| self.pool.compare(a[component], b[component]))
    }
}

fn race_in_words(event: &Event) -> String {
    format!(
        "`{}` need not know of the newest store to the nonatomic location `{}`: a race, and what happens then has no meaning",
        event.thread,
        event.location.as_deref().unwrap_or_default()
    )
}

/// The run that leads to a finding.
fn witness(space: &RaSpace<'_, '_>, finding: &Finding) -> Witness {
    let frame = space.frame;
    let program = frame.program();
    let view = &mut frame.threads.view();
    let names: Vec<String> = program.instances().into_iter().map(|i| i.name).collect();
    let mut events: Vec<Event> = Vec::new();
    // Where the messages that are not forgotten come from.
    let from_start = vec![EventRef::Initial(InitialName::Init)];
    let mut origins = vec![from_start; program.locations.len()];
    let mut error = None;
    let mut racing = None;
    // What the message of the block that a thread is in stands behind.
    let mut behind_block = None;
    let labels = finding.path.iter().skip(1).map(|step| step.label);
    for (before, label) in finding.path.iter().zip(labels.chain(finding.step)) {
        let StepLabel {
            component: instance,
            action,
            outcome,
        } = StepLabel::decode(label);
        let row = before.row;
        let (code, local) = (frame.codes[instance], LocalId(row[instance]));
        let taken = view.action(code, local, action);
        let atomic = view.is_atomic(code, local);
        let messages = space.pool.get(row[space.component()]);
        // The turns in the order of their numbers, each as often as the thread can go on behind it.
        let mut left = outcome;
        let mut chosen = None;
        for turn in space.turns(&messages, instance, taken.kind, atomic) {
            let nexts = match &turn {
                Turn::Step { read, .. } => {
                    view.resume(code, local, action, read.unwrap_or(0)).to_vec()
                }
                Turn::Error(_) | Turn::Race { .. } => vec![local],
            };
            if let Some(next) = nexts.get(left) {
                chosen = Some((turn, *next));
                break;
            }
            left -= nexts.len();
        }
        let Some((turn, next)) = chosen else {
            debug_assert!(false, "a step that does not exist");
            break;
        };
        let location = taken.kind.location();
        let mut tell = |kind, value, read| {
            let mut event = event_at(program, instance, taken.transition, kind, location, &names);
            event.value = value;
            event.read = read;
            event.atomic = atomic;
            events.push(event);
            events.len() - 1
        };
        match turn {
            Turn::Error(what) => {
                error = Some(what);
                tell(EventKind::Local, None, None);
            }
            Turn::Race { written } => {
                let kind = match written {
                    Some(_) => EventKind::Store,
                    None => EventKind::Load,
                };
                tell(kind, written, None);
                racing = location.and_then(|l| origins[l.index()].last().copied());
            }
            Turn::Step {
                read,
                written,
                at,
                made,
                mut messages,
            } => {
                let kind = match taken.kind {
                    ActionKind::Local | ActionKind::Error(_) => None,
                    ActionKind::Fence(order) if order != Order::SeqCst => None,
                    ActionKind::AtomicBegin | ActionKind::AtomicEnd => Some(EventKind::Local),
                    ActionKind::Fence(_) => Some(EventKind::Fence),
                    ActionKind::Load { .. } | ActionKind::Wait { .. } => Some(EventKind::Load),
                    ActionKind::Store { .. } => Some(EventKind::Store),
                    ActionKind::Rmw { .. } if written.is_none() => Some(EventKind::Load),
                    ActionKind::Rmw { .. } => Some(EventKind::Rmw),
                };
                if let Some(kind) = kind {
                    let read = read.filter(|_| kind == EventKind::Rmw || written.is_none());
                    let of_rmw = read.filter(|_| kind == EventKind::Rmw);
                    let event = tell(kind, written.or(read), of_rmw);
                    if let (Some(location), Some(at)) = (location, at) {
                        let of_location = &mut origins[location.index()];
                        // A block's further stores change what it wrote: that still stands behind the same one.
                        if let Some(Written::Inserted(_)) = made {
                            behind_block = Some(of_location[at]);
                        }
                        let event = &mut events[event];
                        match kind {
                            EventKind::Load => event.rf = Some(of_location[at]),
                            EventKind::Store => event.after = behind_block,
                            _ => (event.rf, event.after) = (behind_block, behind_block),
                        }
                    }
                    let this = EventRef::Event(events.len() - 1);
                    if let Some(location) = location {
                        let of_location = &mut origins[location.index()];
                        match made {
                            Some(Written::Inserted(at)) => of_location.insert(at, this),
                            Some(Written::Changed(at)) => of_location[at] = this,
                            None => {}
                        }
                    }
                }
                let mut after = row.to_vec();
                after[instance] = next.0;
                let gone = space.forget(view, &after, &mut messages);
                for (of_location, gone) in origins.iter_mut().zip(gone) {
                    of_location.drain(..gone);
                }
            }
        }
    }
    let last = events.len().checked_sub(1);
    let mut named: Vec<usize> = last.into_iter().collect();
    let in_words = |error| {
        let code = (finding.kind & !(ERROR | RACE)) >> 32;
        let transition = finding.kind as u32;
        program.error_in_words(code as usize, transition as usize, error)
    };
    let (kind, message) = if finding.kind & ERROR != 0 {
        (PatternKind::Error, error.map_or_else(String::new, in_words))
    } else if finding.kind & RACE != 0 {
        if let Some(EventRef::Event(store)) = racing {
            named.insert(0, store);
        }
        let message = events.last().map_or_else(String::new, race_in_words);
        (PatternKind::Race, message)
    } else if finding.kind & HANG != 0 {
        (PatternKind::Stuck, String::new())
    } else {
        let never = &program.nevers[finding.kind as usize];
        (PatternKind::Never, never_in_words(program, never))
    };
    let mut witness = Witness {
        model: Model::Ra,
        criterion: Criterion::Safe,
        events,
        cycle: Vec::new(),
        edges: Vec::new(),
        pattern: Some(Pattern {
            kind,
            events: named,
            message,
        }),
        loop_start: None,
        copies: None,
    };
    if let (Some(hangs), Some(last)) = (&space.hangs, finding.path.last()) {
        let mut row = last.row.to_vec();
        let messages = space.pool.get(row[space.component()]);
        let seen = messages.seen_by_block();
        let old = seen.filter(|&(location, value)| value != messages.newest(location));
        if let Some((location, value)) = old {
            row[frame.component(location)] = view.value_id(value);
        }
        let init = EventRef::Initial(InitialName::Init);
        let newest = |l: LocationId| origins[l.index()].last().copied().unwrap_or(init);
        if let Some(hang) = hangs.find_in_row(frame, view, &row) {
            hangs.tell(&hang, old.is_some(), newest, &mut witness);
        }
    }
    witness
}
