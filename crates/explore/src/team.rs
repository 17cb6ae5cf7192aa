//! Threads that wait until there is something to do for all of them.
//!
//! Rounds may be short (a level with a few hundred states), so those who wait look again and again for a little while before they
//! go to sleep: being woken up takes longer than such a round.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long to look before going to sleep.
const PATIENCE: Duration = Duration::from_micros(50);

/// How many threads `jobs` means: 0 is as many as the machine has for us.
pub fn threads(jobs: usize) -> usize {
    // Looked up once, and only where it matters: the operating system takes its time to tell.
    static CORES: LazyLock<usize> =
        LazyLock::new(|| std::thread::available_parallelism().map_or(1, |n| n.get()));
    match jobs {
        0 => *CORES,
        jobs => jobs,
    }
}

/// Locks a mutex. A thread that panicked while it held the lock ends the whole walk anyway.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same, for a mutex that is never held for long: whoever holds it will let go before a sleeper could be woken up.
pub(crate) fn lock_soon<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    if let Ok(guard) = mutex.try_lock() {
        return guard;
    }
    let mut guard = None;
    wait_until(|| {
        guard = mutex.try_lock().ok();
        guard.is_some()
    });
    guard.unwrap_or_else(|| lock(mutex))
}

/// Looks until something is true, or until patience ends. Whether it is true.
fn wait_until(mut is_true: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    loop {
        for _ in 0..32 {
            if is_true() {
                return true;
            }
            std::hint::spin_loop();
        }
        if begin.elapsed() > PATIENCE {
            return is_true();
        }
    }
}

/// A team: its members wait in [`Team::serve`] until the leader calls [`Team::start`].
#[derive(Default)]
pub(crate) struct Team {
    state: Mutex<State>,
    started: Condvar,
    finished: Condvar,
    /// The number of the round, to look at without the lock; it is changed with the lock.
    round: AtomicU64,
    /// Members that have not finished the round, in the same way.
    busy: AtomicUsize,
}

#[derive(Default)]
struct State {
    members: usize,
    /// Members that are asleep.
    asleep: usize,
    /// The leader is asleep.
    leader_asleep: bool,
    over: bool,
    panicked: bool,
}

/// The round in which everybody goes home.
const LAST: u64 = u64::MAX;

impl Team {
    /// Lets one more member take part from the next round on; the result is for [`Team::serve`].
    pub(crate) fn join(&self) -> u64 {
        let mut state = lock(&self.state);
        state.members += 1;
        self.round.load(Ordering::Relaxed)
    }

    /// Whether there are any members.
    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.state).members == 0
    }

    /// Does `work` once in every round until the leader calls [`Team::dismiss`].
    pub(crate) fn serve(&self, mut round: u64, mut work: impl FnMut()) {
        loop {
            // What the leader did before the round is seen by those who see the round (acquire and release, or the lock).
            let has_begun = || self.round.load(Ordering::Acquire) != round;
            if !wait_until(has_begun) {
                let mut state = lock(&self.state);
                state.asleep += 1;
                while !has_begun() {
                    state = self
                        .started
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner);
                }
                state.asleep -= 1;
            }
            round = self.round.load(Ordering::Acquire);
            if round == LAST {
                return;
            }
            let _done = Done(self);
            work();
        }
    }

    /// Starts a round.
    pub(crate) fn start(&self) {
        let state = lock(&self.state);
        if !state.over {
            self.busy.store(state.members, Ordering::Relaxed);
            self.begin(&state, self.round.load(Ordering::Relaxed) + 1);
        }
    }

    fn begin(&self, state: &State, round: u64) {
        self.round.store(round, Ordering::Release);
        if state.asleep > 0 {
            self.started.notify_all();
        }
    }

    /// Waits until all members have finished the round.
    ///
    /// # Panics
    /// If a member did.
    pub(crate) fn finish(&self) {
        let all_done = || self.busy.load(Ordering::Acquire) == 0;
        wait_until(all_done);
        let mut state = lock(&self.state);
        state.leader_asleep = true;
        while !all_done() {
            state = self
                .finished
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.leader_asleep = false;
        assert!(!state.panicked, "a walking thread panicked");
    }

    /// Sends everybody home.
    pub(crate) fn dismiss(&self) {
        let mut state = lock(&self.state);
        state.over = true;
        self.begin(&state, LAST);
    }
}

/// Says that a member has finished its work, also if it panicked: the leader must not wait for ever.
struct Done<'a>(&'a Team);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.panicked |= std::thread::panicking();
        self.0.busy.fetch_sub(1, Ordering::Release);
        if state.leader_asleep {
            self.0.finished.notify_all();
        }
    }
}

/// Dismisses the team when the leader leaves, also if it panics: members must not wait for ever.
pub(crate) struct Leader<'a>(pub(crate) &'a Team);

impl Drop for Leader<'_> {
    fn drop(&mut self) {
        self.0.dismiss();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_works_once_in_every_round() {
        let team = Team::default();
        let worked = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let leader = Leader(&team);
            for _ in 0..3 {
                let round = team.join();
                let (team, worked) = (&team, &worked);
                scope.spawn(move || {
                    team.serve(round, || {
                        worked.fetch_add(1, Ordering::Relaxed);
                    });
                });
            }
            for round in 1..200 {
                team.start();
                // Long enough for some to fall asleep, now and then.
                if round % 50 == 0 {
                    std::thread::sleep(Duration::from_millis(2));
                }
                team.finish();
                assert_eq!(worked.load(Ordering::Relaxed), 3 * round);
                if round % 70 == 0 {
                    std::thread::sleep(Duration::from_millis(2));
                }
            }
            drop(leader);
        });
    }
}
