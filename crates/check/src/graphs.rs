//! All execution graphs of a program under C++20 or RC11, as far as one gets.
//!
//! This is what is left for programs that are not robust: the plain machine of `palisade-memory`, which adds one event at a time in every way
//! that the model allows, and every graph once. It ends where the program's runs are bounded. A loop that only reads the same write again and again (one that waits)
//! does not make runs longer: a read that repeats the read just before it adds nothing to a graph that any rule of the model looks at.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use web_time::Instant;

use palisade_lang::never::mentions_deadlock;
use palisade_lang::{LocationId, Op, PointId, Program, Thread};
use palisade_memory::c20::{C20Graph, EventId, Relations, State};
use palisade_memory::witness::InitialName;
use palisade_memory::{
    Event, EventKind, EventRef, Local, Machine, Pattern, PatternKind, Step, StepKind, Witness,
    is_deadlock, never_is_true,
};
use rustc_hash::FxHashMap;

use crate::live::rounds::{Hang, Hangs};
use crate::note::{How, Note};
use crate::ra::witness::cycle_through;
use crate::run::event_at;
use crate::safe::never_in_words;
use crate::waiting::UNSURE;
use crate::{Answer, Control, Criterion, Options, Progress, Refusal, Stats, Verdict};

/// So many states are looked at where neither time nor memory is limited: a graph may take kilobytes.
const MOST_STATES: usize = 60_000;

/// How often the clock and the callers' requests are looked at.
const STATES_BETWEEN_LOOKS: usize = 256;

/// A state that was found, and how.
struct Found {
    state: Arc<State>,
    /// The state before it and the step from there; none for the first one.
    from: Option<(usize, Step)>,
}

/// What is wrong, and with which step or in which state.
enum Wrong {
    Error(usize, Step),
    Never(usize, usize),
    Hang(usize, Hang),
    Race(usize),
    NotSc(usize),
}

/// Looks at all graphs of the program for what violates `options.criterion` (`safe`, `live`, `drf` or `robust`) under `options.model`.
pub(crate) fn check(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
) -> Result<Answer, Refusal> {
    let machine = C20Graph::new(program, options.model).map_err(|refused| Refusal {
        message: refused.message,
        span: Some(refused.span),
    })?;
    let mut walk = Walk {
        program,
        machine: &machine,
        options,
        found: Vec::new(),
        numbers: FxHashMap::default(),
        bytes: 0,
        loops: program.threads.iter().map(steps_that_close_loops).collect(),
        asks_deadlock: mentions_deadlock(program),
        unsure: false,
        hangs: Hangs::new(program, options),
    };
    Ok(walk.run(control))
}

struct Walk<'a> {
    program: &'a Program,
    machine: &'a C20Graph<'a>,
    options: &'a Options,
    found: Vec<Found>,
    numbers: FxHashMap<Arc<State>, usize>,
    bytes: u64,
    /// By thread's code: its transitions that lead back.
    loops: Vec<Vec<bool>>,
    asks_deadlock: bool,
    /// Somewhere it was not found out whether there is a deadlock.
    unsure: bool,
    /// Where `live` is asked.
    hangs: Option<Hangs<'a>>,
}

