// A stack whose nodes are only looked at through indices that are taken again: the exchange of a pop succeeds though the stack is another one.
// expect sc safe: violated
// expect c20 safe: violated
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread;

const NONE: usize = 9;
static TOP: AtomicUsize = AtomicUsize::new(0);
static NEXT: [AtomicUsize; 2] = [AtomicUsize::new(1), AtomicUsize::new(NONE)];
static OWNERS: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

fn pop() -> Option<usize> {
    loop {
        let top = TOP.load(Acquire);
        if top == NONE {
            return None;
        }
        let next = NEXT[top].load(Relaxed);
        if TOP.compare_exchange(top, next, AcqRel, Relaxed).is_ok() {
            assert_eq!(OWNERS[top].fetch_add(1, Relaxed), 0, "two owners of one node");
            return Some(top);
        }
    }
}

fn push(node: usize) {
    OWNERS[node].fetch_sub(1, Relaxed);
    loop {
        let top = TOP.load(Relaxed);
        NEXT[node].store(top, Relaxed);
        if TOP.compare_exchange(top, node, Release, Relaxed).is_ok() {
            return;
        }
    }
}

fn main() {
    let t = thread::spawn(|| {
        let first = pop();
        let _second = pop();
        if let Some(first) = first {
            push(first);
        }
    });
    pop();
    pop();
    t.join().unwrap();
}
