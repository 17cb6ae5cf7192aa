//! The memory models themselves, as plain small-step machines: SC, TSO, RA, C++20; and the form of witnesses.
//!
//! Nothing here is clever: these machines are what searches are judged by. Each implements [`Machine`]: an initial state, and all steps of
//! a state with the states that they lead to.

pub mod c20;
pub mod machine;
pub mod ra;
pub mod ra_accepts;
#[cfg(test)]
mod rules;
pub mod sc;
pub mod thread;
pub mod tso;
pub mod waiting;
pub mod witness;

pub use c20::{C20Graph, C20Views};
pub use machine::{ENDLESS, Machine, Step, StepKind, never_is_true};
pub use ra::Ra;
pub use sc::Sc;
pub use thread::{Code, Local};
pub use tso::Tso;
pub use waiting::is_deadlock;
pub use witness::{
    Addresses, Criterion, Edge, Event, EventKind, EventRef, Model, OrderName, Pattern, PatternKind,
    RelationName, Witness,
};
