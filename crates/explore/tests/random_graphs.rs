//! The walk against a plain breadth-first search over random graphs: states, levels, transitions,
//! findings and the ways to them, for every number of threads.

use palisade_explore::{Disk, Limits, Outcome, Space, Successors, Walk};
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

/// Random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

struct Graph {
    initial: Vec<(u64, usize)>,
    /// For every node: label and target.
    edges: Vec<Vec<(u64, usize)>>,
    /// For every node: label of a step, if it is one, and kind.
    reports: Vec<Vec<(Option<u64>, u64)>>,
    /// What is wrong with a node is also said when it is pushed, as far as one kind goes.
    early: bool,
}

impl Graph {
    /// What is said of a node when it is pushed.
    fn found(&self, node: usize) -> Option<u64> {
        let mut kinds = self.reports[node].iter();
        let wrong = kinds.find(|(step, _)| step.is_none());
        wrong.filter(|_| self.early).map(|&(_, kind)| kind)
    }

    fn random(seed: u64) -> Graph {
        let random = &mut Random(seed);
        let size = [3, 30, 300, 5000][random.below(4)];
        let nodes = 1 + random.below(size);
        let degree = 1 + random.below(5);
        let local = random.below(2) == 0;
        let kinds = 1 + random.below(8) as u64;
        let rarity = 1 + random.below(nodes);
        let mut edges = Vec::new();
        let mut reports = Vec::new();
        for node in 0..nodes {
            let target = |random: &mut Random| {
                if local {
                    (node + random.below(20)) % nodes
                } else {
                    random.below(nodes)
                }
            };
            let count = random.below(degree + 1);
            edges.push(
                (0..count)
                    .map(|_| (random.next() % 4, target(random)))
                    .collect(),
            );
            let mut here = Vec::new();
            while random.below(rarity) == 0 && here.len() < 3 {
                let step = (random.below(2) == 0).then(|| random.next() % 3);
                here.push((step, random.next() % kinds));
            }
            reports.push(here);
        }
        let initial = (0..random.below(4)).map(|_| (random.next() % 3, random.below(nodes)));
        Graph {
            initial: initial.collect(),
            edges,
            reports,
            early: seed % 2 == 1,
        }
    }
}

/// A graph as a space. A node is a row of digits; the digits of every other component are numbered in
/// the order in which they are met, so that numbers mean something else in every run.
struct Rows<'a> {
    graph: &'a Graph,
    width: usize,
    base: usize,
    met: Mutex<(HashMap<usize, u32>, Vec<usize>)>,
}

impl Rows<'_> {
    fn new(graph: &Graph, width: usize) -> Rows<'_> {
        let mut base = 2;
        while base_power(base, width) < graph.edges.len() {
            base += 1;
        }
        Rows {
            graph,
            width,
            base,
            met: Mutex::default(),
        }
    }

    fn row(&self, mut node: usize) -> Vec<u32> {
        let mut met = self.met.lock().unwrap();
        let mut row = Vec::new();
        for component in 0..self.width {
            let digit = node % self.base;
            node /= self.base;
            row.push(if component % 2 == 0 {
                let (numbers, digits) = &mut *met;
                *numbers.entry(digit).or_insert_with(|| {
                    digits.push(digit);
                    digits.len() as u32 - 1
                })
            } else {
                // Large numbers now and then, to change the packing.
                (digit as u32).pow(2)
            });
        }
        row
    }

    fn node(&self, row: &[u32]) -> usize {
        let met = self.met.lock().unwrap();
        row.iter()
            .enumerate()
            .rev()
            .fold(0, |node, (component, &number)| {
                let digit = if component % 2 == 0 {
                    met.1[number as usize]
                } else {
                    (number as f64).sqrt().round() as usize
                };
                node * self.base + digit
            })
    }
}

fn base_power(base: usize, width: usize) -> usize {
    (0..width).fold(1_usize, |power, _| power.saturating_mul(base))
}

