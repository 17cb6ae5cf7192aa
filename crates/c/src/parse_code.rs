//! Statements and expressions.

use crate::ast::*;
use crate::condition;
use crate::lex::{Kind, characters};
use crate::parser::{Known, Parser, Parsing};
use palisade_lang::{BinaryOp, Span};
use std::rc::Rc;

/// Higher expressions are refused.
const HIGHEST: u32 = 200;
/// Longer chains of operators are refused: they nest to the left.
const LONGEST: usize = 150;

impl Parser {
    pub(crate) fn statement(&mut self) -> Parsing<Stmt> {
        self.deeper()?;
        let start = self.peek().span;
        // `asm` is a statement here, and not another name for what is declared.
        if !matches!(&*self.peek().text, "asm" | "__asm__") {
            self.attributes()?;
        }
        // Names of labels that are the block's own.
        while self.take_name("__label__") {
            while !self.take(";") {
                self.name()?;
                self.take(",");
            }
        }
        let kind = self.statement_kind()?;
        self.shallower();
        Ok(Stmt {
            kind,
            span: self.since(start),
            in_block: false,
        })
    }

    fn bracketed(&mut self) -> Parsing<Expr> {
        self.expect("(")?;
        let expr = self.expression()?;
        self.expect(")")?;
        Ok(expr)
    }

    fn statement_kind(&mut self) -> Parsing<StmtKind> {
        let token = self.peek().clone();
        if self.take("{") {
            self.open_scope();
            let items = self.block_items()?;
            self.close_scope();
            return Ok(StmtKind::Block(items));
        }
        if self.take(";") {
            return Ok(StmtKind::Empty);
        }
        if token.kind == Kind::Name {
            if self.peek_at(1).is(":") && !matches!(&*token.text, "default") {
                self.next();
                self.next();
                self.attributes()?;
                let inner = self.labelled()?;
                return Ok(StmtKind::Label(token.text, inner));
            }
            match &*token.text {
                "if" => {
                    self.next();
                    let condition = self.bracketed()?;
                    let then = Box::new(self.statement()?);
                    let otherwise = match self.take_name("else") {
                        true => Some(Box::new(self.statement()?)),
                        false => None,
                    };
                    return Ok(StmtKind::If(condition, then, otherwise));
                }
                "while" => {
                    self.next();
                    let condition = self.bracketed()?;
                    return Ok(StmtKind::While(condition, Box::new(self.statement()?)));
                }
                "do" => {
                    self.next();
                    let body = Box::new(self.statement()?);
                    if !self.take_name("while") {
                        return Err(self.expected("`while`"));
                    }
                    let condition = self.bracketed()?;
                    self.expect(";")?;
                    return Ok(StmtKind::DoWhile(body, condition));
                }
                "for" => return self.for_loop(),
                "switch" => {
                    self.next();
                    let value = self.bracketed()?;
                    return Ok(StmtKind::Switch(value, Box::new(self.statement()?)));
                }
                "case" => {
                    self.next();
                    let from = self.conditional()?;
                    let to = match self.take("...") {
                        true => Some(self.conditional()?),
                        false => None,
                    };
                    self.expect(":")?;
                    let inner = self.labelled()?;
                    return Ok(StmtKind::Case(from, to, inner));
                }
                "default" => {
                    self.next();
                    self.expect(":")?;
                    let inner = self.labelled()?;
                    return Ok(StmtKind::Default(inner));
                }
                "goto" => {
                    self.next();
                    if self.peek().is("*") {
                        let span = self.peek().span;
                        return self.error(span, "computed `goto` is not supported");
                    }
                    let label = self.name()?;
                    self.expect(";")?;
                    return Ok(StmtKind::Goto(label));
                }
                "break" => {
                    self.next();
                    self.expect(";")?;
                    return Ok(StmtKind::Break);
                }
                "continue" => {
                    self.next();
                    self.expect(";")?;
                    return Ok(StmtKind::Continue);
                }
                "return" => {
                    self.next();
                    if self.take(";") {
                        return Ok(StmtKind::Return(None));
                    }
                    let value = self.expression()?;
                    self.expect(";")?;
                    return Ok(StmtKind::Return(Some(value)));
                }
                "asm" | "__asm__" | "__asm" => return self.assembly(),
                _ => {}
            }
        }
        let expr = self.expression()?;
        self.expect(";")?;
        Ok(StmtKind::Expr(expr))
    }

