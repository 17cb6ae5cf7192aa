// Tests in the style of loom: each is a program of its own.
// expect c20 safe: holds
#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::*};
    use std::sync::Arc;
    use std::thread;

    #[test]
    fn two_increments() {
        let number = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let number = number.clone();
                thread::spawn(move || {
                    number.fetch_add(1, Relaxed);
                })
            })
            .collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!(number.load(Relaxed), 2);
    }
}
