//! Writing down a walk with states on disk: the files are there already, so what is written is which they are.
//!
//! As long as a walk goes on, files that were written once do not change. What was written behind the last checkpoint is removed by the walk that goes on from it.

use super::Engine;
use super::far::Far;
use crate::best::Best;
use crate::disk::folder::Folder;
use crate::disk::run::Run;
use crate::kept::{self, Keeper, damaged, read_number, write_number};
use crate::levels::{Levels, SHARDS};
use crate::pack::{Layout, hash_of};
use crate::space::is_within;
use crate::team::lock;
use std::collections::{HashMap, HashSet};
use std::io::{ErrorKind, Read, Result, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Is added to the width where what is written is on disk.
pub(crate) const ON_DISK: u64 = 1 << 63;
/// Room for states where there is no limit.
const ROOM: u64 = 1 << 30;
/// No name is longer.
const LONGEST: u64 = 1 << 16;

/// What was counted and found before a level is expanded.
pub(super) struct Counts {
    level: u64,
    transitions: u64,
    best: HashMap<u64, Best>,
}

fn write_bytes(out: &mut dyn Write, bytes: &[u8]) -> Result<()> {
    write_number(out, bytes.len() as u64)?;
    out.write_all(bytes)
}

fn read_bytes(source: &mut dyn Read) -> Result<Vec<u8>> {
    let length = read_number(source)?;
    if length > LONGEST {
        return Err(damaged());
    }
    let mut bytes = vec![0; length as usize];
    source.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn read_text(source: &mut dyn Read) -> Result<String> {
    String::from_utf8(read_bytes(source)?).map_err(|_| damaged())
}

/// A run as it is written down.
struct Listed {
    name: String,
    shard: usize,
    levels: std::ops::Range<u64>,
    bytes: u64,
    bits: Vec<u32>,
}

impl Engine<'_> {
    /// Where the walk stands, before this level.
    pub(super) fn counts(&self, level: u64) -> Counts {
        Counts {
            level,
            transitions: self.transitions.load(Relaxed),
            best: lock(&self.best).clone(),
        }
    }

    /// Has the walk written down as it stood when the level of `counts` began. What was here is on disk then.
    pub(super) fn keep_far(
        &self,
        far: &Far,
        levels: &Levels,
        ends: &[u32; SHARDS],
        counts: &Counts,
        keeper: &mut dyn Keeper,
    ) -> Result<()> {
        let here = far.base() + levels.len() > counts.level && levels.len() > 0;
        far.finishing.store(true, Relaxed);
        let put = self.put_away(far, levels, ends, here);
        let merged = put.and_then(|()| self.merge_all(far, counts.level));
        far.finishing.store(false, Relaxed);
        merged?;
        let runs: Vec<Arc<Run>> = lock(&far.runs).clone();
        for run in &runs {
            run.sync()?;
        }
        far.folder.keep()?;
        let mut written = false;
        keeper.keep(&mut |out| {
            self.write_far(far, &runs, counts, out)?;
            written = true;
            Ok(())
        });
        // The checkpoint before this one is gone. (If this one could not be written after all, a file may be missing; then a walk begins anew.)
        if written {
            lock(&far.retired).drain(..).for_each(|run| run.remove());
        }
        Ok(())
    }

    fn write_far(
        &self,
        far: &Far,
        runs: &[Arc<Run>],
        counts: &Counts,
        out: &mut dyn Write,
    ) -> Result<()> {
        write_number(out, self.space.width() as u64 | ON_DISK)?;
        let path = std::path::absolute(far.folder.path())?;
        let path = path.to_str().ok_or_else(damaged)?;
        write_bytes(out, path.as_bytes())?;
        write_number(out, counts.level)?;
        write_number(out, counts.transitions)?;
        kept::write_best(out, &counts.best)?;
        for &component in far.order() {
            write_number(out, component as u64)?;
        }
        let runs = runs.iter().filter(|run| run.levels.end <= counts.level + 1);
        let runs: Vec<&Arc<Run>> = runs.collect();
        write_number(out, runs.len() as u64)?;
        for run in runs {
            write_bytes(out, run.name.as_bytes())?;
            for number in [
                run.shard as u64,
                run.levels.start,
                run.levels.end,
                run.bytes(),
            ] {
                write_number(out, number)?;
            }
            let bits: Vec<u8> = run.stored().bits().map(|bits| bits as u8).collect();
            out.write_all(&bits)?;
        }
        Ok(())
    }

    /// Goes on with files: the level that comes next, or none if the files are no longer there.
    pub(crate) fn read_far(&self, source: &mut dyn Read) -> Result<Option<u64>> {
        let width = self.space.width();
        let bounds = self.space.bounds();
        let path = PathBuf::from(read_text(source)?);
        let level = read_number(source)?;
        let transitions = read_number(source)?;
        let best = kept::read_best(source, width, bounds.as_deref())?;
        if best.values().any(|best| best.level > level) {
            return Err(damaged());
        }
        let order: Result<Vec<u64>> = (0..width).map(|_| read_number(source)).collect();
        let order: Vec<usize> = order?.into_iter().map(|i| i as usize).collect();
        let different: HashSet<usize> = order.iter().copied().filter(|&i| i < width).collect();
        if different.len() != width {
            return Err(damaged());
        }
        let mut listed = Vec::new();
        let mut most = vec![0; width];
        for _ in 0..read_number(source)? {
            let name = read_text(source)?;
            let shard = read_number(source)? as usize;
            let levels = read_number(source)?..read_number(source)?;
            let run_bytes = read_number(source)?;
            let mut bits = vec![0; width];
            source.read_exact(&mut bits)?;
            let bits: Vec<u32> = bits.into_iter().map(u32::from).collect();
            if shard >= SHARDS
                || levels.is_empty()
                || levels.end > level + 1
                || bits.iter().any(|&bits| bits > u32::BITS)
            {
                return Err(damaged());
            }
            for (most, &bits) in most.iter_mut().zip(&bits) {
                *most = bits.max(*most);
            }
            listed.push(Listed {
                name,
                shard,
                levels,
                bytes: run_bytes,
                bits,
            });
        }
        let Some(folder) = Folder::open(&path)? else {
            return Ok(None);
        };
        let layout = Arc::new(Layout::ordered(&order, &most));
        let room = self.budget.room().unwrap_or(ROOM);
        let far = Far::new(folder, room, &layout, order.clone());
        let mut states = 0;
        let mut open = 0;
        for run in &listed {
            let stored = Arc::new(Layout::ordered(&order, &run.bits));
            let mut row = vec![0; width];
            let mut check = |state: &[u64]| {
                let hash = hash_of(stored.unpack(state, &mut row));
                far.filter.insert(hash);
                crate::levels::shard_of(hash) == run.shard && is_within(&row, bounds.as_deref())
            };
            let (name, levels) = (run.name.clone(), run.levels.clone());
            let opened = Run::open(
                &far.folder,
                name,
                run.shard,
                levels,
                &stored,
                run.bytes,
                &mut check,
            );
            let found = match opened {
                Ok(found) => found,
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    far.folder.release();
                    return Ok(None);
                }
                Err(error) => return Err(error),
            };
            states += found.len;
            open += match found.levels == (level..level + 1) {
                true => found.len,
                false => 0,
            };
            far.filter.count(found.len);
            lock(&far.runs).push(Arc::new(found.in_layout(&layout)));
        }
        if open == 0 {
            return Err(damaged());
        }
        let known: HashSet<&str> = listed.iter().map(|run| run.name.as_str()).collect();
        far.folder.remove_others(&known);
        far.base.store(level + 1, Relaxed);
        self.budget.only_count();
        self.states.store(states, Relaxed);
        self.expanded.store(states - open, Relaxed);
        self.transitions.store(transitions, Relaxed);
        *lock(&self.best) = best;
        for (number, slot) in self.shards.iter().enumerate() {
            *lock(&slot.0) = crate::shard::Shard::new(Arc::clone(&layout), number as u32);
        }
        self.go_far(far, layout);
        Ok(Some(level))
    }
}
