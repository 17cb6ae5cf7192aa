// A weak reference leads to the value or to nothing, never to memory that is gone.
// expect c20 safe: holds
use std::sync::{Arc, Weak};
use std::thread;

fn main() {
    let strong = Arc::new(7u32);
    let weak: Weak<u32> = Arc::downgrade(&strong);
    let t = thread::spawn(move || match weak.upgrade() {
        Some(value) => assert_eq!(*value, 7),
        None => {}
    });
    drop(strong);
    t.join().unwrap();
}
