// A cell that is written once and read by reference.
// expect c20 safe: holds
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU8, Ordering::*};
use std::thread;
struct Cell1<T> {
    state: AtomicU8,
    value: UnsafeCell<MaybeUninit<T>>,
}
unsafe impl<T: Send> Sync for Cell1<T> {}
impl<T> Cell1<T> {
    const fn new() -> Self {
        Cell1 {
            state: AtomicU8::new(0),
            value: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }
    fn set(&self, t: T) -> Result<(), T> {
        if self.state.compare_exchange(0, 1, Relaxed, Relaxed).is_err() {
            return Err(t);
        }
        unsafe { (*self.value.get()).write(t) };
        self.state.store(2, Release);
        Ok(())
    }
    fn get(&self) -> Option<&T> {
        (self.state.load(Acquire) == 2).then(|| unsafe { (*self.value.get()).assume_init_ref() })
    }
}
impl<T> Drop for Cell1<T> {
    fn drop(&mut self) {
        if *self.state.get_mut() == 2 {
            unsafe { self.value.get_mut().assume_init_drop() }
        }
    }
}
fn main() {
    let c = Cell1::<Box<u32>>::new();
    thread::scope(|s| {
        s.spawn(|| {
            let _ = c.set(Box::new(1));
        });
        s.spawn(|| {
            let _ = c.set(Box::new(2));
        });
        if let Some(b) = c.get() {
            assert!(**b == 1 || **b == 2);
        }
    });
    assert!(c.get().is_some());
}
