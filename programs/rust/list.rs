// A list of boxes behind a lock.
// expect c20 safe: holds
use std::sync::{Arc, Mutex};
use std::thread;
struct Node {
    v: u32,
    next: Option<Box<Node>>,
}
#[derive(Default)]
struct List {
    head: Option<Box<Node>>,
}
impl List {
    fn push(&mut self, v: u32) {
        let old = self.head.take();
        self.head = Some(Box::new(Node { v, next: old }));
    }
    fn pop(&mut self) -> Option<u32> {
        self.head.take().map(|n| {
            self.head = n.next;
            n.v
        })
    }
    fn sum(&self) -> u32 {
        let mut s = 0;
        let mut c = self.head.as_ref();
        while let Some(n) = c {
            s += n.v;
            c = n.next.as_ref();
        }
        s
    }
}
fn main() {
    let l = Arc::new(Mutex::new(List::default()));
    let m = Arc::clone(&l);
    let t = thread::spawn(move || {
        let mut g = m.lock().unwrap();
        g.push(1);
        g.push(2);
    });
    let got = l.lock().unwrap().pop();
    t.join().unwrap();
    let left = l.lock().unwrap().sum();
    assert_eq!(left + got.unwrap_or(0), 3);
    if let Some(g) = got {
        assert_eq!(g, 2);
    }
}
