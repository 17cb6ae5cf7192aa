//! Trencher's and Persist's automata.
//!
//! The text is a stream of words separated by white space. Every thread lists its states by their transitions; expressions are in prefix
//! notation. `lock` … `unlock` becomes an atomic block: since an automaton may reach a state with the lock or without, each state becomes up
//! to two control points, so that [`Point::atomic`] is known.

use std::collections::{HashMap, HashSet};

use crate::expr::{BinaryOp, Domain, Expr, MAX_HEIGHT, UnaryOp, Value};
use crate::lex::{Errors, did_you_mean, end_of, nearest, quote, with_help};
use crate::parse::Parsed;
use crate::program::{
    Address, Copies, CopyNaming, Language, LocationId, Op, Order, Place, PlaceId, PlaceKind, Point,
    PointId, Program, Register, RegisterExpr, RegisterId, Thread, ThreadId, Transition,
};
use crate::source::{Diagnostic, Source, Span};

mod locations;

/// More copies of one thread than this are refused.
const MAX_COPIES: u32 = 10_000;

const INSTRUCTIONS: [&str; 8] = [
    "read", "write", "local", "check", "mfence", "noop", "lock", "unlock",
];
const STATEMENTS: [&str; 4] = ["initial", "transition", "end", "thread"];

/// Reads a program in this language; `domain` as if the program said it.
pub fn parse(source: &Source, domain: Option<Domain>) -> Result<Parsed, Vec<Diagnostic>> {
    let mut parser = Parser {
        words: Words::new(source.text()),
        errors: Errors::default(),
        memory_size: None,
        threads: Vec::new(),
    };
    parser.program();
    let Parser {
        mut errors,
        memory_size,
        threads,
        ..
    } = parser;
    if threads.is_empty() && !errors.any() {
        errors.error(
            Diagnostic::error(end_of(source.text()), "there is no thread in this program")
                .label("expected `thread`"),
        );
    }
    check_names(&threads, &mut errors);
    let mut automata = Vec::with_capacity(threads.len());
    for thread in &threads {
        automata.extend(Automaton::build(thread, &mut errors));
    }
    let warnings = errors.finish()?;
    let domain = domain.unwrap_or(Domain::FULL);
    Ok(Parsed {
        program: assemble(source, domain, memory_size, automata),
        warnings,
    })
}

/// One word and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word<'a> {
    text: &'a str,
    span: Span,
    first_on_line: bool,
}

/// The words of a text, with one word of look-ahead.
struct Words<'a> {
    text: &'a str,
    at: usize,
    next: Option<Word<'a>>,
}

impl<'a> Words<'a> {
    fn new(text: &'a str) -> Self {
        let mut words = Words {
            text,
            at: 0,
            next: None,
        };
        words.next = words.scan(true);
        words
    }

    fn scan(&mut self, mut first_on_line: bool) -> Option<Word<'a>> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at)? {
                b'\n' => first_on_line = true,
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => {}
                b'#' => {
                    let rest = &bytes[self.at..];
                    self.at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
                    continue;
                }
                _ => break,
            }
            self.at += 1;
        }
        let start = self.at;
        let rest = &bytes[start..];
        let ends = |b: &u8| matches!(b, b'\n' | b' ' | b'\t' | b'\r' | 0x0b | 0x0c | b'#');
        self.at += rest.iter().position(ends).unwrap_or(rest.len());
        Some(Word {
            text: &self.text[start..self.at],
            span: Span::new(start, self.at),
            first_on_line,
        })
    }

    fn peek(&self) -> Option<Word<'a>> {
        self.next
    }

    fn take(&mut self) -> Option<Word<'a>> {
        let word = self.next;
        if word.is_some() {
            self.next = self.scan(false);
        }
        word
    }
}

/// What one `thread … end` says.
struct ThreadText<'a> {
    name: Word<'a>,
    copies: Copies,
    initial: Option<Word<'a>>,
    transitions: Vec<TransitionText<'a>>,
    registers: Names<'a>,
    /// For each register: where it is first mentioned, and whether anything sets it.
    register_uses: Vec<(Span, bool)>,
    span: Span,
}

struct TransitionText<'a> {
    from: Word<'a>,
    to: &'a str,
    instruction: Instruction,
    span: Span,
}

#[derive(Clone)]
enum Instruction {
    Read(RegisterId, RegisterExpr),
    Write(RegisterExpr, RegisterExpr),
    Local(RegisterId, RegisterExpr),
    Check(RegisterExpr),
    Fence,
    Noop,
    Lock,
    Unlock,
}

