// As parts-captured.rs, but the second part is stored to without an order.
// expect c20 safe: violated
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use std::thread;

struct Ends {
    data: Arc<AtomicU32>,
    ready: Arc<AtomicBool>,
}

fn main() {
    let data = Arc::new(AtomicU32::new(0));
    let ready = Arc::new(AtomicBool::new(false));
    let ends = Ends {
        data: data.clone(),
        ready: ready.clone(),
    };
    thread::spawn(move || {
        ends.data.store(3, Relaxed);
        ends.ready.store(true, Relaxed);
    });
    if ready.load(Acquire) {
        assert_eq!(data.load(Relaxed), 3);
    }
}
