//! The criteria that are a matter of SC states: `safe`, and the patterns of `drf`, `trf` and `persistent`.
//!
//! Errors of the program: for `safe` they are violations. For the others a step into an error is not taken: a thread that stands before it
//! can do no less than one that the error has stopped.

use super::{Rules, states};
use palisade_certificate::Locations;
use palisade_lang::{LocationId, Op, Order, Value};
use palisade_memory::sc::State;
use palisade_memory::{Criterion, Machine, Sc, Step, StepKind, is_deadlock, never_is_true};
use std::cell::Cell;
use std::collections::{BTreeSet, HashSet};
use std::hash::Hash;

const TOO_MUCH: &str = "there is too much to look at behind it";

/// The rules of SC with one of these criteria.
pub struct Patterns<'p> {
    machine: Sc<'p>,
    criterion: Criterion,
    /// For each location whether races on it count.
    counts: Vec<bool>,
    /// There was too much to look at.
    gave_up: Cell<bool>,
}

impl<'p> Patterns<'p> {
    pub fn new(machine: Sc<'p>, criterion: Criterion, locations: Locations) -> Self {
        let all = &machine.code().program.locations;
        let every = locations == Locations::All || all.iter().all(|l| !l.nonatomic);
        let counts = all.iter().map(|l| every || l.nonatomic).collect();
        Patterns {
            machine,
            criterion,
            counts,
            gave_up: Cell::new(false),
        }
    }

