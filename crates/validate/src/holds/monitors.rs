//! `robust` under RA: SC with monitors (Lahav, Margalit, *Robustness against Release/Acquire Semantics*, section 5).
//!
//! A program is robust if in every state that it reaches under SC, with the monitors of Figures 5 and 6, no access that a thread could make next
//! meets the conditions of Theorem 5.3, and if no state has two threads that could access the same `nonatomic` location, one of them writing
//! (Theorem 6.2). Monitors are about *places*: the locations that are not `nonatomic`, and one more, which fences update.
//!
//! Of values that could be old, only critical ones are told apart (see `places`).
//!
//! Everything that an access does to these sets is a union, an intersection, a copy, or the insertion or removal of something that does not depend on them; and the
//! conditions of Theorem 5.3 ask only for what is in a set. So a state covers another one with the same threads and memory if its sets contain the other's.
//!
//! An `atomic` block is one access, a read-modify-write or, where it does not write, a read. One that gets stuck inside, or ends by an error,
//! leads nowhere under SC, because no thread moves then; but what it has accessed counts.

use super::patterns::danger;
use super::places::Places;
pub use super::places::{Access, Seen};
use super::states::Taken;
use super::{Fact, Rules, states};
use palisade_lang::{LocationId, Value};
use palisade_memory::sc::State;
use palisade_memory::thread::{Outcome, Request};
use palisade_memory::{Machine, Sc, StepKind};

/// The rules of SC with monitors.
pub struct Monitors<'p> {
    /// The places, and behind them the one of the fences.
    places: Places<'p>,
    /// Whether states must be safe as well.
    safe: bool,
}

/// A set, ascending.
#[derive(Clone, PartialEq, Eq)]
pub struct Set<T>(Vec<T>);

impl<T: Copy + Ord> Set<T> {
    const EMPTY: Set<T> = Set(Vec::new());

    fn has(&self, item: T) -> bool {
        self.0.binary_search(&item).is_ok()
    }

    fn insert(&mut self, item: T) {
        if let Err(at) = self.0.binary_search(&item) {
            self.0.insert(at, item);
        }
    }

    fn remove(&mut self, item: T) {
        self.0.retain(|other| *other != item);
    }

    fn unite(&mut self, other: &Set<T>) {
        for &item in &other.0 {
            self.insert(item);
        }
    }

    fn intersect(&mut self, other: &Set<T>) {
        self.0.retain(|item| other.has(*item));
    }
}

/// What is known about the execution graph of the run so far. w_max(x) is the last write to x.
#[derive(Clone, PartialEq, Eq)]
pub struct Monitor {
    /// V_SC(τ): the places x such that τ is hb_SC-aware of w_max(x).
    pub v_sc: Vec<Set<usize>>,
    /// M_SC(y): the places x such that w_max(x) is hb_SC-before some access of y, …
    pub m_sc: Vec<Set<usize>>,
    /// … W_SC(y): before w_max(y).
    pub w_sc: Vec<Set<usize>>,
    /// V(τ)(x): what τ could read from older writes to x.
    pub v: Vec<Vec<Set<Seen>>>,
    /// V_RMW(τ)(x): of these, behind which it could write.
    pub v_rmw: Vec<Vec<Set<Seen>>>,
    /// W(y)(x): what could be read from older writes to x by a thread that has seen w_max(y).
    pub w: Vec<Vec<Set<Seen>>>,
    /// W_RMW(y)(x): of these, behind which it could write.
    pub w_rmw: Vec<Vec<Set<Seen>>>,
}

/// Takes a step: the thread that makes it, what it accesses and what was there before, and what is behind it.
pub type Next<'a> = dyn FnMut(usize, Option<(usize, Access, Seen)>, &State, &Monitor) + 'a;

impl Monitor {
    pub fn initial(threads: usize, places: usize) -> Self {
        let nothing = |count: usize| vec![vec![Set::EMPTY; places]; count];
        let itself: Vec<Set<usize>> = (0..places).map(|x| Set(vec![x])).collect();
        Monitor {
            v_sc: vec![Set((0..places).collect()); threads],
            m_sc: itself.clone(),
            w_sc: itself,
            v: nothing(threads),
            v_rmw: nothing(threads),
            w: nothing(places),
            w_rmw: nothing(places),
        }
    }

