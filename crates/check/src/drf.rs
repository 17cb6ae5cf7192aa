//! `drf` under SC: no two threads are about to access the same location, at least one of them to write it.
//!
//! Two read-modify-writes never race. A whole `atomic` block counts like a read-modify-write: its accesses race with plain accesses of other
//! threads that were enabled when it began, and with nothing else. Where `nonatomic` locations are declared, only they matter.

use std::sync::atomic::{AtomicBool, Ordering};

use palisade_explore::{Finding, Successors};
use palisade_lang::{Language, LocationId, Program};
use palisade_memory::{Pattern, PatternKind, Witness};
use palisade_threads::{ActionKind, LocalId, View};

use crate::note::Note;
use crate::run::{Run, events, replay, step};
use crate::sc::{Observed, Observer, ScSpace, execute};
use crate::search::search;
use crate::state::Frame;
use crate::{Answer, Control, Criterion, Model, Options};

/// Looks for two enabled accesses that conflict.
pub(crate) struct Races {
    /// Locations on which a race counts.
    matter: Vec<bool>,
    error_seen: AtomicBool,
}

/// An access that a thread is about to make.
#[derive(Clone, Copy, Debug)]
struct Enabled {
    instance: usize,
    action: usize,
    location: LocationId,
    writes: bool,
    /// A read-modify-write, or an access inside a block.
    atomic: bool,
}

impl Races {
    pub(crate) fn new(program: &Program, all_locations: bool) -> Self {
        let all = all_locations || program.locations.iter().all(|l| !l.nonatomic);
        Races {
            matter: program
                .locations
                .iter()
                .map(|l| all || l.nonatomic)
                .collect(),
            error_seen: AtomicBool::new(false),
        }
    }

    fn enabled(&self, frame: &Frame<'_>, view: &mut View<'_>, row: &[u32]) -> Vec<Enabled> {
        let mut found = Vec::new();
        for instance in 0..frame.thread_count() {
            let (code, local) = (frame.codes[instance], LocalId(row[instance]));
            let inside = view.is_atomic(code, local);
            for action in 0..view.actions(code, local) {
                let kind = view.action(code, local, action).kind;
                let Some(location) = kind.location().filter(|l| self.matter[l.index()]) else {
                    continue;
                };
                if let Ok(Some(access)) = execute(frame, view, row, kind) {
                    found.push(Enabled {
                        instance,
                        action,
                        location,
                        writes: access.written.is_some(),
                        atomic: inside || matches!(kind, ActionKind::Rmw { .. }),
                    });
                }
            }
        }
        found
    }

    /// Whether a state has a race.
    pub(crate) fn is_race(&self, frame: &Frame<'_>, view: &mut View<'_>, row: &[u32]) -> bool {
        !self.races(frame, view, row).is_empty()
    }

    /// The races of a state, the first for each location.
    fn races(
        &self,
        frame: &Frame<'_>,
        view: &mut View<'_>,
        row: &[u32],
    ) -> Vec<(Enabled, Enabled)> {
        let block = frame.atomic_thread(view, row);
        let enabled = self.enabled(frame, view, row);
        let mut races: Vec<(Enabled, Enabled)> = Vec::new();
        for (at, &first) in enabled.iter().enumerate() {
            for &second in &enabled[at + 1..] {
                let conflict = first.instance != second.instance
                    && first.location == second.location
                    && (first.writes || second.writes)
                    && !(first.atomic && second.atomic)
                    && block.is_none_or(|b| b == first.instance || b == second.instance);
                if conflict && races.iter().all(|r| r.0.location != first.location) {
                    races.push((first, second));
                }
            }
        }
        races
    }
}

impl Observer for Races {
    fn observe(
        &self,
        frame: &Frame<'_>,
        view: &mut View<'_>,
        state: Observed<'_>,
        out: &mut Successors<'_>,
    ) {
        for (first, _) in self.races(frame, view, state.row) {
            out.report(first.location.0.into());
        }
    }

    fn error(&self, _code: usize, _transition: u32, _label: u64, _out: &mut Successors<'_>) {
        self.error_seen.store(true, Ordering::Relaxed);
    }

    fn watched_writes(&self) -> u64 {
        0
    }

    fn reports_locations(&self) -> bool {
        true
    }

