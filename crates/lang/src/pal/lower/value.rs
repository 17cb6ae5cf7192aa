//! The code of a thread: expressions. Every mention of a shared place becomes a load of its own; what is left is arithmetic on registers.

use crate::expr::{BinaryOp, Expr, UnaryOp, Value};
use crate::program::{Address, Copies, LocationId, Op, Order, RegisterExpr, RegisterId, RmwAction};
use crate::source::{Diagnostic, Span};

use super::super::ast::*;
use super::super::parser::shorten;
use super::body::{Binding, Body};
use super::constant::negative_literal;
use super::place::{Chosen, checked};
use super::{Globals, Shared};

/// Arithmetic on registers, and whether computing it can be an error of the program.
pub(super) struct Computed {
    pub expr: RegisterExpr,
    pub fails: bool,
}

impl Computed {
    pub fn safe(expr: RegisterExpr) -> Self {
        Computed { expr, fails: false }
    }

    pub fn nothing() -> Self {
        Computed::safe(Expr::Const(0))
    }
}

/// How a place is accessed; `nonatomic` ones take only [`PlaceAccess::Plain`].
#[derive(Clone, Copy)]
pub(super) enum PlaceAccess {
    Plain,
    Ordered(Order),
    Function(&'static str),
}

impl<'a> Body<'_, 'a, '_> {
    // ---- statements that are mostly expression ----

    pub(super) fn assign(&mut self, place: ExprId, value: ExprId, span: Span) {
        let ast = self.globals.ast;
        if let ExprKind::Name(name) = ast.expr(place).kind {
            match self.binding(name.text) {
                Some(Binding::Register(register)) => {
                    return self.assign_register(register, value, span);
                }
                Some(Binding::Array { .. }) => return self.array_needs_index(name),
                // A parameter that is assigned to has a register.
                Some(Binding::Constant(_)) => return,
                None if self.globals.consts.contains_key(name.text) => {
                    self.error(
                        Diagnostic::error(
                            name.span,
                            format!(
                                "the constant `{}` cannot be assigned to",
                                shorten(name.text)
                            ),
                        )
                        .label("expected a register or a shared place"),
                    );
                    return;
                }
                None => {}
            }
        }
        if let ExprKind::Index(name, index) = ast.expr(place).kind
            && let Some(Binding::Array { first, length }) = self.binding(name.text)
        {
            let chosen = self.chosen_register(first, length, index, span);
            let value = self.value(value).expr;
            return self.emit_chosen(chosen, span, |register| Op::Assign(register, value.clone()));
        }
        self.store(place, value, None, span);
    }

    /// `place += value` and the like: for a shared place a load and a store, two events.
    pub(super) fn update(&mut self, place: ExprId, op: BinaryOp, value: ExprId, span: Span) {
        let ast = self.globals.ast;
        match ast.expr(place).kind {
            ExprKind::Name(name) => match self.binding(name.text) {
                Some(Binding::Register(register)) => {
                    let value = self.value(value).expr;
                    let sum = Expr::binary(op, Expr::Atom(register), value);
                    return self.emit(Op::Assign(register, sum), span);
                }
                Some(Binding::Array { .. }) => return self.array_needs_index(name),
                // (A constant is reported as where it is assigned to.)
                Some(Binding::Constant(_)) => return,
                None if self.globals.consts.contains_key(name.text) => {
                    return self.assign(place, value, span);
                }
                None => {}
            },
            ExprKind::Index(name, index) => {
                if let Some(Binding::Array { first, length }) = self.binding(name.text) {
                    let chosen = self.chosen_register(first, length, index, span);
                    let value = self.value(value).expr;
                    return self.emit_chosen(chosen, span, |register| {
                        let sum = Expr::binary(op, Expr::Atom(register), value.clone());
                        Op::Assign(register, sum)
                    });
                }
            }
            _ => {}
        }
        let target = self.target(place, &[value], PlaceAccess::Plain);
        let register = self.register(None, ast.expr(place).span);
        if let Some(target) = &target {
            self.emit_at(target, ast.expr(place).span, |address| Op::Load {
                register,
                address,
                order: Order::Acquire,
            });
        }
        let value = self.value(value).expr;
        if let Some(target) = &target {
            let sum = Expr::binary(op, Expr::Atom(register), value);
            self.emit_at(target, span, |address| Op::Store {
                address,
                value: sum.clone(),
                order: Order::Release,
            });
        }
    }

