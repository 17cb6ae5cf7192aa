//! The atomic operations: C11's, those of GNU C, and what our headers are written with.

use crate::ast::*;
use crate::body::Body;
use crate::packed::is_packed;
use crate::types::{Done, fail};
use crate::value::{Place, Value};
use palisade_lang::{BinaryOp, Expr as LangExpr, Order, Relation, Span};
use palisade_lower::{self as lower, Action, Atom, End, LocalId, ValueExpr};

/// The orders by their numbers in C; `consume` is `acquire`, as compilers have it.
const ORDERS: [Order; 6] = [
    Order::Relaxed,
    Order::Acquire,
    Order::Acquire,
    Order::Release,
    Order::AcqRel,
    Order::SeqCst,
];

/// The operator that a name ends in: `add` of `atomic_fetch_add`.
fn operator(name: &str) -> Option<BinaryOp> {
    Some(match name {
        "add" => BinaryOp::Add,
        "sub" => BinaryOp::Subtract,
        "and" => BinaryOp::BitAnd,
        "or" => BinaryOp::BitOr,
        "xor" => BinaryOp::BitXor,
        _ => return None,
    })
}

impl Body<'_, '_> {
    /// An order that is written, or seq_cst where none is.
    fn order(&mut self, expr: Option<&Expr>) -> Done<Written> {
        let Some(expr) = expr else {
            return Ok(Written::Known(Order::SeqCst));
        };
        let value = self.rvalue(expr)?;
        match value.expr {
            LangExpr::Const(number) => match ORDERS.get(number as usize) {
                Some(order) => Ok(Written::Known(*order)),
                None => fail(expr.span, "this is no memory order"),
            },
            number => Ok(Written::Computed(number)),
        }
    }

    /// Emits an action whose order may be a parameter: one for each order that it may be.
    fn with_order(
        &mut self,
        order: Written,
        access: OrderUse,
        span: Span,
        action: impl Fn(Order) -> Action,
    ) -> Done<()> {
        self.for_order(order, access, span, &|body, order| {
            body.emit(action(order), span);
            Ok(())
        })
    }

    fn for_order(
        &mut self,
        order: Written,
        access: OrderUse,
        span: Span,
        emit: &dyn Fn(&mut Self, Order) -> Done<()>,
    ) -> Done<()> {
        let number = match order {
            Written::Known(order) if access.allows(order) => return emit(self, order),
            Written::Known(_) => return fail(span, access.message()),
            Written::Computed(number) => number,
        };
        let after = self.block(span);
        for (index, order) in ORDERS.iter().enumerate() {
            if !access.allows(*order) {
                continue;
            }
            let (this, next) = (self.block(span), self.block(span));
            let index = LangExpr::Const(index as i64);
            let is = lower::binary(BinaryOp::Equal, number.clone(), index);
            self.finish(End::Branch(is, this, next), span);
            self.begin(this);
            emit(self, *order)?;
            self.finish(End::Goto(after), span);
            self.begin(next);
        }
        self.emit(Action::Assert(LangExpr::Const(0)), span);
        self.goto_and_begin(after, span);
        Ok(())
    }

    /// `old OP operand`, atomically: the old and the new value.
    #[allow(clippy::too_many_arguments)]
    pub fn fetch(
        &mut self,
        op: BinaryOp,
        address: ValueExpr,
        ty: &Type,
        operand: Value,
        order: Order,
        scaled: bool,
        span: Span,
    ) -> Done<(Value, Value)> {
        let order = Written::Known(order);
        self.fetch_written(op, address, ty, operand, order, scaled, span)
    }

