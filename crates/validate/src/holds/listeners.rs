//! Monitors where threads have any number of copies: each carries along its own part, and hears of every write of another.
//!
//! The shared part is what is there once: the threads without copies, the memory, and all of the monitor but the parts of copies. The rules are those of
//! [`Monitors`], for the program with two copies of each such thread. A copy that is not there is stopped, and does nothing. No copy stands inside `atomic`.

use super::copies::{Change, Copy, Counted, Move};
use super::monitors::{Access, Monitor, Monitors, Seen, Set};
use super::states::Taken;
use super::{Rejected, invalid};
use palisade_lang::{Op, PointId};
use palisade_memory::sc::State;
use palisade_memory::{Local, Machine};

/// The rules.
pub struct Listeners<'p> {
    monitors: Monitors<'p>,
    /// The places of threads that are there once.
    fixed: Vec<usize>,
    /// For each other thread its two places.
    copied: Vec<(usize, [usize; 2])>,
}

/// What monitors say about one thread: V_SC, V and V_RMW.
type Part = (Set<usize>, Vec<Set<Seen>>, Vec<Set<Seen>>);

impl<'p> Listeners<'p> {
    pub fn new(
        monitors: Monitors<'p>,
        fixed: Vec<usize>,
        copied: Vec<(usize, [usize; 2])>,
    ) -> Self {
        Listeners {
            monitors,
            fixed,
            copied,
        }
    }

    fn put_part(&self, monitor: &Monitor, tau: usize, numbers: &mut Vec<i64>) {
        self.monitors.put_places(&monitor.v_sc[tau], numbers);
        self.monitors.put_old(&monitor.v[tau], numbers);
        self.monitors.put_old(&monitor.v_rmw[tau], numbers);
    }

    fn take_part(&self, taken: &mut Taken<'_>) -> Option<Part> {
        Some((
            self.monitors.take_places(taken)?,
            self.monitors.take_old(taken)?,
            self.monitors.take_old(taken)?,
        ))
    }

    fn put(&self, state: &State, monitor: &Monitor) -> Vec<i64> {
        let mut numbers = Vec::new();
        for &place in &self.fixed {
            numbers.push(state.locals[place].point.0.into());
            numbers.extend_from_slice(&state.locals[place].registers);
        }
        numbers.extend_from_slice(&state.memory);
        for &place in &self.fixed {
            self.put_part(monitor, place, &mut numbers);
        }
        for y in 0..self.monitors.places() {
            self.monitors.put_places(&monitor.m_sc[y], &mut numbers);
            self.monitors.put_places(&monitor.w_sc[y], &mut numbers);
            self.monitors.put_old(&monitor.w[y], &mut numbers);
            self.monitors.put_old(&monitor.w_rmw[y], &mut numbers);
        }
        numbers
    }

    /// What numbers begin with, if it is a shared part, and how many of them that is.
    fn take(&self, numbers: &[i64]) -> Option<(State, Monitor, usize)> {
        let code = self.monitors.machine().code();
        let mut taken = Taken(numbers);
        let mut locals = code.initial_locals();
        for local in &mut locals {
            local.stopped = true;
        }
        for &place in &self.fixed {
            taken.stand(code, place, &mut locals)?;
        }
        if code.holder(&locals).is_some() {
            return None;
        }
        let memory = taken.several(code.program.locations.len())?.to_vec();
        let mut monitor = Monitor::initial(locals.len(), self.monitors.places());
        for &place in &self.fixed {
            let part = self.take_part(&mut taken)?;
            set_part(&mut monitor, place, part);
        }
        for y in 0..self.monitors.places() {
            monitor.m_sc[y] = self.monitors.take_places(&mut taken)?;
            monitor.w_sc[y] = self.monitors.take_places(&mut taken)?;
            monitor.w[y] = self.monitors.take_old(&mut taken)?;
            monitor.w_rmw[y] = self.monitors.take_old(&mut taken)?;
        }
        let state = State { locals, memory };
        // There is one way to write it.
        let count = numbers.len() - taken.0.len();
        (self.put(&state, &monitor) == numbers[..count]).then_some((state, monitor, count))
    }

    /// Puts a copy into a place.
    fn place(
        &self,
        (_, point, numbers): &Copy,
        place: usize,
        state: &mut State,
        monitor: &mut Monitor,
    ) -> Option<()> {
        let registers = self.monitors.machine().code().thread(place).registers.len();
        let (registers, part) = numbers.split_at_checked(registers)?;
        state.locals[place] = Local {
            point: *point,
            registers: registers.to_vec(),
            stopped: false,
        };
        let part = self.take_part(&mut Taken(part))?;
        set_part(monitor, place, part);
        Some(())
    }

    /// The copy in a place.
    fn copy(&self, thread: usize, place: usize, state: &State, monitor: &Monitor) -> Copy {
        let mut numbers = state.locals[place].registers.clone();
        self.put_part(monitor, place, &mut numbers);
        (thread, state.locals[place].point, numbers)
    }

    fn places(&self, thread: usize) -> Option<[usize; 2]> {
        let (_, places) = self.copied.iter().find(|(t, _)| *t == thread)?;
        Some(*places)
    }

