// Results and the question mark, with numbers below zero.
// expect c20 safe: holds
use std::sync::atomic::{AtomicI32, Ordering::*};
use std::thread;
#[derive(Debug, PartialEq)]
enum Fault {
    Empty,
    Negative(i32),
}
static V: AtomicI32 = AtomicI32::new(0);
fn read() -> Result<i32, Fault> {
    let v = V.load(Acquire);
    if v == 0 {
        return Err(Fault::Empty);
    }
    if v < 0 {
        return Err(Fault::Negative(v));
    }
    Ok(v)
}
fn twice() -> Result<i32, Fault> {
    let a = read()?;
    let b = read()?;
    Ok(a + b)
}
fn main() {
    let t = thread::spawn(|| V.store(-3, Release));
    match twice() {
        Ok(_) => panic!("never positive"),
        Err(Fault::Empty) => {}
        Err(Fault::Negative(n)) => assert_eq!(n, -3),
    }
    t.join().unwrap();
    assert_eq!(twice(), Err(Fault::Negative(-3)));
}
