//! Expressions: their values, places and conversions.

use crate::ast::*;
use crate::body::{Body, Variable};
use crate::packed::is_packed;
use crate::types::{Done, cells, fail, member, resolved, size};
use palisade_lang::{BinaryOp, Diagnostic, Expr as LangExpr, Order, Span, UnaryOp};
use palisade_lower::{self as lower, Action, Atom, BlockId, End, LocalId, ValueExpr, Width};
use std::rc::Rc;

/// A value with its type. A struct's value is its address.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub expr: ValueExpr,
    pub ty: Type,
}

/// Something that can be assigned to.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    Register(LocalId),
    Memory(ValueExpr),
}

impl Value {
    pub fn nothing() -> Self {
        Value {
            expr: LangExpr::Const(0),
            ty: Type::new(TypeKind::Void),
        }
    }

    pub fn int(value: i64) -> Self {
        Value {
            expr: LangExpr::Const(value),
            ty: Type::int(32, true),
        }
    }
}

/// As many things are left out behind each object where it is not known how far a pointer is moved: who goes just beyond the end does not go further.
const UNKNOWN_LEAP: i64 = 4;

impl Body<'_, '_> {
    /// The address so many cells behind this one.
    pub fn behind(&self, address: ValueExpr, cells: i64) -> ValueExpr {
        let offset = LangExpr::Const(cells * self.translator.stride);
        lower::binary(BinaryOp::Add, address, offset)
    }

    /// A pointer to such a thing is followed.
    fn follows(&mut self, pointer: &ValueExpr, to: &Type, span: Span) {
        let known = matches!(
            pointer,
            LangExpr::Atom(Atom::Object(_) | Atom::AddressOf(_))
        );
        if !known && let Ok(cells) = self.translator.cell_count(to, span) {
            self.translator.reach = self.translator.reach.max(cells);
        }
    }

    /// A pointer is moved by this many things of so many cells.
    pub fn leaps(&mut self, count: &ValueExpr, cells: i64) {
        let times = match count {
            LangExpr::Const(count) => count.saturating_abs(),
            _ => UNKNOWN_LEAP,
        };
        let leap = times.saturating_mul(cells);
        self.translator.leap = self.translator.leap.max(leap);
    }

    /// The least and the largest value of an expression.
    pub fn range(&self, expr: &ValueExpr) -> (i64, i64) {
        const ALL: (i64, i64) = (i64::MIN, i64::MAX);
        match expr {
            LangExpr::Const(value) => (*value, *value),
            LangExpr::Atom(Atom::Local(local)) => self.ranges[local.index()],
            LangExpr::Atom(Atom::Function(_)) => ALL,
            LangExpr::Atom(_) => (1, 1 << 40),
            LangExpr::Unary(UnaryOp::Not, _) => (0, 1),
            LangExpr::Unary(..) => ALL,
            LangExpr::Element { length, .. } => (0, i64::from(*length)),
            LangExpr::Binary(op, left, right) => {
                use BinaryOp::*;
                let (l, r) = (self.range(left), self.range(right));
                let wide = |a: i64| i128::from(a);
                let corners = |f: &dyn Fn(i128, i128) -> i128| {
                    let all = [
                        f(wide(l.0), wide(r.0)),
                        f(wide(l.0), wide(r.1)),
                        f(wide(l.1), wide(r.0)),
                        f(wide(l.1), wide(r.1)),
                    ];
                    let low = all.iter().min().copied().unwrap_or(0);
                    let high = all.iter().max().copied().unwrap_or(0);
                    match (i64::try_from(low), i64::try_from(high)) {
                        (Ok(low), Ok(high)) => (low, high),
                        _ => ALL,
                    }
                };
                match op {
                    Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual | And | Or => {
                        (0, 1)
                    }
                    Add => corners(&|a, b| a + b),
                    Subtract => corners(&|a, b| a - b),
                    Multiply => corners(&|a, b| a.saturating_mul(b)),
                    BitAnd if r.0 >= 0 => (0, r.1),
                    BitAnd if l.0 >= 0 => (0, l.1),
                    BitOr | BitXor if l.0 >= 0 && r.0 >= 0 => {
                        let most = (l.1 | r.1) as u64;
                        let bits = 64 - most.leading_zeros();
                        (
                            0,
                            if bits >= 63 {
                                i64::MAX
                            } else {
                                (1 << bits) - 1
                            },
                        )
                    }
                    Divide if l.0 >= 0 && r.0 > 0 => (0, l.1),
                    Remainder if l.0 >= 0 && r.0 > 0 => (0, r.1 - 1),
                    ShiftRight if r.0 >= 0 && l.0 >= 0 => (0, l.1),
                    ShiftRight if r.0 >= 0 => l,
                    _ => ALL,
                }
            }
        }
    }

    /// The value in a register of its own, which later steps do not change.
    pub fn kept(&mut self, value: Value, span: Span) -> Value {
        if matches!(value.expr, LangExpr::Const(_)) {
            return value;
        }
        let register = self.temporary(&value.ty, span);
        self.emit(Action::Assign(register, value.expr), span);
        Value {
            expr: LangExpr::Atom(Atom::Local(register)),
            ty: value.ty,
        }
    }

    /// Takes a value into a type.
    pub fn convert(&mut self, value: Value, to: &Type, span: Span) -> Done<Value> {
        if to.is_void() {
            return Ok(Value::nothing());
        }
        let ty = to.plain();
        if let Some(id) = to.record() {
            return match value.ty.record() == Some(id) {
                true => Ok(Value { ty, ..value }),
                false => fail(span, "a struct of another type is needed here"),
            };
        }
        // What is computed with them is not followed: they may be kept and printed, and nothing can depend on them.
        if is_floating(to)
            && (is_floating(&value.ty) || value.ty.is_scalar() && !value.ty.is_pointer())
        {
            return Ok(Value { ty, ..floating() });
        }
        let (Some(width), Some(_)) = (to.width(), value.ty.width()) else {
            let (from, to) = (value.ty.clone(), to.clone());
            return fail(span, self.cannot_convert(&from, &to));
        };
        if let (Some(from), Some(to)) = (value.ty.pointee(), to.pointee()) {
            let (from, to) = (from.clone(), to.clone());
            if !from.is_void()
                && !to.is_void()
                && is_floating(&from) != is_floating(&to)
                && !is_byte(&to)
            {
                return fail(
                    span,
                    "what is computed with floating-point numbers is not followed: one cannot be looked at as something else",
                );
            }
            self.looked_at_as(&from, &to, span)?;
            let packed = [&from, &to].map(|ty| self.points_at_packed(ty, span));
            if let [Ok(one), Ok(other)] = packed
                && one != other
                && !from.is_void()
                && !to.is_void()
            {
                let message = "a pointer to an atomic struct cannot become another one";
                return fail(span, message);
            }
        }
        // The bits of a pointer's number may matter from here on.
        let known = |ty: &Type| ty.pointee().is_some_and(|to| !to.is_void());
        let constant = matches!(value.expr, LangExpr::Const(_));
        let number = |ty: &Type| matches!(&*ty.kind, TypeKind::Int { .. });
        let to_number = value.ty.is_pointer() && number(to);
        if !constant && (to_number || number(&value.ty) && known(to)) {
            self.translator.uses_bits = true;
        }
        let expr = if matches!(&*to.kind, TypeKind::Bool) {
            match self.range(&value.expr) {
                (0.., ..=1) => value.expr,
                _ => lower::binary(BinaryOp::NotEqual, value.expr, LangExpr::Const(0)),
            }
        } else {
            let range = self.range(&value.expr);
            lower::wrap(value.expr, width, range)
        };
        Ok(Value { expr, ty })
    }

