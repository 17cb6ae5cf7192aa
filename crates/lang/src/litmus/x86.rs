//! The machine code of X86 and X86_64: a table with a column for each thread.

use std::collections::HashMap;

use super::{Dialect, Failed, Outcome, Test, register_of, set_registers};
use crate::build::ThreadBuilder;
use crate::expr::{BinaryOp, Expr, UnaryOp, Value};
use crate::lex::{Errors, Kind, Token, did_you_mean, quote, with_help};
use crate::program::{
    Address, Op, Order, PlaceKind, PointId, RegisterExpr, RegisterId, RmwAction, ThreadId,
};
use crate::source::{Diagnostic, Span};

/// Where the table ends.
const AFTER_TABLE: [&str; 6] = ["exists", "~", "forall", "locations", "filter", "not"];

/// Reads the table; returns where the condition is.
pub(super) fn read(test: &mut Test<'_>, body: Span, errors: &mut Errors) -> Span {
    let text = test.text;
    let mut at = body.start as usize;
    let mut columns: Vec<Column> = Vec::new();
    loop {
        let rest = &text[at..];
        let skipped = rest.len() - rest.trim_start().len();
        let row_start = at + skipped;
        let rest = &text[row_start..];
        let is_after = AFTER_TABLE.iter().any(|word| {
            let follows = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
            rest.strip_prefix(word)
                .is_some_and(|r| *word == "~" || follows(r))
        });
        if rest.is_empty() || is_after {
            at = row_start;
            break;
        }
        let length = rest.find(';').unwrap_or(rest.len());
        let row = Span::new(row_start, row_start + length);
        at = (row_start + length + 1).min(text.len());
        let cells = cells(text, row);
        if columns.is_empty() {
            for (number, cell) in cells.iter().enumerate() {
                let name = text[cell.start as usize..cell.end as usize].trim();
                let name = name.split(':').next().unwrap_or("").trim();
                let id = ThreadId(number as u32);
                let mut builder = ThreadBuilder::new(id, name, *cell);
                let begin = builder.initial();
                let at = set_registers(test, number, &mut builder, begin);
                columns.push(Column::new(test.dialect, builder, at));
            }
            continue;
        }
        if cells.len() > columns.len() {
            let message = "this row has more columns than there are threads";
            errors.error(Diagnostic::error(cells[columns.len()], message));
        }
        for (column, cell) in columns.iter_mut().zip(cells) {
            let _ = column.cell(test, cell, errors);
        }
    }
    for column in columns {
        let builder = column.finish(errors);
        test.threads.push(builder);
    }
    Span::new(at, body.end as usize)
}

fn cells(text: &str, row: Span) -> Vec<Span> {
    let mut found = Vec::new();
    let mut start = row.start as usize;
    for part in text[row.start as usize..row.end as usize].split('|') {
        let lead = part.len() - part.trim_start().len();
        let begin = start + lead;
        found.push(Span::new(begin, begin + part.trim().len()));
        start += part.len() + 1;
    }
    found
}

/// A register in full, as conditions name it; `None` for what is no register.
pub(super) fn full_register(name: &str, dialect: Dialect) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    let letters = ["ax", "bx", "cx", "dx"];
    let others = ["si", "di", "bp", "sp"];
    let base = lower.strip_prefix(['e', 'r']).unwrap_or(&lower);
    let full = if letters.contains(&base) || others.contains(&base) {
        base.to_string()
    } else if let Some(letter) = lower.strip_suffix(['l', 'h'])
        && letters.iter().any(|r| r.strip_suffix('x') == Some(letter))
    {
        format!("{letter}x")
    } else if let Some(number) = lower.strip_prefix('r') {
        let number = number.trim_end_matches(['d', 'w', 'b']);
        let is_numbered = number.parse::<u32>().is_ok_and(|n| (8..16).contains(&n));
        if !is_numbered && number != "ip" {
            return None;
        }
        return Some(format!("r{number}"));
    } else if ["cs", "ds", "es", "fs", "gs", "ss", "eip"].contains(&lower.as_str()) {
        return Some(lower);
    } else {
        return None;
    };
    Some(match dialect {
        Dialect::Intel => format!("E{}", full.to_ascii_uppercase()),
        _ => format!("r{full}"),
    })
}

