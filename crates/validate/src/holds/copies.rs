//! Certificates for any number of threads.
//!
//! A state is a shared part (the threads that are there once, the memory, and whether a copy is inside `atomic`) and, for each local (a thread with any number of
//! copies, a control point, registers), how many copies stand there. A certificate is a set of *ideals*, which say how many copies there are at most, and a set of
//! *minimal* states, the backward basis, which say how many there are at least. Let O be what is in an ideal, and B what of it is above a minimal state. It proves
//! the criterion for every number of copies if
//!
//! * the states at the beginning are in O and not in B;
//! * a step from O leads into O;
//! * a step from O into B comes from B;
//! * whatever of O violates is in B. More copies violate no less, so it is enough to look at as many as a violation takes.
//!
//! Steps and violations are those of the plain machine of SC, run with as many copies as matter and all others stopped, so that they do nothing. For `robust`
//! they are those of attacks (`helpers`) and of monitors (`listeners`), where a step can also change all copies that do not make it, each by itself.

use super::attacks::Attacks;
use super::choices::Choices;
use super::helpers::Helpers;
use super::listeners::Listeners;
use super::monitors::Monitors;
use super::patterns::Patterns;
use super::{Rejected, invalid};
use palisade_certificate::{Reader, decode};
use palisade_lang::{Copies, Op, PointId, Program, Value};
use palisade_memory::sc::State;
use palisade_memory::{Criterion, Local, Machine, Model, Sc, StepKind};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::BufRead;

/// Any number of copies.
const MANY: i64 = i64::MAX;

/// The most states that may have become one minimal state.
const MOST_ORIGINS: usize = 1 << 16;

/// A copy: its thread, control point and registers, and behind them its role in an attack or its part of monitors.
pub type Copy = (usize, PointId, Vec<Value>);

/// A step: the shared part and the copy behind it.
pub struct Move {
    pub shared: Vec<i64>,
    pub to: Option<Copy>,
    /// What happens to all other copies.
    pub change: Option<Change>,
}

/// What a step does to copies that do not make it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// They forget their roles.
    Forget,
    /// A place is written, by a plain store or by an update, where `old` was.
    Overtake {
        place: usize,
        old: Option<Value>,
        plain: bool,
    },
}

/// What copies do, and what violates, where that is not just SC.
pub trait Counted {
    /// How many of these numbers are a shared part.
    fn shared(&self, numbers: &[i64]) -> Option<usize>;

    /// How many of these numbers, behind the registers of a copy that stands there, belong to it, too.
    fn more(&self, thread: usize, point: PointId, numbers: &[i64]) -> Option<usize>;

    /// The shared part and the copies at the beginning.
    fn initial(&self) -> (Vec<i64>, Vec<Copy>);

    /// The steps of a copy, or of all that belongs to the shared part.
    fn steps(&self, shared: &[i64], mover: Option<&Copy>) -> Vec<Move>;

    /// What becomes of a copy.
    fn changed(&self, change: &Change, copy: &Copy) -> Copy;

    /// Calls `found` with all choices among copies that violate, or with what is above them.
    fn violations(
        &self,
        shared: &[i64],
        copies: &[&Copy],
        found: &mut dyn FnMut(&[usize]) -> Result<(), Rejected>,
    ) -> Result<(), Rejected>;
}

/// How many copies stand where, at least or at most; copies by their numbers.
type Counts = BTreeMap<usize, i64>;

/// A step: the copy that makes it, the shared part and the copy behind it.
struct Rule {
    from: usize,
    mover: Option<usize>,
    behind: usize,
    to: Option<usize>,
    change: Option<usize>,
}

/// Things and their numbers.
struct Numbered<T> {
    numbers: HashMap<T, usize>,
    things: Vec<T>,
}

impl<T: Clone + Eq + std::hash::Hash> Numbered<T> {
    fn new() -> Self {
        Numbered {
            numbers: HashMap::new(),
            things: Vec::new(),
        }
    }

