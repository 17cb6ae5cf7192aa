// What a pattern takes out of an array, and what it leaves there, is dropped once; a box of no elements has no memory to free.
// expect c20 safe: holds
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;

static DROPPED: AtomicU32 = AtomicU32::new(0);

struct Counted;

impl Drop for Counted {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Relaxed);
    }
}

fn main() {
    let threads = [(); 2].map(|()| {
        thread::spawn(|| {
            let none: Box<[u32]> = Vec::new().into_boxed_slice();
            assert!(none.iter().next().is_none());
            let [first, _, _] = [Counted, Counted, Counted];
            drop(first);
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(DROPPED.load(Relaxed), 6);
}
