// A pointer that counts its owners with a relaxed decrement: nothing orders the last use before the free.
// client Shared<T>: violated
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::{fence, AtomicUsize, Ordering::*};

struct Inner<T> {
    owners: AtomicUsize,
    value: T,
}

pub struct Shared<T> {
    inner: NonNull<Inner<T>>,
}

unsafe impl<T: Send + Sync> Send for Shared<T> {}
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

impl<T> Shared<T> {
    pub fn new(value: T) -> Self {
        let inner = Box::new(Inner { owners: AtomicUsize::new(1), value });
        Shared { inner: NonNull::from(Box::leak(inner)) }
    }

    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        if unsafe { this.inner.as_ref() }.owners.load(Relaxed) != 1 {
            return None;
        }
        fence(Acquire);
        Some(unsafe { &mut this.inner.as_mut().value })
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &unsafe { self.inner.as_ref() }.value
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        unsafe { self.inner.as_ref() }.owners.fetch_add(1, Relaxed);
        Shared { inner: self.inner }
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        if unsafe { self.inner.as_ref() }.owners.fetch_sub(1, Relaxed) == 1 {
            fence(Acquire);
            drop(unsafe { Box::from_raw(self.inner.as_ptr()) });
        }
    }
}
