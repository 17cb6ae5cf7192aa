//! Walking a state space: packed states, an exact visited set, limits, progress.
//!
//! The main type is [`Walk`]: it visits, breadth first, every state that a [`Space`] can reach, and
//! comes back with an [`Outcome`]: whether everything was seen, how much that was, and for every kind of
//! finding a shortest run that leads to it.
//!
//! A state is a *row*: a short slice of small numbers. What the numbers mean is the business of the
//! space alone. The walk only packs rows to the bits that they need and never sees a program.
//!
//! ```
//! use palisade_explore::{Space, Successors, Walk};
//! use std::cmp::Ordering;
//!
//! /// Two jugs of 3 and 5 litres. Is there a way to have exactly 4 litres in the larger one?
//! struct Jugs;
//!
//! impl Space for Jugs {
//!     type Worker = ();
//!     fn worker(&self) {}
//!     fn width(&self) -> usize {
//!         2
//!     }
//!     fn initial(&self, _: &mut (), out: &mut Successors<'_>) {
//!         out.push(0, &[0, 0]);
//!     }
//!     fn expand(&self, _: &mut (), row: &[u32], out: &mut Successors<'_>) {
//!         let (small, large) = (row[0], row[1]);
//!         if large == 4 {
//!             out.report(7);
//!         }
//!         out.patch(1, &[(0, 3)]); // fill the small jug
//!         out.patch(2, &[(1, 5)]); // fill the large jug
//!         out.patch(3, &[(0, 0)]); // empty the small jug
//!         out.patch(4, &[(1, 0)]); // empty the large jug
//!         let pour = small.min(5 - large);
//!         out.push(5, &[small - pour, large + pour]);
//!         let pour = large.min(3 - small);
//!         out.push(6, &[small + pour, large - pour]);
//!     }
//!     fn compare(&self, a: &[u32], b: &[u32]) -> Ordering {
//!         a.cmp(b)
//!     }
//! }
//!
//! let outcome = Walk::new(&Jugs).jobs(2).run();
//! assert!(outcome.complete);
//! assert_eq!(outcome.stats.states, 16);
//! let finding = &outcome.findings[0];
//! assert_eq!(finding.kind, 7);
//! let labels: Vec<u64> = finding.path.iter().map(|step| step.label).collect();
//! assert_eq!(labels, [0, 2, 6, 3, 6, 2, 6]);
//! ```
//!
//! Where the rest is: [`Space`] and [`Successors`] are what a model implements and is handed
//! (`space.rs`); [`Limits`], [`Progress`] and [`Outcome`] belong to the walk (`walk.rs`), [`Path`] to a
//! finding (`path.rs`), [`States`] are what is stored (`states.rs`). Behind that are the walk's own
//! rooms: `engine.rs` goes from level to level with the threads of `team.rs` (`task.rs` divides the
//! work, `recent.rs` spares some of it, `best.rs` chooses among findings); `pack.rs` says which bits
//! belong to which component; `shard.rs` (with `line.rs`) is the store and the visited set; `levels.rs`
//! knows which states are on which level; `kept.rs` writes a walk down to go on later; `budget.rs` counts memory; and
//! `engine/far.rs` goes on where memory ends, with what is in `disk`; `engine/spread.rs` is what is different where several
//! processes walk together, which talk by `hosts`, in [`Names`] that all of them understand; a
//! [`Quotient`] is a space in which some rows stand for others; `any.rs` hides from the engine which space it walks.

mod any;
mod best;
mod budget;
mod disk;
mod engine;
mod hosts;
mod kept;
mod levels;
mod line;
mod names;
mod pack;
mod path;
mod quotient;
mod recent;
mod shard;
mod space;
mod states;
mod task;
mod team;
mod walk;

pub use budget::resident_bytes;
pub use disk::Disk;
pub use hosts::Hosts;
pub use kept::{Keeper, read_number, write_number};
pub use names::{Names, Numbers};
pub use path::{Path, Step};
pub use quotient::{Quotient, StandIns};
pub use space::{Space, Successors, for_each_successor};
pub use states::States;
pub use team::threads;
pub use walk::{Finding, Limits, Outcome, Progress, Reason, Stats, Walk};
