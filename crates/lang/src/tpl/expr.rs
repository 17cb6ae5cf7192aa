//! Expressions, locations and orders of the toy language.

use super::{Failed, Function, MAX_PARSED_HEIGHT, Outcome, Parser};
use crate::expr::Expr;
use crate::lex::{Kind, Token, binary_operator, did_you_mean, quote, unary_operator, with_help};
use crate::program::{Address, Order, RegisterExpr, RegisterId};
use crate::source::{Diagnostic, Span};

impl<'a> Parser<'a> {
    /// `( expr )`
    pub(super) fn condition(&mut self, function: &Function<'a>) -> Outcome<RegisterExpr> {
        let inside = self.expect("(").and_then(|()| self.expr(function));
        let result = inside.and_then(|condition| self.expect(")").map(|()| condition));
        if result.is_err() {
            // The block that follows is worth reading all the same.
            let ends = ["{", "}", ";", "fn"];
            while self.tokens.peek().kind != Kind::End && !ends.contains(&self.tokens.peek().text) {
                self.tokens.take();
            }
            if self.tokens.peek().is("{") {
                return Ok(Expr::Const(1));
            }
        }
        result
    }

    pub(super) fn expr(&mut self, function: &Function<'a>) -> Outcome<RegisterExpr> {
        let (expr, _) = self.expr_above(function, 0, 1)?;
        Ok(expr)
    }

    /// Operators that bind tighter than `binding`. Returns the height too; `depth` bounds the recursion.
    fn expr_above(
        &mut self,
        function: &Function<'a>,
        binding: u8,
        depth: usize,
    ) -> Outcome<(RegisterExpr, usize)> {
        let (mut left, mut height) = self.operand(function, depth)?;
        loop {
            let token = self.tokens.peek();
            let op = match binary_operator(token.text) {
                Some(op) if token.kind == Kind::Symbol && op.precedence() > binding => op,
                _ => return Ok((left, height)),
            };
            self.tokens.take();
            let (right, right_height) = self.expr_above(function, op.precedence(), depth + 1)?;
            height = height.max(right_height) + 1;
            if height > MAX_PARSED_HEIGHT {
                return Err(self.too_deep(token.span));
            }
            left = Expr::binary(op, left, right);
        }
    }

    fn operand(&mut self, function: &Function<'a>, depth: usize) -> Outcome<(RegisterExpr, usize)> {
        let token = self.tokens.peek();
        if depth > MAX_PARSED_HEIGHT {
            return Err(self.too_deep(token.span));
        }
        if token.kind == Kind::Symbol && token.text != "(" && unary_operator(token.text).is_none() {
            return self.fail(token, "an expression");
        }
        self.tokens.take();
        let expr = match (token.kind, token.text) {
            (Kind::Number(Some(value)), _) => Expr::Const(value),
            (Kind::Number(None), _) => {
                let message = format!("{} is not a number of 64 bits", quote(token.text));
                self.errors.error(Diagnostic::error(token.span, message));
                return Err(Failed);
            }
            (Kind::Word, "true") => Expr::Const(1),
            (Kind::Word, "false") => Expr::Const(0),
            (Kind::Word, _) => Expr::Atom(self.local(function, token)?),
            (Kind::Symbol, "(") => {
                let inner = self.expr_above(function, 0, depth + 1)?;
                self.expect(")")?;
                return Ok(inner);
            }
            (Kind::Symbol, symbol) => match unary_operator(symbol) {
                Some(op) => {
                    let (operand, height) = self.operand(function, depth + 1)?;
                    if height + 1 > MAX_PARSED_HEIGHT {
                        return Err(self.too_deep(token.span));
                    }
                    return Ok((Expr::unary(op, operand), height + 1));
                }
                None => return self.fail(token, "an expression"),
            },
            _ => return self.fail(token, "an expression"),
        };
        Ok((expr, 1))
    }

    fn too_deep(&mut self, span: Span) -> Failed {
        self.errors.error(
            Diagnostic::error(
                span,
                format!("this expression is nested more than {MAX_PARSED_HEIGHT} deep"),
            )
            .help("compute it in steps"),
        );
        Failed
    }

    pub(super) fn local(
        &mut self,
        function: &Function<'a>,
        name: Token<'a>,
    ) -> Outcome<RegisterId> {
        if let Some(register) = function.builder.register_named(name.text) {
            return Ok(register);
        }
        let error = Diagnostic::error(
            name.span,
            format!(
                "{} is not a local variable of this thread",
                quote(name.text)
            ),
        );
        let error = error.label("not declared by `local`");
        let help = match self.names.contains_key(name.text) {
            true => Some(format!(
                "`{0}` is in memory: load it first, as in `r = {0}.load();`",
                name.text
            )),
            false => did_you_mean(name.text, function.builder.register_names()),
        };
        self.errors.error(with_help(error, help));
        Err(Failed)
    }

    /// A location that must be nonatomic, or must not be.
    pub(super) fn location(&mut self, nonatomic: bool) -> Outcome<Address<RegisterId>> {
        let name = self.word("a location")?;
        let Some(&id) = self.names.get(name.text) else {
            self.errors.error(with_help(
                Diagnostic::error(name.span, format!("{} is not a location", quote(name.text)))
                    .label("not declared by `global` or `na`"),
                did_you_mean(name.text, self.names.keys().copied()),
            ));
            return Err(Failed);
        };
        if self.locations[id.index()].nonatomic != nonatomic {
            let (is, use_instead) = match nonatomic {
                true => ("not nonatomic", "`load` and `store`"),
                false => ("nonatomic", "`naload` and `nastore`"),
            };
            self.errors.error(
                Diagnostic::error(name.span, format!("{} is {is}", quote(name.text)))
                    .label(format!("this location takes {use_instead}")),
            );
        }
        Ok(Address::Direct(id))
    }

    /// Whether an order follows, and not a local variable of that name.
    pub(super) fn at_order(&self, function: &Function<'a>) -> bool {
        let token = self.tokens.peek();
        token.kind == Kind::Word
            && order(token.text).is_some()
            && function.builder.register_named(token.text).is_none()
    }

    pub(super) fn order(&mut self) -> Outcome<Order> {
        let token = self.tokens.take();
        match order(token.text) {
            Some(order) if token.kind == Kind::Word => Ok(order),
            _ => self.fail(
                token,
                "an order: `rlx`, `acq`, `rel`, `acq_rel` or `seq_cst`",
            ),
        }
    }
}

fn order(name: &str) -> Option<Order> {
    Some(match name {
        "rlx" | "relaxed" => Order::Relaxed,
        "acq" | "acquire" => Order::Acquire,
        "rel" | "release" => Order::Release,
        "acq_rel" | "acqrel" | "acquire_release" => Order::AcqRel,
        "sc" | "seq_cst" | "seqcst" => Order::SeqCst,
        _ => return None,
    })
}
