//! The C dialect: functions `P0`, `P1`, … whose parameters are locations.

use std::collections::{HashMap, HashSet};

use super::{Failed, Outcome, Test, expect, set_registers, unexpected, word};
use crate::build::ThreadBuilder;
use crate::expr::{BinaryOp, Expr, MAX_HEIGHT, UnaryOp};
use crate::lex::{
    Errors, Kind, Token, Tokens, binary_operator, did_you_mean, quote, unary_operator, with_help,
};
use crate::program::{
    LocationId, Op, Order, PlaceKind, PointId, RegisterExpr, RegisterId, ThreadId,
};
use crate::source::{Diagnostic, Span};

mod calls;

/// Blocks and expressions within others beyond this are refused.
const MAX_NESTING: usize = 200;
/// Room for what the lowering adds.
const MAX_PARSED_HEIGHT: usize = MAX_HEIGHT - 10;

/// Reads the functions; returns where the condition is.
pub(super) fn read(test: &mut Test<'_>, body: Span, errors: &mut Errors) -> Span {
    let mut tokens = Tokens::within(test.text, body, false);
    let mut kinds = Kinds::default();
    loop {
        let token = tokens.peek();
        let is_thread = token.kind == Kind::Word
            && token.text.starts_with('P')
            && token.text[1..].bytes().all(|b| b.is_ascii_digit())
            && tokens.peek_second().is("(");
        if !is_thread {
            // `void P0(…)` is a function as well.
            if token.is("void") || token.is("static") {
                tokens.take();
                continue;
            }
            break;
        }
        let number = test.threads.len();
        if token.text[1..].parse() != Ok(number) {
            let message = format!("the next thread must be called `P{number}`");
            errors.error(Diagnostic::error(token.span, message).label("not the next thread"));
        }
        tokens.take();
        let id = ThreadId(number as u32);
        let mut builder = ThreadBuilder::new(id, token.text, token.span);
        let begin = builder.initial();
        let at = set_registers(test, number, &mut builder, begin);
        let mut function = Function {
            test,
            errors,
            tokens,
            builder,
            at,
            parameters: HashMap::new(),
            kinds: &mut kinds,
            nesting: 0,
            scope: Vec::new(),
            scope_begin: 0,
        };
        let outcome = function.read();
        tokens = function.tokens;
        let builder = function.builder;
        test.threads.push(builder);
        if outcome.is_err() {
            // Go on with the next function.
            while tokens.peek().kind != Kind::End && !is_function_start(&tokens) {
                tokens.take();
            }
        }
    }
    for (index, location) in test.memory.locations.iter_mut().enumerate() {
        let id = LocationId(index as u32);
        location.nonatomic = !kinds.any_pointer
            && kinds.plain.contains(&id)
            && !kinds.atomic.contains(&id)
            && !kinds.special.contains(&id);
    }
    Span {
        start: tokens.peek().span.start,
        end: body.end,
    }
}

fn is_function_start(tokens: &Tokens<'_>) -> bool {
    let token = tokens.peek();
    token.kind == Kind::Word
        && token.text.len() > 1
        && token.text.starts_with('P')
        && token.text[1..].bytes().all(|b| b.is_ascii_digit())
        && tokens.peek_second().is("(")
}

/// What is known of locations: how they are declared and accessed.
#[derive(Default)]
struct Kinds {
    /// Declared atomic.
    atomic: HashSet<LocationId>,
    /// Accessed plainly.
    plain: HashSet<LocationId>,
    /// Accessed in another way, or declared volatile.
    special: HashSet<LocationId>,
    /// Whether some address is computed.
    any_pointer: bool,
}

struct Function<'t, 'a, 'e> {
    test: &'t mut Test<'a>,
    errors: &'e mut Errors,
    tokens: Tokens<'a>,
    builder: ThreadBuilder,
    at: PointId,
    /// Parameters are addresses of the locations of the same names.
    parameters: HashMap<&'a str, LocationId>,
    kinds: &'t mut Kinds,
    nesting: usize,
    /// The variables that are in scope, and what each of them hides.
    scope: Vec<(&'a str, Option<RegisterId>)>,
    /// Where the innermost block's own begin among them.
    scope_begin: usize,
}

