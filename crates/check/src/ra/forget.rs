//! The program without values that do not matter: far fewer states prove that it is robust, or has no race.
//!
//! Both ask for the shapes of execution graphs, not for values. So a program that can do whatever the given one can, event by event, and more, proves
//! it if it holds for that one; if it does not, that says nothing. Two kinds of values are forgotten, one after the other:
//!
//! - Those that nothing depends on: no branch, `wait`, comparison or address uses them, nor anything that is computed from them; an `assert` does not
//!   count, and is left out where it looks at them. That is what programs hand over and protect: payloads, not flags.
//! - Those that take more than a few values (counters, epochs, pointers): a condition on such a value may be true or false, a `wait` for one does not wait,
//!   and a `cas` may succeed or fail. It is also the way to prove something about programs whose values have no bound.
//!
//! A location that is forgotten always holds 0. What is left keeps its values: flags, locks, what control flow depends on.
//!
//! Why every run is still there: by induction, a run of the program and the same steps here agree in the points of all threads and in everything that
//! is not forgotten, since nothing that is kept is ever computed from what is not.

use palisade_lang::{
    Address, Expr, LocationId, Op, Order, Program, RegisterExpr, RegisterId, RmwAction, Transition,
    Value,
};

use crate::values::{Possible, cannot_fail, may_fail, possible_values_by_code};

/// The program without what takes more than `most` values, and the names of the locations that forget theirs. None where nothing is forgotten, or an address
/// or a block would depend on it.
pub fn without_large_values(program: &Program, most: usize) -> Option<(Program, Vec<String>)> {
    let small = Small::new(program, most);
    let forgotten = Forgotten {
        registers: (small.0.registers.iter())
            .map(|registers| registers.iter().map(Option::is_none).collect())
            .collect(),
        locations: small.0.memory.iter().map(Option::is_none).collect(),
        places: all_places(program, |code, address| {
            small.places(program, code, address)
        }),
    };
    let forgetful = forgotten.without_them(program)?;
    let names = program.locations.iter().zip(&forgotten.locations);
    let names = names.filter(|(_, gone)| **gone);
    Some((forgetful, names.map(|(l, _)| l.name.clone()).collect()))
}

/// The program without values that nothing depends on, instruction by instruction. None where there are none. Some loads get no value from memory
/// (`observe`): those that `is_blind` says of a code and an instruction.
pub fn without_unused_values(
    program: &Program,
    is_blind: &dyn Fn(usize, usize) -> bool,
) -> Option<Program> {
    Forgotten::unused(program, is_blind).without_them(program)
}

/// What is forgotten.
struct Forgotten {
    /// By code and register.
    registers: Vec<Vec<bool>>,
    locations: Vec<bool>,
    /// By code and instruction: the locations that it may access.
    places: Vec<Vec<Vec<usize>>>,
}

/// The locations that each instruction of each code may access.
fn all_places(
    program: &Program,
    of_address: impl Fn(usize, &Address<RegisterId>) -> Vec<usize>,
) -> Vec<Vec<Vec<usize>>> {
    let of_op = |code, op: &Op| op.address().map_or(Vec::new(), |a| of_address(code, a));
    let threads = program.threads.iter().enumerate();
    threads
        .map(|(code, thread)| {
            thread
                .transitions
                .iter()
                .map(|t| of_op(code, &t.op))
                .collect()
        })
        .collect()
}

impl Forgotten {
    /// What nothing depends on: all that does not flow into a branch, a comparison, an address or an expression that may fail.
    fn unused(program: &Program, is_blind: &dyn Fn(usize, usize) -> bool) -> Self {
        let threads = program.threads.iter();
        let mut unused = Forgotten {
            registers: threads.map(|t| vec![true; t.registers.len()]).collect(),
            locations: vec![true; program.locations.len()],
            places: all_places(program, |_, address| places(program, address)),
        };
        loop {
            let mut changed = false;
            for (code, thread) in program.threads.iter().enumerate() {
                for (index, transition) in thread.transitions.iter().enumerate() {
                    let carries = !is_blind(code, index);
                    changed |= unused.look_at((code, index), &transition.op, carries);
                }
            }
            if !changed {
                return unused;
            }
        }
    }

