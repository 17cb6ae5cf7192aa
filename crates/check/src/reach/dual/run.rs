//! From a chain of elements to the run under TSO that it stands for.
//!
//! The chain is a run with load buffers. Under TSO, a store leaves its store buffer where that run writes memory. Everything else that a thread does
//! happens as early as it can: a load from memory where its message was put into the load buffer, what needs an empty buffer where it stands, and all
//! other steps right behind the thread's step before them.

use palisade_explore::{Finding, Path};
use palisade_threads::LocalId;

use super::backward::{Backward, Before};
use super::messages::Message;
use super::overview::{Goal, Kind, Overview};
use crate::reach::buffers::{Beyond, Buffers};
use crate::reach::exact::follow;
use crate::reach::walk::{ERROR, FLUSH, TsoSpace, TsoWorker};
use crate::sc::StepLabel;
use crate::state::Frame;

/// A step under TSO.
#[derive(Clone, Copy, Debug)]
enum TsoStep {
    Executes {
        thread: usize,
        action: usize,
        /// Where the thread is afterwards.
        next: LocalId,
    },
    Flushes {
        thread: usize,
    },
}

/// The steps of a run, each with the moment at which it happens.
#[derive(Default)]
struct Schedule {
    steps: Vec<(usize, usize, TsoStep)>,
    now: usize,
    /// For each thread, when its last step happens under TSO.
    last: Vec<usize>,
    /// For each thread and message of its word, when the message was put there.
    times: Vec<Vec<usize>>,
}

/// The run from `first`, at which the program begins, as a path through the states with buffers; and those buffers. `None` would be a mistake in the search.
pub(super) fn run(
    frame: &Frame<'_>,
    overview: &Overview,
    search: &mut Backward,
    first: u32,
) -> Option<(Finding, Buffers)> {
    let (way, goal) = search.way(overview, first);
    let count = frame.thread_count();
    let mut schedule = Schedule {
        steps: Vec::new(),
        now: 0,
        last: vec![0; count],
        times: vec![Vec::new(); count],
    };
    // Which thread stands in which component.
    let mut instance_at: Vec<usize> = (0..count).collect();
    for pair in way.windows(2) {
        let before = step_between(frame, overview, search, pair[0], pair[1])?;
        let words: Vec<u32> = search.elements[pair[1] as usize].words.to_vec();
        let mut behind = vec![0; count];
        for (component, thread) in before.threads.iter().enumerate() {
            behind[thread.behind] = instance_at[component];
            // What memory offered, in its order.
            let more = search.words.len_of(thread.needed) - search.words.len_of(thread.word);
            for _ in 0..more {
                schedule.now += 1;
                schedule.times[instance_at[component]].push(schedule.now);
            }
        }
        let mover = before
            .threads
            .iter()
            .position(|t| t.behind == before.mover)?;
        let needed = search.words.get(before.threads[mover].needed);
        let left = search.words.get(words[before.mover]);
        schedule.take(overview, &before, instance_at[mover], &needed, &left);
        instance_at = behind;
    }
    schedule
        .steps
        .sort_by_key(|&(moment, order, _)| (moment, order));
    let error = match goal {
        Goal::Never(_) => None,
        Goal::Error { component, .. } => Some(instance_at[component]),
    };
    let buffers = Buffers::new(usize::MAX, Beyond::Refuse);
    let mut path = PathMaker::new(
        frame,
        &buffers,
        overview.row(search.elements[first as usize].node),
    );
    for &(_, _, step) in &schedule.steps {
        path.take(step)?;
    }
    let finding = path.finish(goal, error)?;
    Some((finding, buffers))
}

/// The step between two elements of a chain.
fn step_between(
    frame: &Frame<'_>,
    overview: &Overview,
    search: &mut Backward,
    from: u32,
    to: u32,
) -> Option<Before> {
    let behind = &search.elements[to as usize];
    let (node, words) = (behind.node, behind.words.clone());
    let all = search.all_before(frame, overview, node, &words);
    let element = &search.elements[from as usize];
    all.into_iter().find(|before| {
        let words = before.threads.iter().map(|thread| thread.word);
        before.edge.from == element.node && words.eq(element.words.iter().copied())
    })
}

impl Schedule {
    /// Takes a step of the run with load buffers: the thread's word was `needed` before it, and `left` is left of it behind it.
    fn take(
        &mut self,
        overview: &Overview,
        before: &Before,
        thread: usize,
        needed: &[Message],
        left: &[Message],
    ) {
        let edge = &before.edge;
        let times = &mut self.times[thread];
        let own_at = |location| {
            let own = |m: &Message| m.is_own() && overview.messages.location(*m) == location;
            needed.iter().position(own)
        };
        let mut flushed = None;
        match edge.kind {
            Kind::Ignores => {}
            Kind::NeedsEmpty => {
                self.now += 1;
                self.last[thread] = self.now;
                times.clear();
            }
            Kind::Reads(read) => {
                if own_at(overview.messages.location(read)).is_none()
                    && let Some(&offered) = times.first()
                {
                    self.last[thread] = offered;
                }
                times.drain(..needed.len() - left.len());
            }
            Kind::Writes(written) => {
                self.now += 1;
                flushed = Some(self.now);
                if let Some(older) = own_at(overview.messages.location(written)) {
                    times.remove(older);
                }
                times.push(self.now);
                if left.is_empty() {
                    times.clear();
                }
            }
        }
        let step = TsoStep::Executes {
            thread,
            action: edge.action as usize,
            next: edge.next,
        };
        self.steps.push((self.last[thread], self.steps.len(), step));
        if let Some(moment) = flushed {
            let step = TsoStep::Flushes { thread };
            self.steps.push((moment, self.steps.len(), step));
        }
    }
}

