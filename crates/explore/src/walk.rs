//! The walk.

use crate::any::AnySpace;
use crate::disk::Disk;
use crate::engine::{Engine, Reporter, Walked};
use crate::hosts::Hosts;
use crate::kept::Keeper;
use crate::path::{self, Path};
use crate::space::Space;
use crate::states::States;
use std::collections::HashMap;
use std::io::Read;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What a walk may use up. The default is no limit at all.
#[derive(Clone, Copy, Default, Debug)]
pub struct Limits<'a> {
    /// Stop when the walk has taken that long. Looking for the ways to what was found until then is not
    /// limited; it takes at most about as long as the walk.
    pub timeout: Option<Duration>,
    /// Stop before the process has more than this many bytes of resident memory.
    pub memory: Option<u64>,
    /// The same, for as many bytes as this says. It is called once a walk has grown: asking the machine takes longer than some walks.
    pub machine: Option<fn() -> Option<u64>>,
    /// Stop when this is set.
    pub cancel: Option<&'a AtomicBool>,
    /// Expand no further level once this many states are found: the same place for every number of threads.
    pub states: Option<u64>,
    /// Where states go that memory has no room for. Without it, the walk stops when memory is used up. What comes out is the same.
    pub disk: Option<&'a Disk>,
    /// The processes that walk together. Everything that comes out is the same, but for the states, of which each process has its part.
    pub hosts: Option<&'a Hosts>,
    /// A number for what is asked: processes with different ones do not walk together.
    pub question: u64,
}

/// Why a walk ended early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// [`Limits::timeout`] has passed.
    Timeout,
    /// [`Limits::memory`] would have been exceeded.
    Memory,
    /// [`Limits::cancel`] was set.
    Cancelled,
    /// [`Limits::states`] are found.
    States,
    /// What was to be gone on with is no walk of this space.
    Damaged,
    /// [`Limits::disk`] has no room left.
    DiskFull,
    /// What was written to [`Limits::disk`] cannot be read back, or nothing can be written there.
    Disk,
    /// Another one of [`Limits::hosts`] is gone: [`Hosts::trouble`] says more.
    Hosts,
}

impl Reason {
    /// All of them, in the order of their codes, of which the first is 1.
    const ALL: [Reason; 8] = [
        Reason::Timeout,
        Reason::Memory,
        Reason::Cancelled,
        Reason::States,
        Reason::Damaged,
        Reason::DiskFull,
        Reason::Disk,
        Reason::Hosts,
    ];

    /// A number for it, which is not 0.
    pub(crate) fn code(self) -> u8 {
        let place = Reason::ALL.iter().position(|&reason| reason == self);
        place.map_or(0, |place| place as u8 + 1)
    }

    /// The reason with this number; 0 is none.
    pub(crate) fn of_code(code: u8) -> Option<Reason> {
        let place = usize::from(code).checked_sub(1)?;
        Reason::ALL.get(place).copied()
    }
}

/// How far a running walk has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Distinct states found so far.
    pub states: u64,
    /// Distinct states found per second since the previous report.
    pub states_per_second: f64,
    /// States that are found but not yet expanded.
    pub frontier: u64,
    /// The level that is being expanded; the initial states are level 0.
    pub level: u64,
    /// Memory in use, as the operating system counts it where it tells.
    pub memory_bytes: u64,
}

/// How much there was to walk.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Stats {
    /// Distinct states.
    pub states: u64,
    /// Successors of all expanded states, with repetitions.
    pub transitions: u64,
    /// Levels of the breadth-first order that have states.
    pub levels: u64,
    /// The most memory that was in use, as the operating system counts it where it tells. The only
    /// number here that differs from run to run.
    pub peak_memory_bytes: u64,
}

/// Something that the space reported, with a shortest way to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The kind that was reported.
    pub kind: u64,
    /// From an initial row (with the label it was pushed with) to the reported one.
    pub path: Path,
    /// The label of the faulty step from the last row of the path, if [`Successors::report_step`] was
    /// used.
    ///
    /// [`Successors::report_step`]: crate::Successors::report_step
    pub step: Option<u64>,
}

/// What came out of a walk.
pub struct Outcome {
    /// Every reachable state was expanded.
    pub complete: bool,
    /// The limit that ended the walk early. A walk that [stops at the first finding](Walk::stop_at_first)
    /// may be incomplete without having hit a limit.
    pub stopped: Option<Reason>,
    /// How much there was to walk.
    pub stats: Stats,
    /// The best finding of every kind that was reported: one on the smallest level, a wrong state before
    /// a wrong step, then the smallest row by [`Space::compare`], then the smallest label. Sorted by
    /// level and kind.
    pub findings: Vec<Finding>,
    /// All states that were found.
    pub states: States,
}

