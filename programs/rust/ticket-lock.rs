// A lock that serves in order, for three threads of a loop that keeps their handles.
// expect c20 safe: holds
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;
use std::thread;

struct TicketLock {
    next: AtomicU32,
    serving: AtomicU32,
}

impl TicketLock {
    fn lock(&self) {
        let mine = self.next.fetch_add(1, Ordering::Relaxed);
        while self.serving.load(Ordering::Acquire) != mine {
            thread::yield_now();
        }
    }

    fn unlock(&self) {
        let now = self.serving.load(Ordering::Relaxed);
        self.serving.store(now + 1, Ordering::Release);
    }
}

struct Counter {
    lock: TicketLock,
    value: UnsafeCell<u32>,
}

unsafe impl Sync for Counter {}

fn main() {
    let counter = Arc::new(Counter {
        lock: TicketLock { next: AtomicU32::new(0), serving: AtomicU32::new(0) },
        value: UnsafeCell::new(0),
    });
    let mut handles = Vec::new();
    for _ in 0..2 {
        let counter = Arc::clone(&counter);
        handles.push(thread::spawn(move || {
            counter.lock.lock();
            unsafe { *counter.value.get() += 1 };
            counter.lock.unlock();
        }));
    }
    for handle in handles {
        handle.join().unwrap();
    }
    assert_eq!(unsafe { *counter.value.get() }, 2);
}
