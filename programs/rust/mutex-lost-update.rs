// The lock is let go between reading and writing: an update is lost.
// expect c20 safe: violated
// expect sc safe: violated
use std::sync::Mutex;
use std::thread;

fn main() {
    let total = Mutex::new(0);
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                let seen = *total.lock().unwrap();
                *total.lock().unwrap() = seen + 1;
            });
        }
    });
    assert_eq!(total.into_inner().unwrap(), 2);
}
