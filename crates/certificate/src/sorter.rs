//! Sorting more than memory holds: runs are sorted in memory, put on disk, and merged.

use crate::numbers::put;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};

/// Bytes that are kept in memory before they go to disk.
const RUN_BYTES: usize = 64 << 20;

/// So many runs on disk are merged into one, because there may not be any number of open files.
const MOST_RUNS: usize = 64;

/// Takes byte strings in any order and gives them back in ascending order, each once.
pub struct Sorter {
    bytes: Vec<u8>,
    /// Where each string of the present run stands in `bytes`.
    strings: Vec<(usize, usize)>,
    runs: Vec<File>,
    run_bytes: usize,
}

impl Default for Sorter {
    fn default() -> Self {
        Sorter::with_run_bytes(RUN_BYTES)
    }
}

impl Sorter {
    /// One that goes to disk after about so many bytes.
    pub fn with_run_bytes(run_bytes: usize) -> Self {
        Sorter {
            bytes: Vec::new(),
            strings: Vec::new(),
            runs: Vec::new(),
            run_bytes,
        }
    }

    /// Takes a string.
    pub fn push(&mut self, string: &[u8]) -> io::Result<()> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(string);
        self.strings.push((start, self.bytes.len()));
        let used = self.bytes.len() + self.strings.len() * size_of::<(usize, usize)>();
        if used >= self.run_bytes {
            self.sort();
            // Where most were there already, there is room again.
            let left: usize = self.strings.iter().map(|(start, end)| end - start).sum();
            if left + self.strings.len() * size_of::<(usize, usize)>() > self.run_bytes / 2 {
                self.spill()?;
            } else {
                self.close_gaps(left);
            }
        }
        Ok(())
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        let text = |&(start, end): &(usize, usize)| &bytes[start..end];
        self.strings.sort_unstable_by(|a, b| text(a).cmp(text(b)));
        self.strings.dedup_by(|a, b| text(a) == text(b));
    }

    fn close_gaps(&mut self, left: usize) {
        let mut bytes = Vec::with_capacity(left);
        for (start, end) in &mut self.strings {
            let from = bytes.len();
            bytes.extend_from_slice(&self.bytes[*start..*end]);
            (*start, *end) = (from, bytes.len());
        }
        self.bytes = bytes;
    }

    /// Writes the sorted run to disk.
    fn spill(&mut self) -> io::Result<()> {
        let mut run = NewRun::new()?;
        for &(start, end) in &self.strings {
            run.push(&self.bytes[start..end])?;
        }
        self.runs.push(run.finish()?);
        self.bytes.clear();
        self.strings.clear();
        if self.runs.len() >= MOST_RUNS {
            let mut merged = Sorted::new(std::mem::take(&mut self.runs), None)?;
            let mut run = NewRun::new()?;
            while let Some(string) = merged.next_string()? {
                run.push(string)?;
            }
            self.runs.push(run.finish()?);
        }
        Ok(())
    }

    /// All strings, ascending.
    pub fn finish(mut self) -> io::Result<Sorted> {
        self.sort();
        let last = Run::Memory {
            bytes: self.bytes,
            strings: self.strings.into_iter(),
        };
        Sorted::new(self.runs, Some(last))
    }
}

/// A run that is being written to disk.
struct NewRun {
    file: BufWriter<File>,
    length: Vec<u8>,
}

impl NewRun {
    fn new() -> io::Result<Self> {
        Ok(NewRun {
            file: BufWriter::new(tempfile::tempfile()?),
            length: Vec::new(),
        })
    }

    fn push(&mut self, string: &[u8]) -> io::Result<()> {
        self.length.clear();
        put(string.len() as u64, &mut self.length);
        self.file.write_all(&self.length)?;
        self.file.write_all(string)
    }

    fn finish(self) -> io::Result<File> {
        let mut file = self.file.into_inner().map_err(io::Error::from)?;
        file.seek(SeekFrom::Start(0))?;
        Ok(file)
    }
}

enum Run {
    Disk(BufReader<File>),
    Memory {
        bytes: Vec<u8>,
        strings: std::vec::IntoIter<(usize, usize)>,
    },
}

impl Run {
    fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        match self {
            Run::Memory { bytes, strings } => Ok(strings
                .next()
                .map(|(start, end)| bytes[start..end].to_vec())),
            Run::Disk(reader) => {
                let Some(length) = read_length(reader)? else {
                    return Ok(None);
                };
                let mut string = vec![0; length];
                reader.read_exact(&mut string)?;
                Ok(Some(string))
            }
        }
    }
}

/// A length that we wrote ourselves; `None` at the end of the file.
fn read_length(reader: &mut impl Read) -> io::Result<Option<usize>> {
    let mut length = 0usize;
    let mut shift = 0;
    loop {
        let mut byte = [0];
        match reader.read_exact(&mut byte) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && shift == 0 => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        }
        length |= usize::from(byte[0] & 0x7f) << shift;
        if byte[0] & 0x80 == 0 {
            return Ok(Some(length));
        }
        shift += 7;
    }
}

#[derive(PartialEq, Eq)]
struct Head(Vec<u8>, usize);

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Head {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.0, self.1).cmp(&(&other.0, other.1))
    }
}

/// Sorted strings, one after the other.
pub struct Sorted {
    runs: Vec<Run>,
    heads: BinaryHeap<Reverse<Head>>,
    last: Option<Vec<u8>>,
}

impl Sorted {
    fn new(disk: Vec<File>, memory: Option<Run>) -> io::Result<Self> {
        let disk = disk.into_iter();
        let disk = disk.map(|file| Run::Disk(BufReader::with_capacity(1 << 16, file)));
        let mut sorted = Sorted {
            runs: disk.chain(memory).collect(),
            heads: BinaryHeap::new(),
            last: None,
        };
        for run in 0..sorted.runs.len() {
            sorted.refill(run)?;
        }
        Ok(sorted)
    }

    fn refill(&mut self, run: usize) -> io::Result<()> {
        if let Some(string) = self.runs[run].next()? {
            self.heads.push(Reverse(Head(string, run)));
        }
        Ok(())
    }

    /// The next string.
    pub fn next_string(&mut self) -> io::Result<Option<&[u8]>> {
        while let Some(Reverse(Head(string, run))) = self.heads.pop() {
            self.refill(run)?;
            if self.last.as_deref() != Some(&string) {
                self.last = Some(string);
                return Ok(self.last.as_deref());
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_same_as_in_memory() {
        for (seed, run_bytes) in [(1, 1 << 20), (2, 3000), (3, 200)] {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut sorter = Sorter::with_run_bytes(run_bytes);
            let mut expected = BTreeSet::new();
            for _ in 0..5000 {
                let string: Vec<u8> = (0..random.usize(0..4)).map(|_| random.u8(0..9)).collect();
                sorter.push(&string).unwrap();
                expected.insert(string);
            }
            for at in 0..300u32 {
                let string = [at.to_be_bytes(), [1; 4]].concat();
                sorter.push(&string).unwrap();
                expected.insert(string);
            }
            assert!(sorter.runs.len() < MOST_RUNS);
            assert_eq!(sorter.runs.is_empty(), run_bytes == 1 << 20, "{run_bytes}");
            let mut sorted = sorter.finish().unwrap();
            for string in expected {
                assert_eq!(sorted.next_string().unwrap(), Some(string.as_slice()));
            }
            assert!(sorted.next_string().unwrap().is_none());
        }
    }
}
