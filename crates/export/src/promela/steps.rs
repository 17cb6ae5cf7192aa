//! Which instructions become one step of the Promela model.
//!
//! Only what other threads can see is worth interleaving: a step is one visible instruction and all local ones that follow. It ends at a
//! *stop*: a point that is visible itself, where the thread may wait, or where a `never` looks. A step with branches in its local part is
//! several steps, one for each path, which carry the conditions as guards.

use std::collections::BTreeSet;

use palisade_lang::{
    Address, BinaryOp, Expr, Op, PointId, RegisterExpr, RegisterId, RmwAction, Thread, UnaryOp,
};

/// One step: a path from a stop to a stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ThreadStep {
    pub(super) from: PointId,
    /// Indices into [`Thread::transitions`], jumps left out.
    pub(super) path: Vec<usize>,
    pub(super) to: PointId,
}

/// What must stay visible.
pub(super) struct Visible<'a> {
    /// The points that a `never` speaks of.
    pub(super) points: &'a BTreeSet<PointId>,
    /// The registers that a `never` speaks of.
    pub(super) registers: &'a BTreeSet<RegisterId>,
    /// Whether a `never` speaks of memory: then what a block writes must be seen at once.
    pub(super) memory: bool,
}

/// More paths from one stop than this are not enumerated: a stop is put between.
const MAX_PATHS: usize = 64;
const MAX_LENGTH: usize = 200;
/// How often a step may come by the same local point before it ends there.
const MAX_ROUNDS: usize = 2;

/// The points at which steps begin and end, as far as they are known before paths are enumerated. (The first step begins wherever the
/// thread begins.)
pub(super) fn first_stops(thread: &Thread, visible: &Visible<'_>) -> BTreeSet<PointId> {
    let mut stops = BTreeSet::new();
    for index in 0..thread.points.len() {
        let point = thread.behind_jumps(PointId(index as u32));
        if !is_transient(thread, point, visible) {
            stops.insert(point);
        }
    }
    stops
}

/// All steps between these stops. `Err` names a point that must become a stop as well.
pub(super) fn enumerate(
    thread: &Thread,
    stops: &BTreeSet<PointId>,
) -> Result<Vec<ThreadStep>, PointId> {
    let mut steps = Vec::new();
    let mut reached = BTreeSet::from([thread.behind_jumps(thread.initial)]);
    let mut todo: Vec<PointId> = reached.iter().copied().collect();
    while let Some(from) = todo.pop() {
        let before = steps.len();
        // Depth first, with an explicit stack of (point, next alternative); `path` runs along.
        let mut path: Vec<usize> = Vec::new();
        let mut stack = vec![(from, 0)];
        while let Some((point, next)) = stack.last_mut() {
            let (point, alternative) = (*point, *next);
            *next += 1;
            let first = thread.transitions.partition_point(|t| t.from < point);
            let outgoing = thread.outgoing(point);
            let Some(transition) = outgoing.get(alternative) else {
                stack.pop();
                path.pop();
                continue;
            };
            let to = thread.behind_jumps(transition.to);
            path.push(first + alternative);
            // Round and round among local steps: after a few rounds the thread rests.
            let rounds = stack.iter().filter(|(p, _)| *p == to).count();
            if stops.contains(&to) || rounds >= MAX_ROUNDS {
                steps.push(ThreadStep {
                    from,
                    path: path.clone(),
                    to,
                });
                path.pop();
                if reached.insert(to) {
                    todo.push(to);
                }
                if steps.len() - before > MAX_PATHS && point != from {
                    return Err(point);
                }
            } else if stack.len() > MAX_LENGTH {
                return Err(to);
            } else {
                stack.push((to, 0));
            }
        }
    }
    steps.sort_by_key(|s| (s.from, s.path.clone()));
    Ok(steps)
}

/// Whether a thread need not stop at this point.
fn is_transient(thread: &Thread, point: PointId, visible: &Visible<'_>) -> bool {
    let outgoing = thread.outgoing(point);
    if outgoing.is_empty() || visible.points.contains(&point) {
        return false;
    }
    let atomic = thread.points[point.index()].atomic;
    if let [a, b] = outgoing
        && let (Op::Assume(a), Op::Assume(b)) = (&a.op, &b.op)
    {
        return (is_negation(a, b) || is_negation(b, a)) && goes_well(a) && goes_well(b);
    }
    if outgoing.len() > 1 {
        return outgoing.iter().all(|t| matches!(t.op, Op::Skip));
    }
    let hidden = |register: &RegisterId| !visible.registers.contains(register);
    match &outgoing[0].op {
        Op::Skip | Op::Jump | Op::Fence(_) => true,
        Op::AtomicEnd => true,
        Op::Assign(register, value) => hidden(register) && goes_well(value),
        Op::Assert(condition) => goes_well(condition),
        // Inside a block no other thread moves: its accesses belong to one step, unless they are observed.
        Op::Load {
            register, address, ..
        } => atomic && hidden(register) && is_plain(address),
        Op::Store { address, value, .. } => {
            atomic && !visible.memory && is_plain(address) && goes_well(value)
        }
        Op::Rmw {
            register,
            address,
            action,
            ..
        } => {
            atomic
                && !visible.memory
                && register.as_ref().is_none_or(hidden)
                && is_plain(address)
                && match action {
                    RmwAction::CompareAndSwap {
                        expected, desired, ..
                    } => goes_well(expected) && goes_well(desired),
                    RmwAction::BlockingCompareAndSwap { .. } => false,
                    RmwAction::Fetch(op, operand) => !can_fail(*op) && goes_well(operand),
                    RmwAction::Exchange(value) => goes_well(value),
                }
        }
        Op::Wait { .. } | Op::Assume(_) | Op::AtomicBegin => false,
    }
}

fn is_plain(address: &Address<RegisterId>) -> bool {
    matches!(address, Address::Direct(_))
}

fn is_negation(a: &RegisterExpr, b: &RegisterExpr) -> bool {
    matches!(b, Expr::Unary(UnaryOp::Not, inner) if **inner == *a)
        || match (a, b) {
            (Expr::Binary(a_op, a1, a2), Expr::Binary(b_op, b1, b2)) => {
                complement(*a_op) == Some(*b_op) && a1 == b1 && a2 == b2
            }
            _ => false,
        }
}

fn complement(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Equal => BinaryOp::NotEqual,
        BinaryOp::NotEqual => BinaryOp::Equal,
        BinaryOp::Less => BinaryOp::GreaterEqual,
        BinaryOp::GreaterEqual => BinaryOp::Less,
        BinaryOp::Greater => BinaryOp::LessEqual,
        BinaryOp::LessEqual => BinaryOp::Greater,
        _ => return None,
    })
}

fn can_fail(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Divide | BinaryOp::Remainder | BinaryOp::ShiftLeft | BinaryOp::ShiftRight
    )
}

/// Whether nothing can go wrong when it is computed.
fn goes_well(expr: &RegisterExpr) -> bool {
    match expr {
        Expr::Const(_) | Expr::Atom(_) => true,
        Expr::Unary(_, operand) => goes_well(operand),
        Expr::Binary(op, left, right) => !can_fail(*op) && goes_well(left) && goes_well(right),
        Expr::Element { .. } => false,
    }
}
