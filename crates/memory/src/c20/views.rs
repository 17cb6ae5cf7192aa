//! C++20 without sequentially consistent events as a machine with timestamps and views.
//!
//! Each thread has three views: `cur`, what it knows; `acq`, what it would know if its relaxed loads had been acquires, which an acquire fence
//! makes true; and `rel`, what it knew at its last release fence, which is what its relaxed stores publish (Kang et al. 2017, without promises; with
//! C++20's release sequences). Where there are `seqcst` events the graphs of [`super::machine`] are needed: the order in which a run executes such
//! fences need not be the one in which they take effect.
//!
//! Besides the newest message of each location that is known, a view holds how many accesses of each thread happen before: what a nonatomic access
//! conflicts with and does not come after is a race. Timestamps are places in the lists of messages, as in [`crate::ra`], and an `atomic` block is one
//! read-modify-write as there.

use super::graph::event_order;
use super::machine::refusal;
use crate::machine::{At, Choosing, Machine, Step, StepKind};
use crate::ra_accepts::Refused;
use crate::thread::{Action, Code, Local, Outcome};
use palisade_lang::{LocationId, Op, Order, Program, RegisterId, Relation, Value};

/// The machine of C++20 with timestamps and views.
#[derive(Clone, Debug)]
pub struct C20Views<'p> {
    code: Code<'p>,
}

/// What is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct View {
    /// For each location, the timestamp of the newest message that is known.
    pub times: Vec<usize>,
    /// For each thread, how many of its accesses happen before.
    pub clock: Vec<u32>,
}

impl View {
    fn new(locations: usize, threads: usize) -> Self {
        View {
            times: vec![0; locations],
            clock: vec![0; threads],
        }
    }

    fn join(&mut self, other: &View) {
        for (mine, theirs) in self.times.iter_mut().zip(&other.times) {
            *mine = (*mine).max(*theirs);
        }
        for (mine, theirs) in self.clock.iter_mut().zip(&other.clock) {
            *mine = (*mine).max(*theirs);
        }
    }

    fn see(&mut self, location: LocationId, time: usize) {
        let known = &mut self.times[location.index()];
        *known = (*known).max(time);
    }
}

/// The views of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Views {
    /// What it knows.
    pub cur: View,
    /// What it knows after an acquire fence.
    pub acq: View,
    /// What it knew at its last release fence.
    pub rel: View,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    /// What was written.
    pub value: Value,
    /// What a read that acquires learns.
    pub view: View,
    /// Whether a read-modify-write wrote it: its predecessor is the message that was read.
    pub rmw: bool,
}

/// The last accesses of a location, by kind: for each thread how many accesses it had made with that one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Accesses {
    /// Reads, then writes; of each, plain ones and then atomic ones.
    last: [[Vec<u32>; 2]; 2],
}

/// A state of [`C20Views`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The threads.
    pub locals: Vec<Local>,
    /// The messages of each location by timestamp.
    pub messages: Vec<Vec<Message>>,
    /// The views of each thread.
    pub views: Vec<Views>,
    /// The last accesses of each location that is accessed nonatomically somewhere.
    pub accesses: Vec<Accesses>,
    /// How many accesses each thread has made.
    pub counts: Vec<u32>,
    /// What the `atomic` block that some thread is in has done so far.
    pub block: Option<Block>,
    /// Whether a data race has happened: nothing follows.
    pub raced: bool,
}

/// The access of an `atomic` block.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    /// Where: a block accesses one location.
    pub location: LocationId,
    /// The timestamp of the message whose value the block sees: the one that it read, or its own.
    pub time: usize,
    /// Whether it is its own.
    pub written: bool,
}

impl State {
    /// Whether a message can be put directly after the one with this timestamp.
    fn has_gap(&self, location: LocationId, time: usize) -> bool {
        let next = self.messages[location.index()].get(time + 1);
        next.is_none_or(|next| !next.rmw)
    }

