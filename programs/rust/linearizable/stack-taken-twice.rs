// Taking the first node is a load and a store: two threads can take the same one, and what was pushed in between is lost.
// linearizable Stack<T> stack: violated
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering::*};

struct Node<T> {
    value: T,
    next: *mut Node<T>,
}

pub struct Stack<T> {
    head: AtomicPtr<Node<T>>,
}

unsafe impl<T: Send> Sync for Stack<T> {}

impl<T: Copy> Stack<T> {
    pub const fn new() -> Self {
        Stack { head: AtomicPtr::new(ptr::null_mut()) }
    }

    pub fn push(&self, value: T) {
        let node = Box::into_raw(Box::new(Node { value, next: ptr::null_mut() }));
        loop {
            let head = self.head.load(Relaxed);
            unsafe { (*node).next = head };
            if self.head.compare_exchange(head, node, Release, Relaxed).is_ok() {
                return;
            }
        }
    }

    pub fn pop(&self) -> Option<T> {
        let head = self.head.load(Acquire);
        if head.is_null() {
            return None;
        }
        let next = unsafe { (*head).next };
        self.head.store(next, Release);
        Some(unsafe { (*head).value })
    }
}
