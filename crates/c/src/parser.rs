//! Declarations and statements.

use crate::ast::*;
use crate::lex::{Kind, Token};
use crate::value::{promoted, usual};
use palisade_lang::{Diagnostic, Span};
use palisade_lower::Width;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Expressions, types and statements nested deeper are refused.
const DEEPEST: usize = 200;

/// What a name of the program is, where that matters for reading on.
#[derive(Clone, Debug)]
pub(crate) enum Known {
    Type(Type),
    Constant(i64),
    Object,
}

/// A parser stops at the first mistake: what follows it in C is rarely readable.
pub(crate) type Parsing<T> = Result<T, Box<Diagnostic>>;

pub(crate) struct Parser {
    tokens: Vec<Token>,
    at: usize,
    pub(crate) ast: Ast,
    scopes: Vec<HashMap<Rc<str>, Known>>,
    tags: Vec<HashMap<Rc<str>, RecordId>>,
    depth: usize,
    /// The name of the function that is being read.
    pub(crate) function: Option<Rc<str>>,
    /// What headers have defined that are read before the text: the text may define it again, as the machine's headers do, and that does not count.
    fixed: Fixed,
}

/// Names of types, and tags.
#[derive(Default)]
struct Fixed {
    types: HashSet<Rc<str>>,
    tags: HashSet<Rc<str>>,
}

/// Whether an attribute says what a program does, and not only how it is compiled.
fn has_meaning(attribute: &str) -> bool {
    let plain = attribute.trim_matches('_');
    matches!(
        plain,
        "cleanup" | "alias" | "ifunc" | "weakref" | "constructor" | "destructor" | "vector_size"
    )
}

/// Whether something is set or called in the length of an array.
fn has_effects(length: &Expr) -> bool {
    match &length.kind {
        ExprKind::Step { .. } | ExprKind::Assign(..) | ExprKind::Call(..) => true,
        ExprKind::Unary(_, inner) | ExprKind::Cast(_, inner) => has_effects(inner),
        ExprKind::Binary(_, left, right) | ExprKind::Comma(left, right) => {
            has_effects(left) || has_effects(right)
        }
        _ => false,
    }
}

/// Arrays and functions are passed as pointers.
fn passed(ty: Type) -> Type {
    match &*ty.kind {
        TypeKind::Array(element, _) => Type::pointer(element.clone()),
        TypeKind::Function(_) => Type::pointer(ty),
        _ => ty,
    }
}

/// `static`, `typedef` and their like.
#[derive(Clone, Debug, Default)]
pub(crate) struct Storage {
    typedef: bool,
    is_static: bool,
    is_extern: bool,
    thread_local: bool,
}

/// Reads a program.
///
/// So many of the tokens at the beginning are of headers that the text does not include.
pub fn parse(tokens: Vec<Token>, of_headers: usize) -> Result<Ast, Diagnostic> {
    let mut parser = Parser {
        tokens,
        at: 0,
        ast: Ast::default(),
        scopes: vec![HashMap::new()],
        tags: vec![HashMap::new()],
        depth: 0,
        function: None,
        fixed: Fixed::default(),
    };
    while parser.at < of_headers {
        parser.external().map_err(|error| *error)?;
    }
    parser.fix();
    while parser.peek().kind != Kind::End {
        parser.external().map_err(|error| *error)?;
    }
    Ok(parser.ast)
}

impl Parser {
    pub(crate) fn peek(&self) -> &Token {
        &self.tokens[self.at]
    }

