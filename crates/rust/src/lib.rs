//! Rust as it stands: a Rust file becomes a [`palisade_lang::Program`] by way of the MIR that the user's own compiler makes of it.

pub mod compile;
pub mod index;
pub mod mir;
