// Peterson's lock needs sequentially consistent accesses.
// expect c20 safe: holds
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;

static FLAG: [AtomicBool; 2] = [AtomicBool::new(false), AtomicBool::new(false)];
static TURN: AtomicUsize = AtomicUsize::new(0);
static mut COUNT: usize = 0;

fn enter(me: usize) {
    FLAG[me].store(true, SeqCst);
    TURN.store(1 - me, SeqCst);
    while FLAG[1 - me].load(SeqCst) && TURN.load(SeqCst) == 1 - me {}
}

fn leave(me: usize) {
    FLAG[me].store(false, SeqCst);
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
