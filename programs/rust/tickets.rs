// Two tickets for three buyers, with fetch_update.
// expect c20 safe: holds
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread;
static TICKETS: AtomicUsize = AtomicUsize::new(2);
fn take() -> bool {
    TICKETS
        .fetch_update(AcqRel, Acquire, |n| n.checked_sub(1))
        .is_ok()
}
fn main() {
    let hs = [thread::spawn(take), thread::spawn(take)];
    let mine = take();
    let mut sold = mine as usize;
    for h in hs {
        sold += usize::from(h.join().unwrap());
    }
    assert_eq!(sold, 2);
}
