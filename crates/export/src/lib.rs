//! Programs for other tools: nothing here takes part in an answer.
//!
//! - [`to_promela`]: a program for SPIN.
//! - [`instrument`] and [`instrument_persistence`]: a program whose SC states tell whether another one is robust against TSO, or persistent. They follow the
//!   figures of the papers, not the searches of `palisade-check`, so that each can judge the other.

mod persistent;
mod promela;
mod robust;
mod weave;

pub use persistent::instrument_persistence;
pub use promela::to_promela;
pub use robust::{Attack, attacks, instrument};
