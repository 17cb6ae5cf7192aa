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
//! A thread's code exists in copies: original (O), attacker's (A), helper's (H), and (J) blocks of helpers: a block's accesses are
//! noted as `maybe_loaded_a`, `maybe_stored_a` until its end, where they count if one of them, or an earlier step of the thread, comes after `ld_A`.
//!
//! For a single attack only its thread becomes the attacker, with its store, and only its load is `ld_A`.

use palisade_lang::{
    Address, BinaryOp, Expr, Op, Order, PointId, Program, RegisterId, RmwAction, Thread, ThreadId,
    Transition,
};

use palisade_memory::tso::drains;

use crate::weave::{Places, Reached, Weave, local, never_set, store, with_address};

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

const SHADOWS: [&str; 7] = [
    "buffered",
    "buffer",
    "loaded",
    "stored",
    "target",
    "maybe_loaded",
    "maybe_stored",
];

/// Locations that there is one of, behind the shadows.
#[derive(Clone, Copy, Debug)]
enum Global {
    Attacked,
    Chain,
    Goal,
}

const GLOBALS: [&str; 3] = ["attacked", "chain", "goal"];

/// An attack (thread, store, load), by lines of the text. A line may hold several instructions, or one that is inlined several times: then
/// it is any of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attack {
    /// The code of the attacker.
    pub thread: ThreadId,
    /// What `st_A` may be, as indices of transitions.
    pub stores: Vec<u32>,
    /// What `ld_A` may be.
    pub loads: Vec<u32>,
    /// The line of the store and the line of the load.
    pub lines: (u32, u32),
}

/// All attacks of a program, in the order of the text.
pub fn attacks(program: &Program) -> Vec<Attack> {
    let mut attacks: Vec<Attack> = Vec::new();
    for (index, thread) in program.threads.iter().enumerate() {
        let line = |transition: u32| {
            let span = thread.transitions[transition as usize].span;
            program.source.line_column(span.start).line
        };
        for (store, load) in pairs(thread) {
            if drains(&thread.transitions[store as usize].op) {
                continue;
            }
            let id = ThreadId(index as u32);
            let lines = (line(store), line(load));
            let known = attacks
                .iter()
                .position(|a| a.thread == id && a.lines == lines);
            let at = known.unwrap_or_else(|| {
                attacks.push(Attack {
                    thread: id,
                    stores: Vec::new(),
                    loads: Vec::new(),
                    lines,
                });
                attacks.len() - 1
            });
            let Attack { stores, loads, .. } = &mut attacks[at];
            if !stores.contains(&store) {
                stores.push(store);
            }
            if !loads.contains(&load) {
                loads.push(load);
            }
        }
    }
    attacks.sort_by_key(|a| (a.thread, a.lines));
    attacks
}

/// All pairs of a store and a load of a thread's code, outside blocks, in which the load can come after the store, as indices of
/// transitions.
fn pairs(thread: &Thread) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    let outside = |point: PointId| !thread.points[point.index()].atomic;
    for (store, transition) in thread.transitions.iter().enumerate() {
        if !matches!(transition.op, Op::Store { .. }) || !outside(transition.from) {
            continue;
        }
        let mut seen = vec![false; thread.points.len()];
        let mut work: Vec<PointId> = vec![transition.to];
        seen[transition.to.index()] = true;
        while let Some(point) = work.pop() {
            let begin = thread.transitions.partition_point(|t| t.from < point);
            for next in begin..begin + thread.outgoing(point).len() {
                let op = &thread.transitions[next].op;
                if matches!(op, Op::Load { .. } | Op::Wait { .. }) && outside(point) {
                    pairs.push((store as u32, next as u32));
                }
                let to = thread.transitions[next].to;
                if !seen[to.index()] {
                    seen[to.index()] = true;
                    work.push(to);
                }
            }
        }
    }
    pairs
}

