//! Many FILEs at once, with the answers in the order of the FILEs.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::AssertUnwindSafe;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock};

/// Workers are at most so many FILEs ahead of what has been printed, for each worker: answers that wait take memory.
const MOST_AHEAD: usize = 64;
/// As much as the main thread has.
const STACK: usize = 8 << 20;

/// Does `quick` for each of `0..count` on `workers` threads, and hands the outcomes to `take` in order, on the calling thread.
///
/// Where `quick` finds nothing (`None`), `thorough` is asked instead, on the calling thread and while no quick search is under way: it has
/// the machine to itself. `take` may end the whole thing.
pub fn in_order<T: Send>(
    count: usize,
    workers: usize,
    quick: impl Fn(usize) -> Option<T> + Sync,
    thorough: impl Fn(usize) -> T,
    mut take: impl FnMut(usize, T) -> ControlFlow<()>,
) {
    let desk = Desk {
        state: Mutex::new(State {
            next: 0,
            taken: 0,
            closed: false,
            ready: BTreeMap::new(),
        }),
        changed: Condvar::new(),
    };
    let ahead = MOST_AHEAD * workers;
    // Held for reading during a quick search, for writing by the one search that has the machine to itself.
    let machine = RwLock::new(());
    std::thread::scope(|scope| {
        let mut at_work = 0;
        for _ in 0..workers {
            let work = || {
                while let Some(index) = desk.next(count, ahead) {
                    let held = machine.read().unwrap_or_else(PoisonError::into_inner);
                    // Whatever goes wrong, the caller waits for an outcome: `thorough` meets the same trouble where it can be seen.
                    let quick = AssertUnwindSafe(|| quick(index));
                    let outcome = std::panic::catch_unwind(quick).ok().flatten();
                    drop(held);
                    desk.lay_down(index, outcome);
                }
            };
            let builder = std::thread::Builder::new().stack_size(STACK);
            if builder.spawn_scoped(scope, work).is_ok() {
                at_work += 1;
            }
        }
        for index in 0..count {
            let first = match at_work {
                // The machine has no thread for us.
                0 => None,
                _ => desk.pick_up(index),
            };
            let outcome = first.unwrap_or_else(|| {
                let _held = machine.write().unwrap_or_else(PoisonError::into_inner);
                thorough(index)
            });
            if take(index, outcome).is_break() {
                break;
            }
        }
        desk.close();
    });
}

/// Where workers fetch numbers and lay down what came out.
struct Desk<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    next: usize,
    taken: usize,
    closed: bool,
    ready: BTreeMap<usize, Option<T>>,
}

impl<T> Desk<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State<T>>) -> MutexGuard<'a, State<T>> {
        self.changed
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The next number, as soon as it is not too far ahead.
    fn next(&self, count: usize, ahead: usize) -> Option<usize> {
        let mut state = self.lock();
        while !state.closed && state.next < count && state.next >= state.taken + ahead {
            state = self.wait(state);
        }
        if state.closed || state.next >= count {
            return None;
        }
        state.next += 1;
        Some(state.next - 1)
    }

    fn lay_down(&self, index: usize, outcome: Option<T>) {
        self.lock().ready.insert(index, outcome);
        self.changed.notify_all();
    }

    fn pick_up(&self, index: usize) -> Option<T> {
        let mut state = self.lock();
        loop {
            if let Some(outcome) = state.ready.remove(&index) {
                state.taken = index + 1;
                self.changed.notify_all();
                return outcome;
            }
            state = self.wait(state);
        }
    }

    fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn the_order_is_kept_and_the_thorough_are_alone() {
        for workers in [1, 2, 7] {
            let under_way = AtomicUsize::new(0);
            let mut seen = Vec::new();
            in_order(
                1000,
                workers,
                |index| {
                    under_way.fetch_add(1, Ordering::SeqCst);
                    std::thread::yield_now();
                    under_way.fetch_sub(1, Ordering::SeqCst);
                    (index % 10 != 3).then_some(index)
                },
                |index| {
                    assert_eq!(under_way.load(Ordering::SeqCst), 0);
                    index + 5000
                },
                |index, outcome| {
                    seen.push((index, outcome));
                    ControlFlow::Continue(())
                },
            );
            let expected: Vec<_> = (0..1000)
                .map(|i| (i, if i % 10 == 3 { i + 5000 } else { i }))
                .collect();
            assert_eq!(seen, expected);
        }
    }

    #[test]
    fn an_early_end_ends_the_workers() {
        let quick_ones = AtomicUsize::new(0);
        in_order(
            100_000,
            2,
            |index| {
                quick_ones.fetch_add(1, Ordering::Relaxed);
                Some(index)
            },
            |index| index,
            |index, _| match index {
                10 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            },
        );
        assert!(quick_ones.into_inner() <= 2 * MOST_AHEAD + 13);
    }
}
