// A channel of one place with two ends: one thread has the sender, another the receiver.
// client Sender<T>: holds
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::sync::Arc;

struct Place<T> {
    full: AtomicBool,
    value: UnsafeCell<Option<T>>,
}

unsafe impl<T: Send> Sync for Place<T> {}

pub struct Sender<T> {
    place: Arc<Place<T>>,
}

pub struct Receiver<T> {
    place: Arc<Place<T>>,
}

pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let place = Arc::new(Place { full: AtomicBool::new(false), value: UnsafeCell::new(None) });
    (Sender { place: place.clone() }, Receiver { place })
}

impl<T> Sender<T> {
    pub fn send(&mut self, value: T) -> bool {
        if self.place.full.load(Acquire) {
            return false;
        }
        unsafe { *self.place.value.get() = Some(value) };
        self.place.full.store(true, Release);
        true
    }
}

impl<T> Receiver<T> {
    pub fn receive(&mut self) -> Option<T> {
        if !self.place.full.load(Acquire) {
            return None;
        }
        let value = unsafe { (*self.place.value.get()).take() };
        self.place.full.store(false, Release);
        value
    }
}
