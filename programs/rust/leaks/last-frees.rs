// The last of two threads frees.
// leaks holds, else holds
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering::*};
use std::thread;

static COUNT: AtomicU32 = AtomicU32::new(2);

fn leave(p: &AtomicPtr<u32>) {
    let left = COUNT.fetch_sub(1, AcqRel) - 1;
    if left == 0 {
        drop(unsafe { Box::from_raw(p.load(Relaxed)) });
    }
}

fn main() {
    let p = AtomicPtr::new(Box::into_raw(Box::new(5)));
    thread::scope(|scope| {
        scope.spawn(|| leave(&p));
        leave(&p);
    });
}
