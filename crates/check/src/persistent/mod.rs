//! `persistent` under TSO: every TSO run has the program orders and the store order of some SC run (Abdulla et al. 2015).
//!
//! By Theorem 1 there a program is fragile iff it has, after an SC run π1, the pattern
//!
//! ```text
//! e1    the pivot issues a store to y
//! π3    the pivot alone runs on: loads and local steps, no store, fence or read-modify-write
//! e     the pivot loads v from x ≠ y
//! e2    another thread, which has not moved since π1, can write v' ≠ v to x
//! ```
//!
//! and then `π1·e1·π3·e·e2·u2·u1` is a fragile TSO run: its store order puts e2 before e1, its program order e1 before e, so in an SC run e would
//! have to read v'. Here e2 is a plain store, a read-modify-write that writes, or an `atomic` block, which runs on memory without
//! the pivot's pending stores and counts with the last value that it leaves in x. Because a block may read several locations, for a block π3 may
//! contain further stores, which wait as well: `x = 1; w = 1; r = y;` beside `atomic { if x == 0 && w == 0 { y = 1; } }`.
//!
//! Since no thread but the pivot moves between π1 and e2, the pattern is a property of the state after π1: the walk is the plain SC walk, and
//! one look at each state serves all pivots, stores and loads. A failed `cas`, a full fence and the beginning of a block
//! wait for the pivot's buffer to drain, and so end the pattern.

//!
//! # Levels
//!
//! The walk goes over all states of the program, and most of what other threads do does not matter for a pivot. [`flatten`] leaves it out: if a pivot
//! has no pattern in the abstract program, it has none in the program. If it has one, the others are allowed more of their own steps, and
//! what remains is decided by the program itself. So the answer is exact; [`Stats::level`] says what decided it.

mod flatten;

use std::sync::atomic::{AtomicBool, Ordering};
use web_time::Instant;

use palisade_explore::{Finding, Reason, Successors};
use palisade_lang::{LocationId, Order, Program};
use palisade_memory::{EventKind, Pattern, PatternKind, Witness};
use palisade_threads::{ActionKind, Footprint, LocalId, View};

use crate::run::replay;
use crate::sc::{Observed, Observer, ScSpace};
use crate::search::search_within;
use crate::state::{Frame, same_code};
use crate::tso::alone::{self, RUNS_ON_FOR_EVER, Taken, Writer, overtaken, writers};
use crate::tso::delayed::{Candidates, Other, candidates};
use crate::values::{Possible, possible_values};
use crate::{Abstraction, Answer, Control, Criterion, Level, Model, Options, Stats, Verdict};
use flatten::flatten;

/// Looks for the fragility pattern.
pub(crate) struct Fragility {
    candidates: Candidates,
    error_seen: AtomicBool,
    /// A block took more steps than are tried.
    pub(crate) gave_up: AtomicBool,
}

/// A pattern that was found in a state.
#[derive(Clone, Debug)]
struct Fragile {
    pivot: usize,
    /// e1, π3, e as (action, outcome).
    steps: Vec<Taken>,
    store: u32,
    load: u32,
    /// The location that e loads and e2 changes.
    location: LocationId,
    overtaker: Writer,
}

impl Fragility {
    pub(crate) fn new(candidates: Candidates) -> Self {
        Fragility {
            candidates,
            error_seen: AtomicBool::new(false),
            gave_up: AtomicBool::new(false),
        }
    }

    /// For all threads of a program; `Err` with how many pairs of a store and a load there are, if none of them can be a part of the pattern.
    pub(crate) fn anywhere(program: &Program, filter: bool) -> Result<Self, u64> {
        let candidates = candidates(
            program,
            &possible_values(program),
            filter,
            Other::Changes,
            &|_| true,
        );
        match filter && candidates.left == 0 {
            true => Err(candidates.all),
            false => Ok(Fragility::new(candidates)),
        }
    }

    /// Whether a state has the pattern.
    pub(crate) fn is_fragile(&self, frame: &Frame<'_>, view: &mut View<'_>, row: &[u32]) -> bool {
        !self.patterns(frame, view, row).is_empty()
    }

    /// All writes that threads could make now and that change a location.
    fn overtakers(&self, frame: &Frame<'_>, view: &mut View<'_>, row: &[u32]) -> Vec<Writer> {
        let mut all = Vec::new();
        for instance in 0..frame.thread_count() {
            all.extend(writers(frame, view, row, instance, &self.gave_up));
        }
        for writer in &mut all {
            let changes = |w: &(LocationId, u32)| row[frame.component(w.0)] != w.1;
            writer.written.retain(changes);
        }
        all.retain(|writer| !writer.written.is_empty());
        all
    }

