// The writer has no fence between taking the pointer away and looking for announcements.
// expect c20 safe: violated
// expect sc safe: holds
use std::ptr;
use std::sync::atomic::{fence, AtomicPtr, Ordering::*};
use std::thread;

static CURRENT: AtomicPtr<u32> = AtomicPtr::new(ptr::null_mut());
static HAZARD: AtomicPtr<u32> = AtomicPtr::new(ptr::null_mut());

fn read() -> Option<u32> {
    let p = CURRENT.load(Relaxed);
    if p.is_null() {
        return None;
    }
    HAZARD.store(p, Relaxed);
    fence(SeqCst);
    let mut value = None;
    if CURRENT.load(Acquire) == p {
        value = Some(unsafe { *p });
    }
    HAZARD.store(ptr::null_mut(), Release);
    value
}

fn retire() {
    let p = CURRENT.swap(ptr::null_mut(), AcqRel);
    if HAZARD.load(Acquire) != p {
        drop(unsafe { Box::from_raw(p) });
    }
}

fn main() {
    CURRENT.store(Box::into_raw(Box::new(6)), Relaxed);
    let reader = thread::spawn(read);
    retire();
    assert!(matches!(reader.join().unwrap(), None | Some(6)));
}
