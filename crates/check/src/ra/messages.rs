//! What the memory of release/acquire remembers: messages and views (Lahav and Margalit 2019, section 3), as numbers.
//!
//! Only what can still make a difference is kept. A view's entry for a location matters when a thread that accesses the location has it, or is
//! told it; so what all threads that may still access a location know alike is forgotten: older messages, and by how much an entry of a view is
//! older than that. A fence reads the newest fence and is the newest itself: of fences, what the newest knew is enough.

use std::cmp::Ordering;
use std::sync::RwLock;

use palisade_lang::{LocationId, Value};
use rustc_hash::FxHashMap;

/// For each location, which message is the newest known: a place in its list of messages.
pub(crate) type Knowledge = Vec<u32>;

/// A store that may still be read.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Message {
    pub value: Value,
    /// What its writer knew, without zeros at the end: there may be very many locations, of which no thread knows anything.
    knows: Knowledge,
    /// A read-modify-write has read its predecessor: nothing goes between the two.
    joined: bool,
}

/// The access of the `atomic` block that a thread is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Block {
    location: u32,
    /// The message that the block sees: the one that it read, or its own.
    at: u32,
    written: bool,
}

/// Messages, and which thread knows which of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Messages {
    /// By location, in modification order.
    of: Vec<Vec<Message>>,
    /// By running thread.
    known: Vec<Knowledge>,
    /// What the newest fence knew.
    fence: Knowledge,
    block: Option<Block>,
}

fn learn(knowledge: &mut Knowledge, more: &Knowledge) {
    for (mine, theirs) in knowledge.iter_mut().zip(more) {
        *mine = (*mine).max(*theirs);
    }
}

fn without_zeros_at_the_end(knowledge: &mut Knowledge) {
    let last = knowledge.iter().rposition(|&entry| entry != 0);
    knowledge.truncate(last.map_or(0, |last| last + 1));
}

impl Messages {
    pub fn initial(values: &[Value], threads: usize) -> Self {
        let nothing = vec![0; values.len()];
        let first = |&value: &Value| {
            vec![Message {
                value,
                knows: Knowledge::new(),
                joined: false,
            }]
        };
        Messages {
            of: values.iter().map(first).collect(),
            known: vec![nothing.clone(); threads],
            fence: nothing.clone(),
            block: None,
        }
    }

    /// Whether everything that is known is there, and every location has a message.
    fn is_whole(&self) -> bool {
        let is_there = |knowledge: &Knowledge| {
            let mut entries = knowledge.iter().zip(&self.of);
            entries.all(|(&entry, of_location)| (entry as usize) < of_location.len().max(1))
        };
        let mut messages = self.of.iter().flatten();
        self.of.iter().all(|of_location| !of_location.is_empty())
            && messages.all(|message| is_there(&message.knows))
            && self.known.iter().all(is_there)
            && is_there(&self.fence)
            && self.block.is_none_or(|block| {
                let of_location = self.of.get(block.location as usize);
                of_location.is_some_and(|of_location| (block.at as usize) < of_location.len())
            })
    }

    /// The places of the messages that a thread may read, or put its own behind.
    pub fn choices(&self, thread: usize, location: LocationId) -> std::ops::Range<usize> {
        let place = location.index();
        match self.block {
            Some(block) => block.at as usize..block.at as usize + 1,
            None => self.known[thread][place] as usize..self.of[place].len(),
        }
    }

    pub fn value_at(&self, location: LocationId, at: usize) -> Value {
        self.of[location.index()][at].value
    }

    /// The value behind all others in modification order.
    pub fn newest(&self, location: LocationId) -> Value {
        let of_location = &self.of[location.index()];
        of_location[of_location.len() - 1].value
    }

    /// What the block that some thread is in has read or written.
    pub fn seen_by_block(&self) -> Option<(LocationId, Value)> {
        let block = self.block?;
        let value = self.of[block.location as usize][block.at as usize].value;
        Some((LocationId(block.location), value))
    }

    pub fn knows_newest(&self, thread: usize, location: LocationId) -> bool {
        let place = location.index();
        self.known[thread][place] as usize + 1 == self.of[place].len()
    }

