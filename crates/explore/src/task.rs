//! The part of a level that is still to be expanded: a share for each walking thread, in chunks.

use crate::levels::{SHARDS, Span};
use crate::pack::Layout;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// States of one shard that are taken to be expanded at once, about.
const SLICE: u32 = 8;
/// Levels with fewer states are narrow: threads find so few successors in them that nothing is inserted before all are found.
const NARROW: usize = 2048;

/// Something that several threads change, away from the cache lines of its neighbours.
#[repr(align(128))]
#[derive(Default)]
pub(crate) struct Alone<T>(pub(crate) T);

/// The shards of the threads before this one.
fn shards_before(thread: usize, threads: usize) -> usize {
    (thread * SHARDS).div_ceil(threads)
}

/// Which of so many threads a shard belongs to.
fn owner_of(shard: usize, threads: usize) -> usize {
    shard * threads / SHARDS
}

/// What is to be expanded now.
pub(crate) struct Task {
    pub(crate) level: u64,
    pub(crate) layout: Arc<Layout>,
    shares: Vec<Share>,
}

/// What one thread is to do.
#[derive(Default)]
struct Share {
    /// Some of the spans that are to be expanded, or a part of each.
    spans: Vec<Span>,
    /// How many slices the longest one has.
    slices: usize,
    narrow: bool,
    /// The next chunk.
    cursor: Alone<AtomicUsize>,
    /// How many of the shards have been taken to insert into.
    taken: Alone<AtomicUsize>,
}

impl Task {
    pub(crate) fn new(layout: Arc<Layout>) -> Task {
        Task {
            level: 0,
            layout,
            shares: Vec::new(),
        }
    }

    /// From now on, these states of this level are to be expanded, by so many threads.
    ///
    /// In a wide level each thread has shards of its own. In a narrow one, each has a piece of every shard. A shard has its states in
    /// the order in which they were found, and those that were found one after the other have many successors in common: they are cheap for
    /// a thread that [remembers](crate::recent::Recent) them. (In a wide level threads would get in each other's way, because they insert, too.)
    pub(crate) fn assign(&mut self, level: u64, spans: &mut Vec<Span>, threads: usize) {
        self.level = level;
        let states: usize = spans.iter().map(|span| span.range.len()).sum();
        let narrow = states < NARROW;
        self.shares.resize_with(threads, Share::default);
        for (thread, share) in self.shares.iter_mut().enumerate() {
            let piece = |Span { shard, range }: &Span| {
                let cut = |thread| range.start + (range.len() * thread / threads) as u32;
                let range = match narrow {
                    true => cut(thread)..cut(thread + 1),
                    false if owner_of(*shard, threads) == thread => range.clone(),
                    false => return None,
                };
                let shard = *shard;
                (!range.is_empty()).then_some(Span { shard, range })
            };
            share.spans.clear();
            share.spans.extend(spans.iter().filter_map(piece));
            let longest = share.spans.iter().map(|span| span.range.len()).max();
            share.slices = longest.unwrap_or(0).div_ceil(SLICE as usize);
            share.narrow = narrow;
            *share.cursor.0.get_mut() = 0;
            *share.taken.0.get_mut() = 0;
        }
        spans.clear();
    }

    /// How many threads do it.
    pub(crate) fn threads(&self) -> usize {
        self.shares.len()
    }

    /// A part to expand at once, for one of the threads: of its own share, or when that is done, of another's.
    pub(crate) fn take(&self, thread: usize) -> Option<Span> {
        self.from(thread)
            .find_map(|owner| self.shares[owner].take())
    }

    /// A shard to insert into, in the same way. Each is given away once.
    pub(crate) fn take_shard(&self, thread: usize) -> Option<usize> {
        let threads = self.threads();
        self.from(thread).find_map(|owner| {
            let first = shards_before(owner, threads);
            let shard = first + self.shares[owner].taken.0.fetch_add(1, Relaxed);
            (shard < shards_before(owner + 1, threads)).then_some(shard)
        })
    }