    #[allow(clippy::too_many_arguments)]
    fn fetch_written(
        &mut self,
        op: BinaryOp,
        address: ValueExpr,
        ty: &Type,
        operand: Value,
        order: Written,
        scaled: bool,
        span: Span,
    ) -> Done<(Value, Value)> {
        use BinaryOp::*;
        if !matches!(op, Add | Subtract | BitAnd | BitOr | BitXor) {
            return self.change_in_loop(op, address, ty, operand, order, span);
        }
        let Some(width) = ty.width() else {
            return fail(span, "this is no atomic number");
        };
        let mut operand = match ty.pointee() {
            Some(to) if scaled => {
                let each = match to.is_void() {
                    true => 1,
                    false => self.translator.cell_count(to, span)?,
                };
                self.leaps(&operand.expr, each);
                let each = LangExpr::Const(each * self.translator.stride);
                lower::binary(Multiply, operand.expr, each)
            }
            Some(_) => operand.expr,
            None => self.convert(operand, ty, span)?.expr,
        };
        let mut op = op;
        // `x + 4294967295` is `x - 1` in 32 bits, and leaves the type no sooner than needed.
        if let (LangExpr::Const(value), Add | Subtract) = (&operand, op) {
            let signed = lower::Width {
                signed: true,
                ..width
            };
            let small = signed.wrap(*value);
            if small < 0 && small != i64::MIN {
                op = if op == Add { Subtract } else { Add };
                operand = LangExpr::Const(-small);
            } else {
                operand = LangExpr::Const(small);
            }
        }
        let to = self.temporary(ty, span);
        let (written, value) = (address, operand.clone());
        self.with_order(order, OrderUse::Both, span, |order| Action::Fetch {
            to: Some(to),
            address: written.clone(),
            op,
            operand: value.clone(),
            order,
        })?;
        let old = LangExpr::Atom(Atom::Local(to));
        let new = lower::binary(op, old.clone(), operand.clone());
        let (low, high) = width.range();
        let range = self.range(&new);
        let (above, below) = (range.1 > high, range.0 < low);
        if width.bits < 64 && (above || below) {
            let not_above = lower::binary(LessEqual, new.clone(), LangExpr::Const(high));
            let not_below = lower::binary(GreaterEqual, new.clone(), LangExpr::Const(low));
            let fine = match (above, below) {
                (true, true) => lower::binary(And, not_below, not_above),
                (true, false) => not_above,
                _ => not_below,
            };
            self.bound_unless(fine, palisade_lang::Bound::WRAPS, span);
        }
        let ty = ty.plain();
        let old = Value {
            expr: old,
            ty: ty.clone(),
        };
        Ok((old, Value { expr: new, ty }))
    }

    /// `x *= v` on an atomic object: by exchanges until one succeeds, as C defines it.
    fn change_in_loop(
        &mut self,
        op: BinaryOp,
        address: ValueExpr,
        ty: &Type,
        operand: Value,
        order: Written,
        span: Span,
    ) -> Done<(Value, Value)> {
        let operand = self.kept(operand, span);
        let relaxed = Written::Known(Order::Relaxed);
        let first = self.load_written(address.clone(), ty, relaxed, span)?;
        let old = self.kept(first, span);
        let LangExpr::Atom(Atom::Local(register)) = old.expr else {
            return fail(span, "this operator on an atomic object is not supported");
        };
        let (again, failed, after) = (self.block(span), self.block(span), self.block(span));
        self.goto_and_begin(again, span);
        let new = self.combine(op, old.clone(), operand, span)?;
        let new = self.convert(new, ty, span)?;
        let new = self.kept(new, span);
        let (read, success) = self.exchange_if(
            address,
            ty,
            old.clone(),
            new.clone(),
            order,
            None,
            false,
            span,
        )?;
        let done = LangExpr::Atom(Atom::Local(success));
        self.finish(End::Branch(done, after, failed), span);
        self.begin(failed);
        let read = LangExpr::Atom(Atom::Local(read));
        self.emit(Action::Assign(register, read), span);
        self.finish(End::Goto(again), span);
        self.begin(after);
        Ok((old, new))
    }

    fn fence(&mut self, order: Written, span: Span) -> Done<()> {
        self.for_order(order, OrderUse::Both, span, &|body, order| {
            // A relaxed fence does nothing.
            if order != Order::Relaxed {
                body.emit(Action::Fence(order), span);
            }
            Ok(())
        })
    }