/// Names numbered in the order in which they occur.
#[derive(Default)]
struct Names<'a> {
    numbers: HashMap<&'a str, u32>,
    names: Vec<&'a str>,
}

impl<'a> Names<'a> {
    fn number(&mut self, name: &'a str) -> u32 {
        *self.numbers.entry(name).or_insert_with(|| {
            self.names.push(name);
            self.names.len() as u32 - 1
        })
    }
}

/// An error was reported; the caller skips to where it can go on.
struct Failed;

struct Parser<'a> {
    words: Words<'a>,
    errors: Errors,
    memory_size: Option<Value>,
    threads: Vec<ThreadText<'a>>,
}

impl<'a> Parser<'a> {
    fn program(&mut self) {
        while let Some(word) = self.words.take() {
            match word.text {
                "thread" => self.thread(word),
                "memory_size" => self.memory_size(),
                other => {
                    let known = ["thread", "memory_size"].into_iter();
                    self.errors.error(with_help(
                        Diagnostic::error(
                            word.span,
                            format!("{} does not begin a thread", quote(other)),
                        )
                        .label("expected `thread` or `memory_size`"),
                        did_you_mean(other, known),
                    ));
                    self.skip_to(|w| matches!(w, "thread" | "memory_size"));
                }
            }
        }
    }

    fn memory_size(&mut self) {
        let wanted = "the number of locations, as in `memory_size 4`";
        let Ok(word) = self.word(wanted) else {
            return;
        };
        match word.text.parse::<Value>() {
            Ok(size) if size >= 0 => self.memory_size = Some(size),
            _ => self.errors.error(
                Diagnostic::error(
                    word.span,
                    format!("{} is not a size of memory", quote(word.text)),
                )
                .label(format!("expected {wanted}")),
            ),
        }
    }

    fn thread(&mut self, keyword: Word<'a>) {
        let Ok(name) = self.word("the thread's name") else {
            return;
        };
        let copies = match self.words.peek().map(|w| (w, w.text.parse::<Value>())) {
            Some((word, Ok(count))) => {
                self.words.take();
                match u32::try_from(count) {
                    Ok(count @ 1..=MAX_COPIES) => Copies::Fixed(count),
                    _ => {
                        self.errors.error(
                            Diagnostic::error(
                                word.span,
                                format!("{count} copies of a thread make no sense here"),
                            )
                            .label(format!("expected a number from 1 to {MAX_COPIES}")),
                        );
                        Copies::One
                    }
                }
            }
            _ => Copies::One,
        };
        let mut thread = ThreadText {
            name,
            copies,
            initial: None,
            transitions: Vec::new(),
            registers: Names::default(),
            register_uses: Vec::new(),
            span: keyword.span.to(name.span),
        };
        loop {
            let word = match self.words.peek() {
                Some(word) if word.text != "thread" => word,
                other => {
                    let at = other.map_or_else(|| end_of(self.words.text), |w| w.span);
                    self.errors.error(
                        Diagnostic::error(
                            at,
                            format!("the thread {} is not closed", quote(name.text)),
                        )
                        .label("expected `end` before this"),
                    );
                    break;
                }
            };
            self.words.take();
            let result = match word.text {
                "end" => break,
                "initial" => self.initial(word, &mut thread),
                "transition" => self.transition(word, &mut thread),
                other => {
                    let message = format!("{} does not begin a transition", quote(other));
                    let label = "expected `initial`, `transition` or `end`";
                    let error = Diagnostic::error(word.span, message).label(label);
                    self.errors.error(with_help(error, statement_help(other)));
                    Err(Failed)
                }
            };
            if let Err(Failed) = result {
                self.skip_to(|w| STATEMENTS.contains(&w));
            }
        }
        self.threads.push(thread);
    }

    fn initial(&mut self, keyword: Word<'a>, thread: &mut ThreadText<'a>) -> Result<(), Failed> {
        let state = self.word("the state in which the thread begins")?;
        match thread.initial {
            None => thread.initial = Some(state),
            Some(first) => self.errors.error(
                Diagnostic::error(
                    keyword.span.to(state.span),
                    format!(
                        "the thread {} has several initial states",
                        quote(thread.name.text)
                    ),
                )
                .label("this is one more")
                .help(format!(
                    "the first one is {}; for a choice, leave it by several `noop` transitions",
                    quote(first.text)
                )),
            ),
        }
        Ok(())
    }

