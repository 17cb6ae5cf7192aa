//! Which programs release/acquire has a meaning for: the orders of accesses, and the `atomic` blocks that are read-modify-writes.

use palisade_lang::{
    Address, Expr, LocationId, Op, Order, PointId, Program, RegisterExpr, RegisterId, RmwAction,
    Span, Thread, Transition, UnaryOp,
};
use std::collections::{BTreeMap, HashSet};

/// Why a program has no meaning under RA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What to tell the user.
    pub message: String,
    /// The access or the beginning of the block.
    pub span: Span,
}

/// Why the program has no meaning under RA, if it has none.
///
/// - Accesses whose order is not the default one: `acquire` for loads and `wait`, `release` for stores, `acqrel` for read-modify-writes. All of them are
///   named.
/// - An `atomic` block that is no read-modify-write of one location. It is one if, on every way through it, the first access reads
///   (a load, a `wait` or a read-modify-write), all accesses have the same address (the same location, or the same expression over
///   registers that the block does not change), the location is not `nonatomic`, and there is no `fence` inside. A way without a store
///   is to such a block what failing is to a `cas`: a load. The first that is none is named.
pub fn refusal(program: &Program) -> Option<Refused> {
    wrong_orders(program).or_else(|| block_refusal(program))
}

/// The first `atomic` block that is no read-modify-write of one location (see [`refusal`]), if there is one.
pub fn block_refusal(program: &Program) -> Option<Refused> {
    program.threads.iter().find_map(|thread| {
        let mut begins = thread.transitions.iter();
        begins.find_map(|transition| match transition.op {
            Op::AtomicBegin => wrong_block(program, thread, transition),
            _ => None,
        })
    })
}

/// The order of an access, and the one that it has if none is written.
pub(crate) fn order_and_default(op: &Op) -> Option<(Order, Order)> {
    match op {
        Op::Load { order, .. } | Op::Wait { order, .. } => Some((*order, Order::Acquire)),
        Op::Store { order, .. } => Some((*order, Order::Release)),
        Op::Rmw { order, .. } => Some((*order, Order::AcqRel)),
        _ => None,
    }
}

/// The order that an access has, where RA does not know it.
fn wrong_order(op: &Op) -> Option<Order> {
    let (order, default) = match op {
        Op::Rmw {
            action: RmwAction::CompareAndSwap { failure, .. },
            order: Order::AcqRel,
            ..
        } => (*failure, Order::Acquire),
        op => order_and_default(op)?,
    };
    (order != default).then_some(order)
}

fn wrong_orders(program: &Program) -> Option<Refused> {
    // A function that is inlined twice has the same accesses twice.
    let mut named: BTreeMap<Span, Order> = BTreeMap::new();
    for transition in program.threads.iter().flat_map(|t| &t.transitions) {
        if let Some(order) = wrong_order(&transition.op) {
            named.insert(transition.span, order);
        }
    }
    let (first, _) = named.first_key_value()?;
    let accesses: Vec<String> = named
        .iter()
        .map(|(span, order)| {
            let place = program.source.line_column(span.start);
            let text = program.source.slice(*span);
            format!("`{text}` at {place} has the order {}", order.name())
        })
        .collect();
    Some(Refused {
        message: format!(
            "release/acquire knows only acquire loads, release stores and acqrel read-modify-writes: {}; the models `c20` and `rc11` know all orders",
            accesses.join(", ")
        ),
        span: *first,
    })
}