/// One thread's code so far.
struct Column {
    dialect: Dialect,
    builder: ThreadBuilder,
    at: PointId,
    labels: HashMap<String, PointId>,
    jumps: Vec<(PointId, Op, String, Span)>,
    /// The label that stands before the next instruction.
    label: Option<String>,
    /// What was compared last: the flags stand for the relation between these two.
    compared: Option<(RegisterId, RegisterId)>,
    scratch: Option<RegisterId>,
}

/// An operand of an instruction.
#[derive(Clone)]
enum Operand {
    Value(Value),
    Register(RegisterId),
    Memory(Address<RegisterId>),
}

impl Column {
    fn new(dialect: Dialect, builder: ThreadBuilder, at: PointId) -> Self {
        Column {
            dialect,
            builder,
            at,
            labels: HashMap::new(),
            jumps: Vec::new(),
            label: None,
            compared: None,
            scratch: None,
        }
    }

    fn finish(mut self, errors: &mut Errors) -> ThreadBuilder {
        for (from, op, label, span) in std::mem::take(&mut self.jumps) {
            match self.labels.get(&label) {
                Some(to) => self.builder.edge(from, *to, op, span),
                None => errors.error(with_help(
                    Diagnostic::error(span, format!("there is no label {}", quote(&label)))
                        .label("this goes nowhere"),
                    did_you_mean(&label, self.labels.keys().map(String::as_str)),
                )),
            }
        }
        self.builder
    }

    /// One cell: labels, then perhaps an instruction.
    fn cell(&mut self, test: &mut Test<'_>, mut cell: Span, errors: &mut Errors) -> Outcome<()> {
        let text = test.text;
        loop {
            let content = &text[cell.start as usize..cell.end as usize];
            if content.is_empty() {
                return Ok(());
            }
            let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
            let name_length = content.find(|c: char| !is_part(c)).unwrap_or(content.len());
            let behind = content[name_length..].trim_start();
            if name_length == 0 || !behind.starts_with(':') {
                break;
            }
            let name = &content[..name_length];
            let span = Span::new(cell.start as usize, cell.start as usize + name_length);
            if self.labels.insert(name.to_string(), self.at).is_some() {
                let message = format!("there are two labels {}", quote(name));
                errors.error(Diagnostic::error(span, message).label("the second one"));
            }
            self.builder.label(name, self.at, span);
            self.label = Some(name.to_string());
            let rest = behind[1..].trim_start();
            cell.start = cell.end - rest.len() as u32;
        }
        let label = self.label.take();
        let kind = PlaceKind::BeforeStatement;
        self.builder
            .place(&mut test.places, self.at, kind, label.as_deref(), cell);
        self.instruction(test, cell, errors)
    }

    fn instruction(&mut self, test: &mut Test<'_>, span: Span, errors: &mut Errors) -> Outcome<()> {
        let text = &test.text[span.start as usize..span.end as usize];
        let (first, rest) = split_word(text);
        let mut mnemonic = first.to_ascii_lowercase();
        let mut operands_text = rest;
        let locked = mnemonic == "lock";
        if locked {
            let (second, rest) = split_word(rest);
            mnemonic = second.to_ascii_lowercase();
            operands_text = rest;
        }
        let (name, size) = plain_mnemonic(&mnemonic);
        if matches!(name, "nop" | "endbr64" | "pause") {
            self.step(Op::Skip, span);
            return Ok(());
        }
        if let Some(op) = fence(name) {
            self.step(op, span);
            return Ok(());
        }
        if name == "ret" {
            let end = self.builder.point(span);
            self.builder.edge(self.at, end, Op::Skip, span);
            self.at = self.builder.point(span);
            return Ok(());
        }
        if name.starts_with('j') {
            return self.jump(name, operands_text.trim(), span, errors);
        }
        let offset = span.end as usize - operands_text.len();
        let mut operands = Vec::new();
        for (start, operand) in split_operands(operands_text) {
            let at = Span::new(offset + start, offset + start + operand.len());
            operands.push(self.operand(test, operand, at, size, errors)?);
        }
        // AT&T names the source first; from here on the destination is first.
        if test.dialect == Dialect::Att {
            operands.reverse();
        }
        if self.execute(name, locked, &operands, span).is_some() {
            return Ok(());
        }
        let known = [
            "mov", "xchg", "mfence", "sfence", "lfence", "inc", "dec", "add", "sub", "and", "or",
            "xor", "neg", "not", "shl", "shr", "sar", "cmp", "test", "xadd", "cmpxchg", "nop",
            "ret", "jmp", "je", "jne",
        ];
        let (message, help) = match known.contains(&name) {
            true => (
                format!(
                    "this form of the instruction {} is not supported",
                    quote(&mnemonic)
                ),
                None,
            ),
            false => (
                format!("the instruction {} is not supported", quote(&mnemonic)),
                did_you_mean(name, known.into_iter()),
            ),
        };
        let error = Diagnostic::error(span, message).label("cannot be read");
        errors.error(with_help(error, help));
        Err(Failed)
    }

