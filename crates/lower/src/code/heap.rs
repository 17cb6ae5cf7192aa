//! Memory that is taken and given back.

use super::Code;
use crate::fold;
use crate::memory::array_cells;
use crate::program::Allocation;
use crate::unit::{Action, ArrayBlock, Atom, Cell, LocalId, Step, ValueExpr};
use palisade_lang::{
    Address, BinaryOp, Diagnostic, Expr, FREED, Op, Order, PointId, RegisterExpr, RegisterId,
    RmwAction, Span, UNSET, Value, block_state,
};

/// Which cells of a new block the next steps set before anything else can tell that there is a block: `set[c]` for cell c.
///
/// An access of another thread that is ordered with the store there is ordered with the allocation as well, and one that is not races with the store.
pub(super) fn set_at_once(pointer: LocalId, next: &[Step], stride: Value) -> Vec<Value> {
    let mut same = vec![pointer];
    let mut set = Vec::new();
    let is_same = |same: &[LocalId], e: &ValueExpr| matches!(e, Expr::Atom(Atom::Local(l)) if same.contains(l));
    for step in next {
        match &step.action {
            Action::Statement => {}
            Action::Assign(to, value) => {
                let copied = is_same(&same, value);
                same.retain(|local| local != to);
                if copied {
                    same.push(*to);
                }
            }
            Action::Store {
                address,
                order: Order::NonAtomic,
                ..
            } => match address {
                address if is_same(&same, address) => set.push(0),
                Expr::Binary(BinaryOp::Add, first, offset) if is_same(&same, first) => {
                    if let Expr::Const(offset) = **offset {
                        set.push(offset / stride);
                    }
                }
                _ => {}
            },
            _ => break,
        }
    }
    set
}

/// Where it is not known how long an array is that is allocated, up to so many elements are tried.
const TRIED_LENGTH: Value = 8;

/// A block that ends in an array, as it is to be allocated.
pub(super) struct Wanted<'a> {
    /// Gets its address.
    pub register: RegisterId,
    /// What it is called.
    pub name: &'a str,
    /// What is in it.
    pub block: &'a ArrayBlock,
    /// What the next steps set; `None` where all of it is set to 0.
    pub set: Option<Vec<Value>>,
    /// Whether this can happen more than once.
    pub in_loop: bool,
}

impl Code<'_, '_> {
    /// Takes a block with so many elements; `None` where that is refused.
    pub(super) fn allocate_array(
        &mut self,
        at: PointId,
        wanted: &Wanted<'_>,
        count: &RegisterExpr,
        span: Span,
    ) -> Option<PointId> {
        if let Expr::Const(count) = *count {
            let done = self.allocate_elements(at, wanted, count, span);
            if done.is_none() {
                let message = "this allocates too much memory";
                self.lowering.errors.push(Diagnostic::error(span, message));
            }
            return done;
        }
        let after = self.point(span);
        for tried in 0..=TRIED_LENGTH {
            let is = fold::binary(BinaryOp::Equal, count.clone(), Expr::Const(tried));
            let here = self.step(at, Op::Assume(is), span);
            let here = self.allocate_elements(here, wanted, tried, span)?;
            self.thread.edge(here, after, Op::Jump, span);
        }
        let below = fold::binary(BinaryOp::Less, count.clone(), Expr::Const(0));
        let above = fold::binary(BinaryOp::Less, Expr::Const(TRIED_LENGTH), count.clone());
        let other = fold::binary(BinaryOp::Or, below, above);
        let beyond = self.step(at, Op::Assume(other), span);
        let message =
            format!("an array of more than {TRIED_LENGTH} elements may be allocated here");
        self.bound(beyond, message, span);
        Some(after)
    }

    fn allocate_elements(
        &mut self,
        at: PointId,
        wanted: &Wanted<'_>,
        count: Value,
        span: Span,
    ) -> Option<PointId> {
        let cells = array_cells(wanted.block, count)?;
        let all = 0..cells.len() as Value;
        let set = wanted.set.clone().unwrap_or_else(|| all.clone().collect());
        let (register, name) = (wanted.register, wanted.name);
        let mut at = self.allocate(at, register, name, &cells, &set, wanted.in_loop, span);
        if wanted.set.is_none() {
            for cell in all {
                let offset = Expr::Const(cell * self.lowering.memory.stride);
                let cell = fold::binary(BinaryOp::Add, Expr::Atom(register), offset);
                let zero = Op::Store {
                    address: Address::Pointer(cell),
                    value: Expr::Const(0),
                    order: Order::NonAtomic,
                };
                at = self.step(at, zero, span);
            }
        }
        Some(at)
    }

