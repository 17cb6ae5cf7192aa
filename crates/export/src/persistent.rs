//! The source-to-source reduction of persistence to SC reachability (Abdulla et al. 2015, section 8): every thread may become the pivot, with
//! any of its stores, and any other thread may then overtake it.
//!
//! The instrumented program reaches a state with `goal == 1` under SC iff the program is not persistent. The paper marks the location of e1 and
//! that of e by two new values in memory; here they have flags of their own, so that it works for every domain, so that the pivot can still
//! read its own store in π3, and so that a block of another thread runs on memory without the pivot's stores:
//!
//! | the paper | here |
//! |---|---|
//! | phase 0, 1, 2 | nothing; `delaying`; `looked` |
//! | `y = c1` | `waiting_y`, and `own_y`: the value that only the pivot sees |
//! | `x = c2` | `target_x` |
//! | `new` | `seen`: the value that e has read |
//! | `final` | `goal` |
//! | | `several`: more than one store waits, so that only a block can be e2 |
//!
//! A thread's code exists in three copies: the original, the pivot's, and blocks of others that may be e2.

use palisade_lang::{
    Address, BinaryOp, Expr, LocationId, Op, Program, RegisterExpr, RegisterId, Thread, Transition,
};

use palisade_memory::tso::drains;

use crate::weave::{Places, Weave, local, never_set, store, with_address};

/// Beside each location.
#[derive(Clone, Copy, Debug)]
enum Shadow {
    Waiting,
    Own,
    Target,
}

const SHADOWS: [&str; 3] = ["waiting", "own", "target"];

/// Only once.
#[derive(Clone, Copy, Debug)]
enum Global {
    Delaying,
    Looked,
    Several,
    Seen,
    Goal,
}

const GLOBALS: [&str; 5] = ["delaying", "looked", "several", "seen", "goal"];

/// The copies of a thread's code.
#[derive(Clone, Copy, Debug)]
enum Code {
    Original,
    Pivot,
    Block,
}

/// The instrumented program: `never goal == 1` holds for it under SC iff `program` is persistent.
pub fn instrument_persistence(program: &Program) -> Program {
    let (places, locations) = Places::new(program, &SHADOWS, &GLOBALS);
    // Only a block can miss several stores.
    let blocks = program
        .threads
        .iter()
        .any(|t| t.transitions.iter().any(|t| t.op == Op::AtomicBegin));
    let mut instrumented = program.clone();
    instrumented.places.clear();
    instrumented.locations = locations;
    instrumented.threads = program
        .threads
        .iter()
        .map(|thread| {
            Builder {
                weave: Weave::new(program, thread, &[false, false, true]),
                places: &places,
                blocks,
            }
            .build()
        })
        .collect();
    instrumented.nevers = vec![never_set(program, places.global(Global::Goal as usize))];
    instrumented
}

struct Builder<'a> {
    weave: Weave<'a>,
    places: &'a Places,
    blocks: bool,
}

