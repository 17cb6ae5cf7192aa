//! A space in which some rows stand for others: whatever a step leads to is replaced by what stands for it.

use crate::names::Names;
use crate::pack::Layout;
use crate::path::Path;
use crate::space::{Emitted, Space, Successors};
use crate::walk::Finding;
use std::cmp::Ordering;

/// Says which row stands for another one, and by which exchange it comes from it.
///
/// Exchanges must lead from steps to steps: if a step leads from a row to another, then one leads from the first row with something exchanged to the second with the same exchanged, and the same is
/// reported of both. Which row stands for others may depend on what numbers mean, but not on when they were given.
pub trait StandIns: Sync {
    /// Scratch memory and caches of one walking thread.
    type Worker: Send;

    /// A new worker.
    fn worker(&self) -> Self::Worker;

    /// The exchange that leads from a row to what stands for it: for each of the things that are exchanged the one whose place it gets.
    fn exchange_for(&self, worker: &mut Self::Worker, row: &[u32]) -> Vec<usize>;

    /// Exchanges things in a row.
    fn exchange(&self, worker: &mut Self::Worker, to: &[usize], row: &mut [u32]);

    /// The label of a step after an exchange.
    fn label(&self, to: &[usize], label: u64) -> u64;

    /// The kind of a finding after an exchange.
    fn kind(&self, to: &[usize], kind: u64) -> u64;

    /// Puts what stands for a row in its place.
    fn replace(&self, worker: &mut Self::Worker, row: &mut [u32]) {
        let to = self.exchange_for(worker, row);
        if to.iter().enumerate().any(|(one, &other)| one != other) {
            self.exchange(worker, &to, row);
        }
    }
}

/// First one exchange backwards, then another.
fn undo(to: &[usize], then: &[usize]) -> Vec<usize> {
    let mut result = vec![0; to.len()];
    for (one, &other) in to.iter().enumerate() {
        result[other] = then[one];
    }
    result
}

/// The space of the rows that stand for others.
pub struct Quotient<'a, S, C> {
    space: &'a S,
    stand_ins: &'a C,
}

/// What a walking thread needs for both.
pub struct QuotientWorker<S, C> {
    of_space: S,
    of_stand_ins: C,
    emitted: Emitted,
    layout: Layout,
}

impl<'a, S: Space, C: StandIns> Quotient<'a, S, C> {
    /// A space whose rows are replaced.
    pub fn new(space: &'a S, stand_ins: &'a C) -> Self {
        Quotient { space, stand_ins }
    }

    /// The space behind it.
    pub fn space(&self) -> &'a S {
        self.space
    }

    /// The same finding, with a way to it in the space behind, from one of its own initial rows. `None` if the way is none of this space.
    pub fn unfold(&self, finding: &Finding) -> Option<Finding> {
        let width = self.space.width();
        let mut worker = self.worker();
        let (mut labels, mut rows): (Vec<u64>, Vec<u32>) = Default::default();
        let mut here: &[u32] = &[];
        // From the rows of the way to those of the space behind.
        let mut back: Vec<usize> = Vec::new();
        for (number, step) in finding.path.iter().enumerate() {
            let emitted = &mut worker.emitted;
            let mut out = Successors::new(here, &[], 0, &worker.layout, emitted);
            match number {
                0 => self.space.initial(&mut worker.of_space, &mut out),
                _ => self.space.expand(&mut worker.of_space, here, &mut out),
            }
            // What the step leads to, before something else stood for it: the least of several.
            let mut best: Option<(&[u32], Vec<usize>)> = None;
            let mut replaced = vec![0; width];
            for (&label, row) in emitted.labels.iter().zip(emitted.rows.chunks_exact(width)) {
                if label != step.label {
                    continue;
                }
                let to = self.stand_ins.exchange_for(&mut worker.of_stand_ins, row);
                replaced.copy_from_slice(row);
                self.stand_ins
                    .exchange(&mut worker.of_stand_ins, &to, &mut replaced);
                let better = |best: &(&[u32], Vec<usize>)| self.space.compare(row, best.0).is_lt();
                if replaced == *step.row && best.as_ref().is_none_or(better) {
                    best = Some((row, to));
                }
            }
            let (row, to) = best?;
            if number == 0 {
                back = (0..to.len()).collect();
            }
            replaced.copy_from_slice(row);
            self.stand_ins
                .exchange(&mut worker.of_stand_ins, &back, &mut replaced);
            labels.push(self.stand_ins.label(&back, step.label));
            rows.extend_from_slice(&replaced);
            back = undo(&to, &back);
            here = step.row;
        }
        Some(Finding {
            kind: self.stand_ins.kind(&back, finding.kind),
            path: Path::new(width, labels, rows),
            step: finding.step.map(|step| self.stand_ins.label(&back, step)),
        })
    }
}

impl<S: Space, C: StandIns> Space for Quotient<'_, S, C> {
    type Worker = QuotientWorker<S::Worker, C::Worker>;

    fn worker(&self) -> Self::Worker {
        QuotientWorker {
            of_space: self.space.worker(),
            of_stand_ins: self.stand_ins.worker(),
            emitted: Emitted::that_keeps(),
            layout: Layout::unused(self.space.width()),
        }
    }

    fn width(&self) -> usize {
        self.space.width()
    }

    fn initial(&self, worker: &mut Self::Worker, out: &mut Successors<'_>) {
        let mut initial = Successors::new(&[], &[], 0, &worker.layout, &mut worker.emitted);
        self.space.initial(&mut worker.of_space, &mut initial);
        self.pass_on(worker, out);
    }

    fn expand(&self, worker: &mut Self::Worker, row: &[u32], out: &mut Successors<'_>) {
        let mut steps = Successors::new(row, &[], 0, &worker.layout, &mut worker.emitted);
        self.space.expand(&mut worker.of_space, row, &mut steps);
        self.pass_on(worker, out);
    }

    fn compare(&self, a: &[u32], b: &[u32]) -> Ordering {
        self.space.compare(a, b)
    }

    fn compare_steps(&self, row: &[u32], a: u64, b: u64) -> Ordering {
        self.space.compare_steps(row, a, b)
    }

    fn bounds(&self) -> Option<Vec<u32>> {
        self.space.bounds()
    }

    fn names(&self) -> Option<Box<dyn Names + '_>> {
        self.space.names()
    }
}

impl<S: Space, C: StandIns> Quotient<'_, S, C> {
    /// Hands over what the space behind has emitted, replaced.
    fn pass_on(&self, worker: &mut QuotientWorker<S::Worker, C::Worker>, out: &mut Successors<'_>) {
        let QuotientWorker {
            of_stand_ins,
            emitted,
            ..
        } = worker;
        let Emitted {
            labels,
            rows,
            reports,
            ..
        } = emitted;
        let width = self.space.width();
        for (&label, row) in labels.iter().zip(rows.chunks_exact_mut(width)) {
            self.stand_ins.replace(of_stand_ins, row);
            out.push(label, row);
        }
        for report in reports {
            match (&mut report.successor, report.step) {
                (Some(row), _) => {
                    self.stand_ins.replace(of_stand_ins, row);
                    out.found(row, report.kind);
                }
                (None, Some(label)) => out.report_step(label, report.kind),
                (None, None) => out.report(report.kind),
            }
        }
    }
}
