// A counter of eight bits goes round: a limit of the translation, which is said.
// expect sc safe: unknown
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::thread;

static TICKETS: AtomicU8 = AtomicU8::new(254);

fn main() {
    let t = thread::spawn(|| TICKETS.fetch_add(1, Relaxed));
    let u = thread::spawn(|| TICKETS.fetch_add(1, Relaxed));
    t.join().unwrap();
    u.join().unwrap();
    assert!(TICKETS.load(Relaxed) > 200);
}
