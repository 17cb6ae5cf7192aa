//! What is asked of SC runs: `safe`, `drf`, `trf`.

use super::waiting::a_never_is_true;
use super::{Runs, Visit, holds_everywhere};
use palisade_lang::{LocationId, Op, Program};
use palisade_memory::sc::State;
use palisade_memory::{Machine, Sc, Step, StepKind};

/// `safe` under SC: no run contains a failed `assert` or another error of the program, and no reachable state (states inside `atomic`
/// blocks included) makes the condition of a `never` true.
pub fn sc_safe(program: &Program) -> Option<bool> {
    let mut runs = Runs::new(Sc::new(program));
    // A `never` may see every step.
    runs.local_first &= program.nevers.is_empty();
    let machine = &runs.machine;
    holds_everywhere(machine.initial(), |state| {
        let steps = runs.steps(state);
        let Some(forbidden) = a_never_is_true(program, &state.locals, &state.memory, None) else {
            return Visit::TooLarge;
        };
        let error = steps
            .iter()
            .any(|(step, _)| matches!(step.kind, StepKind::Error(_)));
        if forbidden || error {
            return Visit::Violated;
        }
        Visit::Next(steps.into_iter().map(|(_, next)| next).collect())
    })
}

/// An access that a thread could make now.
#[derive(Clone, Copy, Debug)]
struct Enabled {
    thread: usize,
    location: LocationId,
    writes: bool,
    /// A read-modify-write (also a `cas` that fails), or inside a block.
    locked: bool,
}

fn is_rmw(machine: &Sc<'_>, step: &Step) -> bool {
    let transition = &machine.code().thread(step.thread).transitions[step.transition];
    matches!(transition.op, Op::Rmw { .. })
}

/// The accesses that threads could make next. Inside a block only its thread can go on, but the others' next accesses count as well:
/// it is the block alone that keeps them waiting.
fn enabled_accesses(machine: &Sc<'_>, state: &State) -> Vec<Enabled> {
    let threads = 0..state.locals.len();
    let steps = threads.flat_map(|thread| machine.unhindered_steps_of(state, thread));
    steps
        .filter_map(|(step, _)| {
            step.location.map(|location| Enabled {
                thread: step.thread,
                location,
                writes: step.is_write(),
                locked: step.atomic || is_rmw(machine, &step),
            })
        })
        .collect()
}

/// `drf` (issue 2): in no state that SC reaches do two threads have enabled accesses to the same location, at least one of them a store.
///
/// Two read-modify-writes never race; a `cas` is one whether it would succeed or fail. `wait` and `bcas` are enabled where they would go
/// on. The accesses of an `atomic` block are locked like read-modify-writes: in a state inside the block its next access races with the
/// plain accesses that others would be able to make if the block did not keep them waiting. Where `nonatomic` locations are declared,
/// races on those only count.
pub fn sc_drf(program: &Program) -> Option<bool> {
    let any_nonatomic = program.locations.iter().any(|l| l.nonatomic);
    drf(program, |location| {
        !any_nonatomic || program.location(location).nonatomic
    })
}

/// [`sc_drf`] with races on all locations counted, whatever is declared.
pub fn sc_drf_all_locations(program: &Program) -> Option<bool> {
    drf(program, |_| true)
}

fn drf(program: &Program, counts: impl Fn(LocationId) -> bool) -> Option<bool> {
    let runs = Runs::new(Sc::new(program));
    let machine = &runs.machine;
    holds_everywhere(machine.initial(), |state| {
        let holder = machine.code().holder(&state.locals);
        let enabled = enabled_accesses(machine, state);
        for (i, a) in enabled.iter().enumerate() {
            for b in &enabled[i + 1..] {
                let conflict = a.thread != b.thread
                    && a.location == b.location
                    && (a.writes || b.writes)
                    && !(a.locked && b.locked);
                let possible = holder.is_none_or(|h| h == a.thread || h == b.thread);
                if conflict && possible && counts(a.location) {
                    return Visit::Violated;
                }
            }
        }
        let steps = runs.steps(state);
        Visit::Next(steps.into_iter().map(|(_, next)| next).collect())
    })
}

/// An SC run together with what triangular races need to know of it.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Watched {
    state: State,
    /// For each thread: the location of its last plain store, if no fence and no locked instruction of the thread came after it.
    unfenced: Vec<Option<LocationId>>,
}

/// `trf` (the criterion of Owens 2010, as Abdulla et al. 2015, section 2, place it): there is no SC run with a store of a thread, then, without another
/// store, fence or locked instruction of that thread, a load of another location, while a store (plain or by a read-modify-write) of
/// another thread to that location is enabled. No other thread moves between the store and the load: others could need the store to be
/// visible, and then no TSO run has the load overtake it; what they do without needing it, they can do before.
///
/// The store is a plain one outside `atomic` blocks; a `seqcst` store is followed by a fence and so starts nothing. The load is a plain one
/// or a `wait` that would go on. Locked instructions are `cas` (also one that fails), `fadd`, `xchg`, `bcas` and the beginning and end of
/// `atomic`.
///
/// An `atomic` block of the other thread counts as one enabled store to whatever it stores on some way from its beginning to its end.
/// It is run on the memory of the SC run, and also as if the stores of the first thread were still in its buffer: on the memory after any
/// SC run that the first thread alone continued, without fences and locked instructions, by at least one store and then up to the load
/// (a load of a location that it has not stored to on that way). Without the latter, `x = 1; r = y;` beside
/// `atomic { s = x; if s == 0 { y = 1; } }` would be free of triangular races and yet not robust.
pub fn tso_trf(program: &Program) -> Option<bool> {
    let runs = Runs::new(Sc::new(program));
    let machine = &runs.machine;
    let threads = machine.code().instances.len();
    let initial = Watched {
        state: machine.initial(),
        unfenced: vec![None; threads],
    };
    let mut too_large = false;
    let answer = holds_everywhere(initial, |watched| {
        let state = &watched.state;
        if machine.code().holder(&state.locals).is_none() {
            if triangular_race(machine, watched) {
                return Visit::Violated;
            }
            for pivot in 0..threads {
                match block_overtakes(machine, state, pivot) {
                    Some(true) => return Visit::Violated,
                    Some(false) => {}
                    None => too_large = true,
                }
            }
        }
        let next = machine
            .steps(state)
            .into_iter()
            .map(|(step, state)| Watched {
                unfenced: unfenced_after(machine, &watched.unfenced, &step),
                state,
            });
        Visit::Next(next.collect())
    })?;
    (!answer || !too_large).then_some(answer)
}

