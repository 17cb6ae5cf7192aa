//! How a global state is laid out as a row, and what can be read off it.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use palisade_lang::never::{for_distinct_copies, mentions_deadlock};
use palisade_lang::{
    Address, BinaryOp, CopyRef, Expr, LabelRef, LocationId, Never, PointId, Program, ProgramError,
    RegisterId, StateAtom, Value,
};
use palisade_threads::{
    Flags, LocalId, Named, Settings, Standing, Status, Threads, View, visit_state_atoms,
};

use crate::sc::{Observed, StepLabel};
use crate::symmetry::MOST_MEMBERS;
use crate::waiting::UNSURE;
use crate::{Options, Reductions};

/// How the running threads stand, one by one and at a glance.
#[derive(Debug)]
pub struct Standings {
    /// One by one.
    pub each: Vec<Standing>,
    /// What is true of one of them.
    pub one: Flags,
    /// What is true of all of them.
    pub all: Flags,
}

impl Default for Standings {
    /// Of no threads.
    fn default() -> Self {
        Standings {
            each: Vec::new(),
            one: Flags::NONE,
            all: Flags::ALL,
        }
    }
}

impl Standings {
    /// Those of which this is true, a bit for each: of use up to 64 threads; of more, some share a bit.
    pub fn which(&self, flag: Flags) -> u64 {
        if !self.one.has(flag) {
            return 0;
        }
        let bit = |(instance, standing): (usize, &Standing)| {
            u64::from(standing.flags().has(flag)) << (instance % 64)
        };
        self.each.iter().enumerate().map(bit).fold(0, |a, b| a | b)
    }
}

/// The part of a search that every model shares: the threads' automata, the layout of a row, symmetry, and the `never`s.
///
/// A row is one component for each running thread (its [`LocalId`]), then one for each location (the number of its value); models that
/// keep more put it behind these.
#[derive(Debug)]
pub struct Frame<'p> {
    /// The automata.
    pub threads: Threads<'p>,
    /// For each running thread the index of its code.
    pub codes: Vec<usize>,
    /// Groups of interchangeable running threads, each in ascending order; empty where symmetry is off.
    pub groups: Vec<Vec<usize>>,
    /// For each running thread the group that it belongs to.
    pub group_of: Vec<Option<usize>>,
    /// The `never`s, made symmetric where threads are interchangeable.
    pub nevers: Vec<Never>,
    /// For each condition of each `never` the running threads (the first 64) that must be at a label for it to be true.
    needs_at: Vec<Vec<u64>>,
    /// There is no condition that needs none.
    all_need_labels: bool,
    /// Locations that some `never` reads, folded to 64 bits as in `Footprint`.
    pub never_reads: u64,
    /// Some `never` speaks of `deadlock`.
    pub asks_deadlock: bool,
    /// For each code, point and register, where a `never` speaks of `deadlock`: whether its value matters there.
    matters: Vec<Vec<Vec<bool>>>,
    /// Somewhere it was not found out whether there is a deadlock.
    pub unsure_of_deadlock: AtomicBool,
    /// For each code, for each label, the points behind jumps.
    labels: Vec<Vec<Vec<PointId>>>,
    /// Copies that are interchangeable though their numbers are values. Where there are some, there are no `groups`: see [`crate::symmetry`].
    pub named: Option<Named>,
}

