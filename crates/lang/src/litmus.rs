//! herd's litmus tests: the dialects X86 (Intel's order of operands), X86_64 (AT&T's) and C.
//!
//! Registers and C's local variables become registers; every name in brackets, every `(x)` and every parameter of a C function is a location.
//! The condition becomes a `never`, which looks at states in which all threads have ended: `exists c` and `~exists c` ask
//! whether c can be, `forall c` whether something else can.
//!
//! In C, an access without an order to an `atomic_…` location is `seqcst`, as C says. A location is `nonatomic` if no parameter
//! declares it atomic or volatile, it has only plain accesses (`*x`) and no pointer is computed. Plain accesses to any other location,
//! `READ_ONCE` and `WRITE_ONCE` are accesses without an order.

use std::collections::HashMap;

use crate::build::ThreadBuilder;
use crate::expr::{BinaryOp, Domain, Expr, MAX_HEIGHT, UnaryOp, Value};
use crate::lex::{Errors, Kind, Token, Tokens, did_you_mean, end_of, quote, with_help};
use crate::parse::Parsed;
use crate::program::{
    Address, CopyRef, LabelRef, Language, Location, LocationId, Never, Op, Place, PointId, Program,
    RegisterId, StateAtom, Thread, ThreadId,
};
use crate::source::{Diagnostic, Source, Span};

mod c;
mod x86;

/// Reads a program in this language; `domain` as if the program said it.
pub fn parse(source: &Source, domain: Option<Domain>) -> Result<Parsed, Vec<Diagnostic>> {
    let mut errors = Errors::default();
    let program = read(source, domain.unwrap_or(Domain::FULL), &mut errors);
    if program.is_none() && !errors.any() {
        let message = "this is not a litmus test that can be read";
        errors.error(Diagnostic::error(end_of(source.text()), message));
    }
    let warnings = errors.finish()?;
    match program {
        Some(program) => Ok(Parsed { program, warnings }),
        None => Err(Vec::new()),
    }
}

/// The least value without its sign, which alone is no value.
const LEAST: &str = "9223372036854775808";

/// The dialects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    /// `MOV [x],$1`
    Intel,
    /// `movl $1,(x)`
    Att,
    C,
}

/// An error was reported.
struct Failed;

type Outcome<T> = Result<T, Failed>;

/// The memory of the test: locations come into being when they are first mentioned.
#[derive(Default)]
struct Memory {
    locations: Vec<Location>,
    names: HashMap<String, LocationId>,
}

impl Memory {
    fn location(&mut self, name: &str, span: Span) -> LocationId {
        match self.names.get(name) {
            Some(id) => *id,
            None => self.add(name, &[0], false, span),
        }
    }

    /// A location, or an array of them.
    fn add(&mut self, name: &str, values: &[Value], is_array: bool, span: Span) -> LocationId {
        let first = LocationId(self.locations.len() as u32);
        self.names.insert(name.to_string(), first);
        for (index, value) in values.iter().enumerate() {
            let element = format!("{name}[{index}]");
            if is_array {
                let id = LocationId(self.locations.len() as u32);
                self.names.insert(element.clone(), id);
            }
            self.locations.push(Location {
                name: if is_array { element } else { name.to_string() },
                address: self.locations.len() as Value + 1,
                initial: *value,
                nonatomic: false,
                array: is_array.then_some((first, values.len() as u32)),
                span,
            });
        }
        first
    }

    fn address(&self, id: LocationId) -> Value {
        self.locations[id.index()].address
    }
}

/// A value of the init section for a register: `0:RAX=1;`.
struct InitialRegister<'a> {
    thread: u32,
    register: Token<'a>,
    value: Value,
    span: Span,
}

/// Everything that is shared by the parts.
struct Test<'a> {
    text: &'a str,
    dialect: Dialect,
    memory: Memory,
    registers: Vec<InitialRegister<'a>>,
    threads: Vec<ThreadBuilder>,
    places: Vec<Place>,
    domain: Domain,
    /// Whether operations of a processor wrap at their widths; false where nothing in the test is large enough, or below 0.
    exact: bool,
    /// How many bytes each location has, where that is known.
    sizes: Vec<Option<u32>>,
}

