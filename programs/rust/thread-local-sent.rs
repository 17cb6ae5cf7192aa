// What belongs to one thread is reached by another through its address: without synchronisation, that is a race.
// expect c20 safe: violated
use std::cell::Cell;
use std::sync::atomic::{AtomicPtr, Ordering::*};
use std::{ptr, thread};

thread_local!(static OWN: Cell<u32> = const { Cell::new(0) });
static PLACE: AtomicPtr<Cell<u32>> = AtomicPtr::new(ptr::null_mut());

fn main() {
    thread::spawn(|| {
        let place = PLACE.load(Acquire);
        if !place.is_null() {
            unsafe { (*place).set(1) };
        }
    });
    OWN.with(|own| PLACE.store(ptr::from_ref(own).cast_mut(), Release));
    OWN.set(2);
}
