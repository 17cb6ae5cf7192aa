//! `deadlock` by its definition: all that can come from a state, looked at as a whole.

use std::collections::HashSet;

use palisade_lang::{LocationId, Program, Value};
use palisade_memory::sc::State;
use palisade_memory::{Local, Machine, Sc, StepKind, never_is_true};

/// So many states that follow one are looked at.
const MOST_STATES: usize = 3_000;

/// Whether some `never` is true of threads and memory. `None` where too much would have to be looked at.
pub(super) fn a_never_is_true(
    program: &Program,
    locals: &[Local],
    memory: &[Value],
    seen_by_block: Option<(LocationId, Value)>,
) -> Option<bool> {
    if program.nevers.is_empty() {
        return Some(false);
    }
    let machine = Sc::new(program);
    let deadlock = match palisade_lang::never::mentions_deadlock(program) {
        true => {
            let mut seen = memory.to_vec();
            if let Some((location, value)) = seen_by_block {
                seen[location.index()] = value;
            }
            // With an old value in a block, a thread that can leave the block moves: behind it, it sees what is newest.
            is_deadlock(&machine, locals, &seen)?
                && (seen == memory || !can_leave(&machine, locals, &seen)?)
        }
        false => false,
    };
    let is_true = |never| never_is_true(machine.code(), never, locals, memory, deadlock);
    Some(program.nevers.iter().any(is_true))
}

/// Whether there is a deadlock: not all threads have ended, nothing that can follow changes memory, ends a thread or goes wrong, and each thread that moves
/// can come back to where it stands now, with the same values in all registers that matter.
pub fn is_deadlock(machine: &Sc<'_>, locals: &[Local], memory: &[Value]) -> Option<bool> {
    let code = machine.code();
    let ended = |locals: &[Local]| -> Vec<bool> {
        let threads = locals.iter().enumerate();
        threads.map(|(t, local)| code.has_ended(t, local)).collect()
    };
    let start = State {
        locals: locals.to_vec(),
        memory: memory.to_vec(),
    };
    let ended_now = ended(locals);
    if ended_now.iter().all(|ended| *ended) {
        return Some(false);
    }
    let mut seen = HashSet::from([start.clone()]);
    let mut work = vec![start];
    let mut steps = Vec::new();
    while let Some(state) = work.pop() {
        for (step, next) in machine.steps(&state) {
            let goes_wrong = matches!(step.kind, StepKind::Error(_));
            if goes_wrong || next.memory != memory || ended(&next.locals) != ended_now {
                return Some(false);
            }
            if seen.insert(next.clone()) {
                work.push(next.clone());
            }
            steps.push((state.clone(), step.thread, next));
        }
        if seen.len() > MOST_STATES {
            return None;
        }
    }
    let comes_back = |thread: usize| {
        // States after at least one step of the thread.
        let own = steps.iter().filter(|(_, t, _)| *t == thread);
        let mut after: HashSet<&State> = own.map(|(_, _, next)| next).collect();
        if after.is_empty() {
            return true;
        }
        let mut known = 0;
        while known != after.len() {
            known = after.len();
            for (from, _, to) in &steps {
                if after.contains(from) {
                    after.insert(to);
                }
            }
        }
        let now = &locals[thread];
        let live = &code.live_registers()[code.instances[thread].thread.index()];
        after.iter().any(|state| {
            let then = &state.locals[thread];
            let registers = then.registers.iter().zip(&now.registers);
            let mut registers = registers.zip(&live[now.point.index()]);
            then.point == now.point && registers.all(|((a, b), matters)| !matters || a == b)
        })
    };
    Some((0..locals.len()).all(comes_back))
}

/// Whether the thread that is inside a block can get out of it.
fn can_leave(machine: &Sc<'_>, locals: &[Local], memory: &[Value]) -> Option<bool> {
    let start = State {
        locals: locals.to_vec(),
        memory: memory.to_vec(),
    };
    let mut seen = HashSet::from([start.clone()]);
    let mut work = vec![start];
    while let Some(state) = work.pop() {
        if machine.code().holder(&state.locals).is_none() {
            return Some(true);
        }
        for (_, next) in machine.steps(&state) {
            if seen.insert(next.clone()) {
                work.push(next);
            }
        }
        if seen.len() > MOST_STATES {
            return None;
        }
    }
    Some(false)
}
