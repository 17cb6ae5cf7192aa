//! Blocks and statements.

use super::*;

impl<'a> Parser<'a, '_> {
    pub(super) fn block(&mut self) -> Parse<Block<'a>> {
        let open = self.expect(Tok::OpenBrace)?;
        if self.block_depth >= MAX_BLOCK_DEPTH {
            self.diagnostics.push(
                Diagnostic::error(
                    open,
                    format!("blocks are nested more than {MAX_BLOCK_DEPTH} deep"),
                )
                .label("this one is too deep")
                .help("move the inner blocks into a `fn`"),
            );
            // There may be thousands more of them: what follows is not looked at.
            self.at = self.tokens.len() - 1;
            self.unclosed_at = Some(self.at);
            return Err(Reported);
        }
        self.block_depth += 1;
        let block = self.block_rest(open);
        self.block_depth -= 1;
        Ok(block)
    }

    pub(super) fn block_rest(&mut self, open: Span) -> Block<'a> {
        let mut stmts = Vec::new();
        loop {
            let here = self.span();
            if self.eat(Tok::CloseBrace) {
                return Block { stmts, close: here };
            }
            if self.kind() == Tok::End || self.at_item() {
                if self.unclosed_at != Some(self.at) {
                    self.unclosed_at = Some(self.at);
                    let found = self.found();
                    self.diagnostics.push(
                        Diagnostic::error(open, format!("this block is not closed before {found}"))
                            .label("the block begins here")
                            .help("add `}` where it ends"),
                    );
                }
                let end = self.last_span().end as usize;
                return Block {
                    stmts,
                    close: Span::new(end, end),
                };
            }
            let start = self.at;
            match self.stmt() {
                Ok(stmt) => stmts.push(stmt),
                Err(Reported) => self.skip_to_stmt(start),
            }
        }
    }

    pub(super) fn skip_to_stmt(&mut self, start: usize) {
        loop {
            match self.kind() {
                Tok::Semicolon => return self.bump(),
                Tok::CloseBrace | Tok::End => return,
                Tok::OpenBrace => {
                    // Whatever the block belongs to: its statements can be looked at.
                    let _ = self.block();
                    return;
                }
                _ if self.at_item() => return,
                _ if self.at > start && self.at_statement_word() => return,
                _ => self.bump(),
            }
        }
    }

    pub(super) fn stmt(&mut self) -> Parse<Stmt<'a>> {
        let mut labels = Vec::new();
        loop {
            if self.kind() == Tok::Name && self.kind_after(1) == Tok::Colon {
                labels.push(self.name("a label")?);
                self.bump();
            } else if self.kind().is_word() && self.kind_after(1) == Tok::Colon {
                let text = self.token_text();
                self.diagnostics.push(
                    Diagnostic::error(
                        self.span(),
                        format!("`{text}` is a keyword and cannot be a label"),
                    )
                    .label("expected a name"),
                );
                self.bump();
                self.bump();
            } else {
                break;
            }
        }
        let start = self.span();
        let kind = self.bare(!labels.is_empty())?;
        Ok(Stmt {
            labels,
            kind,
            span: start.to(self.last_span()),
        })
    }

    pub(super) fn bare(&mut self, labelled: bool) -> Parse<StmtKind<'a>> {
        let word = self.kind();
        match word {
            Tok::Let => {
                self.bump();
                let name = self.name("the register's name")?;
                if self.eat(Tok::OpenBracket) {
                    let size = self.expr()?;
                    self.expect(Tok::CloseBracket)?;
                    self.semicolon("the declaration")?;
                    return Ok(StmtKind::LetArray(name, size));
                }
                let pointee = self.pointee()?;
                let value = match self.eat(Tok::Assign) {
                    // The register is declared even where its value cannot be read.
                    true => match self.expr() {
                        Ok(value) => Some(value),
                        Err(Reported) => {
                            let start = self.at;
                            self.skip_to_stmt(start);
                            return Ok(StmtKind::Let {
                                name,
                                pointee,
                                value: None,
                            });
                        }
                    },
                    false => None,
                };
                self.semicolon("the declaration")?;
                Ok(StmtKind::Let {
                    name,
                    pointee,
                    value,
                })
            }
            Tok::Fence => {
                self.bump();
                let mut order = Order::SeqCst;
                if self.eat(Tok::OpenParen) {
                    order = self.order()?;
                    self.expect(Tok::CloseParen)?;
                }
                self.semicolon("`fence`")?;
                Ok(StmtKind::Fence(order))
            }
            Tok::Skip | Tok::Break | Tok::Continue => {
                self.bump();
                self.semicolon(match word {
                    Tok::Skip => "`skip`",
                    Tok::Break => "`break`",
                    _ => "`continue`",
                })?;
                Ok(match word {
                    Tok::Skip => StmtKind::Skip,
                    Tok::Break => StmtKind::Break,
                    _ => StmtKind::Continue,
                })
            }
            Tok::Assume | Tok::Assert => {
                self.bump();
                let condition = self.expr()?;
                self.semicolon("the condition")?;
                Ok(match word {
                    Tok::Assume => StmtKind::Assume(condition),
                    _ => StmtKind::Assert(condition),
                })
            }
            Tok::If => self.if_stmt(),
            Tok::While => {
                self.bump();
                let condition = self.expr()?;
                Ok(StmtKind::While(condition, self.block()?))
            }
            Tok::Loop => {
                self.bump();
                Ok(StmtKind::Loop(self.block()?))
            }
            Tok::Choose => {
                self.bump();
                Ok(StmtKind::Choose(self.branches()?))
            }
            Tok::Name if self.is_word("for") && self.kind_after(1) == Tok::Name => self.for_stmt(),
            Tok::Name if self.is_word("select") && self.kind_after(1) == Tok::OpenBrace => {
                self.bump();
                Ok(StmtKind::Select(self.branches()?))
            }
            Tok::Atomic => {
                self.bump();
                Ok(StmtKind::Atomic(self.block()?))
            }
            Tok::OpenBrace => Ok(StmtKind::Block(self.block()?)),
            Tok::Goto => {
                self.bump();
                let label = self.name("a label")?;
                self.semicolon("the label")?;
                Ok(StmtKind::Goto(label))
            }
            Tok::Return => {
                self.bump();
                let value = match self.kind() {
                    Tok::Semicolon | Tok::CloseBrace => None,
                    _ => Some(self.expr()?),
                };
                self.semicolon("`return`")?;
                Ok(StmtKind::Return(value))
            }
            Tok::CloseBrace if labelled => {
                let diagnostic = self
                    .unexpected("a statement after the label")
                    .help("add `skip;` after the label");
                self.error(diagnostic)
            }
            Tok::Semicolon => {
                let diagnostic = self
                    .unexpected("a statement")
                    .help("the statement that does nothing is `skip;`");
                self.diagnostics.push(diagnostic);
                self.bump();
                Ok(StmtKind::Error)
            }
            Tok::Else => {
                let diagnostic = Diagnostic::error(self.span(), "this `else` belongs to no `if`")
                    .label("expected a statement");
                self.bump();
                self.error(diagnostic)
            }
            Tok::Or => {
                let diagnostic = Diagnostic::error(self.span(), "this `or` belongs to no `choose`")
                    .label("expected a statement")
                    .help("in expressions, or is written `||`");
                self.bump();
                self.error(diagnostic)
            }
            _ => self.assignment_or_call(),
        }
    }

    pub(super) fn if_stmt(&mut self) -> Parse<StmtKind<'a>> {
        let mut arms = Vec::new();
        let mut otherwise = None;
        loop {
            self.expect(Tok::If)?;
            let condition = self.expr()?;
            arms.push((condition, self.block()?));
            if !self.eat(Tok::Else) {
                break;
            }
            if self.kind() != Tok::If {
                otherwise = Some(self.block()?);
                break;
            }
        }
        Ok(StmtKind::If { arms, otherwise })
    }

    pub(super) fn for_stmt(&mut self) -> Parse<StmtKind<'a>> {
        self.bump();
        let name = self.name("the register's name")?;
        if !self.is_word("in") {
            let diagnostic = self.unexpected("`in`").help("it is `for i in 0..n { … }`");
            return self.error(diagnostic);
        }
        self.bump();
        let from = self.expr()?;
        self.expect(Tok::DotDot)?;
        let to = self.expr()?;
        let body = self.block()?;
        Ok(StmtKind::For {
            name,
            from,
            to,
            body,
        })
    }

    pub(super) fn branches(&mut self) -> Parse<Vec<Block<'a>>> {
        let mut branches = vec![self.block()?];
        while self.eat(Tok::Or) {
            branches.push(self.block()?);
        }
        Ok(branches)
    }

    pub(super) fn assignment_or_call(&mut self) -> Parse<StmtKind<'a>> {
        let start = self.at;
        self.assign_ends = true;
        let result = self.expr_at_statement();
        self.assign_ends = false;
        let left = result?;
        if self.kind() == Tok::Assign {
            let here = self.span();
            self.bump();
            let value = self.expr()?;
            self.semicolon("the assignment")?;
            if !self.is_place(left) {
                let diagnostic =
                    Diagnostic::error(here, "only a register or a shared place can be assigned to")
                        .label("what stands before this `=` is neither");
                return self.error(diagnostic);
            }
            return Ok(StmtKind::Assign { place: left, value });
        }
        let update = match self.kind() {
            Tok::AddAssign => Some(BinaryOp::Add),
            Tok::SubtractAssign => Some(BinaryOp::Subtract),
            Tok::AndAssign => Some(BinaryOp::BitAnd),
            Tok::OrAssign => Some(BinaryOp::BitOr),
            Tok::XorAssign => Some(BinaryOp::BitXor),
            _ => None,
        };
        if let Some(op) = update {
            let here = self.span();
            self.bump();
            let value = self.expr()?;
            self.semicolon("the assignment")?;
            if !self.is_place(left) {
                let diagnostic =
                    Diagnostic::error(here, "only a register or a shared place can be assigned to")
                        .label("what stands before this is neither");
                return self.error(diagnostic);
            }
            return Ok(StmtKind::Update {
                place: left,
                op,
                value,
            });
        }
        match self.ast.expr(left).kind {
            ExprKind::Store(..)
            | ExprKind::Call(..)
            | ExprKind::Rmw { .. }
            | ExprKind::Wait { .. }
            | ExprKind::Load(..)
            | ExprKind::Error => {
                self.semicolon("the call")?;
                Ok(StmtKind::Expr(left))
            }
            ExprKind::Name(name) if self.at == start + 1 => {
                let help = self.diagnostics.suggest(
                    name.text,
                    [
                        "let", "fence", "skip", "assume", "assert", "if", "else", "while", "loop",
                        "break", "continue", "choose", "atomic", "goto", "return", "wait", "bcas",
                    ],
                );
                let mut diagnostic = self.unexpected("`=`, `(`, `[`, `.` or `:`");
                diagnostic.message = format!("`{}` alone is no statement", shorten(name.text));
                diagnostic.span = name.span;
                diagnostic.label = "expected a statement".into();
                diagnostic.help = help.or_else(|| {
                    matches!(name.text, "mfence" | "sync" | "barrier")
                        .then(|| "did you mean `fence`?".into())
                });
                self.error(diagnostic)
            }
            _ => {
                let span = self.ast.expr(left).span;
                let mut diagnostic = Diagnostic::error(span, "an expression alone is no statement")
                    .label("expected an assignment or a call");
                if matches!(
                    self.ast.expr(left).kind,
                    ExprKind::Binary(BinaryOp::Equal, ..)
                ) {
                    diagnostic = diagnostic.help("`==` compares; to store a value, write `=`");
                }
                self.error(diagnostic)
            }
        }
    }
}