    /// Takes a block. Its cells become unset by stores of this thread, except `set`, which the next steps store to: an access that the allocation
    /// does not happen before is a race.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn allocate(
        &mut self,
        at: PointId,
        register: RegisterId,
        name: &str,
        cells: &[Cell],
        set: &[Value],
        in_loop: bool,
        span: Span,
    ) -> PointId {
        let slots = match in_loop {
            true => self.lowering.unit.limits.slots,
            false => 1,
        };
        let after = self.point(span);
        self.lowering.allocations.push(Allocation {
            thread: self.id.0 as usize,
            from: at,
            to: after,
            register,
            cells: cells.len() as u32,
            span,
        });
        let taken = in_loop.then(|| self.thread.register(None, span));
        for slot in 0..slots {
            let memory = &mut self.lowering.memory;
            let block = memory.allocate(name, cells, span);
            let mut here = at;
            if let Some(taken) = taken {
                let now = Expr::Const(Value::from(slot));
                let next = Expr::binary(BinaryOp::Equal, Expr::Atom(taken), now);
                here = self.step(here, Op::Assume(next), span);
                let next = Expr::Const(Value::from(slot) + 1);
                here = self.step(here, Op::Assign(taken, next), span);
            }
            for cell in 0..cells.len() as Value {
                if set.contains(&cell) {
                    continue;
                }
                let stride = self.lowering.memory.stride;
                let unset = Op::Store {
                    address: self.direct(block.address + cell * stride),
                    value: Expr::Const(UNSET),
                    order: Order::NonAtomic,
                };
                here = self.step(here, unset, span);
            }
            let address = Op::Assign(register, Expr::Const(block.address));
            self.thread.edge(here, after, address, span);
        }
        if let Some(taken) = taken {
            let all = Expr::Const(Value::from(slots));
            let all = Expr::binary(BinaryOp::Equal, Expr::Atom(taken), all);
            let beyond = self.step(at, Op::Assume(all), span);
            let message = format!("memory is allocated here more than {slots} times");
            self.bound(beyond, message, span);
        }
        after
    }

    /// Gives a block back: its cells are overwritten, which races with every access that is not ordered, and then it can be had again.
    pub(super) fn free(&mut self, at: PointId, address: RegisterExpr, span: Span) -> PointId {
        let after = self.point(span);
        let mut here = at;
        match &address {
            Expr::Const(0) => {
                self.thread.edge(at, after, Op::Jump, span);
                return after;
            }
            Expr::Const(_) => {}
            address => {
                let null = Expr::binary(BinaryOp::Equal, address.clone(), Expr::Const(0));
                let some = fold::not(null.clone());
                self.thread.edge(at, after, Op::Assume(null), span);
                here = self.step(at, Op::Assume(some), span);
            }
        }
        let pointer = self.thread.register(None, span);
        let state = self.thread.register(None, span);
        let left = self.thread.register(None, span);
        let stride = self.lowering.memory.stride;
        here = self.step(here, Op::Assign(pointer, address), span);
        let header = Expr::binary(BinaryOp::Add, Expr::Atom(pointer), Expr::Const(-stride));
        let header = Address::Pointer(header);
        // Of two that give it back, one finds it in use. It synchronises with nothing, so that it hides no race.
        let take = Op::Rmw {
            register: Some(state),
            address: header.clone(),
            action: RmwAction::Exchange(Expr::Const(block_state::GOING)),
            order: Order::Relaxed,
        };
        here = self.step(here, take, span);
        let first = Expr::Const(block_state::FIRST);
        let cells = Expr::binary(BinaryOp::Subtract, Expr::Atom(state), first);
        let last = Expr::Const(2 * Value::from(u32::MAX));
        let is_block = fold::binary(
            BinaryOp::And,
            Expr::binary(BinaryOp::LessEqual, cells.clone(), last),
            Expr::binary(BinaryOp::GreaterEqual, cells.clone(), Expr::Const(0)),
        );
        let odd = Expr::binary(BinaryOp::BitAnd, cells.clone(), Expr::Const(1));
        let in_use = fold::binary(BinaryOp::And, is_block, fold::not(odd));
        here = self.step(here, Op::Assert(in_use), span);
        let cells = Expr::binary(BinaryOp::Divide, cells, Expr::Const(2));
        let head = self.step(here, Op::Assign(left, cells), span);
        let more = Expr::binary(BinaryOp::Greater, Expr::Atom(left), Expr::Const(0));
        let finished = self.step(head, Op::Assume(fold::not(more.clone())), span);
        let again = self.step(head, Op::Assume(more), span);
        let less = Expr::binary(BinaryOp::Subtract, Expr::Atom(left), Expr::Const(1));
        let again = self.step(again, Op::Assign(left, less), span);
        let cell = fold::binary(BinaryOp::Multiply, Expr::Atom(left), Expr::Const(stride));
        let cell = Expr::binary(BinaryOp::Add, Expr::Atom(pointer), cell);
        let overwrite = Op::Store {
            address: Address::Pointer(cell),
            value: Expr::Const(FREED),
            order: Order::NonAtomic,
        };
        self.thread.edge(again, head, overwrite, span);
        let freed = Expr::Const(block_state::GIVEN_BACK);
        let freed = Op::Store {
            address: header,
            value: Expr::binary(BinaryOp::Add, Expr::Atom(state), freed),
            order: Order::Release,
        };
        self.thread.edge(finished, after, freed, span);
        after
    }
}
