//! The states that a walk has put on disk, to be read level by level.

use super::folder::Folder;
use super::run::{Run, RunReader};
use std::io::Result;
use std::ops::Range;
use std::sync::Arc;

/// Blocks that are read at once.
const PIECE: usize = 16;

/// All runs of a walk, and the directory that they are in: it is removed along with this.
pub(crate) struct Shelf {
    runs: Vec<Arc<Run>>,
    /// So many states may be read into memory at once.
    most: u64,
    folder: Folder,
}

/// So many numbers say how wide levels are.
const COUNTS: u64 = 1 << 16;

/// States of the levels that come next, going down.
#[derive(Default)]
pub(crate) struct Windows {
    read: Vec<Arc<Window>>,
    levels: Range<u64>,
    /// How many states there are on some levels that follow each other, in runs with several levels.
    counts: Vec<u64>,
}

/// Some states of one level.
#[derive(Clone)]
pub(crate) enum Piece {
    /// Blocks of a run that has no other level.
    Blocks(Arc<Run>, Range<usize>),
    /// States that were read along with others.
    Read(Arc<Window>, Range<usize>),
}

/// States of several levels, each with its level.
pub(crate) struct Window {
    run: Arc<Run>,
    levels: Range<u64>,
    /// Packed states.
    states: Vec<u64>,
    /// Numbers of states, by their levels, and where levels begin.
    order: Vec<u32>,
    begins: Vec<u32>,
}

impl Shelf {
    /// With room for so many bytes in memory.
    pub(crate) fn new(runs: Vec<Arc<Run>>, folder: Folder, room: u64) -> Shelf {
        let words = runs.first().map_or(1, |run| run.layout().words());
        Shelf {
            runs,
            // A state, its level, and its place in the order of levels.
            most: (room / 2 / (8 * words as u64 + 12)).max(1000),
            folder,
        }
    }

    /// No checkpoint is needed any more.
    pub(crate) fn release(&self) {
        self.folder.release();
    }

    /// Number of states.
    pub(crate) fn len(&self) -> u64 {
        self.runs.iter().map(|run| run.len).sum()
    }

    pub(crate) fn runs(&self) -> &[Arc<Run>] {
        &self.runs
    }

    /// Whether a state is there, packed as all runs are.
    pub(crate) fn contains(&self, shard: usize, state: &[u64]) -> bool {
        self.runs.iter().any(|run| {
            let mut open = vec![0];
            run.shard == shard && run.sift(state, &mut open, &|| false).is_ok() && open.is_empty()
        })
    }

    /// Bytes on disk.
    pub(crate) fn bytes(&self) -> u64 {
        self.runs.iter().map(|run| run.bytes()).sum()
    }

    /// The states of a level. What was read of runs with several levels is in `windows`, as long as it is needed: levels are to be asked for in descending order.
    pub(crate) fn level(&self, level: u64, windows: &mut Windows) -> Result<Vec<Piece>> {
        let mut pieces = Vec::new();
        let of_level = |run: &&Arc<Run>| run.levels.contains(&level);
        for run in self.runs.iter().filter(of_level) {
            if run.levels.end - run.levels.start == 1 {
                let starts = (0..run.blocks()).step_by(PIECE);
                pieces.extend(starts.map(|start| {
                    let blocks = start..run.blocks().min(start + PIECE);
                    Piece::Blocks(Arc::clone(run), blocks)
                }));
            }
        }
        if !windows.levels.contains(&level) {
            windows.read = Vec::new();
            windows.levels = self.first_level(level, windows)?..level + 1;
            let mixed = |run: &&Arc<Run>| run.levels.end - run.levels.start > 1;
            for run in self.runs.iter().filter(mixed) {
                let wanted = run.levels.start.max(windows.levels.start)
                    ..run.levels.end.min(windows.levels.end);
                if !wanted.is_empty() {
                    windows.read.push(Arc::new(Window::read(run, wanted)?));
                }
            }
        }
        for window in &windows.read {
            let states = window.level(level);
            if !states.is_empty() {
                pieces.push(Piece::Read(Arc::clone(window), states));
            }
        }
        Ok(pieces)
    }

