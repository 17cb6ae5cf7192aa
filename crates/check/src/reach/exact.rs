//! Walks with the buffers as they are: exact up to a length, and as sets beyond it.
//!
//! 1. **Buffers of bounded length**, k = 1, 2, 4, … Exactly k stores fit into a buffer. What is found is found. If no buffer was
//!    ever full, this was all there is: unreachable. Where the text bounds the buffers itself, k need not be larger than that.
//! 2. **Buffers beyond that as sets**: the pending stores without their order and number, and the newest value of each location.
//!    There are more such runs than real ones, so what they do not reach is unreachable; for finite data there are finitely many states. If they reach
//!    it, the next k shows whether that is real.

use std::sync::atomic::Ordering::Relaxed;

use palisade_explore::{Finding, Outcome};
use palisade_lang::Program;
use palisade_memory::{Event, EventKind, Pattern, PatternKind, Witness};
use palisade_threads::{ActionKind, LocalId};

use super::bounded::most_pending_stores;
use super::buffers::{Beyond, Buffers};
use super::walk::{ERROR, FLUSH, TsoSpace};
use super::{Context, Round};
use crate::note::{How, Note};
use crate::run::{event_at, name_copies};
use crate::safe::never_in_words;
use crate::sc::StepLabel;
use crate::search::search;
use crate::state::Frame;
use crate::waiting::is_deadlock;
use crate::{Answer, Criterion, Model, Options, Reductions, Verdict};

/// Walks with longer and longer buffers.
pub(crate) struct Exact<'p> {
    frame: Frame<'p>,
    /// How many stores fit into a buffer in the next round.
    bound: usize,
    /// How many can ever be pending, if the text tells.
    most: Option<usize>,
    /// Whether to walk with sets as well.
    with_sets: bool,
}

impl<'p> Exact<'p> {
    /// Begins with buffers of one store, and has sets for what does not fit.
    pub fn new(context: &Context<'p, '_>) -> Self {
        Exact {
            frame: Frame::new(context.program, &context.options.reductions),
            bound: 1,
            most: most_pending_stores(context.program),
            with_sets: true,
        }
    }

    /// Begins, and ends, with buffers in which everything fits that the text can put into them; `None` if there is no such length.
    pub fn bounded(context: &Context<'p, '_>) -> Option<Self> {
        let exact = Exact::new(context);
        Some(Exact {
            bound: exact.most?.max(1),
            with_sets: false,
            ..exact
        })
    }

    /// One length.
    pub fn round(&mut self, context: &mut Context<'p, '_>) -> Round {
        let bound = match self.most {
            Some(most) => self.bound.min(most.max(1)),
            None => self.bound,
        };
        for beyond in [Beyond::Refuse, Beyond::Forget] {
            if beyond == Beyond::Forget && !self.with_sets {
                break;
            }
            let buffers = Buffers::new(bound, beyond);
            let space = TsoSpace {
                frame: &self.frame,
                buffers: &buffers,
                moving: None,
                bound_met: Default::default(),
            };
            let (outcome, mut answer) = search(&space, &context.remaining(), context.control);
            context.add(&answer);
            if let Verdict::Unknown(reason) = &answer.verdict {
                let reason = format!("{reason} with buffers of up to {bound} stores");
                answer.verdict = Verdict::Unknown(reason);
                return Round::Decided(answer);
            }
            let met = space.bound_met.load(Relaxed);
            let found = !outcome.findings.is_empty();
            match (beyond, found) {
                (Beyond::Refuse, true) => {
                    answer.verdict = Verdict::Violated;
                    answer.witnesses =
                        witnesses(context.program, &space, &outcome, context.options.all);
                    return Round::Decided(answer);
                }
                (Beyond::Refuse, false) if !met => {
                    answer.notes.push(Note::How(How::ShortBuffers { bound }));
                    return Round::Decided(answer);
                }
                (Beyond::Forget, false) => {
                    answer
                        .notes
                        .push(Note::How(How::UnorderedBuffers { bound }));
                    return Round::Decided(answer);
                }
                _ => {}
            }
        }
        self.bound *= 2;
        Round::Undecided
    }
}

