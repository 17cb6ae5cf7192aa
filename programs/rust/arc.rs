// The standard library's `Arc`: the value is dropped once, by the last.
// expect c20 safe: holds
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::Arc;
use std::thread;

static DROPS: AtomicUsize = AtomicUsize::new(0);

struct Noisy(u8);

impl Drop for Noisy {
    fn drop(&mut self) {
        DROPS.fetch_add(1, Relaxed);
    }
}

fn main() {
    let a = Arc::new(Noisy(1));
    let b = a.clone();
    let t = thread::spawn(move || b.0);
    assert_eq!(a.0, 1);
    drop(a);
    assert_eq!(t.join().unwrap(), 1);
    assert_eq!(DROPS.load(Relaxed), 1);
}