impl<'p> Frame<'p> {
    /// Analyses a program whose number of threads is known.
    pub fn new(program: &'p Program, reductions: &Reductions) -> Self {
        let settings = Settings {
            local_steps: reductions.local_steps,
            dead_registers: reductions.dead_registers,
        };
        let threads = Threads::new(program, settings);
        let codes: Vec<usize> = threads
            .instances()
            .iter()
            .map(|i| i.thread.index())
            .collect();
        let groups = if reductions.symmetry {
            threads.interchangeable()
        } else {
            Vec::new()
        };
        let mut group_of = vec![None; codes.len()];
        let mut chosen_freely = vec![None; program.threads.len()];
        for (index, group) in groups.iter().enumerate() {
            for &instance in group {
                group_of[instance] = Some(index);
                chosen_freely[codes[instance]] = Some(group.len() as u32);
            }
        }
        let nevers = for_distinct_copies(&program.nevers, &chosen_freely);
        let mut never_reads = 0;
        for never in &nevers {
            visit_state_atoms(&never.conditions, &mut |atom| {
                if let StateAtom::Memory(address) = atom {
                    never_reads |= match &**address {
                        Address::Direct(location) => palisade_threads::Footprint::bit(*location),
                        _ => u64::MAX,
                    };
                }
            });
        }
        let labels = program
            .threads
            .iter()
            .map(|thread| {
                thread
                    .labels
                    .iter()
                    .map(|label| {
                        label
                            .points
                            .iter()
                            .map(|&p| thread.behind_jumps(p))
                            .collect()
                    })
                    .collect()
            })
            .collect();
        let asks_deadlock = mentions_deadlock(program);
        let mut frame = Frame {
            threads,
            codes,
            groups,
            group_of,
            nevers,
            needs_at: Vec::new(),
            all_need_labels: false,
            never_reads,
            asks_deadlock,
            matters: match asks_deadlock {
                true => palisade_memory::Code::new(program)
                    .live_registers()
                    .to_vec(),
                false => Vec::new(),
            },
            unsure_of_deadlock: AtomicBool::new(false),
            labels,
            named: None,
        };
        frame.needs_at = (frame.nevers.iter())
            .map(|never| {
                let conditions = never.conditions.iter();
                conditions.map(|c| frame.threads_at_labels(c)).collect()
            })
            .collect();
        frame.all_need_labels = frame.needs_at.iter().flatten().all(|&needed| needed != 0);
        frame
    }

    /// The same, for a space that tells what its rows hold: copies may be interchangeable though their code uses `me`.
    pub fn with_named(program: &'p Program, reductions: &Reductions) -> Self {
        let frame = Frame::new(program, reductions);
        if !reductions.symmetry {
            return frame;
        }
        let fits = |named: &Named| named.groups.iter().all(|g| g.copies.len() <= MOST_MEMBERS);
        match frame.threads.named().filter(fits) {
            None => frame,
            named => {
                let reductions = Reductions {
                    symmetry: false,
                    ..*reductions
                };
                Frame {
                    named,
                    ..Frame::new(program, &reductions)
                }
            }
        }
    }

    /// For one violation it does not matter whose it is; where all are wanted, it does.
    pub fn for_search(program: &'p Program, options: &Options) -> Self {
        match options.all {
            true => Frame::new(program, &options.reductions),
            false => Frame::with_named(program, &options.reductions),
        }
    }

    /// The running threads (of the first 64) that must be at some label for the condition to be true.
    fn threads_at_labels(&self, condition: &Expr<StateAtom>) -> u64 {
        let mut needed = 0;
        let mut conjuncts = vec![condition];
        while let Some(conjunct) = conjuncts.pop() {
            match conjunct {
                Expr::Binary(BinaryOp::And, left, right) => conjuncts.extend([&**left, &**right]),
                Expr::Atom(StateAtom::At(copy, _)) => {
                    let mut matching = self.matching_instances(*copy);
                    if let (Some(only), None) = (matching.next(), matching.next())
                        && only < 64
                    {
                        needed |= 1 << only;
                    }
                }
                _ => {}
            }
        }
        needed
    }

    /// Calls `found` with the number of each `never` that is true in a row.
    pub fn true_nevers(
        &self,
        view: &mut View<'_>,
        state: Observed<'_>,
        mut found: impl FnMut(usize),
    ) {
        if self.nevers.is_empty() {
            return;
        }
        // Most states are far from what is forbidden: a glance at where the threads stand dismisses them.
        let at_labels = state.standings.which(Flags::MENTIONED);
        if at_labels == 0 && self.all_need_labels {
            return;
        }
        for (index, (needs_at, never)) in self.needs_at.iter().zip(&self.nevers).enumerate() {
            let is_true = (needs_at.iter().zip(&never.conditions)).any(|(needed, condition)| {
                needed & !at_labels == 0 && self.holds(view, state.row, condition, state.deadlock)
            });
            if is_true {
                found(index);
            }
        }
    }

