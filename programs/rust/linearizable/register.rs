// One location alone is never seen going back, whatever the orders.
// linearizable Register register: holds
use std::sync::atomic::{AtomicU32, Ordering::*};

pub struct Register {
    value: AtomicU32,
}

impl Register {
    pub const fn new() -> Self {
        Register { value: AtomicU32::new(0) }
    }

    pub fn read(&self) -> u32 {
        self.value.load(Relaxed)
    }

    pub fn write(&self, value: u32) {
        self.value.store(value, Relaxed);
    }
}
