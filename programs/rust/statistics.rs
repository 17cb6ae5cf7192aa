// Counters that are only shown decide nothing, however large they become.
// expect c20 safe: holds

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

static DONE: AtomicUsize = AtomicUsize::new(0);
static TIME: AtomicU64 = AtomicU64::new(0);

fn main() {
    thread::scope(|s| {
        for _ in 0..3 {
            s.spawn(|| {
                for _ in 0..4 {
                    let start = Instant::now();
                    TIME.fetch_add(start.elapsed().as_micros() as u64, Ordering::Relaxed);
                    DONE.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        println!("{} of 12 in {} us", DONE.load(Ordering::Relaxed), TIME.load(Ordering::Relaxed));
    });
    assert_eq!(DONE.load(Ordering::Relaxed), 12);
}