    /// A pointer to one type becomes a pointer to another: of numbers, the sign may be another.
    pub fn looked_at_as(&mut self, from: &Type, to: &Type, span: Span) -> Done<()> {
        let narrow = |ty: &Type| match &*ty.kind {
            TypeKind::Int { bits, signed } if *bits < 64 => Some((*bits, *signed)),
            _ => None,
        };
        if let (Some((bits, one)), Some((others, other))) = (narrow(from), narrow(to))
            && bits == others
            && one != other
        {
            if from.atomic || to.atomic {
                return fail(span, crate::calls::OTHER_SIGN);
            }
            self.translator.mixes_signs = true;
        }
        Ok(())
    }

    fn points_at_packed(&mut self, to: &Type, span: Span) -> Done<bool> {
        let to = resolved(to, span, self.translator)?;
        is_packed(&to, span, self.translator)
    }

    fn cannot_convert(&self, from: &Type, to: &Type) -> String {
        if is_floating(from) || is_floating(to) {
            return "what floating-point numbers and clocks say is not followed: nothing else can depend on it".to_string();
        }
        let ast = self.translator.ast;
        format!(
            "`{}` cannot become `{}`",
            from.describe(ast),
            to.describe(ast)
        )
    }

    /// The value of an expression, for a place of this type: memory that is allocated there gets the type.
    pub fn rvalue_for(&mut self, expr: &Expr, target: &Type) -> Done<Value> {
        let value = match self.allocation(expr, Some(target))? {
            Some(value) => value,
            None => self.rvalue(expr)?,
        };
        if target.pointee().is_some_and(is_byte) && self.is_view(expr)? {
            self.translator.seen_as_bytes.get_or_insert(expr.span);
        }
        self.convert(value, target, expr.span)
    }

    /// The type that the value of an expression has, without its effects: an array is a pointer there.
    fn value_type(&mut self, expr: &Expr) -> Done<Type> {
        let before = self.mark();
        let ty = self.rvalue(expr).map(|value| value.ty.plain());
        self.take_back(before);
        ty
    }

    /// The type of an expression, without its effects.
    pub fn type_of(&mut self, expr: &Expr) -> Done<Type> {
        let before = self.mark();
        let ty = match &expr.kind {
            ExprKind::Name(_)
            | ExprKind::Member(..)
            | ExprKind::Arrow(..)
            | ExprKind::Index(..)
            | ExprKind::Unary(Unary::Dereference, _) => self.place(expr).map(|(_, ty)| ty),
            _ => self.rvalue(expr).map(|value| value.ty),
        };
        self.take_back(before);
        ty
    }

