//! `trf` under TSO: no triangular race (Owens' criterion).
//!
//! In an SC run, a store of a thread, the *pivot*; then the pivot alone goes on, without another store, fence or locked instruction, to a load of another
//! location, while a store (plain or by a read-modify-write) of another thread to that location is enabled. (Were others allowed to move in between, they
//! could need the store to be visible, and no TSO run would have the load overtake it. What they do without needing it can be done before.) Since no thread but
//! the pivot moves, the pattern is a property of the state before the store: the walk is the plain SC walk, and one look at each state serves all.
//!
//! An `atomic` block of the other thread counts as an enabled store to whatever it stores on a way to its end. It sees the memory of the SC run,
//! or that without the stores that the pivot may still have in its buffer: from a state in which the block can begin, the pivot alone goes on, by at least one
//! store, to a load of a location that it has not stored to. Without the latter, `x = 1; r = y;` beside
//! `atomic { s = x; if s == 0 { y = 1; } }` would be free of triangular races, and yet not robust.
//!
//! What has no triangular race is robust: in the normal form of an attack the first step of a helper behind the loads of the attacker
//! writes a location that the attacker has loaded, and up to there the attacker was alone.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use web_time::Instant;

use palisade_explore::{Finding, Successors};
use palisade_lang::{LocationId, Order, Program};
use palisade_memory::{Event, EventKind, Pattern, PatternKind, Witness};
use palisade_threads::{ActionKind, LocalId, View};
use rustc_hash::FxHashSet;

use super::delayed::{Candidates, Other, candidates};
use super::values::possible_values;
use crate::run::{Run, events, push_tso_events, replay, step};
use crate::sc::{Observed, Observer, ScSpace, execute};
use crate::search::search;
use crate::state::Frame;
use crate::{Answer, Control, Criterion, Model, Options, Verdict};

/// How many states inside one `atomic` block, or of the pivot alone, are tried before giving up.
const MOST_STATES: usize = 1 << 18;

/// Looks for triangular races.
pub(crate) struct Triangles {
    candidates: Candidates,
    error_seen: AtomicBool,
    pub(crate) gave_up: AtomicBool,
}

/// A way to an enabled store of another thread: one step, or a block to its end.
#[derive(Clone, Debug)]
struct Opponent {
    instance: usize,
    steps: Vec<(usize, usize)>,
    /// The locations that are stored to.
    written: Vec<LocationId>,
    is_block: bool,
}

/// A triangular race in a state.
#[derive(Clone, Debug)]
struct Race {
    pivot: usize,
    /// The pivot's steps from the store to the load.
    steps: Vec<(usize, usize)>,
    load: u32,
    location: LocationId,
    opponent: Opponent,
    /// Whether the opponent is a block that runs on memory without the pivot's stores.
    overtakes: bool,
}

impl Triangles {
    /// For all threads of a program; `Err` with how many pairs of a store and a load there are, if none of them can be a part of a race.
    pub(crate) fn anywhere(program: &Program, filter: bool) -> Result<Self, u64> {
        let possible = possible_values(program);
        let candidates = candidates(program, &possible, filter, Other::Stores, &|_| true);
        match filter && candidates.left == 0 {
            true => Err(candidates.all),
            false => Ok(Triangles {
                candidates,
                error_seen: AtomicBool::new(false),
                gave_up: AtomicBool::new(false),
            }),
        }
    }

    /// The loads that the thread is about to execute, as (action, location).
    fn loads(
        &self,
        frame: &Frame<'_>,
        view: &mut View<'_>,
        row: &[u32],
        instance: usize,
    ) -> Vec<(usize, u32, LocationId)> {
        let (code, local) = (frame.codes[instance], LocalId(row[instance]));
        let mut loads = Vec::new();
        for action in 0..view.actions(code, local) {
            let taken = view.action(code, local, action);
            if let ActionKind::Load { location, .. } | ActionKind::Wait { location, .. } =
                taken.kind
                && matches!(execute(frame, view, row, taken.kind), Ok(Some(_)))
            {
                loads.push((action, taken.transition, location));
            }
        }
        loads
    }

