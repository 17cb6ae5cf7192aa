//! The memory model of C++20 and Rust (`c20`), and the same with RC11's rule for sequentially consistent accesses (`rc11`).
//!
//! - [`graph`]: execution graphs, whose events have orders.
//! - [`definition`]: which of them the models have, written as relations ([`relation`]).
//! - [`machine`]: a builder of execution graphs as a [`crate::Machine`].
//! - [`updates`]: release/acquire as C++20 with other fences.
//! - [`views`]: for programs without `seqcst` events, the same with timestamps and views.

pub mod definition;
pub mod graph;
pub mod machine;
pub mod relation;
pub mod shown;
pub mod updates;
pub mod views;

#[cfg(test)]
mod tests;

pub use definition::{Relations, consistent, is_sc, races};
pub use graph::{Event, EventId, Graph, Write};
pub use machine::{C20Graph, State, refusal};
pub use relation::{Relation, Set};
pub use views::C20Views;
