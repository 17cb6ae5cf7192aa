// The flag is set, the slot is not: memory is taken for a value that nothing was written to.
// expect c20 safe: violated

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static mut SLOT: MaybeUninit<u32> = MaybeUninit::uninit();
static READY: AtomicBool = AtomicBool::new(false);

fn main() {
    thread::spawn(|| {
        READY.store(true, Ordering::Release);
    });
    if READY.load(Ordering::Acquire) {
        let value = unsafe { SLOT.assume_init() };
        println!("{value}");
    }
}
