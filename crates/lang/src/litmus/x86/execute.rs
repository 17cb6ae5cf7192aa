//! What each instruction does.

use super::flags::{Computed, Kind, sign_extended, zero_extended};
use super::{Column, Instruction, Operand, Outcome};
use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::lex::Errors;
use crate::litmus::Failed;
use crate::program::{Address, Op, Order, RegisterExpr, RegisterId, RmwAction};
use crate::source::{Diagnostic, Span};

/// An operation with two operands that sets the flags.
#[derive(Clone, Copy)]
struct Arithmetic {
    kind: Kind,
    op: BinaryOp,
    keep_carry: bool,
}

impl Column {
    /// Carries out an instruction; `None` where it is not known with these operands.
    pub(super) fn execute(
        &mut self,
        instruction: &Instruction<'_>,
        operands: &[Operand],
        errors: &mut Errors,
    ) -> Outcome<Option<()>> {
        let (size, span) = (instruction.size, instruction.span);
        match (instruction.name, operands) {
            ("mov", [Operand::Register(to), Operand::Memory(from)]) => {
                self.load_to(*to, from, span);
            }
            ("mov", [Operand::Register(to), from]) => {
                if let Operand::Register(from) = from {
                    self.copies.push((*from, *to));
                }
                let value = self.loaded(from, size, span);
                self.step(Op::Assign(*to, value), span);
            }
            ("mov", [Operand::Memory(_), Operand::Memory(_)]) => return Ok(None),
            ("mov", [Operand::Memory(to), from]) => {
                let value = self.loaded(from, size, span);
                self.store(to, value, span);
            }
            // An exchange with memory is locked, said or not.
            ("xchg", [Operand::Memory(address), Operand::Register(register)])
            | ("xchg", [Operand::Register(register), Operand::Memory(address)]) => {
                let action = RmwAction::Exchange(self.read(*register, size));
                self.rmw(Some(*register), address, action, span);
            }
            ("xchg", [Operand::Register(a), Operand::Register(b)]) => {
                self.copies.extend([(*a, *b), (*b, *a)]);
                let scratch = self.scratch(span);
                self.step(Op::Assign(scratch, self.read(*a, size)), span);
                self.step(Op::Assign(*a, self.read(*b, size)), span);
                self.step(Op::Assign(*b, Expr::Atom(scratch)), span);
            }
            ("inc" | "dec", [target]) => {
                let (kind, op) = match instruction.name {
                    "inc" => (Kind::Sum, BinaryOp::Add),
                    _ => (Kind::Difference, BinaryOp::Subtract),
                };
                let arithmetic = Arithmetic {
                    kind,
                    op,
                    keep_carry: true,
                };
                return self.modify(instruction, arithmetic, target, Expr::Const(1), errors);
            }
            ("neg", [Operand::Register(r)]) => {
                self.computed.push((*r, span));
                let (left, right) = (Expr::Const(0), self.read(*r, size));
                let value = Expr::unary(UnaryOp::Negate, right.clone());
                let result = self.wrapped(value, size);
                self.flags_of(Kind::Difference, left, right, result.clone(), size, span);
                self.step(Op::Assign(*r, result), span);
            }
            ("not", [Operand::Register(r)]) => {
                self.computed.push((*r, span));
                let value = Expr::unary(UnaryOp::Complement, self.read(*r, size));
                let value = self.wrapped(value, size);
                self.step(Op::Assign(*r, value), span);
            }
            ("shl" | "sal" | "shr" | "sar", [target, Operand::Value(by)]) => {
                return self.shift(instruction, target, *by as u32, errors);
            }
            ("add" | "sub" | "and" | "or" | "xor", [target, by]) => {
                let (kind, op) = match instruction.name {
                    "add" => (Kind::Sum, BinaryOp::Add),
                    "sub" => (Kind::Difference, BinaryOp::Subtract),
                    "and" => (Kind::Logic, BinaryOp::BitAnd),
                    "or" => (Kind::Logic, BinaryOp::BitOr),
                    _ => (Kind::Logic, BinaryOp::BitXor),
                };
                if matches!((target, by), (Operand::Memory(_), Operand::Memory(_))) {
                    return Ok(None);
                }
                let by = self.loaded(by, size, span);
                let arithmetic = Arithmetic {
                    kind,
                    op,
                    keep_carry: false,
                };
                return self.modify(instruction, arithmetic, target, by, errors);
            }
            ("xadd", [Operand::Memory(address), Operand::Register(register)])
            | ("xadd", [Operand::Register(register), Operand::Memory(address)]) => {
                let by = match self.flags.any() {
                    // The register changes before the flags are set.
                    true => {
                        let by = self.builder.register(None, span);
                        self.step(Op::Assign(by, self.read(*register, size)), span);
                        Expr::Atom(by)
                    }
                    false => self.read(*register, size),
                };
                let arithmetic = Arithmetic {
                    kind: Kind::Sum,
                    op: BinaryOp::Add,
                    keep_carry: false,
                };
                self.computed.push((*register, span));
                let old = self.update(instruction, arithmetic, address, by.clone());
                let result = self.result(arithmetic, Expr::Atom(old), by.clone(), size);
                self.flags_of(Kind::Sum, Expr::Atom(old), by, result, size, span);
                self.step(Op::Assign(*register, Expr::Atom(old)), span);
            }
            // Memory is the destination wherever it is written: herd's own tests have it on either side.
            ("cmpxchg", [Operand::Memory(address), Operand::Register(desired)])
            | ("cmpxchg", [Operand::Register(desired), Operand::Memory(address)])
                if instruction.locked =>
            {
                self.compare_exchange(address, *desired, size, span);
            }
            ("cmp", [Operand::Memory(_), Operand::Memory(_)])
            | ("test", [Operand::Memory(_), Operand::Memory(_)]) => return Ok(None),
            ("cmp", [left, right]) => {
                let left = self.loaded(left, size, span);
                let right = self.loaded(right, size, span);
                self.compare(left, right, size, span);
            }
            ("test", [left, right]) => {
                let left = self.loaded(left, size, span);
                let right = self.loaded(right, size, span);
                let both = Expr::binary(BinaryOp::BitAnd, left.clone(), right.clone());
                self.flags_of(Kind::Logic, left, right, both, size, span);
            }
            _ => return Ok(None),
        }
        Ok(Some(()))
    }

