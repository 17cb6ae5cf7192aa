//! The places that proofs about weak memory follow: the locations that are not `nonatomic`, the values of them that are told apart, and `atomic` blocks as the one access
//! of a place that each of them is.
//!
//! Of values that could be old, those that are not critical are told apart from the others only (Lahav and Margalit 2019, section 5.1). Critical are here, for a
//! location that an instruction may access:
//!
//! * what a `cas` or `bcas` expects and what a `wait` compares with by `==` or `!=`, where that is a constant;
//! * all values, where it is none, where a `wait` compares by another relation, where an `atomic` block accesses the location, and where there would be
//!   more than 64.

use super::patterns::{danger, everything, is_error};
use palisade_lang::{
    Address, LocationId, Op, Program, RegisterExpr, RegisterId, Relation, RmwAction, Value,
};
use palisade_memory::sc::State;
use palisade_memory::{Machine, Sc};
use std::cell::Cell;
use std::collections::BTreeSet;

/// The places of a program.
pub struct Places<'p> {
    pub machine: Sc<'p>,
    /// For each location its place, if it has one.
    place: Vec<Option<usize>>,
    /// For each place its critical values.
    critical: Vec<Critical>,
    /// There was too much to look at.
    gave_up: Cell<bool>,
}

/// The critical values of a place.
#[derive(Clone)]
enum Critical {
    All,
    These(BTreeSet<Value>),
}

/// Where more are critical, all are.
const MOST_CRITICAL: usize = 64;

/// A critical value, or any other.
pub type Seen = Option<Value>;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
    Update,
}

/// A way through a block.
pub struct Way {
    /// Where it ends; `None` where it is stuck, or ends by an error.
    pub end: Option<State>,
    /// The place that it has accessed, and how.
    pub access: Option<(usize, Access)>,
}

/// Where a block stands: the state, the place that was accessed, whether it was written.
type Inside = (State, Option<usize>, bool);

