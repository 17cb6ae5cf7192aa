// One addition each: every number is given out once.
// linearizable Tickets counter: holds
use std::sync::atomic::{AtomicUsize, Ordering::*};

pub struct Tickets {
    given: AtomicUsize,
}

impl Tickets {
    pub const fn new() -> Self {
        Tickets { given: AtomicUsize::new(0) }
    }

    pub fn next(&self) -> usize {
        self.given.fetch_add(1, Relaxed)
    }

    pub fn count(&self) -> usize {
        self.given.load(Relaxed)
    }
}
