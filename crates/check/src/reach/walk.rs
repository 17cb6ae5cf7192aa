//! The states of a program under TSO, buffers and all.
//!
//! A row is that of SC (threads, memory) and behind it the number of each thread's buffer.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use palisade_explore::{Names, Numbers, Space, Successors};
use palisade_lang::{Order, Program, ProgramError, Value};
use palisade_threads::{ActionKind, Effect, LocalId, View};

use super::buffers::{Buffer, BufferView, Buffers, Pending};
use crate::checkpoint::{Kept, keep_flags, recall_flags};
use crate::names::RowNames;
use crate::sc::{Access, StepLabel};
use crate::state::Frame;
use crate::waiting::is_deadlock;

/// The kind of an error's finding: which instruction. A `never`'s kind is its number.
pub(crate) const ERROR: u64 = 1 << 63;

/// The action number that stands for "a store leaves the buffer".
pub(crate) const FLUSH: usize = 0xfff;

pub(crate) struct TsoSpace<'f, 'p> {
    pub frame: &'f Frame<'p>,
    pub buffers: &'f Buffers,
    /// Only these threads move, and the others stay where they begin; all, if nothing is said.
    pub moving: Option<[usize; 2]>,
    /// A buffer was full: there are runs that this space does not have, or has only inexactly.
    pub bound_met: AtomicBool,
}

pub(crate) struct TsoWorker<'t> {
    pub view: View<'t>,
    pub buffers: BufferView<'t>,
    row: Vec<u32>,
}

/// What a step does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TsoAccess {
    /// What is read, and written to memory at once.
    pub access: Access,
    /// The store that enters the buffer.
    pub issued: Option<Pending>,
}

impl<'f> TsoSpace<'f, '_> {
    /// The component of a thread's buffer.
    #[inline]
    pub fn buffer_component(&self, instance: usize) -> usize {
        self.frame.width() + instance
    }

    /// A worker of its own, for replaying paths.
    pub fn new_worker(&self) -> TsoWorker<'f> {
        TsoWorker {
            view: self.frame.threads.view(),
            buffers: BufferView::new(self.buffers),
            row: Vec::new(),
        }
    }

    /// What an action of a thread does; `None` where it has to wait.
    pub fn execute(
        &self,
        view: &mut View<'_>,
        buffers: &mut BufferView<'_>,
        row: &[u32],
        instance: usize,
        kind: ActionKind,
    ) -> Result<Option<TsoAccess>, ProgramError> {
        let frame = self.frame;
        let buffer = row[self.buffer_component(instance)];
        if buffers.drains(buffer) {
            return Ok(None);
        }
        let mut done = TsoAccess {
            access: Access {
                read: None,
                written: None,
            },
            issued: None,
        };
        let memory =
            |view: &mut View<'_>, location| -> Value { view.value(row[frame.component(location)]) };
        match kind {
            ActionKind::Local | ActionKind::Error(_) => {}
            ActionKind::Fence(order) => {
                if order == Order::SeqCst && buffer != 0 {
                    return Ok(None);
                }
            }
            ActionKind::AtomicBegin | ActionKind::AtomicEnd => {
                if buffer != 0 {
                    return Ok(None);
                }
            }
            ActionKind::Load { location, .. } => {
                let own = buffers.newest(buffer, location);
                done.access.read = Some(own.unwrap_or_else(|| memory(view, location)));
            }
            ActionKind::Wait {
                location,
                relation,
                value,
                ..
            } => {
                let own = buffers.newest(buffer, location);
                let found = own.unwrap_or_else(|| memory(view, location));
                if !relation.holds(found, value) {
                    return Ok(None);
                }
                done.access.read = Some(found);
            }
            ActionKind::Store {
                location,
                value,
                order,
            } => {
                let local = LocalId(row[instance]);
                if view.is_atomic(frame.codes[instance], local) {
                    done.access.written = Some((location, value));
                } else {
                    done.issued = Some(Pending {
                        location,
                        value,
                        drains: order == Order::SeqCst,
                    });
                }
            }
            ActionKind::Rmw {
                location, update, ..
            } => {
                if buffer != 0 {
                    return Ok(None);
                }
                let found = memory(view, location);
                done.access.read = Some(found);
                match update.effect(frame.program().domain, found)? {
                    Effect::Blocks => return Ok(None),
                    Effect::Fails => {}
                    Effect::Writes(value) => done.access.written = Some((location, value)),
                }
            }
        }
        Ok(Some(done))
    }

    /// Sorts interchangeable threads, each with its buffer.
    pub fn sort_group_of(&self, row: &mut [u32], instance: usize) {
        if let Some(group) = self.frame.group_of[instance] {
            let group = &self.frame.groups[group];
            let mut members: Vec<(u32, u32)> = group
                .iter()
                .map(|&i| (row[i], row[self.buffer_component(i)]))
                .collect();
            members.sort_unstable();
            for (&i, (local, buffer)) in group.iter().zip(members) {
                row[i] = local;
                row[self.buffer_component(i)] = buffer;
            }
        }
    }
}