    fn store(&mut self, place: ExprId, value: ExprId, order: Option<Order>, span: Span) {
        let access = order.map_or(PlaceAccess::Plain, PlaceAccess::Ordered);
        let target = self.target(place, &[value], access);
        let value = self.value(value).expr;
        if let Some(order @ (Order::Acquire | Order::AcqRel)) = order {
            self.warn_order(span, "store", order);
        }
        if let Some(target) = target {
            let order = order.unwrap_or(Order::Release);
            self.emit_at(&target, span, |address| Op::Store {
                address,
                value: value.clone(),
                order,
            });
        }
    }

    /// `register = value`. A single load or call puts its value there directly.
    pub(super) fn assign_register(&mut self, register: RegisterId, value: ExprId, span: Span) {
        if self.access(value, Some(register), true).is_some() {
            return;
        }
        let value = self.value(value).expr;
        self.emit(Op::Assign(register, value), span);
    }

    pub(super) fn expr_stmt(&mut self, id: ExprId, span: Span) {
        match self.globals.ast.expr(id).kind {
            ExprKind::Store(place, value, order) => self.store(place, value, order, span),
            _ => self.discard(id),
        }
    }

    /// Evaluates for the effects only.
    pub(super) fn discard(&mut self, id: ExprId) {
        if self.access(id, None, false).is_some() {
            return;
        }
        let value = self.value(id);
        let span = self.globals.ast.expr(id).span;
        self.settle(value, true, span);
    }

    // ---- values ----

    /// The value of an expression; the loads in it are emitted.
    pub(super) fn value(&mut self, id: ExprId) -> Computed {
        let span = self.globals.ast.expr(id).span;
        self.deeper(span, Computed::nothing(), |body| body.value_here(id))
    }

    fn value_here(&mut self, id: ExprId) -> Computed {
        if let Some(register) = self.access(id, None, true) {
            return Computed::safe(register);
        }
        let ast = self.globals.ast;
        let expr = ast.expr(id);
        match &expr.kind {
            ExprKind::Int(value) => Computed::safe(Expr::Const(*value)),
            ExprKind::TooLarge => {
                self.globals.too_large(expr.span);
                Computed::nothing()
            }
            ExprKind::Name(name) => self.name_value(*name),
            ExprKind::Me => self.me_value(expr.span),
            ExprKind::AddressOf(place) => self.address_of(*place, expr.span),
            ExprKind::Checked(value, length) => {
                let Some(length) = self.globals.count(*length, "a number of elements") else {
                    return Computed::nothing();
                };
                let value = self.value(*value);
                Computed {
                    expr: checked(value.expr, length),
                    fails: true,
                }
            }
            ExprKind::Unary(op, operand) => {
                if let Some(value) = negative_literal(ast, *op, *operand) {
                    return Computed::safe(Expr::Const(self.globals.domain.reduce(value)));
                }
                let operand = self.value(*operand);
                Computed {
                    expr: Expr::unary(*op, operand.expr),
                    fails: operand.fails,
                }
            }
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right)
                if self.has_effects(*right) =>
            {
                self.lazy(*op, *left, *right, expr.span)
            }
            ExprKind::Binary(op, left, right) => {
                let left_value = self.value(*left);
                let later = left_value.fails && self.has_effects(*right);
                let left_value = self.settle(left_value, later, ast.expr(*left).span);
                let right_value = self.value(*right);
                let fails = match op {
                    BinaryOp::Divide | BinaryOp::Remainder => {
                        !matches!(right_value.expr, Expr::Const(value) if value != 0)
                    }
                    BinaryOp::ShiftLeft | BinaryOp::ShiftRight => {
                        !matches!(right_value.expr, Expr::Const(value) if (0..=63).contains(&value))
                    }
                    _ => false,
                };
                Computed {
                    fails: fails || left_value.fails || right_value.fails,
                    expr: Expr::binary(*op, left_value.expr, right_value.expr),
                }
            }
            ExprKind::Store(..) => {
                self.error(
                    Diagnostic::error(expr.span, "a store has no value")
                        .label("expected an expression")
                        .help("make it a statement of its own"),
                );
                Computed::nothing()
            }
            ExprKind::At(..) => {
                self.error(
                    Diagnostic::error(expr.span, "`@` can stand in a `never` only")
                        .label("a thread does not know where others are"),
                );
                Computed::nothing()
            }
            // Everything else is an access, or was reported.
            _ => Computed::nothing(),
        }
    }

