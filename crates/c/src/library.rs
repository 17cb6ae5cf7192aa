//! Functions of libraries and compilers that only compute, and those that wait for what they read.

use crate::ast::*;
use crate::body::Body;
use crate::types::{Done, fail};
use crate::value::Value;
use palisade_lang::{BinaryOp, Expr as LangExpr, Order, Relation, Span};
use palisade_lower::{self as lower, Action, Atom, End, LocalId, ValueExpr};

/// What is known of a number only when the program runs.
const OF_THE_WORLD: &[&str] = &[
    "rand",
    "random",
    "rand_r",
    "atoi",
    "atol",
    "atoll",
    "strtol",
    "strtoul",
    "getpid",
    "sysconf",
    "get_nprocs",
];

impl Body<'_, '_> {
    /// Such a function; `None` where there is none of that name.
    pub fn library(&mut self, name: &str, arguments: &[Expr], span: Span) -> Done<Option<Value>> {
        if OF_THE_WORLD.contains(&name) {
            self.passed(arguments)?;
            return Ok(Some(self.nondeterministic("__VERIFIER_nondet_int", span)));
        }
        if name.starts_with("__VERIFIER_xchg_await_") {
            return self.exchange_when(arguments, span).map(Some);
        }
        if name.starts_with("__VERIFIER_load_await_") {
            let (address, ty) = self.atomic(self.argument(arguments, 0, span)?)?;
            let condition = self.argument(arguments, 1, span)?;
            let value = self.rvalue_for(self.argument(arguments, 2, span)?, &ty)?;
            let value = self.kept(value, span);
            let to = self.temporary(&ty, span);
            self.wait_for(condition, to, address, value, Order::SeqCst, span)?;
            return Ok(Some(Value {
                expr: LangExpr::Atom(Atom::Local(to)),
                ty: ty.plain(),
            }));
        }
        self.bits(name, arguments, span)
    }

    /// Waits for a value in the relation that Nidhugg writes as a number: 1 for greater, 2 for equal, 4 for less, 8 for signed numbers.
    fn wait_for(
        &mut self,
        condition: &Expr,
        to: LocalId,
        address: ValueExpr,
        value: Value,
        order: Order,
        span: Span,
    ) -> Done<()> {
        const RELATIONS: [(i64, Relation); 7] = [
            (2, Relation::Equal),
            (5, Relation::NotEqual),
            (13, Relation::NotEqual),
            (9, Relation::Greater),
            (11, Relation::GreaterEqual),
            (12, Relation::Less),
            (14, Relation::LessEqual),
        ];
        // It may be a parameter: the one that it is in each call is known when calls are inlined.
        let number = self.rvalue(condition)?.expr;
        let known = match &number {
            LangExpr::Const(number) => RELATIONS.iter().any(|(known, _)| known == number),
            _ => true,
        };
        if !known {
            return fail(condition.span, "this condition is not supported");
        }
        let after = self.block(span);
        for (known, relation) in RELATIONS {
            let (this, next) = (self.block(span), self.block(span));
            let is = lower::binary(BinaryOp::Equal, number.clone(), LangExpr::Const(known));
            self.finish(End::Branch(is, this, next), span);
            self.begin(this);
            let wait = Action::Wait {
                to: Some(to),
                address: address.clone(),
                relation,
                value: value.expr.clone(),
                order,
            };
            self.emit(wait, span);
            self.finish(End::Goto(after), span);
            self.begin(next);
        }
        self.emit(
            Action::Bound("a condition of this kind is not followed".to_owned()),
            span,
        );
        self.finish(End::Stop, span);
        self.begin(after);
        Ok(())
    }

    /// An exchange that waits until what it reads satisfies a condition.
    fn exchange_when(&mut self, arguments: &[Expr], span: Span) -> Done<Value> {
        let object = self.argument(arguments, 0, span)?;
        let (address, ty) = self.atomic(object)?;
        let desired = self.rvalue_for(self.argument(arguments, 1, span)?, &ty)?;
        let desired = self.kept(desired, span);
        let condition = self.argument(arguments, 2, span)?;
        let wanted = self.rvalue_for(self.argument(arguments, 3, span)?, &ty)?;
        let wanted = self.kept(wanted, span);
        let to = self.temporary(&ty, span);
        let found = LangExpr::Atom(Atom::Local(to));
        let (old, success) = (
            self.temporary(&ty, span),
            self.temporary(&Type::new(TypeKind::Bool), span),
        );
        let (again, after) = (self.block(span), self.block(span));
        self.goto_and_begin(again, span);
        self.wait_for(condition, to, address.clone(), wanted, Order::Relaxed, span)?;
        let exchange = Action::CompareExchange {
            old,
            success,
            address,
            expected: found.clone(),
            desired: desired.expr,
            order: Order::SeqCst,
            failure: Order::Relaxed,
            weak: false,
        };
        self.emit(exchange, span);
        let done = LangExpr::Atom(Atom::Local(success));
        self.finish(End::Branch(done, after, again), span);
        self.begin(after);
        Ok(Value {
            expr: found,
            ty: ty.plain(),
        })
    }

