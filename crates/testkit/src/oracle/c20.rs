//! What is asked of C++20 and RC11: `robust`, `drf`, `safe`, and which states are reached; by all consistent execution graphs.

use super::waiting::a_never_is_true;
use super::{Runs, Visit, holds_everywhere};
use palisade_lang::{Program, Value};
use palisade_memory::c20::{C20Graph, State, is_sc};
use palisade_memory::{C20Views, Local, Machine, Model, Step, StepKind};
use std::collections::BTreeSet;

/// `robust` against C++20: every consistent execution graph of the program is one of SC, and none has a data race.
///
/// `None` also where the program has no meaning in the model. An `atomic` block is one event; a graph counts when no thread is inside a block, or when
/// the block is stuck.
pub fn c20_robust(program: &Program) -> Option<bool> {
    robust(program, Model::C20)
}

/// `robust` against RC11: see [`c20_robust`].
pub fn rc11_robust(program: &Program) -> Option<bool> {
    robust(program, Model::Rc11)
}

/// `drf` under C++20: no consistent execution graph has a data race.
pub fn c20_drf(program: &Program) -> Option<bool> {
    drf(program, Model::C20)
}

/// `drf` under RC11: see [`c20_drf`].
pub fn rc11_drf(program: &Program) -> Option<bool> {
    drf(program, Model::Rc11)
}

/// `safe` under C++20: no run reaches an error of the program (a failed `assert` included), a data race, or a state in which a `never` is true, where
/// of each location the value counts that is last in modification order.
pub fn c20_safe(program: &Program) -> Option<bool> {
    safe(program, Model::C20)
}

/// `safe` under RC11: see [`c20_safe`].
pub fn rc11_safe(program: &Program) -> Option<bool> {
    safe(program, Model::Rc11)
}

/// What a state shows: the threads, and of each location the value that is last in modification order.
pub type Shown = (Vec<Local>, Vec<Value>);

/// All that states of the program show under a model, those after a race left out; `None` where there are too many.
pub fn shown(program: &Program, model: Model) -> Option<BTreeSet<Shown>> {
    let machine = C20Graph::new(program, model).ok()?;
    let mut shown = BTreeSet::new();
    holds_everywhere(machine.initial(), |state| {
        if is_too_large(state) {
            return Visit::TooLarge;
        }
        if !state.raced && machine.is_real(state) {
            shown.insert((state.locals.clone(), machine.newest(state)));
        }
        next(machine.steps(state))
    })?;
    Some(shown)
}

/// The same by the machine with views, for programs without `seqcst` events; and whether a race is reached.
pub fn shown_by_views(program: &Program) -> Option<(BTreeSet<Shown>, bool)> {
    let machine = C20Views::new(program).ok()?;
    let mut shown = BTreeSet::new();
    let mut races = false;
    holds_everywhere(machine.initial(), |state| {
        races |= state.raced;
        if !state.raced && machine.is_real(state) {
            shown.insert((state.locals.clone(), C20Views::newest(state)));
        }
        let steps = machine.steps(state).into_iter();
        Visit::Next(steps.map(|(_, next)| next).collect())
    })?;
    Some((shown, races))
}

/// A graph with more events than this is too large for brute force: a thread that goes round a loop alone makes larger and larger ones.
const MOST_EVENTS: usize = 32;

pub(super) fn is_too_large(state: &State) -> bool {
    state.graph.len() > MOST_EVENTS
}

fn next(steps: Vec<(Step, State)>) -> Visit<State> {
    Visit::Next(steps.into_iter().map(|(_, next)| next).collect())
}

fn robust(program: &Program, model: Model) -> Option<bool> {
    let runs = Runs::new(C20Graph::new(program, model).ok()?);
    let machine = &runs.machine;
    holds_everywhere(machine.initial(), |state| {
        if is_too_large(state) {
            return Visit::TooLarge;
        }
        let steps = runs.steps(state);
        let inside = machine.code().holder(&state.locals).is_some();
        let counts = !inside || (steps.is_empty() && !machine.is_dead_end(state));
        if state.raced || (counts && !is_sc(&state.graph)) {
            return Visit::Violated;
        }
        next(steps)
    })
}

fn drf(program: &Program, model: Model) -> Option<bool> {
    let runs = Runs::new(C20Graph::new(program, model).ok()?);
    holds_everywhere(runs.machine.initial(), |state| match state.raced {
        true => Visit::Violated,
        false if is_too_large(state) => Visit::TooLarge,
        false => next(runs.steps(state)),
    })
}

fn safe(program: &Program, model: Model) -> Option<bool> {
    let machine = C20Graph::new(program, model).ok()?;
    holds_everywhere(machine.initial(), |state| {
        if is_too_large(state) {
            return Visit::TooLarge;
        }
        let steps = machine.steps(state);
        let error = |(step, _): &(Step, _)| matches!(step.kind, StepKind::Error(_));
        let memory = machine.newest(state);
        if state.raced || steps.iter().any(error) {
            return Visit::Violated;
        }
        match a_never_is_true(
            program,
            &state.locals,
            &memory,
            machine.seen_by_block(state),
        ) {
            Some(true) if machine.is_real(state) => return Visit::Violated,
            Some(_) => {}
            None => return Visit::TooLarge,
        }
        next(steps)
    })
}