    /// The stores that a thread is about to execute.
    fn opponents(
        &self,
        frame: &Frame<'_>,
        view: &mut View<'_>,
        row: &[u32],
        instance: usize,
    ) -> Vec<Opponent> {
        let (code, local) = (frame.codes[instance], LocalId(row[instance]));
        let mut found = Vec::new();
        for action in 0..view.actions(code, local) {
            let kind = view.action(code, local, action).kind;
            match kind {
                ActionKind::Store { .. } | ActionKind::Rmw { .. } => {
                    if let Ok(Some(access)) = execute(frame, view, row, kind)
                        && let Some((location, _)) = access.written
                    {
                        found.push(Opponent {
                            instance,
                            steps: vec![(action, 0)],
                            written: vec![location],
                            is_block: false,
                        });
                    }
                }
                ActionKind::AtomicBegin => {
                    self.run_block(frame, view, row, instance, action, &mut found)
                }
                _ => {}
            }
        }
        found
    }

    /// Runs a block to each of its ends.
    fn run_block(
        &self,
        frame: &Frame<'_>,
        view: &mut View<'_>,
        row: &[u32],
        instance: usize,
        begin: usize,
        found: &mut Vec<Opponent>,
    ) {
        let code = frame.codes[instance];
        let mut alone = Alone::new(instance);
        for outcome in 0..view.next(code, LocalId(row[instance]), begin).len() {
            let mut inside = row.to_vec();
            inside[instance] = view.next(code, LocalId(row[instance]), begin)[outcome].0;
            alone.begin(inside, (begin, outcome));
        }
        let mut at = 0;
        while let Some((current, written)) = alone.state(at) {
            if alone.entries.len() > MOST_STATES {
                self.gave_up.store(true, Relaxed);
                return;
            }
            let local = LocalId(current[instance]);
            if !view.is_atomic(code, local) {
                if !written.is_empty()
                    && !found
                        .iter()
                        .any(|o| o.instance == instance && o.is_block && o.written == written)
                {
                    found.push(Opponent {
                        instance,
                        steps: way_to(&alone.entries, at),
                        written,
                        is_block: true,
                    });
                }
                at += 1;
                continue;
            }
            for action in 0..view.actions(code, local) {
                let kind = view.action(code, local, action).kind;
                if !matches!(kind, ActionKind::Error(_)) {
                    alone.go_on(frame, view, at, action);
                }
            }
            at += 1;
        }
    }

    /// Whether a state has a triangular race.
    pub(crate) fn is_race(&self, frame: &Frame<'_>, view: &mut View<'_>, row: &[u32]) -> bool {
        !self.races(frame, view, row).is_empty()
    }

    /// The triangular races of a state, one for each pair of pivot and load.
    fn races(&self, frame: &Frame<'_>, view: &mut View<'_>, row: &[u32]) -> Vec<Race> {
        let count = frame.thread_count();
        let mut races: Vec<Race> = Vec::new();
        if frame.atomic_thread(view, row).is_some() {
            return races;
        }
        let mut blocks: Option<Vec<Opponent>> = None;
        for pivot in 0..count {
            let (code, local) = (frame.codes[pivot], LocalId(row[pivot]));
            if view.next_footprint(code, local).writes == 0
                || !self.candidates.may_be_pivot(frame, pivot)
            {
                continue;
            }
            let reads = view.future_footprint(code, local).reads;
            let challengers: Vec<usize> = (0..count)
                .filter(|&other| {
                    let next = view.next_footprint(frame.codes[other], LocalId(row[other]));
                    other != pivot && next.writes & reads != 0
                })
                .collect();
            if challengers.is_empty() {
                continue;
            }
            for action in 0..view.actions(code, local) {
                let taken = view.action(code, local, action);
                if let ActionKind::Store {
                    location,
                    value,
                    order,
                } = taken.kind
                    && order != Order::SeqCst
                    && (self.candidates).may_be_delayed(frame, pivot, taken.transition)
                {
                    let mut stored = row.to_vec();
                    stored[frame.component(location)] = view.value_id(value);
                    self.run_pivot(
                        frame,
                        view,
                        &stored,
                        pivot,
                        (action, location),
                        &challengers,
                        &mut races,
                    );
                }
            }
            let blocks = blocks.get_or_insert_with(|| {
                let mut all = Vec::new();
                for instance in 0..count {
                    all.extend(self.opponents(frame, view, row, instance));
                }
                all.retain(|o| o.is_block);
                all
            });
            if blocks.iter().any(|b| b.instance != pivot) {
                let blocks: Vec<&Opponent> =
                    blocks.iter().filter(|b| b.instance != pivot).collect();
                self.overtaken_by_block(frame, view, row, pivot, &blocks, &mut races);
            }
        }
        races
    }

