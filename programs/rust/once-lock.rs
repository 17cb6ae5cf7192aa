// Values that are set once, by whichever thread comes first.
// expect c20 safe: holds
use std::sync::OnceLock;
use std::thread;
static CELL: OnceLock<String> = OnceLock::new();
static NUM: OnceLock<u32> = OnceLock::new();
fn main() {
    let t = thread::spawn(|| *NUM.get_or_init(|| 4));
    let a = *NUM.get_or_init(|| 5);
    let b = t.join().unwrap();
    assert_eq!(a, b);
    CELL.set("x".to_string()).unwrap();
    assert!(CELL.set("y".to_string()).is_err());
    if let Some(n) = NUM.get() {
        assert!(*n == 4 || *n == 5);
    } else {
        unreachable!()
    }
}
