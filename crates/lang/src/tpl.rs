//! Rocker's toy language.
//!
//! Every `fn` is one thread; loads and stores are statements of their own, so the automaton follows the text closely. A thread whose
//! `assume` is false has ended.

use std::collections::{HashMap, HashSet};

use crate::build::ThreadBuilder;
use crate::expr::{BinaryOp, Domain, Expr, MAX_HEIGHT, Relation, UnaryOp, Value};
use crate::lex::{Errors, Kind, Token, Tokens, did_you_mean, end_of, quote, with_help};
use crate::parse::Parsed;
use crate::program::{
    Address, Language, Location, LocationId, Op, Order, Place, PlaceKind, PointId, Program,
    RegisterExpr, RegisterId, RmwAction, Thread, ThreadId,
};
use crate::source::{Diagnostic, Source, Span};

mod expr;

/// Values are 0 … 254 where a program does not say otherwise.
const DEFAULT_DOMAIN: Value = 255;
/// Blocks within blocks beyond this are refused.
const MAX_NESTING: usize = 200;
/// The location of `fence(upd)`, by a name that no program can write.
const FENCES: &str = "fence(upd)";
/// Leaves room for the negation that a branch adds.
const MAX_PARSED_HEIGHT: usize = MAX_HEIGHT - 2;

const STATEMENTS: [&str; 17] = [
    "FADD", "CAS", "BCAS", "exchange", "goto", "if", "while", "oneof", "wait", "fence", "lock",
    "unlock", "assert", "assume", "verify", "skip", "local",
];

/// Reads a program in this language; `domain` as if the program said it.
pub fn parse(source: &Source, domain: Option<Domain>) -> Result<Parsed, Vec<Diagnostic>> {
    let mut parser = Parser {
        tokens: Tokens::new(source.text()),
        errors: Errors::default(),
        max_value: None,
        locations: Vec::new(),
        names: HashMap::new(),
        threads: Vec::new(),
        thread_names: HashSet::new(),
        places: Vec::new(),
        writes_orders: writes_orders(source.text()),
    };
    parser.program();
    let domain = parser.domain(domain);
    if parser.threads.is_empty() && !parser.errors.any() {
        let error = Diagnostic::error(end_of(source.text()), "there is no thread in this program");
        parser.errors.error(error.label("expected `fn`"));
    }
    let warnings = parser.errors.finish()?;
    Ok(Parsed {
        program: Program {
            name: None,
            source: source.clone(),
            language: Language::Tpl,
            domain,
            locations: parser.locations,
            threads: parser.threads,
            nevers: Vec::new(),
            places: parser.places,
            bounds: Vec::new(),
            faults: Vec::new(),
        },
        warnings,
    })
}

/// An error was reported; the caller skips to where it can go on.
struct Failed;

type Outcome<T> = Result<T, Failed>;

struct Parser<'a> {
    tokens: Tokens<'a>,
    errors: Errors,
    max_value: Option<(Value, Span)>,
    locations: Vec<Location>,
    names: HashMap<&'a str, LocationId>,
    threads: Vec<Thread>,
    thread_names: HashSet<&'a str>,
    places: Vec<Place>,
    /// Some access of the file has an order: then those without one are relaxed.
    writes_orders: bool,
}

/// Whether an access of the file has an order. In the newer dialect every access says what it needs, and one that says nothing is relaxed; in the older one no access
/// has an order, and all acquire and release.
pub(crate) fn writes_orders(text: &str) -> bool {
    let mut tokens = Tokens::new(text);
    let mut before = ["", ""];
    let mut locals: HashSet<&str> = HashSet::new();
    let mut found: HashSet<&str> = HashSet::new();
    let mut declares = false;
    loop {
        let token = tokens.take();
        if token.kind == Kind::End {
            return found.difference(&locals).next().is_some();
        }
        declares = token.is("local") || declares && !token.is(";");
        if declares {
            locals.insert(token.text);
        } else if is_order(token.text) && (before == ["load", "("] || before[1] == ",") {
            found.insert(token.text);
        }
        before = [before[1], token.text];
    }
}

