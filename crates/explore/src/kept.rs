//! Writing a walk down so that it can go on later, in another process.
//!
//! What is written is where the walk stood between two levels: all states in the order in which they were found, which of them
//! are on which level, the steps counted and the findings made up to there. States are only ever added behind others, so also a walk that was
//! stopped in the middle of a level can be written as it stood before that level.
//!
//! What the numbers in the rows mean is not written here: that is for the owner of the [`Space`] to keep.

use crate::best::Best;
use crate::engine::{Engine, ON_DISK};
use crate::levels::{Levels, SHARDS, Span, shard_of};
use crate::pack::{Layout, hash_of};
use crate::path::Path;
use crate::space::is_within;
use crate::states::States;
use crate::team::lock;
use crate::walk::{Finding, Outcome, Reason, Stats};
use std::collections::HashMap;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::sync::atomic::Ordering::Relaxed;

/// States that are written or read at once.
const CHUNK: u32 = 1024;

/// Keeps what a walk needs to go on later.
pub trait Keeper {
    /// Asked between two levels: whether the walk is to be written down now.
    fn is_due(&mut self) -> bool;

    /// Has the walk written down: `write` writes all of it. Called when it is due, and when a limit has stopped the walk.
    fn keep(&mut self, write: &mut dyn FnMut(&mut dyn Write) -> Result<()>);

    /// All of several processes have written down what was asked for last: only now does it take the place of what was kept before.
    fn agreed(&mut self) {}
}

/// Where a walk stood between two levels.
pub(crate) struct Milestone {
    /// How many entries of the levels, and how many states of each shard, are before it.
    pub(crate) entries: usize,
    pub(crate) ends: [u32; SHARDS],
    pub(crate) transitions: u64,
    pub(crate) best: HashMap<u64, Best>,
}

pub(crate) fn damaged() -> Error {
    Error::new(ErrorKind::InvalidData, "this is no walk of this space")
}

/// Writes a number.
pub fn write_number(out: &mut dyn Write, number: u64) -> Result<()> {
    out.write_all(&number.to_le_bytes())
}

