//! The machine code of X86 and X86_64: a table with a column for each thread.

use std::collections::HashMap;

use super::{Dialect, Failed, Outcome, Test, register_of, set_registers};
use crate::build::ThreadBuilder;
use crate::expr::{BinaryOp, Expr, UnaryOp, Value};
use crate::lex::{Errors, Kind, Token, did_you_mean, quote, with_help};
use crate::program::{
    Address, LocationId, Op, Order, PlaceKind, PointId, RegisterExpr, RegisterId, ThreadId,
};
use crate::source::{Diagnostic, Span};

use flags::{Condition, Flags};

pub(super) use flags::sign_extended;

mod execute;
mod flags;
mod widths;

/// Where the table ends.
const AFTER_TABLE: [&str; 6] = ["exists", "~", "forall", "locations", "filter", "not"];

/// The instructions that are modelled, in some form at least.
const KNOWN: [&str; 27] = [
    "mov", "xchg", "mfence", "sfence", "lfence", "inc", "dec", "add", "sub", "and", "or", "xor",
    "neg", "not", "shl", "sal", "shr", "sar", "cmp", "test", "xadd", "cmpxchg", "nop", "ret",
    "jmp", "je", "jne",
];

/// Reads the table; returns where the condition is.
pub(super) fn read(test: &mut Test<'_>, body: Span, errors: &mut Errors) -> Span {
    let text = test.text;
    let (rows, end) = rows(text, body);
    let (names, rows) = match rows.split_first() {
        Some((names, rows)) => (names.as_slice(), rows),
        None => (&[][..], &[][..]),
    };
    for row in rows.iter().filter(|row| row.len() > names.len()) {
        let message = "this row has more columns than there are threads";
        errors.error(Diagnostic::error(row[names.len()], message));
    }
    refuse_parts_in_init(test, errors);
    test.exact = test.domain.size().is_none() && widths::matter(test, rows);
    let mut accesses = Vec::new();
    for (number, cell) in names.iter().enumerate() {
        let name = text[cell.start as usize..cell.end as usize].trim();
        let name = name.split(':').next().unwrap_or("").trim();
        let mut builder = ThreadBuilder::new(ThreadId(number as u32), name, *cell);
        let begin = builder.initial();
        let at = set_registers(test, number, &mut builder, begin);
        let mut column = Column::new(test, builder, at);
        let cells = || rows.iter().filter_map(|row| row.get(number).copied());
        column.flags = Flags::asked_for(cells().map(|cell| instruction_text(text, cell).1));
        for cell in cells() {
            let _ = column.cell(test, cell, errors);
        }
        let builder = column.finish(&mut accesses, errors);
        test.threads.push(builder);
    }
    widths::settle(test, &accesses, errors);
    Span::new(end, body.end as usize)
}

/// The cells of the table, row by row, and where the table ends.
fn rows(text: &str, body: Span) -> (Vec<Vec<Span>>, usize) {
    let mut at = body.start as usize;
    let mut rows = Vec::new();
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
            return (rows, row_start);
        }
        let length = rest.find(';').unwrap_or(rest.len());
        at = (row_start + length + 1).min(text.len());
        rows.push(cells(text, Span::new(row_start, row_start + length)));
    }
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
    Some(register_part(name, dialect)?.0)
}

/// The register in full of which `name` is a part, and the size of that part in bytes (0 for what no instruction computes with).
pub(super) fn register_part(name: &str, dialect: Dialect) -> Option<(String, u32)> {
    let lower = name.to_ascii_lowercase();
    let letters = ["ax", "bx", "cx", "dx"];
    let others = ["si", "di", "bp", "sp"];
    let (base, size) = match lower.as_bytes() {
        [b'e', _, _] => (&lower[1..], 4),
        [b'r', _, _] => (&lower[1..], 8),
        _ => (lower.as_str(), 2),
    };
    let (full, size) = if letters.contains(&base) || others.contains(&base) {
        (base.to_string(), size)
    } else if let Some(letter) = lower.strip_suffix(['l', 'h'])
        && letters.iter().any(|r| r.strip_suffix('x') == Some(letter))
    {
        (format!("{letter}x"), 1)
    } else if let Some(numbered) = lower.strip_prefix('r') {
        let number = numbered.trim_end_matches(['d', 'w', 'b']);
        let is_numbered = number.parse::<u32>().is_ok_and(|n| (8..16).contains(&n));
        if !is_numbered && number != "ip" {
            return None;
        }
        let size = match &numbered[number.len()..] {
            _ if !is_numbered => 0,
            "" => 8,
            "d" => 4,
            "w" => 2,
            _ => 1,
        };
        return Some((format!("r{number}"), size));
    } else if ["cs", "ds", "es", "fs", "gs", "ss", "eip"].contains(&lower.as_str()) {
        return Some((lower, 0));
    } else {
        return None;
    };
    let full = match dialect {
        Dialect::Intel => format!("E{}", full.to_ascii_uppercase()),
        _ => format!("r{full}"),
    };
    Some((full, size))
}

