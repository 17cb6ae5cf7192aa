// A text alone, without anything that says whether it is there.
// expect c20 safe: violated
// expect c20 drf: violated
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;

struct Slot {
    text: UnsafeCell<MaybeUninit<&'static str>>,
    ready: AtomicBool,
}

unsafe impl Sync for Slot {}

static SLOT: Slot = Slot { text: UnsafeCell::new(MaybeUninit::uninit()), ready: AtomicBool::new(false) };

fn main() {
    thread::spawn(|| {
        unsafe { (*SLOT.text.get()).write("hello") };
        SLOT.ready.store(true, Relaxed);
    });
    if SLOT.ready.load(Acquire) {
        let text = unsafe { (*SLOT.text.get()).assume_init_read() };
        assert_eq!(text, "hello");
    }
}
