// That a thread is finished puts nothing in order with what it has done: only `join` does.
// expect c20 safe: violated
use std::thread;

static mut RESULT: u32 = 0;

fn main() {
    let worker = thread::spawn(|| unsafe { RESULT = 1 });
    if worker.is_finished() {
        assert_eq!(unsafe { RESULT }, 1);
    }
}
