//! Executing threads: what is known is computed, what only a run knows becomes an instruction of the program.

pub mod arith;
pub mod build;
mod call;
pub(crate) mod intrinsics;
pub mod knowledge;
mod layout;
pub mod leaks;
mod live;
pub mod machine;
pub mod memory;
pub mod need;
mod place;
mod rvalue;
pub mod state;
pub mod value;
mod widen;
