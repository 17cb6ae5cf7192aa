//! Total store order (Bouajjani et al. 2013, extended version, Table 1): every thread has an unbounded first-in first-out buffer for its stores.
//!
//! Beyond the table: `cas` (also one that fails), `fadd`, `xchg`, `bcas` and the beginning and end of `atomic` wait for the own buffer to be
//! empty, and stores inside a block reach memory at once; while a thread is inside a block no other thread moves, which includes the others'
//! buffers. A `seqcst` store is followed by a fence: its thread executes nothing until its buffer has become empty.

use crate::machine::{Machine, Step, StepKind, executed};
use crate::thread::{Code, Local, Request};
use palisade_lang::{Expr, LocationId, Op, Order, Program, Value};

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

    fn bytes_of_memory(&self, state: &State) -> usize {
        let buffers = state.buffers.iter();
        let pending: usize = buffers.map(|b| size_of_val(b) + size_of_val(&b[..])).sum();
        size_of_val(&state.memory[..]) + pending
    }

    fn locals<'s>(&self, state: &'s State) -> &'s [Local] {
        &state.locals
    }

    fn locals_mut<'s>(&self, state: &'s mut State) -> &'s mut [Local] {
        &mut state.locals
    }

    fn unhindered_steps_of(&self, state: &State, thread: usize) -> Vec<(Step, State)> {
        let mut steps = Vec::new();
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
        steps.extend(executed(self, state, thread, |at, request, steps| {
            match request {
                Request::Blocked | Request::Local(_) => {}
                Request::Load {
                    location,
                    register,
                    condition,
                } => {
                    let own = buffer.iter().rev().find(|p| p.location == location);
                    let value = own.map_or(state.memory[location.index()], |p| p.value);
                    steps.extend(at.load(location, value, register, condition));
                }
                Request::Store {
                    location, value, ..
                } if at.atomic => {
                    steps.push(at.store_to(|next| &mut next.memory, location, value));
                }
                Request::Store {
                    location,
                    value,
                    seqcst,
                } => {
                    let mut next = at.after(None);
                    next.buffers[thread].push(Pending {
                        location,
                        value,
                        transition: at.index,
                    });
                    next.draining[thread] = seqcst;
                    let step = at.step(StepKind::Issue);
                    steps.push((step.access(location, None, Some(value)), next));
                }
                // Everything else waits for the own buffer.
                _ if !buffer.is_empty() => {}
                Request::Rmw {
                    location,
                    register,
                    action,
                } => {
                    let old = state.memory[location.index()];
                    steps.extend(at.rmw_of(
                        |next| &mut next.memory,
                        location,
                        old,
                        register,
                        action,
                    ));
                }
                Request::Fence => steps.push((at.step(StepKind::Fence), at.after(None))),
                Request::AtomicBegin => steps.push(at.boundary(StepKind::AtomicBegin)),
                Request::AtomicEnd => steps.push(at.boundary(StepKind::AtomicEnd)),
            }
        }));
        steps
    }
}

/// Whether an instruction can only be executed, or only be left, with an empty buffer. One that is never executed is among them.
pub fn drains(op: &Op) -> bool {
    match op {
        Op::Assume(Expr::Const(0)) => true,
        Op::Rmw { .. } | Op::AtomicBegin | Op::AtomicEnd => true,
        Op::Fence(order) | Op::Store { order, .. } => *order == Order::SeqCst,
        _ => false,
    }
}