/// Reads what [`write_number`] has written.
pub fn read_number(source: &mut dyn Read) -> Result<u64> {
    let mut bytes = [0; 8];
    source.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

fn read_small(source: &mut dyn Read) -> Result<u32> {
    read_number(source)?.try_into().map_err(|_| damaged())
}

fn write_option(out: &mut dyn Write, number: Option<u64>) -> Result<()> {
    write_number(out, u64::from(number.is_some()))?;
    write_number(out, number.unwrap_or(0))
}

fn read_option(source: &mut dyn Read) -> Result<Option<u64>> {
    let (some, number) = (read_number(source)?, read_number(source)?);
    Ok((some != 0).then_some(number))
}

fn write_row(out: &mut dyn Write, row: &[u32]) -> Result<()> {
    row.iter()
        .try_for_each(|&number| write_number(out, number.into()))
}

fn read_row(source: &mut dyn Read, width: usize) -> Result<Vec<u32>> {
    (0..width).map(|_| read_small(source)).collect()
}

pub(crate) fn write_best(out: &mut dyn Write, best: &HashMap<u64, Best>) -> Result<()> {
    write_number(out, best.len() as u64)?;
    for (&kind, best) in best {
        write_number(out, kind)?;
        write_number(out, best.level)?;
        write_option(out, best.step)?;
        write_row(out, &best.row)?;
    }
    Ok(())
}

pub(crate) fn read_best(
    source: &mut dyn Read,
    width: usize,
    bounds: Option<&[u32]>,
) -> Result<HashMap<u64, Best>> {
    let mut best = HashMap::new();
    for _ in 0..read_number(source)? {
        let kind = read_number(source)?;
        let level = read_number(source)?;
        let step = read_option(source)?;
        let row: Box<[u32]> = read_row(source, width)?.into();
        if !is_within(&row, bounds) {
            return Err(damaged());
        }
        best.insert(kind, Best { level, row, step });
    }
    Ok(best)
}

/// Where a walk goes on.
pub(crate) enum Back {
    /// Everything is in memory.
    Here(Levels, [u32; SHARDS]),
    /// Everything is on disk, and this level comes next.
    There(u64),
    /// What was on disk is not there any more: everything begins anew.
    Gone,
}

impl Engine<'_> {
    /// Where the walk stands now, between two levels.
    pub(crate) fn milestone(&self, levels: &Levels, ends: &[u32; SHARDS]) -> Milestone {
        Milestone {
            entries: levels.entries().len(),
            ends: *ends,
            transitions: self.transitions.load(Relaxed),
            best: lock(&self.best).clone(),
        }
    }

    /// Writes the walk as it stood at `milestone`.
    pub(crate) fn write_down(
        &self,
        milestone: &Milestone,
        levels: &Levels,
        out: &mut dyn Write,
    ) -> Result<()> {
        write_number(out, self.space.width() as u64)?;
        write_number(out, milestone.transitions)?;
        write_best(out, &milestone.best)?;
        let entries = &levels.entries()[..milestone.entries];
        write_number(out, entries.len() as u64)?;
        for entry in entries {
            out.write_all(&entry.to_le_bytes())?;
        }
        let mut words = Vec::new();
        for (slot, &end) in self.shards.iter().zip(&milestone.ends) {
            let shard = lock(&slot.0);
            // Where memory ran out while the packing was changed, shards differ.
            let layout = shard.layout();
            let bits: Vec<u8> = layout.bits().map(|bits| bits as u8).collect();
            write_number(out, end.into())?;
            out.write_all(&bits)?;
            let mut start = 0;
            while start < end {
                let stop = end.min(start.saturating_add(CHUNK));
                shard.read(start..stop, &mut words);
                for state in words.chunks_exact(layout.words()) {
                    let mut left = layout.bytes();
                    for word in state {
                        out.write_all(&word.to_le_bytes()[..left.min(8)])?;
                        left -= left.min(8);
                    }
                }
                start = stop;
            }
        }
        Ok(())
    }

    /// Puts the walk where it stood when it was written. On an error it stands at the beginning.
    pub(crate) fn read_back(&self, source: &mut dyn Read) -> Result<Back> {
        let read = self.try_to_read(source);
        if read.is_err() {
            self.forget();
        }
        read
    }

    fn try_to_read(&self, source: &mut dyn Read) -> Result<Back> {
        let width = self.space.width();
        let first = read_number(source)?;
        if first == width as u64 | ON_DISK {
            let level = self.read_far(source)?;
            return Ok(level.map_or(Back::Gone, Back::There));
        }
        if first != width as u64 {
            return Err(damaged());
        }
        let bounds = self.space.bounds();
        let transitions = read_number(source)?;
        let best = read_best(source, width, bounds.as_deref())?;
        let mut entries = Vec::new();
        for _ in 0..read_number(source)? {
            let mut bytes = [0; 2];
            source.read_exact(&mut bytes)?;
            entries.push(u16::from_le_bytes(bytes));
        }
        let levels = Levels::from_entries(entries);
        if best.values().any(|best: &Best| best.level > levels.len()) {
            return Err(damaged());
        }
        let mut ends = [0; SHARDS];
        for span in levels.forward().map(|(_, span)| span) {
            ends[span.shard] = span.range.end;
        }
        for (shard, &end) in ends.iter().enumerate() {
            self.read_shard(source, shard, end, bounds.as_deref())?;
        }
        let states: u64 = ends.iter().map(|&end| u64::from(end)).sum();
        let mut last: Vec<Span> = Vec::new();
        levels.backward(ends).next(&mut last);
        let open: u64 = last.iter().map(|span| span.range.len() as u64).sum();
        if open == 0 {
            return Err(damaged());
        }
        self.states.store(states, Relaxed);
        self.expanded.store(states - open, Relaxed);
        self.transitions.store(transitions, Relaxed);
        *lock(&self.best) = best;
        let full = |_| Error::from(ErrorKind::OutOfMemory);
        self.budget.take(levels.bytes()).map_err(full)?;
        Ok(Back::Here(levels, ends))
    }

    /// Fills an empty shard.
    fn read_shard(
        &self,
        source: &mut dyn Read,
        number: usize,
        end: u32,
        bounds: Option<&[u32]>,
    ) -> Result<()> {
        if read_small(source)? != end {
            return Err(damaged());
        }
        let full = |_| Error::from(ErrorKind::OutOfMemory);
        let mut bits = vec![0; self.space.width()];
        source.read_exact(&mut bits)?;
        let bits: Vec<u32> = bits.into_iter().map(u32::from).collect();
        if bits.iter().any(|&bits| bits > u32::BITS) {
            return Err(damaged());
        }
        let written = Layout::new(&bits);
        self.make_room(&bits).map_err(full)?;
        let mut shard = lock(&self.shards[number].0);
        let mut state = vec![0; written.words() * 8];
        let mut words = vec![0; written.words()];
        let mut row = vec![0; bits.len()];
        let mut records = Vec::new();
        for index in 0..end {
            source.read_exact(&mut state[..written.bytes()])?;
            for (word, bytes) in words.iter_mut().zip(state.chunks_exact(8)) {
                let mut array = [0; 8];
                array.copy_from_slice(bytes);
                *word = u64::from_le_bytes(array);
            }
            let hash = hash_of(written.unpack(&words, &mut row));
            let start = records.len();
            records.push(hash);
            records.resize(start + 1 + shard.layout().words(), 0);
            let fits = shard.layout().pack(&row, &mut records[start + 1..]);
            if shard_of(hash) != number || fits.is_none() || !is_within(&row, bounds) {
                return Err(damaged());
            }
            if (index + 1) % CHUNK == 0 || index + 1 == end {
                shard.insert(&records, &self.budget).map_err(full)?;
                records.clear();
                if shard.len() != index + 1 {
                    return Err(damaged());
                }
            }
        }
        Ok(())
    }
}