    /// The same, where it does not matter which of several threads does something: neighbouring threads with the same code, though they are
    /// declared one by one, are interchangeable like copies. Only for programs without a `never`, which could tell them apart.
    pub fn with_equal_threads(program: &'p Program, reductions: &Reductions) -> Self {
        let mut frame = Frame::new(program, reductions);
        if !reductions.symmetry || !program.nevers.is_empty() {
            return frame;
        }
        let mut model = 0;
        let mut stands_for: Vec<usize> = Vec::new();
        for (index, thread) in program.threads.iter().enumerate() {
            if !same_code(&program.threads[model], thread) {
                model = index;
            }
            stands_for.push(model);
        }
        for code in &mut frame.codes {
            *code = stands_for[*code];
        }
        frame.groups.clear();
        let mut first = 0;
        while first < frame.codes.len() {
            let code = frame.codes[first];
            let members = frame.codes[first..].iter().take_while(|c| **c == code);
            let end = first + members.count();
            if program.threads[code].me.is_none() && end - first > 1 {
                for instance in first..end {
                    frame.group_of[instance] = Some(frame.groups.len());
                }
                frame.groups.push((first..end).collect());
            }
            first = end;
        }
        frame
    }

    /// The same, where it does not matter which thread does something either: copies that are interchangeable though their code uses `me`, or, where there are none, equal threads.
    pub fn with_named_or_equal(program: &'p Program, reductions: &Reductions) -> Self {
        let frame = Frame::with_named(program, reductions);
        match frame.named {
            Some(_) => frame,
            None => Frame::with_equal_threads(program, reductions),
        }
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.threads.program()
    }

    /// How many running threads there are.
    pub fn thread_count(&self) -> usize {
        self.codes.len()
    }

    /// How many components the threads and the memory take.
    pub fn width(&self) -> usize {
        self.codes.len() + self.program().locations.len()
    }

    /// For each component of a row, a number that its numbers are below.
    pub fn bounds(&self) -> Vec<u32> {
        let locals = self
            .codes
            .iter()
            .map(|&code| self.threads.local_count(code));
        let values = self.program().locations.iter();
        let values = values.map(|_| self.threads.value_count());
        locals.chain(values).collect()
    }

    /// The component of a location.
    #[inline]
    pub fn component(&self, location: LocationId) -> usize {
        self.codes.len() + location.index()
    }

    /// The rows at the beginning (several where a thread begins with a choice), in canonical form.
    pub fn initial_rows(&self, view: &mut View<'_>) -> Vec<Vec<u32>> {
        let mut rows: Vec<Vec<u32>> = vec![Vec::with_capacity(self.width())];
        for instance in 0..self.codes.len() {
            let copy = self.threads.instances()[instance].copy;
            let starts = view.initial_of_copy(self.codes[instance], copy);
            rows = rows
                .iter()
                .flat_map(|row| {
                    starts.iter().map(|start| {
                        let mut longer = row.clone();
                        longer.push(start.0);
                        longer
                    })
                })
                .collect();
        }
        let program = self.program();
        for row in &mut rows {
            for location in &program.locations {
                row.push(view.value_id(program.domain.reduce(location.initial)));
            }
            self.sort_groups(row);
        }
        rows.sort();
        rows.dedup();
        rows
    }

    /// Puts interchangeable threads into ascending order of their local states.
    #[inline]
    pub fn sort_groups(&self, row: &mut [u32]) {
        for group in &self.groups {
            // The members of a group are neighbours: copies of one code.
            row[group[0]..group[0] + group.len()].sort_unstable();
        }
    }

