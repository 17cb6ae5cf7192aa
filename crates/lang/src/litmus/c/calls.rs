//! Calls of C's atomic functions, and some of the Linux kernel's.

use super::Function;
use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::lex::{Kind, Token, did_you_mean, quote, with_help};
use crate::litmus::{Failed, Outcome};
use crate::program::{Address, LocationId, Op, Order, RegisterExpr, RegisterId, RmwAction};
use crate::source::{Diagnostic, Span};

const CALLS: [&str; 30] = [
    "atomic_load",
    "atomic_load_explicit",
    "atomic_store",
    "atomic_store_explicit",
    "atomic_exchange",
    "atomic_exchange_explicit",
    "atomic_fetch_add",
    "atomic_fetch_add_explicit",
    "atomic_fetch_sub",
    "atomic_fetch_sub_explicit",
    "atomic_fetch_and",
    "atomic_fetch_and_explicit",
    "atomic_fetch_or",
    "atomic_fetch_or_explicit",
    "atomic_fetch_xor",
    "atomic_fetch_xor_explicit",
    "atomic_compare_exchange_strong",
    "atomic_compare_exchange_strong_explicit",
    "atomic_compare_exchange_weak",
    "atomic_compare_exchange_weak_explicit",
    "atomic_thread_fence",
    "atomic_add_unless",
    "__atomic_add_unless",
    "READ_ONCE",
    "WRITE_ONCE",
    "smp_mb",
    "smp_rmb",
    "smp_wmb",
    "smp_store_release",
    "smp_load_acquire",
];

impl<'a> Function<'_, 'a, '_> {
    /// A call of one of C's or the kernel's functions, whose name has just been read.
    pub(super) fn call(&mut self, name: Token<'a>, depth: usize) -> Outcome<RegisterExpr> {
        if !CALLS.contains(&name.text) {
            self.errors.error(with_help(
                Diagnostic::error(
                    name.span,
                    format!("the function {} is not supported", quote(name.text)),
                )
                .label("cannot be read"),
                did_you_mean(name.text, CALLS.into_iter()),
            ));
            return Err(Failed);
        }
        // herd writes orders of the kernel's functions in braces.
        if self.tokens.take_if("{").is_some() {
            while self.tokens.peek().kind != Kind::End && self.tokens.take_if("}").is_none() {
                self.tokens.take();
            }
        }
        self.expect("(")?;
        let mut arguments = Vec::new();
        let mut orders = Vec::new();
        let mut expected_local = None;
        while self.tokens.peek().kind != Kind::End && self.tokens.take_if(")").is_none() {
            let token = self.tokens.peek();
            if let Some(order) = order(token.text) {
                self.tokens.take();
                orders.push(order);
            } else if ["READ_ONCE", "WRITE_ONCE"].contains(&name.text) && arguments.is_empty() {
                // These name the place, not its address.
                self.expect("*")?;
                arguments.push(self.operand(depth + 1)?.0);
            } else {
                if token.is("&") && arguments.len() == 1 {
                    let variable = self.tokens.peek_second();
                    expected_local = self.builder.register_named(variable.text);
                }
                arguments.push(self.expr_above(0, depth + 1)?.0);
            }
            if !self.tokens.peek().is(")") {
                self.expect(",")?;
            }
        }
        self.carry_out(name, arguments, orders, expected_local)
    }

