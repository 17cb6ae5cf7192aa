//! `never` conditions: expressions about a whole state.

use crate::expr::{BinaryOp, Expr, Value};
use crate::program::{
    Address, Copies, CopyRef, LabelId, LabelRef, LocationId, StateAtom, ThreadId,
};
use crate::source::{Diagnostic, Span};

use super::super::ast::*;
use super::super::parser::shorten;
use super::constant::negative_literal;
use super::place::checked;
use super::shape::{self, Path, Reading, Start};
use super::value::element;
use super::{Globals, LoweredThread, Shared};

/// The condition of a `never`.
pub(super) fn condition<'a>(
    globals: &mut Globals<'a, '_>,
    threads: &[LoweredThread<'a>],
    id: ExprId,
) -> Expr<StateAtom> {
    Context { globals, threads }.expr(id)
}

struct Context<'g, 'a, 'd, 't> {
    globals: &'g mut Globals<'a, 'd>,
    threads: &'t [LoweredThread<'a>],
}

impl<'a, 'd> Reading<'a, 'd> for Context<'_, 'a, 'd, '_> {
    type Atom = StateAtom;

    fn globals(&mut self) -> &mut Globals<'a, 'd> {
        self.globals
    }

    fn declared(&mut self, name: Name<'a>) -> Option<Shared> {
        let shared = self.globals.shared(name.text);
        if shared.is_none() {
            self.unknown(name);
        }
        shared
    }

    fn read(&mut self, id: ExprId) -> Option<Expr<StateAtom>> {
        Some(self.expr(id))
    }

    /// `T.p` of a register that says what it points to.
    fn register_pointee(&mut self, id: ExprId) -> Option<usize> {
        let ExprKind::Member(thread, _, register) = self.globals.ast.expr(id).kind else {
            return None;
        };
        let thread = &self.threads[*self.globals.thread_ids.get(thread.text)?];
        thread.outer_pointees.get(register.text).copied()
    }
}

