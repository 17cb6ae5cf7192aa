// A clock says that enough time has passed; that proves nothing about another thread.
// expect c20 safe: violated
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;
use std::time::{Duration, Instant};
static DONE: AtomicBool = AtomicBool::new(false);
fn main() {
    let start = Instant::now();
    let t = thread::spawn(|| {
        thread::sleep(Duration::from_millis(10));
        DONE.store(true, Relaxed);
    });
    assert_eq!(Duration::from_millis(1500).as_secs(), 1);
    thread::sleep(Duration::from_secs(1));
    if start.elapsed().as_millis() > 500 {
        assert!(DONE.load(Relaxed));
    }
    t.join().unwrap();
}
