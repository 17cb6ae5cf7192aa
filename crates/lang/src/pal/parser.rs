//! From tokens to the tree: items and statements. Expressions are in [`super::parse_expr`].

mod statements;

use rustc_hash::FxHashSet as HashSet;

use crate::expr::BinaryOp;
use crate::program::Order;
use crate::source::{Diagnostic, Span};

use super::ast::*;
use super::diagnostics::Diagnostics;
use super::lexer::{Tok, Token};

/// Blocks nested deeper than this are refused.
const MAX_BLOCK_DEPTH: usize = 200;

/// Something is wrong, and it has been said.
pub(super) struct Reported;

pub(super) type Parse<T> = Result<T, Reported>;

/// Reads items until the end of the tokens. What is wrong goes to `diagnostics`; the tree holds all the rest.
pub(super) fn parse<'a>(
    text: &'a str,
    tokens: Vec<Token>,
    why_missing: &dyn Fn(&str, Span) -> String,
    diagnostics: &mut Diagnostics,
) -> Ast<'a> {
    let mut parser = Parser::new(text, tokens, why_missing, diagnostics);
    parser.program();
    parser.known_constants();
    parser.ast
}

pub(super) struct Parser<'a, 'd> {
    pub text: &'a str,
    /// Why a file that is included here is not there.
    why_missing: &'d dyn Fn(&str, Span) -> String,
    tokens: Vec<Token>,
    at: usize,
    pub ast: Ast<'a>,
    pub diagnostics: &'d mut Diagnostics,
    /// How deep the expression being read is nested.
    pub depth: usize,
    block_depth: usize,
    /// `=` ends the expression being read (the left side of an assignment).
    pub assign_ends: bool,
    /// Functions of the user's that are called like a built-in one: `fetch_…`, `index`.
    pub own_fetch: HashSet<&'a str>,
    /// The token at which a missing `}` was reported last.
    unclosed_at: Option<usize>,
}

impl<'a, 'd> Parser<'a, 'd> {
    fn new(
        text: &'a str,
        tokens: Vec<Token>,
        why_missing: &'d dyn Fn(&str, Span) -> String,
        diagnostics: &'d mut Diagnostics,
    ) -> Self {
        let own_fetch = tokens
            .windows(2)
            .filter(|two| two[0].kind == Tok::Fn && two[1].kind == Tok::Name)
            .map(|two| slice(text, two[1].span))
            .filter(|name| name.starts_with("fetch_") || *name == "index")
            .collect();
        Parser {
            text,
            why_missing,
            tokens,
            at: 0,
            ast: Ast::default(),
            diagnostics,
            depth: 0,
            block_depth: 0,
            assign_ends: false,
            own_fetch,
            unclosed_at: None,
        }
    }

    // ---- tokens ----

    pub fn kind(&self) -> Tok {
        self.tokens[self.at].kind
    }

    pub fn kind_after(&self, ahead: usize) -> Tok {
        self.tokens
            .get(self.at + ahead)
            .map_or(Tok::End, |t| t.kind)
    }

    pub fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    pub fn span_after(&self, ahead: usize) -> Span {
        let last = self.tokens.len() - 1;
        self.tokens[(self.at + ahead).min(last)].span
    }

    /// The token before the current one.
    pub fn last_span(&self) -> Span {
        match self.at {
            0 => Span::default(),
            at => self.tokens[at - 1].span,
        }
    }

    pub fn last_kind(&self) -> Tok {
        match self.at {
            0 => Tok::End,
            at => self.tokens[at - 1].kind,
        }
    }

