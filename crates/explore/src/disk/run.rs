//! Sorted runs: files of packed states in ascending order, each written as what it has more than the one before.
//!
//! A run is made of blocks of some hundred states with a checksum each. Where a block begins, and with which state, is kept in memory: a few states are looked for in
//! their blocks alone, many by reading the file from its beginning to its end.

use super::folder::Folder;
use crate::pack::{Conversion, Layout, hash_of};
use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// States of a block.
const BLOCK: usize = 256;
/// What is read or written at once.
const BUFFER: usize = 1 << 18;
/// Before the states of a block: checksum, number of states, number of bytes.
const HEADER: usize = 16;
/// Blocks that are not wanted are read all the same if there are no more of them between two that are: one read is cheaper than two.
const GAP: usize = 16;

fn damaged() -> Error {
    Error::new(ErrorKind::InvalidData, "a run of states is damaged")
}

/// States of one shard, in ascending order.
pub(crate) struct Run {
    pub(crate) shard: usize,
    /// The levels that its states are on. If there are several, each state has its level with it.
    pub(crate) levels: Range<u64>,
    /// Number of states.
    pub(crate) len: u64,
    pub(crate) name: String,
    path: PathBuf,
    /// How the states are packed in the file, and in `firsts` and wherever they are read to.
    stored: Arc<Layout>,
    layout: Arc<Layout>,
    /// The first state of each block.
    firsts: Vec<u64>,
    /// Where blocks begin in the file; and where the last one ends.
    offsets: Vec<u64>,
    /// The file will survive the machine's sudden end.
    synced: AtomicBool,
}

impl Run {
    fn has_levels(&self) -> bool {
        self.levels.end - self.levels.start > 1
    }