/// The instrumented program: `never goal == 1` holds for it under SC iff `program` is robust against TSO, or has no TSO witness for
/// the attack if one is given.
pub fn instrument(program: &Program, attack: Option<&Attack>) -> Program {
    let mut ops = program.threads.iter().flat_map(|t| &t.transitions);
    let shadows = match ops.any(|t| t.op == Op::AtomicBegin) {
        true => &SHADOWS[..],
        // The last two are for blocks.
        false => &SHADOWS[..5],
    };
    let (places, locations) = Places::new(program, shadows, &GLOBALS);
    let mut instrumented = program.clone();
    instrumented.places.clear();
    instrumented.locations = locations;
    instrumented.threads = program
        .threads
        .iter()
        .enumerate()
        .map(|(index, thread)| {
            let id = ThreadId(index as u32);
            let mut weave = Weave::new(program, thread, &[false, false, false, true]);
            let joined = weave.register();
            Builder {
                weave,
                places: &places,
                joined,
                attack,
                attacks: attack.is_none_or(|a| a.thread == id),
            }
            .build()
        })
        .collect();
    instrumented.nevers = vec![never_set(program, places.global(Global::Goal as usize))];
    instrumented
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
    weave: Weave<'a>,
    places: &'a Places,
    /// Whether the block that the thread is inside of has joined the path.
    joined: RegisterId,
    /// The only attack that is looked for, if there is one.
    attack: Option<&'a Attack>,
    /// Whether the thread may become the attacker.
    attacks: bool,
}

