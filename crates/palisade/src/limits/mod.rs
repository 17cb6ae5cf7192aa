//! Limits of time and memory, and waiting for an answer within them.
//!
//! Searches look at the clock and at memory themselves, and stop with what they have found. What comes before a search (reading the text, inlining, comparing
//! every store with every load) does not, or not often enough: [`within`] comes back all the same.

mod machine;

pub use machine::{held, machine};
use palisade_lang::meter::{Meter, charged};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use web_time::{Duration, Instant};

/// Enough for everything that is nested as deep as parsers allow.
const STACK: usize = 16 << 20;
/// Memory may be exceeded by so much, or by a quarter if that is more.
const MEMORY_GRACE: u64 = 32 << 20;
/// How often it is looked whether the answer is still wanted.
const PERIOD: Duration = Duration::from_millis(20);
/// A search that has been told to stop may take so long to say what it found, or a quarter of its time if that is more.
const GRACE: Duration = Duration::from_millis(500);

/// A search that is told to stop, and is not waited for, has so long to clear up.
const CLEARING: Duration = Duration::from_millis(100);

/// How much an answer may take.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// How long.
    pub timeout: Option<Duration>,
    /// How many bytes the process may hold meanwhile.
    pub memory: Option<u64>,
}

/// About what an instruction or a part of an expression takes, with everything that is derived from it.
const BYTES_OF_A_NODE: u64 = 200;

impl Limits {
    /// What may be read: as much as fits into memory.
    fn meter(self, stop: &Arc<AtomicBool>) -> Meter {
        let memory = self.memory.into_iter().chain(machine()).min();
        Meter {
            nodes: memory.map_or(u64::MAX, |memory| memory / BYTES_OF_A_NODE),
            memory,
            stop: Arc::clone(stop),
        }
    }

    /// Whether the process holds more than it may, and more than a search that looks at memory now and then would let happen.
    fn is_too_much(self) -> bool {
        let most = |memory: u64| memory.saturating_add((memory / 4).max(MEMORY_GRACE));
        self.memory.is_some_and(|memory| held() > most(memory))
    }
}

/// What `work` gives; or why it is no longer waited for. Then it is told to stop, and goes on by itself until it does or the process ends.
/// It runs on a stack of its own, whatever stack this thread has.
pub fn within<T: Send + 'static>(
    limits: Limits,
    cancel: &AtomicBool,
    work: impl FnOnce(&AtomicBool) -> T + Send + 'static,
) -> Result<T, &'static str> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let begin = Instant::now();
    let stop = Arc::new(AtomicBool::new(cancel.load(Ordering::Relaxed)));
    let told = Arc::clone(&stop);
    let meter = limits.meter(&stop);
    let work = move || charged(meter, || work(&told));
    let work = Arc::new(Mutex::new(Some(work)));
    let taken = Arc::clone(&work);
    let worker = move || {
        if let Some(work) = take(&taken) {
            // The receiver is gone where the answer is no longer waited for.
            let _ = sender.send(work());
        }
    };
    let builder = std::thread::Builder::new().stack_size(STACK);
    if builder.spawn(worker).is_err()
        && let Some(work) = take(&work)
    {
        // The machine has no thread for us, or none at all, as in a browser: then the limits are those of the search alone.
        return Ok(work());
    }
    let most = limits.timeout;
    let longest = most.map(|most| most.saturating_add(GRACE.max(most / 4)));
    let mut cancelled = None;
    let reason = loop {
        match receiver.recv_timeout(PERIOD) {
            Ok(answer) => return Ok(answer),
            Err(RecvTimeoutError::Disconnected) => return Err("its search has ended early"),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if longest.is_some_and(|longest| begin.elapsed() >= longest) {
            break "the time limit is reached";
        }
        if limits.is_too_much() {
            break "the memory limit is reached";
        }
        if cancel.load(Ordering::Relaxed) {
            stop.store(true, Ordering::Relaxed);
            let since = *cancelled.get_or_insert_with(Instant::now);
            if since.elapsed() >= GRACE {
                break "it was interrupted";
            }
        }
    };
    stop.store(true, Ordering::Relaxed);
    // What it has begun it ends, if that is soon: a compiler that runs for it, files for that one.
    let _ = receiver.recv_timeout(CLEARING);
    Err(reason)
}

fn take<T>(slot: &Mutex<Option<T>>) -> Option<T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner).take()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endless(_: &AtomicBool) {
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }

    fn at_most(time: Duration) -> Limits {
        Limits {
            timeout: Some(time),
            memory: None,
        }
    }

    #[test]
    fn answers_come_back() {
        let never = AtomicBool::new(false);
        assert_eq!(within(Limits::default(), &never, |_| 7), Ok(7));
        let minute = at_most(Duration::from_secs(60));
        assert_eq!(within(minute, &never, |_| 7), Ok(7));
    }

    #[test]
    fn nobody_waits_beyond_the_limit() {
        let never = AtomicBool::new(false);
        let waited = within(at_most(Duration::from_millis(1)), &never, endless);
        assert_eq!(waited, Err("the time limit is reached"));
    }

    #[test]
    fn nobody_waits_while_memory_fills() {
        let never = AtomicBool::new(false);
        let little = Limits {
            timeout: None,
            memory: Some(1 << 20),
        };
        let waited = within(little, &never, |stop| {
            let mut held: Vec<Vec<u8>> = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                held.push(vec![1; 1 << 20]);
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        assert_eq!(waited, Err("the memory limit is reached"));
    }

    #[test]
    fn nobody_waits_after_an_interruption() {
        let now = AtomicBool::new(true);
        let waited = within(Limits::default(), &now, endless);
        assert_eq!(waited, Err("it was interrupted"));
    }
}