    /// The statement behind a label; at the end of a block there may be none, and a declaration may follow.
    fn labelled(&mut self) -> Parsing<Box<Stmt>> {
        let span = self.peek().span;
        if self.peek().is("}") {
            let kind = StmtKind::Empty;
            return Ok(Box::new(Stmt {
                kind,
                span,
                in_block: false,
            }));
        }
        Ok(Box::new(self.block_item()?))
    }

    fn for_loop(&mut self) -> Parsing<StmtKind> {
        self.next();
        self.expect("(")?;
        self.open_scope();
        let start = self.peek().span;
        let first = if self.take(";") {
            None
        } else if self.at_declaration() {
            let declarations = self.local_declaration()?;
            Some(StmtKind::Declare(declarations))
        } else {
            let expr = self.expression()?;
            self.expect(";")?;
            Some(StmtKind::Expr(expr))
        };
        let first = first.map(|kind| {
            Box::new(Stmt {
                kind,
                span: self.since(start),
                in_block: false,
            })
        });
        let condition = match self.peek().is(";") {
            true => None,
            false => Some(self.expression()?),
        };
        self.expect(";")?;
        let step = match self.peek().is(")") {
            true => None,
            false => Some(self.expression()?),
        };
        self.expect(")")?;
        let body = Box::new(self.statement()?);
        self.close_scope();
        Ok(StmtKind::For(first, condition, step, body))
    }

    fn assembly(&mut self) -> Parsing<StmtKind> {
        self.next();
        while self.take_name("volatile")
            || self.take_name("__volatile__")
            || self.take_name("inline")
            || self.take_name("goto")
        {}
        self.expect("(")?;
        let mut text = String::new();
        while self.peek().kind == Kind::String {
            let codes = characters(&self.next().text);
            text.extend(codes.iter().map(|c| *c as u8 as char));
        }
        let mut operands = Vec::new();
        for _ in 0..2 {
            if !self.take(":") {
                break;
            }
            while self.peek().kind == Kind::String || self.peek().is("[") {
                if self.take("[") {
                    self.name()?;
                    self.expect("]")?;
                }
                let constraint = characters(&self.next().text);
                let constraint = constraint.iter().map(|c| *c as u8 as char).collect();
                self.expect("(")?;
                operands.push((constraint, self.expression()?));
                self.expect(")")?;
                if !self.take(",") {
                    break;
                }
            }
        }
        // What else it changes, and where it may go.
        let mut depth = 1;
        while depth > 0 {
            let token = self.next();
            if token.kind == Kind::End {
                return Err(self.expected("`)`"));
            }
            depth += i32::from(token.is("("));
            depth -= i32::from(token.is(")"));
        }
        self.expect(";")?;
        Ok(StmtKind::Asm(text, operands))
    }

    pub(crate) fn expression(&mut self) -> Parsing<Expr> {
        let start = self.peek().span;
        let mut left = self.assignment()?;
        let mut length = 0;
        while self.take(",") {
            let right = self.assignment()?;
            length += 1;
            if length > LONGEST {
                return self.error(start, "this expression is too long");
            }
            left = Expr::new(
                ExprKind::Comma(Box::new(left), Box::new(right)),
                self.since(start),
            );
        }
        Ok(left)
    }