    /// Whether the block that a thread is in can store: it has, or nothing stands in the way.
    pub fn block_can_store(&self) -> bool {
        let in_the_way = |block: Block| {
            let of_location = &self.of[block.location as usize];
            let next = of_location.get(block.at as usize + 1);
            !block.written && next.is_some_and(|next| next.joined)
        };
        !self.block.is_some_and(in_the_way)
    }

    /// The thread reads a message; from a `nonatomic` location it learns nothing.
    pub fn read(&mut self, thread: usize, location: LocationId, at: usize, nonatomic: bool) {
        if !nonatomic {
            let message = &self.of[location.index()][at];
            learn(&mut self.known[thread], &message.knows);
        }
    }

    /// What is read inside a block is what the rest of the block sees.
    pub fn enter(&mut self, location: LocationId, at: usize) {
        self.block.get_or_insert(Block {
            location: location.0,
            at: at as u32,
            written: false,
        });
    }

    /// The thread writes directly behind a message, and says which one it has put there; `None` where nothing goes there. `joined`: it has read
    /// that message. A block writes one message, however often it stores.
    pub fn write(
        &mut self,
        thread: usize,
        location: LocationId,
        at: usize,
        value: Value,
        joined: bool,
        in_block: bool,
    ) -> Option<Written> {
        let place = location.index();
        if self.block.is_some_and(|block| block.written) {
            self.of[place][at].value = value;
            return Some(Written::Changed(at));
        }
        let new = at + 1;
        if self.of[place].get(new).is_some_and(|next| next.joined) {
            return None;
        }
        let stored = self.of.iter_mut().flatten().map(|m| &mut m.knows);
        let all = self.known.iter_mut().chain([&mut self.fence]).chain(stored);
        for knowledge in all {
            let entry = knowledge.get_mut(place);
            if let Some(entry) = entry.filter(|entry| **entry as usize >= new) {
                *entry += 1;
            }
        }
        self.known[thread][place] = new as u32;
        let mut knows = self.known[thread].clone();
        without_zeros_at_the_end(&mut knows);
        let message = Message {
            value,
            knows,
            joined: joined || in_block,
        };
        self.of[place].insert(new, message);
        if in_block {
            self.block = Some(Block {
                location: location.0,
                at: new as u32,
                written: true,
            });
        }
        Some(Written::Inserted(new))
    }

    pub fn fence(&mut self, thread: usize) {
        learn(&mut self.fence, &self.known[thread]);
        self.known[thread].clone_from(&self.fence);
    }

    pub fn leave(&mut self) {
        self.block = None;
    }

    /// Appends them as numbers.
    pub fn put(&self, out: &mut Vec<i64>) {
        let places = self.of.len();
        let known = |knowledge: &Knowledge, out: &mut Vec<i64>| {
            let end = out.len() + places;
            out.extend(knowledge.iter().map(|&entry| i64::from(entry)));
            out.resize(end, 0);
        };
        for of_location in &self.of {
            out.push(of_location.len() as i64);
            for message in of_location {
                out.extend([message.value, i64::from(message.joined)]);
                known(&message.knows, out);
            }
        }
        for knowledge in self.known.iter().chain([&self.fence]) {
            known(knowledge, out);
        }
        match self.block {
            None => out.push(0),
            Some(block) => {
                let numbers = [1, block.location, block.at, u32::from(block.written)];
                out.extend(numbers.map(i64::from));
            }
        }
    }

    /// Forgets what makes no difference. `accesses` says whether a thread may still access a location, `acts` whether it may still do anything,
    /// `nonatomic` whether a location is. How many of the oldest messages of each location are gone.
    pub fn forget(
        &mut self,
        acts: impl Fn(usize) -> bool,
        accesses: impl Fn(usize, usize) -> bool,
        nonatomic: impl Fn(usize) -> bool,
    ) -> Vec<usize> {
        let mut gone = Vec::with_capacity(self.of.len());
        for (thread, known) in self.known.iter_mut().enumerate() {
            if !acts(thread) {
                known.fill(0);
            }
        }
        for place in 0..self.of.len() {
            let accessing = (0..self.known.len()).filter(|&thread| accesses(thread, place));
            let oldest = accessing.map(|thread| self.known[thread][place]).min();
            let newest = self.of[place].len() as u32 - 1;
            // Where no thread comes any more, only the value at the end counts.
            let first = oldest.unwrap_or(newest);
            self.of[place].drain(..first as usize);
            if let Some(block) = &mut self.block
                && block.location as usize == place
            {
                // A block that has done all its accesses may have seen what is gone.
                block.at = block.at.saturating_sub(first);
            }
            self.of[place][0].joined = false;
            if oldest.is_none() || nonatomic(place) {
                for message in &mut self.of[place] {
                    message.knows.clear();
                }
            }
            gone.push(first as usize);
        }
        let stored = self.of.iter_mut().flatten().map(|m| &mut m.knows);
        let all = self.known.iter_mut().chain([&mut self.fence]).chain(stored);
        for knowledge in all {
            for (entry, first) in knowledge.iter_mut().zip(&gone) {
                *entry = entry.saturating_sub(*first as u32);
            }
        }
        for message in self.of.iter_mut().flatten() {
            without_zeros_at_the_end(&mut message.knows);
        }
        gone
    }
}

