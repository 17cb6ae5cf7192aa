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
//! // Can anybody notice that stores wait in a buffer?
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
//! A program that depends on this library alone can do without the command's dependencies: `default-features = false`.

mod library;

pub use library::{
    Answer, Fence, FenceAnswer, FenceVerdict, Invalid, NotAProgram, Options, Problem, Program,
    Refused, Stats, Verdict, check, fence,
};
pub use palisade_lang::Language;
pub use palisade_memory::{
    Criterion, Edge, Event, EventKind, EventRef, Model, Pattern, PatternKind, RelationName, Witness,
};
