//! Where memory ends, the walk goes on with states on disk.
//!
//! Visited states are in sorted runs on disk, the latest levels also in memory, in the shards (*here*). What a level leads to is gathered, without repetitions, in shards of its own
//! (*fresh*), unless it is here. When the level is over, or memory is, what was gathered is sorted and [sifted](Run::sift): what is in a run is dropped. The rest is new. It
//! joins the states here; these become another run when there are too many of them. A level that is too wide to be here is a run of its own at once, and read
//! from there when it is expanded.
//!
//! So each state is found once, on the level where it is found in memory, and no number in what comes out of a walk says where states have been.

use super::{BATCH, Engine, Reporter, Slot, Walker, lock};
use crate::budget::Budget;
use crate::disk::Disk;
use crate::disk::filter::Filter;
use crate::disk::folder::Folder;
use crate::disk::run::{self, Run, RunReader, RunWriter};
use crate::disk::shelf::Shelf;
use crate::disk::sorted::sort;
use crate::kept::Milestone;
use crate::levels::{Levels, SHARDS, Span};
use crate::pack::{Layout, hash_of};
use crate::shard::Shard;
use crate::task::Alone;
use crate::team::{Team, lock_soon, threads};
use crate::walk::Reason;
use std::io::{Error, ErrorKind, Result};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

/// With less memory than this for states, there is no point in putting them anywhere else.
const LEAST: u64 = 4 << 20;
/// Threads that sort at the same time; each needs room for a shard of its own.
const SORTERS: usize = 2;
/// States that are read or inserted at once.
const CHUNK: usize = 512;
/// States that are written between two looks at the clock.
const LOOK: usize = 1 << 14;

/// A run whose states are being expanded, and its next block.
type Source = (Arc<Run>, RunReader, usize);

pub(crate) struct Far {
    pub(super) folder: Folder,
    /// In which order components decide about the order of states.
    order: Vec<usize>,
    /// What the current level leads to.
    fresh: Box<[Slot]>,
    budget: Budget,
    /// How many bytes there are for all that is in memory; how many may be here, and how many may be fresh.
    room: u64,
    share: u64,
    /// There is too much that is fresh.
    full: AtomicBool,
    /// A checkpoint is being written.
    pub(super) finishing: AtomicBool,
    pub(super) filter: Filter,
    pub(super) runs: Mutex<Vec<Arc<Run>>>,
    /// Runs that became a part of others, but that a checkpoint still rests on.
    pub(super) retired: Mutex<Vec<Arc<Run>>>,
    /// What is to be expanded and not here: runs, and rows.
    sources: Mutex<Vec<Source>>,
    leftovers: Mutex<Vec<u32>>,
    /// The first level that is here: all before it are in runs.
    pub(super) base: AtomicU64,
}

impl Far {
    /// With room for so many bytes in memory.
    pub(super) fn new(folder: Folder, room: u64, layout: &Arc<Layout>, order: Vec<usize>) -> Far {
        let fresh = |number| Alone(Mutex::new(Shard::new(Arc::clone(layout), number)));
        Far {
            folder,
            order,
            fresh: (0..SHARDS as u32).map(fresh).collect(),
            budget: Budget::that_counts(),
            room,
            share: room / 16 * 3,
            full: AtomicBool::new(false),
            finishing: AtomicBool::new(false),
            filter: Filter::new(usize::try_from(room / 8 * 3).unwrap_or(usize::MAX / 16)),
            runs: Mutex::new(Vec::new()),
            retired: Mutex::new(Vec::new()),
            sources: Mutex::new(Vec::new()),
            leftovers: Mutex::new(Vec::new()),
            base: AtomicU64::new(0),
        }
    }

    pub(super) fn order(&self) -> &[usize] {
        &self.order
    }

    pub(super) fn fresh(&self) -> &[Slot] {
        &self.fresh
    }

    pub(super) fn budget(&self) -> &Budget {
        &self.budget
    }

    pub(super) fn base(&self) -> u64 {
        self.base.load(Relaxed)
    }

    pub(super) fn into_shelf(self) -> Shelf {
        let runs = self.runs.into_inner();
        let runs = runs.unwrap_or_else(PoisonError::into_inner);
        Shelf::new(runs, self.folder, self.room)
    }

