// A message is written, then a flag is set: the reader that sees the flag may read the message.
// expect c20 safe: holds
use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicBool, Ordering::*};
use loom::sync::Arc;
use loom::thread;

struct Mailbox {
    message: UnsafeCell<u32>,
    ready: AtomicBool,
}

unsafe impl Sync for Mailbox {}

#[test]
fn a_message_arrives() {
    loom::model(|| {
        let sent = Arc::new(Mailbox { message: UnsafeCell::new(0), ready: AtomicBool::new(false) });
        let read = sent.clone();
        let reader = thread::spawn(move || {
            if read.ready.load(Acquire) {
                let message = read.message.with(|message| unsafe { *message });
                assert_eq!(message, 7);
            }
        });
        sent.message.with_mut(|message| unsafe { *message = 7 });
        sent.ready.store(true, Release);
        reader.join().unwrap();
    });
}