impl Space for Rows<'_> {
    type Worker = ();
    fn worker(&self) {}
    fn width(&self) -> usize {
        self.width
    }
    fn initial(&self, _: &mut (), out: &mut Successors<'_>) {
        for &(label, node) in &self.graph.initial {
            out.push(label, &self.row(node));
        }
    }
    fn expand(&self, _: &mut (), row: &[u32], out: &mut Successors<'_>) {
        let node = self.node(row);
        for &(label, target) in &self.graph.edges[node] {
            let found = self.graph.found(target);
            let target = self.row(target);
            if let Some(kind) = found {
                out.push_found(label, &target, kind);
            } else if label % 2 == 0 {
                out.push(label, &target);
            } else {
                let differ = (0..self.width).filter(|&i| row[i] != target[i]);
                out.patch(label, &differ.map(|i| (i, target[i])).collect::<Vec<_>>());
            }
        }
        for &(step, kind) in &self.graph.reports[node] {
            match step {
                Some(label) => out.report_step(label, kind),
                None => out.report(kind),
            }
        }
    }
    fn compare(&self, a: &[u32], b: &[u32]) -> Ordering {
        self.node(a).cmp(&self.node(b))
    }
}

/// A finding in terms of nodes: level, kind, labels and nodes of the path, label of the faulty step.
type Found = (usize, u64, Vec<(u64, usize)>, Option<u64>);

#[derive(Debug, PartialEq)]
struct Summary {
    complete: bool,
    states: u64,
    transitions: u64,
    levels: Vec<Vec<usize>>,
    findings: Vec<Found>,
}

fn expected(graph: &Graph, stop_at_first: bool) -> Summary {
    let mut level_of: BTreeMap<usize, usize> = BTreeMap::new();
    let mut levels: Vec<Vec<usize>> = Vec::new();
    let mut next: Vec<usize> = graph.initial.iter().map(|&(_, node)| node).collect();
    let mut transitions = 0;
    // (level, step?, node, label) for every kind.
    let mut best: BTreeMap<u64, (usize, bool, usize, Option<u64>)> = BTreeMap::new();
    let mut complete = true;
    loop {
        next.sort();
        next.dedup();
        next.retain(|node| !level_of.contains_key(node));
        if next.is_empty() {
            break;
        }
        let level = levels.len();
        next.iter().for_each(|&node| {
            level_of.insert(node, level);
        });
        levels.push(std::mem::take(&mut next));
        if stop_at_first && !best.is_empty() {
            complete = false;
            break;
        }
        for &node in &levels[level] {
            let mut report = |level, node, step: Option<u64>, kind| {
                let new = (level, step.is_some(), node, step);
                let old = best.entry(kind).or_insert(new);
                *old = new.min(*old);
            };
            for &(step, kind) in &graph.reports[node] {
                report(level, node, step, kind);
            }
            for &(_, target) in &graph.edges[node] {
                if let Some(kind) = graph.found(target) {
                    report(level + 1, target, None, kind);
                }
            }
            transitions += graph.edges[node].len() as u64;
            next.extend(graph.edges[node].iter().map(|&(_, target)| target));
        }
    }
    let mut findings = Vec::new();
    for (&kind, &(level, _, node, step)) in &best {
        let mut path = Vec::new();
        let mut node = node;
        for level in (0..level).rev() {
            let (from, label) = levels[level]
                .iter()
                .flat_map(|&from| graph.edges[from].iter().map(move |&edge| (from, edge)))
                .filter(|&(_, (_, target))| target == node)
                .map(|(from, (label, _))| (from, label))
                .min()
                .unwrap();
            path.push((label, node));
            node = from;
        }
        let labels = graph
            .initial
            .iter()
            .filter(|&&(_, initial)| initial == node);
        path.push((labels.map(|&(label, _)| label).min().unwrap(), node));
        path.reverse();
        findings.push((level, kind, path, step));
    }
    findings.sort();
    let states = level_of.len() as u64;
    Summary {
        complete,
        states,
        transitions,
        levels,
        findings,
    }
}

fn summary(rows: &Rows<'_>, outcome: &Outcome) -> Summary {
    let mut levels = vec![Vec::new(); outcome.stats.levels as usize];
    outcome
        .states
        .for_each(|level, row| {
            assert!(outcome.states.contains(row));
            levels[level as usize].push(rows.node(row));
        })
        .unwrap();
    levels.iter_mut().for_each(|level| level.sort());
    assert_eq!(outcome.states.len(), outcome.stats.states);
    assert_eq!(outcome.stopped, None);
    let mut unknown = vec![7; rows.width];
    unknown[0] = u32::MAX;
    assert!(!outcome.states.contains(&unknown));
    let findings = outcome.findings.iter().map(|finding| {
        let path: Vec<_> = finding
            .path
            .iter()
            .map(|step| (step.label, rows.node(step.row)))
            .collect();
        assert_eq!(
            finding.path.last().map(|step| rows.node(step.row)),
            path.last().map(|s| s.1)
        );
        (path.len() - 1, finding.kind, path, finding.step)
    });
    Summary {
        complete: outcome.complete,
        states: outcome.stats.states,
        transitions: outcome.stats.transitions,
        levels,
        findings: findings.collect(),
    }
}