    pub fn place(&mut self, expr: &Expr) -> Done<(Place, Type)> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Name(name) => {
                let variable = self.variable(name).cloned();
                if let Some(Variable::Local(local, ty)) = &variable {
                    let place = match self.function.locals[local.index()].storage {
                        // An array whose length a run decides: the register has its address.
                        lower::Storage::Register if matches!(&*ty.kind, TypeKind::Array(..)) => {
                            Place::Memory(LangExpr::Atom(Atom::Local(*local)))
                        }
                        lower::Storage::Register => Place::Register(*local),
                        lower::Storage::Memory(_) => {
                            Place::Memory(LangExpr::Atom(Atom::AddressOf(*local)))
                        }
                    };
                    return Ok((place, ty.clone()));
                }
                // In `typeof`: only the type of a variable of the function around it counts.
                let mut around = self.translator.local_types.iter().rev();
                if variable.is_none()
                    && let Some((_, ty)) = around.find(|(known, _)| **known == **name)
                {
                    let ty = ty.clone();
                    let memory = self.memory(name, &ty, span)?;
                    return Ok((Place::Memory(LangExpr::Atom(Atom::AddressOf(memory))), ty));
                }
                let found = match variable {
                    Some(Variable::Static(object, ty)) => Some((object, ty)),
                    _ => self.translator.global(name)?,
                };
                if let Some((object, ty)) = found {
                    let address = LangExpr::Atom(Atom::Object(object));
                    return Ok((Place::Memory(address), ty));
                }
                if let Some(ty) = self.translator.function_type(name) {
                    let Some(number) = self.translator.function(name) else {
                        let message = format!("`{name}` has no body here");
                        return fail(span, message);
                    };
                    let number = LangExpr::Atom(Atom::Function(number));
                    return Ok((Place::Memory(number), Type::new(TypeKind::Function(ty))));
                }
                let known = self
                    .translator
                    .definitions
                    .keys()
                    .chain(self.translator.globals.keys());
                let near = known
                    .map(|k| k.to_string())
                    .find(|k| k.eq_ignore_ascii_case(name));
                let mut error = Diagnostic::error(span, format!("`{name}` is not known"));
                if let Some(near) = near {
                    error = error.help(format!("there is `{near}`"));
                }
                Err(Box::new(error))
            }
            ExprKind::Unary(Unary::Dereference, operand) => {
                if self.is_view(operand)? {
                    return fail(span, "single bytes of other objects are not supported");
                }
                let value = self.rvalue(operand)?;
                let Some(to) = value.ty.pointee() else {
                    return fail(operand.span, "this is not a pointer");
                };
                let to = resolved(to, span, self.translator)?;
                self.follows(&value.expr, &to, span);
                self.translator.follows_bytes |= is_byte(&to);
                Ok((Place::Memory(value.expr), to))
            }
            ExprKind::Member(inner, name) => {
                let (place, ty) = match self.place(inner) {
                    Ok(found) => found,
                    Err(error) => match &inner.kind {
                        ExprKind::Call(..)
                        | ExprKind::Statements(_)
                        | ExprKind::Conditional(..)
                        | ExprKind::Assign(..) => {
                            let value = self.rvalue(inner)?;
                            (Place::Memory(value.expr), value.ty)
                        }
                        _ => return Err(error),
                    },
                };
                self.member_of(place, &ty, name, span)
            }
            ExprKind::Arrow(inner, name) => {
                let value = self.rvalue(inner)?;
                let Some(to) = value.ty.pointee() else {
                    return fail(inner.span, "this is not a pointer to a struct");
                };
                let to = resolved(to, span, self.translator)?;
                self.follows(&value.expr, &to, span);
                self.member_of(Place::Memory(value.expr), &to, name, span)
            }
            ExprKind::Index(array, index) => self.element(array, index, span),
            ExprKind::Compound(ty, init) => {
                let ty = self.translator.with_length(ty, Some(init), span)?;
                if self.is_outside {
                    // Outside functions it lasts as long as the program.
                    let (object, ty) = self.translator.new_object("literal", ty, false, span)?;
                    self.translator.initialise(object, &ty, init)?;
                    return Ok((Place::Memory(LangExpr::Atom(Atom::Object(object))), ty));
                }
                let memory = self.memory("literal", &ty, span)?;
                let address = LangExpr::Atom(Atom::AddressOf(memory));
                self.fill(address.clone(), &ty, init, span)?;
                Ok((Place::Memory(address), ty))
            }
            ExprKind::String(text) => {
                let length = Expr::new(
                    ExprKind::Int(text.len() as i64 + 1, Type::int(64, false)),
                    span,
                );
                let kind = TypeKind::Array(Type::int(8, true), Some(Rc::new(length)));
                let ty = Type::new(kind);
                let (object, ty) = self.translator.new_object("text", ty, false, span)?;
                let init = Init::Expr(expr.clone());
                self.translator.initialise(object, &ty, &init)?;
                Ok((Place::Memory(LangExpr::Atom(Atom::Object(object))), ty))
            }
            ExprKind::Cast(ty, inner) => {
                // GNU C of old; and a struct cast to its own type.
                let (place, _) = self.place(inner)?;
                let ty = resolved(ty, span, self.translator)?;
                Ok((place, ty))
            }
            ExprKind::Comma(first, second) => {
                self.effect(first)?;
                self.place(second)
            }
            ExprKind::Generic(value, choices) => {
                let chosen = self.choice(value, choices, span)?;
                self.place(chosen)
            }
            _ => fail(span, "this cannot be assigned to, and has no address"),
        }
    }

    fn member_of(
        &mut self,
        place: Place,
        ty: &Type,
        name: &str,
        span: Span,
    ) -> Done<(Place, Type)> {
        let Some(id) = ty.record() else {
            return fail(span, "this is not a struct");
        };
        if is_packed(ty, span, self.translator)? {
            let message = "a member of an atomic struct is accessed by itself, which C leaves undefined: load the whole struct";
            return fail(span, message);
        }
        let Some((offset, _, mut field)) = member(id, name, span, self.translator)? else {
            let message = format!(
                "`{}` has no member `{name}`",
                ty.describe(self.translator.ast)
            );
            return fail(span, message);
        };
        field = resolved(&field, span, self.translator)?;
        field.volatile |= ty.volatile;
        field.constant |= ty.constant;
        match place {
            Place::Memory(address) => Ok((Place::Memory(self.behind(address, offset)), field)),
            Place::Register(_) => fail(span, "this is not a struct"),
        }
    }

    fn element(&mut self, array: &Expr, index: &Expr, span: Span) -> Done<(Place, Type)> {
        // The length of an array that is there as such is checked.
        let is_array = match self.type_of(array) {
            Ok(ty) => match &*ty.kind {
                TypeKind::Array(element, length) => Some((element.clone(), length.clone())),
                _ => None,
            },
            Err(_) => None,
        };
        if let Some((element, length)) = is_array {
            let (place, _) = self.place(array)?;
            let Place::Memory(address) = place else {
                return fail(span, "this is not an array");
            };
            let element = resolved(&element, span, self.translator)?;
            let each = self.translator.cell_count(&element, span)? * self.translator.stride;
            let index = self.rvalue(index)?;
            let length = match &length {
                Some(length) => crate::types::Lengths::length(self.translator, length)?,
                None => 0,
            };
            let checked = match (&index.expr, length) {
                // A member at the end of a struct, of any length.
                (_, 0) => index.expr,
                (_, length) => LangExpr::Element {
                    first: 0,
                    length: length as u32,
                    index: Box::new(index.expr),
                },
            };
            let offset = lower::binary(BinaryOp::Multiply, checked, LangExpr::Const(each));
            let address = lower::binary(BinaryOp::Add, address, offset);
            return Ok((Place::Memory(address), element));
        }
        let sum = self.arithmetic(BinaryOp::Add, array, index, span)?;
        let Some(to) = sum.ty.pointee() else {
            return fail(array.span, "this is neither an array nor a pointer");
        };
        let to = resolved(to, span, self.translator)?;
        self.follows(&sum.expr, &to, span);
        self.translator.follows_bytes |= is_byte(&to);
        Ok((Place::Memory(sum.expr), to))
    }

    /// The value at a place.
    pub fn load(&mut self, place: Place, ty: &Type, span: Span) -> Done<Value> {
        let order = match ty.atomic {
            true => Order::SeqCst,
            false => Order::NonAtomic,
        };
        self.load_with(place, ty, order, span)
    }

    pub fn load_with(&mut self, place: Place, ty: &Type, order: Order, span: Span) -> Done<Value> {
        match &*ty.kind {
            TypeKind::Array(element, _) => {
                let Place::Memory(expr) = place else {
                    return fail(span, "this is not an array");
                };
                let ty = Type::pointer(element.clone());
                return Ok(Value { expr, ty });
            }
            TypeKind::Function(_) => {
                let Place::Memory(expr) = place else {
                    return fail(span, "this is not a function");
                };
                let ty = Type::pointer(ty.clone());
                return Ok(Value { expr, ty });
            }
            TypeKind::Record(_) => {
                let Place::Memory(expr) = place else {
                    return fail(span, "this is not a struct");
                };
                if ty.atomic {
                    return self.atomic_record(expr, ty, order, span);
                }
                return Ok(Value {
                    expr,
                    ty: ty.clone(),
                });
            }
            TypeKind::Void => return fail(span, "this has no value"),
            _ => {}
        }
        let expr = match place {
            Place::Register(register) => LangExpr::Atom(Atom::Local(register)),
            Place::Memory(address) => {
                let width = ty.width().filter(|_| self.translator.mixes_signs);
                let to = match width {
                    // It may have been stored as a number with another sign.
                    Some(_) => self.temporary(&Type::int(64, true), span),
                    None => self.temporary(ty, span),
                };
                let load = Action::Load { to, address, order };
                self.emit(load, span);
                if ty.volatile && !ty.atomic {
                    self.volatile_note(span);
                }
                let value = LangExpr::Atom(Atom::Local(to));
                match width {
                    Some(width) if !ty.is_pointer() => {
                        let range = self.range(&value);
                        lower::wrap(value, width, range)
                    }
                    _ => value,
                }
            }
        };
        Ok(Value {
            expr,
            ty: ty.plain(),
        })
    }

    /// A struct that is atomic as a whole.
    fn atomic_record(
        &mut self,
        address: ValueExpr,
        ty: &Type,
        order: Order,
        span: Span,
    ) -> Done<Value> {
        let scalar = Type::int(64, true);
        let value = self.load_with(Place::Memory(address), &scalar, order, span)?;
        if is_packed(ty, span, self.translator)? {
            return self.unpack(value.expr, ty, span);
        }
        let memory = self.memory("copy", ty, span)?;
        let copy = LangExpr::Atom(Atom::AddressOf(memory));
        let place = Place::Memory(copy.clone());
        self.store(&place, &scalar, value, Order::NonAtomic, span)?;
        Ok(Value {
            expr: copy,
            ty: ty.plain(),
        })
    }

    fn volatile_note(&mut self, span: Span) {
        let message = "`volatile` makes an access not atomic: it is taken as plain";
        self.note(message, span);
    }

    /// Says something about the answer, once.
    pub fn note(&mut self, message: &str, span: Span) {
        let warnings = &mut self.translator.warnings;
        if !warnings.iter().any(|w| w.message == message) {
            warnings.push(Diagnostic::warning(span, message));
        }
    }

    /// Stores a value of the place's type.
    pub fn store(
        &mut self,
        place: &Place,
        ty: &Type,
        value: Value,
        order: Order,
        span: Span,
    ) -> Done<()> {
        match place {
            Place::Register(register) => {
                self.emit(Action::Assign(*register, value.expr), span);
            }
            Place::Memory(address) if is_packed(ty, span, self.translator)? => {
                let value = self.pack(&value, ty, span)?;
                let store = Action::Store {
                    address: address.clone(),
                    value: value.expr,
                    order,
                };
                self.emit(store, span);
            }
            Place::Memory(address) if ty.record().is_some() => {
                self.follows(address, ty, span);
                self.follows(&value.expr, ty, span);
                let count = cells(ty, span, self.translator)? as i64;
                for cell in 0..count {
                    let to = self.temporary(&Type::int(64, true), span);
                    let load = Action::Peek {
                        to,
                        address: self.behind(value.expr.clone(), cell),
                    };
                    self.emit(load, span);
                    let store = Action::Store {
                        address: self.behind(address.clone(), cell),
                        value: LangExpr::Atom(Atom::Local(to)),
                        order,
                    };
                    self.emit(store, span);
                }
            }
            Place::Memory(address) => {
                if ty.volatile && !ty.atomic {
                    self.volatile_note(span);
                }
                let store = Action::Store {
                    address: address.clone(),
                    value: value.expr,
                    order,
                };
                self.emit(store, span);
            }
        }
        Ok(())
    }

    /// Evaluates for its effects alone.
    pub fn effect(&mut self, expr: &Expr) -> Done<()> {
        match &expr.kind {
            ExprKind::Step { by, place, .. } => {
                self.step(place, *by, false, expr.span)?;
            }
            ExprKind::Assign(op, place, value) => {
                self.assign(*op, place, value, false, expr.span)?;
            }
            ExprKind::Comma(first, second) => {
                self.effect(first)?;
                self.effect(second)?;
            }
            ExprKind::Cast(ty, inner) if ty.is_void() => self.effect(inner)?,
            ExprKind::Conditional(condition, Some(yes), no) => {
                let span = expr.span;
                let (then, otherwise) = (self.block(span), self.block(span));
                let after = self.block(span);
                self.branch(condition, then, otherwise)?;
                self.begin(then);
                self.effect(yes)?;
                self.finish(End::Goto(after), span);
                self.begin(otherwise);
                self.effect(no)?;
                self.finish(End::Goto(after), span);
                self.begin(after);
            }
            ExprKind::Statements(statements) => {
                self.statement_expression(statements)?;
            }
            ExprKind::Call(callee, arguments) => {
                self.call(callee, arguments, false, expr.span)?;
            }
            // `(void)x;` reads nothing.
            ExprKind::Name(_) | ExprKind::Member(..) => {
                let (place, ty) = self.place(expr)?;
                if ty.atomic || ty.volatile {
                    self.load(place, &ty, expr.span)?;
                }
            }
            _ => {
                self.rvalue(expr)?;
            }
        }
        Ok(())
    }

    /// Goes on at one block where the condition is not 0, else at the other.
    pub fn branch(&mut self, condition: &Expr, yes: BlockId, no: BlockId) -> Done<()> {
        let span = condition.span;
        match &condition.kind {
            ExprKind::Binary(BinaryOp::And, left, right) => {
                let both = self.block(span);
                self.branch(left, both, no)?;
                self.begin(both);
                self.branch(right, yes, no)
            }
            ExprKind::Binary(BinaryOp::Or, left, right) => {
                let second = self.block(span);
                self.branch(left, yes, second)?;
                self.begin(second);
                self.branch(right, yes, no)
            }
            ExprKind::Unary(Unary::Not, operand) => self.branch(operand, no, yes),
            // Of any number, it only counts whether it is 0.
            ExprKind::Call(callee, _)
                if matches!(&callee.kind, ExprKind::Name(name)
                    if name.starts_with("__VERIFIER_nondet_")
                        && !self.translator.definitions.contains_key(name)) =>
            {
                let value = self.nondeterministic("__VERIFIER_nondet_bool", span);
                self.finish(End::Branch(value.expr, yes, no), span);
                Ok(())
            }
            _ => {
                let value = self.rvalue(condition)?;
                if !value.ty.is_scalar() {
                    return fail(span, "this is no condition");
                }
                self.finish(End::Branch(value.expr, yes, no), span);
                Ok(())
            }
        }
    }

    pub fn rvalue(&mut self, expr: &Expr) -> Done<Value> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Int(value, ty) => Ok(Value {
                expr: LangExpr::Const(*value),
                ty: ty.clone(),
            }),
            ExprKind::Float => Ok(floating()),
            ExprKind::Name(_)
            | ExprKind::Member(..)
            | ExprKind::Arrow(..)
            | ExprKind::Index(..)
            | ExprKind::Compound(..)
            | ExprKind::String(_)
            | ExprKind::Unary(Unary::Dereference, _) => {
                let (place, ty) = self.place(expr)?;
                self.load(place, &ty, span)
            }
            ExprKind::Unary(Unary::AddressOf, operand) => {
                if let ExprKind::Unary(Unary::Dereference, pointer) = &operand.kind {
                    return self.rvalue(pointer);
                }
                let (place, ty) = self.place(operand)?;
                match place {
                    Place::Memory(expr) => Ok(Value {
                        expr: unchecked(expr),
                        ty: Type::pointer(ty),
                    }),
                    Place::Register(_) => fail(span, "the address of this cannot be had"),
                }
            }
            ExprKind::Unary(op, operand) => {
                let value = self.rvalue(operand)?;
                if is_floating(&value.ty) && *op != Unary::Not {
                    return Ok(value);
                }
                let Some(width) = value.ty.width() else {
                    return fail(span, "this operator needs a number");
                };
                if *op == Unary::Not {
                    return Ok(Value {
                        expr: lower::not(value.expr),
                        ty: Type::int(32, true),
                    });
                }
                let ty = promoted(width);
                let value = self.convert(value, &ty, span)?;
                let expr = match op {
                    Unary::Minus => lower::unary(UnaryOp::Negate, value.expr),
                    Unary::Complement => lower::unary(UnaryOp::Complement, value.expr),
                    _ => value.expr,
                };
                Ok(self.wrapped(expr, ty))
            }
            ExprKind::Step { before, by, place } => {
                let value = self.step(place, *by, true, span)?;
                match (value, before) {
                    (Some((_, new)), true) => Ok(new),
                    (Some((old, _)), false) => Ok(old),
                    (None, _) => Ok(Value::nothing()),
                }
            }
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, ..) | ExprKind::Conditional(..) => {
                self.lazy(expr)
            }
            ExprKind::Binary(op, left, right) => self.arithmetic(*op, left, right, span),
            ExprKind::Assign(op, place, value) => Ok(self
                .assign(*op, place, value, true, span)?
                .unwrap_or_else(Value::nothing)),
            ExprKind::Comma(first, second) => {
                self.effect(first)?;
                self.rvalue(second)
            }
            ExprKind::Call(callee, arguments) => self.call(callee, arguments, true, span),
            ExprKind::Cast(ty, inner) => {
                let ty = resolved(ty, span, self.translator)?;
                if ty.is_void() {
                    self.effect(inner)?;
                    return Ok(Value::nothing());
                }
                if let Some(value) = self.allocation(inner, Some(&ty))? {
                    return self.convert(value, &ty, span);
                }
                let value = self.rvalue(inner)?;
                if let (Some(from), Some(to)) = (value.ty.pointee(), ty.pointee())
                    && let (Some(_), Some(_)) = (from.width(), to.width())
                    && !is_bytes(&ty)
                    && !is_bytes(&value.ty)
                {
                    let (from, to) = (from.clone(), to.clone());
                    let (from, _) = size(&from, span, self.translator)?;
                    if from != size(&to, span, self.translator)?.0 {
                        let message = "an object cannot be used as one of another size here";
                        return fail(span, message);
                    }
                }
                self.convert(value, &ty, span)
            }
            ExprKind::SizeOfType(ty) => {
                let (bytes, _) = size(ty, span, self.translator)?;
                Ok(unsigned_long(bytes as i64))
            }
            ExprKind::AlignOf(_) if self.translator.ast.aligns => {
                let message =
                    "an alignment is asked for where attributes change it, which is not supported";
                fail(span, message)
            }
            ExprKind::AlignOf(ty) => {
                let (_, align) = size(ty, span, self.translator)?;
                Ok(unsigned_long(align as i64))
            }
            ExprKind::NextArgument => fail(span, "variable arguments are not supported"),
            ExprKind::SizeOf(inner) => {
                let ty = self.type_of(inner)?;
                if matches!(&*ty.kind, TypeKind::Array(_, None)) {
                    return fail(
                        span,
                        "the size of an array whose length is not a constant is not supported",
                    );
                }
                let (bytes, _) = size(&ty, span, self.translator)?;
                Ok(unsigned_long(bytes as i64))
            }
            ExprKind::OffsetOf(ty, path) => {
                let (_, bytes) = self.offset(ty, path, span)?;
                Ok(unsigned_long(bytes as i64))
            }
            ExprKind::Statements(statements) => self.statement_expression(statements),
            ExprKind::Generic(value, choices) => {
                let chosen = self.choice(value, choices, span)?;
                self.rvalue(chosen)
            }
            ExprKind::SameTypes(left, right) => {
                let left = resolved(left, span, self.translator)?;
                let right = resolved(right, span, self.translator)?;
                // But for their own qualifiers.
                let same = same_qualified(&left.plain(), &right.plain());
                Ok(Value::int(i64::from(same)))
            }
        }
    }

    /// Where a member is, in cells and in bytes.
    fn offset(&mut self, ty: &Type, path: &[Rc<str>], span: Span) -> Done<(i64, u64)> {
        let mut ty = resolved(ty, span, self.translator)?;
        let mut total = (0, 0);
        for name in path {
            let Some(id) = ty.record() else {
                return fail(span, "this is not a struct");
            };
            match member(id, name, span, self.translator)? {
                Some((cells, bytes, field)) => {
                    total = (total.0 + cells, total.1 + bytes);
                    ty = field;
                }
                None => return fail(span, format!("there is no member `{name}`")),
            }
        }
        Ok(total)
    }

    fn choice<'e>(
        &mut self,
        value: &Expr,
        choices: &'e [(Option<Type>, Expr)],
        span: Span,
    ) -> Done<&'e Expr> {
        // It is not evaluated.
        let ty = self.value_type(value)?;
        for (candidate, chosen) in choices {
            if let Some(candidate) = candidate {
                let candidate = resolved(candidate, span, self.translator)?;
                if same_qualified(&candidate, &ty) {
                    return Ok(chosen);
                }
            }
        }
        let default = choices.iter().find(|(ty, _)| ty.is_none());
        match default {
            Some((_, chosen)) => Ok(chosen),
            None => fail(span, "no choice is for this type"),
        }
    }

    fn wrapped(&mut self, expr: ValueExpr, ty: Type) -> Value {
        let expr = match ty.width() {
            Some(width) if !width.signed || matches!(expr, LangExpr::Const(_)) => {
                let range = self.range(&expr);
                lower::wrap(expr, width, range)
            }
            _ => expr,
        };
        Value { expr, ty }
    }

    /// `&&`, `||` and `?:`.
    fn lazy(&mut self, expr: &Expr) -> Done<Value> {
        let span = expr.span;
        if let ExprKind::Binary(op, left, right) = &expr.kind {
            // Where the right side needs no steps, both can be evaluated at once.
            let left_value = self.rvalue(left)?;
            if let LangExpr::Const(known) = left_value.expr
                && (known != 0) == (*op == BinaryOp::Or)
            {
                return Ok(Value::int(i64::from(known != 0)));
            }
            let before = self.mark();
            let value = self.rvalue(right)?;
            if self.is_at(&before) && value.ty.is_scalar() && left_value.ty.is_scalar() {
                let expr = lower::binary(*op, left_value.expr, value.expr);
                let truth = lower::binary(BinaryOp::NotEqual, expr, LangExpr::Const(0));
                return Ok(Value {
                    expr: truth,
                    ty: Type::int(32, true),
                });
            }
            self.take_back(before);
            let result = self.temporary(&Type::int(8, true), span);
            let (second, short, after) = (self.block(span), self.block(span), self.block(span));
            let (then, otherwise) = match op {
                BinaryOp::And => (second, short),
                _ => (short, second),
            };
            self.finish(End::Branch(left_value.expr, then, otherwise), left.span);
            self.begin(short);
            let constant = LangExpr::Const(i64::from(*op == BinaryOp::Or));
            self.emit(Action::Assign(result, constant), span);
            self.finish(End::Goto(after), span);
            self.begin(second);
            let value = self.rvalue(right)?;
            let truth = lower::binary(BinaryOp::NotEqual, value.expr, LangExpr::Const(0));
            self.emit(Action::Assign(result, truth), span);
            self.goto_and_begin(after, span);
            return Ok(Value {
                expr: LangExpr::Atom(Atom::Local(result)),
                ty: Type::int(32, true),
            });
        }
        let ExprKind::Conditional(condition, yes, no) = &expr.kind else {
            return self.rvalue(expr);
        };
        if let Some(yes) = yes
            && is_of_constants(condition)
            && let LangExpr::Const(known) = self.rvalue(condition)?.expr
        {
            // So it can be a constant, such as the length of an array.
            let (used, unused) = if known != 0 { (yes, no) } else { (no, yes) };
            let unused = Value {
                ty: self.value_type(unused)?,
                ..Value::nothing()
            };
            let value = self.rvalue(used)?;
            let ty = match known != 0 {
                true => self.common(&value, &unused),
                false => self.common(&unused, &value),
            };
            return self.convert(value, &ty, span);
        }
        let (then, otherwise, after) = (self.block(span), self.block(span), self.block(span));
        let mut kept = None;
        match yes {
            Some(_) => self.branch(condition, then, otherwise)?,
            None => {
                let value = self.rvalue(condition)?;
                let value = self.kept(value, span);
                self.finish(End::Branch(value.expr.clone(), then, otherwise), span);
                kept = Some(value);
            }
        }
        self.begin(then);
        let yes = match (yes, kept) {
            (Some(yes), _) => self.rvalue(yes)?,
            (None, Some(kept)) => kept,
            (None, None) => Value::nothing(),
        };
        let then = self.here();
        self.begin(otherwise);
        let no_value = self.rvalue(no)?;
        let ty = self.common(&yes, &no_value);
        let result = self.temporary(&ty, span);
        for (block, value) in [(self.here(), no_value), (then, yes)] {
            self.begin(block);
            let value = match ty.is_void() {
                true => Value::nothing(),
                false => self.convert(value, &ty, span)?,
            };
            self.emit(Action::Assign(result, value.expr), span);
            self.finish(End::Goto(after), span);
        }
        self.begin(after);
        Ok(Value {
            expr: LangExpr::Atom(Atom::Local(result)),
            ty,
        })
    }

    /// The type of `c ? a : b`.
    fn common(&self, left: &Value, right: &Value) -> Type {
        match (left.ty.width(), right.ty.width()) {
            _ if left.ty.is_void() || right.ty.is_void() => Type::new(TypeKind::Void),
            (Some(_), Some(_)) if left.ty.is_pointer() => {
                let vague = left.ty.pointee().is_some_and(Type::is_void);
                match vague && right.ty.is_pointer() {
                    true => right.ty.clone(),
                    false => left.ty.clone(),
                }
            }
            (Some(_), Some(_)) if right.ty.is_pointer() => right.ty.clone(),
            (Some(l), Some(r)) => usual(l, r),
            _ => left.ty.clone(),
        }
    }

    pub fn arithmetic(
        &mut self,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
        span: Span,
    ) -> Done<Value> {
        let mut value = self.rvalue(left)?;
        let in_bytes =
            is_bytes(&value.ty) || self.is_address(&value.expr) && !value.ty.is_pointer();
        if in_bytes && matches!(op, BinaryOp::Add | BinaryOp::Subtract) {
            // A step in bytes is one to a member, as `container_of` makes it, or one in an array of bytes.
            if let Some((ty, path)) = offset_of(right) {
                let (cells, _) = self.offset(ty, path, span)?;
                let by = LangExpr::Const(cells * self.translator.stride);
                value.expr = lower::binary(op, value.expr, by);
                return Ok(value);
            }
            // `&((struct s *)0)->m`, as it was written before there was `offsetof`.
            if let ExprKind::Unary(Unary::AddressOf, _) = &without_casts(right).kind
                && let by @ LangExpr::Const(_) = self.rvalue(without_casts(right))?.expr
            {
                value.expr = lower::binary(op, value.expr, by);
                return Ok(value);
            }
            let pointer = self.type_of(right)?.is_pointer();
            let vague = value.ty.pointee().is_some_and(Type::is_void);
            // How many bytes are between two of them is not known either.
            let view = self.is_view(left)? || pointer && self.is_view(right)?;
            if !value.ty.is_pointer() && mentions_size(right) {
                return fail(span, MOVED_NUMBER);
            }
            if value.ty.is_pointer() && (vague || view || !pointer && mentions_size(right)) {
                let message = "arithmetic in bytes on pointers to other objects is not supported";
                return fail(span, message);
            }
        }
        let right = self.rvalue(right)?;
        self.combine(op, value, right, span)
    }

    /// Whether an object of other scalars is looked at as bytes here: `(char *)&x`.
    pub fn is_view(&mut self, pointer: &Expr) -> Done<bool> {
        let ExprKind::Cast(ty, inner) = &pointer.kind else {
            return Ok(false);
        };
        let ty = resolved(ty, pointer.span, self.translator)?;
        if !is_bytes(&ty) {
            return Ok(false);
        }
        let from = self.type_of(inner)?;
        let to = match &*from.kind {
            TypeKind::Array(element, _) | TypeKind::Pointer(element) => element.clone(),
            _ => return Ok(false),
        };
        let to = resolved(&to, pointer.span, self.translator)?;
        Ok(!to.is_void() && size(&to, pointer.span, self.translator)?.0 != 1)
    }

    pub fn combine(&mut self, op: BinaryOp, left: Value, right: Value, span: Span) -> Done<Value> {
        use BinaryOp::*;
        if is_floating(&left.ty) || is_floating(&right.ty) {
            return match op {
                Add | Subtract | Multiply | Divide => Ok(floating()),
                _ => fail(
                    span,
                    "what floating-point numbers and clocks say is not followed: they cannot be compared",
                ),
            };
        }
        let (Some(lw), Some(rw)) = (left.ty.width(), right.ty.width()) else {
            return fail(span, "this operator needs numbers or pointers");
        };
        let comparison = matches!(
            op,
            Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual
        );
        if comparison {
            let pointers = left.ty.is_pointer() || right.ty.is_pointer();
            let both = left.ty.is_pointer() && right.ty.is_pointer();
            if pointers && !both && !matches!(op, Equal | NotEqual) {
                let message = "a pointer is compared with a number by its order: where memory lies is not known. Pointers into one object can be compared with each other";
                return fail(span, message);
            }
            let (left, right, ty) = match pointers {
                true => (left, right, Type::int(64, true)),
                false => {
                    let ty = usual(lw, rw);
                    let left = self.convert(left, &ty, span)?;
                    (left, self.convert(right, &ty, span)?, ty)
                }
            };
            let unsigned = ty.width()
                == Some(Width {
                    bits: 64,
                    signed: false,
                });
            let expr = match unsigned && !matches!(op, Equal | NotEqual) {
                true => self.compare_unsigned(op, left.expr, right.expr),
                false => lower::binary(op, left.expr, right.expr),
            };
            return Ok(Value {
                expr,
                ty: Type::int(32, true),
            });
        }
        if let Some(value) = self.pointer_arithmetic(op, &left, &right, span)? {
            return Ok(value);
        }
        if matches!(op, Add | Subtract) {
            self.moves_no_address(&left.expr, &right.expr, span)?;
        }
        let shift = matches!(op, ShiftLeft | ShiftRight);
        let ty = match shift {
            true => promoted(lw),
            false => usual(lw, rw),
        };
        let left = self.convert(left, &ty, span)?;
        let right = match shift {
            true => right,
            false => self.convert(right, &ty, span)?,
        };
        let wide = ty.width()
            == Some(Width {
                bits: 64,
                signed: false,
            });
        let below = |body: &Self, e: &ValueExpr| body.range(e).0 < 0;
        if wide && below(self, &left.expr) && op == ShiftRight {
            let expr = shifted_unsigned(left.expr, right.expr);
            return Ok(Value { expr, ty });
        }
        if wide
            && below(self, &left.expr)
            && let (Divide | Remainder, LangExpr::Const(by @ 1..=LARGEST_DIVISOR)) =
                (op, &right.expr)
        {
            let by = *by;
            let expr = self.divided_unsigned(op, left, by, span);
            return Ok(Value { expr, ty });
        }
        if wide && matches!(op, Divide | Remainder) {
            for operand in [&left.expr, &right.expr] {
                if below(self, operand) {
                    let zero = LangExpr::Const(0);
                    let fine = lower::binary(GreaterEqual, operand.clone(), zero);
                    let message = "an unsigned number of 2^63 or more is divided";
                    self.bound_unless(fine, message, span);
                }
            }
        }
        let expr = lower::binary(op, left.expr, right.expr);
        if op == ShiftLeft
            && let Some(width) = ty.width()
        {
            let range = self.range(&expr);
            let expr = lower::wrap(expr, width, range);
            return Ok(Value { expr, ty });
        }
        Ok(self.wrapped(expr, ty))
    }

    /// An unsigned number of 64 bits, whatever its first bit is, divided by a constant.
    fn divided_unsigned(&mut self, op: BinaryOp, number: Value, by: i64, span: Span) -> ValueExpr {
        use BinaryOp::*;
        let number = self.kept(number, span).expr;
        let by = || LangExpr::Const(by);
        let two = || LangExpr::Const(2);
        // Half of it has no sign. What is left over is then less than twice the divisor.
        let half = shifted_unsigned(number.clone(), LangExpr::Const(1));
        let twice = lower::binary(Multiply, lower::binary(Divide, half, by()), two());
        let rest = lower::binary(
            Subtract,
            number,
            lower::binary(Multiply, twice.clone(), by()),
        );
        match op {
            Divide => {
                let once_more = lower::binary(GreaterEqual, rest, by());
                lower::binary(Add, twice, once_more)
            }
            _ => lower::binary(Remainder, rest, by()),
        }
    }

    pub fn compare_unsigned(&self, op: BinaryOp, left: ValueExpr, right: ValueExpr) -> ValueExpr {
        use BinaryOp::*;
        let (l, r) = (self.range(&left).0 >= 0, self.range(&right).0 >= 0);
        let sign = |e: &ValueExpr, op| lower::binary(op, e.clone(), LangExpr::Const(0));
        let plain = lower::binary(op, left.clone(), right.clone());
        match (op, l, r) {
            (_, true, true) => plain,
            // What is negative as a number is larger than all that is not.
            (Less | LessEqual, false, true) => lower::binary(And, sign(&left, GreaterEqual), plain),
            (Greater | GreaterEqual, false, true) => lower::binary(Or, sign(&left, Less), plain),
            (Less | LessEqual, true, false) => lower::binary(Or, sign(&right, Less), plain),
            (Greater | GreaterEqual, true, false) => {
                lower::binary(And, sign(&right, GreaterEqual), plain)
            }
            _ => {
                let turn = |e| lower::binary(BitXor, e, LangExpr::Const(i64::MIN));
                lower::binary(op, turn(left), turn(right))
            }
        }
    }

    /// Whether the number may be a pointer's, with or without bits that tag it.
    pub fn is_address(&self, expr: &ValueExpr) -> bool {
        match expr {
            LangExpr::Atom(Atom::Local(local)) => self.addresses.contains(local),
            LangExpr::Atom(Atom::AddressOf(_) | Atom::Object(_)) => true,
            LangExpr::Binary(BinaryOp::BitAnd, left, right) => {
                let is_tag = |mask: &ValueExpr| (0..=LARGEST_TAG).contains(&self.range(mask).1);
                (self.is_address(left) && !is_tag(right))
                    || (self.is_address(right) && !is_tag(left))
            }
            LangExpr::Binary(BinaryOp::Subtract, left, right) => {
                self.is_address(left) && !self.is_address(right)
            }
            LangExpr::Binary(BinaryOp::Add | BinaryOp::BitOr | BinaryOp::BitXor, left, right) => {
                self.is_address(left) || self.is_address(right)
            }
            _ => false,
        }
    }

    /// Addresses count cells, not bytes: of one that is kept as a number only its low bits may change.
    fn moves_no_address(&self, left: &ValueExpr, right: &ValueExpr, span: Span) -> Done<()> {
        let is_tag = |expr: &ValueExpr| {
            let (least, most) = self.range(expr);
            least >= -LARGEST_TAG && most <= LARGEST_TAG
        };
        let moved = match (self.is_address(left), self.is_address(right)) {
            (false, false) => false,
            (true, false) => !is_tag(right),
            (false, true) => !is_tag(left),
            (true, true) => true,
        };
        match moved {
            true => fail(span, MOVED_NUMBER),
            false => Ok(()),
        }
    }

    /// `p + i`, `p - i` and `p - q`.
    fn pointer_arithmetic(
        &mut self,
        op: BinaryOp,
        left: &Value,
        right: &Value,
        span: Span,
    ) -> Done<Option<Value>> {
        let each = |body: &mut Self, ty: &Type| -> Done<i64> {
            let Some(to) = ty.pointee() else {
                return Ok(1);
            };
            let to = resolved(to, span, body.translator)?;
            let is_byte = matches!(&*to.kind, TypeKind::Void)
                || matches!(&*to.kind, TypeKind::Int { bits: 8, .. });
            let stride = body.translator.stride;
            if is_byte {
                return Ok(stride);
            }
            Ok(body.translator.cell_count(&to, span)? * stride)
        };
        match (op, left.ty.is_pointer(), right.ty.is_pointer()) {
            (BinaryOp::Add | BinaryOp::Subtract, true, false) => {
                let each = each(self, &left.ty)?;
                self.leaps(&right.expr, each / self.translator.stride);
                let by = lower::binary(
                    BinaryOp::Multiply,
                    right.expr.clone(),
                    LangExpr::Const(each),
                );
                Ok(Some(Value {
                    expr: lower::binary(op, left.expr.clone(), by),
                    ty: left.ty.clone(),
                }))
            }
            (BinaryOp::Add, false, true) => {
                let each = each(self, &right.ty)?;
                self.leaps(&left.expr, each / self.translator.stride);
                let by =
                    lower::binary(BinaryOp::Multiply, left.expr.clone(), LangExpr::Const(each));
                Ok(Some(Value {
                    expr: lower::binary(op, right.expr.clone(), by),
                    ty: right.ty.clone(),
                }))
            }
            (BinaryOp::Subtract, true, true) => {
                let each = each(self, &left.ty)?.max(1);
                // Between two bytes of other objects there are more than is counted here.
                self.translator.follows_bytes |= left.ty.pointee().is_some_and(is_byte);
                let distance = lower::binary(op, left.expr.clone(), right.expr.clone());
                Ok(Some(Value {
                    expr: lower::binary(BinaryOp::Divide, distance, LangExpr::Const(each)),
                    ty: Type::int(64, true),
                }))
            }
            (_, true, _) | (_, _, true) => fail(span, "this is no operation on pointers"),
            _ => Ok(None),
        }
    }

    /// `place += by` with `by` 1 or -1: the old and the new value, where they are wanted.
    fn step(
        &mut self,
        place: &Expr,
        by: i64,
        wanted: bool,
        span: Span,
    ) -> Done<Option<(Value, Value)>> {
        let one = Value::int(1);
        let op = match by > 0 {
            true => BinaryOp::Add,
            false => BinaryOp::Subtract,
        };
        let (place, ty) = self.place(place)?;
        self.change(op, place, &ty, one, wanted, span)
    }

    /// `place op= operand`: the old and the new value, where they are wanted.
    pub fn change(
        &mut self,
        op: BinaryOp,
        place: Place,
        ty: &Type,
        operand: Value,
        wanted: bool,
        span: Span,
    ) -> Done<Option<(Value, Value)>> {
        if ty.atomic
            && let Place::Memory(address) = place
        {
            let order = Order::SeqCst;
            let (old, new) = self.fetch(op, address, ty, operand, order, true, span)?;
            return Ok(Some((old, new)));
        }
        let mut old = self.load(place.clone(), ty, span)?;
        if wanted && matches!(place, Place::Register(_)) {
            old = self.kept(old, span);
        }
        let new = self.combine(op, old.clone(), operand, span)?;
        let mut new = self.convert(new, ty, span)?;
        if wanted && matches!(place, Place::Memory(_)) {
            new = self.kept(new, span);
        }
        self.store(&place, ty, new.clone(), Order::NonAtomic, span)?;
        if wanted && let Place::Register(register) = place {
            new.expr = LangExpr::Atom(Atom::Local(register));
        }
        Ok(wanted.then_some((old, new)))
    }

    /// The value of a plain object that is stored into another of the same type: that may also be done where it was never set.
    fn copied(&mut self, value: &Expr, target: &Place, ty: &Type) -> Done<Option<Value>> {
        let is_place = matches!(
            value.kind,
            ExprKind::Name(_)
                | ExprKind::Member(..)
                | ExprKind::Arrow(..)
                | ExprKind::Index(..)
                | ExprKind::Unary(Unary::Dereference, _)
        );
        if !is_place || !ty.is_scalar() || ty.atomic || matches!(target, Place::Register(_)) {
            return Ok(None);
        }
        let (place, from) = self.place(value)?;
        let value = match place {
            Place::Memory(address) if !from.atomic && same(&from, ty) && !from.volatile => {
                let to = self.temporary(&from, value.span);
                self.emit(Action::Peek { to, address }, value.span);
                Value {
                    expr: LangExpr::Atom(Atom::Local(to)),
                    ty: from.plain(),
                }
            }
            place => self.load(place, &from, value.span)?,
        };
        Ok(Some(self.convert(value, ty, Span::default())?))
    }

    fn assign(
        &mut self,
        op: Option<BinaryOp>,
        place: &Expr,
        value: &Expr,
        wanted: bool,
        span: Span,
    ) -> Done<Option<Value>> {
        let (target, ty) = self.place(place)?;
        if let Some(op) = op {
            let operand = self.rvalue(value)?;
            let changed = self.change(op, target, &ty, operand, wanted, span)?;
            return Ok(changed.map(|(_, new)| new));
        }
        // What is copied as it is has no value of its own where it may have been stored with another sign.
        let copied = match wanted && self.translator.mixes_signs {
            true => None,
            false => self.copied(value, &target, &ty)?,
        };
        let mut value = match copied {
            Some(value) => value,
            None => self.rvalue_for(value, &ty)?,
        };
        if wanted && ty.is_scalar() && matches!(target, Place::Memory(_)) {
            value = self.kept(value, span);
        }
        let order = match ty.atomic {
            true => Order::SeqCst,
            false => Order::NonAtomic,
        };
        self.store(&target, &ty, value.clone(), order, span)?;
        if let Place::Register(register) = target {
            value.expr = LangExpr::Atom(Atom::Local(register));
        }
        Ok(Some(value))
    }
}

