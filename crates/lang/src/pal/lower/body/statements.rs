//! The statements of a thread, one by one.

use super::*;

impl<'a> Body<'_, 'a, '_> {
    pub(super) fn block(&mut self, block: &'a Block<'a>) {
        self.frame_mut().scopes.push(Vec::new());
        for stmt in &block.stmts {
            self.stmt(stmt);
        }
        self.warn_unreachable(block);
        self.mark(PlaceKind::BlockEnd, block.close, None);
        self.end_scope(block.close);
    }

    pub(super) fn warn_unreachable(&mut self, block: &Block<'_>) {
        let unreachable = block.stmts.windows(2).find(|two| {
            two[0].kind.goes_elsewhere() && two[1].labels.is_empty() && !two[1].kind.has_label()
        });
        if let Some([_, stmt]) = unreachable {
            self.error(
                Diagnostic::warning(stmt.span, "this statement can never be reached")
                    .label("what stands before it never goes on"),
            );
        }
    }

    pub(super) fn stmt(&mut self, stmt: &'a Stmt<'a>) {
        if !stmt.labels.is_empty() && self.select_at == Some(self.current) {
            // In a function that the branch begins with: the label does not stand at the `select`.
            self.emit(Op::Skip, stmt.span);
        }
        let name = stmt.labels.first().map(|l| l.text);
        self.mark(PlaceKind::BeforeStatement, stmt.span, name);
        for label in &stmt.labels {
            self.label(*label);
        }
        // Behind these, registers are still as they were at the beginning, and nothing comes back.
        let leads = matches!(
            stmt.kind,
            StmtKind::Let { value: None, .. } | StmtKind::LetArray(..) | StmtKind::Fence(_)
        ) && stmt.labels.is_empty();
        self.leading = self.leading && leads;
        self.deeper(stmt.span, (), |body| body.bare(stmt));
    }

    pub(super) fn bare(&mut self, stmt: &'a Stmt<'a>) {
        let span = stmt.span;
        if self.globals.too_large {
            return;
        }
        if self.frames.len() > 1 {
            self.globals.inlined += 1;
            if self.globals.inlined > MAX_INLINED {
                let call = self.frame().call;
                return self.error(
                    Diagnostic::error(
                        call,
                        format!("inlining functions makes more than {MAX_INLINED} statements"),
                    )
                    .label("this call is one too many"),
                );
            }
        }
        match &stmt.kind {
            StmtKind::Let {
                name,
                pointee,
                value,
            } => self.let_stmt(*name, *pointee, *value, span),
            StmtKind::LetArray(name, size) => self.let_array(*name, *size, span),
            StmtKind::Assign { place, value } => self.assign(*place, *value, span),
            StmtKind::Update { place, op, value } => self.update(*place, *op, *value, span),
            StmtKind::For {
                name,
                from,
                to,
                body,
            } => self.for_stmt(*name, *from, *to, body, span),
            StmtKind::Expr(expr) => self.expr_stmt(*expr, span),
            StmtKind::Fence(order) => self.emit(Op::Fence(*order), span),
            StmtKind::Skip => self.emit(Op::Skip, span),
            StmtKind::Assume(condition) => {
                let next = self.point(span);
                self.condition(*condition, Some(next), None);
                self.current = next;
            }
            StmtKind::Assert(condition) => {
                let condition = self.value(*condition).expr;
                self.emit(Op::Assert(condition), span);
            }
            StmtKind::If { arms, otherwise } => self.if_stmt(arms, otherwise.as_ref(), span),
            StmtKind::While(condition, block) => {
                let head = self.point(span);
                self.connect(Op::Jump, head, span);
                let inside = self.point(span);
                let exit = self.point(span);
                self.current = head;
                self.condition(*condition, Some(inside), Some(exit));
                self.current = inside;
                self.loop_body(block, head, exit);
            }
            StmtKind::Loop(block) => {
                let head = self.point(span);
                self.connect(Op::Jump, head, span);
                let exit = self.point(span);
                self.current = head;
                self.loop_body(block, head, exit);
            }
            StmtKind::Break | StmtKind::Continue => {
                let is_break = matches!(stmt.kind, StmtKind::Break);
                match self.frame().loops.last() {
                    Some(inner) => {
                        let target = if is_break { inner.exit } else { inner.head };
                        let region = inner.region;
                        self.jump(target, region, span);
                    }
                    None => {
                        let word = if is_break { "break" } else { "continue" };
                        self.error(
                            Diagnostic::error(span, format!("`{word}` stands in no loop"))
                                .label("there is no loop around this"),
                        );
                    }
                }
            }
            StmtKind::Choose(branches) => {
                let begin = self.current;
                let join = self.point(span);
                for branch in branches {
                    self.current = begin;
                    self.emit(Op::Skip, span);
                    self.block(branch);
                    self.connect(Op::Jump, join, branch.close);
                }
                self.current = join;
            }
            StmtKind::Select(branches) => {
                // A `select` as the first statement of a branch would be ambiguous about its own point.
                if self.select_at == Some(self.current) {
                    self.emit(Op::Skip, span);
                }
                let begin = self.current;
                let join = self.point(span);
                for branch in branches {
                    if let Some(first) = branch.stmts.first()
                        && let Some(label) = first.labels.first()
                    {
                        self.error(
                            Diagnostic::error(
                                label.span,
                                "the first statement in a branch of `select` can have no label",
                            )
                            .label("the branch begins at the `select` itself")
                            .help(
                                "put the label on the `select`, or on a statement after the first",
                            ),
                        );
                    }
                    self.current = begin;
                    let outer = self.select_at.replace(begin);
                    self.block(branch);
                    self.connect(Op::Jump, join, branch.close);
                    self.select_at = outer;
                }
                self.current = join;
            }
            StmtKind::Atomic(block) => {
                if self.region != 0 {
                    return self.block(block);
                }
                let exit = self.point(span);
                self.last_region += 1;
                self.region = self.last_region;
                self.emit(Op::AtomicBegin, span);
                self.block(block);
                self.region = 0;
                self.connect(Op::AtomicEnd, exit, block.close);
                self.current = exit;
            }
            StmtKind::Block(block) => self.block(block),
            StmtKind::Goto(label) => {
                let goto = Goto {
                    transition: self.transitions.len(),
                    region: self.region,
                    label: *label,
                };
                self.jump(NOWHERE, self.region, span);
                self.frame_mut().gotos.push(goto);
            }
            StmtKind::Return(value) => self.return_stmt(*value, span),
            StmtKind::Error => {}
        }
    }

