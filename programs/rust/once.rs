// Initialisation that happens once, whichever thread is first.
// expect c20 safe: holds
use std::sync::OnceLock;
use std::thread;

static CONFIG: OnceLock<u64> = OnceLock::new();

fn config(mine: u64) -> u64 {
    *CONFIG.get_or_init(|| mine)
}

fn main() {
    let other = thread::spawn(|| config(2));
    let here = config(1);
    assert_eq!(here, other.join().unwrap());
}