/// The low bits of addresses that a program may use for itself, as a number.
const LARGEST_TAG: i64 = 7;

const MOVED_NUMBER: &str = "arithmetic with an address that is kept as a number is not followed, but for its low bits: make it a pointer first (`(char *)p + offsetof(…)`, `p + 1`)";

/// By no larger constant is a number divided whose first bit may be set.
const LARGEST_DIVISOR: i64 = 1 << 61;

/// A number of 64 bits shifted to the right, with zeros from the left.
fn shifted_unsigned(number: ValueExpr, by: ValueExpr) -> ValueExpr {
    let constant = LangExpr::Const;
    let room = lower::binary(BinaryOp::Subtract, constant(63), by.clone());
    let above = lower::binary(BinaryOp::ShiftLeft, constant(1), room);
    let above = lower::binary(BinaryOp::ShiftLeft, above, constant(1));
    let mask = lower::binary(BinaryOp::Subtract, above, constant(1));
    let shifted = lower::binary(BinaryOp::ShiftRight, number, by);
    lower::binary(BinaryOp::BitAnd, shifted, mask)
}

/// The address of an element without the check of its index: one past the end has an address, too.
fn unchecked(address: ValueExpr) -> ValueExpr {
    match address {
        LangExpr::Element {
            first: 0, index, ..
        } => *index,
        LangExpr::Binary(op, left, right) => lower::binary(op, unchecked(*left), unchecked(*right)),
        other => other,
    }
}

