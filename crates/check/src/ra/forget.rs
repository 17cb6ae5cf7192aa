//! The program without the values that grow: where they do not matter for robustness, far fewer states prove it.
//!
//! Robustness asks for the shapes of execution graphs, not for values. So a program that can do whatever the given one can, event by event, and more, proves
//! it if it is robust itself; if it is not, that says nothing. Here registers and locations that take more than a few values (counters, epochs,
//! pointers) forget them: such a location always holds 0, a condition on such a value may be true or false, a `wait` for one does not wait, and a `cas` may
//! succeed or fail. What is left keeps its values: flags, locks, what control flow depends on. It is also the way to prove something about
//! programs whose values have no bound.
//!
//! Why every run is still there: by induction, a run of the program and the same steps here agree in the points of all threads and in everything that
//! is not forgotten, since nothing that is kept is ever computed from what is not.

use palisade_lang::{
    Address, Expr, LocationId, Op, Order, Program, RegisterExpr, RegisterId, RmwAction, Transition,
    Value,
};

use crate::values::{Possible, possible_values_by_code};

/// The program without what takes more than `most` values, and the names of the locations that forget theirs. None where nothing is forgotten, or an address
/// or a block would depend on it.
pub fn without_large_values(program: &Program, most: usize) -> Option<(Program, Vec<String>)> {
    let has_blocks = |t: &palisade_lang::Thread| t.points.iter().any(|p| p.atomic);
    if program.threads.iter().any(has_blocks) {
        return None;
    }
    let small = Small::new(program, most);
    let mut forgetful = program.clone();
    let mut names = Vec::new();
    for (location, values) in forgetful.locations.iter_mut().zip(&small.0.memory) {
        if values.is_none() {
            location.initial = 0;
            names.push(location.name.clone());
        }
    }
    let large_registers = small.0.registers.iter().flatten().any(Option::is_none);
    if names.is_empty() && !large_registers {
        return None;
    }
    for (code, thread) in forgetful.threads.iter_mut().enumerate() {
        let mut transitions = Vec::new();
        for transition in &thread.transitions {
            let ops = small.without(program, code, &transition.op)?;
            transitions.extend(ops.into_iter().map(|op| Transition {
                op,
                ..transition.clone()
            }));
        }
        thread.transitions = transitions;
    }
    Some((forgetful, names))
}

/// What takes few values.
struct Small(Possible);

impl Small {
    fn new(program: &Program, most: usize) -> Self {
        let mut small = Small(possible_values_by_code(program, most));
        // What the same instruction may access is forgotten together.
        loop {
            let mut together = Vec::new();
            for (code, thread) in program.threads.iter().enumerate() {
                for address in thread.transitions.iter().filter_map(|t| t.op.address()) {
                    if small.is_forgotten(program, code, address) {
                        together.extend(small.places(program, code, address));
                    }
                }
            }
            together.retain(|&location| small.0.memory[location].is_some());
            if together.is_empty() {
                return small;
            }
            together.into_iter().for_each(|l| small.0.forget(l));
            small.0.settle(program);
        }
    }

    /// The locations that an address may name.
    fn places(&self, program: &Program, code: usize, address: &Address<RegisterId>) -> Vec<usize> {
        match self.0.locations(program, code, address) {
            Some(locations) => locations.into_iter().map(LocationId::index).collect(),
            None => (0..program.locations.len()).collect(),
        }
    }

    /// Whether an address may name a location that is forgotten.
    fn is_forgotten(&self, program: &Program, code: usize, address: &Address<RegisterId>) -> bool {
        let places = self.places(program, code, address);
        places.iter().any(|&place| self.0.memory[place].is_none())
    }

    fn is_large(&self, code: usize, expr: &RegisterExpr) -> bool {
        let mut large = false;
        expr.for_each_atom(&mut |r| large |= self.0.registers[code][r.index()].is_none());
        large
    }

    /// What is left of an instruction: the ways in which it may be executed. None where an address is forgotten.
    fn without(&self, program: &Program, code: usize, op: &Op) -> Option<Vec<Op>> {
        let large = |expr: &RegisterExpr| self.is_large(code, expr);
        let is_forgotten =
            |register: RegisterId| self.0.registers[code][register.index()].is_none();
        match op.address() {
            Some(Address::Element { index, .. }) if large(index) => return None,
            Some(Address::Pointer(pointer)) if large(pointer) => return None,
            _ => {}
        }
        let forgotten = (op.address()).is_some_and(|a| self.is_forgotten(program, code, a));
        let kept = |expr: &RegisterExpr| match forgotten {
            true => Expr::Const(0),
            false => expr.clone(),
        };
        let load = |register: Option<RegisterId>, address: &Address<RegisterId>, order: Order| {
            match register {
                Some(register) => Op::Load {
                    register,
                    address: address.clone(),
                    order,
                },
                // A read whose value goes nowhere: one that waits for anything.
                None => Op::Wait {
                    register: None,
                    address: address.clone(),
                    relation: palisade_lang::Relation::GreaterEqual,
                    value: Expr::Const(match program.domain.size() {
                        Some(_) => 0,
                        None => Value::MIN,
                    }),
                    order,
                },
            }
        };
        Some(match op {
            Op::Assign(register, _) if is_forgotten(*register) => {
                vec![Op::Assign(*register, Expr::Const(0))]
            }
            Op::Assume(condition) | Op::Assert(condition) if large(condition) => vec![Op::Skip],
            Op::Store {
                address,
                order,
                value,
            } if forgotten => vec![Op::Store {
                address: address.clone(),
                value: kept(value),
                order: *order,
            }],
            Op::Wait {
                register,
                address,
                value,
                order,
                ..
            } if forgotten || large(value) => vec![load(*register, address, *order)],
            Op::Rmw {
                register,
                address,
                action,
                order,
            } => {
                let exchange = |value: &RegisterExpr| Op::Rmw {
                    register: *register,
                    address: address.clone(),
                    action: RmwAction::Exchange(kept(value)),
                    order: *order,
                };
                match action {
                    RmwAction::CompareAndSwap {
                        expected,
                        desired,
                        failure,
                    } if forgotten || large(expected) => {
                        vec![exchange(desired), load(*register, address, *failure)]
                    }
                    RmwAction::BlockingCompareAndSwap { expected, desired }
                        if forgotten || large(expected) =>
                    {
                        vec![exchange(desired)]
                    }
                    RmwAction::Fetch(_, value) | RmwAction::Exchange(value) if forgotten => {
                        vec![exchange(value)]
                    }
                    _ => vec![op.clone()],
                }
            }
            _ => vec![op.clone()],
        })
    }
}