/// What a store did to the messages of its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// It is a new message at this place.
    Inserted(usize),
    /// It has changed the message of its block at this place.
    Changed(usize),
}

/// All that was met, as numbers.
#[derive(Debug, Default)]
pub(crate) struct Pool(RwLock<Table>);

#[derive(Debug, Default)]
struct Table {
    met: Vec<std::sync::Arc<Messages>>,
    numbers: FxHashMap<std::sync::Arc<Messages>, u32>,
}

impl Pool {
    pub fn get(&self, number: u32) -> std::sync::Arc<Messages> {
        let table = self.0.read().unwrap_or_else(|e| e.into_inner());
        table.met[number as usize].clone()
    }

    pub fn number(&self, messages: Messages) -> u32 {
        {
            let table = self.0.read().unwrap_or_else(|e| e.into_inner());
            if let Some(&number) = table.numbers.get(&messages) {
                return number;
            }
        }
        let mut table = self.0.write().unwrap_or_else(|e| e.into_inner());
        if let Some(&number) = table.numbers.get(&messages) {
            return number;
        }
        let number = table.met.len() as u32;
        let messages = std::sync::Arc::new(messages);
        table.met.push(messages.clone());
        table.numbers.insert(messages, number);
        number
    }

    pub fn compare(&self, a: u32, b: u32) -> Ordering {
        if a == b {
            return Ordering::Equal;
        }
        self.get(a).cmp(&self.get(b))
    }

    /// Appends what the numbers stand for, for another process.
    pub fn keep_numbers(&self, out: &mut Vec<i64>) {
        let table = self.0.read().unwrap_or_else(|e| e.into_inner());
        out.push(table.met.len() as i64);
        for messages in &table.met {
            messages.put(out);
        }
    }

    /// How many have numbers.
    pub fn count(&self) -> u32 {
        let table = self.0.read().unwrap_or_else(|e| e.into_inner());
        table.met.len() as u32
    }

    /// Makes it so again; `None` where that cannot be.
    pub fn recall_numbers(
        &self,
        locations: usize,
        threads: usize,
        numbers: &mut dyn Iterator<Item = i64>,
    ) -> Option<()> {
        fn small(numbers: &mut dyn Iterator<Item = i64>) -> Option<u32> {
            u32::try_from(numbers.next()?).ok()
        }
        let knowledge = |numbers: &mut dyn Iterator<Item = i64>| -> Option<Knowledge> {
            (0..locations).map(|_| small(numbers)).collect()
        };
        for number in 0..small(numbers)? {
            let mut messages = Messages {
                of: Vec::new(),
                known: Vec::new(),
                fence: Vec::new(),
                block: None,
            };
            for _ in 0..locations {
                let mut of_location = Vec::new();
                for _ in 0..small(numbers)? {
                    let mut message = Message {
                        value: numbers.next()?,
                        joined: numbers.next()? != 0,
                        knows: knowledge(numbers)?,
                    };
                    without_zeros_at_the_end(&mut message.knows);
                    of_location.push(message);
                }
                messages.of.push(of_location);
            }
            for _ in 0..threads {
                messages.known.push(knowledge(numbers)?);
            }
            messages.fence = knowledge(numbers)?;
            if numbers.next()? != 0 {
                messages.block = Some(Block {
                    location: small(numbers)?,
                    at: small(numbers)?,
                    written: numbers.next()? != 0,
                });
            }
            if !messages.is_whole() || self.number(messages) != number {
                return None;
            }
        }
        Some(())
    }
}