    /// Lets the pivot alone go on behind its store, by loads and local steps, on a memory that has the store.
    #[allow(clippy::too_many_arguments)]
    fn run_pivot(
        &self,
        frame: &Frame<'_>,
        view: &mut View<'_>,
        row: &[u32],
        pivot: usize,
        (action, stored): (usize, LocationId),
        challengers: &[usize],
        races: &mut Vec<Race>,
    ) {
        let code = frame.codes[pivot];
        let mut opponents: Option<Vec<Opponent>> = None;
        let mut seen: FxHashSet<LocalId> = FxHashSet::default();
        let mut current = row.to_vec();
        // Local states of the pivot, with the step that led there and the state before it.
        let mut states: Vec<(LocalId, Taken, usize)> = Vec::new();
        for (outcome, next) in view
            .next(code, LocalId(row[pivot]), action)
            .iter()
            .enumerate()
        {
            states.push((*next, (action, outcome), usize::MAX));
        }
        let mut at = 0;
        while at < states.len() {
            if states.len() > MOST_STATES {
                self.gave_up.store(true, Relaxed);
                return;
            }
            current[pivot] = states[at].0.0;
            for (action, load, location) in self.loads(frame, view, &current, pivot) {
                if location == stored || races.iter().any(|r| r.pivot == pivot && r.load == load) {
                    continue;
                }
                let opponents = opponents.get_or_insert_with(|| {
                    let mut all = Vec::new();
                    for &other in challengers {
                        all.extend(self.opponents(frame, view, row, other));
                    }
                    all
                });
                if let Some(opponent) = opponents.iter().find(|o| o.written.contains(&location)) {
                    let mut steps = way_to(&states, at);
                    steps.push((action, 0));
                    races.push(Race {
                        pivot,
                        steps,
                        load,
                        location,
                        opponent: opponent.clone(),
                        overtakes: false,
                    });
                }
            }
            let local = states[at].0;
            for action in 0..view.actions(code, local) {
                let kind = view.action(code, local, action).kind;
                match kind {
                    ActionKind::Load { .. } | ActionKind::Wait { .. } | ActionKind::Local => {}
                    ActionKind::Fence(order) if order != Order::SeqCst => {}
                    _ => continue,
                }
                let Ok(Some(access)) = execute(frame, view, &current, kind) else {
                    continue;
                };
                let nexts = view.resume(code, local, action, access.read.unwrap_or(0));
                for (outcome, next) in nexts.iter().enumerate() {
                    if seen.insert(*next) {
                        states.push((*next, (action, outcome), at));
                    }
                }
            }
            at += 1;
        }
    }

    /// Lets the pivot alone go on from a state in which blocks can begin, with its stores in its buffer.
    fn overtaken_by_block(
        &self,
        frame: &Frame<'_>,
        view: &mut View<'_>,
        row: &[u32],
        pivot: usize,
        blocks: &[&Opponent],
        races: &mut Vec<Race>,
    ) {
        let code = frame.codes[pivot];
        let mut alone = Alone::new(pivot);
        alone.begin(row.to_vec(), (0, 0));
        let mut at = 0;
        while let Some((current, stored)) = alone.state(at) {
            if alone.entries.len() > MOST_STATES {
                self.gave_up.store(true, Relaxed);
                return;
            }
            if !stored.is_empty() {
                for (action, load, location) in self.loads(frame, view, &current, pivot) {
                    let block = blocks.iter().find(|b| b.written.contains(&location));
                    if let Some(block) = block
                        && !stored.contains(&location)
                        && !races.iter().any(|r| r.pivot == pivot && r.load == load)
                    {
                        // The first entry is the state itself, reached by no step.
                        let mut steps = way_to(&alone.entries, at);
                        steps.remove(0);
                        steps.push((action, 0));
                        races.push(Race {
                            pivot,
                            steps,
                            load,
                            location,
                            opponent: (*block).clone(),
                            overtakes: true,
                        });
                    }
                }
            }
            let local = LocalId(current[pivot]);
            for action in 0..view.actions(code, local) {
                let kind = view.action(code, local, action).kind;
                match kind {
                    ActionKind::Load { .. } | ActionKind::Wait { .. } | ActionKind::Local => {}
                    ActionKind::Store { order, .. } | ActionKind::Fence(order)
                        if order != Order::SeqCst => {}
                    _ => continue,
                }
                alone.go_on(frame, view, at, action);
            }
            at += 1;
        }
    }
}

