//! `observational` under C++20 and RC11 by its definition, on all runs that build consistent execution graphs.
//!
//! A plain atomic load that reads something else than the newest write is *stale*. It is *used* once a branch, an `assert`, an address, a stored value, an
//! operand or a `never` depends on its value. The criterion holds if in no run the graph without the stale loads that are not used has a cycle, and none
//! has a data race.

use super::{Runs, Visit, holds_everywhere};
use palisade_lang::{Address, Expr, Op, Program, RegisterId, StateAtom, Value};
use palisade_memory::c20::updates::with_fences_as_updates;
use palisade_memory::c20::{self, C20Graph, EventId, Graph, is_sc};
use palisade_memory::{Machine, Model, Sc, Step, StepKind};
use std::collections::BTreeSet;

/// A set of loads.
type Loads = BTreeSet<EventId>;

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    inner: c20::State,
    /// By thread and register: the stale loads that the value comes from.
    origins: Vec<Vec<Loads>>,
    /// Stale loads that are not used so far.
    unused: Loads,
}

/// `observational` under C++20.
pub fn c20_observational(program: &Program) -> Option<bool> {
    observational(program, Model::C20)
}

/// `observational` under release/acquire, where an sc fence is a read-modify-write.
pub fn ra_observational(program: &Program) -> Option<bool> {
    let refused = palisade_memory::ra_accepts::refusal(program);
    match refused {
        Some(_) => None,
        None => observational(&with_fences_as_updates(program).0, Model::C20),
    }
}

/// `observational` under RC11.
pub fn rc11_observational(program: &Program) -> Option<bool> {
    observational(program, Model::Rc11)
}

fn observational(program: &Program, model: Model) -> Option<bool> {
    let runs = Runs::new(C20Graph::new(program, model).ok()?);
    let machine = &runs.machine;
    let mentioned = mentioned(program);
    let code = machine.code();
    let registers = |i: &palisade_lang::Instance| program.thread(i.thread).registers.len();
    let initial = State {
        inner: machine.initial(),
        origins: code
            .instances
            .iter()
            .map(|i| vec![Loads::new(); registers(i)])
            .collect(),
        unused: Loads::new(),
    };
    holds_everywhere(initial, |state| {
        let inner = &state.inner;
        if super::c20::is_too_large(inner) {
            return Visit::TooLarge;
        }
        let steps = runs.steps(inner);
        let inside = code.holder(&inner.locals).is_some();
        let counts = !inside || (steps.is_empty() && !machine.is_dead_end(inner));
        if inner.raced || (counts && !is_sc(&without(&inner.graph, &state.unused))) {
            return Visit::Violated;
        }
        let next = steps.into_iter().map(|(step, next)| {
            let instance = &code.instances[step.thread];
            let op = &program.thread(instance.thread).transitions[step.transition].op;
            let observed =
                |r: RegisterId| mentioned.contains(&(instance.thread.0, instance.copy, r.0));
            after(state, &step, op, next, observed)
        });
        Visit::Next(next.collect())
    })
}

fn after(
    before: &State,
    step: &Step,
    op: &Op,
    inner: c20::State,
    observed: impl Fn(RegisterId) -> bool,
) -> State {
    let mut next = State {
        inner,
        ..before.clone()
    };
    let origins = &before.origins[step.thread];
    let mut read = Loads::new();
    op.for_each_register(&mut |r| read.extend(origins[r.index()].iter().copied()));
    let errs = matches!(step.kind, StepKind::Error(_));
    if errs || !matches!(op, Op::Assign(..)) {
        next.unused.retain(|load| !read.contains(load));
        read.clear();
    }
    if errs {
        return next;
    }
    if matches!(op, Op::Load { .. }) && !step.atomic && !next.inner.raced {
        let graph = &next.inner.graph;
        let id = EventId {
            thread: step.thread as u32,
            index: graph.events[step.thread].len() as u32 - 1,
        };
        let event = graph.event(id);
        let newest = event.location.map(|l| graph.mo[l.index()].last().copied());
        if event.rf != newest {
            read.insert(id);
            next.unused.insert(id);
        }
    }
    if let Some(target) = op.target() {
        if observed(target) {
            next.unused.retain(|load| !read.contains(load));
        }
        next.origins[step.thread][target.index()] = read;
    }
    next
}

