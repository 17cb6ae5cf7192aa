// A flag in the low bits of an address, set as strict provenance has it: bytes are added to the pointer, also to none.
// expect c20 safe: holds
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering::*};
use std::thread;
const DONE: usize = 2;
static HEAD: AtomicPtr<u32> = AtomicPtr::new(ptr::null_mut());
static mut VALUE: u32 = 0;
fn with_bits(p: *mut u32, bits: usize) -> *mut u32 {
    let by = ((p as usize & !3) | bits).wrapping_sub(p as usize) as isize;
    (p as *mut u8).wrapping_offset(by) as *mut u32
}
fn main() {
    let t = thread::spawn(|| {
        unsafe { VALUE = 7 };
        let p = HEAD.load(Relaxed);
        HEAD.store(with_bits(p, DONE), Release);
    });
    if HEAD.load(Acquire) as usize & 3 == DONE {
        assert!(unsafe { VALUE } == 7);
    }
    t.join().unwrap();
}
