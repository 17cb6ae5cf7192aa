//! What a model has to say about itself so that it can be walked.

use crate::names::Names;
use crate::pack::{Layout, bits_of};
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

    /// A total order on rows by what they mean; only equal rows are equal.
    ///
    /// Component numbers may be assigned in the order of discovery, which differs between runs with
    /// several walking threads. So the numbers themselves must not decide; if they are fixed
    /// beforehand, `a.cmp(b)` is right.
    fn compare(&self, a: &[u32], b: &[u32]) -> Ordering;

    /// An order on the labels of steps from a row, by what they mean. The least of several labels is the one that is shown. If labels do not speak of components
    /// whose order depends on such numbers, `a.cmp(&b)` is right.
    fn compare_steps(&self, _row: &[u32], a: u64, b: u64) -> Ordering {
        a.cmp(&b)
    }

    /// Whether a step may lead from one row to another, as far as can be told without expanding. A way to a finding is found by expanding
    /// whole levels again, but for the rows from which no step can be on it.
    fn may_lead(&self, _from: &[u32], _to: &[u32]) -> bool {
        true
    }

    /// For each component, a number that its numbers are below. Rows of a walk that was written down are held against it, so that a space need not expand
    /// what it could not have made. `None` where any number means something.
    fn bounds(&self) -> Option<Vec<u32>> {
        None
    }

    /// What its numbers stand for, for other processes. Without that, each of several processes walks all of it.
    fn names(&self) -> Option<Box<dyn Names + '_>> {
        None
    }
}

/// Whether a row keeps to the bounds of its space.
pub(crate) fn is_within(row: &[u32], bounds: Option<&[u32]>) -> bool {
    bounds.is_none_or(|bounds| row.iter().zip(bounds).all(|(number, bound)| number < bound))
}

/// Where a [`Space`] puts the successors of a row and what is wrong with it.
pub struct Successors<'a> {
    row: &'a [u32],
    /// The expanded row, packed; and its key.
    base: &'a [u64],
    key: u64,
    layout: &'a Layout,
    out: &'a mut Emitted,
}

/// Calls `visit` with the label and the row of every successor of one row, without a walk.
pub fn for_each_successor<S: Space>(
    space: &S,
    worker: &mut S::Worker,
    row: &[u32],
    mut visit: impl FnMut(u64, &[u32]),
) {
    let mut emitted = Emitted::that_keeps();
    let layout = Layout::unused(row.len());
    let mut out = Successors::new(row, &[], 0, &layout, &mut emitted);
    space.expand(worker, row, &mut out);
    for (label, successor) in emitted
        .labels
        .iter()
        .zip(emitted.rows.chunks_exact(row.len()))
    {
        visit(*label, successor);
    }
}

/// What a space has reported.
pub(crate) struct Report {
    pub(crate) kind: u64,
    /// The label of the faulty step, if it is a step that is wrong.
    pub(crate) step: Option<u64>,
    /// The successor that is wrong, if it is not the expanded row.
    pub(crate) successor: Option<Box<[u32]>>,
}

/// What some expansions have produced: records of all of them, everything else of the last one. Belongs to a walking thread and is used again
/// and again.
#[derive(Default)]
pub(crate) struct Emitted {
    /// Records of successors: the key, then the words of the packed row. Only the first [`Emitted::used`]
    /// words are in use.
    records: Vec<u64>,
    used: usize,
    /// For every component the largest number that did not fit, or 0; empty if everything did fit. If
    /// not, the records are of no use.
    pub(crate) too_large: Vec<u32>,
    pub(crate) reports: Vec<Report>,
    /// Whether to keep labels and rows as they are, instead of packing.
    keep: bool,
    pub(crate) labels: Vec<u64>,
    pub(crate) rows: Vec<u32>,
}

impl Emitted {
    /// One that keeps labels and rows as they are.
    pub(crate) fn that_keeps() -> Emitted {
        Emitted {
            keep: true,
            ..Emitted::default()
        }
    }

    /// Forgets all records.
    pub(crate) fn clear(&mut self) {
        self.used = 0;
    }

    /// Where the next record begins.
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// Forgets the records from there on.
    pub(crate) fn truncate(&mut self, used: usize) {
        self.used = used;
    }