#[test]
fn random_graphs() {
    for seed in 0..400 {
        let graph = Graph::random(seed);
        for stop_at_first in [false, true] {
            let expected = expected(&graph, stop_at_first);
            for (jobs, width) in [(1, 1), (1, 3), (2, 2), (2, 7), (4, 1), (4, 40)] {
                let rows = Rows::new(&graph, width);
                let outcome = Walk::new(&rows)
                    .jobs(jobs)
                    .stop_at_first(stop_at_first)
                    .run();
                let actual = summary(&rows, &outcome);
                assert_eq!(actual, expected, "seed {seed}, jobs {jobs}, width {width}");
            }
        }
    }
}

/// The same with memory for few states or none.
#[test]
fn random_graphs_on_disk() {
    let directory = tempfile::tempdir().unwrap();
    let mut on_disk = 0;
    for seed in 400..700 {
        let graph = Graph::random(seed);
        for stop_at_first in [false, true] {
            let expected = expected(&graph, stop_at_first);
            for (jobs, width, room) in [(1, 3, 16_000), (2, 1, 20_000), (3, 40, 60_000)] {
                let rows = Rows::new(&graph, width);
                let disk = Disk::new(directory.path()).with_room(room);
                let outcome = Walk::new(&rows)
                    .jobs(jobs)
                    .stop_at_first(stop_at_first)
                    .limits(Limits {
                        disk: Some(&disk),
                        ..Limits::default()
                    })
                    .run();
                on_disk += usize::from(outcome.states.disk_bytes() > 0);
                let actual = summary(&rows, &outcome);
                assert_eq!(actual, expected, "seed {seed}, jobs {jobs}, width {width}");
            }
        }
    }
    assert!(on_disk > 50, "{on_disk}");
    assert_eq!(directory.path().read_dir().unwrap().count(), 0);
}

/// Graphs that are large enough for several threads to be at work at once.
#[test]
fn larger_random_graphs() {
    let directory = tempfile::tempdir().unwrap();
    for seed in 0..4 {
        let random = &mut Random(1000 + seed);
        let nodes = 100_000;
        let kinds = [1, 3, 100, 100_000][seed as usize];
        let graph = Graph {
            initial: vec![(3, 5), (2, 5), (1, 77)],
            edges: (0..nodes)
                .map(|_| {
                    (0..random.below(5))
                        .map(|_| (random.next() % 4, random.below(nodes)))
                        .collect()
                })
                .collect(),
            reports: (0..nodes)
                .map(|_| match random.below(100) {
                    0 => vec![(None, random.next() % kinds)],
                    1 => vec![(Some(random.next() % 9), random.next() % kinds)],
                    _ => vec![],
                })
                .collect(),
            early: seed % 2 == 1,
        };
        for stop_at_first in [false, true] {
            let expected = expected(&graph, stop_at_first);
            for (jobs, width) in [(1, 2), (2, 3), (3, 1)] {
                let rows = Rows::new(&graph, width);
                let outcome = Walk::new(&rows)
                    .jobs(jobs)
                    .stop_at_first(stop_at_first)
                    .run();
                assert!(
                    summary(&rows, &outcome) == expected,
                    "seed {seed}, jobs {jobs}"
                );
            }
            for (jobs, width, room) in [(1, 2, 500_000), (2, 3, 300_000), (3, 1, 100_000)] {
                let rows = Rows::new(&graph, width);
                let disk = Disk::new(directory.path()).with_room(room);
                let limits = Limits {
                    disk: Some(&disk),
                    ..Limits::default()
                };
                let outcome = Walk::new(&rows)
                    .jobs(jobs)
                    .limits(limits)
                    .stop_at_first(stop_at_first)
                    .run();
                assert!(
                    summary(&rows, &outcome) == expected,
                    "seed {seed}, jobs {jobs}, room {room}"
                );
                assert!(stop_at_first || outcome.states.disk_bytes() > 0);
            }
        }
    }
}