    fn number(&mut self, thing: T) -> usize {
        *self.numbers.entry(thing.clone()).or_insert_with(|| {
            self.things.push(thing);
            self.things.len() - 1
        })
    }
}

/// A certificate, and what is needed to judge it.
pub struct Copied<'p> {
    program: &'p Program,
    criterion: Criterion,
    patterns: Patterns<'p>,
    /// For `robust`.
    counted: Option<Box<dyn Counted + 'p>>,
    /// For each thread its places among the running ones of the instance.
    places: Vec<Vec<usize>>,
    shared: Numbered<Vec<i64>>,
    copies: Numbered<Copy>,
    changes: Numbered<Change>,
    /// By shared part.
    ideals: HashMap<usize, Vec<Counts>>,
    minimal: HashMap<usize, Vec<Counts>>,
}

impl<'p> Copied<'p> {
    /// `instance` is the program with two copies of each thread that may have any number.
    pub fn new(
        program: &'p Program,
        instance: &'p Program,
        (model, criterion): (Model, Criterion),
        locations: palisade_certificate::Locations,
    ) -> Self {
        let machine = Sc::new(instance);
        let mut places = vec![Vec::new(); program.threads.len()];
        for (place, running) in machine.code().instances.iter().enumerate() {
            places[running.thread.index()].push(place);
        }
        let mut copied = Copied {
            program,
            criterion,
            patterns: Patterns::new(machine, criterion, locations),
            counted: None,
            places,
            shared: Numbered::new(),
            copies: Numbered::new(),
            changes: Numbered::new(),
            ideals: HashMap::new(),
            minimal: HashMap::new(),
        };
        if criterion == Criterion::Robust {
            let places = copied.places.iter().enumerate();
            let any = places.filter(|(thread, _)| copied.is_any(*thread));
            let two = any.map(|(thread, places)| (thread, [places[0], places[1]]));
            let (fixed, two) = (copied.fixed(), two.collect());
            let machine = Sc::new(instance);
            copied.counted = Some(match model {
                Model::Ra => Box::new(Listeners::new(Monitors::new(machine, false), fixed, two)),
                _ => Box::new(Helpers::new(Attacks::new(machine, false), fixed, two)),
            });
        }
        copied
    }

