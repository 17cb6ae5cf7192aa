// Trait objects that are references to locals, with a default method.
// expect c20 safe: holds
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;
trait Counter: Sync {
    fn add(&self, n: u32);
    fn twice(&self, n: u32) {
        self.add(n);
        self.add(n);
    }
    fn get(&self) -> u32;
}
struct Plain(AtomicU32);
struct Half {
    a: AtomicU32,
    b: AtomicU32,
}
impl Counter for Plain {
    fn add(&self, n: u32) {
        self.0.fetch_add(n, Relaxed);
    }
    fn get(&self) -> u32 {
        self.0.load(Relaxed)
    }
}
impl Counter for Half {
    fn add(&self, n: u32) {
        self.a.fetch_add(n, Relaxed);
        self.b.fetch_add(1, Relaxed);
    }
    fn get(&self) -> u32 {
        self.a.load(Relaxed) + self.b.load(Relaxed)
    }
}
fn work(c: &dyn Counter) {
    c.twice(2);
}
fn main() {
    let p = Plain(AtomicU32::new(0));
    let h = Half {
        a: AtomicU32::new(0),
        b: AtomicU32::new(0),
    };
    let all: [&dyn Counter; 2] = [&p, &h];
    thread::scope(|s| {
        for c in all {
            s.spawn(move || work(c));
        }
    });
    assert_eq!(p.get(), 4);
    assert_eq!(h.get(), 6);
}
