// A stack whose nodes are never freed, popped without acquiring: a thread may take a node whose content it does not see yet.
//
// expect c20 safe: violated

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::thread;

struct Node {
    value: Option<u32>,
    next: *mut Node,
}

struct Stack {
    head: AtomicPtr<Node>,
}

impl Stack {
    fn push(&self, value: u32) {
        let node = Box::into_raw(Box::new(Node {
            value: Some(value),
            next: ptr::null_mut(),
        }));
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            unsafe { (*node).next = head };
            let exchanged =
                self.head
                    .compare_exchange_weak(head, node, Ordering::Release, Ordering::Relaxed);
            match exchanged {
                Ok(_) => return,
                Err(other) => head = other,
            }
        }
    }

    fn pop(&self) -> Option<u32> {
        let mut head = self.head.load(Ordering::Relaxed);
        while !head.is_null() {
            let next = unsafe { (*head).next };
            let exchanged =
                self.head
                    .compare_exchange_weak(head, next, Ordering::Relaxed, Ordering::Relaxed);
            match exchanged {
                Ok(_) => return unsafe { (*head).value.take() },
                Err(other) => head = other,
            }
        }
        None
    }
}

fn main() {
    let stack = Arc::new(Stack {
        head: AtomicPtr::new(ptr::null_mut()),
    });
    let threads: Vec<_> = (0..2)
        .map(|number| {
            let stack = Arc::clone(&stack);
            thread::spawn(move || {
                stack.push(number);
                stack.pop()
            })
        })
        .collect();
    let popped = threads.into_iter().filter_map(|t| t.join().unwrap()).count();
    assert_eq!(popped, 2);
}
