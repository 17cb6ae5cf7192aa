//! Threads that wait until there is something to do for all of them.
//!
//! Rounds may be short (a level with a few hundred states), so threads that wait look again and again for a little while before they
//! go to sleep: being woken up takes longer than such a round.

use crate::task::Alone;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use web_time::{Duration, Instant};

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

/// The same, for a mutex that is never held for long: its holder will let go before a sleeper could be woken up.
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

/// Looks until something is true, or until it has looked for long enough. Whether it is true.
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
///
/// A thread takes a lock only to sleep, or to wake another one up. A thread that goes to sleep says so and then looks once more whether there is something to
/// do; a thread that has something to do for others says so and then looks whether they sleep. In the one order of all that is `SeqCst`, one of the two comes second.
#[derive(Default)]
pub(crate) struct Team {
    /// The number of the round.
    round: Alone<AtomicU64>,
    /// Members that have not finished the round.
    busy: Alone<AtomicUsize>,
    members: AtomicUsize,
    /// Members that sleep.
    asleep: AtomicUsize,
    leader_asleep: AtomicBool,
    panicked: AtomicBool,
    /// Held by a thread that goes to sleep, until asleep, and by one that wakes up others.
    bed: Mutex<()>,
    started: Condvar,
    finished: Condvar,
}

/// The round in which all threads go home.
const LAST: u64 = u64::MAX;

impl Team {
    /// Lets one more member take part from the next round on; the result is for [`Team::serve`].
    pub(crate) fn join(&self) -> u64 {
        self.members.fetch_add(1, SeqCst);
        self.round.0.load(SeqCst)
    }

    /// A thread that was to take part does not come; to be called before the next round.
    pub(crate) fn resign(&self) {
        self.members.fetch_sub(1, SeqCst);
    }

    /// Whether there are any members.
    pub(crate) fn is_empty(&self) -> bool {
        self.members.load(SeqCst) == 0
    }

    /// Does `work` once in every round until the leader calls [`Team::dismiss`].
    pub(crate) fn serve(&self, mut round: u64, mut work: impl FnMut()) {
        loop {
            let has_begun = || self.round.0.load(SeqCst) != round;
            if !wait_until(has_begun) {
                let mut bed = lock(&self.bed);
                self.asleep.fetch_add(1, SeqCst);
                while !has_begun() {
                    bed = sleep(&self.started, bed);
                }
                self.asleep.fetch_sub(1, SeqCst);
            }
            round = self.round.0.load(SeqCst);
            if round == LAST {
                return;
            }
            let _done = Done(self);
            work();
        }
    }

    /// Starts a round.
    pub(crate) fn start(&self) {
        self.busy.0.store(self.members.load(SeqCst), SeqCst);
        self.begin(self.round.0.load(SeqCst) + 1);
    }

    fn begin(&self, round: u64) {
        self.round.0.store(round, SeqCst);
        if self.asleep.load(SeqCst) > 0 {
            let _bed = lock(&self.bed);
            self.started.notify_all();
        }
    }

    /// Waits until all members have finished the round.
    ///
    /// # Panics
    /// If a member did.
    pub(crate) fn finish(&self) {
        let all_done = || self.busy.0.load(SeqCst) == 0;
        if !wait_until(all_done) {
            let mut bed = lock(&self.bed);
            self.leader_asleep.store(true, SeqCst);
            while !all_done() {
                bed = sleep(&self.finished, bed);
            }
            self.leader_asleep.store(false, SeqCst);
        }
        assert!(!self.panicked.load(SeqCst), "a walking thread panicked");
    }

    /// Sends all threads home.
    pub(crate) fn dismiss(&self) {
        self.begin(LAST);
    }
}

fn sleep<'a>(until: &Condvar, bed: MutexGuard<'a, ()>) -> MutexGuard<'a, ()> {
    until.wait(bed).unwrap_or_else(PoisonError::into_inner)
}

/// Says that a member has finished its work, also if it panicked: the leader must not wait for ever.
struct Done<'a>(&'a Team);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        let team = self.0;
        if std::thread::panicking() {
            team.panicked.store(true, SeqCst);
        }
        let was_last = team.busy.0.fetch_sub(1, SeqCst) == 1;
        if was_last && team.leader_asleep.load(SeqCst) {
            let _bed = lock(&team.bed);
            team.finished.notify_all();
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
                        worked.fetch_add(1, SeqCst);
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
                assert_eq!(worked.load(SeqCst), 3 * round);
                if round % 70 == 0 {
                    std::thread::sleep(Duration::from_millis(2));
                }
            }
            drop(leader);
        });
    }
}