impl Kept for TsoSpace<'_, '_> {
    fn program(&self) -> &Program {
        self.frame.program()
    }

    fn keep(&self, out: &mut Vec<i64>) {
        keep_flags(&[&self.bound_met], out);
        self.frame.threads.keep_numbers(out);
        self.buffers.keep_numbers(out);
    }

    fn recall(&self, numbers: &mut dyn Iterator<Item = i64>) -> Option<()> {
        recall_flags(&[&self.bound_met], numbers)?;
        self.frame.threads.recall_numbers(numbers)?;
        let locations = self.program().locations.len();
        self.buffers.recall_numbers(locations, numbers)
    }

    fn doubt(&self) -> Option<&'static str> {
        self.frame.doubt()
    }
}

impl<'f> Space for TsoSpace<'f, '_> {
    type Worker = TsoWorker<'f>;

    fn worker(&self) -> TsoWorker<'f> {
        self.new_worker()
    }

    fn width(&self) -> usize {
        self.frame.width() + self.frame.thread_count()
    }

    fn bounds(&self) -> Option<Vec<u32>> {
        let mut bounds = self.frame.bounds();
        bounds.resize(self.width(), self.buffers.count());
        Some(bounds)
    }

    fn names(&self) -> Option<Box<dyn Names + '_>> {
        let buffers = Numbers::Of(RowNames::buffers(self.frame));
        let names = RowNames::new(self.frame, vec![&self.bound_met])
            .then_for_each_thread(buffers)
            .with_buffers(self.buffers)
            .arranged_by(|row| {
                for group in &self.frame.groups {
                    self.sort_group_of(row, group[0]);
                }
            });
        Some(Box::new(names))
    }

    fn initial(&self, worker: &mut TsoWorker<'f>, out: &mut Successors<'_>) {
        for mut row in self.frame.initial_rows(&mut worker.view) {
            row.resize(self.width(), 0);
            out.push(0, &row);
        }
    }

    fn expand(&self, worker: &mut TsoWorker<'f>, row: &[u32], out: &mut Successors<'_>) {
        let frame = self.frame;
        let TsoWorker {
            view,
            buffers,
            row: next_row,
        } = worker;
        view.begin_state();
        let atomic = frame.atomic_thread(view, row);
        for instance in 0..frame.thread_count() {
            let rests = self.moving.is_some_and(|two| !two.contains(&instance));
            if rests || atomic.is_some_and(|only| only != instance) {
                continue;
            }
            let buffer_component = self.buffer_component(instance);
            // Two interchangeable threads in the same state do the same.
            let twin = frame.group_of[instance].is_some_and(|group| {
                instance > frame.groups[group][0]
                    && row[instance] == row[instance - 1]
                    && row[buffer_component] == row[buffer_component - 1]
            });
            if twin {
                continue;
            }
            let (code, local) = (frame.codes[instance], LocalId(row[instance]));
            let point = view.point(code, local).map_or(0, |p| p.0);
            let label = |action, outcome| {
                StepLabel {
                    component: instance,
                    action,
                    outcome,
                }
                .encode(point)
            };
            let mut emit = |out: &mut Successors<'_>, label: u64, changes: &[(usize, u32)]| {
                next_row.clear();
                next_row.extend_from_slice(row);
                for &(component, value) in changes {
                    next_row[component] = value;
                }
                self.sort_group_of(next_row, instance);
                out.push(label, next_row);
            };
            if row[buffer_component] != 0 {
                for (outcome, &(location, value, rest)) in
                    buffers.pops(row[buffer_component]).iter().enumerate()
                {
                    let written = (frame.component(location), view.value_id(value));
                    emit(
                        out,
                        label(FLUSH, outcome),
                        &[written, (buffer_component, rest)],
                    );
                }
            }
            for action in 0..view.actions(code, local) {
                let taken = view.action(code, local, action);
                let done = match self.execute(view, buffers, row, instance, taken.kind) {
                    Ok(Some(done)) => done,
                    Ok(None) => continue,
                    Err(_) => {
                        out_error(out, code, taken.transition, label(action, 0));
                        continue;
                    }
                };
                let buffer = match done.issued {
                    None => row[buffer_component],
                    Some(store) => match buffers.push(row[buffer_component], store) {
                        Some(buffer) => {
                            if matches!(*self.buffers.get(buffer), Buffer::Set { .. }) {
                                self.bound_met.store(true, Relaxed);
                            }
                            buffer
                        }
                        None => {
                            self.bound_met.store(true, Relaxed);
                            continue;
                        }
                    },
                };
                let written = done
                    .access
                    .written
                    .map(|(location, value)| (frame.component(location), view.value_id(value)));
                let nexts = view.resume(code, local, action, done.access.read.unwrap_or(0));
                for (outcome, next) in nexts.iter().enumerate() {
                    let changes = [
                        (instance, next.0),
                        (buffer_component, buffer),
                        written.unwrap_or((instance, next.0)),
                    ];
                    emit(out, label(action, outcome), &changes);
                }
            }
        }
        self.look_for_errors(view, buffers, row, out);
        let flushed = row[frame.width()..].iter().all(|&buffer| buffer == 0);
        if flushed {
            let deadlock = is_deadlock(frame, view, row);
            for (index, never) in frame.nevers.iter().enumerate() {
                if frame.is_true(view, row, never, deadlock) {
                    out.report(index as u64);
                }
            }
        }
    }

    fn compare_steps(&self, row: &[u32], a: u64, b: u64) -> Ordering {
        let buffer = |thread: usize| row[self.buffer_component(thread)];
        let tell_apart = |i, j| self.buffers.compare(buffer(i), buffer(j));
        self.frame.compare_steps(row, a, b, tell_apart)
    }

    fn compare(&self, a: &[u32], b: &[u32]) -> Ordering {
        let frame = self.frame;
        // Interchangeable threads are compared as a sorted list of pairs of local state and buffer.
        let mut at = 0;
        while at < frame.thread_count() {
            let length = frame.group_of[at].map_or(1, |group| frame.groups[group].len());
            let by_content = |x: &(u32, u32), y: &(u32, u32)| {
                frame
                    .threads
                    .compare_locals(frame.codes[at], LocalId(x.0), LocalId(y.0))
                    .then_with(|| self.buffers.compare(x.1, y.1))
            };
            let sorted = |row: &[u32]| {
                let mut members: Vec<(u32, u32)> = (at..at + length)
                    .map(|i| (row[i], row[self.buffer_component(i)]))
                    .collect();
                members.sort_by(by_content);
                members
            };
            for (x, y) in sorted(a).iter().zip(&sorted(b)) {
                match by_content(x, y) {
                    Ordering::Equal => {}
                    other => return other,
                }
            }
            at += length;
        }
        for component in frame.thread_count()..frame.width() {
            if a[component] != b[component] {
                let value = |row: &[u32]| frame.threads.value(row[component]);
                return value(a).cmp(&value(b));
            }
        }
        Ordering::Equal
    }
}

impl TsoSpace<'_, '_> {
    /// Threads that are about to run into an error of the program.
    fn look_for_errors(
        &self,
        view: &mut View<'_>,
        buffers: &mut BufferView<'_>,
        row: &[u32],
        out: &mut Successors<'_>,
    ) {
        let frame = self.frame;
        let atomic = frame.atomic_thread(view, row);
        for (instance, &code) in frame.codes.iter().enumerate() {
            // A thread that waits for its buffer does not come to the error yet.
            if atomic.is_some_and(|only| only != instance)
                || buffers.drains(row[self.buffer_component(instance)])
            {
                continue;
            }
            let local = LocalId(row[instance]);
            for action in 0..view.actions(code, local) {
                let taken = view.action(code, local, action);
                if let ActionKind::Error(_) = taken.kind {
                    let label = StepLabel {
                        component: instance,
                        action,
                        outcome: 0,
                    };
                    let point = view.point(code, local).map_or(0, |p| p.0);
                    out_error(out, code, taken.transition, label.encode(point));
                }
            }
        }
    }
}

fn out_error(out: &mut Successors<'_>, code: usize, transition: u32, label: u64) {
    out.report_step(label, ERROR | (code as u64) << 32 | u64::from(transition));
}
