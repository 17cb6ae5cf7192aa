//! What is learned about a program while its threads are executed: which objects threads share, what they look like in memory, which pointers
//! a location may hold. Threads are executed again until nothing new is learned.

use super::value::{Loc, ObjectId, Path, Pointer, Step, Val};
use crate::mir::{IntTy, SourceSpan, Ty};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::rc::Rc;

/// What an object is, the same in every round.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ObjectKey {
    /// A static.
    Static(Rc<str>),
    /// A local of a frame of a thread: thread, depth of the stack, local, and the function's body.
    Local(u32, u32, u32, u32),
    /// An allocation: thread, number of the site, and how many were made there before.
    Heap(u32, u32, u32),
    /// A constant, by its number in [`Knowledge::constants`].
    Constant(u32),
    /// What belongs to a thread: 0 its start, 1 its end, 2 its token.
    Thread(u32, u32),
    /// Whether this object was given back and not taken again.
    Free(u32),
    /// Whether this object is allocated and not yet freed, where leaks are looked for.
    Alive(u32),
    /// The threads that sleep at a place.
    Beside(Loc),
}

/// What is at a place of a shared object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One number, or one pointer.
    Cell(Kind),
    /// Parts.
    Parts(Ty, usize),
    /// An enum: its type, and the variants that were written, with the numbers of their fields.
    Variants(Ty, Vec<(i32, usize)>),
}

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A number of this type.
    Int(IntTy),
    /// A pointer, as its code.
    Pointer,
}

/// A thread: its parent, where it was made, and the closure that it runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ThreadKey {
    /// The thread that spawned it.
    pub parent: u32,
    /// Number of the site.
    pub site: u32,
    /// How many it had spawned before.
    pub count: u32,
    /// What it runs.
    pub closure: Val,
}

/// Everything that is learned.
#[derive(Default)]
pub struct Knowledge {
    objects: Vec<ObjectKey>,
    object_numbers: FxHashMap<ObjectKey, ObjectId>,
    /// Names for objects, as the user would say.
    pub names: FxHashMap<ObjectId, String>,
    shared: FxHashSet<ObjectId>,
    shapes: FxHashMap<Loc, Shape>,
    pointees: FxHashMap<Loc, BTreeSet<i64>>,
    codes: Vec<Pointer>,
    code_numbers: FxHashMap<Pointer, i64>,
    sites: FxHashMap<Vec<(u32, u32)>, u32>,
    /// The threads; 0 is the root.
    pub threads: Vec<Option<ThreadKey>>,
    thread_numbers: FxHashMap<ThreadKey, u32>,
    /// The values of constants that something points to.
    pub constants: Vec<Val>,
    constant_numbers: FxHashMap<Val, u32>,
    /// Where memory was allocated that leaks are looked for in, innermost first.
    pub made_at: FxHashMap<ObjectId, Rc<Vec<SourceSpan>>>,
    /// Memory of the models themselves: it counts as known to the end.
    pub of_models: FxHashSet<ObjectId>,
    /// Objects that some thread frees.
    pub freed: FxHashSet<ObjectId>,
    /// Cells that some thread writes after the beginning. The others hold for ever what they hold then.
    written: FxHashSet<Loc>,
    /// Whether pointers that are not null are compared.
    pub compared: bool,
    /// Types that are allocated beside other threads.
    allocated: FxHashSet<Ty>,
    /// Whether something was learned in this round.
    pub grew: bool,
}

/// Pointers are stored as multiples of this, which leaves low bits for tags.
const SPREAD: i64 = 16;
/// There are never more pointers than this.
const MOST_CODES: i64 = 1 << 20;

impl Knowledge {
    /// The number of an object.
    pub fn object(&mut self, key: ObjectKey) -> ObjectId {
        if let Some(&number) = self.object_numbers.get(&key) {
            return number;
        }
        let number = self.objects.len() as ObjectId;
        let is_shared = match &key {
            // A thread's own static is shared only where its address gets to other threads.
            ObjectKey::Static(path) => !path.contains('@'),
            ObjectKey::Thread(..)
            | ObjectKey::Free(_)
            | ObjectKey::Alive(_)
            | ObjectKey::Beside(_) => true,
            ObjectKey::Local(..) | ObjectKey::Heap(..) | ObjectKey::Constant(_) => false,
        };
        if is_shared {
            self.shared.insert(number);
        }
        self.objects.push(key.clone());
        self.object_numbers.insert(key, number);
        number
    }