    /// How the running threads stand.
    #[inline]
    pub fn standings(&self, view: &mut View<'_>, row: &[u32], standings: &mut Standings) {
        let (mut one, mut all) = (Flags::NONE, Flags::ALL);
        if standings.each.len() != self.codes.len() {
            let place = Standing::default();
            standings.each.resize(self.codes.len(), place);
        }
        for ((&code, &local), place) in self.codes.iter().zip(row).zip(&mut standings.each) {
            let standing = view.standing(code, LocalId(local));
            one = one.or(standing.flags());
            all = all.and(standing.flags());
            *place = standing;
        }
        standings.one = one;
        standings.all = all;
    }

    /// The thread that is inside `atomic`, if there is one: only it moves.
    #[inline]
    pub fn atomic_thread(&self, view: &mut View<'_>, row: &[u32]) -> Option<usize> {
        (0..self.codes.len()).find(|&i| view.is_atomic(self.codes[i], LocalId(row[i])))
    }

    /// Whether a step under SC may lead from one row to another, as far as memory tells: it writes at most one location.
    pub fn may_lead(&self, from: &[u32], to: &[u32]) -> bool {
        let memory = self.codes.len()..self.width();
        let both = from[memory.clone()].iter().zip(&to[memory]);
        both.filter(|(from, to)| from != to).count() <= 1
    }

    /// An order of rows by what they mean, for the threads' and the memory's components.
    pub fn compare(&self, a: &[u32], b: &[u32]) -> Ordering {
        let mut at = 0;
        while at < self.codes.len() {
            let code = self.codes[at];
            let by_content =
                |x: &u32, y: &u32| self.threads.compare_locals(code, LocalId(*x), LocalId(*y));
            let length = self.group_of[at].map_or(1, |group| self.groups[group].len());
            if a[at..at + length] == b[at..at + length] {
                at += length;
                continue;
            }
            let mut left = a[at..at + length].to_vec();
            let mut right = b[at..at + length].to_vec();
            left.sort_by(by_content);
            right.sort_by(by_content);
            for (x, y) in left.iter().zip(&right) {
                match by_content(x, y) {
                    Ordering::Equal => {}
                    other => return other,
                }
            }
            at += length;
        }
        for component in self.codes.len()..self.width() {
            if a[component] != b[component] {
                return self
                    .threads
                    .value(a[component])
                    .cmp(&self.threads.value(b[component]));
            }
        }
        Ordering::Equal
    }

    /// An order of the labels of steps from a row by what they mean: where interchangeable threads stand in a row depends on when their local states were found.
    /// `tell_apart` is asked about components of threads in the same local state.
    pub fn compare_steps(
        &self,
        row: &[u32],
        a: u64,
        b: u64,
        tell_apart: impl Fn(usize, usize) -> Ordering,
    ) -> Ordering {
        let (x, y) = (StepLabel::decode(a), StepLabel::decode(b));
        let (i, j) = (x.component, y.component);
        let group = self.group_of.get(i).copied().flatten();
        if i == j || group.is_none() || group != self.group_of.get(j).copied().flatten() {
            return a.cmp(&b);
        }
        let locals = || {
            let (left, right) = (LocalId(row[i]), LocalId(row[j]));
            self.threads.compare_locals(self.codes[i], left, right)
        };
        StepLabel::point(a)
            .cmp(&StepLabel::point(b))
            .then_with(locals)
            .then_with(|| tell_apart(i, j))
            .then_with(|| a.cmp(&b))
    }

    /// Gives interchangeable threads in the same state, which stand beside each other, their components in the order of the threads, so that it does not
    /// depend on the way there.
    pub fn settle_ties(&self, instance_at: &mut [usize], are_alike: impl Fn(usize, usize) -> bool) {
        for group in &self.groups {
            let mut first = group[0];
            let end = first + group.len();
            for at in first + 1..=end {
                if at == end || !are_alike(at - 1, at) {
                    instance_at[first..at].sort_unstable();
                    first = at;
                }
            }
        }
    }

