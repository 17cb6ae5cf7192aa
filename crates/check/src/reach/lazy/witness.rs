//! From a path of an extended program under SC to the run of the original program under TSO that it stands for.

use std::collections::VecDeque;

use palisade_explore::Finding;
use palisade_lang::{
    Address, LocationId, Op, PointId, Program, ProgramError, RegisterId, RmwAction, Value,
};
use palisade_memory::{Criterion, Event, EventKind, Model, Pattern, PatternKind, Witness};
use palisade_threads::{ActionKind, LocalId, View};

use super::extend::Extended;
use crate::run::{Run, event_at, name_copies, take};
use crate::safe::{ERROR, never_in_words};
use crate::sc::{StepLabel, is_deadlock};
use crate::state::Frame;

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
        let span = program.thread(code).transitions[transition as usize].span;
        let text = program.source.slice(span).trim();
        (PatternKind::Error, format!("{error}: `{text}`"))
    } else {
        if original.buffers.iter().any(|buffer| !buffer.is_empty()) {
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
        copies: None,
    })
}

/// A run of the original program under TSO, while it is being made.
struct TsoRun<'p> {
    program: &'p Program,
    names: Vec<String>,
    codes: Vec<usize>,
    points: Vec<PointId>,
    registers: Vec<Vec<Value>>,
    memory: Vec<Value>,
    /// For each running thread the stores that are pending, the oldest first, and the events that issued them.
    buffers: Vec<VecDeque<(LocationId, Value, usize)>>,
    events: Vec<Event>,
    /// Who ran into which error with which instruction.
    error: Option<(usize, u32, ProgramError)>,
}

