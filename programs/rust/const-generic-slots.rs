// Slots with flags, an array of a constant length, guards, iterators.
// expect c20 safe: holds

use std::ops::{Deref, DerefMut};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;

pub struct Cell2<T, const N: usize> { flags: [AtomicBool; N], values: [UnsafeCell<T>; N] }
unsafe impl<T: Send, const N: usize> Sync for Cell2<T, N> {}

pub struct Guard<'a, T, const N: usize> { of: &'a Cell2<T, N>, at: usize }
impl<T, const N: usize> Deref for Guard<'_, T, N> { type Target = T; fn deref(&self) -> &T { unsafe { &*self.of.values[self.at].get() } } }
impl<T, const N: usize> DerefMut for Guard<'_, T, N> { fn deref_mut(&mut self) -> &mut T { unsafe { &mut *self.of.values[self.at].get() } } }
impl<T, const N: usize> Drop for Guard<'_, T, N> { fn drop(&mut self) { self.of.flags[self.at].store(false, Release) } }

impl<T: Default, const N: usize> Cell2<T, N> {
    pub fn new() -> Self {
        Self { flags: std::array::from_fn(|_| AtomicBool::new(false)), values: std::array::from_fn(|_| UnsafeCell::new(T::default())) }
    }
    pub fn try_any(&self) -> Option<Guard<'_, T, N>> {
        (0..N).find(|&at| self.flags[at].compare_exchange(false, true, Acquire, Relaxed).is_ok()).map(|at| Guard { of: self, at })
    }
}

fn main() {
    let cells: Cell2<u64, 2> = Cell2::new();
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| if let Some(mut guard) = cells.try_any() { *guard += 1 });
        }
    });
    let total: u64 = cells.values.into_iter().map(|c| c.into_inner()).sum();
    assert_eq!(total, 2);
}