    /// All threads, from this one on.
    fn from(&self, thread: usize) -> impl Iterator<Item = usize> {
        let threads = self.threads();
        (0..threads).map(move |distance| (thread + distance) % threads)
    }

    /// What has not been taken.
    pub(crate) fn rest(&self) -> impl Iterator<Item = Span> + '_ {
        self.shares.iter().flat_map(|share| {
            let next = share.cursor.0.load(Relaxed);
            (next..share.chunks()).map(|number| share.chunk(number))
        })
    }
}

impl Share {
    fn take(&self) -> Option<Span> {
        loop {
            let number = self.cursor.0.fetch_add(1, Relaxed);
            if number >= self.chunks() {
                return None;
            }
            let chunk = self.chunk(number);
            if !chunk.range.is_empty() {
                return Some(chunk);
            }
        }
    }

    fn chunks(&self) -> usize {
        self.spans.len() * self.slices
    }

    fn chunk(&self, number: usize) -> Span {
        let (span, slice) = if self.narrow {
            // One shard after the other: going to where another thread was last takes some time.
            (number / self.slices, number % self.slices)
        } else {
            // First the first slices of all spans, then the second ones, and so on: nearly in the order in which the states were found.
            (number % self.spans.len(), number / self.spans.len())
        };
        let Span { shard, range } = &self.spans[span];
        let start = (range.start + slice as u32 * SLICE).min(range.end);
        Span {
            shard: *shard,
            range: start..(start + SLICE).min(range.end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shard_is_given_away_once() {
        let mut task = Task::new(Arc::new(Layout::new(&[1])));
        for threads in [1, 2, 3, 7, 63, 64, 65, 200] {
            task.assign(0, &mut Vec::new(), threads);
            for shard in 0..SHARDS {
                let owner = owner_of(shard, threads);
                let owned = shards_before(owner, threads)..shards_before(owner + 1, threads);
                assert!(owned.contains(&shard));
            }
            let mut taken = Vec::new();
            for thread in [0, 0, threads / 2].into_iter().chain(0..threads) {
                taken.extend(task.take_shard(thread));
            }
            taken.extend(std::iter::from_fn(|| task.take_shard(threads - 1)));
            taken.sort_unstable();
            assert!(taken.into_iter().eq(0..SHARDS));
        }
    }

    #[test]
    fn chunks_have_every_state_once() {
        let mut task = Task::new(Arc::new(Layout::new(&[1])));
        for threads in [1, 2, 3, 100] {
            for sizes in [
                &[][..],
                &[1],
                &[0, 3],
                &[8],
                &[9, 1, 100, 0],
                &[1000, 990, 1017],
            ] {
                let span = |(number, &size): (usize, &u32)| Span {
                    shard: number * 5,
                    range: 7..7 + size,
                };
                let mut spans: Vec<Span> = sizes.iter().enumerate().map(span).collect();
                task.assign(3, &mut spans, threads);
                assert_eq!((task.level, spans.len()), (3, 0));
                let mut times: Vec<Vec<u32>> =
                    sizes.iter().map(|&size| vec![0; size as usize]).collect();
                let mut count = |Span { shard, range }: Span| {
                    assert!(range.len() as u32 <= SLICE);
                    for index in range {
                        times[shard / 5][index as usize - 7] += 1;
                    }
                };
                // Some take more than others, and something is left.
                for thread in [0, 0, 0, 1, 0, 2, 99] {
                    task.take(thread % threads).into_iter().for_each(&mut count);
                }
                task.rest().for_each(&mut count);
                assert!(times.iter().flatten().all(|&times| times == 1));
                while task.take(0).is_some() {}
                assert_eq!(task.rest().count(), 0);
                assert_eq!(task.take(threads - 1), None);
            }
        }
    }
}
