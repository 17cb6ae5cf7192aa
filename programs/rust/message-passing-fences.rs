// Fences beside relaxed accesses do what the orders on the accesses would.
// expect c20 safe: holds
use std::sync::atomic::{fence, AtomicBool, Ordering::*};
use std::thread;

static mut DATA: u64 = 0;
static READY: AtomicBool = AtomicBool::new(false);

fn main() {
    thread::spawn(|| {
        unsafe { DATA = 7 };
        fence(Release);
        READY.store(true, Relaxed);
    });
    if READY.load(Relaxed) {
        fence(Acquire);
        let seen = unsafe { DATA };
        assert!(seen == 7);
    }
}