fn is_order(word: &str) -> bool {
    matches!(word, "rlx" | "acq" | "rel" | "acq_rel" | "seq_cst")
}

/// The `fn` that is being read.
struct Function<'a> {
    builder: ThreadBuilder,
    labels: HashMap<&'a str, PointId>,
    /// Jumps to be connected when all labels are known.
    gotos: Vec<(PointId, Op, Token<'a>, Span)>,
    /// Where a thread goes whose `assume` is false.
    ended: Option<PointId>,
    nesting: usize,
}

impl<'a> Parser<'a> {
    fn program(&mut self) {
        loop {
            let token = self.tokens.take();
            let result = match token.text {
                _ if token.kind == Kind::End => return,
                "max_value" => self.max_value(),
                "global" => self.locations(false),
                "na" => self.locations(true),
                "track" => {
                    self.skip_statement();
                    Ok(())
                }
                "fn" => self.function(token),
                _ => {
                    let message = format!("{} begins no part of a program", token.describe());
                    let parts = ["max_value", "global", "na", "track", "fn"];
                    self.errors.error(with_help(
                        Diagnostic::error(token.span, message)
                            .label("expected `max_value`, `global`, `na`, `track` or `fn`"),
                        did_you_mean(token.text, parts.into_iter()),
                    ));
                    Err(Failed)
                }
            };
            if let Err(Failed) = result {
                self.skip_to_function();
            }
        }
    }

    fn domain(&mut self, given: Option<Domain>) -> Domain {
        let said = self.max_value.and_then(|(max_value, span)| {
            let said = max_value.checked_add(1).and_then(Domain::modulo);
            if said.is_none() {
                self.errors.error(
                    Diagnostic::error(
                        span,
                        format!("with `max_value {max_value}` there is nothing to compute with"),
                    )
                    .label("expected 1 or more"),
                );
            }
            said.map(|said| (said, max_value, span))
        });
        if let (Some((said, max_value, span)), Some(given)) = (said, given)
            && said != given
        {
            let size = given.size().unwrap_or(0);
            self.errors.error(Diagnostic::error(
                span,
                format!(
                    "the program says `max_value {max_value}`, which is not the domain of {size} values that was asked for"
                ),
            ));
        }
        let default = || Domain::modulo(DEFAULT_DOMAIN).unwrap_or_default();
        let domain = said.map(|s| s.0).or(given).unwrap_or_else(default);
        for location in &self.locations {
            if domain.reduce(location.initial) != location.initial {
                self.errors.error(
                    Diagnostic::error(
                        location.span,
                        format!(
                            "{} begins as {}, which is more than the largest value",
                            quote(&location.name),
                            location.initial
                        ),
                    )
                    .label(format!(
                        "values are 0 to {} here",
                        domain.size().unwrap_or(0) - 1
                    )),
                );
            }
        }
        domain
    }

    fn max_value(&mut self) -> Outcome<()> {
        let token = self.tokens.peek();
        let value = self.number("the largest value")?;
        self.max_value = Some((value, token.span));
        self.expect(";")
    }

    /// `fence(upd)`: a read-modify-write of one extra location that nothing else uses.
    fn update_of_fences(&mut self, span: Span) -> Op {
        let known = self.names.get(FENCES).copied();
        let id = known.unwrap_or_else(|| {
            let id = LocationId(self.locations.len() as u32);
            self.names.insert(FENCES, id);
            self.locations.push(Location {
                name: FENCES.to_string(),
                address: Value::from(id.0) + 1,
                initial: 0,
                nonatomic: false,
                array: None,
                span,
            });
            id
        });
        Op::Rmw {
            register: None,
            address: Address::Direct(id),
            action: RmwAction::Exchange(Expr::Const(0)),
            order: Order::AcqRel,
        }
    }

    fn locations(&mut self, nonatomic: bool) -> Outcome<()> {
        loop {
            let name = self.word("the name of a location")?;
            let initial = match self.tokens.take_if("=") {
                Some(_) => self.number("the value at the beginning")?,
                None => 0,
            };
            let id = LocationId(self.locations.len() as u32);
            if self.names.insert(name.text, id).is_some() {
                self.errors.error(
                    Diagnostic::error(name.span, format!("{} is declared twice", quote(name.text)))
                        .label("the second declaration"),
                );
            }
            self.locations.push(Location {
                name: name.text.to_string(),
                address: Value::from(id.0) + 1,
                initial,
                nonatomic,
                array: None,
                span: name.span,
            });
            if self.tokens.take_if(",").is_none() {
                return self.expect(";");
            }
        }
    }

