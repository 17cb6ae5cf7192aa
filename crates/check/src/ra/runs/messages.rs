//! What the memory of release/acquire and C++20 remembers: messages and views (Lahav and Margalit 2019, section 3; Kang et al. 2017 without promises), as numbers.
//!
//! A thread has what it knows, what it would know after an acquire fence (*pending*), and what it knew at its last release fence (*released*), which is what
//! its relaxed stores tell. Under release/acquire the first is enough.
//!
//! Only what can still make a difference is kept. A view's entry for a location matters when a thread that accesses the location has it, or is
//! told it; so what all threads that may still access a location know alike is forgotten: older messages, and by how much an entry of a view is
//! older than that. Of sc fences, what the newest knew is enough: each learns what those before it knew. A message that no thread can read any more, and behind which nothing goes because
//! a read-modify-write has read it, is forgotten, too: see [`Messages::passed_by`].
//!
//! Behind the locations a view has entries for accesses that may race ([`Watched`]): 1 if the last one of its kind happens before, 0 if not, or if there is none.

use std::cmp::Ordering;
use std::hash::Hasher;
use std::sync::RwLock;

use hashbrown::HashTable;
use palisade_lang::{LocationId, Order, Value};
use rustc_hash::FxHasher;

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
    /// By running thread; nothing is kept of threads that have no acquire fence.
    pending: Vec<Knowledge>,
    /// By running thread; nothing is kept of threads that have no release fence.
    released: Vec<Knowledge>,
    /// What the newest sc fence knew.
    fence: Knowledge,
    block: Option<Block>,
    /// Of which kinds of watched accesses there is one that some thread need not know.
    accessed: Vec<bool>,
}

/// Accesses of locations that are accessed nonatomically somewhere: what of them can race with what comes later. Each thread and kind has a place of its own in
/// views, behind the locations.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    locations: usize,
    threads: usize,
    /// By location.
    of: Vec<Option<Watch>>,
    /// How many places there are.
    count: usize,
}

#[derive(Clone, Copy, Debug)]
struct Watch {
    /// Its first place.
    base: usize,
    /// It is accessed atomically, too. Otherwise the writes without a race are ordered, and a thread that knows the newest knows all.
    mixed: bool,
}

/// A kind of access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub location: LocationId,
    pub order: Order,
    pub writes: bool,
}

impl Watch {
    /// The numbers of the kinds that are told apart: plain reads; where both are mixed, plain writes, atomic reads and atomic writes, too.
    fn kind(self, writes: bool, atomic: bool) -> Option<usize> {
        match (self.mixed, writes, atomic) {
            (_, false, false) => Some(0),
            (true, true, false) => Some(1),
            (true, false, true) => Some(2),
            (true, true, true) => Some(3),
            (false, ..) => None,
        }
    }

    fn kinds(self) -> usize {
        if self.mixed { 4 } else { 1 }
    }
}

impl Watched {
    /// `watch` says of each location whether some access of it is nonatomic, and whether some other is not.
    pub fn new(threads: usize, watch: impl IntoIterator<Item = (bool, bool)>) -> Self {
        let mut watched = Watched {
            threads,
            ..Watched::default()
        };
        for (nonatomic, atomic) in watch {
            watched.locations += 1;
            let watch = nonatomic.then_some(Watch {
                base: watched.count,
                mixed: atomic,
            });
            watched.count += watch.map_or(0, |watch| watch.kinds() * threads);
            watched.of.push(watch);
        }
        watched
    }

    /// The places of all accesses of a location, each with its thread.
    fn places(&self, location: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let of_location = self.of.get(location).copied().flatten();
        let range = of_location.map_or(0..0, |w| w.base..w.base + w.kinds() * self.threads);
        range.map(move |place| {
            let base = of_location.map_or(0, |w| w.base);
            (place, (place - base) % self.threads)
        })
    }
}

