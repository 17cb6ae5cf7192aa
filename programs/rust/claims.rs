// Threads claim slots of an array, found by an iterator.
// expect c20 safe: holds
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;
const N: usize = 3;
static SLOTS: [AtomicU32; N] = [const { AtomicU32::new(0) }; N];
fn claim(id: u32) -> Option<usize> {
    SLOTS
        .iter()
        .position(|s| s.compare_exchange(0, id, AcqRel, Relaxed).is_ok())
}
fn main() {
    let a = thread::spawn(|| claim(1));
    let b = thread::spawn(|| claim(2));
    let (x, y) = (a.join().unwrap().unwrap(), b.join().unwrap().unwrap());
    assert_ne!(x, y);
    assert_eq!(SLOTS.iter().filter(|s| s.load(Relaxed) != 0).count(), 2);
    assert!(SLOTS.iter().map(|s| s.load(Relaxed)).max() == Some(2));
}