    /// `atomic_compare_exchange` and its like: 1 where it wrote.
    #[allow(clippy::too_many_arguments)]
    fn compare_exchange(
        &mut self,
        object: &Expr,
        expected: &Expr,
        desired: &Expr,
        through_pointer: bool,
        order: Written,
        failure: Option<Written>,
        weak: bool,
        span: Span,
    ) -> Done<Value> {
        let (address, ty) = self.atomic_object(object)?;
        if is_packed(&ty, span, self.translator)? {
            return self.compare_exchange_whole(
                address,
                &ty,
                expected,
                desired,
                through_pointer,
                order,
                failure,
                weak,
                span,
            );
        }
        let (place, place_ty) = self.pointed(expected)?;
        let desired = match through_pointer {
            true => {
                let (place, found) = self.pointed(desired)?;
                let value = self.load(place, &found, span)?;
                self.convert(value, &ty, span)?
            }
            false => self.rvalue_for(desired, &ty)?,
        };
        // What is expected is as wide as the object, whatever its own type.
        let scalar = match place_ty.is_scalar() {
            true => place_ty,
            false => ty.plain(),
        };
        let wanted = self.load_with(place.clone(), &scalar, Order::NonAtomic, span)?;
        let wanted = self.convert(wanted, &ty, span)?;
        let (old, success) =
            self.exchange_if(address, &ty, wanted, desired, order, failure, weak, span)?;
        let read = Value {
            expr: LangExpr::Atom(Atom::Local(old)),
            ty: ty.plain(),
        };
        let done = LangExpr::Atom(Atom::Local(success));
        match place {
            // On success, what was read is what was expected.
            Place::Register(register) => {
                let read = self.convert(read, &scalar, span)?;
                self.emit(Action::Assign(register, read.expr), span);
            }
            Place::Memory(_) => {
                let (failed, after) = (self.block(span), self.block(span));
                self.finish(End::Branch(done.clone(), after, failed), span);
                self.begin(failed);
                let read = self.convert(read, &scalar, span)?;
                self.store(&place, &scalar, read, Order::NonAtomic, span)?;
                self.goto_and_begin(after, span);
            }
        }
        Ok(Value {
            expr: done,
            ty: Type::new(TypeKind::Bool),
        })
    }

    /// The same on a struct as a whole.
    #[allow(clippy::too_many_arguments)]
    fn compare_exchange_whole(
        &mut self,
        address: ValueExpr,
        ty: &Type,
        expected: &Expr,
        desired: &Expr,
        through_pointer: bool,
        order: Written,
        failure: Option<Written>,
        weak: bool,
        span: Span,
    ) -> Done<Value> {
        let (place, found) = self.pointed(expected)?;
        let here = self.load(place, &found, expected.span)?;
        let here = self.convert(here, ty, expected.span)?;
        let wanted = self.as_stored(here.clone(), ty, expected.span)?;
        let desired = match through_pointer {
            true => {
                let (place, found) = self.pointed(desired)?;
                let value = self.load(place, &found, span)?;
                let value = self.convert(value, ty, span)?;
                self.as_stored(value, ty, span)?
            }
            false => self.operand(desired, ty)?,
        };
        let stored = self.stored_type(ty, span)?;
        let (old, success) = self.exchange_if(
            address, &stored, wanted, desired, order, failure, weak, span,
        )?;
        let done = LangExpr::Atom(Atom::Local(success));
        let (failed, after) = (self.block(span), self.block(span));
        self.finish(End::Branch(done.clone(), after, failed), span);
        self.begin(failed);
        let read = LangExpr::Atom(Atom::Local(old));
        self.unpack_to(&here.expr, read, ty, span)?;
        self.goto_and_begin(after, span);
        Ok(Value {
            expr: done,
            ty: Type::new(TypeKind::Bool),
        })
    }

