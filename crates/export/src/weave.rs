//! What the source-to-source constructions share: copies of a thread's code, woven together with new instructions.
//!
//! Each woven instruction is an `atomic` block. Where such a block cannot go on, the run ends there; that loses nothing, because others
//! can move before it begins. Computed addresses become a choice among the locations, errors become the end of a run.

use palisade_lang::{
    Address, BinaryOp, Expr, Location, LocationId, Never, Op, Order, Point, PointId, Program,
    Register, RegisterExpr, RegisterId, StateAtom, Thread, Transition, UnaryOp,
};
use std::collections::HashSet;

/// Where the new locations are: several beside each of the program's, and behind them some that there is one of.
pub(crate) struct Places {
    count: u32,
    shadows: u32,
}

impl Places {
    /// The program's locations, and behind them the new ones: named `prefix_location` and as `globals` says.
    pub fn new(program: &Program, prefixes: &[&str], globals: &[&str]) -> (Self, Vec<Location>) {
        let places = Places {
            count: program.locations.len() as u32,
            shadows: prefixes.len() as u32,
        };
        let mut locations = program.locations.clone();
        let names = program.locations.iter().map(|l| base_name(&l.name));
        let taken: HashSet<&str> = names.collect();
        let fresh = |mut name: String| {
            while taken.contains(name.as_str()) {
                name.push('_');
            }
            name
        };
        let mut address = locations.iter().map(|l| l.address).max().unwrap_or(0);
        let mut next_address = || {
            address += 1;
            address
        };
        for (shadow, prefix) in prefixes.iter().enumerate() {
            for location in &program.locations {
                let base = base_name(&location.name);
                let index = &location.name[base.len()..];
                let name = fresh(format!("{prefix}_{base}"));
                locations.push(Location {
                    name: format!("{name}{index}"),
                    address: next_address(),
                    initial: 0,
                    nonatomic: false,
                    array: location
                        .array
                        .map(|(first, length)| (places.shadow(shadow, first), length)),
                    span: location.span,
                });
            }
        }
        for name in globals {
            locations.push(Location {
                name: fresh(name.to_string()),
                address: next_address(),
                initial: 0,
                nonatomic: false,
                array: None,
                span: Default::default(),
            });
        }
        (places, locations)
    }

    /// The location beside one of the program's, by the number of its prefix.
    pub fn shadow(&self, shadow: usize, location: LocationId) -> LocationId {
        LocationId(self.count * (1 + shadow as u32) + location.0)
    }

    /// The same for an address without pointers, as [`Weave::reached`] gives them.
    pub fn shadow_of(&self, shadow: usize, address: &Address<RegisterId>) -> Address<RegisterId> {
        match address {
            Address::Direct(location) => Address::Direct(self.shadow(shadow, *location)),
            Address::Element {
                first,
                length,
                index,
            } => Address::Element {
                first: self.shadow(shadow, *first),
                length: *length,
                index: index.clone(),
            },
            Address::Pointer(_) => address.clone(),
        }
    }

    /// A location that there is one of, by its number.
    pub fn global(&self, global: usize) -> LocationId {
        LocationId(self.count * (1 + self.shadows) + global as u32)
    }
}

fn base_name(name: &str) -> &str {
    name.split('[').next().unwrap_or(name)
}

/// `never LOCATION == 1;`
pub(crate) fn never_set(program: &Program, location: LocationId) -> Never {
    let content = StateAtom::Memory(Box::new(Address::Direct(location)));
    Never {
        conditions: vec![Expr::binary(
            BinaryOp::Equal,
            Expr::Atom(content),
            Expr::Const(1),
        )],
        span: program
            .threads
            .first()
            .map_or(Default::default(), |t| t.span),
    }
}

/// How a location is reached: what must be true of the registers, and an address without pointers.
pub(crate) struct Reached {
    pub guard: Option<Op>,
    pub address: Address<RegisterId>,
}

/// A thread's code in copies, to which instructions are added.
pub(crate) struct Weave<'a> {
    program: &'a Program,
    pub thread: &'a Thread,
    points: Vec<Point>,
    transitions: Vec<Transition>,
    registers: Vec<Register>,
    /// Registers that hold a value within one woven instruction.
    pub scratch: [RegisterId; 3],
}

impl<'a> Weave<'a> {
    /// The thread's points, once for each entry of `blocks`: whether that copy is the inside of blocks.
    pub fn new(program: &'a Program, thread: &'a Thread, blocks: &[bool]) -> Self {
        let mut points = Vec::new();
        for (copy, &inside) in blocks.iter().enumerate() {
            points.extend(thread.points.iter().map(|point| Point {
                name: point.name.clone().filter(|_| copy == 0),
                atomic: inside || point.atomic,
                place: None,
                span: point.span,
            }));
        }
        let mut weave = Weave {
            program,
            thread,
            points,
            transitions: Vec::new(),
            registers: thread.registers.clone(),
            scratch: [RegisterId(0); 3],
        };
        weave.scratch = [weave.register(), weave.register(), weave.register()];
        weave
    }

    /// A new register.
    pub fn register(&mut self) -> RegisterId {
        self.registers.push(Register {
            name: None,
            span: self.thread.span,
        });
        RegisterId(self.registers.len() as u32 - 1)
    }