impl Test<'_> {
    /// A value of a condition, with its sign, where widths matter.
    fn signed(&self, value: State, size: Option<u32>) -> State {
        match size {
            Some(size @ 1..8) if self.exact => x86::sign_extended(value, size),
            _ => value,
        }
    }
}

fn read(source: &Source, domain: Domain, errors: &mut Errors) -> Option<Program> {
    let (dialect, name) = header(source.text(), errors)?;
    let Some(init) = init_section(source.text()) else {
        let error = Diagnostic::error(end_of(source.text()), "there is no init section");
        errors.error(error.label("expected `{ … }` after the header"));
        return None;
    };
    // Comments become white space of the same length, so that places in the text stay what they are.
    let clean = without_comments(source.text(), init, dialect);
    let mut test = Test {
        text: &clean,
        dialect,
        memory: Memory::default(),
        registers: Vec::new(),
        threads: Vec::new(),
        places: Vec::new(),
        domain,
        exact: false,
        sizes: Vec::new(),
    };
    let inside = Span {
        start: init.start + 1,
        end: init.end.saturating_sub(1).max(init.start + 1),
    };
    let init_ok = read_init(&mut test, inside, errors);
    let body = Span {
        start: init.end,
        end: clean.len() as u32,
    };
    let condition = match dialect {
        Dialect::C => c::read(&mut test, body, errors),
        _ => x86::read(&mut test, body, errors),
    };
    if init_ok.is_err() || errors.any() {
        return None;
    }
    let nevers = match read_condition(&mut test, condition, errors) {
        Ok(nevers) => nevers,
        Err(Failed) => return None,
    };
    let threads: Vec<Thread> = test
        .threads
        .into_iter()
        .map(ThreadBuilder::finish)
        .collect();
    if threads.is_empty() {
        let error = Diagnostic::error(end_of(source.text()), "there is no thread in this test");
        errors.error(error.label("expected `P0`"));
        return None;
    }
    Some(Program {
        name: Some(name),
        source: source.clone(),
        language: Language::Litmus,
        domain,
        locations: test.memory.locations,
        threads,
        nevers,
        places: test.places,
        bounds: Vec::new(),
        faults: Vec::new(),
    })
}

/// `ARCH name`
fn header(text: &str, errors: &mut Errors) -> Option<(Dialect, String)> {
    let first = Tokens::within(text, Span::new(0, text.len()), true).peek();
    let start = first.span.start as usize;
    let line = text[start..].lines().next().unwrap_or("");
    let mut words = line.split_whitespace();
    let arch = words.next().unwrap_or("");
    let dialect = match arch {
        "X86" => Dialect::Intel,
        "X86_64" => Dialect::Att,
        "C" => Dialect::C,
        _ => {
            let span = Span::new(start, start + arch.len());
            let message = match arch.is_empty() {
                true => "there is nothing here".to_string(),
                false => format!("tests for {} cannot be read", quote(arch)),
            };
            let help = match arch {
                "AArch64" | "ARM" | "PPC" | "RISCV" | "MIPS" | "LISA" | "BPF" | "Java" => Some(
                    "the models are those of x86 (`tso`), release/acquire and C++20: the same test in C (`C name`, with `atomic_load_explicit` and so on) can be asked about with `--model c20`"
                        .to_string(),
                ),
                _ => did_you_mean(arch, ["X86", "X86_64", "C"].into_iter()),
            };
            errors.error(with_help(
                Diagnostic::error(span, message).label("expected `X86`, `X86_64` or `C`"),
                help,
            ));
            return None;
        }
    };
    Some((dialect, words.next().unwrap_or("test").to_string()))
}

/// The braces of the init section, the first that are in no comment and no text.
fn init_section(text: &str) -> Option<Span> {
    let mut tokens = Tokens::within(text, Span::new(0, text.len()), true);
    let mut depth = 0;
    let mut start = 0;
    loop {
        let token = tokens.take();
        match token.kind {
            Kind::End => return None,
            _ if token.is("{") => {
                if depth == 0 {
                    start = token.span.start;
                }
                depth += 1;
            }
            _ if token.is("}") && depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    return Some(Span {
                        start,
                        end: token.span.end,
                    });
                }
            }
            _ => {}
        }
    }
}

