// Three threads count under a lock that spins.
// expect c20 safe: holds
use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicBool, Ordering::*};
use loom::sync::Arc;
use loom::thread;

struct Counter {
    locked: AtomicBool,
    count: UnsafeCell<u32>,
}

unsafe impl Sync for Counter {}

impl Counter {
    fn add(&self) -> u32 {
        while self.locked.compare_exchange(false, true, Acquire, Relaxed).is_err() {
            thread::yield_now();
        }
        let count = self.count.with_mut(|count| unsafe {
            *count += 1;
            *count
        });
        self.locked.store(false, Release);
        count
    }
}

#[test]
fn three_threads_count() {
    loom::model(|| {
        let counter = Arc::new(Counter { locked: AtomicBool::new(false), count: UnsafeCell::new(0) });
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let counter = counter.clone();
                thread::spawn(move || counter.add())
            })
            .collect();
        let mine = counter.add();
        let others: u32 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        // One of them was the first, one the second, and one the third.
        assert_eq!(mine + others, 6);
    });
}
