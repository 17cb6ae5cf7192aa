//! The shared table of local states: exact, append-only, without a box per state.

use hashbrown::HashTable;
use palisade_lang::{PointId, Value};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

use crate::LocalId;

/// Numbers by what they stand for, in several tables: a table needs room for the old and the new one while it grows, so it should have only a small part of
/// them.
#[derive(Debug, Default)]
struct Numbers([HashTable<u32>; PARTS]);

const PARTS: usize = 16;

impl Numbers {
    /// The part that a hash belongs to, by bits that the tables themselves do not use.
    fn part(hash: u64) -> usize {
        (hash >> 44) as usize % PARTS
    }

    fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let part = &self.0[Numbers::part(hash)];
        part.find(hash, |&id| is_it(id)).copied()
    }

    fn insert(&mut self, hash: u64, id: u32, hash_of: impl Fn(u32) -> u64) {
        let part = &mut self.0[Numbers::part(hash)];
        part.insert_unique(hash, id, |&id| hash_of(id));
    }
}

/// Local states of one thread's code: a control point (or [`STOPPED`]) and the values of the registers that are live there.
#[derive(Debug, Default)]
pub(crate) struct LocalTable {
    points: Vec<u32>,
    /// Where each state's values begin in `values`.
    begins: Vec<u32>,
    values: Vec<Value>,
    ids: Numbers,
}

/// Stands for the control point of a thread that was stopped by a program error.
pub(crate) const STOPPED: PointId = PointId(u32::MAX);

fn hash(point: u32, values: &[Value]) -> u64 {
    let mut hasher = FxHasher::default();
    point.hash(&mut hasher);
    for value in values {
        hasher.write_i64(*value);
    }
    hasher.finish()
}

impl LocalTable {
    pub fn get(&self, id: LocalId) -> (PointId, &[Value]) {
        let index = id.0 as usize;
        let begin = self.begins[index] as usize;
        let end = self
            .begins
            .get(index + 1)
            .map_or(self.values.len(), |&end| end as usize);
        (PointId(self.points[index]), &self.values[begin..end])
    }

    pub fn find(&self, point: PointId, values: &[Value]) -> Option<LocalId> {
        self.ids
            .find(hash(point.0, values), |id| {
                self.get(LocalId(id)) == (point, values)
            })
            .map(LocalId)
    }

    pub fn intern(&mut self, point: PointId, values: &[Value]) -> LocalId {
        if let Some(id) = self.find(point, values) {
            return id;
        }
        let id = self.points.len() as u32;
        self.points.push(point.0);
        self.begins.push(self.values.len() as u32);
        self.values.extend_from_slice(values);
        let mut ids = std::mem::take(&mut self.ids);
        ids.insert(hash(point.0, values), id, |id| {
            let (point, values) = self.get(LocalId(id));
            hash(point.0, values)
        });
        self.ids = ids;
        LocalId(id)
    }

    pub fn len(&self) -> usize {
        self.points.len()
    }
}

/// The values that occur in memory, as small numbers. 0 to 15 stand for themselves, so that flags stay one bit wide.
#[derive(Debug)]
pub(crate) struct ValueTable {
    values: Vec<Value>,
    /// Numbers alone: a table that held the values once more would take too much memory at once when it grows.
    ids: Numbers,
}

impl Default for ValueTable {
    fn default() -> Self {
        let mut table = ValueTable {
            values: Vec::new(),
            ids: Numbers::default(),
        };
        for value in 0..16 {
            table.intern(value);
        }
        table
    }
}

fn hash_value(value: Value) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_i64(value);
    hasher.finish()
}

impl ValueTable {
    pub fn get(&self, id: u32) -> Value {
        self.values[id as usize]
    }

    pub fn len(&self) -> usize {
        self.values.len()
    }

    pub fn find(&self, value: Value) -> Option<u32> {
        self.ids
            .find(hash_value(value), |id| self.values[id as usize] == value)
    }

    pub fn intern(&mut self, value: Value) -> u32 {
        if let Some(id) = self.find(value) {
            return id;
        }
        let id = self.values.len() as u32;
        self.values.push(value);
        let values = &self.values;
        self.ids
            .insert(hash_value(value), id, |id| hash_value(values[id as usize]));
        id
    }
}