/// An expression and its height.
type Tree = (RegisterExpr, usize);

impl<'a> Function<'_, 'a, '_> {
    fn read(&mut self) -> Outcome<()> {
        self.expect("(")?;
        while self.tokens.peek().kind != Kind::End && self.tokens.take_if(")").is_none() {
            let (mut is_atomic, mut is_volatile) = (false, false);
            let mut name = None;
            loop {
                let token = self.tokens.peek();
                if token.kind == Kind::Word {
                    is_atomic |= token.text.starts_with("atomic") || token.text == "_Atomic";
                    is_volatile |= token.text == "volatile";
                    name = Some(token);
                } else if !token.is("*") {
                    break;
                }
                self.tokens.take();
            }
            let Some(name) = name else {
                return self.unexpected("a parameter");
            };
            let id = self.test.memory.location(name.text, name.span);
            self.parameters.insert(name.text, id);
            if is_atomic {
                self.kinds.atomic.insert(id);
            }
            if is_volatile {
                self.kinds.special.insert(id);
            }
            if !self.tokens.peek().is(")") {
                self.expect(",")?;
            }
        }
        self.block()
    }

    /// `{ … }`
    fn block(&mut self) -> Outcome<()> {
        self.expect("{")?;
        self.deeper()?;
        let outer = std::mem::replace(&mut self.scope_begin, self.scope.len());
        loop {
            let token = self.tokens.peek();
            if token.kind == Kind::End {
                return self.unexpected("`}`");
            }
            if self.tokens.take_if("}").is_some() {
                self.nesting -= 1;
                for (name, hidden) in self.scope.drain(self.scope_begin..).rev() {
                    // The condition of the test may still ask for a variable that hides nothing.
                    if hidden.is_some() || self.parameters.contains_key(name) {
                        self.builder.bind(name, hidden);
                    }
                }
                self.scope_begin = outer;
                return Ok(());
            }
            self.statement()?;
        }
    }

    /// A variable of the innermost block.
    fn declare(&mut self, name: Token<'a>) -> Outcome<RegisterId> {
        let is_same = |(other, _): &(&str, _)| *other == name.text;
        if self.scope[self.scope_begin..].iter().any(is_same) {
            let message = format!("{} is declared twice in one block", quote(name.text));
            self.errors
                .error(Diagnostic::error(name.span, message).label("the second time"));
            return Err(Failed);
        }
        let known = self.builder.register_named(name.text);
        let hidden = known.filter(|_| self.scope.iter().any(is_same));
        self.scope.push((name.text, hidden));
        match (known, hidden) {
            // Of another block that has ended, or of the init section.
            (Some(register), None) => Ok(register),
            _ => Ok(self.builder.register(Some(name.text), name.span)),
        }
    }

    fn deeper(&mut self) -> Outcome<()> {
        self.nesting += 1;
        if self.nesting <= MAX_NESTING {
            return Ok(());
        }
        let span = self.tokens.peek().span;
        let message = format!("this is nested more than {MAX_NESTING} deep");
        self.errors.error(Diagnostic::error(span, message));
        Err(Failed)
    }

    fn statement(&mut self) -> Outcome<()> {
        let first = self.tokens.peek();
        if first.is(";") {
            self.tokens.take();
            return Ok(());
        }
        if first.is("{") {
            return self.block();
        }
        // The place before the statement; its end is known afterwards.
        let place = self.test.places.len();
        let begin = self.at;
        let kind = PlaceKind::BeforeStatement;
        self.builder
            .place(&mut self.test.places, begin, kind, None, first.span);
        match first.text {
            "if" => self.conditional()?,
            "while" => self.repetition()?,
            "do" => self.do_while()?,
            "return" => {
                self.tokens.take();
                if !self.tokens.peek().is(";") {
                    self.expr()?;
                }
                self.expect(";")?;
                let span = self.since(first);
                let end = self.builder.point(span);
                self.builder.edge(self.at, end, Op::Skip, span);
                self.at = self.builder.point(span);
            }
            _ => self.simple(first)?,
        }
        if self.at == begin {
            // A declaration makes no instruction: the next statement takes the place.
            return Ok(());
        }
        let span = self.since(first);
        self.test.places[place].span = span;
        self.builder.set_span(begin, span);
        Ok(())
    }