impl Builder<'_> {
    fn build(mut self) -> Thread {
        for (index, transition) in self.weave.thread.transitions.iter().enumerate() {
            self.original(transition);
            if !self.weave.is_inside(transition) {
                self.attack(index as u32, transition);
                self.attacker(index as u32, transition);
                self.join(transition);
                self.helper(transition);
            } else {
                self.block(transition);
            }
        }
        self.weave.finish()
    }

    fn at(&self, code: Code, point: PointId) -> PointId {
        self.weave.at(code as usize, point)
    }

    fn copy(&mut self, code: Code, transition: &Transition, op: Op) {
        self.weave.copy(code as usize, transition, op);
    }

    fn global(&self, global: Global) -> Address<RegisterId> {
        Address::Direct(self.places.global(global as usize))
    }

    fn shadow(&self, shadow: Shadow, address: &Address<RegisterId>) -> Address<RegisterId> {
        self.places.shadow_of(shadow as usize, address)
    }

    fn load_shadow(&self, register: usize, shadow: Shadow, reached: &Reached) -> Op {
        self.weave
            .load(register, self.shadow(shadow, &reached.address))
    }

    fn set(&self, global: Global) -> Op {
        store(self.global(global), Expr::Const(1))
    }

    fn set_shadow(&self, shadow: Shadow, reached: &Reached) -> Op {
        store(self.shadow(shadow, &reached.address), Expr::Const(1))
    }

    /// H0: the original code, which stops once `ld_A` has been executed (7).
    fn original(&mut self, transition: &Transition) {
        let (from, to) = (transition.from, transition.to);
        let inside = self.weave.is_inside(transition);
        if let Some(op) = local(&transition.op) {
            self.copy(Code::Original, transition, op);
            return;
        }
        let no_chain = vec![
            self.weave.load(0, self.global(Global::Chain)),
            self.weave.is_not_set(0),
        ];
        match &transition.op {
            Op::AtomicBegin => {
                let mut ops = vec![Op::AtomicBegin];
                ops.extend(no_chain);
                self.weave.sequence(from, ops, to, transition);
            }
            Op::AtomicEnd => self.copy(Code::Original, transition, Op::AtomicEnd),
            op => {
                for reached in self.weave.reached(op) {
                    let mut ops: Vec<Op> = reached.guard.iter().cloned().collect();
                    ops.push(with_address(op, &reached.address));
                    if inside {
                        self.weave.sequence(from, ops, to, transition);
                    } else {
                        let mut all = no_chain.clone();
                        all.extend(ops);
                        self.weave.block_of(from, all, to, transition);
                    }
                }
            }
        }
    }

    /// A1 for stores: a thread becomes the attacker (1).
    fn attack(&mut self, index: u32, transition: &Transition) {
        let Op::Store { value, .. } = &transition.op else {
            return;
        };
        let wanted = self.attack.is_none_or(|a| a.stores.contains(&index));
        if drains(&transition.op) || !self.attacks || !wanted {
            return;
        }
        let to = self.at(Code::Attacker, transition.to);
        for reached in self.weave.reached(&transition.op) {
            let attacked = self.global(Global::Attacked);
            let mut ops = vec![self.weave.load(0, attacked), self.weave.is_not_set(0)];
            ops.extend(reached.guard.clone());
            ops.extend([
                self.set(Global::Attacked),
                self.set_shadow(Shadow::Target, &reached),
                self.set_shadow(Shadow::Buffered, &reached),
                store(self.shadow(Shadow::Buffer, &reached.address), value.clone()),
            ]);
            self.weave.block_of(transition.from, ops, to, transition);
        }
    }

    /// A2, and A1 for loads (2)–(6).
    fn attacker(&mut self, index: u32, transition: &Transition) {
        if !self.attacks {
            return;
        }
        if let Some(op) = local(&transition.op) {
            if !drains(&op) {
                self.copy(Code::Attacker, transition, op);
            }
            return;
        }
        let from = self.at(Code::Attacker, transition.from);
        let to = self.at(Code::Attacker, transition.to);
        for reached in self.weave.reached(&transition.op) {
            let guard = reached.guard.clone();
            match &transition.op {
                Op::Store { value, .. } if !drains(&transition.op) => {
                    let mut ops: Vec<Op> = guard.into_iter().collect();
                    ops.push(self.set_shadow(Shadow::Buffered, &reached));
                    ops.push(store(
                        self.shadow(Shadow::Buffer, &reached.address),
                        value.clone(),
                    ));
                    self.weave.block_of(from, ops, to, transition);
                }
                op @ (Op::Load { .. } | Op::Wait { .. }) => {
                    let mut first: Vec<Op> = guard.into_iter().collect();
                    first.push(self.load_shadow(0, Shadow::Buffered, &reached));
                    // From the buffer.
                    let mut ops = first.clone();
                    ops.push(self.weave.is_set(0));
                    let buffer = self.shadow(Shadow::Buffer, &reached.address);
                    ops.push(with_address(op, &buffer));
                    self.weave.block_of(from, ops, to, transition);
                    // From memory.
                    first.push(self.weave.is_not_set(0));
                    let mut ops = first.clone();
                    ops.push(with_address(op, &reached.address));
                    self.weave.block_of(from, ops, to, transition);
                    if self.attack.is_some_and(|a| !a.loads.contains(&index)) {
                        continue;
                    }
                    // As `ld_A`: the attacker is not seen again. The level first: the load may change the register of an index.
                    first.push(self.set_shadow(Shadow::Loaded, &reached));
                    first.push(self.set(Global::Chain));
                    first.push(with_address(op, &reached.address));
                    let end = self.weave.end(transition);
                    self.weave.block_of(from, first, end, transition);
                }
                _ => {}
            }
        }
    }

    /// H1: a helper's first step behind `ld_A` (8), (9).
    fn join(&mut self, transition: &Transition) {
        let from = transition.from;
        if transition.op == Op::AtomicBegin {
            let ops = vec![
                Op::AtomicBegin,
                self.weave.load(0, self.global(Global::Chain)),
                self.weave.is_set(0),
                Op::Assign(self.joined, Expr::Const(0)),
            ];
            let to = self.at(Code::Block, transition.to);
            self.weave.sequence(from, ops, to, transition);
            return;
        }
        let to = self.at(Code::Helper, transition.to);
        for (ops, access, reached) in self.accesses(&transition.op) {
            let mut all = ops;
            all.push(self.load_shadow(0, Shadow::Stored, &reached));
            if access == Direction::Writes {
                all.push(self.load_shadow(1, Shadow::Loaded, &reached));
                all.push(Op::Assume(Expr::binary(
                    BinaryOp::Or,
                    Expr::Atom(self.weave.scratch[0]),
                    Expr::Atom(self.weave.scratch[1]),
                )));
            } else {
                all.push(self.weave.is_set(0));
            }
            self.helper_access(from, all, access, &reached, to, transition);
        }
    }

    /// H2 and H3: a helper's steps after that (10)–(13).
    fn helper(&mut self, transition: &Transition) {
        if let Some(op) = local(&transition.op) {
            self.copy(Code::Helper, transition, op);
            return;
        }
        let from = self.at(Code::Helper, transition.from);
        if transition.op == Op::AtomicBegin {
            let ops = vec![Op::AtomicBegin, Op::Assign(self.joined, Expr::Const(1))];
            let to = self.at(Code::Block, transition.to);
            self.weave.sequence(from, ops, to, transition);
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
        access: Direction,
        reached: &Reached,
        to: PointId,
        transition: &Transition,
    ) {
        let level = match access {
            Direction::Reads => Shadow::Loaded,
            Direction::Writes => Shadow::Stored,
        };
        for closes in [false, true] {
            let mut ops = first.clone();
            ops.push(self.load_shadow(2, Shadow::Target, reached));
            ops.push(match closes {
                false => self.weave.is_not_set(2),
                true => self.weave.is_set(2),
            });
            // The level first: the access may change the register of an index.
            ops.push(self.set_shadow(level, reached));
            ops.push(with_address(&transition.op, &reached.address));
            if closes {
                ops.push(self.set(Global::Goal));
            }
            self.weave.block_of(from, ops, to, transition);
        }
    }

    /// The cases of an access: what to do before it, and whether it then writes.
    fn accesses(&self, op: &Op) -> Vec<(Vec<Op>, Direction, Reached)> {
        let mut cases = Vec::new();
        for reached in self.weave.reached(op) {
            let guard: Vec<Op> = reached.guard.iter().cloned().collect();
            let same = |reached: &Reached| Reached {
                guard: None,
                address: reached.address.clone(),
            };
            match op {
                Op::Load { .. } | Op::Wait { .. } => cases.push((guard, Direction::Reads, reached)),
                Op::Rmw {
                    action: RmwAction::CompareAndSwap { expected, .. },
                    ..
                } => {
                    for (relation, access) in [
                        (BinaryOp::Equal, Direction::Writes),
                        (BinaryOp::NotEqual, Direction::Reads),
                    ] {
                        let mut ops = guard.clone();
                        ops.push(Op::Load {
                            register: self.weave.scratch[2],
                            address: reached.address.clone(),
                            order: Order::Acquire,
                        });
                        ops.push(Op::Assume(Expr::binary(
                            relation,
                            Expr::Atom(self.weave.scratch[2]),
                            expected.clone(),
                        )));
                        cases.push((ops, access, same(&reached)));
                    }
                }
                Op::Store { .. } | Op::Rmw { .. } => {
                    cases.push((guard, Direction::Writes, reached))
                }
                _ => {}
            }
        }
        cases
    }

    /// The code of a helper's block.
    fn block(&mut self, transition: &Transition) {
        if let Some(op) = local(&transition.op) {
            self.copy(Code::Block, transition, op);
            return;
        }
        let from = self.at(Code::Block, transition.from);
        if transition.op == Op::AtomicEnd {
            let to = self.at(Code::Helper, transition.to);
            let ops = self.end_of_block();
            self.weave.sequence(from, ops, to, transition);
            return;
        }
        let to = self.at(Code::Block, transition.to);
        for (mut ops, access, reached) in self.accesses(&transition.op) {
            let mut joins = vec![self.weave.scratch[0]];
            ops.push(self.load_shadow(0, Shadow::Stored, &reached));
            if access == Direction::Writes {
                ops.push(self.load_shadow(1, Shadow::Loaded, &reached));
                joins.push(self.weave.scratch[1]);
            }
            let joined = joins
                .into_iter()
                .fold(Expr::Atom(self.joined), |joined, r| {
                    Expr::binary(BinaryOp::Or, joined, Expr::Atom(r))
                });
            ops.push(Op::Assign(self.joined, joined));
            ops.push(self.set_shadow(
                match access {
                    Direction::Reads => Shadow::MaybeLoaded,
                    Direction::Writes => Shadow::MaybeStored,
                },
                &reached,
            ));
            ops.push(with_address(&transition.op, &reached.address));
            self.weave.sequence(from, ops, to, transition);
        }
    }

    /// At the end of a block that has joined, its accesses count.
    fn end_of_block(&self) -> Vec<Op> {
        let mut ops = vec![Op::Assume(Expr::Atom(self.joined))];
        let [a, b, c] = self.weave.scratch;
        let or =
            |x: RegisterId, y: RegisterId| Expr::binary(BinaryOp::Or, Expr::Atom(x), Expr::Atom(y));
        for location in self.weave.locations_of_blocks() {
            let at =
                |shadow: Shadow| Address::Direct(self.places.shadow(shadow as usize, location));
            for (maybe, level) in [
                (Shadow::MaybeLoaded, Shadow::Loaded),
                (Shadow::MaybeStored, Shadow::Stored),
            ] {
                ops.push(self.weave.load(0, at(maybe)));
                ops.push(self.weave.load(1, at(level)));
                ops.push(store(at(level), or(a, b)));
                ops.push(store(at(maybe), Expr::Const(0)));
            }
            ops.push(self.weave.load(0, at(Shadow::Loaded)));
            ops.push(self.weave.load(1, at(Shadow::Stored)));
            ops.push(self.weave.load(2, at(Shadow::Target)));
            let closes = Expr::binary(BinaryOp::And, or(a, b), Expr::Atom(c));
            ops.push(Op::Assign(a, closes));
            let goal = self.global(Global::Goal);
            ops.push(self.weave.load(1, goal.clone()));
            ops.push(store(goal, or(a, b)));
        }
        ops.push(Op::AtomicEnd);
        ops
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Reads,
    Writes,
}
