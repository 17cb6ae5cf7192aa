// The way back is weak: both nodes are freed.
// leaks holds, else holds
use std::sync::{Arc, Mutex, Weak};
use std::thread;

struct Node {
    below: Mutex<Option<Arc<Node>>>,
    above: Mutex<Option<Weak<Node>>>,
}

fn node() -> Arc<Node> {
    Arc::new(Node { below: Mutex::new(None), above: Mutex::new(None) })
}

fn main() {
    let a = node();
    let b = node();
    let (c, d) = (a.clone(), b.clone());
    let thread = thread::spawn(move || *c.below.lock().unwrap() = Some(d));
    *b.above.lock().unwrap() = Some(Arc::downgrade(&a));
    thread.join().unwrap();
}