/// The text with white space for every comment. Inside C's functions `(*` begins none.
fn without_comments(text: &str, init: Span, dialect: Dialect) -> String {
    let mut clean = text.as_bytes().to_vec();
    let mut at = 0;
    let mut depth = 0;
    while at < clean.len() {
        let rest = &text.as_bytes()[at..];
        let in_function = dialect == Dialect::C && depth > 0 && at >= init.end as usize;
        let length = match rest {
            [b'(', b'*', ..] if !in_function => length_to(rest, b"*)"),
            [b'/', b'*', ..] => length_to(rest, b"*/"),
            [b'/', b'/', ..] => rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len()),
            _ => 0,
        };
        for byte in &mut clean[at..at + length] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        if length == 0 && at >= init.end as usize {
            match rest[0] {
                b'{' => depth += 1,
                b'}' => depth -= 1,
                _ => {}
            }
        }
        at += length.max(1);
    }
    // Comments are cut at bytes that begin and end characters, so this is still the same text.
    String::from_utf8(clean).unwrap_or_else(|_| text.to_string())
}

fn length_to(rest: &[u8], end: &[u8]) -> usize {
    let found = rest[2..].windows(end.len()).position(|w| w == end);
    found.map_or(rest.len(), |at| at + 2 + end.len())
}

/// The entries of the init section, each ended by `;`.
fn read_init<'a>(test: &mut Test<'a>, inside: Span, errors: &mut Errors) -> Outcome<()> {
    let mut tokens = Tokens::within(test.text, inside, false);
    let mut outcome = Ok(());
    while tokens.peek().kind != Kind::End {
        if tokens.take_if(";").is_some() {
            continue;
        }
        if init_entry(test, &mut tokens, errors).is_err() {
            outcome = Err(Failed);
            while tokens.peek().kind != Kind::End && !tokens.peek().is(";") {
                tokens.take();
            }
        }
    }
    outcome
}

fn init_entry<'a>(
    test: &mut Test<'a>,
    tokens: &mut Tokens<'a>,
    errors: &mut Errors,
) -> Outcome<()> {
    let first = tokens.peek();
    // A type, if the next word is followed by another name, a star or a register.
    while tokens.peek().kind == Kind::Word {
        let next = tokens.peek_second();
        let is_type =
            next.kind == Kind::Word || next.is("*") || matches!(next.kind, Kind::Number(_));
        if !is_type {
            break;
        }
        tokens.take();
    }
    while tokens.take_if("*").is_some() {}
    if let Kind::Number(Some(thread)) = tokens.peek().kind {
        tokens.take();
        expect(tokens, ":", errors)?;
        let register = word(tokens, "a register", errors)?;
        let value = match tokens.take_if("=") {
            Some(_) => init_value(test, tokens, errors)?,
            None => 0,
        };
        let span = first.span.to(register.span);
        test.registers.push(InitialRegister {
            thread: u32::try_from(thread).unwrap_or(u32::MAX),
            register,
            value,
            span,
        });
        return Ok(());
    }
    let bracket = tokens.take_if("[");
    let name = word(tokens, "a location or a register", errors)?;
    if bracket.is_some() {
        expect(tokens, "]", errors)?;
    }
    let mut length = None;
    if tokens.take_if("[").is_some() {
        let token = tokens.take();
        match token.kind {
            Kind::Number(Some(n @ 1..=65_536)) => length = Some(n as usize),
            _ => return unexpected(token, "the number of elements", test.text, errors),
        }
        expect(tokens, "]", errors)?;
    }
    let mut values = Vec::new();
    if tokens.take_if("=").is_some() {
        if tokens.take_if("{").is_some() {
            while tokens.peek().kind != Kind::End && tokens.take_if("}").is_none() {
                values.push(init_value(test, tokens, errors)?);
                tokens.take_if(",");
            }
        } else {
            values.push(init_value(test, tokens, errors)?);
        }
    }
    if let Some(&id) = test.memory.names.get(name.text) {
        // An address was taken before.
        test.memory.locations[id.index()].initial = values.first().copied().unwrap_or(0);
        return Ok(());
    }
    match length {
        Some(length) => {
            values.resize(length, 0);
            test.memory.add(name.text, &values, true, name.span);
        }
        None => {
            let is_array = values.len() > 1;
            if values.is_empty() {
                values.push(0);
            }
            test.memory.add(name.text, &values, is_array, name.span);
        }
    }
    Ok(())
}

