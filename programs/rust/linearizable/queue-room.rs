// It takes a second element, where the model has room for one only.
// linearizable Queue queue:1: violated
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering::*};

struct Ring {
    places: [u8; 2],
    first: usize,
    count: usize,
}

pub struct Queue {
    held: AtomicBool,
    ring: UnsafeCell<Ring>,
}

unsafe impl Sync for Queue {}

impl Queue {
    pub const fn new() -> Self {
        Queue {
            held: AtomicBool::new(false),
            ring: UnsafeCell::new(Ring { places: [0; 2], first: 0, count: 0 }),
        }
    }

    fn with<R>(&self, f: impl FnOnce(&mut Ring) -> R) -> R {
        while self.held.swap(true, Acquire) {}
        let result = f(unsafe { &mut *self.ring.get() });
        self.held.store(false, Release);
        result
    }

    pub fn enqueue(&self, value: u8) -> Result<(), u8> {
        self.with(|ring| {
            if ring.count == 2 {
                return Err(value);
            }
            ring.places[(ring.first + ring.count) % 2] = value;
            ring.count += 1;
            Ok(())
        })
    }

    pub fn dequeue(&self) -> Option<u8> {
        self.with(|ring| {
            if ring.count == 0 {
                return None;
            }
            let value = ring.places[ring.first];
            ring.first = (ring.first + 1) % 2;
            ring.count -= 1;
            Some(value)
        })
    }
}