    pub(super) fn loop_body(&mut self, block: &'a Block<'a>, head: PointId, exit: PointId) {
        let region = self.region;
        self.frame_mut().loops.push(Loop { head, exit, region });
        self.block(block);
        self.frame_mut().loops.pop();
        self.jump_back(head, block.close);
        self.current = exit;
    }

    pub(super) fn if_stmt(
        &mut self,
        arms: &'a [(ExprId, Block<'a>)],
        otherwise: Option<&'a Block<'a>>,
        span: Span,
    ) {
        let join = self.point(span);
        for (index, (condition, block)) in arms.iter().enumerate() {
            let inside = self.point(span);
            let last = index + 1 == arms.len() && otherwise.is_none();
            let next = if last { join } else { self.point(span) };
            self.condition(*condition, Some(inside), Some(next));
            self.current = inside;
            self.block(block);
            self.connect(Op::Jump, join, block.close);
            self.current = next;
        }
        if let Some(block) = otherwise {
            self.block(block);
            self.connect(Op::Jump, join, block.close);
        }
        self.current = join;
    }

    /// `for i in from..to`: both bounds are evaluated once, `to` is not reached, and `continue` goes on with the next number.
    pub(super) fn for_stmt(
        &mut self,
        name: Name<'a>,
        from: ExprId,
        to: ExprId,
        body: &'a Block<'a>,
        span: Span,
    ) {
        use crate::expr::BinaryOp::{Add, Less};
        self.frame_mut().scopes.push(Vec::new());
        let register = self.register(Some(name.text), name.span);
        let from_value = self.value(from);
        let later = from_value.fails && self.has_effects(to);
        let from_value = self.settle(from_value, later, span).expr;
        let to_value = self.value(to).expr;
        let domain = self.globals.domain;
        let (first, last) = (from_value.constant(domain), to_value.constant(domain));
        // The end is no value of the register, so it may lie just behind the domain.
        if let (Some(end), Some(size)) = (last, domain.size())
            && end > size
        {
            self.error(
                Diagnostic::error(
                    self.globals.ast.expr(to).span,
                    format!("the numbers below {end} do not fit in the domain of {size} values"),
                )
                .label(format!("this is {end}"))
                .help(format!("make the domain larger: `domain {end};`")),
            );
        }
        let to_value = match last {
            Some(end) => Expr::Const(end),
            None => {
                let end = self.register(None, span);
                self.emit(Op::Assign(end, to_value), span);
                Expr::Atom(end)
            }
        };
        self.emit(Op::Assign(register, from_value), span);
        self.bind(name.text, Binding::Register(register), None);
        let counter = || Expr::Atom(register);
        let inside = self.point(span);
        let exit = self.point(span);
        match (first, last) {
            (Some(first), Some(end)) if first < end => self.connect(Op::Jump, inside, span),
            _ => {
                let more = Expr::binary(Less, counter(), to_value.clone());
                self.connect(Op::Assume(more.clone()), inside, span);
                self.connect(Op::Assume(Expr::unary(UnaryOp::Not, more)), exit, span);
            }
        }
        let next = self.point(span);
        self.current = inside;
        let region = self.region;
        self.frame_mut().loops.push(Loop {
            head: next,
            exit,
            region,
        });
        self.block(body);
        self.frame_mut().loops.pop();
        self.connect(Op::Jump, next, body.close);
        self.current = next;
        // (The counter is not made larger than it can be: with a domain it would begin again at 0.)
        let more = match last {
            Some(end) => Expr::binary(Less, counter(), Expr::Const(end.saturating_sub(1))),
            None => {
                let after = Expr::binary(Add, counter(), Expr::Const(1));
                Expr::binary(Less, after, to_value)
            }
        };
        let again = self.point(span);
        self.connect(Op::Assume(more.clone()), again, span);
        self.connect(Op::Assume(Expr::unary(UnaryOp::Not, more)), exit, span);
        self.current = again;
        let sum = Expr::binary(Add, counter(), Expr::Const(1));
        self.connect(Op::Assign(register, sum), inside, span);
        self.current = exit;
        self.end_scope(body.close);
    }

    /// The names of the innermost block are no longer known.
    pub(super) fn end_scope(&mut self, close: Span) {
        let frame = self.frame_mut();
        for name in frame.scopes.pop().unwrap_or_default() {
            if let Some(bindings) = frame.names.get_mut(name) {
                bindings.pop();
            }
            frame.ended.insert(name, close);
        }
    }

    /// `let r[n];`: registers of their own, each 0.
    pub(super) fn let_array(&mut self, name: Name<'a>, size: ExprId, span: Span) {
        let length = self.globals.count(size, "an array's number of elements");
        let length = match length {
            Some(length @ 1..=MAX_REGISTER_ARRAY) => length,
            Some(length) => {
                self.error(
                    Diagnostic::error(
                        self.globals.ast.expr(size).span,
                        format!("an array of registers has 1 to {MAX_REGISTER_ARRAY} elements"),
                    )
                    .label(format!("this is {length}")),
                );
                1
            }
            None => 1,
        };
        let declared = self.frame().names.get(name.text).and_then(|n| n.last());
        let same = declared.filter(|d| d.depth == self.frame().scopes.len());
        let (first, new) = match same.map(|d| d.binding) {
            Some(Binding::Array { first, length: old }) if old == length => (first, false),
            _ => {
                let first = RegisterId(self.registers.len() as u32);
                for index in 0..length {
                    self.register(Some(&format!("{}[{index}]", name.text)), name.span);
                }
                (first, true)
            }
        };
        match self.leading && new {
            // Registers start as 0.
            true => self.emit(Op::Jump, span),
            false => {
                for index in 0..length {
                    let register = RegisterId(first.0 + index);
                    self.emit(Op::Assign(register, Expr::Const(0)), span);
                }
            }
        }
        if new {
            self.bind(name.text, Binding::Array { first, length }, None);
        }
    }

    pub(super) fn let_stmt(
        &mut self,
        name: Name<'a>,
        pointee: Option<Name<'a>>,
        value: Option<ExprId>,
        span: Span,
    ) {
        let pointee = pointee.and_then(|name| self.globals.struct_named(name));
        let (register, new) = self.declare(name);
        match value {
            // Registers start as 0.
            None if self.leading && new => self.emit(Op::Jump, span),
            None => self.emit(Op::Assign(register, Expr::Const(0)), span),
            Some(value) => self.assign_register(register, value, span),
        }
        if !new {
            if let Some(declared) = self.frame_mut().names.get_mut(name.text)
                && let Some(last) = declared.last_mut()
            {
                last.pointee = pointee;
            }
            return;
        }
        self.bind(name.text, Binding::Register(register), pointee);
        if self.frames.len() == 1 && self.frame().scopes.len() == 1 {
            self.outer.insert(name.text, register);
            self.outer_pointees
                .extend(pointee.map(|of| (name.text, of)));
        }
        if self.globals.shared.contains_key(name.text) {
            self.error(
                Diagnostic::warning(
                    name.span,
                    format!(
                        "the register `{0}` hides the shared `{0}`",
                        shorten(name.text)
                    ),
                )
                .label("declared here")
                .help("choose another name for the register"),
            );
        }
    }

    pub(super) fn return_stmt(&mut self, value: Option<ExprId>, span: Span) {
        let frame = self.frame();
        let (result, in_function) = (frame.result, frame.function.is_some());
        match (value, result) {
            (Some(value), Some(result)) => self.assign_register(result, value, span),
            (Some(value), None) => {
                if !in_function {
                    self.error(
                        Diagnostic::warning(span, "the value that a thread returns is lost")
                            .label("a thread has no result"),
                    );
                }
                self.discard(value);
            }
            (None, Some(result)) => self.emit(Op::Assign(result, Expr::Const(0)), span),
            (None, None) => {}
        }
        let exit = self.exit(span);
        let region = self.frame().exit_region;
        self.jump(exit, region, span);
    }

    /// Where `return` goes.
    pub(super) fn exit(&mut self, span: Span) -> PointId {
        if let Some(exit) = self.frame().exit {
            return exit;
        }
        let exit_region = self.frame().exit_region;
        let region = std::mem::replace(&mut self.region, exit_region);
        let exit = self.point(span);
        self.region = region;
        self.frame_mut().exit = Some(exit);
        exit
    }
}