    /// Another row is expanded; its records come behind those that there are.
    fn begin(&mut self) {
        self.too_large.clear();
        self.reports.clear();
        self.labels.clear();
        self.rows.clear();
    }

    fn keep_patched(&mut self, label: u64, row: &[u32], changes: &[(usize, u32)]) {
        let start = self.rows.len();
        self.labels.push(label);
        self.rows.extend_from_slice(row);
        for &(component, number) in changes {
            self.rows[start..][component] = number;
        }
    }

    /// Records of key and words, one after the other.
    pub(crate) fn records(&self) -> &[u64] {
        &self.records[..self.used]
    }

    /// The same, to change them.
    pub(crate) fn records_mut(&mut self) -> &mut [u64] {
        &mut self.records[..self.used]
    }

    /// Room for one more record.
    #[inline(always)]
    fn record(&mut self, words: usize) -> (&mut u64, &mut [u64]) {
        let start = self.used;
        let end = start + 1 + words;
        if end > self.records.len() {
            self.grow(end);
        }
        self.used = end;
        let (key, words) = self.records[start..end].split_at_mut(1);
        (&mut key[0], words)
    }

    #[cold]
    fn grow(&mut self, end: usize) {
        self.records.resize(2 * end, 0);
    }

    #[cold]
    fn note_too_large(&mut self, width: usize, component: usize, number: u32) {
        self.too_large.resize(width, 0);
        let largest = &mut self.too_large[component];
        *largest = number.max(*largest);
    }
}

/// Patches a packed row `from` into `to`; none if a number does not fit. A step changes little: most of a row is compared, not packed.
#[inline]
fn patch_differences(
    layout: &Layout,
    from: &[u32],
    to: &[u32],
    words: &mut [u64],
    key: &mut u64,
) -> Option<()> {
    // So many are compared at once.
    const LANES: usize = 8;
    for (piece, (old, new)) in from.chunks(LANES).zip(to.chunks(LANES)).enumerate() {
        if old.iter().zip(new).fold(0, |d, (a, b)| d | (a ^ b)) == 0 {
            continue;
        }
        for (i, (old, new)) in old.iter().zip(new).enumerate() {
            if old != new {
                *key = layout.patch(words, *key, piece * LANES + i, *new)?;
            }
        }
    }
    Some(())
}

impl<'a> Successors<'a> {
    /// Successors of `row`, whose packed form is `base` and whose key is `key`; or initial rows, if both
    /// are empty.
    #[inline(always)]
    pub(crate) fn new(
        row: &'a [u32],
        base: &'a [u64],
        key: u64,
        layout: &'a Layout,
        out: &'a mut Emitted,
    ) -> Self {
        out.begin();
        Successors {
            row,
            base,
            key,
            layout,
            out,
        }
    }

    /// A step called `label` leads to `row`.
    ///
    /// # Panics
    /// If the length of `row` is not the width of the space.
    #[inline]
    pub fn push(&mut self, label: u64, row: &[u32]) {
        assert_eq!(
            row.len(),
            self.layout.width(),
            "rows of a space all have the same width"
        );
        if self.out.keep {
            self.out.labels.push(label);
            self.out.rows.extend_from_slice(row);
            return;
        }
        let (first, words) = self.out.record(self.layout.words());
        let fits = if self.base.is_empty() {
            words.fill(0);
            self.layout.pack(row, words).map(|key| *first = key)
        } else {
            words.copy_from_slice(self.base);
            *first = self.key;
            patch_differences(self.layout, self.row, row, words, first)
        };
        if fits.is_none() {
            for (component, (&number, bits)) in row.iter().zip(self.layout.bits()).enumerate() {
                if bits_of(number) > bits {
                    self.out.note_too_large(row.len(), component, number);
                }
            }
        }
    }

    /// A step called `label` leads to the expanded row with some components changed: pairs of component
    /// and new value. If a component is named twice, the last value counts.
    ///
    /// # Panics
    /// If there is no such component, or while the initial rows are pushed.
    #[inline(always)]
    pub fn patch(&mut self, label: u64, changes: &[(usize, u32)]) {
        // Where the changes are written down in the call, so is their number.
        match *changes {
            [one] => self.patch_one(label, one.0, one.1),
            [one, two] => self.patch_two(label, one.0, one.1, two.0, two.1),
            _ => self.patch_all(label, changes),
        }
    }

