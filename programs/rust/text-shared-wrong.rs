// A text that two threads write to, taken for written in one order.
// expect c20 safe: violated
use std::sync::{Arc, Mutex};
use std::thread;
fn main() {
    let log = Arc::new(Mutex::new(String::new()));
    let l = log.clone();
    let t = thread::spawn(move || l.lock().unwrap().push_str("b"));
    log.lock().unwrap().push('a');
    t.join().unwrap();
    let s = log.lock().unwrap();
    assert!(*s == "ab");
    assert_eq!(s.len(), 2);
}