/// How many stores fit into a buffer where two threads move, one length after the other.
const BOUNDS_OF_TWO: [usize; 2] = [2, 8];

/// How many states are looked at for two threads and a length, and for all of them.
const STATES_OF_TWO: u64 = 1 << 17;
const STATES_OF_ALL_PAIRS: u64 = 1 << 21;

/// What goes wrong while two threads move and all others stay where they begin, if that is found in a few states. A run in which a thread is not scheduled is one
/// of the program, too, so what is found is real; and there are far fewer of them.
pub(super) fn wrong_with_two(context: &mut Context<'_, '_>) -> Option<Answer> {
    // The two that move are not interchangeable with those that do not.
    let reductions = Reductions {
        symmetry: false,
        ..context.options.reductions
    };
    let frame = Frame::new(context.program, &reductions);
    let threads = frame.thread_count();
    let mut left = STATES_OF_ALL_PAIRS;
    for bound in BOUNDS_OF_TWO {
        for one in 0..threads {
            for other in one + 1..threads {
                let buffers = Buffers::new(bound, Beyond::Refuse);
                let space = TsoSpace {
                    frame: &frame,
                    buffers: &buffers,
                    moving: Some([one, other]),
                    bound_met: Default::default(),
                };
                let options = context.remaining();
                let options = Options {
                    most_states: Some(left.min(STATES_OF_TWO)),
                    ..options
                };
                let (outcome, mut answer) = search(&space, &options, context.control);
                context.add(&answer);
                left = left.saturating_sub(answer.stats.states);
                if !outcome.findings.is_empty() {
                    answer.verdict = Verdict::Violated;
                    answer.witnesses = witnesses(context.program, &space, &outcome, false);
                    return Some(answer);
                }
                if left == 0 {
                    return None;
                }
            }
        }
    }
    None
}

fn witnesses(
    program: &Program,
    space: &TsoSpace<'_, '_>,
    outcome: &Outcome,
    all: bool,
) -> Vec<Witness> {
    let most = if all { usize::MAX } else { 1 };
    outcome
        .findings
        .iter()
        .take(most)
        .map(|finding| witness(program, space, finding))
        .collect()
}

