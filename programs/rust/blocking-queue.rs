// A queue with a lock and a condition variable.
// expect c20 safe: holds
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
struct Queue<T> {
    items: Mutex<VecDeque<T>>,
    ready: Condvar,
}
impl<T> Queue<T> {
    fn new() -> Self {
        Queue {
            items: Mutex::new(VecDeque::new()),
            ready: Condvar::new(),
        }
    }
    fn push(&self, t: T) {
        self.items.lock().unwrap().push_back(t);
        self.ready.notify_one();
    }
    fn pop(&self) -> T {
        let mut g = self.items.lock().unwrap();
        loop {
            if let Some(t) = g.pop_front() {
                return t;
            }
            g = self.ready.wait(g).unwrap();
        }
    }
}
fn main() {
    let q = Arc::new(Queue::new());
    let c = {
        let q = q.clone();
        thread::spawn(move || q.pop() + q.pop())
    };
    q.push(1u32);
    q.push(2);
    assert_eq!(c.join().unwrap(), 3);
}