    /// Whether two local states differ in nothing that matters, where a `never` speaks of `deadlock`.
    pub fn is_same_place(&self, view: &mut View<'_>, code: usize, a: LocalId, b: LocalId) -> bool {
        if a == b {
            return true;
        }
        let Some(point) = view.point(code, a) else {
            return false;
        };
        if view.point(code, b) != Some(point) {
            return false;
        }
        let matters = self.matters[code][point.index()].iter().enumerate();
        let mut matters = matters.filter(|(_, matters)| **matters);
        matters.all(|(register, _)| {
            let register = RegisterId(register as u32);
            view.register(code, a, register) == view.register(code, b, register)
        })
    }

    /// Why a state that was not said to be a violation may be one all the same.
    pub fn doubt(&self) -> Option<&'static str> {
        self.unsure_of_deadlock.load(Relaxed).then_some(UNSURE)
    }

    /// Whether a `never` is true in a row. `deadlock` is what the caller knows about it.
    pub fn is_true(&self, view: &mut View<'_>, row: &[u32], never: &Never, deadlock: bool) -> bool {
        let mut conditions = never.conditions.iter();
        conditions.any(|condition| self.holds(view, row, condition, deadlock))
    }

    /// Evaluates a condition on states. One that runs into an error (an index out of range, say) is not true.
    fn holds(
        &self,
        view: &mut View<'_>,
        row: &[u32],
        condition: &Expr<StateAtom>,
        deadlock: bool,
    ) -> bool {
        self.evaluate(view, row, condition, deadlock)
            .is_ok_and(|value| value != 0)
    }

    fn evaluate(
        &self,
        view: &mut View<'_>,
        row: &[u32],
        condition: &Expr<StateAtom>,
        deadlock: bool,
    ) -> Result<Value, ProgramError> {
        let domain = self.program().domain;
        condition.eval(domain, &mut |atom| match atom {
            StateAtom::Deadlock => Ok(Value::from(deadlock)),
            StateAtom::At(copy, label) => {
                let at = self
                    .matching_instances(*copy)
                    .any(|i| self.is_at(view, i, LocalId(row[i]), *label));
                Ok(Value::from(at))
            }
            StateAtom::Register(copy, register) => {
                let instance = self.matching_instances(*copy).next();
                Ok(instance.map_or(0, |i| {
                    view.register(self.codes[i], LocalId(row[i]), *register)
                }))
            }
            StateAtom::Memory(address) => {
                let location = address.locate(self.program(), |expr| {
                    self.evaluate(view, row, expr, deadlock)
                })?;
                Ok(view.value(row[self.component(location)]))
            }
        })
    }

    pub(crate) fn matching_instances(&self, copy: CopyRef) -> impl Iterator<Item = usize> + '_ {
        self.threads
            .instances()
            .iter()
            .enumerate()
            .filter(move |(_, i)| i.thread == copy.thread && copy.copy.is_none_or(|c| c == i.copy))
            .map(|(index, _)| index)
    }

    fn is_at(&self, view: &mut View<'_>, instance: usize, local: LocalId, label: LabelRef) -> bool {
        self.stands_at(view, self.codes[instance], local, label)
    }

    /// Whether a thread with this code that is there is about to execute the labelled statement.
    pub(crate) fn stands_at(
        &self,
        view: &mut View<'_>,
        code: usize,
        local: LocalId,
        label: LabelRef,
    ) -> bool {
        match label {
            LabelRef::End => view.status(code, local) == Status::Ended,
            LabelRef::Label(label) => view
                .point(code, local)
                .is_some_and(|point| self.labels[code][label.index()].contains(&point)),
        }
    }
}

/// Whether two threads run the same instructions, whatever they are called.
pub(crate) fn same_code(a: &palisade_lang::Thread, b: &palisade_lang::Thread) -> bool {
    a.me.is_none()
        && b.me.is_none()
        && a.initial == b.initial
        && a.registers.len() == b.registers.len()
        && a.points.len() == b.points.len()
        && a.transitions.len() == b.transitions.len()
        && a.points
            .iter()
            .zip(&b.points)
            .all(|(x, y)| x.atomic == y.atomic)
        && a.transitions
            .iter()
            .zip(&b.transitions)
            .all(|(x, y)| x.from == y.from && x.to == y.to && x.op == y.op)
}
