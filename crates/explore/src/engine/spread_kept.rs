//! Writing down a walk of several processes: each writes its part, and any number of processes goes on from all parts together.
//!
//! States are written level by level, and with them what their numbers stand for: whoever reads them has numbers of its own. Each process reads all parts and keeps what belongs to it.

use super::spread::{Away, Spread, StepsOf, pack_rows, translate, unpack_rows};
use super::{Engine, Walker};
use crate::best::{Best, keep_best};
use crate::kept::{Milestone, damaged, read_best, read_number, write_best, write_number};
use crate::levels::{Levels, SHARDS, Span};
use crate::names::{Names, Numbers};
use crate::space::is_within;
use crate::team::lock;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::sync::atomic::Ordering::Relaxed;

/// Is added to the width where what is written is a part.
const PART: u64 = 1 << 62;
/// States that are written at once.
const CHUNK: u32 = 4096;
/// No chunk has more words.
const LONGEST: u64 = 1 << 28;

/// A part that is being read.
struct Part<'r> {
    source: &'r mut dyn Read,
    /// For each table, our numbers in place of those that were written.
    ours: Vec<Vec<u32>>,
}

fn read_words(source: &mut dyn Read) -> Result<Vec<u64>> {
    let length = read_number(source)?;
    if length > LONGEST {
        return Err(damaged());
    }
    // One by one, because a wrong length must not ask for all memory at once.
    (0..length).map(|_| read_number(source)).collect()
}

fn write_words(out: &mut dyn Write, words: &[u64]) -> Result<()> {
    write_number(out, words.len() as u64)?;
    words.iter().try_for_each(|&word| write_number(out, word))
}

impl<'r> Part<'r> {
    /// Reads what numbers stand for.
    fn open(source: &'r mut dyn Read, width: usize, names: &dyn Names) -> Result<Part<'r>> {
        if read_number(source)? != width as u64 | PART {
            return Err(damaged());
        }
        for flag in names.noticed() {
            if read_number(source)? != 0 {
                flag.store(true, Relaxed);
            }
        }
        if read_number(source)? != names.tables() as u64 {
            return Err(damaged());
        }
        let mut ours = Vec::new();
        for table in 0..names.tables() {
            let mut numbers = Vec::new();
            for _ in 0..read_number(source)? {
                let meaning = read_words(source)?;
                let meaning: Vec<i64> = meaning.into_iter().map(|word| word as i64).collect();
                numbers.push(names.number(table, &meaning).ok_or_else(damaged)?);
            }
            ours.push(numbers);
        }
        Ok(Part { source, ours })
    }
}

impl Engine<'_> {
    /// Writes what this process has of the walk, as it stood at `milestone`.
    pub(super) fn write_part(
        &self,
        spread: &Spread<'_>,
        milestone: &Milestone,
        levels: &Levels,
        out: &mut dyn Write,
    ) -> Result<()> {
        let width = self.space.width();
        let names = spread.names();
        write_number(out, width as u64 | PART)?;
        for flag in names.noticed() {
            write_number(out, flag.load(Relaxed).into())?;
        }
        write_number(out, names.tables() as u64)?;
        let mut meaning = Vec::new();
        for table in 0..names.tables() {
            let count = names.count(table);
            write_number(out, count.into())?;
            for number in 0..count {
                meaning.clear();
                names.spell(table, number, &mut meaning);
                let words: Vec<u64> = meaning.iter().map(|&number| number as u64).collect();
                write_words(out, &words)?;
            }
        }
        write_number(out, milestone.transitions)?;
        write_best(out, &milestone.best)?;
        let levels = Levels::from_entries(levels.entries()[..milestone.entries].to_vec());
        write_number(out, levels.len())?;
        let mut now = 0;
        let mut words = Vec::new();
        let mut rows = Vec::new();
        let mut row = vec![0; width];
        for (level, span) in levels.forward() {
            while now < level {
                write_words(out, &[])?;
                now += 1;
            }
            let Span { shard, range } = span;
            let shard = lock(&self.shards[shard].0);
            let mut start = range.start;
            while start < range.end {
                let stop = range.end.min(start.saturating_add(CHUNK));
                shard.read(start..stop, &mut words);
                rows.clear();
                for state in words.chunks_exact(shard.layout().words()) {
                    shard.layout().unpack(state, &mut row);
                    rows.extend_from_slice(&row);
                }
                write_words(out, &pack_rows(&rows, width))?;
                start = stop;
            }
        }
        while now < levels.len() {
            write_words(out, &[])?;
            now += 1;
        }
        Ok(())
    }