    /// Whether there is such an object.
    pub fn is_known(&self, key: &ObjectKey) -> bool {
        self.object_numbers.contains_key(key)
    }

    /// What an object is.
    pub fn key(&self, object: ObjectId) -> &ObjectKey {
        &self.objects[object as usize]
    }

    /// Whether threads share nothing that is this thread's own: another one that runs the same closure does the same to the same memory.
    pub fn is_anonymous(&self, thread: u32) -> bool {
        !self.shared.iter().any(|&object| match self.key(object) {
            ObjectKey::Local(owner, ..)
            | ObjectKey::Heap(owner, ..)
            | ObjectKey::Thread(owner, _) => *owner == thread,
            ObjectKey::Static(path) => path.contains('@'),
            ObjectKey::Constant(_)
            | ObjectKey::Free(_)
            | ObjectKey::Alive(_)
            | ObjectKey::Beside(_) => false,
        })
    }

    /// All objects so far.
    pub fn objects(&self) -> impl Iterator<Item = (ObjectId, &ObjectKey)> {
        self.objects
            .iter()
            .enumerate()
            .map(|(number, key)| (number as ObjectId, key))
    }

    /// Learns that a thread writes a cell.
    pub fn write(&mut self, cell: &Loc) {
        if !self.written.contains(cell) {
            self.written.insert(cell.clone());
            self.grew = true;
        }
    }

    /// Whether a thread writes a cell.
    pub fn is_written(&self, cell: &Loc) -> bool {
        self.written.contains(cell)
    }

    /// Learns that pointers are compared.
    pub fn compare(&mut self) {
        self.grew |= !self.compared;
        self.compared = true;
    }

    /// Learns that a type is allocated beside other threads.
    pub fn allocates(&mut self, ty: &Ty) {
        if !self.allocated.contains(ty) {
            self.allocated.insert(ty.clone());
            self.grew = true;
        }
    }

    /// Whether a type is allocated beside other threads.
    pub fn is_allocated(&self, ty: &Ty) -> bool {
        self.allocated.contains(ty)
    }

    /// Whether threads share it.
    pub fn is_shared(&self, object: ObjectId) -> bool {
        self.shared.contains(&object)
    }

    /// Learns that threads share it; true if that is new.
    pub fn share(&mut self, object: ObjectId) -> bool {
        if matches!(self.key(object), ObjectKey::Constant(_)) || !self.shared.insert(object) {
            return false;
        }
        self.grew = true;
        true
    }

    /// The number of a place in the code, by the calls that lead to it.
    pub fn site(&mut self, calls: Vec<(u32, u32)>) -> u32 {
        let next = self.sites.len() as u32;
        *self.sites.entry(calls).or_insert(next)
    }

    /// The number of a thread.
    pub fn thread(&mut self, key: ThreadKey) -> u32 {
        if let Some(&number) = self.thread_numbers.get(&key) {
            return number;
        }
        let number = self.threads.len() as u32;
        self.threads.push(Some(key.clone()));
        self.thread_numbers.insert(key, number);
        self.grew = true;
        number
    }

    /// An object that holds a constant.
    pub fn constant(&mut self, value: Val) -> ObjectId {
        let next = self.constants.len() as u32;
        let number = *self.constant_numbers.entry(value.clone()).or_insert(next);
        if number == next {
            self.constants.push(value);
        }
        self.object(ObjectKey::Constant(number))
    }

    /// The constant that an object is.
    pub fn constant_value(&self, object: ObjectId) -> Option<&Val> {
        match self.key(object) {
            ObjectKey::Constant(number) => self.constants.get(*number as usize),
            _ => None,
        }
    }

    /// The number that stands for a pointer in memory.
    pub fn code(&mut self, pointer: &Pointer) -> i64 {
        let base = Pointer {
            tag: 0,
            ..pointer.clone()
        };
        let next = (self.codes.len() as i64 + 1) * SPREAD;
        let code = match self.code_numbers.get(&base) {
            Some(&code) => code,
            None => {
                self.codes.push(base.clone());
                self.code_numbers.insert(base, next);
                self.grew = true;
                next
            }
        };
        code + i64::from(pointer.tag)
    }