    fn carry_out(
        &mut self,
        name: Token<'a>,
        arguments: Vec<RegisterExpr>,
        orders: Vec<Order>,
        expected_local: Option<RegisterId>,
    ) -> Outcome<RegisterExpr> {
        let span = self.since(name);
        let function = name.text.strip_suffix("_explicit").unwrap_or(name.text);
        let order = orders.first().copied().unwrap_or(Order::SeqCst);
        let nothing = Expr::Const(0);
        match (function, arguments.as_slice()) {
            ("atomic_thread_fence", []) => self.step(Op::Fence(order), span),
            ("smp_mb", []) => self.step(Op::Fence(Order::SeqCst), span),
            ("smp_rmb", []) => self.step(Op::Fence(Order::Acquire), span),
            ("smp_wmb", []) => self.step(Op::Fence(Order::Release), span),
            ("atomic_load", [pointer]) => {
                let address = self.special_access(pointer);
                return Ok(self.load(address, order, name));
            }
            ("READ_ONCE" | "smp_load_acquire", [pointer]) => {
                let address = self.special_access(pointer);
                return Ok(self.load(address, Order::Acquire, name));
            }
            ("atomic_store" | "WRITE_ONCE" | "smp_store_release", [pointer, value]) => {
                let address = self.special_access(pointer);
                let order = match function {
                    "atomic_store" => order,
                    _ => Order::Release,
                };
                let value = value.clone();
                self.step(
                    Op::Store {
                        address,
                        value,
                        order,
                    },
                    span,
                );
            }
            ("atomic_exchange", [pointer, value]) => {
                let action = RmwAction::Exchange(value.clone());
                return Ok(self.rmw(pointer, action, order, span));
            }
            (
                "atomic_fetch_add" | "atomic_fetch_sub" | "atomic_fetch_and" | "atomic_fetch_or"
                | "atomic_fetch_xor",
                [pointer, value],
            ) => {
                let op = match function {
                    "atomic_fetch_add" => BinaryOp::Add,
                    "atomic_fetch_sub" => BinaryOp::Subtract,
                    "atomic_fetch_and" => BinaryOp::BitAnd,
                    "atomic_fetch_or" => BinaryOp::BitOr,
                    _ => BinaryOp::BitXor,
                };
                let action = RmwAction::Fetch(op, value.clone());
                return Ok(self.rmw(pointer, action, order, span));
            }
            (
                "atomic_compare_exchange_strong" | "atomic_compare_exchange_weak",
                [pointer, expected, desired],
            ) => {
                let desired = desired.clone();
                return Ok(match expected_local {
                    Some(local) => {
                        self.compare_exchange_local(pointer, local, desired, order, span)
                    }
                    None => self.compare_exchange_memory(pointer, expected, desired, order, span),
                });
            }
            ("atomic_add_unless" | "__atomic_add_unless", [pointer, by, unless]) => {
                return Ok(self.add_unless(pointer, by.clone(), unless.clone(), span));
            }
            _ => {
                let message = format!("{} has the wrong number of arguments", quote(name.text));
                self.errors
                    .error(Diagnostic::error(span, message).label("cannot be read"));
                return Err(Failed);
            }
        }
        Ok(nothing)
    }

    /// On failure, the variable gets the value that was found.
    fn compare_exchange_local(
        &mut self,
        pointer: &RegisterExpr,
        local: RegisterId,
        desired: RegisterExpr,
        order: Order,
        span: Span,
    ) -> RegisterExpr {
        let expected = Expr::Atom(local);
        let action = RmwAction::CompareAndSwap {
            expected,
            desired,
            failure: order.without_release(),
        };
        let found = self.rmw(pointer, action, order, span);
        let success = self.builder.register(None, span);
        let same = Expr::binary(BinaryOp::Equal, found.clone(), Expr::Atom(local));
        self.step(Op::Assign(success, same), span);
        self.step(Op::Assign(local, found), span);
        Expr::Atom(success)
    }

    /// The same with an expected value that is in memory.
    fn compare_exchange_memory(
        &mut self,
        pointer: &RegisterExpr,
        expected: &RegisterExpr,
        desired: RegisterExpr,
        order: Order,
        span: Span,
    ) -> RegisterExpr {
        let (address, plain_order) = self.plain_access(expected.clone(), Order::Acquire);
        let wanted = self.builder.register(None, span);
        self.step(
            Op::Load {
                register: wanted,
                address: address.clone(),
                order: plain_order,
            },
            span,
        );
        let action = RmwAction::CompareAndSwap {
            expected: Expr::Atom(wanted),
            desired,
            failure: order.without_release(),
        };
        let found = self.rmw(pointer, action, order, span);
        let success = self.builder.register(None, span);
        let same = Expr::binary(BinaryOp::Equal, found.clone(), Expr::Atom(wanted));
        self.step(Op::Assign(success, same), span);
        let after = self.builder.point(span);
        let yes = Op::Assume(Expr::Atom(success));
        self.builder.edge(self.at, after, yes, span);
        let no = Op::Assume(Expr::unary(UnaryOp::Not, Expr::Atom(success)));
        let failed = self.builder.step(self.at, no, span);
        let order = match plain_order {
            Order::SeqCst => Order::SeqCst,
            _ => Order::Release,
        };
        let store = Op::Store {
            address,
            value: found,
            order,
        };
        self.builder.edge(failed, after, store, span);
        self.at = after;
        Expr::Atom(success)
    }