    pub(crate) fn blocks(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Bytes on disk.
    pub(crate) fn bytes(&self) -> u64 {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// Bytes in memory.
    pub(crate) fn memory(&self) -> usize {
        (self.firsts.capacity() + self.offsets.capacity()) * 8
    }

    /// How the states are packed in the file.
    pub(crate) fn stored(&self) -> &Layout {
        &self.stored
    }

    pub(crate) fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// The same run, whose states are read in another packing.
    pub(crate) fn in_layout(&self, layout: &Arc<Layout>) -> Run {
        let conversion = self.layout.conversion(layout);
        let mut firsts = vec![0; self.blocks() * layout.words()];
        let old = self.firsts.chunks_exact(self.layout.words());
        for (old, new) in old.zip(firsts.chunks_exact_mut(layout.words())) {
            conversion.convert(old, new);
        }
        Run {
            layout: Arc::clone(layout),
            firsts,
            offsets: self.offsets.clone(),
            stored: Arc::clone(&self.stored),
            levels: self.levels.clone(),
            name: self.name.clone(),
            path: self.path.clone(),
            synced: AtomicBool::new(self.synced.load(Relaxed)),
            ..*self
        }
    }

    fn first(&self, block: usize) -> Option<&[u64]> {
        let words = self.layout.words();
        self.firsts.get(block * words..(block + 1) * words)
    }

    /// Takes those candidates out of `open` that are in this run: numbers, ascending, of `candidates`, which are in ascending order.
    pub(crate) fn sift(
        &self,
        candidates: &[u64],
        open: &mut Vec<u32>,
        is_over: &dyn Fn() -> bool,
    ) -> Result<()> {
        match self.layout.words() {
            1 => self.sift_words::<1>(candidates, open, is_over),
            2 => self.sift_words::<2>(candidates, open, is_over),
            3 => self.sift_words::<3>(candidates, open, is_over),
            _ => self.sift_words::<0>(candidates, open, is_over),
        }
    }

    /// `W` is the number of words of a state, or 0 if it is not known when this is compiled.
    fn sift_words<const W: usize>(
        &self,
        candidates: &[u64],
        open: &mut Vec<u32>,
        is_over: &dyn Fn() -> bool,
    ) -> Result<()> {
        let words = if W == 0 { self.layout.words() } else { W };
        let candidate = |i: u32| &candidates[i as usize * words..][..words];
        let mut reader = None;
        let mut states = Vec::new();
        let (mut next, mut kept) = (0, 0);
        let mut block = 0;
        while next < open.len() {
            let sought = candidate(open[next]);
            // The last block that does not begin behind it.
            if self.first(block + 1).is_some_and(|first| first <= sought) {
                block = self.block_of(sought, block + 1);
            }
            if self.first(block).is_none_or(|first| first > sought) {
                open[kept] = open[next];
                (next, kept) = (next + 1, kept + 1);
                continue;
            }
            let reader = match &mut reader {
                Some(reader) => reader,
                none => none.insert(RunReader::new(self)?),
            };
            if is_over() {
                return Err(ErrorKind::Interrupted.into());
            }
            reader.read(self, block, &mut states)?;
            let end = self.first(block + 1);
            let mut rest = states.chunks_exact(words).peekable();
            while next < open.len() {
                let sought = candidate(open[next]);
                if end.is_some_and(|end| !less::<W>(sought, end)) {
                    break;
                }
                while rest.next_if(|state| less::<W>(state, sought)).is_some() {}
                if rest.peek().is_none_or(|state| *state != sought) {
                    open[kept] = open[next];
                    kept += 1;
                }
                next += 1;
            }
        }
        open.truncate(kept);
        Ok(())
    }

    /// The last block from `from` on that does not begin behind a state; the one at `from` does not.
    fn block_of(&self, state: &[u64], from: usize) -> usize {
        let begins = |block: usize| self.first(block).is_some_and(|first| first <= state);
        let mut step = 1;
        while begins(from + step) {
            step *= 2;
        }
        // Before the middle they begin, behind it they do not.
        let (mut low, mut high) = (from + step / 2, from + step);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match begins(middle) {
                true => low = middle,
                false => high = middle,
            }
        }
        low
    }

    /// Removes the file.
    pub(crate) fn remove(&self) {
        let _ = std::fs::remove_file(&self.path);
    }

    /// What was written will survive the machine's sudden end.
    pub(crate) fn sync(&self) -> Result<()> {
        if !self.synced.load(Relaxed) {
            File::open(&self.path)?.sync_all()?;
            self.synced.store(true, Relaxed);
        }
        Ok(())
    }

    /// Reads where the blocks of a file begin. Each state is checked.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn open(
        folder: &Folder,
        name: String,
        shard: usize,
        levels: Range<u64>,
        layout: &Arc<Layout>,
        bytes: u64,
        check: &mut dyn FnMut(&[u64]) -> bool,
    ) -> Result<Run> {
        if name.contains(['/', '\\']) || levels.is_empty() {
            return Err(damaged());
        }
        let mut run = Run {
            shard,
            levels,
            len: 0,
            path: folder.path().join(&name),
            name,
            stored: Arc::clone(layout),
            layout: Arc::clone(layout),
            firsts: Vec::new(),
            offsets: vec![0],
            synced: AtomicBool::new(true),
        };
        let mut file = File::open(&run.path)?;
        if file.metadata()?.len() != bytes {
            return Err(damaged());
        }
        let (mut block, mut states, mut levels) = (Vec::new(), Vec::new(), Vec::new());
        let mut last: Vec<u64> = Vec::new();
        let words = layout.words();
        let mut offset = 0;
        while offset < bytes {
            let mut header = [0; HEADER];
            file.read_exact(&mut header)?;
            let length = number(&header[12..]) as u64;
            offset += HEADER as u64 + length;
            if offset > bytes {
                return Err(damaged());
            }
            block.clear();
            block.extend_from_slice(&header);
            (&mut file).take(length).read_to_end(&mut block)?;
            run.decode(run.blocks(), &block, &mut states, &mut levels)?;
            let mut in_order = states.chunks_exact(words);
            if !in_order.all(|state| {
                let ascending = last.is_empty() || last[..] < *state;
                last.clear();
                last.extend_from_slice(state);
                ascending && check(state)
            }) {
                return Err(damaged());
            }
            run.len += (states.len() / words) as u64;
            run.firsts.extend_from_slice(&states[..words]);
            run.offsets.push(offset);
        }
        Ok(run)
    }

