//! A function's body: variables and statements.

use crate::ast::*;
use crate::escape;
use crate::types::{Done, fail, layout};
use crate::unit::Translator;
use crate::value::{Place, Value};
use palisade_lang::{BinaryOp, Expr as LangExpr, Order, Span};
use palisade_lower::{
    self as lower, Action, Atom, Block, BlockId, End, Local, LocalId, ObjectId, Step, Storage,
    ValueExpr,
};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// What a name in a function stands for.
#[derive(Clone, Debug)]
pub(crate) enum Variable {
    /// A register, or memory of the function.
    Local(LocalId, Type),
    /// An object with static storage.
    Static(ObjectId, Type),
}

/// A function under translation.
pub(crate) struct Body<'t, 'a> {
    pub translator: &'t mut Translator<'a>,
    pub function: lower::Function,
    /// The least and the largest value that each variable can hold.
    pub ranges: Vec<(i64, i64)>,
    /// Registers that hold pointers, or numbers made of them.
    pub addresses: HashSet<LocalId>,
    current: BlockId,
    scopes: Vec<HashMap<Rc<str>, Variable>>,
    /// How many names were known to `typeof` where each scope began.
    marks: Vec<usize>,
    breaks: Vec<BlockId>,
    continues: Vec<BlockId>,
    labels: HashMap<Rc<str>, BlockId>,
    /// Of each `switch` that is open: the blocks of its cases, and of `default`.
    switches: Vec<Switch>,
    /// Names of variables whose address is taken.
    in_memory: HashSet<Rc<str>>,
    result: Type,
    /// Where a struct that is returned goes: the caller says it.
    result_place: Option<LocalId>,
    /// For an expression outside functions.
    pub is_outside: bool,
}

/// Where the translation of a function is, to go back there.
pub(crate) struct Mark {
    current: BlockId,
    blocks: usize,
    steps: usize,
    labels: HashMap<Rc<str>, BlockId>,
}

#[derive(Default)]
struct Switch {
    cases: Vec<(i64, i64, BlockId)>,
    default: Option<BlockId>,
}

impl<'t, 'a> Body<'t, 'a> {
    fn new(translator: &'t mut Translator<'a>, name: &str, result: Type, span: Span) -> Self {
        let mut body = Body {
            translator,
            function: lower::Function {
                name: name.to_string(),
                parameters: Vec::new(),
                locals: Vec::new(),
                blocks: Vec::new(),
                span,
                library: false,
            },
            ranges: Vec::new(),
            addresses: HashSet::new(),
            current: BlockId(0),
            scopes: vec![HashMap::new()],
            marks: Vec::new(),
            breaks: Vec::new(),
            continues: Vec::new(),
            labels: HashMap::new(),
            switches: Vec::new(),
            in_memory: HashSet::new(),
            result,
            result_place: None,
            is_outside: false,
        };
        body.current = body.block(span);
        body
    }

    /// For an expression outside functions.
    pub fn scratch(translator: &'t mut Translator<'a>) -> Self {
        let nothing = Type::new(TypeKind::Void);
        let mut body = Body::new(translator, "", nothing, Span::default());
        body.is_outside = true;
        body
    }

    pub fn has_steps(&self) -> bool {
        self.function.blocks.len() > 1 || !self.function.blocks[0].steps.is_empty()
    }

    /// Translates a function.
    pub fn translate(
        translator: &'t mut Translator<'a>,
        definition: &'a Definition,
    ) -> Done<lower::Function> {
        let result = definition.ty.result.clone();
        let mut body = Body::new(translator, &definition.name, result, definition.span);
        escape::find(&definition.body, &mut body.in_memory);
        let returned = crate::types::resolved(&body.result, definition.span, body.translator)?;
        if returned.record().is_some() {
            let place = body.local(None, Storage::Register, definition.span);
            body.function.parameters.push(place);
            body.result_place = Some(place);
            body.result = returned;
        }
        for parameter in &definition.ty.parameters {
            body.parameter(parameter)?;
        }
        body.statements(&definition.body)?;
        body.finish(End::Return(None), definition.span);
        body.translator.local_types.clear();
        Ok(body.function)
    }

