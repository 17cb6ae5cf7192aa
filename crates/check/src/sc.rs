//! Sequential consistency: every access takes effect at once, on one memory.

use std::cmp::Ordering;
use std::sync::atomic::AtomicBool;

use palisade_explore::{Names, Space, Successors};
use palisade_lang::{LocationId, Program, ProgramError, Value};
use palisade_threads::{
    ActionKind, Effect, Flags, Footprint, LocalId, OtherStep, Standing, Step, View,
};

use crate::checkpoint::{Kept, keep_flags, recall_flags};
use crate::names::RowNames;
use crate::state::{Frame, Standings};
use crate::symmetry::Symmetry;
use crate::waiting::is_deadlock;

/// What one step did to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The value read, where one was read.
    pub read: Option<Value>,
    /// The location and the value written, where one was written.
    pub written: Option<(LocationId, Value)>,
}

/// What an action does in a memory; `None` where it has to wait. An error of the program can still come from a read-modify-write's arithmetic.
pub fn execute(
    frame: &Frame<'_>,
    view: &mut View<'_>,
    row: &[u32],
    kind: ActionKind,
) -> Result<Option<Access>, ProgramError> {
    let mut read_at = |location| view.value(row[frame.component(location)]);
    let mut access = Access {
        read: None,
        written: None,
    };
    match kind {
        ActionKind::Load { location, .. } => access.read = Some(read_at(location)),
        ActionKind::Store {
            location, value, ..
        } => access.written = Some((location, value)),
        ActionKind::Wait {
            location,
            relation,
            value,
            ..
        } => {
            let found = read_at(location);
            if !relation.holds(found, value) {
                return Ok(None);
            }
            access.read = Some(found);
        }
        ActionKind::Rmw {
            location, update, ..
        } => {
            let found = read_at(location);
            access.read = Some(found);
            match update.effect(frame.program().domain, found)? {
                Effect::Blocks => return Ok(None),
                Effect::Fails => {}
                Effect::Writes(value) => access.written = Some((location, value)),
            }
        }
        ActionKind::Local
        | ActionKind::Error(_)
        | ActionKind::Fence(_)
        | ActionKind::AtomicBegin
        | ActionKind::AtomicEnd => {}
    }
    Ok(Some(access))
}

/// A state, and what is known about it.
#[derive(Clone, Copy, Debug)]
pub struct Observed<'a> {
    /// The state.
    pub row: &'a [u32],
    /// How each running thread stands.
    pub standings: &'a Standings,
    /// No thread can move and not all have ended.
    pub deadlock: bool,
}

/// What is looked for in each state.
pub trait Observer: Sync {
    /// Looks at a state while it is expanded.
    fn observe(
        &self,
        frame: &Frame<'_>,
        view: &mut View<'_>,
        state: Observed<'_>,
        out: &mut Successors<'_>,
    );

    /// A step that is an error of the program.
    fn error(&self, code: usize, transition: u32, label: u64, out: &mut Successors<'_>);

    /// Locations whose stores may change what the observer sees, folded to 64 bits.
    fn watched_writes(&self) -> u64;

    /// Whether the kinds of what it reports are numbers of locations. Otherwise they speak neither of threads nor of locations.
    fn reports_locations(&self) -> bool {
        false
    }

    /// What it remembers to have noticed, beside what it reports.
    fn noticed(&self) -> Vec<&AtomicBool> {
        Vec::new()
    }
}

/// The states of a program under SC, with something that looks at each.
pub struct ScSpace<'f, 'p, O> {
    /// The program.
    pub frame: &'f Frame<'p>,
    /// What is looked for.
    pub observer: O,
    /// Explore independent accesses in one order only.
    pub partial_order: bool,
}

/// A step's label: which running thread, which of its actions, which of the outcomes of the local steps behind it.
/// The control point comes first, because that is the same however local states are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepLabel {
    /// The component of the thread in the row.
    pub component: usize,
    /// Which of its actions.
    pub action: usize,
    /// Which of the successors.
    pub outcome: usize,
}

impl StepLabel {
    const OUTCOME_BITS: u32 = 14;
    const ACTION_BITS: u32 = 12;
    const COMPONENT_BITS: u32 = 12;

    /// Packs the label; `point` is only there to order labels.
    #[inline]
    pub fn encode(self, point: u32) -> u64 {
        let point = u64::from(point) & ((1 << 26) - 1);
        (point << Self::COMPONENT_BITS | self.component as u64)
            << (Self::ACTION_BITS + Self::OUTCOME_BITS)
            | (self.action as u64) << Self::OUTCOME_BITS
            | self.outcome as u64
    }

