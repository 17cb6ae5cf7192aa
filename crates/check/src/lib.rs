//! The criteria: safe, live, drf, trf, robust, observational, persistent.
//!
//! One function answers every question: [`check`].

mod bounds;
mod certificate;
pub mod checkpoint;
mod classes;
pub mod counted;
mod drf;
mod errors;
mod graphs;
mod harm;
mod idle;
mod live;
mod names;
pub mod note;
pub mod open;
pub mod orders;
mod persistent;
mod projection;
mod ra;
mod reach;
pub mod run;
mod safe;
pub mod sc;
mod search;
pub mod state;
mod symmetry;
mod tso;
mod values;
mod verdict;
mod waiting;
mod weak;

pub use bounds::{doubt, meeting};
pub use certificate::{CERTIFIED, NoCertificate, certificate};
pub use checkpoint::Checkpoints;
pub use errors::mention_errors;
pub use harm::harm;
pub use note::{How, InMemory, Note};
pub use palisade_explore::{Disk, Hosts, threads};
use palisade_lang::Program;
pub use palisade_memory::{Criterion, Model, Witness};
pub use reach::{WithCopies, load_buffer_copies, with_any_number_of_copies};
pub use search::number_in_words;
pub use verdict::{Abstraction, Answer, Harm, Level, Options, Reductions, Route, Stats, Verdict};

/// Why a question cannot be asked of this program: an error of the call or the input, not of the search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What to tell the user.
    pub message: String,
    /// The place in the program, where there is one.
    pub span: Option<palisade_lang::Span>,
}

/// How a check is watched and stopped from outside.
pub struct Control<'a> {
    /// Set to stop the check.
    pub cancel: &'a std::sync::atomic::AtomicBool,
    /// Called now and then with what has been done so far.
    pub progress: &'a (dyn Fn(&Progress) + Sync),
}

/// How far a check has come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// States stored so far.
    pub states: u64,
    /// States still to be expanded.
    pub frontier: u64,
    /// Bytes held.
    pub memory_bytes: u64,
    /// Questions answered and questions in all, where a check asks several.
    pub queries: (u64, u64),
    /// Where this check is one of many that look for the cheapest fences: how far those have come.
    pub rounds: Option<Rounds>,
}

/// How far a search for the cheapest fences has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rounds {
    /// Violations that every proposal prevents from now on.
    pub violations: u64,
    /// No cheaper set is enough.
    pub lower_bound: u64,
    /// A set at this cost is enough.
    pub upper_bound: Option<u64>,
}

/// The pairs of model and criterion that have a meaning; for each model the strongest criterion first.
///
/// Data races are looked for in the runs of sequential consistency, also for a program that will run under TSO.
pub const QUESTIONS: &[(Model, Criterion)] = &[
    (Model::Sc, Criterion::Drf),
    (Model::Sc, Criterion::Safe),
    (Model::Sc, Criterion::Live),
    (Model::Tso, Criterion::Drf),
    (Model::Tso, Criterion::Trf),
    (Model::Tso, Criterion::Robust),
    (Model::Tso, Criterion::Persistent),
    (Model::Tso, Criterion::Safe),
    (Model::Tso, Criterion::Live),
    (Model::Ra, Criterion::Robust),
    (Model::Ra, Criterion::Observational),
    (Model::Ra, Criterion::Drf),
    (Model::Ra, Criterion::Safe),
    (Model::Ra, Criterion::Live),
    (Model::C20, Criterion::Robust),
    (Model::C20, Criterion::Observational),
    (Model::C20, Criterion::Drf),
    (Model::C20, Criterion::Safe),
    (Model::C20, Criterion::Live),
    (Model::Rc11, Criterion::Robust),
    (Model::Rc11, Criterion::Observational),
    (Model::Rc11, Criterion::Drf),
    (Model::Rc11, Criterion::Safe),
    (Model::Rc11, Criterion::Live),
];

