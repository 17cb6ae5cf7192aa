//! `safe` under TSO, with buffers.
//!
//! A state is threads, memory, and a buffer for each thread. One of up to a given number of stores is as it is: first in, first out. A longer
//! one is a *bag*: which stores are in it, each at least once, and for each location the newest value. What leaves a bag may be any of its
//! stores, and may or may not be in it any more then; but the newest store of a location leaves as the last one to it. Whatever a real
//! buffer does, a bag that has exactly its stores and its newest values can do: so these runs are all those of TSO, and more. A thread
//! whose `seqcst` store has entered a bag does not wait, which again only adds runs.

use super::patterns::forbidden;
use super::{Rules, states};
use palisade_lang::Value;
use palisade_memory::sc::State;
use palisade_memory::thread::{Outcome, Request};
use palisade_memory::{Machine, Sc};
use std::collections::{BTreeMap, BTreeSet};

/// The rules of TSO with such buffers.
pub struct Buffered<'p> {
    /// For threads and memory.
    machine: Sc<'p>,
    /// So many stores are kept as they are.
    exact: usize,
}

#[derive(Clone, PartialEq, Eq)]
enum Buffer {
    /// Oldest first; whether the thread waits until it is empty.
    Queue(Vec<(usize, Value)>, bool),
    Bag {
        stores: BTreeSet<(usize, Value)>,
        newest: BTreeMap<usize, Value>,
    },
}

const EMPTY: Buffer = Buffer::Queue(Vec::new(), false);

impl Buffer {
    fn is_empty(&self) -> bool {
        *self == EMPTY
    }

    fn newest(&self, location: usize) -> Option<Value> {
        match self {
            Buffer::Queue(stores, _) => stores
                .iter()
                .rev()
                .find(|(l, _)| *l == location)
                .map(|(_, value)| *value),
            Buffer::Bag { newest, .. } => newest.get(&location).copied(),
        }
    }

    fn push(&mut self, store: (usize, Value), seqcst: bool, exact: usize) {
        if let Buffer::Queue(stores, waits) = self {
            if stores.len() < exact {
                stores.push(store);
                *waits = seqcst;
                return;
            }
            *self = Buffer::Bag {
                newest: stores.iter().copied().collect(),
                stores: stores.iter().copied().collect(),
            };
        }
        if let Buffer::Bag { stores, newest } = self {
            stores.insert(store);
            newest.insert(store.0, store.1);
        }
    }

    /// What may leave it, and what remains.
    fn flushes(&self) -> Vec<((usize, Value), Buffer)> {
        match self {
            Buffer::Queue(stores, waits) => {
                let Some((first, rest)) = stores.split_first() else {
                    return Vec::new();
                };
                let waits = *waits && !rest.is_empty();
                vec![(*first, Buffer::Queue(rest.to_vec(), waits))]
            }
            Buffer::Bag { stores, newest } => {
                let mut flushes = Vec::new();
                for store in stores {
                    flushes.push((*store, self.clone()));
                    let alone = stores.iter().filter(|(l, _)| *l == store.0).count() == 1;
                    if newest.get(&store.0) == Some(&store.1) && !alone {
                        continue;
                    }
                    let (mut stores, mut newest) = (stores.clone(), newest.clone());
                    stores.remove(store);
                    if alone {
                        newest.remove(&store.0);
                    }
                    let rest = match stores.is_empty() {
                        true => EMPTY,
                        false => Buffer::Bag { stores, newest },
                    };
                    flushes.push((*store, rest));
                }
                flushes
            }
        }
    }

    fn put(&self, numbers: &mut Vec<i64>) {
        let pair = |(location, value): (usize, Value)| [location as i64, value];
        match self {
            Buffer::Queue(stores, waits) => {
                numbers.push(2 * stores.len() as i64 + i64::from(*waits));
                numbers.extend(stores.iter().copied().flat_map(pair));
            }
            Buffer::Bag { stores, newest } => {
                numbers.push(-(stores.len() as i64));
                numbers.extend(stores.iter().copied().flat_map(pair));
                numbers.push(newest.len() as i64);
                numbers.extend(newest.iter().flat_map(|(l, v)| pair((*l, *v))));
            }
        }
    }

    /// A buffer from numbers, where it is one: of stores to so many locations.
    fn take(next: &mut impl FnMut() -> Option<i64>, locations: usize) -> Option<Buffer> {
        let size = next()?;
        let mut pairs = |count: i64| {
            let mut pairs = Vec::new();
            for _ in 0..count {
                let location = usize::try_from(next()?).ok()?;
                pairs.push((location, next()?));
                if location >= locations {
                    return None;
                }
            }
            Some(pairs)
        };
        if size >= 0 {
            return Some(Buffer::Queue(pairs(size >> 1)?, size & 1 == 1));
        }
        let stores = pairs(size.checked_neg()?)?.into_iter().collect();
        let count = next()?;
        let mut newest = BTreeMap::new();
        for _ in 0..count {
            newest.insert(usize::try_from(next()?).ok()?, next()?);
        }
        Some(Buffer::Bag { stores, newest })
    }
}