fn is_byte(ty: &Type) -> bool {
    matches!(&*ty.kind, TypeKind::Int { bits: 8, .. })
}

fn is_floating(ty: &Type) -> bool {
    matches!(&*ty.kind, TypeKind::Float(_))
}

/// A floating-point number, whichever.
pub(crate) fn floating() -> Value {
    Value {
        expr: LangExpr::Const(0),
        ty: Type::new(TypeKind::Float(8)),
    }
}

/// A pointer to bytes, or to anything.
fn is_bytes(ty: &Type) -> bool {
    let to = ty.pointee().map(|to| to.kind.clone());
    matches!(
        to.as_deref(),
        Some(TypeKind::Void | TypeKind::Bool | TypeKind::Int { bits: 8, .. })
    )
}

/// The struct and the members of an `offsetof`.
fn offset_of(expr: &Expr) -> Option<(&Type, &[Rc<str>])> {
    match &without_casts(expr).kind {
        ExprKind::OffsetOf(ty, path) => Some((ty, path)),
        _ => None,
    }
}

pub(crate) fn without_casts(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Cast(_, inner) => without_casts(inner),
        _ => expr,
    }
}

fn unsigned_long(value: i64) -> Value {
    Value {
        expr: LangExpr::Const(value),
        ty: Type::int(64, false),
    }
}