/// Is told how far a walk is.
pub(crate) type Callback<'a> = Box<dyn FnMut(&Progress) + 'a>;

/// A breadth-first walk over everything that a [`Space`] can reach.
pub struct Walk<'a> {
    space: AnySpace<'a>,
    jobs: usize,
    limits: Limits<'a>,
    progress: Option<Callback<'a>>,
    stop_at_first: bool,
    keeper: Option<&'a mut dyn Keeper>,
    kept: Option<&'a mut dyn Read>,
    parts: Vec<Box<dyn Read + Send>>,
}

impl<'a> Walk<'a> {
    /// A walk with one thread and without limits.
    pub fn new<S: Space>(space: &'a S) -> Self {
        Walk {
            space: AnySpace::new(space),
            jobs: 1,
            limits: Limits::default(),
            progress: None,
            stop_at_first: false,
            keeper: None,
            kept: None,
            parts: Vec::new(),
        }
    }

    /// Walks with this many threads; 0 means as many as the machine has for us. Everything but time and memory is the same for every number.
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.jobs = jobs;
        self
    }

    /// What the walk may use up.
    pub fn limits(mut self, limits: Limits<'a>) -> Self {
        self.limits = limits;
        self
    }

    /// Calls back a few times per second, from the thread that called [`Walk::run`].
    pub fn progress(mut self, callback: impl FnMut(&Progress) + 'a) -> Self {
        self.progress = Some(Box::new(callback));
        self
    }

    /// Whether to stop after the level whose expansion reported something for the first time. Otherwise the
    /// walk goes on and keeps the best finding of every kind.
    pub fn stop_at_first(mut self, stop: bool) -> Self {
        self.stop_at_first = stop;
        self
    }

    /// Has the walk written down now and then, to [go on](Walk::resume) with it another time.
    pub fn keeper(mut self, keeper: &'a mut dyn Keeper) -> Self {
        self.keeper = Some(keeper);
        self
    }

    /// Goes on with a walk that was written down. The space must be the same, and its numbers must mean the same. Where that turns out not to be so,
    /// or something is wrong with what was written, the walk stops ([`Reason::Damaged`]).
    ///
    /// What comes out is what would have come out without the break, whatever the number of threads before and after.
    pub fn resume(mut self, kept: &'a mut dyn Read) -> Self {
        self.kept = Some(kept);
        self
    }

    /// Goes on with a walk of several processes, each of which has written a part; numbers may mean something else now. All parts are needed, and any number of processes can
    /// go on.
    pub fn resume_parts(mut self, parts: Vec<Box<dyn Read + Send>>) -> Self {
        self.parts = parts;
        self
    }

    /// Walks.
    pub fn run(self) -> Outcome {
        let engine = Engine::new(self.space, self.jobs, &self.limits, self.stop_at_first);
        let mut reporter = Reporter::new(self.progress);
        reporter.keeper = self.keeper;
        reporter.kept = self.kept;
        reporter.parts = self.parts;
        let resumed = reporter.kept.is_some() || !reporter.parts.is_empty();
        let Walked {
            complete,
            mut stopped,
            mut stats,
            mut best,
            states,
            mut workers,
            spread,
        } = engine.run(&mut reporter);
        if let Some(spread) = &spread {
            let worker = workers.last_mut();
            spread.conclude(self.space, worker, &mut stats, &mut best, &mut stopped);
        }
        // Where a disk or another process has failed, states may be missing on the ways.
        let best = match stopped {
            Some(Reason::Disk | Reason::DiskFull | Reason::Hosts) => HashMap::new(),
            _ => best,
        };
        let findings = path::find(
            self.space,
            &mut workers,
            &states,
            best,
            self.limits.cancel,
            spread.as_ref(),
        );
        let mut findings = findings.unwrap_or_else(|reason| {
            stopped = Some(reason);
            Vec::new()
        });
        // Findings that were only read must be some.
        let is_one = |finding: &Finding| finding.is_found_in(self.space);
        if resumed && !findings.iter().all(is_one) {
            stopped = Some(Reason::Damaged);
            findings.clear();
        }
        if matches!(stopped, None | Some(Reason::States)) {
            states.release();
        }
        Outcome {
            complete: complete && stopped.is_none(),
            stopped,
            stats,
            findings,
            states,
        }
    }
}
