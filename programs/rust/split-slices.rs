// Two threads have the two halves of a slice.
// expect c20 safe: holds

use std::thread;

fn sum(values: &[u32]) -> u32 {
    values.iter().sum()
}

fn main() {
    let mut values = vec![1, 2, 3, 4];
    let (left, right) = values.split_at_mut(2);
    thread::scope(|s| {
        s.spawn(|| left[0] += 10);
        s.spawn(|| right.iter_mut().for_each(|v| *v *= 2));
    });
    assert_eq!(sum(&values), 1 + 10 + 2 + 6 + 8);
}
