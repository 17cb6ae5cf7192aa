// A pointer to a byte of a number sees a part of it, which is not followed: no answer is better than a wrong one.
// expect c20 safe: unknown
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;

static PART: AtomicU32 = AtomicU32::new(0);

fn main() {
    let writer = thread::spawn(|| {
        let number = 0x0102u16;
        let byte = &number as *const u16 as *const u8;
        PART.store(u32::from(unsafe { *byte }), Relaxed);
    });
    let seen = PART.load(Relaxed);
    assert!(seen == 0 || seen == 0x0102);
    writer.join().unwrap();
}
