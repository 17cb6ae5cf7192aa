//! Decides whether small concurrent programs can notice a weak memory model.
//!
//! This is what the command `palisade` does, for programs that call it from Rust: read a [`Program`], ask [`check`] or [`fence`], and look at the [`Witness`].
//!
//! ```
//! use palisade::{Criterion, Model, Options, Program, Verdict, check, fence};
//!
//! let program = Program::parse(
//!     "shared x, y;
//!      thread p { x = 1; let r = y; }
//!      thread q { y = 1; let s = x; }",
//! )?;
//!
//! // Can the program notice that stores wait in a buffer?
//! let options = Options::new(Model::Tso, Criterion::Robust);
//! let answer = check(&program, &options)?;
//! let Verdict::Violated(witness) = &answer.verdict else { panic!() };
//! assert_eq!(witness.cycle.len(), 4);
//! println!("{}", program.explain(witness));
//!
//! // Not any more with two fences.
//! let fenced = fence(&program, &options)?.fenced_text().unwrap().to_owned();
//! let answer = check(&Program::parse(&fenced)?, &options)?;
//! assert_eq!(answer.verdict, Verdict::Holds);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Verdicts are exact: there is no bound on the length of runs. A search that comes to a limit ([`Options::timeout`],
//! [`Options::memory`], [`Options::cancel`]) ends with [`Verdict::Unknown`], and never with a guess. Nothing here prints, reads or writes a file (but for
//! [`Program::read`]), or ends the process.
//!
//! There are two ways in. [`Program`], [`check`] and [`fence`] are for programs that want an answer. Programs that show answers to people (the command, an
//! editor, a page) take the way behind them, which speaks of the crates that it comes from (`palisade_lang`, `palisade_report`): [`read`] makes a program of a
//! text in any language, [`Wanted`] chooses the question, [`answer`] answers it, [`report_on`] does all of it within [`limits`], and `palisade_report` makes text, JSON and pictures
//! of what came out. Both give the same answer with the same notes.
//!
//! Without the feature `rust` no process is started; without threads and files, as in a browser, everything else works with one job.

mod ask;
mod beside;
pub mod limits;
mod orders;
mod program;
mod question;
mod read;
mod shown;
mod simple;

pub use ask::{answer, explained, fenced, guarded, report, report_on, text_with};
pub use orders::{order_hint, order_refusal, ordered, unit_costs};
pub use palisade_check::{Control, Options as SearchOptions};
pub use palisade_lang::Language;
pub use palisade_memory::{
    Criterion, Edge, Event, EventKind, EventRef, Model, Pattern, PatternKind, RelationName, Witness,
};
pub use program::{Invalid, NotAProgram, Problem, Program, Refused};
pub use question::{Asked, Wanted, criteria, models, states_something};
pub use read::{
    ClientOf, ClientThreads, Input, Reading, Wider, file_text, included_text, read, text_of,
};
pub use shown::{Seeks, Shows, problem, run_page, shown, shown_report, told};
pub use simple::{Answer, Fence, FenceAnswer, FenceVerdict, Options, Stats, Verdict, check, fence};