    /// `target = target OP by`.
    fn modify(
        &mut self,
        instruction: &Instruction<'_>,
        arithmetic: Arithmetic,
        target: &Operand,
        by: RegisterExpr,
        errors: &mut Errors,
    ) -> Outcome<Option<()>> {
        let (size, span) = (instruction.size, instruction.span);
        let (left, register) = match target {
            Operand::Register(register) => {
                self.computed.push((*register, span));
                (self.read(*register, size), Some(*register))
            }
            Operand::Memory(address) => {
                let old = self.update(instruction, arithmetic, address, by.clone());
                (Expr::Atom(old), None)
            }
            Operand::Value(_) => return Ok(None),
        };
        let result = self.result(arithmetic, left.clone(), by.clone(), size);
        let computed = Computed {
            left,
            right: by,
            result: result.clone(),
            size,
        };
        if !self.set_flags(arithmetic.kind, arithmetic.keep_carry, &computed, span) {
            let message = "this leaves a flag undefined that a jump of this thread asks for";
            errors.error(Diagnostic::error(span, message).label("not modelled"));
            return Err(Failed);
        }
        if let Some(register) = register {
            self.step(Op::Assign(register, result), span);
        }
        Ok(Some(()))
    }

    fn shift(
        &mut self,
        instruction: &Instruction<'_>,
        target: &Operand,
        by: u32,
        errors: &mut Errors,
    ) -> Outcome<Option<()>> {
        let size = instruction.size;
        let by = by & if size == 8 { 63 } else { 31 };
        if by == 0 {
            // Nothing changes but the upper half of a register, which an operation of 32 bits clears.
            return Ok(match target {
                Operand::Register(register) => {
                    let value = self.read(*register, size);
                    self.step(Op::Assign(*register, value), instruction.span);
                    Some(())
                }
                _ => None,
            });
        }
        let (kind, op) = match instruction.name {
            "shr" => (Kind::ShiftRight(by), BinaryOp::ShiftRight),
            "sar" => (Kind::ShiftArithmetic(by), BinaryOp::ShiftRight),
            _ => (Kind::ShiftLeft(by), BinaryOp::ShiftLeft),
        };
        let arithmetic = Arithmetic {
            kind,
            op,
            keep_carry: false,
        };
        let by = Expr::Const(by.into());
        self.modify(instruction, arithmetic, target, by, errors)
    }

    /// The result of an operation, both operands being without a sign.
    fn result(
        &self,
        arithmetic: Arithmetic,
        left: RegisterExpr,
        right: RegisterExpr,
        size: u32,
    ) -> RegisterExpr {
        let plain = |left| Expr::binary(arithmetic.op, left, right.clone());
        if !self.exact {
            return plain(left);
        }
        match arithmetic.kind {
            Kind::Logic => plain(left),
            // The bits that an arithmetic shift of 64 bits would fill with the sign are cleared.
            Kind::ShiftRight(by) if size == 8 => {
                let mask = Expr::Const(((1u64 << (64 - by)) - 1) as i64);
                Expr::binary(BinaryOp::BitAnd, plain(left), mask)
            }
            Kind::ShiftRight(_) => plain(left),
            Kind::ShiftArithmetic(_) => zero_extended(plain(sign_extended(left, size)), size),
            Kind::Sum | Kind::Difference | Kind::ShiftLeft(_) => zero_extended(plain(left), size),
        }
    }

