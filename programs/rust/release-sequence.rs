// An exchange between a release store and an acquire load: they synchronise all the same.
// expect c20 safe: holds
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;
static mut D: u32 = 0;
static F: AtomicU32 = AtomicU32::new(0);
fn main() {
    thread::scope(|s| {
        s.spawn(|| {
            unsafe { D = 1 };
            F.store(1, Release);
        });
        s.spawn(|| {
            let _ = F.compare_exchange(1, 2, Relaxed, Relaxed);
        });
        s.spawn(|| {
            if F.load(Acquire) == 2 {
                assert_eq!(unsafe { D }, 1);
            }
        });
    });
}
