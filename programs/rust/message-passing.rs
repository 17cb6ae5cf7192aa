// A flag is stored with release and read with acquire: who sees the flag sees the data.
// expect c20 safe: holds
// expect c20 robust: holds
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use std::thread;

static DATA: AtomicU64 = AtomicU64::new(0);
static READY: AtomicBool = AtomicBool::new(false);

fn main() {
    let sender = thread::spawn(|| {
        DATA.store(123, Relaxed);
        READY.store(true, Release);
    });
    if READY.load(Acquire) {
        assert_eq!(DATA.load(Relaxed), 123);
    }
    sender.join().unwrap();
}
