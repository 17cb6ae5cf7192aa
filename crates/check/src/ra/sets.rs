//! Bit sets: as values, and as pieces of a monitor.

/// A set of small numbers. It grows as needed.
#[derive(Clone, Debug)]
pub struct Set(Vec<u64>);

/// Sets are the same if they have the same members, however they have grown.
impl PartialEq for Set {
    fn eq(&self, other: &Set) -> bool {
        let words = self.0.len().max(other.0.len());
        let word = |set: &Set, at: usize| set.0.get(at).copied().unwrap_or(0);
        (0..words).all(|at| word(self, at) == word(other, at))
    }
}

/// How many words a set of numbers below `size` takes.
pub fn words(size: usize) -> usize {
    size.div_ceil(64).max(1)
}

impl Set {
    /// The empty set of numbers below `size`.
    pub fn empty(size: usize) -> Self {
        Set(vec![0; words(size)])
    }

    /// Whether the number is in the set.
    pub fn has(&self, number: usize) -> bool {
        number / 64 < self.0.len() && has(&self.0, number)
    }

    /// Adds a number.
    pub fn insert(&mut self, number: usize) {
        if number / 64 >= self.0.len() {
            self.0.resize(number / 64 + 1, 0);
        }
        insert(&mut self.0, number);
    }

    /// Takes a number out.
    pub fn remove(&mut self, number: usize) {
        if number / 64 < self.0.len() {
            remove(&mut self.0, number);
        }
    }

    /// The numbers in the set.
    pub fn members(&self) -> impl Iterator<Item = usize> + '_ {
        members(&self.0)
    }

    /// Adds all of another set; whether that changed anything.
    pub fn join(&mut self, other: &Set) -> bool {
        let mut changed = false;
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            changed |= *theirs & !*mine != 0;
            *mine |= theirs;
        }
        changed
    }
}

/// Whether the number is in the set.
#[inline]
pub fn has(set: &[u64], number: usize) -> bool {
    set[number / 64] >> (number % 64) & 1 == 1
}

/// Adds a number.
#[inline]
pub fn insert(set: &mut [u64], number: usize) {
    set[number / 64] |= 1 << (number % 64);
}

/// Removes a number.
#[inline]
pub fn remove(set: &mut [u64], number: usize) {
    set[number / 64] &= !(1 << (number % 64));
}

/// `a := a ∪ b`
#[inline]
pub fn unite(a: &mut [u64], b: &[u64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a |= b;
    }
}

/// `a := a ∩ b`
#[inline]
pub fn intersect(a: &mut [u64], b: &[u64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a &= b;
    }
}

/// `a := a ∖ b`
#[inline]
pub fn subtract(a: &mut [u64], b: &[u64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a &= !b;
    }
}

/// The numbers in a set, ascending.
pub fn members(set: &[u64]) -> impl Iterator<Item = usize> + '_ {
    set.iter().enumerate().flat_map(|(index, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            if rest == 0 {
                return None;
            }
            let bit = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            Some(index * 64 + bit)
        })
    })
}
