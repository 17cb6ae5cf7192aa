//! Runs that know which of the values that they read are used.
//!
//! A value that a load has read flows through assignments. It is used where a branch, an `assert`, an address, a stored value or an operand of a
//! read-modify-write or `wait` depends on it, where computing with it is an error, and where a `never` mentions the register that it is in. What a
//! read-modify-write (also a `cas` that fails), a `wait` or an `atomic` block reads is used at once.
//!
//! Only loads that read something else than the newest write are watched: without a use nothing tells their run from one in which they read the
//! newest one.

use palisade_lang::{Address, Expr, Instance, Op, Program, RegisterId, StateAtom};
use palisade_memory::c20::{self, C20Graph, EventId};
use palisade_memory::{Code, Local, Machine, Step, StepKind};
use std::collections::BTreeSet;

/// A graph machine that observes what is used.
pub struct Observing<'p> {
    inner: C20Graph<'p>,
    /// For each running copy and register: whether a `never` mentions it.
    mentioned: Vec<Vec<bool>>,
}

/// A state of [`Observing`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The state itself.
    pub inner: c20::State,
    /// For each running copy and register: the loads that its value depends on.
    origins: Vec<Vec<BTreeSet<EventId>>>,
    /// The loads of stale values that have not been used so far.
    unused: BTreeSet<EventId>,
}

impl State {
    /// Whether an event is a load of a stale value that has not been used.
    pub fn is_unused(&self, event: EventId) -> bool {
        self.unused.contains(&event)
    }

    fn use_value(&mut self, thread: usize, register: RegisterId) {
        for origin in &self.origins[thread][register.index()] {
            self.unused.remove(origin);
        }
    }
}

impl<'p> Observing<'p> {
    /// Observes this machine.
    pub fn new(inner: C20Graph<'p>) -> Self {
        let code = inner.code();
        let mentioned = code
            .instances
            .iter()
            .map(|instance| {
                let registers = &code.program.thread(instance.thread).registers;
                (0..registers.len())
                    .map(|r| is_mentioned(code.program, instance, RegisterId(r as u32)))
                    .collect()
            })
            .collect();
        Observing { inner, mentioned }
    }

    /// What a step does to the values that were read.
    fn observe(&self, before: &State, step: &Step, inner: c20::State) -> State {
        let mut next = State {
            inner,
            ..before.clone()
        };
        let thread = step.thread;
        let op = &self.inner.code().thread(thread).transitions[step.transition].op;
        let is_flow = matches!(op, Op::Assign(..)) && !matches!(step.kind, StepKind::Error(_));
        let mut flown = BTreeSet::new();
        op.for_each_register(&mut |register| {
            if is_flow {
                flown.extend(before.origins[thread][register.index()].iter().copied());
            } else {
                next.use_value(thread, register);
            }
        });
        if matches!(step.kind, StepKind::Error(_)) {
            return next;
        }
        if matches!(op, Op::Load { .. }) && !step.atomic {
            let made = next.inner.graph.events[thread].len() - 1;
            let id = EventId {
                thread: thread as u32,
                index: made as u32,
            };
            let event = next.inner.graph.event(id);
            let newest = event
                .location
                .and_then(|l| next.inner.graph.mo[l.index()].last().copied());
            if event.rf != Some(newest) {
                next.unused.insert(id);
                flown.insert(id);
            }
        }
        if let Some(target) = op.target() {
            next.origins[thread][target.index()] = flown;
            if self.mentioned[thread][target.index()] {
                next.use_value(thread, target);
            }
        }
        next
    }
}

fn is_mentioned(program: &Program, instance: &Instance, register: RegisterId) -> bool {
    let mut found = false;
    let conditions = program.nevers.iter().flat_map(|n| &n.conditions);
    for condition in conditions {
        for_each_state_atom(condition, &mut |atom| {
            if let StateAtom::Register(copy, mentioned) = atom {
                let same =
                    copy.thread == instance.thread && copy.copy.is_none_or(|c| c == instance.copy);
                found |= same && *mentioned == register;
            }
        });
    }
    found
}

/// Visits what a condition speaks of, also in the addresses of memory that it looks at.
fn for_each_state_atom(condition: &Expr<StateAtom>, visit: &mut dyn FnMut(&StateAtom)) {
    condition.for_each_atom(&mut |atom| {
        visit(atom);
        if let StateAtom::Memory(address) = atom {
            match &**address {
                Address::Direct(_) => {}
                Address::Element { index, .. } => for_each_state_atom(index, visit),
                Address::Pointer(pointer) => for_each_state_atom(pointer, visit),
            }
        }
    });
}

impl Machine for Observing<'_> {
    type State = State;

    fn code(&self) -> &Code<'_> {
        self.inner.code()
    }

    fn knows_weak_fences(&self) -> bool {
        self.inner.knows_weak_fences()
    }

    fn initial(&self) -> State {
        let origins = |mentioned: &Vec<bool>| vec![BTreeSet::new(); mentioned.len()];
        State {
            inner: self.inner.initial(),
            origins: self.mentioned.iter().map(origins).collect(),
            unused: BTreeSet::new(),
        }
    }

    fn unhindered_steps_of(&self, state: &State, thread: usize) -> Vec<(Step, State)> {
        let steps = self.inner.unhindered_steps_of(&state.inner, thread);
        steps
            .into_iter()
            .map(|(step, inner)| {
                let next = self.observe(state, &step, inner);
                (step, next)
            })
            .collect()
    }

    fn locals<'s>(&self, state: &'s State) -> &'s [Local] {
        &state.inner.locals
    }

    fn locals_mut<'s>(&self, state: &'s mut State) -> &'s mut [Local] {
        &mut state.inner.locals
    }

    fn bytes_of_memory(&self, state: &State) -> usize {
        let sets = state.origins.iter().flatten().chain([&state.unused]);
        let of_sets: usize = sets
            .map(|set| size_of_val(set) + set.len() * size_of::<EventId>())
            .sum();
        self.inner.bytes_of_memory(&state.inner) + of_sets
    }

    fn is_dead_end(&self, state: &State) -> bool {
        self.inner.is_dead_end(&state.inner)
    }

    fn may_end_dead(&self, state: &State) -> bool {
        self.inner.may_end_dead(&state.inner)
    }
}
