//! What it means that nothing moves any more: `deadlock`.
//!
//! A thread *waits* where it cannot take a step, or where it goes round in a loop without effect. Left alone with memory as it is, whatever it chooses, it never
//! changes what memory holds (storing what is there already, as a failed test-and-set does, changes nothing), never ends and never goes wrong, and it
//! comes back to where it stands with the same values in all registers that are still read. There is a deadlock where every thread that has not ended
//! waits. Since none of them changes memory, none of them will ever see anything else.
//!
//! Under TSO this is asked where all buffers are empty. Under release/acquire and C++20 memory holds the newest value of each location: no write stays
//! invisible for ever, so that a thread that goes on waiting comes to see these values, and reading them is always allowed.

use crate::machine::{Machine, Step, StepKind};
use crate::sc::{Sc, State};
use crate::thread::{Code, Local, Outcome, Request};
use palisade_lang::loops::Loops;
use palisade_lang::{LocationId, Program, Thread, Value};
use std::collections::{HashMap, HashSet};

/// So many local states of one thread are looked at before it is said that nothing is known.
const MOST_LOCAL_STATES: usize = 100_000;

/// What comes of a thread that is left alone.
enum Alone {
    /// It will change memory, end, go wrong, or at least get to another place for good.
    Moves,
    /// It waits.
    Waits {
        /// It is not always inside an `atomic` block.
        lets_others_move: bool,
    },
}

/// Whether no thread moves any more and not all have ended. `None` where a thread has too many local states to tell. `seen_by_block` is what
/// [`crate::Machine::seen_by_block`] says.
pub fn is_deadlock(
    code: &Code<'_>,
    locals: &[Local],
    memory: &[Value],
    seen_by_block: Option<(LocationId, Value)>,
) -> Option<bool> {
    let running = |&t: &usize| !locals[t].stopped && !code.has_ended(t, &locals[t]);
    if (0..locals.len()).all(|t| code.has_ended(t, &locals[t])) {
        return Some(false);
    }
    if let Some(holder) = code.holder(locals) {
        let mut seen = memory.to_vec();
        if let Some((location, value)) = seen_by_block {
            seen[location.index()] = value;
        }
        match alone(code, holder, &locals[holder], &seen)? {
            Alone::Moves => return Some(false),
            // The others do not come to their turn.
            Alone::Waits {
                lets_others_move: false,
            } => return Some(true),
            // Behind the block it will see what is newest.
            Alone::Waits { .. } if seen != memory => return Some(false),
            Alone::Waits { .. } => {}
        }
    }
    for thread in (0..locals.len()).filter(running) {
        if let Alone::Moves = alone(code, thread, &locals[thread], memory)? {
            return Some(false);
        }
    }
    Some(true)
}

fn alone(code: &Code<'_>, thread: usize, local: &Local, memory: &[Value]) -> Option<Alone> {
    let live = &code.live_registers()[code.instances[thread].thread.index()];
    let forget = |mut local: Local| {
        let live = &live[local.point.index()];
        for (register, live) in local.registers.iter_mut().zip(live) {
            *register *= Value::from(*live);
        }
        local
    };
    let start = forget(local.clone());
    let mut seen = HashSet::from([start.clone()]);
    let mut work = vec![start.clone()];
    let (mut steps, mut comes_back, mut lets_others_move) = (false, false, false);
    while let Some(here) = work.pop() {
        if seen.len() > MOST_LOCAL_STATES {
            return None;
        }
        if code.has_ended(thread, &here) {
            return Some(Alone::Moves);
        }
        lets_others_move |= !code.in_block(thread, &here);
        for (_, transition) in code.next(thread, &here) {
            let after = |set| code.after(thread, &here, transition, set);
            let next = match code.request(thread, &here, transition) {
                Err(_) => return Some(Alone::Moves),
                Ok(Request::Blocked) => continue,
                Ok(Request::Local(next)) => next,
                Ok(Request::Load {
                    location,
                    register,
                    condition,
                }) => {
                    let value = memory[location.index()];
                    if condition.is_some_and(|(relation, right)| !relation.holds(value, right)) {
                        continue;
                    }
                    after(register.map(|r| (r, value)))
                }
                Ok(Request::Store {
                    location, value, ..
                }) => {
                    if memory[location.index()] != value {
                        return Some(Alone::Moves);
                    }
                    after(None)
                }
                Ok(Request::Rmw {
                    location,
                    register,
                    action,
                }) => {
                    let old = memory[location.index()];
                    match code.outcome(action, old) {
                        Outcome::Waits => continue,
                        Outcome::Fails(_) => return Some(Alone::Moves),
                        Outcome::Writes(new) if new != old => return Some(Alone::Moves),
                        Outcome::Writes(_) | Outcome::Loads => after(register.map(|r| (r, old))),
                    }
                }
                Ok(Request::Fence | Request::AtomicBegin | Request::AtomicEnd) => after(None),
            };
            let next = forget(next);
            steps |= here == start;
            comes_back |= next == start;
            if seen.insert(next.clone()) {
                work.push(next);
            }
        }
    }
    Some(match comes_back || !steps {
        true => Alone::Waits { lets_others_move },
        false => Alone::Moves,
    })
}

/// The machine of SC, but registers that are not read any more are 0: with them, a thread that waits would not always come back to the same state.
#[derive(Clone, Debug)]
pub struct Forgetful<'p> {
    sc: Sc<'p>,
    /// By code its loops with a way out.
    loops: Vec<Loops>,
}

