//! Sequential consistency: every access takes effect at once, on one memory.

use crate::machine::{Machine, Step, StepKind};
use crate::thread::{Code, Local, Outcome, Request};
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

    fn locals<'s>(&self, state: &'s State) -> &'s [Local] {
        &state.locals
    }

    fn unhindered_steps_of(&self, state: &State, thread: usize) -> Vec<(Step, State)> {
        let mut steps = Vec::new();
        let local = &state.locals[thread];
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
                    let value = state.memory[location.index()];
                    if condition.is_none_or(|(relation, right)| relation.holds(value, right)) {
                        let step = step(StepKind::Load).access(location, Some(value), None);
                        steps.push((step, after(register.map(|r| (r, value)))));
                    }
                }
                Ok(Request::Store {
                    location, value, ..
                }) => {
                    let mut next = after(None);
                    next.memory[location.index()] = value;
                    steps.push((
                        step(StepKind::Store).access(location, None, Some(value)),
                        next,
                    ));
                }
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
