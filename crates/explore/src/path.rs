//! The way to a finding. Parents are not stored: a predecessor is looked for among all the states of the
//! level before, then its predecessor, and so on. Of several predecessors the least one by
//! [`Space::compare`] is taken, so that the way does not depend on how many threads have walked.

use crate::any::{AnySpace, AnyWorker};
use crate::best::Best;
use crate::engine::Spread;
use crate::pack::Layout;
use crate::space::{Emitted, Report, Space, Successors, is_within};
use crate::states::{Piece, Reader, States};
use crate::walk::{Finding, Reason};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread::Builder;

/// A sequence of steps, from an initial row on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Path {
    width: usize,
    labels: Vec<u64>,
    /// The rows, one after the other: a path may be as long as there are states.
    rows: Vec<u32>,
}

/// One step of a [`Path`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step<'a> {
    /// The label that the space gave to the step.
    pub label: u64,
    /// The row that the step leads to.
    pub row: &'a [u32],
}

impl Path {
    /// A path of these labels, and of as many rows of this width.
    pub fn new(width: usize, labels: Vec<u64>, rows: Vec<u32>) -> Path {
        Path {
            width,
            labels,
            rows,
        }
    }

    /// Number of rows; never 0.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// The step with this number; number 0 leads to an initial row.
    pub fn get(&self, number: usize) -> Option<Step<'_>> {
        let label = *self.labels.get(number)?;
        Some(Step {
            label,
            row: &self.rows[number * self.width..(number + 1) * self.width],
        })
    }

    /// The step that leads to the last row.
    pub fn last(&self) -> Option<Step<'_>> {
        self.get(self.len().checked_sub(1)?)
    }

    /// All steps in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Step<'_>> + ExactSizeIterator + '_ {
        (0..self.len()).map(|number| Step {
            label: self.labels[number],
            row: &self.rows[number * self.width..(number + 1) * self.width],
        })
    }

    fn reverse(&mut self) {
        self.labels.reverse();
        if self.width > 0 {
            let len = self.labels.len();
            for i in 0..len / 2 {
                for component in 0..self.width {
                    self.rows.swap(
                        i * self.width + component,
                        (len - 1 - i) * self.width + component,
                    );
                }
            }
        }
    }
}

/// A level that is cut into as many pieces is searched by all workers.
const PIECES: usize = 16;

/// What one worker needs to search.
struct Searcher<'a, 's> {
    worker: &'a mut AnyWorker<'s>,
    emitted: Emitted,
    reader: Reader,
}

