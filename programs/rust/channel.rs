// The standard library's channel: two senders, and a receiver that ends when both are gone.
// expect c20 safe: holds
use std::sync::mpsc;
use std::thread;

fn main() {
    let (sender, receiver) = mpsc::channel();
    let second = sender.clone();
    thread::spawn(move || sender.send(1).unwrap());
    thread::spawn(move || second.send(2).unwrap());
    let mut sum = 0;
    for n in receiver {
        sum += n;
    }
    assert_eq!(sum, 3);
}