    /// Reads the states of a block, and their levels if they have some.
    fn decode(
        &self,
        block: usize,
        bytes: &[u8],
        states: &mut Vec<u64>,
        levels: &mut Vec<u64>,
    ) -> Result<()> {
        let (header, payload) = bytes.split_at_checked(HEADER).ok_or_else(damaged)?;
        let count = number(&header[8..]) as usize;
        if long_number(header) != checksum(block, &bytes[8..])
            || number(&header[12..]) as usize != payload.len()
            || count == 0
            || count > BLOCK
        {
            return Err(damaged());
        }
        let words = self.stored.words();
        states.clear();
        states.resize(count * words, 0);
        levels.clear();
        let span = self.levels.end - self.levels.start;
        let levels = self.has_levels().then_some((levels, span));
        match words {
            1 | 2 => decode_small(payload, states, words, levels),
            _ => decode_any(payload, states, words, levels),
        }
        .ok_or_else(damaged)
    }
}

#[inline(always)]
fn less<const W: usize>(a: &[u64], b: &[u64]) -> bool {
    match W {
        1 => a[0] < b[0],
        2 => (a[0], a[1]) < (b[0], b[1]),
        _ => a < b,
    }
}

fn number(bytes: &[u8]) -> u32 {
    let mut array = [0; 4];
    array.copy_from_slice(&bytes[..4]);
    u32::from_le_bytes(array)
}

fn long_number(bytes: &[u8]) -> u64 {
    let mut array = [0; 8];
    array.copy_from_slice(&bytes[..8]);
    u64::from_le_bytes(array)
}

/// Notices damage, not malice.
fn checksum(block: usize, bytes: &[u8]) -> u64 {
    let mut sum = hash_of(block as u64 ^ ((bytes.len() as u64) << 32));
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        sum = hash_of(sum ^ long_number(word)).wrapping_add(sum << 1);
    }
    let mut last = [0; 8];
    last[..words.remainder().len()].copy_from_slice(words.remainder());
    hash_of(sum ^ u64::from_le_bytes(last))
}

// A state is a number of several words, the first word the highest. Written is by how much it is larger than the one before: bytes that are 0 at the low end are
// counted, not written, and so are those at the high end. The two counts are in one byte, if they are small enough.
const ESCAPE: u8 = 0xff;

fn write_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[inline(always)]
fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn write_difference(out: &mut Vec<u8>, before: &[u64], state: &[u64]) {
    let long = |state: &[u64]| match *state {
        [only] => u128::from(only),
        [high, low] => u128::from(high) << 64 | u128::from(low),
        _ => 0,
    };
    let words = state.len();
    if words <= 2 {
        let difference = long(state).wrapping_sub(long(before));
        let zeros = match difference {
            0 => 0,
            _ => difference.trailing_zeros() as usize / 8,
        };
        let rest = difference >> (8 * zeros);
        let count = (u128::BITS - rest.leading_zeros()).div_ceil(8) as usize;
        if zeros < 15 && count < 16 {
            out.push((zeros << 4 | count) as u8);
            out.extend_from_slice(&rest.to_le_bytes()[..count]);
            return;
        }
    }
    let mut difference = vec![0; words];
    let mut borrow = false;
    for i in (0..words).rev() {
        let (less, one) = state[i].overflowing_sub(before[i]);
        let (less, two) = less.overflowing_sub(u64::from(borrow));
        difference[words - 1 - i] = less;
        borrow = one || two;
    }
    let bytes: Vec<u8> = difference.iter().flat_map(|w| w.to_le_bytes()).collect();
    let low = bytes.iter().position(|&byte| byte != 0).unwrap_or(0);
    let high = bytes
        .iter()
        .rposition(|&byte| byte != 0)
        .map_or(low, |i| i + 1);
    let (zeros, count) = (low, high - low);
    if zeros < 15 && count < 16 {
        out.push((zeros << 4 | count) as u8);
    } else {
        out.push(ESCAPE);
        write_number(out, zeros as u64);
        write_number(out, count as u64);
    }
    out.extend_from_slice(&bytes[low..high]);
}

#[inline(always)]
fn read_counts(bytes: &mut &[u8]) -> Option<(usize, usize)> {
    let (&byte, rest) = bytes.split_first()?;
    *bytes = rest;
    if byte != ESCAPE {
        return Some((usize::from(byte >> 4), usize::from(byte & 15)));
    }
    let zeros = usize::try_from(read_number(bytes)?).ok()?;
    Some((zeros, usize::try_from(read_number(bytes)?).ok()?))
}

type LevelsOf<'a> = Option<(&'a mut Vec<u64>, u64)>;

