//! Replays witnesses by the rules of the memory models alone.
//!
//! [`validate`] believes nothing that a witness says: it runs the program with the plain machine of the witness's model, keeps all ways in
//! which the program could have taken the listed steps (what need not be listed happens silently), derives the relations from the run
//! again, and checks the cycle or the pattern by its definition (see [`Witness`] and [`PatternKind`]). [`validate_certificate`] does the same for
//! the answer "holds". Neither shares code with any search.
//!
//! [`states()`] follows a witness in the same way and shows the state after each step.

mod c20;
mod cycle;
mod fragile;
mod holds;
mod live;
mod observing;
mod patterns;
mod replay;
pub mod states;

use cycle::Trace;
pub use holds::{Asked, Certified, Rejected, validate_certificate, validate_certificate_within};
use palisade_lang::{Copies, Program, Value};
use palisade_memory::c20::updates::{with_fence_events_as_updates, with_fences_as_updates};
use palisade_memory::{
    Criterion, EventRef, Machine, Model, PatternKind, Ra, Sc, Tso, Witness, is_deadlock,
    never_is_true,
};
use replay::{Candidate, Replay};
pub use states::states;

/// Why a witness is not one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// What is wrong.
    pub message: String,
    /// The event where it goes wrong, if there is one.
    pub event: Option<usize>,
}

impl Invalid {
    fn new(message: impl Into<String>) -> Self {
        Invalid {
            message: message.into(),
            event: None,
        }
    }

    fn at(event: usize, message: impl Into<String>) -> Self {
        Invalid {
            event: Some(event),
            ..Invalid::new(message)
        }
    }
}

impl std::fmt::Display for Invalid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.event {
            Some(event) => write!(f, "event {event}: {}", self.message),
            None => write!(f, "{}", self.message),
        }
    }
}

impl std::error::Error for Invalid {}

/// The most copies of a thread that are run.
const MOST_COPIES: u32 = 1000;

/// Whether the witness shows that the program violates the criterion that it names.
pub fn validate(program: &Program, witness: &Witness) -> Result<(), Invalid> {
    let program = match (program.is_parameterised(), witness.copies) {
        (false, None) => program.clone(),
        (false, Some(_)) => {
            return Err(Invalid::new(
                "the program has no thread with any number of copies",
            ));
        }
        (true, None) => return Err(Invalid::new("how many copies run is not said")),
        (true, Some(copies)) if copies > MOST_COPIES => {
            return Err(Invalid::new("more copies than can be run here"));
        }
        (true, Some(copies)) => program.with_copies(copies),
    };
    debug_assert!(program.threads.iter().all(|t| t.copies != Copies::Any));
    if witness.pattern.is_some() && !(witness.cycle.is_empty() && witness.edges.is_empty()) {
        return Err(Invalid::new(
            "there is a pattern and a cycle: one of them is wanted",
        ));
    }
    if let Some(pattern) = &witness.pattern
        && let Some(wrong) = pattern.events.iter().find(|&&e| e >= witness.events.len())
    {
        return Err(Invalid::new(format!("there is no event {wrong}")));
    }
    for event in &witness.events {
        for referred in [event.rf, event.after].into_iter().flatten() {
            if let EventRef::Event(wrong) = referred
                && wrong >= witness.events.len()
            {
                return Err(Invalid::new(format!("there is no event {wrong}")));
            }
        }
    }
    let kind = witness.pattern.as_ref().map(|p| p.kind);
    match (witness.model, witness.criterion, kind) {
        (Model::Tso, Criterion::Robust, None) => tso_cycle(&program, witness),
        (Model::Tso, Criterion::Persistent, Some(PatternKind::Fragile)) => {
            fragile::check(&program, witness)
        }
        (Model::Ra, Criterion::Robust, None) => ra_cycle(&program, witness),
        (Model::Ra, Criterion::Robust, Some(PatternKind::Race)) => {
            patterns::ra_race(&program, witness)
        }
        (Model::Sc, Criterion::Drf, Some(PatternKind::Race)) => patterns::race(&program, witness),
        (Model::Sc, Criterion::Trf, Some(PatternKind::TriangularRace)) => {
            patterns::triangular_race(&program, witness)
        }
        (Model::Tso, Criterion::Trf, Some(PatternKind::TriangularRace)) => {
            patterns::triangular_race_of_block(&program, witness)
        }
        (Model::Sc, Criterion::Safe, Some(kind)) => {
            let machine = Sc::new(&program);
            unsafe_run(
                &program,
                witness,
                &machine,
                kind,
                |s| s.memory.clone(),
                |_| true,
            )
        }
        (Model::Tso, Criterion::Safe, Some(kind)) => {
            let machine = Tso::new(&program);
            let flushed = palisade_memory::tso::State::is_flushed;
            unsafe_run(
                &program,
                witness,
                &machine,
                kind,
                |s| s.memory.clone(),
                flushed,
            )
        }
        (_, Criterion::Live, Some(PatternKind::Stuck)) => live::check(&program, witness),
        (
            Model::Ra,
            Criterion::Safe | Criterion::Drf | Criterion::Live,
            Some(PatternKind::Race),
        ) => {
            // Both are about to access the location, or one has accessed it and the other does not know.
            patterns::ra_race(&program, witness)
                .or_else(|about_to| patterns::ra_late_race(&program, witness).map_err(|_| about_to))
        }
        (Model::Ra, Criterion::Safe, Some(kind)) => {
            let machine = Ra::new(&program).map_err(|refused| Invalid::new(refused.message))?;
            unsafe_run(&program, witness, &machine, kind, Ra::newest, |_| true)
        }
        (Model::Ra, Criterion::Observational, _) => {
            if let Some(refused) = palisade_memory::ra_accepts::refusal(&program) {
                return Err(Invalid::new(refused.message));
            }
            let (updates, name) = with_fences_as_updates(&program);
            c20::check(&updates, &with_fence_events_as_updates(witness, &name))
        }
        (Model::C20 | Model::Rc11, ..) => c20::check(&program, witness),
        (model, criterion, _) => Err(Invalid::new(format!(
            "a run of {} with {} does not show that `{}` is violated",
            model.name(),
            kind.map_or("a cycle".to_string(), |k| format!("the pattern {k:?}")),
            criterion.name()
        ))),
    }
}