    /// From now on, states are read in another packing.
    pub(super) fn repack(&self, layout: &Arc<Layout>) -> Result<()> {
        for run in lock(&self.runs).iter_mut() {
            *run = Arc::new(run.in_layout(layout));
        }
        for (run, reader, _) in lock(&self.sources).iter_mut() {
            *run = Arc::new(run.in_layout(layout));
            *reader = RunReader::new(run)?;
        }
        Ok(())
    }

    fn add_run(&self, run: Option<Run>) {
        if let Some(run) = run {
            self.filter.count(run.len);
            lock(&self.runs).push(Arc::new(run));
        }
    }

    /// Merges the latest runs of a shard, all of whose levels are before `level`, until each is at least twice as long as the next one: there are few of them then, and
    /// each state has been written a few times only.
    fn merge_runs(
        &self,
        shard: usize,
        level: u64,
        layout: &Arc<Layout>,
        is_over: &dyn Fn() -> bool,
    ) -> Result<()> {
        loop {
            let runs: Vec<Arc<Run>> = lock(&self.runs)
                .iter()
                .filter(|run| run.shard == shard && run.levels.end <= level)
                .cloned()
                .collect();
            let [.., one, other] = &runs[..] else {
                return Ok(());
            };
            if one.len > 2 * other.len {
                return Ok(());
            }
            let merged = Arc::new(run::merge(&self.folder, one, other, layout, is_over)?);
            let mut all = lock(&self.runs);
            let place = all.iter().position(|run| Arc::ptr_eq(run, one));
            all.retain(|run| !Arc::ptr_eq(run, one) && !Arc::ptr_eq(run, other));
            let place = place.unwrap_or(0).min(all.len());
            all.insert(place, merged);
            drop(all);
            match self.folder.is_kept() {
                true => lock(&self.retired).extend([Arc::clone(one), Arc::clone(other)]),
                false => [one, other].into_iter().for_each(|run| run.remove()),
            }
        }
    }

    /// Gathers those states of a batch that are not here.
    fn gather(&self, here: &Slot, shard: usize, records: &[u64]) -> bool {
        let mut fresh = lock_soon(&self.fresh[shard].0);
        let here = lock_soon(&here.0);
        let inserted = if here.len() == 0 {
            fresh.insert(records, &self.budget)
        } else {
            let stride = here.layout().words() + 1;
            for record in records.chunks_exact(stride) {
                here.expect(record[0]);
            }
            let mut unknown = Vec::with_capacity(records.len());
            for record in records.chunks_exact(stride) {
                if !here.contains(record[0], &record[1..]) {
                    unknown.extend_from_slice(record);
                }
            }
            fresh.insert(&unknown, &self.budget)
        };
        inserted.is_ok()
    }
}

