// A text that is handed over with release and acquire.
// expect c20 safe: holds
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
        SLOT.ready.store(true, Release);
    });
    if SLOT.ready.load(Acquire) {
        let text = unsafe { (*SLOT.text.get()).assume_init_read() };
        assert_eq!(text, "hello");
    }
}