/// A number, or the address of a location.
fn init_value<'a>(
    test: &mut Test<'a>,
    tokens: &mut Tokens<'a>,
    errors: &mut Errors,
) -> Outcome<Value> {
    let minus = tokens.take_if("-").is_some();
    tokens.take_if("&");
    let token = tokens.take();
    match token.kind {
        Kind::Number(Some(value)) => Ok(if minus { value.wrapping_neg() } else { value }),
        Kind::Number(None) if minus && token.text == LEAST => Ok(Value::MIN),
        // The kernel's way to write a value.
        Kind::Word if tokens.peek().is("(") => {
            tokens.take();
            let value = init_value(test, tokens, errors)?;
            expect(tokens, ")", errors)?;
            Ok(value)
        }
        Kind::Word => {
            let id = test.memory.location(token.text, token.span);
            Ok(test.memory.address(id))
        }
        _ => unexpected(token, "a value", test.text, errors),
    }
}

/// `locations`, `filter`, `exists`, `~exists`, `forall`.
fn read_condition(test: &mut Test<'_>, part: Span, errors: &mut Errors) -> Outcome<Vec<Never>> {
    let text = test.text;
    let mut tokens = Tokens::within(text, part, true);
    let mut filter = None;
    let mut nevers = Vec::new();
    loop {
        let first = tokens.take();
        let is_bad = match (first.kind, first.text) {
            (Kind::End, _) => return Ok(nevers),
            (_, ";") => continue,
            (_, "locations") => {
                while tokens.peek().kind != Kind::End && tokens.take_if("]").is_none() {
                    tokens.take();
                }
                continue;
            }
            (_, "filter") => {
                filter = Some(condition(test, &mut tokens, errors, 0)?.0);
                continue;
            }
            (_, "exists") => true,
            (_, "forall") => false,
            (_, "~" | "not") if tokens.peek().is("exists") => {
                tokens.take();
                true
            }
            _ => return unexpected(first, "`exists`, `~exists` or `forall`", text, errors),
        };
        let (mut found, _) = condition(test, &mut tokens, errors, 0)?;
        if !is_bad {
            found = Expr::unary(UnaryOp::Not, found);
        }
        let span = Span {
            end: tokens.previous_end,
            ..first.span
        };
        let mut all = Vec::new();
        for thread in 0..test.threads.len() as u32 {
            let copy = CopyRef {
                thread: ThreadId(thread),
                copy: None,
            };
            all.push(Expr::Atom(StateAtom::At(copy, LabelRef::End)));
        }
        all.extend(filter.clone());
        all.push(found);
        let conjunction = |left, right| Expr::binary(BinaryOp::And, left, right);
        let condition = all
            .into_iter()
            .reduce(conjunction)
            .unwrap_or(Expr::Const(0));
        nevers.push(Never {
            conditions: vec![condition],
            span,
        });
    }
}

type State = Expr<StateAtom>;

/// A disjunction; with its height.
fn condition(
    test: &mut Test<'_>,
    tokens: &mut Tokens<'_>,
    errors: &mut Errors,
    depth: usize,
) -> Outcome<(State, usize)> {
    joined(test, tokens, errors, depth, "\\/")
}

fn joined(
    test: &mut Test<'_>,
    tokens: &mut Tokens<'_>,
    errors: &mut Errors,
    depth: usize,
    symbol: &str,
) -> Outcome<(State, usize)> {
    let mut part = |test: &mut Test<'_>, tokens: &mut Tokens<'_>| match symbol {
        "\\/" => joined(test, tokens, errors, depth, "/\\"),
        _ => negation(test, tokens, errors, depth),
    };
    let (mut left, mut height) = part(test, tokens)?;
    while let Some(token) = tokens.take_if(symbol) {
        let (right, right_height) = part(test, tokens)?;
        height = height.max(right_height) + 1;
        // Room for the threads that must have ended.
        if height > MAX_HEIGHT / 2 {
            let error = Diagnostic::error(token.span, "this condition has too many parts");
            errors.error(error);
            return Err(Failed);
        }
        let op = if symbol == "\\/" {
            BinaryOp::Or
        } else {
            BinaryOp::And
        };
        left = Expr::binary(op, left, right);
    }
    Ok((left, height))
}

