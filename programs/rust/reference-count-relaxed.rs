// The count goes down with a relaxed step: the memory is given back while the other thread reads.
// expect c20 safe: violated
// expect sc safe: holds
use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync::atomic::{fence, AtomicUsize, Ordering::*};
use std::thread;

struct Inner<T> {
    count: AtomicUsize,
    value: UnsafeCell<T>,
}

pub struct Shared<T> {
    inner: NonNull<Inner<T>>,
}

unsafe impl<T: Send + Sync> Send for Shared<T> {}

impl<T> Shared<T> {
    pub fn new(value: T) -> Self {
        let inner = Box::new(Inner { count: AtomicUsize::new(1), value: UnsafeCell::new(value) });
        Shared { inner: NonNull::from(Box::leak(inner)) }
    }

    fn inner(&self) -> &Inner<T> {
        unsafe { self.inner.as_ref() }
    }

    pub fn get(&self) -> &T {
        unsafe { &*self.inner().value.get() }
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        self.inner().count.fetch_add(1, Relaxed);
        Shared { inner: self.inner }
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        if self.inner().count.fetch_sub(1, Relaxed) == 1 {
            fence(Acquire);
            unsafe { drop(Box::from_raw(self.inner.as_ptr())) };
        }
    }
}

fn main() {
    let first = Shared::new(5);
    let second = first.clone();
    let other = thread::spawn(move || assert_eq!(*second.get(), 5));
    assert_eq!(*first.get(), 5);
    drop(first);
    other.join().unwrap();
}
