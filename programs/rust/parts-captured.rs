// Closures that use several parts of one variable have each part.
// expect c20 safe: holds
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use std::thread;

struct Ends {
    data: Arc<AtomicU32>,
    ready: Arc<AtomicBool>,
    times: u32,
}

struct Place {
    x: u32,
    y: u32,
    z: u32,
}

fn main() {
    let data = Arc::new(AtomicU32::new(0));
    let ready = Arc::new(AtomicBool::new(false));
    let ends = Ends {
        data: data.clone(),
        ready: ready.clone(),
        times: 3,
    };
    // Moved into the thread, one by one.
    let worker = thread::spawn(move || {
        ends.data.store(ends.times, Relaxed);
        ends.ready.store(true, Release);
    });
    if ready.load(Acquire) {
        assert_eq!(data.load(Relaxed), 3);
    }
    worker.join().unwrap();

    let mut place = Place { x: 1, y: 2, z: 3 };
    let mut move_up = |by: u32| {
        place.y += by;
        let mut twice = || place.z += place.x + by;
        twice();
        twice();
    };
    move_up(10);
    move_up(20);
    assert_eq!((place.x, place.y, place.z), (1, 32, 67));
}