    /// Whether a shared part and up to two copies violate.
    fn violates(&self, shared: &[i64], chosen: &[&Copy]) -> bool {
        let Some((mut state, mut monitor, _)) = self.take(shared) else {
            return false;
        };
        for (at, copy) in chosen.iter().enumerate() {
            let Some(places) = self.places(copy.0) else {
                return false;
            };
            self.place(copy, places[at % 2], &mut state, &mut monitor);
        }
        self.monitors.violation(&state, &monitor).is_some()
    }

    /// Whether a copy may access a `nonatomic` location next.
    fn may_race(&self, (thread, point, _): &Copy) -> bool {
        let program = self.monitors.machine().code().program;
        let mut next = program.threads[*thread].outgoing(*point).iter();
        program.locations.iter().any(|l| l.nonatomic)
            && next.any(|t| matches!(t.op, Op::Load { .. } | Op::Store { .. }))
    }
}

fn set_part(monitor: &mut Monitor, tau: usize, (v_sc, v, v_rmw): Part) {
    monitor.v_sc[tau] = v_sc;
    monitor.v[tau] = v;
    monitor.v_rmw[tau] = v_rmw;
}

impl Counted for Listeners<'_> {
    fn shared(&self, numbers: &[i64]) -> Option<usize> {
        self.take(numbers).map(|(_, _, count)| count)
    }

    fn more(&self, thread: usize, point: PointId, numbers: &[i64]) -> Option<usize> {
        let code = self.monitors.machine().code();
        if code.program.threads[thread].points[point.index()].atomic {
            return None;
        }
        let mut taken = Taken(numbers);
        let part = self.take_part(&mut taken)?;
        let count = numbers.len() - taken.0.len();
        let mut monitor = Monitor::initial(1, self.monitors.places());
        set_part(&mut monitor, 0, part);
        let mut again = Vec::new();
        self.put_part(&monitor, 0, &mut again);
        (again == numbers[..count]).then_some(count)
    }

    fn initial(&self) -> (Vec<i64>, Vec<Copy>) {
        let state = self.monitors.machine().initial();
        let monitor = Monitor::initial(state.locals.len(), self.monitors.places());
        let copies = self.copied.iter();
        let copies = copies.map(|&(thread, [place, _])| self.copy(thread, place, &state, &monitor));
        (self.put(&state, &monitor), copies.collect())
    }

    fn steps(&self, shared: &[i64], mover: Option<&Copy>) -> Vec<Move> {
        let Some((mut state, mut monitor, _)) = self.take(shared) else {
            return Vec::new();
        };
        let mut moves = None;
        if let Some(copy) = mover {
            let Some([place, _]) = self.places(copy.0) else {
                return Vec::new();
            };
            self.place(copy, place, &mut state, &mut monitor);
            moves = Some((copy.0, place));
        }
        let mut found = Vec::new();
        self.monitors
            .steps(&state, &monitor, &mut |tau, access, state, monitor| {
                // The threads that are there once make their steps when no copy does.
                if moves.is_some_and(|(_, place)| place != tau) {
                    return;
                }
                let change = access.and_then(|(x, access, old)| {
                    (access != Access::Read).then_some(Change::Overtake {
                        place: x,
                        old,
                        plain: access == Access::Write,
                    })
                });
                let to = moves.map(|(thread, place)| self.copy(thread, place, state, monitor));
                found.push(Move {
                    shared: self.put(state, monitor),
                    to,
                    change,
                });
            });
        found
    }

    fn changed(&self, change: &Change, copy: &Copy) -> Copy {
        let (Change::Overtake { place, old, plain }, Some([place_of_copy, writer])) =
            (change, self.places(copy.0))
        else {
            return copy.clone();
        };
        let mut state = self.monitors.machine().initial();
        let mut monitor = Monitor::initial(state.locals.len(), self.monitors.places());
        self.place(copy, place_of_copy, &mut state, &mut monitor);
        let access = match plain {
            true => Access::Write,
            false => Access::Update,
        };
        // What it does to others does not depend on which thread writes.
        monitor.access(writer, *place, access, *old);
        self.copy(copy.0, place_of_copy, &state, &monitor)
    }

    fn violations(
        &self,
        shared: &[i64],
        copies: &[&Copy],
        found: &mut dyn FnMut(&[usize]) -> Result<(), Rejected>,
    ) -> Result<(), Rejected> {
        if self.violates(shared, &[]) {
            return found(&[]);
        }
        let mut racing = Vec::new();
        for (at, copy) in copies.iter().enumerate() {
            if self.violates(shared, &[copy]) {
                found(&[at])?;
            } else if self.may_race(copy) {
                racing.push(at);
            }
        }
        for (number, &one) in racing.iter().enumerate() {
            for &two in &racing[number..] {
                if self.violates(shared, &[copies[one], copies[two]]) {
                    found(&[one, two])?;
                }
            }
        }
        match self.monitors.gave_up() {
            true => Err(invalid("there is too much to look at behind it")),
            false => Ok(()),
        }
    }
}