    /// The bare exchange: the registers of the value that was read, and of 1 where it wrote.
    #[allow(clippy::too_many_arguments)]
    fn exchange_if(
        &mut self,
        address: ValueExpr,
        ty: &Type,
        expected: Value,
        desired: Value,
        order: Written,
        failure: Option<Written>,
        weak: bool,
        span: Span,
    ) -> Done<(LocalId, LocalId)> {
        let old = self.temporary(ty, span);
        let success = self.temporary(&Type::new(TypeKind::Bool), span);
        let failure = failure.as_ref();
        self.for_order(order, OrderUse::Both, span, &|body, order| {
            let exchange = |failure| Action::CompareExchange {
                old,
                success,
                address: address.clone(),
                expected: expected.expr.clone(),
                desired: desired.expr.clone(),
                order,
                failure,
                weak,
            };
            match failure {
                None => body.emit(exchange(order.without_release()), span),
                // C forbids a release here; compilers leave the release part out.
                Some(failure) => {
                    body.with_order(failure.clone(), OrderUse::Both, span, |failure| {
                        exchange(failure.without_release())
                    })?;
                }
            }
            Ok(())
        })?;
        Ok((old, success))
    }

    /// An atomic operation; `None` where the name is none.
    pub fn atomic_builtin(
        &mut self,
        name: &str,
        arguments: &[Expr],
        wanted: bool,
        span: Span,
    ) -> Done<Option<Value>> {
        if let Some(rest) = name.strip_prefix("__palisade_") {
            return self.own_builtin(rest, arguments, span);
        }
        if let Some(rest) = name.strip_prefix("__sync_") {
            return self.sync_builtin(rest, arguments, span);
        }
        let (rest, gnu) = match (name.strip_prefix("atomic_"), name.strip_prefix("__atomic_")) {
            (Some(rest), _) => (rest, false),
            (_, Some(rest)) => (rest, true),
            _ => match name.strip_prefix("__c11_atomic_") {
                Some(rest) => (rest, false),
                None => return Ok(None),
            },
        };
        let rest = rest.strip_suffix("_explicit").unwrap_or(rest);
        let argument = |index: usize| arguments.get(index);
        let needed = |body: &Self, index| body.argument(arguments, index, span);
        let value = match rest {
            "thread_fence" => {
                let order = self.order(argument(0))?;
                self.fence(order, span)?;
                Value::nothing()
            }
            "init" => {
                let (address, ty) = self.atomic_object(needed(self, 0)?)?;
                let value = self.rvalue_for(needed(self, 1)?, &ty)?;
                let place = Place::Memory(address);
                self.store(&place, &ty, value, Order::NonAtomic, span)?;
                Value::nothing()
            }
            "is_lock_free" | "always_lock_free" => Value::int(1),
            "load" if gnu && arguments.len() == 3 => {
                let (address, ty) = self.atomic_object(needed(self, 0)?)?;
                let (place, found) = self.pointed(needed(self, 1)?)?;
                let order = self.order(argument(2))?;
                let value = self.load_written(address, &ty, order, span)?;
                let value = self.convert(value, &found, span)?;
                self.store(&place, &found, value, Order::NonAtomic, span)?;
                Value::nothing()
            }
            "load" | "load_n" => {
                let (address, ty) = self.atomic_object(needed(self, 0)?)?;
                let order = self.order(argument(1))?;
                self.load_written(address, &ty, order, span)?
            }
            "store" | "store_n" => {
                let (address, ty) = self.atomic_object(needed(self, 0)?)?;
                let value = match gnu && rest == "store" {
                    true => {
                        let (place, found) = self.pointed(needed(self, 1)?)?;
                        let value = self.load(place, &found, span)?;
                        self.convert(value, &ty, span)?
                    }
                    false => self.rvalue_for(needed(self, 1)?, &ty)?,
                };
                let value = self.as_stored(value, &ty, span)?;
                let order = self.order(argument(2))?;
                self.with_order(order, OrderUse::Store, span, |order| Action::Store {
                    address: address.clone(),
                    value: value.expr.clone(),
                    order,
                })?;
                Value::nothing()
            }
            "exchange" if gnu => {
                let (address, ty) = self.atomic_object(needed(self, 0)?)?;
                let (place, found) = self.pointed(needed(self, 1)?)?;
                let value = self.load(place, &found, span)?;
                let value = self.convert(value, &ty, span)?;
                let order = self.order(argument(3))?;
                let old = self.exchange(address, &ty, value, order, true, span)?;
                let (place, found) = self.pointed(needed(self, 2)?)?;
                let old = self.convert(old, &found, span)?;
                self.store(&place, &found, old, Order::NonAtomic, span)?;
                Value::nothing()
            }
            "exchange" | "exchange_n" => {
                let (address, ty) = self.atomic_object(needed(self, 0)?)?;
                let value = self.rvalue_for(needed(self, 1)?, &ty)?;
                let order = self.order(argument(2))?;
                self.exchange(address, &ty, value, order, wanted, span)?
            }
            "compare_exchange_strong" | "compare_exchange_weak" => {
                let order = self.order(argument(3))?;
                let failure = match argument(4) {
                    Some(failure) => Some(self.order(Some(failure))?),
                    None => None,
                };
                let weak = rest.ends_with("weak");
                let (object, expected, desired) =
                    (needed(self, 0)?, needed(self, 1)?, needed(self, 2)?);
                self.compare_exchange(object, expected, desired, false, order, failure, weak, span)?
            }
            "compare_exchange_n" | "compare_exchange" => {
                let weak = self.rvalue(needed(self, 3)?)?;
                let weak = !matches!(weak.expr, LangExpr::Const(0));
                let order = self.order(argument(4))?;
                let failure = self.order(argument(5))?;
                let (object, expected, desired) =
                    (needed(self, 0)?, needed(self, 1)?, needed(self, 2)?);
                let through = rest == "compare_exchange";
                let failure = Some(failure);
                self.compare_exchange(
                    object, expected, desired, through, order, failure, weak, span,
                )?
            }
            "flag_test_and_set" | "test_and_set" => {
                let (address, ty) = self.atomic(needed(self, 0)?)?;
                let order = self.order(argument(1))?;
                let value = self.exchange(address, &ty, Value::int(1), order, true, span)?;
                self.convert(value, &Type::new(TypeKind::Bool), span)?
            }
            "flag_clear" | "clear" => {
                let (address, _) = self.atomic(needed(self, 0)?)?;
                let order = self.order(argument(1))?;
                self.with_order(order, OrderUse::Store, span, |order| Action::Store {
                    address: address.clone(),
                    value: LangExpr::Const(0),
                    order,
                })?;
                Value::nothing()
            }
            _ => {
                let (op, old) = match (rest.strip_prefix("fetch_"), rest.strip_suffix("_fetch")) {
                    (Some(op), _) => (op, true),
                    (None, Some(op)) if gnu => (op, false),
                    _ => return Ok(None),
                };
                let Some(op) = operator(op) else {
                    return Ok(None);
                };
                let (address, ty) = self.atomic(needed(self, 0)?)?;
                let operand = self.rvalue(needed(self, 1)?)?;
                let order = self.order(argument(2))?;
                let (before, after) =
                    self.fetch_written(op, address, &ty, operand, order, !gnu, span)?;
                if old { before } else { after }
            }
        };
        Ok(Some(value))
    }

