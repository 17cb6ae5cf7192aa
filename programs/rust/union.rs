// What a thread hands over is in a union of which one field holds anything.
// expect c20 safe: holds
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;

union Content {
    empty: (),
    number: u32,
}

static NUMBER: AtomicU32 = AtomicU32::new(0);

fn main() {
    let filler = thread::spawn(|| {
        let mut content = Content { empty: () };
        if NUMBER.load(Relaxed) == 0 {
            content = Content { number: 7 };
            NUMBER.store(unsafe { content.number }, Relaxed);
        }
        unsafe { content.empty }
    });
    let seen = NUMBER.load(Relaxed);
    assert!(seen == 0 || seen == 7);
    filler.join().unwrap();
}