    /// Puts the walk where it stood when the parts were written: what of it belongs to this process. On an error it stands at the beginning.
    pub(super) fn read_parts(
        &self,
        sources: &mut [Box<dyn Read + Send>],
        leader: &mut Walker<'_>,
    ) -> Result<(Levels, [u32; SHARDS])> {
        let read = self.try_to_read_parts(sources, leader);
        if read.is_err() {
            self.forget();
        }
        read
    }

    fn try_to_read_parts(
        &self,
        sources: &mut [Box<dyn Read + Send>],
        leader: &mut Walker<'_>,
    ) -> Result<(Levels, [u32; SHARDS])> {
        let width = self.space.width();
        let own;
        let names: &dyn Names = match &self.spread {
            Some(spread) => spread.names(),
            None => {
                own = self.space.names().ok_or_else(damaged)?;
                &*own
            }
        };
        let numbers: Vec<Numbers> = (0..width).map(|i| names.numbers(i)).collect();
        let mut parts = Vec::new();
        for source in sources.iter_mut() {
            parts.push(Part::open(source, width, names)?);
        }
        let bounds = self.space.bounds();
        let bounds = bounds.as_deref();
        let mut transitions = 0;
        let mut count = None;
        for part in &mut parts {
            transitions += read_number(part.source)?;
            let best = read_best(part.source, width, None)?;
            let mut labels = StepsOf::new(self.space, Some(&mut *leader.worker));
            for (kind, found) in best {
                let mut row = found.row;
                translate(&part.ours, &numbers, names, &mut row).map_err(|_| damaged())?;
                if !is_within(&row, bounds) {
                    return Err(damaged());
                }
                let new = Best {
                    step: found.step.map(|_| labels.least(&row, kind)),
                    row,
                    ..found
                };
                keep_best(&mut lock(&self.best), kind, new, self.space);
            }
            let levels = read_number(part.source)?;
            if *count.get_or_insert(levels) != levels || levels == 0 {
                return Err(damaged());
            }
        }
        let full = || Error::from(ErrorKind::OutOfMemory);
        let (mut levels, mut ends) = (Levels::default(), [0; SHARDS]);
        let mut spans = Vec::new();
        let mut away = Away::default();
        for _ in 0..count.ok_or_else(damaged)? {
            for part in &mut parts {
                loop {
                    let words = read_words(part.source)?;
                    if words.is_empty() {
                        break;
                    }
                    let mut wrong = false;
                    unpack_rows(&words, width, |row| {
                        wrong |= translate(&part.ours, &numbers, names, row).is_err()
                            || !is_within(row, bounds);
                        let spread = self.spread.as_ref();
                        if !wrong && spread.is_none_or(|spread| away.is_own(spread, row)) {
                            self.insert_row(&mut leader.sender, row);
                        }
                    })
                    .map_err(|_| damaged())?;
                    if wrong {
                        return Err(damaged());
                    }
                }
            }
            self.insert_rest(&mut leader.sender);
            self.collect(leader, &mut ends, &mut spans);
            self.add_level(&mut levels, &mut ends, &spans);
            if self.stopped().is_some() {
                return Err(full());
            }
        }
        let open: u64 = spans.iter().map(|span| span.range.len() as u64).sum();
        let states = self.states.load(Relaxed);
        self.expanded.store(states - open, Relaxed);
        let first = (self.spread.as_ref()).is_none_or(|spread| spread.process() == 0);
        self.transitions
            .store(if first { transitions } else { 0 }, Relaxed);
        Ok((levels, ends))
    }
}
