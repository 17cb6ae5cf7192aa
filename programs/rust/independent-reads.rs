// Two readers may see two stores in different orders, unless all is sequentially consistent.
// expect c20 safe: violated
// expect sc safe: holds
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::*};
use std::thread;

static X: AtomicBool = AtomicBool::new(false);
static Y: AtomicBool = AtomicBool::new(false);
static BOTH: AtomicI32 = AtomicI32::new(0);

fn main() {
    let threads = [
        thread::spawn(|| X.store(true, Release)),
        thread::spawn(|| Y.store(true, Release)),
        thread::spawn(|| {
            if X.load(Acquire) && !Y.load(Acquire) {
                BOTH.fetch_add(1, AcqRel);
            }
        }),
        thread::spawn(|| {
            if Y.load(Acquire) && !X.load(Acquire) {
                BOTH.fetch_add(1, AcqRel);
            }
        }),
    ];
    for thread in threads {
        thread.join().unwrap();
    }
    assert!(BOTH.load(Relaxed) < 2);
}
