//! The part of a level that is still to be expanded: a share for each walking thread, in chunks.

use crate::levels::{SHARDS, Span};
use crate::pack::Layout;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// States of one shard that are taken to be expanded at once, about.
const SLICE: u32 = 8;

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

/// The shards of one thread, and what is to be expanded there.
#[derive(Default)]
struct Share {
    spans: Vec<Span>,
    /// How many slices every span is cut into.
    slices: usize,
    /// The next chunk.
    cursor: Alone<AtomicUsize>,
    /// How many of the shards somebody has taken to insert into.
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
    pub(crate) fn assign(&mut self, level: u64, spans: &mut Vec<Span>, threads: usize) {
        self.level = level;
        self.shares.resize_with(threads, Share::default);
        for share in &mut self.shares {
            share.spans.clear();
            share.slices = 0;
            *share.cursor.0.get_mut() = 0;
            *share.taken.0.get_mut() = 0;
        }
        for span in spans.drain(..) {
            let share = &mut self.shares[owner_of(span.shard, threads)];
            let slices = (span.range.len() as u32).div_ceil(SLICE) as usize;
            share.slices = share.slices.max(slices);
            share.spans.push(span);
        }
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

    /// What nobody has taken.
    pub(crate) fn rest(&self) -> impl Iterator<Item = Span> + '_ {
        self.shares.iter().flat_map(|share| {
            let next = share.cursor.0.load(Relaxed);
            (next..share.spans.len() * share.slices).filter_map(|number| share.chunk(number))
        })
    }
}

impl Share {
    fn take(&self) -> Option<Span> {
        self.chunk(self.cursor.0.fetch_add(1, Relaxed))
    }

    /// First the first slices of all spans, then the second ones, and so on.
    ///
    /// Each shard has its states in the order in which they were found, so this is nearly the order in
    /// which all of them were found. States that were found together have many successors in common,
    /// and those are cheap as long as they are [remembered](crate::recent::Recent).
    fn chunk(&self, number: usize) -> Option<Span> {
        let slice = number / self.spans.len().max(1);
        if slice >= self.slices {
            return None;
        }
        let Span { shard, range } = &self.spans[number % self.spans.len()];
        let cut = |slice: usize| {
            range.start + (range.len() as u64 * slice as u64 / self.slices as u64) as u32
        };
        Some(Span {
            shard: *shard,
            range: cut(slice)..cut(slice + 1),
        })
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
                let mut ends = vec![7; sizes.len()];
                let mut count = |Span { shard, range }: Span| {
                    assert_eq!(range.start, ends[shard / 5]);
                    assert!(range.len() as u32 <= SLICE);
                    ends[shard / 5] = range.end;
                };
                // Some take more than others, and something is left.
                for thread in [0, 0, 0, 1, 0, 2, 99] {
                    task.take(thread % threads).into_iter().for_each(&mut count);
                }
                task.rest().for_each(&mut count);
                assert!(ends.iter().zip(sizes).all(|(end, size)| *end == 7 + size));
                while task.take(0).is_some() {}
                assert_eq!(task.rest().count(), 0);
                assert_eq!(task.take(threads - 1), None);
            }
        }
    }
}