    /// The machine whose states are judged.
    pub fn machine(&self) -> &Sc<'p> {
        &self.machine
    }

    /// Whether a state has the pattern of `drf`, `trf` or `persistent`; an error where there is too much to look at.
    pub fn pattern(&self, state: &State) -> Result<bool, String> {
        let found = self.violation(state, &[]).is_some();
        match self.gave_up.get() {
            true => Err(TOO_MUCH.to_owned()),
            false => Ok(found),
        }
    }

    fn name(&self, location: LocationId) -> &str {
        &self.machine.code().program.location(location).name
    }

    /// What is wrong with a state.
    fn violation(&self, state: &State, steps: &[(Step, State)]) -> Option<String> {
        let undisturbed = self.machine.code().holder(&state.locals).is_none();
        match self.criterion {
            Criterion::Safe => danger(&self.machine, state, steps),
            Criterion::Drf => self.race(state),
            Criterion::Trf if undisturbed => self.triangular_race(state),
            Criterion::Persistent if undisturbed => self.fragile(state),
            _ => None,
        }
    }

    /// Two threads have conflicting accesses enabled, not both of them locked. A block of one of them does not count as a hindrance.
    fn race(&self, state: &State) -> Option<String> {
        let threads = 0..state.locals.len();
        let enabled: Vec<Step> = threads
            .flat_map(|t| self.machine.unhindered_steps_of(state, t))
            .map(|(step, _)| step)
            .filter(|step| step.location.is_some_and(|l| self.counts[l.index()]))
            .collect();
        let holder = self.machine.code().holder(&state.locals);
        let locked = |step: &Step| step.atomic || self.is_rmw(step);
        for a in &enabled {
            for b in &enabled {
                if a.thread < b.thread
                    && a.location == b.location
                    && (a.is_write() || b.is_write())
                    && !(locked(a) && locked(b))
                    && holder.is_none_or(|h| h == a.thread || h == b.thread)
                {
                    return a.location.map(|l| format!("a race for `{}`", self.name(l)));
                }
            }
        }
        None
    }

    /// From here a thread stores, and goes on alone to a load of another location, which another thread could store to.
    fn triangular_race(&self, state: &State) -> Option<String> {
        for pivot in 0..state.locals.len() {
            // Blocks of the others may run before all that the thread has delayed, however much it is.
            let blocks: BTreeSet<LocationId> = self
                .others(state, pivot)
                .filter(|o| o.is_block)
                .flat_map(|o| o.stored)
                .collect();
            let found = self.ways(state, pivot, |way, load| {
                blocks.contains(&load)
                    || way.stores == Stores::One
                        && self
                            .others(&way.state, pivot)
                            .any(|o| o.stored.contains(&load))
            });
            if let Some(load) = found {
                return Some(format!("a triangular race for `{}`", self.name(load)));
            }
        }
        None
    }

    /// From here a thread stores, and goes on alone to a load of another location, which another thread could change.
    fn fragile(&self, state: &State) -> Option<String> {
        for pivot in 0..state.locals.len() {
            let others: Vec<Other> = self.others(state, pivot).collect();
            let changes = |other: &Other, load: LocationId| {
                let before = state.memory[load.index()];
                other.stored.contains(&load) && other.left[load.index()] != before
            };
            let found = self.ways(state, pivot, |way, load| {
                others
                    .iter()
                    .any(|o| (o.is_block || way.stores == Stores::One) && changes(o, load))
            });
            if let Some(load) = found {
                return Some(format!("a fragile run with `{}`", self.name(load)));
            }
        }
        None
    }

    /// Lets one thread go on alone from a state: by a plain store, then by loads, local steps and further plain stores, without anything that
    /// waits for the buffer. The first load of a location that it has not stored to on the way for which `wanted` is true.
    fn ways(
        &self,
        state: &State,
        pivot: usize,
        wanted: impl Fn(&Way, LocationId) -> bool,
    ) -> Option<LocationId> {
        let first = Way {
            state: state.clone(),
            stored: BTreeSet::new(),
            stores: Stores::None,
        };
        let mut found = None;
        let whole = everything(first, |way| {
            let mut next = Vec::new();
            for (step, state) in self.machine.unhindered_steps_of(&way.state, pivot) {
                let mut after = Way {
                    state,
                    ..way.clone()
                };
                match (step.kind, step.location) {
                    (StepKind::Store, Some(location)) if !self.is_seqcst(&step) => {
                        after.stored.insert(location);
                        after.stores = match way.stores {
                            Stores::None => Stores::One,
                            _ => Stores::Several,
                        };
                    }
                    (StepKind::Load, Some(location)) if !self.is_rmw(&step) => {
                        if way.stores != Stores::None
                            && !way.stored.contains(&location)
                            && wanted(way, location)
                        {
                            found = Some(location);
                        }
                    }
                    (StepKind::Local, _) => {}
                    _ => continue,
                }
                // What comes before the first store is another state's business.
                if after.stores != Stores::None && found.is_none() {
                    next.push(after);
                }
            }
            next
        });
        self.gave_up.set(self.gave_up.get() || !whole);
        found
    }

    /// What the other threads could store now: by a step, or by a block from its beginning to its end.
    fn others(&self, state: &State, pivot: usize) -> impl Iterator<Item = Other> {
        let mut others = Vec::new();
        for thread in (0..state.locals.len()).filter(|&t| t != pivot) {
            for (step, next) in self.machine.unhindered_steps_of(state, thread) {
                if let (true, Some(location)) = (step.is_write(), step.location) {
                    others.push(Other {
                        is_block: false,
                        stored: BTreeSet::from([location]),
                        left: next.memory,
                    });
                } else if step.kind == StepKind::AtomicBegin {
                    others.extend(self.block(next, thread));
                }
            }
        }
        others.into_iter()
    }

    /// The ways of a block that has just begun, to its end.
    fn block(&self, begun: State, thread: usize) -> Vec<Other> {
        let mut ends = Vec::new();
        let whole = everything((begun, BTreeSet::new()), |(state, stored)| {
            if !self.machine.code().in_block(thread, &state.locals[thread]) {
                ends.push(Other {
                    is_block: true,
                    stored: stored.clone(),
                    left: state.memory.clone(),
                });
                return Vec::new();
            }
            let steps = self.machine.unhindered_steps_of(state, thread);
            let steps = steps.into_iter().filter(|(s, _)| !is_error(s));
            steps
                .map(|(step, state)| {
                    let mut stored = stored.clone();
                    stored.extend(step.location.filter(|_| step.is_write()));
                    (state, stored)
                })
                .collect()
        });
        self.gave_up.set(self.gave_up.get() || !whole);
        ends
    }

    fn op(&self, step: &Step) -> &Op {
        &self.machine.code().thread(step.thread).transitions[step.transition].op
    }

    fn is_rmw(&self, step: &Step) -> bool {
        matches!(self.op(step), Op::Rmw { .. })
    }

    fn is_seqcst(&self, step: &Step) -> bool {
        let seqcst = Order::SeqCst;
        matches!(self.op(step), Op::Store { order, .. } if *order == seqcst)
    }
}