/// Whether a size in bytes is part of an expression.
pub(crate) fn mentions_size(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::SizeOf(_) | ExprKind::SizeOfType(_) => true,
        ExprKind::Binary(_, left, right) => mentions_size(left) || mentions_size(right),
        ExprKind::Cast(_, inner) | ExprKind::Unary(_, inner) => mentions_size(inner),
        _ => false,
    }
}

/// What small integers become in an operation.
pub(crate) fn promoted(width: Width) -> Type {
    match width.bits < 32 {
        true => Type::int(32, true),
        false => Type::int(width.bits, width.signed),
    }
}

/// The usual arithmetic conversions.
pub(crate) fn usual(left: Width, right: Width) -> Type {
    let (Some(left), Some(right)) = (promoted(left).width(), promoted(right).width()) else {
        return Type::int(32, true);
    };
    let bits = left.bits.max(right.bits);
    let unsigned = [left, right].iter().any(|w| w.bits == bits && !w.signed);
    Type::int(bits, !unsigned)
}

/// Whether an expression has no names in it, and no calls.
fn is_of_constants(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(..)
        | ExprKind::SizeOfType(_)
        | ExprKind::AlignOf(_)
        | ExprKind::OffsetOf(..)
        | ExprKind::SameTypes(..) => true,
        ExprKind::Unary(op, inner) => {
            !matches!(op, Unary::AddressOf | Unary::Dereference) && is_of_constants(inner)
        }
        ExprKind::Cast(_, inner) => is_of_constants(inner),
        ExprKind::Binary(_, left, right) => is_of_constants(left) && is_of_constants(right),
        ExprKind::Conditional(condition, yes, no) => {
            let yes = yes.as_deref().is_none_or(is_of_constants);
            yes && is_of_constants(condition) && is_of_constants(no)
        }
        _ => false,
    }
}

