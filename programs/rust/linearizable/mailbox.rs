// One place with one sender and one receiver, who are made together and have their own halves.
// linearizable Mailbox<T> queue:1: holds
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering::*};

pub struct Mailbox<T> {
    full: AtomicBool,
    place: UnsafeCell<Option<T>>,
}

unsafe impl<T: Send> Sync for Mailbox<T> {}

pub struct Sender<'a, T> {
    mailbox: &'a Mailbox<T>,
}

pub struct Receiver<'a, T> {
    mailbox: &'a Mailbox<T>,
}

impl<T> Mailbox<T> {
    pub const fn new() -> Self {
        Mailbox { full: AtomicBool::new(false), place: UnsafeCell::new(None) }
    }

    pub fn split(&mut self) -> (Sender<'_, T>, Receiver<'_, T>) {
        (Sender { mailbox: self }, Receiver { mailbox: self })
    }
}

impl<T> Sender<'_, T> {
    pub fn send(&mut self, value: T) -> Result<(), T> {
        if self.mailbox.full.load(Acquire) {
            return Err(value);
        }
        unsafe { *self.mailbox.place.get() = Some(value) };
        self.mailbox.full.store(true, Release);
        Ok(())
    }
}

impl<T> Receiver<'_, T> {
    pub fn receive(&mut self) -> Option<T> {
        if !self.mailbox.full.load(Acquire) {
            return None;
        }
        let value = unsafe { (*self.mailbox.place.get()).take() };
        self.mailbox.full.store(false, Release);
        value
    }
}
