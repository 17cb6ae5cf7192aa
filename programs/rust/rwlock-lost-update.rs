// Reading under one lock and writing under another loses an update.
// expect c20 safe: violated
use std::sync::RwLock;
use std::thread;
static L: RwLock<u32> = RwLock::new(0);
fn bump() {
    let n = *L.read().unwrap();
    *L.write().unwrap() = n + 1;
}
fn main() {
    let t = thread::spawn(bump);
    bump();
    t.join().unwrap();
    assert_eq!(*L.read().unwrap(), 2);
}
