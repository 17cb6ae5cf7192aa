//! From tokens to the tree: expressions.

use crate::expr::{BinaryOp, MAX_HEIGHT, Relation, UnaryOp};
use crate::program::Order;
use crate::source::{Diagnostic, Span};

use super::ast::*;
use super::lexer::{Tok, integer};
use super::parser::{Parse, Parser, shorten};

/// Lowering puts at most a `!` on top of what is written.
const MAX_WRITTEN_HEIGHT: u16 = MAX_HEIGHT as u16 - 1;

/// How tightly the operands of a relation bind.
const TIGHTER_THAN_RELATIONS: u8 = 8;

impl<'a> Parser<'a, '_> {
    /// An expression, in which `=` is a mistake.
    pub fn expr(&mut self) -> Parse<ExprId> {
        let before = std::mem::replace(&mut self.assign_ends, false);
        let result = self.binary(1);
        self.assign_ends = before;
        result
    }

    /// The expression at the beginning of a statement: `=` ends it.
    pub fn expr_at_statement(&mut self) -> Parse<ExprId> {
        self.binary(1)
    }

    /// Expressions separated by commas, up to and with the closing token.
    pub fn list(&mut self, close: Tok) -> Parse<Vec<ExprId>> {
        let mut list = Vec::new();
        if self.eat(close) {
            return Ok(list);
        }
        loop {
            list.push(self.expr()?);
            if self.eat(Tok::Comma) {
                continue;
            }
            if self.eat(close) {
                return Ok(list);
            }
            let expected = format!("`,` or `{}`", close.text().unwrap_or(""));
            let diagnostic = self.unexpected(&expected);
            return self.error(diagnostic);
        }
    }

    /// Whether the expression is the name of a register or a shared place.
    pub fn is_place(&self, id: ExprId) -> bool {
        matches!(
            self.ast.expr(id).kind,
            ExprKind::Name(_)
                | ExprKind::Index(..)
                | ExprKind::Element(..)
                | ExprKind::Field(..)
                | ExprKind::Member(..)
                | ExprKind::Arrow(..)
                | ExprKind::Deref(_)
                | ExprKind::Error
        )
    }

    fn enter(&mut self) -> Parse<()> {
        self.depth += 1;
        if self.depth <= MAX_HEIGHT {
            return Ok(());
        }
        self.depth -= 1;
        let diagnostic = Diagnostic::error(
            self.span(),
            format!("this expression is nested more than {MAX_HEIGHT} deep"),
        )
        .label("too deep")
        .help("compute a part of it first, into a register");
        self.error(diagnostic)
    }

    fn node(&mut self, kind: ExprKind<'a>, span: Span) -> Parse<ExprId> {
        let below = match &kind {
            ExprKind::Index(_, a)
            | ExprKind::Field(a, _)
            | ExprKind::Arrow(a, _)
            | ExprKind::Deref(a)
            | ExprKind::AddressOf(a)
            | ExprKind::Load(a, _)
            | ExprKind::Unary(_, a) => self.height(*a),
            ExprKind::Binary(_, a, b)
            | ExprKind::Element(a, b)
            | ExprKind::Checked(a, b)
            | ExprKind::Store(a, b, _) => self.height(*a).max(self.height(*b)),
            ExprKind::Wait { place, value, .. } => self.height(*place).max(self.height(*value)),
            ExprKind::Rmw {
                place, arguments, ..
            } => arguments
                .iter()
                .fold(self.height(*place), |h, a| h.max(self.height(*a))),
            ExprKind::Call(_, arguments) => arguments.iter().fold(0, |h, a| h.max(self.height(*a))),
            ExprKind::At(_, Some(copy), _) | ExprKind::Member(_, Some(copy), _) => {
                self.height(*copy)
            }
            _ => 0,
        };
        if below >= MAX_WRITTEN_HEIGHT {
            let diagnostic = Diagnostic::error(
                span,
                format!("this expression is more than {MAX_WRITTEN_HEIGHT} operators high"),
            )
            .label("too many operators, one on top of the other")
            .help("compute a part of it first, into a register");
            return self.error(diagnostic);
        }
        Ok(self.ast.add(Expr {
            kind,
            span,
            height: below + 1,
        }))
    }

    fn height(&self, id: ExprId) -> u16 {
        self.ast.expr(id).height
    }

    fn span_of(&self, id: ExprId) -> Span {
        self.ast.expr(id).span
    }

    fn binary(&mut self, minimum: u8) -> Parse<ExprId> {
        self.enter()?;
        let result = self.operators(minimum);
        self.depth -= 1;
        result
    }

    /// C's binary operators, by precedence climbing; all of them group from the left.
    fn operators(&mut self, minimum: u8) -> Parse<ExprId> {
        let mut left = self.unary()?;
        loop {
            let op = match self.kind() {
                Tok::Assign if !self.assign_ends => {
                    if BinaryOp::Equal.precedence() < minimum {
                        return Ok(left);
                    }
                    self.diagnostics.push(
                        Diagnostic::error(self.span(), "`=` cannot stand in an expression")
                            .label("expected an operator")
                            .help("to compare, write `==`"),
                    );
                    BinaryOp::Equal
                }
                kind => match binary_operator(kind) {
                    Some(op) => op,
                    None => return Ok(left),
                },
            };
            if op.precedence() < minimum {
                return Ok(left);
            }
            self.bump();
            let right = self.binary(op.precedence() + 1)?;
            let span = self.span_of(left).to(self.span_of(right));
            left = self.node(ExprKind::Binary(op, left, right), span)?;
        }
    }

    fn unary(&mut self) -> Parse<ExprId> {
        let op = match self.kind() {
            Tok::Not => UnaryOp::Not,
            Tok::Minus => UnaryOp::Negate,
            Tok::Tilde => UnaryOp::Complement,
            _ => return self.primary(),
        };
        let start = self.span();
        self.bump();
        self.enter()?;
        let operand = self.unary();
        self.depth -= 1;
        let operand = operand?;
        let span = start.to(self.span_of(operand));
        if op == UnaryOp::Negate && matches!(self.ast.expr(operand).kind, ExprKind::TooLarge) {
            return self.node(ExprKind::Int(i64::MIN), span);
        }
        self.node(ExprKind::Unary(op, operand), span)
    }

    fn primary(&mut self) -> Parse<ExprId> {
        let base = self.base()?;
        self.postfix(base)
    }

    /// A primary without what can follow behind a dot, so that `*p.load()` loads from where `p` points, as `*p.store(1)` stores there.
    fn base(&mut self) -> Parse<ExprId> {
        let start = self.span();
        match self.kind() {
            Tok::Int => self.int(),
            Tok::Name if self.kind_after(1) == Tok::OpenParen => self.call(),
            Tok::Name => {
                let name = self.name("a name")?;
                if !self.eat(Tok::OpenBracket) {
                    return self.node(ExprKind::Name(name), start);
                }
                let index = self.expr()?;
                let end = self.expect(Tok::CloseBracket)?;
                self.node(ExprKind::Index(name, index), start.to(end))
            }
            Tok::Me => {
                self.bump();
                self.node(ExprKind::Me, start)
            }
            Tok::Strange => {
                self.bump();
                self.node(ExprKind::Error, start)
            }
            Tok::Star | Tok::And => {
                let deref = self.kind() == Tok::Star;
                self.bump();
                self.enter()?;
                let inner = self.base().and_then(|base| self.path(base));
                self.depth -= 1;
                let inner = inner?;
                let span = start.to(self.span_of(inner));
                if deref {
                    return self.node(ExprKind::Deref(inner), span);
                }
                if !self.is_place(inner) {
                    let diagnostic = Diagnostic::error(span, "only a shared place has an address")
                        .label("expected `&` and the name of a shared place");
                    return self.error(diagnostic);
                }
                self.node(ExprKind::AddressOf(inner), span)
            }
            Tok::OpenParen => {
                self.bump();
                let inner = self.expr()?;
                if self.kind() != Tok::CloseParen {
                    let diagnostic = self.unexpected("`)` or an operator");
                    return self.error(diagnostic);
                }
                self.bump();
                let span = start.to(self.last_span());
                self.ast.set_span(inner, span);
                Ok(inner)
            }
            Tok::Cas => self.rmw(Rmw::Cas),
            Tok::Bcas => self.rmw(Rmw::Bcas),
            Tok::Xchg => self.rmw(Rmw::Exchange),
            Tok::Fadd => self.rmw(Rmw::Fetch(BinaryOp::Add)),
            Tok::Wait => self.wait(),
            _ => {
                let mut diagnostic = self.unexpected("an expression");
                let touching = self.last_span().end == self.span().start;
                diagnostic.help = match (self.last_kind(), self.kind()) {
                    (op, Tok::Assign) if touching && binary_operator(op).is_some() => {
                        let op = op.text().unwrap_or("");
                        Some(format!("there is no `{op}=`; write `x = x {op} …`"))
                    }
                    (Tok::Plus, Tok::Plus) if touching => {
                        Some("there is no `++`; write `x += 1`".into())
                    }
                    (_, Tok::Plus) => Some("there is no `+` with one operand".into()),
                    (_, kind) if kind.is_word() => Some(format!(
                        "`{}` is a keyword and cannot be a name",
                        self.token_text()
                    )),
                    _ => None,
                };
                self.error(diagnostic)
            }
        }
    }

    fn int(&mut self) -> Parse<ExprId> {
        let span = self.span();
        let text = self.token_text();
        self.bump();
        match integer(text) {
            Some(value) => {
                let kind = match i64::try_from(value) {
                    Ok(value) => ExprKind::Int(value),
                    Err(_) => ExprKind::TooLarge,
                };
                self.node(kind, span)
            }
            None => {
                let digits = text.bytes().all(|b| b.is_ascii_digit()) || text.starts_with("0x");
                let message = match digits {
                    true => format!("`{}` does not fit in 64 bits", shorten(text)),
                    false => format!("`{}` is neither a number nor a name", shorten(text)),
                };
                self.diagnostics
                    .push(Diagnostic::error(span, message).label("expected a number"));
                self.node(ExprKind::Error, span)
            }
        }
    }

    fn call(&mut self) -> Parse<ExprId> {
        let name = self.name("a name")?;
        if name.text.starts_with("fetch_") && !self.own_fetch.contains(name.text) {
            let op = FETCH_OPS
                .into_iter()
                .find(|op| fetch_name(*op) == name.text);
            if name.text == "fetch_add" || op.is_some() {
                return self.rmw_arguments(Rmw::Fetch(op.unwrap_or(BinaryOp::Add)), name.span);
            }
        }
        self.expect(Tok::OpenParen)?;
        let arguments = self.list(Tok::CloseParen)?;
        let span = name.span.to(self.last_span());
        match arguments[..] {
            [value, length] if name.text == "index" && !self.own_fetch.contains("index") => {
                self.node(ExprKind::Checked(value, length), span)
            }
            _ => self.node(ExprKind::Call(name, arguments), span),
        }
    }

    fn rmw(&mut self, function: Rmw) -> Parse<ExprId> {
        let start = self.span();
        self.bump();
        self.rmw_arguments(function, start)
    }

    fn rmw_arguments(&mut self, function: Rmw, start: Span) -> Parse<ExprId> {
        let usage = match function {
            Rmw::Exchange | Rmw::Fetch(_) => format!("`{}(place, value)`", function.name()),
            _ => format!("`{}(place, expected, new)`", function.name()),
        };
        self.expect(Tok::OpenParen)?;
        let place = self.expr()?;
        self.require_place(place, function.name())?;
        self.rmw_rest(function, place, start, true, &usage)
    }

    /// The arguments of a read-modify-write behind the place or, for a method, behind the `(`.
    fn rmw_rest(
        &mut self,
        function: Rmw,
        place: ExprId,
        start: Span,
        mut comma: bool,
        usage: &str,
    ) -> Parse<ExprId> {
        let mut arguments = Vec::with_capacity(function.arguments());
        for _ in 0..function.arguments() {
            if comma && self.kind() != Tok::Comma {
                let diagnostic = self.unexpected("`,`").help(format!("it is {usage}"));
                return self.error(diagnostic);
            }
            if comma {
                self.bump();
            }
            comma = true;
            arguments.push(self.expr()?);
        }
        let (order, failure) = self.rmw_orders(function, usage)?;
        let span = start.to(self.last_span());
        self.node(
            ExprKind::Rmw {
                function,
                place,
                arguments,
                order,
                failure,
            },
            span,
        )
    }

    /// `)`, `, order )` or, for a `cas`, `, success, failure )`
    fn rmw_orders(&mut self, function: Rmw, usage: &str) -> Parse<(Option<Order>, Option<Order>)> {
        let two = matches!(function, Rmw::Cas | Rmw::WeakCas)
            && self.kind() == Tok::Comma
            && self.kind_after(1) == Tok::Name
            && self.kind_after(2) == Tok::Comma;
        if !two {
            return Ok((self.last_order(usage)?, None));
        }
        self.bump();
        let success = self.order()?;
        let at = self.span_after(1);
        let failure = self.last_order(usage)?;
        if let Some(order @ (Order::Release | Order::AcqRel)) = failure {
            let diagnostic = Diagnostic::error(
                at,
                format!(
                    "a `cas` that fails is a load, which cannot be `{}`",
                    order.name()
                ),
            )
            .label("expected `relaxed`, `acquire` or `seqcst`");
            self.diagnostics.push(diagnostic);
        }
        Ok((Some(success), failure))
    }

    /// `)` or `, order )`
    fn last_order(&mut self, usage: &str) -> Parse<Option<Order>> {
        let mut order = None;
        if self.eat(Tok::Comma) {
            order = Some(self.order()?);
        }
        if self.kind() != Tok::CloseParen {
            let diagnostic = self.unexpected("`)`").help(format!("it is {usage}"));
            return self.error(diagnostic);
        }
        self.bump();
        Ok(order)
    }

    fn require_place(&mut self, id: ExprId, function: &str) -> Parse<()> {
        if self.is_place(id) {
            return Ok(());
        }
        let diagnostic = Diagnostic::error(
            self.span_of(id),
            format!("`{function}` works on a shared place, and this is none"),
        )
        .label("expected the name of a shared place, or `*` and its address");
        self.error(diagnostic)
    }

    fn wait(&mut self) -> Parse<ExprId> {
        let start = self.span();
        self.bump();
        self.expect(Tok::OpenParen)?;
        let before = std::mem::replace(&mut self.assign_ends, false);
        let place = self.binary(TIGHTER_THAN_RELATIONS);
        self.assign_ends = before;
        let place = place?;
        let relation = match self.kind() {
            Tok::Equal => Relation::Equal,
            Tok::NotEqual => Relation::NotEqual,
            Tok::Less => Relation::Less,
            Tok::LessEqual => Relation::LessEqual,
            Tok::Greater => Relation::Greater,
            Tok::GreaterEqual => Relation::GreaterEqual,
            Tok::Assign => {
                self.diagnostics.push(
                    Diagnostic::error(self.span(), "`=` cannot stand in an expression")
                        .label("expected a relation")
                        .help("to compare, write `==`"),
                );
                Relation::Equal
            }
            _ => {
                let diagnostic = self
                    .unexpected("`==`, `!=`, `<`, `<=`, `>` or `>=`")
                    .help("it is `wait(place == value)`");
                return self.error(diagnostic);
            }
        };
        self.bump();
        let before = std::mem::replace(&mut self.assign_ends, false);
        let value = self.binary(TIGHTER_THAN_RELATIONS);
        self.assign_ends = before;
        let value = value?;
        if binary_operator(self.kind()).is_some() {
            let diagnostic = Diagnostic::error(
                self.span(),
                format!(
                    "`wait` waits for one relation of one place: `{}` cannot follow",
                    self.kind().text().unwrap_or("")
                ),
            )
            .label("expected `)`")
            .help(match self.kind() {
                Tok::AndAnd | Tok::OrOr => {
                    "`wait` reads one place; for more than one, write a `while` loop, or one `wait` after the other"
                }
                _ => "put the right side into parentheses",
            });
            return self.error(diagnostic);
        }
        if !self.is_place(place) {
            let diagnostic = Diagnostic::error(
                self.span_of(place),
                "`wait` works on a shared place, and this is none",
            )
            .label("expected the name of a shared place, or `*` and its address")
            .help("the place stands on the left: `wait(place == value)`");
            return self.error(diagnostic);
        }
        let order = self.last_order("`wait(place == value)`")?;
        let span = start.to(self.last_span());
        self.node(
            ExprKind::Wait {
                place,
                relation,
                value,
                order,
            },
            span,
        )
    }

    /// Fields, elements and what a pointer leads to: everything behind a place that makes another place of it.
    fn path(&mut self, base: ExprId) -> Parse<ExprId> {
        let mut base = base;
        loop {
            let is_field = self.kind() == Tok::Dot
                && (self.kind_after(1) != Tok::Name || self.kind_after(2) != Tok::OpenParen);
            match self.kind() {
                Tok::Dot if is_field => {
                    if !self.is_place(base) {
                        self.thread_of(base, "`.`")?;
                    }
                    self.bump();
                    let member = self.name("a method, a field or a register's name")?;
                    let methods = ["load", "store", "swap"];
                    if methods.contains(&member.text) && !self.is_never_like() {
                        let diagnostic = self.unexpected("`(`");
                        return self.error(diagnostic);
                    }
                    let kind = match self.ast.expr(base).kind {
                        ExprKind::Name(name) => ExprKind::Member(name, None, member),
                        ExprKind::Index(name, copy) => ExprKind::Member(name, Some(copy), member),
                        _ => ExprKind::Field(base, member),
                    };
                    let span = self.span_of(base).to(member.span);
                    base = self.node(kind, span)?;
                }
                Tok::Arrow => {
                    self.bump();
                    let member = self.name("a field")?;
                    let span = self.span_of(base).to(member.span);
                    base = self.node(ExprKind::Arrow(base, member), span)?;
                }
                Tok::OpenBracket if self.is_place(base) => {
                    self.bump();
                    let index = self.expr()?;
                    let end = self.expect(Tok::CloseBracket)?;
                    let span = self.span_of(base).to(end);
                    base = self.node(ExprKind::Element(base, index), span)?;
                }
                _ => return Ok(base),
            }
        }
    }

    /// What makes a place another place, the methods, and in a `never` also `T@L`.
    fn postfix(&mut self, base: ExprId) -> Parse<ExprId> {
        let base = self.path(base)?;
        match self.kind() {
            Tok::Dot => {}
            Tok::At => {
                self.bump();
                let label = self.name("a label")?;
                let (thread, copy) = self.thread_of(base, "`@`")?;
                let span = thread.span.to(label.span);
                return self.node(ExprKind::At(thread, copy, label), span);
            }
            _ => return Ok(base),
        }
        self.bump();
        let member = self.name("a method")?;
        let start = self.span_of(base);
        let function = match member.text {
            "load" | "store" => None,
            "swap" => Some(Rmw::Exchange),
            "compare_exchange" => Some(Rmw::Cas),
            "compare_exchange_weak" => Some(Rmw::WeakCas),
            "fetch_add" => Some(Rmw::Fetch(BinaryOp::Add)),
            other => match METHOD_OPS.into_iter().find(|op| fetch_name(*op) == other) {
                Some(op) => Some(Rmw::Fetch(op)),
                None => return self.unknown_method(member),
            },
        };
        self.require_place(base, member.text)?;
        self.bump();
        let Some(function) = function else {
            return match member.text {
                "load" => {
                    let mut order = None;
                    if self.kind() != Tok::CloseParen {
                        order = Some(self.access_order()?);
                    }
                    let end = self.expect(Tok::CloseParen)?;
                    self.node(ExprKind::Load(base, order), start.to(end))
                }
                _ => {
                    let value = self.expr()?;
                    let usage = "`place.store(value)`";
                    let nonatomic = self.kind_after(1) == Tok::Nonatomic;
                    let order = match nonatomic && self.eat(Tok::Comma) {
                        true => {
                            self.bump();
                            self.last_order(usage)?;
                            Some(Order::NonAtomic)
                        }
                        false => self.last_order(usage)?,
                    };
                    let span = start.to(self.last_span());
                    self.node(ExprKind::Store(base, value, order), span)
                }
            };
        };
        let usage = match function.arguments() {
            1 => format!("`place.{}(value)`", member.text),
            _ => format!("`place.{}(expected, new)`", member.text),
        };
        self.rmw_rest(function, base, start, false, &usage)
    }

    /// A method that no place has: says which one was probably meant, also where it is the name of another language.
    fn unknown_method(&mut self, member: Name<'a>) -> Parse<ExprId> {
        let other = member.text;
        let known = match other {
            "read" | "get" | "load_explicit" | "load_acquire" => Some("load"),
            "write" | "set" | "store_explicit" | "store_release" => Some("store"),
            "exchange" | "exchange_explicit" | "xchg" | "replace" | "test_and_set" => Some("swap"),
            "compare_exchange_strong" | "compare_and_swap" | "compare_and_set" | "cas" => {
                Some("compare_exchange")
            }
            "compare_exchange_weak_explicit" => Some("compare_exchange_weak"),
            "fadd" | "increment" | "inc" | "get_and_add" => Some("fetch_add"),
            "decrement" | "dec" => Some("fetch_sub"),
            "fetch_nand" | "fetch_update" => Some("compare_exchange"),
            _ => None,
        };
        let mut diagnostic = Diagnostic::error(
            member.span,
            format!("a place has no method `{}`", shorten(other)),
        )
        .label("no such method");
        diagnostic.help = match known {
            Some(known) => Some(format!("it is called `{known}` here")),
            None => self
                .diagnostics
                .suggest(other, METHODS)
                .or_else(|| Some(format!("there are `{}`", METHODS.join("`, `")))),
        };
        self.error(diagnostic)
    }

    /// Whether what follows `T.load` can only mean a register of that name.
    fn is_never_like(&self) -> bool {
        binary_operator(self.kind()).is_some()
            || matches!(self.kind(), Tok::Semicolon | Tok::CloseParen)
    }

    fn thread_of(&mut self, base: ExprId, sign: &str) -> Parse<(Name<'a>, Option<ExprId>)> {
        match self.ast.expr(base).kind {
            ExprKind::Name(name) => Ok((name, None)),
            ExprKind::Index(name, copy) => Ok((name, Some(copy))),
            _ => {
                let diagnostic = Diagnostic::error(
                    self.span_of(base),
                    format!("expected the name of a thread before {sign}"),
                )
                .label("expected a thread");
                self.error(diagnostic)
            }
        }
    }
}

