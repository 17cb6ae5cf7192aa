//! What runs and findings consist of.

/// What an access is to the memory model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessType {
    /// R
    Read,
    /// W
    Write,
    /// RMW
    Update,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// The thread's action could read or overwrite something stale (Theorem 5.3).
    Stale {
        /// The component of the thread.
        thread: usize,
        /// Which of its actions.
        action: usize,
    },
    /// Two threads could access a `nonatomic` location at the same time (Def. 6.1).
    Race {
        /// Component and action of one …
        first: (usize, usize),
        /// … and the other; one of the two writes.
        second: (usize, usize),
    },
    /// The thread's action races with an access that came before it in the run, but does not happen before it.
    Unordered {
        /// The component of the thread.
        thread: usize,
        /// Which of its actions.
        action: usize,
        /// Which of its outcomes.
        outcome: usize,
    },
    /// The thread is about to use a value that it has read from a stale write.
    Used {
        /// The component of the thread.
        thread: usize,
    },
}

impl Violation {
    /// The same with the threads that these components stand for.
    pub fn with_threads(self, threads: &[usize]) -> Violation {
        let access = |(thread, action): (usize, usize)| (threads[thread], action);
        match self {
            Violation::Stale { thread, action } => Violation::Stale {
                thread: threads[thread],
                action,
            },
            Violation::Race { first, second } => Violation::Race {
                first: access(first),
                second: access(second),
            },
            Violation::Unordered {
                thread,
                action,
                outcome,
            } => Violation::Unordered {
                thread: threads[thread],
                action,
                outcome,
            },
            Violation::Used { thread } => Violation::Used {
                thread: threads[thread],
            },
        }
    }
}

/// One step between states.
#[derive(Clone, Debug)]
pub struct StepTaken {
    /// The component of the thread.
    pub thread: usize,
    /// Which of its actions.
    pub action: usize,
    /// Which of the outcomes.
    pub outcome: usize,
}
