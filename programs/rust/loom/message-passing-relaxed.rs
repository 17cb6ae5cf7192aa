// The flag is set without an order: the reader races with the writer.
// expect c20 safe: violated
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
fn a_message_may_not_arrive() {
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
        sent.ready.store(true, Relaxed);
        reader.join().unwrap();
    });
}
