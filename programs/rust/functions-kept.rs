// Functions, constructors and methods in variables, called there or handed to a thread.
// expect c20 safe: holds
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;

static SUM: AtomicU32 = AtomicU32::new(0);

struct Step(u32);

fn add(by: u32) -> u32 {
    SUM.fetch_add(by, Relaxed)
}

fn same<T>(value: T) -> T {
    value
}

fn with<F: Fn(u32) -> u32>(function: F, by: u32) -> u32 {
    let kept = function;
    kept(by)
}

fn number<T: Default>() -> T {
    let make = T::default;
    make()
}

fn main() {
    let function = add;
    let other = same::<u32>;
    let make = Step;
    let wrap = Some;
    let worker = thread::spawn(move || with(function, other(3)));
    function(make(4).0);
    worker.join().unwrap();
    let pointer: fn(u32) -> u32 = function;
    pointer(wrap(5).unwrap());
    assert_eq!(SUM.load(Relaxed), 12 + number::<u32>());
}
