// A loop that counts for as long as another thread likes: the number goes into a register.
// expect c20 safe: violated

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static READY: AtomicBool = AtomicBool::new(false);

fn main() {
    thread::scope(|s| {
        s.spawn(|| READY.store(true, Ordering::Release));
        let mut rounds = 0;
        while !READY.load(Ordering::Acquire) {
            rounds += 1;
        }
        assert!(rounds < 5);
    });
}
