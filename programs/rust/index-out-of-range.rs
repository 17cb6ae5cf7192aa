// An index that another thread changes.
// expect c20 safe: violated

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static STEP: AtomicU32 = AtomicU32::new(0);

fn main() {
    let t = thread::spawn(|| {
        let values = [1, 2, 3];
        let at = STEP.load(Ordering::Relaxed) as usize;
        values[at]
    });
    STEP.store(3, Ordering::Relaxed);
    let _ = t.join();
}
