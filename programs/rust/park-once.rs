// A thread that parks once: it may come back for no reason.
// expect c20 safe: violated
use std::thread;
static mut DATA: u32 = 0;
fn main() {
    let main = thread::current();
    thread::spawn(move || {
        unsafe {
            DATA = 1;
        }
        main.unpark();
    });
    thread::park(); // may return for no reason
    unsafe {
        assert_eq!(DATA, 1);
    }
}