/// The value that the init section gives a register, taken to its width.
pub(super) fn initial(value: RegisterExpr, name: &str, dialect: Dialect) -> RegisterExpr {
    match (dialect, register_part(name, dialect)) {
        (Dialect::Att, Some((_, 8))) | (_, None) => value,
        _ => flags::zero_extended(value, 4),
    }
}

/// Says that a part of a register stands where only a whole one can.
pub(super) fn refuse_part(name: &str, span: Span, errors: &mut Errors) {
    let message = format!(
        "{} is a part of a register, and parts of 8 and 16 bits are not modelled",
        quote(name)
    );
    errors.error(Diagnostic::error(span, message).label("expected a register of 32 or 64 bits"));
}

fn refuse_parts_in_init(test: &Test<'_>, errors: &mut Errors) {
    for initial in &test.registers {
        let name = initial.register.text;
        if let Some((_, 1 | 2)) = register_part(name, test.dialect) {
            refuse_part(name, initial.register.span, errors);
        }
    }
}

/// One thread's code so far.
struct Column {
    dialect: Dialect,
    /// Whether operations wrap at their widths; otherwise no value of the test is large enough or below 0.
    exact: bool,
    builder: ThreadBuilder,
    at: PointId,
    labels: HashMap<String, PointId>,
    jumps: Vec<(PointId, Op, String, Span)>,
    /// Jumps that ask for flags that no instruction before them sets.
    flagless: Vec<Span>,
    /// The label that stands before the next instruction.
    label: Option<String>,
    flags: Flags,
    scratch: Option<RegisterId>,
    /// Accesses to memory, with their sizes.
    accesses: Vec<SizedAccess>,
    /// Registers that addresses are taken from.
    bases: Vec<RegisterId>,
    /// Registers that were computed, and copies from register to register (from, to).
    computed: Vec<(RegisterId, Span)>,
    copies: Vec<(RegisterId, RegisterId)>,
}

/// An access to memory: where, if that is written in the instruction, and how many bytes.
struct SizedAccess {
    location: Option<LocationId>,
    size: u32,
    span: Span,
}

/// An operand of an instruction.
#[derive(Clone)]
enum Operand {
    Value(Value),
    Register(RegisterId),
    Memory(Address<RegisterId>),
}

/// An instruction as it is carried out.
struct Instruction<'a> {
    name: &'a str,
    locked: bool,
    /// The bytes of its operands.
    size: u32,
    span: Span,
}

impl Column {
    fn new(test: &Test<'_>, builder: ThreadBuilder, at: PointId) -> Self {
        Column {
            dialect: test.dialect,
            exact: test.exact,
            builder,
            at,
            labels: HashMap::new(),
            jumps: Vec::new(),
            flagless: Vec::new(),
            label: None,
            flags: Flags::default(),
            scratch: None,
            accesses: Vec::new(),
            bases: Vec::new(),
            computed: Vec::new(),
            copies: Vec::new(),
        }
    }