    /// The patterns of a state, each pair of store and load once.
    fn patterns(&self, frame: &Frame<'_>, view: &mut View<'_>, row: &[u32]) -> Vec<Fragile> {
        let mut patterns: Vec<Fragile> = Vec::new();
        if frame.atomic_thread(view, row).is_some() {
            return patterns;
        }
        let has_store = (0..frame.thread_count()).any(|i| {
            let (code, local) = (frame.codes[i], LocalId(row[i]));
            view.next_footprint(code, local).writes != 0
        });
        if !has_store {
            return patterns;
        }
        let overtakers = self.overtakers(frame, view, row);
        if overtakers.is_empty() {
            return patterns;
        }
        for pivot in 0..frame.thread_count() {
            // Two interchangeable threads in the same local state do the same.
            let twin = frame.group_of[pivot].is_some_and(|group| {
                pivot > frame.groups[group][0] && row[pivot] == row[pivot - 1]
            });
            if twin {
                continue;
            }
            let mut overtaken = 0u64;
            for overtaker in overtakers.iter().filter(|o| o.instance != pivot) {
                for (location, _) in &overtaker.written {
                    overtaken |= Footprint::bit(*location);
                }
            }
            let (code, local) = (frame.codes[pivot], LocalId(row[pivot]));
            if view.future_footprint(code, local).reads & overtaken == 0 {
                continue;
            }
            for action in 0..view.actions(code, local) {
                let taken = view.action(code, local, action);
                // A `seqcst` store is followed by a fence: nothing overtakes it.
                if let ActionKind::Store { order, .. } = taken.kind
                    && order != Order::SeqCst
                    && (self.candidates).may_be_delayed(frame, pivot, taken.transition)
                {
                    let store = (action, taken.transition);
                    self.run_pivot(frame, view, row, pivot, store, &overtakers, &mut patterns);
                }
            }
        }
        patterns
    }

    /// Lets the pivot run on behind its store: π3 and e.
    #[allow(clippy::too_many_arguments)]
    fn run_pivot(
        &self,
        frame: &Frame<'_>,
        view: &mut View<'_>,
        row: &[u32],
        pivot: usize,
        (action, store): (usize, u32),
        overtakers: &[Writer],
        patterns: &mut Vec<Fragile>,
    ) {
        let others = || overtakers.iter().filter(|o| o.instance != pivot);
        // A block reads several locations at once, so more than one store of the pivot may have to be out of its sight.
        let blocks = others().any(|o| o.is_block);
        alone::run_pivot(
            frame,
            view,
            row,
            pivot,
            Some(action),
            blocks,
            &self.gave_up,
            |_, alone, load| {
                let known =
                    |p: &Fragile| (p.pivot, p.store, p.load) == (pivot, store, load.transition);
                let overtaker = others().find(|o| {
                    o.value_for(load.location).is_some() && (o.is_block || !load.several)
                });
                if let Some(overtaker) = overtaker
                    && !patterns.iter().any(known)
                {
                    patterns.push(Fragile {
                        pivot,
                        steps: alone.steps_to(&load),
                        store,
                        load: load.transition,
                        location: load.location,
                        overtaker: overtaker.clone(),
                    });
                }
            },
        );
    }
}

/// The kind of a finding: which code, which store, which load.
fn kind_of(frame: &Frame<'_>, pattern: &Fragile) -> u64 {
    (frame.codes[pattern.pivot] as u64) << 52
        | (u64::from(pattern.store) & ((1 << 26) - 1)) << 26
        | u64::from(pattern.load) & ((1 << 26) - 1)
}

impl Observer for Fragility {
    fn observe(
        &self,
        frame: &Frame<'_>,
        view: &mut View<'_>,
        state: Observed<'_>,
        out: &mut Successors<'_>,
    ) {
        for pattern in self.patterns(frame, view, state.row) {
            out.report(kind_of(frame, &pattern));
        }
    }

    fn error(&self, _code: usize, _transition: u32, _label: u64, _out: &mut Successors<'_>) {
        self.error_seen.store(true, Ordering::Relaxed);
    }

    /// A store that may be e1 or e2 must not be moved past another thread's arrival at its own.
    fn watched_writes(&self) -> u64 {
        self.candidates.watched
    }

    fn noticed(&self) -> Vec<&AtomicBool> {
        vec![&self.error_seen, &self.gave_up]
    }
}

/// The walk of the program itself stops here for the first time, and the abstraction is tried.
const FIRST_STATES: u64 = 1 << 16;
/// All abstract programs together may have about this many states.
const ABSTRACT_STATES: u64 = 1 << 19;
/// How often the others are allowed more steps.
const RAISES: u32 = 2;