    pub(crate) fn peek_at(&self, ahead: usize) -> &Token {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.at + ahead).min(last)]
    }

    pub(crate) fn next(&mut self) -> Token {
        let token = self.tokens[self.at].clone();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    pub(crate) fn take(&mut self, punct: &str) -> bool {
        let found = self.peek().is(punct);
        if found {
            self.next();
        }
        found
    }

    pub(crate) fn take_name(&mut self, name: &str) -> bool {
        let found = self.peek().is_name(name);
        if found {
            self.next();
        }
        found
    }

    pub(crate) fn expect(&mut self, punct: &str) -> Parsing<Token> {
        if self.peek().is(punct) {
            return Ok(self.next());
        }
        Err(self.expected(&format!("`{punct}`")))
    }

    pub(crate) fn expected(&self, what: &str) -> Box<Diagnostic> {
        let token = self.peek();
        let found = match token.kind {
            Kind::End => "the end of the file".to_string(),
            _ => format!("`{}`", token.text),
        };
        let message = format!("expected {what}, found {found}");
        Box::new(Diagnostic::error(token.span, message))
    }

    pub(crate) fn error<T>(&self, span: Span, message: impl Into<String>) -> Parsing<T> {
        Err(Box::new(Diagnostic::error(span, message)))
    }

    /// The place of what began with the token at `from` and has just been read.
    pub(crate) fn since(&self, from: Span) -> Span {
        let last = self.tokens[self.at.saturating_sub(1)].span;
        // Both ends may come from different files, or from a macro.
        match last.end >= from.start && last.end - from.start < 1 << 16 {
            true => from.to(last),
            false => from,
        }
    }

    pub(crate) fn deeper(&mut self) -> Parsing<()> {
        self.depth += 1;
        match self.depth > DEEPEST {
            true => self.error(self.peek().span, "this is nested too deeply"),
            false => Ok(()),
        }
    }

    pub(crate) fn shallower(&mut self) {
        self.depth -= 1;
    }

    pub(crate) fn known(&self, name: &str) -> Option<&Known> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    /// All that is defined so far stays as it is.
    fn fix(&mut self) {
        let types = self.scopes.iter().flatten();
        let types = types.filter(|(_, known)| matches!(known, Known::Type(_)));
        self.fixed.types = types.map(|(name, _)| name.clone()).collect();
        self.fixed.tags = self
            .tags
            .iter()
            .flatten()
            .map(|(tag, _)| tag.clone())
            .collect();
        self.ast.of_headers = self.ast.records.len() as u32;
    }

    fn declare(&mut self, name: Rc<str>, known: Known) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, known);
        }
    }

    pub(crate) fn open_scope(&mut self) {
        self.scopes.push(HashMap::new());
        self.tags.push(HashMap::new());
    }

    pub(crate) fn close_scope(&mut self) {
        self.scopes.pop();
        self.tags.pop();
    }

    fn external(&mut self) -> Parsing<()> {
        if self.take(";") {
            return Ok(());
        }
        if self.peek().is_name("asm") || self.peek().is_name("__asm__") {
            return self.error(
                self.peek().span,
                "assembly outside functions is not supported",
            );
        }
        if self.take_name("_Static_assert") || self.take_name("static_assert") {
            return self.skip_brackets_and_semicolon();
        }
        if self.take_name("__extension__") {
            return self.external();
        }
        let (base, storage) = self.specifiers()?;
        if self.take(";") {
            return Ok(());
        }
        let mut first = true;
        loop {
            let (ty, name, span) = self.declarator(base.clone())?;
            let Some(name) = name else {
                return Err(self.expected("a name"));
            };
            self.attributes()?;
            if first
                && let TypeKind::Function(function) = &*ty.kind
                && (self.peek().is("{") || self.at_declaration())
            {
                self.declare(name.clone(), Known::Object);
                let mut function = function.clone();
                if !self.peek().is("{") {
                    function = self.old_parameters(&function)?;
                }
                return self.definition(name, function, span);
            }
            first = false;
            let declaration = self.declaration(name, ty, &storage, span)?;
            if let Some(declaration) = declaration {
                self.ast.declarations.push(declaration);
            }
            if self.take(";") {
                return Ok(());
            }
            self.expect(",")?;
        }
    }

    /// The types of parameters behind the brackets, as C had them before there were prototypes.
    fn old_parameters(&mut self, function: &FunctionType) -> Parsing<Rc<FunctionType>> {
        let mut function = function.clone();
        self.open_scope();
        while !self.peek().is("{") {
            for declaration in self.local_declaration()? {
                let named =
                    |parameter: &&mut Parameter| parameter.name.as_ref() == Some(&declaration.name);
                let Some(parameter) = function.parameters.iter_mut().find(named) else {
                    let message = format!("`{}` is no parameter", declaration.name);
                    return self.error(declaration.span, message);
                };
                parameter.ty = passed(declaration.ty);
            }
            if self.peek().kind == Kind::End {
                return Err(self.expected("`{`"));
            }
        }
        self.close_scope();
        Ok(Rc::new(function))
    }

    /// Whether a function begins here whose type is not written: it is `int` then.
    fn at_old_function(&self) -> bool {
        if self.scopes.len() > 1 || self.peek().kind != Kind::Name || !self.peek_at(1).is("(") {
            return false;
        }
        let (mut depth, mut ahead) = (1, 2);
        while depth > 0 && self.peek_at(ahead).kind != Kind::End {
            depth += i32::from(self.peek_at(ahead).is("("));
            depth -= i32::from(self.peek_at(ahead).is(")"));
            ahead += 1;
        }
        self.peek_at(ahead).is("{") || self.at_type(ahead)
    }

    fn skip_brackets_and_semicolon(&mut self) -> Parsing<()> {
        self.expect("(")?;
        let mut depth = 1;
        while depth > 0 {
            let token = self.next();
            if token.kind == Kind::End {
                return Err(self.expected("`)`"));
            }
            depth += i32::from(token.is("("));
            depth -= i32::from(token.is(")"));
        }
        self.take(";");
        Ok(())
    }

    fn definition(&mut self, name: Rc<str>, ty: Rc<FunctionType>, span: Span) -> Parsing<()> {
        self.open_scope();
        for parameter in &ty.parameters {
            if let Some(name) = &parameter.name {
                self.declare(name.clone(), Known::Object);
            }
        }
        self.expect("{")?;
        self.function = Some(name.clone());
        let body = self.block_items()?;
        self.function = None;
        self.close_scope();
        self.ast.definitions.push(Definition {
            name,
            ty,
            body,
            span,
        });
        Ok(())
    }

    /// What comes behind a declarator; `None` for a `typedef`.
    fn declaration(
        &mut self,
        name: Rc<str>,
        ty: Type,
        storage: &Storage,
        span: Span,
    ) -> Parsing<Option<Declaration>> {
        if storage.typedef {
            if let TypeKind::Record(id) = &*ty.kind
                && let record = &mut self.ast.records[id.0 as usize]
                && record.name.is_none()
            {
                record.name = Some(name.clone());
            }
            if self.scopes.len() > 1 || !self.fixed.types.contains(&name) {
                self.declare(name, Known::Type(ty));
            }
            return Ok(None);
        }
        self.declare(name.clone(), Known::Object);
        let init = match self.take("=") {
            true => Some(Rc::new(self.initializer()?)),
            false => None,
        };
        Ok(Some(Declaration {
            name,
            ty,
            is_static: storage.is_static,
            is_extern: storage.is_extern,
            thread_local: storage.thread_local,
            init,
            span: self.since(span),
        }))
    }

    pub(crate) fn initializer(&mut self) -> Parsing<Init> {
        let start = self.peek().span;
        if !self.take("{") {
            return Ok(Init::Expr(self.assignment()?));
        }
        self.deeper()?;
        let mut entries = Vec::new();
        while !self.take("}") {
            let mut designators = Vec::new();
            loop {
                if self.take("[") {
                    let first = self.conditional()?;
                    designators.push(match self.take("...") {
                        true => Designator::Range(first, self.conditional()?),
                        false => Designator::Index(first),
                    });
                    self.expect("]")?;
                } else if self.peek().is(".") {
                    self.next();
                    designators.push(Designator::Field(self.name()?));
                } else {
                    break;
                }
            }
            if !designators.is_empty() {
                self.expect("=")?;
            } else if self.peek().kind == Kind::Name && self.peek_at(1).is(":") {
                // GNU C's old way.
                designators.push(Designator::Field(self.name()?));
                self.next();
            }
            entries.push((designators, self.initializer()?));
            if !self.take(",") {
                self.expect("}")?;
                break;
            }
        }
        self.shallower();
        Ok(Init::List(entries, self.since(start)))
    }

    pub(crate) fn name(&mut self) -> Parsing<Rc<str>> {
        match self.peek().kind {
            Kind::Name => Ok(self.next().text),
            _ => Err(self.expected("a name")),
        }
    }

    /// `__attribute__((…))` and its like: of no meaning here, but for none.
    pub(crate) fn attributes(&mut self) -> Parsing<()> {
        loop {
            let token = self.peek();
            let attribute = token.kind == Kind::Name
                && matches!(
                    &*token.text,
                    "__attribute__" | "__attribute" | "_Alignas" | "alignas" | "__declspec"
                );
            let renamed = (token.is_name("asm") || token.is_name("__asm__"))
                && self.peek_at(1).is("(")
                && self.peek_at(2).kind == Kind::String;
            let aligned = matches!(&*token.text, "_Alignas" | "alignas");
            if attribute || renamed {
                self.next();
                let semicolon = self.at;
                self.skip_brackets_and_semicolon()?;
                let words = self.tokens[semicolon..self.at].iter();
                let mut words = words.filter(|word| word.kind == Kind::Name);
                let aligns = |word: &Token| {
                    matches!(word.text.trim_matches('_'), "aligned" | "packed" | "mode")
                };
                self.ast.aligns |= words.clone().any(aligns) || aligned;
                if let Some(word) = words.find(|word| has_meaning(&word.text)) {
                    let message = format!("the attribute `{}` is not supported", word.text);
                    return self.error(word.span, message);
                }
                // The semicolon belongs to the declaration.
                if self.tokens[self.at - 1].is(";") && self.at > semicolon {
                    self.at -= 1;
                }
            } else if token.is("[") && self.peek_at(1).is("[") {
                while !(self.peek().is("]") && self.peek_at(1).is("]")) {
                    if self.next().kind == Kind::End {
                        return Err(self.expected("`]]`"));
                    }
                }
                self.next();
                self.next();
            } else {
                return Ok(());
            }
        }
    }

    /// Whether a declaration begins here.
    pub(crate) fn at_declaration(&self) -> bool {
        let token = self.peek();
        if token.kind != Kind::Name {
            return false;
        }
        match &*token.text {
            "typedef" | "static" | "extern" | "register" | "auto" | "_Thread_local"
            | "__thread" | "thread_local" | "inline" | "__inline" | "__inline__" | "_Noreturn"
            | "_Static_assert" | "static_assert" => true,
            "__extension__" => self.peek_at(1).kind == Kind::Name,
            _ => self.at_type(0),
        }
    }

    /// Whether a type begins so many tokens ahead.
    pub(crate) fn at_type(&self, ahead: usize) -> bool {
        let token = self.peek_at(ahead);
        if token.kind != Kind::Name {
            return false;
        }
        match &*token.text {
            "void" | "char" | "short" | "int" | "long" | "float" | "double" | "signed"
            | "__signed__" | "unsigned" | "_Bool" | "struct" | "union" | "enum" | "const"
            | "__const" | "volatile" | "__volatile__" | "_Atomic" | "restrict" | "__restrict"
            | "__restrict__" | "typeof" | "__typeof__" | "__typeof" | "__auto_type"
            | "__int128" | "_Complex" | "__attribute__" | "_Alignas" => true,
            name => matches!(self.known(name), Some(Known::Type(_))),
        }
    }

    pub(crate) fn specifiers(&mut self) -> Parsing<(Type, Storage)> {
        let start = self.peek().span;
        let mut storage = Storage::default();
        let (mut long, mut short, mut signed, mut unsigned) = (0, false, false, false);
        let mut base: Option<Type> = None;
        let mut word = None;
        let (mut atomic, mut volatile, mut constant) = (false, false, false);
        loop {
            self.attributes()?;
            let token = self.peek().clone();
            if token.kind != Kind::Name {
                break;
            }
            match &*token.text {
                "typedef" => storage.typedef = true,
                "static" => storage.is_static = true,
                "extern" => storage.is_extern = true,
                "_Thread_local" | "__thread" | "thread_local" => storage.thread_local = true,
                "register" | "auto" | "inline" | "__inline" | "__inline__" | "_Noreturn"
                | "restrict" | "__restrict" | "__restrict__" | "__extension__" => {}
                "const" | "__const" => constant = true,
                "volatile" | "__volatile__" => volatile = true,
                "_Atomic" => {
                    if self.peek_at(1).is("(") {
                        self.next();
                        self.next();
                        let inner = self.type_name()?;
                        self.expect(")")?;
                        atomic = true;
                        base = Some(inner);
                        continue;
                    }
                    atomic = true;
                }
                "long" => long += 1,
                "short" => short = true,
                "signed" | "__signed__" => signed = true,
                "unsigned" => unsigned = true,
                "void" | "char" | "int" | "float" | "double" | "_Bool" | "__int128" => {
                    word = Some(token.text.clone());
                }
                "struct" | "union" => {
                    base = Some(self.record()?);
                    continue;
                }
                "enum" => {
                    base = Some(self.enumeration()?);
                    continue;
                }
                "typeof" | "__typeof__" | "__typeof" => {
                    self.next();
                    self.expect("(")?;
                    base = Some(match self.at_type(0) {
                        true => self.type_name()?,
                        false => {
                            let expr = self.expression()?;
                            Type::new(TypeKind::TypeOf(Some(Rc::new(expr))))
                        }
                    });
                    self.expect(")")?;
                    continue;
                }
                "__builtin_va_list" => base = Some(Type::pointer(Type::new(TypeKind::Void))),
                "__auto_type" => base = Some(Type::new(TypeKind::TypeOf(None))),
                name => {
                    let nothing_yet = base.is_none()
                        && word.is_none()
                        && long == 0
                        && !(short || signed || unsigned);
                    match self.known(name) {
                        Some(Known::Type(ty)) if nothing_yet => base = Some(ty.clone()),
                        _ => break,
                    }
                }
            }
            self.next();
        }
        let mut ty = match (base, word.as_deref()) {
            (Some(base), _) => base,
            (None, Some("void")) => Type::new(TypeKind::Void),
            (None, Some("_Bool")) => Type::new(TypeKind::Bool),
            (None, Some("float")) => Type::new(TypeKind::Float(4)),
            (None, Some("double")) if long > 0 => Type::new(TypeKind::Float(16)),
            (None, Some("double")) => Type::new(TypeKind::Float(8)),
            (None, Some("char")) => Type::int(8, !unsigned),
            (None, Some("__int128")) => {
                return self.error(start, "integers of 128 bits are not supported");
            }
            (None, _) if short => Type::int(16, !unsigned),
            (None, _) if long > 0 => Type::int(64, !unsigned),
            (None, Some(_)) => Type::int(32, !unsigned),
            (None, None) if signed || unsigned => Type::int(32, !unsigned),
            (None, None) if self.at_old_function() => Type::int(32, true),
            (None, None) => {
                let token = self.peek();
                let message = match token.kind {
                    Kind::Name => format!("`{}` is not known here", token.text),
                    _ => format!("expected a type, found `{}`", token.text),
                };
                return self.error(token.span, message);
            }
        };
        ty.atomic |= atomic;
        ty.volatile |= volatile;
        ty.constant |= constant;
        Ok((ty, storage))
    }

    fn record(&mut self) -> Parsing<Type> {
        let union = &*self.next().text == "union";
        self.attributes()?;
        let tag = match self.peek().kind {
            Kind::Name => Some(self.next().text),
            _ => None,
        };
        self.attributes()?;
        let defined = self.peek().is("{");
        let found = tag.as_ref().and_then(|tag| match defined {
            true => self.tags.last().and_then(|tags| tags.get(tag)),
            false => self.tags.iter().rev().find_map(|tags| tags.get(tag)),
        });
        let id = match found {
            Some(id) => *id,
            None => {
                let id = RecordId(self.ast.records.len() as u32);
                self.ast.records.push(Record {
                    name: tag.clone(),
                    union,
                    fields: None,
                });
                if let (Some(tag), Some(tags)) = (tag, self.tags.last_mut()) {
                    tags.insert(tag, id);
                }
                id
            }
        };
        if self.take("{") {
            self.deeper()?;
            let mut fields = Vec::new();
            while !self.take("}") {
                self.fields(&mut fields)?;
            }
            self.shallower();
            self.attributes()?;
            let is_fixed = |tag: &Rc<str>| self.tags.len() == 1 && self.fixed.tags.contains(tag);
            let record = &mut self.ast.records[id.0 as usize];
            if !(id.0 < self.ast.of_headers && record.name.as_ref().is_some_and(is_fixed)) {
                record.fields = Some(fields);
            }
        } else if !defined && self.peek().kind == Kind::End {
            return Err(self.expected("`{`"));
        }
        Ok(Type::new(TypeKind::Record(id)))
    }

    fn fields(&mut self, fields: &mut Vec<Field>) -> Parsing<()> {
        if self.take(";") {
            return Ok(());
        }
        if self.take_name("_Static_assert") {
            return self.skip_brackets_and_semicolon();
        }
        let start = self.peek().span;
        let (base, _) = self.specifiers()?;
        if self.take(";") {
            // An unnamed struct or union.
            fields.push(Field {
                name: None,
                ty: base,
                bits: false,
                span: self.since(start),
            });
            return Ok(());
        }
        loop {
            let (ty, name, span) = match self.peek().is(":") {
                true => (base.clone(), None, start),
                false => self.declarator(base.clone())?,
            };
            let bits = self.take(":");
            if bits {
                self.conditional()?;
            }
            self.attributes()?;
            if self.is_unfinished(&ty) {
                return self.error(span, "the type of this member is not complete here");
            }
            fields.push(Field {
                name,
                ty,
                bits,
                span,
            });
            if self.take(";") {
                return Ok(());
            }
            self.expect(",")?;
        }
    }

    /// Whether the type has no size yet: so no struct has a member of its own type.
    fn is_unfinished(&self, ty: &Type) -> bool {
        match &*ty.kind {
            TypeKind::Record(id) => self.ast.records[id.0 as usize].fields.is_none(),
            TypeKind::Array(element, _) => self.is_unfinished(element),
            _ => false,
        }
    }

    fn enumeration(&mut self) -> Parsing<Type> {
        self.next();
        self.attributes()?;
        if self.peek().kind == Kind::Name {
            self.next();
        }
        if self.take("{") {
            let mut next = 0i64;
            while !self.take("}") {
                let name = self.name()?;
                self.attributes()?;
                if self.take("=") {
                    let expr = self.conditional()?;
                    next = match self.constant(&expr) {
                        Some(value) => value,
                        None => return self.error(expr.span, "this must be a constant"),
                    };
                }
                self.declare(name, Known::Constant(next));
                next = next.wrapping_add(1);
                if !self.take(",") {
                    self.expect("}")?;
                    break;
                }
            }
            self.attributes()?;
        }
        Ok(Type::int(32, true))
    }

    /// The value of an expression of constants alone.
    pub(crate) fn constant(&self, expr: &Expr) -> Option<i64> {
        self.typed_constant(expr).map(|(value, _)| value)
    }

    /// Its value, and the width that this has.
    fn typed_constant(&self, expr: &Expr) -> Option<(i64, Width)> {
        use palisade_lang::{BinaryOp, Domain, UnaryOp};
        const INT: Width = Width {
            bits: 32,
            signed: true,
        };
        Some(match &expr.kind {
            ExprKind::Int(value, ty) => (*value, ty.width()?),
            ExprKind::SizeOfType(ty) => {
                let bytes = match &*ty.kind {
                    TypeKind::Bool => 1,
                    TypeKind::Int { bits, .. } => i64::from(bits / 8),
                    TypeKind::Float(bytes) => i64::from(*bytes),
                    TypeKind::Pointer(_) => 8,
                    _ => return None,
                };
                (bytes, Type::int(64, false).width()?)
            }
            ExprKind::Unary(op, operand) => {
                let (value, width) = self.typed_constant(operand)?;
                let width = promoted(width).width()?;
                let op = match op {
                    Unary::Plus => return Some((value, width)),
                    Unary::Minus => UnaryOp::Negate,
                    Unary::Complement => UnaryOp::Complement,
                    Unary::Not => return Some((i64::from(value == 0), INT)),
                    _ => return None,
                };
                (width.wrap(Domain::FULL.unary(op, value)), width)
            }
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                let (left, _) = self.typed_constant(left)?;
                let is_known = (left != 0) == (*op == BinaryOp::Or);
                let value = match is_known {
                    true => left,
                    false => self.constant(right)?,
                };
                (i64::from(value != 0), INT)
            }
            ExprKind::Binary(op, left, right) => {
                use BinaryOp::*;
                let (left, lw) = self.typed_constant(left)?;
                let (right, rw) = self.typed_constant(right)?;
                let shift = matches!(op, ShiftLeft | ShiftRight);
                let width = match shift {
                    true => promoted(lw).width()?,
                    false => usual(lw, rw).width()?,
                };
                let left = width.wrap(left);
                let right = if shift { right } else { width.wrap(right) };
                let (l, r) = (left as u64, right as u64);
                let wide = width.bits == 64 && !width.signed;
                let value = match op {
                    Less if wide => i64::from(l < r),
                    LessEqual if wide => i64::from(l <= r),
                    Greater if wide => i64::from(l > r),
                    GreaterEqual if wide => i64::from(l >= r),
                    Divide if wide => l.checked_div(r)? as i64,
                    Remainder if wide => l.checked_rem(r)? as i64,
                    ShiftRight if wide => l.checked_shr(u32::try_from(right).ok()?)? as i64,
                    _ => Domain::FULL.binary(*op, left, right).ok()?,
                };
                match op {
                    Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual => (value, INT),
                    _ => (width.wrap(value), width),
                }
            }
            ExprKind::Conditional(condition, Some(yes), no) => {
                let (used, unused) = match self.constant(condition)? {
                    0 => (no, yes),
                    _ => (yes, no),
                };
                let (value, width) = self.typed_constant(used)?;
                let width = match self.typed_constant(unused) {
                    Some((_, other)) => usual(width, other).width()?,
                    None => width,
                };
                (width.wrap(value), width)
            }
            ExprKind::Cast(ty, inner) => {
                let (value, _) = self.typed_constant(inner)?;
                let width = ty.width()?;
                match &*ty.kind {
                    TypeKind::Bool => (i64::from(value != 0), width),
                    TypeKind::Int { .. } => (width.wrap(value), width),
                    _ => return None,
                }
            }
            _ => return None,
        })
    }

    /// A declarator: the type that it makes of `base`, and its name.
    pub(crate) fn declarator(&mut self, base: Type) -> Parsing<(Type, Option<Rc<str>>, Span)> {
        self.deeper()?;
        self.attributes()?;
        let mut ty = base;
        let start = self.peek().span;
        let mut stars = 0;
        while self.take("*") {
            ty = Type::pointer(ty);
            stars += 1;
            if stars > DEEPEST {
                return self.error(start, "this is nested too deeply");
            }
            loop {
                self.attributes()?;
                let token = self.peek();
                if token.kind != Kind::Name {
                    break;
                }
                match &*token.text {
                    "const" | "__const" => ty.constant = true,
                    "volatile" | "__volatile__" => ty.volatile = true,
                    "_Atomic" => ty.atomic = true,
                    "restrict" | "__restrict" | "__restrict__" => {}
                    _ => break,
                }
                self.next();
            }
        }
        self.attributes()?;
        let result = if self.peek().is("(") && self.is_nested_declarator() {
            // What stands in brackets applies to what comes behind them.
            self.next();
            let inner = self.at;
            self.skip_to_closing()?;
            let (ty, _) = self.suffixes(ty, start)?;
            let after = self.at;
            self.at = inner;
            let (ty, name, span) = self.declarator(ty)?;
            self.expect(")")?;
            self.at = after;
            (ty, name, span)
        } else {
            let name = match self.peek().kind {
                Kind::Name => Some(self.next()),
                _ => None,
            };
            let span = name.as_ref().map_or(start, |name| name.span);
            let (ty, _) = self.suffixes(ty, span)?;
            (ty, name.map(|name| name.text), span)
        };
        self.shallower();
        Ok(result)
    }

    /// Whether the bracket here holds a declarator and not parameters.
    fn is_nested_declarator(&self) -> bool {
        let next = self.peek_at(1);
        if next.is(")") || self.at_type(1) {
            return next.is_name("__attribute__");
        }
        next.is("*") || next.is("(") || next.is("^") || next.is("[") || next.kind == Kind::Name
    }

    fn skip_to_closing(&mut self) -> Parsing<()> {
        let mut depth = 1;
        while depth > 0 {
            let token = self.next();
            if token.kind == Kind::End {
                return Err(self.expected("`)`"));
            }
            depth += i32::from(token.is("("));
            depth -= i32::from(token.is(")"));
        }
        Ok(())
    }

    /// `[n]` and `(parameters)` behind a name.
    fn suffixes(&mut self, ty: Type, span: Span) -> Parsing<(Type, Span)> {
        if self.take("[") {
            // Of a parameter: what the pointer is that it becomes.
            const QUALIFIERS: [&str; 8] = [
                "static",
                "const",
                "restrict",
                "volatile",
                "_Atomic",
                "__const",
                "__restrict",
                "__restrict__",
            ];
            while QUALIFIERS.iter().any(|word| self.peek().is_name(word)) {
                self.next();
            }
            let any_length = self.peek().is("*") && self.peek_at(1).is("]");
            if any_length {
                self.next();
            }
            let length = match self.peek().is("]") {
                true => None,
                false => Some(Rc::new(self.assignment()?)),
            };
            self.expect("]")?;
            self.deeper()?;
            let (element, _) = self.suffixes(ty, span)?;
            self.shallower();
            return Ok((Type::new(TypeKind::Array(element, length)), span));
        }
        if self.take("(") {
            self.deeper()?;
            let parameters = self.parameters()?;
            let (result, _) = self.suffixes(ty, span)?;
            self.shallower();
            let function = FunctionType { result, parameters };
            return Ok((Type::new(TypeKind::Function(Rc::new(function))), span));
        }
        Ok((ty, span))
    }

    fn parameters(&mut self) -> Parsing<Vec<Parameter>> {
        let mut parameters = Vec::new();
        if self.take(")") {
            return Ok(parameters);
        }
        if self.peek().is_name("void") && self.peek_at(1).is(")") {
            self.next();
            self.next();
            return Ok(parameters);
        }
        self.open_scope();
        // Names alone, whose types follow.
        let only_names = self.peek().kind == Kind::Name && !self.at_type(0) && {
            let next = self.peek_at(1);
            next.is(",") || next.is(")")
        };
        if only_names {
            loop {
                let span = self.peek().span;
                let name = self.name()?;
                self.declare(name.clone(), Known::Object);
                parameters.push(Parameter {
                    name: Some(name),
                    ty: Type::int(32, true),
                    span,
                });
                if self.take(")") {
                    self.close_scope();
                    return Ok(parameters);
                }
                self.expect(",")?;
            }
        }
        loop {
            if self.take("...") {
                self.expect(")")?;
                break;
            }
            let start = self.peek().span;
            let (base, _) = self.specifiers()?;
            let (ty, name, _) = self.declarator(base)?;
            self.attributes()?;
            if let TypeKind::Array(_, Some(length)) = &*ty.kind
                && has_effects(length)
            {
                let message = "what the length of a parameter changes is not supported";
                return self.error(length.span, message);
            }
            let ty = passed(ty);
            if let Some(name) = &name {
                self.declare(name.clone(), Known::Object);
            }
            parameters.push(Parameter {
                name,
                ty,
                span: self.since(start),
            });
            if self.take(")") {
                break;
            }
            self.expect(",")?;
        }
        self.close_scope();
        Ok(parameters)
    }

    /// A type without a name.
    pub(crate) fn type_name(&mut self) -> Parsing<Type> {
        let (base, _) = self.specifiers()?;
        let (ty, name, span) = self.declarator(base)?;
        match name {
            None => Ok(ty),
            Some(name) => self.error(span, format!("`{name}` does not belong into a type")),
        }
    }

    /// The rest of a block, behind its opening brace.
    pub(crate) fn block_items(&mut self) -> Parsing<Vec<Stmt>> {
        self.deeper()?;
        let mut items = Vec::new();
        while !self.take("}") {
            if self.peek().kind == Kind::End {
                return Err(self.expected("`}`"));
            }
            let mut item = self.block_item()?;
            item.in_block = true;
            items.push(item);
        }
        self.shallower();
        Ok(items)
    }

    pub(crate) fn block_item(&mut self) -> Parsing<Stmt> {
        let is_label = self.peek().kind == Kind::Name && self.peek_at(1).is(":");
        if is_label || !self.at_declaration() {
            return self.statement();
        }
        let start = self.peek().span;
        let declarations = self.local_declaration()?;
        Ok(Stmt {
            kind: StmtKind::Declare(declarations),
            span: self.since(start),
            in_block: false,
        })
    }

    pub(crate) fn local_declaration(&mut self) -> Parsing<Vec<Declaration>> {
        let mut declarations = Vec::new();
        if self.take_name("_Static_assert") || self.take_name("static_assert") {
            self.skip_brackets_and_semicolon()?;
            return Ok(declarations);
        }
        let (base, storage) = self.specifiers()?;
        if self.take(";") {
            return Ok(declarations);
        }
        loop {
            let (ty, name, span) = self.declarator(base.clone())?;
            self.attributes()?;
            let Some(name) = name else {
                return Err(self.expected("a name"));
            };
            declarations.extend(self.declaration(name, ty, &storage, span)?);
            if self.take(";") {
                return Ok(declarations);
            }
            self.expect(",")?;
        }
    }
}
