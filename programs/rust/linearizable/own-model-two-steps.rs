// Looking and raising are two steps, so two threads may both be told that they were first.
// linearizable Flag RaisedOnce: violated
use std::sync::atomic::{AtomicBool, Ordering::*};

pub struct Flag {
    raised: AtomicBool,
}

impl Flag {
    pub const fn new() -> Self {
        Flag { raised: AtomicBool::new(false) }
    }

    pub fn raise(&self) -> bool {
        let first = !self.raised.load(Relaxed);
        self.raised.store(true, Relaxed);
        first
    }

    pub fn is_raised(&self) -> bool {
        self.raised.load(Relaxed)
    }
}

#[derive(Clone, Default)]
pub struct RaisedOnce {
    raised: bool,
}

impl RaisedOnce {
    pub fn raise(&mut self) -> bool {
        let first = !self.raised;
        self.raised = true;
        first
    }

    pub fn is_raised(&self) -> bool {
        self.raised
    }
}
