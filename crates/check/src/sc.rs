//! Sequential consistency: every access takes effect at once, on one memory.

use std::cmp::Ordering;
use std::sync::atomic::AtomicBool;

use palisade_explore::{Space, Successors};
use palisade_lang::{LocationId, Program, ProgramError, Value};
use palisade_threads::{ActionKind, Effect, Footprint, LocalId, Status, View};

use crate::checkpoint::{Kept, keep_flags, recall_flags};
use crate::state::Frame;

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

/// What is looked for in each state.
pub trait Observer: Sync {
    /// Looks at a state before it is expanded. `deadlock`: no thread can move and not all have ended.
    fn observe(
        &self,
        frame: &Frame<'_>,
        view: &mut View<'_>,
        row: &[u32],
        deadlock: bool,
        out: &mut Successors<'_>,
    );

    /// A step that is an error of the program.
    fn error(&self, code: usize, transition: u32, label: u64, out: &mut Successors<'_>);

    /// Locations whose stores may change what the observer sees, folded to 64 bits.
    fn watched_writes(&self) -> u64;

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

    /// Whether a program is small enough for labels: how many threads, choices per point and outcomes per step there may be.
    pub const MOST_THREADS: usize = 1 << Self::COMPONENT_BITS;
}

/// What a searching thread carries along.
pub struct ScWorker<'t> {
    view: View<'t>,
    row: Vec<u32>,
}

impl<O: Observer> ScSpace<'_, '_, O> {
    fn threads_to_explore(&self, view: &mut View<'_>, row: &[u32]) -> u64 {
        if !self.partial_order {
            return u64::MAX;
        }
        let watched = self.observer.watched_writes() | self.frame.never_reads;
        persistent_set(self.frame, view, row, |view, instance| {
            let (code, local) = (self.frame.codes[instance], LocalId(row[instance]));
            view.next_footprint(code, local).writes & watched == 0
        })
    }
}

/// The running threads whose steps have to be explored in this state: all of them, or a persistent set.
///
/// A set of threads is persistent if no thread outside it may ever access, in conflict, what a thread inside it accesses next.
/// A smaller set is used only if its steps are invisible (to a `never`, and as far as `invisible` says), and if none of them goes back
/// in the code: then every cycle of the reduced graph has a state in which all threads are explored, and nobody is put off for ever.
pub(crate) fn persistent_set(
    frame: &Frame<'_>,
    view: &mut View<'_>,
    row: &[u32],
    mut invisible: impl FnMut(&mut View<'_>, usize) -> bool,
) -> u64 {
    let count = frame.thread_count();
    if count >= 64 {
        return u64::MAX;
    }
    let mut running = 0u64;
    let mut reducible = 0u64;
    let mut next = [Footprint::default(); 64];
    let mut future = [Footprint::default(); 64];
    for instance in 0..count {
        let (code, local) = (frame.codes[instance], LocalId(row[instance]));
        let standing = view.standing(code, local);
        if standing.actions == 0 {
            continue;
        }
        running |= 1 << instance;
        next[instance] = standing.next;
        future[instance] = standing.future;
        // A block that cannot be finished keeps all others out: entering it is never independent.
        let can_be_reduced = !standing.may_close_loop
            && !standing.visible
            && !standing.enters_block
            && invisible(view, instance);
        reducible |= u64::from(can_be_reduced) << instance;
    }
    let mut best = running;
    let mut best_first = 0;
    let mut candidates = reducible;
    while candidates != 0 {
        let first = candidates.trailing_zeros() as usize;
        candidates &= candidates - 1;
        let mut set = 1u64 << first;
        let mut work = set;
        while work != 0 {
            let member = work.trailing_zeros() as usize;
            work &= work - 1;
            let mut outside = running & !set;
            while outside != 0 {
                let other = outside.trailing_zeros() as usize;
                outside &= outside - 1;
                if next[member].conflicts(future[other]) {
                    set |= 1 << other;
                    work |= 1 << other;
                }
            }
        }
        if set & !reducible != 0 {
            continue;
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

/// Whether no thread can take a step and not all have ended.
pub fn is_deadlock(frame: &Frame<'_>, view: &mut View<'_>, row: &[u32]) -> bool {
    let all_ended = (0..frame.thread_count())
        .all(|i| view.status(frame.codes[i], LocalId(row[i])) == Status::Ended);
    if all_ended {
        return false;
    }
    let only = frame.atomic_thread(view, row);
    (0..frame.thread_count())
        .filter(|&i| only.is_none_or(|o| o == i))
        .all(|i| !can_move(frame, view, row, i))
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
}

impl<'f, O: Observer> Space for ScSpace<'f, '_, O> {
    type Worker = ScWorker<'f>;

    fn worker(&self) -> ScWorker<'f> {
        ScWorker {
            view: self.frame.threads.view(),
            row: Vec::new(),
        }
    }

    fn width(&self) -> usize {
        self.frame.width()
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
        let atomic = frame.atomic_thread(view, row);
        let set = match atomic {
            Some(_) => 0,
            None => self.threads_to_explore(view, row),
        };
        let mut moved = false;
        for instance in 0..frame.thread_count() {
            let chosen = match atomic {
                Some(only) => only == instance,
                None => set >> (instance % 64) & 1 == 1,
            };
            // Two interchangeable threads in the same local state do the same.
            let twin = frame.group_of[instance].is_some_and(|group| {
                instance > frame.groups[group][0] && row[instance] == row[instance - 1]
            });
            if !chosen || twin {
                continue;
            }
            let (code, local) = (frame.codes[instance], LocalId(row[instance]));
            let standing = *view.standing(code, local);
            let point = standing.point().map_or(0, |p| p.0);
            for action in 0..standing.actions as usize {
                let taken = view.action_from(code, &standing, action);
                let label = |outcome| {
                    StepLabel {
                        component: instance,
                        action,
                        outcome,
                    }
                    .encode(point)
                };
                let access = match execute(frame, view, row, taken.kind) {
                    Ok(Some(access)) => access,
                    Ok(None) => continue,
                    Err(_) => {
                        moved = true;
                        self.observer.error(code, taken.transition, label(0), out);
                        continue;
                    }
                };
                moved = true;
                if let ActionKind::Error(_) = taken.kind {
                    self.observer.error(code, taken.transition, label(0), out);
                }
                let written = access
                    .written
                    .map(|(location, value)| (frame.component(location), view.value_id(value)));
                let read = access.read.unwrap_or(0);
                let nexts = view.resume_from(code, local, &standing, action, read);
                for (outcome, next) in nexts.iter().enumerate() {
                    if frame.group_of[instance].is_some() {
                        worker.row.clear();
                        worker.row.extend_from_slice(row);
                        worker.row[instance] = next.0;
                        if let Some((component, value)) = written {
                            worker.row[component] = value;
                        }
                        frame.sort_group_of(&mut worker.row, instance);
                        out.push(label(outcome), &worker.row);
                    } else if let Some(written) = written {
                        out.patch(label(outcome), &[(instance, next.0), written]);
                    } else {
                        out.patch(label(outcome), &[(instance, next.0)]);
                    }
                }
            }
        }
        let deadlock = !moved && is_deadlock(frame, view, row);
        self.observer.observe(frame, view, row, deadlock, out);
    }

    fn compare(&self, a: &[u32], b: &[u32]) -> Ordering {
        self.frame.compare(a, b)
    }
}
