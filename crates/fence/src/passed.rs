//! What a thread does on a run, step by step: where a fence or another repair would have changed the run.
//!
//! A witness names the accesses of a run, not the local steps between them. Here one thread is led along its events again, by its code alone, as the machines of
//! `palisade-memory` execute it.

use palisade_lang::{Instance, LocationId, Op, PointId, Program, Transition};
use palisade_memory::thread::{Action, Request};
use palisade_memory::{Code, Event, EventKind, Local, Witness};
use rustc_hash::FxHashSet;

/// One step of a thread that is led along its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passed {
    /// Where it stood.
    pub point: PointId,
    /// The instruction, as an index into the thread's transitions.
    pub transition: usize,
    /// The event that it made, as an index into those of the witness.
    pub event: Option<usize>,
}

/// What a running thread did up to one of its events, that event's step included.
///
/// `None` if the thread cannot have made these events, or if there is too much choice to follow.
pub(crate) fn steps_until(
    program: &Program,
    witness: &Witness,
    instance: &Instance,
    until: usize,
) -> Option<Vec<Passed>> {
    let code = Code::new(program);
    let thread = code.instances.iter().position(|i| i == instance)?;
    // The events of the thread in program order; a flush is no step of its own, and local steps are found again.
    let own: Vec<usize> = (0..=until)
        .filter(|&i| {
            let event = &witness.events[i];
            event.thread == instance.name
                && !matches!(event.kind, EventKind::Flush | EventKind::Local)
        })
        .collect();
    let events: Vec<&Event> = own.iter().map(|&i| &witness.events[i]).collect();
    let mut path = follow(&code, thread, &events)?;
    for step in &mut path {
        step.event = step.event.map(|event| own[event]);
    }
    Some(path)
}

/// More choices than this are not followed.
const MOST_CONFIGURATIONS: usize = 1 << 20;

/// A configuration of the thread that is led along its events: how many there were already, and what it knows. It stands before jumps, too: a
/// fence may be there.
type Configuration = (usize, Local);

/// Leads a thread along its events; returns its steps. Breadth first, so that the way has no detours.
fn follow(code: &Code<'_>, thread: usize, events: &[&Event]) -> Option<Vec<Passed>> {
    let mut local = code.initial_locals().swap_remove(thread);
    local.point = code.thread(thread).initial;
    let mut seen: FxHashSet<Configuration> = FxHashSet::default();
    seen.insert((0, local.clone()));
    // Each with the one before it and the instruction that led here.
    let mut found: Vec<(Configuration, usize, usize)> = vec![((0, local), usize::MAX, 0)];
    let mut at = 0;
    while at < found.len() && found.len() < MOST_CONFIGURATIONS {
        let (consumed, local) = found[at].0.clone();
        if consumed == events.len() {
            let mut path = Vec::new();
            let mut last = at;
            while found[last].1 != usize::MAX {
                let ((after, _), before, transition) = &found[last];
                let (from, local) = &found[*before].0;
                path.push(Passed {
                    point: local.point,
                    transition: *transition,
                    event: (after > from).then_some(*from),
                });
                last = *before;
            }
            path.reverse();
            return Some(path);
        }
        for (index, transition) in code.next(thread, &local) {
            let taken = step(code, thread, &local, transition, events[consumed]);
            if let Some((consumes, mut after)) = taken {
                after.point = transition.to;
                let next = (consumed + usize::from(consumes), after);
                if seen.insert(next.clone()) {
                    found.push((next, at, index));
                }
            }
        }
        at += 1;
    }
    None
}

/// What an instruction can do towards the next event: whether it is that event, and the thread afterwards.
fn step(
    code: &Code<'_>,
    thread: usize,
    local: &Local,
    transition: &Transition,
    event: &Event,
) -> Option<(bool, Local)> {
    let program = code.program;
    let place = program.source.line_column(transition.span.start);
    let here = (event.line, event.column) == (place.line, place.column);
    let is_at = |location: LocationId| {
        here && event.location.as_ref() == Some(&program.location(location).name)
    };
    let after = |set| code.after(thread, local, transition, set);
    // A witness may leave out fences that do nothing.
    if let Op::Fence(_) = transition.op {
        return Some((here && event.kind == EventKind::Fence, after(None)));
    }
    match code.request(thread, local, transition).ok()? {
        Request::Blocked => None,
        Request::Local(local) => Some((false, local)),
        Request::Fence | Request::AtomicBegin | Request::AtomicEnd => Some((false, after(None))),
        Request::Load {
            location,
            register,
            condition,
        } => {
            let read = event.value.filter(|_| event.kind == EventKind::Load)?;
            let goes_on = condition.is_none_or(|(relation, value)| relation.holds(read, value));
            (goes_on && is_at(location)).then(|| (true, after(register.map(|r| (r, read)))))
        }
        Request::Store {
            location, value, ..
        } => {
            let is_store = matches!(event.kind, EventKind::Issue | EventKind::Store);
            let is_it = is_store && event.value == Some(value) && is_at(location);
            is_it.then(|| (true, after(None)))
        }
        Request::Rmw {
            location,
            register,
            action,
        } => {
            let read = match (event.kind, action) {
                (EventKind::Rmw, _) => event.read?,
                (EventKind::Load, Action::CompareAndSwap { .. }) => event.value?,
                _ => return None,
            };
            is_at(location).then(|| (true, after(register.map(|r| (r, read)))))
        }
    }
}
