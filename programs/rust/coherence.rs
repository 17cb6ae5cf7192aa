// One location alone is never seen going back, however relaxed.
// expect c20 safe: holds
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;

fn main() {
    static X: AtomicU32 = AtomicU32::new(0);
    let writer = thread::spawn(|| {
        X.store(1, Relaxed);
        X.store(2, Relaxed);
    });
    let first = X.load(Relaxed);
    let second = X.load(Relaxed);
    assert!(second >= first);
    writer.join().unwrap();
    assert_eq!(X.load(Relaxed), 2);
}
