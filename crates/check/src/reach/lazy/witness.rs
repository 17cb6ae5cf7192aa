//! From a path of an extended program under SC to the run of the original program under TSO that it stands for.

use palisade_explore::Finding;
use palisade_lang::{Op, Program};
use palisade_memory::{Criterion, Model, Pattern, PatternKind, Witness};
use palisade_threads::{ActionKind, LocalId, View};

use super::super::replay::TsoRun;
use super::extend::Extended;
use crate::run::{Run, name_copies, take};
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
        follow(
            &mut original,
            extended,
            frame.codes[instance],
            instance,
            &way,
        )?;
    }
    let mut instance_at: Vec<usize> = (0..count).collect();
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
        let instance = instance_at[component];
        let code = frame.codes[instance];
        let action = StepLabel::decode(label).action;
        let local = LocalId(locals[instance]);
        let taken = view.action(code, local, action);
        let known = run.steps.len();
        take(frame, view, before.row, label, &mut instance_at, &mut run);
        follow(&mut original, extended, code, instance, &[taken.transition])?;
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
        follow(&mut original, extended, code, instance, &way)?;
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

/// Does what instructions of the extended program stand for. `None` where that is no run under TSO.
fn follow(
    run: &mut TsoRun<'_>,
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
            run.execute(instance, original)?;
        }
        if run.error.is_some() {
            return Some(());
        }
        if matches!(transition.op, Op::Store { .. }) && !atomic {
            run.flush(instance)?;
        }
    }
    Some(())
}