fn read_level(bytes: &mut &[u8], levels: &mut LevelsOf<'_>) -> Option<()> {
    if let Some((levels, span)) = levels {
        let level = read_number(bytes)?;
        if level >= *span {
            return None;
        }
        levels.push(level);
    }
    Some(())
}

/// States of one word or two.
fn decode_small(
    mut bytes: &[u8],
    states: &mut [u64],
    words: usize,
    mut levels: LevelsOf<'_>,
) -> Option<()> {
    let mut last = 0_u128;
    for state in states.chunks_exact_mut(words) {
        let (zeros, count) = read_counts(&mut bytes)?;
        let piece = bytes.get(..count)?;
        let difference = match bytes.first_chunk::<16>() {
            // Most blocks are longer than that, and reading more than is needed is faster than reading byte by byte.
            Some(more) if (1..=16).contains(&count) => {
                u128::from_le_bytes(*more) & (u128::MAX >> (8 * (16 - count)))
            }
            _ => {
                let mut array = [0; 16];
                array.get_mut(..count)?.copy_from_slice(piece);
                u128::from_le_bytes(array)
            }
        };
        bytes = &bytes[count..];
        if zeros + count > 8 * words {
            return None;
        }
        last = last.checked_add(difference.checked_shl(8 * zeros as u32).unwrap_or(0))?;
        match state {
            [only] => *only = u64::try_from(last).ok()?,
            [high, low] => (*high, *low) = ((last >> 64) as u64, last as u64),
            _ => return None,
        }
        read_level(&mut bytes, &mut levels)?;
    }
    bytes.is_empty().then_some(())
}

fn decode_any(
    mut bytes: &[u8],
    states: &mut [u64],
    words: usize,
    mut levels: LevelsOf<'_>,
) -> Option<()> {
    let mut last = vec![0_u64; words];
    for state in states.chunks_exact_mut(words) {
        let (zeros, count) = read_counts(&mut bytes)?;
        let piece = bytes.get(..count)?;
        bytes = &bytes[count..];
        if zeros.checked_add(count)? > 8 * words {
            return None;
        }
        state.fill(0);
        for (i, &byte) in piece.iter().enumerate() {
            let at = zeros + i;
            state[words - 1 - at / 8] |= u64::from(byte) << (8 * (at % 8));
        }
        let mut carry = false;
        for i in (0..words).rev() {
            let (sum, one) = state[i].overflowing_add(last[i]);
            let (sum, two) = sum.overflowing_add(u64::from(carry));
            state[i] = sum;
            carry = one || two;
        }
        if carry {
            return None;
        }
        last.copy_from_slice(state);
        read_level(&mut bytes, &mut levels)?;
    }
    bytes.is_empty().then_some(())
}

/// Two runs of a shard become one.
pub(crate) fn merge(
    folder: &Folder,
    one: &Run,
    other: &Run,
    layout: &Arc<Layout>,
    is_over: &dyn Fn() -> bool,
) -> Result<Run> {
    let start = one.levels.start.min(other.levels.start);
    let levels = start..one.levels.end.max(other.levels.end);
    let mut writer = RunWriter::new(folder, one.shard, levels, layout)?;
    let mut one = Cursor::new(one, start, layout)?;
    let mut other = Cursor::new(other, start, layout)?;
    loop {
        let (state, level) = match (one.state(), other.state()) {
            (Some(a), Some(b)) if a.0 < b.0 => a,
            (_, Some(b)) => b,
            (Some(a), None) => a,
            (None, None) => break,
        };
        writer.push(state, level)?;
        if writer.count == 0 && is_over() {
            return Err(ErrorKind::Interrupted.into());
        }
        // No state is in both.
        let from_one = one.state().is_some_and(|(a, _)| a == writer.last);
        match from_one {
            true => one.advance()?,
            false => other.advance()?,
        }
    }
    writer.finish()?.ok_or_else(damaged)
}

/// The states of a run, one after the other.
struct Cursor<'a> {
    run: &'a Run,
    reader: RunReader,
    /// What is added to the levels.
    above: u64,
    block: usize,
    states: Vec<u64>,
    at: usize,
    words: usize,
}

