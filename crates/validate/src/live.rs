//! Runs without end: a way to a cycle, the cycle, and a thread that is stuck in it.

use std::hash::Hash;

use palisade_lang::Program;
use palisade_lang::loops::Loops;
use palisade_memory::waiting::Forgetful;
use palisade_memory::{
    EventKind, Machine, Model, Ra, Sc, Step, StepKind, Tso, Witness, is_deadlock, sc,
};

use crate::replay::{Candidate, Replay};
use crate::{Invalid, c20};

/// More ways at once than this are not followed.
const MOST_WAYS: usize = 10_000;

/// One way in which the program could have taken the steps of the cycle so far.
#[derive(Clone, PartialEq)]
struct Way<S> {
    /// The states, the first one included.
    states: Vec<S>,
    /// The steps.
    steps: Vec<Step>,
}

/// Checks that the events are a run, that the cycle closes, that repeating it is fair, and that a thread is stuck in it.
///
/// Under release/acquire and C++20 the way to the cycle is judged by the model, and the cycle as one of SC, on the newest values: to read them, and to write
/// behind them, is always allowed, and a thread that reads nothing else overlooks no write. It closes if it does but for registers that are not read any more. There a cycle without
/// events stands for threads that all wait, which cannot be shown on the newest values where one is inside a block that has read an older one.
pub fn check(program: &Program, witness: &Witness) -> Result<(), Invalid> {
    let Some(start) = witness.loop_start.filter(|&s| s <= witness.events.len()) else {
        return Err(Invalid::new("where the cycle begins is not said"));
    };
    match witness.model {
        Model::Sc => listed(&Sc::new(program), program, witness, start),
        Model::Tso => listed(&Tso::new(program), program, witness, start),
        Model::Ra => {
            let machine = Ra::new(program).map_err(|refused| Invalid::new(refused.message))?;
            let replay = Replay::new(&machine, program, &witness.events, false);
            let candidates = replay.follow(replay.start(), start)?;
            weak(
                &machine,
                program,
                witness,
                start,
                &replay,
                candidates,
                Ra::newest,
            )
        }
        Model::C20 | Model::Rc11 => {
            let mut prefix = witness.clone();
            prefix.events.truncate(start);
            let (judge, machine) = c20::machines(program, &prefix)?;
            let replay = Replay::new(&machine, program, &prefix.events, false);
            let candidates = replay.follow(replay.start(), start)?;
            let candidates = c20::right_ones(&prefix, &replay, candidates)?;
            weak(
                &judge,
                program,
                witness,
                start,
                &replay,
                candidates,
                |state| judge.newest(state),
            )
        }
    }
}

/// Every step is listed.
fn listed<M: Machine>(
    machine: &M,
    program: &Program,
    witness: &Witness,
    start: usize,
) -> Result<(), Invalid> {
    let mut states = vec![machine.initial()];
    for event in 0..start {
        let mut next = Vec::new();
        for state in &states {
            for (_, after) in matching(machine, program, witness, event, state) {
                if !next.contains(&after) {
                    next.push(after);
                }
            }
        }
        if next.is_empty() {
            return Err(Invalid::at(event, "the program cannot take this step"));
        }
        if next.len() > MOST_WAYS {
            return Err(Invalid::at(event, "there are too many ways to follow"));
        }
        states = next;
    }
    cycles(machine, program, witness, start, states)
}

/// The way to the cycle has been followed.
fn weak<M: Machine, R: Machine<State = M::State>>(
    machine: &M,
    program: &Program,
    witness: &Witness,
    start: usize,
    replay: &Replay<'_, R>,
    candidates: Vec<Candidate<M::State>>,
    newest: impl Fn(&M::State) -> Vec<i64>,
) -> Result<(), Invalid>
where
    M::State: Hash,
{
    let forgetful = Forgetful::new(program);
    let judged = |state: &M::State| {
        let (locals, memory) = (machine.locals(state), newest(state));
        let seen = machine.seen_by_block(state);
        if start == witness.events.len() {
            let waits = is_deadlock(machine.code(), locals, &memory, seen) == Some(true);
            if !waits || !machine.is_real(state) {
                return Err(Invalid::new("not all threads wait for ever at the end"));
            }
            let mut last = sc::State {
                locals: locals.to_vec(),
                memory,
            };
            if let Some((location, value)) = seen {
                last.memory[location.index()] = value;
            }
            let rounds = forgetful.rounds(&forgetful.forget(last));
            return match rounds.is_some_and(|(_, stuck)| !stuck.is_empty()) {
                true => Ok(()),
                false => Err(Invalid::new("no thread is stuck at the end")),
            };
        }
        if seen.is_some_and(|(location, value)| memory[location.index()] != value) {
            return Err(Invalid::new("the cycle begins inside a block"));
        }
        let state = sc::State {
            locals: locals.to_vec(),
            memory,
        };
        let state = forgetful.forget(state);
        cycles(&forgetful, program, witness, start, vec![state])
    };
    let threads: Vec<usize> = (0..machine.code().instances.len()).collect();
    let is_right = |candidate: &Candidate<M::State>| judged(&candidate.state).is_ok();
    let ends = replay.silently_until(candidates, &threads, is_right);
    crate::any(&ends, |candidate| judged(&candidate.state))
}

/// Whether the steps from `start` on are such a cycle from one of these states.
fn cycles<M: Machine>(
    machine: &M,
    program: &Program,
    witness: &Witness,
    start: usize,
    states: Vec<M::State>,
) -> Result<(), Invalid> {
    let mut reason = None;
    for state in states {
        let closed = rounds(machine, program, witness, start, state);
        match closed.and_then(|ways| crate::any(&ways, |way| endless(machine, program, way))) {
            Ok(()) => return Ok(()),
            Err(invalid) => reason = reason.or(Some(invalid)),
        }
    }
    Err(reason.unwrap_or_else(|| Invalid::new("the program cannot run like this")))
}

