//! The code of a thread: places with fields and several indices, and arrays of registers.
//!
//! Where a path has an index or a pointer that is not known before the program runs, the code branches over what it can be, and each branch
//! accesses a location by its name: so addresses need not be values of the domain, and a pointer that leads to no struct is an error.

use crate::expr::{BinaryOp, Expr, UnaryOp, Value};
use crate::program::{Address, LocationId, Op, PointId, RegisterExpr, RegisterId};
use crate::source::{Diagnostic, Span};

use super::super::ast::*;
use super::super::parser::shorten;
use super::body::Body;
use super::shape::{self, Path, Reading, Start, Term};
use super::value::{Computed, PlaceAccess};
use super::{Globals, Shared};

/// More branches than this are not made: then the address is computed.
const MAX_CASES: usize = 64;

/// Where an access goes.
pub(super) enum Target {
    One(Address<RegisterId>),
    /// The first case whose condition holds; exactly one does.
    Cases(Vec<Case>),
}

pub(super) struct Case {
    condition: RegisterExpr,
    /// What is computed first: an error of the program, where this case is none that should be.
    check: Option<(RegisterId, RegisterExpr)>,
    address: Address<RegisterId>,
}

/// Which register of an array.
pub(super) enum Chosen {
    One(RegisterId),
    Cases(Vec<(RegisterExpr, RegisterId)>),
}

/// `index(e, n)`: the value, an error of the program where it is not in `0 .. n`.
pub(super) fn checked<A>(index: Expr<A>, length: u32) -> Expr<A> {
    Expr::Element {
        first: 0,
        length,
        index: Box::new(index),
    }
}

impl<'a, 'd> Reading<'a, 'd> for Body<'_, 'a, 'd> {
    type Atom = RegisterId;

    fn globals(&mut self) -> &mut Globals<'a, 'd> {
        self.globals
    }

    fn declared(&mut self, name: Name<'a>) -> Option<Shared> {
        self.shared_place(name)
    }

    fn read(&mut self, id: ExprId) -> Option<RegisterExpr> {
        let value = self.value(id);
        let span = self.globals.ast.expr(id).span;
        Some(self.settle(value, true, span).expr)
    }

    fn register_pointee(&mut self, id: ExprId) -> Option<usize> {
        match self.globals.ast.expr(id).kind {
            ExprKind::Name(name) => self.pointee(name.text),
            _ => None,
        }
    }
}

impl<'a> Body<'_, 'a, '_> {
    /// Whether a place is one that [`Body::address`] knows.
    pub(super) fn is_basic(&self, place: ExprId) -> bool {
        match self.globals.ast.expr(place).kind {
            ExprKind::Name(name) | ExprKind::Index(name, _) => {
                self.binding(name.text).is_some()
                    || self.globals.shared.get(name.text).is_none_or(|s| s.basic)
            }
            ExprKind::Element(..)
            | ExprKind::Field(..)
            | ExprKind::Member(..)
            | ExprKind::Arrow(..) => false,
            _ => true,
        }
    }

    /// Where an access to a place goes. `later` is evaluated between this and the access.
    pub(super) fn target(
        &mut self,
        place: ExprId,
        later: &[ExprId],
        access: PlaceAccess,
    ) -> Option<Target> {
        if self.is_basic(place) {
            return self.address(place, later, access).map(Target::One);
        }
        let span = self.globals.ast.expr(place).span;
        let path = shape::path(self, place)?;
        if !path.shape.is_scalar() {
            match path.shape.length() {
                Some(_) => self.globals.array_here(span),
                None => self.globals.struct_here(span),
            }
            return None;
        }
        if path.shape.nonatomic {
            let text = shorten(self.globals.source.slice(span));
            self.check_plain(&text, span, access);
        }
        Some(self.cases(path, span))
    }

