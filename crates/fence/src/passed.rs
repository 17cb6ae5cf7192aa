//! What a thread does on a run, step by step: where a fence or another repair would have changed the run.
//!
//! A witness names the accesses of a run, not the local steps between them. Here one thread is led along its events again, by its code alone.

use palisade_lang::{
    Address, Expr, Instance, LocationId, Op, PointId, Program, RegisterId, RmwAction, Thread, Value,
};
use palisade_memory::{Event, EventKind, Witness};
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
    let thread = program.thread(instance.thread);
    // The events of the thread in program order; a flush is no step of its own, and local steps are found again.
    let own: Vec<usize> = (0..=until)
        .filter(|&i| {
            let event = &witness.events[i];
            event.thread == instance.name
                && !matches!(event.kind, EventKind::Flush | EventKind::Local)
        })
        .collect();
    let events: Vec<&Event> = own.iter().map(|&i| &witness.events[i]).collect();
    let mut registers = vec![0; thread.registers.len()];
    if let Some(me) = thread.me {
        registers[me.index()] = Value::from(instance.copy);
    }
    let mut path = follow(program, thread, registers, &events)?;
    for step in &mut path {
        step.event = step.event.map(|event| own[event]);
    }
    Some(path)
}

/// More choices than this are not followed.
const MOST_CONFIGURATIONS: usize = 1 << 20;

/// A configuration of the thread that is led along its events.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Configuration {
    consumed: usize,
    point: PointId,
    registers: Vec<Value>,
}

/// Leads a thread along its events; returns its steps. Breadth first, so that the way has no detours.
fn follow(
    program: &Program,
    thread: &Thread,
    registers: Vec<Value>,
    events: &[&Event],
) -> Option<Vec<Passed>> {
    let start = Configuration {
        consumed: 0,
        point: thread.initial,
        registers,
    };
    let mut seen = FxHashSet::default();
    seen.insert(start.clone());
    // Each with the one before it and the instruction that led here.
    let mut found: Vec<(Configuration, usize, usize)> = vec![(start, usize::MAX, 0)];
    let mut at = 0;
    while at < found.len() && found.len() < MOST_CONFIGURATIONS {
        let current = found[at].0.clone();
        if current.consumed == events.len() {
            let mut path = Vec::new();
            let mut last = at;
            while found[last].1 != usize::MAX {
                let (after, before, transition) = &found[last];
                let from = &found[*before].0;
                path.push(Passed {
                    point: from.point,
                    transition: *transition,
                    event: (after.consumed > from.consumed).then_some(from.consumed),
                });
                last = *before;
            }
            path.reverse();
            return Some(path);
        }
        let first = thread
            .transitions
            .partition_point(|t| t.from < current.point);
        for (index, transition) in thread.outgoing(current.point).iter().enumerate() {
            for (consumes, registers) in step(
                program,
                &transition.op,
                transition.span.start,
                &current.registers,
                events[current.consumed],
            ) {
                let next = Configuration {
                    consumed: current.consumed + usize::from(consumes),
                    point: transition.to,
                    registers,
                };
                if seen.insert(next.clone()) {
                    found.push((next, at, first + index));
                }
            }
        }
        at += 1;
    }
    None
}

/// What an instruction can do towards the next event: whether it is that event, and the registers afterwards.
fn step(
    program: &Program,
    op: &Op,
    offset: u32,
    registers: &[Value],
    event: &Event,
) -> Vec<(bool, Vec<Value>)> {
    let domain = program.domain;
    let value_of = |e: &Expr<RegisterId>| e.eval(domain, &mut |r| Ok(registers[r.index()])).ok();
    let with = |register: Option<RegisterId>, value: Value| {
        let mut after = registers.to_vec();
        if let Some(register) = register {
            after[register.index()] = value;
        }
        after
    };
    let place = program.source.line_column(offset);
    let here = (event.line, event.column) == (place.line, place.column);
    let touches = |address: &Address<RegisterId>| {
        let location = match address {
            Address::Direct(location) => Some(*location),
            Address::Element {
                first,
                length,
                index,
            } => value_of(index)
                .filter(|i| (0..Value::from(*length)).contains(i))
                .map(|i| LocationId(first.0 + i as u32)),
            Address::Pointer(pointer) => value_of(pointer).and_then(|a| program.location_at(a)),
        };
        location.is_some_and(|l| Some(&program.location(l).name) == event.location.as_ref())
    };
    let silent = |registers| vec![(false, registers)];
    match op {
        Op::Skip | Op::Jump | Op::AtomicBegin | Op::AtomicEnd => silent(registers.to_vec()),
        Op::Assign(register, value) => match value_of(value) {
            Some(value) => silent(with(Some(*register), domain.reduce(value))),
            None => Vec::new(),
        },
        Op::Assume(condition) | Op::Assert(condition) => match value_of(condition) {
            Some(0) | None => Vec::new(),
            Some(_) => silent(registers.to_vec()),
        },
        // A witness may leave out fences that do nothing.
        Op::Fence(_) => {
            let is_event = here && event.kind == EventKind::Fence;
            vec![(is_event, registers.to_vec())]
        }
        Op::Load {
            register, address, ..
        } => match event.value {
            Some(value) if here && event.kind == EventKind::Load && touches(address) => {
                vec![(true, with(Some(*register), value))]
            }
            _ => Vec::new(),
        },
        Op::Wait {
            register,
            address,
            relation,
            value,
            ..
        } => match (event.value, value_of(value)) {
            (Some(read), Some(wanted))
                if here
                    && event.kind == EventKind::Load
                    && relation.holds(read, wanted)
                    && touches(address) =>
            {
                vec![(true, with(*register, read))]
            }
            _ => Vec::new(),
        },
        Op::Store { address, value, .. } => match value_of(value) {
            Some(value)
                if here
                    && matches!(event.kind, EventKind::Issue | EventKind::Store)
                    && event.value == Some(domain.reduce(value))
                    && touches(address) =>
            {
                vec![(true, registers.to_vec())]
            }
            _ => Vec::new(),
        },
        Op::Rmw {
            register,
            address,
            action,
            ..
        } => {
            let read = match event.kind {
                EventKind::Rmw => event.read,
                EventKind::Load if matches!(action, RmwAction::CompareAndSwap { .. }) => {
                    event.value
                }
                _ => None,
            };
            match read {
                Some(read) if here && touches(address) => vec![(true, with(*register, read))],
                _ => Vec::new(),
            }
        }
    }
}
