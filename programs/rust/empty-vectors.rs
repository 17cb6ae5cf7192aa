// Vectors without elements: their slices are empty, and lead nowhere.
// expect c20 safe: holds
use std::mem;
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    let none: Vec<u32> = Vec::new();
    for _ in none.iter() {
        unreachable!();
    }
    assert!(none.first().is_none() && none.clone() == none);
    let queue = Arc::new(Mutex::new(none));
    let producer = {
        let queue = Arc::clone(&queue);
        thread::spawn(move || queue.lock().unwrap().push(1))
    };
    let taken = mem::take(&mut *queue.lock().unwrap());
    let mut all = vec![0];
    all.extend_from_slice(&taken);
    producer.join().unwrap();
    assert_eq!(all.len() + queue.lock().unwrap().len(), 2);
}