    /// Changes memory, in one step if the instruction is locked and in two otherwise; returns a register with the value before.
    fn update(
        &mut self,
        instruction: &Instruction<'_>,
        arithmetic: Arithmetic,
        address: &Address<RegisterId>,
        by: RegisterExpr,
    ) -> RegisterId {
        let (size, span) = (instruction.size, instruction.span);
        let old = self.builder.register(None, span);
        let result = self.result(arithmetic, Expr::Atom(old), by.clone(), size);
        let is_plain = result == Expr::binary(arithmetic.op, Expr::Atom(old), by.clone());
        if instruction.locked && is_plain {
            let action = RmwAction::Fetch(arithmetic.op, by);
            self.rmw(Some(old), address, action, span);
            return old;
        }
        if instruction.locked {
            // A read-modify-write knows no widths; a block that reads and writes one location is the same thing.
            let begin = self.builder.point_in_block(span);
            self.builder.edge(self.at, begin, Op::AtomicBegin, span);
            let loaded = self.builder.point_in_block(span);
            let stored = self.builder.point_in_block(span);
            self.builder.edge(begin, loaded, load(old, address), span);
            self.builder
                .edge(loaded, stored, store(address, result), span);
            self.at = self.builder.step(stored, Op::AtomicEnd, span);
            return old;
        }
        self.load_to(old, address, span);
        self.store(address, result, span);
        old
    }

    fn compare_exchange(
        &mut self,
        address: &Address<RegisterId>,
        desired: RegisterId,
        size: u32,
        span: Span,
    ) {
        let desired = self.read(desired, size);
        let accumulator = self.accumulator(span);
        let expected = self.read(accumulator, size);
        let found = self.scratch(span);
        let action = RmwAction::CompareAndSwap {
            expected: expected.clone(),
            desired,
            failure: Order::Acquire,
        };
        self.rmw(Some(found), address, action, span);
        self.compare(expected.clone(), Expr::Atom(found), size, span);
        if !self.exact {
            // Where it succeeds, the accumulator has this value already.
            self.step(Op::Assign(accumulator, Expr::Atom(found)), span);
            return;
        }
        // Only a failure writes the accumulator, and clears its upper half.
        let same = Expr::binary(BinaryOp::Equal, expected, Expr::Atom(found));
        let differs = Expr::unary(UnaryOp::Not, same.clone());
        let from = self.at;
        self.step(Op::Assume(differs), span);
        self.step(Op::Assign(accumulator, Expr::Atom(found)), span);
        self.builder.edge(from, self.at, Op::Assume(same), span);
    }

    fn compare(&mut self, left: RegisterExpr, right: RegisterExpr, size: u32, span: Span) {
        let difference = Expr::binary(BinaryOp::Subtract, left.clone(), right.clone());
        let result = self.wrapped(difference, size);
        self.flags_of(Kind::Difference, left, right, result, size, span);
    }

    /// Sets the flags of an operation that leaves none undefined.
    fn flags_of(
        &mut self,
        kind: Kind,
        left: RegisterExpr,
        right: RegisterExpr,
        result: RegisterExpr,
        size: u32,
        span: Span,
    ) {
        let computed = Computed {
            left,
            right,
            result,
            size,
        };
        let is_defined = self.set_flags(kind, false, &computed, span);
        debug_assert!(is_defined);
    }

    /// A register's value at this width, without a sign.
    fn read(&self, register: RegisterId, size: u32) -> RegisterExpr {
        self.wrapped(Expr::Atom(register), size)
    }

    fn wrapped(&self, value: RegisterExpr, size: u32) -> RegisterExpr {
        match self.exact {
            true => zero_extended(value, size),
            false => value,
        }
    }

    /// An operand's value, which is loaded first where it is in memory.
    fn loaded(&mut self, operand: &Operand, size: u32, span: Span) -> RegisterExpr {
        match operand {
            Operand::Memory(address) => {
                let register = self.builder.register(None, span);
                self.load_to(register, address, span);
                Expr::Atom(register)
            }
            Operand::Register(register) => self.read(*register, size),
            Operand::Value(value) => self.wrapped(Expr::Const(*value), size),
        }
    }

    fn load_to(&mut self, register: RegisterId, address: &Address<RegisterId>, span: Span) {
        self.step(load(register, address), span);
    }

    fn store(&mut self, address: &Address<RegisterId>, value: RegisterExpr, span: Span) {
        self.step(store(address, value), span);
    }

    fn rmw(
        &mut self,
        register: Option<RegisterId>,
        address: &Address<RegisterId>,
        action: RmwAction,
        span: Span,
    ) {
        let op = Op::Rmw {
            register,
            address: address.clone(),
            action,
            order: Order::AcqRel,
        };
        self.step(op, span);
    }
}

fn load(register: RegisterId, address: &Address<RegisterId>) -> Op {
    Op::Load {
        register,
        address: address.clone(),
        order: Order::Acquire,
    }
}

fn store(address: &Address<RegisterId>, value: RegisterExpr) -> Op {
    Op::Store {
        address: address.clone(),
        value,
        order: Order::Release,
    }
}