/// What a thread that waits does for ever, if it alone moves.
#[derive(Clone, Debug)]
pub struct Round {
    /// The states, the first of which is the one that it begins in.
    pub states: Vec<State>,
    /// All steps between them, with indices of states.
    pub steps: Vec<(usize, Step, usize)>,
}

/// A thread, and what it does for ever.
pub type OfThread = (usize, Round);

impl<'p> Forgetful<'p> {
    /// The machine for a program.
    pub fn new(program: &'p Program) -> Self {
        let threads = program.threads.iter();
        Forgetful {
            sc: Sc::new(program),
            loops: threads.map(|t| Loops::of(t, program.domain)).collect(),
        }
    }

    /// A state without what is not read any more.
    pub fn forget(&self, mut state: State) -> State {
        let code = self.sc.code();
        let live = code.live_registers();
        for (local, instance) in state.locals.iter_mut().zip(&code.instances) {
            let live = &live[instance.thread.index()][local.point.index()];
            for (register, live) in local.registers.iter_mut().zip(live) {
                *register *= Value::from(*live);
            }
        }
        state
    }

    /// What a thread does for ever. `None` if it changes memory, ends or goes wrong, and where it does not come back to the state from everywhere: it will get
    /// to a state from which it does.
    pub fn round(&self, state: &State, thread: usize) -> Option<Round> {
        let mut round = Round {
            states: vec![state.clone()],
            steps: Vec::new(),
        };
        let mut known = HashMap::from([(state.clone(), 0)]);
        let mut at = 0;
        while at < round.states.len() {
            let here = round.states[at].clone();
            for (step, next) in self.steps_of(&here, thread) {
                let ended = self.code().has_ended(thread, &next.locals[thread]);
                let goes_wrong = matches!(step.kind, StepKind::Error(_));
                if ended || goes_wrong || next.memory != state.memory {
                    return None;
                }
                let new = round.states.len();
                let to = *known.entry(next.clone()).or_insert(new);
                if to == new {
                    round.states.push(next);
                }
                round.steps.push((at, step, to));
            }
            at += 1;
            if round.states.len() > MOST_LOCAL_STATES {
                return None;
            }
        }
        // Which states come back, found from the first one against the steps.
        let mut before = vec![Vec::new(); round.states.len()];
        for (from, _, to) in &round.steps {
            before[*to].push(*from);
        }
        let mut comes_back = vec![false; round.states.len()];
        comes_back[0] = true;
        let mut work = vec![0];
        while let Some(state) = work.pop() {
            for &from in &before[state] {
                if !std::mem::replace(&mut comes_back[from], true) {
                    work.push(from);
                }
            }
        }
        comes_back.iter().all(|comes| *comes).then_some(round)
    }

    /// For each thread that goes round in a state in which nothing moves any more, what it does for ever; and the threads that are stuck: they do not move, or stay in a loop
    /// that has a way out. `None` where not all are in their rounds yet, or one is inside a block that it will leave.
    pub fn rounds(&self, state: &State) -> Option<(Vec<OfThread>, Vec<usize>)> {
        let code = self.code();
        let running = |&t: &usize| {
            let local = &state.locals[t];
            !local.stopped && !code.has_ended(t, local)
        };
        let running: Vec<usize> = (0..state.locals.len()).filter(running).collect();
        let holder = code.holder(&state.locals);
        let mut rounds = Vec::new();
        let mut stuck = Vec::new();
        for thread in running {
            if holder.is_some_and(|h| h != thread) {
                stuck.push(thread);
                continue;
            }
            let round = self.round(state, thread)?;
            let in_block = |s: &State| code.in_block(thread, &s.locals[thread]);
            if holder.is_some() && !round.states.iter().all(in_block) {
                return None;
            }
            let loops = &self.loops[code.instances[thread].thread.index()];
            let mut steps = round.steps.iter();
            if steps.all(|(_, step, _)| loops.stays(step.transition)) {
                stuck.push(thread);
            }
            if !round.steps.is_empty() {
                rounds.push((thread, round));
            }
        }
        Some((rounds, stuck))
    }
}

impl Machine for Forgetful<'_> {
    type State = State;

    fn code(&self) -> &Code<'_> {
        self.sc.code()
    }

    fn initial(&self) -> State {
        self.forget(self.sc.initial())
    }

    fn bytes_of_memory(&self, state: &State) -> usize {
        self.sc.bytes_of_memory(state)
    }

    fn locals<'s>(&self, state: &'s State) -> &'s [Local] {
        &state.locals
    }

    fn locals_mut<'s>(&self, state: &'s mut State) -> &'s mut [Local] {
        &mut state.locals
    }

    fn unhindered_steps_of(&self, state: &State, thread: usize) -> Vec<(Step, State)> {
        let mut steps = self.sc.unhindered_steps_of(state, thread);
        for (_, next) in &mut steps {
            *next = self.forget(std::mem::replace(next, state.clone()));
        }
        steps
    }
}

/// For each control point which registers are live there: an instruction on some way from there reads it before another one sets it, or it is one of
/// those that always are.
pub fn live_registers(thread: &Thread, always: &[bool]) -> Vec<Vec<bool>> {
    let mut live = vec![always.to_vec(); thread.points.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for transition in thread.transitions.iter().rev() {
            let mut needed = live[transition.to.index()].clone();
            if let Some(register) = transition.op.target() {
                needed[register.index()] = always[register.index()];
            }
            (transition.op).for_each_register(&mut |register| needed[register.index()] = true);
            for (live, needed) in live[transition.from.index()].iter_mut().zip(needed) {
                changed |= needed && !*live;
                *live |= needed;
            }
        }
    }
    live
}
