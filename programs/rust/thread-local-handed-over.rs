// What belongs to one thread is lent to another, and looked at when that has ended.
// expect c20 safe: holds
use std::cell::Cell;
use std::thread;

thread_local!(static OWN: Cell<u32> = const { Cell::new(3) });

struct Lent(*const Cell<u32>);
unsafe impl Send for Lent {}

fn main() {
    OWN.set(OWN.get() + 1);
    let lent = OWN.with(|own| Lent(own));
    let other = thread::spawn(move || {
        let lent = lent;
        unsafe { (*lent.0).set((*lent.0).get() + 1) };
        OWN.get()
    });
    assert_eq!(other.join().unwrap(), 3);
    assert_eq!(OWN.get(), 5);
}
