// Tuple structs with names of operators.
// expect c20 safe: holds
use std::ops::AddAssign;
use std::sync::Mutex;
use std::thread;
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Not(bool);
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sub(i32, i32);
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Len(usize);
impl AddAssign<i32> for Sub {
    fn add_assign(&mut self, n: i32) {
        self.0 += n;
        self.1 -= n;
    }
}
static M: Mutex<Sub> = Mutex::new(Sub(0, 0));
fn main() {
    let t = thread::spawn(|| *M.lock().unwrap() += 2);
    *M.lock().unwrap() += 3;
    t.join().unwrap();
    assert_eq!(*M.lock().unwrap(), Sub(5, -5));
    assert!(!Not(false).0 && Len(3).0 == 3);
}