impl<'a> Cursor<'a> {
    /// Levels are counted from `start` on. The run is one in this packing.
    fn new(run: &'a Run, start: u64, layout: &Layout) -> Result<Cursor<'a>> {
        let mut cursor = Cursor {
            run,
            reader: RunReader::new(run)?,
            above: run.levels.start - start,
            block: 0,
            states: Vec::new(),
            at: 0,
            words: layout.words(),
        };
        cursor.read()?;
        Ok(cursor)
    }

    fn read(&mut self) -> Result<()> {
        self.at = 0;
        self.states.clear();
        if self.block < self.run.blocks() {
            self.reader.read(self.run, self.block, &mut self.states)?;
            self.block += 1;
        }
        Ok(())
    }

    fn state(&self) -> Option<(&[u64], u64)> {
        let begin = self.at * self.words;
        let state = self.states.get(begin..begin + self.words)?;
        let level = self.reader.levels.get(self.at).copied().unwrap_or(0);
        Some((state, self.above + level))
    }

    fn advance(&mut self) -> Result<()> {
        self.at += 1;
        match self.at * self.words < self.states.len() {
            true => Ok(()),
            false => self.read(),
        }
    }
}

/// Reads blocks of a run.
pub(crate) struct RunReader {
    file: File,
    conversion: Option<Conversion>,
    /// Blocks as they are in the file, and which.
    buffer: Vec<u8>,
    buffered: Range<usize>,
    /// The block that was read last.
    last: Option<usize>,
    /// States as they are in the file, where they are to be packed in another way.
    states: Vec<u64>,
    /// For each state of the block that was read last, how far above the run's first level it is; nothing if all are on that level.
    pub(crate) levels: Vec<u64>,
}

impl RunReader {
    pub(crate) fn new(run: &Run) -> Result<RunReader> {
        let same = run.stored.bits().eq(run.layout.bits());
        Ok(RunReader {
            file: File::open(&run.path)?,
            conversion: (!same).then(|| run.stored.conversion(&run.layout)),
            buffer: Vec::new(),
            buffered: 0..0,
            last: None,
            states: Vec::new(),
            levels: Vec::new(),
        })
    }

    /// Reads the states of a block.
    pub(crate) fn read(&mut self, run: &Run, block: usize, out: &mut Vec<u64>) -> Result<()> {
        if !self.buffered.contains(&block) {
            self.fill(run, block)?;
        }
        self.last = Some(block);
        let base = run.offsets[self.buffered.start];
        let range = (run.offsets[block] - base) as usize..(run.offsets[block + 1] - base) as usize;
        let bytes = self.buffer.get(range).ok_or_else(damaged)?;
        let Some(conversion) = &self.conversion else {
            return run.decode(block, bytes, out, &mut self.levels);
        };
        run.decode(block, bytes, &mut self.states, &mut self.levels)?;
        let (old, new) = (run.stored.words(), run.layout.words());
        out.clear();
        out.resize(self.states.len() / old * new, 0);
        let states = self.states.chunks_exact(old);
        for (state, words) in states.zip(out.chunks_exact_mut(new)) {
            conversion.convert(state, words);
        }
        Ok(())
    }

    /// Reads as they are a block, and those behind it if blocks are read one after the other.
    fn fill(&mut self, run: &Run, block: usize) -> Result<()> {
        let start = run.offsets[block];
        let near = |last: usize| (last..=last + GAP).contains(&block);
        let mut end = block + 1;
        if block == 0 || self.last.is_some_and(near) {
            while end < run.blocks() && run.offsets[end + 1] - start <= BUFFER as u64 {
                end += 1;
            }
        }
        self.buffered = 0..0;
        self.buffer.resize((run.offsets[end] - start) as usize, 0);
        self.file.seek(SeekFrom::Start(start))?;
        self.file.read_exact(&mut self.buffer)?;
        self.buffered = block..end;
        Ok(())
    }
}

/// Writes a run.
pub(crate) struct RunWriter {
    run: Run,
    file: File,
    buffer: Vec<u8>,
    /// Where the block begins in the buffer, and how many states it has.
    block: usize,
    count: usize,
    last: Vec<u64>,
}

impl RunWriter {
    pub(crate) fn new(
        folder: &Folder,
        shard: usize,
        levels: Range<u64>,
        layout: &Arc<Layout>,
    ) -> Result<RunWriter> {
        let name = folder.new_name();
        let path = folder.path().join(&name);
        Ok(RunWriter {
            file: File::create_new(&path)?,
            run: Run {
                shard,
                levels,
                len: 0,
                name,
                path,
                stored: Arc::clone(layout),
                layout: Arc::clone(layout),
                firsts: Vec::new(),
                offsets: vec![0],
                synced: AtomicBool::new(false),
            },
            buffer: Vec::new(),
            block: 0,
            count: 0,
            last: vec![0; layout.words()],
        })
    }

