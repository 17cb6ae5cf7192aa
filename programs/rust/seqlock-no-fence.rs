// Without the fence before the second look, the two halves may be of different times.
// expect c20 safe: violated
// expect sc safe: holds
use std::sync::atomic::{fence, AtomicU32, Ordering::*};
use std::thread;

static SEQUENCE: AtomicU32 = AtomicU32::new(0);
static A: AtomicU32 = AtomicU32::new(0);
static B: AtomicU32 = AtomicU32::new(0);

fn write(value: u32) {
    let s = SEQUENCE.load(Relaxed);
    SEQUENCE.store(s + 1, Relaxed);
    fence(Release);
    A.store(value, Relaxed);
    B.store(value, Relaxed);
    SEQUENCE.store(s + 2, Release);
}

fn read() -> Option<(u32, u32)> {
    let before = SEQUENCE.load(Acquire);
    if before % 2 == 1 {
        return None;
    }
    let pair = (A.load(Relaxed), B.load(Relaxed));

    (SEQUENCE.load(Relaxed) == before).then_some(pair)
}

fn main() {
    let t = thread::spawn(|| write(1));
    if let Some((a, b)) = read() {
        assert_eq!(a, b);
    }
    t.join().unwrap();
}