/// Threads, memory and buffers.
#[derive(Clone)]
struct Buffers {
    state: State,
    buffers: Vec<Buffer>,
}

impl<'p> Buffered<'p> {
    pub fn new(machine: Sc<'p>, exact: u32) -> Self {
        Buffered {
            machine,
            exact: exact as usize,
        }
    }

    /// All steps; or the error of the program that one of them is.
    fn steps(&self, from: &Buffers) -> Result<Vec<Buffers>, String> {
        let holder = self.machine.code().holder(&from.state.locals);
        let mut next = Vec::new();
        for thread in 0..from.buffers.len() {
            if holder.is_none_or(|holder| holder == thread) {
                self.steps_of(from, thread, &mut next)?;
            }
        }
        Ok(next)
    }

    fn steps_of(
        &self,
        from: &Buffers,
        thread: usize,
        next: &mut Vec<Buffers>,
    ) -> Result<(), String> {
        let code = self.machine.code();
        let local = &from.state.locals[thread];
        let buffer = &from.buffers[thread];
        for ((location, value), rest) in buffer.flushes() {
            let mut after = from.clone();
            after.state.memory[location] = value;
            after.buffers[thread] = rest;
            next.push(after);
        }
        if matches!(buffer, Buffer::Queue(_, true)) {
            return Ok(());
        }
        let inside = code.in_block(thread, local);
        for (_, transition) in code.next(thread, local) {
            let request = code.request(thread, local, transition);
            let request = request.map_err(|error| error.to_string())?;
            let mut after = from.clone();
            let mut set = None;
            match request {
                Request::Blocked => continue,
                Request::Local(local) => {
                    after.state.locals[thread] = local;
                    next.push(after);
                    continue;
                }
                Request::Load {
                    location,
                    register,
                    condition,
                } => {
                    let own = buffer.newest(location.index());
                    let value = own.unwrap_or(from.state.memory[location.index()]);
                    if condition.is_some_and(|(relation, right)| !relation.holds(value, right)) {
                        continue;
                    }
                    set = register.map(|register| (register, value));
                }
                Request::Store {
                    location, value, ..
                } if inside => after.state.memory[location.index()] = value,
                Request::Store {
                    location,
                    value,
                    seqcst,
                } => {
                    let store = (location.index(), value);
                    after.buffers[thread].push(store, seqcst, self.exact);
                }
                // Everything else waits for the own buffer.
                _ if !buffer.is_empty() => continue,
                Request::Rmw {
                    location,
                    register,
                    action,
                } => {
                    let old = from.state.memory[location.index()];
                    set = register.map(|register| (register, old));
                    match code.outcome(action, old) {
                        Outcome::Waits => continue,
                        Outcome::Fails(error) => return Err(error.to_string()),
                        Outcome::Loads => {}
                        Outcome::Writes(new) => after.state.memory[location.index()] = new,
                    }
                }
                Request::Fence | Request::AtomicBegin | Request::AtomicEnd => {}
            }
            after.state.locals[thread] = code.after(thread, local, transition, set);
            next.push(after);
        }
        Ok(())
    }

    fn put(&self, from: &Buffers, numbers: &mut Vec<i64>) {
        numbers.clear();
        states::put(&from.state, numbers);
        for buffer in &from.buffers {
            buffer.put(numbers);
        }
    }

    fn take(&self, numbers: &[i64]) -> Option<Buffers> {
        let code = self.machine.code();
        let (state, mut rest) = states::take(code, numbers, None)?;
        let mut next = || {
            let (&number, behind) = rest.split_first()?;
            rest = behind;
            Some(number)
        };
        let locations = state.memory.len();
        let buffers = (0..state.locals.len()).map(|_| Buffer::take(&mut next, locations));
        let buffers = buffers.collect::<Option<Vec<Buffer>>>()?;
        let taken = Buffers { state, buffers };
        // Whatever else the numbers could have been, they are what would be written.
        let mut again = Vec::new();
        self.put(&taken, &mut again);
        (again == numbers).then_some(taken)
    }
}

impl Rules for Buffered<'_> {
    fn initial(&self) -> Vec<i64> {
        let state = self.machine.initial();
        let buffers = vec![EMPTY; state.locals.len()];
        let mut numbers = Vec::new();
        self.put(&Buffers { state, buffers }, &mut numbers);
        numbers
    }

    fn visit(&self, numbers: &[i64], next: &mut dyn FnMut(&[i64])) -> Result<(), String> {
        let Some(from) = self.take(numbers) else {
            return Err("it is none of this program".to_owned());
        };
        let steps = self.steps(&from)?;
        let flushed = from.buffers.iter().all(Buffer::is_empty);
        if flushed && forbidden(&self.machine, &from.state) {
            return Err("a `never` is true".to_owned());
        }
        let mut numbers = Vec::new();
        for after in &steps {
            self.put(after, &mut numbers);
            next(&numbers);
        }
        Ok(())
    }
}