    /// The first of the levels up to `last` whose states in runs with several levels there is room for, at once.
    fn first_level(&self, last: u64, windows: &mut Windows) -> Result<u64> {
        let mixed = |run: &&Arc<Run>| run.levels.end - run.levels.start > 1;
        let mixed: Vec<&Arc<Run>> = self.runs.iter().filter(mixed).collect();
        let all: u64 = mixed.iter().map(|run| run.len).sum();
        if all <= self.most {
            return Ok(0);
        }
        let levels = mixed.iter().map(|run| run.levels.end).max().unwrap_or(0);
        let step = levels / COUNTS + 1;
        let places = (levels / step + 1) as usize;
        if windows.counts.len() != places {
            // One look at everything, to know how wide levels are; another one when there are many more of them.
            windows.counts = vec![0; places];
            let mut states = Vec::new();
            for run in mixed {
                let mut reader = RunReader::new(run)?;
                for block in 0..run.blocks() {
                    reader.read(run, block, &mut states)?;
                    for level in &reader.levels {
                        windows.counts[((run.levels.start + level) / step) as usize] += 1;
                    }
                }
            }
        }
        // The newest levels may be in no such run.
        let wide = |place: u64| windows.counts.get(place as usize).copied().unwrap_or(0);
        let mut place = last / step;
        let mut count = wide(place);
        while place > 0 {
            count += wide(place - 1);
            if count > self.most {
                break;
            }
            place -= 1;
        }
        Ok(place * step)
    }

    /// All states, packed as the run says, each with its level.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(&Run, u64, &[u64])) -> Result<()> {
        let mut states = Vec::new();
        for run in &self.runs {
            let mut reader = RunReader::new(run)?;
            for block in 0..run.blocks() {
                reader.read(run, block, &mut states)?;
                for (i, state) in states.chunks_exact(run.layout().words()).enumerate() {
                    let above = reader.levels.get(i).copied().unwrap_or(0);
                    visit(run, run.levels.start + above, state);
                }
            }
        }
        Ok(())
    }
}

impl Piece {
    /// The states, packed as the run says.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(&Run, &[u64])) -> Result<()> {
        match self {
            Piece::Blocks(run, blocks) => {
                let mut reader = RunReader::new(run)?;
                let mut states = Vec::new();
                for block in blocks.clone() {
                    reader.read(run, block, &mut states)?;
                    for state in states.chunks_exact(run.layout().words()) {
                        visit(run, state);
                    }
                }
            }
            Piece::Read(window, range) => {
                let words = window.run.layout().words();
                for &i in &window.order[range.clone()] {
                    visit(&window.run, &window.states[i as usize * words..][..words]);
                }
            }
        }
        Ok(())
    }
}

impl Window {
    /// Reads the states of some levels of a run.
    fn read(run: &Arc<Run>, wanted: Range<u64>) -> Result<Window> {
        let words = run.layout().words();
        let mut states = Vec::new();
        let mut levels = Vec::new();
        let mut reader = RunReader::new(run)?;
        let mut block_states = Vec::new();
        for block in 0..run.blocks() {
            reader.read(run, block, &mut block_states)?;
            let block_states = block_states.chunks_exact(words);
            for (state, &level) in block_states.zip(&reader.levels) {
                let level = run.levels.start + level;
                if wanted.contains(&level) {
                    states.extend_from_slice(state);
                    levels.push((level - wanted.start) as u32);
                }
            }
        }
        let mut order: Vec<u32> = (0..levels.len() as u32).collect();
        order.sort_by_key(|&i| levels[i as usize]);
        let mut begins = Vec::new();
        for (at, &i) in order.iter().enumerate() {
            let level = levels[i as usize] as usize;
            begins.resize(begins.len().max(level + 1), at as u32);
        }
        Ok(Window {
            run: Arc::clone(run),
            levels: wanted,
            states,
            order,
            begins,
        })
    }

    fn level(&self, level: u64) -> Range<usize> {
        if !self.levels.contains(&level) {
            return 0..0;
        }
        let above = (level - self.levels.start) as usize;
        let begin = |level: usize| {
            let at = self.begins.get(level);
            at.map_or(self.order.len(), |&at| at as usize)
        };
        begin(above)..begin(above + 1)
    }
}
