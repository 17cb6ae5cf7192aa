// Traits, generic functions and trait objects on the way to the accesses.
// expect c20 safe: holds
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;

trait Flag: Sync {
    fn raise(&self);
    fn is_up(&self) -> bool;
}

struct Strong(AtomicU16);

impl Flag for Strong {
    fn raise(&self) {
        self.0.store(1, Ordering::Release);
    }
    fn is_up(&self) -> bool {
        self.0.load(Ordering::Acquire) == 1
    }
}

fn publish(flag: &dyn Flag, data: *mut u8) {
    unsafe { *data = 3 };
    flag.raise();
}

fn look<F: Flag + ?Sized>(flag: &F, data: *const u8) -> Option<u8> {
    flag.is_up().then(|| unsafe { *data })
}

static FLAG: Strong = Strong(AtomicU16::new(0));
static mut DATA: u8 = 0;

fn main() {
    let t = thread::spawn(|| publish(&FLAG, &raw mut DATA));
    if let Some(seen) = look(&FLAG, &raw const DATA) {
        assert_eq!(seen, 3);
    }
    t.join().unwrap();
}
