// Counting down with a relaxed step orders nothing.
// expect c20 safe: violated
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicI8, Ordering::*};
use std::thread;

struct Latch(AtomicI8);

impl Latch {
    fn count_down(&self) {
        self.0.fetch_sub(1, Relaxed);
    }

    fn wait(&self) {
        while self.0.load(Acquire) > 0 {
            std::hint::spin_loop();
        }
    }
}

struct Cells([UnsafeCell<u8>; 2]);
unsafe impl Sync for Cells {}

fn main() {
    let latch = Latch(AtomicI8::new(2));
    let cells = Cells([UnsafeCell::new(0), UnsafeCell::new(0)]);
    thread::scope(|s| {
        for n in 0..2 {
            let (latch, cells) = (&latch, &cells);
            s.spawn(move || {
                unsafe { *cells.0[n].get() = n as u8 + 1 };
                latch.count_down();
            });
        }
        latch.wait();
        let sum = unsafe { *cells.0[0].get() + *cells.0[1].get() };
        assert_eq!(sum, 3);
    });
}