    /// Uses what an instruction needs for what is used; whether that is anything new.
    fn look_at(&mut self, (code, index): (usize, usize), op: &Op, carries: bool) -> bool {
        let before = self.count();
        let places = self.places[code][index].clone();
        let target = op.target().filter(|_| carries);
        let mut needs: Vec<&RegisterExpr> = Vec::new();
        match op.address() {
            Some(Address::Element { index, .. }) => needs.push(index),
            Some(Address::Pointer(pointer)) => needs.push(pointer),
            Some(Address::Direct(_)) | None => {}
        }
        let is_used = |register: RegisterId| !self.registers[code][register.index()];
        // What the same instruction may access is used together.
        let mut uses_place =
            places.iter().any(|&p| !self.locations[p]) || target.is_some_and(is_used);
        let flows: &RegisterExpr = match op {
            Op::Assign(register, value) => {
                if !cannot_fail(value) {
                    self.registers[code][register.index()] = false;
                }
                if !self.registers[code][register.index()] {
                    needs.push(value);
                }
                return self.use_all(code, &needs, before);
            }
            Op::Assume(condition) => {
                needs.push(condition);
                return self.use_all(code, &needs, before);
            }
            Op::Assert(condition) => {
                if !cannot_fail(condition) {
                    needs.push(condition);
                }
                return self.use_all(code, &needs, before);
            }
            Op::Wait { value, .. } => {
                uses_place = true;
                value
            }
            Op::Store { value, .. } => value,
            Op::Rmw { action, .. } => match action {
                RmwAction::CompareAndSwap {
                    expected, desired, ..
                }
                | RmwAction::BlockingCompareAndSwap { expected, desired } => {
                    uses_place = true;
                    needs.push(expected);
                    desired
                }
                RmwAction::Exchange(value) => value,
                RmwAction::Fetch(op, value) => {
                    uses_place |= may_fail(*op);
                    value
                }
            },
            _ => &Expr::Const(0),
        };
        if uses_place || !cannot_fail(flows) {
            needs.push(flows);
            for place in places {
                self.locations[place] = false;
            }
        }
        self.use_all(code, &needs, before)
    }

    fn use_all(&mut self, code: usize, needs: &[&RegisterExpr], before: usize) -> bool {
        for need in needs {
            need.for_each_atom(&mut |r| self.registers[code][r.index()] = false);
        }
        self.count() != before
    }

    fn count(&self) -> usize {
        let all = self.registers.iter().chain([&self.locations]).flatten();
        all.filter(|unused| **unused).count()
    }

    /// The program without what is forgotten. None where nothing is, or an address or a block would depend on it.
    fn without_them(&self, program: &Program) -> Option<Program> {
        let has_blocks = |t: &palisade_lang::Thread| t.points.iter().any(|p| p.atomic);
        let mut all = self.registers.iter().chain([&self.locations]).flatten();
        if program.threads.iter().any(has_blocks) || !all.any(|gone| *gone) {
            return None;
        }
        let mut forgetful = program.clone();
        for (location, gone) in forgetful.locations.iter_mut().zip(&self.locations) {
            if *gone {
                location.initial = 0;
            }
        }
        for (code, thread) in forgetful.threads.iter_mut().enumerate() {
            let mut transitions = Vec::new();
            for (index, transition) in thread.transitions.iter().enumerate() {
                let ops = self.without(program, (code, index), &transition.op)?;
                transitions.extend(ops.into_iter().map(|op| Transition {
                    op,
                    ..transition.clone()
                }));
            }
            thread.transitions = transitions;
        }
        let same = forgetful.threads == program.threads && forgetful.locations == program.locations;
        (!same).then_some(forgetful)
    }

    fn is_large(&self, code: usize, expr: &RegisterExpr) -> bool {
        let mut large = false;
        expr.for_each_atom(&mut |r| large |= self.registers[code][r.index()]);
        large
    }

    /// What is left of an instruction: the ways in which it may be executed. None where an address is forgotten.
    fn without(
        &self,
        program: &Program,
        (code, index): (usize, usize),
        op: &Op,
    ) -> Option<Vec<Op>> {
        let large = |expr: &RegisterExpr| self.is_large(code, expr);
        let is_forgotten = |register: RegisterId| self.registers[code][register.index()];
        match op.address() {
            Some(Address::Element { index, .. }) if large(index) => return None,
            Some(Address::Pointer(pointer)) if large(pointer) => return None,
            _ => {}
        }
        let forgotten = self.places[code][index].iter().any(|&p| self.locations[p]);
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
}

/// The locations that an address may name.
pub fn places(program: &Program, address: &Address<RegisterId>) -> Vec<usize> {
    match address {
        Address::Direct(location) => vec![location.index()],
        Address::Element { first, length, .. } => {
            (first.index()..first.index() + *length as usize).collect()
        }
        Address::Pointer(pointer) => match pointer.constant(program.domain) {
            Some(address) => {
                let found = program.location_at(address);
                found.map(LocationId::index).into_iter().collect()
            }
            None => (0..program.locations.len()).collect(),
        },
    }
}
