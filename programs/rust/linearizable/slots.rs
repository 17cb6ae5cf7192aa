// A stack of two places; 0 is no value. Taking looks at one place after the other, and between them pushes and pops of others fit: what is found is not what was pushed last.
// linearizable Slots stack: violated
use std::sync::atomic::{AtomicUsize, Ordering::*};

pub struct Slots {
    places: [AtomicUsize; 2],
}

impl Slots {
    pub const fn new() -> Self {
        Slots { places: [AtomicUsize::new(0), AtomicUsize::new(0)] }
    }

    pub fn try_push(&self, value: usize) -> bool {
        for place in &self.places {
            if place.compare_exchange(0, value, Relaxed, Relaxed).is_ok() {
                return true;
            }
        }
        false
    }

    pub fn pop(&self) -> Option<usize> {
        for place in self.places.iter().rev() {
            let value = place.swap(0, Relaxed);
            if value != 0 {
                return Some(value);
            }
        }
        None
    }
}
