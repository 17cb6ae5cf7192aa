//! The walk.

use crate::space::{Emitted, Space, Successors};
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// What a walk may use up. The default is no limit at all.
#[derive(Clone, Copy, Default, Debug)]
pub struct Limits<'a> {
    /// Stop when the walk has taken that long.
    pub timeout: Option<Duration>,
    /// Stop before the process has more than this many bytes of resident memory.
    pub memory: Option<u64>,
    /// Stop when somebody sets this.
    pub cancel: Option<&'a AtomicBool>,
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

/// One step of a path: its label and the row it leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The label that the space gave to the step.
    pub label: u64,
    /// The row that the step leads to.
    pub row: Box<[u32]>,
}

/// Something that the space reported, with a shortest way to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The kind that was reported.
    pub kind: u64,
    /// From an initial row (with the label it was pushed with) to the reported one.
    pub path: Vec<Step>,
    /// The label of the faulty step from the last row of the path, if [`Successors::report_step`] was
    /// used.
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

/// The stored states of a finished walk.
pub struct States {
    width: usize,
    rows: Vec<u32>,
    level_ends: Vec<usize>,
    index: HashMap<Box<[u32]>, usize>,
}

impl States {
    /// Number of stored states.
    pub fn len(&self) -> u64 {
        self.index.len() as u64
    }

    /// Whether no state is stored.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Whether this row was found.
    pub fn contains(&self, row: &[u32]) -> bool {
        self.index.contains_key(row)
    }

    /// Calls `visit` with level and row of every stored state, level by level. The order within a level
    /// is unspecified.
    pub fn for_each(&self, mut visit: impl FnMut(u64, &[u32])) {
        let mut start = 0;
        for (level, &end) in self.level_ends.iter().enumerate() {
            for i in start..end {
                visit(level as u64, &self.rows[i * self.width..][..self.width]);
            }
            start = end;
        }
    }
}

type Callback<'a> = Box<dyn FnMut(&Progress) + 'a>;

/// A breadth-first walk over everything that a [`Space`] can reach.
pub struct Walk<'a, S: Space> {
    space: &'a S,
    jobs: usize,
    limits: Limits<'a>,
    progress: Option<Callback<'a>>,
    stop_at_first: bool,
}

struct Best {
    level: usize,
    row: Box<[u32]>,
    step: Option<u64>,
}

impl<'a, S: Space> Walk<'a, S> {
    /// A walk with one thread and without limits.
    pub fn new(space: &'a S) -> Self {
        Walk {
            space,
            jobs: 1,
            limits: Limits::default(),
            progress: None,
            stop_at_first: false,
        }
    }

    /// Walks with this many threads. Everything but time and memory is the same for every number.
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.jobs = jobs.max(1);
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

    /// Whether to stop after the level in which something was reported for the first time. Otherwise the
    /// walk goes on and keeps the best finding of every kind.
    pub fn stop_at_first(mut self, stop: bool) -> Self {
        self.stop_at_first = stop;
        self
    }