/// Whether two types are the same, with the qualifiers of what pointers point at.
fn same_qualified(left: &Type, right: &Type) -> bool {
    let (mut l, mut r) = (left, right);
    while let (Some(to), Some(other)) = (l.pointee(), r.pointee()) {
        (l, r) = (to, other);
        if (l.constant, l.volatile, l.atomic) != (r.constant, r.volatile, r.atomic) {
            return false;
        }
    }
    left.atomic == right.atomic && same(left, right)
}

/// Whether two types are the same, but for qualifiers.
fn same(left: &Type, right: &Type) -> bool {
    match (&*left.kind, &*right.kind) {
        (TypeKind::Void, TypeKind::Void)
        | (TypeKind::Bool, TypeKind::Bool)
        | (TypeKind::Function(_), TypeKind::Function(_)) => true,
        (TypeKind::Float(bytes), TypeKind::Float(others)) => bytes == others,
        (TypeKind::Int { bits, signed }, TypeKind::Int { bits: b, signed: s }) => {
            bits == b && signed == s
        }
        (TypeKind::Pointer(l), TypeKind::Pointer(r)) => same(l, r),
        (TypeKind::Array(l, _), TypeKind::Array(r, _)) => same(l, r),
        (TypeKind::Record(l), TypeKind::Record(r)) => l == r,
        _ => false,
    }
}
