// A word that holds an address or a number of its own: what a number would be as an address is not known, so nothing is said where one is stored.
// expect c20 safe: unknown
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

static WORD: AtomicUsize = AtomicUsize::new(0);
static VALUE: u32 = 5;

fn main() {
    thread::spawn(|| WORD.store(&raw const VALUE as usize, Ordering::Release));
    thread::spawn(|| WORD.store(16, Ordering::Release));
    let word = WORD.load(Ordering::Acquire);
    // The number 16 is no address of a value here.
    if word == 16 {
        panic!("a number");
    }
}