    pub fn token_text(&self) -> &'a str {
        slice(self.text, self.span())
    }

    pub fn bump(&mut self) {
        if self.kind() != Tok::End {
            self.at += 1;
        }
    }

    pub fn eat(&mut self, kind: Tok) -> bool {
        let found = self.kind() == kind;
        if found {
            self.bump();
        }
        found
    }

    pub fn is_word(&self, text: &str) -> bool {
        self.kind() == Tok::Name && self.token_text() == text
    }

    pub fn error<T>(&mut self, diagnostic: Diagnostic) -> Parse<T> {
        // Something strange stands here and was reported: that is why.
        if self.kind() != Tok::Strange {
            self.diagnostics.push(diagnostic);
        }
        Err(Reported)
    }

    /// The current token, as an error message calls it.
    pub fn found(&self) -> String {
        match self.kind() {
            Tok::End => "the end of the file".to_string(),
            Tok::Name => format!("`{}`", shorten(self.token_text())),
            Tok::Int | Tok::Text | Tok::Strange => format!("`{}`", shorten(self.token_text())),
            kind if kind.is_word() => format!("the keyword `{}`", self.token_text()),
            kind => format!("`{}`", kind.text().unwrap_or("")),
        }
    }

    pub fn unexpected(&self, expected: &str) -> Diagnostic {
        Diagnostic::error(
            self.span(),
            format!("expected {expected}, found {}", self.found()),
        )
        .label(format!("expected {expected}"))
    }

    pub fn expect(&mut self, kind: Tok) -> Parse<Span> {
        let span = self.span();
        if self.eat(kind) {
            return Ok(span);
        }
        let expected = format!("`{}`", kind.text().unwrap_or(""));
        let diagnostic = self.unexpected(&expected);
        self.error(diagnostic)
    }

    pub fn name(&mut self, what: &str) -> Parse<Name<'a>> {
        let span = self.span();
        if self.kind() == Tok::Name {
            let text = self.token_text();
            self.bump();
            return Ok(Name { text, span });
        }
        let diagnostic = self.unexpected(what);
        if self.kind().is_word() {
            // What follows is read as if it were a name.
            let text = self.token_text();
            self.diagnostics
                .push(diagnostic.help(format!("`{text}` is a keyword and cannot be a name")));
            self.bump();
            return Ok(Name { text, span });
        }
        self.error(diagnostic)
    }

    pub fn order(&mut self) -> Parse<Order> {
        let orders = [
            Order::Relaxed,
            Order::Acquire,
            Order::Release,
            Order::AcqRel,
            Order::SeqCst,
        ];
        if self.kind() == Tok::Name
            && let Some(order) = orders.into_iter().find(|o| o.name() == self.token_text())
        {
            self.bump();
            return Ok(order);
        }
        if self.kind() == Tok::Nonatomic {
            let diagnostic =
                Diagnostic::error(self.span(), "only a load or a store can be `nonatomic`")
                    .label("expected an order");
            // It begins no item here.
            self.diagnostics.push(diagnostic);
            self.bump();
            return Err(Reported);
        }
        let mut diagnostic = self.unexpected("an order");
        let suggested = (self.diagnostics).suggest(self.token_text(), orders.map(Order::name));
        let known = elsewhere(self.token_text())
            .map(|order| format!("it is called `{}` here", order.name()));
        diagnostic.help = Some(match known.or(suggested) {
            Some(help) => help,
            None => "the orders are `relaxed`, `acquire`, `release`, `acqrel` and `seqcst`".into(),
        });
        self.error(diagnostic)
    }

    /// An order, or `nonatomic`: a plain load or store, whatever its location is.
    pub fn access_order(&mut self) -> Parse<Order> {
        match self.eat(Tok::Nonatomic) {
            true => Ok(Order::NonAtomic),
            false => self.order(),
        }
    }

    /// The `;` at the end of a statement or item. Where it is missing and something new begins, reading goes on there.
    fn semicolon(&mut self, after: &str) -> Parse<()> {
        if self.eat(Tok::Semicolon) {
            return Ok(());
        }
        let last = self.last_span();
        let here = Span::new(last.end as usize, last.end as usize);
        // (Where another file begins or ends, the next token can stand before the last one.)
        let between = self.text.get(last.end as usize..self.span().start as usize);
        let new_line = between.is_none_or(|text| text.contains('\n'));
        let goes_on = new_line && self.kind() != Tok::Strange
            || matches!(self.kind(), Tok::CloseBrace | Tok::End)
            || self.at_item()
            || self.at_statement_word();
        if goes_on {
            self.diagnostics.push(
                Diagnostic::error(here, format!("expected `;` after {after}"))
                    .label("expected `;`")
                    .help("add `;` here"),
            );
            return Ok(());
        }
        let diagnostic = self.unexpected("`;`");
        self.error(diagnostic)
    }

    fn at_item(&self) -> bool {
        match self.kind() {
            Tok::Const | Tok::Nonatomic | Tok::Shared | Tok::Fn | Tok::Thread | Tok::Never => true,
            Tok::Name if self.is_word("struct") => {
                self.kind_after(1) == Tok::Name && self.kind_after(2) == Tok::OpenBrace
            }
            Tok::Name if self.is_word("enum") => {
                let named = (self.kind_after(1) == Tok::Name) as usize;
                self.kind_after(1 + named) == Tok::OpenBrace
            }
            Tok::Name if self.is_word("include") => self.kind_after(1) == Tok::Text,
            _ => false,
        }
    }

    /// At a word that can only begin a statement.
    fn at_statement_word(&self) -> bool {
        matches!(
            self.kind(),
            Tok::Let
                | Tok::Fence
                | Tok::Skip
                | Tok::Assume
                | Tok::Assert
                | Tok::If
                | Tok::While
                | Tok::Loop
                | Tok::Break
                | Tok::Continue
                | Tok::Choose
                | Tok::Atomic
                | Tok::Goto
                | Tok::Return
        )
    }

    // ---- items ----

    fn program(&mut self) {
        if self.is_word("program") && self.kind_after(1) == Tok::Name {
            self.bump();
            self.ast.name = self.name("the program's name").ok();
            let _ = self.semicolon("the program's name");
        }
        while self.kind() != Tok::End {
            let start = self.at;
            let kind = self.kind();
            if self.item().is_err() {
                match kind {
                    Tok::Thread => self.ast.incomplete_threads = true,
                    Tok::Never | Tok::CloseBrace => {}
                    _ => self.ast.incomplete = true,
                }
                self.skip_to_item(start);
            }
        }
    }

    fn item(&mut self) -> Parse<()> {
        match self.kind() {
            Tok::Const => {
                self.bump();
                let name = self.name("the constant's name")?;
                self.expect(Tok::Assign)?;
                let value = self.expr()?;
                self.ast.consts.push(Const { name, value });
                self.semicolon("the constant")
            }
            Tok::Nonatomic => {
                self.bump();
                self.expect(Tok::Shared)?;
                self.shared(true)
            }
            Tok::Shared => {
                self.bump();
                self.shared(false)
            }
            Tok::Fn => self.function(),
            Tok::Thread => self.thread(),
            Tok::Never => {
                let start = self.span();
                self.bump();
                let condition = self.expr()?;
                let span = start.to(self.last_span());
                self.ast.nevers.push((condition, span));
                self.semicolon("the condition")
            }
            Tok::Name if self.is_word("domain") => {
                let start = self.span();
                self.bump();
                let size = self.expr()?;
                let span = start.to(self.last_span());
                self.ast.domains.push((size, span));
                self.semicolon("the domain")
            }
            Tok::Name if self.is_word("struct") => self.structure(),
            Tok::Name if self.is_word("enum") => self.enumeration(),
            Tok::Name if self.is_word("include") => self.include(),
            _ => {
                let mut diagnostic = self.unexpected(
                    "`const`, `domain`, `struct`, `enum`, `include`, `shared`, `nonatomic`, `fn`, `thread` or `never`",
                );
                diagnostic.help = match self.kind() {
                    Tok::Name if self.is_word("program") => {
                        Some("`program NAME;` stands at the beginning of the file".into())
                    }
                    Tok::Name => self.diagnostics.suggest(
                        self.token_text(),
                        [
                            "const",
                            "domain",
                            "struct",
                            "enum",
                            "include",
                            "shared",
                            "nonatomic",
                            "fn",
                            "thread",
                            "never",
                        ],
                    ),
                    Tok::CloseBrace => Some("there is one `}` too many".into()),
                    _ if self.at_statement_word() => {
                        Some("statements stand in a `thread` or `fn`".into())
                    }
                    _ => None,
                };
                self.error(diagnostic)
            }
        }
    }

    fn skip_to_item(&mut self, start: usize) {
        if self.at == start {
            self.bump();
        }
        while self.kind() != Tok::End && !self.at_item() {
            self.bump();
        }
    }

    fn shared(&mut self, nonatomic: bool) -> Parse<()> {
        loop {
            let mut name = self.name("the name of a location")?;
            let mut of = None;
            if self.kind() == Tok::Name {
                of = Some(name);
                name = self.name("the name of a location")?;
            }
            let mut decl = Decl {
                nonatomic,
                of,
                name,
                sizes: Vec::new(),
                pointee: None,
                initial: Initial::Zero,
            };
            let result = self.decl(&mut decl);
            self.ast.shared.push(decl);
            result?;
            if !self.eat(Tok::Comma) {
                return self.semicolon("the declaration");
            }
        }
    }

    fn decl(&mut self, decl: &mut Decl<'a>) -> Parse<()> {
        while self.eat(Tok::OpenBracket) {
            if self.kind() == Tok::CloseBracket {
                let diagnostic = self.unexpected("the number of elements");
                return self.error(diagnostic);
            }
            decl.sizes.push(self.expr()?);
            self.expect(Tok::CloseBracket)?;
        }
        decl.pointee = self.pointee()?;
        if self.eat(Tok::Assign) {
            let start = self.span();
            decl.initial = if self.eat(Tok::OpenBracket) {
                let values = self.list(Tok::CloseBracket)?;
                Initial::List(values, start.to(self.last_span()))
            } else {
                Initial::One(self.expr()?)
            };
        }
        Ok(())
    }

    /// `: *STRUCT`, if it stands here.
    fn pointee(&mut self) -> Parse<Option<Name<'a>>> {
        if !self.eat(Tok::Colon) {
            return Ok(None);
        }
        self.expect(Tok::Star)?;
        self.name("the name of a struct").map(Some)
    }

    fn structure(&mut self) -> Parse<()> {
        self.bump();
        let name = self.name("the struct's name")?;
        self.expect(Tok::OpenBrace)?;
        let mut fields = Vec::new();
        while !self.eat(Tok::CloseBrace) {
            let nonatomic = self.eat(Tok::Nonatomic);
            let mut field = Decl {
                nonatomic,
                of: None,
                name: self.name("a field's name")?,
                sizes: Vec::new(),
                pointee: None,
                initial: Initial::Zero,
            };
            self.decl(&mut field)?;
            fields.push(field);
            if !self.eat(Tok::Comma) && self.kind() != Tok::CloseBrace {
                let diagnostic = self.unexpected("`,` or `}`");
                return self.error(diagnostic);
            }
        }
        // As in C, where a `;` follows.
        self.eat(Tok::Semicolon);
        self.ast.structs.push(Struct { name, fields });
        Ok(())
    }

    fn enumeration(&mut self) -> Parse<()> {
        self.bump();
        if self.kind() == Tok::Name {
            // A name as in C; it means nothing here.
            self.bump();
        }
        self.expect(Tok::OpenBrace)?;
        let mut number = 0;
        while !self.eat(Tok::CloseBrace) {
            let name = self.name("a constant's name")?;
            let value = self.constant(number, name.span);
            self.ast.consts.push(Const { name, value });
            number += 1;
            if !self.eat(Tok::Comma) && self.kind() != Tok::CloseBrace {
                let diagnostic = self.unexpected("`,` or `}`");
                return self.error(diagnostic);
            }
        }
        self.eat(Tok::Semicolon);
        Ok(())
    }

    fn constant(&mut self, value: i64, span: Span) -> ExprId {
        self.ast.add(Expr {
            kind: ExprKind::Int(value),
            span,
            height: 1,
        })
    }

    /// `true`, `false` and `null`, unless the program gives these names to something else.
    fn known_constants(&mut self) {
        for (text, number) in [("true", 1), ("false", 0), ("null", 0)] {
            let consts = self.ast.consts.iter().map(|c| c.name.text);
            let shared = self.ast.shared.iter().map(|s| s.name.text);
            if consts.chain(shared).any(|name| name == text) {
                continue;
            }
            let span = Span::default();
            let value = self.constant(number, span);
            let name = Name { text, span };
            self.ast.consts.push(Const { name, value });
        }
    }

    /// An `include` whose file is here was replaced by it, so this one is not.
    fn include(&mut self) -> Parse<()> {
        self.bump();
        let span = self.span();
        if self.kind() != Tok::Text {
            let diagnostic = self
                .unexpected("the name of a file")
                .help("write it as `include \"locks.pal\";`");
            return self.error(diagnostic);
        }
        let name = self.token_text().trim_matches('"');
        let reason = (self.why_missing)(name, span);
        self.diagnostics.push(
            Diagnostic::error(
                span,
                format!("`{}` cannot be included: {reason}", shorten(name)),
            )
            .label("expected a file that can be read"),
        );
        self.bump();
        // What is missing may have been declared there.
        self.ast.incomplete = true;
        self.ast.incomplete_threads = true;
        self.semicolon("the file's name")
    }

    fn function(&mut self) -> Parse<()> {
        self.bump();
        let name = self.name("the function's name")?;
        self.expect(Tok::OpenParen)?;
        let mut parameters = Vec::new();
        if !self.eat(Tok::CloseParen) {
            loop {
                let name = self.name("a parameter's name")?;
                let pointee = self.pointee()?;
                parameters.push(Parameter { name, pointee });
                if !self.eat(Tok::Comma) {
                    break;
                }
            }
            if self.kind() != Tok::CloseParen {
                let diagnostic = self.unexpected("`,` or `)`");
                return self.error(diagnostic);
            }
            self.bump();
        }
        let body = self.block()?;
        self.ast.fns.push(Function {
            name,
            parameters,
            body,
        });
        Ok(())
    }

    fn thread(&mut self) -> Parse<()> {
        self.bump();
        let name = self.name("the thread's name")?;
        let mut copies = CopiesItem::One;
        if self.eat(Tok::OpenBracket) {
            copies = if self.kind() == Tok::Star && self.kind_after(1) == Tok::CloseBracket {
                self.bump();
                CopiesItem::Any
            } else if self.kind() == Tok::CloseBracket {
                let diagnostic = self.unexpected("the number of copies, or `*` for any number");
                return self.error(diagnostic);
            } else {
                CopiesItem::Number(self.expr()?)
            };
            self.expect(Tok::CloseBracket)?;
        }
        let body = self.block()?;
        self.ast.threads.push(ThreadItem { name, copies, body });
        Ok(())
    }
}

/// The text of a span; the tokens' spans always lie on character boundaries.
fn slice(text: &str, span: Span) -> &str {
    text.get(span.start as usize..span.end as usize)
        .unwrap_or("")
}

/// A word of the user's for a message: very long ones are cut.
pub(super) fn shorten(word: &str) -> String {
    match word.char_indices().nth(40) {
        None => word.to_string(),
        Some((end, _)) => format!("{}…", &word[..end]),
    }
}

/// The order that has this name in C, C++, Rust or herd's tests.
fn elsewhere(name: &str) -> Option<Order> {
    let name = name.strip_prefix("memory_order_").unwrap_or(name);
    Some(match name {
        "Relaxed" | "relaxed" | "rlx" => Order::Relaxed,
        "Acquire" | "acquire" | "acq" | "consume" => Order::Acquire,
        "Release" | "release" | "rel" => Order::Release,
        "AcqRel" | "acq_rel" => Order::AcqRel,
        "SeqCst" | "seq_cst" | "sc" => Order::SeqCst,
        _ => return None,
    })
}
