//! Which locations hold addresses, as far as the text tells: for showing their values as `&a`, and for nothing else.

use crate::expr::{BinaryOp, Expr};
use crate::program::{Address, LocationId, Op, Program, RegisterExpr, RegisterId, RmwAction};
use crate::targets::Targets;

/// Registers and locations in classes: two are in the same one where a value goes from one to the other unchanged.
struct Classes {
    parents: Vec<usize>,
    /// By class: whether something in it is used as an address.
    used: Vec<bool>,
}

impl Classes {
    fn of(&mut self, mut of: usize) -> usize {
        while self.parents[of] != of {
            self.parents[of] = self.parents[self.parents[of]];
            of = self.parents[of];
        }
        of
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.of(a), self.of(b));
        self.parents[a] = b;
        self.used[b] |= self.used[a];
    }

    fn use_as_address(&mut self, of: usize) {
        let of = self.of(of);
        self.used[of] = true;
    }
}

/// The locations whose values are used as addresses, or that an address is stored to.
pub fn holding_addresses(program: &Program) -> Vec<LocationId> {
    let places = program.locations.len();
    let registers: usize = program.threads.iter().map(|t| t.registers.len()).sum();
    let mut classes = Classes {
        parents: (0..places + registers).collect(),
        used: vec![false; places + registers],
    };
    let mut first = places;
    let targets = Targets::of(program);
    for (number, thread) in program.threads.iter().enumerate() {
        let register = |r: &RegisterId| first + r.index();
        for (index, transition) in thread.transitions.iter().enumerate() {
            let op = &transition.op;
            let place = op.address().and_then(|address| {
                if let Address::Pointer(pointer) = address
                    && let Some(pointer) = base(pointer)
                {
                    classes.use_as_address(register(pointer));
                }
                place_of(address).or_else(|| {
                    let targets = targets.as_ref()?.of_transition(number, index);
                    same_member(program, &targets.locations, &mut classes)
                })
            });
            for (target, value) in moves(op) {
                let target = match target {
                    Some(target) => Some(register(&target)),
                    None => place,
                };
                match (target, value) {
                    (Some(target), Some(Expr::Atom(source))) => {
                        classes.join(register(source), target);
                    }
                    (Some(target), Some(Expr::Element { .. })) => classes.use_as_address(target),
                    (Some(target), None) => {
                        if let Some(place) = place {
                            classes.join(place, target);
                        }
                    }
                    _ => {}
                }
            }
        }
        first += thread.registers.len();
    }
    // An array holds the same in all its elements; accesses whose index is not fixed have named the first.
    let arrays = program.threads.iter().flat_map(|t| &t.transitions);
    for transition in arrays {
        if let Some(Address::Element { first, length, .. }) = transition.op.address() {
            for element in first.index()..(first.index() + *length as usize).min(places) {
                classes.join(element, first.index());
            }
        }
    }
    let all = (0..places).filter(|&place| {
        let class = classes.of(place);
        classes.used[class]
    });
    all.map(|place| LocationId(place as u32)).collect()
}

/// The pointer in an address that is one, or one with an offset.
fn base(address: &RegisterExpr) -> Option<&RegisterId> {
    match address {
        Expr::Atom(pointer) => Some(pointer),
        Expr::Binary(BinaryOp::Add, pointer, offset) => match (&**pointer, &**offset) {
            (Expr::Atom(pointer), Expr::Const(_)) => Some(pointer),
            _ => None,
        },
        _ => None,
    }
}

/// One of these locations, where all of them are the same member of different structs, and so hold the same kind of values; they are one class then.
fn same_member(
    program: &Program,
    locations: &[LocationId],
    classes: &mut Classes,
) -> Option<usize> {
    let member = |location: &LocationId| {
        let name = &program.location(*location).name;
        name.rfind('.').map(|dot| &name[dot..])
    };
    let first = locations.first()?;
    let wanted = member(first)?;
    let same = locations.iter().all(|other| member(other) == Some(wanted));
    same.then(|| {
        for other in locations {
            classes.join(other.index(), first.index());
        }
        first.index()
    })
}

/// The location of an address, or the first element of its array; `None` behind a pointer.
fn place_of(address: &Address<RegisterId>) -> Option<usize> {
    match address {
        Address::Direct(location)
        | Address::Element {
            first: location, ..
        } => Some(location.index()),
        Address::Pointer(_) => None,
    }
}

/// Where an instruction puts values unchanged: a register, or (`None`) its location; and what, or (`None`) what its location holds.
fn moves(op: &Op) -> Vec<(Option<RegisterId>, Option<&RegisterExpr>)> {
    match op {
        Op::Assign(register, value) => vec![(Some(*register), Some(value))],
        Op::Load { register, .. } => vec![(Some(*register), None)],
        Op::Store { value, .. } => vec![(None, Some(value))],
        Op::Wait {
            register, value, ..
        } => {
            let read = register.map(|register| (Some(register), None));
            read.into_iter().chain([(None, Some(value))]).collect()
        }
        Op::Rmw {
            register, action, ..
        } => {
            let read = register.map(|register| (Some(register), None));
            let written = match action {
                RmwAction::CompareAndSwap {
                    expected, desired, ..
                }
                | RmwAction::BlockingCompareAndSwap { expected, desired } => {
                    vec![expected, desired]
                }
                RmwAction::Exchange(value) => vec![value],
                RmwAction::Fetch(..) => Vec::new(),
            };
            let written = written.into_iter().map(|value| (None, Some(value)));
            read.into_iter().chain(written).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ParseOptions, Source, parse};

    fn program(text: &str) -> Program {
        let source = Source::new("test.pal", text);
        let parsed = parse(&source, &ParseOptions::default());
        parsed.expect("a program").program
    }

    #[test]
    fn what_is_dereferenced_holds_addresses() {
        let text = "shared x, p, q, n; thread a { p = &x; q = p; n = 1; } thread b { let r = q; if r != 0 { *r = 1; } let k = n; }";
        let program = program(text);
        let names: Vec<&str> = holding_addresses(&program)
            .into_iter()
            .map(|l| program.location(l).name.as_str())
            .collect();
        assert_eq!(names, ["p", "q"]);
    }

    #[test]
    fn arrays_of_pointers_are_seen_as_one() {
        let text = "shared x, s[2]; thread a { s[0] = &x; } thread b { let i = 1; let r = s[i]; if r != 0 { *r = 1; } }";
        let program = program(text);
        assert_eq!(holding_addresses(&program).len(), 2);
    }
}
