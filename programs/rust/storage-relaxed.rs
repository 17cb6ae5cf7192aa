// The same, but the index is published with relaxed order: the element races.
// expect c20 safe: violated
use std::borrow::Borrow;
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::thread;

mod relax {
    pub trait Relax {
        fn relax();
    }
    pub struct Spin;
    impl Relax for Spin {
        fn relax() {
            std::hint::spin_loop();
        }
    }
}
pub use relax::{Relax, Spin};

trait Storage {
    type Buffer<T>: Borrow<[T]>;
}
struct Own<const N: usize>;
impl<const N: usize> Storage for Own<N> {
    type Buffer<T> = [T; N];
}

struct Ring<T, S: Storage, R = Spin> {
    head: AtomicUsize,
    tail: AtomicUsize,
    buffer: S::Buffer<UnsafeCell<MaybeUninit<T>>>,
    relax: PhantomData<R>,
}
unsafe impl<T: Send, S: Storage, R> Sync for Ring<T, S, R> {}

impl<T: Copy, S: Storage, R: Relax> Ring<T, S, R> {
    fn push(&self, value: T) -> bool {
        let tail = self.tail.load(Relaxed);
        if tail - self.head.load(Acquire) == self.buffer.borrow().len() {
            return false;
        }
        let slot = &self.buffer.borrow()[tail % self.buffer.borrow().len()];
        unsafe { (*slot.get()).write(value) };
        self.tail.store(tail + 1, Relaxed);
        true
    }
    fn wait(&self) -> T {
        let head = self.head.load(Relaxed);
        while self.tail.load(Acquire) == head {
            R::relax();
        }
        let slot = &self.buffer.borrow()[head % self.buffer.borrow().len()];
        let value = unsafe { (*slot.get()).assume_init_read() };
        self.head.store(head + 1, Release);
        value
    }
}

static RING: Ring<u8, Own<2>> = Ring {
    head: AtomicUsize::new(0),
    tail: AtomicUsize::new(0),
    buffer: [const { UnsafeCell::new(MaybeUninit::uninit()) }; 2],
    relax: PhantomData,
};

fn main() {
    let t = thread::spawn(|| {
        RING.push(3);
        RING.push(4);
    });
    assert!(RING.wait() == 3);
    assert!(RING.wait() == 4);
    t.join().unwrap();
}