fn tso_cycle(program: &Program, witness: &Witness) -> Result<(), Invalid> {
    let machine = Tso::new(program);
    let replay = Replay::new(&machine, program, &witness.events, true);
    let candidates = replay.follow(replay.start(), witness.events.len())?;
    let candidates = flushed_ones(candidates)?;
    any(&candidates, |candidate| {
        Trace::of_buffers(&witness.events, &replay.history(candidate)).check(witness)
    })
}

/// Those that end with all buffers empty: the others are no computations.
fn flushed_ones(
    mut candidates: Vec<Candidate<palisade_memory::tso::State>>,
) -> Result<Vec<Candidate<palisade_memory::tso::State>>, Invalid> {
    candidates.retain(|c| c.state.is_flushed());
    if candidates.is_empty() {
        return Err(Invalid::new(
            "stores are left in the buffers at the end of the run",
        ));
    }
    Ok(candidates)
}

fn ra_cycle(program: &Program, witness: &Witness) -> Result<(), Invalid> {
    let machine = Ra::new(program).map_err(|refused| Invalid::new(refused.message))?;
    let replay = Replay::new(&machine, program, &witness.events, false);
    let candidates = replay.follow(replay.start(), witness.events.len())?;
    any(&candidates, |candidate| {
        Trace::of_messages(&witness.events, &replay.history(candidate)).check(witness)
    })
}

/// An error of the program as the last event, or a `never` that is true at the end.
fn unsafe_run<M: Machine>(
    program: &Program,
    witness: &Witness,
    machine: &M,
    kind: PatternKind,
    memory: impl Fn(&M::State) -> Vec<i64>,
    flushed: impl Fn(&M::State) -> bool,
) -> Result<(), Invalid> {
    // Under RA fences change the state: one that is not mentioned could be passed without end.
    let silent_fences = witness.model != Model::Ra;
    let replay = Replay::new(machine, program, &witness.events, silent_fences);
    let candidates = replay.follow(replay.start(), witness.events.len())?;
    match kind {
        PatternKind::Error => {
            let last = witness.events.len().checked_sub(1);
            let named = witness.pattern.as_ref().map(|p| p.events.as_slice());
            if last.is_none() || named != last.as_ref().map(std::slice::from_ref) {
                return Err(Invalid::new("the pattern must name the last event"));
            }
            let is_error = |c: &Candidate<M::State>| {
                let matched = last.and_then(|last| replay.event(c, last));
                matched.is_some_and(|m| m.is_error)
            };
            if candidates.iter().any(is_error) {
                Ok(())
            } else {
                Err(Invalid::new("nothing goes wrong at the last event"))
            }
        }
        PatternKind::Never => {
            let threads: Vec<usize> = (0..machine.code().instances.len()).collect();
            let forbidden = |candidate: &Candidate<M::State>| {
                let state = &candidate.state;
                flushed(state)
                    && is_forbidden(machine, state, &memory(state))
                    && machine.is_real(state)
            };
            let ends = replay.silently_until(candidates, &threads, forbidden);
            if ends.iter().any(forbidden) {
                Ok(())
            } else {
                let invalid = Invalid::new("no `never` is true at the end of the run");
                Err(replay.as_far_as_followed(invalid))
            }
        }
        _ => Err(Invalid::new(
            "this pattern does not show that `safe` is violated",
        )),
    }
}

/// Whether a `never` is true of threads and memory for sure.
fn is_forbidden<M: Machine>(machine: &M, state: &M::State, memory: &[Value]) -> bool {
    let (code, locals) = (machine.code(), machine.locals(state));
    let known = || is_deadlock(code, locals, memory, machine.seen_by_block(state));
    let mut deadlock = None;
    code.program.nevers.iter().any(|never| {
        let known = match never.mentions_deadlock() {
            true => *deadlock.get_or_insert_with(known),
            false => Some(false),
        };
        known.is_some_and(|deadlock| never_is_true(code, never, locals, memory, deadlock))
    })
}

/// Whether the check succeeds for one of the candidates; otherwise the first reason why not.
fn any<T>(candidates: &[T], check: impl Fn(&T) -> Result<(), Invalid>) -> Result<(), Invalid> {
    let mut reason = None;
    for candidate in candidates {
        match check(candidate) {
            Ok(()) => return Ok(()),
            Err(invalid) => reason = reason.or(Some(invalid)),
        }
    }
    Err(reason.unwrap_or_else(|| Invalid::new("the program cannot run like this")))
}