    fn function(&mut self, keyword: Token<'a>) -> Outcome<()> {
        let name = self.word("the name of the thread")?;
        if !self.thread_names.insert(name.text) {
            self.errors.error(
                Diagnostic::error(
                    name.span,
                    format!("there are two threads called {}", quote(name.text)),
                )
                .label("the second one"),
            );
        }
        let span = keyword.span.to(name.span);
        let mut function = Function {
            builder: ThreadBuilder::new(ThreadId(self.threads.len() as u32), name.text, span),
            labels: HashMap::new(),
            gotos: Vec::new(),
            ended: None,
            nesting: 0,
        };
        let begin = function.builder.initial();
        // Generous: some write `fn t() { … }`.
        if self.tokens.take_if("(").is_some() {
            self.expect(")")?;
        }
        self.block(&mut function, begin)?;
        for (from, op, label, span) in std::mem::take(&mut function.gotos) {
            match function.labels.get(label.text) {
                Some(to) => function.builder.edge(from, *to, op, span),
                None => self.errors.error(with_help(
                    Diagnostic::error(
                        label.span,
                        format!("there is no label {} in this thread", quote(label.text)),
                    )
                    .label("not a label"),
                    did_you_mean(label.text, function.labels.keys().copied()),
                )),
            }
        }
        self.threads.push(function.builder.finish());
        Ok(())
    }

    /// A block; returns the point at its closing brace, where a fence can stand.
    fn block(&mut self, function: &mut Function<'a>, mut at: PointId) -> Outcome<PointId> {
        let open = self.tokens.peek();
        self.expect("{")?;
        function.nesting += 1;
        if function.nesting > MAX_NESTING {
            self.errors.error(
                Diagnostic::error(
                    open.span,
                    format!("blocks are nested more than {MAX_NESTING} deep"),
                )
                .label("this one is too deep"),
            );
            // Nothing sensible can be said about what follows.
            while self.tokens.take().kind != Kind::End {}
            return Err(Failed);
        }
        loop {
            let token = self.tokens.peek();
            if token.is("}") {
                self.tokens.take();
                let kind = PlaceKind::BlockEnd;
                function
                    .builder
                    .place(&mut self.places, at, kind, None, token.span);
                function.nesting -= 1;
                return Ok(at);
            }
            if token.kind == Kind::End || token.is("fn") {
                let at = match token.kind {
                    Kind::End => end_of(self.tokens.text()),
                    _ => token.span,
                };
                self.errors.error(
                    Diagnostic::error(at, "a block is not closed")
                        .label("expected `}` before this")
                        .help("the block that begins last and is open is the one to look at"),
                );
                return Err(Failed);
            }
            match self.statement(function, at) {
                Ok(next) => at = next,
                Err(Failed) => self.skip_statement(),
            }
        }
    }

    /// One statement with its labels; returns the point behind it.
    fn statement(&mut self, function: &mut Function<'a>, at: PointId) -> Outcome<PointId> {
        let mut label = None;
        while self.tokens.peek().kind == Kind::Word && self.tokens.peek_second().is(":") {
            let name = self.tokens.take();
            self.tokens.take();
            label.get_or_insert(name.text);
            function.builder.label(name.text, at, name.span);
            if function.labels.insert(name.text, at).is_some() {
                self.errors.error(
                    Diagnostic::error(
                        name.span,
                        format!("there are two labels {} in this thread", quote(name.text)),
                    )
                    .label("the second one"),
                );
            }
        }
        let first = self.tokens.peek();
        if first.is("}") {
            // A label at the end of a block.
            return Ok(at);
        }
        // Places are numbered in the order of the text; the statement's end is filled in below.
        let place = self.places.len();
        let kind = PlaceKind::BeforeStatement;
        function
            .builder
            .place(&mut self.places, at, kind, label, first.span);
        let after = self.bare_statement(function, at)?;
        let span = Span {
            end: self.tokens.previous_end,
            ..first.span
        };
        self.places[place].span = span;
        function.builder.set_span(at, span);
        Ok(after)
    }