    /// The thread with all that was added.
    pub fn finish(self) -> Thread {
        let mut thread = Thread {
            name: self.thread.name.clone(),
            copies: self.thread.copies,
            copy_naming: self.thread.copy_naming,
            registers: self.registers,
            me: self.thread.me,
            points: self.points,
            initial: self.thread.initial,
            transitions: self.transitions,
            labels: Vec::new(),
            span: self.thread.span,
        };
        thread.sort_transitions();
        thread
    }

    /// A point of a copy.
    pub fn at(&self, copy: usize, point: PointId) -> PointId {
        PointId((self.thread.points.len() * copy) as u32 + point.0)
    }

    /// Whether an instruction stands inside a block of the program.
    pub fn is_inside(&self, transition: &Transition) -> bool {
        self.thread.points[transition.from.index()].atomic
    }

    /// A new point that nothing leaves.
    pub fn end(&mut self, original: &Transition) -> PointId {
        self.point(false, original)
    }

    fn point(&mut self, atomic: bool, original: &Transition) -> PointId {
        self.points.push(Point {
            name: None,
            atomic,
            place: None,
            span: original.span,
        });
        PointId(self.points.len() as u32 - 1)
    }

    /// Instructions one after the other, with fresh points between them; they begin with the border of a block, or inside one.
    pub fn sequence(&mut self, from: PointId, ops: Vec<Op>, to: PointId, original: &Transition) {
        let last = ops.len().saturating_sub(1);
        let mut at = from;
        for (index, op) in ops.into_iter().enumerate() {
            let next = if index == last {
                to
            } else {
                self.point(true, original)
            };
            self.transitions.push(Transition {
                from: at,
                to: next,
                op,
                span: original.span,
            });
            at = next;
        }
    }

    /// The same, as a block of its own.
    pub fn block_of(&mut self, from: PointId, ops: Vec<Op>, to: PointId, original: &Transition) {
        let mut all = vec![Op::AtomicBegin];
        all.extend(ops);
        all.push(Op::AtomicEnd);
        self.sequence(from, all, to, original);
    }

    /// One instruction in a copy, where it stands in the thread.
    pub fn copy(&mut self, copy: usize, transition: &Transition, op: Op) {
        let (from, to) = (self.at(copy, transition.from), self.at(copy, transition.to));
        self.transitions.push(Transition {
            from,
            to,
            op,
            span: transition.span,
        });
    }

    /// Loads into a scratch register.
    pub fn load(&self, register: usize, address: Address<RegisterId>) -> Op {
        Op::Load {
            register: self.scratch[register],
            address,
            order: Order::Acquire,
        }
    }

    /// Goes on if a scratch register is not 0.
    pub fn is_set(&self, register: usize) -> Op {
        Op::Assume(Expr::Atom(self.scratch[register]))
    }

    /// Goes on if it is 0.
    pub fn is_not_set(&self, register: usize) -> Op {
        Op::Assume(Expr::unary(
            UnaryOp::Not,
            Expr::Atom(self.scratch[register]),
        ))
    }

    /// The ways to reach what an instruction touches.
    pub fn reached(&self, op: &Op) -> Vec<Reached> {
        match op.address() {
            None => Vec::new(),
            Some(Address::Pointer(pointer)) => self
                .program
                .locations
                .iter()
                .enumerate()
                // Anything but a plain access to a `nonatomic` location is an error.
                .filter(|(_, location)| !location.nonatomic || op.is_plain())
                .map(|(index, location)| Reached {
                    guard: Some(Op::Assume(Expr::binary(
                        BinaryOp::Equal,
                        pointer.clone(),
                        Expr::Const(location.address),
                    ))),
                    address: Address::Direct(LocationId(index as u32)),
                })
                .collect(),
            Some(address) => vec![Reached {
                guard: None,
                address: address.clone(),
            }],
        }
    }

    /// The locations that the thread's blocks may touch.
    pub fn locations_of_blocks(&self) -> Vec<LocationId> {
        let mut locations = Vec::new();
        for transition in &self.thread.transitions {
            if !self.is_inside(transition) {
                continue;
            }
            for reached in self.reached(&transition.op) {
                match reached.address {
                    Address::Direct(location) => locations.push(location),
                    Address::Element { first, length, .. } => {
                        locations.extend((0..length).map(|i| LocationId(first.0 + i)));
                    }
                    Address::Pointer(_) => {}
                }
            }
        }
        locations.sort();
        locations.dedup();
        locations
    }
}

/// What needs no memory stays as it is; an assertion that fails ends the run of the thread.
pub(crate) fn local(op: &Op) -> Option<Op> {
    match op {
        Op::Assert(condition) => Some(Op::Assume(condition.clone())),
        Op::Skip | Op::Jump | Op::Assign(..) | Op::Assume(_) | Op::Fence(_) => Some(op.clone()),
        _ => None,
    }
}

/// A plain store.
pub(crate) fn store(address: Address<RegisterId>, value: RegisterExpr) -> Op {
    Op::Store {
        address,
        value,
        order: Order::Release,
    }
}

/// The same access at another address, without an order: under SC there is none.
pub(crate) fn with_address(op: &Op, to: &Address<RegisterId>) -> Op {
    let mut op = op.clone();
    match &mut op {
        Op::Load { address, order, .. } => {
            *address = to.clone();
            *order = Order::Acquire;
        }
        Op::Store { address, order, .. } => {
            *address = to.clone();
            *order = Order::Release;
        }
        Op::Rmw { address, order, .. } => {
            *address = to.clone();
            *order = Order::AcqRel;
        }
        Op::Wait { address, order, .. } => {
            *address = to.clone();
            *order = Order::Acquire;
        }
        _ => {}
    }
    op
}
