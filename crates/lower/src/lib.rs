//! What C and Rust share on their way to a [`palisade_lang::Program`].
//!
//! A front end makes a [`Unit`]: functions of basic blocks over registers, and memory made of cells. [`lower`] makes a program of it, by
//! inlining everything from the entry:
//!
//! - **Memory.** Every scalar of an object is a [`Cell`] and becomes one location; addresses ascend from 1, with gaps behind arrays, and 0 is null. A variable whose
//!   address is never taken is a register ([`Storage`]). `Object(o) + k` is the address of cell `k`; arrays and structs are consecutive cells.
//! - **The beginning.** What the entry does before it creates a thread is run at once, and memory begins as it leaves it (`start`).
//! - **Threads.** [`Action::Spawn`] gives a handle, [`Action::Join`] waits for its end. A creator's release store starts the thread, which waits
//!   for it with acquire; a join is the same the other way round.
//! - **Calls** are inlined; a parameter that gets a constant and is never set is that constant. A value that is the number of a function can be
//!   called, too.
//! - **Allocation.** [`Action::Allocate`] takes a new block or any block of as many cells that was given back; [`Action::Free`] overwrites the cells
//!   (which races with every access that is not ordered), and what reads them afterwards is an error.
//! - **Integers** are 64-bit. [`wrap`] takes a value into a narrower type.
//! - **Bounds.** What is not followed for ever (recursion, threads and memory in loops: [`Limits`]) becomes a
//!   [`palisade_lang::program::Bound`]. A front end has [`Action::Bound`] for bounds of its own.
//! - **Places for fences** are where [`Action::Statement`] stands.

mod code;
mod copies;
mod escape;
mod fold;
mod memory;
mod owned;
mod program;
mod shape;
mod start;
mod tidy;
pub mod unit;

pub use fold::{Width, binary, not, unary, wrap};
pub use program::lower;
pub use unit::{
    Action, ArrayBlock, Atom, Block, BlockId, Cell, End, Function, FunctionId, Limits, Local,
    LocalId, Object, ObjectId, Step, Storage, Unit, ValueExpr,
};
