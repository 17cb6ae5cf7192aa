// Readers beside each other, a writer alone.
// expect c20 safe: holds
use std::sync::RwLock;
use std::thread;

static PAIR: RwLock<(u8, u8)> = RwLock::new((0, 0));

fn main() {
    thread::scope(|s| {
        s.spawn(|| {
            let mut pair = PAIR.write().unwrap();
            pair.0 = 1;
            pair.1 = 1;
        });
        s.spawn(|| {
            let pair = PAIR.read().unwrap();
            assert_eq!(pair.0, pair.1);
        });
    });
}
