// Two definitions of which one is compiled, a name that is imported under another, and an alias: each means what it means to the compiler.
// expect c20 safe: holds
use std::thread;
mod imp {
    use std::sync::atomic::{AtomicBool, Ordering};
    #[cfg(not(palisade_never))]
    pub struct Flag {
        pub set: AtomicBool,
    }
    #[cfg(palisade_never)]
    pub struct Flag {
        pub unused: u8,
        pub set: AtomicBool,
    }
    impl Flag {
        pub const fn new() -> Self {
            Flag { set: AtomicBool::new(false) }
        }
    }
    pub trait Signal {
        fn raise(&self);
        fn seen(&self) -> bool;
    }
    #[cfg(palisade_never)]
    impl Signal for Flag {
        fn raise(&self) {}
        fn seen(&self) -> bool {
            true
        }
    }
    #[cfg(not(palisade_never))]
    impl Signal for Flag {
        fn raise(&self) {
            self.set.store(true, Ordering::Release);
        }
        fn seen(&self) -> bool {
            self.set.load(Ordering::Acquire)
        }
    }
}
use imp::{Flag as Bell, Signal as Rings};
type Door = Bell;
static DOOR: Door = Door::new();
static mut GUEST: u8 = 0;
fn main() {
    let t = thread::spawn(|| {
        unsafe { GUEST = 1 };
        DOOR.raise();
    });
    if DOOR.seen() {
        assert!(unsafe { GUEST } == 1);
    }
    t.join().unwrap();
}
