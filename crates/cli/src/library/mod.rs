//! What the library shows of the rooms behind it.

mod ask;
mod program;

pub use ask::{Answer, Fence, FenceAnswer, FenceVerdict, Options, Stats, Verdict, check, fence};
pub use program::{Invalid, NotAProgram, Problem, Program, Refused};