    fn parameter(&mut self, parameter: &Parameter) -> Done<()> {
        let ty = crate::types::resolved(&parameter.ty, parameter.span, self.translator)?;
        let name = parameter.name.clone().unwrap_or_else(|| "unnamed".into());
        let register = self.local(Some(&name), Storage::Register, parameter.span);
        self.function.parameters.push(register);
        if ty.is_scalar() && !self.in_memory.contains(&name) {
            self.limit(register, &ty);
            self.declare(name, Variable::Local(register, ty));
            return Ok(());
        }
        // A struct comes as the address of the caller's.
        let memory = self.memory(&name, &ty, parameter.span)?;
        let place = Place::Memory(LangExpr::Atom(Atom::AddressOf(memory)));
        let value = Value {
            expr: LangExpr::Atom(Atom::Local(register)),
            ty: ty.clone(),
        };
        self.declare(name, Variable::Local(memory, ty.clone()));
        self.store(&place, &ty, value, Order::NonAtomic, parameter.span)
    }

    fn open_scope(&mut self) {
        self.scopes.push(HashMap::new());
        self.marks.push(self.translator.local_types.len());
    }

    fn close_scope(&mut self) {
        self.scopes.pop();
        if let Some(mark) = self.marks.pop() {
            self.translator.local_types.truncate(mark);
        }
    }