    /// A declaration, an assignment or a call.
    fn simple(&mut self, first: Token<'a>) -> Outcome<()> {
        let second = self.tokens.peek_second();
        let is_declaration = first.kind == Kind::Word
            && !self.parameters.contains_key(first.text)
            && (second.kind == Kind::Word
                || second.is("*") && self.builder.register_named(first.text).is_none());
        if is_declaration {
            return self.declaration();
        }
        if first.kind == Kind::Word && second.is("=") {
            self.tokens.take();
            self.tokens.take();
            let register = self.local(first)?;
            let (value, _) = self.expr()?;
            self.expect(";")?;
            self.assign(register, value, first);
            return Ok(());
        }
        if first.is("*") {
            self.tokens.take();
            let (pointer, _) = self.operand(0)?;
            if self.tokens.take_if("=").is_some() {
                let (value, _) = self.expr()?;
                self.expect(";")?;
                let (address, order) = self.plain_access(pointer, Order::Release);
                let span = self.since(first);
                self.step(
                    Op::Store {
                        address,
                        value,
                        order,
                    },
                    span,
                );
                return Ok(());
            }
            return self.unexpected("`=`");
        }
        let before = self.at;
        self.expr()?;
        self.expect(";")?;
        if self.at == before {
            // `x;` alone does nothing.
            let span = self.since(first);
            self.step(Op::Skip, span);
        }
        Ok(())
    }

    fn declaration(&mut self) -> Outcome<()> {
        // All words but the last are the type.
        while self.tokens.peek().kind == Kind::Word {
            let next = self.tokens.peek_second();
            if next.kind != Kind::Word && !next.is("*") {
                break;
            }
            self.tokens.take();
            while self.tokens.take_if("*").is_some() {}
        }
        loop {
            while self.tokens.take_if("*").is_some() {}
            let name = word(&mut self.tokens, "the name of a variable", self.errors)?;
            let register = self.declare(name)?;
            if self.tokens.take_if("=").is_some() {
                let (value, _) = self.expr()?;
                self.assign(register, value, name);
            }
            if self.tokens.take_if(",").is_none() {
                return self.expect(";");
            }
        }
    }

    /// Sets a register. A load into a register that only carries its value here goes to the variable itself.
    fn assign(&mut self, register: RegisterId, value: RegisterExpr, first: Token<'a>) {
        let span = self.since(first);
        if let Expr::Atom(source) = value
            && self.builder.retarget(self.at, source, register)
        {
            return;
        }
        self.step(Op::Assign(register, value), span);
    }

    fn conditional(&mut self) -> Outcome<()> {
        let first = self.tokens.take();
        self.deeper()?;
        let condition = self.condition()?;
        let span = self.since(first);
        let from = self.at;
        let otherwise = Op::Assume(Expr::unary(UnaryOp::Not, condition.clone()));
        let after = self.builder.point(span);
        self.at = self.builder.step(from, Op::Assume(condition), span);
        self.statement()?;
        self.builder.edge(self.at, after, Op::Jump, span);
        if self.tokens.take_if("else").is_some() {
            self.at = self.builder.step(from, otherwise, span);
            self.statement()?;
            self.builder.edge(self.at, after, Op::Jump, span);
        } else {
            self.builder.edge(from, after, otherwise, span);
        }
        self.at = after;
        self.nesting -= 1;
        Ok(())
    }

