// A thread that is parked until a flag says go; a park may return for no reason, and the flag is looked at again.
// expect c20 safe: holds
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use std::thread;

static GO: AtomicBool = AtomicBool::new(false);
static WORK: AtomicU32 = AtomicU32::new(0);

fn main() {
    let worker = thread::spawn(|| {
        while !GO.load(Acquire) {
            thread::park();
        }
        WORK.load(Relaxed)
    });
    WORK.store(9, Relaxed);
    GO.store(true, Release);
    worker.thread().unpark();
    assert_eq!(worker.join().unwrap(), 9);
}
