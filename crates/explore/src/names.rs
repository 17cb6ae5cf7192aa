//! What the numbers in rows stand for, told to other processes.

use std::sync::atomic::AtomicBool;

/// What kind of number stands in a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// One that means the same in every process.
    Plain,
    /// One of a table, whose numbers are given in the order of discovery.
    Of(usize),
    /// 0, or one more than one of a table.
    OneMoreThan(usize),
}

/// How a [`Space`](crate::Space) tells what its numbers stand for, so that processes that number things in different orders can walk it together.
///
/// What comes out of a walk must not depend on the numbers: see [`Space::compare`](crate::Space::compare).
pub trait Names: Sync {
    /// What stands in a component.
    fn numbers(&self, component: usize) -> Numbers;

    /// How many tables there are.
    fn tables(&self) -> usize;

    /// How many numbers a table has so far.
    fn count(&self, table: usize) -> u32;

    /// Appends what a number of a table stands for, in numbers that mean the same in every process.
    fn spell(&self, table: usize, number: u32, out: &mut Vec<i64>);

    /// The number of what was spelled so, a new one if there is none yet. `None` if it makes no sense.
    fn number(&self, table: usize, meaning: &[i64]) -> Option<u32>;

    /// Rows in which these components are exchanged for each other may be the same state: the least of those that this one may be exchanged with.
    fn place(&self, component: usize) -> usize;

    /// Puts a row whose numbers are in place of another process's into the form that this one has for the state.
    fn arrange(&self, row: &mut [u32]);

    /// What was noticed beside the findings.
    fn noticed(&self) -> Vec<&AtomicBool>;
}