    fn transition(&mut self, keyword: Word<'a>, thread: &mut ThreadText<'a>) -> Result<(), Failed> {
        let from = self.word("the state that the transition leaves")?;
        let to = self.word("the state that the transition leads to")?;
        let instruction = self.word("an instruction")?;
        let instruction = match instruction.text {
            "read" => {
                let register = self.register(thread)?;
                Instruction::Read(register, self.expr(thread, "the address to read")?)
            }
            "write" => {
                let value = self.expr(thread, "the value to write")?;
                Instruction::Write(value, self.expr(thread, "the address to write to")?)
            }
            "local" => {
                let register = self.register(thread)?;
                Instruction::Local(register, self.expr(thread, "the register's new value")?)
            }
            "check" => Instruction::Check(self.expr(thread, "a condition")?),
            "mfence" => Instruction::Fence,
            "noop" => Instruction::Noop,
            "lock" => Instruction::Lock,
            "unlock" => Instruction::Unlock,
            other => {
                let help = did_you_mean(other, INSTRUCTIONS.into_iter()).unwrap_or_else(|| {
                    format!("instructions are {}", INSTRUCTIONS.map(quote).join(", "))
                });
                self.errors.error(
                    Diagnostic::error(
                        instruction.span,
                        format!("{} is not an instruction", quote(other)),
                    )
                    .label("expected an instruction")
                    .help(help),
                );
                return Err(Failed);
            }
        };
        // Where the instruction ends is where the look-ahead has not yet been.
        let end = self
            .words
            .next
            .map_or(self.words.text.len(), |w| w.span.start as usize);
        let text = &self.words.text[keyword.span.start as usize..end];
        let end = keyword.span.start as usize + without_comments(text);
        thread.transitions.push(TransitionText {
            from,
            to: to.text,
            instruction,
            span: Span::new(keyword.span.start as usize, end),
        });
        Ok(())
    }

    fn register(&mut self, thread: &mut ThreadText<'a>) -> Result<RegisterId, Failed> {
        let word = self.word("a register")?;
        if !is_register(word.text) {
            self.errors.error(
                Diagnostic::error(word.span, format!("{} is not a register", quote(word.text)))
                    .label("expected a register: a name that begins with a letter"),
            );
            return Err(Failed);
        }
        Ok(mention(thread, word, true))
    }

    fn expr(&mut self, thread: &mut ThreadText<'a>, wanted: &str) -> Result<RegisterExpr, Failed> {
        self.expr_at(thread, wanted, 1)
    }

    /// Recursion is bounded by `MAX_HEIGHT`.
    fn expr_at(
        &mut self,
        thread: &mut ThreadText<'a>,
        wanted: &str,
        height: usize,
    ) -> Result<RegisterExpr, Failed> {
        let word = self.word(wanted)?;
        if height > MAX_HEIGHT {
            self.errors.error(
                Diagnostic::error(
                    word.span,
                    format!("this expression is nested more than {MAX_HEIGHT} deep"),
                )
                .help("compute it in steps, with `local`"),
            );
            return Err(Failed);
        }
        if word.text == "!" {
            let operand = self.expr_at(thread, "an operand of `!`", height + 1)?;
            return Ok(Expr::unary(UnaryOp::Not, operand));
        }
        if let Some(op) = binary_operator(word.text) {
            let wanted = "an operand";
            let left = self.expr_at(thread, wanted, height + 1)?;
            let right = self.expr_at(thread, wanted, height + 1)?;
            return Ok(Expr::binary(op, left, right));
        }
        if let Ok(value) = word.text.parse::<Value>() {
            return Ok(Expr::Const(value));
        }
        if is_register(word.text) {
            return Ok(Expr::Atom(mention(thread, word, false)));
        }
        let digits = word.text.strip_prefix(['-', '+']).unwrap_or(word.text);
        let error = if digits.bytes().all(|b| b.is_ascii_digit()) {
            Diagnostic::error(
                word.span,
                format!("the number {} is too large", quote(word.text)),
            )
            .label("expected a number of 64 bits")
        } else {
            let message = format!("{} is not an expression", quote(word.text));
            let error = Diagnostic::error(word.span, message).label(format!("expected {wanted}"));
            if word.text.contains(|c: char| "!=<>&|+-*".contains(c)) {
                error.help("operators come first and stand alone, with spaces around: `+ x 1`")
            } else {
                error
            }
        };
        self.errors.error(error);
        Err(Failed)
    }

