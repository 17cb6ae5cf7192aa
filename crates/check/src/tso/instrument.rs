//! The source-to-source reduction of robustness to SC reachability (Figs. 5 and 7 of the paper), in its single-query variant
//! (section 8.3): every thread may become the attacker, with any of its stores and loads, and every thread may become a helper.
//!
//! The instrumented program reaches a state with `goal == 1` under SC iff the program is not robust against TSO. It follows the
//! figures, not the search of `attack.rs` (helpers are free in `τ2`, for one), so that each can judge the other:
//!
//! | the paper | here |
//! |---|---|
//! | `(a, d)` | `buffered_a`: whether the attacker has buffered a store to `a`; `buffer_a`: its value |
//! | `(a, hb)` | `loaded_a`, `stored_a`: the access level, as two bits, so that it fits any domain |
//! | `a_stA` | `target_a`: 1 for the location of `st_A` |
//! | `hb` | `chain` |
//! | `suc` | `goal` |
//!
//! Each instrumented instruction is an `atomic` block. Where such a block cannot go on, the run ends there; that loses nothing, because others can move before it begins.
//! A thread's code exists in copies: original (O), attacker's (A), helper's (H), and (J) blocks of helpers: a block's accesses are
//! noted as `maybe_loaded_a`, `maybe_stored_a` until its end, where they count if one of them, or an earlier step of the thread, comes after `ld_A`.
//! Computed addresses become a choice among the locations, errors become the end of a run.

use palisade_lang::{
    Address, BinaryOp, Copies, Expr, Location, LocationId, Never, Op, Order, Point, PointId,
    Program, Register, RegisterExpr, RegisterId, RmwAction, StateAtom, Thread, Transition, UnaryOp,
};

use super::overtake::drains;

/// The kinds of locations that stand beside each of the program's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shadow {
    Buffered,
    Buffer,
    Loaded,
    Stored,
    Target,
    MaybeLoaded,
    MaybeStored,
}

const SHADOWS: [(Shadow, &str); 7] = [
    (Shadow::Buffered, "buffered"),
    (Shadow::Buffer, "buffer"),
    (Shadow::Loaded, "loaded"),
    (Shadow::Stored, "stored"),
    (Shadow::Target, "target"),
    (Shadow::MaybeLoaded, "maybe_loaded"),
    (Shadow::MaybeStored, "maybe_stored"),
];

/// Locations that there is one of, behind the shadows.
#[derive(Clone, Copy, Debug)]
enum Global {
    Attacked,
    Chain,
    Goal,
}

const GLOBALS: [&str; 3] = ["attacked", "chain", "goal"];

/// The instrumented program: `never goal == 1` holds for it under SC iff `program` is robust against TSO.
pub fn instrument(program: &Program) -> Program {
    let places = Places {
        count: program.locations.len() as u32,
    };
    let mut instrumented = program.clone();
    instrumented.places.clear();
    instrumented.locations = places.locations(program);
    instrumented.threads = program
        .threads
        .iter()
        .map(|thread| Builder::new(program, thread, &places).build())
        .collect();
    instrumented.nevers = vec![Never {
        condition: Expr::binary(
            BinaryOp::Equal,
            Expr::Atom(StateAtom::Memory(Box::new(Address::Direct(
                places.global(Global::Goal),
            )))),
            Expr::Const(1),
        ),
        span: program
            .threads
            .first()
            .map_or(Default::default(), |t| t.span),
    }];
    instrumented
}

/// Where the new locations are.
struct Places {
    count: u32,
}

impl Places {
    fn shadow(&self, shadow: Shadow, location: LocationId) -> LocationId {
        LocationId(self.count * (1 + shadow as u32) + location.0)
    }

    fn global(&self, global: Global) -> LocationId {
        LocationId(self.count * (1 + SHADOWS.len() as u32) + global as u32)
    }

    fn locations(&self, program: &Program) -> Vec<Location> {
        let mut locations = program.locations.clone();
        let taken = |name: &str| program.locations.iter().any(|l| base_name(&l.name) == name);
        let fresh = |mut name: String| {
            while taken(&name) {
                name.push('_');
            }
            name
        };
        let mut address = locations.iter().map(|l| l.address).max().unwrap_or(0);
        let mut next_address = || {
            address += 1;
            address
        };
        for (shadow, prefix) in SHADOWS {
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
                        .map(|(first, length)| (self.shadow(shadow, first), length)),
                    span: location.span,
                });
            }
        }
        for name in GLOBALS {
            locations.push(Location {
                name: fresh(name.to_string()),
                address: next_address(),
                initial: 0,
                nonatomic: false,
                array: None,
                span: Default::default(),
            });
        }
        locations
    }
}

