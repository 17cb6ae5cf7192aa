//! Waiting for an answer no longer than it may take.
//!
//! Searches look at the clock themselves, and stop with what they have found. What comes before a search (reading the code of the threads, comparing
//! every store with every load) does not, and takes long for programs of tens of thousands of instructions. Whoever waits here gets an answer all
//! the same.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// As much as the main thread has.
const STACK: usize = 8 << 20;
/// How often somebody who waits looks whether that is still wanted.
const GLANCE: Duration = Duration::from_millis(50);
/// A search that has been told to stop may take so long to say what it found, or a quarter of its time if that is more.
const GRACE: Duration = Duration::from_millis(500);

/// What `work` gives; or why nobody waits for it any longer. Then it goes on by itself, until the process ends.
pub fn wait_for<T: Send + 'static>(
    timeout: Option<Duration>,
    cancel: &AtomicBool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, &'static str> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let begin = Instant::now();
    let work = Arc::new(Mutex::new(Some(work)));
    let taken = Arc::clone(&work);
    let worker = move || {
        if let Some(work) = take(&taken) {
            // Nobody listens where nobody waits any longer.
            let _ = sender.send(work());
        }
    };
    let builder = std::thread::Builder::new().stack_size(STACK);
    if builder.spawn(worker).is_err()
        && let Some(work) = take(&work)
    {
        // The machine has no thread for us.
        return Ok(work());
    }
    let patience = timeout.map(|most| most.saturating_add(GRACE.max(most / 4)));
    let mut cancelled = None;
    loop {
        match receiver.recv_timeout(GLANCE) {
            Ok(answer) => return Ok(answer),
            Err(RecvTimeoutError::Disconnected) => return Err("its search has ended early"),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if patience.is_some_and(|patience| begin.elapsed() >= patience) {
            return Err("the time limit is reached");
        }
        if cancel.load(Ordering::Relaxed) {
            let since = *cancelled.get_or_insert_with(Instant::now);
            if since.elapsed() >= GRACE {
                return Err("it was interrupted");
            }
        }
    }
}

fn take<T>(slot: &Mutex<Option<T>>) -> Option<T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner).take()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endless() {
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }

    #[test]
    fn answers_come_back() {
        let never = AtomicBool::new(false);
        assert_eq!(wait_for(None, &never, || 7), Ok(7));
        assert_eq!(wait_for(Some(Duration::from_secs(60)), &never, || 7), Ok(7));
    }

    #[test]
    fn nobody_waits_beyond_the_limit() {
        let never = AtomicBool::new(false);
        let waited = wait_for(Some(Duration::from_millis(1)), &never, endless);
        assert_eq!(waited, Err("the time limit is reached"));
    }

    #[test]
    fn nobody_waits_after_an_interruption() {
        let now = AtomicBool::new(true);
        let waited = wait_for(None, &now, endless);
        assert_eq!(waited, Err("it was interrupted"));
    }
}