    /// What a label with this action has more than one with the first.
    #[inline]
    pub fn of_action(action: usize) -> u64 {
        (action as u64) << Self::OUTCOME_BITS
    }

    /// Unpacks a label.
    pub fn decode(label: u64) -> Self {
        let mask = |bits: u32| (1u64 << bits) - 1;
        StepLabel {
            component: (label >> (Self::ACTION_BITS + Self::OUTCOME_BITS)
                & mask(Self::COMPONENT_BITS)) as usize,
            action: (label >> Self::OUTCOME_BITS & mask(Self::ACTION_BITS)) as usize,
            outcome: (label & mask(Self::OUTCOME_BITS)) as usize,
        }
    }

    /// The label of the same step of a thread in another component.
    pub fn moved(label: u64, component: usize) -> u64 {
        let shift = Self::ACTION_BITS + Self::OUTCOME_BITS;
        let mask = ((1 << Self::COMPONENT_BITS) - 1) << shift;
        label & !mask | (component as u64) << shift
    }

    /// What is only there to order labels.
    pub fn point(label: u64) -> u64 {
        label >> (Self::COMPONENT_BITS + Self::ACTION_BITS + Self::OUTCOME_BITS)
    }

    /// Whether a program is small enough for labels: how many threads, choices per point and outcomes per step there may be.
    pub const MOST_THREADS: usize = 1 << Self::COMPONENT_BITS;
}

/// What a searching thread carries along.
pub struct ScWorker<'t> {
    view: View<'t>,
    changes: Vec<(usize, u32)>,
    standings: Standings,
}

impl<O: Observer> ScSpace<'_, '_, O> {
    fn threads_to_explore(&self, view: &mut View<'_>, row: &[u32], standings: &Standings) -> u64 {
        if !self.partial_order {
            return u64::MAX;
        }
        let watched = self.observer.watched_writes() | self.frame.never_reads;
        let codes = &self.frame.codes;
        persistent_set(self.frame, view, row, standings, |view, instance| {
            let footprints = view.footprints_from(codes[instance], &standings.each[instance]);
            footprints.next.writes & watched == 0
        })
    }

    /// The steps of one thread, whose standing is known.
    #[inline(always)]
    fn explore(
        &self,
        worker: &mut ScWorker<'_>,
        row: &[u32],
        instance: usize,
        out: &mut Successors<'_>,
    ) {
        let frame = self.frame;
        let ScWorker {
            view,
            changes,
            standings,
        } = worker;
        let standing = &standings.each[instance];
        let (code, local) = (frame.codes[instance], LocalId(row[instance]));
        let group = frame.group_of[instance].map(|group| &frame.groups[group][..]);
        // Two interchangeable threads in the same local state do the same.
        if group.is_some_and(|group| instance > group[0] && row[instance] == row[instance - 1]) {
            return;
        }
        let labels = StepLabel {
            component: instance,
            action: 0,
            outcome: 0,
        };
        let labels = labels.encode(standing.point().map_or(0, |p| p.0));
        for action in 0..standing.actions as usize {
            let label = labels | StepLabel::of_action(action);
            let read = |location| row[frame.component(location)];
            let step = view.step_from(code, local, standing, action, read);
            if standing.may_err() {
                self.report_error(view, code, standing, action, step, label, out);
            }
            match step {
                Step::Waits => continue,
                Step::To(next) => match group {
                    None => out.patch(label, &[(instance, next.0)]),
                    Some(group) => {
                        changes.clear();
                        patch_group(row, group, instance, next.0, changes, label, out);
                    }
                },
                Step::Other(number) => match view.other_step(code, number) {
                    OtherStep::Writes(written, next) => {
                        let written = (frame.component(written.location), written.value);
                        match group {
                            None => out.patch(label, &[(instance, next.0), written]),
                            Some(group) => {
                                changes.clear();
                                changes.push(written);
                                patch_group(row, group, instance, next.0, changes, label, out);
                            }
                        }
                    }
                    OtherStep::Branches(written, nexts) => {
                        let written = written.map(|w| (frame.component(w.location), w.value));
                        let nexts = view.nexts(code, nexts);
                        patch_branches(row, group, instance, nexts, written, changes, label, out);
                    }
                    OtherStep::Errs => {}
                },
            }
        }
    }