impl Outcome {
    /// What comes out where a walk was to be gone on with that is none of the space.
    pub fn damaged(width: usize) -> Outcome {
        Outcome {
            complete: false,
            stopped: Some(Reason::Damaged),
            stats: Stats::default(),
            findings: Vec::new(),
            states: States::new(width, Vec::new(), Levels::default(), [0; SHARDS]),
        }
    }

    /// Writes what came out, without the states.
    pub fn write(&self, out: &mut dyn Write) -> Result<()> {
        write_number(out, u64::from(self.complete))?;
        write_number(out, u64::from(self.stopped == Some(Reason::States)))?;
        let stats = &self.stats;
        for number in [
            stats.states,
            stats.transitions,
            stats.levels,
            stats.peak_memory_bytes,
            self.findings.len() as u64,
        ] {
            write_number(out, number)?;
        }
        for finding in &self.findings {
            write_number(out, finding.kind)?;
            write_option(out, finding.step)?;
            write_number(out, finding.path.len() as u64)?;
            for step in finding.path.iter() {
                write_number(out, step.label)?;
                write_row(out, step.row)?;
            }
        }
        Ok(())
    }

    /// What [`Outcome::write`] has written, of a walk with rows of this width. It has no states.
    pub fn read(source: &mut dyn Read, width: usize) -> Result<Outcome> {
        let complete = read_number(source)? != 0;
        let stopped = (read_number(source)? != 0).then_some(Reason::States);
        let stats = Stats {
            states: read_number(source)?,
            transitions: read_number(source)?,
            levels: read_number(source)?,
            peak_memory_bytes: read_number(source)?,
        };
        let mut findings = Vec::new();
        for _ in 0..read_number(source)? {
            let kind = read_number(source)?;
            let step = read_option(source)?;
            let (mut labels, mut rows) = (Vec::new(), Vec::new());
            for _ in 0..read_number(source)? {
                labels.push(read_number(source)?);
                rows.extend(read_row(source, width)?);
            }
            let path = Path::new(width, labels, rows);
            findings.push(Finding { kind, path, step });
        }
        Ok(Outcome {
            complete,
            stopped,
            stats,
            findings,
            states: States::new(width, Vec::new(), Levels::default(), [0; SHARDS]),
        })
    }
}