    /// Adds a state; it comes behind all others. `level` counts from the run's first one.
    pub(crate) fn push(&mut self, state: &[u64], level: u64) -> Result<()> {
        if self.count == 0 {
            self.block = self.buffer.len();
            self.buffer.resize(self.block + HEADER, 0);
            self.run.firsts.extend_from_slice(state);
            self.last.fill(0);
        }
        write_difference(&mut self.buffer, &self.last, state);
        if self.run.has_levels() {
            write_number(&mut self.buffer, level);
        }
        self.last.copy_from_slice(state);
        self.count += 1;
        if self.count == BLOCK {
            self.end_block()?;
        }
        Ok(())
    }

    fn end_block(&mut self) -> Result<()> {
        if self.count == 0 {
            return Ok(());
        }
        let block = &mut self.buffer[self.block..];
        let length = (block.len() - HEADER) as u32;
        block[8..12].copy_from_slice(&(self.count as u32).to_le_bytes());
        block[12..16].copy_from_slice(&length.to_le_bytes());
        let sum = checksum(self.run.blocks(), &block[8..]);
        block[..8].copy_from_slice(&sum.to_le_bytes());
        let end = self.run.bytes() + block.len() as u64;
        self.run.offsets.push(end);
        self.run.len += self.count as u64;
        self.count = 0;
        if self.buffer.len() >= BUFFER {
            self.file.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }

    /// The run, if it has any states.
    pub(crate) fn finish(mut self) -> Result<Option<Run>> {
        self.end_block()?;
        self.file.write_all(&self.buffer)?;
        self.run.firsts.shrink_to_fit();
        self.run.offsets.shrink_to_fit();
        if self.run.len == 0 {
            std::fs::remove_file(&self.run.path)?;
            return Ok(None);
        }
        Ok(Some(self.run))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{Disk, sorted};

    fn random_rows(count: u64, width: u64) -> Vec<Vec<u32>> {
        let row = |i| {
            let number = |component| (hash_of(i % 1500 * width + component) >> 40) as u32;
            (0..width)
                .map(|component| number(component) >> (8 + component % 16))
                .collect()
        };
        (0..count).map(row).collect()
    }

    fn packed(layout: &Layout, row: &[u32]) -> Vec<u64> {
        let mut words = vec![0; layout.words()];
        layout.pack(row, &mut words).unwrap();
        words
    }

    #[test]
    fn what_is_in_a_run_is_found_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::create(&Disk::new(parent.path())).unwrap();
        for width in [1, 3, 7, 11, 40, 150] {
            let rows = random_rows(5000, width as u64);
            let order: Vec<usize> = (0..width).rev().collect();
            let layout = Arc::new(Layout::ordered(&order, &vec![16; width]));
            let wide = Arc::new(Layout::ordered(&order, &vec![19; width]));
            let states = |layout: &Layout, rows: &[Vec<u32>]| {
                let packed = rows.iter().flat_map(|row| packed(layout, row));
                let sorted = sorted::sort(packed.collect(), layout.words());
                let mut states: Vec<Vec<u64>> =
                    sorted.chunks_exact(layout.words()).map(Vec::from).collect();
                states.dedup();
                states
            };
            for levels in [3..4, 3..300] {
                let all = states(&layout, &rows);
                let mut writer = RunWriter::new(&folder, 0, levels.clone(), &layout).unwrap();
                let span = levels.end - levels.start;
                for (i, state) in all.iter().step_by(2).enumerate() {
                    writer.push(state, i as u64 % span).unwrap();
                }
                let run = writer.finish().unwrap().unwrap();
                assert_eq!(run.len, all.len().div_ceil(2) as u64);
                for (run, all) in [
                    (run.in_layout(&wide), states(&wide, &rows)),
                    (run.in_layout(&wide).in_layout(&layout), all.clone()),
                    (run, all),
                ] {
                    for step in [1, 3, 700] {
                        let mut open: Vec<u32> = (0..all.len() as u32).step_by(step).collect();
                        let expected: Vec<u32> =
                            open.iter().copied().filter(|i| i % 2 == 1).collect();
                        run.sift(&all.concat(), &mut open, &|| false).unwrap();
                        assert_eq!(open, expected);
                    }
                    let mut reader = RunReader::new(&run).unwrap();
                    let (mut read, mut out, mut found) = (Vec::new(), Vec::new(), Vec::new());
                    for block in 0..run.blocks() {
                        reader.read(&run, block, &mut out).unwrap();
                        read.extend_from_slice(&out);
                        found.extend_from_slice(&reader.levels);
                    }
                    let expected: Vec<Vec<u64>> = all.iter().step_by(2).cloned().collect();
                    assert_eq!(read, expected.concat());
                    assert!(found.iter().enumerate().all(|(i, l)| i as u64 % span == *l));
                    assert_eq!(found.is_empty(), span == 1);
                }
            }
        }
    }

    #[test]
    fn merged_runs_have_all_states_and_their_levels() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::create(&Disk::new(parent.path())).unwrap();
        for words in [1, 2, 3, 9] {
            let layout = Arc::new(Layout::ordered(
                &(0..2 * words).collect::<Vec<_>>(),
                &vec![32; 2 * words],
            ));
            let state = |i: u64| {
                let mut state = vec![i / 3; words];
                state[words - 1] = i.wrapping_mul(0x0123_4567);
                state
            };
            let run = |levels: Range<u64>, numbers: &mut dyn Iterator<Item = u64>| {
                let mut writer = RunWriter::new(&folder, 0, levels.clone(), &layout).unwrap();
                for i in numbers {
                    writer
                        .push(&state(i), i % (levels.end - levels.start))
                        .unwrap();
                }
                writer.finish().unwrap().unwrap()
            };
            // For words that are one number only, the product decides about the order.
            let one = run(4..9, &mut (0..2000).filter(|i| i % 3 != 1));
            let other = run(2..3, &mut (0..2500).filter(|i| i % 3 == 1));
            let merged = merge(&folder, &one, &other, &layout, &|| false).unwrap();
            assert_eq!((merged.len, &merged.levels), (one.len + other.len, &(2..9)));
            let mut cursor = Cursor::new(&merged, 0, &layout).unwrap();
            for i in (0..2500).filter(|i| i % 3 == 1 || *i < 2000) {
                let level = if i % 3 == 1 { 2 } else { 4 + i % 5 };
                assert_eq!(cursor.state(), Some((&state(i)[..], level)));
                cursor.advance().unwrap();
            }
            assert_eq!(cursor.state(), None);
        }
    }

