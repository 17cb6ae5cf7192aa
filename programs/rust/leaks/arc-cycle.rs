// Two nodes that own each other: whoever sets the last of the two links, neither is ever freed.
// leaks violated, else holds
use std::sync::{Arc, Mutex};
use std::thread;

struct Node {
    other: Mutex<Option<Arc<Node>>>,
}

fn main() {
    let a = Arc::new(Node { other: Mutex::new(None) });
    let b = Arc::new(Node { other: Mutex::new(None) });
    let (c, d) = (a.clone(), b.clone());
    let thread = thread::spawn(move || *c.other.lock().unwrap() = Some(d));
    *b.other.lock().unwrap() = Some(a.clone());
    thread.join().unwrap();
}