    /// Walks.
    pub fn run(self) -> Outcome {
        let width = self.space.width();
        let start = Instant::now();
        let mut worker = self.space.worker();
        let mut emitted = Emitted::default();
        let mut states = States {
            width,
            rows: Vec::new(),
            level_ends: Vec::new(),
            index: HashMap::new(),
        };
        let mut best: BTreeMap<u64, Best> = BTreeMap::new();
        let mut stats = Stats::default();
        let mut stopped = None;

        self.space
            .initial(&mut worker, &mut Successors::new(&[], &mut emitted));
        let insert = |states: &mut States, rows: &[u32], count: usize| {
            for i in 0..count {
                let row = &rows[i * width..][..width];
                let next = states.index.len();
                if !states.index.contains_key(row) {
                    states.index.insert(row.into(), next);
                    states.rows.extend_from_slice(row);
                }
            }
        };
        insert(&mut states, &emitted.rows, emitted.labels.len());
        let mut from = 0;
        let mut complete = true;
        while from < states.index.len() {
            let to = states.index.len();
            let level = states.level_ends.len();
            states.level_ends.push(to);
            for i in from..to {
                if i % 1024 == 0 {
                    if self
                        .limits
                        .cancel
                        .is_some_and(|cancel| cancel.load(Relaxed))
                    {
                        stopped = Some(Reason::Cancelled);
                    } else if self
                        .limits
                        .timeout
                        .is_some_and(|limit| start.elapsed() >= limit)
                    {
                        stopped = Some(Reason::Timeout);
                    }
                }
                if stopped.is_some() {
                    break;
                }
                let row: Box<[u32]> = states.rows[i * width..][..width].into();
                self.space
                    .expand(&mut worker, &row, &mut Successors::new(&row, &mut emitted));
                stats.transitions += emitted.labels.len() as u64;
                for &(step, kind) in &emitted.reports {
                    let new = Best {
                        level,
                        row: row.clone(),
                        step,
                    };
                    match best.entry(kind) {
                        std::collections::btree_map::Entry::Vacant(entry) => {
                            entry.insert(new);
                        }
                        std::collections::btree_map::Entry::Occupied(mut entry) => {
                            if self.order(&new, entry.get()).is_lt() {
                                entry.insert(new);
                            }
                        }
                    }
                }
                insert(&mut states, &emitted.rows, emitted.labels.len());
            }
            from = to;
            if stopped.is_some() || self.stop_at_first && !best.is_empty() {
                complete = stopped.is_none() && from == states.index.len();
                if from < states.index.len() {
                    states.level_ends.push(states.index.len());
                }
                break;
            }
        }
        stats.states = states.len();
        stats.levels = states.level_ends.len() as u64;
        let mut findings: Vec<(usize, Finding)> = Vec::new();
        for (kind, best) in best {
            let path = self.path(&mut worker, &states, best.level, best.row);
            findings.push((
                best.level,
                Finding {
                    kind,
                    path,
                    step: best.step,
                },
            ));
        }
        findings.sort_by_key(|(level, finding)| (*level, finding.kind));
        let findings = findings.into_iter().map(|(_, finding)| finding).collect();
        Outcome {
            complete,
            stopped,
            stats,
            findings,
            states,
        }
    }

    fn order(&self, a: &Best, b: &Best) -> Ordering {
        (a.level, a.step.is_some())
            .cmp(&(b.level, b.step.is_some()))
            .then_with(|| self.space.compare(&a.row, &b.row))
            .then_with(|| a.step.cmp(&b.step))
    }

    /// Looks for predecessors level by level backwards.
    fn path(
        &self,
        worker: &mut S::Worker,
        states: &States,
        level: usize,
        row: Box<[u32]>,
    ) -> Vec<Step> {
        let width = states.width;
        let mut emitted = Emitted::default();
        let mut path = Vec::new();
        let mut target = row;
        for level in (0..level).rev() {
            let from = if level == 0 {
                0
            } else {
                states.level_ends[level - 1]
            };
            let mut best: Option<(&[u32], u64)> = None;
            for i in from..states.level_ends[level] {
                let row = &states.rows[i * width..][..width];
                if best.is_some_and(|(other, _)| self.space.compare(row, other).is_gt()) {
                    continue;
                }
                self.space
                    .expand(worker, row, &mut Successors::new(row, &mut emitted));
                let label = (0..emitted.labels.len())
                    .filter(|&j| emitted.rows[j * width..][..width] == *target)
                    .map(|j| emitted.labels[j])
                    .min();
                if let Some(label) = label {
                    best = Some((row, label));
                }
            }
            let Some((row, label)) = best else {
                unreachable!("a state without a predecessor")
            };
            path.push(Step { label, row: target });
            target = row.into();
        }
        self.space
            .initial(worker, &mut Successors::new(&[], &mut emitted));
        let label = (0..emitted.labels.len())
            .filter(|&j| emitted.rows[j * width..][..width] == *target)
            .map(|j| emitted.labels[j])
            .min();
        path.push(Step {
            label: label.unwrap_or_default(),
            row: target,
        });
        path.reverse();
        path
    }
}