impl Walk<'_> {
    fn run(&mut self, control: &Control<'_>) -> Answer {
        let start = Instant::now();
        let mut transitions = 0;
        let mut wrong = None;
        let mut stopped = None;
        self.add(self.machine.initial(), None);
        let mut at = 0;
        while at < self.found.len() && wrong.is_none() {
            if at % STATES_BETWEEN_LOOKS == 0 {
                (control.progress)(&Progress {
                    states: self.found.len() as u64,
                    frontier: (self.found.len() - at) as u64,
                    memory_bytes: self.bytes,
                    ..Progress::default()
                });
                stopped = self.limit(start, control);
                if stopped.is_some() {
                    break;
                }
            }
            let state = self.found[at].state.clone();
            wrong = self.wrong_state(at, &state);
            if wrong.is_none() {
                for (step, next) in self.steps(&state) {
                    transitions += 1;
                    let errs = matches!(step.kind, StepKind::Error(_));
                    if errs && self.options.criterion == Criterion::Safe {
                        wrong = Some(Wrong::Error(at, step));
                        break;
                    }
                    if !self.goes_round(at, &step, &next) {
                        self.add(without_repetition(next, step.thread), Some((at, step)));
                    }
                }
            }
            at += 1;
        }
        let verdict = match (&wrong, stopped) {
            (Some(_), _) => Verdict::Violated,
            (None, None) if self.unsure => Verdict::Unknown(UNSURE.to_owned()),
            (None, None) => Verdict::Holds,
            (None, Some(why)) => Verdict::Unknown(format!(
                "the program is not robust, so its execution graphs have to be looked at one by one: {why}; {} partial graphs were seen, and none of them is a violation",
                self.found.len()
            )),
        };
        let notes = match verdict {
            Verdict::Holds => vec![Note::How(How::AllGraphs(self.options.model))],
            _ => Vec::new(),
        };
        Answer {
            verdict,
            witnesses: wrong.and_then(|w| self.witness(w)).into_iter().collect(),
            stats: Stats {
                states: self.found.len() as u64,
                transitions,
                queries: 1,
                wall: start.elapsed(),
                peak_memory_bytes: palisade_explore::resident_bytes().unwrap_or(self.bytes),
                ..Stats::default()
            },
            notes,
            harm: None,
        }
    }

    /// Whether a thread has come back to where it was, in a loop in which it changed nothing. What follows can follow from where it was before the round, too: without what it has
    /// read the graph has fewer orders to respect, and whatever has read what the round stored can read what was there already, which is the same value.
    /// Only where nothing but states is asked for, and no data that may race has been read.
    fn goes_round(&self, at: usize, step: &Step, next: &State) -> bool {
        let code = self.machine.code();
        let thread = step.thread;
        let of_code = code.instances[thread].thread.index();
        if !matches!(self.options.criterion, Criterion::Safe | Criterion::Live)
            || !self.loops[of_code][step.transition]
            || next.block.is_some()
        {
            return false;
        }
        let live = &code.live_registers()[of_code];
        let same = |local: &Local| {
            let now = &next.locals[thread];
            local.point == now.point
                && local.stopped == now.stopped
                && (local.registers.iter().zip(&now.registers))
                    .zip(&live[now.point.index()])
                    .all(|((a, b), live)| !live || a == b)
        };
        let changes = |step: &Step| {
            let plain = step
                .location
                .is_some_and(|l| self.program.location(l).nonatomic);
            let fence_or_block = matches!(
                step.kind,
                StepKind::Fence | StepKind::AtomicBegin | StepKind::AtomicEnd
            );
            plain || fence_or_block || step.is_write() && step.read != step.written
        };
        let (mut at, mut step) = (at, step);
        loop {
            if step.thread == thread {
                if changes(step) {
                    return false;
                }
                if same(&self.found[at].state.locals[thread]) {
                    return true;
                }
            }
            match &self.found[at].from {
                Some((before, earlier)) => (at, step) = (*before, earlier),
                None => return false,
            }
        }
    }

    fn limit(&self, start: Instant, control: &Control<'_>) -> Option<&'static str> {
        let options = self.options;
        let limited = options.timeout.is_some() || options.memory.is_some();
        let memory = options.memory_limit();
        if control.cancel.load(Ordering::Relaxed) {
            Some("it was interrupted")
        } else if options.timeout.is_some_and(|most| start.elapsed() >= most) {
            Some("the time limit is reached")
        } else if memory.is_some_and(|most| self.bytes >= most) {
            Some("the memory limit is reached")
        } else if options
            .most_states
            .is_some_and(|most| self.found.len() as u64 >= most)
        {
            Some("as many states as were wanted are seen")
        } else if !limited && self.found.len() >= MOST_STATES {
            Some("without a limit of time or memory no more are looked at")
        } else {
            None
        }
    }

    fn add(&mut self, state: State, from: Option<(usize, Step)>) {
        if self.numbers.contains_key(&state) {
            return;
        }
        // The state, the node, and the entry of the table.
        let own = size_of::<Found>() + 3 * size_of::<usize>();
        self.bytes += (self.machine.bytes(&state) + own) as u64;
        let state = Arc::new(state);
        self.numbers.insert(state.clone(), self.found.len());
        self.found.push(Found { state, from });
    }

    /// The steps of a state. Where no `never` looks at what is between, and no loop is closed by it, the local steps of one thread are enough: they commute
    /// with all that others do.
    fn steps(&self, state: &State) -> Vec<(Step, State)> {
        let code = self.machine.code();
        if self.program.nevers.is_empty() && code.holder(&state.locals).is_none() {
            for (thread, local) in state.locals.iter().enumerate() {
                let loops = &self.loops[code.instances[thread].thread.index()];
                let mut next = code.next(thread, local).peekable();
                if next.peek().is_some() && next.all(|(index, t)| is_local(&t.op) && !loops[index])
                {
                    let steps = self.machine.steps_of(state, thread);
                    if !steps.is_empty() {
                        return steps;
                    }
                }
            }
        }
        self.machine.steps(state)
    }

    fn wrong_state(&mut self, at: usize, state: &State) -> Option<Wrong> {
        if state.raced {
            return Some(Wrong::Race(at));
        }
        let code = self.machine.code();
        match self.options.criterion {
            Criterion::Safe => {
                if self.program.nevers.is_empty() {
                    return None;
                }
                let memory = self.machine.newest(state);
                let deadlock = self.asks_deadlock && {
                    let seen = self.machine.seen_by_block(state);
                    let known = is_deadlock(code, &state.locals, &memory, seen);
                    self.unsure |= known.is_none();
                    known == Some(true)
                };
                let broken = self.program.nevers.iter().position(|never| {
                    never_is_true(code, never, &state.locals, &memory, deadlock)
                })?;
                let real = self.machine.is_real(state);
                real.then_some(Wrong::Never(at, broken))
            }
            Criterion::Live => {
                let mut memory = self.machine.newest(state);
                let seen = self.machine.seen_by_block(state);
                let known = is_deadlock(code, &state.locals, &memory, seen);
                self.unsure |= known.is_none();
                if known != Some(true) || !self.machine.is_real(state) {
                    return None;
                }
                if let Some((location, value)) = seen {
                    memory[location.index()] = value;
                }
                let hangs = self.hangs.as_ref()?;
                let hang = hangs.find(state.locals.clone(), memory)?;
                Some(Wrong::Hang(at, hang))
            }
            Criterion::Robust => {
                let inside = code.holder(&state.locals).is_some();
                let stuck =
                    || self.machine.steps(state).is_empty() && !self.machine.is_dead_end(state);
                let counts = !inside || stuck();
                let relations = Relations::new(&state.graph);
                (counts && !relations.is_sc()).then_some(Wrong::NotSc(at))
            }
            _ => None,
        }
    }

    /// The run that leads there.
    fn witness(&self, wrong: Wrong) -> Option<Witness> {
        let program = self.program;
        let (end, error) = match &wrong {
            Wrong::Error(at, step) => (*at, Some(step.clone())),
            Wrong::Never(at, _) | Wrong::Hang(at, _) | Wrong::Race(at) | Wrong::NotSc(at) => {
                (*at, None)
            }
        };
        let mut path = Vec::new();
        let mut at = end;
        while let Some((before, step)) = &self.found[at].from {
            path.push((step, &*self.found[at].state));
            at = *before;
        }
        path.reverse();
        let last_node = path
            .last()
            .and_then(|(step, state)| last_node(step.thread, state));
        let (mut events, of_node) = told(program, &path)?;
        let names: Vec<String> = program.instances().into_iter().map(|i| i.name).collect();
        if let Some(step) = &error {
            let kind = EventKind::Local;
            events.push(event_at(
                program,
                step.thread,
                step.transition as u32,
                kind,
                None,
                &names,
            ));
        }
        let graph = &self.found[end].state.graph;
        let mut witness = Witness {
            model: self.options.model,
            criterion: self.options.criterion,
            events,
            cycle: Vec::new(),
            edges: Vec::new(),
            pattern: None,
            loop_start: None,
            copies: None,
        };
        let last = witness.events.len().saturating_sub(1);
        let events_of = |id: EventId| of_node[id.thread as usize][id.index as usize];
        witness.pattern = match wrong {
            Wrong::NotSc(_) => {
                (witness.cycle, witness.edges) = cycle_through(graph, last_node?, &[], events_of)?;
                None
            }
            Wrong::Error(_, step) => {
                let StepKind::Error(what) = step.kind else {
                    return None;
                };
                let thread = program.instances()[step.thread].thread.index();
                Some(Pattern {
                    kind: PatternKind::Error,
                    events: vec![last],
                    message: program.error_in_words(thread, step.transition, what),
                })
            }
            Wrong::Never(_, index) => Some(Pattern {
                kind: PatternKind::Never,
                // It may be true before the first event.
                events: (!witness.events.is_empty())
                    .then_some(last)
                    .into_iter()
                    .collect(),
                message: never_in_words(program, &program.nevers[index]),
            }),
            Wrong::Hang(_, hang) => {
                let state = &self.found[end].state;
                let newest = |location: LocationId| match graph.mo[location.index()].last() {
                    None => EventRef::Initial(InitialName::Init),
                    Some(&id) => EventRef::Event(events_of(id).1),
                };
                let memory = self.machine.newest(state);
                let seen = self.machine.seen_by_block(state);
                let old = seen.is_some_and(|(location, value)| memory[location.index()] != value);
                (self.hangs.as_ref()?).tell(&hang, old, newest, &mut witness);
                witness.pattern.take()
            }
            Wrong::Race(_) => {
                let races = Relations::new(graph).races(graph);
                let (a, b) = races.into_iter().next()?;
                let mut pair = [events_of(a).0, events_of(b).0];
                pair.sort_unstable();
                Some(race_pattern(&witness.events, pair))
            }
        };
        Some(witness)
    }
}

