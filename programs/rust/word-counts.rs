// Maps, sets and queues of the standard library; one map behind a lock.
// expect c20 safe: holds
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::thread;

fn main() {
    others(&HashMap::from([("a", 1), ("b", 3)]));
    let counts = Arc::new(Mutex::new(HashMap::from([("a", 1u32)])));
    let counter = {
        let counts = Arc::clone(&counts);
        thread::spawn(move || *counts.lock().unwrap().entry("a").or_insert(0) += 3)
    };
    counter.join().unwrap();
    assert_eq!(counts.lock().unwrap().get("a"), Some(&4));
}

fn others(counts: &HashMap<&str, u32>) {
    assert_eq!((counts["a"], counts.get("b")), (1, Some(&3)));
    assert_eq!(counts.values().sum::<u32>(), 4);
    let mut sorted: BTreeMap<u32, &str> = counts.iter().map(|(k, v)| (*v, *k)).collect();
    *sorted.entry(2).or_insert("b") = "c";
    assert_eq!(sorted.keys().copied().collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(sorted.pop_first(), Some((1, "a")));
    let few: BTreeSet<u32> = sorted.into_iter().map(|(key, _)| key).collect();
    assert_eq!(few.into_iter().collect::<Vec<_>>(), vec![2, 3]);
    let seen: HashSet<u8> = [1, 2, 1].into_iter().collect();
    assert_eq!(seen.len(), 2);
    let mut heap: BinaryHeap<u8> = [2, 9, 4].into_iter().collect();
    assert_eq!((heap.pop(), heap.peek()), (Some(9), Some(&4)));
    let mut queue: VecDeque<u8> = (1..4).collect();
    queue.rotate_left_by_hand();
    assert_eq!(queue.iter().copied().collect::<Vec<_>>(), [2, 3, 1]);
}

trait RotateLeft {
    fn rotate_left_by_hand(&mut self);
}
impl<T> RotateLeft for VecDeque<T> {
    fn rotate_left_by_hand(&mut self) {
        if let Some(first) = self.pop_front() {
            self.push_back(first);
        }
    }
}