    pub(crate) fn assignment(&mut self) -> Parsing<Expr> {
        self.deeper()?;
        let start = self.peek().span;
        let left = self.conditional()?;
        let op = match &*self.peek().text {
            "=" => Some(None),
            "*=" => Some(Some(BinaryOp::Multiply)),
            "/=" => Some(Some(BinaryOp::Divide)),
            "%=" => Some(Some(BinaryOp::Remainder)),
            "+=" => Some(Some(BinaryOp::Add)),
            "-=" => Some(Some(BinaryOp::Subtract)),
            "<<=" => Some(Some(BinaryOp::ShiftLeft)),
            ">>=" => Some(Some(BinaryOp::ShiftRight)),
            "&=" => Some(Some(BinaryOp::BitAnd)),
            "^=" => Some(Some(BinaryOp::BitXor)),
            "|=" => Some(Some(BinaryOp::BitOr)),
            _ => None,
        };
        let result = match op {
            Some(op) if self.peek().kind == Kind::Punct => {
                self.next();
                let right = self.assignment()?;
                Expr::new(
                    ExprKind::Assign(op, Box::new(left), Box::new(right)),
                    self.since(start),
                )
            }
            _ => left,
        };
        self.shallower();
        if result.height > HIGHEST {
            return self.error(start, "this expression is nested too deeply");
        }
        Ok(result)
    }

    pub(crate) fn conditional(&mut self) -> Parsing<Expr> {
        self.deeper()?;
        let start = self.peek().span;
        let condition = self.binary(0)?;
        let result = if self.take("?") {
            let yes = match self.peek().is(":") {
                true => None,
                false => Some(Box::new(self.expression()?)),
            };
            self.expect(":")?;
            let no = Box::new(self.conditional()?);
            Expr::new(
                ExprKind::Conditional(Box::new(condition), yes, no),
                self.since(start),
            )
        } else {
            condition
        };
        self.shallower();
        Ok(result)
    }

    fn binary(&mut self, least: u8) -> Parsing<Expr> {
        let start = self.peek().span;
        let mut left = self.cast()?;
        for _ in 0..LONGEST {
            let op = match &*self.peek().text {
                "*" => BinaryOp::Multiply,
                "/" => BinaryOp::Divide,
                "%" => BinaryOp::Remainder,
                "+" => BinaryOp::Add,
                "-" => BinaryOp::Subtract,
                "<<" => BinaryOp::ShiftLeft,
                ">>" => BinaryOp::ShiftRight,
                "<" => BinaryOp::Less,
                "<=" => BinaryOp::LessEqual,
                ">" => BinaryOp::Greater,
                ">=" => BinaryOp::GreaterEqual,
                "==" => BinaryOp::Equal,
                "!=" => BinaryOp::NotEqual,
                "&" => BinaryOp::BitAnd,
                "^" => BinaryOp::BitXor,
                "|" => BinaryOp::BitOr,
                "&&" => BinaryOp::And,
                "||" => BinaryOp::Or,
                _ => return Ok(left),
            };
            if self.peek().kind != Kind::Punct || op.precedence() <= least {
                return Ok(left);
            }
            self.next();
            let right = self.binary(op.precedence())?;
            left = Expr::new(
                ExprKind::Binary(op, Box::new(left), Box::new(right)),
                self.since(start),
            );
        }
        self.error(start, "this expression is too long")
    }

    fn cast(&mut self) -> Parsing<Expr> {
        self.deeper()?;
        let start = self.peek().span;
        let result = if self.peek().is("(") && self.at_type(1) {
            self.next();
            let ty = self.type_name()?;
            self.expect(")")?;
            if self.peek().is("{") {
                let init = Rc::new(self.initializer()?);
                let literal = Expr::new(ExprKind::Compound(ty, init), self.since(start));
                self.postfix(literal, start)?
            } else {
                let inner = self.cast()?;
                Expr::new(ExprKind::Cast(ty, Box::new(inner)), self.since(start))
            }
        } else {
            self.unary()?
        };
        self.shallower();
        Ok(result)
    }