/// The TSO run that leads to a finding.
pub(super) fn witness(program: &Program, space: &TsoSpace<'_, '_>, finding: &Finding) -> Witness {
    let frame = space.frame;
    let mut worker = space.new_worker();
    let names: Vec<String> = program.instances().into_iter().map(|i| i.name).collect();
    let mut events: Vec<Event> = Vec::new();
    // Which running thread stands in which component, and its issued stores that are still pending (as events).
    let mut instance_at: Vec<usize> = (0..frame.thread_count()).collect();
    let mut pending: Vec<std::collections::VecDeque<usize>> =
        vec![Default::default(); frame.thread_count()];
    let mut error = None;
    let steps = finding.path.iter().zip(
        finding
            .path
            .iter()
            .skip(1)
            .map(|step| (step.label, Some(step.row)))
            .chain(finding.step.map(|label| (label, None))),
    );
    for (before, (label, after)) in steps {
        let row = before.row;
        let label = StepLabel::decode(label);
        let instance = instance_at[label.component];
        let (code, local) = (frame.codes[label.component], LocalId(row[label.component]));
        if label.action == FLUSH {
            if let Some(issue) = pending[instance].pop_front() {
                let event = Event {
                    kind: EventKind::Flush,
                    issue: Some(issue),
                    ..events[issue].clone()
                };
                events.push(event);
            }
        } else {
            let taken = worker.view.action(code, local, label.action);
            let atomic = worker.view.is_atomic(code, local);
            let done = space.execute(
                &mut worker.view,
                &mut worker.buffers,
                row,
                label.component,
                taken.kind,
            );
            let kind = match taken.kind {
                ActionKind::Local => None,
                ActionKind::Error(what) => {
                    error = Some(what);
                    after.is_none().then_some(EventKind::Local)
                }
                ActionKind::AtomicBegin | ActionKind::AtomicEnd => Some(EventKind::Local),
                ActionKind::Load { .. } | ActionKind::Wait { .. } => Some(EventKind::Load),
                ActionKind::Store { .. } if atomic => Some(EventKind::Store),
                ActionKind::Store { .. } => Some(EventKind::Issue),
                ActionKind::Rmw { .. } => match &done {
                    Ok(Some(done)) if done.access.written.is_none() => Some(EventKind::Load),
                    _ => Some(EventKind::Rmw),
                },
                ActionKind::Fence(_) => Some(EventKind::Fence),
            };
            if let Some(kind) = kind {
                let location = taken.kind.location();
                let mut event =
                    event_at(program, instance, taken.transition, kind, location, &names);
                match done {
                    Ok(Some(done)) => {
                        let written = done.access.written.map(|(_, value)| value);
                        let issued = done.issued.map(|store| store.value);
                        event.value = written.or(issued).or(done.access.read);
                        event.read = done.access.read.filter(|_| kind == EventKind::Rmw);
                    }
                    Ok(None) => {}
                    Err(what) => error = Some(what),
                }
                event.atomic = atomic;
                if kind == EventKind::Issue {
                    pending[instance].push_back(events.len());
                }
                events.push(event);
            }
        }
        if let Some(after) = after {
            follow(space, row, &label, after, &mut instance_at);
        }
    }
    let (kind, message) = if finding.kind & ERROR != 0 {
        let code = (finding.kind & !ERROR) >> 32;
        let transition = finding.kind as u32;
        let words = |e| program.error_in_words(code as usize, transition as usize, e);
        (PatternKind::Error, error.map_or_else(String::new, words))
    } else {
        let never = &program.nevers[finding.kind as usize];
        if let Some(last) = finding.path.last() {
            let mut row = last.row.to_vec();
            for (component, &instance) in instance_at.iter().enumerate() {
                row[instance] = last.row[component];
            }
            // All buffers are empty here, so a deadlock under TSO is one under SC.
            let deadlock = is_deadlock(frame, &mut worker.view, &row);
            let new = name_copies(frame, &mut worker.view, &row, never, deadlock);
            for event in &mut events {
                if let Some(old) = names.iter().position(|name| *name == event.thread) {
                    event.thread = names[new[old]].clone();
                }
            }
        }
        (PatternKind::Never, never_in_words(program, never))
    };
    let last = events.len().checked_sub(1);
    Witness {
        model: Model::Tso,
        criterion: Criterion::Safe,
        events,
        cycle: Vec::new(),
        edges: Vec::new(),
        pattern: Some(Pattern {
            kind,
            events: last.into_iter().collect(),
            message,
        }),
        loop_start: None,
        copies: None,
    }
}

/// After a step, finds out which thread stands where in the sorted row.
pub(super) fn follow(
    space: &TsoSpace<'_, '_>,
    before: &[u32],
    label: &StepLabel,
    after: &[u32],
    instance_at: &mut [usize],
) {
    let frame = space.frame;
    let Some(group) = frame.group_of[label.component] else {
        return;
    };
    let group = &frame.groups[group];
    let of = |row: &[u32], i: usize| (row[i], row[space.buffer_component(i)]);
    // The new state of the thread that moved is the one that the others do not account for.
    let mut left: Vec<(u32, u32)> = group.iter().map(|&i| of(after, i)).collect();
    for &i in group.iter().filter(|&&i| i != label.component) {
        if let Some(at) = left.iter().position(|&s| s == of(before, i)) {
            left.remove(at);
        }
    }
    let moved = left.first().copied().unwrap_or(of(before, label.component));
    let mut members: Vec<((u32, u32), usize)> = group
        .iter()
        .map(|&i| {
            let state = if i == label.component {
                moved
            } else {
                of(before, i)
            };
            (state, instance_at[i])
        })
        .collect();
    members.sort_unstable();
    for (&component, member) in group.iter().zip(members) {
        instance_at[component] = member.1;
    }
}
