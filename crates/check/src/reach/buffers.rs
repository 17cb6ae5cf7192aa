//! Store buffers as numbers, exact up to a length, and as sets beyond it.

use std::cmp::Ordering;
use std::sync::{Arc, RwLock};

use palisade_lang::{LocationId, Value};
use rustc_hash::FxHashMap;

/// A pending store: where to, what, and whether its thread waits until it has left the buffer (`seqcst`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Pending {
    pub location: LocationId,
    pub value: Value,
    pub drains: bool,
}

/// What a thread has issued and not yet flushed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Buffer {
    /// Oldest first.
    Exact(Vec<Pending>),
    /// Too long to be told exactly: which stores are pending, at least once each, without their order and number; and the newest value of each
    /// location among them. Both sorted.
    Set {
        pending: Vec<(LocationId, Value)>,
        newest: Vec<(LocationId, Value)>,
    },
}

/// What happens to a store for which there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beyond {
    /// It is not issued: fewer runs than there are.
    Refuse,
    /// The buffer becomes a set: more runs than there are.
    Forget,
}

impl Buffer {
    pub const EMPTY: Buffer = Buffer::Exact(Vec::new());

    /// The value that the thread itself sees in a location.
    pub fn newest(&self, location: LocationId) -> Option<Value> {
        match self {
            Buffer::Exact(stores) => stores
                .iter()
                .rev()
                .find(|s| s.location == location)
                .map(|s| s.value),
            Buffer::Set { newest, .. } => newest
                .iter()
                .find(|(l, _)| *l == location)
                .map(|(_, value)| *value),
        }
    }

    /// Whether the thread must wait until the buffer is empty.
    pub fn drains(&self) -> bool {
        match self {
            Buffer::Exact(stores) => stores.last().is_some_and(|s| s.drains),
            // A store behind which the thread waits never meets an inexact buffer (see `push`).
            Buffer::Set { .. } => false,
        }
    }

    /// The buffer with one more store; `None` where there is no room.
    ///
    /// Behind a set, a `seqcst` store is pushed like a plain one: the thread may go on too early, which only adds runs.
    fn push(&self, store: Pending, bound: usize, beyond: Beyond) -> Option<Buffer> {
        match self {
            Buffer::Exact(stores) if stores.len() < bound => {
                let mut stores = stores.clone();
                stores.push(store);
                Some(Buffer::Exact(stores))
            }
            Buffer::Exact(_) if beyond == Beyond::Refuse => None,
            Buffer::Exact(stores) => {
                let mut set = Buffer::Set {
                    pending: Vec::new(),
                    newest: Vec::new(),
                };
                for store in stores.iter().chain([&store]) {
                    set.add(*store);
                }
                Some(set)
            }
            Buffer::Set { .. } => {
                let mut set = self.clone();
                set.add(store);
                Some(set)
            }
        }
    }

    fn add(&mut self, store: Pending) {
        if let Buffer::Set { pending, newest } = self {
            let entry = (store.location, store.value);
            if let Err(at) = pending.binary_search(&entry) {
                pending.insert(at, entry);
            }
            match newest.binary_search_by_key(&store.location, |(l, _)| *l) {
                Ok(at) => newest[at].1 = store.value,
                Err(at) => newest.insert(at, entry),
            }
        }
    }

    /// The stores that can leave the buffer now, each with the buffer that remains.
    fn pops(&self) -> Vec<(LocationId, Value, Buffer)> {
        match self {
            Buffer::Exact(stores) => stores
                .split_first()
                .map(|(first, rest)| (first.location, first.value, Buffer::Exact(rest.to_vec())))
                .into_iter()
                .collect(),
            Buffer::Set { pending, newest } => {
                let mut pops = Vec::new();
                for (at, &(location, value)) in pending.iter().enumerate() {
                    // It may have been issued several times.
                    pops.push((location, value, self.clone()));
                    // The newest store to a location leaves last.
                    let is_newest = newest.contains(&(location, value));
                    let is_last = pending.iter().filter(|(l, _)| *l == location).count() == 1;
                    if !is_newest || is_last {
                        let mut pending = pending.clone();
                        pending.remove(at);
                        let mut newest = newest.clone();
                        if is_last {
                            newest.retain(|(l, _)| *l != location);
                        }
                        let rest = if pending.is_empty() {
                            Buffer::EMPTY
                        } else {
                            Buffer::Set { pending, newest }
                        };
                        pops.push((location, value, rest));
                    }
                }
                pops
            }
        }
    }
}

/// All buffers that were met, as numbers; 0 is the empty one.
#[derive(Debug)]
pub(crate) struct Buffers {
    bound: usize,
    beyond: Beyond,
    table: RwLock<Table>,
}

