//! Following a run with a machine: all ways in which the program could have taken these steps, at once.

use crate::Invalid;
use palisade_lang::{Op, Program, Transition, Value};
use palisade_memory::{Event, EventKind, EventRef, Machine, Step, StepKind};
use std::cell::{Cell, RefCell};
use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasherDefault, DefaultHasher, Hash};

/// A set whose order is the same in every run.
type Set<T> = HashSet<T, BuildHasherDefault<DefaultHasher>>;

/// More ways at once than this are not followed, and fewer where their states would take more than [`MOST_BYTES`].
const MOST_CANDIDATES: usize = 200_000;
const MOST_BYTES: usize = 1 << 30;

/// One way in which the program could have come through the events so far.
///
/// Two ways that have led to the same state, inside the same block and with the same stores pending, are one: the histories of the events
/// before do not count.
#[derive(Clone, Debug)]
pub struct Candidate<S> {
    /// Where it has come to.
    pub state: S,
    /// How many events it has come through.
    length: usize,
    /// What the last event was, and so on back to the first: an index into [`Replay::histories`].
    history: usize,
    /// For each thread: the first event of the block that it is in. (A number of blocks begun would grow without bound in a thread that
    /// goes round an empty block.)
    blocks: Vec<Option<usize>>,
    /// For each thread: how many events there had been at its last fence, locked instruction or border of a block (mentioned or not).
    pub barrier: Vec<Option<usize>>,
    /// The issues, as events, that each thread's buffer still holds.
    pending: Vec<Vec<usize>>,
}

impl<S> Candidate<S> {
    /// What its last event was, by its number.
    pub fn history(&self) -> usize {
        self.history
    }
}

impl<S: PartialEq> PartialEq for Candidate<S> {
    fn eq(&self, other: &Self) -> bool {
        self.length == other.length
            && self.state == other.state
            && self.blocks == other.blocks
            && self.barrier == other.barrier
            && self.pending == other.pending
    }
}

impl<S: Eq> Eq for Candidate<S> {}

impl<S: Hash> Hash for Candidate<S> {
    fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
        self.state.hash(hasher);
        self.pending.hash(hasher);
    }
}

/// What an event turned out to be.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Matched {
    /// The thread.
    pub thread: usize,
    /// The instruction.
    pub transition: usize,
    /// The block that it is in: the block's first event.
    pub block: Option<usize>,
    /// The value that it read.
    pub read: Option<Value>,
    /// For a flush: the event that issued the store.
    pub issue: Option<usize>,
    /// Whether it was an error of the program.
    pub is_error: bool,
    /// Under RA: the message that it made or changed.
    pub made: Option<u32>,
}

/// Follows runs of one program with one machine.
pub struct Replay<'a, M> {
    pub machine: &'a M,
    pub program: &'a Program,
    pub events: &'a [Event],
    /// Whether fences may be left out: they are events under RA.
    silent_fences: bool,
    /// What events were: each with the index of the one before it. Number 0 stands for the beginning.
    histories: RefCell<Vec<(Option<Matched>, usize)>>,
    /// Whether some ways were not followed because there were too many.
    gave_up: Cell<bool>,
}