/// Why the block that begins here is no read-modify-write of one location.
fn wrong_block(program: &Program, thread: &Thread, begin: &Transition) -> Option<Refused> {
    let refused = |why: &str| {
        Some(Refused {
            message: format!("this atomic block is no read-modify-write of one location: {why}"),
            span: begin.span,
        })
    };
    let inside = transitions_of_block(thread, begin.to);
    let mut address: Option<&Address<RegisterId>> = None;
    let mut changed = Vec::new();
    for transition in &inside {
        let accessed = match &transition.op {
            Op::Load {
                register, address, ..
            } => {
                changed.push(*register);
                address
            }
            Op::Rmw {
                register, address, ..
            }
            | Op::Wait {
                register, address, ..
            } => {
                changed.extend(*register);
                address
            }
            Op::Store { address, .. } => address,
            Op::Assign(register, _) => {
                changed.push(*register);
                continue;
            }
            Op::Fence(Order::SeqCst) => return refused("there is a fence in it"),
            _ => continue,
        };
        if address.is_some_and(|first| first != accessed) {
            return refused("it accesses more than one place");
        }
        address = Some(accessed);
    }
    let address = address?;
    let nonatomic = |l: LocationId| program.location(l).nonatomic;
    let (may_be_nonatomic, index) = match address {
        Address::Direct(location) => (nonatomic(*location), None),
        Address::Element { first, index, .. } => (nonatomic(*first), Some(index)),
        Address::Pointer(pointer) => (program.locations.iter().any(|l| l.nonatomic), Some(pointer)),
    };
    if may_be_nonatomic {
        return refused("its location is, or may be, nonatomic");
    }
    let mut moves = false;
    if let Some(index) = index {
        index.for_each_atom(&mut |register| moves |= changed.contains(register));
    }
    if moves {
        return refused("the place that it accesses may change inside it");
    }
    if store_comes_first(thread, begin.to) {
        return refused("it stores before it reads");
    }
    None
}

/// The instructions from a point inside a block to the block's end.
fn transitions_of_block(thread: &Thread, first: PointId) -> Vec<&Transition> {
    let mut found = Vec::new();
    walk_block(thread, first, |transition| {
        found.push(transition);
        true
    });
    found
}

/// Whether some way from the block's beginning comes to a store before anything is read.
fn store_comes_first(thread: &Thread, first: PointId) -> bool {
    let mut found = false;
    walk_block(thread, first, |transition| match transition.op {
        Op::Store { .. } => {
            found = true;
            false
        }
        Op::Load { .. } | Op::Rmw { .. } | Op::Wait { .. } => false,
        _ => true,
    });
    found
}

/// Visits the instructions of a block, going on behind those for which `visit` says so.
fn walk_block<'t>(
    thread: &'t Thread,
    first: PointId,
    mut visit: impl FnMut(&'t Transition) -> bool,
) {
    let mut seen = vec![false; thread.points.len()];
    let mut todo = vec![first];
    while let Some(point) = todo.pop() {
        if std::mem::replace(&mut seen[point.index()], true) || !thread.points[point.index()].atomic
        {
            continue;
        }
        for transition in thread.outgoing(point) {
            if visit(transition) {
                todo.push(transition.to);
            }
        }
    }
}

/// Whether every `atomic` block that is entered comes to its end, as far as the text tells: nothing in it waits, and it has no loop.
///
/// A block that does not end keeps all others from moving. Under SC it has read the newest value; under RA it may have read an old one, so that
/// others had come further before. So even a robust program may then be in states in which it is under SC never.
pub fn blocks_end(program: &Program) -> bool {
    program.threads.iter().all(|thread| {
        let mut begins = thread
            .transitions
            .iter()
            .filter(|t| matches!(t.op, Op::AtomicBegin));
        begins.all(|begin| {
            let inside = transitions_of_block(thread, begin.to);
            !inside.iter().any(|t| may_wait(thread, t)) && !has_loop(&inside)
        })
    })
}

fn may_wait(thread: &Thread, transition: &Transition) -> bool {
    match &transition.op {
        Op::Wait { .. } => true,
        Op::Rmw { action, .. } => matches!(action, RmwAction::BlockingCompareAndSwap { .. }),
        Op::Assume(condition) => {
            // The two ways of a branch: one of them is always open.
            let is_other = |other: &Transition| match &other.op {
                Op::Assume(other) => {
                    let negated = |a: &RegisterExpr, b: &RegisterExpr| matches!(a, Expr::Unary(UnaryOp::Not, inner) if **inner == *b);
                    negated(other, condition) || negated(condition, other)
                }
                _ => false,
            };
            !thread.outgoing(transition.from).iter().any(is_other)
        }
        _ => false,
    }
}

/// Whether these instructions go round in a circle: then some are left when those that lead nowhere are taken away, again and again.
fn has_loop(transitions: &[&Transition]) -> bool {
    let mut left = transitions.to_vec();
    loop {
        let before = left.len();
        let begins: HashSet<PointId> = left.iter().map(|t| t.from).collect();
        left.retain(|t| begins.contains(&t.to));
        if left.len() == before {
            return before > 0;
        }
    }
}
