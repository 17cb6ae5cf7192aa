//! What an answer says beside its verdict, as data: the sentences are made where answers are shown.

use palisade_memory::Model;

/// Something that one should know beside a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Another criterion than `safe` was asked for, and an assertion of the program can fail or another error of it can be reached.
    ProgramErrs,
    /// The run that shows a violation is one of SC.
    HappensUnderSc,
    /// The program is robust against the model, and safe under SC.
    RobustAndSafe(Model),
    /// The program is observationally robust against the model, and safe under SC.
    ObservedAndSafe(Model),
    /// The program is robust, and no thread is stuck under SC.
    RobustAndLive,
    /// The program is not robust, and no thread is stuck with all that can be in the buffers.
    LiveWithBuffers,
    /// No run was found that comes back to the same values of all registers.
    NoClosedRun,
    /// What being observationally robust says, and what it leaves open.
    Observed,
    /// What it says that a stale value is used.
    StaleValueUsed,
    /// The violation is a data race.
    Race,
    /// Nothing depends on these locations, so that they were left out.
    LeftOut(Vec<String>),
    /// The program is robust whatever these locations hold.
    RobustWhateverIsIn(Vec<String>),
    /// The program is robust however far these locations count, as integers: only differences between them were followed.
    RobustHoweverFar(Vec<String>),
    /// The program is safe whatever is read from these locations.
    SafeWhateverIsRead(Vec<String>),
    /// The text has orders that the model does not look at.
    OrdersWithoutEffect(Model),
    /// The text has blocks of several accesses that happen at once: the answer is about SC, and the models with orders have no such thing.
    BlocksUnderSc,
    /// A relaxed store that real machines may show before a relaxed load which stands before it, by their lines.
    LoadBuffering {
        /// The line of the store.
        store: u32,
        /// The line of the load.
        load: u32,
    },
    /// The program starts no second thread.
    OneThread,
    /// No access is nonatomic, so that there are no data races.
    NothingCanRace,
    /// No location is declared `nonatomic`, so that races on all of these count.
    AllLocationsCount(Vec<String>),
    /// `deadlock` does not see these loops spin, by their lines: they change memory.
    SpinsWithEffect(Vec<u32>),
    /// Where `--disk` is of no use.
    InMemoryOnly(InMemory),
    /// The answer holds for every number of copies of these threads.
    EveryNumber(Vec<String>),
    /// A repair whose violation was not found again, and why.
    RepairUnexplained(String),
    /// An order whose violation was not found again, and why.
    OrderUnexplained(String),
    /// How the answer was found, for those who ask for it.
    How(How),
    /// A sentence from elsewhere: about how a text was read, about files of the caller.
    Said(String),
}

/// A search that keeps its states in memory, whatever `--disk` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InMemory {
    /// The graph of `live`.
    Live,
    /// The backward search for `safe` under TSO.
    Backward,
    /// Most searches under release/acquire and C++20.
    Weak,
    /// Searches for every number of threads at once.
    EveryNumber,
}

/// How an answer was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// Safe under SC and robust, after so many rounds of emulating the delays that matter.
    DelaysEmulated {
        /// How many.
        rounds: u32,
    },
    /// A few threads at a time are safe under SC.
    FewThreads,
    /// No buffer holds more than so many stores.
    ShortBuffers {
        /// How many.
        bound: usize,
    },
    /// Safe although the order of stores beyond the first ones is lost.
    UnorderedBuffers {
        /// How many keep it.
        bound: usize,
    },
    /// No run comes near it, though messages in load buffers lose their order.
    LoadBuffersForward,
    /// Backward with load buffers.
    LoadBuffersBackward {
        /// How many minimal configurations lead to what must not be.
        minimal: usize,
    },
    /// All runs under the model were seen.
    AllRuns(Model),
    /// All execution graphs under the model were seen.
    AllGraphs(Model),
}

impl Note {
    /// Whether it tells how an answer was found, which is for those who ask for it.
    pub fn is_internal(&self) -> bool {
        matches!(self, Note::How(_))
    }

    /// Whether it says that what was asked for holds, or why: beside `unknown` it has no place.
    pub fn says_holds(&self) -> bool {
        self.tells_robustness()
            || matches!(
                self,
                Note::SafeWhateverIsRead(_)
                    | Note::RobustWhateverIsIn(_)
                    | Note::RobustHoweverFar(_)
                    | Note::How(_)
            )
    }

    /// Whether it says already that the program is robust, or not.
    pub fn tells_robustness(&self) -> bool {
        matches!(
            self,
            Note::RobustAndSafe(_)
                | Note::ObservedAndSafe(_)
                | Note::RobustAndLive
                | Note::LiveWithBuffers
        )
    }
}

/// Adds what is not there yet.
pub fn add_new(notes: &mut Vec<Note>, more: impl IntoIterator<Item = Note>) {
    for note in more {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
}
