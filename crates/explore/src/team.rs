//! Threads that wait until there is something to do for all of them.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Locks a mutex. A thread that panicked while it held the lock ends the whole walk anyway.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A team: its members wait in [`Team::serve`] until the leader calls [`Team::start`].
#[derive(Default)]
pub(crate) struct Team {
    state: Mutex<State>,
    started: Condvar,
    finished: Condvar,
}

#[derive(Default)]
struct State {
    round: u64,
    members: usize,
    busy: usize,
    over: bool,
    panicked: bool,
}

impl Team {
    /// Lets one more member take part from the next round on; the result is for [`Team::serve`].
    pub(crate) fn join(&self) -> u64 {
        let mut state = lock(&self.state);
        state.members += 1;
        state.round
    }

    /// Whether there are any members.
    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.state).members == 0
    }

    /// Does `work` once in every round until the leader calls [`Team::dismiss`].
    pub(crate) fn serve(&self, mut round: u64, mut work: impl FnMut()) {
        loop {
            {
                let mut state = lock(&self.state);
                while state.round == round && !state.over {
                    state = self
                        .started
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner);
                }
                if state.over {
                    return;
                }
                round = state.round;
            }
            let _done = Done(self);
            work();
        }
    }

    /// Starts a round.
    pub(crate) fn start(&self) {
        let mut state = lock(&self.state);
        state.round += 1;
        state.busy = state.members;
        self.started.notify_all();
    }

    /// Waits until all members have finished the round.
    ///
    /// # Panics
    /// If a member did.
    pub(crate) fn finish(&self) {
        let mut state = lock(&self.state);
        while state.busy > 0 {
            state = self
                .finished
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        assert!(!state.panicked, "a walking thread panicked");
    }

    /// Sends everybody home.
    pub(crate) fn dismiss(&self) {
        lock(&self.state).over = true;
        self.started.notify_all();
    }
}

/// Says that a member has finished its work, also if it panicked: the leader must not wait for ever.
struct Done<'a>(&'a Team);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.busy -= 1;
        state.panicked |= std::thread::panicking();
        self.0.finished.notify_all();
    }
}

/// Dismisses the team when the leader leaves, also if it panics: members must not wait for ever.
pub(crate) struct Leader<'a>(pub(crate) &'a Team);

impl Drop for Leader<'_> {
    fn drop(&mut self) {
        self.0.dismiss();
    }
}
