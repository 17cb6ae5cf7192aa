// A flag that is set and notified without the lock: between the look at the flag and the wait, the notification is lost.
// expect c20 safe: violated
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};
use std::thread;
static READY: AtomicBool = AtomicBool::new(false);
static M: Mutex<()> = Mutex::new(());
static C: Condvar = Condvar::new();
fn main() {
    let t = thread::spawn(|| {
        let mut g = M.lock().unwrap();
        while !READY.load(Ordering::SeqCst) {
            g = C.wait(g).unwrap();
        }
        drop(g);
    });
    READY.store(true, Ordering::SeqCst);
    C.notify_one(); // without the lock: lost wake-up
    t.join().unwrap();
}
