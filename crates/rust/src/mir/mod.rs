//! MIR as rustc prints it: its parts as types, and the parser that reads them.
//!
//! The text is made for people, and changes a little between versions: whatever the parser does not know is an error that names it.

mod body;
mod cursor;
mod types;

pub use body::{parse, read_captures};
pub use cursor::Names;
pub(crate) use cursor::source_span;
pub use types::parse_type_text;

use std::fmt;
use std::rc::Rc;

/// A type. Lifetimes are gone, and generic arguments of all segments of a path stand together.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ty {
    /// An integer type, `bool` or `char`.
    Int(IntTy),
    /// A floating-point type, by its bits: nothing is computed with it.
    Float(u8),
    /// `str`
    Str,
    /// `!`
    Never,
    /// A tuple; `()` is the empty one.
    Tuple(Vec<Ty>),
    /// An array: the element, and the length as a type (a [`Ty::Const`] or a parameter).
    Array(Rc<Ty>, Rc<Ty>),
    /// A slice.
    Slice(Rc<Ty>),
    /// A reference.
    Ref(Rc<Ty>),
    /// A raw pointer.
    Ptr(Rc<Ty>),
    /// A struct, enum, union, or a generic parameter that has not been replaced.
    Adt(Rc<str>, Vec<Ty>),
    /// A closure by its place, with the generic arguments of the function that it is written in.
    Closure(Rc<str>, Rc<Substitution>),
    /// The type of one function.
    FnDef(Rc<FnPath>),
    /// A function pointer.
    FnPtr,
    /// `dyn Trait`, by the traits' text.
    Dyn(Rc<str>),
    /// `<T as Trait>::Name`, and the arguments of the name where it has some.
    Projection(Rc<Ty>, Rc<Ty>, Rc<str>, Vec<Ty>),
    /// A value as a generic argument.
    Const(i128),
    /// Something that is only compared: its text.
    Opaque(Rc<str>),
}

/// The values of generic parameters.
pub type Substitution = Vec<(Rc<str>, Ty)>;

/// The types that are one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IntTy {
    /// Width in bits: 1 for `bool`, 21 for `char`.
    pub bits: u8,
    /// Whether it has negative values.
    pub signed: bool,
}

impl IntTy {
    /// `bool`
    pub const BOOL: IntTy = IntTy {
        bits: 1,
        signed: false,
    };
    /// `char`, by the bits that its values have: so it is no other type.
    pub const CHAR: IntTy = IntTy {
        bits: 21,
        signed: false,
    };
    /// `usize`
    pub const USIZE: IntTy = IntTy {
        bits: 64,
        signed: false,
    };
    /// `isize`
    pub const ISIZE: IntTy = IntTy {
        bits: 64,
        signed: true,
    };

    /// The value of this type with the same low bits.
    pub fn wrap(self, value: i128) -> i128 {
        if self.bits >= 127 {
            return value;
        }
        let size = 1i128 << self.bits;
        let low = value.rem_euclid(size);
        if self.signed && low >= size / 2 {
            low - size
        } else {
            low
        }
    }
}

/// A path to a function (or a constant) as it is used.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FnPath {
    /// `<T as Trait>::…` or `<T>::…`
    pub qualified: Option<(Ty, Option<Ty>)>,
    /// The segments, each with its generic arguments.
    pub segments: Vec<(Rc<str>, Vec<Ty>)>,
}

impl FnPath {
    /// The segments without arguments, joined.
    pub fn plain(&self) -> String {
        let names: Vec<&str> = self.segments.iter().map(|(name, _)| &**name).collect();
        names.join("::")
    }

    /// The last segment.
    pub fn name(&self) -> &str {
        self.segments.last().map_or("", |(name, _)| name)
    }
}

/// A place in a source file, as MIR gives it: lines and columns from 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct SourceSpan {
    /// The file.
    pub file: Rc<str>,
    /// First line and column.
    pub start: (u32, u32),
    /// Last line, and the column behind the end.
    pub end: (u32, u32),
}

/// A function, static, constant or promoted constant.
#[derive(Clone, Debug)]
pub struct Body {
    /// Its path as the header has it: `m::<impl at a.rs:1:1: 1:9>::lock`, `main::{closure#0}`.
    pub path: String,
    /// What it is.
    pub kind: BodyKind,
    /// How many of the locals are arguments: `_1 ..= _count`.
    pub arguments: usize,
    /// The locals; `_0` is the result.
    pub locals: Vec<Local>,
    /// The basic blocks.
    pub blocks: Vec<Block>,
    /// Names of captured variables: `debug x => (*(_1.0: &T))` gives field 0 of the closure the name `x`.
    pub captures: Vec<(usize, Rc<str>)>,
    /// What of it could not be read: it cannot be executed.
    pub unknown: Option<Unknown>,
}

/// What a [`Body`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// A function.
    Function,
    /// A static.
    Static,
    /// A constant, or a promoted one.
    Constant,
}

