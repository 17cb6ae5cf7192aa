// Michael and Scott's queue with a dummy node; nothing is freed.
// expect c20 safe: holds
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering::*};
use std::thread;

struct Node {
    value: u32,
    next: AtomicPtr<Node>,
}

struct Queue {
    head: AtomicPtr<Node>,
    tail: AtomicPtr<Node>,
}

fn node(value: u32) -> *mut Node {
    Box::into_raw(Box::new(Node { value, next: AtomicPtr::new(ptr::null_mut()) }))
}

impl Queue {
    fn new() -> Self {
        let dummy = node(0);
        Queue { head: AtomicPtr::new(dummy), tail: AtomicPtr::new(dummy) }
    }

    fn push(&self, value: u32) {
        let new = node(value);
        loop {
            let tail = self.tail.load(Acquire);
            let next = unsafe { (*tail).next.load(Acquire) };
            if !next.is_null() {
                let _ = self.tail.compare_exchange(tail, next, Release, Relaxed);
                continue;
            }
            let link = unsafe { &(*tail).next };
            if link.compare_exchange(ptr::null_mut(), new, Release, Relaxed).is_ok() {
                let _ = self.tail.compare_exchange(tail, new, Release, Relaxed);
                return;
            }
        }
    }

    fn pop(&self) -> Option<u32> {
        loop {
            let head = self.head.load(Acquire);
            let next = unsafe { (*head).next.load(Acquire) };
            if next.is_null() {
                return None;
            }
            let value = unsafe { (*next).value };
            if self.head.compare_exchange(head, next, AcqRel, Relaxed).is_ok() {
                return Some(value);
            }
        }
    }
}

fn main() {
    let queue = Queue::new();
    thread::scope(|s| {
        s.spawn(|| queue.push(1));
        if let Some(value) = queue.pop() {
            assert_eq!(value, 1);
        }
    });
}
