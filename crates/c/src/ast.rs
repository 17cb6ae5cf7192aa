//! A C program as the parser reads it. Names of types are resolved, everything else is as written.

use palisade_lang::{BinaryOp, Span};
use std::rc::Rc;

/// A type with its qualifiers.
#[derive(Clone, Debug)]
pub struct Type {
    /// Without qualifiers.
    pub kind: Rc<TypeKind>,
    /// `_Atomic`
    pub atomic: bool,
    /// `volatile`
    pub volatile: bool,
    /// `const`
    pub constant: bool,
}

/// A type without qualifiers.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `void`
    Void,
    /// `_Bool`
    Bool,
    /// An integer type, or an enumeration.
    Int {
        /// How many bits it has.
        bits: u32,
        /// Whether it has a sign.
        signed: bool,
    },
    /// `float`, `double`, of so many bytes: known, and refused where a value of it is used.
    Float(u8),
    /// A pointer.
    Pointer(Type),
    /// An array; its length where there is one.
    Array(Type, Option<Rc<Expr>>),
    /// A struct or a union.
    Record(RecordId),
    /// A function.
    Function(Rc<FunctionType>),
    /// `typeof` of an expression; `__auto_type` has none.
    TypeOf(Option<Rc<Expr>>),
}

/// Index of a struct or a union in [`Ast::records`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordId(pub u32);

/// The type of a function.
#[derive(Clone, Debug)]
pub struct FunctionType {
    /// What it returns.
    pub result: Type,
    /// What it takes.
    pub parameters: Vec<Parameter>,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name, if it has one.
    pub name: Option<Rc<str>>,
    /// Its type.
    pub ty: Type,
    /// Where it is declared.
    pub span: Span,
}

/// A struct or a union.
#[derive(Clone, Debug)]
pub struct Record {
    /// The tag, or the name of the first `typedef` for it.
    pub name: Option<Rc<str>>,
    /// A union.
    pub union: bool,
    /// `None` until it is defined.
    pub fields: Option<Vec<Field>>,
}

/// A member of a struct or a union.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name; `None` for an unnamed struct or union whose members belong to the outer one.
    pub name: Option<Rc<str>>,
    /// Its type.
    pub ty: Type,
    /// A bit-field.
    pub bits: bool,
    /// Where it is.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it is.
    pub span: Span,
    /// How deep it is nested, with the statements in it.
    pub height: u32,
}

impl Expr {
    /// An expression.
    pub fn new(kind: ExprKind, span: Span) -> Self {
        let height = 1 + kind.height();
        Expr { kind, span, height }
    }
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Unary {
    Plus,
    Minus,
    Not,
    Complement,
    Dereference,
    AddressOf,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// An integer constant, with its type.
    Int(i64, Type),
    /// A floating constant.
    Float,
    /// The characters of a string, without the 0 at its end.
    String(Vec<i64>),
    /// A name.
    Name(Rc<str>),
    /// `op e`
    Unary(Unary, Box<Expr>),
    /// `++e`, `e--`
    Step {
        /// The value is that after the step.
        before: bool,
        /// 1 or -1.
        by: i64,
        /// What is changed.
        place: Box<Expr>,
    },
    /// `a op b`; also `&&` and `||`.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `a = b`, `a op= b`
    Assign(Option<BinaryOp>, Box<Expr>, Box<Expr>),
    /// `a ? b : c`; without b in GNU C.
    Conditional(Box<Expr>, Option<Box<Expr>>, Box<Expr>),
    /// `a, b`
    Comma(Box<Expr>, Box<Expr>),
    /// `f(a, …)`
    Call(Box<Expr>, Vec<Expr>),
    /// `a.m`
    Member(Box<Expr>, Rc<str>),
    /// `a->m`
    Arrow(Box<Expr>, Rc<str>),
    /// `a[i]`
    Index(Box<Expr>, Box<Expr>),
    /// `(T) e`
    Cast(Type, Box<Expr>),
    /// `sizeof(T)`
    SizeOfType(Type),
    /// `sizeof e`
    SizeOf(Box<Expr>),
    /// `_Alignof(T)`
    AlignOf(Type),
    /// `va_arg(list, T)`, whatever it is
    NextArgument,
    /// `(T) { … }`
    Compound(Type, Rc<Init>),
    /// `({ … })`
    Statements(Rc<Vec<Stmt>>),
    /// `_Generic(e, T: a, …, default: b)`
    Generic(Box<Expr>, Vec<(Option<Type>, Expr)>),
    /// `offsetof(T, m)`
    OffsetOf(Type, Vec<Rc<str>>),
    /// `__builtin_types_compatible_p(T, U)`
    SameTypes(Type, Type),
}

/// An initial value.
#[derive(Clone, Debug)]
pub enum Init {
    /// `= e`
    Expr(Expr),
    /// `= { … }`
    List(Vec<(Vec<Designator>, Init)>, Span),
}

/// `[i]`, `[i ... j]` or `.m` in front of an initial value.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Designator {
    Index(Expr),
    Range(Expr, Expr),
    Field(Rc<str>),
}