/// The graph without some of its loads.
fn without(graph: &Graph, loads: &Loads) -> Graph {
    let renamed = |id: EventId| EventId {
        index: id.index
            - loads
                .iter()
                .filter(|l| l.thread == id.thread && l.index < id.index)
                .count() as u32,
        ..id
    };
    let mut less = graph.clone();
    for (thread, events) in less.events.iter_mut().enumerate() {
        let mut index = 0;
        events.retain(|_| {
            index += 1;
            !loads.contains(&EventId {
                thread: thread as u32,
                index: index - 1,
            })
        });
        for event in events {
            if let Some(Some(write)) = &mut event.rf {
                *write = renamed(*write);
            }
        }
    }
    for writes in &mut less.mo {
        for write in writes {
            *write = renamed(*write);
        }
    }
    less
}

/// The registers that a `never` mentions, as (thread, copy, register).
fn mentioned(program: &Program) -> BTreeSet<(u32, u32, u32)> {
    fn visit(condition: &Expr<StateAtom>, found: &mut dyn FnMut(&StateAtom)) {
        condition.for_each_atom(&mut |atom| {
            found(atom);
            if let StateAtom::Memory(address) = atom {
                match &**address {
                    Address::Direct(_) => {}
                    Address::Element { index: e, .. } | Address::Pointer(e) => visit(e, found),
                }
            }
        });
    }
    let mut all = BTreeSet::new();
    let instances = program.instances();
    for condition in program.nevers.iter().flat_map(|n| &n.conditions) {
        visit(condition, &mut |atom| {
            if let StateAtom::Register(copy, register) = atom {
                let same = instances
                    .iter()
                    .filter(|i| i.thread == copy.thread && copy.copy.is_none_or(|c| c == i.copy));
                all.extend(same.map(|i| (i.thread.0, i.copy, register.0)));
            }
        });
    }
    all
}

/// What can be seen of a state without looking at registers that no `never` mentions: where threads stand, whether they were stopped, the registers, the
/// memory.
type Seen = (Vec<(u32, bool)>, Vec<Value>, Vec<Value>);

/// Whether C++20 shows nothing of the program that SC does not show; `None` where there is too much, or a race.
pub fn c20_shows_what_sc_shows(program: &Program) -> Option<bool> {
    let mentioned = mentioned(program);
    let instances = program.instances();
    let seen = |locals: &[palisade_memory::Local], memory: Vec<Value>| -> Seen {
        let threads = locals.iter().map(|l| (l.point.0, l.stopped)).collect();
        let registers = mentioned.iter().map(|&(thread, copy, register)| {
            let place = instances
                .iter()
                .position(|i| i.thread.0 == thread && i.copy == copy);
            place.map_or(0, |i| locals[i].registers[register as usize])
        });
        (threads, registers.collect(), memory)
    };
    let mut under_sc = BTreeSet::new();
    let sc = Sc::new(program);
    holds_everywhere(sc.initial(), |state| {
        if sc.code().holder(&state.locals).is_none() {
            under_sc.insert(seen(&state.locals, state.memory.clone()));
        }
        Visit::Next(sc.steps(state).into_iter().map(|(_, next)| next).collect())
    })?;
    let machine = C20Graph::new(program, Model::C20).ok()?;
    holds_everywhere(machine.initial(), |state| {
        if super::c20::is_too_large(state) || state.raced {
            return Visit::TooLarge;
        }
        if machine.code().holder(&state.locals).is_none()
            && !under_sc.contains(&seen(&state.locals, machine.newest(state)))
        {
            return Visit::Violated;
        }
        Visit::Next(machine.steps(state).into_iter().map(|(_, s)| s).collect())
    })
}
