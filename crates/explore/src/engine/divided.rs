//! Few states are together in the first shard; when there are more, they are divided.

use super::Engine;
use crate::budget::Full;
use crate::levels::{Levels, SHARDS, Span, shard_of};
use crate::pack::hash_of;
use crate::shard::Shard;
use crate::team::lock;
use crate::walk::Reason;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

impl Engine<'_> {
    /// Divides the states, which are all in the first shard; `spans` are those of the last level. Without memory for that, nothing changes, but the
    /// walk ends.
    pub(super) fn divide(
        &self,
        levels: &mut Levels,
        ends: &mut [u32; SHARDS],
        spans: &mut Vec<Span>,
    ) {
        let layout = Arc::clone(&self.read_task().layout);
        let empty = |number| Shard::new(Arc::clone(&layout), number);
        let together = std::mem::replace(&mut *lock(&self.shards[0].0), empty(0));
        let mut new_ends = [0; SHARDS];
        let mut last = Vec::new();
        match self.insert_divided(&together, levels, &mut new_ends, &mut last) {
            Ok(new) => {
                self.divided.store(true, Relaxed);
                self.budget.give_back(together.memory() as usize);
                self.budget.give_back(levels.bytes());
                (*levels, *ends, *spans) = (new, new_ends, last);
            }
            Err(Full) => {
                for (number, slot) in self.shards.iter().enumerate() {
                    let part = std::mem::replace(&mut *lock(&slot.0), empty(number as u32));
                    self.budget.give_back(part.memory() as usize);
                }
                *lock(&self.shards[0].0) = together;
                self.stop(Reason::Memory);
            }
        }
    }

    /// Inserts the states of a shard into their own, level by level: the new levels, how many states there are in each shard, and the spans
    /// of the last level.
    fn insert_divided(
        &self,
        together: &Shard,
        levels: &Levels,
        ends: &mut [u32; SHARDS],
        last: &mut Vec<Span>,
    ) -> Result<Levels, Full> {
        let words = together.layout().words();
        let mut states = Vec::new();
        let mut outgoing: Vec<Vec<u64>> = vec![Vec::new(); SHARDS];
        let mut divided = Levels::default();
        let mut spans = levels.forward().peekable();
        while let Some((level, span)) = spans.next() {
            together.read(span.range, &mut states);
            for state in states.chunks_exact(words) {
                let hash = hash_of(together.layout().key(state));
                let records = &mut outgoing[shard_of(hash)];
                records.push(hash);
                records.extend_from_slice(state);
            }
            if spans.peek().is_some_and(|&(next, _)| next == level) {
                continue;
            }
            last.clear();
            for (shard, records) in outgoing.iter_mut().enumerate() {
                if records.is_empty() {
                    continue;
                }
                let mut part = lock(&self.shards[shard].0);
                part.insert(records, &self.budget)?;
                records.clear();
                last.push(Span {
                    shard,
                    range: ends[shard]..part.len(),
                });
                ends[shard] = part.len();
            }
            divided.push(last).map_err(|_| Full)?;
        }
        self.budget.take(divided.bytes())?;
        Ok(divided)
    }
}
