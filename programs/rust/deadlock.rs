// Two locks taken in two orders.
// expect sc safe: violated
// expect c20 safe: violated
use std::sync::Mutex;
use std::thread;

static A: Mutex<u8> = Mutex::new(0);
static B: Mutex<u8> = Mutex::new(0);

fn main() {
    let t = thread::spawn(|| {
        let _b = B.lock().unwrap();
        let _a = A.lock().unwrap();
    });
    let a = A.lock().unwrap();
    let b = B.lock().unwrap();
    drop((a, b));
    t.join().unwrap();
}