fn base_name(name: &str) -> &str {
    name.split('[').next().unwrap_or(name)
}

/// The copies of a thread's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Code {
    Original,
    Attacker,
    Helper,
    Block,
}

struct Builder<'a> {
    program: &'a Program,
    thread: &'a Thread,
    places: &'a Places,
    points: Vec<Point>,
    transitions: Vec<Transition>,
    registers: Vec<Register>,
    /// Registers that hold a value within one instrumented instruction.
    scratch: [RegisterId; 3],
    /// Whether the block that the thread is inside of has joined the path.
    joined: RegisterId,
}

/// How a location is reached: what must be true of the registers, and an address without pointers.
struct Reached {
    guard: Option<Op>,
    address: Address<RegisterId>,
}

impl<'a> Builder<'a> {
    fn new(program: &'a Program, thread: &'a Thread, places: &'a Places) -> Self {
        let mut registers = thread.registers.clone();
        let mut register = || {
            registers.push(Register {
                name: None,
                span: thread.span,
            });
            RegisterId(registers.len() as u32 - 1)
        };
        let scratch = [register(), register(), register()];
        let joined = register();
        let mut builder = Builder {
            program,
            thread,
            places,
            points: thread.points.clone(),
            transitions: Vec::new(),
            registers,
            scratch,
            joined,
        };
        for copy in [Code::Attacker, Code::Helper, Code::Block] {
            for point in &thread.points {
                builder.points.push(Point {
                    name: None,
                    atomic: copy == Code::Block || point.atomic,
                    place: None,
                    span: point.span,
                });
            }
        }
        for point in &mut builder.points {
            point.place = None;
        }
        builder
    }

    /// A point of a copy.
    fn at(&self, code: Code, point: PointId) -> PointId {
        PointId(self.thread.points.len() as u32 * code as u32 + point.0)
    }

