// Tuples, options and texts are ordered by the first of their parts that differ: a bakery lock, and a table by name.
// expect c20 safe: holds
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering::*};
use std::thread;

static CHOOSING: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];
static NUMBER: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];
static mut SUM: u32 = 0;

fn add(me: usize) {
    let other = 1 - me;
    CHOOSING[me].store(1, SeqCst);
    let number = NUMBER[other].load(SeqCst) + 1;
    NUMBER[me].store(number, SeqCst);
    CHOOSING[me].store(0, SeqCst);
    while CHOOSING[other].load(SeqCst) == 1 {}
    loop {
        let theirs = NUMBER[other].load(SeqCst);
        if theirs == 0 || (theirs, other) > (number, me) {
            break;
        }
    }
    unsafe { SUM += 1 };
    NUMBER[me].store(0, SeqCst);
}

fn main() {
    let names = BTreeMap::from([("right", 1), ("left", 0)]);
    assert_eq!(names.first_key_value(), Some((&"left", &0)));
    assert!(Some((1, "a")).max(None) < Some((1, "b")) && (2, 0).min((1, 9)) == (1, 9));
    let threads: Vec<_> = names
        .into_iter()
        .map(|(_, me)| thread::spawn(move || add(me)))
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(unsafe { SUM }, 2);
}
