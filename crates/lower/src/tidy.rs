//! Memory that is none of others' business, taken out of a program.
//!
//! What is left to the search should be what threads share. So, by what each access may go to ([`Targets`]): a pointer that can only lead to one location
//! is that location; plain data that nothing ever stores to is a constant; plain data that a single thread uses is a register of it; and
//! what nothing accesses is no part of the program. Accesses that are atomic stay, because they are what a reader of the program, a fence or an order is about.

use palisade_lang::targets::Targets;
use palisade_lang::{
    Address, BinaryOp, Copies, Expr, LocationId, Op, Order, Point, PointId, Program, Register,
    RegisterExpr, RegisterId, Relation, Transition,
};

/// What becomes known makes more known; few programs need a third round.
const ROUNDS: usize = 3;

/// Takes out of a program what only one thread can notice.
pub(crate) fn tidy(program: &mut Program) {
    for _ in 0..ROUNDS {
        let Some(targets) = Targets::of(program) else {
            return;
        };
        let uses = Uses::of(program, &targets);
        let mut changed = name_single_targets(program, &targets);
        changed |= take_out_private(program, &uses);
        if !changed {
            drop_unused(program, &uses);
            return;
        }
    }
    if let Some(targets) = Targets::of(program) {
        let uses = Uses::of(program, &targets);
        drop_unused(program, &uses);
    }
}

/// Which threads access a location, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
enum User {
    None,
    Thread(usize),
    Several,
}

struct Uses {
    /// By location.
    user: Vec<User>,
    /// Something may store to it.
    written: Vec<bool>,
    /// Every access names it, and is one that a register could serve.
    plain: Vec<bool>,
}

impl Uses {
    fn of(program: &Program, targets: &Targets) -> Self {
        let count = program.locations.len();
        let mut uses = Uses {
            user: vec![User::None; count],
            written: vec![false; count],
            plain: vec![true; count],
        };
        for (number, thread) in program.threads.iter().enumerate() {
            for (index, transition) in thread.transitions.iter().enumerate() {
                let target = targets.of_transition(number, index);
                let op = &transition.op;
                let single = matches!(op.address(), Some(Address::Direct(_)))
                    || target.locations.len() == 1 && !target.may_err;
                let served = match op {
                    Op::Load { order, .. } | Op::Store { order, .. } => *order == Order::NonAtomic,
                    // What must not be there, looked at by no other thread.
                    Op::Wait { order, .. } => *order == Order::Relaxed,
                    _ => false,
                };
                for location in &target.locations {
                    let at = location.index();
                    uses.user[at] = match uses.user[at] {
                        User::None if thread.copies == Copies::One => User::Thread(number),
                        User::Thread(same) if same == number => User::Thread(number),
                        _ => User::Several,
                    };
                    uses.written[at] |= matches!(op, Op::Store { .. } | Op::Rmw { .. });
                    uses.plain[at] &= single && served;
                }
            }
        }
        uses
    }
}

/// Pointers and indices that can only lead to one location name it.
fn name_single_targets(program: &mut Program, targets: &Targets) -> bool {
    let mut changed = false;
    for (number, thread) in program.threads.iter_mut().enumerate() {
        for (index, transition) in thread.transitions.iter_mut().enumerate() {
            let target = targets.of_transition(number, index);
            let (&[location], false) = (&target.locations[..], target.may_err) else {
                continue;
            };
            let address = match &mut transition.op {
                Op::Load { address, .. }
                | Op::Store { address, .. }
                | Op::Wait { address, .. }
                | Op::Rmw { address, .. } => address,
                _ => continue,
            };
            if !matches!(address, Address::Direct(_)) {
                *address = Address::Direct(location);
                changed = true;
            }
        }
    }
    changed
}

