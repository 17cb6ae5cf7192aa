// Handles in a vector: the results of threads are added up.
// expect c20 safe: holds

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread;

fn main() {
    let counter = Arc::new(AtomicUsize::new(0));
    let handles: Vec<_> = (0..3)
        .map(|i| {
            let counter = counter.clone();
            thread::spawn(move || {
                counter.fetch_add(i, Ordering::Relaxed);
                i * 2
            })
        })
        .collect();
    let total: usize = handles.into_iter().map(|h| h.join().unwrap()).sum();
    assert_eq!(total, 6);
    assert_eq!(counter.load(Ordering::Relaxed), 3);
}