    /// Computes now what can fail, where something else happens before the value is used.
    pub(super) fn settle(&mut self, value: Computed, now: bool, span: Span) -> Computed {
        if !(now && value.fails) {
            return value;
        }
        let register = self.register(None, span);
        self.emit(Op::Assign(register, value.expr), span);
        Computed::safe(Expr::Atom(register))
    }

    /// `&&` and `||` as a value, where the right side has loads.
    fn lazy(&mut self, op: BinaryOp, left: ExprId, right: ExprId, span: Span) -> Computed {
        let result = self.register(None, span);
        let short = self.point(span);
        let long = self.point(span);
        let join = self.point(span);
        match op {
            BinaryOp::And => self.condition(left, Some(long), Some(short)),
            _ => self.condition(left, Some(short), Some(long)),
        }
        self.current = short;
        let known = (op == BinaryOp::Or) as Value;
        self.connect(Op::Assign(result, Expr::Const(known)), join, span);
        self.current = long;
        let right = self.value(right).expr;
        let truth = Expr::binary(BinaryOp::NotEqual, right, Expr::Const(0));
        self.connect(Op::Assign(result, truth), join, span);
        self.current = join;
        Computed::safe(Expr::Atom(result))
    }

    /// A name that is no shared place.
    fn name_value(&mut self, name: Name<'a>) -> Computed {
        match self.binding(name.text) {
            Some(Binding::Register(register)) => return Computed::safe(Expr::Atom(register)),
            Some(Binding::Constant(value)) => return Computed::safe(Expr::Const(value)),
            Some(Binding::Array { .. }) => {
                self.array_needs_index(name);
                return Computed::nothing();
            }
            None => {}
        }
        if let Some(&index) = self.globals.consts.get(name.text) {
            let (count, value) = self.globals.const_values[index];
            if count.is_some() && value.is_none() {
                self.globals.fails_in_domain(&name);
            }
            return Computed::safe(Expr::Const(value.unwrap_or(0)));
        }
        self.unknown_name(name);
        Computed::nothing()
    }

    fn me_value(&mut self, span: Span) -> Computed {
        let thread = shorten(self.thread_name.text);
        match self.copies {
            Copies::Fixed(copies) => {
                if let Some(size) = self.globals.domain.size()
                    && Value::from(copies) > size
                {
                    self.error(
                        Diagnostic::error(
                            span,
                            format!("the numbers of {copies} copies do not fit in the domain of {size} values"),
                        )
                        .label(format!("`me` can be {}", copies - 1))
                        .help(format!("make the domain larger: `domain {copies};`")),
                    );
                }
                let register = match self.me {
                    Some(register) => register,
                    None => {
                        let register = self.register(Some("me"), span);
                        self.me = Some(register);
                        register
                    }
                };
                return Computed::safe(Expr::Atom(register));
            }
            Copies::One => self.error(
                Diagnostic::error(span, format!("the thread `{thread}` has no number"))
                    .label("there is no `me` here")
                    .help(format!(
                        "numbered copies are declared as `thread {thread}[2] {{ … }}`"
                    )),
            ),
            Copies::Any => self.error(
                Diagnostic::error(span, format!("the copies of `{thread}[*]` have no numbers"))
                    .label("there is no `me` here")
                    .help("with any number of copies, all of them are alike"),
            ),
        }
        Computed::nothing()
    }

    fn address_of(&mut self, place: ExprId, span: Span) -> Computed {
        let ast = self.globals.ast;
        self.globals.pointers = true;
        if let ExprKind::Deref(pointer) = ast.expr(place).kind {
            return self.value(pointer);
        }
        if !self.is_basic(place) {
            return self.address_of_path(place, span);
        }
        let Some(address) = self.address(place, &[], PlaceAccess::Plain) else {
            return Computed::nothing();
        };
        match address {
            Address::Direct(location) => {
                let address = self.globals.locations[location.index()].address;
                self.globals.require_fit(address, span);
                Computed::safe(Expr::Const(address))
            }
            Address::Element {
                first,
                length,
                index,
            } => {
                let first = self.globals.locations[first.index()].address;
                self.globals
                    .require_fit(first + Value::from(length) - 1, span);
                Computed {
                    expr: Expr::Element {
                        first,
                        length,
                        index: Box::new(index),
                    },
                    fails: true,
                }
            }
            Address::Pointer(pointer) => Computed::safe(pointer),
        }
    }

