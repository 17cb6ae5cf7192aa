//! The states of a walk that is over.

use crate::disk::shelf::{self, Shelf, Windows};
use crate::levels::{Backward, Levels, SHARDS, Span, shard_of};
use crate::pack::hash_of;
use crate::shard::Shard;
use std::io::Result;

/// States that are unpacked at once.
const CHUNK: u32 = 256;

/// The stored states of a finished walk.
pub struct States {
    width: usize,
    shards: Vec<Shard>,
    levels: Levels,
    /// For every shard, how many states belong to a level.
    ends: [u32; SHARDS],
    /// The states on disk, if memory had no room for all.
    shelf: Option<Shelf>,
    /// The level of the first states in memory: all before it are on disk.
    base: u64,
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
            shelf: None,
            base: 0,
        }
    }

    /// The same states and those on disk, which are on the levels before `base`.
    pub(crate) fn with_shelf(mut self, shelf: Option<Shelf>, base: u64) -> States {
        self.shelf = shelf;
        self.base = base;
        self
    }

    /// Number of stored states.
    pub fn len(&self) -> u64 {
        let here: u64 = self.ends.iter().map(|&end| u64::from(end)).sum();
        here + self.shelf.as_ref().map_or(0, Shelf::len)
    }

    /// There is an answer: what is on disk is not kept for another walk to go on with.
    pub(crate) fn release(&self) {
        self.shelf.iter().for_each(Shelf::release);
    }

    /// Bytes on disk.
    pub fn disk_bytes(&self) -> u64 {
        self.shelf.as_ref().map_or(0, Shelf::bytes)
    }

    /// Whether no state is stored.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of components of every row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Bytes of memory that hold the states and the index over them.
    pub fn bytes(&self) -> u64 {
        let runs = self.shelf.as_ref().map_or(&[][..], Shelf::runs);
        let index: usize = runs.iter().map(|run| run.memory()).sum();
        self.shards.iter().map(Shard::memory).sum::<u64>()
            + self.levels.bytes() as u64
            + index as u64
    }

    /// Whether this row was found. (Where states are on disk, one that cannot be read there was not.)
    pub fn contains(&self, row: &[u32]) -> bool {
        // All shards are packed in the same way, unless memory ran out while that was being changed.
        // The hash is the same in any case.
        let Some(layout) = self.shards.first().map(Shard::layout) else {
            return false;
        };
        let key = layout.row_key(row);
        // Few states are all in the first shard.
        let together = self.shelf.is_none() && self.ends[1..].iter().all(|&end| end == 0);
        let shard = match together {
            true => &self.shards[0],
            false => &self.shards[shard_of(hash_of(key))],
        };
        let mut words = vec![0; shard.layout().words()];
        row.len() == self.width
            && shard.layout().pack(row, &mut words).is_some()
            && (shard.contains(hash_of(key), &words)
                || (self.shelf.iter()).any(|shelf| shelf.contains(shard_of(hash_of(key)), &words)))
    }

    /// Calls `visit` with level and row of every stored state, those in memory level by level. The order is unspecified otherwise. Fails if what is on disk cannot be read.
    pub fn for_each(&self, mut visit: impl FnMut(u64, &[u32])) -> Result<()> {
        let mut reader = Reader::new(self.width);
        if let Some(shelf) = &self.shelf {
            let mut row = vec![0; self.width];
            shelf.for_each(|run, level, state| {
                run.layout().unpack(state, &mut row);
                visit(level, &row);
            })?;
        }
        for (level, span) in self.levels.forward() {
            reader.read(self, &Piece::Here(span), |row| {
                visit(self.base + level, row)
            })?;
        }
        Ok(())
    }

    /// The levels from the last to the first.
    pub(crate) fn descend(&self) -> Descent<'_> {
        Descent {
            states: self,
            level: self.levels(),
            here: self.levels.backward(self.ends),
            windows: Windows::default(),
        }
    }

    /// Number of levels.
    pub(crate) fn levels(&self) -> u64 {
        self.base + self.levels.len()
    }
}

/// Some states of one level.
#[derive(Clone)]
pub(crate) enum Piece {
    /// In memory.
    Here(Span),
    /// On disk.
    There(shelf::Piece),
}

/// States that are searched at once.
const PIECE: u32 = 256;

/// The levels from the last to the first.
pub(crate) struct Descent<'a> {
    states: &'a States,
    /// The one that was told last.
    level: u64,
    here: Backward<'a>,
    windows: Windows,
}

impl Descent<'_> {
    /// Goes on to the next lower level. Its states, cut into pieces, if they are wanted.
    pub(crate) fn next(&mut self, wanted: bool) -> Result<Vec<Piece>> {
        let Some(level) = self.level.checked_sub(1) else {
            return Ok(Vec::new());
        };
        self.level = level;
        if level >= self.states.base {
            let mut spans = Vec::new();
            self.here.next(&mut spans);
            return Ok(spans.iter().flat_map(pieces).map(Piece::Here).collect());
        }
        match &self.states.shelf {
            Some(shelf) if wanted => {
                let pieces = shelf.level(level, &mut self.windows)?;
                Ok(pieces.into_iter().map(Piece::There).collect())
            }
            _ => Ok(Vec::new()),
        }
    }
}

/// Cuts a span.
fn pieces(span: &Span) -> impl Iterator<Item = Span> + use<> {
    let Span { shard, range } = span.clone();
    let starts = range.clone().step_by(PIECE as usize);
    starts.map(move |start| Span {
        shard,
        range: start..range.end.min(start.saturating_add(PIECE)),
    })
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

    /// Visits the states of a piece.
    pub(crate) fn read(
        &mut self,
        states: &States,
        piece: &Piece,
        mut visit: impl FnMut(&[u32]),
    ) -> Result<()> {
        let span = match piece {
            Piece::Here(span) => span,
            Piece::There(piece) => {
                return piece.for_each(|run, state| {
                    run.layout().unpack(state, &mut self.row);
                    visit(&self.row);
                });
            }
        };
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
        Ok(())
    }
}
