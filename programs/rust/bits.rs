// Bits that are set and cleared by several threads.
// expect c20 safe: holds
use std::sync::atomic::{AtomicU8, Ordering::*};
use std::thread;
static F: AtomicU8 = AtomicU8::new(0);
fn main() {
    let a = thread::spawn(|| F.fetch_or(1, AcqRel));
    let b = thread::spawn(|| F.fetch_or(2, AcqRel));
    let x = F.fetch_and(!1, AcqRel);
    let (p, q) = (a.join().unwrap(), b.join().unwrap());
    assert!(p & 1 == 0 && q & 2 == 0);
    let e = F.load(Relaxed);
    assert!(e & 2 == 2);
    if x & 1 == 1 {
        assert_eq!(e, 2);
    } else {
        assert_eq!(e, 3);
    }
    assert_eq!(F.fetch_xor(0xff, Relaxed), e);
    assert_eq!(F.load(Relaxed), !e);
}
