// The receiver says with a relaxed store that a place is free: the sender writes while it reads.
// expect c20 safe: violated
// expect sc safe: holds
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread;

struct Ring<T, const N: usize> {
    places: [UnsafeCell<MaybeUninit<T>>; N],
    head: AtomicUsize,
    tail: AtomicUsize,
}

unsafe impl<T: Send, const N: usize> Sync for Ring<T, N> {}

impl<T, const N: usize> Ring<T, N> {
    fn new() -> Self {
        Ring {
            places: std::array::from_fn(|_| UnsafeCell::new(MaybeUninit::uninit())),
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
        }
    }

    fn push(&self, value: T) -> Result<(), T> {
        let tail = self.tail.load(Relaxed);
        if tail - self.head.load(Acquire) == N {
            return Err(value);
        }
        unsafe { (*self.places[tail % N].get()).write(value) };
        self.tail.store(tail + 1, Release);
        Ok(())
    }

    fn pop(&self) -> Option<T> {
        let head = self.head.load(Relaxed);
        if head == self.tail.load(Acquire) {
            return None;
        }
        let value = unsafe { (*self.places[head % N].get()).assume_init_read() };
        self.head.store(head + 1, Relaxed);
        Some(value)
    }
}

fn main() {
    let ring: Ring<u32, 1> = Ring::new();
    thread::scope(|s| {
        s.spawn(|| {
            for n in 1..=2 {
                if ring.push(n).is_err() {
                    return;
                }
            }
        });
        if let Some(n) = ring.pop() {
            assert_eq!(n, 1);
        }
    });
}
