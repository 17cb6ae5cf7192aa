// A value that is set once, by whichever thread comes first: the closure is of a type without a name.
// expect c20 safe: holds
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::thread;

struct Once {
    state: AtomicU32,
}

const OPEN: u32 = 0;
const RUNNING: u32 = 1;
const DONE: u32 = 2;

impl Once {
    fn call(&self, f: impl FnOnce()) {
        let mut f = Some(f);
        loop {
            match self.state.load(Acquire) {
                DONE => return,
                OPEN => {
                    let claimed = self
                        .state
                        .compare_exchange_weak(OPEN, RUNNING, Relaxed, Relaxed);
                    if claimed.is_ok() {
                        f.take().unwrap()();
                        self.state.store(DONE, Release);
                        return;
                    }
                }
                _ => std::hint::spin_loop(),
            }
        }
    }
}

static ONCE: Once = Once {
    state: AtomicU32::new(OPEN),
};
static mut VALUE: (u8, i16) = (0, 0);

fn use_it() {
    ONCE.call(|| unsafe { VALUE = (1, -2) });
    unsafe { assert!(VALUE.0 == 1 && VALUE.1 == -2) };
}

fn main() {
    let other = thread::spawn(use_it);
    use_it();
    other.join().unwrap();
}