    fn load_written(
        &mut self,
        address: ValueExpr,
        ty: &Type,
        order: Written,
        span: Span,
    ) -> Done<Value> {
        let stored = self.stored_type(ty, span)?;
        let to = self.temporary(&stored, span);
        self.with_order(order, OrderUse::Load, span, |order| Action::Load {
            to,
            address: address.clone(),
            order,
        })?;
        let read = Value {
            expr: LangExpr::Atom(Atom::Local(to)),
            ty: stored.plain(),
        };
        self.as_read(read, ty, span)
    }

    fn exchange(
        &mut self,
        address: ValueExpr,
        ty: &Type,
        value: Value,
        order: Written,
        wanted: bool,
        span: Span,
    ) -> Done<Value> {
        let value = self.as_stored(value, ty, span)?;
        let stored = self.stored_type(ty, span)?;
        let to = wanted.then(|| self.temporary(&stored, span));
        self.with_order(order, OrderUse::Both, span, |order| Action::Exchange {
            to,
            address: address.clone(),
            value: value.expr.clone(),
            order,
        })?;
        let Some(to) = to else {
            return Ok(Value::nothing());
        };
        let read = Value {
            expr: LangExpr::Atom(Atom::Local(to)),
            ty: stored.plain(),
        };
        self.as_read(read, ty, span)
    }

