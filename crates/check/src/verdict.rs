//! What is asked, and what is answered.

use palisade_explore::{Disk, Hosts};
use palisade_memory::{Criterion, Model, Witness};
use std::sync::Arc;
use std::time::Duration;

use crate::Checkpoints;
use crate::note::Note;

/// Everything that can be set for a check.
#[derive(Clone, Debug)]
pub struct Options {
    /// The memory model.
    pub model: Model,
    /// The criterion.
    pub criterion: Criterion,
    /// How many threads search; 0 means as many as the machine has for us.
    pub jobs: usize,
    /// How long the search may take.
    pub timeout: Option<Duration>,
    /// How many bytes the process may hold.
    pub memory: Option<u64>,
    /// How many bytes the machine leaves to the process. It is asked once a search has grown: asking takes longer than some searches.
    pub machine: Option<fn() -> Option<u64>>,
    /// Which reductions are on.
    pub reductions: Reductions,
    /// Look for races on all locations even where some are `nonatomic` (drf).
    pub all_locations: bool,
    /// Find every violation instead of the first (where the criterion can).
    pub all: bool,
    /// How the flattening abstraction is used (persistent).
    pub abstraction: Abstraction,
    /// How reachability under TSO is decided.
    pub route: Route,
    /// About how many states a walk may look at; the same place for every number of threads.
    pub most_states: Option<u64>,
    /// Where states go that memory has no room for.
    pub disk: Option<Disk>,
    /// The processes that walk together.
    pub hosts: Option<Arc<Hosts>>,
    /// Ask for the thread of this name only (live).
    pub thread: Option<String>,
    /// Where it is written down how far the check has come, and how far another one had come.
    pub checkpoints: Option<Arc<Checkpoints>>,
}

/// How the flattening abstraction is used. The answer is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Abstraction {
    /// Where the concrete program turns out to be large.
    #[default]
    Auto,
    /// Never.
    Off,
    /// First, and with this many steps that other threads take as they are.
    From(u32),
}

/// How reachability under TSO is decided. Any is the fastest; the others are there to be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Route {
    /// The lazy search, walks with buffers and the backward search, in turn.
    #[default]
    Any,
    /// The lazy search alone: SC reachability of a program that is extended again and again.
    Lazy,
    /// Walks with longer and longer buffers, exact up to a length and as sets beyond it.
    Buffers,
    /// One walk with buffers as long as the text allows; undecided where it allows any length.
    Bounded,
    /// Backwards with load buffers in place of store buffers; decides every program with finite data.
    Dual,
}

/// What makes a search smaller without changing its verdict. Each can be switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reductions {
    /// Run steps that touch no memory together with the step before them.
    pub local_steps: bool,
    /// Forget registers that will not be read again, and (backwards under TSO) which of several values it is that no operation tells apart.
    pub dead_registers: bool,
    /// Treat states that differ by a swap of identical threads as one.
    pub symmetry: bool,
    /// Explore independent accesses in one order only.
    pub partial_order: bool,
    /// Dismiss statically what lies on no critical cycle.
    pub static_filter: bool,
    /// Look for one stale access at a time instead of keeping all monitors at once (RA).
    pub suspects: bool,
    /// Forget what a monitor says about things that can never matter again (RA).
    pub monitors: bool,
    /// Drop states that find nothing beyond what another state finds (RA).
    pub subsumption: bool,
}

impl Reductions {
    /// All on.
    pub const ALL: Reductions = Reductions {
        local_steps: true,
        dead_registers: true,
        symmetry: true,
        partial_order: true,
        static_filter: true,
        suspects: true,
        monitors: true,
        subsumption: true,
    };
    /// All off.
    pub const NONE: Reductions = Reductions {
        local_steps: false,
        dead_registers: false,
        symmetry: false,
        partial_order: false,
        static_filter: false,
        suspects: false,
        monitors: false,
        subsumption: false,
    };
}

impl Options {
    /// The question with everything else as usual: one searching thread, no limits, all reductions.
    pub fn new(model: Model, criterion: Criterion) -> Self {
        Options {
            model,
            criterion,
            jobs: 1,
            timeout: None,
            memory: None,
            machine: None,
            reductions: Reductions::ALL,
            all_locations: false,
            all: false,
            abstraction: Abstraction::Auto,
            route: Route::Any,
            most_states: None,
            disk: None,
            hosts: None,
            thread: None,
            checkpoints: None,
        }
    }

    /// How many bytes the process may hold, with what the machine says.
    pub fn memory_limit(&self) -> Option<u64> {
        let machine = self.machine.and_then(|machine| machine());
        [self.memory, machine].into_iter().flatten().min()
    }
}

/// The answer to a question about a program.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Holds, violated, or unknown.
    pub verdict: Verdict,
    /// The run that shows the violation; several where all were wanted.
    pub witnesses: Vec<Witness>,
    /// What it took.
    pub stats: Stats,
    /// What the user should know beside the verdict.
    pub notes: Vec<Note>,
    /// Where a program is not robust and the caller has asked: what that means for its assertions.
    pub harm: Option<Harm>,
}

impl Answer {
    /// The answer where nothing is left to be searched for, out of so many questions.
    pub(crate) fn dismissed(questions: u64, wall: Duration) -> Answer {
        Answer {
            verdict: Verdict::Holds,
            witnesses: Vec::new(),
            stats: Stats {
                pruned: questions,
                wall,
                ..Stats::default()
            },
            notes: Vec::new(),
            harm: None,
        }
    }
}

/// Whether an `assert` or a `never` of a program that is not robust can break because of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Harm {
    /// It can: what is the case at the end of some run under the model, and of none under SC.
    Broken(String),
    /// It cannot.
    None,
    /// The program states nothing that could break.
    NothingStated,
    /// Not known, and why.
    Unknown(String),
}

/// The verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The criterion holds.
    Holds,
    /// It is violated.
    Violated,
    /// Not decided, and why.
    Unknown(String),
}

/// What a search took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// States stored.
    pub states: u64,
    /// Steps taken between states.
    pub transitions: u64,
    /// Reachability questions asked.
    pub queries: u64,
    /// Questions dismissed without a search.
    pub pruned: u64,
    /// Rounds of a search that goes on in rounds.
    pub iterations: u64,
    /// What decided, where there are several ways (persistent).
    pub level: Option<Level>,
    /// Time.
    pub wall: Duration,
    /// The most memory that the process held.
    pub peak_memory_bytes: u64,
}

impl Stats {
    /// Counts another search, after this one.
    pub fn add(&mut self, other: &Stats) {
        self.states += other.states;
        self.transitions += other.transitions;
        self.queries += other.queries;
        self.pruned += other.pruned;
        self.wall += other.wall;
        self.peak_memory_bytes = self.peak_memory_bytes.max(other.peak_memory_bytes);
    }
}

/// How much of a program had to be looked at for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Nothing was walked.
    Filter,
    /// For each thread an abstraction of the others, which take this many steps as they are.
    Abstract(u32),
    /// The program itself.
    Concrete,
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Level::Filter => write!(f, "filter"),
            Level::Abstract(steps) => write!(f, "abstract {steps}"),
            Level::Concrete => write!(f, "concrete"),
        }
    }
}
