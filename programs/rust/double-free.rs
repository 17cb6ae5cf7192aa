// Both threads take the box back.
// expect sc safe: violated
use std::sync::atomic::{AtomicPtr, Ordering::*};
use std::thread;

fn main() {
    static SHARED: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
    SHARED.store(Box::into_raw(Box::new(1)), Relaxed);
    let take = || {
        let p = SHARED.load(Acquire);
        if !p.is_null() {
            SHARED.store(std::ptr::null_mut(), Release);
            drop(unsafe { Box::from_raw(p) });
        }
    };
    let t = thread::spawn(take);
    take();
    t.join().unwrap();
}