    fn bare_statement(&mut self, function: &mut Function<'a>, at: PointId) -> Outcome<PointId> {
        let first = self.tokens.peek();
        if first.kind != Kind::Word {
            return self.fail(first, "a statement");
        }
        let second = self.tokens.peek_second();
        if second.is("=") {
            return self.assignment(function, at);
        }
        if second.is(".") {
            return self.store(function, at);
        }
        self.tokens.take();
        match first.text {
            "FADD" | "CAS" | "BCAS" | "exchange" | "wait" => self.access(function, at, None, first),
            "local" => self.locals(function).map(|()| at),
            "skip" => self.simple(function, at, first, Op::Skip),
            "goto" => {
                let label = self.word("a label")?;
                self.expect(";")?;
                let span = self.since(first);
                function.gotos.push((at, Op::Skip, label, span));
                Ok(function.builder.point(span))
            }
            "if" => self.conditional(function, at, first),
            "while" => self.repetition(function, at, first),
            "oneof" => self.choice(function, at, first),
            "fence" => {
                let mut order = Order::SeqCst;
                if self.tokens.take_if("(").is_some() {
                    if self.tokens.take_if("upd").is_some() {
                        self.expect(")")?;
                        let op = self.update_of_fences(first.span);
                        return self.simple(function, at, first, op);
                    }
                    order = self.order()?;
                    self.expect(")")?;
                }
                self.simple(function, at, first, Op::Fence(order))
            }
            "lock" | "unlock" => {
                self.expect("(")?;
                let address = self.location(false)?;
                self.expect(")")?;
                let op = match first.text {
                    "lock" => Op::Rmw {
                        register: None,
                        address,
                        action: RmwAction::BlockingCompareAndSwap {
                            expected: Expr::Const(0),
                            desired: Expr::Const(1),
                        },
                        order: Order::AcqRel,
                    },
                    _ => Op::Store {
                        address,
                        value: Expr::Const(0),
                        order: Order::Release,
                    },
                };
                self.simple(function, at, first, op)
            }
            "assert" => {
                let condition = self.condition(function)?;
                self.simple(function, at, first, Op::Assert(condition))
            }
            "verify" => {
                // It uses what the registers hold, and says nothing about it.
                let used = self.condition(function)?;
                let same = Expr::binary(BinaryOp::Equal, used.clone(), used);
                self.simple(function, at, first, Op::Assert(same))
            }
            "assume" => {
                let condition = self.condition(function)?;
                self.expect(";")?;
                let span = self.since(first);
                let builder = &mut function.builder;
                let ended = *function.ended.get_or_insert_with(|| builder.point(span));
                builder.edge(at, ended, Op::Assume(not(&condition)), span);
                Ok(builder.step(at, Op::Assume(condition), span))
            }
            _ => {
                let message = format!("{} begins no statement", first.describe());
                let names = self.names.keys().copied().chain(STATEMENTS);
                let help = did_you_mean(first.text, names);
                let error = Diagnostic::error(first.span, message).label("expected a statement");
                self.errors.error(with_help(error, help));
                Err(Failed)
            }
        }
    }

    /// `;`, and the instruction.
    fn simple(
        &mut self,
        function: &mut Function<'a>,
        at: PointId,
        first: Token<'a>,
        op: Op,
    ) -> Outcome<PointId> {
        self.expect(";")?;
        let span = self.since(first);
        Ok(function.builder.step(at, op, span))
    }

    fn locals(&mut self, function: &mut Function<'a>) -> Outcome<()> {
        loop {
            let name = self.word("the name of a local variable")?;
            if function.builder.register_named(name.text).is_some() {
                self.errors.error(
                    Diagnostic::error(name.span, format!("{} is declared twice", quote(name.text)))
                        .label("the second declaration"),
                );
            } else {
                function.builder.register(Some(name.text), name.span);
            }
            if self.tokens.take_if(",").is_none() {
                return self.expect(";");
            }
        }
    }