/// A path through the states with buffers, while it is being made.
struct PathMaker<'f, 'p> {
    space: TsoSpace<'f, 'p>,
    worker: TsoWorker<'f>,
    row: Vec<u32>,
    /// Which thread stands in which component.
    instance_at: Vec<usize>,
    labels: Vec<u64>,
    rows: Vec<u32>,
}

impl<'f, 'p> PathMaker<'f, 'p> {
    fn new(frame: &'f Frame<'p>, buffers: &'f Buffers, initial: &[u32]) -> Self {
        let space = TsoSpace {
            frame,
            buffers,
            moving: None,
            bound_met: Default::default(),
        };
        let mut row = initial.to_vec();
        row.resize(frame.width() + frame.thread_count(), 0);
        PathMaker {
            worker: space.new_worker(),
            space,
            instance_at: (0..frame.thread_count()).collect(),
            labels: vec![0],
            rows: row.clone(),
            row,
        }
    }

    fn component_of(&self, thread: usize) -> Option<usize> {
        self.instance_at
            .iter()
            .position(|&instance| instance == thread)
    }

    fn label(&mut self, component: usize, action: usize, outcome: usize) -> (StepLabel, u64) {
        let label = StepLabel {
            component,
            action,
            outcome,
        };
        let (code, local) = (self.space.frame.codes[component], self.row[component]);
        let point = self.worker.view.point(code, LocalId(local));
        (label, label.encode(point.map_or(0, |point| point.0)))
    }

    /// Takes a step under TSO; `None` where there is no such step.
    fn take(&mut self, step: TsoStep) -> Option<()> {
        match step {
            TsoStep::Flushes { thread } => self.flush(thread),
            TsoStep::Executes {
                thread,
                action,
                next,
            } => {
                self.execute(thread, action, next)?;
                // Behind a `seqcst` store the thread waits for its buffer, which was empty before.
                let buffer = self.space.buffer_component(self.component_of(thread)?);
                match self.worker.buffers.drains(self.row[buffer]) {
                    true => self.flush(thread),
                    false => Some(()),
                }
            }
        }
    }

    fn flush(&mut self, thread: usize) -> Option<()> {
        let component = self.component_of(thread)?;
        let buffer = self.space.buffer_component(component);
        let frame = self.space.frame;
        let &(location, value, rest) = self.worker.buffers.pops(self.row[buffer]).first()?;
        let mut after = self.row.clone();
        after[buffer] = rest;
        after[frame.component(location)] = self.worker.view.value_id(value);
        let label = self.label(component, FLUSH, 0);
        self.go(label, after);
        Some(())
    }

    fn execute(&mut self, thread: usize, action: usize, next: LocalId) -> Option<()> {
        let component = self.component_of(thread)?;
        let TsoWorker { view, buffers, .. } = &mut self.worker;
        let frame = self.space.frame;
        let (code, local) = (frame.codes[component], LocalId(self.row[component]));
        let kind = view.action(code, local, action).kind;
        let done = self
            .space
            .execute(view, buffers, &self.row, component, kind);
        let done = done.ok()??;
        let nexts = view.resume(code, local, action, done.access.read.unwrap_or(0));
        let outcome = nexts.iter().position(|&found| found == next)?;
        let mut after = self.row.clone();
        after[component] = next.0;
        if let Some(store) = done.issued {
            let buffer = self.space.buffer_component(component);
            after[buffer] = buffers.push(after[buffer], store)?;
        }
        if let Some((location, value)) = done.access.written {
            after[frame.component(location)] = view.value_id(value);
        }
        let label = self.label(component, action, outcome);
        self.go(label, after);
        Some(())
    }

    fn go(&mut self, (label, encoded): (StepLabel, u64), mut after: Vec<u32>) {
        self.space.sort_group_of(&mut after, label.component);
        follow(
            &self.space,
            &self.row,
            &label,
            &after,
            &mut self.instance_at,
        );
        self.rows.extend_from_slice(&after);
        self.labels.push(encoded);
        self.row = after;
    }

    /// The path as a finding; `error`: the thread that runs into an error of the program.
    fn finish(mut self, goal: Goal, error: Option<usize>) -> Option<Finding> {
        let (kind, step) = match goal {
            Goal::Never(index) => (index as u64, None),
            Goal::Error {
                action, transition, ..
            } => {
                let component = self.component_of(error?)?;
                let code = self.space.frame.codes[component] as u64;
                let (_, label) = self.label(component, action, 0);
                (ERROR | code << 32 | u64::from(transition), Some(label))
            }
        };
        let path = Path::new(self.row.len(), self.labels, self.rows);
        Some(Finding { kind, path, step })
    }
}
