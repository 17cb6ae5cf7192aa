// A vector behind a mutex that is made when it is first used.
// expect c20 safe: holds

use std::sync::{LazyLock, Mutex};
use std::thread;

static NAMES: LazyLock<Mutex<Vec<&'static str>>> = LazyLock::new(|| Mutex::new(Vec::new()));

fn register(name: &'static str) -> usize {
    let mut names = NAMES.lock().unwrap();
    names.push(name);
    names.len()
}

fn main() {
    let t = thread::spawn(|| register("left"));
    let mine = register("right");
    let theirs = t.join().unwrap();
    assert!(mine != theirs);
    assert_eq!(NAMES.lock().unwrap().len(), 2);
}
