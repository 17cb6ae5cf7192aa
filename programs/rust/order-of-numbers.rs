// Sequence numbers are compared by `cmp`, and a match tells less, equal and greater apart.
// expect c20 safe: holds
use std::cmp::Ordering as Is;
use std::sync::atomic::{AtomicU8, Ordering::*};
use std::thread;
static SEQUENCE: AtomicU8 = AtomicU8::new(0);
static mut DATA: u8 = 0;
fn main() {
    let t = thread::spawn(|| {
        unsafe { DATA = 9 };
        SEQUENCE.store(1, Release);
    });
    let difference = (SEQUENCE.load(Acquire) as i8).wrapping_sub(1);
    match difference.cmp(&0) {
        Is::Less => {}
        Is::Equal => assert!(unsafe { DATA } == 9),
        Is::Greater => unreachable!(),
    }
    t.join().unwrap();
}
