// Texts through a channel, and the end of the channel.
// expect c20 safe: holds
use std::sync::mpsc::channel;
use std::thread;
fn main() {
    let (tx, rx) = channel::<&'static str>();
    let t = thread::spawn(move || {
        tx.send("one").unwrap();
        tx.send("two").unwrap();
    });
    assert_eq!(rx.recv().unwrap(), "one");
    assert_eq!(rx.recv().unwrap(), "two");
    assert!(rx.recv().is_err());
    t.join().unwrap();
}
