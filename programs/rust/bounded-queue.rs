// A queue with room for one, with wait_while.
// expect c20 safe: holds
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex};
use std::thread;
struct Bounded<T, const N: usize> {
    q: Mutex<VecDeque<T>>,
    not_empty: Condvar,
    not_full: Condvar,
}
impl<T, const N: usize> Bounded<T, N> {
    const fn new() -> Self {
        Bounded {
            q: Mutex::new(VecDeque::new()),
            not_empty: Condvar::new(),
            not_full: Condvar::new(),
        }
    }
    fn put(&self, t: T) {
        let mut g = self
            .not_full
            .wait_while(self.q.lock().unwrap(), |q| q.len() == N)
            .unwrap();
        g.push_back(t);
        self.not_empty.notify_one();
    }
    fn take(&self) -> T {
        let mut g = self
            .not_empty
            .wait_while(self.q.lock().unwrap(), |q| q.is_empty())
            .unwrap();
        let t = g.pop_front().unwrap();
        self.not_full.notify_one();
        t
    }
}
static Q: Bounded<u32, 1> = Bounded::new();
fn main() {
    let t = thread::spawn(|| {
        Q.put(1);
        Q.put(2);
    });
    assert_eq!(Q.take(), 1);
    assert_eq!(Q.take(), 2);
    t.join().unwrap();
}
