// What is written by one field of a union and read by another is not followed: no answer is better than a wrong one.
// expect c20 safe: unknown
use std::sync::atomic::{AtomicU16, Ordering::*};
use std::thread;

union Bits {
    whole: u32,
    half: u16,
}

static HALF: AtomicU16 = AtomicU16::new(0);

fn main() {
    let writer = thread::spawn(|| {
        let mut bits = Bits { whole: 7 };
        bits.half = 8;
        HALF.store(unsafe { bits.whole } as u16, Relaxed);
    });
    let seen = HALF.load(Relaxed);
    assert!(seen == 0 || seen == 7);
    writer.join().unwrap();
}
