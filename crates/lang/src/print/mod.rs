//! Printing a program in another language, or its own.

mod pal;
mod promela;

pub use pal::to_pal;
pub use promela::{PromelaOptions, to_promela};
