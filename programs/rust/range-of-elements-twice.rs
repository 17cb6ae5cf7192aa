// The same, but it is forgotten that one was taken: it is freed twice.
// expect c20 safe: violated
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::sync::Arc;
use std::thread;
struct Bag {
    taken: AtomicUsize,
    filled: AtomicUsize,
    slots: [UnsafeCell<MaybeUninit<Box<u8>>>; 2],
}
unsafe impl Sync for Bag {}
impl Drop for Bag {
    fn drop(&mut self) {
        let (from, to) = (*self.taken.get_mut(), *self.filled.get_mut());
        for at in 0..to - from {
            unsafe { (*self.slots[(from + at) % 2].get()).assume_init_drop() };
        }
    }
}
fn main() {
    let bag = Arc::new(Bag {
        taken: AtomicUsize::new(0),
        filled: AtomicUsize::new(0),
        slots: [const { UnsafeCell::new(MaybeUninit::uninit()) }; 2],
    });
    let other = bag.clone();
    let t = thread::spawn(move || {
        for at in 0..2 {
            unsafe { (*other.slots[at].get()).write(Box::new(at as u8)) };
            other.filled.store(at + 1, Release);
        }
    });
    if bag.filled.load(Acquire) > 0 {
        let value = unsafe { (*bag.slots[0].get()).assume_init_read() };
        assert!(*value == 0);
    }
    drop(bag);
    t.join().unwrap();
}
