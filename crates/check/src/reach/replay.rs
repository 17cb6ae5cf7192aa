//! A run under TSO, step by step as the machine of TSO takes it, from instructions that are known.

use std::collections::VecDeque;

use palisade_explore::Finding;
use palisade_lang::{Program, ProgramError};
use palisade_memory::tso::State;
use palisade_memory::{
    Criterion, Event, EventKind, Machine, Model, Pattern, PatternKind, Step, StepKind, Tso, Witness,
};
use palisade_threads::LocalId;

use super::exact::follow;
use super::walk::{ERROR, FLUSH, TsoSpace};
use crate::run::{event_at, name_copies};
use crate::safe::never_in_words;
use crate::sc::StepLabel;
use crate::waiting::is_deadlock;

/// A run of the original program under TSO, while it is being made: each step is one of the machine's.
pub(super) struct TsoRun<'p> {
    program: &'p Program,
    machine: Tso<'p>,
    pub state: State,
    pub names: Vec<String>,
    /// For each running thread the events that issued its pending stores, the oldest first.
    pending: Vec<VecDeque<usize>>,
    pub events: Vec<Event>,
    /// Which thread ran into which error with which instruction.
    pub error: Option<(usize, u32, ProgramError)>,
}

impl<'p> TsoRun<'p> {
    pub fn new(program: &'p Program) -> Self {
        let machine = Tso::new(program);
        let names: Vec<String> = program.instances().into_iter().map(|i| i.name).collect();
        TsoRun {
            program,
            state: machine.initial(),
            machine,
            pending: vec![VecDeque::new(); names.len()],
            names,
            events: Vec::new(),
            error: None,
        }
    }

    /// One instruction of the original program.
    pub fn execute(&mut self, instance: usize, index: u32) -> Option<()> {
        self.take(instance, |step| {
            step.kind != StepKind::Flush && step.transition == index as usize
        })
    }

    /// The oldest pending store reaches memory.
    pub fn flush(&mut self, instance: usize) -> Option<()> {
        self.take(instance, |step| step.kind == StepKind::Flush)
    }

    /// Takes local steps, unless the thread waits for its buffer behind a `seqcst` store.
    fn catch_up(&mut self, instance: usize, later: &mut Vec<u32>) -> Option<()> {
        if !self.state.draining[instance] {
            for transition in std::mem::take(later) {
                self.execute(instance, transition)?;
            }
        }
        Some(())
    }

    /// The step of a thread that is meant; `None` where it has none.
    fn take(&mut self, instance: usize, meant: impl Fn(&Step) -> bool) -> Option<()> {
        let steps = self.machine.steps_of(&self.state, instance);
        let (step, next) = steps.into_iter().find(|(step, _)| meant(step))?;
        self.state = next;
        let kind = match step.kind {
            StepKind::Local => return Some(()),
            StepKind::Error(_) | StepKind::AtomicBegin | StepKind::AtomicEnd => EventKind::Local,
            StepKind::Load => EventKind::Load,
            StepKind::Store => EventKind::Store,
            StepKind::Issue => EventKind::Issue,
            StepKind::Flush => EventKind::Flush,
            StepKind::Rmw => EventKind::Rmw,
            StepKind::Fence => EventKind::Fence,
            // Only the machines of other models have such steps.
            _ => return None,
        };
        let transition = step.transition as u32;
        let mut event = event_at(
            self.program,
            instance,
            transition,
            kind,
            step.location,
            &self.names,
        );
        event.value = step.written.or(step.read);
        event.read = step.read.filter(|_| kind == EventKind::Rmw);
        event.atomic = step.atomic;
        match step.kind {
            StepKind::Issue => self.pending[instance].push_back(self.events.len()),
            StepKind::Flush => event.issue = self.pending[instance].pop_front(),
            StepKind::Error(error) => self.error = Some((instance, transition, error)),
            _ => {}
        }
        self.events.push(event);
        Some(())
    }
}

/// The run of `program` for a path of another program that differs in values only: the same instructions are executed. `None` would be a mistake in how the other one was made.
pub(super) fn with_other_values(
    program: &Program,
    space: &TsoSpace<'_, '_>,
    finding: &Finding,
) -> Option<Witness> {
    let frame = space.frame;
    let mut worker = space.new_worker();
    let mut run = TsoRun::new(program);
    let begin = finding.path.get(0)?.row;
    for (instance, &code) in frame.codes.iter().enumerate() {
        let copy = frame.threads.instances()[instance].copy;
        let local = LocalId(begin[instance]);
        for transition in worker.view.way(code, copy, None, local)? {
            run.execute(instance, transition)?;
        }
    }
    // For each running thread the local steps that it has still to take, and which stands in which component.
    let mut later: Vec<Vec<u32>> = vec![Vec::new(); frame.thread_count()];
    let mut instance_at: Vec<usize> = (0..frame.thread_count()).collect();
    let behind = finding.path.iter().skip(1);
    let behind = behind.map(|step| (step.label, Some(step.row)));
    let last = finding.step.map(|label| (label, None));
    for (before, (label, after)) in finding.path.iter().zip(behind.chain(last)) {
        let (row, label) = (before.row, StepLabel::decode(label));
        let instance = instance_at[label.component];
        let (code, local) = (frame.codes[label.component], LocalId(row[label.component]));
        if let Some(after) = after {
            follow(space, row, &label, after, &mut instance_at);
        }
        if label.action == FLUSH {
            run.flush(instance)?;
            run.catch_up(instance, &mut later[instance])?;
            continue;
        }
        let taken = worker.view.action(code, local, label.action);
        let (view, buffers) = (&mut worker.view, &mut worker.buffers);
        let done = space.execute(view, buffers, row, label.component, taken.kind);
        run.execute(instance, taken.transition)?;
        let Some(after) = after.filter(|_| run.error.is_none()) else {
            break;
        };
        let read = done.ok()??.access.read.unwrap_or(0);
        let component = instance_at.iter().position(|&at| at == instance)?;
        let to = LocalId(after[component]);
        later[instance] = view.way(code, 0, Some((local, taken.transition, read)), to)?;
        run.catch_up(instance, &mut later[instance])?;
    }
    let (kind, message) = if finding.kind & ERROR != 0 {
        let (instance, transition, error) = run.error?;
        let code = frame.codes[instance];
        let message = program.error_in_words(code, transition as usize, error);
        (PatternKind::Error, message)
    } else {
        let end = finding.path.last()?.row;
        let mut row = end.to_vec();
        for (component, &instance) in instance_at.iter().enumerate() {
            row[instance] = end[component];
        }
        // All buffers are empty here, so a deadlock under TSO is one under SC.
        let deadlock = is_deadlock(frame, &mut worker.view, &row);
        let never = &frame.program().nevers[finding.kind as usize];
        let new = name_copies(frame, &mut worker.view, &row, never, deadlock);
        for event in &mut run.events {
            let old = run.names.iter().position(|n| *n == event.thread);
            event.thread = run.names[new[old?]].clone();
        }
        let never = &program.nevers[finding.kind as usize];
        (PatternKind::Never, never_in_words(program, never))
    };
    let last = run.events.len().checked_sub(1);
    Some(Witness {
        model: Model::Tso,
        criterion: Criterion::Safe,
        events: run.events,
        cycle: Vec::new(),
        edges: Vec::new(),
        pattern: Some(Pattern {
            kind,
            events: last.into_iter().collect(),
            message,
        }),
        loop_start: None,
        copies: None,
    })
}