    // ---- accesses ----

    /// If the expression is a load, a read-modify-write, a `wait` or a call: does it, and gives its value. `target` is the register that
    /// the value should be in; without `wanted` the value is not needed.
    fn access(
        &mut self,
        id: ExprId,
        target: Option<RegisterId>,
        wanted: bool,
    ) -> Option<RegisterExpr> {
        let ast = self.globals.ast;
        let expr = ast.expr(id);
        let span = expr.span;
        match &expr.kind {
            ExprKind::Name(name) => {
                if self.binding(name.text).is_some() || !self.globals.shared.contains_key(name.text)
                {
                    return None;
                }
                Some(self.load(id, None, span, target))
            }
            ExprKind::Index(name, index) => {
                let Some(Binding::Array { first, length }) = self.binding(name.text) else {
                    return Some(self.load(id, None, span, target));
                };
                let chosen = self.chosen_register(first, length, *index, span);
                if let (None, Chosen::One(register)) = (target, &chosen) {
                    return Some(Expr::Atom(*register));
                }
                let target = target.unwrap_or_else(|| self.register(None, span));
                self.emit_chosen(chosen, span, |register| {
                    Op::Assign(target, Expr::Atom(register))
                });
                Some(Expr::Atom(target))
            }
            ExprKind::Element(..)
            | ExprKind::Field(..)
            | ExprKind::Member(..)
            | ExprKind::Arrow(..)
            | ExprKind::Deref(_) => Some(self.load(id, None, span, target)),
            ExprKind::Load(place, order) => {
                if let Some(order @ (Order::Release | Order::AcqRel)) = order {
                    self.warn_order(span, "load", *order);
                }
                Some(self.load(*place, *order, span, target))
            }
            ExprKind::Rmw {
                function,
                place,
                arguments,
                order,
                failure,
            } => {
                let access = PlaceAccess::Function(function.name());
                let address = self.target(*place, arguments, access);
                let mut values = self.values(arguments).into_iter();
                let (Some(address), Some(first)) = (address, values.next()) else {
                    return Some(Expr::Const(0));
                };
                let second = values.next();
                let order = order.unwrap_or(Order::AcqRel);
                let failure = failure.unwrap_or(order.without_release());
                let action = match (function, second) {
                    (Rmw::Cas | Rmw::WeakCas, Some(desired)) => RmwAction::CompareAndSwap {
                        expected: first,
                        desired,
                        failure,
                    },
                    (Rmw::Bcas, Some(desired)) => RmwAction::BlockingCompareAndSwap {
                        expected: first,
                        desired,
                    },
                    (Rmw::Fetch(op), _) => RmwAction::Fetch(*op, first),
                    _ => RmwAction::Exchange(first),
                };
                let register = self.result_register(target, wanted, span);
                let begin = self.current;
                self.emit_at(&address, span, |address| Op::Rmw {
                    register,
                    address,
                    action: action.clone(),
                    order,
                });
                if *function == Rmw::WeakCas {
                    // It may fail for no reason: then it is a load.
                    let end = std::mem::replace(&mut self.current, begin);
                    let register = register.unwrap_or_else(|| self.register(None, span));
                    self.connect_at(&address, end, span, |address| Op::Load {
                        register,
                        address,
                        order: failure,
                    });
                    self.current = end;
                }
                Some(register.map_or(Expr::Const(0), Expr::Atom))
            }
            ExprKind::Wait {
                place,
                relation,
                value,
                order,
            } => {
                let address = self.target(*place, &[*value], PlaceAccess::Function("wait"));
                let value = self.value(*value).expr;
                let Some(address) = address else {
                    return Some(Expr::Const(0));
                };
                let register = self.result_register(target, wanted, span);
                self.emit_at(&address, span, |address| Op::Wait {
                    register,
                    address,
                    relation: *relation,
                    value: value.clone(),
                    order: order.unwrap_or(Order::Acquire),
                });
                Some(register.map_or(Expr::Const(0), Expr::Atom))
            }
            ExprKind::Call(name, arguments) => {
                let index = self.function(*name, arguments.len());
                let values = self.values(arguments);
                let Some(index) = index else {
                    return Some(Expr::Const(0));
                };
                let register = self.result_register(target, wanted, span);
                self.inline(index, values, span, register);
                Some(register.map_or(Expr::Const(0), Expr::Atom))
            }
            _ => None,
        }
    }