    /// `r = …;`
    fn assignment(&mut self, function: &mut Function<'a>, at: PointId) -> Outcome<PointId> {
        let first = self.tokens.take();
        let register = self.local(function, first)?;
        self.expect("=")?;
        let next = self.tokens.peek();
        let second = self.tokens.peek_second();
        if next.kind == Kind::Word && second.is("(") {
            let call = self.tokens.take();
            return self.access(function, at, Some(register), call);
        }
        if next.kind == Kind::Word && second.is(".") {
            let mut ahead = self.tokens;
            ahead.take();
            ahead.take();
            let method = ahead.peek();
            let nonatomic = match method.text {
                "load" => false,
                "naload" => true,
                _ => return self.fail(method, "`load` or `naload`"),
            };
            let address = self.location(nonatomic)?;
            self.tokens.take();
            self.tokens.take();
            self.expect("(")?;
            let order = match self.tokens.peek().is(")") {
                true if nonatomic => Order::Acquire,
                true => self.unordered(Order::Acquire),
                false => self.order()?,
            };
            self.expect(")")?;
            let op = Op::Load {
                register,
                address,
                order,
            };
            return self.simple(function, at, first, op);
        }
        let value = self.expr(function)?;
        self.simple(function, at, first, Op::Assign(register, value))
    }

    /// `x.store(…);`
    fn store(&mut self, function: &mut Function<'a>, at: PointId) -> Outcome<PointId> {
        let first = self.tokens.peek();
        let mut ahead = self.tokens;
        ahead.take();
        ahead.take();
        let method = ahead.peek();
        let nonatomic = match method.text {
            "store" => false,
            "nastore" => true,
            "load" | "naload" => {
                self.errors.error(
                    Diagnostic::error(method.span, "what is loaded here goes nowhere")
                        .label("expected `store`")
                        .help(format!(
                            "write `r = {}.{}();` with a local `r`",
                            first.text, method.text
                        )),
                );
                return Err(Failed);
            }
            _ => return self.fail(method, "`store` or `nastore`"),
        };
        let address = self.location(nonatomic)?;
        self.tokens.take();
        self.tokens.take();
        self.expect("(")?;
        let value = self.expr(function)?;
        let order = match self.tokens.take_if(",") {
            Some(_) => self.order()?,
            None if nonatomic => Order::Release,
            None => self.unordered(Order::Release),
        };
        self.expect(")")?;
        let op = Op::Store {
            address,
            value,
            order,
        };
        self.simple(function, at, first, op)
    }

