//! The part of a level that is still to be expanded, in chunks for one thread each.

use crate::levels::Span;
use crate::pack::Layout;
use std::sync::Arc;

/// States of one shard that are taken to be expanded at once, about.
const SLICE: u32 = 8;

/// What is to be expanded now.
pub(crate) struct Task {
    pub(crate) level: u64,
    pub(crate) layout: Arc<Layout>,
    spans: Vec<Span>,
    /// How many slices every span is cut into.
    slices: usize,
}

impl Task {
    pub(crate) fn new(layout: Arc<Layout>) -> Task {
        Task {
            level: 0,
            layout,
            spans: Vec::new(),
            slices: 0,
        }
    }

    /// From now on, these states of this level are to be expanded.
    pub(crate) fn assign(&mut self, level: u64, spans: &mut Vec<Span>) {
        self.level = level;
        let longest = spans.iter().map(|span| span.range.len() as u32).max();
        self.slices = longest.unwrap_or(0).div_ceil(SLICE) as usize;
        self.spans.clear();
        self.spans.append(spans);
    }

    /// How many chunks there are.
    pub(crate) fn chunks(&self) -> usize {
        self.spans.len() * self.slices
    }

    /// A part to do at once: first the first slices of all spans, then the second ones, and so on.
    ///
    /// Each shard has its states in the order in which they were found, so this is nearly the order in
    /// which all of them were found. States that were found together have many successors in common,
    /// and those are cheap as long as they are [remembered](crate::recent::Recent).
    pub(crate) fn chunk(&self, number: usize) -> Option<Span> {
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
    fn chunks_have_every_state_once() {
        let mut task = Task::new(Arc::new(Layout::new(&[1])));
        for sizes in [
            &[][..],
            &[1],
            &[0, 3],
            &[8],
            &[9, 1, 100, 0],
            &[1000, 990, 1017],
        ] {
            let span = |(shard, &size): (usize, &u32)| Span {
                shard,
                range: 7..7 + size,
            };
            let mut spans: Vec<Span> = sizes.iter().enumerate().map(span).collect();
            task.assign(3, &mut spans);
            assert_eq!((task.level, spans.len()), (3, 0));
            let mut ends = vec![7; sizes.len()];
            for number in 0..task.chunks() {
                let Span { shard, range } = task.chunk(number).unwrap();
                assert_eq!(range.start, ends[shard]);
                assert!(range.len() as u32 <= SLICE);
                ends[shard] = range.end;
            }
            assert_eq!(task.chunk(task.chunks()), None);
            assert_eq!(task.chunk(task.chunks() + 5), None);
            assert!(ends.iter().zip(sizes).all(|(end, size)| *end == 7 + size));
        }
    }
}
