//! A set of hashes that may contain more than was put into it, in little memory: what it does not contain is on no disk and need not be looked for there.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

pub(crate) struct Filter {
    words: Vec<AtomicU64>,
    /// Hashes that were put into it.
    len: AtomicU64,
}

impl Filter {
    /// A filter of at most so many bytes.
    pub(crate) fn new(bytes: usize) -> Filter {
        let words = (bytes / 8).clamp(64, u32::MAX as usize);
        Filter {
            words: (0..words).map(|_| AtomicU64::new(0)).collect(),
            len: AtomicU64::new(0),
        }
    }

    /// The word of a hash, and three bits in it.
    #[inline]
    fn place(&self, hash: u64) -> (&AtomicU64, u64) {
        // The highest bits of a hash choose the shard. As a number below 1, the next ones are multiplied with the number of words.
        let part = hash >> 18 & 0xffff_ffff;
        let word = ((part * self.words.len() as u64) >> 32) as usize;
        let bit = |shift: u32| 1_u64 << (hash >> shift & 63);
        (&self.words[word], bit(0) | bit(6) | bit(12))
    }

    pub(crate) fn insert(&self, hash: u64) {
        let (word, bits) = self.place(hash);
        word.fetch_or(bits, Relaxed);
    }

    /// So many were inserted.
    pub(crate) fn count(&self, more: u64) {
        self.len.fetch_add(more, Relaxed);
    }

    /// Whether asking is worth its while: a filter that is full contains everything.
    pub(crate) fn is_useful(&self) -> bool {
        self.len.load(Relaxed) < self.words.len() as u64 * 24
    }

    /// Whether the hash may have been inserted.
    pub(crate) fn may_contain(&self, hash: u64) -> bool {
        let (word, bits) = self.place(hash);
        word.load(Relaxed) & bits == bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::hash_of;

    #[test]
    fn what_was_inserted_is_contained() {
        let filter = Filter::new(1 << 12);
        assert_eq!(filter.words.len(), 1 << 9);
        (0..3000).for_each(|i| filter.insert(hash_of(i)));
        filter.count(3000);
        assert!(filter.is_useful());
        assert!((0..3000).all(|i| filter.may_contain(hash_of(i))));
        let wrong = (3000..13_000).filter(|&i| filter.may_contain(hash_of(i)));
        assert!(wrong.count() < 1000);
    }
}