    /// A read-modify-write or a `wait`, whose name has just been read.
    fn access(
        &mut self,
        function: &mut Function<'a>,
        at: PointId,
        register: Option<RegisterId>,
        call: Token<'a>,
    ) -> Outcome<PointId> {
        let operands = match call.text {
            "FADD" | "exchange" => 1..=1,
            "CAS" | "BCAS" => 2..=2,
            "wait" => 1..=usize::MAX,
            _ => {
                let calls = ["FADD", "CAS", "BCAS", "exchange", "wait"];
                self.errors.error(with_help(
                    Diagnostic::error(call.span, format!("there is no {}", quote(call.text)))
                        .label("expected `FADD`, `CAS`, `BCAS`, `exchange` or `wait`"),
                    did_you_mean(call.text, calls.into_iter()),
                ));
                return Err(Failed);
            }
        };
        self.expect("(")?;
        let address = self.location(false)?;
        let mut values = Vec::new();
        let mut orders = Vec::new();
        while self.tokens.take_if(",").is_some() {
            if self.at_order(function) {
                orders.push(self.order()?);
            } else {
                values.push(self.expr(function)?);
            }
        }
        let close = self.tokens.peek();
        self.expect(")")?;
        if !operands.contains(&values.len()) || orders.len() > 2 {
            let wanted = match call.text {
                "wait" => "one value or more".to_string(),
                _ => format!(
                    "a location, {} and perhaps orders",
                    plural(*operands.start())
                ),
            };
            self.errors.error(
                Diagnostic::error(
                    call.span.to(close.span),
                    format!("{} has the wrong number of arguments", quote(call.text)),
                )
                .label(format!("expected {wanted}")),
            );
            return Err(Failed);
        }
        self.expect(";")?;
        let span = self.since(call);
        if call.text == "wait" {
            let after = function.builder.point(span);
            for value in values {
                let op = Op::Wait {
                    register,
                    address: address.clone(),
                    relation: Relation::Equal,
                    value,
                    order: (orders.first().copied())
                        .unwrap_or_else(|| self.unordered(Order::Acquire)),
                };
                function.builder.edge(at, after, op, span);
            }
            return Ok(after);
        }
        if orders.is_empty() && self.writes_orders {
            orders.push(Order::Relaxed);
        }
        let mut values = values.into_iter();
        let mut next = || values.next().unwrap_or(Expr::Const(0));
        let action = match call.text {
            "FADD" => RmwAction::Fetch(BinaryOp::Add, next()),
            "exchange" => RmwAction::Exchange(next()),
            "CAS" => RmwAction::CompareAndSwap {
                expected: next(),
                desired: next(),
                failure: match orders[..] {
                    [read, _] => read,
                    _ => rmw_order(&orders).without_release(),
                },
            },
            _ => RmwAction::BlockingCompareAndSwap {
                expected: next(),
                desired: next(),
            },
        };
        let op = Op::Rmw {
            register,
            address,
            action,
            order: rmw_order(&orders),
        };
        Ok(function.builder.step(at, op, span))
    }

    /// The order of an access that has none.
    fn unordered(&self, default: Order) -> Order {
        match self.writes_orders {
            true => Order::Relaxed,
            false => default,
        }
    }

    fn conditional(
        &mut self,
        function: &mut Function<'a>,
        at: PointId,
        first: Token<'a>,
    ) -> Outcome<PointId> {
        let condition = self.condition(function)?;
        let span = self.since(first);
        if self.tokens.take_if("goto").is_some() {
            let label = self.word("a label")?;
            self.expect(";")?;
            let otherwise = Op::Assume(not(&condition));
            let taken = Op::Assume(condition);
            function.gotos.push((at, taken, label, span));
            return Ok(function.builder.step(at, otherwise, span));
        }
        let after = function.builder.point(span);
        let yes = function
            .builder
            .step(at, Op::Assume(condition.clone()), span);
        let yes_end = self.block(function, yes)?;
        function.builder.edge(yes_end, after, Op::Jump, span);
        let otherwise = Op::Assume(not(&condition));
        match self.tokens.take_if("else") {
            None => function.builder.edge(at, after, otherwise, span),
            Some(_) => {
                let no = function.builder.step(at, otherwise, span);
                let no_end = if self.tokens.peek().is("if") {
                    // `else if` nests without a brace; the block in it checks the depth.
                    let nesting = function.nesting;
                    function.nesting += 1;
                    let end = self.statement(function, no);
                    function.nesting = nesting;
                    end?
                } else {
                    self.block(function, no)?
                };
                function.builder.edge(no_end, after, Op::Jump, span);
            }
        }
        Ok(after)
    }

    fn repetition(
        &mut self,
        function: &mut Function<'a>,
        at: PointId,
        first: Token<'a>,
    ) -> Outcome<PointId> {
        let condition = self.condition(function)?;
        let span = self.since(first);
        // A fence before the loop stands outside it, so the loop begins at a point of its own.
        let head = function.builder.step(at, Op::Jump, span);
        let after = function.builder.point(span);
        // The domain is not known for certain yet, but 0 and 1 are the same in all of them.
        let constant = match condition {
            Expr::Const(value @ (0 | 1)) => Some(value),
            _ => None,
        };
        let body = function.builder.point(span);
        if constant != Some(0) {
            let enter = Op::Assume(condition.clone());
            function.builder.edge(head, body, enter, span);
        }
        if constant != Some(1) {
            let leave = Op::Assume(not(&condition));
            function.builder.edge(head, after, leave, span);
        }
        let body_end = self.block(function, body)?;
        function.builder.edge(body_end, head, Op::Jump, span);
        Ok(after)
    }