    /// Carries out an instruction; `None` where it is not known with these operands.
    fn execute(
        &mut self,
        name: &str,
        locked: bool,
        operands: &[Operand],
        span: Span,
    ) -> Option<()> {
        match (name, operands) {
            ("mov", [Operand::Register(to), Operand::Memory(from)]) => {
                let op = Op::Load {
                    register: *to,
                    address: from.clone(),
                    order: Order::Acquire,
                };
                self.step(op, span);
            }
            ("mov", [Operand::Register(to), from]) => {
                self.step(Op::Assign(*to, value(from)?), span);
            }
            ("mov", [Operand::Memory(to), from]) => {
                let op = Op::Store {
                    address: to.clone(),
                    value: value(from)?,
                    order: Order::Release,
                };
                self.step(op, span);
            }
            // An exchange with memory is locked, said or not.
            ("xchg", [Operand::Memory(address), Operand::Register(register)])
            | ("xchg", [Operand::Register(register), Operand::Memory(address)]) => {
                let action = RmwAction::Exchange(Expr::Atom(*register));
                self.rmw(Some(*register), address, action, span);
            }
            ("xchg", [Operand::Register(a), Operand::Register(b)]) => {
                let scratch = self.scratch(span);
                self.step(Op::Assign(scratch, Expr::Atom(*a)), span);
                self.step(Op::Assign(*a, Expr::Atom(*b)), span);
                self.step(Op::Assign(*b, Expr::Atom(scratch)), span);
            }
            ("inc" | "dec", [target]) => {
                let op = if name == "inc" {
                    BinaryOp::Add
                } else {
                    BinaryOp::Subtract
                };
                self.modify(target, op, Expr::Const(1), locked, span);
            }
            ("neg", [Operand::Register(r)]) => {
                let value = Expr::unary(UnaryOp::Negate, Expr::Atom(*r));
                self.step(Op::Assign(*r, value), span);
                self.compare(Expr::Atom(*r), Expr::Const(0), span);
            }
            ("not", [Operand::Register(r)]) => {
                let value = Expr::unary(UnaryOp::Complement, Expr::Atom(*r));
                self.step(Op::Assign(*r, value), span);
            }
            (
                "add" | "sub" | "and" | "or" | "xor" | "shl" | "sal" | "shr" | "sar",
                [target, by],
            ) => {
                let op = match name {
                    "add" => BinaryOp::Add,
                    "sub" => BinaryOp::Subtract,
                    "and" => BinaryOp::BitAnd,
                    "or" => BinaryOp::BitOr,
                    "xor" => BinaryOp::BitXor,
                    "shl" | "sal" => BinaryOp::ShiftLeft,
                    _ => BinaryOp::ShiftRight,
                };
                let by = self.loaded(by, span);
                self.modify(target, op, by, locked, span);
            }
            ("xadd", [Operand::Memory(address), Operand::Register(register)])
            | ("xadd", [Operand::Register(register), Operand::Memory(address)]) => {
                let sum = Expr::Atom(*register);
                if locked {
                    let action = RmwAction::Fetch(BinaryOp::Add, sum);
                    self.rmw(Some(*register), address, action, span);
                } else {
                    let scratch = self.load(address, span);
                    let sum = Expr::binary(BinaryOp::Add, Expr::Atom(scratch), sum);
                    self.store(address, sum, span);
                    self.step(Op::Assign(*register, Expr::Atom(scratch)), span);
                }
            }
            // Memory is the destination wherever it is written: herd's own tests have it on either side.
            ("cmpxchg", [Operand::Memory(address), Operand::Register(desired)])
            | ("cmpxchg", [Operand::Register(desired), Operand::Memory(address)])
                if locked =>
            {
                let desired = Expr::Atom(*desired);
                let accumulator = self.accumulator(span);
                let scratch = self.scratch(span);
                let action = RmwAction::CompareAndSwap {
                    expected: Expr::Atom(accumulator),
                    desired,
                    failure: Order::Acquire,
                };
                self.rmw(Some(scratch), address, action, span);
                self.compare(Expr::Atom(scratch), Expr::Atom(accumulator), span);
                self.step(Op::Assign(accumulator, Expr::Atom(scratch)), span);
            }
            ("cmp", [left, right]) => {
                let left = self.loaded(left, span);
                let right = self.loaded_second(right, span);
                self.compare(left, right, span);
            }
            ("test", [left, right]) => {
                let left = self.loaded(left, span);
                let right = self.loaded_second(right, span);
                let both = Expr::binary(BinaryOp::BitAnd, left, right);
                self.compare(both, Expr::Const(0), span);
            }
            _ => return None,
        }
        Some(())
    }

