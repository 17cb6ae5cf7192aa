// The order in which a hash map gives its elements is nobody's to rely on.
// expect c20 safe: violated
use std::collections::HashMap;
use std::sync::Mutex;
use std::thread;

static NAMES: Mutex<Vec<&str>> = Mutex::new(Vec::new());

fn main() {
    let worker = thread::spawn(|| {
        let jobs = HashMap::from([(1, "first"), (2, "second")]);
        for (_, name) in &jobs {
            NAMES.lock().unwrap().push(name);
        }
    });
    worker.join().unwrap();
    assert_eq!(*NAMES.lock().unwrap(), ["first", "second"]);
}
