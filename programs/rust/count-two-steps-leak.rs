// A count that goes down by a load and a store: memory may leak, which is no error here.
// expect c20 safe: holds

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

struct Shared {
    count: AtomicUsize,
    value: UnsafeCell<u32>,
}

struct Handle(*mut Shared);
unsafe impl Send for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        unsafe {
            let left = (*self.0).count.load(Ordering::Acquire) - 1;
            (*self.0).count.store(left, Ordering::Release);
            if left == 0 {
                drop(Box::from_raw(self.0));
            }
        }
    }
}

fn main() {
    let shared = Box::into_raw(Box::new(Shared { count: AtomicUsize::new(2), value: UnsafeCell::new(3) }));
    let (a, b) = (Handle(shared), Handle(shared));
    let t = thread::spawn(move || drop(a));
    assert_eq!(unsafe { *(*b.0).value.get() }, 3);
    drop(b);
    t.join().unwrap();
}