/// What is wrong with a state that must be safe.
pub fn danger(machine: &Sc<'_>, state: &State, steps: &[(Step, State)]) -> Option<String> {
    for (step, _) in steps {
        if let StepKind::Error(error) = step.kind {
            return Some(error.to_string());
        }
    }
    forbidden(machine, state).then(|| "a `never` is true".to_owned())
}

/// Whether a `never` is true in a state, or may be.
pub fn forbidden(machine: &Sc<'_>, state: &State) -> bool {
    may_be_forbidden(machine, state, &state.memory)
}

/// Whether a `never` is true of threads and memory, or may be, because it cannot be told whether there is a deadlock.
pub fn may_be_forbidden<M: Machine>(machine: &M, state: &M::State, memory: &[Value]) -> bool {
    let (code, locals) = (machine.code(), machine.locals(state));
    let known = || is_deadlock(code, locals, memory, machine.seen_by_block(state));
    let mut deadlock = None;
    code.program.nevers.iter().any(|never| {
        let known = match never.mentions_deadlock() {
            true => *deadlock.get_or_insert_with(known),
            false => Some(false),
        };
        match known {
            Some(deadlock) => never_is_true(code, never, locals, memory, deadlock),
            None => true,
        }
    })
}

/// A thread on its way alone.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Way {
    state: State,
    /// The locations that it has stored to.
    stored: BTreeSet<LocationId>,
    stores: Stores,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Stores {
    None,
    One,
    Several,
}

/// What another thread could do.
struct Other {
    is_block: bool,
    stored: BTreeSet<LocationId>,
    /// The memory that it leaves.
    left: Vec<Value>,
}

pub fn is_error(step: &Step) -> bool {
    matches!(step.kind, StepKind::Error(_))
}

/// The most that is looked at behind one state. What a thread does alone are states of the certificate, so only those of a wrong one, in which a
/// register counts for ever, come near it.
const MOST: usize = 1 << 22;

/// Visits everything that can be reached, each thing once; false where it is too much.
pub fn everything<T: Clone + Eq + Hash>(first: T, mut visit: impl FnMut(&T) -> Vec<T>) -> bool {
    let mut seen = HashSet::from([first.clone()]);
    let mut todo = vec![first];
    while let Some(thing) = todo.pop() {
        for next in visit(&thing) {
            if seen.insert(next.clone()) {
                todo.push(next);
            }
        }
        if seen.len() > MOST {
            return false;
        }
    }
    true
}

impl Rules for Patterns<'_> {
    fn initial(&self) -> Vec<i64> {
        let mut numbers = Vec::new();
        states::put(&self.machine.initial(), &mut numbers);
        numbers
    }

    fn visit(&self, numbers: &[i64], next: &mut dyn FnMut(&[i64])) -> Result<(), String> {
        let state = match states::take(self.machine.code(), numbers, None) {
            Some((state, [])) => state,
            _ => return Err("it is none of this program".to_owned()),
        };
        let steps = self.machine.steps(&state);
        if let Some(violation) = self.violation(&state, &steps) {
            return Err(violation);
        }
        if self.gave_up.get() {
            return Err(TOO_MUCH.to_owned());
        }
        let mut numbers = Vec::new();
        for (step, state) in &steps {
            if !is_error(step) {
                numbers.clear();
                states::put(state, &mut numbers);
                next(&numbers);
            }
        }
        Ok(())
    }
}