    pub fn declare(&mut self, name: Rc<str>, variable: Variable) {
        let (Variable::Local(_, ty) | Variable::Static(_, ty)) = &variable;
        let entry = (name.clone(), ty.clone());
        self.translator.local_types.push(entry);
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, variable);
        }
    }

    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    pub fn local(&mut self, name: Option<&str>, storage: Storage, span: Span) -> LocalId {
        let id = LocalId(self.function.locals.len() as u32);
        self.function.locals.push(Local {
            name: name.map(str::to_string),
            storage,
            span,
        });
        self.ranges.push((i64::MIN, i64::MAX));
        id
    }

    /// A register for a value within a statement.
    pub fn temporary(&mut self, ty: &Type, span: Span) -> LocalId {
        let register = self.local(None, Storage::Register, span);
        self.limit(register, ty);
        register
    }

    /// The register holds values of this type only.
    pub fn limit(&mut self, register: LocalId, ty: &Type) {
        // What `void *` holds may be a number that was handed over.
        if ty.pointee().is_some_and(|to| !to.is_void()) {
            self.addresses.insert(register);
        }
        if let Some(width) = ty.width() {
            self.ranges[register.index()] = match ty.is_pointer() {
                // Numbers of functions are below 0.
                true => (i64::MIN, i64::MAX),
                false => width.range(),
            };
        }
    }

    pub fn memory(&mut self, name: &str, ty: &Type, span: Span) -> Done<LocalId> {
        let mut cells = Vec::new();
        layout(ty, "", span, self.translator, &mut cells)?;
        Ok(self.local(Some(name), Storage::Memory(cells), span))
    }

    pub fn block(&mut self, span: Span) -> BlockId {
        let id = BlockId(self.function.blocks.len() as u32);
        self.function.blocks.push(Block {
            steps: Vec::new(),
            end: End::Stop,
            span,
        });
        id
    }

    pub fn emit(&mut self, action: Action, span: Span) {
        if let Action::Assign(register, value) = &action
            && self.is_address(value)
        {
            self.addresses.insert(*register);
        }
        let block = &mut self.function.blocks[self.current.index()];
        block.steps.push(Step { action, span });
    }

    /// Ends the block that is being filled; what follows goes nowhere until [`Body::begin`].
    pub fn finish(&mut self, end: End, span: Span) {
        let block = &mut self.function.blocks[self.current.index()];
        block.end = end;
        block.span = span;
        self.current = self.block(span);
    }

    /// The block that is being filled.
    pub fn here(&self) -> BlockId {
        self.current
    }

    /// Goes on in this block.
    pub fn begin(&mut self, block: BlockId) {
        self.current = block;
    }

    /// Ends the block with a jump and goes on there.
    pub fn goto_and_begin(&mut self, block: BlockId, span: Span) {
        self.finish(End::Goto(block), span);
        self.begin(block);
    }

    /// Remembers this place in the translation.
    pub fn mark(&self) -> Mark {
        Mark {
            current: self.current,
            blocks: self.function.blocks.len(),
            steps: self.function.blocks[self.current.index()].steps.len(),
            labels: self.labels.clone(),
        }
    }

    /// Whether nothing has been added since.
    pub fn is_at(&self, mark: &Mark) -> bool {
        self.current == mark.current
            && self.function.blocks.len() == mark.blocks
            && self.function.blocks[self.current.index()].steps.len() == mark.steps
    }

    /// Takes back what was added since: the block that was being filled has no end yet.
    pub fn take_back(&mut self, mark: Mark) {
        self.function.blocks.truncate(mark.blocks);
        let block = &mut self.function.blocks[mark.current.index()];
        block.steps.truncate(mark.steps);
        block.end = End::Stop;
        self.current = mark.current;
        self.labels = mark.labels;
    }

    /// Where the condition is 0, the run goes beyond what is followed.
    pub fn bound_unless(&mut self, condition: ValueExpr, message: &str, span: Span) {
        let (fine, beyond) = (self.block(span), self.block(span));
        self.finish(End::Branch(condition, fine, beyond), span);
        self.begin(beyond);
        self.emit(Action::Bound(message.to_string()), span);
        self.finish(End::Stop, span);
        self.begin(fine);
    }

    fn statements(&mut self, statements: &[Stmt]) -> Done<()> {
        self.open_scope();
        for statement in statements {
            self.statement(statement)?;
        }
        self.close_scope();
        Ok(())
    }

    /// The statements of `({ … })`; the value of the last.
    pub fn statement_expression(&mut self, statements: &[Stmt]) -> Done<Value> {
        self.open_scope();
        let mut value = Value::nothing();
        for (index, statement) in statements.iter().enumerate() {
            match &statement.kind {
                StmtKind::Expr(expr) if index + 1 == statements.len() => {
                    value = self.rvalue(expr)?;
                    if value.ty.is_scalar() {
                        value = self.kept(value, expr.span);
                    }
                }
                _ => self.statement(statement)?,
            }
        }
        self.close_scope();
        Ok(value)
    }

    fn label(&mut self, name: &Rc<str>, span: Span) -> BlockId {
        if let Some(block) = self.labels.get(name) {
            return *block;
        }
        let block = self.block(span);
        self.labels.insert(name.clone(), block);
        block
    }

    pub fn statement(&mut self, statement: &Stmt) -> Done<()> {
        let span = statement.span;
        let can_have_fence = !matches!(
            statement.kind,
            StmtKind::Empty
                | StmtKind::Block(_)
                | StmtKind::Label(..)
                | StmtKind::Case(..)
                | StmtKind::Default(_)
        );
        if statement.in_block && can_have_fence {
            self.emit(Action::Statement, span);
        }
        match &statement.kind {
            StmtKind::Empty => {}
            StmtKind::Expr(expr) => self.effect(expr)?,
            StmtKind::Declare(declarations) => {
                for declaration in declarations {
                    self.declaration(declaration)?;
                }
            }
            StmtKind::Block(statements) => self.statements(statements)?,
            StmtKind::If(condition, then, otherwise) => {
                let yes = self.block(span);
                let no = self.block(span);
                let after = match otherwise {
                    Some(_) => self.block(span),
                    None => no,
                };
                self.branch(condition, yes, no)?;
                self.begin(yes);
                self.statement(then)?;
                self.finish(End::Goto(after), span);
                if let Some(otherwise) = otherwise {
                    self.begin(no);
                    self.statement(otherwise)?;
                    self.finish(End::Goto(after), span);
                }
                self.begin(after);
            }
            StmtKind::While(condition, body) => {
                let (head, inside) = (self.block(condition.span), self.block(span));
                let after = self.block(span);
                self.goto_and_begin(head, condition.span);
                self.branch(condition, inside, after)?;
                self.begin(inside);
                self.in_loop(body, after, head)?;
                self.finish(End::Goto(head), span);
                self.begin(after);
            }
            StmtKind::DoWhile(body, condition) => {
                let (inside, test) = (self.block(span), self.block(condition.span));
                let after = self.block(span);
                self.goto_and_begin(inside, span);
                self.in_loop(body, after, test)?;
                self.goto_and_begin(test, condition.span);
                self.branch(condition, inside, after)?;
                self.begin(after);
            }
            StmtKind::For(first, condition, step, body) => {
                self.open_scope();
                if let Some(first) = first {
                    self.statement(first)?;
                }
                let (head, inside) = (self.block(span), self.block(span));
                let (next, after) = (self.block(span), self.block(span));
                self.goto_and_begin(head, span);
                match condition {
                    Some(condition) => self.branch(condition, inside, after)?,
                    None => self.finish(End::Goto(inside), span),
                }
                self.begin(inside);
                self.in_loop(body, after, next)?;
                self.goto_and_begin(next, span);
                if let Some(step) = step {
                    self.effect(step)?;
                }
                self.finish(End::Goto(head), span);
                self.begin(after);
                self.close_scope();
            }
            StmtKind::Switch(value, body) => self.switch(value, body, span)?,
            StmtKind::Case(from, to, inner) => {
                let low = self.case_value(from)?;
                let high = match to {
                    Some(to) => self.case_value(to)?,
                    None => low,
                };
                let block = self.block(span);
                match self.switches.last_mut() {
                    Some(switch) => switch.cases.push((low, high, block)),
                    None => return fail(span, "there is no `switch` around this"),
                }
                self.goto_and_begin(block, span);
                self.inner(inner, statement.in_block)?;
            }
            StmtKind::Default(inner) => {
                let block = self.block(span);
                match self.switches.last_mut() {
                    Some(switch) => switch.default = Some(block),
                    None => return fail(span, "there is no `switch` around this"),
                }
                self.goto_and_begin(block, span);
                self.inner(inner, statement.in_block)?;
            }
            StmtKind::Label(name, inner) => {
                let block = self.label(name, span);
                self.goto_and_begin(block, span);
                self.inner(inner, statement.in_block)?;
            }
            StmtKind::Goto(name) => {
                let block = self.label(name, span);
                self.finish(End::Goto(block), span);
            }
            StmtKind::Break => match self.breaks.last() {
                Some(block) => {
                    let block = *block;
                    self.finish(End::Goto(block), span);
                }
                None => return fail(span, "there is nothing around this to break out of"),
            },
            StmtKind::Continue => match self.continues.last() {
                Some(block) => {
                    let block = *block;
                    self.finish(End::Goto(block), span);
                }
                None => return fail(span, "there is no loop around this"),
            },
            StmtKind::Return(value) => {
                let value = match value {
                    Some(value) if self.result.is_void() => {
                        self.effect(value)?;
                        None
                    }
                    Some(value) => {
                        let target = self.result.clone();
                        let value = self.rvalue_for(value, &target)?;
                        match self.result_place {
                            Some(place) => {
                                // Before the variables of this function are gone.
                                let place = Place::Memory(LangExpr::Atom(Atom::Local(place)));
                                self.store(&place, &target, value, Order::NonAtomic, span)?;
                                None
                            }
                            None => Some(value.expr),
                        }
                    }
                    None => None,
                };
                self.finish(End::Return(value), span);
            }
            StmtKind::Asm(text, operands) => self.assembly(text, operands, span)?,
        }
        Ok(())
    }

    /// The statement behind a label.
    fn inner(&mut self, inner: &Stmt, _in_block: bool) -> Done<()> {
        self.statement(inner)
    }

    fn in_loop(&mut self, body: &Stmt, after: BlockId, again: BlockId) -> Done<()> {
        self.breaks.push(after);
        self.continues.push(again);
        let result = self.statement(body);
        self.breaks.pop();
        self.continues.pop();
        result
    }

    fn case_value(&mut self, expr: &Expr) -> Done<i64> {
        match self.translator.integer(expr)? {
            Some(value) => Ok(value),
            None => fail(expr.span, "this must be a constant"),
        }
    }

    fn switch(&mut self, value: &Expr, body: &Stmt, span: Span) -> Done<()> {
        let value_span = value.span;
        let value = self.rvalue(value)?;
        let Some(width) = value.ty.width() else {
            return fail(value_span, "`switch` needs an integer");
        };
        let ty = crate::value::promoted(width);
        let value = self.convert(value, &ty, value_span)?;
        let value = self.kept(value, value_span);
        let dispatch = self.current;
        let (inside, after) = (self.block(span), self.block(span));
        self.begin(inside);
        self.switches.push(Switch::default());
        self.breaks.push(after);
        self.statement(body)?;
        self.breaks.pop();
        self.finish(End::Goto(after), span);
        let Some(switch) = self.switches.pop() else {
            return Ok(());
        };
        self.begin(dispatch);
        for (low, high, block) in switch.cases {
            let (low, high) = match ty.width() {
                Some(width) => (width.wrap(low), width.wrap(high)),
                None => (low, high),
            };
            let unsigned = ty
                .width()
                .is_some_and(|width| width.bits == 64 && !width.signed);
            let test = |op, bound: i64| {
                let bound = LangExpr::Const(bound);
                match unsigned && op != BinaryOp::Equal {
                    true => self.compare_unsigned(op, value.expr.clone(), bound),
                    false => lower::binary(op, value.expr.clone(), bound),
                }
            };
            let condition = match low == high {
                true => test(BinaryOp::Equal, low),
                false => lower::binary(
                    BinaryOp::And,
                    test(BinaryOp::GreaterEqual, low),
                    test(BinaryOp::LessEqual, high),
                ),
            };
            let next = self.block(span);
            self.finish(End::Branch(condition, block, next), value_span);
            self.begin(next);
        }
        self.finish(End::Goto(switch.default.unwrap_or(after)), span);
        self.begin(after);
        Ok(())
    }

    fn declaration(&mut self, declaration: &Declaration) -> Done<()> {
        let span = declaration.span;
        let name = &declaration.name;
        let mut ty = declaration.ty.clone();
        if let (TypeKind::TypeOf(None), Some(Init::Expr(value))) =
            (&*ty.kind, declaration.init.as_deref())
        {
            ty = self.type_of(value)?;
        }
        if matches!(&*ty.kind, TypeKind::TypeOf(Some(_)))
            && let TypeKind::TypeOf(Some(expr)) = &*ty.kind.clone()
        {
            ty = self.type_of(expr)?;
        }
        if matches!(&*ty.kind, TypeKind::Function(_)) {
            return Ok(());
        }
        if declaration.is_extern {
            // It is the one outside, also where a variable of the function has its name.
            if let Some((object, ty)) = self.translator.global(name)? {
                self.declare(name.clone(), Variable::Static(object, ty));
            }
            return Ok(());
        }
        if !declaration.is_static && self.array_of_any_length(declaration, &ty)? {
            return Ok(());
        }
        let ty = self
            .translator
            .with_length(&ty, declaration.init.as_deref(), span)?;
        if declaration.is_static {
            let local = declaration.thread_local;
            let (object, ty) = self.translator.new_object(name, ty, local, span)?;
            self.declare(name.clone(), Variable::Static(object, ty.clone()));
            if let Some(init) = &declaration.init {
                self.translator.initialise(object, &ty, init)?;
            }
            return Ok(());
        }
        let in_register = ty.is_scalar() || matches!(&*ty.kind, TypeKind::Float(_));
        if in_register && !self.in_memory.contains(name) {
            let register = self.local(Some(name), Storage::Register, span);
            self.limit(register, &ty);
            // The name is known in its own initial value: `malloc(sizeof *p)`.
            self.declare(name.clone(), Variable::Local(register, ty.clone()));
            let value = match declaration.init.as_deref() {
                Some(Init::Expr(value)) => Some(self.rvalue_for(value, &ty)?.expr),
                Some(Init::List(entries, _)) => match entries.first() {
                    Some((_, Init::Expr(value))) => Some(self.rvalue_for(value, &ty)?.expr),
                    _ => Some(LangExpr::Const(0)),
                },
                None => None,
            };
            if let Some(value) = value {
                self.emit(Action::Assign(register, value), span);
            }
            return Ok(());
        }
        let memory = self.memory(name, &ty, span)?;
        self.declare(name.clone(), Variable::Local(memory, ty.clone()));
        if let Some(init) = &declaration.init {
            let address = LangExpr::Atom(Atom::AddressOf(memory));
            self.fill(address, &ty, init, span)?;
        }
        Ok(())
    }

    /// An array whose length a run decides is a block of memory; whether this is one.
    fn array_of_any_length(&mut self, declaration: &Declaration, ty: &Type) -> Done<bool> {
        let span = declaration.span;
        let TypeKind::Array(element, Some(length)) = &*ty.kind else {
            return Ok(false);
        };
        if declaration.init.is_some() || self.translator.integer(length)?.is_some() {
            return Ok(false);
        }
        let each = Expr::new(ExprKind::SizeOfType(element.clone()), span);
        let bytes = ExprKind::Binary(
            BinaryOp::Multiply,
            Box::new(Expr::clone(length)),
            Box::new(each),
        );
        let name = Expr::new(ExprKind::Name("alloca".into()), span);
        let call = ExprKind::Call(Box::new(name), vec![Expr::new(bytes, span)]);
        let pointer = Type::pointer(element.clone());
        let Some(block) = self.allocation(&Expr::new(call, span), Some(&pointer))? else {
            return Ok(false);
        };
        let register = self.local(Some(&declaration.name), Storage::Register, span);
        self.emit(Action::Assign(register, block.expr), span);
        let ty = Type::new(TypeKind::Array(element.clone(), None));
        self.declare(declaration.name.clone(), Variable::Local(register, ty));
        Ok(true)
    }

    /// Stores an initial value; what a list does not mention is 0.
    pub fn fill(&mut self, address: ValueExpr, ty: &Type, init: &Init, span: Span) -> Done<()> {
        let mut values = Vec::new();
        crate::init::values(self.translator, ty, init, 0, &mut values)?;
        let is_whole = matches!(init, Init::Expr(Expr { kind, .. })
            if !matches!(kind, ExprKind::String(_) | ExprKind::Compound(..)));
        if !is_whole {
            let count = self.translator.cell_count(ty, span)?;
            for cell in 0..count {
                if values
                    .iter()
                    .any(|(at, ty, _)| *at == cell as u64 && ty.is_scalar())
                {
                    continue;
                }
                let address = self.behind(address.clone(), cell);
                let value = LangExpr::Const(0);
                let order = Order::NonAtomic;
                self.emit(
                    Action::Store {
                        address,
                        value,
                        order,
                    },
                    span,
                );
            }
        }
        for (cell, target, expr) in values {
            let value = self.rvalue_for(&expr, &target)?;
            let place = Place::Memory(self.behind(address.clone(), cell as i64));
            self.store(&place, &target, value, Order::NonAtomic, expr.span)?;
        }
        Ok(())
    }

    /// Operands of an `asm` without instructions: what it sets has the value of the operand that is in the same place.
    fn operands(&mut self, operands: &[(String, Expr)], span: Span) -> Done<()> {
        let mut set = Vec::new();
        for (index, (constraint, place)) in operands.iter().enumerate() {
            if !constraint.starts_with('=') {
                if constraint.contains(['+', 'm']) {
                    self.place(place)?;
                } else if !constraint.starts_with(|c: char| c.is_ascii_digit()) {
                    self.effect(place)?;
                }
                continue;
            }
            let number = index.to_string();
            let source = operands.iter().find(|(other, _)| *other == number);
            let Some((_, source)) = source else {
                let message =
                    "what this assembly leaves here is not known: only barriers are supported";
                return fail(span, message);
            };
            let (place, ty) = self.place(place)?;
            let value = self.rvalue_for(source, &ty)?;
            let value = self.kept(value, span);
            set.push((place, ty, value));
        }
        for (place, ty, value) in set {
            let order = match ty.atomic {
                true => Order::SeqCst,
                false => Order::NonAtomic,
            };
            self.store(&place, &ty, value, order, span)?;
        }
        Ok(())
    }

    /// `asm`: the barriers of x86 and Arm.
    fn assembly(&mut self, text: &str, operands: &[(String, Expr)], span: Span) -> Done<()> {
        let text = text.trim().trim_end_matches(';').trim();
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let order = match words.as_str() {
            // Nothing but a word to the compiler.
            "" => {
                self.operands(operands, span)?;
                None
            }
            _ if operands.iter().any(|(what, _)| what.starts_with('=')) => {
                return fail(span, "this assembly is not supported: only barriers are");
            }
            "nop" | "pause" | "rep; nop" | "rep nop" | "yield" | "isb" => None,
            "mfence" | "dmb ish" | "dmb sy" | "dsb sy" | "sync" | "fence rw,rw" => {
                Some(Order::SeqCst)
            }
            "lfence" | "dmb ishld" | "lwsync" => Some(Order::AcqRel),
            "sfence" | "dmb ishst" => Some(Order::Release),
            other if other.starts_with("lock; addl $0") || other.starts_with("lock addl $0") => {
                Some(Order::SeqCst)
            }
            _ => {
                return fail(span, "this assembly is not supported: only barriers are");
            }
        };
        if let Some(order) = order {
            self.emit(Action::Fence(order), span);
        }
        Ok(())
    }
}