/// A buffer may be as long as a run. So there is one of each, however many know it.
#[derive(Debug)]
struct Table {
    buffers: Vec<Arc<Buffer>>,
    ids: FxHashMap<Arc<Buffer>, u32>,
}

impl Buffers {
    pub fn new(bound: usize, beyond: Beyond) -> Self {
        let empty = Arc::new(Buffer::EMPTY);
        Buffers {
            bound,
            beyond,
            table: RwLock::new(Table {
                buffers: vec![Arc::clone(&empty)],
                ids: [(empty, 0)].into_iter().collect(),
            }),
        }
    }

    pub fn get(&self, id: u32) -> Arc<Buffer> {
        let table = self.table.read().unwrap_or_else(|e| e.into_inner());
        Arc::clone(&table.buffers[id as usize])
    }

    pub fn compare(&self, a: u32, b: u32) -> Ordering {
        if a == b {
            return Ordering::Equal;
        }
        let table = self.table.read().unwrap_or_else(|e| e.into_inner());
        table.buffers[a as usize].cmp(&table.buffers[b as usize])
    }

    fn intern(&self, buffer: Buffer) -> u32 {
        {
            let table = self.table.read().unwrap_or_else(|e| e.into_inner());
            if let Some(&id) = table.ids.get(&buffer) {
                return id;
            }
        }
        let mut table = self.table.write().unwrap_or_else(|e| e.into_inner());
        if let Some(&id) = table.ids.get(&buffer) {
            return id;
        }
        let id = table.buffers.len() as u32;
        let buffer = Arc::new(buffer);
        table.buffers.push(Arc::clone(&buffer));
        table.ids.insert(buffer, id);
        id
    }
}

impl Buffer {
    /// Appends it as numbers.
    fn spell(&self, out: &mut Vec<i64>) {
        match self {
            Buffer::Exact(stores) => {
                out.extend([0, stores.len() as i64]);
                for store in stores {
                    let location = i64::from(store.location.0);
                    out.extend([location, store.value, i64::from(store.drains)]);
                }
            }
            Buffer::Set { pending, newest } => {
                out.extend([1, pending.len() as i64, newest.len() as i64]);
                for (location, value) in pending.iter().chain(newest) {
                    out.extend([i64::from(location.0), *value]);
                }
            }
        }
    }

    /// The buffer that was spelled so; `None` where it is none that has so many locations.
    fn spelled(locations: usize, numbers: &mut dyn Iterator<Item = i64>) -> Option<Buffer> {
        let location = |number: i64| {
            let number = u32::try_from(number).ok()?;
            ((number as usize) < locations).then_some(LocationId(number))
        };
        if numbers.next()? == 0 {
            let mut stores = Vec::new();
            for _ in 0..numbers.next()? {
                stores.push(Pending {
                    location: location(numbers.next()?)?,
                    value: numbers.next()?,
                    drains: numbers.next()? != 0,
                });
            }
            return Some(Buffer::Exact(stores));
        }
        let (first, second) = (numbers.next()?, numbers.next()?);
        let mut list = |count| {
            let mut list = Vec::new();
            for _ in 0..count {
                list.push((location(numbers.next()?)?, numbers.next()?));
            }
            Some(list)
        };
        Some(Buffer::Set {
            pending: list(first)?,
            newest: list(second)?,
        })
    }
}

/// Keeping what the numbers stand for, for another process.
impl Buffers {
    /// Appends it as a list of numbers.
    pub fn keep_numbers(&self, out: &mut Vec<i64>) {
        let table = self.table.read().unwrap_or_else(|e| e.into_inner());
        out.push(table.buffers.len() as i64);
        for buffer in &table.buffers {
            buffer.spell(out);
        }
    }

    /// Appends what a number stands for.
    pub fn spell(&self, number: u32, out: &mut Vec<i64>) {
        self.get(number).spell(out);
    }

    /// The number of the buffer that was spelled so.
    pub fn number(&self, locations: usize, meaning: &[i64]) -> Option<u32> {
        let mut numbers = meaning.iter().copied();
        let buffer = Buffer::spelled(locations, &mut numbers)?;
        numbers.next().is_none().then(|| self.intern(buffer))
    }

    /// How many buffers have numbers.
    pub fn count(&self) -> u32 {
        let table = self.table.read().unwrap_or_else(|e| e.into_inner());
        table.buffers.len() as u32
    }

    /// Makes it so again; `None` where some number stands for something else already, or for nothing that has so many locations.
    pub fn recall_numbers(
        &self,
        locations: usize,
        numbers: &mut dyn Iterator<Item = i64>,
    ) -> Option<()> {
        for id in 0..u32::try_from(numbers.next()?).ok()? {
            let buffer = Buffer::spelled(locations, numbers)?;
            if self.intern(buffer) != id {
                return None;
            }
        }
        Some(())
    }
}