/// For each thread and place in its program order: the event, or of a block the first one that reads and the last one that writes.
pub(crate) type OfNode = Vec<Vec<(usize, usize)>>;

/// The last node of a thread.
pub(crate) fn last_node(thread: usize, state: &State) -> Option<EventId> {
    let index = state.graph.events[thread].len().checked_sub(1)?;
    Some(EventId {
        thread: thread as u32,
        index: index as u32,
    })
}

/// A run of the machine as events of a witness.
pub(crate) fn told(program: &Program, path: &[(&Step, &State)]) -> Option<(Vec<Event>, OfNode)> {
    let names: Vec<String> = program.instances().into_iter().map(|i| i.name).collect();
    let mut events: Vec<Event> = Vec::new();
    // By thread and place in its program order: the event, or of a block the first one that reads and the last one that writes.
    let mut of_node: Vec<Vec<(usize, usize)>> = vec![Vec::new(); names.len()];
    for &(step, after) in path {
        let kind = match step.kind {
            StepKind::Load => EventKind::Load,
            StepKind::Store => EventKind::Store,
            StepKind::Rmw => EventKind::Rmw,
            StepKind::Fence => EventKind::Fence,
            StepKind::Race => match (step.read, step.written) {
                (Some(_), Some(_)) => EventKind::Rmw,
                (None, Some(_)) => EventKind::Store,
                _ => EventKind::Load,
            },
            StepKind::AtomicBegin | StepKind::AtomicEnd => EventKind::Local,
            _ => continue,
        };
        let transition = step.transition as u32;
        let mut event = event_at(
            program,
            step.thread,
            transition,
            kind,
            step.location,
            &names,
        );
        event.value = step.written.or(step.read);
        event.read = step.read.filter(|_| kind == EventKind::Rmw);
        event.atomic = step.atomic;
        let nodes = after.graph.events[step.thread].len();
        // What the block that this is a part of has stored before.
        let mut own = None;
        if nodes > of_node[step.thread].len() {
            of_node[step.thread].push((events.len(), events.len()));
        } else if let Some(node) = of_node[step.thread].last_mut()
            && step.atomic
            && step.location.is_some()
        {
            let has_stored = events[node.1].kind != EventKind::Load;
            own = has_stored.then_some(node.1);
            if step.is_write() {
                node.1 = events.len();
            }
        }
        if let (Some(location), Some(index)) = (step.location, nodes.checked_sub(1)) {
            let id = EventId {
                thread: step.thread as u32,
                index: index as u32,
            };
            let reference = |write: Option<EventId>| match write {
                None => EventRef::Initial(InitialName::Init),
                Some(id) => EventRef::Event(of_node[id.thread as usize][id.index as usize].1),
            };
            if kind != EventKind::Store {
                let read = after.graph.event(id).rf.map(reference);
                event.rf = own.map(EventRef::Event).or(read);
            }
            if kind != EventKind::Load {
                let place = after.graph.mo_index(location, Some(id))?;
                event.after = Some(reference(after.graph.write_at(location, place - 1)));
            }
        }
        events.push(event);
    }
    Some((events, of_node))
}

