// The flag is relaxed: the data may be old.
// expect c20 safe: violated
// expect sc safe: holds
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use std::thread;

static DATA: AtomicU64 = AtomicU64::new(0);
static READY: AtomicBool = AtomicBool::new(false);

fn main() {
    let sender = thread::spawn(|| {
        DATA.store(123, Relaxed);
        READY.store(true, Relaxed);
    });
    if READY.load(Acquire) {
        assert_eq!(DATA.load(Relaxed), 123);
    }
    sender.join().unwrap();
}
