//! Where objects are: every cell is a location, and the addresses of an object's cells follow each other, from 1.
//!
//! Behind an object with an array in it, as many addresses are left out as it has cells: what goes beyond its end is an error then, and not another
//! object's. Where pointers are computed, addresses are left out between all objects; and those near to 0 are nobody's, so that members of nothing are
//! no variables.

use crate::fold;
use crate::unit::{ArrayBlock, Atom, Cell, FunctionId, Object, ObjectId, Unit};
use palisade_lang::{Expr, Location, LocationId, Span, UNSET, Value, block_state};

/// A block of allocated memory.
#[derive(Clone, Copy, Debug)]
pub struct HeapBlock {
    /// Of its first cell. Where blocks can be given back, the cell before it holds its state.
    pub address: Value,
    /// How many cells.
    pub cells: u32,
}

/// No more addresses are left out, in cells.
const MOST_APART: Value = 1 << 16;

/// No array of more cells is allocated.
const MOST_CELLS: Value = 1 << 14;

/// The cells of a block that ends in an array of so many elements; `None` where it is too large.
pub fn array_cells(block: &ArrayBlock, count: Value) -> Option<Vec<Cell>> {
    let size = block.element.len() as Value;
    if count < 0 || count.checked_mul(size.max(1))? > MOST_CELLS {
        return None;
    }
    let mut cells = block.head.clone();
    let begin = cells.len() as u32;
    for index in 0..count {
        for cell in &block.element {
            let array = match block.element.len() {
                1 => Some((begin, count as u32)),
                _ => cell
                    .array
                    .map(|(first, length)| (begin + first + (index * size) as u32, length)),
            };
            cells.push(Cell {
                name: format!("{}[{index}]{}", block.array, cell.name),
                initial: cell.initial.clone(),
                array,
            });
        }
    }
    Some(cells)
}

/// All locations so far.
#[derive(Debug, Default)]
pub struct Memory {
    /// In the order of their addresses.
    pub locations: Vec<Location>,
    /// The address of each object with static storage; 0 for those that each thread has for itself.
    pub objects: Vec<Value>,
    /// Allocated blocks.
    pub heap: Vec<HeapBlock>,
    /// Whether blocks are ever given back.
    pub frees: bool,
    /// The addresses, from and to, of memory that begins without a value or can go: allocated blocks, and variables of functions.
    loose: Vec<(Value, Value)>,
    /// How far apart the addresses of neighbouring cells are.
    pub stride: Value,
    /// How many addresses are left out between objects.
    apart: Value,
    /// The address that the next location gets.
    next: Value,
}

/// The number that stands for a function in pointers: none that a cell has.
pub fn function_number(function: FunctionId) -> Value {
    -1 - Value::from(function.0)
}

/// The function with this number.
pub fn function_numbered(number: Value) -> Option<FunctionId> {
    u32::try_from(-1 - number).ok().map(FunctionId)
}

impl Memory {
    /// The objects with static storage.
    pub fn new(unit: &Unit, frees: bool) -> Self {
        let limits = &unit.limits;
        let stride = limits.stride.max(1);
        let mut memory = Memory {
            frees,
            stride,
            apart: limits.leap.clamp(0, MOST_APART) * stride,
            next: limits
                .reach
                .saturating_add(limits.leap)
                .clamp(1, MOST_APART)
                * stride,
            ..Memory::default()
        };
        for object in &unit.objects {
            let address = match object.thread_local {
                true => 0,
                false => memory.add(&object.name, &object.cells, object.span),
            };
            memory.objects.push(address);
        }
        for (index, object) in unit.objects.iter().enumerate() {
            if !object.thread_local {
                memory.initialise(memory.objects[index], &object.cells);
            }
        }
        memory
    }