/// One searching thread's window on the buffers; it remembers what it has asked.
#[derive(Debug)]
pub(crate) struct BufferView<'b> {
    shared: &'b Buffers,
    known: FxHashMap<u32, Known>,
}

#[derive(Debug)]
struct Known {
    buffer: Arc<Buffer>,
    pops: Vec<(LocationId, Value, u32)>,
    pushes: FxHashMap<Pending, Option<u32>>,
}

/// What is remembered of buffers is forgotten beyond this many.
const REMEMBERED: usize = 1 << 18;

impl<'b> BufferView<'b> {
    pub fn new(shared: &'b Buffers) -> Self {
        BufferView {
            shared,
            known: FxHashMap::default(),
        }
    }

    fn known(&mut self, id: u32) -> &mut Known {
        if self.known.len() > REMEMBERED {
            self.known.clear();
        }
        let shared = self.shared;
        self.known.entry(id).or_insert_with(|| {
            let buffer = shared.get(id);
            let pops = buffer
                .pops()
                .into_iter()
                .map(|(location, value, rest)| (location, value, shared.intern(rest)))
                .collect();
            Known {
                buffer,
                pops,
                pushes: FxHashMap::default(),
            }
        })
    }

    pub fn newest(&mut self, id: u32, location: LocationId) -> Option<Value> {
        if id == 0 {
            return None;
        }
        self.known(id).buffer.newest(location)
    }

    pub fn drains(&mut self, id: u32) -> bool {
        id != 0 && self.known(id).buffer.drains()
    }

    pub fn push(&mut self, id: u32, store: Pending) -> Option<u32> {
        let shared = self.shared;
        let known = self.known(id);
        if let Some(&result) = known.pushes.get(&store) {
            return result;
        }
        let result = known
            .buffer
            .push(store, shared.bound, shared.beyond)
            .map(|buffer| shared.intern(buffer));
        known.pushes.insert(store, result);
        result
    }

    pub fn pops(&mut self, id: u32) -> &[(LocationId, Value, u32)] {
        &self.known(id).pops
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(location: u32, value: Value) -> Pending {
        Pending {
            location: LocationId(location),
            value,
            drains: false,
        }
    }

    #[test]
    fn an_exact_buffer_is_first_in_first_out() {
        let buffers = Buffers::new(4, Beyond::Refuse);
        let mut view = BufferView::new(&buffers);
        let one = view.push(0, store(0, 1)).unwrap();
        let two = view.push(one, store(0, 2)).unwrap();
        assert_eq!(view.newest(two, LocationId(0)), Some(2));
        let pops = view.pops(two).to_vec();
        assert_eq!(pops.len(), 1);
        assert_eq!((pops[0].0, pops[0].1), (LocationId(0), 1));
        assert_eq!(view.pops(pops[0].2).to_vec(), [(LocationId(0), 2, 0)]);
    }

    /// A store that waits long was kept three times in every longer buffer.
    #[test]
    fn there_is_one_of_each_buffer() {
        let buffers = Buffers::new(4, Beyond::Refuse);
        let mut view = BufferView::new(&buffers);
        let one = view.push(0, store(0, 1)).unwrap();
        let two = view.push(one, store(0, 2)).unwrap();
        view.pops(two);
        let known = &view.known[&two].buffer;
        assert!(Arc::ptr_eq(known, &buffers.get(two)));
        let table = buffers.table.read().unwrap();
        let (key, _) = table.ids.get_key_value(known).unwrap();
        assert!(Arc::ptr_eq(key, known));
    }

    #[test]
    fn a_set_keeps_the_newest_value_for_last() {
        let buffers = Buffers::new(1, Beyond::Forget);
        let mut view = BufferView::new(&buffers);
        let one = view.push(0, store(0, 1)).unwrap();
        let two = view.push(one, store(0, 2)).unwrap();
        assert_eq!(view.newest(two, LocationId(0)), Some(2));
        // 2 cannot be the last that remains to be flushed before 1.
        assert!(
            view.pops(two)
                .to_vec()
                .iter()
                .all(|pop| pop.1 == 1 || pop.2 == two)
        );
    }

    #[test]
    fn beyond_its_bound_a_buffer_refuses() {
        let buffers = Buffers::new(1, Beyond::Refuse);
        let mut view = BufferView::new(&buffers);
        let one = view.push(0, store(0, 1)).unwrap();
        assert_eq!(view.push(one, store(0, 2)), None);
    }
}