    /// GNU C's old operations: all of them full barriers, but for the two of a lock.
    fn sync_builtin(&mut self, name: &str, arguments: &[Expr], span: Span) -> Done<Option<Value>> {
        if name == "synchronize" {
            self.emit(Action::Fence(Order::SeqCst), span);
            return Ok(Some(Value::nothing()));
        }
        let (address, ty) = self.atomic(self.argument(arguments, 0, span)?)?;
        let value = match name {
            "lock_test_and_set" => {
                let value = self.rvalue_for(self.argument(arguments, 1, span)?, &ty)?;
                let order = Written::Known(Order::Acquire);
                self.exchange(address, &ty, value, order, true, span)?
            }
            "lock_release" => {
                let store = Action::Store {
                    address,
                    value: LangExpr::Const(0),
                    order: Order::Release,
                };
                self.emit(store, span);
                Value::nothing()
            }
            "bool_compare_and_swap" | "val_compare_and_swap" => {
                let expected = self.rvalue_for(self.argument(arguments, 1, span)?, &ty)?;
                let desired = self.rvalue_for(self.argument(arguments, 2, span)?, &ty)?;
                let order = Written::Known(Order::SeqCst);
                let (old, success) =
                    self.exchange_if(address, &ty, expected, desired, order, None, false, span)?;
                match name == "bool_compare_and_swap" {
                    true => Value {
                        expr: LangExpr::Atom(Atom::Local(success)),
                        ty: Type::new(TypeKind::Bool),
                    },
                    false => Value {
                        expr: LangExpr::Atom(Atom::Local(old)),
                        ty: ty.plain(),
                    },
                }
            }
            _ => {
                let (op, old) = match (
                    name.strip_prefix("fetch_and_"),
                    name.strip_suffix("_and_fetch"),
                ) {
                    (Some(op), _) => (op, true),
                    (None, Some(op)) => (op, false),
                    _ => return Ok(None),
                };
                let Some(op) = operator(op) else {
                    return Ok(None);
                };
                let operand = self.rvalue(self.argument(arguments, 1, span)?)?;
                let order = Order::SeqCst;
                let (before, after) = self.fetch(op, address, &ty, operand, order, false, span)?;
                if old { before } else { after }
            }
        };
        Ok(Some(value))
    }

