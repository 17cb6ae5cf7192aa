// States below zero, told apart by a `match` on what only a run knows.
// expect c20 safe: holds
use std::sync::atomic::{AtomicI8, AtomicIsize, Ordering::*};
use std::thread;

const EMPTY: i8 = 0;
const PARKED: i8 = -1;
const NOTIFIED: i8 = 1;
static STATE: AtomicI8 = AtomicI8::new(EMPTY);
static READERS: AtomicIsize = AtomicIsize::new(0);

fn main() {
    let sleeper = thread::spawn(|| {
        READERS.store(-1, Relaxed);
        STATE.compare_exchange(EMPTY, PARKED, AcqRel, Acquire).is_ok()
    });
    let woke = match STATE.swap(NOTIFIED, AcqRel) {
        EMPTY => false,
        PARKED => true,
        _ => unreachable!("nobody else notifies"),
    };
    match READERS.load(Relaxed) {
        isize::MIN..=-2 => panic!("too many writers"),
        -1 | 0 => {}
        _ => panic!("there are no readers"),
    }
    assert_eq!(sleeper.join().unwrap(), woke);
}