    fn result_register(
        &mut self,
        target: Option<RegisterId>,
        wanted: bool,
        span: Span,
    ) -> Option<RegisterId> {
        target.or_else(|| wanted.then(|| self.register(None, span)))
    }

    fn load(
        &mut self,
        place: ExprId,
        order: Option<Order>,
        span: Span,
        target: Option<RegisterId>,
    ) -> RegisterExpr {
        let access = order.map_or(PlaceAccess::Plain, PlaceAccess::Ordered);
        let Some(address) = self.target(place, &[], access) else {
            return Expr::Const(0);
        };
        let register = target.unwrap_or_else(|| self.register(None, span));
        self.emit_at(&address, span, |address| Op::Load {
            register,
            address,
            order: order.unwrap_or(Order::Acquire),
        });
        Expr::Atom(register)
    }

    /// Arguments from left to right.
    fn values(&mut self, arguments: &[ExprId]) -> Vec<RegisterExpr> {
        let mut values = Vec::with_capacity(arguments.len());
        for (position, argument) in arguments.iter().enumerate() {
            let value = self.value(*argument);
            let later = value.fails && self.any_effects(&arguments[position + 1..]);
            let span = self.globals.ast.expr(*argument).span;
            values.push(self.settle(value, later, span).expr);
        }
        values
    }

    fn function(&mut self, name: Name<'a>, arguments: usize) -> Option<usize> {
        let Some(&index) = self.globals.functions.get(name.text) else {
            if !self.globals.ast.incomplete {
                let mut diagnostic = Diagnostic::error(
                    name.span,
                    format!("there is no function `{}`", shorten(name.text)),
                )
                .label("not declared");
                let declared = self.globals.functions.keys().copied();
                let near = self.globals.diagnostics.suggest(
                    name.text,
                    declared.chain(["cas", "fadd", "xchg", "bcas", "wait"]),
                );
                diagnostic.help = match name.text {
                    "atomic_thread_fence" | "thread_fence" | "mfence" | "smp_mb" => {
                        Some("it is `fence;` here, or with an order `fence(release);`".into())
                    }
                    text if text.starts_with("atomic_") => {
                        Some("accesses are methods of places: `x.load(acquire)`, `x.store(1, release)`, `x.fetch_add(1)`".into())
                    }
                    _ => near,
                };
                self.error(diagnostic);
            }
            return None;
        };
        let parameters = self.globals.ast.fns[index].parameters.len();
        if parameters != arguments {
            let plural = if parameters == 1 { "" } else { "s" };
            self.error(
                Diagnostic::error(
                    name.span,
                    format!(
                        "`{}` takes {parameters} argument{plural}, but here are {arguments}",
                        shorten(name.text)
                    ),
                )
                .label(format!("expected {parameters} argument{plural}")),
            );
            return None;
        }
        Some(index)
    }

    /// The location of a place without fields and with at most one index. `later` is evaluated between this and the access.
    pub(super) fn address(
        &mut self,
        place: ExprId,
        later: &[ExprId],
        access: PlaceAccess,
    ) -> Option<Address<RegisterId>> {
        let ast = self.globals.ast;
        let expr = ast.expr(place);
        match &expr.kind {
            ExprKind::Name(name) => {
                let shared = self.shared_place(*name)?;
                self.check_access(&shared, *name, access);
                if shared.length.is_some() {
                    self.globals.array_without_index(*name);
                    return None;
                }
                Some(Address::Direct(shared.first))
            }
            ExprKind::Index(name, index) => {
                let shared = self.shared_place(*name);
                let value = self.value(*index);
                let shared = shared?;
                self.check_access(&shared, *name, access);
                let Some(length) = shared.length else {
                    self.globals.index_on_scalar(*name);
                    return None;
                };
                let later = value.fails && self.any_effects(later);
                let index = self.settle(value, later, expr.span).expr;
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
                let value = self.value(*pointer);
                let later = value.fails && self.any_effects(later);
                let pointer = self.settle(value, later, expr.span).expr;
                Some(match self.known_location(&pointer, access) {
                    Some(location) => Address::Direct(location),
                    None => Address::Pointer(pointer),
                })
            }
            _ => None,
        }
    }