    fn jump(&mut self, name: &str, label: &str, span: Span, errors: &mut Errors) -> Outcome<()> {
        let relation = match name {
            "jmp" => {
                let label = label.to_string();
                self.jumps.push((self.at, Op::Skip, label, span));
                self.at = self.builder.point(span);
                return Ok(());
            }
            "je" | "jz" => BinaryOp::Equal,
            "jne" | "jnz" => BinaryOp::NotEqual,
            "jl" | "jnge" | "jb" | "jnae" | "js" => BinaryOp::Less,
            "jle" | "jng" | "jbe" | "jna" => BinaryOp::LessEqual,
            "jg" | "jnle" | "ja" | "jnbe" => BinaryOp::Greater,
            "jge" | "jnl" | "jae" | "jnb" | "jns" => BinaryOp::GreaterEqual,
            _ => {
                let message = format!("the instruction {} is not supported", quote(name));
                errors.error(Diagnostic::error(span, message).label("cannot be read"));
                return Err(Failed);
            }
        };
        let (left, right) = self.flags(span);
        let condition = Expr::binary(relation, Expr::Atom(left), Expr::Atom(right));
        let otherwise = Expr::unary(UnaryOp::Not, condition.clone());
        let from = self.at;
        self.at = self.builder.step(from, Op::Assume(otherwise), span);
        let label = label.to_string();
        self.jumps.push((from, Op::Assume(condition), label, span));
        Ok(())
    }

    /// `target = target OP by`. Without `lock`, memory is read and written in two steps.
    fn modify(
        &mut self,
        target: &Operand,
        op: BinaryOp,
        by: RegisterExpr,
        locked: bool,
        span: Span,
    ) {
        match target {
            Operand::Register(register) => {
                let value = Expr::binary(op, Expr::Atom(*register), by);
                self.step(Op::Assign(*register, value), span);
                self.compare(Expr::Atom(*register), Expr::Const(0), span);
            }
            Operand::Memory(address) if locked => {
                let scratch = self.scratch(span);
                let action = RmwAction::Fetch(op, by.clone());
                self.rmw(Some(scratch), address, action, span);
                let value = Expr::binary(op, Expr::Atom(scratch), by);
                self.compare(value, Expr::Const(0), span);
            }
            Operand::Memory(address) => {
                let scratch = self.builder.register(None, span);
                let op_load = Op::Load {
                    register: scratch,
                    address: address.clone(),
                    order: Order::Acquire,
                };
                self.step(op_load, span);
                let value = Expr::binary(op, Expr::Atom(scratch), by);
                self.store(address, value.clone(), span);
                self.compare(value, Expr::Const(0), span);
            }
            Operand::Value(_) => {}
        }
    }