/// A local variable.
#[derive(Clone, Debug)]
pub struct Local {
    /// The type.
    pub ty: Ty,
    /// The user's name.
    pub name: Option<Rc<str>>,
}

/// A basic block.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// What is done.
    pub statements: Vec<(Statement, SourceSpan)>,
    /// Where it goes on.
    pub terminator: Option<(Terminator, SourceSpan)>,
}

/// A place: a local and the way from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The local.
    pub local: usize,
    /// The way.
    pub projection: Vec<Projection>,
}

/// One step of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Projection {
    /// `*p`
    Deref,
    /// `p.0`
    Field(usize, Ty),
    /// `p as Variant`
    Downcast(Rc<str>),
    /// `p[_3]`
    Index(usize),
    /// `p[2 of 3]`, `p[-1 of 3]`
    ConstantIndex(i64),
    /// `p[1..]`, `p[1:-2]`
    Subslice(u64, i64),
}

/// A value that a statement uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// Reads a place; it may be used afterwards.
    Copy(Place),
    /// Reads a place for the last time.
    Move(Place),
    /// A constant.
    Const(Constant),
}

/// A constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Constant {
    /// A number, `true`, a character.
    Int(i128, IntTy),
    /// `()`
    Unit,
    /// A string or a byte string.
    Text(Rc<str>),
    /// A static: `{alloc4: &T}`.
    Alloc(Rc<str>),
    /// A named constant, a promoted one, or a function without captures.
    Path(Rc<FnPath>),
    /// What else there is: its text.
    Other(Rc<str>),
}

/// What an assignment computes.
#[derive(Clone, Debug)]
pub enum Rvalue {
    /// The operand itself.
    Use(Operand),
    /// `&p`, `&mut p`, `&raw const p`
    Ref(Place),
    /// `Len(p)`
    Len(Place),
    /// `discriminant(p)`
    Discriminant(Place),
    /// An operator such as `Add(a, b)`.
    Binary(Rc<str>, Operand, Operand),
    /// `Not(a)`, `Neg(a)`, `PtrMetadata(a)`
    Unary(Rc<str>, Operand),
    /// `SizeOf(T)`, `AlignOf(T)`
    Nullary(Rc<str>, Ty),
    /// `a as T (Kind)`
    Cast(Operand, Ty, Rc<str>),
    /// `[a; n]`
    Repeat(Operand, Ty),
    /// `[a, b]`
    Array(Vec<Operand>),
    /// `(a, b)`
    Tuple(Vec<Operand>),
    /// `Path { x: a }`, `Path(a)`, `Path`: the type or variant, names of fields where they are written, and the fields.
    Aggregate(Rc<FnPath>, Vec<Rc<str>>, Vec<Operand>),
    /// A closure with its captures.
    Closure(Ty, Vec<Rc<str>>, Vec<Operand>),
    /// A thread-local static.
    ThreadLocal(Rc<str>),
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Statement {
    /// `p = …`
    Assign(Place, Rvalue),
    /// `discriminant(p) = n`
    SetDiscriminant(Place, i128),
    /// The local begins.
    StorageLive(usize),
    /// The local ends.
    StorageDead(usize),
    /// `copy_nonoverlapping(dst = …, src = …, count = …)`
    CopyNonOverlapping(Operand, Operand, Operand),
    /// Nothing that matters here.
    Nop,
}

/// The end of a block.
#[derive(Clone, Debug)]
pub enum Terminator {
    /// Goes on there.
    Goto(usize),
    /// By value; the last is for all others.
    Switch(Operand, Vec<(i128, usize)>, Option<usize>),
    /// Returns.
    Return,
    /// Cannot be reached.
    Unreachable,
    /// Unwinds further, or aborts.
    Unwind,
    /// Drops a place.
    Drop(Place, usize),
    /// Goes on if the operand has this value, and panics otherwise.
    Assert(Operand, bool, Rc<str>, usize),
    /// Calls a function; `None`: it does not return.
    Call(Place, Callee, Vec<Operand>, Option<usize>),
    /// Assembler that is a fence: `mfence`, or an instruction with `lock` on what the operand points to.
    Asm(Option<Operand>, usize),
    /// What is not supported, by its text.
    Unsupported(Rc<str>),
}

/// What is called.
#[derive(Clone, Debug)]
pub enum Callee {
    /// A function by its path.
    Path(Rc<FnPath>),
    /// A value.
    Value(Operand),
}

/// What closures capture, by their places and the locals that they are written to.
pub type Captures = rustc_hash::FxHashMap<(Rc<str>, usize), Option<Vec<Operand>>>;

impl Body {
    /// Whether another body does what this one does, wherever it stands.
    pub fn does_the_same(&self, other: &Body) -> bool {
        let text = |body: &Body| {
            let types: Vec<&Ty> = body.locals.iter().map(|local| &local.ty).collect();
            let blocks = body.blocks.iter().map(|block| {
                let statements = block.statements.iter().map(|(statement, _)| statement);
                let terminator = block.terminator.as_ref().map(|(terminator, _)| terminator);
                (statements.collect::<Vec<_>>(), terminator)
            });
            format!("{types:?} {:?}", blocks.collect::<Vec<_>>())
        };
        self.arguments == other.arguments && text(self) == text(other)
    }