    /// Reports an action that is an error, or becomes one with what it reads.
    #[cold]
    #[allow(clippy::too_many_arguments)]
    fn report_error(
        &self,
        view: &View<'_>,
        code: usize,
        standing: &Standing,
        action: usize,
        step: Step,
        label: u64,
        out: &mut Successors<'_>,
    ) {
        let taken = view.action_from(code, standing, action);
        let errs = match step {
            Step::Other(number) if view.other_step(code, number) == OtherStep::Errs => true,
            _ => matches!(taken.kind, ActionKind::Error(_)),
        };
        if errs {
            self.observer.error(code, taken.transition, label, out);
        }
    }
}

/// A step that leads a thread to one of several local states.
#[cold]
#[allow(clippy::too_many_arguments)]
fn patch_branches(
    row: &[u32],
    group: Option<&[usize]>,
    instance: usize,
    nexts: &[LocalId],
    written: Option<(usize, u32)>,
    changes: &mut Vec<(usize, u32)>,
    label: u64,
    out: &mut Successors<'_>,
) {
    let group = group.unwrap_or(std::slice::from_ref(&instance));
    for (outcome, next) in nexts.iter().enumerate() {
        changes.clear();
        changes.extend(written);
        let label = label | outcome as u64;
        patch_group(row, group, instance, next.0, changes, label, out);
    }
}

/// Beside what changes already, one thread of a group of interchangeable ones goes to another local state, and the group stays in ascending order: those
/// between its old and its new place make room.
#[inline(never)]
pub(crate) fn patch_group(
    row: &[u32],
    group: &[usize],
    instance: usize,
    next: u32,
    changes: &mut Vec<(usize, u32)>,
    label: u64,
    out: &mut Successors<'_>,
) {
    let (first, end) = (group[0], group[0] + group.len());
    let mut at = instance;
    while at + 1 < end && row[at + 1] < next {
        changes.push((at, row[at + 1]));
        at += 1;
    }
    while at > first && row[at - 1] > next {
        changes.push((at, row[at - 1]));
        at -= 1;
    }
    changes.push((at, next));
    out.patch(label, changes);
}

/// The running threads whose steps have to be explored in this state: all of them, or a persistent set.
///
/// A set of threads is persistent if no thread outside it may ever access, in conflict, what a thread inside it accesses next.
/// A smaller set is used only if its steps are invisible (to a `never`, and as far as `invisible` says), and if none of them goes back
/// in the code: then every cycle of the reduced graph has a state in which all threads are explored, and no thread is put off for ever.
pub(crate) fn persistent_set(
    frame: &Frame<'_>,
    view: &mut View<'_>,
    row: &[u32],
    standings: &Standings,
    mut invisible: impl FnMut(&mut View<'_>, usize) -> bool,
) -> u64 {
    // A set with a thread whose next step meets all others is the set of all.
    let worth_a_thought = match standings.all.has(Flags::ACTS) {
        true => Flags::REDUCIBLE_AMONG_ALL,
        false => Flags::MAY_BE_REDUCED,
    };
    if standings.each.len() >= 64 || !standings.one.has(worth_a_thought) {
        return u64::MAX;
    }
    let running = standings.which(Flags::ACTS);
    let mut reducible = standings.which(worth_a_thought) & running;
    for instance in bits(reducible) {
        if !invisible(view, instance) {
            reducible &= !(1 << instance);
        }
    }
    let footprints = |view: &View<'_>, instance: usize| {
        *view.footprints_from(frame.codes[instance], &standings.each[instance])
    };
    // A thread that may be in conflict with one that cannot be reduced cannot be reduced either: nearly always that decides.
    let mut barred = Footprint::default();
    for instance in bits(running & !reducible) {
        barred = barred.union(footprints(view, instance).future);
    }
    let mut best = running;
    let mut best_first = 0;
    let mut candidates = reducible;
    'candidates: while candidates != 0 {
        let first = candidates.trailing_zeros() as usize;
        candidates &= candidates - 1;
        let mut set = 1u64 << first;
        let mut work = set;
        while work != 0 {
            let member = work.trailing_zeros() as usize;
            work &= work - 1;
            let next = footprints(view, member).next;
            if next.conflicts(barred) {
                continue 'candidates;
            }
            let mut outside = reducible & !set;
            while outside != 0 {
                let other = outside.trailing_zeros() as usize;
                outside &= outside - 1;
                if next.conflicts(footprints(view, other).future) {
                    set |= 1 << other;
                    work |= 1 << other;
                }
            }
        }
        let better = match set.count_ones().cmp(&best.count_ones()) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => best != running && comes_first(frame, row, first, best_first),
        };
        // Asked last, because it costs most.
        if better && can_move(frame, view, row, first) {
            best = set;
            best_first = first;
        }
    }
    best
}