    /// The next word, unless it is plainly the beginning of the next statement.
    fn word(&mut self, wanted: &str) -> Result<Word<'a>, Failed> {
        let missing_at = match self.words.peek() {
            Some(word) if !(word.first_on_line && word.text == "transition") => {
                self.words.take();
                return Ok(word);
            }
            Some(word) => word.span,
            None => end_of(self.words.text),
        };
        let found = match self.words.peek() {
            Some(word) => format!("{} stands where {wanted} should be", quote(word.text)),
            None => format!("the text ends where {wanted} should be"),
        };
        self.errors
            .error(Diagnostic::error(missing_at, found).label(format!("expected {wanted}")));
        Err(Failed)
    }

    /// Goes on where a line begins with one of these words, or at the next `transition`.
    fn skip_to(&mut self, wanted: impl Fn(&str) -> bool) {
        while let Some(word) = self.words.peek() {
            // A mistyped keyword is better met as such than skipped.
            let looks_like_one =
                || word.text.len() > 4 && nearest(word.text, STATEMENTS.into_iter()).is_some();
            if word.text == "transition"
                || word.first_on_line && (wanted(word.text) || looks_like_one())
            {
                return;
            }
            self.words.take();
        }
    }
}

/// What was probably meant by a word where `initial`, `transition` or `end` should be.
fn statement_help(word: &str) -> Option<String> {
    if let Some(meant) = nearest(word, STATEMENTS.into_iter()) {
        return Some(format!("did you mean `{meant}`?"));
    }
    binary_operator(word)
        .map(|_| "operators come before their operands: `+ x 1`, not `x + 1`".to_string())
}

/// Length of `text` without white space and comments at its end.
fn without_comments(text: &str) -> usize {
    let mut length = 0;
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let code = line.split('#').next().unwrap_or("").trim_end();
        if !code.is_empty() {
            length = offset + code.len();
        }
        offset += line.len();
    }
    length
}

fn mention<'a>(thread: &mut ThreadText<'a>, word: Word<'a>, is_set: bool) -> RegisterId {
    let number = thread.registers.number(word.text);
    match thread.register_uses.get_mut(number as usize) {
        Some((_, was_set)) => *was_set |= is_set,
        None => thread.register_uses.push((word.span, is_set)),
    }
    RegisterId(number)
}

/// Words are separated by white space alone: `flag_i-1` is a register.
fn is_register(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$')
}

fn binary_operator(word: &str) -> Option<BinaryOp> {
    Some(match word {
        "==" => BinaryOp::Equal,
        "!=" => BinaryOp::NotEqual,
        "<" => BinaryOp::Less,
        "<=" => BinaryOp::LessEqual,
        ">" => BinaryOp::Greater,
        ">=" => BinaryOp::GreaterEqual,
        "&&" => BinaryOp::And,
        "||" => BinaryOp::Or,
        "+" => BinaryOp::Add,
        "-" => BinaryOp::Subtract,
        "*" => BinaryOp::Multiply,
        "&" => BinaryOp::BitAnd,
        _ => return None,
    })
}

