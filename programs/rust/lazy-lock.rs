// A list that is made when it is first used.
// expect c20 safe: holds
use std::sync::{LazyLock, Mutex};
use std::thread;
static LIST: LazyLock<Mutex<Vec<u32>>> = LazyLock::new(|| Mutex::new(vec![]));
fn main() {
    thread::scope(|s| {
        s.spawn(|| LIST.lock().unwrap().push(1));
        s.spawn(|| LIST.lock().unwrap().push(2));
    });
    let l = LIST.lock().unwrap();
    assert_eq!(l.len(), 2);
    assert_eq!(l.iter().sum::<u32>(), 3);
}
