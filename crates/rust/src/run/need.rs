//! What a thread that is being executed needs before it can go on.

use super::arith::Term;
use super::knowledge::Kind;
use super::value::{Loc, Val};
use crate::mir::IntTy;
use palisade_lang::{Order, Relation, RmwAction};

/// Why execution stopped: an instruction of the program, an end, or a reason to begin again.
#[derive(Clone, Debug)]
pub enum Need {
    /// Reads a cell; the result is a number that a register knows.
    Load {
        /// Which one.
        cell: Loc,
        /// What it holds.
        kind: Kind,
        /// The order.
        order: Order,
    },
    /// Writes a cell.
    Store {
        /// Which one.
        cell: Loc,
        /// What is written.
        value: Term,
        /// The order.
        order: Order,
    },
    /// Reads and writes a cell in one step.
    Rmw {
        /// Which one.
        cell: Loc,
        /// What it holds.
        kind: Kind,
        /// What is done.
        action: RmwAction,
        /// The order.
        order: Order,
    },
    /// Waits until a cell holds a value.
    Wait {
        /// Which one.
        cell: Loc,
        /// The relation.
        relation: Relation,
        /// To what.
        value: Term,
        /// The order.
        order: Order,
    },
    /// A fence.
    Fence(Order),
    /// This number of the state goes into a register, because it has had too many values here.
    Widen(usize),
    /// Computes a number into a register.
    Assign(Term, IntTy),
    /// Goes on with each value whose condition holds.
    Fork(Vec<(Term, Val)>),
    /// Goes on with any of the values.
    Choose(Vec<Val>),
    /// Goes on with the value of any exchange that can be made now, or with a value that needs none.
    Take(Vec<(Option<Taking>, Val)>),
    /// A step without effect.
    Skip,
    /// The program fails here, for this reason.
    Fail(String),
    /// This allocation is never freed.
    Leak(super::value::ObjectId),
    /// A limit of the translation is met: its name.
    Bound(String),
    /// The thread's end.
    Finished,
    /// Something was learned that changes what was done before.
    Restart,
    /// What the first thread does from here on happens beside other threads.
    Concurrent,
    /// Something that is not supported.
    Refuse(Refusal),
}

/// An exchange that can be made where a cell holds a number.
#[derive(Clone, Debug)]
pub struct Taking {
    /// The cell.
    pub cell: Loc,
    /// What it must hold.
    pub expected: i64,
    /// What it holds then.
    pub desired: i64,
}

/// What is not supported, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What it is.
    pub message: String,
    /// What would help.
    pub help: Option<String>,
}

/// What is not supported.
pub fn refuse<T>(message: impl Into<String>) -> Result<T, Need> {
    Err(Need::Refuse(Refusal {
        message: message.into(),
        help: None,
    }))
}

/// What execution gives.
pub type Run<T> = Result<T, Need>;
