//! Leads the search for attacks to ways from `st_A` to `ld_A` that are not known yet.

use palisade_lang::PointId;
use rustc_hash::FxHashMap;

/// Which ways of the attacker from `st_A` to `ld_A` are wanted. A way is the sequence of its accesses; steps in between do not count.
///
/// What a way has been so far is a number, its *history*, which stands in the row: the place in the tree of known ways (0 where none begins like
/// this), and the number of stores as far as it matters.
#[derive(Debug, Default)]
pub(crate) struct Guide {
    /// For each code and instruction what it counts as.
    keys: Vec<Vec<u32>>,
    /// For each code and point, whether an attacker must not stand there.
    closed: Vec<Vec<bool>>,
    /// The tree of known ways: from a node, by a key, to a node. The root of a code is its number plus one.
    edges: FxHashMap<(u32, u32), u32>,
    /// For each node whether a known way ends there.
    known: Vec<bool>,
    /// How many stores there must be at least.
    least_stores: u32,
}

impl Guide {
    /// A guide that knows no way yet.
    pub fn new(keys: Vec<Vec<u32>>, closed: Vec<Vec<bool>>, least_stores: u32) -> Self {
        Guide {
            known: vec![false; keys.len() + 1],
            keys,
            closed,
            edges: FxHashMap::default(),
            least_stores,
        }
    }

    /// Takes notice of a way, given as keys.
    pub fn learn(&mut self, code: usize, way: &[u32]) {
        let mut node = code as u32 + 1;
        for &key in way {
            let next = self.known.len() as u32;
            node = *self.edges.entry((node, key)).or_insert(next);
            if node == next {
                self.known.push(false);
            }
        }
        self.known[node as usize] = true;
    }

    /// The history of a way that begins with this store.
    pub fn begin(&self, code: usize, transition: u32) -> u32 {
        let root = (code as u32 + 1) * (self.least_stores + 1);
        self.go_on(root, code, transition, true)
    }

    /// The history after one more access.
    pub fn go_on(&self, history: u32, code: usize, transition: u32, is_store: bool) -> u32 {
        let (node, stores) = self.parts(history);
        let key = self.keys[code][transition as usize];
        let node = match node {
            0 => 0,
            _ => self.edges.get(&(node, key)).copied().unwrap_or(0),
        };
        let stores = (stores + u32::from(is_store)).min(self.least_stores);
        node * (self.least_stores + 1) + stores
    }

    /// Whether a way may end here, with the load just taken.
    pub fn may_end(&self, history: u32) -> bool {
        let (node, stores) = self.parts(history);
        stores >= self.least_stores && !self.known[node as usize]
    }

    /// Whether the attacker may stand at this point.
    pub fn may_pass(&self, code: usize, point: PointId) -> bool {
        !self.closed[code][point.index()]
    }

    /// A number that all histories are below.
    pub fn histories(&self) -> u32 {
        (self.known.len() as u32).saturating_mul(self.least_stores + 1)
    }

    fn parts(&self, history: u32) -> (u32, u32) {
        let base = self.least_stores + 1;
        (history / base, history % base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_way_is_not_taken_again_but_longer_and_shorter_ones_are() {
        let mut guide = Guide::new(vec![vec![0, 1, 2]], vec![vec![]], 0);
        guide.learn(0, &[0, 1]);
        let store = guide.begin(0, 0);
        let known = guide.go_on(store, 0, 1, false);
        assert!(!guide.may_end(known));
        assert!(guide.may_end(guide.go_on(known, 0, 1, false)));
        assert!(guide.may_end(guide.go_on(store, 0, 2, false)));
    }

    #[test]
    fn stores_are_counted_as_far_as_they_matter() {
        let guide = Guide::new(vec![vec![0, 1]], vec![vec![]], 2);
        let one = guide.begin(0, 0);
        assert!(!guide.may_end(guide.go_on(one, 0, 1, false)));
        let two = guide.go_on(one, 0, 0, true);
        assert!(guide.may_end(guide.go_on(two, 0, 1, false)));
        assert_eq!(guide.go_on(two, 0, 0, true), two);
    }
}
