// One thread sends up to three numbers through two slots, another takes what is there.
// expect c20 safe: holds
use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicUsize, Ordering::*};
use loom::sync::Arc;
use loom::thread;

struct Ring {
    slots: [UnsafeCell<u32>; 2],
    head: AtomicUsize,
    tail: AtomicUsize,
}

unsafe impl Sync for Ring {}

impl Ring {
    fn send(&self, number: u32) -> bool {
        let tail = self.tail.load(Relaxed);
        if tail - self.head.load(Acquire) == 2 {
            return false;
        }
        self.slots[tail % 2].with_mut(|slot| unsafe { *slot = number });
        self.tail.store(tail + 1, Release);
        true
    }

    fn take(&self) -> Option<u32> {
        let head = self.head.load(Relaxed);
        if head == self.tail.load(Acquire) {
            return None;
        }
        let number = self.slots[head % 2].with(|slot| unsafe { *slot });
        self.head.store(head + 1, Release);
        Some(number)
    }
}

#[test]
fn numbers_come_in_order() {
    loom::model(|| {
        let ring = Arc::new(Ring {
            slots: [UnsafeCell::new(0), UnsafeCell::new(0)],
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
        });
        let taking = ring.clone();
        let taker = thread::spawn(move || {
            let mut last = 0;
            for _ in 0..3 {
                if let Some(number) = taking.take() {
                    assert_eq!(number, last + 1);
                    last = number;
                }
            }
        });
        let mut number = 1;
        for _ in 0..3 {
            if ring.send(number) {
                number += 1;
            }
        }
        taker.join().unwrap();
    });
}
