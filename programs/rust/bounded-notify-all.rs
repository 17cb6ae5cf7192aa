// A queue of one place: who waits later does not take the wake-up of who waited before.
// expect c20 safe: holds

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex};
use std::thread;

struct Bounded<T> {
    items: Mutex<VecDeque<T>>,
    changed: Condvar,
    limit: usize,
}

impl<T> Bounded<T> {
    fn put(&self, item: T) {
        let mut items = self.changed.wait_while(self.items.lock().unwrap(), |i| i.len() == self.limit).unwrap();
        items.push_back(item);
        self.changed.notify_all();
    }
    fn take(&self) -> T {
        let mut items = self.items.lock().unwrap();
        loop {
            if let Some(item) = items.pop_front() {
                self.changed.notify_all();
                return item;
            }
            items = self.changed.wait(items).unwrap();
        }
    }
}

fn main() {
    let queue = Bounded { items: Mutex::new(VecDeque::new()), changed: Condvar::new(), limit: 1 };
    thread::scope(|s| {
        s.spawn(|| {
            queue.put(1);
            queue.put(2);
        });
        assert_eq!(queue.take(), 1);
        assert_eq!(queue.take(), 2);
    });
}
