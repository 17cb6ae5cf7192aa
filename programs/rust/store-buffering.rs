// Each thread stores, then looks at the other: with release and acquire both may see nothing.
// expect c20 safe: violated
// expect c20 robust: violated
// expect sc safe: holds
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread;

static X: AtomicUsize = AtomicUsize::new(0);
static Y: AtomicUsize = AtomicUsize::new(0);

fn main() {
    let other = thread::spawn(|| {
        X.store(1, Release);
        Y.load(Acquire)
    });
    Y.store(1, Release);
    let here = X.load(Acquire);
    let there = other.join().unwrap();
    assert!(here == 1 || there == 1);
}