    /// The location of a constant address, which is no error of the program.
    fn known_location(&self, pointer: &RegisterExpr, access: PlaceAccess) -> Option<LocationId> {
        let address = pointer.constant(self.globals.domain)?;
        let index = usize::try_from(address.checked_sub(1)?).ok()?;
        let location = self.globals.locations.get(index)?;
        let plain = matches!(
            access,
            PlaceAccess::Plain | PlaceAccess::Ordered(Order::NonAtomic)
        );
        let fits = !location.nonatomic || plain;
        fits.then_some(LocationId(index as u32))
    }

    pub(super) fn shared_place(&mut self, name: Name<'a>) -> Option<Shared> {
        if self.binding(name.text).is_some() {
            let word = shorten(name.text);
            self.error(
                Diagnostic::error(
                    name.span,
                    format!("`{word}` is a register, not a shared place"),
                )
                .label("expected a shared place")
                .help(format!(
                    "`*{word}` is the location whose address `{word}` holds"
                )),
            );
            return None;
        }
        let shared = self.globals.shared(name.text);
        if shared.is_none() {
            if self.globals.consts.contains_key(name.text) {
                self.error(
                    Diagnostic::error(
                        name.span,
                        format!("`{}` is a constant, not a shared place", shorten(name.text)),
                    )
                    .label("expected a shared place"),
                );
            } else {
                self.unknown_name(name);
            }
        }
        shared
    }

    fn check_access(&mut self, shared: &Shared, name: Name<'_>, access: PlaceAccess) {
        if shared.nonatomic {
            self.check_plain(&shorten(name.text), name.span, access);
        }
    }

    /// A nonatomic place takes plain loads and stores only.
    pub(super) fn check_plain(&mut self, place: &str, span: Span, access: PlaceAccess) {
        let what = match access {
            PlaceAccess::Plain | PlaceAccess::Ordered(Order::NonAtomic) => return,
            PlaceAccess::Ordered(order) => format!("the order `{}`", order.name()),
            PlaceAccess::Function(function) => format!("`{function}`"),
        };
        self.error(
            Diagnostic::error(
                span,
                format!("`{place}` is nonatomic and takes plain loads and stores only, not {what}"),
            )
            .label("a nonatomic location")
            .help("declare it with `shared` alone"),
        );
    }

    fn warn_order(&mut self, span: Span, what: &str, order: Order) {
        self.error(
            Diagnostic::warning(
                span,
                format!("the order `{}` means nothing for a {what}", order.name()),
            )
            .label(format!("a {what}")),
        );
    }

    fn unknown_name(&mut self, name: Name<'a>) {
        if self.globals.ast.incomplete {
            return;
        }
        let word = shorten(name.text);
        if self.has_ended(name.text) {
            return self.error(
                Diagnostic::error(
                    name.span,
                    format!("the register `{word}` is used outside of its block"),
                )
                .label("its block has ended")
                .help(format!("declare `{word}` before the block")),
            );
        }
        let mut diagnostic =
            Diagnostic::error(name.span, format!("`{word}` is not declared")).label("not declared");
        let declared = self
            .visible()
            .chain(self.globals.shared.keys().copied())
            .chain(self.globals.consts.keys().copied());
        let nearest = self.globals.diagnostics.suggest(name.text, declared);
        diagnostic.help = nearest.or_else(|| {
            let globals = &self.globals;
            if globals.functions.contains_key(name.text) {
                return Some(format!("`{word}` is a function; call it with `{word}(…)`"));
            }
            match name.text {
                "NULL" | "nullptr" => Some("it is `null`".into()),
                _ => Some(format!(
                    "declare it: `let {word};` for a register, `shared {word};` for a location"
                )),
            }
        });
        self.error(diagnostic);
    }

    // ---- effects ----

