// Many readers or one writer. A reader leaves without a release: its reads can be after the next writer's writes.
// client Many<T>: violated
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering::*};

const WRITER: usize = 8;

pub struct Many<T> {
    state: AtomicUsize,
    value: UnsafeCell<T>,
}

unsafe impl<T: Send + Sync> Sync for Many<T> {}

pub struct Reading<'a, T> {
    lock: &'a Many<T>,
}

pub struct Writing<'a, T> {
    lock: &'a Many<T>,
}

impl<T> Many<T> {
    pub const fn new(value: T) -> Self {
        Many { state: AtomicUsize::new(0), value: UnsafeCell::new(value) }
    }

    pub fn try_read(&self) -> Option<Reading<'_, T>> {
        let seen = self.state.load(Relaxed);
        if seen >= WRITER - 1 {
            return None;
        }
        match self.state.compare_exchange(seen, seen + 1, Acquire, Relaxed) {
            Ok(_) => Some(Reading { lock: self }),
            Err(_) => None,
        }
    }

    pub fn try_write(&self) -> Option<Writing<'_, T>> {
        match self.state.compare_exchange(0, WRITER, Acquire, Relaxed) {
            Ok(_) => Some(Writing { lock: self }),
            Err(_) => None,
        }
    }
}

impl<T> Deref for Reading<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> Deref for Writing<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Writing<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Reading<'_, T> {
    fn drop(&mut self) {
        self.lock.state.fetch_sub(1, Relaxed);
    }
}

impl<T> Drop for Writing<'_, T> {
    fn drop(&mut self) {
        self.lock.state.fetch_sub(WRITER, Release);
    }
}
