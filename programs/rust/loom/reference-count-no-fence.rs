// Without an acquiring fence the last of three owners races with the others.
// expect c20 safe: violated
use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicUsize, Ordering::*};
use loom::sync::Arc;
use loom::thread;

struct Shared {
    owners: AtomicUsize,
    parts: [UnsafeCell<u32>; 3],
}

unsafe impl Sync for Shared {}

impl Shared {
    fn give_up(&self, part: usize) {
        self.parts[part].with_mut(|part| unsafe { *part = 1 });
        if self.owners.fetch_sub(1, Release) == 1 {
            let parts = self.parts.iter();
            let sum: u32 = parts.map(|part| part.with(|part| unsafe { *part })).sum();
            assert_eq!(sum, 3);
        }
    }
}

#[test]
fn the_last_one_may_not_see_all() {
    loom::model(|| {
        let shared = Arc::new(Shared {
            owners: AtomicUsize::new(3),
            parts: [UnsafeCell::new(0), UnsafeCell::new(0), UnsafeCell::new(0)],
        });
        let threads: Vec<_> = (0..2)
            .map(|part| {
                let shared = shared.clone();
                thread::spawn(move || shared.give_up(part))
            })
            .collect();
        shared.give_up(2);
        for thread in threads {
            thread.join().unwrap();
        }
    });
}