/// A state, and the locations that a thread has written on its way there, in order.
type Written = (Vec<u32>, Vec<LocationId>);

/// A step: the action and its outcome.
type Taken = (usize, usize);

/// Where one thread can get while all others stand still.
struct Alone {
    instance: usize,
    seen: FxHashSet<Written>,
    /// Each state with the step that led there and the entry before it.
    entries: Vec<(Written, Taken, usize)>,
}

impl Alone {
    fn new(instance: usize) -> Self {
        Alone {
            instance,
            seen: FxHashSet::default(),
            entries: Vec::new(),
        }
    }

    /// Adds a state to begin with, to which this step led.
    fn begin(&mut self, row: Vec<u32>, step: Taken) {
        self.entries.push(((row, Vec::new()), step, usize::MAX));
    }

    /// The state of an entry; `None` behind the last.
    fn state(&self, at: usize) -> Option<Written> {
        self.entries.get(at).map(|entry| entry.0.clone())
    }

    /// Adds the states to which an action leads, if it can be taken and they are new.
    fn go_on(&mut self, frame: &Frame<'_>, view: &mut View<'_>, at: usize, action: usize) {
        let (mut row, mut written) = self.entries[at].0.clone();
        let (code, local) = (frame.codes[self.instance], LocalId(row[self.instance]));
        let kind = view.action(code, local, action).kind;
        let Ok(Some(access)) = execute(frame, view, &row, kind) else {
            return;
        };
        if let Some((location, value)) = access.written {
            row[frame.component(location)] = view.value_id(value);
            if let Err(place) = written.binary_search(&location) {
                written.insert(place, location);
            }
        }
        let nexts = view.resume(code, local, action, access.read.unwrap_or(0));
        for (outcome, next) in nexts.iter().enumerate() {
            row[self.instance] = next.0;
            let state = (row.clone(), written.clone());
            if self.seen.insert(state.clone()) {
                self.entries.push((state, (action, outcome), at));
            }
        }
    }
}

/// The steps to an entry of a list in which each entry has its step and the entry before it.
fn way_to<State>(entries: &[(State, Taken, usize)], mut at: usize) -> Vec<Taken> {
    let mut steps = Vec::new();
    while at != usize::MAX {
        let (_, step, before) = &entries[at];
        steps.push(*step);
        at = *before;
    }
    steps.reverse();
    steps
}

/// The kind of a finding: which code, which load.
fn kind_of(frame: &Frame<'_>, race: &Race) -> u64 {
    (frame.codes[race.pivot] as u64) << 32 | u64::from(race.load)
}

impl Observer for Triangles {
    fn observe(
        &self,
        frame: &Frame<'_>,
        view: &mut View<'_>,
        state: Observed<'_>,
        out: &mut Successors<'_>,
    ) {
        for race in self.races(frame, view, state.row) {
            out.report(kind_of(frame, &race));
        }
    }

    fn error(&self, _code: usize, _transition: u32, _label: u64, _out: &mut Successors<'_>) {
        self.error_seen.store(true, Relaxed);
    }

    /// A store that may be one of a race must not be moved past another thread's arrival at its own.
    fn watched_writes(&self) -> u64 {
        self.candidates.watched
    }

    fn noticed(&self) -> Vec<&AtomicBool> {
        vec![&self.error_seen, &self.gave_up]
    }
}

/// Decides `trf` under TSO.
pub(crate) fn check(program: &Program, options: &Options, control: &Control<'_>) -> Answer {
    // What a `never` says is no part of a race.
    let mut program = program.clone();
    program.nevers.clear();
    let start = Instant::now();
    let triangles = match Triangles::anywhere(&program, options.reductions.static_filter) {
        Ok(triangles) => triangles,
        Err(pairs) => return Answer::dismissed(pairs, start.elapsed()),
    };
    let (left, all) = (triangles.candidates.left, triangles.candidates.all);
    // Where all violations are wanted, it does matter which thread it is.
    let frame = match options.all {
        true => Frame::new(&program, &options.reductions),
        false => Frame::with_equal_threads(&program, &options.reductions),
    };
    let space = ScSpace {
        frame: &frame,
        observer: triangles,
        partial_order: options.reductions.partial_order,
    };
    let (outcome, mut answer) = search(&space, options, control);
    answer.stats.queries = left;
    answer.stats.pruned = all - left;
    let mut view = frame.threads.view();
    if answer.verdict == Verdict::Holds && space.observer.gave_up.load(Relaxed) {
        answer.verdict = Verdict::Unknown(
            "some thread can run on for ever with its stores in its buffer, or inside an `atomic` block".into(),
        );
    }
    answer.tell(&outcome, options, |finding| {
        witness(&space, &mut view, finding)
    });
    answer.note_errors(&space.observer.error_seen);
    answer
}