/// A variable or a function that is declared.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// Its name.
    pub name: Rc<str>,
    /// Its type.
    pub ty: Type,
    /// `static`
    pub is_static: bool,
    /// `extern`
    pub is_extern: bool,
    /// `_Thread_local`
    pub thread_local: bool,
    /// Its initial value.
    pub init: Option<Rc<Init>>,
    /// Where it is.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where it is.
    pub span: Span,
    /// It stands directly in a block, where another statement could stand before it.
    pub in_block: bool,
}

/// What a statement is.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum StmtKind {
    Empty,
    Expr(Expr),
    Declare(Vec<Declaration>),
    Block(Vec<Stmt>),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    While(Expr, Box<Stmt>),
    DoWhile(Box<Stmt>, Expr),
    For(Option<Box<Stmt>>, Option<Expr>, Option<Expr>, Box<Stmt>),
    Switch(Expr, Box<Stmt>),
    /// `case a:` or, in GNU C, `case a ... b:`
    Case(Expr, Option<Expr>, Box<Stmt>),
    Default(Box<Stmt>),
    Label(Rc<str>, Box<Stmt>),
    Goto(Rc<str>),
    Break,
    Continue,
    Return(Option<Expr>),
    /// `asm("…" : … )`: its text, and its operands, those that it sets before the others: each with what is said about it.
    Asm(String, Vec<(String, Expr)>),
}

/// A function with its body.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Its name.
    pub name: Rc<str>,
    /// Its type.
    pub ty: Rc<FunctionType>,
    /// Its body.
    pub body: Vec<Stmt>,
    /// Its name's place.
    pub span: Span,
}

/// A program.
#[derive(Clone, Debug, Default)]
pub struct Ast {
    /// Variables and functions that are declared outside functions.
    pub declarations: Vec<Declaration>,
    /// Functions.
    pub definitions: Vec<Definition>,
    /// Structs and unions.
    pub records: Vec<Record>,
    /// Attributes change how something is aligned.
    pub aligns: bool,
    /// So many of them are of headers that the text does not include, and defines in another way.
    pub of_headers: u32,
}

impl Ast {
    /// The names of functions that are declared and have no body.
    pub fn missing(&self) -> Vec<&Rc<str>> {
        let has_body = |name: &Rc<str>| self.definitions.iter().any(|d| d.name == *name);
        let functions = self.declarations.iter();
        let functions = functions.filter(|d| matches!(&*d.ty.kind, TypeKind::Function(_)));
        let mut missing: Vec<&Rc<str>> = functions.map(|d| &d.name).collect();
        missing.retain(|name| !has_body(name));
        missing
    }

    /// Whether each function and each variable with an initial value is defined but once. A header that two files include is one place.
    pub(crate) fn defined_once(&self, source: &palisade_lang::Source) -> crate::types::Done<()> {
        let mut seen = std::collections::HashMap::new();
        for definition in &self.definitions {
            let place = source.place(definition.span.start);
            let before = seen.insert(&definition.name, place.clone());
            if before.is_some_and(|before| before != place) {
                let message = format!("`{}` is defined twice", definition.name);
                return crate::types::fail(definition.span, message);
            }
        }
        let mut seen = std::collections::HashMap::new();
        for declaration in self.declarations.iter().filter(|d| d.init.is_some()) {
            let place = source.place(declaration.span.start);
            let before = seen.insert(&declaration.name, place.clone());
            if before.is_some_and(|before| before != place) {
                let message = format!("`{}` has two initial values", declaration.name);
                return crate::types::fail(declaration.span, message);
            }
        }
        Ok(())
    }
}