/// Decides `options.criterion` under `options.model` for `program`, whose number of threads must be known (`palisade-param` needs not).
pub fn check(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
) -> Result<Answer, Refusal> {
    if let Some(thread) = program
        .threads
        .iter()
        .find(|t| t.copies == palisade_lang::Copies::Any)
    {
        return Err(Refusal {
            message: format!(
                "the thread `{}` has any number of copies; say how many",
                thread.name
            ),
            span: Some(thread.span),
        });
    }
    if program.instances().len() >= sc::StepLabel::MOST_THREADS {
        return Err(Refusal {
            message: format!(
                "there are {} threads; at most {} can be analysed",
                program.instances().len(),
                sc::StepLabel::MOST_THREADS - 1
            ),
            span: None,
        });
    }
    let shown = weak::safe_without_wrapping(program, options, control)?;
    let is_bounded = shown.is_none();
    let (mut answer, as_sc) = match (shown, options.model, options.criterion) {
        (Some(answer), ..) => (answer, false),
        (None, Model::Ra | Model::C20 | Model::Rc11, Criterion::Safe) => {
            weak::safe_and_ways(program, options, control)?
        }
        // A robust program has the runs of sequential consistency and no others; an observationally robust one goes the same ways.
        (None, _, criterion) => {
            let as_sc = matches!(criterion, Criterion::Robust | Criterion::Observational);
            (decide(program, options, control)?, as_sc)
        }
    };
    if options.disk.is_some() {
        let kept = kept_in_memory(options);
        answer.notes.extend(kept.map(Note::InMemoryOnly));
    }
    answer.notes.extend(orders::note(program, options.model));
    if options.criterion == Criterion::Safe && answer.verdict == Verdict::Holds {
        answer.notes.extend(waiting::note(program));
    }
    for witness in &mut answer.witnesses {
        orders::mark(program, witness);
    }
    run::name_addresses(program, &mut answer.witnesses);
    Ok(match is_bounded {
        true => bounds::respect(program, answer, as_sc, options, control),
        false => answer,
    })
}

/// What to say of a question some of whose searches put nothing on disk.
fn kept_in_memory(options: &Options) -> Option<InMemory> {
    match (options.model, options.criterion) {
        (_, Criterion::Live) => Some(InMemory::Live),
        (Model::Tso, Criterion::Safe) => Some(InMemory::Backward),
        (Model::Ra | Model::C20 | Model::Rc11, Criterion::Robust | Criterion::Safe) => {
            Some(InMemory::Weak)
        }
        _ => None,
    }
}

/// Decides the criterion for the program as it is, whatever bounds it has.
fn decide(program: &Program, options: &Options, control: &Control<'_>) -> Result<Answer, Refusal> {
    match (options.model, options.criterion) {
        (Model::Sc, Criterion::Safe) => Ok(safe::check(program, options, control)),
        (_, Criterion::Live) => live::check(program, options, control),
        (Model::Sc | Model::Tso, Criterion::Drf) => Ok(drf::check(program, options, control)),
        (Model::Tso, Criterion::Persistent) => Ok(persistent::check(program, options, control)),
        (Model::Tso, Criterion::Safe) => {
            // Which walks are made depends on what the ones before have found in how many steps: each of several processes makes them all.
            let options = Options {
                hosts: None,
                ..options.clone()
            };
            Ok(reach::check(program, &options, control))
        }
        (Model::Tso, Criterion::Trf) => Ok(tso::trf::check(program, options, control)),
        (Model::Tso, Criterion::Robust) => Ok(tso::robust::check(program, options, control)),
        (Model::Ra | Model::C20 | Model::Rc11, Criterion::Robust) => {
            weak::robust(program, options, control)
        }
        (Model::Ra | Model::C20 | Model::Rc11, Criterion::Observational) => {
            weak::observational(program, options, control)
        }
        (Model::Ra | Model::C20 | Model::Rc11, Criterion::Safe) => {
            weak::safe(program, options, control)
        }
        (Model::Ra | Model::C20 | Model::Rc11, Criterion::Drf) => {
            weak::drf(program, options, control)
        }
        (model, criterion) => Err(Refusal {
            message: format!(
                "`{}` under `{}` cannot be decided yet",
                criterion.name(),
                model.name()
            ),
            span: None,
        }),
    }
}