    /// How many fields a closure has whose body this is.
    pub fn captured(&self) -> usize {
        let fields = self.captures.iter().map(|(field, _)| field + 1);
        fields.max().unwrap_or(0)
    }

    /// The place of the closure whose body this is.
    fn closure_place(&self) -> Option<&Rc<str>> {
        if !self.path.ends_with('}') || self.arguments == 0 {
            return None;
        }
        match &self.locals.get(1)?.ty {
            Ty::Closure(place, _) => Some(place),
            Ty::Ref(inner) => match &**inner {
                Ty::Closure(place, _) => Some(place),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Unit {
    /// The compiler prints no more of what a closure captures than there are variables: of two parts of one variable, the second is missing. `complete` gives all.
    pub fn complete_captures(&mut self, complete: impl FnOnce() -> Captures) {
        let mut captured = rustc_hash::FxHashMap::default();
        for body in &self.bodies {
            if let Some(place) = body.closure_place() {
                let most = captured.entry(place.clone()).or_insert(0);
                *most = body.captured().max(*most);
            }
        }
        let statements = self.bodies.iter_mut().flat_map(|body| &mut body.blocks);
        let statements = statements.flat_map(|block| &mut block.statements);
        let lacking: Vec<_> = statements
            .filter_map(|(statement, _)| match statement {
                Statement::Assign(target, Rvalue::Closure(Ty::Closure(place, _), _, operands))
                    if captured.get(place).is_some_and(|n| *n > operands.len()) =>
                {
                    Some((place.clone(), target.local, operands))
                }
                _ => None,
            })
            .collect();
        if lacking.is_empty() {
            return;
        }
        let all = complete();
        for (place, local, operands) in lacking {
            let needed = captured.get(&place).copied();
            if let Some(Some(found)) = all.get(&(place, local))
                && Some(found.len()) == needed
            {
                operands.clone_from(found);
            }
        }
    }
}

/// A crate's MIR.
#[derive(Debug, Default)]
pub struct Unit {
    /// Everything with a body.
    pub bodies: Vec<Body>,
    /// Which allocation is which static.
    pub statics: Vec<(Rc<str>, Rc<str>)>,
    /// Allocations that are plain bytes.
    pub bytes: Vec<(Rc<str>, Vec<u8>)>,
    /// Paths that several bodies have: functions of one name in different blocks of one function.
    pub twice: Vec<String>,
    /// What could not be read of a function's first line.
    pub unknown: Option<Unknown>,
    /// Constants that are printed as one value: `const A::{constant#0}: usize = const 4_usize;`.
    pub constants: Vec<(String, Constant)>,
}

/// What the parser could not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The line in the MIR text, from 1.
    pub line: usize,
    /// The text there.
    pub text: String,
    /// What was expected.
    pub expected: String,
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {} of the MIR: expected {} at `{}`",
            self.line, self.expected, self.text
        )
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, tys: &[Ty]| -> fmt::Result {
            for (at, ty) in tys.iter().enumerate() {
                write!(f, "{}{ty}", if at > 0 { ", " } else { "" })?;
            }
            Ok(())
        };
        match self {
            Ty::Int(IntTy::BOOL) => f.write_str("bool"),
            Ty::Int(IntTy::CHAR) => f.write_str("char"),
            Ty::Int(int) => write!(f, "{}{}", if int.signed { "i" } else { "u" }, int.bits),
            Ty::Float(bits) => write!(f, "f{bits}"),
            Ty::Str => f.write_str("str"),
            Ty::Never => f.write_str("!"),
            Ty::Tuple(tys) => {
                f.write_str("(")?;
                list(f, tys)?;
                f.write_str(")")
            }
            Ty::Array(ty, length) => write!(f, "[{ty}; {length}]"),
            Ty::Slice(ty) => write!(f, "[{ty}]"),
            Ty::Ref(ty) => write!(f, "&{ty}"),
            Ty::Ptr(ty) => write!(f, "*{ty}"),
            Ty::Adt(path, args) if args.is_empty() => f.write_str(path),
            Ty::Adt(path, args) => {
                write!(f, "{path}<")?;
                list(f, args)?;
                f.write_str(">")
            }
            Ty::Closure(place, _) => write!(f, "{{closure@{place}}}"),
            Ty::FnDef(path) => f.write_str(&path.plain()),
            Ty::FnPtr => f.write_str("fn"),
            Ty::Dyn(text) => write!(f, "dyn {text}"),
            Ty::Projection(ty, trait_, name, _) => write!(f, "<{ty} as {trait_}>::{name}"),
            Ty::Const(value) => write!(f, "{value}"),
            Ty::Opaque(text) => f.write_str(text),
        }
    }
}