    // None of these is inlined: a space that does much else would keep its numbers on the stack because of it. Numbers one by one are
    // handed over in registers.
    #[inline(never)]
    fn patch_one(&mut self, label: u64, component: usize, number: u32) {
        self.patch_with(label, &[(component, number)]);
    }

    #[inline(never)]
    fn patch_two(&mut self, label: u64, one: usize, number: u32, two: usize, other: u32) {
        self.patch_with(label, &[(one, number), (two, other)]);
    }

    #[inline(never)]
    fn patch_all(&mut self, label: u64, changes: &[(usize, u32)]) {
        self.patch_with(label, changes);
    }

    #[inline(always)]
    fn patch_with(&mut self, label: u64, changes: &[(usize, u32)]) {
        // Where rows are kept as they are, there is no packed one.
        if self.base.len() != self.layout.words() {
            return self.keep_patched(label, changes);
        }
        // Most states have few words; where their number is known, copying them takes no loop.
        match self.base.len() {
            1 => self.patch_words::<1>(changes),
            2 => self.patch_words::<2>(changes),
            3 => self.patch_words::<3>(changes),
            _ => self.patch_words::<0>(changes),
        }
    }

    /// `W` is the number of words of a state, or 0 if it is not known when this is compiled.
    #[inline(always)]
    fn patch_words<const W: usize>(&mut self, changes: &[(usize, u32)]) {
        let words = if W == 0 { self.base.len() } else { W };
        let used = self.out.used;
        let Some(record) = self.out.records.get_mut(used..used + 1 + words) else {
            return self.patch_with_more_room(changes);
        };
        self.out.used = used + 1 + words;
        let (first, state) = record.split_at_mut(1);
        state.copy_from_slice(&self.base[..words]);
        let mut key = self.key;
        let mut fits = true;
        for &(component, number) in changes {
            match self.layout.patch(state, key, component, number) {
                Some(new) => key = new,
                None => fits = false,
            }
        }
        first[0] = key;
        if !fits {
            self.note_too_large(changes);
        }
    }

    #[cold]
    fn patch_with_more_room(&mut self, changes: &[(usize, u32)]) {
        self.out.grow(self.out.used + 1 + self.base.len());
        self.patch_words::<0>(changes);
    }

    #[cold]
    fn keep_patched(&mut self, label: u64, changes: &[(usize, u32)]) {
        assert_eq!(
            self.row.len(),
            self.layout.width(),
            "there is no row to patch"
        );
        self.out.keep_patched(label, self.row, changes);
    }

    #[cold]
    fn note_too_large(&mut self, changes: &[(usize, u32)]) {
        for &(component, number) in changes {
            if !self.layout.fits(component, number) {
                self.out.note_too_large(self.row.len(), component, number);
            }
        }
    }

    /// The expanded state itself is a finding of this kind.
    #[inline]
    pub fn report(&mut self, kind: u64) {
        self.out.reports.push(Report {
            kind,
            step: None,
            successor: None,
        });
    }

    /// A step called `label` leads to `row`, which is a finding of this kind. What comes out is the same as if it were only reported when
    /// it is expanded (which it should be, too: not every row is pushed by an expansion of this walk), but a walk that stops at the first finding
    /// does so a level earlier.
    pub fn push_found(&mut self, label: u64, row: &[u32], kind: u64) {
        self.push(label, row);
        self.found(row, kind);
    }

    /// A row that was pushed is a finding of this kind.
    pub(crate) fn found(&mut self, row: &[u32], kind: u64) {
        self.out.reports.push(Report {
            kind,
            step: None,
            successor: Some(row.into()),
        });
    }

    /// The step called `label` from the expanded state is a finding of this kind, for example a failed
    /// assertion. It needs no target; if it has one that is to be walked, push that as well.
    #[inline]
    pub fn report_step(&mut self, label: u64, kind: u64) {
        self.out.reports.push(Report {
            kind,
            step: Some(label),
            successor: None,
        });
    }
}
