// With sequentially consistent accesses one of the two sees the other.
// expect c20 safe: holds
// expect c20 robust: holds
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread;

static X: AtomicUsize = AtomicUsize::new(0);
static Y: AtomicUsize = AtomicUsize::new(0);

fn main() {
    let other = thread::spawn(|| {
        X.store(1, SeqCst);
        Y.load(SeqCst)
    });
    Y.store(1, SeqCst);
    let here = X.load(SeqCst);
    let there = other.join().unwrap();
    assert!(here == 1 || there == 1);
}
