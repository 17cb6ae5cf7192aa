// The pointer is published with a relaxed exchange: its contents are raced for.
// expect c20 safe: violated
// expect sc safe: holds
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering::*};
use std::thread;

struct Data {
    a: u32,
    b: u32,
}

fn get() -> &'static Data {
    static PTR: AtomicPtr<Data> = AtomicPtr::new(ptr::null_mut());
    let mut p = PTR.load(Acquire);
    if p.is_null() {
        p = Box::into_raw(Box::new(Data { a: 3, b: 4 }));
        if let Err(other) = PTR.compare_exchange(ptr::null_mut(), p, Relaxed, Relaxed) {
            drop(unsafe { Box::from_raw(p) });
            p = other;
        }
    }
    unsafe { &*p }
}

fn main() {
    let other = thread::spawn(|| get().a);
    let here = get();
    assert_eq!(here.b, 4);
    assert_eq!(other.join().unwrap(), 3);
}