impl<'p> Places<'p> {
    /// The places of a program, and behind them so many that are no locations.
    pub fn new(machine: Sc<'p>, others: usize) -> Self {
        let program = machine.code().program;
        let mut place = Vec::new();
        let mut places = 0;
        for location in &program.locations {
            place.push((!location.nonatomic).then_some(places));
            places += usize::from(!location.nonatomic);
        }
        Places {
            critical: critical_values(program, &place, places + others),
            machine,
            place,
            gave_up: Cell::new(false),
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.critical.len()
    }

    /// The place of a location, if it has one.
    pub fn of(&self, location: LocationId) -> Option<usize> {
        self.place[location.index()]
    }

    /// Whether there was too much to look at.
    pub fn gave_up(&self) -> bool {
        self.gave_up.get()
    }

    /// What is kept of a value.
    pub fn seen(&self, x: usize, value: Value) -> Seen {
        match &self.critical[x] {
            Critical::All => Some(value),
            Critical::These(values) => values.get(&value).copied(),
        }
    }

    /// A value that was seen; where it was not critical, one that stands for all that are not.
    pub fn value(&self, x: usize, seen: Seen) -> Value {
        seen.unwrap_or_else(|| match &self.critical[x] {
            Critical::All => 0,
            Critical::These(values) => (0..).find(|v| !values.contains(v)).unwrap_or(0),
        })
    }

    pub fn name(&self, x: usize) -> &str {
        let locations = &self.machine.code().program.locations;
        let at = self.place.iter().position(|p| *p == Some(x));
        at.map_or("fence", |at| &locations[at].name)
    }

    pub fn location(&self, x: usize) -> usize {
        self.place.iter().position(|p| *p == Some(x)).unwrap_or(0)
    }

    /// Everything that a thread can do in a block that has just begun.
    pub fn inside(&self, begun: State, tau: usize, mut visit: impl FnMut(&Inside) -> bool) {
        let whole = everything((begun, None, false), |inside: &Inside| {
            let (state, place, wrote) = inside;
            if !visit(inside) {
                return Vec::new();
            }
            let steps = self.machine.unhindered_steps_of(state, tau);
            let steps = steps.into_iter().filter(|(step, _)| !is_error(step));
            steps
                .map(|(step, state)| {
                    let accessed = step.location.and_then(|l| self.of(l));
                    (state, place.or(accessed), *wrote || step.is_write())
                })
                .collect()
        });
        self.gave_up.set(self.gave_up.get() || !whole);
    }

    /// The ways of a block that has just begun.
    pub fn ways(&self, begun: State, tau: usize) -> Vec<Way> {
        let mut ways = Vec::new();
        self.inside(begun, tau, |(state, place, wrote)| {
            let code = self.machine.code();
            let access = place.map(|x| match wrote {
                true => (x, Access::Update),
                false => (x, Access::Read),
            });
            if !code.in_block(tau, &state.locals[tau]) {
                let end = Some(state.clone());
                ways.push(Way { end, access });
                return false;
            }
            let steps = self.machine.unhindered_steps_of(state, tau);
            if steps.is_empty() || steps.iter().any(|(step, _)| is_error(step)) {
                ways.push(Way { end: None, access });
            }
            true
        });
        ways
    }

    /// What is dangerous inside a block that has just begun.
    pub fn danger_inside(&self, begun: &State, tau: usize) -> Option<String> {
        let mut found = None;
        self.inside(begun.clone(), tau, |(state, _, _)| {
            let inside = self.machine.code().in_block(tau, &state.locals[tau]);
            if inside && found.is_none() {
                found = danger(&self.machine, state, &self.machine.steps(state));
            }
            inside
        });
        found
    }
}

/// The critical values of each place.
fn critical_values(program: &Program, place: &[Option<usize>], places: usize) -> Vec<Critical> {
    let mut critical = vec![Critical::These(BTreeSet::new()); places];
    for thread in &program.threads {
        for transition in &thread.transitions {
            let (address, compared) = match &transition.op {
                Op::Load { address, .. } | Op::Store { address, .. } => (address, None),
                Op::Wait {
                    address,
                    relation,
                    value,
                    ..
                } => (address, Some((*relation, value))),
                Op::Rmw {
                    address, action, ..
                } => match action {
                    RmwAction::CompareAndSwap { expected, .. }
                    | RmwAction::BlockingCompareAndSwap { expected, .. } => {
                        (address, Some((Relation::Equal, expected)))
                    }
                    RmwAction::Fetch(..) | RmwAction::Exchange(_) => (address, None),
                },
                _ => continue,
            };
            let all = match compared {
                _ if thread.points[transition.from.index()].atomic => None,
                None => continue,
                Some((Relation::Equal | Relation::NotEqual, value)) => constant(program, value),
                Some(_) => None,
            };
            for location in may_be(program, address) {
                let Some(x) = place[location] else {
                    continue;
                };
                match (all, &mut critical[x]) {
                    (Some(value), Critical::These(values))
                        if values.len() < MOST_CRITICAL || values.contains(&value) =>
                    {
                        values.insert(value);
                    }
                    (_, all) => *all = Critical::All,
                }
            }
        }
    }
    critical
}

/// The value of an expression without registers.
fn constant(program: &Program, value: &RegisterExpr) -> Option<Value> {
    let unknown = palisade_lang::ProgramError::AssertionFailed;
    value.eval(program.domain, &mut |_| Err(unknown)).ok()
}

/// The locations that an address may be, whatever the registers are.
fn may_be(program: &Program, address: &Address<RegisterId>) -> std::ops::Range<usize> {
    let one = |location: LocationId| location.index()..location.index() + 1;
    match address {
        Address::Direct(location) => one(*location),
        Address::Element {
            first,
            length,
            index,
        } => match constant(program, index) {
            Some(index) if (0..Value::from(*length)).contains(&index) => {
                one(LocationId(first.0 + index as u32))
            }
            _ => first.index()..first.index() + *length as usize,
        },
        Address::Pointer(pointer) => match constant(program, pointer) {
            Some(address) => program.location_at(address).map_or(0..0, one),
            None => 0..program.locations.len(),
        },
    }
}
