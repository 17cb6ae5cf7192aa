//! A walk that is written down and goes on elsewhere comes to the same end.

use palisade_explore::{Disk, Keeper, Limits, Outcome, Reason, Space, Successors, Walk};
use std::cmp::Ordering;
use std::io::{Result, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// A pseudo-random graph: a row is a number below `size` in three digits.
struct Graph {
    size: u64,
    /// Expansions, and after how many of them the walk is stopped.
    expanded: AtomicU64,
    cancel_after: u64,
    cancel: AtomicBool,
}

impl Graph {
    fn new(size: u64) -> Graph {
        Graph {
            size,
            expanded: AtomicU64::new(0),
            cancel_after: u64::MAX,
            cancel: AtomicBool::new(false),
        }
    }
}

fn row(number: u64) -> [u32; 3] {
    [
        (number % 7) as u32,
        (number / 7 % 1000) as u32,
        (number / 7000) as u32,
    ]
}

impl Space for Graph {
    type Worker = ();
    fn worker(&self) {}
    fn width(&self) -> usize {
        3
    }
    fn initial(&self, _: &mut (), out: &mut Successors<'_>) {
        out.push(0, &row(0));
    }
    fn expand(&self, _: &mut (), from: &[u32], out: &mut Successors<'_>) {
        if self.expanded.fetch_add(1, Relaxed) >= self.cancel_after {
            self.cancel.store(true, Relaxed);
        }
        let number = u64::from(from[0]) + u64::from(from[1]) * 7 + u64::from(from[2]) * 7000;
        if number % 997 == 990 {
            out.report(number % 5);
        }
        for step in 1..=3 {
            let mixed = (number * 3 + step).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
            let near = number + mixed % (self.size / 20);
            out.push(step, &row(near % self.size));
        }
        if number % 500 == 77 {
            out.report_step(2, 100);
        }
    }
    fn compare(&self, a: &[u32], b: &[u32]) -> Ordering {
        a.cmp(b)
    }
}

/// Keeps every milestone.
#[derive(Default)]
struct All(Vec<Vec<u8>>);

impl Keeper for All {
    fn is_due(&mut self) -> bool {
        true
    }
    fn keep(&mut self, write: &mut dyn FnMut(&mut dyn Write) -> Result<()>) {
        let mut bytes = Vec::new();
        write(&mut bytes).unwrap();
        self.0.push(bytes);
    }
}

fn same(a: &Outcome, b: &Outcome) {
    let numbers = |o: &Outcome| (o.stats.states, o.stats.transitions, o.stats.levels);
    assert_eq!(numbers(a), numbers(b));
    assert_eq!((a.complete, a.stopped), (b.complete, b.stopped));
    assert_eq!(a.findings, b.findings);
    let sorted = |o: &Outcome| {
        let mut states = Vec::new();
        o.states
            .for_each(|level, row| states.push((level, row.to_vec())))
            .unwrap();
        states.sort();
        states
    };
    assert_eq!(sorted(a), sorted(b));
}

fn walk(graph: &Graph, stop_at_first: bool) -> Walk<'_> {
    Walk::new(graph).stop_at_first(stop_at_first)
}