    fn cases(&mut self, path: Path<RegisterId>, span: Span) -> Target {
        let mut terms = path.terms;
        // The last index counts single locations that stand together: it stays an index.
        let row = match terms.last() {
            Some(term) if term.stride == 1 => terms.pop(),
            _ => None,
        };
        let domain = self.globals.domain;
        let starts: Vec<LocationId> = match &path.start {
            Start::Location(first) => vec![*first],
            Start::Pointer(_, of) => self.globals.structs[*of].instances.clone(),
        };
        let number = terms.iter().fold(starts.len(), |all, term| {
            all.saturating_mul(term.length as usize)
        });
        let start = match path.start {
            Start::Location(first) => Start::Location(first),
            Start::Pointer(value, of) => Start::Pointer(self.in_register(value, span), of),
        };
        let terms: Vec<Term<RegisterId>> = terms
            .into_iter()
            .map(|term| Term {
                index: self.in_register(checked(term.index, term.length), term.span),
                ..term
            })
            .collect();
        if number > MAX_CASES {
            return self.computed(start, &starts, path.offset, &terms, row, span);
        }
        let at = |first: u32| match &row {
            None => Address::Direct(LocationId(first)),
            Some(term) => Address::Element {
                first: LocationId(first),
                length: term.length,
                index: term.index.clone(),
            },
        };
        let equal = |value: &RegisterExpr, number: Value| {
            Expr::binary(BinaryOp::Equal, value.clone(), Expr::Const(number))
        };
        // Every way to choose a start and an index for each term.
        let mut ways: Vec<(Option<RegisterExpr>, u32)> = Vec::new();
        let mut known: Option<RegisterExpr> = None;
        for location in &starts {
            let mut condition = None;
            if let Start::Pointer(value, _) = &start {
                let is_this = equal(value, Value::from(location.0) + 1);
                if is_this.constant(domain) == Some(0) {
                    continue;
                }
                known = Some(match known {
                    None => is_this.clone(),
                    Some(known) => Expr::binary(BinaryOp::Or, known, is_this.clone()),
                });
                condition = Some(is_this);
            }
            ways.push((condition, location.0 + path.offset));
        }
        for term in &terms {
            let mut more = Vec::with_capacity(ways.len() * term.length as usize);
            for (condition, first) in ways {
                for number in 0..term.length {
                    let is_this = equal(&term.index, Value::from(number));
                    let both = match &condition {
                        None => is_this,
                        Some(condition) => Expr::binary(BinaryOp::And, condition.clone(), is_this),
                    };
                    more.push((Some(both), first + number * term.stride));
                }
            }
            ways = more;
        }
        let mut cases: Vec<Case> = Vec::with_capacity(ways.len() + 1);
        for (condition, first) in ways {
            let Some(condition) = condition.filter(|c| c.constant(domain) != Some(1)) else {
                return Target::One(at(first));
            };
            cases.push(Case {
                condition,
                check: None,
                address: at(first),
            });
        }
        if let Start::Pointer(value, _) = start {
            // What is no struct: 0 has no location, and everything else is caught by the check.
            let register = self.register(None, span);
            cases.push(Case {
                condition: known.map_or(Expr::Const(1), |known| Expr::unary(UnaryOp::Not, known)),
                check: Some((register, checked(value, 1))),
                address: Address::Pointer(Expr::Atom(register)),
            });
        }
        Target::Cases(cases)
    }

    /// A place with too many cases: its address is computed.
    fn computed(
        &mut self,
        start: Start<RegisterId>,
        starts: &[LocationId],
        offset: u32,
        terms: &[Term<RegisterId>],
        row: Option<Term<RegisterId>>,
        span: Span,
    ) -> Target {
        let last = self.globals.locations.len() as Value;
        self.globals.require_fit(last, span);
        self.globals.pointers = true;
        let sum = |a, b| Expr::binary(BinaryOp::Add, a, b);
        let mut address = match start {
            Start::Location(first) => Expr::Const(Value::from(first.0) + 1 + Value::from(offset)),
            Start::Pointer(value, _) => {
                let address = |l: Option<&LocationId>| l.map_or(1, |l| Value::from(l.0) + 1);
                let lowest = address(starts.iter().min());
                let length = address(starts.iter().max()) - lowest + 1;
                let index = Expr::binary(BinaryOp::Subtract, value, Expr::Const(lowest));
                let index = self.in_register(checked(index, length as u32), span);
                sum(Expr::Const(lowest + Value::from(offset)), index)
            }
        };
        for term in terms {
            let stride = Expr::Const(Value::from(term.stride));
            let steps = Expr::binary(BinaryOp::Multiply, term.index.clone(), stride);
            address = sum(address, steps);
        }
        if let Some(row) = row {
            let index = self.in_register(checked(row.index, row.length), row.span);
            address = sum(address, index);
        }
        Target::One(Address::Pointer(address))
    }

    /// The value in a register, unless it is in one or known already.
    fn in_register(&mut self, value: RegisterExpr, span: Span) -> RegisterExpr {
        if matches!(value, Expr::Atom(_) | Expr::Const(_)) {
            return value;
        }
        let register = self.register(None, span);
        self.emit(Op::Assign(register, value), span);
        Expr::Atom(register)
    }