/// The methods of a place.
pub(super) const METHODS: [&str; 12] = [
    "load",
    "store",
    "swap",
    "compare_exchange",
    "compare_exchange_weak",
    "fetch_add",
    "fetch_sub",
    "fetch_and",
    "fetch_or",
    "fetch_xor",
    "fetch_max",
    "fetch_min",
];

/// The operators of the methods that are called as the function is.
const METHOD_OPS: [BinaryOp; 6] = [
    BinaryOp::Subtract,
    BinaryOp::BitAnd,
    BinaryOp::BitOr,
    BinaryOp::BitXor,
    BinaryOp::Max,
    BinaryOp::Min,
];

fn binary_operator(kind: Tok) -> Option<BinaryOp> {
    Some(match kind {
        Tok::Star => BinaryOp::Multiply,
        Tok::Slash => BinaryOp::Divide,
        Tok::Percent => BinaryOp::Remainder,
        Tok::Plus => BinaryOp::Add,
        Tok::Minus => BinaryOp::Subtract,
        Tok::ShiftLeft => BinaryOp::ShiftLeft,
        Tok::ShiftRight => BinaryOp::ShiftRight,
        Tok::Less => BinaryOp::Less,
        Tok::LessEqual => BinaryOp::LessEqual,
        Tok::Greater => BinaryOp::Greater,
        Tok::GreaterEqual => BinaryOp::GreaterEqual,
        Tok::Equal => BinaryOp::Equal,
        Tok::NotEqual => BinaryOp::NotEqual,
        Tok::And => BinaryOp::BitAnd,
        Tok::Caret => BinaryOp::BitXor,
        Tok::Bar => BinaryOp::BitOr,
        Tok::AndAnd => BinaryOp::And,
        Tok::OrOr => BinaryOp::Or,
        _ => return None,
    })
}