impl Engine<'_> {
    /// The disk does not do what it should.
    pub(super) fn fail(&self, error: &Error) {
        self.stop(match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                Reason::DiskFull
            }
            _ => Reason::Disk,
        });
    }

    /// Inserts a batch where there are states on disk. Whether there was memory for it.
    pub(super) fn gather(&self, far: &Far, shard: usize, records: &[u64]) -> bool {
        let inserted = far.gather(&self.shards[shard], shard, records);
        if far.budget.taken() > far.share {
            far.full.store(true, Relaxed);
            self.pause.store(true, Relaxed);
        }
        inserted
    }

    /// States to expand that are not here, as words in the chunk of a walker: how many.
    pub(super) fn take_far(&self, far: &Far, walker: &mut Walker<'_>, layout: &Layout) -> usize {
        walker.chunk.clear();
        {
            let mut leftovers = lock(&far.leftovers);
            let width = walker.row.len();
            let count = (leftovers.len() / width.max(1)).min(CHUNK);
            if count > 0 {
                let start = leftovers.len() - count * width;
                walker.chunk.resize(count * layout.words(), 0);
                let words = walker.chunk.chunks_exact_mut(layout.words());
                for (row, words) in leftovers[start..].chunks_exact(width).zip(words) {
                    // It was packed before, in no more bits.
                    let _ = layout.pack(row, words);
                }
                leftovers.truncate(start);
                return count;
            }
        }
        let source = lock(&far.sources).pop();
        let Some((run, mut reader, block)) = source else {
            return 0;
        };
        if let Err(error) = reader.read(&run, block, &mut walker.chunk) {
            self.fail(&error);
            return 0;
        }
        if block + 1 < run.blocks() {
            // Others may want to go on with it; all files in turn would be slower.
            lock(&far.sources).push((run, reader, block + 1));
        }
        walker.chunk.len() / layout.words()
    }

    /// The states of a walker's chunk from this one on are to be expanded later.
    pub(super) fn put_back(
        &self,
        far: &Far,
        walker: &mut Walker<'_>,
        layout: &Layout,
        from: usize,
    ) {
        let mut leftovers = lock(&far.leftovers);
        for state in walker.chunk.chunks_exact(layout.words()).skip(from) {
            layout.unpack(state, &mut walker.row);
            leftovers.extend_from_slice(&walker.row);
        }
    }

    /// Goes on from a milestone, where memory has ended on the way to the next one.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn walk_far(
        &self,
        disk: &Disk,
        room: u64,
        milestone: Milestone,
        levels: Levels,
        leader: &mut Walker<'_>,
        reporter: &mut Reporter<'_>,
        team: &Team,
        hire: &mut dyn FnMut(),
    ) -> (bool, Levels, [u32; SHARDS]) {
        let levels = levels.first_entries(milestone.entries);
        self.budget.only_count();
        self.stop.store(0, Relaxed);
        self.transitions.store(milestone.transitions, Relaxed);
        *lock(&self.best) = milestone.best;
        leader.forget_level();
        lock(&self.leftovers).clear();
        lock(&self.too_large).fill(0);
        let far = match self.set_up(disk, room) {
            Ok(far) => far,
            Err(error) => {
                self.fail(&error);
                return (false, levels, milestone.ends);
            }
        };
        let states: u64 = milestone.ends.iter().map(|&end| u64::from(end)).sum();
        self.states.store(states, Relaxed);
        self.pause.store(false, Relaxed);
        let level = levels.len() - 1;
        if let Err(error) = self.put_away(far, &levels, &milestone.ends, true) {
            self.fail(&error);
        }
        self.walk_on(far, level, leader, reporter, team, hire)
    }

    /// How many bytes of states there is room for, if that is enough to have others on disk.
    pub(super) fn room(&self, disk: &Disk) -> Option<u64> {
        let enough = |room: &u64| *room >= LEAST || disk.room().is_some();
        self.budget.room().filter(enough)
    }

    /// Prepares to have states on disk.
    fn set_up(&self, disk: &Disk, room: u64) -> Result<&Far> {
        let order = self.read_task().layout.order();
        // Where memory ran out while the packing was changed, shards differ.
        let mut bits = vec![0; self.space.width()];
        for slot in &self.shards {
            let shard = lock(&slot.0);
            for (most, bits) in bits.iter_mut().zip(shard.layout().bits()) {
                *most = bits.max(*most);
            }
        }
        let layout = Arc::new(Layout::ordered(&order, &bits));
        let far = Far::new(Folder::create(disk)?, room, &layout, order);
        Ok(self.go_far(far, layout))
    }

    /// From now on, states may be on disk, and are packed in this way.
    pub(super) fn go_far(&self, far: Far, layout: Arc<Layout>) -> &Far {
        let mut task = self.task.write().unwrap_or_else(PoisonError::into_inner);
        task.layout = layout;
        drop(task);
        self.far.get_or_init(|| far)
    }

    /// Level after level, from one that is on disk.
    pub(super) fn walk_on(
        &self,
        far: &Far,
        mut level: u64,
        leader: &mut Walker<'_>,
        reporter: &mut Reporter<'_>,
        team: &Team,
        hire: &mut dyn FnMut(),
    ) -> (bool, Levels, [u32; SHARDS]) {
        let mut levels = Levels::default();
        let mut ends = [0; SHARDS];
        let mut spans: Vec<Span> = Vec::new();
        let mut complete = false;
        let mut counts = None;
        let mut new = None;
        loop {
            let all = self.all_of(new.unwrap_or(1), false);
            if all.new == 0 {
                complete = self.stopped().is_none();
                break;
            }
            if self.ends(&all) || self.stop_at_first && all.found {
                break;
            }
            // The level that comes next has no states here.
            if far.base() + levels.len() == level && levels.push_empty().is_err() {
                self.stop(Reason::Memory);
            }
            let states = self.states.load(Relaxed);
            if self.most_states.is_some_and(|most| all.states >= most) {
                self.stop(Reason::States);
                break;
            }
            // Several processes keep nothing that is on disk.
            if let (Some(keeper), None) = (&mut reporter.keeper, &self.spread) {
                let now = self.counts(level);
                if keeper.is_due() {
                    let kept = self.keep_far(far, &levels, &ends, &now, *keeper);
                    (levels, ends) = (Levels::default(), [0; SHARDS]);
                    spans.clear();
                    if let Err(error) = kept {
                        self.fail(&error);
                        break;
                    }
                }
                counts = Some(now);
            }
            self.expand_far(far, level, &mut spans, leader, reporter, team, hire);
            if self.stopped().is_some() && self.spread.is_none() {
                break;
            }
            let next = self.finish_level(far, level + 1, &mut levels, &mut ends);
            match next {
                Ok(next) => spans = next,
                Err(error) => self.fail(&error),
            }
            new = Some(self.states.load(Relaxed) - states);
            level += 1;
        }
        // A walk that a limit has stopped may be given more another time. Otherwise, what a checkpoint rests on stays where it is until there is an answer.
        if let (
            Some(keeper),
            Some(counts),
            Some(Reason::Timeout | Reason::Memory | Reason::Cancelled),
        ) = (&mut reporter.keeper, counts, self.stopped())
        {
            // Where this fails, the checkpoint before it is as good as it was.
            let _ = self.keep_far(far, &levels, &ends, &counts, *keeper);
            (levels, ends) = (Levels::default(), [0; SHARDS]);
        }
        (complete, levels, ends)
    }

    /// Expands a level: states that are here, and the runs of the level.
    #[allow(clippy::too_many_arguments)]
    fn expand_far(
        &self,
        far: &Far,
        level: u64,
        spans: &mut Vec<Span>,
        leader: &mut Walker<'_>,
        reporter: &mut Reporter<'_>,
        team: &Team,
        hire: &mut dyn FnMut(),
    ) {
        if spans.is_empty() {
            let mut sources = lock(&far.sources);
            for run in lock(&far.runs).iter() {
                if run.levels != (level..level + 1) {
                    continue;
                }
                match RunReader::new(run) {
                    Ok(reader) => sources.push((Arc::clone(run), reader, 0)),
                    Err(error) => self.fail(&error),
                }
            }
        }
        loop {
            let here: u64 = spans.iter().map(|span| span.range.len() as u64).sum();
            let there: u64 = lock(&far.sources).iter().map(|(run, ..)| run.len).sum();
            self.expand_all(level, spans, here + there, leader, reporter, team, hire);
            spans.extend(self.read_task().rest());
            spans.append(&mut lock(&self.leftovers));
            if self.go_on_after_pause(far, level) {
                continue;
            }
            let Some(spread) = &self.spread else {
                return;
            };
            let more = !spans.is_empty()
                || !lock(&far.sources).is_empty()
                || !lock(&far.leftovers).is_empty();
            let others = self.exchange(spread, leader, more);
            self.go_on_after_pause(far, level);
            if !others {
                return;
            }
        }
    }

    /// Does what there was a pause for, if there was one and the walk can go on.
    fn go_on_after_pause(&self, far: &Far, level: u64) -> bool {
        if self.stopped().is_some() || !self.pause.load(Relaxed) {
            return false;
        }
        if far.full.swap(false, Relaxed)
            && let Err(error) = self.make_space(far, level + 1)
        {
            self.fail(&error);
            return false;
        }
        if lock(&self.too_large).iter().any(|&number| number > 0) {
            return self.widen().is_ok();
        }
        self.pause.store(self.stopped().is_some(), Relaxed);
        true
    }

    /// Does something for each shard, by as many threads as there is memory for.
    fn for_each_number<T: Send>(&self, work: impl Fn(usize) -> Result<T> + Sync) -> Result<Vec<T>> {
        let next = AtomicUsize::new(0);
        let results: Mutex<Vec<(usize, Result<T>)>> = Mutex::new(Vec::new());
        let work = || {
            loop {
                let number = next.fetch_add(1, Relaxed);
                if number >= SHARDS {
                    return;
                }
                let result = work(number);
                lock(&results).push((number, result));
            }
        };
        let few = self.states.load(Relaxed) < super::FIT;
        let others = match few {
            true => 0,
            false => threads(self.jobs).min(SORTERS) - 1,
        };
        std::thread::scope(|scope| {
            for _ in 0..others {
                // A thread that is not there does nothing, and the others do it all.
                let _ = Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.sort_unstable_by_key(|(number, _)| *number);
        results.into_iter().map(|(_, result)| result).collect()
    }

    /// For each shard, those of the fresh states that are new, sorted; nothing is fresh any more.
    fn sift(&self, far: &Far) -> Result<Vec<Vec<u64>>> {
        let layout = Arc::clone(&self.read_task().layout);
        let words = layout.words();
        let runs: Vec<Arc<Run>> = lock(&far.runs).clone();
        self.for_each_number(|number| {
            let empty = Shard::new(Arc::clone(&layout), number as u32);
            let fresh = std::mem::replace(&mut *lock(&far.fresh[number].0), empty);
            let mut states = Vec::new();
            fresh.read(0..fresh.len(), &mut states);
            far.budget.give_back(fresh.memory() as usize);
            drop(fresh);
            let mut states = sort(states, words);
            let count = (states.len() / words) as u32;
            let may_be_old = |&i: &u32| {
                let state = &states[i as usize * words..][..words];
                far.filter.may_contain(hash_of(layout.key(state)))
            };
            let asked: Vec<u32> = match far.filter.is_useful() {
                true => (0..count).filter(may_be_old).collect(),
                false => (0..count).collect(),
            };
            let mut open = asked.clone();
            for run in runs.iter().filter(|run| run.shard == number) {
                run.sift(&states, &mut open, &|| self.gives_up(far))?;
            }
            // What was asked for and is not open any more is old.
            let mut open = open.into_iter().peekable();
            let mut old = asked
                .into_iter()
                .filter(|i| open.next_if_eq(i).is_none())
                .peekable();
            let mut kept = 0;
            for i in 0..count as usize {
                if old.next_if_eq(&(i as u32)).is_none() {
                    states.copy_within(i * words..(i + 1) * words, kept);
                    kept += words;
                }
            }
            states.truncate(kept);
            states.shrink_to_fit();
            Ok(states)
        })
    }

    /// Makes space for more fresh states: some are not new, or else those that are become runs.
    fn make_space(&self, far: &Far, level: u64) -> Result<()> {
        let new = self.sift(far)?;
        let bytes: usize = new.iter().map(|states| states.len() * 8).sum();
        if bytes as u64 > far.share / 2 {
            return self.write_new(far, level, new);
        }
        let layout = Arc::clone(&self.read_task().layout);
        for (slot, states) in far.fresh.iter().zip(new) {
            insert_all(&mut lock(&slot.0), &layout, &states, &far.budget)?;
        }
        Ok(())
    }

    /// Writes new states of a level, sorted, for each shard a run.
    fn write_new(&self, far: &Far, level: u64, new: Vec<Vec<u64>>) -> Result<()> {
        let layout = Arc::clone(&self.read_task().layout);
        let words = layout.words();
        self.for_each_number(|number| {
            let states = &new[number];
            let mut writer = RunWriter::new(&far.folder, number, level..level + 1, &layout)?;
            for chunk in states.chunks(LOOK * words) {
                self.go_on(far)?;
                for state in chunk.chunks_exact(words) {
                    far.filter.insert(hash_of(layout.key(state)));
                    writer.push(state, 0)?;
                }
            }
            far.add_run(writer.finish()?);
            let count = (states.len() / words) as u64;
            self.states.fetch_add(count, Relaxed);
            Ok(())
        })?;
        Ok(())
    }

    /// A level is expanded: the spans of the next one, if it is here.
    fn finish_level(
        &self,
        far: &Far,
        level: u64,
        levels: &mut Levels,
        ends: &mut [u32; SHARDS],
    ) -> Result<Vec<Span>> {
        let new = self.sift(far)?;
        let begun = lock(&far.runs).iter().any(|run| run.levels.end > level);
        let layout = Arc::clone(&self.read_task().layout);
        let count: usize = new.iter().map(|states| states.len() / layout.words()).sum();
        if count == 0 && !begun {
            return Ok(Vec::new());
        }
        // A state takes its bytes and an entry.
        let need = (count * (layout.bytes() + 5)) as u64;
        let wide = begun || need > far.share / 2;
        if wide || self.budget.taken() + need > far.share {
            let put = self.put_away(far, levels, ends, false);
            (*levels, *ends) = (Levels::default(), [0; SHARDS]);
            put?;
            self.merge_all(far, level)?;
        }
        if wide {
            self.write_new(far, level, new)?;
            far.base.store(level + 1, Relaxed);
            return Ok(Vec::new());
        }
        let mut spans = Vec::new();
        for (shard, states) in new.into_iter().enumerate() {
            if states.is_empty() {
                continue;
            }
            let mut here = lock(&self.shards[shard].0);
            insert_all(&mut here, &layout, &states, &self.budget)?;
            let range = ends[shard]..here.len();
            ends[shard] = here.len();
            spans.push(Span { shard, range });
        }
        let held = levels.bytes();
        levels.push(&spans).map_err(|_| ErrorKind::OutOfMemory)?;
        let _ = self.budget.take(levels.bytes() - held);
        self.states.fetch_add(count as u64, Relaxed);
        Ok(spans)
    }

    /// Whether what is written to disk is of no use any more: whoever waits for the answer does not wait long. A checkpoint is finished.
    fn gives_up(&self, far: &Far) -> bool {
        !far.finishing.load(Relaxed) && self.is_over()
    }

    /// Goes on with what takes long.
    fn go_on(&self, far: &Far) -> Result<()> {
        match self.gives_up(far) {
            true => Err(ErrorKind::Interrupted.into()),
            false => Ok(()),
        }
    }

    /// Merges runs of levels before this one.
    pub(super) fn merge_all(&self, far: &Far, level: u64) -> Result<()> {
        let layout = Arc::clone(&self.read_task().layout);
        let is_over = || self.gives_up(far);
        self.for_each_number(|number| far.merge_runs(number, level, &layout, &is_over))?;
        Ok(())
    }

    /// Writes what is here to disk, from the level `far.base` on. The last level becomes runs of its own if it is still to be expanded.
    pub(super) fn put_away(
        &self,
        far: &Far,
        levels: &Levels,
        ends: &[u32; SHARDS],
        last_apart: bool,
    ) -> Result<()> {
        let base = far.base();
        let count = levels.len();
        let apart = count - u64::from(last_apart && count > 0);
        if count > 0 {
            self.for_each_number(|number| {
                let layout = Arc::clone(&self.read_task().layout);
                let empty = Shard::new(layout, number as u32);
                let shard = std::mem::replace(&mut *lock(&self.shards[number].0), empty);
                self.put_shard_away(
                    far,
                    &shard,
                    number,
                    levels,
                    ends[number],
                    base..base + apart,
                )?;
                self.budget.give_back(shard.memory() as usize);
                Ok(())
            })?;
            self.budget.give_back(levels.bytes());
        }
        far.base.store(base + count, Relaxed);
        Ok(())
    }

    /// Writes the first states of a shard. Those behind the levels `together` are on another level.
    fn put_shard_away(
        &self,
        far: &Far,
        shard: &Shard,
        number: usize,
        levels: &Levels,
        end: u32,
        together: Range<u64>,
    ) -> Result<()> {
        let layout = Arc::clone(&self.read_task().layout);
        let conversion = shard.layout().conversion(&layout);
        let (old, words) = (shard.layout().words(), layout.words());
        let mut state = vec![0; words];
        let mut chunk = Vec::new();
        // For the levels together, and for the last one: states, in front of their levels.
        let mut parts = [Vec::new(), Vec::new()];
        for (level, span) in levels.forward().filter(|(_, span)| span.shard == number) {
            let range = span.range.start.min(end)..span.range.end.min(end);
            shard.read(range, &mut chunk);
            let part = &mut parts[usize::from(level >= together.end - together.start)];
            for words in chunk.chunks_exact(old) {
                conversion.convert(words, &mut state);
                part.extend_from_slice(&state);
                part.push(level);
            }
        }
        let last = together.end..together.end + 1;
        for (records, levels) in parts.into_iter().zip([together, last]) {
            if records.is_empty() {
                continue;
            }
            let mut writer = RunWriter::new(&far.folder, number, levels, &layout)?;
            for chunk in sort(records, words + 1).chunks(LOOK * (words + 1)) {
                self.go_on(far)?;
                for record in chunk.chunks_exact(words + 1) {
                    let (state, level) = record.split_at(words);
                    far.filter.insert(hash_of(layout.key(state)));
                    writer.push(state, level[0])?;
                }
            }
            far.add_run(writer.finish()?);
        }
        Ok(())
    }
}

/// Inserts states into a shard.
fn insert_all(shard: &mut Shard, layout: &Layout, states: &[u64], budget: &Budget) -> Result<()> {
    let words = layout.words();
    let mut records = Vec::with_capacity(BATCH * (words + 1));
    for batch in states.chunks(BATCH * words) {
        records.clear();
        for state in batch.chunks_exact(words) {
            records.push(hash_of(layout.key(state)));
            records.extend_from_slice(state);
        }
        shard
            .insert(&records, budget)
            .map_err(|_| ErrorKind::OutOfMemory)?;
    }
    Ok(())
}