    /// What our own headers are written with.
    fn own_builtin(&mut self, name: &str, arguments: &[Expr], span: Span) -> Done<Option<Value>> {
        if name == "assert" {
            return Ok(None);
        }
        let object = self.argument(arguments, 0, span)?;
        let second = || self.argument(arguments, 1, span);
        let value = match name {
            "never" | "never_above" | "never_below" | "never_but" => {
                let (address, ty) = self.atomic(object)?;
                let value = self.rvalue_for(self.argument(arguments, 1, span)?, &ty)?;
                let relation = match name {
                    "never" => Relation::Equal,
                    "never_above" => Relation::Greater,
                    "never_below" => Relation::Less,
                    _ => Relation::NotEqual,
                };
                let never = Action::Never {
                    address,
                    relation,
                    value: value.expr,
                };
                self.emit(never, span);
                Value::nothing()
            }
            "not_recursive" => {
                let kind = self.rvalue(object)?;
                let plain = lower::binary(BinaryOp::Equal, kind.expr, LangExpr::Const(0));
                let message = "that a thread locks a mutex again which it holds is not followed";
                self.bound_unless(plain, message, span);
                Value::nothing()
            }
            "no_destructor" => {
                let destructor = self.rvalue(object)?;
                let none = lower::binary(BinaryOp::Equal, destructor.expr, LangExpr::Const(0));
                let message = "what a key's destructor does at the end of a thread is not followed";
                self.bound_unless(none, message, span);
                Value::nothing()
            }
            "wait_not" => {
                self.wait_with(object, Relation::NotEqual, second()?, Order::Acquire, span)?
            }
            "wait_above" => {
                self.wait_with(object, Relation::Greater, second()?, Order::Acquire, span)?
            }
            "wait_is" => {
                self.wait_with(object, Relation::Equal, second()?, Order::Acquire, span)?
            }
            "read" => {
                let (address, ty) = self.atomic(object)?;
                self.load_written(address, &ty, Written::Known(Order::Acquire), span)?
            }
            "init" => {
                let (address, ty) = self.atomic(object)?;
                let value = self.rvalue_for(self.argument(arguments, 1, span)?, &ty)?;
                self.store(&Place::Memory(address), &ty, value, Order::NonAtomic, span)?;
                Value::nothing()
            }
            "put" => {
                let (address, ty) = self.atomic(object)?;
                let value = self.rvalue_for(self.argument(arguments, 1, span)?, &ty)?;
                self.store(&Place::Memory(address), &ty, value, Order::Release, span)?;
                Value::nothing()
            }
            "more" | "less" => {
                let (address, ty) = self.atomic(object)?;
                let op = match name {
                    "more" => BinaryOp::Add,
                    _ => BinaryOp::Subtract,
                };
                let one = Value::int(1);
                let order = Order::AcqRel;
                self.fetch(op, address, &ty, one, order, false, span)?.0
            }
            "take" => {
                let (address, ty) = self.atomic(object)?;
                let expected = self.rvalue_for(self.argument(arguments, 1, span)?, &ty)?;
                let desired = self.rvalue_for(self.argument(arguments, 2, span)?, &ty)?;
                let take = Action::BlockingCompareExchange {
                    address,
                    expected: expected.expr,
                    desired: desired.expr,
                    order: Order::Acquire,
                };
                self.emit(take, span);
                Value::nothing()
            }
            "try" => {
                let (address, ty) = self.atomic(object)?;
                let expected = self.rvalue_for(self.argument(arguments, 1, span)?, &ty)?;
                let desired = self.rvalue_for(self.argument(arguments, 2, span)?, &ty)?;
                // A lock that is taken for reading is given back by one that succeeds: both ways.
                let order = Written::Known(Order::AcqRel);
                let failure = Some(Written::Known(Order::Relaxed));
                let (_, success) =
                    self.exchange_if(address, &ty, expected, desired, order, failure, false, span)?;
                Value {
                    expr: LangExpr::Atom(Atom::Local(success)),
                    ty: Type::int(32, true),
                }
            }
            "cmpxchg" => {
                let (address, ty) = self.atomic(object)?;
                let expected = self.rvalue_for(self.argument(arguments, 1, span)?, &ty)?;
                let desired = self.rvalue_for(self.argument(arguments, 2, span)?, &ty)?;
                let order = self.order(arguments.get(3))?;
                let failure = Some(Written::Known(Order::Relaxed));
                let (old, _) =
                    self.exchange_if(address, &ty, expected, desired, order, failure, false, span)?;
                Value {
                    expr: LangExpr::Atom(Atom::Local(old)),
                    ty: ty.plain(),
                }
            }
            _ => return Ok(None),
        };
        Ok(Some(value))
    }
}

/// What an order is for: not every operation can have each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OrderUse {
    Load,
    Store,
    /// A read-modify-write, or a fence.
    Both,
}

impl OrderUse {
    fn allows(self, order: Order) -> bool {
        match self {
            OrderUse::Load => !matches!(order, Order::Release | Order::AcqRel),
            OrderUse::Store => !matches!(order, Order::Acquire | Order::AcqRel),
            OrderUse::Both => true,
        }
    }

    fn message(self) -> &'static str {
        match self {
            OrderUse::Load => "a load can be relaxed, acquire or seq_cst only",
            OrderUse::Store => "a store can be relaxed, release or seq_cst only",
            OrderUse::Both => "this order is not possible here",
        }
    }
}

/// An order as it is written.
#[derive(Clone, Debug)]
enum Written {
    Known(Order),
    /// A parameter, say: its number in C.
    Computed(ValueExpr),
}