fn unfenced_after(
    machine: &Sc<'_>,
    unfenced: &[Option<LocationId>],
    step: &Step,
) -> Vec<Option<LocationId>> {
    // A step of another thread ends what the others have begun.
    let mut after = vec![None; unfenced.len()];
    after[step.thread] = unfenced[step.thread];
    let last = &mut after[step.thread];
    match step.kind {
        StepKind::Store if !step.atomic => {
            *last = step.location.filter(|_| !is_seqcst_store(machine, step))
        }
        StepKind::Fence | StepKind::AtomicBegin | StepKind::AtomicEnd => *last = None,
        _ if is_rmw(machine, step) => *last = None,
        _ => {}
    }
    after
}

fn is_seqcst_store(machine: &Sc<'_>, step: &Step) -> bool {
    let transition = &machine.code().thread(step.thread).transitions[step.transition];
    matches!(
        transition.op,
        Op::Store {
            order: palisade_lang::Order::SeqCst,
            ..
        }
    )
}

/// The locations that a thread's enabled plain loads and successful `wait`s read.
fn plain_loads(machine: &Sc<'_>, state: &State, thread: usize) -> Vec<LocationId> {
    let loads = machine.steps_of(state, thread).into_iter();
    loads
        .filter(|(step, _)| step.kind == StepKind::Load && !step.atomic && !is_rmw(machine, step))
        .filter_map(|(step, _)| step.location)
        .collect()
}

/// The locations that the other threads' enabled stores write, blocks from beginning to end included.
fn stores_of_others(machine: &Sc<'_>, state: &State, thread: usize) -> Vec<LocationId> {
    let mut written = Vec::new();
    for other in (0..state.locals.len()).filter(|&t| t != thread) {
        for (step, next) in machine.steps_of(state, other) {
            if step.is_write() {
                written.extend(step.location);
            }
            if step.kind == StepKind::AtomicBegin {
                written.extend(stores_of_whole_block(machine, next));
            }
        }
    }
    written
}

/// The locations that a block, just begun, writes on ways that come to its end.
fn stores_of_whole_block(machine: &Sc<'_>, begun: State) -> Vec<LocationId> {
    let mut written = Vec::new();
    let initial = (begun, Vec::new());
    holds_everywhere(initial, |(state, so_far): &(State, Vec<LocationId>)| {
        if machine.code().holder(&state.locals).is_none() {
            written.extend_from_slice(so_far);
            return Visit::Next(Vec::new());
        }
        let mut next = Vec::new();
        for (step, state) in machine.steps(state) {
            let mut so_far = so_far.clone();
            if step.is_write() {
                so_far.extend(step.location.filter(|l| !so_far.contains(l)));
            }
            next.push((state, so_far));
        }
        Visit::Next(next)
    });
    written
}

fn triangular_race(machine: &Sc<'_>, watched: &Watched) -> bool {
    (0..watched.unfenced.len()).any(|pivot| {
        let Some(stored) = watched.unfenced[pivot] else {
            return false;
        };
        let loads = plain_loads(machine, &watched.state, pivot);
        if loads.iter().all(|&l| l == stored) {
            return false;
        }
        let written = stores_of_others(machine, &watched.state, pivot);
        loads.iter().any(|l| *l != stored && written.contains(l))
    })
}

/// Whether the pivot alone can go on from here by at least one store, without fences and locked instructions, to a load of a location
/// that it has not stored to, which a block of another thread, run on the memory that we have here, stores to.
fn block_overtakes(machine: &Sc<'_>, state: &State, pivot: usize) -> Option<bool> {
    let written: Vec<LocationId> = (0..state.locals.len())
        .filter(|&t| t != pivot)
        .flat_map(|other| machine.steps_of(state, other))
        .filter(|(step, _)| step.kind == StepKind::AtomicBegin)
        .flat_map(|(_, begun)| stores_of_whole_block(machine, begun))
        .collect();
    if written.is_empty() {
        return Some(false);
    }
    let initial = (state.clone(), Vec::new());
    let none_found = holds_everywhere(initial, |(state, stored): &(State, Vec<LocationId>)| {
        if !stored.is_empty() {
            let loads = plain_loads(machine, state, pivot);
            if loads
                .iter()
                .any(|l| !stored.contains(l) && written.contains(l))
            {
                return Visit::Violated;
            }
        }
        let mut next = Vec::new();
        for (step, state) in machine.steps_of(state, pivot) {
            let mut stored = stored.clone();
            match step.kind {
                StepKind::Store if is_seqcst_store(machine, &step) => continue,
                StepKind::Store => stored.extend(step.location.filter(|l| !stored.contains(l))),
                StepKind::Load if is_rmw(machine, &step) => continue,
                StepKind::Load | StepKind::Local => {}
                _ => continue,
            }
            next.push((state, stored));
        }
        Visit::Next(next)
    })?;
    Some(!none_found)
}