    fn noticed(&self) -> Vec<&AtomicBool> {
        vec![&self.error_seen]
    }
}

/// Decides `drf` under SC.
pub(crate) fn check(program: &Program, options: &Options, control: &Control<'_>) -> Answer {
    // What a `never` says does not matter here, so nothing needs to stay visible for it.
    let mut program = program.clone();
    program.nevers.clear();
    let frame = Frame::for_search(&program, options);
    let space = ScSpace {
        frame: &frame,
        observer: Races::new(&program, options.all_locations),
        partial_order: options.reductions.partial_order,
    };
    let (outcome, mut answer) = search(&space, options, control);
    let mut view = frame.threads.view();
    answer.tell(&outcome, options, |finding| {
        witness(&space, &mut view, finding)
    });
    answer.note_errors(&space.observer.error_seen);
    if !options.all_locations {
        answer.notes.extend(why_all_locations(&program));
    }
    answer
}

/// Where no location is declared `nonatomic`: which ones were looked at, and why.
fn why_all_locations(program: &Program) -> Option<Note> {
    // C and Rust say by types what is atomic, so there is nothing to declare.
    let declares = !matches!(program.language, Language::C | Language::Rust);
    if !declares || program.locations.iter().any(|l| l.nonatomic) {
        return None;
    }
    let names: Vec<String> = program.locations.iter().map(|l| l.name.clone()).collect();
    (!names.is_empty()).then_some(Note::AllLocationsCount(names))
}

fn witness(
    space: &ScSpace<'_, '_, Races>,
    view: &mut View<'_>,
    finding: &Finding,
) -> Option<Witness> {
    let frame = space.frame;
    let program = frame.program();
    let mut run = replay(frame, view, finding);
    let races = space.observer.races(frame, view, &run.row);
    let (mut first, mut second) = *races
        .iter()
        .find(|race| u64::from(race.0.location.0) == finding.kind)?;
    let names: Vec<String> = program.instances().into_iter().map(|i| i.name).collect();
    let message = format!(
        "{} and {} are both about to access `{}`, and {}",
        names[first.instance],
        names[second.instance],
        program.location(first.location).name,
        match (first.writes, second.writes) {
            (true, true) => "both write it",
            _ => "one of them writes it",
        }
    );
    // The access that comes first must not block the other: a wait or a read-modify-write goes before a plain store.
    let blocked = frame.atomic_thread(view, &run.row);
    if blocked == Some(second.instance)
        || (blocked.is_none() && !first.atomic && !still_enabled(frame, view, &run, first, second))
    {
        std::mem::swap(&mut first, &mut second);
    }
    if blocked.is_some() || !still_enabled(frame, view, &run, first, second) {
        // The second access cannot follow (a block may never end, a wait no longer go on): show it as it was about to happen.
        let mut instead = run.clone();
        take(frame, view, &mut instead, second);
        take(frame, view, &mut run, first);
        run.steps.extend(instead.steps.pop());
    } else {
        take(frame, view, &mut run, first);
        take(frame, view, &mut run, second);
    }
    let last = events(program, &run, &names).len() - 1;
    Some(Witness {
        model: Model::Sc,
        criterion: Criterion::Drf,
        events: events(program, &run, &names),
        cycle: Vec::new(),
        edges: Vec::new(),
        pattern: Some(Pattern {
            kind: PatternKind::Race,
            events: vec![last - 1, last],
            message,
        }),
        loop_start: None,
        copies: None,
    })
}

fn take(frame: &Frame<'_>, view: &mut View<'_>, run: &mut Run, access: Enabled) {
    step(frame, view, run, access.instance, access.action, 0);
}

fn still_there(frame: &Frame<'_>, view: &mut View<'_>, run: &Run, access: Enabled) -> bool {
    let (code, local) = (
        frame.codes[access.instance],
        LocalId(run.row[access.instance]),
    );
    let kind = view.action(code, local, access.action).kind;
    matches!(execute(frame, view, &run.row, kind), Ok(Some(_)))
}

/// Whether `second` can still happen right after `first`.
fn still_enabled(
    frame: &Frame<'_>,
    view: &mut View<'_>,
    run: &Run,
    first: Enabled,
    second: Enabled,
) -> bool {
    let mut after = run.clone();
    take(frame, view, &mut after, first);
    still_there(frame, view, &after, second)
}