fn negation(
    test: &mut Test<'_>,
    tokens: &mut Tokens<'_>,
    errors: &mut Errors,
    depth: usize,
) -> Outcome<(State, usize)> {
    let first = tokens.peek();
    if depth > MAX_HEIGHT / 4 {
        errors.error(Diagnostic::error(
            first.span,
            "this condition is nested too deep",
        ));
        return Err(Failed);
    }
    if first.is("not") || first.is("~") {
        tokens.take();
        let (inner, height) = negation(test, tokens, errors, depth + 1)?;
        return Ok((Expr::unary(UnaryOp::Not, inner), height + 1));
    }
    if first.is("(") {
        tokens.take();
        let inner = condition(test, tokens, errors, depth + 1)?;
        expect(tokens, ")", errors)?;
        return Ok(inner);
    }
    if first.is("true") || first.is("false") {
        tokens.take();
        return Ok((Expr::Const(Value::from(first.text == "true")), 1));
    }
    let left = condition_operand(test, tokens, errors)?;
    let op = tokens.take();
    let op = match op.text {
        "=" | "==" => BinaryOp::Equal,
        "!=" => BinaryOp::NotEqual,
        "<" => BinaryOp::Less,
        "<=" => BinaryOp::LessEqual,
        ">" => BinaryOp::Greater,
        ">=" => BinaryOp::GreaterEqual,
        _ => return unexpected(op, "`=`", test.text, errors),
    };
    let right = condition_value(test, tokens, errors)?;
    let right = match (&left, right) {
        // -1 and 0xffffffff are the same value of a register of 32 bits, which is written as `register << 32 >> 32`.
        (Expr::Binary(BinaryOp::ShiftRight, _, unused), Expr::Const(value)) => match **unused {
            Expr::Const(unused @ 0..64) if value >> (64 - unused) == 0 => {
                Expr::Const(value << unused >> unused)
            }
            _ => Expr::Const(value),
        },
        (_, right) => right,
    };
    Ok((Expr::binary(op, left, right), 4))
}

/// `0:rax`, `[x]` or `x`.
fn condition_operand(
    test: &mut Test<'_>,
    tokens: &mut Tokens<'_>,
    errors: &mut Errors,
) -> Outcome<State> {
    let token = tokens.take();
    match token.kind {
        Kind::Number(Some(number)) => {
            expect(tokens, ":", errors)?;
            let name = word(tokens, "a register", errors)?;
            let thread = usize::try_from(number).ok();
            let Some(builder) = thread.and_then(|t| test.threads.get_mut(t)) else {
                let message = format!("there is no thread {number}");
                errors.error(Diagnostic::error(token.span, message).label("not a thread"));
                return Err(Failed);
            };
            let register = register_of(builder, test.dialect, name);
            let copy = CopyRef {
                thread: ThreadId(number as u32),
                copy: None,
            };
            let value = Expr::Atom(StateAtom::Register(copy, register));
            match (test.dialect, x86::register_part(name.text, test.dialect)) {
                (Dialect::Intel | Dialect::Att, Some((_, 1 | 2))) => {
                    x86::refuse_part(name.text, name.span, errors);
                    Err(Failed)
                }
                (Dialect::Att, Some((_, size))) => Ok(test.signed(value, Some(size))),
                (Dialect::Intel, _) => Ok(test.signed(value, Some(4))),
                _ => Ok(value),
            }
        }
        Kind::Symbol if token.text == "[" || token.text == "*" => {
            let name = word(tokens, "a location", errors)?;
            let state = condition_location(test, tokens, name, errors)?;
            if token.text == "[" {
                expect(tokens, "]", errors)?;
            }
            Ok(state)
        }
        Kind::Word => condition_location(test, tokens, token, errors),
        _ => unexpected(token, "a register or a location", test.text, errors),
    }
}

