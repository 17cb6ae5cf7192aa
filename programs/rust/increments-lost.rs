// A load and a store are no increment.
// expect sc safe: violated
// expect c20 safe: violated
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::sync::Arc;
use std::thread;

#[test]
fn two_increments() {
    let number = Arc::new(AtomicUsize::new(0));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let number = number.clone();
            thread::spawn(move || {
                let now = number.load(Acquire);
                number.store(now + 1, Release);
            })
        })
        .collect();
    for t in threads {
        t.join().unwrap();
    }
    assert_eq!(number.load(Relaxed), 2);
}
