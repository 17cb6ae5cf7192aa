//! Any space behind one type: the engine is compiled once, and not again for every kind of space. What that costs is a call for each expanded state.

use crate::names::Names;
use crate::space::{Space, Successors};
use std::cmp::Ordering;

/// A space, whatever it is.
#[derive(Clone, Copy)]
pub(crate) struct AnySpace<'a> {
    space: &'a dyn Hidden,
    /// Which kind of space it is.
    pub(crate) kind: &'static str,
}

/// The worker of a walking thread, with its space.
pub(crate) type AnyWorker<'a> = Box<dyn Expand + Send + 'a>;

/// What a worker does: see [`Space`].
pub(crate) trait Expand {
    fn initial(&mut self, out: &mut Successors<'_>);
    fn expand(&mut self, row: &[u32], out: &mut Successors<'_>);
}

struct Worker<'a, S: Space> {
    space: &'a S,
    own: S::Worker,
}

impl<S: Space> Expand for Worker<'_, S> {
    fn initial(&mut self, out: &mut Successors<'_>) {
        Space::initial(self.space, &mut self.own, out);
    }

    fn expand(&mut self, row: &[u32], out: &mut Successors<'_>) {
        Space::expand(self.space, &mut self.own, row, out);
    }
}

/// A [`Space`] of which nothing says what its workers are.
trait Hidden: Sync {
    fn worker(&self) -> AnyWorker<'_>;
    fn width(&self) -> usize;
    fn compare(&self, a: &[u32], b: &[u32]) -> Ordering;
    fn compare_steps(&self, row: &[u32], a: u64, b: u64) -> Ordering;
    fn may_lead(&self, from: &[u32], to: &[u32]) -> bool;
    fn bounds(&self) -> Option<Vec<u32>>;
    fn names(&self) -> Option<Box<dyn Names + '_>>;
}

impl<S: Space> Hidden for S {
    fn worker(&self) -> AnyWorker<'_> {
        Box::new(Worker {
            space: self,
            own: Space::worker(self),
        })
    }

    fn width(&self) -> usize {
        Space::width(self)
    }

    fn compare(&self, a: &[u32], b: &[u32]) -> Ordering {
        Space::compare(self, a, b)
    }

    fn compare_steps(&self, row: &[u32], a: u64, b: u64) -> Ordering {
        Space::compare_steps(self, row, a, b)
    }

    fn may_lead(&self, from: &[u32], to: &[u32]) -> bool {
        Space::may_lead(self, from, to)
    }

    fn bounds(&self) -> Option<Vec<u32>> {
        Space::bounds(self)
    }

    fn names(&self) -> Option<Box<dyn Names + '_>> {
        Space::names(self)
    }
}

impl<'a> AnySpace<'a> {
    pub(crate) fn new<S: Space>(space: &'a S) -> Self {
        AnySpace {
            space,
            kind: std::any::type_name::<S>(),
        }
    }

    pub(crate) fn worker(&self) -> AnyWorker<'a> {
        self.space.worker()
    }

    pub(crate) fn width(&self) -> usize {
        self.space.width()
    }

    pub(crate) fn compare(&self, a: &[u32], b: &[u32]) -> Ordering {
        self.space.compare(a, b)
    }

    pub(crate) fn compare_steps(&self, row: &[u32], a: u64, b: u64) -> Ordering {
        self.space.compare_steps(row, a, b)
    }

    pub(crate) fn may_lead(&self, from: &[u32], to: &[u32]) -> bool {
        self.space.may_lead(from, to)
    }

    pub(crate) fn bounds(&self) -> Option<Vec<u32>> {
        self.space.bounds()
    }

    pub(crate) fn names(&self) -> Option<Box<dyn Names + 'a>> {
        self.space.names()
    }
}