/// The numbers of the bits that are set.
fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (bit < u64::BITS).then_some(bit as usize)
    })
}

/// Whether a thread can take a step, as far as memory is concerned.
fn can_move(frame: &Frame<'_>, view: &mut View<'_>, row: &[u32], instance: usize) -> bool {
    let (code, local) = (frame.codes[instance], LocalId(row[instance]));
    (0..view.actions(code, local)).any(|action| {
        let kind = view.action(code, local, action).kind;
        !matches!(execute(frame, view, row, kind), Ok(None))
    })
}

/// Breaks ties between sets of the same size by what the threads are, because the order of interchangeable threads in a row depends on when
/// their local states were found.
fn comes_first(frame: &Frame<'_>, row: &[u32], a: usize, b: usize) -> bool {
    match (frame.group_of[a], frame.group_of[b]) {
        (Some(x), Some(y)) if x == y => {
            frame
                .threads
                .compare_locals(frame.codes[a], LocalId(row[a]), LocalId(row[b]))
                == Ordering::Less
        }
        _ => frame.codes[a] < frame.codes[b],
    }
}

impl<O: Observer> Kept for ScSpace<'_, '_, O> {
    fn program(&self) -> &Program {
        self.frame.program()
    }

    fn keep(&self, out: &mut Vec<i64>) {
        keep_flags(&self.observer.noticed(), out);
        self.frame.threads.keep_numbers(out);
    }

    fn recall(&self, numbers: &mut dyn Iterator<Item = i64>) -> Option<()> {
        recall_flags(&self.observer.noticed(), numbers)?;
        self.frame.threads.recall_numbers(numbers)
    }

    fn doubt(&self) -> Option<&'static str> {
        self.frame.doubt()
    }

    fn symmetry(&self) -> Option<Symmetry<'_, '_>> {
        let mut symmetry = Symmetry::new(self.frame, &[])?;
        symmetry.kinds_are_locations = self.observer.reports_locations();
        Some(symmetry)
    }
}

impl<'f, O: Observer> Space for ScSpace<'f, '_, O> {
    type Worker = ScWorker<'f>;

    fn worker(&self) -> ScWorker<'f> {
        ScWorker {
            view: self.frame.threads.view(),
            changes: Vec::new(),
            standings: Standings::default(),
        }
    }

    fn width(&self) -> usize {
        self.frame.width()
    }

    fn bounds(&self) -> Option<Vec<u32>> {
        Some(self.frame.bounds())
    }

    fn names(&self) -> Option<Box<dyn Names + '_>> {
        Some(Box::new(RowNames::new(self.frame, self.observer.noticed())))
    }

    fn initial(&self, worker: &mut ScWorker<'f>, out: &mut Successors<'_>) {
        for row in self.frame.initial_rows(&mut worker.view) {
            out.push(0, &row);
        }
    }

    fn expand(&self, worker: &mut ScWorker<'f>, row: &[u32], out: &mut Successors<'_>) {
        let frame = self.frame;
        let view = &mut worker.view;
        view.begin_state();
        frame.standings(view, row, &mut worker.standings);
        let standings = &worker.standings;
        let atomic = match standings.one.has(Flags::ATOMIC) {
            true => standings.each.iter().position(|standing| standing.atomic()),
            false => None,
        };
        match atomic {
            Some(only) => self.explore(worker, row, only, out),
            None => {
                let set = self.threads_to_explore(view, row, standings);
                for instance in 0..row.len().min(frame.codes.len()) {
                    if set >> (instance % 64) & 1 == 1 {
                        self.explore(worker, row, instance, out);
                    }
                }
            }
        }
        let (view, standings) = (&mut worker.view, &worker.standings);
        let deadlock = is_deadlock(frame, view, row);
        let state = Observed {
            row,
            standings,
            deadlock,
        };
        self.observer.observe(frame, view, state, out);
    }

    fn compare(&self, a: &[u32], b: &[u32]) -> Ordering {
        self.frame.compare(a, b)
    }

    fn compare_steps(&self, row: &[u32], a: u64, b: u64) -> Ordering {
        // Threads in the same local state do the same.
        self.frame.compare_steps(row, a, b, |_, _| Ordering::Equal)
    }

    fn may_lead(&self, from: &[u32], to: &[u32]) -> bool {
        self.frame.may_lead(from, to)
    }
}
