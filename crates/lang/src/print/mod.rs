//! Printing a program in another language, or its own.

mod dot;
mod pal;
mod trencher;

pub use dot::{instruction, to_dot};
pub use pal::to_pal;
pub use trencher::to_trencher;
