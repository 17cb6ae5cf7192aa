//! The states of a walk that is over.

use crate::levels::{Backward, Levels, SHARDS, Span, shard_of};
use crate::pack::hash_of;
use crate::shard::Shard;

/// States that are unpacked at once.
const CHUNK: u32 = 256;

/// The stored states of a finished walk.
pub struct States {
    width: usize,
    shards: Vec<Shard>,
    levels: Levels,
    /// For every shard, how many states belong to a level.
    ends: [u32; SHARDS],
}

impl States {
    pub(crate) fn new(
        width: usize,
        shards: Vec<Shard>,
        levels: Levels,
        ends: [u32; SHARDS],
    ) -> States {
        States {
            width,
            shards,
            levels,
            ends,
        }
    }

    /// Number of stored states.
    pub fn len(&self) -> u64 {
        self.ends.iter().map(|&end| u64::from(end)).sum()
    }

    /// Whether no state is stored.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of components of every row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Bytes that hold the states and the index over them.
    pub fn bytes(&self) -> u64 {
        self.shards.iter().map(Shard::memory).sum::<u64>() + self.levels.bytes() as u64
    }

    /// Whether this row was found.
    pub fn contains(&self, row: &[u32]) -> bool {
        // All shards are packed in the same way, unless memory ran out while that was being changed.
        // The hash is the same in any case.
        let Some(layout) = self.shards.first().map(Shard::layout) else {
            return false;
        };
        let key = layout.row_key(row);
        // Few states are all in the first shard.
        let shard = match self.ends[1..].iter().all(|&end| end == 0) {
            true => &self.shards[0],
            false => &self.shards[shard_of(hash_of(key))],
        };
        let mut words = vec![0; shard.layout().words()];
        row.len() == self.width
            && shard.layout().pack(row, &mut words).is_some()
            && shard.contains(hash_of(key), &words)
    }

    /// Calls `visit` with level and row of every stored state, level by level. The order within a level
    /// is unspecified.
    pub fn for_each(&self, mut visit: impl FnMut(u64, &[u32])) {
        let mut reader = Reader::new(self.width);
        for (level, span) in self.levels.forward() {
            reader.read(self, span, |row| visit(level, row));
        }
    }

    /// The levels from the last to the first.
    pub(crate) fn backward(&self) -> Backward<'_> {
        self.levels.backward(self.ends)
    }

    /// Number of levels.
    pub(crate) fn levels(&self) -> u64 {
        self.levels.len()
    }
}

/// Scratch memory to unpack states.
pub(crate) struct Reader {
    words: Vec<u64>,
    row: Vec<u32>,
}

impl Reader {
    pub(crate) fn new(width: usize) -> Reader {
        Reader {
            words: Vec::new(),
            row: vec![0; width],
        }
    }

    /// Visits the states of a span.
    pub(crate) fn read(&mut self, states: &States, span: Span, mut visit: impl FnMut(&[u32])) {
        let shard = &states.shards[span.shard];
        let layout = shard.layout();
        let mut start = span.range.start;
        while start < span.range.end {
            let end = span.range.end.min(start + CHUNK);
            shard.read(start..end, &mut self.words);
            for words in self.words.chunks_exact(layout.words()) {
                layout.unpack(words, &mut self.row);
                visit(&self.row);
            }
            start = end;
        }
    }
}
