//! Runs without end: a way to a cycle, the cycle, and a thread that is stuck in it.

use palisade_lang::Program;
use palisade_lang::loops::Loops;
use palisade_memory::{EventKind, Machine, Sc, Step, StepKind, Witness};

use crate::Invalid;

type State = palisade_memory::sc::State;

/// More ways at once than this are not followed.
const MOST_WAYS: usize = 10_000;

/// One way in which the program could have taken the steps of the cycle so far.
#[derive(Clone, PartialEq)]
struct Way {
    /// The states, the first one included.
    states: Vec<State>,
    /// The steps.
    steps: Vec<Step>,
}

/// Checks that the events are a run, that the cycle closes, that repeating it is fair, and that a thread is stuck in it.
pub fn check(program: &Program, witness: &Witness) -> Result<(), Invalid> {
    let machine = Sc::new(program);
    let Some(start) = witness.loop_start.filter(|&s| s <= witness.events.len()) else {
        return Err(Invalid::new("where the cycle begins is not said"));
    };
    let mut states = vec![machine.initial()];
    for event in 0..start {
        let mut next = Vec::new();
        for state in &states {
            for (_, after) in matching(&machine, program, witness, event, state) {
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
    let mut reason = None;
    for state in states {
        let closed = rounds(&machine, program, witness, start, state);
        match closed.and_then(|ways| crate::any(&ways, |way| endless(&machine, program, way))) {
            Ok(()) => return Ok(()),
            Err(invalid) => reason = reason.or(Some(invalid)),
        }
    }
    Err(reason.unwrap_or_else(|| Invalid::new("the program cannot run like this")))
}

/// The steps of a state that an event can stand for.
fn matching(
    machine: &Sc<'_>,
    program: &Program,
    witness: &Witness,
    event: usize,
    state: &State,
) -> Vec<(Step, State)> {
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
            StepKind::Rmw => EventKind::Rmw,
            StepKind::Fence => EventKind::Fence,
            _ => EventKind::Local,
        };
        let span = machine.span(step);
        let place = program.source.line_column(span.start);
        let location = step.location.map(|l| program.location(l).name.as_str());
        kind == event.kind
            && (place.line, place.column) == (event.line, event.column)
            && program.source.included_at(span.start) == event.file.as_deref()
            && location == event.location.as_deref()
            && step.written.or(step.read) == event.value
            && step.read.filter(|_| kind == EventKind::Rmw) == event.read
    });
    steps
}

/// The ways to take the steps of the cycle from a state back to it.
fn rounds(
    machine: &Sc<'_>,
    program: &Program,
    witness: &Witness,
    start: usize,
    state: State,
) -> Result<Vec<Way>, Invalid> {
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
fn endless(machine: &Sc<'_>, program: &Program, way: &Way) -> Result<(), Invalid> {
    let code = machine.code();
    let threads = 0..code.instances.len();
    let name = |thread: usize| &code.instances[thread].name;
    let holders: Vec<Option<usize>> = (way.states.iter())
        .map(|state| code.holder(&state.locals))
        .collect();
    let moves = |thread: usize| way.steps.iter().any(|s| s.thread == thread);
    for thread in threads.clone() {
        let kept_out = holders[0].is_some_and(|h| h != thread)
            && holders.iter().all(|holder| *holder == holders[0]);
        let cannot_move = way.states.iter().zip(&holders).any(|(state, holder)| {
            holder.is_none_or(|h| h == thread) && machine.steps_of(state, thread).is_empty()
        });
        if !moves(thread) && !kept_out && !cannot_move {
            return Err(Invalid::new(format!(
                "that is not fair: `{}` could always move and never does",
                name(thread)
            )));
        }
    }
    // A choice that comes again and again is made each way.
    for (state, step) in way.states.iter().zip(&way.steps) {
        for (choice, after) in machine.steps_of(state, step.thread) {
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
        let local = &way.states[0].locals[thread];
        let loops = &loops[code.instances[thread].thread.index()];
        let mut own = way.steps.iter().filter(|s| s.thread == thread);
        !local.stopped
            && !code.has_ended(thread, local)
            && own.all(|s| loops.stays(s.transition) && !matches!(s.kind, StepKind::Error(_)))
    };
    match threads.clone().any(stuck) {
        true => Ok(()),
        false => Err(Invalid::new("no thread is stuck in the cycle")),
    }
}
