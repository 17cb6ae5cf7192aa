// The standard library's mutex behind an `Arc`, and threads that are collected.
// expect c20 safe: holds
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let total = Arc::new(Mutex::new(0));
    let handles: Vec<_> = (1..=2)
        .map(|n| {
            let total = total.clone();
            thread::spawn(move || {
                let mut total = total.lock().unwrap();
                *total += n;
            })
        })
        .collect();
    for handle in handles {
        handle.join().unwrap();
    }
    println!("total {}", *total.lock().unwrap());
    assert_eq!(*total.lock().unwrap(), 3);
}
