// A slice is copied into one of another length.
// expect c20 safe: violated
use std::sync::Mutex;
use std::thread;

static FRAME: Mutex<[u8; 4]> = Mutex::new([0; 4]);

fn main() {
    let writer = thread::spawn(|| FRAME.lock().unwrap()[..2].copy_from_slice(&[1, 2, 3]));
    writer.join().unwrap();
}
