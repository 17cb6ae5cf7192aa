// Whoever raises the flag first is told so: a model of its own says what that means.
// linearizable Flag RaisedOnce: holds
use std::sync::atomic::{AtomicBool, Ordering::*};

pub struct Flag {
    raised: AtomicBool,
}

impl Flag {
    pub const fn new() -> Self {
        Flag { raised: AtomicBool::new(false) }
    }

    pub fn raise(&self) -> bool {
        !self.raised.swap(true, Relaxed)
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
