//! The criteria: safe, drf, trf, robust, persistent.
//!
//! One function answers every question: [`check`].

mod verdict;

use palisade_lang::Program;
pub use palisade_memory::{Criterion, Model, Witness};
pub use verdict::{Answer, Options, Reductions, Stats, Verdict};

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
}

/// Decides `options.criterion` under `options.model` for `program`.
pub fn check(
    _program: &Program,
    options: &Options,
    _control: &Control<'_>,
) -> Result<Answer, Refusal> {
    Err(Refusal {
        message: format!(
            "`{}` under `{}` cannot be decided yet",
            options.criterion.name(),
            options.model.name()
        ),
        span: None,
    })
}