impl Type {
    /// A type without qualifiers.
    pub fn new(kind: TypeKind) -> Self {
        Type {
            kind: Rc::new(kind),
            atomic: false,
            volatile: false,
            constant: false,
        }
    }

    /// A pointer, or what becomes one where its value is used.
    pub fn is_pointer_like(&self) -> bool {
        matches!(
            &*self.kind,
            TypeKind::Pointer(_) | TypeKind::Array(..) | TypeKind::Function(_)
        )
    }

    /// An integer type.
    pub fn int(bits: u32, signed: bool) -> Self {
        Type::new(TypeKind::Int { bits, signed })
    }

    /// `void *`, say.
    pub fn pointer(to: Type) -> Self {
        Type::new(TypeKind::Pointer(to))
    }

    /// The same without qualifiers.
    pub fn plain(&self) -> Self {
        Type {
            kind: self.kind.clone(),
            atomic: false,
            volatile: false,
            constant: false,
        }
    }
}

impl ExprKind {
    /// The height of the highest operand.
    fn height(&self) -> u32 {
        match self {
            ExprKind::Unary(_, inner)
            | ExprKind::Step { place: inner, .. }
            | ExprKind::Member(inner, _)
            | ExprKind::Arrow(inner, _)
            | ExprKind::Cast(_, inner)
            | ExprKind::SizeOf(inner) => inner.height,
            ExprKind::Binary(_, left, right)
            | ExprKind::Assign(_, left, right)
            | ExprKind::Comma(left, right)
            | ExprKind::Index(left, right) => left.height.max(right.height),
            ExprKind::Conditional(condition, yes, no) => {
                let yes = yes.as_ref().map_or(0, |yes| yes.height);
                condition.height.max(yes).max(no.height)
            }
            ExprKind::Call(callee, arguments) => {
                let arguments = arguments.iter().map(|argument| argument.height);
                callee.height.max(arguments.max().unwrap_or(0))
            }
            ExprKind::Generic(value, choices) => {
                let choices = choices.iter().map(|(_, choice)| choice.height);
                value.height.max(choices.max().unwrap_or(0))
            }
            ExprKind::Compound(_, init) => init.height(),
            ExprKind::Statements(statements) => {
                statements.iter().map(Stmt::height).max().unwrap_or(0)
            }
            ExprKind::Int(..)
            | ExprKind::Float
            | ExprKind::String(_)
            | ExprKind::Name(_)
            | ExprKind::SizeOfType(_)
            | ExprKind::AlignOf(_)
            | ExprKind::NextArgument
            | ExprKind::OffsetOf(..)
            | ExprKind::SameTypes(..) => 0,
        }
    }
}

impl Init {
    fn height(&self) -> u32 {
        match self {
            Init::Expr(expr) => expr.height,
            Init::List(entries, _) => {
                let inner = entries.iter().map(|(_, init)| init.height());
                1 + inner.max().unwrap_or(0)
            }
        }
    }
}

impl Stmt {
    /// The height of the highest expression in it, with the statements around that.
    fn height(&self) -> u32 {
        let of = |expr: &Option<Expr>| expr.as_ref().map_or(0, |expr| expr.height);
        1 + match &self.kind {
            StmtKind::Expr(expr) => expr.height,
            StmtKind::Declare(declarations) => {
                let inits = declarations.iter().filter_map(|d| d.init.as_ref());
                inits.map(|init| init.height()).max().unwrap_or(0)
            }
            StmtKind::Block(inner) => inner.iter().map(Stmt::height).max().unwrap_or(0),
            StmtKind::If(condition, then, otherwise) => {
                let otherwise = otherwise.as_ref().map_or(0, |stmt| stmt.height());
                condition.height.max(then.height()).max(otherwise)
            }
            StmtKind::While(condition, body)
            | StmtKind::DoWhile(body, condition)
            | StmtKind::Switch(condition, body) => condition.height.max(body.height()),
            StmtKind::For(first, condition, step, body) => {
                let first = first.as_ref().map_or(0, |stmt| stmt.height());
                first.max(of(condition)).max(of(step)).max(body.height())
            }
            StmtKind::Case(_, _, inner) | StmtKind::Default(inner) | StmtKind::Label(_, inner) => {
                inner.height()
            }
            StmtKind::Return(value) => of(value),
            StmtKind::Asm(_, operands) => {
                let heights = operands.iter().map(|(_, operand)| operand.height);
                heights.max().unwrap_or(0)
            }
            _ => 0,
        }
    }
}
