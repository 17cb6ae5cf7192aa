// A cell that is set once, and whose readers do not wait for the value behind the flag.
// client Once<T>: violated
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU8, Ordering::*};

pub struct Once<T> {
    state: AtomicU8,
    value: UnsafeCell<Option<T>>,
}

unsafe impl<T: Send + Sync> Sync for Once<T> {}

const EMPTY: u8 = 0;
const BUSY: u8 = 1;
const FULL: u8 = 2;

impl<T> Once<T> {
    pub const fn new() -> Self {
        Once { state: AtomicU8::new(EMPTY), value: UnsafeCell::new(None) }
    }

    pub fn set(&self, value: T) -> bool {
        if self.state.compare_exchange(EMPTY, BUSY, Relaxed, Relaxed).is_err() {
            return false;
        }
        unsafe { *self.value.get() = Some(value) };
        self.state.store(FULL, Release);
        true
    }

    pub fn get(&self) -> Option<&T> {
        match self.state.load(Relaxed) {
            FULL => unsafe { (*self.value.get()).as_ref() },
            _ => None,
        }
    }
}
