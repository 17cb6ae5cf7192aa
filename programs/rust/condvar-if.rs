// A wait may return without a reason, so an `if` is not enough.
// expect c20 safe: violated
use std::sync::{Condvar, Mutex};
use std::thread;

fn main() {
    let slot: Mutex<Option<u32>> = Mutex::new(None);
    let filled = Condvar::new();
    thread::scope(|s| {
        s.spawn(|| {
            *slot.lock().unwrap() = Some(5);
            filled.notify_one();
        });
        let mut guard = slot.lock().unwrap();
        if guard.is_none() {
            guard = filled.wait(guard).unwrap();
        }
        assert_eq!(guard.take(), Some(5));
    });
}