fn condition_location(
    test: &mut Test<'_>,
    tokens: &mut Tokens<'_>,
    name: Token<'_>,
    errors: &mut Errors,
) -> Outcome<State> {
    let mut text = name.text.to_string();
    if tokens.take_if("[").is_some() {
        let index = tokens.take();
        expect(tokens, "]", errors)?;
        text = format!("{text}[{}]", index.text);
    }
    let id = test.memory.location(&text, name.span);
    let value = Expr::Atom(StateAtom::Memory(Box::new(Address::Direct(id))));
    let size = test.sizes.get(id.index()).copied().flatten();
    Ok(test.signed(value, size))
}

/// A number, the address of a location, or a register.
fn condition_value(
    test: &mut Test<'_>,
    tokens: &mut Tokens<'_>,
    errors: &mut Errors,
) -> Outcome<State> {
    if tokens.take_if("-").is_some() {
        let token = tokens.take();
        return match token.kind {
            Kind::Number(Some(value)) => Ok(Expr::Const(value.wrapping_neg())),
            Kind::Number(None) if token.text == LEAST => Ok(Expr::Const(Value::MIN)),
            _ => unexpected(token, "a number", test.text, errors),
        };
    }
    tokens.take_if("&");
    let token = tokens.peek();
    match token.kind {
        Kind::Number(Some(_)) if tokens.peek_second().is(":") => {
            condition_operand(test, tokens, errors)
        }
        Kind::Number(Some(value)) => {
            tokens.take();
            Ok(Expr::Const(value))
        }
        Kind::Symbol if token.text == "[" => condition_operand(test, tokens, errors),
        Kind::Word => {
            tokens.take();
            let id = test.memory.location(token.text, token.span);
            Ok(Expr::Const(test.memory.address(id)))
        }
        _ => unexpected(token, "a value", test.text, errors),
    }
}

/// A register by its name; one that the thread does not use is always 0.
fn register_of(builder: &mut ThreadBuilder, dialect: Dialect, name: Token<'_>) -> RegisterId {
    let full = match dialect {
        Dialect::C => name.text.to_string(),
        _ => x86::full_register(name.text, dialect).unwrap_or_else(|| name.text.to_string()),
    };
    match builder.register_named(&full) {
        Some(register) => register,
        None => builder.register(Some(&full), name.span),
    }
}

/// Sets the registers that the init section mentions; returns where the thread's own code begins.
fn set_registers(
    test: &Test<'_>,
    thread: usize,
    builder: &mut ThreadBuilder,
    mut at: PointId,
) -> PointId {
    for initial in test
        .registers
        .iter()
        .filter(|r| r.thread as usize == thread)
    {
        let register = register_of(builder, test.dialect, initial.register);
        let mut value = Expr::Const(initial.value);
        if test.exact {
            value = x86::initial(value, initial.register.text, test.dialect);
        }
        if value != Expr::Const(0) {
            let op = Op::Assign(register, value);
            at = builder.step(at, op, initial.span);
        }
    }
    at
}

fn word<'a>(tokens: &mut Tokens<'a>, wanted: &str, errors: &mut Errors) -> Outcome<Token<'a>> {
    let token = tokens.peek();
    if token.kind != Kind::Word {
        return unexpected(token, wanted, tokens.text(), errors);
    }
    Ok(tokens.take())
}

fn expect(tokens: &mut Tokens<'_>, symbol: &str, errors: &mut Errors) -> Outcome<()> {
    match tokens.take_if(symbol) {
        Some(_) => Ok(()),
        None => unexpected(tokens.peek(), &quote(symbol), tokens.text(), errors),
    }
}

fn unexpected<T>(found: Token<'_>, wanted: &str, text: &str, errors: &mut Errors) -> Outcome<T> {
    let span = match found.kind {
        Kind::End => {
            let end = end_of(text).end.min(found.span.end);
            Span { start: end, end }
        }
        _ => found.span,
    };
    let message = format!("{} stands where {wanted} should be", found.describe());
    errors.error(Diagnostic::error(span, message).label(format!("expected {wanted}")));
    Err(Failed)
}

#[cfg(test)]
mod tests;
