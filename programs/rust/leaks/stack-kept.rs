// What a static still points to at the end is no leak.
// leaks holds, else holds
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering::*};
use std::thread;

struct Node {
    value: u32,
    next: *mut Node,
}

static HEAD: AtomicPtr<Node> = AtomicPtr::new(ptr::null_mut());

fn push(value: u32) {
    let node = Box::into_raw(Box::new(Node { value, next: ptr::null_mut() }));
    loop {
        let head = HEAD.load(Relaxed);
        unsafe { (*node).next = head };
        if HEAD.compare_exchange(head, node, Release, Relaxed).is_ok() {
            return;
        }
    }
}

fn main() {
    let other = thread::spawn(|| push(1));
    push(2);
    other.join().unwrap();
}
