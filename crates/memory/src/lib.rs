//! The memory models themselves, as plain small-step machines: SC, TSO, RA; and the form of witnesses.
//!
//! Nothing here is clever: these machines are what searches are judged by.

pub mod witness;

pub use witness::{
    Criterion, Edge, Event, EventKind, EventRef, Model, Pattern, PatternKind, RelationName, Witness,
};