/// Plain data that is never stored to, or that one thread uses, is no memory.
fn take_out_private(program: &mut Program, uses: &Uses) -> bool {
    let domain = program.domain;
    let mut changed = false;
    for (number, thread) in program.threads.iter_mut().enumerate() {
        let mut registers: Vec<Option<RegisterId>> = vec![None; program.locations.len()];
        let mut set_first: Vec<(RegisterId, RegisterExpr)> = Vec::new();
        for transition in &mut thread.transitions {
            let Some(Address::Direct(location)) = transition.op.address() else {
                continue;
            };
            let at = location.index();
            let initial = domain.reduce(program.locations[at].initial);
            let value: RegisterExpr = match (uses.written[at], uses.user[at]) {
                (false, _) if is_plain_load(&transition.op) => Expr::Const(initial),
                (true, User::Thread(user)) if uses.plain[at] && user == number => {
                    let register = *registers[at].get_or_insert_with(|| {
                        let location = &program.locations[at];
                        let register = RegisterId(thread.registers.len() as u32);
                        thread.registers.push(Register {
                            name: Some(location.name.clone()),
                            span: location.span,
                        });
                        if initial != 0 {
                            set_first.push((register, Expr::Const(initial)));
                        }
                        register
                    });
                    Expr::Atom(register)
                }
                _ => continue,
            };
            let op = match &transition.op {
                Op::Load { register, .. } => Op::Assign(*register, value),
                Op::Store { value: stored, .. } => match value {
                    Expr::Atom(register) => Op::Assign(register, stored.clone()),
                    _ => continue,
                },
                Op::Wait {
                    register: None,
                    relation,
                    value: wanted,
                    ..
                } => Op::Assume(Expr::binary(as_operator(*relation), value, wanted.clone())),
                _ => continue,
            };
            transition.op = op;
            changed = true;
        }
        // Registers begin as 0.
        let span = thread.span;
        for (register, value) in set_first {
            let before = PointId(thread.points.len() as u32);
            thread.points.push(Point {
                name: None,
                atomic: false,
                place: None,
                span,
            });
            thread.transitions.push(Transition {
                from: before,
                to: thread.initial,
                op: Op::Assign(register, value),
                span,
            });
            thread.initial = before;
        }
    }
    changed
}

/// Whether a register could serve in place of this, as long as no thread stores.
fn is_plain_load(op: &Op) -> bool {
    match op {
        Op::Load { order, .. } => *order == Order::NonAtomic,
        Op::Wait {
            order, register, ..
        } => *order == Order::Relaxed && register.is_none(),
        _ => false,
    }
}

fn as_operator(relation: Relation) -> BinaryOp {
    match relation {
        Relation::Equal => BinaryOp::Equal,
        Relation::NotEqual => BinaryOp::NotEqual,
        Relation::Less => BinaryOp::Less,
        Relation::LessEqual => BinaryOp::LessEqual,
        Relation::Greater => BinaryOp::Greater,
        Relation::GreaterEqual => BinaryOp::GreaterEqual,
    }
}

/// Leaves out locations that nothing accesses. The others keep their addresses.
fn drop_unused(program: &mut Program, uses: &Uses) {
    let mut kept: Vec<bool> = uses.user.iter().map(|user| *user != User::None).collect();
    // An index goes to any element of its array.
    for transition in program.threads.iter().flat_map(|t| &t.transitions) {
        if let Some(Address::Element { first, length, .. }) = transition.op.address() {
            let last = (first.index() + *length as usize).min(kept.len());
            kept[first.index()..last].fill(true);
        }
    }
    if kept.iter().all(|kept| *kept) {
        return;
    }
    let mut number = vec![LocationId(0); kept.len()];
    let mut next = 0;
    for (at, kept) in kept.iter().enumerate() {
        number[at] = LocationId(next);
        next += u32::from(*kept);
    }
    let mut at = 0;
    program.locations.retain_mut(|location| {
        // An array that is not whole is none.
        location.array = location.array.and_then(|(first, length)| {
            let last = (first.index() + length as usize).min(kept.len());
            let whole = kept[first.index()..last].iter().all(|kept| *kept);
            whole.then(|| (number[first.index()], length))
        });
        at += 1;
        kept[at - 1]
    });
    for transition in program.threads.iter_mut().flat_map(|t| &mut t.transitions) {
        let address = match &mut transition.op {
            Op::Load { address, .. }
            | Op::Store { address, .. }
            | Op::Wait { address, .. }
            | Op::Rmw { address, .. } => address,
            _ => continue,
        };
        match address {
            Address::Direct(location) => *location = number[location.index()],
            Address::Element { first, .. } => *first = number[first.index()],
            Address::Pointer(_) => {}
        }
    }
}