    /// Counts an access of a thread, and finds out whether it races with one of another thread.
    fn count(&mut self, thread: usize, location: LocationId, writes: bool, atomic: bool) {
        self.counts[thread] += 1;
        let count = self.counts[thread];
        let cur = &self.views[thread].cur.clock;
        let last = &self.accesses[location.index()].last;
        for (kind, of_kind) in last.iter().enumerate() {
            for (is_atomic, of_threads) in of_kind.iter().enumerate() {
                // Two reads do not conflict, and two atomic accesses do not race.
                if (kind == 0 && !writes) || (is_atomic == 1 && atomic) {
                    continue;
                }
                let mut others = of_threads.iter().zip(cur).enumerate();
                self.raced |=
                    others.any(|(other, (access, known))| other != thread && access > known);
            }
        }
        self.accesses[location.index()].last[usize::from(writes)][usize::from(atomic)][thread] =
            count;
        let views = &mut self.views[thread];
        views.cur.clock[thread] = count;
        views.acq.clock[thread] = count;
    }

    /// The thread reads the message with this timestamp.
    fn read(&mut self, thread: usize, order: Order, location: LocationId, time: usize) {
        let message = &self.messages[location.index()][time];
        let views = &mut self.views[thread];
        if order != Order::NonAtomic {
            views.acq.join(&message.view);
        }
        if order.acquires() {
            views.cur.join(&message.view);
        }
        views.cur.see(location, time);
        views.acq.see(location, time);
    }

    /// The thread writes a message with the timestamp `time + 1`; a read-modify-write carries on what the message that it read publishes.
    fn write(
        &mut self,
        thread: usize,
        order: Order,
        location: LocationId,
        time: usize,
        value: Value,
        rmw: bool,
    ) {
        let new = time + 1;
        let stored = self.messages.iter_mut().flatten().map(|m| &mut m.view);
        let of_threads = self.views.iter_mut();
        let of_threads = of_threads.flat_map(|v| [&mut v.cur, &mut v.acq, &mut v.rel]);
        for view in stored.chain(of_threads) {
            if let Some(known) = view.times.get_mut(location.index()).filter(|k| **k >= new) {
                *known += 1;
            }
        }
        let views = &mut self.views[thread];
        views.cur.see(location, new);
        views.acq.see(location, new);
        let mut view = match order {
            Order::NonAtomic => View::default(),
            order if order.releases() => views.cur.clone(),
            _ => views.rel.clone(),
        };
        if rmw {
            view.join(&self.messages[location.index()][time].view);
        }
        if !view.times.is_empty() {
            view.see(location, new);
        }
        let message = Message { value, view, rmw };
        self.messages[location.index()].insert(new, message);
    }
}

impl<'p> C20Views<'p> {
    /// The machine for a program, unless the program uses what the model does not know, or has `seqcst` events.
    pub fn new(program: &'p Program) -> Result<Self, Refused> {
        match refusal(program).or_else(|| seqcst_event(program)) {
            Some(refused) => Err(refused),
            None => Ok(C20Views {
                code: Code::new(program),
            }),
        }
    }

    /// Of each location the value that is last in modification order.
    pub fn newest(state: &State) -> Vec<Value> {
        let last = |messages: &Vec<Message>| messages.last().map_or(0, |m| m.value);
        state.messages.iter().map(last).collect()
    }

    fn order(&self, at: &At<'_, Self>, location: LocationId, writes: bool) -> Order {
        let order = event_order(self.code.program, at.transition, Some(location), writes);
        order.unwrap_or(Order::AcqRel)
    }

    /// The timestamps that the thread may read (or overwrite).
    fn choices(&self, at: &At<'_, Self>, location: LocationId) -> Vec<usize> {
        match &at.state.block {
            Some(block) if at.atomic && block.location == location => vec![block.time],
            _ => {
                let first = at.state.views[at.thread].cur.times[location.index()];
                (first..at.state.messages[location.index()].len()).collect()
            }
        }
    }

    /// The state in which the thread has read the message with this timestamp.
    fn reading(
        &self,
        at: &At<'_, Self>,
        mut next: State,
        location: LocationId,
        time: usize,
        order: Order,
    ) -> State {
        if next.block.is_some() {
            return next;
        }
        next.read(at.thread, order, location, time);
        next.count(at.thread, location, false, order != Order::NonAtomic);
        next.block = at.atomic.then_some(Block {
            location,
            time,
            written: false,
        });
        next
    }