/// Raises the entry for a place.
fn see(knowledge: &mut Knowledge, place: usize, at: usize) {
    if let Some(entry) = knowledge.get_mut(place) {
        *entry = (*entry).max(at as u32);
    }
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

/// Bytes of a length.
const LENGTH: usize = size_of::<u32>();

/// How many bytes an entry takes that begins here.
fn length_of(bytes: &[u8]) -> usize {
    let mut length = [0; LENGTH];
    length.copy_from_slice(&bytes[..LENGTH]);
    u32::from_le_bytes(length) as usize
}

fn hash_of(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

/// Seven bits in a byte, the lowest first; all bytes but the last have the highest bit.
#[inline]
fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[inline]
fn take_number(source: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0, 0);
    while let Some((&byte, rest)) = source.split_first() {
        *source = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
        shift += 7;
    }
    number
}

fn put_knowledge(out: &mut Vec<u8>, knowledge: &Knowledge) {
    put_number(out, knowledge.len() as u64);
    knowledge
        .iter()
        .for_each(|&entry| put_number(out, entry.into()));
}

fn take_knowledge(source: &mut &[u8]) -> Knowledge {
    let length = take_number(source);
    (0..length).map(|_| take_number(source) as u32).collect()
}

impl Messages {
    /// `pending` and `released` say of which threads these are kept.
    pub fn initial(
        values: &[Value],
        watched: &Watched,
        pending: &[bool],
        released: &[bool],
    ) -> Self {
        let nothing = vec![0; values.len() + watched.count];
        let kept = |kept: &[bool]| {
            let of_thread = |&kept: &bool| if kept { nothing.clone() } else { Vec::new() };
            kept.iter().map(of_thread).collect()
        };
        let first = |&value: &Value| {
            vec![Message {
                value,
                knows: Knowledge::new(),
                joined: false,
            }]
        };
        Messages {
            of: values.iter().map(first).collect(),
            known: vec![nothing.clone(); pending.len()],
            pending: kept(pending),
            released: kept(released),
            fence: nothing.clone(),
            block: None,
            accessed: vec![false; watched.count],
        }
    }

    /// All views but those of messages.
    fn views_mut(&mut self) -> impl Iterator<Item = &mut Knowledge> {
        let of_threads = self.known.iter_mut().chain(&mut self.pending);
        of_threads
            .chain(&mut self.released)
            .chain([&mut self.fence])
    }

    /// Whether everything that is known is there, and every location has a message.
    fn is_whole(&self) -> bool {
        let is_there = |knowledge: &Knowledge| {
            let (of_locations, watched) = knowledge.split_at(knowledge.len().min(self.of.len()));
            let mut entries = of_locations.iter().zip(&self.of);
            entries.all(|(&entry, of_location)| (entry as usize) < of_location.len().max(1))
                && watched.iter().all(|&entry| entry < 2)
        };
        let mut messages = self.of.iter().flatten();
        self.of.iter().all(|of_location| !of_location.is_empty())
            && messages.all(|message| is_there(&message.knows))
            && self.known.iter().all(is_there)
            && self.pending.iter().all(is_there)
            && self.released.iter().all(is_there)
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

    /// A location that has more messages than these.
    pub fn more_than(&self, most: usize) -> Option<usize> {
        self.of.iter().position(|messages| messages.len() > most)
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

    /// The thread reads a message; by a nonatomic access it learns nothing.
    pub fn read(&mut self, thread: usize, location: LocationId, at: usize, order: Order) {
        let place = location.index();
        let message = &self.of[place][at];
        if order != Order::NonAtomic {
            learn(&mut self.pending[thread], &message.knows);
        }
        if order.acquires() {
            learn(&mut self.known[thread], &message.knows);
        }
        see(&mut self.known[thread], place, at);
        see(&mut self.pending[thread], place, at);
    }

    /// Whether an access of a thread races with one of another thread.
    pub fn races(&self, watched: &Watched, thread: usize, access: Access) -> bool {
        let place = access.location.index();
        let Some(watch) = watched.of.get(place).copied().flatten() else {
            return false;
        };
        if !watch.mixed && !self.knows_newest(thread, access.location) {
            return true;
        }
        let atomic = access.order != Order::NonAtomic;
        // Two reads do not conflict, and two atomic accesses do not race.
        let races_with = |kind: Option<usize>, writes: bool, is_atomic: bool| {
            kind.is_some() && (writes || access.writes) && !(atomic && is_atomic)
        };
        let kinds = [(false, false), (true, false), (false, true), (true, true)];
        kinds.into_iter().any(|(writes, is_atomic)| {
            let kind = watch.kind(writes, is_atomic);
            let base = watch.base + kind.unwrap_or(0) * watched.threads;
            races_with(kind, writes, is_atomic)
                && (0..watched.threads).any(|other| {
                    let known = self.known[thread][watched.locations + base + other] == 1;
                    other != thread && self.accessed[base + other] && !known
                })
        })
    }

    /// Takes note of an access that races with none.
    pub fn watch(&mut self, watched: &Watched, thread: usize, access: Access) {
        let location = access.location.index();
        let Some(watch) = watched.of.get(location).copied().flatten() else {
            return;
        };
        let atomic = access.order != Order::NonAtomic;
        if access.writes && !atomic {
            // All others come before it, so that a thread that knows it knows them.
            for (place, _) in watched.places(location) {
                self.unwatch(watched, place);
            }
        }
        if let Some(kind) = watch.kind(access.writes, atomic) {
            let place = watch.base + kind * watched.threads + thread;
            self.unwatch(watched, place);
            self.accessed[place] = true;
            see(&mut self.known[thread], watched.locations + place, 1);
            see(&mut self.pending[thread], watched.locations + place, 1);
        }
    }

    /// Forgets a watched access.
    fn unwatch(&mut self, watched: &Watched, place: usize) {
        if !std::mem::replace(&mut self.accessed[place], false) {
            return;
        }
        let entry = watched.locations + place;
        for message in self.of.iter_mut().flatten() {
            if let Some(known) = message.knows.get_mut(entry) {
                *known = 0;
                without_zeros_at_the_end(&mut message.knows);
            }
        }
        for knowledge in self.views_mut() {
            if let Some(known) = knowledge.get_mut(entry) {
                *known = 0;
            }
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
        new: NewMessage,
    ) -> Option<Written> {
        let NewMessage {
            order,
            joined,
            in_block,
        } = new;
        let place = location.index();
        if self.block.is_some_and(|block| block.written) {
            self.of[place][at].value = value;
            return Some(Written::Changed(at));
        }
        let new = at + 1;
        if self.of[place].get(new).is_some_and(|next| next.joined) {
            return None;
        }
        let make_room = |knowledge: &mut Knowledge| {
            let entry = knowledge.get_mut(place);
            if let Some(entry) = entry.filter(|entry| **entry as usize >= new) {
                *entry += 1;
            }
        };
        self.views_mut().for_each(make_room);
        let stored = self.of.iter_mut().flatten().map(|m| &mut m.knows);
        stored.for_each(make_room);
        see(&mut self.known[thread], place, new);
        see(&mut self.pending[thread], place, new);
        let mut knows = match order {
            Order::NonAtomic => Knowledge::new(),
            order if order.releases() => self.known[thread].clone(),
            _ => self.released[thread].clone(),
        };
        if order != Order::NonAtomic {
            // One that acquires and releases tells all that it has learned.
            let carries_on = joined && !(order.acquires() && order.releases());
            let told = self.of[place][at].knows.iter();
            let told: Knowledge = told
                .take(if carries_on { usize::MAX } else { 0 })
                .copied()
                .collect();
            knows.resize(knows.len().max(told.len()).max(place + 1), 0);
            learn(&mut knows, &told);
            see(&mut knows, place, new);
        }
        without_zeros_at_the_end(&mut knows);
        let message = Message {
            value,
            knows,
            joined,
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

    /// Whether the block that a thread is in has accessed something.
    pub fn block_has_begun(&self) -> bool {
        self.block.is_some()
    }

    /// The thread executes an sc fence of release/acquire: a read-modify-write of one location.
    pub fn fence_as_update(&mut self, thread: usize) {
        learn(&mut self.fence, &self.known[thread]);
        self.known[thread].clone_from(&self.fence);
    }

    /// The thread executes a fence of C++20. Where `ordered`, an sc fence comes behind all before it: it learns what they knew of the order of stores.
    /// That is no happens-before: `by_order` are the places of which it is learned.
    pub fn fence(&mut self, thread: usize, order: Order, ordered: bool, by_order: &[bool]) {
        if order.acquires() {
            let pending = std::mem::take(&mut self.pending[thread]);
            learn(&mut self.known[thread], &pending);
            self.pending[thread] = pending;
        }
        if ordered && order == Order::SeqCst {
            let known = &mut self.known[thread];
            let entries = known.iter_mut().zip(&mut self.fence).zip(by_order);
            for ((mine, fence), _) in entries.filter(|(_, by_order)| **by_order) {
                *fence = (*fence).max(*mine);
                *mine = *fence;
            }
        }
        learn(&mut self.pending[thread], &self.known[thread]);
        if order.releases() && !self.released[thread].is_empty() {
            self.released[thread].clone_from(&self.known[thread]);
        }
    }

    pub fn leave(&mut self) {
        self.block = None;
    }

    /// Appends them as numbers.
    pub fn put(&self, out: &mut Vec<i64>) {
        let places = self.fence.len();
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

    /// All of it as bytes, with its length before everything. What has other bytes is not the same.
    fn packed(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(256);
        // Room for the length.
        bytes.extend([0; LENGTH]);
        let out = &mut bytes;
        put_number(out, self.of.len() as u64);
        for of_location in &self.of {
            put_number(out, of_location.len() as u64);
            for message in of_location {
                // Small numbers are short, also those below 0.
                put_number(out, (message.value << 1 ^ message.value >> 63) as u64);
                put_number(out, u64::from(message.joined));
                put_knowledge(out, &message.knows);
            }
        }
        for views in [&self.known, &self.pending, &self.released] {
            put_number(out, views.len() as u64);
            views
                .iter()
                .for_each(|knowledge| put_knowledge(out, knowledge));
        }
        put_knowledge(out, &self.fence);
        match self.block {
            None => put_number(out, 0),
            Some(block) => {
                put_number(out, 1 + u64::from(block.written));
                put_number(out, block.location.into());
                put_number(out, block.at.into());
            }
        }
        put_number(out, self.accessed.len() as u64);
        out.extend(self.accessed.iter().map(|&accessed| u8::from(accessed)));
        let length = bytes.len() as u32;
        bytes[..LENGTH].copy_from_slice(&length.to_le_bytes());
        bytes
    }

    /// What has these bytes.
    fn unpacked(bytes: &[u8]) -> Self {
        let source = &mut &bytes[LENGTH..];
        let of = (0..take_number(source))
            .map(|_| {
                let length = take_number(source);
                let messages = (0..length).map(|_| {
                    let value = take_number(source);
                    Message {
                        value: (value >> 1) as Value ^ -((value & 1) as Value),
                        joined: take_number(source) != 0,
                        knows: take_knowledge(source),
                    }
                });
                messages.collect()
            })
            .collect();
        let mut views = || {
            (0..take_number(source))
                .map(|_| take_knowledge(source))
                .collect()
        };
        let (known, pending, released) = (views(), views(), views());
        let fence = take_knowledge(source);
        let block = match take_number(source) {
            0 => None,
            kind => Some(Block {
                written: kind == 2,
                location: take_number(source) as u32,
                at: take_number(source) as u32,
            }),
        };
        let accessed = (0..take_number(source))
            .map(|_| take_number(source) != 0)
            .collect();
        Messages {
            of,
            known,
            pending,
            released,
            fence,
            block,
            accessed,
        }
    }

    /// Forgets what makes no difference. `accesses` says whether a thread may still access a location, `reads` whether it may still read it (in a read-modify-write, too), `acts` whether it
    /// may still do anything, `nonatomic` whether a location is, and `ahead` how a thread may still come to read a location. The places of the messages of each location that are gone, the last one first.
    pub fn forget(
        &mut self,
        acts: impl Fn(usize) -> bool,
        accesses: impl Fn(usize, usize) -> bool,
        reads: impl Fn(usize, usize) -> bool,
        nonatomic: impl Fn(usize) -> bool,
        ahead: impl Fn(usize, usize) -> Reads,
        watched: &Watched,
    ) -> Vec<Vec<usize>> {
        let mut gone = Vec::with_capacity(self.of.len());
        for thread in (0..self.known.len()).filter(|&thread| !acts(thread)) {
            self.known[thread].fill(0);
            self.pending[thread].fill(0);
            self.released[thread].fill(0);
        }
        for location in 0..self.of.len() {
            for (place, of_thread) in watched.places(location) {
                let mut others = (0..self.known.len()).filter(|&thread| thread != of_thread);
                let entry = watched.locations + place;
                let is_known = |thread: usize| self.known[thread][entry] == 1;
                if others.all(|thread| !accesses(thread, location) || is_known(thread)) {
                    self.unwatch(watched, place);
                }
            }
        }
        for place in 0..self.of.len() {
            let accessing = (0..self.known.len()).filter(|&thread| accesses(thread, place));
            let oldest = accessing.map(|thread| self.known[thread][place]).min();
            let newest = self.of[place].len() as u32 - 1;
            // Where no thread comes any more, only the value at the end counts.
            let mut first = oldest.unwrap_or(newest);
            // What a thread stores where none will ever read is as good as not stored: of all such places the last one stands for all, and what is there does not matter.
            let reading = (0..self.known.len()).filter(|&thread| reads(thread, place));
            let in_sight = reading.map(|thread| self.known[thread][place]).min();
            let in_sight = in_sight.unwrap_or(newest);
            let is_watched = watched.of.get(place).is_some_and(Option::is_some);
            let is_plain = is_watched || nonatomic(place) || self.block.is_some();
            if first < in_sight && !is_plain && !self.of[place][in_sight as usize].joined {
                first = in_sight - 1;
                let message = &mut self.of[place][first as usize];
                message.value = 0;
                message.knows.clear();
            }
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
        let forget = |knowledge: &mut Knowledge| {
            for (entry, first) in knowledge.iter_mut().zip(&gone) {
                *entry = entry.saturating_sub(*first as u32);
            }
        };
        self.views_mut().for_each(forget);
        let stored = self.of.iter_mut().flatten().map(|m| &mut m.knows);
        stored.for_each(forget);
        let mut gone: Vec<Vec<usize>> = gone
            .into_iter()
            .map(|first| (0..first).rev().collect())
            .collect();
        for (place, gone) in gone.iter_mut().enumerate() {
            if self.block.is_some() {
                continue;
            }
            let oldest = gone.len();
            if nonatomic(place) {
                // Those between were found from the last one on, and come before the oldest.
                gone.extend(self.leave_newest(place).map(|at| oldest + at));
                gone.rotate_left(oldest);
                continue;
            }
            if watched.of.get(place).is_some_and(Option::is_some) {
                continue;
            }
            for at in (0..self.of[place].len() - 1).rev() {
                if self.passed_by(place, at, &ahead) {
                    self.leave_out(place, at);
                    gone.push(oldest + at);
                }
            }
            // Those between were found from the last one on, and come before the oldest.
            gone.rotate_left(oldest);
        }
        for message in self.of.iter_mut().flatten() {
            without_zeros_at_the_end(&mut message.knows);
        }
        gone
    }

    /// Of a location that has nonatomic accesses alone, the newest message is kept, and one that stands for all older ones: an access by a thread that does not know the newest
    /// is a race, whichever of the others the thread knows, and no other access looks at them. The places of those that are gone, the last one first.
    fn leave_newest(&mut self, place: usize) -> impl Iterator<Item = usize> + use<> {
        let newest = self.of[place].len() - 1;
        if newest > 0 {
            let forget = |knowledge: &mut Knowledge| {
                if let Some(entry) = knowledge.get_mut(place) {
                    *entry = u32::from(*entry as usize == newest);
                }
            };
            self.views_mut().for_each(forget);
            let stored = self.of.iter_mut().flatten().map(|m| &mut m.knows);
            stored.for_each(forget);
            self.of[place].drain(1..newest);
            self.of[place][0] = Message {
                value: 0,
                knows: Knowledge::new(),
                joined: false,
            };
        }
        (1..newest).rev()
    }

    /// Whether no thread can read a message any more or write behind it. A read-modify-write stands directly behind it, and each thread that may
    /// still only read the location knows a newer one, or stores to it before that: and there is room for that store only behind the message.
    ///
    /// That stays so whatever happens. So it is left out, and a thread that knew it as the newest one may as well know the next one.
    fn passed_by(&self, place: usize, at: usize, ahead: impl Fn(usize, usize) -> Reads) -> bool {
        let of_location = &self.of[place];
        let joined_to = |place: usize| of_location.get(place + 1).is_some_and(|next| next.joined);
        joined_to(at)
            && (0..self.known.len()).all(|thread| {
                let known = self.known[thread][place] as usize;
                match ahead(thread, place) {
                    Reads::Never => true,
                    Reads::BehindStore => (known..at).all(joined_to),
                    Reads::Perhaps => known > at,
                }
            })
    }

    fn leave_out(&mut self, place: usize, at: usize) {
        let message = self.of[place].remove(at);
        self.of[place][at].joined = message.joined;
        let merge = |knowledge: &mut Knowledge| {
            let entry = knowledge.get_mut(place);
            if let Some(entry) = entry.filter(|entry| **entry as usize > at) {
                *entry -= 1;
            }
        };
        self.views_mut().for_each(merge);
        let stored = self.of.iter_mut().flatten().map(|m| &mut m.knows);
        stored.for_each(merge);
    }
}

/// How a thread may still come to read a location without writing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    Never,
    /// It certainly writes it before that.
    BehindStore,
    Perhaps,
}

/// How a message is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewMessage {
    pub order: Order,
    /// A read-modify-write has read the message before it.
    pub joined: bool,
    /// In an `atomic` block.
    pub in_block: bool,
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

/// Messages, written down one after the other: as lists of lists, millions of them would take several times the room, and seconds to be given back.
#[derive(Debug, Default)]
struct Table {
    pages: Vec<Vec<u8>>,
    /// By number: the page, and where on it.
    places: Vec<(u32, u32)>,
    numbers: HashTable<u32>,
}

/// Bytes of a page, but for one that has a single entry.
const PAGE: usize = 1 << 16;

impl Table {
    /// What begins with an entry.
    fn from(&self, number: u32) -> &[u8] {
        let (page, at) = self.places[number as usize];
        &self.pages[page as usize][at as usize..]
    }

    fn get(&self, number: u32) -> Messages {
        Messages::unpacked(self.from(number))
    }

    /// The number of what is written there, if it has one. As each has its length before it, none is the beginning of another.
    fn find(&self, hash: u64, written: &[u8]) -> Option<u32> {
        let same = |&number: &u32| self.from(number).starts_with(written);
        self.numbers.find(hash, same).copied()
    }

    fn add(&mut self, hash: u64, written: &[u8]) -> u32 {
        let has_room = |page: &Vec<u8>| page.len() + written.len() <= page.capacity();
        if !self.pages.last().is_some_and(has_room) {
            self.pages.push(Vec::with_capacity(PAGE.max(written.len())));
        }
        let number = self.places.len() as u32;
        let page = self.pages.len() - 1;
        let at = self.pages[page].len();
        self.pages[page].extend_from_slice(written);
        self.places.push((page as u32, at as u32));
        let (pages, places) = (&self.pages, &self.places);
        let again = |&number: &u32| {
            let (page, at) = places[number as usize];
            let rest = &pages[page as usize][at as usize..];
            hash_of(&rest[..length_of(rest)])
        };
        self.numbers.insert_unique(hash, number, again);
        number
    }
}

impl Pool {
    pub fn get(&self, number: u32) -> Messages {
        let table = self.0.read().unwrap_or_else(|e| e.into_inner());
        table.get(number)
    }

    pub fn number(&self, messages: &Messages) -> u32 {
        let written = messages.packed();
        let hash = hash_of(&written);
        {
            let table = self.0.read().unwrap_or_else(|e| e.into_inner());
            if let Some(number) = table.find(hash, &written) {
                return number;
            }
        }
        let mut table = self.0.write().unwrap_or_else(|e| e.into_inner());
        // Another thread may have been faster.
        let number = match table.find(hash, &written) {
            Some(number) => number,
            None => table.add(hash, &written),
        };
        debug_assert_eq!(table.get(number), *messages);
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
        out.push(table.places.len() as i64);
        for number in 0..table.places.len() {
            let messages = table.get(number as u32);
            messages.put(out);
            for knowledge in messages.pending.iter().chain(&messages.released) {
                out.push(knowledge.len() as i64);
                out.extend(knowledge.iter().map(|&entry| i64::from(entry)));
            }
            out.extend(
                messages
                    .accessed
                    .iter()
                    .map(|&accessed| i64::from(accessed)),
            );
        }
    }

    /// How many have numbers.
    pub fn count(&self) -> u32 {
        let table = self.0.read().unwrap_or_else(|e| e.into_inner());
        table.places.len() as u32
    }

    /// Makes it so again; `None` where that cannot be.
    pub fn recall_numbers(
        &self,
        locations: usize,
        watched: &Watched,
        threads: usize,
        numbers: &mut dyn Iterator<Item = i64>,
    ) -> Option<()> {
        let places = locations + watched.count;
        fn small(numbers: &mut dyn Iterator<Item = i64>) -> Option<u32> {
            u32::try_from(numbers.next()?).ok()
        }
        let knowledge = |numbers: &mut dyn Iterator<Item = i64>| -> Option<Knowledge> {
            (0..places).map(|_| small(numbers)).collect()
        };
        let kept = |numbers: &mut dyn Iterator<Item = i64>| match small(numbers)? {
            0 => Some(Knowledge::new()),
            length if length as usize == places => knowledge(numbers),
            _ => None,
        };
        for number in 0..small(numbers)? {
            let mut messages = Messages {
                of: Vec::new(),
                known: Vec::new(),
                pending: Vec::new(),
                released: Vec::new(),
                fence: Vec::new(),
                block: None,
                accessed: Vec::new(),
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
            for _ in 0..threads {
                messages.pending.push(kept(numbers)?);
            }
            for _ in 0..threads {
                messages.released.push(kept(numbers)?);
            }
            for _ in 0..watched.count {
                messages.accessed.push(numbers.next()? != 0);
            }
            if !messages.is_whole() || self.number(&messages) != number {
                return None;
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked() {
        let watched = Watched::new(2, [(false, true), (true, true)]);
        let mut messages = Messages::initial(&[0, -1], &watched, &[true, false], &[false, true]);
        let pool = Pool::default();
        let mut met = vec![messages.clone()];
        for value in [1, -1, 63, 64, -64, -65, Value::MIN, Value::MAX] {
            messages.of[0].push(Message {
                value,
                knows: vec![3, u32::MAX, 0, 127, 128],
                joined: value < 0,
            });
            messages.fence[1] += 1;
            messages.accessed[1] = value < 0;
            messages.block = (value > 0).then_some(Block {
                location: 1,
                at: 300,
                written: value > 1,
            });
            met.push(messages.clone());
        }
        let numbers: Vec<u32> = met.iter().map(|messages| pool.number(messages)).collect();
        for (number, messages) in numbers.iter().zip(&met) {
            assert_eq!(pool.get(*number), *messages);
            assert_eq!(pool.number(messages), *number);
        }
        assert_eq!(pool.count() as usize, met.len());
    }

    /// Entries that fill pages, and some that are longer than one.
    #[test]
    fn there_is_room_for_many() {
        let pool = Pool::default();
        let of_number = |number: u32| {
            let mut messages = Messages::initial(&[0], &Watched::default(), &[true], &[true]);
            let length = if number % 500 == 499 { PAGE } else { 40 };
            messages.known[0] = vec![number; length];
            messages
        };
        for number in 0..3000 {
            assert_eq!(pool.number(&of_number(number)), number);
        }
        for number in (0..3000).rev() {
            assert_eq!(pool.number(&of_number(number)), number);
            assert_eq!(pool.get(number), of_number(number));
        }
    }
}
