//! Printing a program in another language, or its own.

mod pal;

pub use pal::to_pal;