    fn unary(&mut self) -> Parsing<Expr> {
        let token = self.peek().clone();
        let start = token.span;
        let op = match (&*token.text, token.kind) {
            (text, Kind::Punct) => match text {
                "+" => Some(Unary::Plus),
                "-" => Some(Unary::Minus),
                "!" => Some(Unary::Not),
                "~" => Some(Unary::Complement),
                "*" => Some(Unary::Dereference),
                "&" => Some(Unary::AddressOf),
                "&&" => return self.error(start, "addresses of labels are not supported"),
                _ => None,
            },
            _ => None,
        };
        if let Some(op) = op {
            self.next();
            let operand = Box::new(self.cast()?);
            return Ok(Expr::new(ExprKind::Unary(op, operand), self.since(start)));
        }
        for (text, by) in [("++", 1), ("--", -1)] {
            if self.take(text) {
                let place = Box::new(self.unary_deeper()?);
                let before = true;
                return Ok(Expr::new(
                    ExprKind::Step { before, by, place },
                    self.since(start),
                ));
            }
        }
        if self.take_name("__extension__") {
            return self.cast();
        }
        let is_alignment = ["_Alignof", "__alignof__", "__alignof"]
            .iter()
            .any(|word| token.is_name(word));
        if token.is_name("sizeof") || is_alignment {
            self.next();
            let kind = if self.peek().is("(") && self.at_type(1) {
                self.next();
                let ty = self.type_name()?;
                self.expect(")")?;
                match is_alignment {
                    true => ExprKind::AlignOf(ty),
                    false => ExprKind::SizeOfType(ty),
                }
            } else {
                let inner = Box::new(self.unary_deeper()?);
                match is_alignment {
                    true => {
                        let ty = Type::new(TypeKind::TypeOf(Some(inner.into())));
                        ExprKind::AlignOf(ty)
                    }
                    false => ExprKind::SizeOf(inner),
                }
            };
            return Ok(Expr::new(kind, self.since(start)));
        }
        let primary = self.primary()?;
        self.postfix(primary, start)
    }

    fn unary_deeper(&mut self) -> Parsing<Expr> {
        self.deeper()?;
        let result = self.unary()?;
        self.shallower();
        Ok(result)
    }

    fn postfix(&mut self, mut expr: Expr, start: Span) -> Parsing<Expr> {
        for _ in 0..LONGEST {
            let kind = if self.take("(") {
                let mut arguments = Vec::new();
                if !self.take(")") {
                    loop {
                        arguments.push(self.assignment()?);
                        if self.take(")") {
                            break;
                        }
                        self.expect(",")?;
                    }
                }
                ExprKind::Call(Box::new(expr), arguments)
            } else if self.take("[") {
                let index = self.expression()?;
                self.expect("]")?;
                ExprKind::Index(Box::new(expr), Box::new(index))
            } else if self.take(".") {
                ExprKind::Member(Box::new(expr), self.name()?)
            } else if self.take("->") {
                ExprKind::Arrow(Box::new(expr), self.name()?)
            } else if self.peek().is("++") || self.peek().is("--") {
                let by = if self.next().is("++") { 1 } else { -1 };
                ExprKind::Step {
                    before: false,
                    by,
                    place: Box::new(expr),
                }
            } else {
                return Ok(expr);
            };
            expr = Expr::new(kind, self.since(start));
        }
        self.error(start, "this expression is too long")
    }

