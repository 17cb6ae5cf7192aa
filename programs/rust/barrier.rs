// The standard library's barrier: before it and after it are two different times.
// expect c20 safe: holds
use std::sync::{Arc, Barrier};
use std::thread;

static mut LEFT: u32 = 0;

fn main() {
    let barrier = Arc::new(Barrier::new(2));
    let there = Arc::clone(&barrier);
    let t = thread::spawn(move || {
        unsafe { LEFT = 1 };
        there.wait();
    });
    barrier.wait();
    let left = unsafe { LEFT };
    assert_eq!(left, 1);
    t.join().unwrap();
}
