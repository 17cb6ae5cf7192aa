// A withdrawal by fetch_update never makes the balance negative.
// expect c20 safe: holds

use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;

static BALANCE: AtomicI32 = AtomicI32::new(10);

fn withdraw(amount: i32) -> Result<i32, i32> {
    BALANCE.fetch_update(Ordering::AcqRel, Ordering::Acquire, |balance| {
        (balance >= amount).then_some(balance - amount)
    })
}

fn main() {
    let t = thread::spawn(|| withdraw(7).is_ok());
    let mine = withdraw(6).is_ok();
    let theirs = t.join().unwrap();
    assert!(mine != theirs);
    assert!(BALANCE.load(Ordering::Acquire) >= 0);
}