    /// The state in which the thread has written behind the message with this timestamp; `None` where there is no room. In a block that has written,
    /// what it wrote changes.
    #[allow(clippy::too_many_arguments)]
    fn writing(
        &self,
        at: &At<'_, Self>,
        mut next: State,
        location: LocationId,
        time: usize,
        value: Value,
        order: Order,
        is_rmw: bool,
    ) -> Option<State> {
        if let Some(block) = next.block.as_ref().filter(|b| b.written) {
            let time = block.time;
            next.messages[location.index()][time].value = value;
            return Some(next);
        }
        if !next.has_gap(location, time) {
            return None;
        }
        let is_rmw = is_rmw || next.block.is_some();
        // The access counts before its message is made, which tells of it.
        next.count(at.thread, location, true, order != Order::NonAtomic);
        next.write(at.thread, order, location, time, value, is_rmw);
        if at.atomic {
            next.block = Some(Block {
                location,
                time: time + 1,
                written: true,
            });
        }
        Some(next)
    }

    fn finish(&self, mut step: Step, next: State) -> (Step, State) {
        if next.raced {
            step.kind = StepKind::Race;
        }
        (step, next)
    }
}

/// The first `seqcst` access or fence.
fn seqcst_event(program: &Program) -> Option<Refused> {
    let mut transitions = program.threads.iter().flat_map(|t| &t.transitions);
    let found = transitions.find(|t| match &t.op {
        Op::Load { order, .. }
        | Op::Store { order, .. }
        | Op::Wait { order, .. }
        | Op::Fence(order) => *order == Order::SeqCst,
        Op::Rmw { order, action, .. } => {
            use palisade_lang::RmwAction::CompareAndSwap;
            let failure = match action {
                CompareAndSwap { failure, .. } => *failure,
                _ => Order::Relaxed,
            };
            *order == Order::SeqCst || failure == Order::SeqCst
        }
        _ => false,
    })?;
    Some(Refused {
        message: format!(
            "`{}` is sequentially consistent: timestamps and views are not enough for that",
            program.source.slice(found.span)
        ),
        span: found.span,
    })
}

impl Machine for C20Views<'_> {
    type State = State;

    fn code(&self) -> &Code<'_> {
        &self.code
    }

    fn knows_weak_fences(&self) -> bool {
        true
    }

    fn initial(&self) -> State {
        let threads = self.code.instances.len();
        let values = self.code.initial_memory();
        let nothing = View::new(values.len(), threads);
        let message = |&value: &Value| Message {
            value,
            view: View::default(),
            rmw: false,
        };
        let never = || [vec![0; threads], vec![0; threads]];
        State {
            locals: self.code.initial_locals(),
            accesses: values
                .iter()
                .map(|_| Accesses {
                    last: [never(), never()],
                })
                .collect(),
            messages: values.iter().map(|v| vec![message(v)]).collect(),
            views: vec![
                Views {
                    cur: nothing.clone(),
                    acq: nothing.clone(),
                    rel: nothing,
                };
                threads
            ],
            counts: vec![0; threads],
            block: None,
            raced: false,
        }
    }

    fn may_end_dead(&self, state: &State) -> bool {
        let safe = |b: &Block| b.written || state.has_gap(b.location, b.time);
        !state.block.as_ref().is_some_and(safe)
    }

    fn is_dead_end(&self, state: &State) -> bool {
        let (Some(block), Some(thread)) = (&state.block, self.code.holder(&state.locals)) else {
            return false;
        };
        if block.written || state.has_gap(block.location, block.time) {
            return false;
        }
        let local = &state.locals[thread];
        let value = state.messages[block.location.index()][block.time].value;
        self.code.may_write(thread, local, value)
    }

    fn bytes_of_memory(&self, state: &State) -> usize {
        let size = |view: &View| size_of_val(&view.times[..]) + size_of_val(&view.clock[..]);
        let of_threads = state.views.iter().flat_map(|v| [&v.cur, &v.acq, &v.rel]);
        let of_messages = state.messages.iter().flatten().map(|m| &m.view);
        let views: usize = of_threads
            .chain(of_messages)
            .map(|view| size(view) + size_of::<Message>())
            .sum();
        views + state.accesses.len() * state.counts.len() * 4 * size_of::<u32>()
    }

    fn locals<'s>(&self, state: &'s State) -> &'s [Local] {
        &state.locals
    }

    fn locals_mut<'s>(&self, state: &'s mut State) -> &'s mut [Local] {
        &mut state.locals
    }

    fn unhindered_steps_of(&self, state: &State, thread: usize) -> Vec<(Step, State)> {
        self.chosen_steps_of(state, thread)
    }
}