    fn primary(&mut self) -> Parsing<Expr> {
        let token = self.peek().clone();
        let start = token.span;
        let kind = match token.kind {
            Kind::Number => {
                self.next();
                match condition::number(&token.text) {
                    Some(number) => {
                        let fits = i32::try_from(number.value).is_ok();
                        let fits_unsigned = u32::try_from(number.value).is_ok();
                        let int = |bits, signed| Type::int(bits, signed);
                        let ty = match (number.long, number.unsigned) {
                            (true, unsigned) => int(64, !unsigned && number.value >= 0),
                            (false, true) => int(if fits_unsigned { 32 } else { 64 }, false),
                            (false, false) if fits => int(32, true),
                            (false, false) if fits_unsigned && !number.decimal => int(32, false),
                            (false, false) => int(64, number.value >= 0),
                        };
                        ExprKind::Int(number.value, ty)
                    }
                    None if token.text.contains(['.', 'e', 'E', 'p', 'f']) => ExprKind::Float,
                    None => {
                        let message = format!("`{}` is no number", token.text);
                        return self.error(start, message);
                    }
                }
            }
            Kind::Char => {
                self.next();
                match characters(&token.text)[..] {
                    [value] => ExprKind::Int(value, Type::int(32, true)),
                    _ => {
                        let message = "a constant of more than one character is not supported";
                        return self.error(start, message);
                    }
                }
            }
            Kind::String => {
                let mut text = Vec::new();
                while self.peek().kind == Kind::String {
                    if self.peek().text.starts_with(['L', 'U'])
                        || self.peek().text.starts_with("u\"")
                    {
                        return self.error(start, "wide strings are not supported");
                    }
                    text.extend(characters(&self.next().text));
                }
                ExprKind::String(text)
            }
            Kind::Name => match &*token.text {
                "_Generic" => self.generic()?,
                "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__" => {
                    self.next();
                    let name = self.function.as_deref().unwrap_or("");
                    ExprKind::String(name.bytes().map(|byte| i64::from(byte as i8)).collect())
                }
                "__builtin_offsetof" => {
                    self.next();
                    self.expect("(")?;
                    let ty = self.type_name()?;
                    self.expect(",")?;
                    let mut path = vec![self.name()?];
                    while self.take(".") {
                        path.push(self.name()?);
                    }
                    self.expect(")")?;
                    ExprKind::OffsetOf(ty, path)
                }
                "__builtin_types_compatible_p" => {
                    self.next();
                    self.expect("(")?;
                    let left = self.type_name()?;
                    self.expect(",")?;
                    let right = self.type_name()?;
                    self.expect(")")?;
                    ExprKind::SameTypes(left, right)
                }
                "__builtin_va_arg" => {
                    // It is refused where the function is called.
                    self.next();
                    self.expect("(")?;
                    self.assignment()?;
                    self.expect(",")?;
                    self.type_name()?;
                    self.expect(")")?;
                    ExprKind::NextArgument
                }
                name => match self.known(name) {
                    Some(Known::Constant(value)) => {
                        let value = *value;
                        self.next();
                        // As GNU C has it, for those that are no `int`.
                        let ty = match value {
                            -0x8000_0000..=0x7fff_ffff => Type::int(32, true),
                            0x8000_0000..=0xffff_ffff => Type::int(32, false),
                            _ => Type::int(64, true),
                        };
                        ExprKind::Int(value, ty)
                    }
                    Some(Known::Type(_)) => return Err(self.expected("an expression")),
                    _ => {
                        self.next();
                        ExprKind::Name(token.text.clone())
                    }
                },
            },
            Kind::Punct if token.is("(") => {
                self.next();
                if self.take("{") {
                    self.open_scope();
                    let items = self.block_items()?;
                    self.close_scope();
                    self.expect(")")?;
                    ExprKind::Statements(Rc::new(items))
                } else {
                    let inner = self.expression()?;
                    self.expect(")")?;
                    return Ok(Expr::new(inner.kind, self.since(start)));
                }
            }
            _ => return Err(self.expected("an expression")),
        };
        Ok(Expr::new(kind, self.since(start)))
    }

    fn generic(&mut self) -> Parsing<ExprKind> {
        self.next();
        self.expect("(")?;
        let value = Box::new(self.assignment()?);
        let mut choices = Vec::new();
        while self.take(",") {
            let ty = match self.take_name("default") {
                true => None,
                false => Some(self.type_name()?),
            };
            self.expect(":")?;
            choices.push((ty, self.assignment()?));
        }
        self.expect(")")?;
        Ok(ExprKind::Generic(value, choices))
    }
}
