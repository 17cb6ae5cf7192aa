// The same slot, where taking the box does not acquire what was put into it.
// expect c20 safe: violated
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering::*};
use std::thread;
struct Slot {
    p: AtomicPtr<u32>,
}
impl Slot {
    fn put(&self, v: Box<u32>) -> Option<Box<u32>> {
        let raw = Box::into_raw(v);
        match self
            .p
            .compare_exchange(ptr::null_mut(), raw, Release, Relaxed)
        {
            Ok(_) => None,
            Err(_) => Some(unsafe { Box::from_raw(raw) }),
        }
    }
    fn take(&self) -> Option<Box<u32>> {
        let p = self.p.swap(ptr::null_mut(), Relaxed);
        if p.is_null() {
            None
        } else {
            Some(unsafe { Box::from_raw(p) })
        }
    }
}
impl Drop for Slot {
    fn drop(&mut self) {
        drop(self.take());
    }
}
fn main() {
    let s = Slot {
        p: AtomicPtr::new(ptr::null_mut()),
    };
    thread::scope(|sc| {
        sc.spawn(|| {
            s.put(Box::new(7));
        });
        sc.spawn(|| {
            if let Some(b) = s.put(Box::new(8)) {
                assert_eq!(*b, 8);
            }
        });
        if let Some(b) = s.take() {
            assert!(*b == 7 || *b == 8);
        }
    });
}
