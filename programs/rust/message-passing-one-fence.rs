// The fence of the reader is missing: a race on the data.
// expect c20 safe: violated
// expect c20 drf: violated
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
        let seen = unsafe { DATA };
        assert!(seen == 7);
    }
}