    fn repetition(&mut self) -> Outcome<()> {
        let first = self.tokens.take();
        self.deeper()?;
        let head = self.builder.point(first.span);
        self.builder.edge(self.at, head, Op::Jump, first.span);
        self.at = head;
        let condition = self.condition()?;
        let span = self.since(first);
        let from = self.at;
        let constant = match condition {
            Expr::Const(value) => Some(value != 0),
            _ => None,
        };
        let after = self.builder.point(span);
        if constant != Some(true) {
            let otherwise = Op::Assume(Expr::unary(UnaryOp::Not, condition.clone()));
            self.builder.edge(from, after, otherwise, span);
        }
        self.at = self.builder.point(span);
        if constant != Some(false) {
            self.builder
                .edge(from, self.at, Op::Assume(condition), span);
        }
        self.statement()?;
        self.builder.edge(self.at, head, Op::Jump, span);
        self.at = after;
        self.nesting -= 1;
        Ok(())
    }

    fn do_while(&mut self) -> Outcome<()> {
        let first = self.tokens.take();
        self.deeper()?;
        let head = self.builder.point(first.span);
        self.builder.edge(self.at, head, Op::Jump, first.span);
        self.at = head;
        self.statement()?;
        self.expect("while")?;
        let condition = self.condition()?;
        self.expect(";")?;
        let span = self.since(first);
        let otherwise = Op::Assume(Expr::unary(UnaryOp::Not, condition.clone()));
        let from = self.at;
        self.builder.edge(from, head, Op::Assume(condition), span);
        self.at = self.builder.step(from, otherwise, span);
        self.nesting -= 1;
        Ok(())
    }

    fn condition(&mut self) -> Outcome<RegisterExpr> {
        self.expect("(")?;
        let (condition, _) = self.expr()?;
        self.expect(")")?;
        Ok(condition)
    }

    fn expr(&mut self) -> Outcome<Tree> {
        self.expr_above(0, 0)
    }

    /// Operators that bind tighter than `binding`; loads and calls become instructions on the way.
    fn expr_above(&mut self, binding: u8, depth: usize) -> Outcome<Tree> {
        let (mut left, mut height) = self.operand(depth)?;
        loop {
            let token = self.tokens.peek();
            let op = match binary_operator(token.text) {
                Some(op) if token.kind == Kind::Symbol && op.precedence() > binding => op,
                _ => return Ok((left, height)),
            };
            self.tokens.take();
            let before = self.at;
            let is_lazy = matches!(op, BinaryOp::And | BinaryOp::Or);
            if is_lazy {
                // The right side may turn out to make instructions, which are executed only when needed.
                self.at = self.builder.point(token.span);
            }
            let right_begin = self.at;
            let (right, right_height) = self.expr_above(op.precedence(), depth + 1)?;
            height = height.max(right_height) + 1;
            if height > MAX_PARSED_HEIGHT {
                let error = Diagnostic::error(token.span, "this expression has too many parts");
                self.errors.error(error);
                return Err(Failed);
            }
            if is_lazy && self.at == right_begin {
                self.at = before;
            } else if is_lazy {
                left = self.lazy(op, left, before, right, right_begin, token.span);
                height = 1;
                continue;
            }
            left = Expr::binary(op, left, right);
        }
    }

    /// `left && right` or `left || right`, where the right side makes instructions.
    fn lazy(
        &mut self,
        op: BinaryOp,
        left: RegisterExpr,
        before: PointId,
        right: RegisterExpr,
        right_begin: PointId,
        span: Span,
    ) -> RegisterExpr {
        let result = self.builder.register(None, span);
        let not_left = Expr::unary(UnaryOp::Not, left.clone());
        let (needed, settled, value) = match op {
            BinaryOp::And => (left, not_left, 0),
            _ => (not_left, left, 1),
        };
        let after = self.builder.point(span);
        self.builder
            .edge(before, right_begin, Op::Assume(needed), span);
        let short = self.builder.step(before, Op::Assume(settled), span);
        let set = Op::Assign(result, Expr::Const(value));
        self.builder.edge(short, after, set, span);
        let truth = Expr::binary(BinaryOp::NotEqual, right, Expr::Const(0));
        self.builder
            .edge(self.at, after, Op::Assign(result, truth), span);
        self.at = after;
        Expr::Atom(result)
    }

