//! Sequential consistency: every access takes effect at once, on one memory.

use crate::machine::{Machine, Step, StepKind, executed};
use crate::thread::{Code, Local, Request};
use palisade_lang::{Program, Value};

/// The machine of sequential consistency.
#[derive(Clone, Debug)]
pub struct Sc<'p> {
    code: Code<'p>,
}

/// A state of [`Sc`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The threads.
    pub locals: Vec<Local>,
    /// The memory.
    pub memory: Vec<Value>,
}

impl<'p> Sc<'p> {
    /// The machine for a program.
    pub fn new(program: &'p Program) -> Self {
        Sc {
            code: Code::new(program),
        }
    }
}

impl Machine for Sc<'_> {
    type State = State;

    fn code(&self) -> &Code<'_> {
        &self.code
    }

    fn initial(&self) -> State {
        State {
            locals: self.code.initial_locals(),
            memory: self.code.initial_memory(),
        }
    }

    fn bytes_of_memory(&self, state: &State) -> usize {
        size_of_val(&state.memory[..])
    }

    fn locals<'s>(&self, state: &'s State) -> &'s [Local] {
        &state.locals
    }

    fn locals_mut<'s>(&self, state: &'s mut State) -> &'s mut [Local] {
        &mut state.locals
    }

    fn unhindered_steps_of(&self, state: &State, thread: usize) -> Vec<(Step, State)> {
        executed(self, state, thread, |at, request, steps| match request {
            Request::Blocked | Request::Local(_) => {}
            Request::Load {
                location,
                register,
                condition,
            } => {
                let value = state.memory[location.index()];
                steps.extend(at.load(location, value, register, condition));
            }
            Request::Store {
                location, value, ..
            } => steps.push(at.store_to(|next| &mut next.memory, location, value)),
            Request::Rmw {
                location,
                register,
                action,
            } => {
                let old = state.memory[location.index()];
                steps.extend(at.rmw_of(|next| &mut next.memory, location, old, register, action));
            }
            Request::Fence => steps.push((at.step(StepKind::Fence), at.after(None))),
            Request::AtomicBegin => steps.push(at.boundary(StepKind::AtomicBegin)),
            Request::AtomicEnd => steps.push(at.boundary(StepKind::AtomicEnd)),
        })
    }
}
