//! The tree that the parser makes of a text. It holds what was written; what it means is found out in [`super::lower`].

use crate::expr::{BinaryOp, Relation, UnaryOp};
use crate::program::Order;
use crate::source::Span;

/// A word of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name<'a> {
    pub text: &'a str,
    pub span: Span,
}

/// Index of an expression in [`Ast::exprs`]. (One flat vector: trees of any shape are dropped without recursion.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ExprId(u32);

/// A whole file. Items are kept by kind, each kind in the order of the text.
#[derive(Default)]
pub(super) struct Ast<'a> {
    pub exprs: Vec<Expr<'a>>,
    pub name: Option<Name<'a>>,
    pub consts: Vec<Const<'a>>,
    pub domains: Vec<(ExprId, Span)>,
    pub structs: Vec<Struct<'a>>,
    pub shared: Vec<Decl<'a>>,
    pub fns: Vec<Function<'a>>,
    pub threads: Vec<ThreadItem<'a>>,
    pub nevers: Vec<(ExprId, Span)>,
    /// Some declaration could not be read: a name that is missing may have been declared there.
    pub incomplete: bool,
    /// The same for threads.
    pub incomplete_threads: bool,
}

impl<'a> Ast<'a> {
    pub fn expr(&self, id: ExprId) -> &Expr<'a> {
        &self.exprs[id.0 as usize]
    }

    /// Parentheses belong to the expression in them.
    pub fn set_span(&mut self, id: ExprId, span: Span) {
        self.exprs[id.0 as usize].span = span;
    }

    pub fn add(&mut self, expr: Expr<'a>) -> ExprId {
        self.exprs.push(expr);
        ExprId(self.exprs.len() as u32 - 1)
    }
}

impl ExprId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

pub(super) struct Const<'a> {
    pub name: Name<'a>,
    pub value: ExprId,
}

/// `struct NAME { … }`
pub(super) struct Struct<'a> {
    pub name: Name<'a>,
    pub fields: Vec<Decl<'a>>,
}

/// A declaration in `shared`, or a field of a struct.
pub(super) struct Decl<'a> {
    pub nonatomic: bool,
    /// The struct that it is, or that its elements are.
    pub of: Option<Name<'a>>,
    pub name: Name<'a>,
    /// Of an array: the number of elements in each dimension.
    pub sizes: Vec<ExprId>,
    /// `: *STRUCT`
    pub pointee: Option<Name<'a>>,
    pub initial: Initial,
}

/// A parameter, with the struct that it points to.
pub(super) struct Parameter<'a> {
    pub name: Name<'a>,
    pub pointee: Option<Name<'a>>,
}

pub(super) enum Initial {
    Zero,
    One(ExprId),
    List(Vec<ExprId>, Span),
}

pub(super) struct Function<'a> {
    pub name: Name<'a>,
    pub parameters: Vec<Parameter<'a>>,
    pub body: Block<'a>,
}

pub(super) struct ThreadItem<'a> {
    pub name: Name<'a>,
    pub copies: CopiesItem,
    pub body: Block<'a>,
}

pub(super) enum CopiesItem {
    One,
    Number(ExprId),
    Any,
}

pub(super) struct Block<'a> {
    pub stmts: Vec<Stmt<'a>>,
    /// The closing brace.
    pub close: Span,
}

pub(super) struct Stmt<'a> {
    pub labels: Vec<Name<'a>>,
    pub kind: StmtKind<'a>,
    /// The statement without its labels.
    pub span: Span,
}