    /// Adds, unless the value is the given one; whether it did. A block of one location, which is a read-modify-write.
    fn add_unless(
        &mut self,
        pointer: &RegisterExpr,
        by: RegisterExpr,
        unless: RegisterExpr,
        span: Span,
    ) -> RegisterExpr {
        let address = self.special_access(pointer);
        let old = self.builder.register(None, span);
        let added = self.builder.register(None, span);
        let builder = &mut self.builder;
        let [begin, loaded, adds, refuses] = [(); 4].map(|()| builder.point_in_block(span));
        let [done, end] = [(); 2].map(|()| builder.point_in_block(span));
        let after = builder.point(span);
        builder.edge(self.at, begin, Op::AtomicBegin, span);
        let load = Op::Load {
            register: old,
            address: address.clone(),
            order: Order::Acquire,
        };
        builder.edge(begin, loaded, load, span);
        let differs = Expr::binary(BinaryOp::NotEqual, Expr::Atom(old), unless);
        let same = Expr::unary(UnaryOp::Not, differs.clone());
        builder.edge(loaded, adds, Op::Assume(differs), span);
        builder.edge(loaded, refuses, Op::Assume(same), span);
        let store = Op::Store {
            address,
            value: Expr::binary(BinaryOp::Add, Expr::Atom(old), by),
            order: Order::Release,
        };
        builder.edge(adds, done, store, span);
        builder.edge(done, end, Op::Assign(added, Expr::Const(1)), span);
        builder.edge(refuses, end, Op::Assign(added, Expr::Const(0)), span);
        builder.edge(end, after, Op::AtomicEnd, span);
        self.at = after;
        Expr::Atom(added)
    }

    fn rmw(
        &mut self,
        pointer: &RegisterExpr,
        action: RmwAction,
        order: Order,
        span: Span,
    ) -> RegisterExpr {
        let address = self.special_access(pointer);
        let register = self.builder.register(None, span);
        self.step(
            Op::Rmw {
                register: Some(register),
                address,
                action,
                order,
            },
            span,
        );
        Expr::Atom(register)
    }

    pub(super) fn load(
        &mut self,
        address: Address<RegisterId>,
        order: Order,
        first: Token<'a>,
    ) -> RegisterExpr {
        let span = self.since(first);
        let register = self.builder.register(None, span);
        self.step(
            Op::Load {
                register,
                address,
                order,
            },
            span,
        );
        Expr::Atom(register)
    }

    fn address(&mut self, pointer: RegisterExpr) -> Address<RegisterId> {
        if let Expr::Const(value) = pointer
            && let Some(index) = value.checked_sub(1).and_then(|i| usize::try_from(i).ok())
            && index < self.test.memory.locations.len()
        {
            return Address::Direct(LocationId(index as u32));
        }
        self.kinds.any_pointer = true;
        Address::Pointer(pointer)
    }

    /// `*x`: of an atomic location, C's strongest order; `usual` otherwise.
    pub(super) fn plain_access(
        &mut self,
        pointer: RegisterExpr,
        usual: Order,
    ) -> (Address<RegisterId>, Order) {
        let address = self.address(pointer);
        let mut order = usual;
        if let Address::Direct(id) = &address {
            self.kinds.plain.insert(*id);
            if self.kinds.atomic.contains(id) {
                order = Order::SeqCst;
            }
        }
        (address, order)
    }

    fn special_access(&mut self, pointer: &RegisterExpr) -> Address<RegisterId> {
        let address = self.address(pointer.clone());
        if let Address::Direct(id) = &address {
            self.kinds.special.insert(*id);
        }
        address
    }
}

fn order(name: &str) -> Option<Order> {
    Some(match name {
        "memory_order_relaxed" => Order::Relaxed,
        "memory_order_acquire" | "memory_order_consume" => Order::Acquire,
        "memory_order_release" => Order::Release,
        "memory_order_acq_rel" => Order::AcqRel,
        "memory_order_seq_cst" => Order::SeqCst,
        _ => return None,
    })
}
