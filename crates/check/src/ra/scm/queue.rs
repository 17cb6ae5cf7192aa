//! In which order states are expanded.
//!
//! At first in the order in which they were found, because most violations are near and the shortest run shows one best. Then the
//! states with the greatest monitors come first: what they lead to covers much of what the others lead to, which then need not be
//! expanded at all.

use std::collections::VecDeque;

/// How many states are expanded in the order in which they were found.
const BREADTH_FIRST: u64 = 1 << 12;

/// States that wait to be expanded.
#[derive(Debug)]
pub struct Queue {
    by_age: VecDeque<(u32, u32)>,
    /// By the number of bits in the monitor.
    by_weight: Vec<Vec<u32>>,
    /// No list above this one has states.
    heaviest: usize,
    /// How many more states come in the order of their age.
    breadth_first: u64,
    waiting: u64,
}

impl Queue {
    /// An empty queue. With `shortest`, states come in the order of their age for ever.
    pub fn new(shortest: bool) -> Self {
        Queue {
            by_age: VecDeque::new(),
            by_weight: Vec::new(),
            heaviest: 0,
            breadth_first: if shortest { u64::MAX } else { BREADTH_FIRST },
            waiting: 0,
        }
    }

    /// How many states wait.
    pub fn len(&self) -> u64 {
        self.waiting
    }

    /// How many bytes the queue takes.
    pub fn bytes(&self) -> u64 {
        let lists: usize = self.by_weight.iter().map(Vec::capacity).sum();
        (self.by_age.capacity() * 8 + lists * 4) as u64
    }

    /// Adds a state whose monitor has so many bits.
    pub fn push(&mut self, state: u32, weight: u32) {
        self.waiting += 1;
        if self.breadth_first > 0 {
            self.by_age.push_back((state, weight));
        } else {
            self.push_by_weight(state, weight as usize);
        }
    }

    fn push_by_weight(&mut self, state: u32, weight: usize) {
        if weight >= self.by_weight.len() {
            self.by_weight.resize(weight + 1, Vec::new());
        }
        self.by_weight[weight].push(state);
        self.heaviest = self.heaviest.max(weight);
    }

    /// The next state.
    pub fn pop(&mut self) -> Option<u32> {
        if self.breadth_first > 0 {
            let (state, _) = self.by_age.pop_front()?;
            self.breadth_first -= 1;
            self.waiting -= 1;
            if self.breadth_first == 0 {
                for (state, weight) in std::mem::take(&mut self.by_age) {
                    self.push_by_weight(state, weight as usize);
                }
            }
            return Some(state);
        }
        loop {
            if let Some(state) = self.by_weight.get_mut(self.heaviest)?.pop() {
                self.waiting -= 1;
                return Some(state);
            }
            self.heaviest = self.heaviest.checked_sub(1)?;
        }
    }
}
