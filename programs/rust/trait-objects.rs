// Boxed trait objects that threads run; the types have names of operators.
// expect c20 safe: holds
use std::sync::{Arc, Mutex};
use std::thread;
trait Job: Send {
    fn run(&self) -> u32;
}
struct Add(u32, u32);
struct Neg(u32);
impl Job for Add {
    fn run(&self) -> u32 {
        self.0 + self.1
    }
}
impl Job for Neg {
    fn run(&self) -> u32 {
        100 - self.0
    }
}
fn main() {
    let out = Arc::new(Mutex::new(0u32));
    let jobs: Vec<Box<dyn Job>> = vec![Box::new(Add(1, 2)), Box::new(Neg(1))];
    let hs: Vec<thread::JoinHandle<()>> = jobs
        .into_iter()
        .map(|j| {
            let out = Arc::clone(&out);
            thread::spawn(move || {
                *out.lock().unwrap() += j.run();
            })
        })
        .collect();
    for h in hs {
        h.join().unwrap();
    }
    assert_eq!(*out.lock().unwrap(), 102);
}
