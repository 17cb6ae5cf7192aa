//! Total store order (Bouajjani et al. 2013, extended version, Table 1): every thread has an unbounded first-in first-out buffer for its stores.
//!
//! Beyond the table: `cas` (also one that fails), `fadd`, `xchg`, `bcas` and the beginning and end of `atomic` wait for the own buffer to be
//! empty, and stores inside a block reach memory at once; while a thread is inside a block nobody else moves, which includes the others'
//! buffers. A `seqcst` store is followed by a fence: its thread executes nothing until its buffer has become empty.

use crate::machine::{Machine, Step, StepKind, executed};
use crate::thread::{Code, Local, Request};
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

#[cfg(test)]
mod tests {
    //! The rules one by one, each with the smallest program that shows it, beside what sequential consistency does.

    use super::*;
    use crate::{Sc, never_is_true};
    use palisade_lang::{ParseOptions, Source};
    use std::collections::HashSet;

    /// Whether the state that the program's `never` describes is reached under SC, and under TSO.
    fn reached(text: &str) -> (bool, bool) {
        let source = Source::new("test.pal", text);
        let parsed = palisade_lang::parse(&source, &ParseOptions::default());
        let program = parsed.expect("a program").program;
        (
            some_state(&Sc::new(&program), &program, |state| &state.memory),
            some_state(&Tso::new(&program), &program, |state| &state.memory),
        )
    }

    fn some_state<M: Machine>(
        machine: &M,
        program: &Program,
        memory: impl Fn(&M::State) -> &Vec<Value>,
    ) -> bool {
        let mut seen = HashSet::from([machine.initial()]);
        let mut todo = vec![machine.initial()];
        while let Some(state) = todo.pop() {
            let locals = machine.locals(&state);
            let mut nevers = program.nevers.iter();
            if nevers.any(|n| never_is_true(machine.code(), n, locals, memory(&state), false)) {
                return true;
            }
            for (_, next) in machine.steps(&state) {
                if seen.insert(next.clone()) {
                    todo.push(next);
                }
            }
        }
        false
    }

    const ONLY_TSO: (bool, bool) = (false, true);
    const NEITHER: (bool, bool) = (false, false);
    const BOTH: (bool, bool) = (true, true);

    #[test]
    fn a_load_overtakes_a_store_that_waits() {
        let sb = "shared x, y; thread a { x = 1; let r = y; } thread b { y = 1; let r = x; }
            never a@end && b@end && a.r == 0 && b.r == 0;";
        assert_eq!(reached(sb), ONLY_TSO);
    }

    #[test]
    fn a_fence_waits_for_the_buffer() {
        let sb = "shared x, y; thread a { x = 1; fence; let r = y; } thread b { y = 1; fence; let r = x; }
            never a@end && b@end && a.r == 0 && b.r == 0;";
        assert_eq!(reached(sb), NEITHER);
        // One is not enough.
        let half =
            "shared x, y; thread a { x = 1; fence; let r = y; } thread b { y = 1; let r = x; }
            never a@end && b@end && a.r == 0 && b.r == 0;";
        assert_eq!(reached(half), ONLY_TSO);
    }

    #[test]
    fn a_read_modify_write_and_a_seqcst_store_wait_as_well() {
        let exchanged =
            "shared x, y; thread a { fadd(x, 1); let r = y; } thread b { fadd(y, 1); let r = x; }
            never a@end && b@end && a.r == 0 && b.r == 0;";
        assert_eq!(reached(exchanged), NEITHER);
        let stored = "shared x, y; thread a { x.store(1, seqcst); let r = y; } thread b { y.store(1, seqcst); let r = x; }
            never a@end && b@end && a.r == 0 && b.r == 0;";
        assert_eq!(reached(stored), NEITHER);
    }

    #[test]
    fn a_thread_reads_its_own_newest_store() {
        let own = "shared x; thread a { x = 1; x = 2; let r = x; } never a@end && a.r != 2;";
        assert_eq!(reached(own), NEITHER);
        // … which the others do not see yet.
        let early = "shared x, y; thread a { x = 1; let r = x; let s = y; } thread b { y = 1; let r = y; let s = x; }
            never a@end && b@end && a.r == 1 && a.s == 0 && b.r == 1 && b.s == 0;";
        assert_eq!(reached(early), ONLY_TSO);
    }

    #[test]
    fn stores_come_out_in_the_order_they_went_in() {
        let mp = "shared x, y; thread a { x = 1; y = 1; } thread b { let r = y; let s = x; }
            never b@end && b.r == 1 && b.s == 0;";
        assert_eq!(reached(mp), NEITHER);
    }

    #[test]
    fn everybody_sees_stores_in_one_order() {
        let iriw = "shared x, y; thread a { x = 1; } thread b { y = 1; }
            thread c { let r = x; let s = y; } thread d { let r = y; let s = x; }
            never c@end && d@end && c.r == 1 && c.s == 0 && d.r == 1 && d.s == 0;";
        assert_eq!(reached(iriw), NEITHER);
    }

    #[test]
    fn a_load_does_not_wait_for_a_later_store() {
        let lb = "shared x, y; thread a { let r = x; y = 1; } thread b { let r = y; x = 1; }
            never a.r == 1 && b.r == 1;";
        assert_eq!(reached(lb), NEITHER);
    }

    #[test]
    fn what_a_block_stores_is_there_at_once() {
        let block = "shared x, y; thread a { atomic { x = 1; } let r = y; } thread b { atomic { y = 1; } let r = x; }
            never a@end && b@end && a.r == 0 && b.r == 0;";
        assert_eq!(reached(block), NEITHER);
        let between =
            "shared x; thread a { let r = x; x = r + 1; } thread b { let r = x; x = r + 1; }
            never a@end && b@end && a.r == 0 && b.r == 0;";
        assert_eq!(reached(between), BOTH);
    }
}
