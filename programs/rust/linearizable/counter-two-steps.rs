// A load and a store: two threads may be given the same number.
// linearizable Tickets counter: violated
use std::sync::atomic::{AtomicUsize, Ordering::*};

pub struct Tickets {
    given: AtomicUsize,
}

impl Tickets {
    pub const fn new() -> Self {
        Tickets { given: AtomicUsize::new(0) }
    }

    pub fn next(&self) -> usize {
        let number = self.given.load(Relaxed);
        self.given.store(number + 1, Relaxed);
        number
    }

    pub fn count(&self) -> usize {
        self.given.load(Relaxed)
    }
}
