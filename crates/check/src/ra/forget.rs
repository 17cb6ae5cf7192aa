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

use std::collections::BTreeSet;

use palisade_lang::{
    Address, Copies, Expr, LocationId, Op, Order, Program, RegisterExpr, RegisterId, RmwAction,
    Transition, Value,
};

/// The values that something may have; `None` for too many.
type Values = Option<BTreeSet<Value>>;

/// An expression is evaluated for so many combinations of values.
const MOST_COMBINATIONS: usize = 64;

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
    for (location, values) in forgetful.locations.iter_mut().zip(&small.locations) {
        if values.is_none() {
            location.initial = 0;
            names.push(location.name.clone());
        }
    }
    let large_registers = small.registers.iter().flatten().any(Option::is_none);
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
struct Small {
    /// By code and register.
    registers: Vec<Vec<Values>>,
    locations: Vec<Values>,
    most: usize,
    changed: bool,
}

impl Small {
    fn new(program: &Program, most: usize) -> Self {
        let zero = || Some(BTreeSet::from([0]));
        let mut small = Small {
            registers: Vec::new(),
            locations: Vec::new(),
            most,
            changed: true,
        };
        for thread in &program.threads {
            let mut registers: Vec<Values> = thread.registers.iter().map(|_| zero()).collect();
            if let (Some(me), Copies::Fixed(copies)) = (thread.me, thread.copies) {
                // What a copy's number is never changes.
                small.most = small.most.max(copies as usize);
                registers[me.index()] = Some((0..Value::from(copies)).collect());
            }
            small.registers.push(registers);
        }
        for location in &program.locations {
            let initial = program.domain.reduce(location.initial);
            small.locations.push(Some(BTreeSet::from([initial])));
        }
        while std::mem::take(&mut small.changed) {
            for (code, thread) in program.threads.iter().enumerate() {
                for transition in &thread.transitions {
                    small.look_at(program, code, &transition.op);
                }
            }
        }
        small
    }

    fn add_to(values: &mut Values, more: &Values, most: usize) -> bool {
        let Some(known) = values else {
            return false;
        };
        let before = known.len();
        match more {
            Some(more) => known.extend(more),
            None => {
                *values = None;
                return true;
            }
        }
        let after = known.len();
        if after > most {
            *values = None;
        }
        before != after
    }

    fn add_to_register(&mut self, code: usize, register: RegisterId, more: &Values) {
        let values = &mut self.registers[code][register.index()];
        self.changed |= Self::add_to(values, more, self.most);
    }

    fn look_at(&mut self, program: &Program, code: usize, op: &Op) {
        if let Op::Assign(register, value) = op {
            let values = self.values_of(program, code, value);
            self.add_to_register(code, *register, &values);
            return;
        }
        let Some(address) = op.address() else {
            return;
        };
        let places = places(program, address);
        // What the same instruction may access is forgotten together.
        let forgotten = places.iter().any(|&p| self.locations[p].is_none());
        let mut there = Some(BTreeSet::new());
        for &place in &places {
            if forgotten && self.locations[place].take().is_some() {
                self.changed = true;
            }
            Self::add_to(&mut there, &self.locations[place], usize::MAX);
        }
        if let Some(target) = op.target() {
            self.add_to_register(code, target, &there);
        }
        let written = match op {
            Op::Store { value, .. } => self.values_of(program, code, value),
            Op::Rmw { action, .. } => match action {
                RmwAction::CompareAndSwap { desired, .. }
                | RmwAction::BlockingCompareAndSwap { desired, .. } => {
                    self.values_of(program, code, desired)
                }
                RmwAction::Exchange(value) => self.values_of(program, code, value),
                RmwAction::Fetch(op, operand) => {
                    let operand = self.values_of(program, code, operand);
                    match (there, operand) {
                        (Some(there), Some(operand)) => {
                            let pairs = there.iter().flat_map(|a| operand.iter().map(|b| (*a, *b)));
                            let results =
                                pairs.filter_map(|(a, b)| program.domain.binary(*op, a, b).ok());
                            Some(results.collect())
                        }
                        _ => None,
                    }
                }
            },
            _ => return,
        };
        for place in places {
            self.changed |= Self::add_to(&mut self.locations[place], &written, self.most);
        }
    }

    fn is_large(&self, code: usize, expr: &RegisterExpr) -> bool {
        let mut large = false;
        expr.for_each_atom(&mut |r| large |= self.registers[code][r.index()].is_none());
        large
    }

    fn values_of(&self, program: &Program, code: usize, expr: &RegisterExpr) -> Values {
        let mut registers: Vec<RegisterId> = Vec::new();
        expr.for_each_atom(&mut |r| {
            if !registers.contains(r) {
                registers.push(*r);
            }
        });
        let mut combinations: Vec<Vec<(RegisterId, Value)>> = vec![Vec::new()];
        for register in registers {
            let values = self.registers[code][register.index()].as_ref()?;
            if combinations.len() * values.len() > MOST_COMBINATIONS {
                return None;
            }
            combinations = combinations
                .iter()
                .flat_map(|known| {
                    values.iter().map(move |&value| {
                        let mut longer = known.clone();
                        longer.push((register, value));
                        longer
                    })
                })
                .collect();
        }
        let evaluate = |known: &Vec<(RegisterId, Value)>| {
            let value_of = |register: &RegisterId| {
                let found = known.iter().find(|(r, _)| r == register);
                Ok(found.map_or(0, |(_, value)| *value))
            };
            let mut value_of = value_of;
            expr.eval(program.domain, &mut value_of).ok()
        };
        let values = combinations.iter().filter_map(evaluate);
        Some(values.map(|v| program.domain.reduce(v)).collect())
    }

    /// What is left of an instruction: the ways in which it may be executed. None where an address is forgotten.
    fn without(&self, program: &Program, code: usize, op: &Op) -> Option<Vec<Op>> {
        let large = |expr: &RegisterExpr| self.is_large(code, expr);
        let is_forgotten = |register: RegisterId| self.registers[code][register.index()].is_none();
        match op.address() {
            Some(Address::Element { index, .. }) if large(index) => return None,
            Some(Address::Pointer(pointer)) if large(pointer) => return None,
            _ => {}
        }
        let forgotten = op.address().is_some_and(|a| {
            places(program, a)
                .iter()
                .any(|&p| self.locations[p].is_none())
        });
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

/// The locations that an address may name.
fn places(program: &Program, address: &Address<RegisterId>) -> Vec<usize> {
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