impl Choosing for C20Views<'_> {
    fn has_raced(&self, state: &State) -> bool {
        state.raced
    }

    fn load(
        &self,
        at: &At<'_, Self>,
        location: LocationId,
        register: Option<RegisterId>,
        condition: Option<(Relation, Value)>,
    ) -> Vec<(Step, State)> {
        let order = self.order(at, location, false);
        let mut steps = Vec::new();
        for time in self.choices(at, location) {
            let value = at.state.messages[location.index()][time].value;
            if condition.is_some_and(|(relation, right)| !relation.holds(value, right)) {
                continue;
            }
            let next = at.after(register.map(|r| (r, value)));
            let next = self.reading(at, next, location, time, order);
            let step = at.step(StepKind::Load).access(location, Some(value), None);
            steps.push(self.finish(step, next));
        }
        steps
    }

    fn store(&self, at: &At<'_, Self>, location: LocationId, value: Value) -> Vec<(Step, State)> {
        let order = match at.atomic {
            true => Order::AcqRel,
            false => self.order(at, location, true),
        };
        let mut steps = Vec::new();
        for time in self.choices(at, location) {
            let step = at.step(StepKind::Store).access(location, None, Some(value));
            let next = self.writing(at, at.after(None), location, time, value, order, false);
            steps.extend(next.map(|next| self.finish(step, next)));
        }
        steps
    }

    fn rmw(
        &self,
        at: &At<'_, Self>,
        location: LocationId,
        register: Option<RegisterId>,
        action: Action,
    ) -> Vec<(Step, State)> {
        let mut steps = Vec::new();
        for time in self.choices(at, location) {
            let old = at.state.messages[location.index()][time].value;
            let next = at.after(register.map(|r| (r, old)));
            let failing = self.order(at, location, false);
            match self.code.outcome(action, old) {
                Outcome::Waits => {}
                Outcome::Fails(error) => {
                    let read = self.reading(at, next, location, time, failing);
                    let step = at.step(StepKind::Load).access(location, Some(old), None);
                    match read.raced {
                        true => steps.push(self.finish(step, read)),
                        false => steps.push(at.stopped(error)),
                    }
                }
                Outcome::Loads => {
                    let next = self.reading(at, next, location, time, failing);
                    let step = at.step(StepKind::Load).access(location, Some(old), None);
                    steps.push(self.finish(step, next));
                }
                Outcome::Writes(new) => {
                    let order = match at.atomic {
                        true => Order::AcqRel,
                        false => self.order(at, location, true),
                    };
                    let step = at
                        .step(StepKind::Rmw)
                        .access(location, Some(old), Some(new));
                    let mut next = next;
                    if next.block.is_none() {
                        next.read(at.thread, order, location, time);
                    }
                    let next = self.writing(at, next, location, time, new, order, true);
                    steps.extend(next.map(|next| self.finish(step, next)));
                }
            }
        }
        steps
    }

    fn fence(&self, at: &At<'_, Self>) -> Option<(Step, State)> {
        let mut next = at.after(None);
        let views = &mut next.views[at.thread];
        if let Op::Fence(order) = at.transition.op {
            if order.acquires() {
                views.cur = views.acq.clone();
            }
            if order.releases() {
                views.rel = views.cur.clone();
            }
        }
        Some((at.step(StepKind::Fence), next))
    }

    fn leave_block(&self, state: &mut State) {
        state.block = None;
    }
}
