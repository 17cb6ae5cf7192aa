//! Hangs in which every thread that has not ended waits, wherever memory is weaker than SC: what the threads do there for ever, on the newest values.

use std::collections::VecDeque;

use palisade_lang::{LocationId, PointId, Program, Value};
use palisade_memory::sc::State;
use palisade_memory::waiting::{Forgetful, Round};
use palisade_memory::{
    Criterion, Event, EventKind, EventRef, Local, Pattern, PatternKind, Step, StepKind, Witness,
};
use palisade_threads::{LocalId, Status, View};

use super::{is_meant, words};
use crate::Options;
use crate::run::event_at;
use crate::state::Frame;

/// Looks for hangs.
pub(crate) struct Hangs<'p> {
    program: &'p Program,
    machine: Forgetful<'p>,
    /// For each running thread whether it is asked for.
    asked: Vec<bool>,
}

/// What goes on for ever.
pub(crate) struct Hang {
    rounds: Vec<(usize, Round)>,
    stuck: Vec<usize>,
}

impl<'p> Hangs<'p> {
    /// `None` where hangs are not asked for.
    pub fn new(program: &'p Program, options: &Options) -> Option<Self> {
        let name = options.thread.as_ref();
        let asked = |instance| name.is_none_or(|name| is_meant(program, &instance, name));
        (options.criterion == Criterion::Live).then(|| Hangs {
            program,
            machine: Forgetful::new(program),
            asked: program.instances().into_iter().map(asked).collect(),
        })
    }

    /// What hangs in a state in which nothing moves any more. A thread inside a block that has read an old value goes on reading that one: it stands in memory.
    pub fn find(&self, locals: Vec<Local>, memory: Vec<Value>) -> Option<Hang> {
        let state = self.machine.forget(State { locals, memory });
        let (rounds, mut stuck) = self.machine.rounds(&state)?;
        stuck.sort_by_key(|&thread| !self.asked[thread]);
        let asked = stuck.first().is_some_and(|&thread| self.asked[thread]);
        asked.then_some(Hang { rounds, stuck })
    }

    /// The same for a row.
    pub fn find_in_row(&self, frame: &Frame<'_>, view: &mut View<'_>, row: &[u32]) -> Option<Hang> {
        let (locals, memory) = self.shown(frame, view, row);
        self.find(locals, memory)
    }

    fn shown(
        &self,
        frame: &Frame<'_>,
        view: &mut View<'_>,
        row: &[u32],
    ) -> (Vec<Local>, Vec<Value>) {
        let locals = frame.codes.iter().enumerate().map(|(instance, &code)| {
            let local = LocalId(row[instance]);
            let registers = &self.program.threads[code].registers;
            let registers = 0..registers.len() as u32;
            match view.point(code, local) {
                Some(point) if view.status(code, local) != Status::Stopped => Local {
                    point,
                    registers: registers
                        .map(|r| view.register(code, local, palisade_lang::RegisterId(r)))
                        .collect(),
                    stopped: false,
                },
                _ => Local {
                    point: PointId(0),
                    registers: registers.map(|_| 0).collect(),
                    stopped: true,
                },
            }
        });
        let locals = locals.collect();
        let memory = &row[frame.thread_count()..frame.width()];
        (locals, memory.iter().map(|&id| view.value(id)).collect())
    }

    /// Makes a run to such a state a witness: behind it comes what goes on for ever. `newest` is the event that wrote what is newest in a location. In a block that
    /// has read an old value (`old`) nothing can be shown: then there is no event in the cycle.
    pub fn tell(
        &self,
        hang: &Hang,
        old: bool,
        newest: impl Fn(LocationId) -> EventRef,
        witness: &mut Witness,
    ) {
        let program = self.program;
        let instances = program.instances();
        let names: Vec<String> = instances.iter().map(|i| i.name.clone()).collect();
        let start = witness.events.len();
        let mut written: Vec<(LocationId, EventRef)> = Vec::new();
        let rounds = hang.rounds.iter().filter(|_| !old);
        for step in rounds.flat_map(|(_, round)| walk(round)) {
            let mut event = as_event(program, &step, &names);
            if let Some(location) = step.location {
                let last = written.iter().rev().find(|w| w.0 == location);
                let before = Some(last.map_or_else(|| newest(location), |w| w.1));
                event.rf = before.filter(|_| step.is_read());
                event.after = before.filter(|_| step.is_write());
                if step.is_write() {
                    written.push((location, EventRef::Event(witness.events.len())));
                }
            }
            witness.events.push(event);
        }
        let place = |thread: usize| {
            let mut rounds = hang.rounds.iter();
            let round = rounds.find(|(t, _)| *t == thread).map(|(_, round)| round);
            let states = round.map_or(&[][..], |round| &round.states[..]);
            let points = states.iter().map(|state| state.locals[thread].point);
            (instances[thread].thread.index(), points.collect())
        };
        let places = hang.stuck.iter().map(|&thread| {
            let (code, points) = place(thread);
            let place = words::place_of(program, code, points);
            (names[thread].as_str(), place)
        });
        let own = |e: &usize| names[hang.stuck[0]] == witness.events[*e].thread;
        witness.criterion = Criterion::Live;
        witness.pattern = Some(Pattern {
            kind: PatternKind::Stuck,
            events: (start..witness.events.len()).filter(own).collect(),
            message: words::all_wait(places.collect()),
        });
        witness.loop_start = Some(start);
    }
}

/// A way round from the first state that takes every step.
fn walk(round: &Round) -> Vec<Step> {
    let mut from: Vec<Vec<usize>> = vec![Vec::new(); round.states.len()];
    for (index, step) in round.steps.iter().enumerate() {
        from[step.0].push(index);
    }
    let mut todo = vec![true; round.steps.len()];
    let mut left = round.steps.len();
    let mut way = Vec::new();
    let mut here = 0;
    while left > 0 || here != 0 {
        // The shortest way over a step that is still to be taken, or back.
        let mut reached: Vec<Option<usize>> = vec![None; round.states.len()];
        let mut queue = VecDeque::from([here]);
        let mut last = None;
        'search: while let Some(state) = queue.pop_front() {
            for &step in &from[state] {
                let to = round.steps[step].2;
                if todo[step] || (left == 0 && to == 0) {
                    last = Some(step);
                    break 'search;
                }
                if to != here && reached[to].is_none() {
                    reached[to] = Some(step);
                    queue.push_back(to);
                }
            }
        }
        let Some(last) = last else {
            break;
        };
        let mut part = vec![last];
        while let Some(step) = reached[round.steps[part[part.len() - 1]].0]
            && round.steps[part[part.len() - 1]].0 != here
        {
            part.push(step);
        }
        for step in part.into_iter().rev() {
            left -= usize::from(std::mem::replace(&mut todo[step], false));
            way.push(round.steps[step].1.clone());
            here = round.steps[step].2;
        }
    }
    way
}

fn as_event(program: &Program, step: &Step, names: &[String]) -> Event {
    let kind = match step.kind {
        StepKind::Load => EventKind::Load,
        StepKind::Store => EventKind::Store,
        StepKind::Rmw => EventKind::Rmw,
        StepKind::Fence => EventKind::Fence,
        _ => EventKind::Local,
    };
    let transition = step.transition as u32;
    let mut event = event_at(program, step.thread, transition, kind, step.location, names);
    event.value = step.written.or(step.read);
    event.read = step.read.filter(|_| kind == EventKind::Rmw);
    event.atomic = step.atomic;
    event
}