    fn operand(&mut self, depth: usize) -> Outcome<Tree> {
        let token = self.tokens.peek();
        if depth > MAX_NESTING {
            let message = format!("this expression is nested more than {MAX_NESTING} deep");
            self.errors.error(Diagnostic::error(token.span, message));
            return Err(Failed);
        }
        match token.kind {
            Kind::Number(Some(value)) => {
                self.tokens.take();
                Ok((Expr::Const(value), 1))
            }
            Kind::Word => {
                self.tokens.take();
                if self.tokens.peek().is("(") || self.tokens.peek().is("{") {
                    return Ok((self.call(token, depth)?, 1));
                }
                match token.text {
                    "true" => return Ok((Expr::Const(1), 1)),
                    "false" | "NULL" => return Ok((Expr::Const(0), 1)),
                    _ => {}
                }
                // A local variable hides a parameter.
                if let Some(register) = self.builder.register_named(token.text) {
                    return Ok((Expr::Atom(register), 1));
                }
                if let Some(id) = self.parameters.get(token.text) {
                    return Ok((Expr::Const(self.test.memory.address(*id)), 1));
                }
                Ok((Expr::Atom(self.local(token)?), 1))
            }
            Kind::Symbol if token.text == "(" => {
                self.tokens.take();
                // A cast is a type in parentheses.
                let mut ahead = self.tokens;
                let is_type = |t: Token<'a>| {
                    [
                        "int",
                        "long",
                        "unsigned",
                        "void",
                        "atomic_int",
                        "uint64_t",
                        "int64_t",
                    ]
                    .contains(&t.text)
                };
                if is_type(ahead.peek()) {
                    while ahead.peek().kind == Kind::Word || ahead.peek().is("*") {
                        ahead.take();
                    }
                    if ahead.take_if(")").is_some() {
                        self.tokens = ahead;
                        return self.operand(depth + 1);
                    }
                }
                let inner = self.expr_above(0, depth + 1)?;
                self.expect(")")?;
                Ok(inner)
            }
            Kind::Symbol if token.text == "*" => {
                self.tokens.take();
                let (pointer, _) = self.operand(depth + 1)?;
                let (address, order) = self.plain_access(pointer, Order::Acquire);
                Ok((self.load(address, order, token), 1))
            }
            Kind::Symbol if token.text == "&" => {
                self.tokens.take();
                self.operand(depth + 1)
            }
            Kind::Symbol => match unary_operator(token.text) {
                Some(op) => {
                    self.tokens.take();
                    let (operand, height) = self.operand(depth + 1)?;
                    Ok((Expr::unary(op, operand), height + 1))
                }
                None => self.unexpected("an expression"),
            },
            _ => self.unexpected("an expression"),
        }
    }

    fn local(&mut self, name: Token<'a>) -> Outcome<RegisterId> {
        if let Some(register) = self.builder.register_named(name.text) {
            return Ok(register);
        }
        let known = self.builder.register_names();
        let known = known.chain(self.parameters.keys().copied());
        let help = match self.parameters.contains_key(name.text) {
            true => Some(format!("`{0}` is a location: write `*{0}`", name.text)),
            false => did_you_mean(name.text, known),
        };
        self.errors.error(with_help(
            Diagnostic::error(
                name.span,
                format!("{} is not a variable of this thread", quote(name.text)),
            )
            .label("not declared"),
            help,
        ));
        Err(Failed)
    }

    fn step(&mut self, op: Op, span: Span) {
        self.at = self.builder.step(self.at, op, span);
    }

    fn since(&self, first: Token<'a>) -> Span {
        Span {
            end: self.tokens.previous_end.max(first.span.end),
            ..first.span
        }
    }

    fn expect(&mut self, symbol: &str) -> Outcome<()> {
        expect(&mut self.tokens, symbol, self.errors)
    }

    fn unexpected<T>(&mut self, wanted: &str) -> Outcome<T> {
        let token = self.tokens.peek();
        unexpected(token, wanted, self.tokens.text(), self.errors)
    }
}