    /// What a compiler computes about the bits of a number.
    fn bits(&mut self, name: &str, arguments: &[Expr], span: Span) -> Done<Option<Value>> {
        let plain = name.strip_prefix("__builtin_").unwrap_or(name);
        let (what, wide) = match plain {
            "ffs" | "ffsl" | "ffsll" => ("ffs", plain.len() > 3),
            _ if plain == name => return Ok(None),
            "clz" | "clzl" | "clzll" => ("clz", plain.len() > 3),
            "ctz" | "ctzl" | "ctzll" => ("ctz", plain.len() > 3),
            "popcount" | "popcountl" | "popcountll" => ("popcount", plain.len() > 8),
            "parity" | "parityl" | "parityll" => ("parity", plain.len() > 6),
            _ => return Ok(None),
        };
        let bits = if wide { 64 } else { 32 };
        let argument = self.argument(arguments, 0, span)?;
        let number = self.rvalue_for(argument, &Type::int(bits, false))?;
        let number = self.register(number.expr, span);
        let zero = lower::binary(BinaryOp::Equal, number.clone(), LangExpr::Const(0));
        if matches!(what, "clz" | "ctz") {
            // C leaves that open.
            self.emit(Action::Assert(lower::not(zero.clone())), span);
        }
        // In halves, so that no sign is in the way.
        let half = |shift: i64| {
            let shifted =
                lower::binary(BinaryOp::ShiftRight, number.clone(), LangExpr::Const(shift));
            lower::binary(BinaryOp::BitAnd, shifted, LangExpr::Const(0xffff_ffff))
        };
        let low = self.register(half(0), span);
        let high = match wide {
            true => self.register(half(32), span),
            false => LangExpr::Const(0),
        };
        let add = |a, b| lower::binary(BinaryOp::Add, a, b);
        let is_zero = |e: &ValueExpr| lower::binary(BinaryOp::Equal, e.clone(), LangExpr::Const(0));
        let times = |a, b| lower::binary(BinaryOp::Multiply, a, b);
        let result = match what {
            "popcount" | "parity" => {
                let ones = add(self.ones(low, span), self.ones(high, span));
                match what {
                    "parity" => lower::binary(BinaryOp::BitAnd, ones, LangExpr::Const(1)),
                    _ => ones,
                }
            }
            "clz" => {
                let (in_low, in_high) = (self.leading(low, span), self.leading(high.clone(), span));
                match wide {
                    true => add(in_high, times(is_zero(&high), in_low)),
                    false => in_low,
                }
            }
            _ => {
                let (in_low, in_high) =
                    (self.trailing(low.clone(), span), self.trailing(high, span));
                let count = match wide {
                    true => add(in_low, times(is_zero(&low), in_high)),
                    false => in_low,
                };
                match what {
                    "ffs" => times(lower::not(zero), add(count, LangExpr::Const(1))),
                    _ => count,
                }
            }
        };
        let expr = self.register(result, span);
        let ty = Type::int(32, true);
        Ok(Some(Value { expr, ty }))
    }

    /// A register with this value, so that it is computed once.
    fn register(&mut self, expr: ValueExpr, span: Span) -> ValueExpr {
        let ty = Type::int(64, true);
        self.kept(Value { expr, ty }, span).expr
    }

    /// How many bits of a number of 32 bits are set: first of each two, then of each four, and so on.
    fn ones(&mut self, number: ValueExpr, span: Span) -> ValueExpr {
        let mut number = number;
        for (shift, mask) in [
            (1, 0x5555_5555),
            (2, 0x3333_3333),
            (4, 0x0f0f_0f0f),
            (8, 0x00ff_00ff),
            (16, 0x0000_ffff),
        ] {
            let masked = |e| lower::binary(BinaryOp::BitAnd, e, LangExpr::Const(mask));
            let shifted =
                lower::binary(BinaryOp::ShiftRight, number.clone(), LangExpr::Const(shift));
            let sum = lower::binary(BinaryOp::Add, masked(number), masked(shifted));
            number = self.register(sum, span);
        }
        number
    }

    /// How many bits below the lowest that is set; 32 where none is.
    fn trailing(&mut self, number: ValueExpr, span: Span) -> ValueExpr {
        let minus = lower::binary(BinaryOp::Subtract, LangExpr::Const(0), number.clone());
        let lowest = lower::binary(BinaryOp::BitAnd, number, minus);
        let below = lower::binary(BinaryOp::Subtract, lowest, LangExpr::Const(1));
        let below = lower::binary(BinaryOp::BitAnd, below, LangExpr::Const(0xffff_ffff));
        let below = self.register(below, span);
        self.ones(below, span)
    }

    /// How many bits above the highest that is set; 32 where none is.
    fn leading(&mut self, number: ValueExpr, span: Span) -> ValueExpr {
        let mut number = number;
        for shift in [1, 2, 4, 8, 16] {
            let shifted =
                lower::binary(BinaryOp::ShiftRight, number.clone(), LangExpr::Const(shift));
            number = self.register(lower::binary(BinaryOp::BitOr, number, shifted), span);
        }
        let ones = self.ones(number, span);
        lower::binary(BinaryOp::Subtract, LangExpr::Const(32), ones)
    }

    /// Waits until an atomic object holds a value in this relation.
    pub fn wait_with(
        &mut self,
        pointer: &Expr,
        relation: Relation,
        value: &Expr,
        order: Order,
        span: Span,
    ) -> Done<Value> {
        let (address, ty) = self.atomic(pointer)?;
        let value = self.rvalue_for(value, &ty)?;
        let to: LocalId = self.temporary(&ty, span);
        let wait = Action::Wait {
            to: Some(to),
            address,
            relation,
            value: value.expr,
            order,
        };
        self.emit(wait, span);
        Ok(Value {
            expr: LangExpr::Atom(Atom::Local(to)),
            ty: ty.plain(),
        })
    }
}
