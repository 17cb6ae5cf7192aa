// Four threads take tickets.
// expect c20 safe: holds
use loom::sync::atomic::{AtomicUsize, Ordering::*};
use loom::sync::Arc;
use loom::thread;

#[test]
fn nobody_shares_a_ticket() {
    loom::model(|| {
        let next = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let next = next.clone();
                thread::spawn(move || next.fetch_add(1, Relaxed))
            })
            .collect();
        let mine = next.fetch_add(1, Relaxed);
        let others: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert!(others[0] != others[1] && others[0] != others[2] && others[1] != others[2]);
        assert!(!others.contains(&mine));
    });
}