impl<'a> Context<'_, 'a, '_, '_> {
    fn error(&mut self, diagnostic: Diagnostic) -> Expr<StateAtom> {
        self.globals.diagnostics.push(diagnostic);
        Expr::Const(0)
    }

    /// Height is bounded by the parser, and nothing is inlined here.
    fn expr(&mut self, id: ExprId) -> Expr<StateAtom> {
        let ast = self.globals.ast;
        let expr = ast.expr(id);
        match &expr.kind {
            ExprKind::Int(value) => Expr::Const(*value),
            ExprKind::TooLarge => {
                self.globals.too_large(expr.span);
                Expr::Const(0)
            }
            ExprKind::Name(name) if name.text == "deadlock" => Expr::Atom(StateAtom::Deadlock),
            ExprKind::Name(name) => match self.globals.consts.get(name.text) {
                Some(&index) => {
                    let (count, value) = self.globals.const_values[index];
                    if count.is_some() && value.is_none() {
                        self.globals.fails_in_domain(name);
                    }
                    Expr::Const(value.unwrap_or(0))
                }
                None => self.memory(id),
            },
            ExprKind::Index(..)
            | ExprKind::Deref(_)
            | ExprKind::Element(..)
            | ExprKind::Field(..)
            | ExprKind::Arrow(..) => self.memory(id),
            ExprKind::Checked(value, length) => {
                match self.globals.count(*length, "a number of elements") {
                    Some(length) => checked(self.expr(*value), length),
                    None => Expr::Const(0),
                }
            }
            ExprKind::Load(place, _) => self.memory(*place),
            ExprKind::AddressOf(place) => self.address_of(*place, expr.span),
            ExprKind::Unary(op, operand) => match negative_literal(ast, *op, *operand) {
                Some(value) => Expr::Const(self.globals.domain.reduce(value)),
                None => Expr::unary(*op, self.expr(*operand)),
            },
            ExprKind::Binary(op, left, right) => {
                let left = self.expr(*left);
                Expr::binary(*op, left, self.expr(*right))
            }
            ExprKind::At(thread, copy, label) => self.at(*thread, *copy, *label),
            ExprKind::Member(name, copy, member) => {
                let is_place = self.globals.shared.contains_key(name.text)
                    && !self.globals.thread_ids.contains_key(name.text);
                match is_place {
                    true => self.memory(id),
                    false => self.register(*name, *copy, *member),
                }
            }
            ExprKind::Me => self.error(
                Diagnostic::error(
                    expr.span,
                    "a `never` belongs to no thread, so there is no `me`",
                )
                .label("expected a number or a name"),
            ),
            ExprKind::Rmw { .. }
            | ExprKind::Wait { .. }
            | ExprKind::Call(..)
            | ExprKind::Store(..) => self.error(
                Diagnostic::error(
                    expr.span,
                    "a `never` only looks at states and calls nothing",
                )
                .label("expected a place, a label or a register"),
            ),
            ExprKind::Error => Expr::Const(0),
        }
    }

    fn memory(&mut self, place: ExprId) -> Expr<StateAtom> {
        match self.address(place) {
            Some(address) => Expr::Atom(StateAtom::Memory(Box::new(address))),
            None => Expr::Const(0),
        }
    }

    fn address(&mut self, place: ExprId) -> Option<Address<StateAtom>> {
        let ast = self.globals.ast;
        let expr = ast.expr(place);
        if !self.is_basic(place) {
            let path = shape::path(self, place)?;
            if !path.shape.is_scalar() {
                self.error(
                    Diagnostic::error(expr.span, "this is more than one location")
                        .label("expected an element or a field"),
                );
                return None;
            }
            return Some(self.path_address(path, expr.span));
        }
        match &expr.kind {
            ExprKind::Name(name) => {
                let shared = self.globals.shared(name.text);
                let Some(shared) = shared else {
                    self.unknown(*name);
                    return None;
                };
                if shared.length.is_some() {
                    self.globals.array_without_index(*name);
                    return None;
                }
                Some(Address::Direct(shared.first))
            }
            ExprKind::Index(name, index) => {
                let shared = self.globals.shared(name.text);
                let index = self.expr(*index);
                let Some(shared) = shared else {
                    self.unknown(*name);
                    return None;
                };
                let Some(length) = shared.length else {
                    self.globals.index_on_scalar(*name);
                    return None;
                };
                let constant = index.constant(self.globals.domain);
                Some(element(
                    self.globals,
                    shared.first,
                    length,
                    index,
                    constant,
                    expr.span,
                ))
            }
            ExprKind::Deref(pointer) => {
                self.globals.pointers = true;
                Some(Address::Pointer(self.expr(*pointer)))
            }
            _ => None,
        }
    }

    fn address_of(&mut self, place: ExprId, span: Span) -> Expr<StateAtom> {
        if let ExprKind::Deref(pointer) = self.globals.ast.expr(place).kind {
            return self.expr(pointer);
        }
        if !self.is_basic(place) {
            let Some(path) = shape::path(self, place) else {
                return Expr::Const(0);
            };
            return match self.path_address(path, span) {
                Address::Pointer(address) => address,
                Address::Direct(location) => {
                    let address = self.globals.locations[location.index()].address;
                    self.globals.require_fit(address, span);
                    Expr::Const(address)
                }
                Address::Element { .. } => Expr::Const(0),
            };
        }
        match self.address(place) {
            Some(Address::Direct(location)) => {
                let address = self.globals.locations[location.index()].address;
                self.globals.require_fit(address, span);
                Expr::Const(address)
            }
            Some(Address::Element {
                first,
                length,
                index,
            }) => {
                let first = self.globals.locations[first.index()].address;
                self.globals
                    .require_fit(first + Value::from(length) - 1, span);
                Expr::Element {
                    first,
                    length,
                    index: Box::new(index),
                }
            }
            _ => Expr::Const(0),
        }
    }

    fn is_basic(&self, place: ExprId) -> bool {
        match self.globals.ast.expr(place).kind {
            ExprKind::Name(name) | ExprKind::Index(name, _) => {
                self.globals.shared.get(name.text).is_none_or(|s| s.basic)
            }
            ExprKind::Deref(_) => true,
            _ => false,
        }
    }

    /// The location that a path leads to. What is not known is computed, and must fit in the domain.
    fn path_address(&mut self, path: Path<StateAtom>, span: Span) -> Address<StateAtom> {
        let offset = Value::from(path.offset);
        let sum = |a, b| Expr::binary(BinaryOp::Add, a, b);
        let mut address = match path.start {
            Start::Location(first) if path.terms.is_empty() => {
                return Address::Direct(LocationId(first.0 + path.offset));
            }
            Start::Location(first) => Expr::Const(Value::from(first.0) + 1 + offset),
            Start::Pointer(value, of) => {
                let starts = &self.globals.structs[of].instances;
                let address = |l: Option<&LocationId>| l.map_or(1, |l| Value::from(l.0) + 1);
                let lowest = address(starts.iter().min());
                let length = address(starts.iter().max()) - lowest + 1;
                let index = Expr::binary(BinaryOp::Subtract, value, Expr::Const(lowest));
                sum(Expr::Const(lowest + offset), checked(index, length as u32))
            }
        };
        self.globals.pointers = true;
        let last = self.globals.locations.len() as Value;
        self.globals.require_fit(last, span);
        for term in path.terms {
            let stride = Expr::Const(Value::from(term.stride));
            let index = checked(term.index, term.length);
            address = sum(address, Expr::binary(BinaryOp::Multiply, index, stride));
        }
        Address::Pointer(address)
    }

    fn unknown(&mut self, name: Name<'_>) {
        let word = shorten(name.text);
        if self.globals.thread_ids.contains_key(name.text) {
            self.error(
                Diagnostic::error(name.span, format!("`{word}` is a thread, not a value"))
                    .label("expected a value")
                    .help(format!("write `{word}@label` or `{word}.register`")),
            );
            return;
        }
        let owner = self
            .threads
            .iter()
            .find(|t| t.outer.contains_key(name.text));
        if let Some(owner) = owner {
            let thread = shorten(&owner.thread.name);
            self.error(
                Diagnostic::error(name.span, format!("`{word}` is a register of a thread"))
                    .label("whose register?")
                    .help(format!("write `{thread}.{word}`")),
            );
            return;
        }
        self.globals.unknown_shared(name);
    }

    fn thread(&mut self, name: Name<'_>) -> Option<ThreadId> {
        if let Some(&index) = self.globals.thread_ids.get(name.text) {
            return Some(ThreadId(index as u32));
        }
        if !(self.globals.ast.incomplete || self.globals.ast.incomplete_threads) {
            let mut diagnostic = Diagnostic::error(
                name.span,
                format!("there is no thread `{}`", shorten(name.text)),
            )
            .label("not declared");
            diagnostic.help = self
                .globals
                .diagnostics
                .suggest(name.text, self.globals.thread_ids.keys().copied());
            self.error(diagnostic);
        }
        None
    }

    fn copy(&mut self, thread: Name<'_>, copy: Option<ExprId>) -> Option<CopyRef> {
        let id = self.thread(thread);
        let number = match copy {
            None => None,
            Some(copy) => Some((self.globals.constant_count(copy)?, copy)),
        };
        let id = id?;
        let copies = self.threads[id.index()].thread.copies;
        let word = shorten(thread.text);
        let copy = match number {
            None => None,
            Some((number, at)) => {
                let limit = match copies {
                    Copies::One => {
                        self.error(
                            Diagnostic::error(
                                thread.span,
                                format!("the thread `{word}` has no numbered copies"),
                            )
                            .label("just one thread")
                            .help(format!("write `{word}` without `[…]`")),
                        );
                        return None;
                    }
                    Copies::Fixed(copies) => Value::from(copies),
                    Copies::Any => Value::from(u32::MAX),
                };
                if !(0..limit).contains(&number) {
                    let span = self.globals.ast.expr(at).span;
                    self.error(
                        Diagnostic::error(
                            span,
                            format!("there is no copy {number} of the thread `{word}`"),
                        )
                        .label(match copies {
                            Copies::Fixed(_) => format!("expected 0 to {}", limit - 1),
                            _ => "expected 0 or more".to_string(),
                        }),
                    );
                    return None;
                }
                Some(number as u32)
            }
        };
        Some(CopyRef { thread: id, copy })
    }

    fn at(&mut self, thread: Name<'a>, copy: Option<ExprId>, label: Name<'a>) -> Expr<StateAtom> {
        let Some(copy) = self.copy(thread, copy) else {
            return Expr::Const(0);
        };
        if label.text == "end" {
            return Expr::Atom(StateAtom::At(copy, LabelRef::End));
        }
        let labels = &self.threads[copy.thread.index()].thread.labels;
        match labels.iter().position(|l| l.name == label.text) {
            Some(index) => Expr::Atom(StateAtom::At(copy, LabelRef::Label(LabelId(index as u32)))),
            None => {
                let mut diagnostic = Diagnostic::error(
                    label.span,
                    format!(
                        "the thread `{}` has no label `{}`",
                        shorten(thread.text),
                        shorten(label.text)
                    ),
                )
                .label("not defined");
                diagnostic.help = self
                    .globals
                    .diagnostics
                    .suggest(label.text, labels.iter().map(|l| l.name.as_str()));
                self.error(diagnostic)
            }
        }
    }

    fn register(
        &mut self,
        thread: Name<'a>,
        copy: Option<ExprId>,
        register: Name<'a>,
    ) -> Expr<StateAtom> {
        let numbered = copy.is_some();
        let Some(copy) = self.copy(thread, copy) else {
            return Expr::Const(0);
        };
        let lowered = &self.threads[copy.thread.index()];
        let word = shorten(thread.text);
        if !numbered && lowered.thread.copies != Copies::One {
            return self.error(
                Diagnostic::error(
                    thread.span,
                    format!("the thread `{word}` has several copies: whose register is it?"),
                )
                .label("expected a copy")
                .help(format!("write `{word}[0].{}`", shorten(register.text))),
            );
        }
        if let Some(id) = lowered.outer.get(register.text) {
            return Expr::Atom(StateAtom::Register(copy, *id));
        }
        let inner = lowered
            .thread
            .registers
            .iter()
            .any(|r| r.name.as_deref() == Some(register.text));
        let mut diagnostic = Diagnostic::error(
            register.span,
            format!(
                "the thread `{word}` has no register `{}` in its outermost block",
                shorten(register.text)
            ),
        )
        .label("not declared there");
        diagnostic.help = match inner {
            true => Some(format!(
                "declare `{}` in the outermost block of the thread",
                shorten(register.text)
            )),
            false => self
                .globals
                .diagnostics
                .suggest(register.text, lowered.outer.keys().copied()),
        };
        self.error(diagnostic)
    }
}
