// A thread forgets memory that nobody else knows.
// leaks violated, else holds
fn main() {
    std::thread::spawn(|| std::mem::forget(Box::new(1u32))).join().unwrap();
}