    fn finish(mut self, accesses: &mut Vec<SizedAccess>, errors: &mut Errors) -> ThreadBuilder {
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
        for span in self.flagless {
            let message = "no instruction before this jump sets the flags that it asks for";
            errors.error(Diagnostic::error(span, message).label("the flags are unknown here"));
        }
        // Addresses are numbers of locations here and count bytes on a processor: only what is written in one operand can be translated.
        let mut addresses = self.bases;
        let mut done = 0;
        while let Some(&to) = addresses.get(done) {
            done += 1;
            for &(from, _) in self.copies.iter().filter(|copy| copy.1 == to) {
                if !addresses.contains(&from) {
                    addresses.push(from);
                }
            }
        }
        for (register, span) in self.computed {
            if addresses.contains(&register) {
                let message = "arithmetic on a register that holds an address is not modelled";
                errors.error(
                    Diagnostic::error(span, message)
                        .label("write the offset into the operand: `8(%rax)`, `(%rax,%rbx,8)`"),
                );
            }
        }
        accesses.append(&mut self.accesses);
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
            let Some((name, rest)) = first_label(content) else {
                break;
            };
            let span = Span::new(cell.start as usize, cell.start as usize + name.len());
            if self.labels.insert(name.to_string(), self.at).is_some() {
                let message = format!("there are two labels {}", quote(name));
                errors.error(Diagnostic::error(span, message).label("the second one"));
            }
            self.builder.label(name, self.at, span);
            self.label = Some(name.to_string());
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
        let (name, suffix) = plain_mnemonic(&mnemonic);
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
        if !KNOWN.contains(&name) {
            let message = format!("the instruction {} is not supported", quote(&mnemonic));
            let error = Diagnostic::error(span, message).label("cannot be read");
            errors.error(with_help(error, did_you_mean(name, KNOWN.into_iter())));
            return Err(Failed);
        }
        let offset = span.end as usize - operands_text.len();
        let written: Vec<(&str, Span)> = split_operands(operands_text)
            .into_iter()
            .map(|(start, text)| (text, Span::new(offset + start, offset + start + text.len())))
            .collect();
        let instruction = Instruction {
            name,
            locked,
            size: self.size(suffix, &written, &mnemonic, span, errors)?,
            span,
        };
        let mut operands = Vec::new();
        for (text, at) in written {
            operands.push(self.operand(test, text, at, instruction.size, errors)?);
        }
        // AT&T names the source first; from here on the destination is first.
        if test.dialect == Dialect::Att {
            operands.reverse();
        }
        if locked && !can_be_locked(name, &operands) {
            let message = format!("{} takes no `lock` with these operands", quote(name));
            errors.error(Diagnostic::error(span, message).label("a processor refuses this"));
            return Err(Failed);
        }
        if self.execute(&instruction, &operands, errors)?.is_some() {
            return Ok(());
        }
        let message = format!(
            "this form of the instruction {} is not supported",
            quote(&mnemonic)
        );
        errors.error(Diagnostic::error(span, message).label("cannot be read"));
        Err(Failed)
    }

    /// How many bytes the operands have: as the mnemonic says, and as the registers say.
    fn size(
        &self,
        suffix: Option<u32>,
        operands: &[(&str, Span)],
        mnemonic: &str,
        span: Span,
        errors: &mut Errors,
    ) -> Outcome<u32> {
        let mut size = suffix;
        for (text, at) in operands {
            let name = text.strip_prefix('%').unwrap_or(text);
            let Some((_, part)) = register_part(name, self.dialect) else {
                continue;
            };
            if part == 1 || part == 2 {
                refuse_part(name, *at, errors);
                return Err(Failed);
            }
            let is_wrong = part == 0 || self.dialect == Dialect::Intel && part == 8;
            if is_wrong || size.is_some_and(|size| size != part) {
                let message = match is_wrong {
                    true => format!("{} is no operand of this instruction", quote(name)),
                    false => format!("{} has another size than the other operands", quote(name)),
                };
                let label = format!("not for {}", quote(mnemonic));
                errors.error(Diagnostic::error(*at, message).label(label));
                return Err(Failed);
            }
            size = Some(part);
        }
        match size {
            Some(size) => Ok(size),
            None if self.dialect == Dialect::Intel => Ok(4),
            None => {
                let message = format!(
                    "{} does not say how large its operands are",
                    quote(mnemonic)
                );
                let label = format!("write `{mnemonic}l` or `{mnemonic}q`");
                errors.error(Diagnostic::error(span, message).label(label));
                Err(Failed)
            }
        }
    }