/// Two events that race, the second of which is the last one, in words.
pub(crate) fn race_pattern(events: &[Event], pair: [usize; 2]) -> Pattern {
    let [first, second] = pair.map(|e| &events[e]);
    Pattern {
        kind: PatternKind::Race,
        events: pair.to_vec(),
        message: race_with_free([first, second]).unwrap_or_else(|| {
            format!(
                "`{}` and `{}` race on `{}`: neither access happens before the other",
                first.thread,
                second.thread,
                second.location.as_deref().unwrap_or_default(),
            )
        }),
    }
}

/// Two events that race, in words, where one of them gives the memory back.
pub(crate) fn race_with_free(events: [&Event; 2]) -> Option<String> {
    let frees = |e: &Event| e.kind == EventKind::Store && e.value == Some(palisade_lang::FREED);
    let (freeing, using) = match events {
        [first, second] if frees(first) && !frees(second) => (first, second),
        [first, second] if frees(second) && !frees(first) => (second, first),
        _ => return None,
    };
    Some(format!(
        "`{}` frees the memory of `{}` while `{}` may use it: neither happens before the other",
        freeing.thread,
        freeing.location.as_deref().unwrap_or_default(),
        using.thread,
    ))
}

/// A read that repeats the one just before it says nothing new.
fn without_repetition(mut state: State, thread: usize) -> State {
    let events = &mut state.graph.events[thread];
    if let [.., before, last] = &events[..]
        && state.block.is_none()
        && last.is_read()
        && !last.is_write()
        && before == last
    {
        events.pop();
    }
    state
}

fn is_local(op: &Op) -> bool {
    matches!(
        op,
        Op::Skip | Op::Jump | Op::Assign(..) | Op::Assume(_) | Op::Assert(_)
    )
}

/// For each transition whether some way from its end comes back to its beginning.
fn steps_that_close_loops(thread: &Thread) -> Vec<bool> {
    let comes_back = |from: PointId, to: PointId| {
        let mut seen = vec![false; thread.points.len()];
        let mut work = vec![to];
        while let Some(point) = work.pop() {
            if point == from {
                return true;
            }
            if !std::mem::replace(&mut seen[point.index()], true) {
                work.extend(thread.outgoing(point).iter().map(|t| t.to));
            }
        }
        false
    };
    let transitions = thread.transitions.iter();
    transitions.map(|t| comes_back(t.from, t.to)).collect()
}