#[test]
fn from_every_milestone_to_the_same_end() {
    for (size, stop_at_first) in [(50, false), (30_000, false), (30_000, true)] {
        let graph = Graph::new(size);
        let plain = walk(&graph, stop_at_first).run();
        for jobs in [1, 3] {
            let mut all = All::default();
            same(
                &plain,
                &walk(&graph, stop_at_first)
                    .jobs(jobs)
                    .keeper(&mut all)
                    .run(),
            );
            assert!(!all.0.is_empty());
            for kept in all.0.iter().step_by(3).chain(all.0.last()) {
                for jobs in [1, 3] {
                    let before = graph.expanded.load(Relaxed);
                    let outcome = walk(&graph, stop_at_first)
                        .jobs(jobs)
                        .resume(&mut &kept[..])
                        .run();
                    same(&plain, &outcome);
                    let again = graph.expanded.load(Relaxed) - before;
                    // It has really gone on, and not begun again (looking for paths expands as well).
                    if std::ptr::eq(kept, all.0.last().unwrap()) && !stop_at_first && size > 50 {
                        assert!(again < 3 * size, "{again}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_walk_that_is_stopped_in_the_middle_of_a_level_can_go_on() {
    let plain = Walk::new(&Graph::new(30_000)).run();
    for jobs in [1, 2] {
        let mut kept: Option<Vec<u8>> = None;
        let mut breaks = 0;
        loop {
            let mut graph = Graph::new(30_000);
            graph.cancel_after = 5000;
            let mut last = All::default();
            let mut source = kept.as_deref().unwrap_or_default();
            let mut walk = Walk::new(&graph)
                .jobs(jobs)
                .limits(Limits {
                    cancel: Some(&graph.cancel),
                    ..Limits::default()
                })
                .keeper(&mut last);
            if kept.is_some() {
                walk = walk.resume(&mut source);
            }
            let outcome = walk.run();
            if outcome.stopped != Some(Reason::Cancelled) {
                same(&plain, &outcome);
                break;
            }
            kept = last.0.pop();
            breaks += 1;
            assert!(breaks < 100, "it does not get anywhere");
        }
        assert!(breaks >= 2, "{breaks}");
    }
}

#[test]
fn what_is_damaged_is_not_gone_on_with() {
    let graph = Graph::new(3000);
    let mut all = All::default();
    Walk::new(&graph).keeper(&mut all).run();
    let good = all.0.last().unwrap();
    let is_noticed = |mut bytes: &[u8]| {
        let outcome = Walk::new(&graph).resume(&mut bytes).run();
        assert!(!outcome.complete && outcome.findings.is_empty());
        outcome.stopped == Some(Reason::Damaged)
    };
    for cut in [0, 7, 8, 100, good.len() / 2, good.len() - 1] {
        assert!(is_noticed(&good[..cut]));
    }
    // Another width.
    let mut other = good.clone();
    other[0] += 1;
    assert!(is_noticed(&other));
}

#[test]
fn outcomes_come_back_as_they_were() {
    let graph = Graph::new(3000);
    let outcome = Walk::new(&graph).run();
    assert!(!outcome.findings.is_empty());
    let mut bytes = Vec::new();
    outcome.write(&mut bytes).unwrap();
    let read = Outcome::read(&mut &bytes[..], 3).unwrap();
    assert_eq!(read.findings, outcome.findings);
    assert_eq!(read.stats, outcome.stats);
    assert!(read.states.is_empty() && !read.states.contains(&[0, 0, 0]));
    assert!(Outcome::read(&mut &bytes[..bytes.len() - 1], 3).is_err());
}

/// Keeps the last of some milestones: each one on disk takes its time.
#[derive(Default)]
struct Last {
    asked: usize,
    kept: Option<Vec<u8>>,
}

impl Keeper for Last {
    fn is_due(&mut self) -> bool {
        self.asked += 1;
        self.asked.is_multiple_of(16)
    }
    fn keep(&mut self, write: &mut dyn FnMut(&mut dyn Write) -> Result<()>) {
        let mut bytes = Vec::new();
        write(&mut bytes).unwrap();
        self.kept = Some(bytes);
    }
}

/// Breaks in every stage of a walk that is in memory at first and then on disk.
#[test]
fn a_walk_with_states_on_disk_can_go_on() {
    let plain = Walk::new(&Graph::new(30_000)).run();
    let directory = tempfile::tempdir().unwrap();
    for (jobs, room, cancel_after) in [(1, 200_000, 8000), (3, 100_000, 7000), (2, 60_000, 12_000)]
    {
        let disk = Disk::new(directory.path()).with_room(room);
        let mut kept: Option<Vec<u8>> = None;
        let mut breaks = 0;
        loop {
            let mut graph = Graph::new(30_000);
            // Looking for ways takes a part of it, too.
            graph.cancel_after = cancel_after + 500 * breaks;
            let mut last = Last::default();
            let mut source = kept.as_deref().unwrap_or_default();
            let mut walk = Walk::new(&graph)
                .jobs(jobs)
                .limits(Limits {
                    cancel: Some(&graph.cancel),
                    disk: Some(&disk),
                    ..Limits::default()
                })
                .keeper(&mut last);
            if kept.is_some() {
                walk = walk.resume(&mut source);
            }
            let outcome = walk.run();
            if outcome.stopped != Some(Reason::Cancelled) {
                assert!(outcome.states.disk_bytes() > 0);
                same(&plain, &outcome);
                break;
            }
            kept = last.kept.or(kept);
            breaks += 1;
            assert!(breaks < 60, "it does not get anywhere");
        }
        assert!(breaks >= 1, "{breaks}");
        assert_eq!(directory.path().read_dir().unwrap().count(), 0);
    }
}

#[test]
fn what_is_damaged_on_disk_is_not_gone_on_with() {
    let directory = tempfile::tempdir().unwrap();
    let disk = Disk::new(directory.path()).with_room(60_000);
    let mut graph = Graph::new(30_000);
    graph.cancel_after = 20_000;
    let mut all = Last::default();
    let limits = Limits {
        cancel: Some(&graph.cancel),
        disk: Some(&disk),
        ..Limits::default()
    };
    let stopped = Walk::new(&graph).limits(limits).keeper(&mut all).run();
    assert_eq!(stopped.stopped, Some(Reason::Cancelled));
    drop(stopped);
    let good = all.kept.unwrap();
    graph.cancel.store(false, Relaxed);
    graph.cancel_after = u64::MAX;
    let outcome_of = |mut bytes: &[u8]| Walk::new(&graph).resume(&mut bytes).run();
    for cut in [9, 30, 100, good.len() / 2, good.len() - 1] {
        assert_eq!(outcome_of(&good[..cut]).stopped, Some(Reason::Damaged));
    }
    let folder = directory.path().read_dir().unwrap().next().unwrap();
    let files = folder.unwrap().path().read_dir().unwrap();
    let run = files.map(|file| file.unwrap().path());
    let run = run.filter(|path| path.extension().is_some()).max().unwrap();
    let content = std::fs::read(&run).unwrap();
    let mut wrong = content.clone();
    wrong[content.len() / 2] ^= 4;
    std::fs::write(&run, wrong).unwrap();
    assert_eq!(outcome_of(&good).stopped, Some(Reason::Damaged));
    std::fs::write(&run, content).unwrap();
    same(&Walk::new(&graph).run(), &outcome_of(&good));
    // The walk was over: the files are gone, and the next one begins anew.
    assert_eq!(directory.path().read_dir().unwrap().count(), 0);
    same(&Walk::new(&graph).run(), &outcome_of(&good));
}
