// The old value is freed while a reader may still look at it.
// expect c20 safe: violated

use std::sync::atomic::{AtomicPtr, Ordering};
use std::thread;

struct Config {
    limit: u32,
}

static CURRENT: AtomicPtr<Config> = AtomicPtr::new(std::ptr::null_mut());

fn main() {
    CURRENT.store(Box::into_raw(Box::new(Config { limit: 1 })), Ordering::Release);
    let reader = thread::spawn(|| {
        let config = CURRENT.load(Ordering::Acquire);
        unsafe { (*config).limit }
    });
    let old = CURRENT.swap(Box::into_raw(Box::new(Config { limit: 2 })), Ordering::AcqRel);
    // The reader may still be there.
    drop(unsafe { Box::from_raw(old) });
    let limit = reader.join().unwrap();
    assert!(limit == 1 || limit == 2);
}
