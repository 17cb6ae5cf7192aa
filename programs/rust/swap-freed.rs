// A value is replaced and freed while another thread may still read it.
// expect c20 safe: violated
use std::sync::atomic::{AtomicPtr, Ordering::*};
use std::thread;
static CUR: AtomicPtr<u64> = AtomicPtr::new(std::ptr::null_mut());
fn main() {
    CUR.store(Box::into_raw(Box::new(1)), Relaxed);
    let t = thread::spawn(|| {
        let new = Box::into_raw(Box::new(2));
        let old = CUR.swap(new, AcqRel);
        unsafe { drop(Box::from_raw(old)) }
    });
    let p = CUR.load(Acquire);
    let v = unsafe { *p };
    assert!(v == 1 || v == 2);
    t.join().unwrap();
}
