//! Expressions that are known before the program runs: constants, sizes, counts and initial values.

use rustc_hash::FxHashMap as HashMap;

use crate::expr::{BinaryOp, Domain, Expr, UnaryOp, Value};
use crate::source::{Diagnostic, Span};

use super::super::ast::*;
use super::super::parser::shorten;
use super::shape::{self, Reading};
use super::{Globals, Shared};

/// What a constant expression is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// A size or a count: no value of the program, so 64 bits whatever the domain.
    Count,
    /// A value of the program.
    Value,
}

/// How far the evaluation of a constant has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    New,
    Open,
    Done,
}

impl Globals<'_, '_> {
    /// Evaluates every `const` and the `domain`. Constants may use each other in any order.
    pub(super) fn constants(&mut self, given: Option<Domain>) {
        let ast = self.ast;
        for (index, item) in ast.consts.iter().enumerate() {
            if let Some(first) = self.consts.get(item.name.text) {
                let first = ast.consts[*first].name.span;
                self.declared_twice(item.name, first);
            } else {
                self.consts.insert(item.name.text, index);
            }
        }
        let order = self.constant_order();
        for &index in &order {
            self.const_values[index].0 = self.evaluate(ast.consts[index].value, Purpose::Count);
        }
        self.domain = self.find_domain(given);
        for &index in &order {
            // With a smaller domain a constant can fail that is fine as a size: that is reported where it is used.
            self.const_values[index].1 = match self.domain {
                Domain::FULL => self.const_values[index].0,
                _ if self.const_values[index].0.is_none() => None,
                domain => quietly(self, domain, ast.consts[index].value),
            };
        }
    }

    /// A number of things.
    pub(super) fn constant_count(&mut self, id: ExprId) -> Option<Value> {
        self.evaluate(id, Purpose::Count)
    }

    /// A value of the program.
    pub(super) fn constant_value(&mut self, id: ExprId) -> Option<Value> {
        self.evaluate(id, Purpose::Value)
    }

    /// An order in which every constant comes after those that it uses. One that uses itself is reported and left out.
    fn constant_order(&mut self) -> Vec<usize> {
        let ast = self.ast;
        let mut order = Vec::with_capacity(ast.consts.len());
        let mut progress = vec![Progress::New; ast.consts.len()];
        for start in 0..ast.consts.len() {
            let mut stack = vec![start];
            while let Some(&index) = stack.last() {
                match progress[index] {
                    Progress::Done => {
                        stack.pop();
                    }
                    Progress::Open => {
                        progress[index] = Progress::Done;
                        order.push(index);
                        stack.pop();
                    }
                    Progress::New => {
                        progress[index] = Progress::Open;
                        let mut used = Vec::new();
                        self.used_constants(ast.consts[index].value, &mut used);
                        for (other, span) in used {
                            match progress[other] {
                                Progress::New => stack.push(other),
                                Progress::Done => {}
                                Progress::Open => {
                                    let name = ast.consts[other].name.text;
                                    self.error(
                                        Diagnostic::error(
                                            span,
                                            format!(
                                                "the constant `{}` depends on itself",
                                                shorten(name)
                                            ),
                                        )
                                        .label("used here"),
                                    );
                                }
                            }
                        }
                    }
                }
            }
        }
        order
    }

    fn used_constants(&self, id: ExprId, used: &mut Vec<(usize, Span)>) {
        match &self.ast.expr(id).kind {
            ExprKind::Name(name) => {
                used.extend(self.consts.get(name.text).map(|index| (*index, name.span)));
            }
            ExprKind::Unary(_, operand) => self.used_constants(*operand, used),
            ExprKind::Binary(_, left, right) => {
                self.used_constants(*left, used);
                self.used_constants(*right, used);
            }
            _ => {}
        }
    }

    fn find_domain(&mut self, given: Option<Domain>) -> Domain {
        let ast = self.ast;
        let mut found = given;
        let mut said: HashMap<&str, Span> = HashMap::default();
        for (size, span) in &ast.domains {
            if said.insert("domain", *span).is_some() {
                self.error(
                    Diagnostic::error(*span, "there can be only one `domain`")
                        .label("this is the second one"),
                );
                continue;
            }
            let Some(value) = self.evaluate(*size, Purpose::Count) else {
                continue;
            };
            let Some(domain) = Domain::modulo(value) else {
                self.error(
                    Diagnostic::error(
                        *span,
                        format!("a domain of {value} values makes no sense: it must be at least 2"),
                    )
                    .label(format!("this is {value}")),
                );
                continue;
            };
            if let Some(given) = given.and_then(Domain::size)
                && given != value
            {
                self.error(
                    Diagnostic::error(
                        *span,
                        format!("the program says `domain {value}`, but {given} was asked for"),
                    )
                    .label(format!("this is {value}")),
                );
            }
            found = Some(domain);
        }
        found.unwrap_or(Domain::FULL)
    }