    /// All that the sets hold.
    fn facts(&self) -> Vec<Fact> {
        let mut facts = Vec::new();
        for (kind, sets) in (0..).zip([&self.v_sc, &self.m_sc, &self.w_sc]) {
            for (of, set) in (0..).zip(sets) {
                facts.extend(set.0.iter().map(|&x| [kind, of, x as i64, 0, 0]));
            }
        }
        let tables = [&self.v, &self.v_rmw, &self.w, &self.w_rmw];
        for (kind, table) in (3..).zip(tables) {
            for (of, sets) in (0..).zip(table) {
                for (x, set) in (0..).zip(sets) {
                    let fact =
                        |seen: &Seen| [kind, of, x, i64::from(seen.is_some()), seen.unwrap_or(0)];
                    facts.extend(set.0.iter().map(fact));
                }
            }
        }
        facts
    }

    /// The thread τ accesses x, where `old` is the value before.
    pub fn access(&mut self, tau: usize, x: usize, access: Access, old: Seen) {
        self.access_sc(tau, x, access);
        for rmw in [false, true] {
            let (v, w) = match rmw {
                false => (&mut self.v, &mut self.w),
                true => (&mut self.v_rmw, &mut self.w_rmw),
            };
            match access {
                Access::Read => intersect(&mut v[tau], &w[x]),
                Access::Write => {
                    v[tau][x] = Set::EMPTY;
                    w[x].clone_from(&v[tau]);
                }
                Access::Update => {
                    intersect(&mut v[tau], &w[x]);
                    w[x].clone_from(&v[tau]);
                }
            }
            // Nothing can be put between an update and what it has read.
            if access == Access::Write || access == Access::Update && !rmw {
                for pi in (0..v.len()).filter(|&pi| pi != tau) {
                    v[pi][x].insert(old);
                }
                for z in (0..w.len()).filter(|&z| z != x) {
                    w[z][x].insert(old);
                }
            }
        }
    }

    /// Figure 5.
    fn access_sc(&mut self, tau: usize, x: usize, access: Access) {
        if access == Access::Read {
            self.m_sc[x].unite(&self.v_sc[tau]);
            self.v_sc[tau].unite(&self.w_sc[x]);
            return;
        }
        let mut aware = self.v_sc[tau].clone();
        aware.unite(&self.m_sc[x]);
        let Monitor {
            v_sc, m_sc, w_sc, ..
        } = self;
        for set in v_sc.iter_mut().chain(m_sc).chain(w_sc) {
            set.remove(x);
        }
        self.v_sc[tau].clone_from(&aware);
        self.m_sc[x].clone_from(&aware);
        self.w_sc[x] = aware;
    }
}

fn intersect(sets: &mut [Set<Seen>], others: &[Set<Seen>]) {
    for (set, other) in sets.iter_mut().zip(others) {
        set.intersect(other);
    }
}

impl<'p> Monitors<'p> {
    pub fn new(machine: Sc<'p>, safe: bool) -> Self {
        Monitors {
            places: Places::new(machine, 1),
            safe,
        }
    }

