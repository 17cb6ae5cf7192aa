//! Which states of which shard belong to which level of the breadth-first order.

use std::ops::Range;

/// Shards of a walk: a state belongs to the one that the top bits of its hash name.
///
/// With few shards, much is inserted at once also in levels of a few hundred states; with many, more threads can insert at the same time.
pub(crate) const SHARDS: usize = 1 << SHARD_BITS;
const SHARD_BITS: u32 = 4;

/// The shard of a state with this hash.
#[inline]
pub(crate) fn shard_of(hash: u64) -> usize {
    (hash >> (u64::BITS - SHARD_BITS)) as usize
}

/// Some states of one shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) shard: usize,
    pub(crate) range: Range<u32>,
}

/// The spans of every level, in very little memory: a walk may have as many levels as states.
///
/// An entry of 16 bits says that so many states of a shard come next: the number in the low 11 bits (many
/// states need many entries), the shard above, and at the top whether a new level starts. So the list
/// can be read in both directions.
#[derive(Default)]
pub(crate) struct Levels {
    entries: Vec<u16>,
    levels: u64,
}

const COUNT_BITS: u32 = u16::BITS - 1 - SHARD_BITS;
const MAX_COUNT: u32 = (1 << COUNT_BITS) - 1;
const FIRST: u16 = 1 << 15;

impl Levels {
    /// Number of levels.
    pub(crate) fn len(&self) -> u64 {
        self.levels
    }

    /// How the levels are stored.
    pub(crate) fn entries(&self) -> &[u16] {
        &self.entries
    }

    /// Levels from how they are stored.
    pub(crate) fn from_entries(entries: Vec<u16>) -> Levels {
        let levels = entries.iter().filter(|&entry| entry & FIRST != 0).count();
        Levels {
            levels: levels as u64,
            entries,
        }
    }

    /// The levels that have the first so many entries.
    pub(crate) fn first_entries(mut self, entries: usize) -> Levels {
        self.entries.truncate(entries);
        Levels::from_entries(self.entries)
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.entries.capacity() * 2
    }

    /// Adds a level. In each shard it starts where the previous one ended. Fails without memory.
    pub(crate) fn push(&mut self, spans: &[Span]) -> Result<(), std::collections::TryReserveError> {
        let need: usize = spans
            .iter()
            .map(|span| span.range.len() / MAX_COUNT as usize + 1)
            .sum();
        if self.entries.capacity() - self.entries.len() < need {
            self.entries
                .try_reserve_exact(need.max(self.entries.len() / 8).max(64))?;
        }
        let mut first = FIRST;
        for span in spans {
            let mut count = span.range.len() as u32;
            while count > 0 {
                let part = count.min(MAX_COUNT);
                self.entries
                    .push(first | ((span.shard as u16) << COUNT_BITS) | part as u16);
                first = 0;
                count -= part;
            }
        }
        self.levels += u64::from(first == 0);
        Ok(())
    }

    /// Adds a level that has no states here: another process has them all.
    pub(crate) fn push_empty(&mut self) -> Result<(), std::collections::TryReserveError> {
        self.entries.try_reserve(1)?;
        self.entries.push(FIRST);
        self.levels += 1;
        Ok(())
    }

    fn decode(entry: u16) -> (bool, usize, u32) {
        let shard = (entry & !FIRST) >> COUNT_BITS;
        (
            entry & FIRST != 0,
            usize::from(shard),
            u32::from(entry) & MAX_COUNT,
        )
    }

    /// All spans in order, each with its level.
    pub(crate) fn forward(&self) -> impl Iterator<Item = (u64, Span)> + '_ {
        let mut ends = [0; SHARDS];
        let mut level = 0;
        self.entries.iter().map(move |&entry| {
            let (first, shard, count) = Self::decode(entry);
            level += u64::from(first);
            let start: u32 = ends[shard];
            ends[shard] = start.saturating_add(count);
            (
                u64::saturating_sub(level, 1),
                Span {
                    shard,
                    range: start..ends[shard],
                },
            )
        })
    }

    /// Reads the levels from the last to the first. `ends` are the numbers of states of all shards.
    pub(crate) fn backward(&self, ends: [u32; SHARDS]) -> Backward<'_> {
        Backward {
            entries: &self.entries,
            ends,
        }
    }
}

/// See [`Levels::backward`].
pub(crate) struct Backward<'a> {
    entries: &'a [u16],
    ends: [u32; SHARDS],
}

impl Backward<'_> {
    /// Puts the spans of the next lower level into `spans`; none are left before level 0.
    pub(crate) fn next(&mut self, spans: &mut Vec<Span>) {
        spans.clear();
        while let Some((&entry, rest)) = self.entries.split_last() {
            self.entries = rest;
            let (first, shard, count) = Levels::decode(entry);
            let end = self.ends[shard];
            self.ends[shard] -= count;
            match spans.last_mut() {
                Some(span) if span.shard == shard => span.range.start = end - count,
                _ => spans.push(Span {
                    shard,
                    range: end - count..end,
                }),
            }
            if first {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_can_be_read_in_both_directions() {
        let sizes: &[&[(usize, u32)]] = &[
            &[(3, 1)],
            &[(15, 2)],
            &[(0, 5000), (3, 2047), (15, 2048)],
            &[(3, 1)],
            &[(0, 1)],
        ];
        let mut levels = Levels::default();
        let mut ends = [0; SHARDS];
        let mut expected = Vec::new();
        for level in sizes {
            let mut spans = Vec::new();
            for &(shard, count) in *level {
                spans.push(Span {
                    shard,
                    range: ends[shard]..ends[shard] + count,
                });
                ends[shard] += count;
            }
            levels.push(&spans).unwrap();
            expected.push(spans);
        }
        assert_eq!(levels.len(), 5);
        let mut backward = levels.backward(ends);
        let mut spans = Vec::new();
        for level in expected.iter().rev() {
            backward.next(&mut spans);
            spans.reverse();
            assert_eq!(&spans, level);
        }
        backward.next(&mut spans);
        assert!(spans.is_empty());
        let mut seen = vec![0; 5];
        for (level, span) in levels.forward() {
            let whole = expected[level as usize]
                .iter()
                .find(|whole| whole.shard == span.shard);
            let whole = &whole.unwrap().range;
            assert!(whole.start <= span.range.start && span.range.end <= whole.end);
            seen[level as usize] += span.range.len();
        }
        assert_eq!(seen, [1, 2, 9095, 1, 1]);
    }
}