    fn evaluate(&mut self, id: ExprId, purpose: Purpose) -> Option<Value> {
        let domain = match purpose {
            Purpose::Count => Domain::FULL,
            Purpose::Value => self.domain,
        };
        let expr = self.ast.expr(id);
        match &expr.kind {
            ExprKind::Int(value) => Some(*value),
            ExprKind::TooLarge => {
                self.too_large(expr.span);
                None
            }
            ExprKind::Name(name) => match self.consts.get(name.text) {
                Some(&index) => {
                    let (count, value) = self.const_values[index];
                    match purpose {
                        Purpose::Count => count,
                        Purpose::Value => {
                            if count.is_some() && value.is_none() {
                                self.fails_in_domain(name);
                            }
                            value
                        }
                    }
                }
                None => {
                    self.not_constant_name(*name);
                    None
                }
            },
            ExprKind::Unary(op, operand) => {
                let operand = self.evaluate(*operand, purpose)?;
                Some(domain.unary(*op, operand))
            }
            ExprKind::Binary(op, left, right) => {
                let left = self.evaluate(*left, purpose)?;
                match op {
                    BinaryOp::And if left == 0 => return Some(0),
                    BinaryOp::Or if left != 0 => return Some(1),
                    _ => {}
                }
                let right = self.evaluate(*right, purpose)?;
                match domain.binary(*op, left, right) {
                    Ok(value) => Some(value),
                    Err(error) => {
                        self.error(
                            Diagnostic::error(expr.span, format!("this has no value: {error}"))
                                .label("expected a constant"),
                        );
                        None
                    }
                }
            }
            ExprKind::AddressOf(place) if purpose == Purpose::Value => {
                self.constant_address(*place, expr.span)
            }
            ExprKind::Error => None,
            _ => {
                self.error(
                    Diagnostic::error(expr.span, "this is not known before the program runs")
                        .label("expected a constant"),
                );
                None
            }
        }
    }

    fn constant_address(&mut self, place: ExprId, span: Span) -> Option<Value> {
        self.pointers = true;
        let path = shape::path(&mut Constants(self), place)?;
        if path.shape.length().is_some() {
            self.array_here(span);
            return None;
        }
        // An index that is not in range was only a warning: the code that has it may never run. Here it is used now.
        if let Some(term) = path.terms.first() {
            let length = term.length;
            self.error(
                Diagnostic::error(
                    term.span,
                    format!("this index is outside the array of {length} elements"),
                )
                .label(format!("expected 0 to {}", length - 1)),
            );
            return None;
        }
        let shape::Start::Location(first) = path.start else {
            return None;
        };
        let address = Value::from(first.0) + 1 + Value::from(path.offset);
        self.require_fit(address, span).then_some(address)
    }

    /// Whether an address can be a value of the domain; otherwise that is reported.
    pub(super) fn require_fit(&mut self, address: Value, span: Span) -> bool {
        match self.domain.size() {
            Some(size) if address >= size => {
                self.error(
                    Diagnostic::error(
                        span,
                        format!(
                            "the address {address} does not fit in the domain of {size} values"
                        ),
                    )
                    .label(format!("this address is {address}"))
                    .help(format!("make the domain larger: `domain {};`", address + 1)),
                );
                false
            }
            _ => true,
        }
    }

    pub(super) fn too_large(&mut self, span: Span) {
        self.error(
            Diagnostic::error(span, "this number does not fit in 64 bits")
                .label("expected at most 9223372036854775807"),
        );
    }

    pub(super) fn fails_in_domain(&mut self, name: &Name<'_>) {
        self.error(
            Diagnostic::error(
                name.span,
                format!(
                    "the constant `{}` has no value in this domain",
                    shorten(name.text)
                ),
            )
            .label("used as a value here"),
        );
    }

    fn not_constant_name(&mut self, name: Name<'_>) {
        if self.shared.contains_key(name.text)
            || self.ast.shared.iter().any(|s| s.name.text == name.text)
        {
            self.error(
                Diagnostic::error(
                    name.span,
                    format!("`{}` is shared memory, not a constant", shorten(name.text)),
                )
                .label("expected a constant"),
            );
            return;
        }
        if self.ast.incomplete {
            return;
        }
        let mut diagnostic = Diagnostic::error(
            name.span,
            format!("there is no constant `{}`", shorten(name.text)),
        )
        .label("not declared");
        diagnostic.help = self
            .diagnostics
            .suggest(name.text, self.consts.keys().copied());
        self.error(diagnostic);
    }
}

/// Places that are known before the program runs.
struct Constants<'g, 'a, 'd>(&'g mut Globals<'a, 'd>);

impl<'a, 'd> Reading<'a, 'd> for Constants<'_, 'a, 'd> {
    /// (Nothing but constants.)
    type Atom = std::convert::Infallible;

    fn globals(&mut self) -> &mut Globals<'a, 'd> {
        self.0
    }

    fn declared(&mut self, name: Name<'a>) -> Option<Shared> {
        let shared = self.0.shared(name.text);
        if shared.is_none() {
            self.0.unknown_shared(name);
        }
        shared
    }

    fn read(&mut self, id: ExprId) -> Option<Expr<Self::Atom>> {
        self.0.evaluate(id, Purpose::Value).map(Expr::Const)
    }

    fn register_pointee(&mut self, _: ExprId) -> Option<usize> {
        None
    }
}

/// The value of a constant expression, or nothing where it has none; errors were told when it was evaluated in 64 bits.
fn quietly(globals: &Globals<'_, '_>, domain: Domain, id: ExprId) -> Option<Value> {
    match &globals.ast.expr(id).kind {
        ExprKind::Int(value) => Some(*value),
        ExprKind::Name(name) => globals.const_values[*globals.consts.get(name.text)?].1,
        ExprKind::Unary(op, operand) => {
            Some(domain.unary(*op, quietly(globals, domain, *operand)?))
        }
        ExprKind::Binary(op, left, right) => {
            let left = quietly(globals, domain, *left)?;
            match op {
                BinaryOp::And if left == 0 => return Some(0),
                BinaryOp::Or if left != 0 => return Some(1),
                _ => {}
            }
            domain
                .binary(*op, left, quietly(globals, domain, *right)?)
                .ok()
        }
        _ => None,
    }
}

/// `-5` is a literal, not an operation on one.
pub(super) fn negative_literal(ast: &Ast<'_>, op: UnaryOp, operand: ExprId) -> Option<Value> {
    match (op, &ast.expr(operand).kind) {
        (UnaryOp::Negate, ExprKind::Int(value)) => Some(value.wrapping_neg()),
        _ => None,
    }
}