pub(super) enum StmtKind<'a> {
    Let {
        name: Name<'a>,
        /// `: *STRUCT`
        pointee: Option<Name<'a>>,
        value: Option<ExprId>,
    },
    /// `let r[n];`
    LetArray(Name<'a>, ExprId),
    Assign {
        place: ExprId,
        value: ExprId,
    },
    /// `place += value` and so on.
    Update {
        place: ExprId,
        op: BinaryOp,
        value: ExprId,
    },
    /// `for name in from..to { … }`
    For {
        name: Name<'a>,
        from: ExprId,
        to: ExprId,
        body: Block<'a>,
    },
    /// A call, or whatever else was written where only a call makes sense.
    Expr(ExprId),
    Fence(Order),
    Skip,
    Assume(ExprId),
    Assert(ExprId),
    If {
        arms: Vec<(ExprId, Block<'a>)>,
        otherwise: Option<Block<'a>>,
    },
    While(ExprId, Block<'a>),
    Loop(Block<'a>),
    Break,
    Continue,
    Choose(Vec<Block<'a>>),
    /// `select { } or { }`: like `choose`, but only a branch whose first step is possible can be taken.
    Select(Vec<Block<'a>>),
    Atomic(Block<'a>),
    Block(Block<'a>),
    Goto(Name<'a>),
    Return(Option<ExprId>),
    /// Something that was reported already.
    Error,
}

impl<'a> StmtKind<'a> {
    /// The blocks in the statement.
    pub fn blocks(&self) -> Vec<&Block<'a>> {
        match self {
            StmtKind::If { arms, otherwise } => arms
                .iter()
                .map(|(_, block)| block)
                .chain(otherwise)
                .collect(),
            StmtKind::While(_, block)
            | StmtKind::For { body: block, .. }
            | StmtKind::Loop(block)
            | StmtKind::Atomic(block)
            | StmtKind::Block(block) => vec![block],
            StmtKind::Choose(blocks) | StmtKind::Select(blocks) => blocks.iter().collect(),
            _ => Vec::new(),
        }
    }

    /// Whether what stands behind the statement can be reached only by a label.
    pub fn goes_elsewhere(&self) -> bool {
        match self {
            StmtKind::Break | StmtKind::Continue | StmtKind::Goto(_) | StmtKind::Return(_) => true,
            StmtKind::Loop(block) => !has_break(block),
            _ => false,
        }
    }

    /// Whether some statement inside has a label.
    pub fn has_label(&self) -> bool {
        self.blocks()
            .iter()
            .flat_map(|b| &b.stmts)
            .any(|s| !s.labels.is_empty() || s.kind.has_label())
    }
}

/// Whether a `break` leaves the loop whose body this is.
fn has_break(block: &Block<'_>) -> bool {
    block.stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Break => true,
        StmtKind::While(..) | StmtKind::Loop(_) | StmtKind::For { .. } => false,
        kind => kind.blocks().into_iter().any(has_break),
    })
}

pub(super) struct Expr<'a> {
    pub kind: ExprKind<'a>,
    pub span: Span,
    /// Height of the tree; at most [`crate::expr::MAX_HEIGHT`] less what lowering adds.
    pub height: u16,
}

pub(super) enum ExprKind<'a> {
    Int(i64),
    /// 2^63: fine only behind a minus.
    TooLarge,
    Name(Name<'a>),
    Index(Name<'a>, ExprId),
    /// An element of a place that is more than a name.
    Element(ExprId, ExprId),
    /// A field of a place that is more than a name, or an element of a name.
    Field(ExprId, Name<'a>),
    /// `pointer->field`
    Arrow(ExprId, Name<'a>),
    Deref(ExprId),
    /// `index(e, n)`: the value of `e`, an error of the program where it is not in `0 .. n`.
    Checked(ExprId, ExprId),
    /// `place.load(order)`
    Load(ExprId, Option<Order>),
    /// `place.store(value, order)`: a statement only.
    Store(ExprId, ExprId, Option<Order>),
    Me,
    AddressOf(ExprId),
    Rmw {
        function: Rmw,
        place: ExprId,
        arguments: Vec<ExprId>,
        order: Option<Order>,
        /// Of a `cas` that fails.
        failure: Option<Order>,
    },
    Wait {
        place: ExprId,
        relation: Relation,
        value: ExprId,
        order: Option<Order>,
    },
    Call(Name<'a>, Vec<ExprId>),
    Unary(UnaryOp, ExprId),
    Binary(BinaryOp, ExprId, ExprId),
    /// `T@L`, `T[k]@L`
    At(Name<'a>, Option<ExprId>, Name<'a>),
    /// `T.r`, `T[k].r` in a `never`; `s.f`, `s[k].f` where a struct has that name.
    Member(Name<'a>, Option<ExprId>, Name<'a>),
    /// Something that was reported already.
    Error,
}

/// The read-modify-writes that are written like calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rmw {
    Cas,
    /// A `cas` that may fail for no reason.
    WeakCas,
    Bcas,
    Exchange,
    Fetch(BinaryOp),
}

impl Rmw {
    /// How many arguments follow the place.
    pub fn arguments(self) -> usize {
        match self {
            Rmw::Cas | Rmw::WeakCas | Rmw::Bcas => 2,
            Rmw::Exchange | Rmw::Fetch(_) => 1,
        }
    }

    /// How it is called.
    pub fn name(self) -> &'static str {
        match self {
            Rmw::Cas => "cas",
            Rmw::WeakCas => "compare_exchange_weak",
            Rmw::Bcas => "bcas",
            Rmw::Exchange => "xchg",
            Rmw::Fetch(op) => fetch_name(op),
        }
    }
}

/// The read-modify-write that writes `old OP operand`. `fadd` is the language's; the others are called as in C.
pub(crate) fn fetch_name(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "fadd",
        BinaryOp::Subtract => "fetch_sub",
        BinaryOp::Multiply => "fetch_mul",
        BinaryOp::Divide => "fetch_div",
        BinaryOp::Remainder => "fetch_rem",
        BinaryOp::ShiftLeft => "fetch_shl",
        BinaryOp::ShiftRight => "fetch_shr",
        BinaryOp::Less => "fetch_lt",
        BinaryOp::LessEqual => "fetch_le",
        BinaryOp::Greater => "fetch_gt",
        BinaryOp::GreaterEqual => "fetch_ge",
        BinaryOp::Equal => "fetch_eq",
        BinaryOp::NotEqual => "fetch_ne",
        BinaryOp::BitAnd => "fetch_and",
        BinaryOp::BitXor => "fetch_xor",
        BinaryOp::BitOr => "fetch_or",
        BinaryOp::And => "fetch_land",
        BinaryOp::Or => "fetch_lor",
        BinaryOp::Min => "fetch_min",
        BinaryOp::Max => "fetch_max",
    }
}

/// Every operator that [`fetch_name`] names, for looking names up.
pub(super) const FETCH_OPS: [BinaryOp; 20] = [
    BinaryOp::Add,
    BinaryOp::Subtract,
    BinaryOp::Multiply,
    BinaryOp::Divide,
    BinaryOp::Remainder,
    BinaryOp::ShiftLeft,
    BinaryOp::ShiftRight,
    BinaryOp::Less,
    BinaryOp::LessEqual,
    BinaryOp::Greater,
    BinaryOp::GreaterEqual,
    BinaryOp::Equal,
    BinaryOp::NotEqual,
    BinaryOp::BitAnd,
    BinaryOp::BitXor,
    BinaryOp::BitOr,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Min,
    BinaryOp::Max,
];
