// Exactly one of the threads that meet at a barrier is its leader.
// expect c20 safe: holds

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Barrier;
use std::thread;

static LEADERS: AtomicU32 = AtomicU32::new(0);

fn main() {
    let barrier = Barrier::new(3);
    thread::scope(|s| {
        for _ in 0..3 {
            s.spawn(|| {
                if barrier.wait().is_leader() {
                    LEADERS.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(LEADERS.load(Ordering::Relaxed), 1);
}
