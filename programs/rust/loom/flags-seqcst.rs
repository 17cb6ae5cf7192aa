// Two threads raise a flag each and look at the other's: with `SeqCst` one of them sees a flag. loom reads `SeqCst` as `AcqRel`, and says otherwise.
// expect c20 safe: holds
use loom::sync::atomic::{AtomicBool, Ordering::*};
use loom::sync::Arc;
use loom::thread;

#[test]
fn one_sees_the_other() {
    loom::model(|| {
        let flags = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let others = flags.clone();
        let other = thread::spawn(move || {
            others[0].store(true, SeqCst);
            others[1].load(SeqCst)
        });
        flags[1].store(true, SeqCst);
        let mine = flags[0].load(SeqCst);
        let theirs = other.join().unwrap();
        assert!(mine || theirs);
    });
}