    fn build(mut self) -> Thread {
        for transition in &self.thread.transitions {
            self.original(transition);
            if !self.thread.points[transition.from.index()].atomic {
                self.attack(transition);
                self.attacker(transition);
                self.join(transition);
                self.helper(transition);
            } else {
                self.block(transition);
            }
        }
        let mut thread = Thread {
            name: self.thread.name.clone(),
            copies: match self.thread.copies {
                Copies::One => Copies::One,
                copies => copies,
            },
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

    /// Instructions one after the other, with fresh points between them.
    fn sequence(&mut self, from: PointId, ops: Vec<Op>, to: PointId, original: &Transition) {
        let last = ops.len().saturating_sub(1);
        let mut at = from;
        for (index, op) in ops.into_iter().enumerate() {
            let next = if index == last {
                to
            } else {
                self.points.push(Point {
                    name: None,
                    // Sequences begin with the border of a block, or inside one.
                    atomic: true,
                    place: None,
                    span: original.span,
                });
                PointId(self.points.len() as u32 - 1)
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
    fn block_of(&mut self, from: PointId, ops: Vec<Op>, to: PointId, original: &Transition) {
        let mut all = vec![Op::AtomicBegin];
        all.extend(ops);
        all.push(Op::AtomicEnd);
        self.sequence(from, all, to, original);
    }

    fn load(&self, register: usize, location: LocationId) -> Op {
        Op::Load {
            register: self.scratch[register],
            address: Address::Direct(location),
            order: Order::Acquire,
        }
    }

    fn load_shadow(&self, register: usize, shadow: Shadow, reached: &Reached) -> Op {
        Op::Load {
            register: self.scratch[register],
            address: self.shadow(shadow, &reached.address),
            order: Order::Acquire,
        }
    }

    fn set(&self, location: LocationId) -> Op {
        store(Address::Direct(location), Expr::Const(1))
    }

    fn set_shadow(&self, shadow: Shadow, reached: &Reached) -> Op {
        store(self.shadow(shadow, &reached.address), Expr::Const(1))
    }

    fn is_set(&self, register: usize) -> Op {
        Op::Assume(Expr::Atom(self.scratch[register]))
    }

    fn is_not_set(&self, register: usize) -> Op {
        Op::Assume(Expr::unary(
            UnaryOp::Not,
            Expr::Atom(self.scratch[register]),
        ))
    }

    fn shadow(&self, shadow: Shadow, address: &Address<RegisterId>) -> Address<RegisterId> {
        match address {
            Address::Direct(location) => Address::Direct(self.places.shadow(shadow, *location)),
            Address::Element {
                first,
                length,
                index,
            } => Address::Element {
                first: self.places.shadow(shadow, *first),
                length: *length,
                index: index.clone(),
            },
            // `reached` leaves no pointers.
            Address::Pointer(_) => address.clone(),
        }
    }

    /// The ways to reach what an instruction touches.
    fn reached(&self, op: &Op) -> Vec<Reached> {
        match super::values::address_of(op) {
            None => Vec::new(),
            Some(Address::Pointer(pointer)) => self
                .program
                .locations
                .iter()
                .enumerate()
                // Anything but a plain access to a `nonatomic` location is an error.
                .filter(|(_, location)| !location.nonatomic || is_plain(op))
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

    /// What needs no memory stays as it is; an assertion that fails ends the run of the thread.
    fn local(op: &Op) -> Option<Op> {
        match op {
            Op::Assert(condition) => Some(Op::Assume(condition.clone())),
            Op::Skip | Op::Jump | Op::Assign(..) | Op::Assume(_) | Op::Fence(_) => Some(op.clone()),
            _ => None,
        }
    }

    fn copy(&mut self, code: Code, transition: &Transition, op: Op) {
        let (from, to) = (self.at(code, transition.from), self.at(code, transition.to));
        self.transitions.push(Transition {
            from,
            to,
            op,
            span: transition.span,
        });
    }

    /// H0: the original code, which stops once `ld_A` has been executed (7).
    fn original(&mut self, transition: &Transition) {
        let (from, to) = (transition.from, transition.to);
        let inside = self.thread.points[from.index()].atomic;
        if let Some(op) = Self::local(&transition.op) {
            self.copy(Code::Original, transition, op);
            return;
        }
        let no_chain = vec![
            self.load(0, self.places.global(Global::Chain)),
            self.is_not_set(0),
        ];
        match &transition.op {
            Op::AtomicBegin => {
                let mut ops = vec![Op::AtomicBegin];
                ops.extend(no_chain);
                self.sequence(from, ops, to, transition);
            }
            Op::AtomicEnd => self.copy(Code::Original, transition, Op::AtomicEnd),
            op => {
                for reached in self.reached(op) {
                    let mut ops: Vec<Op> = reached.guard.iter().cloned().collect();
                    ops.push(with_address(op, &reached.address));
                    if inside {
                        self.sequence(from, ops, to, transition);
                    } else {
                        let mut all = no_chain.clone();
                        all.extend(ops);
                        self.block_of(from, all, to, transition);
                    }
                }
            }
        }
    }

    /// A1 for stores: somebody becomes the attacker (1).
    fn attack(&mut self, transition: &Transition) {
        let Op::Store { value, .. } = &transition.op else {
            return;
        };
        if drains(&transition.op) {
            return;
        }
        let to = self.at(Code::Attacker, transition.to);
        for reached in self.reached(&transition.op) {
            let attacked = self.places.global(Global::Attacked);
            let mut ops = vec![self.load(0, attacked), self.is_not_set(0)];
            ops.extend(reached.guard.clone());
            ops.extend([
                self.set(attacked),
                self.set_shadow(Shadow::Target, &reached),
                self.set_shadow(Shadow::Buffered, &reached),
                store(self.shadow(Shadow::Buffer, &reached.address), value.clone()),
            ]);
            self.block_of(transition.from, ops, to, transition);
        }
    }

    /// A2, and A1 for loads (2)–(6).
    fn attacker(&mut self, transition: &Transition) {
        if let Some(op) = Self::local(&transition.op) {
            if !drains(&op) {
                self.copy(Code::Attacker, transition, op);
            }
            return;
        }
        let from = self.at(Code::Attacker, transition.from);
        let to = self.at(Code::Attacker, transition.to);
        for reached in self.reached(&transition.op) {
            let guard = reached.guard.clone();
            match &transition.op {
                Op::Store { value, .. } if !drains(&transition.op) => {
                    let mut ops: Vec<Op> = guard.into_iter().collect();
                    ops.push(self.set_shadow(Shadow::Buffered, &reached));
                    ops.push(store(
                        self.shadow(Shadow::Buffer, &reached.address),
                        value.clone(),
                    ));
                    self.block_of(from, ops, to, transition);
                }
                op @ (Op::Load { .. } | Op::Wait { .. }) => {
                    let mut first: Vec<Op> = guard.into_iter().collect();
                    first.push(self.load_shadow(0, Shadow::Buffered, &reached));
                    // From the buffer.
                    let mut ops = first.clone();
                    ops.push(self.is_set(0));
                    let buffer = self.shadow(Shadow::Buffer, &reached.address);
                    ops.push(with_address(op, &buffer));
                    self.block_of(from, ops, to, transition);
                    // From memory.
                    first.push(self.is_not_set(0));
                    let mut ops = first.clone();
                    ops.push(with_address(op, &reached.address));
                    self.block_of(from, ops, to, transition);
                    // As `ld_A`: the attacker is not seen again. The level first: the load may change the register of an index.
                    first.push(self.set_shadow(Shadow::Loaded, &reached));
                    first.push(self.set(self.places.global(Global::Chain)));
                    first.push(with_address(op, &reached.address));
                    let end = self.end(transition);
                    self.block_of(from, first, end, transition);
                }
                _ => {}
            }
        }
    }

    fn end(&mut self, transition: &Transition) -> PointId {
        self.points.push(Point {
            name: None,
            atomic: false,
            place: None,
            span: transition.span,
        });
        PointId(self.points.len() as u32 - 1)
    }

    /// H1: a helper's first step behind `ld_A` (8), (9).
    fn join(&mut self, transition: &Transition) {
        let from = transition.from;
        if transition.op == Op::AtomicBegin {
            let ops = vec![
                Op::AtomicBegin,
                self.load(0, self.places.global(Global::Chain)),
                self.is_set(0),
                Op::Assign(self.joined, Expr::Const(0)),
            ];
            let to = self.at(Code::Block, transition.to);
            self.sequence(from, ops, to, transition);
            return;
        }
        let to = self.at(Code::Helper, transition.to);
        for (ops, access, reached) in self.accesses(&transition.op) {
            let mut all = ops;
            all.push(self.load_shadow(0, Shadow::Stored, &reached));
            if access == Access::Writes {
                all.push(self.load_shadow(1, Shadow::Loaded, &reached));
                all.push(Op::Assume(Expr::binary(
                    BinaryOp::Or,
                    Expr::Atom(self.scratch[0]),
                    Expr::Atom(self.scratch[1]),
                )));
            } else {
                all.push(self.is_set(0));
            }
            self.helper_access(from, all, access, &reached, to, transition);
        }
    }

    /// H2 and H3: a helper's steps after that (10)–(13).
    fn helper(&mut self, transition: &Transition) {
        if let Some(op) = Self::local(&transition.op) {
            self.copy(Code::Helper, transition, op);
            return;
        }
        let from = self.at(Code::Helper, transition.from);
        if transition.op == Op::AtomicBegin {
            let ops = vec![Op::AtomicBegin, Op::Assign(self.joined, Expr::Const(1))];
            let to = self.at(Code::Block, transition.to);
            self.sequence(from, ops, to, transition);
            return;
        }
        let to = self.at(Code::Helper, transition.to);
        for (ops, access, reached) in self.accesses(&transition.op) {
            self.helper_access(from, ops, access, &reached, to, transition);
        }
    }

    /// A helper's access on the path: notes its level, and whether it closes the cycle.
    fn helper_access(
        &mut self,
        from: PointId,
        first: Vec<Op>,
        access: Access,
        reached: &Reached,
        to: PointId,
        transition: &Transition,
    ) {
        let level = match access {
            Access::Reads => Shadow::Loaded,
            Access::Writes => Shadow::Stored,
        };
        for closes in [false, true] {
            let mut ops = first.clone();
            ops.push(self.load_shadow(2, Shadow::Target, reached));
            ops.push(match closes {
                false => self.is_not_set(2),
                true => self.is_set(2),
            });
            // The level first: the access may change the register of an index.
            ops.push(self.set_shadow(level, reached));
            ops.push(with_address(&transition.op, &reached.address));
            if closes {
                ops.push(self.set(self.places.global(Global::Goal)));
            }
            self.block_of(from, ops, to, transition);
        }
    }

    /// The cases of an access: what to do before it, and whether it then writes.
    fn accesses(&self, op: &Op) -> Vec<(Vec<Op>, Access, Reached)> {
        let mut cases = Vec::new();
        for reached in self.reached(op) {
            let guard: Vec<Op> = reached.guard.iter().cloned().collect();
            let same = |reached: &Reached| Reached {
                guard: None,
                address: reached.address.clone(),
            };
            match op {
                Op::Load { .. } | Op::Wait { .. } => cases.push((guard, Access::Reads, reached)),
                Op::Rmw {
                    action: RmwAction::CompareAndSwap { expected, .. },
                    ..
                } => {
                    for (relation, access) in [
                        (BinaryOp::Equal, Access::Writes),
                        (BinaryOp::NotEqual, Access::Reads),
                    ] {
                        let mut ops = guard.clone();
                        ops.push(Op::Load {
                            register: self.scratch[2],
                            address: reached.address.clone(),
                            order: Order::Acquire,
                        });
                        ops.push(Op::Assume(Expr::binary(
                            relation,
                            Expr::Atom(self.scratch[2]),
                            expected.clone(),
                        )));
                        cases.push((ops, access, same(&reached)));
                    }
                }
                Op::Store { .. } | Op::Rmw { .. } => cases.push((guard, Access::Writes, reached)),
                _ => {}
            }
        }
        cases
    }

    /// The code of a helper's block.
    fn block(&mut self, transition: &Transition) {
        if let Some(op) = Self::local(&transition.op) {
            self.copy(Code::Block, transition, op);
            return;
        }
        let from = self.at(Code::Block, transition.from);
        if transition.op == Op::AtomicEnd {
            let to = self.at(Code::Helper, transition.to);
            let ops = self.end_of_block();
            self.sequence(from, ops, to, transition);
            return;
        }
        let to = self.at(Code::Block, transition.to);
        for (mut ops, access, reached) in self.accesses(&transition.op) {
            let mut joins = vec![self.scratch[0]];
            ops.push(self.load_shadow(0, Shadow::Stored, &reached));
            if access == Access::Writes {
                ops.push(self.load_shadow(1, Shadow::Loaded, &reached));
                joins.push(self.scratch[1]);
            }
            let joined = joins
                .into_iter()
                .fold(Expr::Atom(self.joined), |joined, r| {
                    Expr::binary(BinaryOp::Or, joined, Expr::Atom(r))
                });
            ops.push(Op::Assign(self.joined, joined));
            ops.push(self.set_shadow(
                match access {
                    Access::Reads => Shadow::MaybeLoaded,
                    Access::Writes => Shadow::MaybeStored,
                },
                &reached,
            ));
            ops.push(with_address(&transition.op, &reached.address));
            self.sequence(from, ops, to, transition);
        }
    }

    /// At the end of a block that has joined, its accesses count.
    fn end_of_block(&self) -> Vec<Op> {
        let mut ops = vec![Op::Assume(Expr::Atom(self.joined))];
        let [a, b, c] = self.scratch;
        let or =
            |x: RegisterId, y: RegisterId| Expr::binary(BinaryOp::Or, Expr::Atom(x), Expr::Atom(y));
        for location in self.locations_of_blocks() {
            let at = |shadow| self.places.shadow(shadow, location);
            for (maybe, level) in [
                (Shadow::MaybeLoaded, Shadow::Loaded),
                (Shadow::MaybeStored, Shadow::Stored),
            ] {
                ops.push(self.load(0, at(maybe)));
                ops.push(self.load(1, at(level)));
                ops.push(store(Address::Direct(at(level)), or(a, b)));
                ops.push(store(Address::Direct(at(maybe)), Expr::Const(0)));
            }
            ops.push(self.load(0, at(Shadow::Loaded)));
            ops.push(self.load(1, at(Shadow::Stored)));
            ops.push(self.load(2, at(Shadow::Target)));
            let closes = Expr::binary(BinaryOp::And, or(a, b), Expr::Atom(c));
            ops.push(Op::Assign(a, closes));
            let goal = self.places.global(Global::Goal);
            ops.push(self.load(1, goal));
            ops.push(store(Address::Direct(goal), or(a, b)));
        }
        ops.push(Op::AtomicEnd);
        ops
    }

    /// The locations that the thread's blocks may touch.
    fn locations_of_blocks(&self) -> Vec<LocationId> {
        let mut locations = Vec::new();
        for transition in &self.thread.transitions {
            if !self.thread.points[transition.from.index()].atomic {
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Reads,
    Writes,
}

fn is_plain(op: &Op) -> bool {
    match op {
        Op::Load { order, .. } => *order == Order::Acquire,
        Op::Store { order, .. } => *order == Order::Release,
        _ => false,
    }
}

fn store(address: Address<RegisterId>, value: RegisterExpr) -> Op {
    Op::Store {
        address,
        value,
        order: Order::Release,
    }
}

/// The same access at another address, without an order: under SC there is none.
fn with_address(op: &Op, to: &Address<RegisterId>) -> Op {
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