/// Finds the ways to all findings at once, in one sweep over the levels.
pub(crate) fn find(
    space: AnySpace<'_>,
    workers: &mut [AnyWorker<'_>],
    states: &States,
    best: HashMap<u64, Best>,
    cancel: Option<&AtomicBool>,
    spread: Option<&Spread<'_>>,
) -> Result<Vec<Finding>, Reason> {
    let width = states.width();
    let mut best: Vec<(u64, Best)> = best.into_iter().collect();
    best.sort_by_key(|(kind, best)| (best.level, *kind));
    let Some(deepest) = best.iter().map(|(_, best)| best.level).max() else {
        return Ok(Vec::new());
    };
    let mut searchers: Vec<Searcher<'_, '_>> = workers
        .iter_mut()
        .map(|worker| Searcher {
            worker,
            emitted: Emitted::that_keeps(),
            reader: Reader::new(width),
        })
        .collect();
    let layout = Layout::unused(width);
    let mut paths: Vec<Path> = best
        .iter()
        .map(|(_, best)| Path {
            width,
            labels: Vec::new(),
            rows: best.row.to_vec(),
        })
        .collect();
    let mut descent = states.descend();
    let unread = |_| Reason::Disk;
    // Levels above the deepest finding are of no use.
    for _ in deepest..states.levels() {
        descent.next(false).map_err(unread)?;
    }
    for level in (0..deepest).rev() {
        let pieces = descent.next(true).map_err(unread);
        // What a predecessor is sought for; several findings may share the rest of their ways.
        let mut targets: Targets = Vec::new();
        let mut numbers: BTreeMap<Box<[u32]>, usize> = BTreeMap::new();
        let mut wanted: Vec<(usize, usize)> = Vec::new();
        for (i, (_, best)) in best.iter().enumerate() {
            if best.level > level {
                let row = &paths[i].rows[paths[i].rows.len() - width..];
                let number = match numbers.get(row) {
                    Some(&number) => number,
                    None => {
                        numbers.insert(row.into(), targets.len());
                        targets.push(row.into());
                        targets.len() - 1
                    }
                };
                wanted.push((i, number));
            }
        }
        let found = pieces.and_then(|pieces| {
            search(
                space,
                &mut searchers,
                &layout,
                states,
                &pieces,
                &targets,
                cancel,
            )
        });
        let found = match (spread, searchers.first_mut()) {
            (Some(spread), Some(searcher)) => {
                spread.best_steps(space, searcher.worker, &targets, found)?
            }
            _ => found?,
        };
        for (path, target) in wanted {
            let Some((row, label)) = &found[target] else {
                // Every state has one that was found by walking, but a state that was only read may have none.
                return Err(Reason::Damaged);
            };
            paths[path].labels.push(*label);
            paths[path].rows.extend_from_slice(row);
        }
    }
    let Some(searcher) = searchers.first_mut() else {
        return Ok(Vec::new());
    };
    let mut out = Successors::new(&[], &[], 0, &layout, &mut searcher.emitted);
    searcher.worker.initial(&mut out);
    let mut findings = Vec::new();
    for ((kind, best), mut path) in best.into_iter().zip(paths) {
        let first = &path.rows[path.rows.len() - width..];
        path.labels
            .push(label_to(space, &[], &searcher.emitted, first).unwrap_or_default());
        path.reverse();
        findings.push(Finding {
            kind,
            path,
            step: best.step,
        });
    }
    Ok(findings)
}

impl Finding {
    /// Whether the space leads there and finds it there: each step is one of the row before it, and the last row is reported.
    pub fn is_of<S: Space>(&self, space: &S) -> bool {
        self.is_found_in(AnySpace::new(space))
    }

    pub(crate) fn is_found_in(&self, space: AnySpace<'_>) -> bool {
        let mut worker = space.worker();
        let bounds = space.bounds();
        let mut emitted = Emitted::that_keeps();
        let layout = Layout::unused(space.width());
        let mut out = Successors::new(&[], &[], 0, &layout, &mut emitted);
        worker.initial(&mut out);
        for step in self.path.iter() {
            let width = step.row.len();
            let leads = |i: usize| {
                emitted.labels[i] == step.label
                    && emitted.rows[i * width..(i + 1) * width] == *step.row
            };
            if !is_within(step.row, bounds.as_deref()) || !(0..emitted.labels.len()).any(leads) {
                return false;
            }
            let mut out = Successors::new(step.row, &[], 0, &layout, &mut emitted);
            worker.expand(step.row, &mut out);
        }
        let is_it = |report: &Report| (report.kind, report.step) == (self.kind, self.step);
        self.path.len() > 0 && emitted.reports.iter().any(is_it)
    }
}

pub(crate) type Targets = Vec<Box<[u32]>>;

/// For every target the best predecessor so far and the label of the step.
pub(crate) type Found = Vec<Option<(Box<[u32]>, u64)>>;

/// The least label of a step from `row` to `target`, of those that were emitted.
fn label_to(space: AnySpace<'_>, row: &[u32], emitted: &Emitted, target: &[u32]) -> Option<u64> {
    let width = target.len();
    (0..emitted.labels.len())
        .filter(|&i| emitted.rows[i * width..(i + 1) * width] == *target)
        .map(|i| emitted.labels[i])
        .min_by(|&a, &b| match row {
            [] => a.cmp(&b),
            row => space.compare_steps(row, a, b),
        })
}

/// The least label of a step from one row to another.
pub(crate) fn step_to(
    space: AnySpace<'_>,
    worker: &mut AnyWorker<'_>,
    row: &[u32],
    target: &[u32],
) -> Option<u64> {
    let mut emitted = Emitted::that_keeps();
    let layout = Layout::unused(row.len());
    let mut out = Successors::new(row, &[], 0, &layout, &mut emitted);
    worker.expand(row, &mut out);
    label_to(space, row, &emitted, target)
}

/// Looks for the best predecessors of all targets among the states of `pieces`.
fn search(
    space: AnySpace<'_>,
    searchers: &mut [Searcher<'_, '_>],
    layout: &Layout,
    states: &States,
    pieces: &[Piece],
    targets: &Targets,
    cancel: Option<&AtomicBool>,
) -> Result<Found, Reason> {
    let cursor = AtomicUsize::new(0);
    let parallel = searchers.len() > 1 && pieces.len() >= PIECES;
    let mut found = vec![None; targets.len()];
    if !parallel {
        let Some(searcher) = searchers.first_mut() else {
            return Ok(found);
        };
        search_part(
            space, searcher, layout, states, pieces, &cursor, targets, &mut found, cancel,
        )?;
        return Ok(found);
    }
    let results: Vec<Result<Found, Reason>> = std::thread::scope(|scope| {
        let cursor = &cursor;
        let search = move |searcher: &mut Searcher<'_, '_>| {
            let mut found = vec![None; targets.len()];
            search_part(
                space, searcher, layout, states, pieces, cursor, targets, &mut found, cancel,
            )?;
            Ok(found)
        };
        let mut searchers = searchers.iter_mut();
        let own = searchers.next();
        // Where the machine has no thread for us, the others do it all.
        let threads: Vec<_> = searchers
            .filter_map(|searcher| {
                let thread = Builder::new().spawn_scoped(scope, move || search(searcher));
                thread.ok()
            })
            .collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Result<Found, Reason>>| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let own = own.map(search);
        own.into_iter()
            .chain(threads.into_iter().map(join))
            .collect()
    });
    for result in results {
        for (best, new) in found.iter_mut().zip(result?) {
            let Some((row, label)) = new else { continue };
            if best
                .as_ref()
                .is_none_or(|(other, _)| space.compare(&row, other).is_lt())
            {
                *best = Some((row, label));
            }
        }
    }
    Ok(found)
}

#[allow(clippy::too_many_arguments)]
fn search_part(
    space: AnySpace<'_>,
    searcher: &mut Searcher<'_, '_>,
    layout: &Layout,
    states: &States,
    pieces: &[Piece],
    cursor: &AtomicUsize,
    targets: &Targets,
    found: &mut Found,
    cancel: Option<&AtomicBool>,
) -> Result<(), Reason> {
    let Searcher {
        worker,
        emitted,
        reader,
    } = searcher;
    let width = states.width();
    // With a few targets it is faster to compare with each.
    let index: HashMap<&[u32], usize> = if targets.len() > 4 {
        targets
            .iter()
            .enumerate()
            .map(|(i, target)| (&target[..], i))
            .collect()
    } else {
        HashMap::new()
    };
    loop {
        let next = cursor.fetch_add(1, Relaxed);
        let Some(piece) = pieces.get(next) else {
            return Ok(());
        };
        if cancel.is_some_and(|cancel| cancel.load(Relaxed)) {
            return Err(Reason::Cancelled);
        }
        let read = reader.read(states, piece, |row| {
            let mut sought = targets.iter();
            if index.is_empty() && !sought.any(|target| space.may_lead(row, target)) {
                return;
            }
            // The only target has a predecessor that is better than this row would be.
            match &found[..] {
                [Some((best, _))] if space.compare(best, row).is_lt() => return,
                _ => {}
            }
            worker.expand(row, &mut Successors::new(row, &[], 0, layout, emitted));
            let mut check = |target: usize| {
                let better = |(best, _): &(Box<[u32]>, u64)| space.compare(row, best).is_lt();
                if found[target].as_ref().is_none_or(better)
                    && let Some(label) = label_to(space, row, emitted, &targets[target])
                {
                    found[target] = Some((row.into(), label));
                }
            };
            if index.is_empty() {
                (0..targets.len()).for_each(&mut check);
            } else if width > 0 {
                emitted
                    .rows
                    .chunks_exact(width)
                    .filter_map(|row| index.get(row))
                    .for_each(|&target| {
                        check(target);
                    });
            }
        });
        read.map_err(|_| Reason::Disk)?;
    }
}
