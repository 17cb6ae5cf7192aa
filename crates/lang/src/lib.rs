//! What a program is, and every language that a program can be written in.
//!
//! The main type is [`Program`]: threads as automata over registers, one flat memory of named locations. Every front end makes it, every
//! analysis reads it, and nothing else passes between them.

pub mod build;
pub mod components;
pub mod equal;
pub mod expr;
mod fenced;
pub mod finite;
mod lex;
pub mod litmus;
pub mod loops;
pub mod meter;
pub mod never;
mod ordered;
pub mod pal;
pub mod parse;
pub mod pointers;
pub mod print;
pub mod program;
pub mod ranges;
mod reordered;
mod repair;
pub mod source;
pub mod targets;
pub mod tpl;
pub mod trencher;
pub mod values;

pub use equal::same_program;
pub use expr::{
    BinaryOp, Domain, Expr, FREED, ProgramError, Relation, UNSET, UnaryOp, Value, block_state,
    value_in_words,
};
pub use fenced::{fenced_text, repaired_text, text_without_fences};
pub use ordered::{OrderChange, OrderSite, Ordered};
pub use parse::{ParseOptions, Parsed, parse};
pub use program::{
    Address, Bound, Copies, CopyNaming, CopyRef, Fault, Instance, Label, LabelId, LabelRef,
    Language, Location, LocationId, Never, Op, Order, Place, PlaceId, PlaceKind, Point, PointId,
    Program, Register, RegisterExpr, RegisterId, RmwAction, StateAtom, Thread, ThreadId,
    Transition,
};
pub use reordered::{in_words as change_in_words, reordered_files, reordered_text};
pub use repair::{Repair, Site};
pub use source::{Diagnostic, LineColumn, Severity, Source, SourceFile, Span};