    /// Whether evaluating the expression loads, writes or calls anything.
    pub(super) fn has_effects(&mut self, id: ExprId) -> bool {
        // A name means the same wherever the same piece of text is inlined, so one look is enough.
        match self.globals.effects[id.index()] {
            0 => {
                let found = self.find_effects(id);
                self.globals.effects[id.index()] = 1 + found as u8;
                found
            }
            known => known == 2,
        }
    }

    fn find_effects(&mut self, id: ExprId) -> bool {
        let ast = self.globals.ast;
        match &ast.expr(id).kind {
            ExprKind::Name(name) => {
                self.binding(name.text).is_none() && self.globals.shared.contains_key(name.text)
            }
            ExprKind::Index(..)
            | ExprKind::Element(..)
            | ExprKind::Field(..)
            | ExprKind::Member(..)
            | ExprKind::Arrow(..)
            | ExprKind::Deref(_)
            | ExprKind::Load(..)
            | ExprKind::Store(..)
            | ExprKind::Rmw { .. }
            | ExprKind::Wait { .. }
            | ExprKind::Call(..) => true,
            ExprKind::AddressOf(place) => match ast.expr(*place).kind {
                ExprKind::Name(_) | ExprKind::Member(_, None, _) => false,
                ExprKind::Index(_, inner) | ExprKind::Deref(inner) => self.has_effects(inner),
                _ => true,
            },
            ExprKind::Checked(value, _) => self.has_effects(*value),
            ExprKind::Unary(_, operand) => self.has_effects(*operand),
            ExprKind::Binary(_, left, right) => self.has_effects(*left) || self.has_effects(*right),
            _ => false,
        }
    }

    fn any_effects(&mut self, ids: &[ExprId]) -> bool {
        ids.iter().any(|id| self.has_effects(*id))
    }

    /// Whether the expression is a `&&`, `||` or `!` that needs branches.
    pub(super) fn is_lazy(&mut self, id: ExprId) -> bool {
        match self.globals.ast.expr(id).kind {
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, right) => {
                self.has_effects(right) || self.is_lazy(left)
            }
            ExprKind::Unary(UnaryOp::Not, operand) => self.is_lazy(operand),
            _ => false,
        }
    }
}

/// An element of an array. A constant index is looked at now: one out of range is an error of the program where it runs.
pub(super) fn element<A>(
    globals: &mut Globals<'_, '_>,
    first: LocationId,
    length: u32,
    index: Expr<A>,
    constant: Option<Value>,
    span: Span,
) -> Address<A> {
    match constant {
        Some(value) if (0..Value::from(length)).contains(&value) => {
            return Address::Direct(LocationId(first.0 + value as u32));
        }
        Some(value) => globals.error(
            Diagnostic::warning(
                span,
                format!("index {value} is outside the array of {length} elements"),
            )
            .label(format!("expected 0 to {}", length - 1))
            .help("a run that gets here ends with an error of the program"),
        ),
        None => {}
    }
    Address::Element {
        first,
        length,
        index,
    }
}

impl Globals<'_, '_> {
    /// The line that a span begins in.
    pub(super) fn line(&self, span: Span) -> u32 {
        self.source.line_column(span.start).line
    }

    pub(super) fn array_without_index(&mut self, name: Name<'_>) {
        let word = shorten(name.text);
        self.error(
            Diagnostic::error(
                name.span,
                format!("`{word}` is an array and needs an index"),
            )
            .label("expected an element of the array")
            .help(format!("the first element is `{word}[0]`")),
        );
    }

    pub(super) fn index_on_scalar(&mut self, name: Name<'_>) {
        let word = shorten(name.text);
        self.error(
            Diagnostic::error(
                name.span,
                format!("`{word}` is no array and takes no index"),
            )
            .label("a single location"),
        );
    }

    pub(super) fn unknown_shared(&mut self, name: Name<'_>) {
        if self.ast.incomplete {
            return;
        }
        let mut diagnostic = Diagnostic::error(
            name.span,
            format!("`{}` is not declared", shorten(name.text)),
        )
        .label("not declared");
        let declared = self.shared.keys().chain(self.consts.keys()).copied();
        diagnostic.help = self
            .diagnostics
            .suggest(name.text, declared.chain(["deadlock"]));
        self.error(diagnostic);
    }
}
