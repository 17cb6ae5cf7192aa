// A thread keeps the address of memory that it freed in the round before, and reads there after it has allocated again at the same place of the program.
// expect c20 safe: violated
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

static LAST: AtomicU8 = AtomicU8::new(0);

fn main() {
    let worker = std::thread::spawn(|| {
        LAST.store(1, Relaxed);
        let mut before: *mut u8 = null_mut();
        for _ in 0..2 {
            let now = Box::into_raw(Box::new(7u8));
            if !before.is_null() {
                LAST.store(unsafe { *before }, Relaxed);
            }
            unsafe { drop(Box::from_raw(now)) };
            before = now;
        }
    });
    worker.join().unwrap();
}
