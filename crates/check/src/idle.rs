//! Locations that make no difference for `safe`: counters and hints that are only accessed with relaxed order, and whose values decide nothing.
//!
//! Without fences that release and others that acquire, a relaxed access orders nothing but the accesses of its own location. Where no way that a thread takes, no address, no error and no value of
//! another location depends on what is read there, runs with and without these accesses are the same: to a run without them they can be added in the order
//! of the run, each reading what the one before it wrote. So they are left out. (Two threads of a loop that only counts may seem to wait for ever
//! then, but a violation of the smaller program is never taken for one of the program.)

use palisade_lang::{
    Address, BinaryOp, Expr, LocationId, Op, Order, Program, RegisterExpr, RmwAction, StateAtom,
    Thread,
};
use palisade_threads::visit_state_atoms;

/// The program without such locations, and their names; `None` where there are none.
pub(crate) fn without_idle_locations(program: &Program) -> Option<(Program, Vec<String>)> {
    let mut idle = candidates(program)?;
    // What a location holds matters where it is read into a register that does; that may make others matter.
    while idle.iter().any(|idle| *idle) {
        let mut again = false;
        for thread in &program.threads {
            let matters = registers_that_matter(thread, &idle);
            for transition in &thread.transitions {
                let (Some(location), Some(target)) =
                    (direct(&transition.op), transition.op.target())
                else {
                    continue;
                };
                let read = matters[transition.to.index()][target.index()];
                again |= read && std::mem::replace(&mut idle[location.index()], false);
            }
        }
        if !again {
            break;
        }
    }
    let mut names = Vec::new();
    for (location, _) in program
        .locations
        .iter()
        .zip(&idle)
        .filter(|(_, idle)| **idle)
    {
        names.push(location.name.clone());
    }
    if names.is_empty() {
        return None;
    }
    let mut without = program.clone();
    for transition in without.threads.iter_mut().flat_map(|t| &mut t.transitions) {
        if direct(&transition.op).is_some_and(|location| idle[location.index()]) {
            transition.op = Op::Skip;
        }
    }
    Some((without, names))
}

pub(crate) fn direct(op: &Op) -> Option<LocationId> {
    match op.address()? {
        Address::Direct(location) => Some(*location),
        _ => None,
    }
}

/// The locations that are accessed by relaxed loads, stores and additions only.
fn candidates(program: &Program) -> Option<Vec<bool>> {
    let mut idle = vec![true; program.locations.len()];
    let mut touched = vec![false; program.locations.len()];
    let mut plain = true;
    let (mut releasing, mut acquiring) = (false, false);
    let nevers = program.nevers.iter().flat_map(|never| &never.conditions);
    visit_state_atoms(nevers, &mut |atom| {
        plain &= matches!(atom, StateAtom::At(..) | StateAtom::Deadlock);
    });
    for thread in &program.threads {
        plain &= thread.points.iter().all(|point| !point.atomic);
        for transition in &thread.transitions {
            let op = &transition.op;
            plain &= !matches!(op, Op::AtomicBegin | Op::AtomicEnd);
            if let Op::Fence(order) = op {
                releasing |= *order != Order::Acquire;
                acquiring |= *order != Order::Release;
            }
            if op.address().is_none() {
                continue;
            }
            let location = direct(op)?;
            touched[location.index()] = true;
            let idles = match op {
                Op::Load { order, .. } => *order == Order::Relaxed,
                Op::Store { order, value, .. } => *order == Order::Relaxed && !can_err(value),
                Op::Rmw { order, action, .. } => {
                    *order == Order::Relaxed
                        && match action {
                            RmwAction::Fetch(op, value) => !is_partial(*op) && !can_err(value),
                            RmwAction::Exchange(value) => !can_err(value),
                            _ => false,
                        }
                }
                _ => false,
            };
            idle[location.index()] &= idles;
        }
    }
    for (idle, touched) in idle.iter_mut().zip(touched) {
        *idle &= touched;
    }
    (plain && !(releasing && acquiring)).then_some(idle)
}

/// For each point the registers whose values decide something from there on.
fn registers_that_matter(thread: &Thread, idle: &[bool]) -> Vec<Vec<bool>> {
    let mut matters = vec![vec![false; thread.registers.len()]; thread.points.len()];
    loop {
        let mut changed = false;
        for transition in thread.transitions.iter().rev() {
            let op = &transition.op;
            let mut before = matters[transition.to.index()].clone();
            let target = op
                .target()
                .map(|target| std::mem::replace(&mut before[target.index()], false));
            let uses = match op {
                _ if direct(op).is_some_and(|location| idle[location.index()]) => false,
                Op::Assign(_, value) => target == Some(true) || can_err(value),
                _ => true,
            };
            if uses {
                op.for_each_register(&mut |register| before[register.index()] = true);
            }
            let at = &mut matters[transition.from.index()];
            for (known, new) in at.iter_mut().zip(before) {
                changed |= new && !*known;
                *known |= new;
            }
        }
        if !changed {
            return matters;
        }
    }
}

pub(crate) fn is_partial(op: BinaryOp) -> bool {
    use BinaryOp::{Divide, Remainder, ShiftLeft, ShiftRight};
    matches!(op, Divide | Remainder | ShiftLeft | ShiftRight)
}

/// Whether computing it can be an error. By a constant that is in range it is none.
pub(crate) fn can_err(value: &RegisterExpr) -> bool {
    match value {
        Expr::Const(_) | Expr::Atom(_) => false,
        Expr::Unary(_, operand) => can_err(operand),
        Expr::Binary(op, left, right) => {
            let harmless = match **right {
                Expr::Const(by) => (1..64).contains(&by),
                _ => false,
            };
            is_partial(*op) && !harmless || can_err(left) || can_err(right)
        }
        Expr::Element { .. } => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_lang::{ParseOptions, Source, parse};

    fn idle(text: &str) -> Vec<String> {
        let source = Source::new("a.pal", text);
        let program = parse(&source, &ParseOptions::default()).unwrap().program;
        without_idle_locations(&program).map_or(Vec::new(), |(_, names)| names)
    }

    #[test]
    fn a_counter_that_decides_nothing_is_idle() {
        let text = "shared count; shared flag; thread a { count.fetch_add(1, relaxed); flag.store(1, release); let r = count.load(relaxed); r = r + 1; } \
                    thread b { let r = flag.load(acquire); if r == 1 { skip; } }";
        assert_eq!(idle(text), ["count"]);
    }

    #[test]
    fn what_decides_something_is_not() {
        let branch = "shared x; thread a { x.store(1, relaxed); } thread b { let r = x.load(relaxed); if r == 1 { skip; } }";
        assert!(idle(branch).is_empty());
        let stored = "shared x; shared y; thread a { let r = x.load(relaxed); y.store(r, relaxed); } \
                      thread b { x.store(1, relaxed); let s = y.load(relaxed); assert s == 0; }";
        assert!(idle(stored).is_empty());
        let fenced = "shared x; thread a { x.store(1, relaxed); fence; } thread b { let r = x.load(relaxed); }";
        assert!(idle(fenced).is_empty());
        let ordered =
            "shared x; thread a { x.store(1, release); } thread b { let r = x.load(acquire); }";
        assert!(idle(ordered).is_empty());
        let divided = "shared x; thread a { x.store(1, relaxed); } thread b { let r = x.load(relaxed); let s = 1 / r; }";
        assert!(idle(divided).is_empty());
    }
}
