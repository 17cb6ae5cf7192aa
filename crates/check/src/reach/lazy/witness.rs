//! From a path of an extended program under SC to the run of the original program under TSO that it stands for.

use std::collections::VecDeque;

use palisade_explore::Finding;
use palisade_lang::{Op, Program, ProgramError};
use palisade_memory::tso::State;
use palisade_memory::{
    Criterion, Event, EventKind, Machine, Model, Pattern, PatternKind, Step, StepKind, Tso, Witness,
};
use palisade_threads::{ActionKind, LocalId, View};

use super::extend::Extended;
use crate::run::{Run, event_at, name_copies, take};
use crate::safe::{ERROR, never_in_words};
use crate::sc::StepLabel;
use crate::state::Frame;
use crate::waiting::is_deadlock;

/// The TSO run of `program` for a finding in an extended program. `None` would be a mistake in the extension: the run is executed here
/// step by step by the rules of TSO.
pub(crate) fn witness(
    program: &Program,
    extended: &Extended,
    frame: &Frame<'_>,
    view: &mut View<'_>,
    finding: &Finding,
) -> Option<Witness> {
    let count = frame.thread_count();
    let mut run = Run {
        steps: Vec::new(),
        row: finding.path.get(0)?.row.to_vec(),
        error: None,
    };
    let mut original = TsoRun::new(program);
    for instance in 0..count {
        // A sorted row may begin with a copy's other beginning; copies are the same, so it is theirs.
        let copy = frame.threads.instances()[instance].copy;
        let local = LocalId(run.row[instance]);
        let way = view.way(frame.codes[instance], copy, None, local)?;
        original.follow(extended, frame.codes[instance], instance, &way)?;
    }
    let mut who: Vec<usize> = (0..count).collect();
    let steps = finding.path.iter().zip(
        finding
            .path
            .iter()
            .skip(1)
            .map(|step| step.label)
            .chain(finding.step),
    );
    for (before, label) in steps {
        let locals: Vec<u32> = run.row[..count].to_vec();
        let component = StepLabel::decode(label).component;
        let instance = who[component];
        let code = frame.codes[instance];
        let action = StepLabel::decode(label).action;
        let local = LocalId(locals[instance]);
        let taken = view.action(code, local, action);
        let known = run.steps.len();
        take(frame, view, before.row, label, &mut who, &mut run);
        original.follow(extended, code, instance, &[taken.transition])?;
        if let (ActionKind::Error(_), None) = (taken.kind, &original.error) {
            // A part of an instruction that comes before the one that runs it.
            let tag = extended.tags[code][taken.transition as usize];
            original.execute(instance, tag.stands_for)?;
        }
        if original.error.is_some() {
            break;
        }
        // Without a step, the action is an error that comes from what was read.
        let step = run.steps.get(known)?;
        let read = step.access.read.unwrap_or(0);
        let to = LocalId(run.row[instance]);
        let after = Some((local, taken.transition, read));
        let way = view.way(code, 0, after, to)?;
        original.follow(extended, code, instance, &way)?;
        if original.error.is_some() {
            break;
        }
    }
    let mut events = original.events;
    let (kind, message) = if finding.kind & ERROR != 0 {
        let (instance, transition, error) = original.error?;
        let code = program.instances()[instance].thread;
        let message = program.error_in_words(code.index(), transition as usize, error);
        (PatternKind::Error, message)
    } else {
        if !original.state.is_flushed() {
            return None;
        }
        let never = &program.nevers[finding.kind as usize];
        let guarded = &extended.program.nevers[finding.kind as usize];
        let deadlock = is_deadlock(frame, view, &run.row);
        let new = name_copies(frame, view, &run.row, guarded, deadlock);
        for event in &mut events {
            let old = original.names.iter().position(|n| *n == event.thread);
            event.thread = original.names[new[old?]].clone();
        }
        (PatternKind::Never, never_in_words(program, never))
    };
    let last = events.len().checked_sub(1);
    Some(Witness {
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
    })
}

/// A run of the original program under TSO, while it is being made: each step is one of the machine's.
struct TsoRun<'p> {
    program: &'p Program,
    machine: Tso<'p>,
    state: State,
    names: Vec<String>,
    /// For each running thread the events that issued its pending stores, the oldest first.
    pending: Vec<VecDeque<usize>>,
    events: Vec<Event>,
    /// Which thread ran into which error with which instruction.
    error: Option<(usize, u32, ProgramError)>,
}

impl<'p> TsoRun<'p> {
    fn new(program: &'p Program) -> Self {
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

    /// Does what instructions of the extended program stand for. `None` where that is no run under TSO.
    fn follow(
        &mut self,
        extended: &Extended,
        code: usize,
        instance: usize,
        transitions: &[u32],
    ) -> Option<()> {
        for &index in transitions {
            let transition = &extended.program.threads[code].transitions[index as usize];
            let tag = extended.tags[code][index as usize];
            let atomic = extended.program.threads[code].points[transition.from.index()].atomic;
            let runs = tag.runs.filter(|_| transition.op != Op::Jump);
            if let Some(original) = runs {
                self.execute(instance, original)?;
            }
            if self.error.is_some() {
                return Some(());
            }
            if matches!(transition.op, Op::Store { .. }) && !atomic {
                self.take(instance, |step| step.kind == StepKind::Flush)?;
            }
        }
        Some(())
    }

    /// One instruction of the original program.
    fn execute(&mut self, instance: usize, index: u32) -> Option<()> {
        self.take(instance, |step| {
            step.kind != StepKind::Flush && step.transition == index as usize
        })
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