    /// `&` of a path: the number of its first location.
    pub(super) fn address_of_path(&mut self, place: ExprId, span: Span) -> Computed {
        let Some(path) = shape::path(self, place) else {
            return Computed::nothing();
        };
        if path.shape.length().is_some() {
            self.globals.array_here(span);
            return Computed::nothing();
        }
        let offset = Value::from(path.offset);
        let mut fails = false;
        let mut address = match path.start {
            Start::Location(first) => {
                let first = Value::from(first.0) + 1 + offset;
                let steps = path.terms.iter().fold(0, |all, term| {
                    all + Value::from(term.length - 1) * Value::from(term.stride)
                });
                let size = Value::from(self.globals.size(&path.shape));
                self.globals.require_fit(first + steps + size - 1, span);
                Expr::Const(first)
            }
            Start::Pointer(value, _) if offset == 0 => value,
            Start::Pointer(value, _) => Expr::binary(BinaryOp::Add, value, Expr::Const(offset)),
        };
        for term in path.terms {
            fails = true;
            let index = checked(term.index, term.length);
            let stride = Expr::Const(Value::from(term.stride));
            let steps = Expr::binary(BinaryOp::Multiply, index, stride);
            address = Expr::binary(BinaryOp::Add, address, steps);
        }
        Computed {
            expr: address,
            fails,
        }
    }

    // ---- doing it ----

    /// An access, to a new point.
    pub(super) fn emit_at(
        &mut self,
        target: &Target,
        span: Span,
        make: impl Fn(Address<RegisterId>) -> Op,
    ) {
        let next = self.point(span);
        self.connect_at(target, next, span, make);
        self.current = next;
    }

    /// An access, to a given point. The current point stays.
    pub(super) fn connect_at(
        &mut self,
        target: &Target,
        next: PointId,
        span: Span,
        make: impl Fn(Address<RegisterId>) -> Op,
    ) {
        match target {
            Target::One(address) => self.connect(make(address.clone()), next, span),
            Target::Cases(cases) => {
                let begin = self.current;
                for case in cases {
                    self.current = begin;
                    self.emit(Op::Assume(case.condition.clone()), span);
                    if let Some((register, check)) = &case.check {
                        self.emit(Op::Assign(*register, check.clone()), span);
                    }
                    self.connect(make(case.address.clone()), next, span);
                }
                self.current = begin;
            }
        }
    }

    // ---- arrays of registers ----

    pub(super) fn array_needs_index(&mut self, name: Name<'_>) {
        self.globals.array_without_index(name);
    }

    /// The register that an index chooses.
    pub(super) fn chosen_register(
        &mut self,
        first: RegisterId,
        length: u32,
        index: ExprId,
        span: Span,
    ) -> Chosen {
        let value = self.value(index).expr;
        let constant = value.constant(self.globals.domain);
        if let Some(number) = constant
            && (0..Value::from(length)).contains(&number)
        {
            return Chosen::One(RegisterId(first.0 + number as u32));
        }
        if let Some(number) = constant {
            self.error(
                Diagnostic::warning(
                    span,
                    format!("index {number} is outside the array of {length} elements"),
                )
                .label(format!("expected 0 to {}", length - 1))
                .help("a run that gets here ends with an error of the program"),
            );
        }
        let index = self.in_register(checked(value, length), span);
        let is_it = |number: u32| {
            let number = Expr::Const(Value::from(number));
            Expr::binary(BinaryOp::Equal, index.clone(), number)
        };
        let cases = (0..length).map(|number| (is_it(number), RegisterId(first.0 + number)));
        Chosen::Cases(cases.collect())
    }

    /// Does something to the register that was chosen.
    pub(super) fn emit_chosen(
        &mut self,
        chosen: Chosen,
        span: Span,
        make: impl Fn(RegisterId) -> Op,
    ) {
        match chosen {
            Chosen::One(register) => self.emit(make(register), span),
            Chosen::Cases(cases) => {
                let begin = self.current;
                let next = self.point(span);
                for (condition, register) in cases {
                    self.current = begin;
                    self.emit(Op::Assume(condition), span);
                    self.connect(make(register), next, span);
                }
                self.current = next;
            }
        }
    }
}

impl Globals<'_, '_> {
    pub(super) fn array_here(&mut self, span: Span) {
        self.error(
            Diagnostic::error(span, "this is an array and needs an index")
                .label("expected an element of the array"),
        );
    }

    fn struct_here(&mut self, span: Span) {
        self.error(
            Diagnostic::error(span, "this is a struct, which has no value of its own")
                .label("expected one of its fields"),
        );
    }
}
