// What iterators over iterators give is collected, and functions of numbers are handed over by their names.
// expect c20 safe: holds
use std::iter;
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;

fn main() {
    let places: Vec<(usize, char)> = "abc".chars().enumerate().skip(1).collect();
    assert_eq!(places, [(1, 'b'), (2, 'c')]);
    let even: Vec<u32> = (0..9).filter(|n| n % 4 == 0).take(2).collect();
    let wide: Vec<u64> = even.iter().copied().map(u64::from).collect();
    assert_eq!(wide, [0, 4]);
    assert_eq!(None.unwrap_or_else(u32::default), even[0]);
    let counters: Vec<AtomicU32> = iter::repeat_with(Default::default).take(2).collect();
    thread::scope(|scope| {
        for (number, counter) in counters.iter().enumerate() {
            scope.spawn(move || counter.store(number as u32 + 1, Relaxed));
        }
    });
    let sum: u32 = counters.into_iter().map(AtomicU32::into_inner).sum();
    assert_eq!(sum, 3);
}
