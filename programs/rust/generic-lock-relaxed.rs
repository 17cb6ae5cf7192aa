// The same lock, where unlocking does not release.
// expect c20 safe: violated
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
trait RawLock: Sync {
    fn new() -> Self;
    fn lock(&self);
    fn unlock(&self);
}
struct Spin(AtomicBool);
impl RawLock for Spin {
    fn new() -> Self {
        Spin(AtomicBool::new(false))
    }
    fn lock(&self) {
        while self.0.swap(true, Ordering::Acquire) {
            std::hint::spin_loop()
        }
    }
    fn unlock(&self) {
        self.0.store(false, Ordering::Relaxed)
    }
}
struct Locked<L, T> {
    raw: L,
    value: UnsafeCell<T>,
}
unsafe impl<L: RawLock, T: Send> Sync for Locked<L, T> {}
impl<L: RawLock, T> Locked<L, T> {
    fn new(value: T) -> Self {
        Locked {
            raw: L::new(),
            value: UnsafeCell::new(value),
        }
    }
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        self.raw.lock();
        let r = f(unsafe { &mut *self.value.get() });
        self.raw.unlock();
        r
    }
}
fn main() {
    let l: Locked<Spin, [u32; 2]> = Locked::new([0, 0]);
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                l.with(|a| {
                    a[0] += 1;
                    a[1] += 2;
                })
            });
        }
    });
    assert_eq!(l.with(|a| (a[0], a[1])), (2, 4));
}
