// What threads bring back, gathered by iterators within iterators.
// expect c20 safe: holds
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

static NEXT: AtomicU32 = AtomicU32::new(1);

fn main() {
    let threads: Vec<_> = (0..2)
        .map(|n| thread::spawn(move || (n == 0).then(|| NEXT.fetch_add(1, Ordering::Relaxed))))
        .collect();
    let brought: Vec<Option<u32>> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    let sum: u32 = brought.iter().flatten().sum();
    assert_eq!(sum, 1);
    assert_eq!(brought.iter().flat_map(|x| x.iter()).count(), 1);
    assert_eq!([1, 2, 3, 1].iter().skip_while(|x| **x < 3).count(), 2);
    assert_eq!([1, 2, 3].into_iter().reduce(|a, b| a + b), Some(6));
    assert_eq!([3, 1, 2].into_iter().max_by_key(|x| 10 - x), Some(1));
    assert_eq!([3, 1, 2].into_iter().min_by_key(|x| 10 - x), Some(3));
    let mut drained = vec![1, 2, 3];
    for number in drained.drain(1..) {
        assert_ne!(number, 1);
    }
    assert_eq!(drained, [1]);
    let mut by_reference = 0;
    [5u32, 6].iter().for_each(|x| by_reference += x);
    assert_eq!(by_reference, 11);
    let sums = [1, 2, 3].into_iter().scan(0, |sum, x| {
        *sum += x;
        Some(*sum)
    });
    assert_eq!(sums.last(), Some(6));
}
