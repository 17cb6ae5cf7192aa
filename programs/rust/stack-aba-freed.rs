// A stack of nodes that are allocated; one popped node is freed and its memory comes back for a new one. The next
// pointer is atomic and kept outside of the nodes' life by a pool, so that nothing but the address is wrong.
// expect sc safe: violated
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering::*};
use std::thread;

struct Node {
    next: AtomicPtr<Node>,
}

static TOP: AtomicPtr<Node> = AtomicPtr::new(ptr::null_mut());

fn push(node: *mut Node) {
    loop {
        let top = TOP.load(Acquire);
        unsafe { (*node).next.store(top, Relaxed) };
        if TOP.compare_exchange(top, node, AcqRel, Acquire).is_ok() {
            return;
        }
    }
}

fn fresh() -> *mut Node {
    Box::into_raw(Box::new(Node { next: AtomicPtr::new(ptr::null_mut()) }))
}

fn pop() -> *mut Node {
    loop {
        let top = TOP.load(Acquire);
        if top.is_null() {
            return top;
        }
        let next = unsafe { (*top).next.load(Relaxed) };
        if TOP.compare_exchange(top, next, AcqRel, Acquire).is_ok() {
            return top;
        }
    }
}

fn main() {
    push(fresh());
    push(fresh());
    let t = thread::spawn(|| {
        let first = pop();
        let second = pop();
        if !first.is_null() && !second.is_null() {
            drop(unsafe { Box::from_raw(first) });
            push(fresh());
        }
    });
    pop();
    t.join().unwrap();
}
