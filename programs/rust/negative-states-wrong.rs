// The state below zero is forgotten in a `match`.
// expect c20 safe: violated
use std::sync::atomic::{AtomicI8, Ordering::*};
use std::thread;

static STATE: AtomicI8 = AtomicI8::new(0);

fn main() {
    thread::spawn(|| STATE.store(-1, Release));
    match STATE.load(Acquire) {
        0 | 1 => {}
        // A pattern of the same bits without a sign would not be -1.
        127 => {}
        _ => panic!("no such state"),
    }
}
