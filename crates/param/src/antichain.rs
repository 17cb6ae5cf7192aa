//! Upward-closed sets of states, as their minimal elements.
//!
//! An element is a shared part and a multiset of locals; it stands for all states with this shared part and at least these copies. Of two elements where
//! one stands for all that the other does, only that one is kept.

use rustc_hash::FxHashMap;

/// How many copies stand in each of some locals, sorted by local, no number 0.
pub(crate) type Multiset = Vec<(u32, u16)>;

/// Whether one multiset is contained in another.
pub(crate) fn is_within(smaller: &[(u32, u16)], greater: &[(u32, u16)]) -> bool {
    let mut rest = greater.iter();
    smaller.iter().all(|&(local, count)| {
        rest.find(|&&(other, _)| other >= local)
            .is_some_and(|&(other, many)| other == local && many >= count)
    })
}

/// Adds one copy.
pub(crate) fn add(copies: &mut Multiset, local: u32) {
    match copies.binary_search_by_key(&local, |c| c.0) {
        Ok(at) => copies[at].1 = copies[at].1.saturating_add(1),
        Err(at) => copies.insert(at, (local, 1)),
    }
}

/// Removes one copy, if there is one.
pub(crate) fn remove(copies: &mut Multiset, local: u32) {
    if let Ok(at) = copies.binary_search_by_key(&local, |c| c.0) {
        copies[at].1 -= 1;
        if copies[at].1 == 0 {
            copies.remove(at);
        }
    }
}

/// How many copies there are in all.
pub(crate) fn size(copies: &[(u32, u16)]) -> u32 {
    copies.iter().map(|c| u32::from(c.1)).sum()
}

/// An element.
#[derive(Debug)]
pub(crate) struct Element {
    pub shared: u32,
    pub copies: Box<[(u32, u16)]>,
    /// Not superseded by a smaller one.
    pub alive: bool,
}

/// What decides most comparisons of two multisets without looking at their elements.
#[derive(Clone, Copy, Debug)]
struct Summary {
    size: u32,
    /// A bit for each local, by its number modulo 64.
    locals: u64,
    element: u32,
}

impl Summary {
    fn new(copies: &[(u32, u16)], element: u32) -> Self {
        Summary {
            size: size(copies),
            locals: copies.iter().fold(0, |bits, c| bits | 1 << (c.0 % 64)),
            element,
        }
    }

    fn may_be_within(self, greater: Summary) -> bool {
        self.size <= greater.size && self.locals & !greater.locals == 0
    }
}

/// The minimal elements of an upward-closed set, grouped by shared part.
#[derive(Debug, Default)]
pub(crate) struct Antichain {
    elements: Vec<Element>,
    by_shared: FxHashMap<u32, Vec<Summary>>,
}

impl Antichain {
    /// Whether a state is in the set.
    pub fn contains(&self, shared: u32, copies: &[(u32, u16)]) -> bool {
        let summary = Summary::new(copies, 0);
        self.by_shared.get(&shared).is_some_and(|known| {
            known.iter().any(|&smaller| {
                smaller.may_be_within(summary)
                    && is_within(&self.elements[smaller.element as usize].copies, copies)
            })
        })
    }

    /// Adds an element, unless the set contains it already. Its number, and how many others it supersedes.
    pub fn insert(&mut self, shared: u32, copies: Multiset) -> Option<u32> {
        if self.contains(shared, &copies) {
            return None;
        }
        let number = self.elements.len() as u32;
        let summary = Summary::new(&copies, number);
        let elements = &mut self.elements;
        let known = self.by_shared.entry(shared).or_default();
        known.retain(|&greater| {
            let element = &mut elements[greater.element as usize];
            element.alive =
                !(summary.may_be_within(greater) && is_within(&copies, &element.copies));
            element.alive
        });
        known.push(summary);
        elements.push(Element {
            shared,
            copies: copies.into(),
            alive: true,
        });
        Some(number)
    }

    pub fn get(&self, number: u32) -> &Element {
        &self.elements[number as usize]
    }

    /// How many elements were ever added.
    pub fn added(&self) -> usize {
        self.elements.len()
    }

    /// The minimal elements.
    pub fn minimal(&self) -> impl Iterator<Item = &Element> {
        self.elements.iter().filter(|e| e.alive)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random_multiset(seed: &mut u64) -> Multiset {
        let mut copies = Vec::new();
        for _ in 0..4 {
            *seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let number = (*seed >> 33) as u32;
            if !number.is_multiple_of(3) {
                // Locals that share a bit of a summary are among them.
                add(&mut copies, [0, 1, 64, 65, 130][number as usize % 5]);
            }
        }
        copies
    }

    #[test]
    fn inclusion_of_multisets() {
        assert!(is_within(&[], &[]));
        assert!(is_within(&[(1, 1)], &[(0, 1), (1, 2)]));
        assert!(!is_within(&[(1, 3)], &[(0, 1), (1, 2)]));
        assert!(!is_within(&[(2, 1)], &[(0, 1), (1, 2)]));
        assert!(!is_within(&[(0, 1), (65, 1)], &[(0, 1), (1, 1)]));
        let mut copies = vec![(4, 1)];
        add(&mut copies, 2);
        add(&mut copies, 4);
        assert_eq!(copies, [(2, 1), (4, 2)]);
        remove(&mut copies, 4);
        remove(&mut copies, 2);
        remove(&mut copies, 7);
        assert_eq!(copies, [(4, 1)]);
    }

    /// Whatever is added in whatever order, the set is the union of what was added, and no minimal element is within another.
    #[test]
    fn an_antichain_is_the_union_of_what_was_added() {
        let mut seed = 1;
        for _ in 0..200 {
            let mut antichain = Antichain::default();
            let mut added: Vec<(u32, Multiset)> = Vec::new();
            for _ in 0..30 {
                let (shared, copies) = (seed as u32 % 2, random_multiset(&mut seed));
                let new = !added
                    .iter()
                    .any(|(s, smaller)| *s == shared && is_within(smaller, &copies));
                assert_eq!(antichain.insert(shared, copies.clone()).is_some(), new);
                added.push((shared, copies));
            }
            for _ in 0..30 {
                let (shared, copies) = (seed as u32 % 2, random_multiset(&mut seed));
                let expected = added
                    .iter()
                    .any(|(s, smaller)| *s == shared && is_within(smaller, &copies));
                assert_eq!(antichain.contains(shared, &copies), expected);
            }
            let minimal: Vec<&Element> = antichain.minimal().collect();
            for (at, one) in minimal.iter().enumerate() {
                for (other_at, other) in minimal.iter().enumerate() {
                    assert!(
                        at == other_at
                            || one.shared != other.shared
                            || !is_within(&one.copies, &other.copies)
                    );
                }
            }
        }
    }
}