impl Builder<'_> {
    fn build(mut self) -> Thread {
        for transition in &self.weave.thread.transitions {
            self.phase_0(transition);
            if self.weave.is_inside(transition) {
                self.block(transition);
            } else {
                self.delay(transition);
                self.phase_1(transition);
                self.overtake(transition);
            }
        }
        self.weave.finish()
    }

    fn global(&self, global: Global) -> Address<RegisterId> {
        Address::Direct(self.places.global(global as usize))
    }

    fn set(&self, global: Global) -> Op {
        store(self.global(global), Expr::Const(1))
    }

    fn if_set(&self, global: Global) -> [Op; 2] {
        [
            self.weave.load(0, self.global(global)),
            self.weave.is_set(0),
        ]
    }

    fn unless_set(&self, global: Global) -> [Op; 2] {
        [
            self.weave.load(0, self.global(global)),
            self.weave.is_not_set(0),
        ]
    }

    /// Fig. 10: the original code, as long as no thread is the pivot.
    fn phase_0(&mut self, transition: &Transition) {
        let original = Code::Original as usize;
        let (from, to) = (transition.from, transition.to);
        if let Some(op) = local(&transition.op) {
            self.weave.copy(original, transition, op);
            return;
        }
        match &transition.op {
            Op::AtomicBegin => {
                let mut ops = vec![Op::AtomicBegin];
                ops.extend(self.unless_set(Global::Delaying));
                self.weave.sequence(from, ops, to, transition);
            }
            Op::AtomicEnd => self.weave.copy(original, transition, Op::AtomicEnd),
            op => {
                for reached in self.weave.reached(op) {
                    let mut ops: Vec<Op> = reached.guard.iter().cloned().collect();
                    ops.push(with_address(op, &reached.address));
                    if self.weave.is_inside(transition) {
                        self.weave.sequence(from, ops, to, transition);
                    } else {
                        let mut all = self.unless_set(Global::Delaying).to_vec();
                        all.extend(ops);
                        self.weave.block_of(from, all, to, transition);
                    }
                }
            }
        }
    }

    /// Fig. 11: a store becomes e1, and its thread the pivot.
    fn delay(&mut self, transition: &Transition) {
        let Op::Store { value, .. } = &transition.op else {
            return;
        };
        if drains(&transition.op) {
            return;
        }
        let to = self.weave.at(Code::Pivot as usize, transition.to);
        for reached in self.weave.reached(&transition.op) {
            let mut ops = self.unless_set(Global::Delaying).to_vec();
            ops.extend(reached.guard.clone());
            ops.push(self.set(Global::Delaying));
            ops.extend(self.wait_with(&reached.address, value.clone()));
            self.weave.block_of(transition.from, ops, to, transition);
        }
    }

    /// A store of the pivot that waits.
    fn wait_with(&self, address: &Address<RegisterId>, value: RegisterExpr) -> [Op; 2] {
        let shadow = |shadow: Shadow| self.places.shadow_of(shadow as usize, address);
        [
            store(shadow(Shadow::Waiting), Expr::Const(1)),
            store(shadow(Shadow::Own), value),
        ]
    }

    /// Figs. 12 and 13: the pivot runs on alone, up to some load, which is e.
    fn phase_1(&mut self, transition: &Transition) {
        let pivot = Code::Pivot as usize;
        if let Some(op) = local(&transition.op) {
            if !drains(&op) {
                self.weave.copy(pivot, transition, op);
            }
            return;
        }
        let from = self.weave.at(pivot, transition.from);
        let to = self.weave.at(pivot, transition.to);
        for reached in self.weave.reached(&transition.op) {
            let mut first: Vec<Op> = reached.guard.iter().cloned().collect();
            let shadow = |shadow: Shadow| self.places.shadow_of(shadow as usize, &reached.address);
            match &transition.op {
                Op::Store { value, .. } if self.blocks && !drains(&transition.op) => {
                    first.push(self.set(Global::Several));
                    first.extend(self.wait_with(&reached.address, value.clone()));
                    self.weave.block_of(from, first, to, transition);
                }
                op @ (Op::Load { .. } | Op::Wait { .. }) => {
                    first.push(self.weave.load(0, shadow(Shadow::Waiting)));
                    // Its own store.
                    let mut ops = first.clone();
                    ops.push(self.weave.is_set(0));
                    ops.push(with_address(op, &shadow(Shadow::Own)));
                    self.weave.block_of(from, ops, to, transition);
                    // Memory.
                    first.push(self.weave.is_not_set(0));
                    let mut ops = first.clone();
                    ops.push(with_address(op, &reached.address));
                    self.weave.block_of(from, ops, to, transition);
                    // As e: the pivot is not seen again. A `wait` must be able to go on. Marks first: the access may change the register of an index.
                    let [a, ..] = self.weave.scratch;
                    first.push(self.weave.load(0, reached.address.clone()));
                    first.push(store(self.global(Global::Seen), Expr::Atom(a)));
                    first.push(store(shadow(Shadow::Target), Expr::Const(1)));
                    first.push(self.set(Global::Looked));
                    first.push(with_address(op, &reached.address));
                    let end = self.weave.end(transition);
                    self.weave.block_of(from, first, end, transition);
                }
                _ => {}
            }
        }
    }

    /// Fig. 14: a store or a read-modify-write of another thread is e2, if it leaves another value than e has read; or a block begins
    /// that may be.
    fn overtake(&mut self, transition: &Transition) {
        let from = transition.from;
        if transition.op == Op::AtomicBegin {
            let mut ops = vec![Op::AtomicBegin];
            ops.extend(self.if_set(Global::Looked));
            let to = self.weave.at(Code::Block as usize, transition.to);
            self.weave.sequence(from, ops, to, transition);
            return;
        }
        if !matches!(transition.op, Op::Store { .. } | Op::Rmw { .. }) {
            return;
        }
        for reached in self.weave.reached(&transition.op) {
            let target = self
                .places
                .shadow_of(Shadow::Target as usize, &reached.address);
            let mut ops: Vec<Op> = reached.guard.iter().cloned().collect();
            ops.extend(self.if_set(Global::Looked));
            ops.extend(self.unless_set(Global::Several));
            ops.extend([self.weave.load(0, target), self.weave.is_set(0)]);
            // Where the location is, once more: the access may change the register of an index.
            let at = self.weave.scratch[2];
            let address = match &reached.address {
                Address::Element {
                    first,
                    length,
                    index,
                } => {
                    ops.push(Op::Assign(at, index.clone()));
                    Address::Element {
                        first: *first,
                        length: *length,
                        index: Expr::Atom(at),
                    }
                }
                other => other.clone(),
            };
            ops.push(with_address(&transition.op, &address));
            ops.extend(self.reach_goal(address));
            let end = self.weave.end(transition);
            self.weave.block_of(from, ops, end, transition);
        }
    }

    /// A pattern is found if the location holds another value than e has read.
    fn reach_goal(&self, address: Address<RegisterId>) -> Vec<Op> {
        let [a, b, _] = self.weave.scratch;
        vec![
            self.weave.load(0, address),
            self.weave.load(1, self.global(Global::Seen)),
            Op::Assume(Expr::binary(
                BinaryOp::NotEqual,
                Expr::Atom(a),
                Expr::Atom(b),
            )),
            self.set(Global::Goal),
        ]
    }

    /// A block that may be e2. It runs as it is, and counts with what it leaves at its end.
    fn block(&mut self, transition: &Transition) {
        let block = Code::Block as usize;
        if let Some(op) = local(&transition.op) {
            self.weave.copy(block, transition, op);
            return;
        }
        let from = self.weave.at(block, transition.from);
        if transition.op == Op::AtomicEnd {
            let target = |location: LocationId| {
                Address::Direct(self.places.shadow(Shadow::Target as usize, location))
            };
            for location in self.weave.locations_of_blocks() {
                let mut ops = vec![self.weave.load(0, target(location)), self.weave.is_set(0)];
                ops.extend(self.reach_goal(Address::Direct(location)));
                ops.push(Op::AtomicEnd);
                let end = self.weave.end(transition);
                self.weave.sequence(from, ops, end, transition);
            }
            return;
        }
        let to = self.weave.at(block, transition.to);
        for reached in self.weave.reached(&transition.op) {
            let mut ops: Vec<Op> = reached.guard.iter().cloned().collect();
            ops.push(with_address(&transition.op, &reached.address));
            self.weave.sequence(from, ops, to, transition);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_lang::Order;

    #[test]
    fn weaker_fences_stay_and_full_ones_end_the_pattern() {
        let program = palisade_testkit::program(
            "shared x, y; thread a { x = 1; fence(acquire); let r = y; } thread b { y = 1; }",
        );
        let instrumented = instrument_persistence(&program);
        let fences = |p: &Program| {
            let ops = p.threads.iter().flat_map(|t| &t.transitions);
            ops.filter(|t| t.op == Op::Fence(Order::Acquire)).count()
        };
        assert_eq!((fences(&program), fences(&instrumented)), (1, 2));
    }
}
