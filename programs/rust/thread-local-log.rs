// A log of each thread's own, which grows and has no place in memory that others see.
// expect c20 safe: holds
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;

thread_local! {
    static COUNT: Cell<u32> = const { Cell::new(0) };
    static LOG: RefCell<Vec<&'static str>> = RefCell::new(Vec::new());
}
static TOTAL: AtomicU32 = AtomicU32::new(0);

struct Flush;
impl Drop for Flush {
    fn drop(&mut self) {
        TOTAL.fetch_add(COUNT.get(), Relaxed);
    }
}

fn count(rounds: u32) {
    let _flush = Flush;
    for _ in 0..rounds {
        COUNT.set(COUNT.get() + 1);
        LOG.with_borrow_mut(|log| log.push("counted"));
    }
    assert_eq!(LOG.take().len(), rounds as usize);
}

fn main() {
    let threads = [thread::spawn(|| count(2)), thread::spawn(|| count(3))];
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(TOTAL.load(Relaxed), 5);
    assert_eq!(COUNT.get(), 0);
}