impl<'p> TsoRun<'p> {
    fn new(program: &'p Program) -> Self {
        let instances = program.instances();
        let thread = |i: usize| program.thread(instances[i].thread);
        TsoRun {
            program,
            names: instances.iter().map(|i| i.name.clone()).collect(),
            codes: instances.iter().map(|i| i.thread.index()).collect(),
            points: (0..instances.len())
                .map(|i| thread(i).behind_jumps(thread(i).initial))
                .collect(),
            registers: (0..instances.len())
                .map(|i| {
                    let mut registers = vec![0; thread(i).registers.len()];
                    if let Some(me) = thread(i).me {
                        registers[me.index()] = Value::from(instances[i].copy);
                    }
                    registers
                })
                .collect(),
            memory: program
                .locations
                .iter()
                .map(|l| program.domain.reduce(l.initial))
                .collect(),
            buffers: vec![VecDeque::new(); instances.len()],
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
                self.flush(instance)?;
            }
        }
        Some(())
    }

    /// The oldest pending store reaches memory.
    fn flush(&mut self, instance: usize) -> Option<()> {
        let (location, value, issue) = self.buffers[instance].pop_front()?;
        self.memory[location.index()] = value;
        let event = Event {
            kind: EventKind::Flush,
            issue: Some(issue),
            ..self.events[issue].clone()
        };
        self.events.push(event);
        Some(())
    }

    /// One instruction of the original program.
    fn execute(&mut self, instance: usize, index: u32) -> Option<()> {
        let thread = &self.program.threads[self.codes[instance]];
        let transition = &thread.transitions[index as usize];
        if transition.from != self.points[instance] {
            return None;
        }
        match self.effect(instance, index, &transition.op) {
            Ok(goes_on) => goes_on?,
            Err(error) => {
                let event = event_at(
                    self.program,
                    instance,
                    index,
                    EventKind::Local,
                    None,
                    &self.names,
                );
                self.events.push(event);
                self.error = Some((instance, index, error));
                return Some(());
            }
        }
        self.points[instance] = thread.behind_jumps(transition.to);
        Some(())
    }

    /// What an instruction does; `Ok(None)` where it cannot be executed now.
    fn effect(&mut self, instance: usize, index: u32, op: &Op) -> Result<Option<()>, ProgramError> {
        let program = self.program;
        let domain = program.domain;
        let registers = &self.registers[instance];
        let value_of =
            |e: &palisade_lang::RegisterExpr| e.eval(domain, &mut |r| Ok(registers[r.index()]));
        let atomic = {
            let thread = &program.threads[self.codes[instance]];
            thread.points[self.points[instance].index()].atomic
        };
        let drained = self.buffers[instance].is_empty();
        let event = |kind, location: Option<LocationId>| Event {
            atomic,
            ..event_at(program, instance, index, kind, location, &self.names)
        };
        match op {
            Op::Skip | Op::Jump => {}
            Op::Assign(register, e) => {
                let value = domain.reduce(value_of(e)?);
                self.registers[instance][register.index()] = value;
            }
            Op::Assume(e) => {
                if value_of(e)? == 0 {
                    return Ok(None);
                }
            }
            Op::Assert(e) => {
                if value_of(e)? == 0 {
                    return Err(ProgramError::AssertionFailed);
                }
            }
            Op::Load {
                register, address, ..
            } => {
                let location = locate(program, address, registers)?;
                let value = self.seen(instance, location);
                let loaded = Event {
                    value: Some(value),
                    ..event(EventKind::Load, Some(location))
                };
                self.events.push(loaded);
                self.registers[instance][register.index()] = value;
            }
            Op::Wait {
                register,
                address,
                relation,
                value,
                ..
            } => {
                let location = locate(program, address, registers)?;
                let wanted = value_of(value)?;
                let value = self.seen(instance, location);
                if !relation.holds(value, wanted) {
                    return Ok(None);
                }
                let loaded = Event {
                    value: Some(value),
                    ..event(EventKind::Load, Some(location))
                };
                self.events.push(loaded);
                if let Some(register) = register {
                    self.registers[instance][register.index()] = value;
                }
            }
            Op::Store { address, value, .. } => {
                let location = locate(program, address, registers)?;
                let value = domain.reduce(value_of(value)?);
                let kind = match atomic {
                    true => EventKind::Store,
                    false => EventKind::Issue,
                };
                let issued = Event {
                    value: Some(value),
                    ..event(kind, Some(location))
                };
                match atomic {
                    true => self.memory[location.index()] = value,
                    false => {
                        let issue = self.events.len();
                        self.buffers[instance].push_back((location, value, issue));
                    }
                }
                self.events.push(issued);
            }
            Op::Rmw {
                register,
                address,
                action,
                ..
            } => {
                if !drained {
                    return Ok(None);
                }
                let location = locate(program, address, registers)?;
                let read = self.memory[location.index()];
                let written = match action {
                    RmwAction::CompareAndSwap {
                        expected, desired, ..
                    } => {
                        let desired = value_of(desired)?;
                        (value_of(expected)? == read).then_some(desired)
                    }
                    RmwAction::BlockingCompareAndSwap { expected, desired } => {
                        let desired = value_of(desired)?;
                        if value_of(expected)? != read {
                            return Ok(None);
                        }
                        Some(desired)
                    }
                    RmwAction::Fetch(op, operand) => {
                        Some(domain.binary(*op, read, value_of(operand)?)?)
                    }
                    RmwAction::Exchange(value) => Some(value_of(value)?),
                }
                .map(|value| domain.reduce(value));
                let done = match written {
                    Some(value) => Event {
                        value: Some(value),
                        read: Some(read),
                        ..event(EventKind::Rmw, Some(location))
                    },
                    None => Event {
                        value: Some(read),
                        ..event(EventKind::Load, Some(location))
                    },
                };
                self.events.push(done);
                if let Some(value) = written {
                    self.memory[location.index()] = value;
                }
                if let Some(register) = register {
                    self.registers[instance][register.index()] = read;
                }
            }
            Op::Fence(order) => {
                if *order == palisade_lang::Order::SeqCst {
                    if !drained {
                        return Ok(None);
                    }
                    let fence = event(EventKind::Fence, None);
                    self.events.push(fence);
                }
            }
            Op::AtomicBegin | Op::AtomicEnd => {
                if !drained {
                    return Ok(None);
                }
                let border = event(EventKind::Local, None);
                self.events.push(border);
            }
        }
        Ok(Some(()))
    }

    /// The value that a thread sees in a location.
    fn seen(&self, instance: usize, location: LocationId) -> Value {
        self.buffers[instance]
            .iter()
            .rev()
            .find(|(l, _, _)| *l == location)
            .map_or(self.memory[location.index()], |(_, value, _)| *value)
    }
}

fn locate(
    program: &Program,
    address: &Address<RegisterId>,
    registers: &[Value],
) -> Result<LocationId, ProgramError> {
    let value_of =
        |e: &palisade_lang::RegisterExpr| e.eval(program.domain, &mut |r| Ok(registers[r.index()]));
    match address {
        Address::Direct(location) => Ok(*location),
        Address::Element {
            first,
            length,
            index,
        } => {
            let index = value_of(index)?;
            match (0..Value::from(*length)).contains(&index) {
                true => Ok(LocationId(first.0 + index as u32)),
                false => Err(ProgramError::IndexOutOfRange(index, *length)),
            }
        }
        Address::Pointer(pointer) => {
            let address = value_of(pointer)?;
            program
                .location_at(address)
                .ok_or(ProgramError::NoSuchLocation(address))
        }
    }
}
