// Memory without a type, zeroed: a block of slots with their flags, as queues of blocks have it.
// expect c20 safe: holds
use std::alloc::{alloc_zeroed, dealloc, Layout};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering::*};
use std::thread;
struct Slot {
    value: UnsafeCell<u32>,
    ready: AtomicU8,
}
struct Block {
    next: AtomicPtr<Block>,
    slots: [Slot; 2],
}
#[derive(Clone, Copy)]
struct At(*mut Block);
unsafe impl Send for At {}
impl At {
    fn block(&self) -> &Block {
        unsafe { &*self.0 }
    }
}
fn main() {
    let layout = Layout::new::<Block>();
    let at = At(unsafe { alloc_zeroed(layout) } as *mut Block);
    assert!(at.block().next.load(Relaxed).is_null());
    let other = at;
    let t = thread::spawn(move || {
        let slot = &other.block().slots[1];
        unsafe { *slot.value.get() = 5 };
        slot.ready.store(1, Release);
    });
    let slot = &at.block().slots[1];
    if slot.ready.load(Acquire) == 1 {
        assert!(unsafe { *slot.value.get() } == 5);
    }
    t.join().unwrap();
    unsafe { dealloc(at.0 as *mut u8, layout) };
}
