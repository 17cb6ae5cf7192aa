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

use super::alone::{self, RUNS_ON_FOR_EVER, Taken, Writer, overtaken, writers};
use super::delayed::{Candidates, Other, candidates};
use crate::run::{events, replay, step};
use crate::sc::{Observed, Observer, ScSpace};
use crate::search::search;
use crate::state::Frame;
use crate::values::possible_values;
use crate::{Answer, Control, Criterion, Model, Options, Verdict};

/// Looks for triangular races.
pub(crate) struct Triangles {
    candidates: Candidates,
    error_seen: AtomicBool,
    pub(crate) gave_up: AtomicBool,
}

/// A triangular race in a state.
#[derive(Clone, Debug)]
struct Race {
    pivot: usize,
    /// The pivot's steps from the store to the load.
    steps: Vec<Taken>,
    load: u32,
    location: LocationId,
    opponent: Writer,
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
        let mut blocks: Option<Vec<Writer>> = None;
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
                    let mut opponents: Option<Vec<Writer>> = None;
                    self.run_pivot(
                        frame,
                        view,
                        row,
                        pivot,
                        Some(action),
                        |view, location| {
                            let opponents = opponents.get_or_insert_with(|| {
                                let others = challengers.iter();
                                others
                                    .flat_map(|&o| writers(frame, view, &stored, o, &self.gave_up))
                                    .collect()
                            });
                            let mut opponents = opponents.iter();
                            opponents.find(|o| o.value_for(location).is_some()).cloned()
                        },
                        &mut races,
                    );
                }
            }
            let blocks = blocks.get_or_insert_with(|| {
                (0..count)
                    .flat_map(|other| writers(frame, view, row, other, &self.gave_up))
                    .filter(|writer| writer.is_block)
                    .collect()
            });
            if blocks.iter().any(|b| b.instance != pivot) {
                self.run_pivot(
                    frame,
                    view,
                    row,
                    pivot,
                    None,
                    |_, location| {
                        let mut others = blocks.iter().filter(|b| b.instance != pivot);
                        others.find(|b| b.value_for(location).is_some()).cloned()
                    },
                    &mut races,
                );
            }
        }
        races
    }

    /// Lets the pivot alone go on: behind one store, by loads and local steps, to a load that an opponent is about to store to, on a memory that has the store; or
    /// by any stores, where the opponent is a block that does not see them.
    #[allow(clippy::too_many_arguments)]
    fn run_pivot(
        &self,
        frame: &Frame<'_>,
        view: &mut View<'_>,
        row: &[u32],
        pivot: usize,
        store: Option<usize>,
        mut opponent: impl FnMut(&mut View<'_>, LocationId) -> Option<Writer>,
        races: &mut Vec<Race>,
    ) {
        let overtakes = store.is_none();
        alone::run_pivot(
            frame,
            view,
            row,
            pivot,
            store,
            overtakes,
            &self.gave_up,
            |view, alone, load| {
                let known = |r: &Race| r.pivot == pivot && r.load == load.transition;
                if !races.iter().any(known)
                    && let Some(opponent) = opponent(view, load.location)
                {
                    races.push(Race {
                        pivot,
                        steps: alone.steps_to(&load),
                        load: load.transition,
                        location: load.location,
                        opponent,
                        overtakes,
                    });
                }
            },
        );
    }
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
        answer.verdict = Verdict::Unknown(RUNS_ON_FOR_EVER.into());
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
        let pivot = (race.pivot, &race.steps[..]);
        let (events, _, load) = overtaken(frame, view, &run, pivot, &race.opponent, &names);
        (events, load)
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