    fn step(&mut self, op: Op, span: Span) {
        self.at = self.builder.step(self.at, op, span);
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

    fn load(&mut self, address: &Address<RegisterId>, span: Span) -> RegisterId {
        let register = self.scratch(span);
        let op = Op::Load {
            register,
            address: address.clone(),
            order: Order::Acquire,
        };
        self.step(op, span);
        register
    }

    fn store(&mut self, address: &Address<RegisterId>, value: RegisterExpr, span: Span) {
        let op = Op::Store {
            address: address.clone(),
            value,
            order: Order::Release,
        };
        self.step(op, span);
    }

    /// An operand's value, which is loaded first where it is in memory.
    fn loaded(&mut self, operand: &Operand, span: Span) -> RegisterExpr {
        match operand {
            Operand::Memory(address) => Expr::Atom(self.load(address, span)),
            Operand::Register(register) => Expr::Atom(*register),
            Operand::Value(value) => Expr::Const(*value),
        }
    }

    /// The same where the scratch register may be in use.
    fn loaded_second(&mut self, operand: &Operand, span: Span) -> RegisterExpr {
        match operand {
            Operand::Memory(address) => {
                let register = self.builder.register(None, span);
                let op = Op::Load {
                    register,
                    address: address.clone(),
                    order: Order::Acquire,
                };
                self.step(op, span);
                Expr::Atom(register)
            }
            other => self.loaded(other, span),
        }
    }

    fn scratch(&mut self, span: Span) -> RegisterId {
        *self
            .scratch
            .get_or_insert_with(|| self.builder.register(None, span))
    }

    fn flags(&mut self, span: Span) -> (RegisterId, RegisterId) {
        let builder = &mut self.builder;
        *self
            .compared
            .get_or_insert_with(|| (builder.register(None, span), builder.register(None, span)))
    }

    fn compare(&mut self, left: RegisterExpr, right: RegisterExpr, span: Span) {
        let (first, second) = self.flags(span);
        self.step(Op::Assign(first, left), span);
        self.step(Op::Assign(second, right), span);
    }

    /// `cmpxchg` compares with the accumulator.
    fn accumulator(&mut self, span: Span) -> RegisterId {
        let name = if self.dialect == Dialect::Intel {
            "EAX"
        } else {
            "rax"
        };
        let known = self.builder.register_named(name);
        known.unwrap_or_else(|| self.builder.register(Some(name), span))
    }

    fn operand(
        &mut self,
        test: &mut Test<'_>,
        text: &str,
        span: Span,
        size: Value,
        errors: &mut Errors,
    ) -> Outcome<Operand> {
        let refuse = |errors: &mut Errors| {
            let message = format!("{} is no operand that can be read", quote(text));
            errors.error(
                Diagnostic::error(span, message).label("expected a value, register or location"),
            );
            Failed
        };
        let immediate = text.strip_prefix('$').unwrap_or(text);
        if let Some(value) = number(immediate) {
            return Ok(Operand::Value(value));
        }
        if let Some(name) = text.strip_prefix('$') {
            if !is_name(name) {
                return Err(refuse(errors));
            }
            let id = test.memory.location(name, span);
            return Ok(Operand::Value(test.memory.address(id)));
        }
        let bare = text.strip_prefix('%').unwrap_or(text);
        if full_register(bare, test.dialect).is_some() && is_name(bare) {
            return Ok(Operand::Register(self.register(test, bare, span)));
        }
        // Segments do not matter.
        let memory = match bare.split_once(':') {
            Some((segment, rest)) if full_register(segment, test.dialect).is_some() => rest,
            _ => text,
        };
        let (before, inside) = match memory.split_once(['(', '[']) {
            Some((before, rest)) => (before.trim(), rest.trim_end_matches([')', ']'])),
            None if is_name(memory) => ("", memory),
            None => return Err(refuse(errors)),
        };
        let mut parts = inside.split(',').map(str::trim);
        let base = parts.next().unwrap_or("");
        let index = parts.next();
        let scale = parts.next().map_or(Some(1), number);
        let plain_base = base.strip_prefix('%').unwrap_or(base);
        let displacement = match before {
            "" => 0,
            _ => match number(before) {
                Some(number) => number,
                // `x(%rip)` is x.
                None if is_name(before) => {
                    let id = test.memory.location(before, span);
                    return Ok(Operand::Memory(Address::Direct(id)));
                }
                None => return Err(refuse(errors)),
            },
        };
        let is_register = full_register(plain_base, test.dialect).is_some();
        if !is_register {
            if !is_name(base) || index.is_some() || displacement != 0 {
                return Err(refuse(errors));
            }
            let id = test.memory.location(base, span);
            return Ok(Operand::Memory(Address::Direct(id)));
        }
        // Addresses count locations, not bytes.
        let (Some(scale), 0) = (scale, displacement % size) else {
            return Err(refuse(errors));
        };
        let mut pointer = Expr::Atom(self.register(test, plain_base, span));
        if let Some(index) = index {
            let index = index.strip_prefix('%').unwrap_or(index);
            if full_register(index, test.dialect).is_none() || scale % size != 0 {
                return Err(refuse(errors));
            }
            let index = Expr::Atom(self.register(test, index, span));
            let index = Expr::binary(BinaryOp::Multiply, index, Expr::Const(scale / size));
            pointer = Expr::binary(BinaryOp::Add, pointer, index);
        }
        if displacement != 0 {
            let by = Expr::Const(displacement / size);
            pointer = Expr::binary(BinaryOp::Add, pointer, by);
        }
        Ok(Operand::Memory(Address::Pointer(pointer)))
    }

    fn register(&mut self, test: &Test<'_>, name: &str, span: Span) -> RegisterId {
        let token = Token {
            kind: Kind::Word,
            text: name,
            span,
        };
        register_of(&mut self.builder, test.dialect, token)
    }
}

fn value(operand: &Operand) -> Option<RegisterExpr> {
    match operand {
        Operand::Value(value) => Some(Expr::Const(*value)),
        Operand::Register(register) => Some(Expr::Atom(*register)),
        Operand::Memory(_) => None,
    }
}

fn fence(name: &str) -> Option<Op> {
    match name {
        "mfence" => Some(Op::Fence(Order::SeqCst)),
        "lfence" => Some(Op::Fence(Order::Acquire)),
        "sfence" => Some(Op::Fence(Order::Release)),
        _ => None,
    }
}

/// The instruction without the suffix that tells the size of its operands, and that size in bytes.
fn plain_mnemonic(mnemonic: &str) -> (&str, Value) {
    const SIZED: [&str; 18] = [
        "mov", "xchg", "inc", "dec", "add", "sub", "and", "or", "xor", "neg", "not", "shl", "sal",
        "shr", "sar", "cmp", "test", "xadd",
    ];
    if SIZED.contains(&mnemonic) || mnemonic == "cmpxchg" {
        return (mnemonic, 8);
    }
    for (suffix, size) in [('b', 1), ('w', 2), ('l', 4), ('q', 8)] {
        if let Some(plain) = mnemonic.strip_suffix(suffix)
            && (SIZED.contains(&plain) || ["cmpxchg", "nop", "ret"].contains(&plain))
        {
            return (plain, size);
        }
    }
    (mnemonic, 8)
}

fn split_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

/// Operands are separated by commas outside parentheses; each with where it begins.
fn split_operands(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut depth = 0;
    let mut start = 0;
    let mut add = |start: usize, end: usize| {
        let part = &text[start..end];
        let lead = part.len() - part.trim_start().len();
        if !part.trim().is_empty() {
            found.push((start + lead, part.trim()));
        }
    };
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth <= 0 => {
                add(start, at);
                start = at + 1;
            }
            _ => {}
        }
    }
    add(start, text.len());
    found
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '.')
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_.".contains(c))
}

fn number(text: &str) -> Option<Value> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let value = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => Value::from_str_radix(hex, 16).ok()?,
        None => digits.parse::<Value>().ok()?,
    };
    Some(if negative {
        value.wrapping_neg()
    } else {
        value
    })
}