    pub fn machine(&self) -> &Sc<'p> {
        &self.places.machine
    }

    /// Whether there was too much to look at.
    pub fn gave_up(&self) -> bool {
        self.places.gave_up()
    }

    pub fn places(&self) -> usize {
        self.places.count()
    }

    fn fence(&self) -> usize {
        self.places() - 1
    }

    /// What is wrong with a state in which no thread is inside a block.
    pub fn violation(&self, state: &State, monitor: &Monitor) -> Option<String> {
        let code = self.machine().code();
        if self.safe
            && let Some(danger) = danger(self.machine(), state, &self.machine().steps(state))
        {
            return Some(danger);
        }
        // The accesses of `nonatomic` locations that are possible: thread, location, whether it is a store.
        let mut plain: Vec<(usize, LocationId, bool)> = Vec::new();
        for (tau, local) in state.locals.iter().enumerate() {
            for (_, transition) in code.next(tau, local) {
                let Ok(request) = code.request(tau, local, transition) else {
                    continue;
                };
                let stale = match request {
                    Request::Local(_) | Request::Blocked | Request::AtomicEnd => None,
                    Request::Load {
                        location,
                        condition,
                        ..
                    } => match self.places.of(location) {
                        None => {
                            plain.push((tau, location, false));
                            None
                        }
                        Some(x) => self.stale(monitor, tau, x, |value, access| {
                            access == Access::Read
                                && condition
                                    .is_none_or(|(relation, right)| relation.holds(value, right))
                        }),
                    },
                    Request::Store { location, .. } => match self.places.of(location) {
                        None => {
                            plain.push((tau, location, true));
                            None
                        }
                        Some(x) => self.stale(monitor, tau, x, |_, access| access == Access::Write),
                    },
                    Request::Rmw {
                        location, action, ..
                    } => self.places.of(location).and_then(|x| {
                        self.stale(monitor, tau, x, |value, access| {
                            match code.outcome(action, value) {
                                Outcome::Loads => access == Access::Read,
                                Outcome::Writes(_) => access == Access::Write,
                                Outcome::Waits | Outcome::Fails(_) => false,
                            }
                        })
                    }),
                    Request::Fence => {
                        let x = self.fence();
                        self.stale(monitor, tau, x, |_, access| access == Access::Write)
                    }
                    Request::AtomicBegin => {
                        let mut begun = state.clone();
                        begun.locals[tau] = code.after(tau, local, transition, None);
                        if self.safe
                            && let Some(danger) = self.places.danger_inside(&begun, tau)
                        {
                            return Some(danger);
                        }
                        let ways = self.places.ways(begun.clone(), tau);
                        // Which place it is does not depend on what is found there.
                        let place = ways.iter().find_map(|way| way.access);
                        place.and_then(|(x, _)| {
                            self.stale(monitor, tau, x, |value, access| {
                                let mut begun = begun.clone();
                                begun.memory[self.places.location(x)] = value;
                                self.places
                                    .ways(begun, tau)
                                    .iter()
                                    .any(|way| match way.access {
                                        None => false,
                                        Some((_, Access::Read)) => access == Access::Read,
                                        Some(_) => access == Access::Write,
                                    })
                            })
                        })
                    }
                };
                if let Some(x) = stale {
                    return Some(format!(
                        "an access of `{}` could be stale",
                        self.places.name(x)
                    ));
                }
            }
        }
        for (tau, location, writes) in &plain {
            for (pi, other, other_writes) in &plain {
                if tau < pi && location == other && (*writes || *other_writes) {
                    let name = &code.program.location(*location).name;
                    return Some(format!("a race for `{name}`"));
                }
            }
        }
        None
    }

    /// Theorem 5.3: x, if τ could read an old value of it, or write behind one, that `wanted` wants: the value, and whether it would be read
    /// only, or written behind.
    fn stale(
        &self,
        monitor: &Monitor,
        tau: usize,
        x: usize,
        wanted: impl Fn(Value, Access) -> bool,
    ) -> Option<usize> {
        if !monitor.v_sc[tau].has(x) {
            return None;
        }
        let read = monitor.v[tau][x].0.iter();
        let written = monitor.v_rmw[tau][x].0.iter();
        let found = read
            .map(|seen| (seen, Access::Read))
            .chain(written.map(|seen| (seen, Access::Write)))
            .any(|(seen, access)| wanted(self.places.value(x, *seen), access));
        found.then_some(x)
    }

    /// Calls `next` with everything that a step leads to.
    pub fn steps(&self, state: &State, monitor: &Monitor, next: &mut Next<'_>) {
        for (step, after) in self.machine().steps(state) {
            let tau = step.thread;
            let place = step.location.and_then(|l| self.places.of(l));
            let access = match (step.kind, place) {
                (StepKind::Error(_), _) => continue,
                (StepKind::AtomicBegin, _) => {
                    for way in self.places.ways(after, tau) {
                        if let Some(end) = &way.end {
                            self.arrive(state, monitor, tau, way.access, end, next);
                        }
                    }
                    continue;
                }
                (StepKind::Fence, _) => Some((self.fence(), Access::Update)),
                (StepKind::Load, Some(x)) => Some((x, Access::Read)),
                (StepKind::Store, Some(x)) => Some((x, Access::Write)),
                (StepKind::Rmw, Some(x)) => Some((x, Access::Update)),
                _ => None,
            };
            self.arrive(state, monitor, tau, access, &after, next);
        }
    }

    fn arrive(
        &self,
        state: &State,
        monitor: &Monitor,
        tau: usize,
        access: Option<(usize, Access)>,
        after: &State,
        next: &mut Next<'_>,
    ) {
        let mut monitor = monitor.clone();
        let access = access.map(|(x, access)| {
            let old = match x == self.fence() {
                true => self.places.seen(x, 0),
                false => self.places.seen(x, state.memory[self.places.location(x)]),
            };
            monitor.access(tau, x, access, old);
            (x, access, old)
        });
        next(tau, access, after, &monitor);
    }

    /// Appends a set of places.
    pub fn put_places(&self, set: &Set<usize>, numbers: &mut Vec<i64>) {
        for first in (0..self.places()).step_by(32) {
            let bits = (0..32).map(|bit| i64::from(set.has(first + bit)) << bit);
            numbers.push(bits.sum());
        }
    }

    /// Appends what could be old, for each place.
    pub fn put_old(&self, of_places: &[Set<Seen>], numbers: &mut Vec<i64>) {
        numbers.push(of_places.iter().filter(|set| !set.0.is_empty()).count() as i64);
        for (x, set) in of_places.iter().enumerate() {
            if set.0.is_empty() {
                continue;
            }
            let critical = set.0.iter().flatten();
            let others = set.has(None);
            numbers.push(x as i64);
            numbers.push(2 * critical.clone().count() as i64 + i64::from(others));
            numbers.extend(critical);
        }
    }

    /// The set of places that numbers begin with. (That they are what would be written is for the caller to see.)
    pub fn take_places(&self, taken: &mut Taken<'_>) -> Option<Set<usize>> {
        let mut set = Set::EMPTY;
        for first in (0..self.places()).step_by(32) {
            let bits = taken.next()?;
            let members = first..self.places().min(first + 32);
            set.0
                .extend(members.filter(|x| bits >> (x - first) & 1 == 1));
        }
        Some(set)
    }

    /// What could be old, for each place, likewise.
    pub fn take_old(&self, taken: &mut Taken<'_>) -> Option<Vec<Set<Seen>>> {
        let mut of_places = vec![Set::EMPTY; self.places()];
        for _ in 0..taken.next()? {
            let set = of_places.get_mut(usize::try_from(taken.next()?).ok()?)?;
            let size = taken.next()?;
            if size & 1 == 1 {
                set.insert(None);
            }
            for _ in 0..size >> 1 {
                set.insert(Some(taken.next()?));
            }
        }
        Some(of_places)
    }

    fn put(&self, state: &State, monitor: &Monitor, numbers: &mut Vec<i64>) {
        numbers.clear();
        states::put(state, numbers);
        for sets in [&monitor.v_sc, &monitor.m_sc, &monitor.w_sc] {
            for set in sets {
                self.put_places(set, numbers);
            }
        }
        for table in [&monitor.v, &monitor.v_rmw, &monitor.w, &monitor.w_rmw] {
            for of_places in table {
                self.put_old(of_places, numbers);
            }
        }
    }

    fn take(&self, numbers: &[i64]) -> Option<(State, Monitor)> {
        let code = self.machine().code();
        let (state, rest) = states::take(code, numbers, None)?;
        if code.holder(&state.locals).is_some() {
            return None;
        }
        let mut taken = Taken(rest);
        let mut monitor = Monitor::initial(state.locals.len(), self.places());
        for sets in [&mut monitor.v_sc, &mut monitor.m_sc, &mut monitor.w_sc] {
            for set in sets {
                *set = self.take_places(&mut taken)?;
            }
        }
        let Monitor {
            v, v_rmw, w, w_rmw, ..
        } = &mut monitor;
        for table in [v, v_rmw, w, w_rmw] {
            for of_places in table {
                *of_places = self.take_old(&mut taken)?;
            }
        }
        // Whatever else the numbers could have been, they are what would be written.
        let mut again = Vec::new();
        self.put(&state, &monitor, &mut again);
        (again == numbers).then_some((state, monitor))
    }
}

impl Rules for Monitors<'_> {
    fn initial(&self) -> Vec<i64> {
        let state = self.machine().initial();
        let monitor = Monitor::initial(state.locals.len(), self.places());
        let mut numbers = Vec::new();
        self.put(&state, &monitor, &mut numbers);
        numbers
    }

    fn visit(&self, numbers: &[i64], next: &mut dyn FnMut(&[i64])) -> Result<(), String> {
        let Some((state, monitor)) = self.take(numbers) else {
            return Err("it is none of this program".to_owned());
        };
        if let Some(violation) = self.violation(&state, &monitor) {
            return Err(violation);
        }
        let mut numbers = Vec::new();
        self.steps(&state, &monitor, &mut |_, _, state, monitor| {
            self.put(state, monitor, &mut numbers);
            next(&numbers);
        });
        match self.gave_up() {
            true => Err("there is too much to look at behind it".to_owned()),
            false => Ok(()),
        }
    }

    fn base(&self) -> Option<usize> {
        Some(states::width(self.machine().code()))
    }

    fn facts(&self, state: &[i64]) -> Option<Vec<Fact>> {
        self.take(state).map(|(_, monitor)| monitor.facts())
    }
}