    /// The number that stands for a pointer, if it ever was stored.
    pub fn known_code(&self, pointer: &Pointer) -> Option<i64> {
        let base = Pointer {
            tag: 0,
            ..pointer.clone()
        };
        let code = self.code_numbers.get(&base)?;
        Some(code + i64::from(pointer.tag))
    }

    /// The pointer that a number stands for.
    pub fn decode(&self, code: i64) -> Option<Pointer> {
        let tag = code.rem_euclid(SPREAD);
        let at = usize::try_from(code.div_euclid(SPREAD) - 1).ok()?;
        self.codes.get(at).map(|pointer| Pointer {
            tag: tag as u8,
            ..pointer.clone()
        })
    }

    /// Whether two numbers stand for the same address with other low bits, or are both too small for an address.
    pub fn is_same_address(&self, code: i64, other: i64) -> bool {
        code.div_euclid(SPREAD) == other.div_euclid(SPREAD)
            && (other.rem_euclid(SPREAD) <= i64::from(super::arith::MAX_TAG)
                || (0..SPREAD).contains(&other))
    }

    /// Whether a number that the program computed would be taken for an address in a cell that holds pointers.
    pub fn looks_like_address(&self, number: i64) -> bool {
        (SPREAD..SPREAD * MOST_CODES).contains(&number)
    }

    /// All numbers that stand for pointers.
    pub fn all_codes(&self) -> Vec<i64> {
        (1..=self.codes.len() as i64).map(|n| n * SPREAD).collect()
    }

    /// Learns that a location may hold this code.
    pub fn may_hold(&mut self, cell: &Loc, code: i64) {
        let set = self.pointees.entry(cell.clone()).or_default();
        if set.insert(code) {
            self.grew = true;
        }
    }

    /// The codes that a location may hold.
    pub fn holds(&self, cell: &Loc) -> Vec<i64> {
        let set = self.pointees.get(cell);
        set.map(|set| set.iter().copied().collect())
            .unwrap_or_default()
    }

    /// What is at a place.
    pub fn shape(&self, loc: &Loc) -> Option<&Shape> {
        self.shapes.get(loc)
    }

    /// The cells of an object.
    pub fn cells(&self, object: ObjectId) -> Vec<(Path, Kind)> {
        let mut cells: Vec<(Path, Kind)> = self
            .shapes
            .iter()
            .filter(|(loc, _)| loc.object == object)
            .filter_map(|(loc, shape)| match shape {
                Shape::Cell(kind) => Some((loc.path.clone(), *kind)),
                Shape::Variants(..) => {
                    let mut path = loc.path.clone();
                    path.push(Step::Tag);
                    Some((path, Kind::Int(IntTy::ISIZE)))
                }
                _ => None,
            })
            .collect();
        cells.sort_by(|a, b| a.0.cmp(&b.0));
        cells
    }

    /// Learns what is at a place. False: it was something else before.
    pub fn learn(&mut self, loc: &Loc, shape: Shape) -> bool {
        match self.shapes.get_mut(loc) {
            None => {
                self.shapes.insert(loc.clone(), shape);
                self.grew = true;
                true
            }
            Some(Shape::Variants(_, known)) => {
                let Shape::Variants(_, new) = shape else {
                    return false;
                };
                for variant in new {
                    match known.iter_mut().find(|(v, _)| *v == variant.0) {
                        None => {
                            known.push(variant);
                            self.grew = true;
                        }
                        // A variant that was named before its fields were written.
                        Some((_, count)) if *count < variant.1 => {
                            *count = variant.1;
                            self.grew = true;
                        }
                        Some(_) => {}
                    }
                }
                true
            }
            Some(Shape::Parts(_, known)) => {
                let Shape::Parts(_, new) = shape else {
                    return false;
                };
                if new > *known {
                    *known = new;
                    self.grew = true;
                }
                true
            }
            Some(Shape::Cell(known)) => match shape {
                // A pointer that was null so far.
                Shape::Cell(Kind::Pointer) if *known != Kind::Pointer => {
                    *known = Kind::Pointer;
                    self.grew = true;
                    true
                }
                Shape::Cell(_) => true,
                _ => false,
            },
        }
    }
}
