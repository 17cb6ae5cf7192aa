// An Arc that is changed where it has one owner, and copied where it has two.
// expect c20 safe: holds
use std::sync::Arc;
use std::thread;
fn main() {
    let mut a = Arc::new(5u32);
    let b = a.clone();
    let t = thread::spawn(move || assert!(*b == 5));
    if let Some(v) = Arc::get_mut(&mut a) {
        *v = 6;
    }
    t.join().unwrap();
    assert_eq!(Arc::strong_count(&a), 1);
    *Arc::make_mut(&mut a) += 1;
    assert!(matches!(Arc::try_unwrap(a), Ok(6 | 7)));
}