/// Two threads of the same name could not be told apart in any answer.
fn check_names(threads: &[ThreadText<'_>], errors: &mut Errors) {
    let mut seen = HashSet::new();
    let mut all_copies = 0;
    for thread in threads {
        let copies = match thread.copies {
            Copies::Fixed(copies) => copies,
            _ => 1,
        };
        if thread.copies != Copies::One {
            all_copies += copies;
        }
        if all_copies > MAX_COPIES {
            let message = format!("there are more than {MAX_COPIES} copies of threads");
            errors.error(Diagnostic::error(thread.span, message).label("this is too much"));
            return;
        }
        for copy in 0..copies {
            let name = match copy {
                0 => thread.name.text.to_string(),
                _ => format!("{}_{copy}", thread.name.text),
            };
            if let Some(name) = seen.replace(name) {
                errors.error(
                    Diagnostic::error(
                        thread.name.span,
                        format!("there are two threads called {}", quote(&name)),
                    )
                    .label("the second one")
                    .help("give it another name, or write `thread NAME COUNT` for copies"),
                );
                break;
            }
        }
    }
}

/// A thread whose states have become points; its addresses are not yet resolved.
struct Automaton {
    thread: Thread,
    /// The instructions, in the order of `thread.transitions`, whose `op` is not yet filled in.
    instructions: Vec<Instruction>,
}

impl Automaton {
    fn build(text: &ThreadText<'_>, errors: &mut Errors) -> Option<Automaton> {
        let Some(initial) = text.initial else {
            errors.error(
                Diagnostic::error(
                    text.span,
                    format!("the thread {} has no initial state", quote(text.name.text)),
                )
                .label("expected `initial STATE` in this thread"),
            );
            return None;
        };
        let mut states = Names::default();
        let edges: Vec<(u32, u32)> = text
            .transitions
            .iter()
            .map(|t| (states.number(t.from.text), states.number(t.to)))
            .collect();
        if !text.transitions.is_empty() && !states.numbers.contains_key(initial.text) {
            // Trencher's own examples have such threads.
            errors.warn(with_help(
                Diagnostic::warning(
                    initial.span,
                    format!(
                        "the initial state {} occurs in no transition: the thread {} never moves",
                        quote(initial.text),
                        quote(text.name.text)
                    ),
                )
                .label("nothing leads from here"),
                did_you_mean(initial.text, states.names.iter().copied()),
            ));
        }
        let initial_state = states.number(initial.text);
        let outgoing = group_by_source(&edges, states.names.len());
        warn_of_registers(text, errors);

        let mut points = ProductPoints {
            numbers: HashMap::new(),
            list: Vec::new(),
        };
        let mut transitions = Vec::new();
        let mut instructions = Vec::new();
        points.number(initial_state, false);
        let mut done = 0;
        while let Some(&(state, locked)) = points.list.get(done) {
            let from = PointId(done as u32);
            done += 1;
            for &index in outgoing.of(state) {
                let text = &text.transitions[index as usize];
                let locked_after = match text.instruction {
                    Instruction::Lock => true,
                    Instruction::Unlock => false,
                    _ => locked,
                };
                // A thread that holds the lock waits for ever to get it, and one that does not cannot give it back.
                let (instruction, locked_after) = match text.instruction {
                    Instruction::Lock if locked => (Instruction::Check(Expr::Const(0)), true),
                    Instruction::Unlock if !locked => (Instruction::Check(Expr::Const(0)), false),
                    _ => (text.instruction.clone(), locked_after),
                };
                let to = points.number(edges[index as usize].1, locked_after);
                transitions.push(Transition {
                    from,
                    to,
                    op: Op::Skip,
                    span: text.span,
                });
                instructions.push(instruction);
            }
        }
        warn_of_unreachable(text, &states, &edges, &points, errors);

        let spans = state_spans(text, &edges, states.names.len(), initial);
        let thread = Thread {
            name: text.name.text.to_string(),
            copies: text.copies,
            copy_naming: CopyNaming::Underscore,
            registers: text
                .registers
                .names
                .iter()
                .zip(&text.register_uses)
                .map(|(name, (span, _))| Register {
                    name: Some(name.to_string()),
                    span: *span,
                })
                .collect(),
            me: None,
            points: points
                .list
                .iter()
                .map(|&(state, locked)| Point {
                    name: Some(states.names[state as usize].to_string()),
                    atomic: locked,
                    place: None,
                    span: spans[state as usize],
                })
                .collect(),
            initial: PointId(0),
            transitions,
            labels: Vec::new(),
            span: text.span,
        };
        Some(Automaton {
            thread,
            instructions,
        })
    }
}

/// The control points: states with the lock or without it, as far as they can be reached.
struct ProductPoints {
    numbers: HashMap<(u32, bool), PointId>,
    list: Vec<(u32, bool)>,
}

impl ProductPoints {
    fn number(&mut self, state: u32, locked: bool) -> PointId {
        *self.numbers.entry((state, locked)).or_insert_with(|| {
            self.list.push((state, locked));
            PointId(self.list.len() as u32 - 1)
        })
    }
}

/// The edges of each state, in the order of the text.
struct Outgoing {
    begins: Vec<u32>,
    edges: Vec<u32>,
}

impl Outgoing {
    fn of(&self, state: u32) -> &[u32] {
        &self.edges[self.begins[state as usize] as usize..self.begins[state as usize + 1] as usize]
    }
}

fn group_by_source(edges: &[(u32, u32)], states: usize) -> Outgoing {
    let mut order: Vec<u32> = (0..edges.len() as u32).collect();
    order.sort_by_key(|&e| edges[e as usize].0);
    let begins = (0..=states as u32)
        .map(|s| order.partition_point(|&e| edges[e as usize].0 < s) as u32)
        .collect();
    Outgoing {
        begins,
        edges: order,
    }
}

/// Where each state is first mentioned as a source, or else where it is led to.
fn state_spans(
    text: &ThreadText<'_>,
    edges: &[(u32, u32)],
    states: usize,
    initial: Word<'_>,
) -> Vec<Span> {
    let mut spans = vec![initial.span; states];
    for (transition, &(_, to)) in text.transitions.iter().zip(edges).rev() {
        spans[to as usize] = transition.span;
    }
    for (transition, &(from, _)) in text.transitions.iter().zip(edges).rev() {
        spans[from as usize] = transition.span;
    }
    spans
}

fn warn_of_registers(text: &ThreadText<'_>, errors: &mut Errors) {
    for (name, (span, is_set)) in text.registers.names.iter().zip(&text.register_uses) {
        if *is_set {
            continue;
        }
        let set = text.registers.names.iter().zip(&text.register_uses);
        let set = set.filter(|(_, (_, is_set))| *is_set).map(|(n, _)| *n);
        errors.warn(with_help(
            Diagnostic::warning(
                *span,
                format!(
                    "the register {} is never set in the thread {}",
                    quote(name),
                    quote(text.name.text)
                ),
            )
            .label("this is always 0"),
            did_you_mean(name, set),
        ));
    }
}

fn warn_of_unreachable(
    text: &ThreadText<'_>,
    states: &Names<'_>,
    edges: &[(u32, u32)],
    points: &ProductPoints,
    errors: &mut Errors,
) {
    let mut known = vec![false; states.names.len()];
    for &(state, _) in &points.list {
        known[state as usize] = true;
    }
    for (transition, &(from, _)) in text.transitions.iter().zip(edges) {
        if !known[from as usize] {
            known[from as usize] = true;
            let name = states.names[from as usize];
            errors.warn(with_help(
                Diagnostic::warning(
                    transition.from.span,
                    format!(
                        "the state {} of the thread {} can never be reached",
                        quote(name),
                        quote(text.name.text)
                    ),
                )
                .label("no transition from a reachable state leads here"),
                did_you_mean(name, states.names.iter().copied()),
            ));
        }
    }
}

/// Puts everything together. Every address is an expression at first; when all threads are there, the addresses that they can touch become
/// the locations.
fn assemble(
    source: &Source,
    domain: Domain,
    memory_size: Option<Value>,
    automata: Vec<Automaton>,
) -> Program {
    let mut places = Vec::new();
    let mut threads = Vec::with_capacity(automata.len());
    for (index, automaton) in automata.into_iter().enumerate() {
        let mut thread = automaton.thread;
        for (transition, instruction) in thread.transitions.iter_mut().zip(automaton.instructions) {
            transition.op = match instruction {
                Instruction::Read(register, address) => Op::Load {
                    register,
                    address: Address::Pointer(address),
                    order: Order::Acquire,
                },
                Instruction::Write(value, address) => Op::Store {
                    address: Address::Pointer(address),
                    value,
                    order: Order::Release,
                },
                Instruction::Local(register, value) => Op::Assign(register, value),
                Instruction::Check(condition) => Op::Assume(condition),
                Instruction::Fence => Op::Fence(Order::SeqCst),
                Instruction::Noop => Op::Skip,
                Instruction::Lock => Op::AtomicBegin,
                Instruction::Unlock => Op::AtomicEnd,
            };
        }
        // A fence can stand before everything that leaves a state, but not inside a block.
        for number in 0..thread.points.len() {
            let span = match thread.outgoing(PointId(number as u32)) {
                [first, ..] if !thread.points[number].atomic => first.span,
                _ => continue,
            };
            thread.points[number].place = Some(PlaceId(places.len() as u32));
            places.push(Place {
                thread: Some(ThreadId(index as u32)),
                kind: PlaceKind::State,
                name: thread.points[number].name.clone(),
                span,
            });
        }
        threads.push(thread);
    }
    let mut program = Program {
        name: None,
        source: source.clone(),
        language: Language::Trencher,
        domain,
        locations: Vec::new(),
        threads,
        nevers: Vec::new(),
        places,
        bounds: Vec::new(),
        faults: Vec::new(),
    };
    program.locations = locations::find_locations(&program, memory_size);
    for thread in &mut program.threads {
        for transition in &mut thread.transitions {
            let (Op::Load { address, .. } | Op::Store { address, .. }) = &mut transition.op else {
                continue;
            };
            if let Address::Pointer(pointer) = address
                && let Some(constant) = pointer.constant(domain)
                && let Ok(index) = program
                    .locations
                    .binary_search_by_key(&constant, |l| l.address)
            {
                *address = Address::Direct(LocationId(index as u32));
            }
        }
    }
    program
}

#[cfg(test)]
mod tests;
