// A test that has to panic is asked about by its name only.
// expect c20 safe: holds
#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;

    #[test]
    fn both_add() {
        let sum = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| sum.fetch_add(1, Ordering::Relaxed));
            }
        });
        assert_eq!(sum.into_inner(), 2);
    }

    #[test]
    #[should_panic]
    fn nothing_is_something() {
        let nothing: Option<u32> = None;
        nothing.unwrap();
    }
}
