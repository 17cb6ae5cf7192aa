//! What the tables have in common: running tools from outside, and showing what was measured.

pub mod output;
mod page;
pub mod tool;
pub mod verifier;