/// Replays the path to a finding, and shows the race at its end.
fn witness(
    space: &ScSpace<'_, '_, Triangles>,
    view: &mut View<'_>,
    finding: &Finding,
) -> Option<Witness> {
    let frame = space.frame;
    let program = frame.program();
    let mut run = replay(frame, view, finding);
    let race = space
        .observer
        .races(frame, view, &run.row)
        .into_iter()
        .find(|race| kind_of(frame, race) == finding.kind)?;
    let names: Vec<String> = program.instances().into_iter().map(|i| i.name).collect();
    let location = &program.location(race.location).name;
    let is_other = |event: &Event| {
        event.thread == names[race.opponent.instance]
            && event.location.as_ref() == Some(location)
            && matches!(
                event.kind,
                EventKind::Store | EventKind::Rmw | EventKind::Flush
            )
    };
    let (events, load) = if race.overtakes {
        tso_events(space, view, &race, run, &names)
    } else {
        for &(action, outcome) in &race.steps {
            step(frame, view, &mut run, race.pivot, action, outcome);
        }
        let load = events(program, &run, &names).len() - 1;
        for &(action, outcome) in &race.opponent.steps {
            step(
                frame,
                view,
                &mut run,
                race.opponent.instance,
                action,
                outcome,
            );
        }
        (events(program, &run, &names), load)
    };
    let store = events[..load].iter().rposition(|event| {
        event.thread == names[race.pivot]
            && matches!(event.kind, EventKind::Store | EventKind::Issue)
    })?;
    let other = load + events[load..].iter().position(is_other)?;
    let message = format!(
        "{} has stored to `{}` and goes on to load `{location}`, with nothing between that waits for its buffer, while {} is about to store to `{location}`",
        names[race.pivot],
        events[store].location.as_deref().unwrap_or(""),
        names[race.opponent.instance],
    );
    Some(Witness {
        model: if race.overtakes {
            Model::Tso
        } else {
            Model::Sc
        },
        criterion: Criterion::Trf,
        events,
        cycle: Vec::new(),
        edges: Vec::new(),
        pattern: Some(Pattern {
            kind: PatternKind::TriangularRace,
            events: vec![store, load, other],
            message,
        }),
        loop_start: None,
        copies: None,
    })
}

/// The run in which a block overtakes stores, as TSO executes it; and the place of the load in it.
fn tso_events(
    space: &ScSpace<'_, '_, Triangles>,
    view: &mut View<'_>,
    race: &Race,
    before: Run,
    names: &[String],
) -> (Vec<Event>, usize) {
    let frame = space.frame;
    let program = frame.program();
    let mut events = Vec::new();
    for step in &before.steps {
        push_tso_events(program, names, step, true, &mut events);
    }
    let first = events.len();
    // The pivot sees its own stores; the block does not, so two runs go on from the same state.
    let run_on = |view: &mut View<'_>, instance: usize, steps: &[(usize, usize)]| {
        let mut run = Run {
            steps: Vec::new(),
            ..before.clone()
        };
        for &(action, outcome) in steps {
            step(frame, view, &mut run, instance, action, outcome);
        }
        run.steps
    };
    for step in run_on(view, race.pivot, &race.steps) {
        push_tso_events(program, names, &step, false, &mut events);
    }
    let load = events.len() - 1;
    for step in run_on(view, race.opponent.instance, &race.opponent.steps) {
        push_tso_events(program, names, &step, true, &mut events);
    }
    for issue in first..load {
        if events[issue].kind == EventKind::Issue {
            events.push(Event {
                kind: EventKind::Flush,
                issue: Some(issue),
                ..events[issue].clone()
            });
        }
    }
    (events, load)
}
