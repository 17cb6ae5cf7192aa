// With release and acquire both threads enter.
// expect c20 safe: violated
// expect sc safe: holds
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::thread;

static FLAG: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];
static TURN: AtomicUsize = AtomicUsize::new(0);
static mut COUNT: usize = 0;

fn enter(me: usize) {
    FLAG[me].store(true, Release);
    TURN.store(1 - me, Release);
    while FLAG[1 - me].load(Acquire) && TURN.load(Acquire) == 1 - me {}
}

fn leave(me: usize) {
    FLAG[me].store(false, Release);
}

fn work(me: usize) {
    enter(me);
    unsafe { COUNT += 1 };
    leave(me);
}

fn main() {
    let other = thread::spawn(|| work(1));
    work(0);
    other.join().unwrap();
    assert!(unsafe { COUNT } == 2);
}
