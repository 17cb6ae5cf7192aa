// The same with a text as the message: it is always the same one, and still raced for.
// expect c20 safe: violated
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;

struct Slot {
    text: UnsafeCell<Option<&'static str>>,
    ready: AtomicBool,
}

unsafe impl Sync for Slot {}

static SLOT: Slot = Slot { text: UnsafeCell::new(None), ready: AtomicBool::new(false) };

fn main() {
    thread::spawn(|| {
        unsafe { *SLOT.text.get() = Some("hello") };
        SLOT.ready.store(true, Relaxed);
    });
    if SLOT.ready.load(Acquire) {
        assert_eq!(unsafe { *SLOT.text.get() }, Some("hello"));
    }
}
