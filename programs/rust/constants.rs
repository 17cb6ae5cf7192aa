// Constants of traits, with and without a value of the type's own, and constants that lead to statics.
// expect c20 safe: holds
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::*};
use std::thread;

trait Bounded {
    const ROOM: usize = 2;
    const WORDS: usize = Self::ROOM / 2;
}

struct Usual;
struct Large;
struct Odd;

impl Bounded for Usual {}
impl Bounded for Large {
    const ROOM: usize = 8;
}
impl Bounded for Odd {
    const ROOM: usize = 6;
    const WORDS: usize = 5;
}

static FLAG: AtomicU32 = AtomicU32::new(0);
static COUNT: AtomicUsize = AtomicUsize::new(0);
const SHARED: &AtomicU32 = &FLAG;
const BOTH: (&AtomicU32, &AtomicUsize) = (SHARED, &COUNT);

fn add<B: Bounded>() {
    BOTH.1.fetch_add(B::ROOM + 100 * B::WORDS, Relaxed);
    SHARED.fetch_add(1, Release);
}

fn main() {
    let workers = [thread::spawn(add::<Usual>), thread::spawn(add::<Large>)];
    add::<Odd>();
    for worker in workers {
        worker.join().unwrap();
    }
    assert_eq!(FLAG.load(Acquire), 3);
    // 2 + 8 + 6, and a hundred times 1 + 4 + 5.
    assert_eq!(COUNT.load(Relaxed), 1016);
}
