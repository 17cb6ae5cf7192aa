// Each thread counts for itself.
// expect c20 safe: holds
use std::cell::{Cell, RefCell};
use std::thread;
thread_local! { static COUNT: Cell<u32> = Cell::new(0); static LOG: RefCell<Vec<u32>> = RefCell::new(Vec::new()); }
fn bump() -> u32 {
    COUNT.with(|c| {
        c.set(c.get() + 1);
        c.get()
    })
}
fn main() {
    let h: Vec<_> = (0..2)
        .map(|_| {
            thread::spawn(|| {
                bump();
                LOG.with(|l| l.borrow_mut().push(1));
                bump()
            })
        })
        .collect();
    bump();
    for t in h {
        assert_eq!(t.join().unwrap(), 2);
    }
    assert_eq!(bump(), 2);
    LOG.with(|l| assert_eq!(l.borrow().len(), 0));
}
