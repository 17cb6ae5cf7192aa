//! Accesses of memory, and what must not be read there.

use super::{Code, element_of};
use crate::copies::Copy;
use crate::unit::{Action, ValueExpr};
use palisade_lang::{
    Address, BinaryOp, Expr, FREED, Op, Order, PointId, RegisterExpr, RegisterId, Relation,
    RmwAction, Span, UNSET,
};

impl Code<'_, '_> {
    pub(super) fn address(
        &mut self,
        copy: &mut Copy,
        at: &mut PointId,
        expr: &ValueExpr,
        span: Span,
    ) -> Address<RegisterId> {
        let address = self.resolve(copy, expr);
        if let Expr::Const(address) = address {
            return self.direct(address);
        }
        let stride = self.lowering.memory.stride;
        if let Expr::Binary(BinaryOp::Add, offset, first) = &address
            && let Some((length, index)) = element_of(offset, stride)
            && let Expr::Const(first) = **first
            && let Some(location) = self.lowering.memory.at(first)
            && self.lowering.memory.locations[location.index()].array == Some((location, length))
        {
            let index = self.checked(at, index.clone(), span);
            return Address::Element {
                first: location,
                length,
                index,
            };
        }
        Address::Pointer(self.checked(at, address, span))
    }

    /// Whether what is there may be what must not be read.
    fn is_loose(&self, address: &Address<RegisterId>) -> bool {
        match address {
            Address::Direct(location)
            | Address::Element {
                first: location, ..
            } => self.lowering.memory.is_loose(*location),
            Address::Pointer(_) => self.lowering.loose,
        }
    }

    /// Where a value is read from memory that may hold none: the register that gets it, at least for the check.
    fn checked_register(
        &mut self,
        address: &Address<RegisterId>,
        register: Option<RegisterId>,
        span: Span,
    ) -> Option<RegisterId> {
        match self.is_loose(address) {
            true => Some(register.unwrap_or_else(|| self.thread.register(None, span))),
            false => register,
        }
    }

    /// A value that was read must not be what is left in memory that was given back, or was never set.
    pub(super) fn check_read(
        &mut self,
        at: PointId,
        address: &Address<RegisterId>,
        register: Option<RegisterId>,
        span: Span,
    ) -> PointId {
        match register {
            Some(register) if self.is_loose(address) => {
                let odd = Expr::binary(BinaryOp::BitOr, Expr::Atom(register), Expr::Const(1));
                let fine = Expr::binary(BinaryOp::NotEqual, odd, Expr::Const(UNSET));
                self.step(at, Op::Assert(fine), span)
            }
            _ => at,
        }
    }

    /// A value that is copied may be none, but must not be what is left in memory that was given back.
    pub(super) fn check_copy(
        &mut self,
        at: PointId,
        address: &Address<RegisterId>,
        register: RegisterId,
        span: Span,
    ) -> PointId {
        if !self.lowering.vanishes || !self.is_loose(address) {
            return at;
        }
        let gone = Expr::Const(FREED);
        let fine = Expr::binary(BinaryOp::NotEqual, Expr::Atom(register), gone);
        self.step(at, Op::Assert(fine), span)
    }

    /// It is an error if the cell holds a value in this relation here: a way that is open only then leads to it. Nothing happens otherwise, so
    /// the check is no access that another thread or a memory model could notice.
    pub(super) fn never(
        &mut self,
        at: PointId,
        address: &Address<RegisterId>,
        relation: Relation,
        value: RegisterExpr,
        span: Span,
    ) {
        // Inside a block that nothing interrupts, waiting for a value would hold up every other thread.
        if self.atomic {
            return;
        }
        let holds = Op::Wait {
            register: None,
            address: address.clone(),
            relation,
            value,
            order: Order::Relaxed,
        };
        let wrong = self.step(at, holds, span);
        self.step(wrong, Op::Assert(Expr::Const(0)), span);
    }

    /// Before a store: the memory must not have been given back. Before an operation that waits: nor may it hold nothing.
    pub(super) fn check_memory(
        &mut self,
        at: PointId,
        address: &Address<RegisterId>,
        waits: bool,
        span: Span,
    ) {
        if !self.is_loose(address) {
            return;
        }
        if self.lowering.vanishes {
            let gone = Expr::Const(FREED);
            self.never(at, address, Relation::Equal, gone, span);
        }
        if waits {
            let unset = Expr::Const(UNSET);
            self.never(at, address, Relation::Equal, unset, span);
        }
    }

    pub(super) fn rmw(
        &mut self,
        at: PointId,
        register: Option<RegisterId>,
        address: Address<RegisterId>,
        action: RmwAction,
        order: Order,
        span: Span,
    ) -> PointId {
        let waits = matches!(action, RmwAction::BlockingCompareAndSwap { .. });
        if waits {
            self.check_memory(at, &address, true, span);
        }
        let register = match waits {
            true => register,
            false => self.checked_register(&address, register, span),
        };
        let rmw = Op::Rmw {
            register,
            address: address.clone(),
            action,
            order,
        };
        let at = self.step(at, rmw, span);
        self.check_read(at, &address, register, span)
    }

    pub(super) fn compare_exchange(
        &mut self,
        copy: &mut Copy,
        mut at: PointId,
        action: &Action,
        span: Span,
    ) -> Option<PointId> {
        let Action::CompareExchange {
            old,
            success,
            address,
            expected,
            desired,
            order,
            failure,
            weak,
        } = action
        else {
            return Some(at);
        };
        let old = copy.register(*old)?;
        let success = copy.register(*success)?;
        let address = self.address(copy, &mut at, address, span);
        let mut expected = self.value(copy, &mut at, expected, span);
        let desired = self.value(copy, &mut at, desired, span);
        // It is compared again when the old value is there.
        let mut same = false;
        expected.for_each_atom(&mut |register| same |= *register == old || *register == success);
        if same {
            let kept = self.thread.register(None, span);
            at = self.step(at, Op::Assign(kept, expected), span);
            expected = Expr::Atom(kept);
        }
        let cas = Op::Rmw {
            register: Some(old),
            address: address.clone(),
            action: RmwAction::CompareAndSwap {
                expected: expected.clone(),
                desired,
                failure: *failure,
            },
            order: *order,
        };
        let mut done = self.step(at, cas, span);
        done = self.check_read(done, &address, Some(old), span);
        let wrote = Expr::binary(BinaryOp::Equal, Expr::Atom(old), expected);
        let after = self.step(done, Op::Assign(success, wrote), span);
        if *weak {
            let load = Op::Load {
                register: old,
                address: address.clone(),
                order: *failure,
            };
            let mut failed = self.step(at, load, span);
            failed = self.check_read(failed, &address, Some(old), span);
            let not = Op::Assign(success, Expr::Const(0));
            self.thread.edge(failed, after, not, span);
        }
        Some(after)
    }
}
