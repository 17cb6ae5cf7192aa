//! Printing a program in another language, or its own.

mod dot;
mod pal;
mod promela;
mod trencher;

pub use dot::{instruction, to_dot};
pub use pal::to_pal;
pub use promela::{PromelaOptions, to_promela};
pub use trencher::to_trencher;
