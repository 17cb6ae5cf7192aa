// Waits with a time limit come to an end although nobody notifies or unparks, and a thread says at some time that it is finished.
// expect c20 safe: holds
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;

static GO: AtomicU32 = AtomicU32::new(0);
static SLOT: Mutex<bool> = Mutex::new(false);
static FULL: Condvar = Condvar::new();

fn main() {
    let worker = thread::spawn(|| {
        while GO.load(Acquire) == 0 {
            thread::park_timeout(Duration::from_millis(1));
        }
        GO.store(2, Relaxed);
    });
    let slot = SLOT.lock().unwrap();
    let (slot, result) = FULL
        .wait_timeout_while(slot, Duration::from_millis(1), |full| !*full)
        .unwrap();
    assert!(result.timed_out() && !*slot);
    GO.store(1, Release);
    while !worker.is_finished() {
        thread::yield_now();
    }
    worker.join().unwrap();
    assert_eq!(GO.load(Relaxed), 2);
}