/// Decides `persistent` under TSO.
pub(crate) fn check(program: &Program, options: &Options, control: &Control<'_>) -> Answer {
    // What a `never` says does not matter here, so nothing needs to stay visible for it.
    let mut program = program.clone();
    program.nevers.clear();
    let start = Instant::now();
    let filter = options.reductions.static_filter;
    let possible = possible_values(&program);
    let all = candidates(&program, &possible, filter, Other::Changes, &|_| true);
    let mut check = Check {
        program: &program,
        possible: &possible,
        options,
        control,
        start,
        open: (0..all.stores.len())
            .map(|pivot| !filter || all.stores[pivot].contains(&true))
            .collect(),
        stats: Stats {
            queries: all.left,
            pruned: all.all - all.left,
            ..Stats::default()
        },
    };
    let mut answer = check.decide();
    answer.stats = Stats {
        wall: start.elapsed(),
        ..check.stats
    };
    answer
}

/// A check on its way through the levels.
struct Check<'a> {
    program: &'a Program,
    possible: &'a Possible,
    options: &'a Options,
    control: &'a Control<'a>,
    start: Instant,
    /// For each running thread, whether it may still be the pivot of a pattern.
    open: Vec<bool>,
    /// All walks together.
    stats: Stats,
}

/// What an abstract program says about a pivot.
enum Flat {
    /// The pivot has no pattern.
    Proved,
    /// The abstract program has one, or cannot be walked.
    Open,
    /// A limit of the check is reached.
    Stopped(Verdict),
}

impl Check<'_> {
    fn decide(&mut self) -> Answer {
        if !self.open.contains(&true) {
            return self.holds(Level::Filter);
        }
        let steps = match self.options.abstraction {
            Abstraction::Off => return self.concrete(None),
            Abstraction::From(steps) => steps,
            Abstraction::Auto => {
                let answer = self.concrete(Some(FIRST_STATES));
                if answer.verdict != cut_off() {
                    return answer;
                }
                0
            }
        };
        match self.abstractly(steps) {
            Some(answer) => answer,
            None => self.concrete(None),
        }
    }

    fn holds(&mut self, level: Level) -> Answer {
        self.stats.level = Some(level);
        Answer {
            verdict: Verdict::Holds,
            witnesses: Vec::new(),
            stats: self.stats,
            notes: Vec::new(),
            harm: None,
        }
    }

    /// The options for what is left of the time.
    fn remaining(&self) -> Options {
        let left = |t: std::time::Duration| t.saturating_sub(self.start.elapsed());
        Options {
            timeout: self.options.timeout.map(left),
            ..self.options.clone()
        }
    }

    /// Tries the abstraction, and raises its precision where it is not enough. `None` where pivots are left.
    fn abstractly(&mut self, first: u32) -> Option<Answer> {
        let mut budget = ABSTRACT_STATES;
        let mut steps = first;
        for _ in 0..=RAISES {
            let before = self.stats.states;
            for pivot in 0..self.open.len() {
                if !self.open[pivot] || self.has_earlier_twin(pivot) {
                    continue;
                }
                match self.flat(pivot, steps, budget) {
                    Flat::Proved => self.close(pivot),
                    Flat::Open => {}
                    Flat::Stopped(verdict) => {
                        let mut answer = self.holds(Level::Abstract(steps));
                        answer.verdict = verdict;
                        return Some(answer);
                    }
                }
            }
            if !self.open.contains(&true) {
                return Some(self.holds(Level::Abstract(steps)));
            }
            budget = budget.saturating_sub(self.stats.states - before);
            if budget == 0 {
                break;
            }
            steps = steps.saturating_mul(2).saturating_add(2);
        }
        None
    }

    /// Whether an earlier thread that may still be a pivot runs the same code.
    fn has_earlier_twin(&self, pivot: usize) -> bool {
        (0..pivot).any(|earlier| self.open[earlier] && self.are_twins(earlier, pivot))
    }

    /// A thread and its twins are no pivots any more.
    fn close(&mut self, pivot: usize) {
        for other in 0..self.open.len() {
            if self.are_twins(pivot, other) {
                self.open[other] = false;
            }
        }
    }

    fn are_twins(&self, a: usize, b: usize) -> bool {
        let instances = self.program.instances();
        let code = |i: usize| self.program.thread(instances[i].thread);
        a == b || same_code(code(a), code(b))
    }

    /// Looks for patterns of one pivot in the abstract program.
    fn flat(&mut self, pivot: usize, steps: u32, states: u64) -> Flat {
        let Some(program) = flatten(self.program, self.possible, pivot, steps) else {
            return Flat::Open;
        };
        let possible = possible_values(&program);
        let filter = self.options.reductions.static_filter;
        let candidates = candidates(&program, &possible, filter, Other::Changes, &|pivot| {
            pivot == 0
        });
        if filter && candidates.left == 0 {
            return Flat::Proved;
        }
        let options = Options {
            all: false,
            ..self.remaining()
        };
        let frame = Frame::with_equal_threads(&program, &options.reductions);
        let space = space(&frame, candidates, &options);
        let (outcome, answer) = search_within(&space, &options, self.control, Some(states));
        self.count(&answer.stats);
        let gave_up = space.observer.gave_up.load(Ordering::Relaxed);
        match answer.verdict {
            _ if !outcome.findings.is_empty() || gave_up => Flat::Open,
            Verdict::Holds => Flat::Proved,
            verdict if outcome.stopped == Some(Reason::States) || verdict == Verdict::Violated => {
                Flat::Open
            }
            verdict => Flat::Stopped(verdict),
        }
    }

    /// Looks for patterns of all pivots that are left in the program itself.
    fn concrete(&mut self, states: Option<u64>) -> Answer {
        let options = self.remaining();
        let filter = options.reductions.static_filter;
        let open = self.open.clone();
        let candidates = candidates(
            self.program,
            self.possible,
            filter,
            Other::Changes,
            &|pivot| open[pivot],
        );
        // Which of several equal threads does it matters where all violations are wanted.
        let frame = match options.all {
            true => Frame::new(self.program, &options.reductions),
            false => Frame::with_equal_threads(self.program, &options.reductions),
        };
        let space = space(&frame, candidates, &options);
        let (outcome, mut answer) = search_within(&space, &options, self.control, states);
        self.count(&answer.stats);
        self.stats.level = Some(Level::Concrete);
        let mut view = frame.threads.view();
        if answer.verdict == Verdict::Holds && space.observer.gave_up.load(Ordering::Relaxed) {
            answer.verdict = Verdict::Unknown(RUNS_ON_FOR_EVER.into());
        }
        if outcome.stopped == Some(Reason::States) && states.is_some() {
            answer.verdict = cut_off();
            // With all violations wanted, those of a part are not enough.
            if options.all {
                return answer;
            }
        }
        answer.tell(&outcome, &options, |finding| {
            witness(&space, &mut view, finding)
        });
        answer.note_errors(&space.observer.error_seen);
        answer
    }

    fn count(&mut self, stats: &Stats) {
        self.stats.states += stats.states;
        self.stats.transitions += stats.transitions;
        self.stats.peak_memory_bytes = self.stats.peak_memory_bytes.max(stats.peak_memory_bytes);
    }
}

