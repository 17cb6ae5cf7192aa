//! What a model has to say about itself so that it can be walked.

use std::cmp::Ordering;

/// A state space that can be walked.
///
/// Rows with the same numbers are the same state, so a space has to give equal things equal numbers (and
/// within one walk must never change what a number means). Numbers should be small and dense: a
/// component takes as many bits in every stored state as its largest number needs.
pub trait Space: Sync {
    /// Scratch memory and caches of one walking thread.
    type Worker: Send;

    /// A new worker; called once for every walking thread.
    fn worker(&self) -> Self::Worker;

    /// Number of components in a row (fixed).
    fn width(&self) -> usize;

    /// Pushes the initial rows; rows that occur more than once count once. Only [`Successors::push`]
    /// makes sense here (there is no row to patch; what is reported here is ignored).
    fn initial(&self, worker: &mut Self::Worker, out: &mut Successors<'_>);

    /// Pushes all successors of `row`, each with a label that says which step it was, and reports what
    /// is wrong in this state.
    ///
    /// Labels are not stored, they are recomputed for the rows on a path; and a row may be expanded
    /// again when the packing had to change. So the answer must depend on the row alone. Labels are
    /// used to break ties, so they must not depend on numbers assigned in the order of discovery.
    fn expand(&self, worker: &mut Self::Worker, row: &[u32], out: &mut Successors<'_>);

    /// A total order on rows by what they mean.
    ///
    /// Component numbers may be assigned in the order of discovery, which differs between runs with
    /// several walking threads. So the numbers themselves must not decide; if they are fixed
    /// beforehand, `a.cmp(b)` is right.
    fn compare(&self, a: &[u32], b: &[u32]) -> Ordering;
}

/// Where a [`Space`] puts the successors of a row and what is wrong with it.
pub struct Successors<'a> {
    row: &'a [u32],
    out: &'a mut Emitted,
}

/// What one expansion has produced.
#[derive(Default)]
pub(crate) struct Emitted {
    pub(crate) rows: Vec<u32>,
    pub(crate) labels: Vec<u64>,
    /// The label of the faulty step, if it is a step that is wrong; and the kind.
    pub(crate) reports: Vec<(Option<u64>, u64)>,
}

impl<'a> Successors<'a> {
    pub(crate) fn new(row: &'a [u32], out: &'a mut Emitted) -> Self {
        out.rows.clear();
        out.labels.clear();
        out.reports.clear();
        Successors { row, out }
    }

    /// A step called `label` leads to `row`.
    ///
    /// # Panics
    /// If the length of `row` is not the width of the space.
    #[inline]
    pub fn push(&mut self, label: u64, row: &[u32]) {
        self.out.rows.extend_from_slice(row);
        self.out.labels.push(label);
    }

    /// A step called `label` leads to the expanded row with some components changed: pairs of component
    /// and new value. If a component is named twice, the last value counts.
    #[inline]
    pub fn patch(&mut self, label: u64, changes: &[(usize, u32)]) {
        let start = self.out.rows.len();
        self.out.rows.extend_from_slice(self.row);
        for &(component, value) in changes {
            self.out.rows[start + component] = value;
        }
        self.out.labels.push(label);
    }

    /// The expanded state itself is a finding of this kind.
    #[inline]
    pub fn report(&mut self, kind: u64) {
        self.out.reports.push((None, kind));
    }

    /// The step called `label` from the expanded state is a finding of this kind, for example a failed
    /// assertion. It needs no target; if it has one that is to be walked, push that as well.
    #[inline]
    pub fn report_step(&mut self, label: u64, kind: u64) {
        self.out.reports.push((Some(label), kind));
    }
}