/// The steps of a state that an event can stand for.
fn matching<M: Machine>(
    machine: &M,
    program: &Program,
    witness: &Witness,
    event: usize,
    state: &M::State,
) -> Vec<(Step, M::State)> {
    let event = &witness.events[event];
    let names = machine.code().instances.iter().map(|i| &i.name);
    let Some(thread) = names.into_iter().position(|name| *name == event.thread) else {
        return Vec::new();
    };
    let mut steps = machine.steps_of(state, thread);
    steps.retain(|(step, _)| {
        let kind = match step.kind {
            StepKind::Load => EventKind::Load,
            StepKind::Store => EventKind::Store,
            StepKind::Issue => EventKind::Issue,
            StepKind::Flush => EventKind::Flush,
            StepKind::Rmw => EventKind::Rmw,
            StepKind::Fence => EventKind::Fence,
            _ => EventKind::Local,
        };
        let span = machine.span(step);
        let place = program.source.line_column(span.start);
        let location = step.location.map(|l| program.location(l).name.as_str());
        let listed = match event.kind {
            // Where the cycle is one of SC, a weak fence is a step that touches no memory.
            EventKind::Fence if kind == EventKind::Local => EventKind::Local,
            kind => kind,
        };
        kind == listed
            && (place.line, place.column) == (event.line, event.column)
            && program.source.included_at(span.start) == event.file.as_deref()
            && location == event.location.as_deref()
            && step.written.or(step.read) == event.value
            && step.read.filter(|_| kind == EventKind::Rmw) == event.read
    });
    steps
}

/// The ways to take the steps of the cycle from a state back to it.
fn rounds<M: Machine>(
    machine: &M,
    program: &Program,
    witness: &Witness,
    start: usize,
    state: M::State,
) -> Result<Vec<Way<M::State>>, Invalid> {
    let mut ways = vec![Way {
        states: vec![state.clone()],
        steps: Vec::new(),
    }];
    for event in start..witness.events.len() {
        let mut next = Vec::new();
        for way in &ways {
            let Some(here) = way.states.last() else {
                continue;
            };
            for (step, after) in matching(machine, program, witness, event, here) {
                let mut longer = way.clone();
                longer.states.push(after);
                longer.steps.push(step);
                next.push(longer);
            }
        }
        if next.is_empty() {
            return Err(Invalid::at(event, "the program cannot take this step"));
        }
        if next.len() > MOST_WAYS {
            return Err(Invalid::at(event, "there are too many ways to follow"));
        }
        ways = next;
    }
    ways.retain(|way| way.states.last() == Some(&state));
    match ways.is_empty() {
        true => Err(Invalid::new("the cycle does not close")),
        false => Ok(ways),
    }
}

/// Whether going this way again and again is fair, and a thread is stuck.
fn endless<M: Machine>(machine: &M, program: &Program, way: &Way<M::State>) -> Result<(), Invalid> {
    let code = machine.code();
    let threads = 0..code.instances.len();
    let name = |thread: usize| &code.instances[thread].name;
    let holders: Vec<Option<usize>> = (way.states.iter())
        .map(|state| code.holder(machine.locals(state)))
        .collect();
    // A thread, and its buffer, are to move again and again each, or again and again cannot.
    let is_of = |step: &Step, buffer: bool| (step.kind == StepKind::Flush) == buffer;
    for (thread, buffer) in threads.clone().flat_map(|t| [(t, false), (t, true)]) {
        let mut own = way.steps.iter().filter(|s| s.thread == thread);
        let moves = own.any(|s| is_of(s, buffer));
        let kept_out = holders[0].is_some_and(|h| h != thread)
            && holders.iter().all(|holder| *holder == holders[0]);
        let cannot_move = way.states.iter().zip(&holders).any(|(state, holder)| {
            let steps = || machine.steps_of(state, thread);
            holder.is_none_or(|h| h == thread) && !steps().iter().any(|(s, _)| is_of(s, buffer))
        });
        if !moves && !kept_out && !cannot_move {
            let what = if buffer { "a store of " } else { "" };
            return Err(Invalid::new(format!(
                "that is not fair: {what}`{}` could always move and never does",
                name(thread)
            )));
        }
    }
    // A choice that comes again and again is made each way.
    for (state, step) in way.states.iter().zip(&way.steps) {
        let buffer = step.kind == StepKind::Flush;
        let choices = machine.steps_of(state, step.thread).into_iter();
        for (choice, after) in choices.filter(|(s, _)| is_of(s, buffer)) {
            let made = (way.states.iter().zip(&way.steps).zip(&way.states[1..])).any(
                |((from, taken), to)| {
                    from == state && taken.transition == choice.transition && *to == after
                },
            );
            if !made {
                return Err(Invalid::new(format!(
                    "that is not fair: a choice of `{}` is always made the same way",
                    name(step.thread)
                )));
            }
        }
    }
    let loops: Vec<Loops> = (program.threads.iter())
        .map(|thread| Loops::of(thread, program.domain))
        .collect();
    let stuck = |thread: usize| {
        let local = &machine.locals(&way.states[0])[thread];
        let loops = &loops[code.instances[thread].thread.index()];
        let own = way.steps.iter().filter(|s| s.thread == thread);
        let mut own = own.filter(|s| s.kind != StepKind::Flush);
        !local.stopped
            && !code.has_ended(thread, local)
            && own.all(|s| loops.stays(s.transition) && !matches!(s.kind, StepKind::Error(_)))
    };
    match threads.clone().any(stuck) {
        true => Ok(()),
        false => Err(Invalid::new("no thread is stuck in the cycle")),
    }
}