    fn jump(&mut self, name: &str, label: &str, span: Span, errors: &mut Errors) -> Outcome<()> {
        let label = label.to_string();
        if name == "jmp" {
            self.jumps.push((self.at, Op::Skip, label, span));
            self.at = self.builder.point(span);
            return Ok(());
        }
        let Some(asked) = Condition::of(name) else {
            let message = format!("the instruction {} is not supported", quote(name));
            errors.error(Diagnostic::error(span, message).label("cannot be read"));
            return Err(Failed);
        };
        let Some(condition) = self.flags.condition(asked) else {
            self.jumps.push((self.at, Op::Skip, label, span));
            self.flagless.push(span);
            return Ok(());
        };
        let otherwise = Expr::unary(UnaryOp::Not, condition.clone());
        let from = self.at;
        self.at = self.builder.step(from, Op::Assume(otherwise), span);
        self.jumps.push((from, Op::Assume(condition), label, span));
        Ok(())
    }

    fn step(&mut self, op: Op, span: Span) {
        self.at = self.builder.step(self.at, op, span);
    }

    fn scratch(&mut self, span: Span) -> RegisterId {
        *self
            .scratch
            .get_or_insert_with(|| self.builder.register(None, span))
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
        size: u32,
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
            let bits = 8 * size;
            if size < 8 && !(-(1i64 << (bits - 1))..1i64 << bits).contains(&value) {
                let message = format!("{} does not fit into {bits} bits", quote(text));
                errors.error(Diagnostic::error(span, message).label("too large"));
                return Err(Failed);
            }
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
        let mut access = |location| {
            self.accesses.push(SizedAccess {
                location,
                size,
                span,
            })
        };
        let size = Value::from(size);
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
                    access(Some(id));
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
            access(Some(id));
            return Ok(Operand::Memory(Address::Direct(id)));
        }
        // Addresses count locations, not bytes.
        let (Some(scale), 0) = (scale, displacement % size) else {
            return Err(refuse(errors));
        };
        access(None);
        let base = self.register(test, plain_base, span);
        self.bases.push(base);
        let mut pointer = Expr::Atom(base);
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

/// Whether an instruction can be locked: it reads and writes memory.
fn can_be_locked(name: &str, operands: &[Operand]) -> bool {
    let in_memory = |operand: &Operand| matches!(operand, Operand::Memory(_));
    match name {
        "add" | "sub" | "and" | "or" | "xor" | "inc" | "dec" | "neg" | "not" => {
            operands.first().is_some_and(in_memory)
        }
        // herd's own tests have the memory of these on either side.
        "xchg" | "xadd" | "cmpxchg" => operands.iter().any(in_memory),
        _ => false,
    }
}

/// A cell without its labels: the labels, and what is left.
fn instruction_text(text: &str, cell: Span) -> (Vec<&str>, &str) {
    let mut rest = &text[cell.start as usize..cell.end as usize];
    let mut labels = Vec::new();
    while let Some((label, behind)) = first_label(rest) {
        labels.push(label);
        rest = behind;
    }
    (labels, rest)
}

/// The label at the beginning of a cell, and what comes behind it.
fn first_label(content: &str) -> Option<(&str, &str)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let length = content.find(|c: char| !is_part(c)).unwrap_or(content.len());
    let behind = content[length..].trim_start();
    if length == 0 || !behind.starts_with(':') {
        return None;
    }
    Some((&content[..length], behind[1..].trim_start()))
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
fn plain_mnemonic(mnemonic: &str) -> (&str, Option<u32>) {
    const SIZED: [&str; 18] = [
        "mov", "xchg", "inc", "dec", "add", "sub", "and", "or", "xor", "neg", "not", "shl", "sal",
        "shr", "sar", "cmp", "test", "xadd",
    ];
    if SIZED.contains(&mnemonic) || mnemonic == "cmpxchg" {
        return (mnemonic, None);
    }
    for (suffix, size) in [('b', 1), ('w', 2), ('l', 4), ('q', 8)] {
        if let Some(plain) = mnemonic.strip_suffix(suffix)
            && (SIZED.contains(&plain) || ["cmpxchg", "nop", "ret"].contains(&plain))
        {
            return (plain, Some(size));
        }
    }
    (mnemonic, None)
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
