// A local variable that another thread reads through a pointer while it lives.
// expect c20 safe: holds
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering::*};
use std::thread;
static P: AtomicPtr<u32> = AtomicPtr::new(std::ptr::null_mut());
static STOP: AtomicBool = AtomicBool::new(false);
fn publish() {
    let mut local = 3u32;
    P.store(&mut local, Release);
    while !STOP.load(Acquire) {}
}
fn main() {
    let t = thread::spawn(publish);
    let p = P.load(Acquire);
    if !p.is_null() {
        assert_eq!(unsafe { *p }, 3);
    }
    STOP.store(true, Release);
    t.join().unwrap();
}
