// A node is pushed with a relaxed exchange: its contents are raced for.
// expect c20 safe: violated
// expect sc safe: holds
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering::*};
use std::thread;

struct Node {
    value: u32,
    next: *mut Node,
}

struct Stack {
    top: AtomicPtr<Node>,
}

impl Stack {
    const fn new() -> Self {
        Stack { top: AtomicPtr::new(ptr::null_mut()) }
    }

    fn push(&self, value: u32) {
        let node = Box::into_raw(Box::new(Node { value, next: ptr::null_mut() }));
        let mut top = self.top.load(Relaxed);
        loop {
            unsafe { (*node).next = top };
            match self.top.compare_exchange(top, node, Relaxed, Relaxed) {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }

    fn pop(&self) -> Option<u32> {
        let mut top = self.top.load(Acquire);
        while !top.is_null() {
            let next = unsafe { (*top).next };
            match self.top.compare_exchange(top, next, Acquire, Acquire) {
                Ok(_) => return Some(unsafe { (*top).value }),
                Err(now) => top = now,
            }
        }
        None
    }
}

static STACK: Stack = Stack::new();

fn main() {
    STACK.push(1);
    let t = thread::spawn(|| {
        STACK.push(2);
        STACK.pop()
    });
    let here = STACK.pop();
    let there = t.join().unwrap();
    assert!(there.is_some());
    assert_ne!(here, there);
}
