// A queue of one place with a condition variable.
// expect c20 safe: holds
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
        while guard.is_none() {
            guard = filled.wait(guard).unwrap();
        }
        assert_eq!(guard.take(), Some(5));
    });
}
