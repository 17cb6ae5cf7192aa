//! A small memory of what was sent to the shards.

use crate::pack::Layout;
use std::sync::Arc;

/// Successors that a thread remembers having sent.
const RECENT: usize = 1 << 13;

/// Successors that were sent lately and need not be sent again. Most states are found several times, and
/// often soon after each other: two steps that do not depend on each other, in both orders.
#[derive(Default)]
pub(crate) struct Recent {
    /// How the records are packed.
    layout: Option<Arc<Layout>>,
    /// Records of hash and words, each at a place that follows from its hash.
    records: Vec<u64>,
}

impl Recent {
    /// Forgets everything if the packing has changed.
    pub(crate) fn fit(&mut self, layout: &Arc<Layout>) {
        if self
            .layout
            .as_ref()
            .is_some_and(|known| Arc::ptr_eq(known, layout))
        {
            return;
        }
        self.layout = Some(Arc::clone(layout));
        self.records.clear();
        // No state has only zeros in its record: a row of zeros has another hash.
        self.records.resize(RECENT * (layout.words() + 1), 0);
    }

    /// Where a record with this hash would be.
    #[inline]
    pub(crate) fn place(&self, hash: u64, stride: usize) -> &u64 {
        &self.records[(hash % RECENT as u64) as usize * stride]
    }

    /// Whether this record was sent lately; from now on, it was.
    #[inline]
    pub(crate) fn replace(&mut self, record: &[u64]) -> bool {
        let place = (record[0] % RECENT as u64) as usize * record.len();
        let known = &mut self.records[place..place + record.len()];
        if *known == *record {
            return true;
        }
        known.copy_from_slice(record);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::hash_of;

    #[test]
    fn only_what_was_sent_is_remembered() {
        let layout = Arc::new(Layout::new(&[20, 20, 20, 20]));
        let mut recent = Recent::default();
        recent.fit(&layout);
        // A row of zeros looks like an empty place, but for its hash.
        let zero = [hash_of(0), 0, 0];
        assert!(!recent.replace(&zero));
        assert!(recent.replace(&zero));
        // Another state with the same hash is another state.
        let other = [hash_of(0), 0, 1];
        assert!(!recent.replace(&other));
        assert!(recent.replace(&other));
        assert!(!recent.replace(&zero));
        recent.fit(&layout);
        assert!(recent.replace(&zero));
        // In another packing, the same words may be another state.
        recent.fit(&Arc::new(Layout::new(&[20, 20, 20, 21])));
        assert!(!recent.replace(&zero));
    }
}