    /// New locations for these cells; the address of the first (where there is none, one that is no location's).
    pub fn add(&mut self, name: &str, cells: &[Cell], span: Span) -> Value {
        let address = self.next;
        let first = self.locations.len();
        for cell in cells {
            self.locations.push(Location {
                name: format!("{name}{}", cell.name),
                address: self.next,
                initial: 0,
                nonatomic: false,
                array: cell
                    .array
                    .map(|(at, length)| (LocationId(first as u32 + at), length)),
                span,
            });
            self.next += self.stride;
        }
        let is_element = |cell: &Cell| cell.array.is_some() || cell.name.contains('[');
        let behind = match cells.iter().any(is_element) {
            true => cells.len() as Value * self.stride,
            false => 0,
        };
        self.next += behind.max(self.apart);
        address
    }

    /// New locations that hold nothing yet.
    pub fn add_unset(&mut self, name: &str, cells: &[Cell], span: Span) -> Value {
        let address = self.add(name, cells, span);
        for cell in 0..cells.len() {
            self.set_initial(address, cell, UNSET);
        }
        self.loose.push((address, self.next));
        address
    }

    /// Takes the locations of so many cells from this address on away again, if there is nothing behind them; whether there was not.
    pub fn remove_last(&mut self, address: Value, cells: usize) -> bool {
        let left = self.locations.len().wrapping_sub(cells);
        let is_last = cells > 0 && self.at(address).is_some_and(|first| first.index() == left);
        if is_last {
            self.locations.truncate(left);
            self.next = address;
        }
        is_last
    }

    /// Whether this location may hold what must not be read.
    pub fn is_loose(&self, location: LocationId) -> bool {
        let address = self.locations[location.index()].address;
        let mut ranges = self.loose.iter();
        ranges.any(|(from, to)| (*from..*to).contains(&address))
    }

    /// The location that is so many cells behind the one with this address.
    pub fn location_mut(&mut self, address: Value, cell: usize) -> Option<&mut Location> {
        let index = self.at(address)?.index() + cell;
        self.locations.get_mut(index)
    }

    /// One more location.
    pub fn add_one(&mut self, name: &str, span: Span) -> Value {
        self.add(name, &[Cell::new("")], span)
    }

    /// Sets the initial values of cells that were added.
    pub fn initialise(&mut self, address: Value, cells: &[Cell]) {
        for (at, cell) in cells.iter().enumerate() {
            let value = fold::replace(&cell.initial, &mut |atom| self.constant::<Atom>(atom));
            if let Expr::Const(value) = value {
                self.set_initial(address, at, value);
            }
        }
    }

    /// Sets what a cell holds at the beginning.
    pub fn set_initial(&mut self, address: Value, cell: usize, value: Value) {
        if let Some(location) = self.location_mut(address, cell) {
            location.initial = value;
        }
    }

    fn constant<B>(&self, atom: &Atom) -> Expr<B> {
        Expr::Const(match atom {
            Atom::Object(object) => self.objects[object.index()],
            Atom::Function(function) => function_number(*function),
            // Not in the initial value of anything.
            Atom::Local(_) | Atom::AddressOf(_) => 0,
        })
    }

    /// A block of allocated memory.
    pub fn allocate(&mut self, name: &str, cells: &[Cell], span: Span) -> HeapBlock {
        let name = format!("{name}#{}", self.heap.len() + 1);
        if self.frees {
            let header = self.add_one(&format!("{name} state"), span);
            self.next = header + self.stride;
            self.set_initial(header, 0, block_state::in_use(cells.len() as u32));
        }
        let address = self.add_unset(&name, cells, span);
        if cells.is_empty() {
            self.add_one(&name, span);
        }
        let block = HeapBlock {
            address,
            cells: cells.len() as u32,
        };
        self.heap.push(block);
        block
    }

    /// The location with this address.
    pub fn at(&self, address: Value) -> Option<LocationId> {
        let found = self.locations.binary_search_by_key(&address, |l| l.address);
        found.ok().map(|index| LocationId(index as u32))
    }

    /// The address of an object with static storage.
    pub fn object(&self, object: ObjectId) -> Value {
        self.objects[object.index()]
    }

    /// A thread's own copy of an object.
    pub fn add_thread_local(&mut self, thread: &str, object: &Object) -> Value {
        let name = format!("{} of {thread}", object.name);
        let address = self.add(&name, &object.cells, object.span);
        self.initialise(address, &object.cells);
        address
    }
}
