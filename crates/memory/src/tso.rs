//! Total store order (paper 001, Table 1): every thread has an unbounded first-in first-out buffer for its stores.
//!
//! Beyond the table: `cas` (also one that fails), `fadd`, `xchg`, `bcas` and the beginning and end of `atomic` wait for the own buffer to be
//! empty, and stores inside a block reach memory at once; while a thread is inside a block nobody else moves, which includes the others'
//! buffers. A `seqcst` store is followed by a fence: its thread executes nothing until its buffer has become empty.

use crate::machine::{Machine, Step, StepKind};
use crate::thread::{Code, Local, Outcome, Request};
use palisade_lang::{LocationId, Program, Value};

/// The machine of total store order.
#[derive(Clone, Debug)]
pub struct Tso<'p> {
    code: Code<'p>,
}

/// A state of [`Tso`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The threads.
    pub locals: Vec<Local>,
    /// The memory.
    pub memory: Vec<Value>,
    /// The buffers, one for each thread, oldest store first.
    pub buffers: Vec<Vec<Pending>>,
    /// Threads that execute nothing until their buffer is empty, because their last store was `seqcst`.
    pub draining: Vec<bool>,
}

/// A store in a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pending {
    /// Where to.
    pub location: LocationId,
    /// What.
    pub value: Value,
    /// The instruction that issued it.
    pub transition: usize,
}

impl State {
    /// Whether all buffers are empty.
    pub fn is_flushed(&self) -> bool {
        self.buffers.iter().all(Vec::is_empty)
    }
}

impl<'p> Tso<'p> {
    /// The machine for a program.
    pub fn new(program: &'p Program) -> Self {
        Tso {
            code: Code::new(program),
        }
    }
}

impl Machine for Tso<'_> {
    type State = State;

    fn code(&self) -> &Code<'_> {
        &self.code
    }

    fn initial(&self) -> State {
        let threads = self.code.instances.len();
        State {
            locals: self.code.initial_locals(),
            memory: self.code.initial_memory(),
            buffers: vec![Vec::new(); threads],
            draining: vec![false; threads],
        }
    }

    fn locals<'s>(&self, state: &'s State) -> &'s [Local] {
        &state.locals
    }

    fn unhindered_steps_of(&self, state: &State, thread: usize) -> Vec<(Step, State)> {
        let mut steps = Vec::new();
        let local = &state.locals[thread];
        let buffer = &state.buffers[thread];
        if let Some(Pending {
            location,
            value,
            transition,
        }) = buffer.first()
        {
            let mut next = state.clone();
            next.buffers[thread].remove(0);
            next.memory[location.index()] = *value;
            next.draining[thread] &= !next.buffers[thread].is_empty();
            let step = Step::new(thread, *transition, StepKind::Flush, false).access(
                *location,
                None,
                Some(*value),
            );
            steps.push((step, next));
        }
        if state.draining[thread] {
            return steps;
        }
        let atomic = self.code.in_block(thread, local);
        for (index, transition) in self.code.next(thread, local) {
            let step = |kind| Step::new(thread, index, kind, atomic);
            let with = |local: Local| {
                let mut next = state.clone();
                next.locals[thread] = local;
                next
            };
            let after = |set| with(self.code.after(thread, local, transition, set));
            let stopped = |error| {
                let mut next = state.clone();
                next.locals[thread].stopped = true;
                (step(StepKind::Error(error)), next)
            };
            match self.code.request(thread, local, transition) {
                Err(error) => steps.push(stopped(error)),
                Ok(Request::Blocked) => {}
                Ok(Request::Local(local)) => steps.push((step(StepKind::Local), with(local))),
                Ok(Request::Load {
                    location,
                    register,
                    condition,
                }) => {
                    let own = buffer.iter().rev().find(|p| p.location == location);
                    let value = own.map_or(state.memory[location.index()], |p| p.value);
                    if condition.is_none_or(|(relation, right)| relation.holds(value, right)) {
                        let step = step(StepKind::Load).access(location, Some(value), None);
                        steps.push((step, after(register.map(|r| (r, value)))));
                    }
                }
                Ok(Request::Store {
                    location, value, ..
                }) if atomic => {
                    let mut next = after(None);
                    next.memory[location.index()] = value;
                    steps.push((
                        step(StepKind::Store).access(location, None, Some(value)),
                        next,
                    ));
                }
                Ok(Request::Store {
                    location,
                    value,
                    seqcst,
                }) => {
                    let mut next = after(None);
                    next.buffers[thread].push(Pending {
                        location,
                        value,
                        transition: index,
                    });
                    next.draining[thread] = seqcst;
                    steps.push((
                        step(StepKind::Issue).access(location, None, Some(value)),
                        next,
                    ));
                }
                // Everything else waits for the own buffer.
                Ok(_) if !buffer.is_empty() => {}
                Ok(Request::Rmw {
                    location,
                    register,
                    action,
                }) => {
                    let old = state.memory[location.index()];
                    let mut next = after(register.map(|r| (r, old)));
                    match self.code.outcome(action, old) {
                        Outcome::Waits => {}
                        Outcome::Fails(error) => steps.push(stopped(error)),
                        Outcome::Loads => steps
                            .push((step(StepKind::Load).access(location, Some(old), None), next)),
                        Outcome::Writes(new) => {
                            next.memory[location.index()] = new;
                            steps.push((
                                step(StepKind::Rmw).access(location, Some(old), Some(new)),
                                next,
                            ));
                        }
                    }
                }
                Ok(Request::Fence) => steps.push((step(StepKind::Fence), after(None))),
                Ok(Request::AtomicBegin) => {
                    steps.push((
                        Step::new(thread, index, StepKind::AtomicBegin, false),
                        after(None),
                    ));
                }
                Ok(Request::AtomicEnd) => {
                    steps.push((
                        Step::new(thread, index, StepKind::AtomicEnd, false),
                        after(None),
                    ));
                }
            }
        }
        steps
    }
}
