//! Relations over the events of a graph, as bit matrices.

use std::ops::BitOr;

/// Bits of a word.
const BITS: usize = u64::BITS as usize;

/// A set of events, by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set {
    words: Vec<u64>,
}

impl Set {
    /// The events from 0 to `size` for which `contains` says so.
    pub fn new(size: usize, contains: impl Fn(usize) -> bool) -> Self {
        let mut words = vec![0; size.div_ceil(BITS)];
        for event in (0..size).filter(|&event| contains(event)) {
            words[event / BITS] |= 1 << (event % BITS);
        }
        Set { words }
    }

    /// Whether an event is in it.
    pub fn contains(&self, event: usize) -> bool {
        self.words[event / BITS] >> (event % BITS) & 1 == 1
    }
}

/// A relation between events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    size: usize,
    /// Words of a row.
    width: usize,
    /// Row after row: bit `b` of row `a` is set if `a` is related to `b`.
    rows: Vec<u64>,
}

impl Relation {
    /// The relation between this many events in which nothing is related.
    pub fn empty(size: usize) -> Self {
        let width = size.div_ceil(BITS).max(1);
        Relation {
            size,
            width,
            rows: vec![0; size * width],
        }
    }

    /// `[set]`: each event of the set is related to itself.
    pub fn identity(size: usize, set: &Set) -> Self {
        let mut identity = Relation::empty(size);
        for event in (0..size).filter(|&event| set.contains(event)) {
            identity.add(event, event);
        }
        identity
    }

    /// Relates `a` to `b`.
    pub fn add(&mut self, a: usize, b: usize) {
        self.rows[a * self.width + b / BITS] |= 1 << (b % BITS);
    }

    /// Whether `a` is related to `b`.
    pub fn contains(&self, a: usize, b: usize) -> bool {
        self.rows[a * self.width + b / BITS] >> (b % BITS) & 1 == 1
    }

    /// All pairs.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.size).flat_map(|a| self.after(a).map(move |b| (a, b)))
    }

    /// What `a` is related to.
    pub fn after(&self, a: usize) -> impl Iterator<Item = usize> + '_ {
        ones(self.row(a))
    }

    fn row(&self, a: usize) -> &[u64] {
        &self.rows[a * self.width..(a + 1) * self.width]
    }

    /// `self ; next`
    pub fn then(&self, next: &Relation) -> Relation {
        let mut both = Relation::empty(self.size);
        for a in 0..self.size {
            for middle in self.after(a) {
                let to = &mut both.rows[a * self.width..(a + 1) * self.width];
                unite(to, next.row(middle));
            }
        }
        both
    }

    /// `self⁺`
    pub fn plus(&self) -> Relation {
        let mut closure = self.clone();
        let mut row = vec![0; self.width];
        for middle in 0..self.size {
            row.copy_from_slice(closure.row(middle));
            for a in (0..self.size).filter(|&a| a != middle) {
                if closure.contains(a, middle) {
                    unite(
                        &mut closure.rows[a * self.width..(a + 1) * self.width],
                        &row,
                    );
                }
            }
        }
        closure
    }

    /// `self?`
    pub fn maybe(mut self) -> Relation {
        for event in 0..self.size {
            self.add(event, event);
        }
        self
    }

    /// `self⁻¹`
    pub fn inverse(&self) -> Relation {
        let mut inverse = Relation::empty(self.size);
        for (a, b) in self.pairs() {
            inverse.add(b, a);
        }
        inverse
    }

    /// `[from] ; self`
    pub fn from(mut self, from: &Set) -> Relation {
        for a in (0..self.size).filter(|&a| !from.contains(a)) {
            self.rows[a * self.width..(a + 1) * self.width].fill(0);
        }
        self
    }

    /// `self ; [to]`
    pub fn to(mut self, to: &Set) -> Relation {
        for row in self.rows.chunks_exact_mut(self.width) {
            for (word, wanted) in row.iter_mut().zip(&to.words) {
                *word &= wanted;
            }
        }
        self
    }

    /// The pairs for which `keep` says so.
    pub fn filter(&self, keep: impl Fn(usize, usize) -> bool) -> Relation {
        let mut kept = Relation::empty(self.size);
        for (a, b) in self.pairs().filter(|&(a, b)| keep(a, b)) {
            kept.add(a, b);
        }
        kept
    }

    /// Whether no event is related to itself.
    pub fn is_irreflexive(&self) -> bool {
        (0..self.size).all(|event| !self.contains(event, event))
    }

    /// Whether it has no cycle.
    pub fn is_acyclic(&self) -> bool {
        self.plus().is_irreflexive()
    }
}

impl BitOr<&Relation> for Relation {
    type Output = Relation;

    fn bitor(mut self, other: &Relation) -> Relation {
        unite(&mut self.rows, &other.rows);
        self
    }
}

impl BitOr for Relation {
    type Output = Relation;

    fn bitor(self, other: Relation) -> Relation {
        self | &other
    }
}

impl BitOr for &Relation {
    type Output = Relation;

    fn bitor(self, other: &Relation) -> Relation {
        self.clone() | other
    }
}

fn unite(words: &mut [u64], others: &[u64]) {
    for (word, other) in words.iter_mut().zip(others) {
        *word |= other;
    }
}

/// The numbers of the bits that are set.
fn ones(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(index, &word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            (left != 0).then(|| {
                let bit = left.trailing_zeros() as usize;
                left &= left - 1;
                index * BITS + bit
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relation(size: usize, pairs: &[(usize, usize)]) -> Relation {
        let mut relation = Relation::empty(size);
        for &(a, b) in pairs {
            relation.add(a, b);
        }
        relation
    }

    #[test]
    fn algebra() {
        // Across the border of a word too.
        for offset in [0, 62, 200] {
            let size = offset + 4;
            let at = |pairs: &[(usize, usize)]| {
                let moved: Vec<_> = pairs
                    .iter()
                    .map(|(a, b)| (a + offset, b + offset))
                    .collect();
                relation(size, &moved)
            };
            let r = at(&[(0, 1), (1, 2), (2, 3)]);
            assert_eq!(r.then(&r), at(&[(0, 2), (1, 3)]));
            let closure = at(&[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
            assert_eq!(r.plus(), closure);
            assert_eq!(r.inverse(), at(&[(1, 0), (2, 1), (3, 2)]));
            assert!(r.is_acyclic() && !(&r | &at(&[(3, 0)])).is_acyclic());
            let ends = Set::new(size, |e| e == offset || e == offset + 3);
            assert_eq!(closure.clone().from(&ends).to(&ends), at(&[(0, 3)]));
            assert_eq!(
                Relation::identity(size, &ends).then(&r),
                at(&[(0, 1)]),
                "only what begins in the set"
            );
            assert!(r.clone().maybe().contains(offset + 3, offset + 3));
            assert_eq!(r.filter(|a, _| a == offset).pairs().count(), 1);
        }
    }
}