    #[test]
    fn damage_is_noticed() {
        let parent = tempfile::tempdir().unwrap();
        let folder = Folder::create(&Disk::new(parent.path())).unwrap();
        let layout = Arc::new(Layout::ordered(&[0, 1], &[32, 32]));
        let mut writer = RunWriter::new(&folder, 0, 0..2, &layout).unwrap();
        for i in 0..2000_u64 {
            writer.push(&[i * i], i % 2).unwrap();
        }
        let run = writer.finish().unwrap().unwrap();
        let bytes = std::fs::read(&run.path).unwrap();
        for place in (0..bytes.len()).step_by(101) {
            for mask in [1, 0x80, 0xff] {
                let mut wrong = bytes.clone();
                wrong[place] ^= mask;
                std::fs::write(&run.path, &wrong).unwrap();
                let mut reader = RunReader::new(&run).unwrap();
                let mut out = Vec::new();
                let blocks = 0..run.blocks();
                let read = blocks.map(|block| reader.read(&run, block, &mut out));
                assert!(read.into_iter().any(|result| result.is_err()));
                let (name, length) = (run.name.clone(), bytes.len() as u64);
                let open = Run::open(&folder, name, 0, 0..2, &layout, length, &mut |_| true);
                assert!(open.is_err());
            }
        }
        std::fs::write(&run.path, &bytes[..bytes.len() - 1]).unwrap();
        let mut out = Vec::new();
        let mut reader = RunReader::new(&run).unwrap();
        assert!(reader.read(&run, run.blocks() - 1, &mut out).is_err());
    }
}
