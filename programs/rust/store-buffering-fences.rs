// Relaxed accesses with sequentially consistent fences between them.
// expect c20 safe: holds
use std::sync::atomic::{fence, AtomicUsize, Ordering::*};
use std::thread;

static X: AtomicUsize = AtomicUsize::new(0);
static Y: AtomicUsize = AtomicUsize::new(0);

fn main() {
    let other = thread::spawn(|| {
        X.store(1, Relaxed);
        fence(SeqCst);
        Y.load(Relaxed)
    });
    Y.store(1, Relaxed);
    fence(SeqCst);
    let here = X.load(Relaxed);
    let there = other.join().unwrap();
    assert!(here == 1 || there == 1);
}
