//! What a thread does next, with everything computed that does not depend on memory.

use palisade_lang::{
    Address, BinaryOp, Domain, LocationId, Op, Order, Program, ProgramError, RegisterExpr,
    RegisterId, Relation, RmwAction, Transition, Value,
};

use crate::control::{Footprint, is_local};

/// What a thread can do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    /// What it does.
    pub kind: ActionKind,
    /// The instruction, as an index into `Thread::transitions`.
    pub transition: u32,
}

/// The kinds of actions. Operands are values: nothing is left to compute but what depends on the value read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionKind {
    /// A step that touches no memory, left single because it closes a loop, is a choice beside accesses, or is visible to a `never`.
    Local,
    /// The thread stops with an error of the program.
    Error(ProgramError),
    /// Reads.
    Load {
        /// The location.
        location: LocationId,
        /// The order as written.
        order: Order,
    },
    /// Writes.
    Store {
        /// The location.
        location: LocationId,
        /// The value.
        value: Value,
        /// The order as written.
        order: Order,
    },
    /// Reads and writes in one step.
    Rmw {
        /// The location.
        location: LocationId,
        /// What is written, given what is read.
        update: Update,
        /// The order as written.
        order: Order,
    },
    /// Reads, once the value is right.
    Wait {
        /// The location.
        location: LocationId,
        /// The relation that the value read must have …
        relation: Relation,
        /// … to this one.
        value: Value,
        /// The order as written.
        order: Order,
    },
    /// A fence.
    Fence(Order),
    /// Enters `atomic`.
    AtomicBegin,
    /// Leaves it.
    AtomicEnd,
}

/// A read-modify-write with its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// Writes `desired` if `expected` was read; otherwise it is a load.
    CompareAndSwap {
        /// What must be there.
        expected: Value,
        /// What is written.
        desired: Value,
        /// The order of that load.
        failure: Order,
    },
    /// Waits for `expected`.
    BlockingCompareAndSwap {
        /// What must be there.
        expected: Value,
        /// What is written.
        desired: Value,
    },
    /// Writes `old OP operand`.
    Fetch(BinaryOp, Value),
    /// Writes the value.
    Exchange(Value),
}

/// What a read-modify-write does when it reads a certain value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It waits.
    Blocks,
    /// It writes this value.
    Writes(Value),
    /// It is a load.
    Fails,
}

impl Update {
    /// What happens when `read` is read.
    #[inline]
    pub fn effect(self, domain: Domain, read: Value) -> Result<Effect, ProgramError> {
        Ok(match self {
            Update::CompareAndSwap {
                expected, desired, ..
            } if read == expected => Effect::Writes(desired),
            Update::CompareAndSwap { .. } => Effect::Fails,
            Update::BlockingCompareAndSwap { expected, desired } if read == expected => {
                Effect::Writes(desired)
            }
            Update::BlockingCompareAndSwap { .. } => Effect::Blocks,
            Update::Fetch(op, operand) => Effect::Writes(domain.binary(op, read, operand)?),
            Update::Exchange(value) => Effect::Writes(value),
        })
    }
}

impl ActionKind {
    /// The location that is touched.
    #[inline]
    pub fn location(self) -> Option<LocationId> {
        match self {
            ActionKind::Load { location, .. }
            | ActionKind::Store { location, .. }
            | ActionKind::Rmw { location, .. }
            | ActionKind::Wait { location, .. } => Some(location),
            _ => None,
        }
    }

    /// The order of the access, which may depend on whether a read-modify-write wrote.
    #[inline]
    pub fn order(self, wrote: bool) -> Option<Order> {
        match self {
            ActionKind::Rmw {
                update: Update::CompareAndSwap { failure, .. },
                ..
            } if !wrote => Some(failure),
            ActionKind::Load { order, .. }
            | ActionKind::Store { order, .. }
            | ActionKind::Rmw { order, .. }
            | ActionKind::Wait { order, .. }
            | ActionKind::Fence(order) => Some(order),
            _ => None,
        }
    }

    /// Whether what happens depends on the value in memory.
    #[inline]
    pub fn reads(self) -> bool {
        matches!(
            self,
            ActionKind::Load { .. } | ActionKind::Rmw { .. } | ActionKind::Wait { .. }
        )
    }
}