    fn choice(
        &mut self,
        function: &mut Function<'a>,
        at: PointId,
        first: Token<'a>,
    ) -> Outcome<PointId> {
        self.expect("(")?;
        let after = function.builder.point(first.span);
        if !self.tokens.peek().is("{") {
            return self.fail(self.tokens.peek(), "`{`");
        }
        while self.tokens.peek().is("{") {
            let begin = function.builder.step(at, Op::Skip, first.span);
            let end = self.block(function, begin)?;
            function.builder.edge(end, after, Op::Jump, first.span);
            self.tokens.take_if(",");
        }
        self.expect(")")?;
        self.tokens.take_if(";");
        Ok(after)
    }

    fn word(&mut self, wanted: &str) -> Outcome<Token<'a>> {
        let token = self.tokens.peek();
        if token.kind != Kind::Word {
            return self.fail(token, wanted);
        }
        Ok(self.tokens.take())
    }

    fn number(&mut self, wanted: &str) -> Outcome<Value> {
        let token = self.tokens.peek();
        let value = match (token.kind, token.text) {
            (Kind::Number(Some(value)), _) => value,
            (_, "true") => 1,
            (_, "false") => 0,
            _ => return self.fail(token, wanted),
        };
        self.tokens.take();
        Ok(value)
    }

    fn expect(&mut self, symbol: &str) -> Outcome<()> {
        match self.tokens.take_if(symbol) {
            Some(_) => Ok(()),
            None if symbol == ";" => {
                let end = self.tokens.previous_end;
                self.errors.error(
                    Diagnostic::error(
                        Span { start: end, end },
                        format!("`;` is missing before {}", self.tokens.peek().describe()),
                    )
                    .label("expected `;`"),
                );
                Err(Failed)
            }
            None => self.fail(self.tokens.peek(), &quote(symbol)),
        }
    }

    fn fail<T>(&mut self, found: Token<'a>, wanted: &str) -> Outcome<T> {
        let span = match found.kind {
            Kind::End => end_of(self.tokens.text()),
            _ => found.span,
        };
        let message = format!("{} stands where {wanted} should be", found.describe());
        self.errors
            .error(Diagnostic::error(span, message).label(format!("expected {wanted}")));
        Err(Failed)
    }

    fn since(&self, first: Token<'a>) -> Span {
        Span {
            end: self.tokens.previous_end,
            ..first.span
        }
    }

    /// Behind the next `;`, or before a brace.
    fn skip_statement(&mut self) {
        loop {
            let token = self.tokens.peek();
            if token.kind == Kind::End || token.is("}") || token.is("fn") {
                return;
            }
            self.tokens.take();
            if token.is(";") {
                return;
            }
            if token.is("{") {
                return self.skip_block();
            }
        }
    }

    /// Behind the brace that closes the block whose opening brace has just been read.
    fn skip_block(&mut self) {
        let mut open = 1;
        while open > 0 && self.tokens.peek().kind != Kind::End {
            let token = self.tokens.take();
            if token.is("{") {
                open += 1;
            } else if token.is("}") {
                open -= 1;
            }
        }
    }

    fn skip_to_function(&mut self) {
        loop {
            let token = self.tokens.peek();
            if token.kind == Kind::End || token.is("fn") {
                return;
            }
            self.tokens.take();
        }
    }
}

fn not(condition: &RegisterExpr) -> RegisterExpr {
    Expr::unary(UnaryOp::Not, condition.clone())
}

fn plural(values: usize) -> &'static str {
    match values {
        1 => "one value",
        _ => "two values",
    }
}

/// The order of the read, then that of the write.
fn rmw_order(orders: &[Order]) -> Order {
    match *orders {
        [] => Order::AcqRel,
        [both] => both,
        [read, write, ..] => match (read.acquires(), write.releases()) {
            _ if read == Order::SeqCst && write == Order::SeqCst => Order::SeqCst,
            (true, true) => Order::AcqRel,
            (true, false) => Order::Acquire,
            (false, true) => Order::Release,
            (false, false) => Order::Relaxed,
        },
    }
}

#[cfg(test)]
mod tests;
