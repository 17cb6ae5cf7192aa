// Load and store instead of one step: the second who leaves finds nobody.
// expect c20 safe: violated

use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;

static USERS: AtomicU8 = AtomicU8::new(0);

fn leave() -> u8 {
    let users = USERS.load(Ordering::SeqCst);
    let left = users.checked_sub(1).expect("nobody is there");
    USERS.store(left, Ordering::SeqCst);
    left
}

fn main() {
    USERS.store(1, Ordering::SeqCst);
    let t = thread::spawn(leave);
    leave();
    t.join().unwrap();
}
