//! What people read: diagnostics, text, pictures, HTML, JSON, SARIF.
//!
//! The main type is [`FileReport`]: what was asked about one FILE and what came out. Each format is one module with one function that turns
//! it into text:
//!
//! ```
//! use palisade_report::{Failure, FileReport, Model, Criterion, Question, json};
//!
//! let report = FileReport {
//!     file: "lock.pal".to_owned(),
//!     model: Model::Tso,
//!     question: Question::Check(Criterion::Robust),
//!     program: None,
//!     result: Err(Failure::Message("no such file".to_owned())),
//! };
//! assert_eq!(
//!     json::line(&report),
//!     r#"{"file":"lock.pal","model":"tso","criterion":"robust","verdict":"error","reason":"no such file"}"#
//! );
//! ```
//!
//! Where the rest is: [`text`] is what a terminal shows, with the run drawn by `columns` and the cycle told by `cycle`; [`json`], [`sarif`] and [`github`] are for machines; [`picture`] draws runs and
//! programs, and [`page`] puts everything about some FILEs on one page; [`shape`] knows the
//! names of cycles; [`diagnostics`] shows what is wrong with a program's text; [`words`] keeps what things are called.

mod columns;
mod cycle;
pub mod diagnostics;
mod fences;
mod findings;
pub mod github;
pub mod json;
mod look;
pub mod notes;
mod orders;
mod outcome;
pub mod page;
pub mod picture;
mod published;
pub mod sarif;
pub mod shape;
pub mod text;
pub mod words;

pub use fences::difference;
pub use look::Look;
pub use outcome::{Failure, FenceFindings, FileReport, Findings, OrderFindings, Question, Status};
pub use palisade_check::{Answer, Refusal, Stats, Verdict};
pub use palisade_fence::{Costs, FenceResult, Fences};
pub use palisade_memory::{Criterion, Model, Witness};