/// Takes a local step: `Ok(None)` where it is not enabled, else the register that it sets.
pub(crate) fn local_step(
    op: &Op,
    domain: Domain,
    registers: &[Value],
) -> Result<Option<Option<(RegisterId, Value)>>, ProgramError> {
    debug_assert!(is_local(op));
    match op {
        Op::Assign(register, expr) => {
            let value = domain.reduce(evaluate(expr, domain, registers)?);
            Ok(Some(Some((*register, value))))
        }
        Op::Assume(condition) => Ok((evaluate(condition, domain, registers)? != 0).then_some(None)),
        Op::Assert(condition) => match evaluate(condition, domain, registers)? {
            0 => Err(ProgramError::AssertionFailed),
            _ => Ok(Some(None)),
        },
        _ => Ok(Some(None)),
    }
}

pub(crate) fn evaluate(
    expr: &RegisterExpr,
    domain: Domain,
    registers: &[Value],
) -> Result<Value, ProgramError> {
    expr.eval(domain, &mut |r| Ok(registers[r.index()]))
}

pub(crate) fn locate(
    program: &Program,
    address: &Address<RegisterId>,
    registers: &[Value],
) -> Result<LocationId, ProgramError> {
    address.locate(program, |expr| evaluate(expr, program.domain, registers))
}

/// The action that an instruction amounts to; `None` where it is not enabled whatever memory holds.
pub(crate) fn action_of(
    program: &Program,
    transition: &Transition,
    registers: &[Value],
) -> Option<ActionKind> {
    let domain = program.domain;
    let kind = match &transition.op {
        op if is_local(op) => match local_step(op, domain, registers) {
            Ok(None) => return None,
            Ok(Some(_)) => Ok(ActionKind::Local),
            Err(error) => Err(error),
        },
        op => access_of(program, op, registers),
    };
    Some(kind.unwrap_or_else(ActionKind::Error))
}

pub(crate) fn access_of(
    program: &Program,
    op: &Op,
    registers: &[Value],
) -> Result<ActionKind, ProgramError> {
    let domain = program.domain;
    let stored = |e: &RegisterExpr| Ok(domain.reduce(evaluate(e, domain, registers)?));
    let atomic_only = |location: LocationId, plain: bool| {
        let place = program.location(location);
        if place.nonatomic && !plain {
            Err(ProgramError::AtomicAccessToNonatomic(place.address))
        } else {
            Ok(location)
        }
    };
    Ok(match op {
        Op::Load { address, order, .. } => ActionKind::Load {
            location: atomic_only(locate(program, address, registers)?, op.is_plain())?,
            order: *order,
        },
        Op::Store {
            address,
            value,
            order,
        } => ActionKind::Store {
            location: atomic_only(locate(program, address, registers)?, op.is_plain())?,
            value: stored(value)?,
            order: *order,
        },
        Op::Wait {
            address,
            relation,
            value,
            order,
            ..
        } => ActionKind::Wait {
            location: atomic_only(locate(program, address, registers)?, false)?,
            relation: *relation,
            value: evaluate(value, domain, registers)?,
            order: *order,
        },
        Op::Rmw {
            address,
            action,
            order,
            ..
        } => ActionKind::Rmw {
            location: atomic_only(locate(program, address, registers)?, false)?,
            update: match action {
                RmwAction::CompareAndSwap {
                    expected,
                    desired,
                    failure,
                } => Update::CompareAndSwap {
                    expected: evaluate(expected, domain, registers)?,
                    desired: stored(desired)?,
                    failure: *failure,
                },
                RmwAction::BlockingCompareAndSwap { expected, desired } => {
                    Update::BlockingCompareAndSwap {
                        expected: evaluate(expected, domain, registers)?,
                        desired: stored(desired)?,
                    }
                }
                RmwAction::Fetch(op, operand) => {
                    Update::Fetch(*op, evaluate(operand, domain, registers)?)
                }
                RmwAction::Exchange(value) => Update::Exchange(stored(value)?),
            },
            order: *order,
        },
        Op::Fence(order) => ActionKind::Fence(*order),
        Op::AtomicBegin => ActionKind::AtomicBegin,
        Op::AtomicEnd => ActionKind::AtomicEnd,
        Op::Skip | Op::Jump | Op::Assign(..) | Op::Assume(_) | Op::Assert(_) => ActionKind::Local,
    })
}

pub(crate) fn footprint_of(kind: ActionKind) -> Footprint {
    let bit = kind.location().map_or(0, Footprint::bit);
    match kind {
        ActionKind::Load { .. } | ActionKind::Wait { .. } => Footprint {
            reads: bit,
            writes: 0,
        },
        ActionKind::Store { .. } => Footprint {
            reads: 0,
            writes: bit,
        },
        ActionKind::Rmw { .. } => Footprint {
            reads: bit,
            writes: bit,
        },
        _ => Footprint::default(),
    }
}