/// What a walk says that was ended by our own bound on its states.
fn cut_off() -> Verdict {
    Verdict::Unknown(String::new())
}

fn space<'f, 'p>(
    frame: &'f Frame<'p>,
    candidates: Candidates,
    options: &Options,
) -> ScSpace<'f, 'p, Fragility> {
    ScSpace {
        frame,
        observer: Fragility::new(candidates),
        partial_order: options.reductions.partial_order,
    }
}

/// The fragile run `π1·e1·π3·e·e2·u2·u1`, as TSO executes it.
fn witness(
    space: &ScSpace<'_, '_, Fragility>,
    view: &mut View<'_>,
    finding: &Finding,
) -> Option<Witness> {
    let frame = space.frame;
    let program = frame.program();
    let before = replay(frame, view, finding);
    let patterns = space.observer.patterns(frame, view, &before.row);
    let pattern = patterns
        .into_iter()
        .find(|p| kind_of(frame, p) == finding.kind)?;
    let names: Vec<String> = program.instances().into_iter().map(|i| i.name).collect();
    let pivot = (pattern.pivot, &pattern.steps[..]);
    let (events, e1, e) = overtaken(frame, view, &before, pivot, &pattern.overtaker, &names);
    let location = &program.location(pattern.location).name;
    let u2 = events.iter().rposition(|event| {
        matches!(
            event.kind,
            EventKind::Flush | EventKind::Rmw | EventKind::Store
        ) && event.location.as_ref() == Some(location)
    })?;
    let e2 = events[u2].issue.unwrap_or(u2);
    let u1 = events.iter().position(|event| event.issue == Some(e1))?;
    let value = pattern.overtaker.value_for(pattern.location)?;
    let message = format!(
        "{} reads {} from `{location}` while its store to `{}` still waits, and then {} writes {}: the order of the stores says that {} wrote first, the order of {}'s own steps says that its store came first, and no SC run has both",
        names[pattern.pivot],
        events[e].value.unwrap_or(0),
        events[e1].location.as_deref().unwrap_or(""),
        names[pattern.overtaker.instance],
        view.value(value),
        names[pattern.overtaker.instance],
        names[pattern.pivot],
    );
    Some(Witness {
        model: Model::Tso,
        criterion: Criterion::Persistent,
        events,
        cycle: Vec::new(),
        edges: Vec::new(),
        pattern: Some(Pattern {
            kind: PatternKind::Fragile,
            events: vec![e1, e, e2, u2, u1],
            message,
        }),
        loop_start: None,
        copies: None,
    })
}