    fn machine(&self) -> &Sc<'p> {
        self.patterns.machine()
    }

    fn is_any(&self, thread: usize) -> bool {
        self.program.threads[thread].copies == Copies::Any
    }

    /// The places of threads that are there once, in the order of the text.
    fn fixed(&self) -> Vec<usize> {
        (0..self.places.len())
            .filter(|&thread| !self.is_any(thread))
            .flat_map(|thread| self.places[thread].iter().copied())
            .collect()
    }

    /// Reads the certificate, and judges it. How many ideals and minimal states it has.
    pub fn judge<R: BufRead>(mut self, mut reader: Reader<R>) -> Result<u64, Rejected> {
        let mut numbers = Vec::new();
        let mut count = 0;
        while let Some(bytes) = reader.next_state()? {
            count += 1;
            let read = decode(bytes, &mut numbers).and_then(|()| self.take(&numbers));
            if read.is_none() {
                return Err(invalid(format!("set {count} is none of this program")));
            }
        }
        self.begins_well()?;
        let rules = self.rules()?;
        self.comes_from_above(&rules)?;
        self.violates_above()?;
        Ok(count)
    }

    /// An ideal or a minimal state.
    fn take(&mut self, numbers: &[i64]) -> Option<()> {
        let (&kind, rest) = numbers.split_first()?;
        let width = match &self.counted {
            Some(counted) => counted.shared(rest)?,
            None => self.is_shared(rest)?,
        };
        let (shared, mut rest) = rest.split_at_checked(width)?;
        let mut counts = Counts::new();
        while let [thread, point, behind @ ..] = rest {
            let thread = usize::try_from(*thread).ok()?;
            if thread >= self.places.len() || !self.is_any(thread) {
                return None;
            }
            let point = self.point(thread, *point)?;
            let registers = self.program.threads[thread].registers.len();
            let more = match &self.counted {
                Some(counted) => counted.more(thread, point, behind.get(registers..)?)?,
                None => 0,
            };
            let (registers, behind) = behind.split_at_checked(registers + more)?;
            let (&count, behind) = behind.split_first()?;
            let copy = self.copies.number((thread, point, registers.to_vec()));
            let count = match (kind, count) {
                (0, 0) => MANY,
                (_, 1..) => count,
                _ => return None,
            };
            if counts.insert(copy, count).is_some() {
                return None;
            }
            rest = behind;
        }
        if !rest.is_empty() {
            return None;
        }
        let shared = self.shared.number(shared.to_vec());
        let sets = match kind {
            0 => &mut self.ideals,
            1 => &mut self.minimal,
            _ => return None,
        };
        sets.entry(shared).or_default().push(counts);
        Some(())
    }

    /// How many of these numbers are a shared part: whether a copy is inside `atomic`, where threads stand, and the memory.
    fn is_shared(&self, numbers: &[i64]) -> Option<usize> {
        let mut standing = numbers.get(1..)?;
        for place in self.fixed() {
            let (&point, behind) = standing.split_first()?;
            self.point(self.thread_of(place), point)?;
            standing = behind.get(self.machine().code().thread(place).registers.len()..)?;
        }
        let behind = standing.get(self.program.locations.len()..)?;
        Some(numbers.len() - behind.len())
    }

    fn thread_of(&self, place: usize) -> usize {
        self.machine().code().instances[place].thread.index()
    }

    fn point(&self, thread: usize, point: i64) -> Option<PointId> {
        let code = &self.program.threads[thread];
        let point = PointId(u32::try_from(point).ok()?);
        (point.index() < code.points.len() && code.behind_jumps(point) == point).then_some(point)
    }

    /// The state of the instance with these copies, and all others stopped.
    fn state(&self, shared: &[i64], chosen: &[usize]) -> State {
        let code = self.machine().code();
        let mut locals = code.initial_locals();
        for local in &mut locals {
            local.stopped = true;
        }
        let mut rest = &shared[1..];
        for place in self.fixed() {
            let registers = code.thread(place).registers.len();
            locals[place] = Local {
                point: PointId(rest[0] as u32),
                registers: rest[1..=registers].to_vec(),
                stopped: false,
            };
            rest = &rest[1 + registers..];
        }
        let mut next = vec![0; self.places.len()];
        for &copy in chosen {
            let (thread, point, registers) = &self.copies.things[copy];
            locals[self.places[*thread][next[*thread]]] = Local {
                point: *point,
                registers: registers.clone(),
                stopped: false,
            };
            next[*thread] += 1;
        }
        let memory = rest.to_vec();
        State { locals, memory }
    }

    /// The shared part of a state.
    fn shared_of(&self, state: &State, inside: bool) -> Vec<i64> {
        let mut numbers = vec![i64::from(inside)];
        for place in self.fixed() {
            numbers.push(state.locals[place].point.0.into());
            numbers.extend_from_slice(&state.locals[place].registers);
        }
        numbers.extend_from_slice(&state.memory);
        numbers
    }

    fn in_block(&self, copy: usize) -> bool {
        let (thread, point, _) = &self.copies.things[copy];
        self.program.threads[*thread].points[point.index()].atomic
    }

    /// The steps of a copy, or of the threads that are there once: shared part and copy behind them. `None` where a step is an error and errors matter.
    fn steps(&self, shared: usize, mover: Option<usize>) -> Option<Vec<Move>> {
        let numbers = &self.shared.things[shared];
        if let Some(counted) = &self.counted {
            return Some(counted.steps(numbers, mover.map(|copy| &self.copies.things[copy])));
        }
        let inside = numbers[0] != 0;
        let chosen: Vec<usize> = mover.into_iter().collect();
        let state = self.state(numbers, &chosen);
        let code = self.machine().code();
        let holder = self
            .fixed()
            .into_iter()
            .find(|&place| code.in_block(place, &state.locals[place]));
        let movers: Vec<usize> = match mover {
            Some(copy) if holder.is_some() || inside != self.in_block(copy) => Vec::new(),
            Some(copy) => vec![self.places[self.copies.things[copy].0][0]],
            None if inside => Vec::new(),
            None => match holder {
                Some(place) => vec![place],
                None => self.fixed(),
            },
        };
        let mut found = Vec::new();
        for place in movers {
            for (step, after) in self.machine().unhindered_steps_of(&state, place) {
                if let StepKind::Error(_) = step.kind {
                    if self.criterion == Criterion::Safe {
                        return None;
                    }
                    // A thread that stands before an error can do no less than one that the error has stopped.
                    continue;
                }
                let to = mover.map(|copy| {
                    let local = &after.locals[place];
                    let thread = self.copies.things[copy].0;
                    (thread, local.point, local.registers.clone())
                });
                let inside = to.as_ref().is_some_and(|(thread, point, _)| {
                    self.program.threads[*thread].points[point.index()].atomic
                });
                found.push(Move {
                    shared: self.shared_of(&after, inside),
                    to,
                    change: None,
                });
            }
        }
        Some(found)
    }

    /// Whether some ideal has all these copies.
    fn is_in_ideals(&self, shared: usize, copies: &Counts) -> bool {
        self.ideals.get(&shared).is_some_and(|ideals| {
            ideals.iter().any(|ideal| {
                copies
                    .iter()
                    .all(|(copy, count)| ideal.get(copy).is_some_and(|most| most >= count))
            })
        })
    }

    /// Whether some minimal state has no more than these copies.
    fn is_above(&self, shared: usize, copies: &Counts) -> bool {
        self.minimal.get(&shared).is_some_and(|minimal| {
            minimal.iter().any(|least| {
                least
                    .iter()
                    .all(|(copy, count)| copies.get(copy).is_some_and(|many| many >= count))
            })
        })
    }

    /// The shared part and the copies at the beginning.
    fn initial(&self) -> (Vec<i64>, Vec<Copy>) {
        let initial = self.machine().initial();
        let any = (0..self.places.len()).filter(|&thread| self.is_any(thread));
        let copy = |thread: usize| {
            let local = &initial.locals[self.places[thread][0]];
            (thread, local.point, local.registers.clone())
        };
        (self.shared_of(&initial, false), any.map(copy).collect())
    }

    fn begins_well(&mut self) -> Result<(), Rejected> {
        let (shared, beginning) = match &self.counted {
            Some(counted) => counted.initial(),
            None => self.initial(),
        };
        let shared = self.shared.number(shared);
        let mut copies = Counts::new();
        for copy in beginning {
            copies.insert(self.copies.number(copy), MANY);
        }
        if !self.is_in_ideals(shared, &copies) {
            return Err(invalid("the beginning is missing"));
        }
        if self.is_above(shared, &copies) {
            return Err(invalid("the beginning is above a minimal state"));
        }
        Ok(())
    }

    /// All steps from ideals, after it is clear that they lead into ideals.
    fn rules(&mut self) -> Result<Vec<Rule>, Rejected> {
        let mut rules = Vec::new();
        let mut all: Vec<usize> = self.ideals.keys().copied().collect();
        all.sort_unstable();
        for shared in all {
            let ideals = self.ideals[&shared].clone();
            let mut copies: Vec<usize> = ideals.iter().flat_map(|i| i.keys().copied()).collect();
            copies.sort_unstable();
            copies.dedup();
            for mover in std::iter::once(None).chain(copies.into_iter().map(Some)) {
                let Some(steps) = self.steps(shared, mover) else {
                    let least: Counts = mover.map(|copy| (copy, 1)).into_iter().collect();
                    if !self.is_above(shared, &least) {
                        return Err(invalid("an error of the program is above no minimal state"));
                    }
                    continue;
                };
                for Move {
                    shared: behind,
                    to,
                    change,
                } in steps
                {
                    let behind = self.shared.number(behind);
                    let to = to.map(|copy| self.copies.number(copy));
                    let change = change.map(|change| self.changes.number(change));
                    for ideal in &ideals {
                        let mut after = ideal.clone();
                        if let Some(mover) = mover {
                            match after.get_mut(&mover) {
                                None => continue,
                                Some(&mut MANY) => {}
                                Some(1) => {
                                    after.remove(&mover);
                                }
                                Some(count) => *count -= 1,
                            }
                        }
                        if let Some(change) = change {
                            let before = std::mem::take(&mut after);
                            for (copy, count) in before {
                                let copy = self.changed(change, copy);
                                let sum = after.entry(copy).or_insert(0);
                                *sum = sum.saturating_add(count);
                            }
                        }
                        if let Some(to) = to {
                            let count = after.entry(to).or_insert(0);
                            *count = count.saturating_add(1);
                        }
                        if !self.is_in_ideals(behind, &after) {
                            return Err(invalid("a step leads out of the ideals"));
                        }
                    }
                    rules.push(Rule {
                        from: shared,
                        mover,
                        behind,
                        to,
                        change,
                    });
                }
            }
        }
        Ok(rules)
    }

    /// What becomes of a copy.
    fn changed(&mut self, change: usize, copy: usize) -> usize {
        let changed = match &self.counted {
            Some(counted) => {
                counted.changed(&self.changes.things[change], &self.copies.things[copy])
            }
            None => return copy,
        };
        self.copies.number(changed)
    }

    /// What leads above a minimal state is above one.
    fn comes_from_above(&mut self, rules: &[Rule]) -> Result<(), Rejected> {
        // What each copy may have been before each change.
        let mut in_ideals: Vec<usize> = Vec::new();
        for ideal in self.ideals.values().flatten() {
            in_ideals.extend(ideal.keys());
        }
        in_ideals.sort_unstable();
        in_ideals.dedup();
        let mut origins: HashMap<(usize, usize), Vec<usize>> = HashMap::new();
        for change in 0..self.changes.things.len() {
            for &copy in &in_ideals {
                let changed = self.changed(change, copy);
                origins.entry((change, changed)).or_default().push(copy);
            }
        }
        for rule in rules {
            for least in self.minimal.get(&rule.behind).into_iter().flatten() {
                let mut rest = least.clone();
                if let Some(to) = rule.to
                    && let Some(count) = rest.get_mut(&to)
                {
                    *count -= 1;
                    if *count == 0 {
                        rest.remove(&to);
                    }
                }
                let mut moved = Counts::new();
                moved.extend(rule.mover.map(|mover| (mover, 1)));
                for before in self.before(rule, rest, moved, &origins)? {
                    if self.is_in_ideals(rule.from, &before) && !self.is_above(rule.from, &before) {
                        return Err(invalid(
                            "a step from above no minimal state leads above one",
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// All that a step makes these copies of, beside what it moves.
    fn before(
        &self,
        rule: &Rule,
        copies: Counts,
        moved: Counts,
        origins: &HashMap<(usize, usize), Vec<usize>>,
    ) -> Result<Vec<Counts>, Rejected> {
        let mut all = vec![moved];
        for (copy, count) in copies {
            let origins = match rule.change {
                Some(change) => origins.get(&(change, copy)).map_or(&[][..], |o| o),
                None => &[copy],
            };
            if let [only] = origins {
                for before in &mut all {
                    let sum = before.entry(*only).or_insert(0);
                    *sum = sum.saturating_add(count);
                }
                continue;
            }
            for _ in 0..count {
                let mut more = BTreeSet::new();
                for before in &all {
                    for &origin in origins {
                        let mut before = before.clone();
                        *before.entry(origin).or_insert(0) += 1;
                        // What is not there with fewer is not there with more.
                        if self.is_in_ideals(rule.from, &before) {
                            more.insert(before);
                        }
                    }
                }
                if more.len() > MOST_ORIGINS {
                    return Err(Rejected::Unusable(
                        "there are too many ways to become a minimal state".to_owned(),
                    ));
                }
                all = more.into_iter().collect();
                if all.is_empty() {
                    return Ok(all);
                }
            }
        }
        Ok(all)
    }

    /// Whatever violates is above a minimal state.
    fn violates_above(&self) -> Result<(), Rejected> {
        for (&shared, ideals) in &self.ideals {
            let mut copies: Vec<usize> = ideals.iter().flat_map(|i| i.keys().copied()).collect();
            copies.sort_unstable();
            copies.dedup();
            match (&self.counted, self.criterion) {
                (Some(counted), _) => {
                    let all: Vec<&Copy> = copies.iter().map(|&c| &self.copies.things[c]).collect();
                    counted.violations(&self.shared.things[shared], &all, &mut |chosen| {
                        let chosen: Vec<usize> = chosen.iter().map(|&at| copies[at]).collect();
                        self.must_be_above(shared, &chosen)
                    })?;
                }
                (None, Criterion::Safe) => self.nevers_are_above(shared, &copies)?,
                _ => self.patterns_are_above(shared, &copies)?,
            }
        }
        Ok(())
    }

    fn must_be_above(&self, shared: usize, chosen: &[usize]) -> Result<(), Rejected> {
        let mut counts = Counts::new();
        for &copy in chosen {
            *counts.entry(copy).or_insert(0) += 1;
        }
        match self.is_in_ideals(shared, &counts) && !self.is_above(shared, &counts) {
            true => Err(invalid("a violation is above no minimal state")),
            false => Ok(()),
        }
    }

    /// Patterns of one or two threads.
    fn patterns_are_above(&self, shared: usize, copies: &[usize]) -> Result<(), Rejected> {
        let numbers = &self.shared.things[shared];
        let check = |chosen: &[usize]| -> Result<(), Rejected> {
            // A thread inside `atomic` keeps all others out; without it, the state would look as if they could move.
            let inside = chosen.iter().any(|&copy| self.in_block(copy));
            if numbers[0] != 0 && !(inside && self.criterion == Criterion::Drf) {
                return Ok(());
            }
            let found = self.patterns.pattern(&self.state(numbers, chosen));
            match found.map_err(invalid)? {
                true => self.must_be_above(shared, chosen),
                false => Ok(()),
            }
        };
        check(&[])?;
        for &one in copies {
            check(&[one])?;
        }
        for (at, &one) in copies.iter().enumerate() {
            for &two in &copies[at..] {
                if self.may_meet(one, two) {
                    check(&[one, two])?;
                }
            }
        }
        Ok(())
    }

    /// Whether two copies can be the two of a pattern: each has an access, and one of them a write (or a block) before it; behind one, the rest is that of single copies.
    fn may_meet(&self, one: usize, two: usize) -> bool {
        let writes = |copy: usize| {
            let (thread, point, _) = &self.copies.things[copy];
            let mut next = self.program.threads[*thread].outgoing(*point).iter();
            next.any(|t| {
                let op = &t.op;
                matches!(op, Op::Store { .. } | Op::Rmw { .. } | Op::AtomicBegin)
            })
        };
        match self.criterion {
            Criterion::Drf => writes(one) || writes(two),
            _ => writes(one) && writes(two),
        }
    }

    fn nevers_are_above(&self, shared: usize, copies: &[usize]) -> Result<(), Rejected> {
        let state = self.state(&self.shared.things[shared], &[]);
        let choices = Choices {
            program: self.program,
            code: self.machine().code(),
            places: &self.places,
        };
        let all: Vec<&Copy> = copies.iter().map(|&c| &self.copies.things[c]).collect();
        choices.for_each(&state, &all, &mut |chosen| {
            let chosen: Vec<usize> = chosen.iter().map(|&at| copies[at]).collect();
            self.must_be_above(shared, &chosen)
        })
    }
}