impl<'a, M: Machine> Replay<'a, M>
where
    M::State: Hash + Eq,
{
    /// For following these events.
    pub fn new(
        machine: &'a M,
        program: &'a Program,
        events: &'a [Event],
        silent_fences: bool,
    ) -> Self {
        Replay {
            machine,
            program,
            events,
            silent_fences,
            histories: RefCell::new(vec![(None, 0)]),
            gave_up: Cell::new(false),
        }
    }

    /// What the events that a candidate has come through were.
    pub fn history(&self, candidate: &Candidate<M::State>) -> Vec<Matched> {
        let histories = self.histories.borrow();
        let mut found = Vec::with_capacity(candidate.length);
        let mut at = candidate.history;
        while let (Some(matched), before) = &histories[at] {
            found.push(matched.clone());
            at = *before;
        }
        found.reverse();
        found
    }

    /// What the event before was, by its number.
    pub fn before(&self, history: usize) -> usize {
        self.histories.borrow()[history].1
    }

    /// What one of the events that a candidate has come through was.
    pub fn event(&self, candidate: &Candidate<M::State>, event: usize) -> Option<Matched> {
        let histories = self.histories.borrow();
        let mut at = candidate.history;
        for _ in event + 1..candidate.length {
            at = histories[at].1;
        }
        histories[at].0.clone().filter(|_| event < candidate.length)
    }

    /// The beginning.
    pub fn start(&self) -> Vec<Candidate<M::State>> {
        let threads = self.machine.code().instances.len();
        vec![Candidate {
            state: self.machine.initial(),
            length: 0,
            history: 0,
            blocks: vec![None; threads],
            barrier: vec![None; threads],
            pending: vec![Vec::new(); threads],
        }]
    }

    /// The thread that an event belongs to.
    pub fn thread(&self, event: usize) -> Result<usize, Invalid> {
        let name = &self.events[event].thread;
        let instances = &self.machine.code().instances;
        instances
            .iter()
            .position(|i| i.name == *name)
            .ok_or_else(|| Invalid::at(event, format!("there is no thread `{name}`")))
    }

    /// The instruction of an event.
    pub fn transition(&self, matched: &Matched) -> &Transition {
        &self.machine.code().thread(matched.thread).transitions[matched.transition]
    }

    /// Whether an event is (of) a read-modify-write, also a `cas` that failed.
    pub fn is_rmw(&self, matched: &Matched) -> bool {
        matches!(self.transition(matched).op, Op::Rmw { .. })
    }

    /// Takes the events from the first one that is not matched yet up to `end`.
    pub fn follow(
        &self,
        mut candidates: Vec<Candidate<M::State>>,
        end: usize,
    ) -> Result<Vec<Candidate<M::State>>, Invalid> {
        let begin = candidates.first().map_or(end, |c| c.length);
        for index in begin..end {
            let thread = self.thread(index)?;
            let mut next = Set::default();
            for candidate in self.silently(candidates, &[thread]) {
                for (step, state) in self.machine.steps_of(&candidate.state, thread) {
                    if self.matches(&candidate, index, &step).is_ok() {
                        next.insert(self.take(&candidate, step, state, Some(index)));
                    }
                }
            }
            if next.is_empty() {
                let event = &self.events[index];
                let (thread, what) = (&event.thread, describe(event));
                return Err(self.as_far_as_followed(Invalid::at(
                    index,
                    format!("`{thread}` cannot do this here: {what}"),
                )));
            }
            candidates = next.into_iter().collect();
        }
        Ok(candidates)
    }

    /// Why a run is invalid, or only cannot be judged because there were too many ways to follow it.
    pub fn as_far_as_followed(&self, invalid: Invalid) -> Invalid {
        if self.gave_up.get() {
            return Invalid::new("there are too many ways to follow this run");
        }
        invalid
    }

    /// The candidates, and what they become by steps of these threads (and of the thread that is inside a block) that need not be mentioned.
    pub fn silently(
        &self,
        candidates: Vec<Candidate<M::State>>,
        threads: &[usize],
    ) -> Vec<Candidate<M::State>> {
        self.silently_until(candidates, threads, |_| false)
    }

    /// The same, up to the first that will do.
    pub fn silently_until(
        &self,
        candidates: Vec<Candidate<M::State>>,
        threads: &[usize],
        will_do: impl Fn(&Candidate<M::State>) -> bool,
    ) -> Vec<Candidate<M::State>> {
        let mut seen: Set<Candidate<M::State>> = Set::default();
        // Those of the fewest steps first: there may be no end of others, where a thread counts in a loop.
        let mut todo = VecDeque::from(candidates);
        // All are of one size, more or less: silent steps leave memory as it is.
        let size = todo.front().map_or(1, |c| self.machine.bytes(&c.state));
        let most = MOST_CANDIDATES.min(MOST_BYTES / size);
        while let Some(candidate) = todo.pop_front() {
            if will_do(&candidate) {
                return vec![candidate];
            }
            if !seen.insert(candidate.clone()) {
                continue;
            }
            if seen.len() > most {
                self.gave_up.set(true);
                break;
            }
            let locals = self.machine.locals(&candidate.state);
            let holder = self.machine.code().holder(locals);
            let others = threads.iter().copied().filter(|&t| Some(t) != holder);
            for thread in holder.into_iter().chain(others) {
                let steps = self.machine.unhindered_steps_of(&candidate.state, thread);
                for (step, state) in steps {
                    // What others do without touching memory while a thread is inside a block they can do before it begins, too.
                    let early = holder == Some(thread)
                        || holder.is_none()
                        || matches!(step.kind, StepKind::Local | StepKind::Error(_));
                    if early && self.is_silent(&step) {
                        todo.push_back(self.take(&candidate, step, state, None));
                    }
                }
            }
        }
        seen.into_iter().collect()
    }

    fn is_silent(&self, step: &Step) -> bool {
        match step.kind {
            StepKind::Local | StepKind::Error(_) | StepKind::AtomicBegin | StepKind::AtomicEnd => {
                true
            }
            StepKind::Fence => self.silent_fences,
            _ => false,
        }
    }

    /// Whether the step is what the event says.
    pub fn matches(
        &self,
        candidate: &Candidate<M::State>,
        index: usize,
        step: &Step,
    ) -> Result<(), &'static str> {
        let event = &self.events[index];
        let kind = match step.kind {
            StepKind::Load => EventKind::Load,
            StepKind::Store => EventKind::Store,
            StepKind::Issue => EventKind::Issue,
            StepKind::Flush => EventKind::Flush,
            StepKind::Rmw => EventKind::Rmw,
            StepKind::Fence => EventKind::Fence,
            // A weaker fence does nothing, but may be mentioned.
            StepKind::Local if self.is_fence(step) && event.kind == EventKind::Fence => {
                EventKind::Fence
            }
            StepKind::Local | StepKind::Error(_) => EventKind::Local,
            StepKind::AtomicBegin | StepKind::AtomicEnd => EventKind::Local,
            StepKind::Race => return Err("a race"),
        };
        let check = |right: bool, what| if right { Ok(()) } else { Err(what) };
        check(event.kind == kind, "kind")?;
        check(self.is_at(event, step), "place")?;
        if kind == EventKind::Local {
            return Ok(());
        }
        let location = step.location.map(|l| &self.program.location(l).name);
        check(event.location.as_ref() == location, "location")?;
        check(event.value == step.written.or(step.read), "value")?;
        check(
            event.read.is_none() || (kind == EventKind::Rmw && event.read == step.read),
            "value read",
        )?;
        check(event.atomic == step.atomic, "inside a block or not")?;
        match kind {
            EventKind::Flush => {
                let oldest = candidate.pending[step.thread].first().copied();
                check(event.issue.is_none() || event.issue == oldest, "issue")?;
            }
            _ => check(event.issue.is_none(), "issue")?,
        }
        self.matches_message(candidate, event, step)
    }

    fn is_fence(&self, step: &Step) -> bool {
        let transition = &self.machine.code().thread(step.thread).transitions[step.transition];
        matches!(transition.op, Op::Fence(_))
    }

    /// Whether file, line and column of the event are those of the step's instruction.
    pub fn is_at(&self, event: &Event, step: &Step) -> bool {
        let source = &self.program.source;
        let start = self.machine.span(step).start;
        let place = source.line_column(start);
        event.line == place.line
            && event.column == place.column
            && event.file.as_deref() == source.included_at(start)
    }

    /// Under RA: whether `rf` and `after` name the message.
    fn matches_message(
        &self,
        candidate: &Candidate<M::State>,
        event: &Event,
        step: &Step,
    ) -> Result<(), &'static str> {
        let names = |reference: EventRef| match (reference, step.message) {
            (EventRef::Initial(_), Some(id)) => id == 0,
            (EventRef::Event(index), Some(id)) => self
                .event(candidate, index)
                .is_some_and(|matched| matched.made == Some(id)),
            (_, None) => false,
        };
        let needed = step.message.is_some();
        let right = match event.kind {
            EventKind::Load => event.after.is_none() && event.rf.map_or(!needed, names),
            EventKind::Store => event.rf.is_none() && event.after.map_or(!needed, names),
            EventKind::Rmw => event.rf.map_or(!needed, names) && event.after.is_none_or(names),
            _ => event.rf.is_none_or(names) && event.after.is_none_or(names),
        };
        if right { Ok(()) } else { Err("message") }
    }

    /// The candidate after a step.
    fn take(
        &self,
        candidate: &Candidate<M::State>,
        step: Step,
        state: M::State,
        event: Option<usize>,
    ) -> Candidate<M::State> {
        let thread = step.thread;
        let mut next = Candidate {
            state,
            ..candidate.clone()
        };
        match step.kind {
            StepKind::AtomicBegin | StepKind::AtomicEnd => {
                next.blocks[thread] = None;
                next.barrier[thread] = Some(candidate.length);
            }
            StepKind::Fence | StepKind::Rmw => next.barrier[thread] = Some(candidate.length),
            _ => {}
        }
        let mut issue = None;
        match step.kind {
            StepKind::Issue => next.pending[thread].extend(event),
            StepKind::Flush => issue = Some(next.pending[thread].remove(0)),
            _ => {}
        }
        if event.is_some() {
            let length = candidate.length;
            let mut block = || *next.blocks[thread].get_or_insert(length);
            let matched = Matched {
                thread,
                transition: step.transition,
                block: step.atomic.then(&mut block),
                read: step.read,
                issue,
                is_error: matches!(step.kind, StepKind::Error(_)),
                made: step.made,
            };
            let mut histories = self.histories.borrow_mut();
            histories.push((Some(matched), candidate.history));
            next.history = histories.len() - 1;
            next.length += 1;
        }
        next
    }
}

fn describe(event: &Event) -> String {
    let kind = match event.kind {
        EventKind::Load => "load",
        EventKind::Store => "store",
        EventKind::Issue => "issue",
        EventKind::Flush => "flush",
        EventKind::Rmw => "read-modify-write",
        EventKind::Fence => "fence",
        EventKind::Local => "local step",
    };
    let mut text = kind.to_string();
    if let Some(location) = &event.location {
        text += &format!(" of `{location}`");
    }
    if let Some(value) = event.value {
        text += &format!(" with the value {value}");
    }
    text + &format!(" at {}:{}", event.line, event.column)
}
