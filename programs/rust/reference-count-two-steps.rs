// Counting up takes two steps: a count is lost, and the memory is used after it is freed.
// expect sc safe: violated
// expect c20 safe: violated
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
        let n = self.inner().count.load(Relaxed);
        self.inner().count.store(n + 1, Relaxed);
        Shared { inner: self.inner }
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        if self.inner().count.fetch_sub(1, Release) == 1 {
            fence(Acquire);
            unsafe { drop(Box::from_raw(self.inner.as_ptr())) };
        }
    }
}

fn second_of<T>(of: &Shared<T>) -> Shared<T> {
    of.clone()
}

fn main() {
    let first = Shared::new(5);
    let second = first.clone();
    let third = first.clone();
    let other = thread::spawn(move || {
        let more = second.clone();
        assert_eq!(*more.get(), 5);
    });
    assert_eq!(*first.get(), 5);
    let fourth = second_of(&third);
    drop(first);
    drop(third);
    drop(fourth);
    other.join().unwrap();
}
