// A child that may outlive its parent asks whether it is still there.
// expect c20 safe: holds
use std::sync::{Arc, Mutex, Weak};
use std::thread;
struct Parent {
    kids: Mutex<Vec<Arc<Kid>>>,
}
struct Kid {
    up: Weak<Parent>,
    n: u32,
}
fn main() {
    let p = Arc::new(Parent {
        kids: Mutex::new(Vec::new()),
    });
    let k = Arc::new(Kid {
        up: Arc::downgrade(&p),
        n: 3,
    });
    p.kids.lock().unwrap().push(k.clone());
    let t = thread::spawn(move || {
        if let Some(p) = k.up.upgrade() {
            let g = p.kids.lock().unwrap();
            assert_eq!(g[0].n, 3);
        }
    });
    drop(p);
    t.join().unwrap();
}
