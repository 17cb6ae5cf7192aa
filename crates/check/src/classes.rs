//! Values by class: the program in which values that no operation tells apart are one.
//!
//! Each register and each location has *classes* of the values that it may hold. To begin with, all are in one class. Then every operation tells apart
//! what it must, again and again until nothing changes:
//!
//! - a condition, a comparison and an address: values with which they come out differently;
//! - what computes a value, and every copy from one place to another: values that become values of different classes there;
//! - a `never`: values with which a part of it that looks at one register or location differs.
//!
//! What is written into a place, and always is a value of one and the same class there, is replaced by the class's smallest value. So payloads that are handed on,
//! but never looked at, become one value, and a counter that is never asked about does not count.
//!
//! Why nothing else changes: take a run of the program, and let the other one execute the same instructions. By induction, all threads are at the same points, buffers
//! hold as many stores to the same locations, and corresponding values are of the same class of the place that they are in, or are on their way to. So conditions, waits, comparisons
//! and addresses come out the same, the same instruction can be executed next, with a result of the same class, and the same errors occur and the same `never`s are true. The
//! same holds the other way around: what one program can reach, the other one can, instruction by instruction. No memory model looks at values.
//!
//! An operation on several values is looked at for all combinations of what these places may hold ([`Possible`]), so that they may be exchanged one after the
//! other. Where these are not known, or too many, all are told apart. A program that asks for a deadlock is left as it is: a thread that goes around without changing
//! anything counts as one that waits, and whether a store changes anything is a question about values that no operation asks.

use palisade_lang::{
    Address, Expr, LocationId, Op, Program, ProgramError, RegisterExpr, RegisterId, RmwAction,
    StateAtom, Value,
};

use palisade_threads::visit_state_atoms;

use crate::values::{Possible, cannot_fail, may_fail, possible_values_by_code};

/// More values than this in one place are not looked at one by one.
const MOST_VALUES: usize = 24;
/// More combinations of values than this are not tried.
const MOST_COMBINATIONS: usize = 576;
/// Longer code is left as it is.
const MOST_INSTRUCTIONS: usize = 5_000;

/// The program with values by class. None where that is the same program.
pub(crate) fn by_class(program: &Program) -> Option<Program> {
    let instructions: usize = program.threads.iter().map(|t| t.transitions.len()).sum();
    let mut asks_deadlock = false;
    let conditions = program.nevers.iter().flat_map(|n| &n.conditions);
    visit_state_atoms(conditions, &mut |atom| {
        asks_deadlock |= *atom == StateAtom::Deadlock;
    });
    if instructions > MOST_INSTRUCTIONS || asks_deadlock {
        return None;
    }
    let mut classes = Classes::new(program);
    classes.settle();
    classes.merged()
}

/// A register of a code, or a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Register(usize, usize),
    Location(usize),
}

/// A class of a place: its number, or the value where each is one of its own.
type Class = Value;

/// What comes out of an operation, as far as it matters; `None` for an error.
type Came = Option<Vec<Class>>;

/// The classes of one place.
#[derive(Clone, Debug)]
struct Partition {
    /// What the place may hold, in ascending order, and the class of each; `None` stands for any value.
    values: Option<Vec<(Value, Class)>>,
    /// The number of classes; where any value may be there, they are all in one, or (with 2) each in its own.
    count: usize,
}

impl Partition {
    fn new(values: &Option<Vec<Value>>) -> Self {
        let values = values.as_ref().filter(|v| v.len() <= MOST_VALUES);
        Partition {
            values: values.map(|values| values.iter().map(|&v| (v, 0)).collect()),
            count: 1,
        }
    }

    fn is_one(&self) -> bool {
        self.count <= 1
    }

    fn class(&self, value: Value) -> Class {
        match &self.values {
            _ if self.is_one() => 0,
            None => value,
            Some(values) => match values.binary_search_by_key(&value, |v| v.0) {
                Ok(at) => values[at].1,
                // It cannot be there. Were it, it would be like no other.
                Err(_) => Class::MAX,
            },
        }
    }

    /// Whether the place may hold a value.
    fn may_hold(&self, value: Value) -> bool {
        let values = self.values.as_ref();
        values.is_none_or(|values| values.binary_search_by_key(&value, |v| v.0).is_ok())
    }

    /// Tells values with different keys apart, as well as those that were before; whether that is new. There is one key for each value.
    fn split<K: PartialEq>(&mut self, keys: &[K]) -> bool {
        let Some(values) = &mut self.values else {
            return false;
        };
        let old: Vec<Class> = values.iter().map(|v| v.1).collect();
        let mut first_of: Vec<usize> = Vec::new();
        for at in 0..values.len() {
            let alike = |&other: &usize| old[other] == old[at] && keys[other] == keys[at];
            let class = first_of.iter().position(alike).unwrap_or_else(|| {
                first_of.push(at);
                first_of.len() - 1
            });
            values[at].1 = class as Class;
        }
        let before = std::mem::replace(&mut self.count, first_of.len());
        self.count > before
    }

    /// Tells all values apart; whether that is new.
    fn split_all(&mut self) -> bool {
        match &self.values {
            Some(values) => {
                let keys: Vec<Value> = values.iter().map(|v| v.0).collect();
                self.split(&keys)
            }
            None => std::mem::replace(&mut self.count, 2) == 1,
        }
    }
}

struct Classes<'p> {
    program: &'p Program,
    possible: Possible,
    registers: Vec<Vec<Partition>>,
    locations: Vec<Partition>,
    changed: bool,
}

impl<'p> Classes<'p> {
    fn new(program: &'p Program) -> Self {
        let possible = possible_values_by_code(program, MOST_VALUES);
        let of_code = |of: &Vec<_>| of.iter().map(Partition::new).collect();
        Classes {
            registers: possible.registers.iter().map(of_code).collect(),
            locations: possible.memory.iter().map(Partition::new).collect(),
            program,
            possible,
            changed: false,
        }
    }

    fn of(&self, place: Place) -> &Partition {
        match place {
            Place::Register(code, register) => &self.registers[code][register],
            Place::Location(location) => &self.locations[location],
        }
    }

    fn of_mut(&mut self, place: Place) -> &mut Partition {
        match place {
            Place::Register(code, register) => &mut self.registers[code][register],
            Place::Location(location) => &mut self.locations[location],
        }
    }

    /// Tells apart what operations tell apart.
    fn settle(&mut self) {
        let program = self.program;
        loop {
            self.changed = false;
            for (code, thread) in program.threads.iter().enumerate() {
                for transition in &thread.transitions {
                    self.look_at(code, &transition.op);
                }
            }
            for condition in program.nevers.iter().flat_map(|n| &n.conditions) {
                self.look_at_never(condition);
            }
            if !self.changed {
                return;
            }
        }
    }

    fn look_at(&mut self, code: usize, op: &Op) {
        match op.address() {
            Some(Address::Element { index: by, .. }) | Some(Address::Pointer(by)) => {
                self.look_at_value(code, by, &|_, value| vec![value]);
            }
            Some(Address::Direct(_)) | None => {}
        }
        let target = op.target().map(|r| Place::Register(code, r.index()));
        let places = self.places(code, op);
        match op {
            Op::Assign(register, value) => {
                self.flows(code, value, &[Place::Register(code, register.index())]);
            }
            Op::Assume(condition) | Op::Assert(condition) => {
                self.look_at_value(code, condition, &|_, value| vec![Value::from(value != 0)]);
            }
            Op::Store { value, .. } => self.flows(code, value, &places),
            Op::Load { .. } => self.is_copied(&places, target),
            Op::Wait {
                relation, value, ..
            } => {
                self.is_copied(&places, target);
                for &place in &places {
                    self.is_compared(code, place, value, &|read, value| {
                        Some(relation.holds(read, value).into())
                    });
                }
            }
            Op::Rmw { action, .. } => {
                self.is_copied(&places, target);
                let domain = self.program.domain;
                match action {
                    RmwAction::CompareAndSwap {
                        expected, desired, ..
                    }
                    | RmwAction::BlockingCompareAndSwap { expected, desired } => {
                        for &place in &places {
                            self.is_compared(code, place, expected, &|read, expected| {
                                Some((read == expected).into())
                            });
                        }
                        self.flows(code, desired, &places);
                    }
                    RmwAction::Exchange(value) => self.flows(code, value, &places),
                    RmwAction::Fetch(op, operand) => {
                        for &place in &places {
                            if self.of(place).is_one() && cannot_fail(operand) && !may_fail(*op) {
                                continue;
                            }
                            let partition = self.of(place).clone();
                            self.is_compared(code, place, operand, &|read, operand| {
                                let result = domain.binary(*op, read, operand).ok()?;
                                Some(partition.class(domain.reduce(result)))
                            });
                        }
                    }
                }
            }
            Op::Skip | Op::Jump | Op::Fence(_) | Op::AtomicBegin | Op::AtomicEnd => {}
        }
    }

    /// The locations that an instruction may access.
    fn places(&self, code: usize, op: &Op) -> Vec<Place> {
        let Some(address) = op.address() else {
            return Vec::new();
        };
        let locations = self.possible.locations(self.program, code, address);
        let all = || (0..self.locations.len() as u32).map(LocationId).collect();
        let locations = locations.unwrap_or_else(all);
        let places = locations.into_iter();
        places.map(|l| Place::Location(l.index())).collect()
    }

    /// A value is computed and written into a place, or into one of several.
    fn flows(&mut self, code: usize, value: &RegisterExpr, to: &[Place]) {
        if cannot_fail(value) && to.iter().all(|&place| self.of(place).is_one()) {
            return;
        }
        let domain = self.program.domain;
        self.look_at_value(code, value, &|classes, value| {
            let value = domain.reduce(value);
            let of = |&place: &Place| classes.of(place).class(value);
            to.iter().map(of).collect()
        });
    }

    /// What is in a place (or in one of several) is copied.
    fn is_copied(&mut self, from: &[Place], to: Option<Place>) {
        let Some(to) = to.filter(|&to| !self.of(to).is_one()) else {
            return;
        };
        for &place in from {
            self.tell_apart(&[place], &|classes, values| {
                Some(vec![classes.of(to).class(values[0])])
            });
        }
    }

    /// An expression is evaluated, and `key` says what matters of its value.
    fn look_at_value(
        &mut self,
        code: usize,
        expr: &RegisterExpr,
        key: &dyn Fn(&Self, Value) -> Vec<Class>,
    ) {
        let registers = registers_of(expr);
        let places: Vec<Place> = registers
            .iter()
            .map(|r| Place::Register(code, r.index()))
            .collect();
        let domain = self.program.domain;
        self.tell_apart(&places, &|classes, values| {
            let value = evaluate(expr, domain, &registers, values).ok()?;
            Some(key(classes, value))
        });
    }

    /// What is in a place is brought together with the value of an expression, and `key` says what comes out.
    fn is_compared(
        &mut self,
        code: usize,
        place: Place,
        expr: &RegisterExpr,
        key: &dyn Fn(Value, Value) -> Option<Class>,
    ) {
        let registers = registers_of(expr);
        let mut places = vec![place];
        places.extend(registers.iter().map(|r| Place::Register(code, r.index())));
        let domain = self.program.domain;
        self.tell_apart(&places, &|_, values| {
            let value = evaluate(expr, domain, &registers, &values[1..]).ok()?;
            Some(vec![key(values[0], value)?])
        });
    }

    /// Tells values of different places apart where they make a difference to `result`, whatever is in the others.
    fn tell_apart(&mut self, places: &[Place], result: &dyn Fn(&Self, &[Value]) -> Came) {
        let mut choices: Vec<Vec<Value>> = Vec::new();
        let mut combinations = 1usize;
        for &place in places {
            match &self.of(place).values {
                Some(values) => {
                    combinations = combinations.saturating_mul(values.len());
                    choices.push(values.iter().map(|v| v.0).collect());
                }
                None => combinations = usize::MAX,
            }
        }
        if combinations > MOST_COMBINATIONS {
            for &place in places {
                let new = self.of_mut(place).split_all();
                self.changed |= new;
            }
            return;
        }
        // The first place's value changes fastest.
        let results: Vec<Came> = (0..combinations)
            .map(|number| {
                let mut rest = number;
                let mut values = Vec::with_capacity(choices.len());
                for of_place in &choices {
                    values.push(of_place[rest % of_place.len()]);
                    rest /= of_place.len();
                }
                result(self, &values)
            })
            .collect();
        let mut stride = 1;
        for (&place, of_place) in places.iter().zip(&choices) {
            let count = of_place.len();
            let mut keys: Vec<Vec<&Came>> = vec![Vec::new(); count];
            for (number, result) in results.iter().enumerate() {
                keys[number / stride % count].push(result);
            }
            stride *= count;
            let new = self.of_mut(place).split(&keys);
            self.changed |= new;
        }
    }

    /// A part of a `never` that looks at one place has the same value for all values of a class; so has what is made of such parts.
    fn look_at_never(&mut self, expr: &Expr<StateAtom>) {
        let mut atoms: Vec<&StateAtom> = Vec::new();
        collect_atoms(expr, &mut atoms);
        let places: Option<Vec<Place>> = atoms.iter().map(|atom| place_of(atom)).collect();
        let domain = self.program.domain;
        match (places.as_deref(), expr) {
            (Some([]), _) => {}
            // Two copies of a thread have a register each.
            (Some([place, ..]), _) if atoms.iter().all(|atom| *atom == atoms[0]) => {
                self.tell_apart(&[*place], &|_, values| {
                    let value = expr.eval(domain, &mut |_| Ok(values[0])).ok()?;
                    Some(vec![value])
                });
            }
            (_, Expr::Unary(_, operand) | Expr::Element { index: operand, .. }) => {
                self.look_at_never(operand);
            }
            (_, Expr::Binary(_, left, right)) => {
                self.look_at_never(left);
                self.look_at_never(right);
            }
            (_, Expr::Atom(StateAtom::Memory(address))) => {
                // It may be any location.
                match &**address {
                    Address::Element { index, .. } => self.look_at_never(index),
                    Address::Pointer(pointer) => self.look_at_never(pointer),
                    Address::Direct(_) => {}
                }
                for location in 0..self.locations.len() {
                    self.changed |= self.locations[location].split_all();
                }
            }
            (_, Expr::Atom(_) | Expr::Const(_)) => {}
        }
    }

    /// The program in which what is written is the smallest value of its class. None where it was already.
    fn merged(&self) -> Option<Program> {
        let mut program = self.program.clone();
        let mut changed = false;
        for (at, location) in program.locations.iter_mut().enumerate() {
            let initial = Some(vec![self.program.domain.reduce(location.initial)]);
            if let Some(value) = self.smallest(&initial, &[Place::Location(at)]) {
                changed |= location.initial != value;
                location.initial = value;
            }
        }
        for (code, thread) in program.threads.iter_mut().enumerate() {
            for transition in &mut thread.transitions {
                let places = self.places(code, &transition.op);
                match &mut transition.op {
                    Op::Assign(register, value) => {
                        let place = Place::Register(code, register.index());
                        changed |= self.merge(code, value, &[place]);
                    }
                    Op::Store { value, .. } => changed |= self.merge(code, value, &places),
                    Op::Rmw { action, .. } => match action {
                        RmwAction::CompareAndSwap { desired, .. }
                        | RmwAction::BlockingCompareAndSwap { desired, .. } => {
                            changed |= self.merge(code, desired, &places);
                        }
                        RmwAction::Exchange(value) => changed |= self.merge(code, value, &places),
                        RmwAction::Fetch(op, operand) => {
                            let one = places.iter().all(|&place| self.of(place).is_one());
                            if one
                                && cannot_fail(operand)
                                && !may_fail(*op)
                                && let Some(value) = self.smallest(&None, &places)
                            {
                                *action = RmwAction::Exchange(Expr::Const(value));
                                changed = true;
                            }
                        }
                    },
                    _ => {}
                }
            }
        }
        changed.then_some(program)
    }

    /// Replaces a value that is always of the same class; whether it was another.
    fn merge(&self, code: usize, value: &mut RegisterExpr, to: &[Place]) -> bool {
        if !cannot_fail(value) {
            return false;
        }
        let values = self.possible.evaluate(code, value);
        let values = self.possible.reduced(values);
        let Some(smallest) = self.smallest(&values, to).map(Expr::Const) else {
            return false;
        };
        std::mem::replace(value, smallest.clone()) != smallest
    }

    /// The smallest value that is of the same class as all of these, in each of the places. None where they are not of one class. No values are all values.
    fn smallest(&self, values: &Option<Vec<Value>>, places: &[Place]) -> Option<Value> {
        let first = match values {
            Some(values) => Some(*values.first()?),
            None => None,
        };
        let partitions: Vec<&Partition> = places.iter().map(|&place| self.of(place)).collect();
        let same = |partition: &&Partition| {
            partition.is_one()
                || values.as_ref().is_some_and(|values| {
                    let class = partition.class(values[0]);
                    values.iter().all(|&v| partition.class(v) == class)
                })
        };
        if places.is_empty() || !partitions.iter().all(same) {
            return None;
        }
        let fits = |value: Value| {
            partitions.iter().all(|p| {
                let alike = first.is_none_or(|first| p.class(value) == p.class(first));
                p.may_hold(value) && (p.is_one() || alike)
            })
        };
        match partitions.iter().find_map(|p| p.values.as_ref()) {
            Some(values) => {
                let mut values = values.iter().map(|v| v.0);
                values.find(|&value| fits(value)).or(first)
            }
            None if fits(0) => Some(0),
            None => first,
        }
    }
}

/// The registers of an expression, each once.
fn registers_of(expr: &RegisterExpr) -> Vec<RegisterId> {
    let mut registers = Vec::new();
    expr.for_each_atom(&mut |register| {
        if !registers.contains(register) {
            registers.push(*register);
        }
    });
    registers
}

fn evaluate(
    expr: &RegisterExpr,
    domain: palisade_lang::Domain,
    registers: &[RegisterId],
    values: &[Value],
) -> Result<Value, ProgramError> {
    expr.eval(domain, &mut |register| {
        let at = registers.iter().position(|r| r == register);
        Ok(at.map_or(0, |at| values[at]))
    })
}

fn collect_atoms<'e>(expr: &'e Expr<StateAtom>, atoms: &mut Vec<&'e StateAtom>) {
    match expr {
        Expr::Const(_) => {}
        Expr::Atom(atom) => atoms.push(atom),
        Expr::Unary(_, operand) | Expr::Element { index: operand, .. } => {
            collect_atoms(operand, atoms);
        }
        Expr::Binary(_, left, right) => {
            collect_atoms(left, atoms);
            collect_atoms(right, atoms);
        }
    }
}

/// The one place that something that a `never` speaks of is in.
fn place_of(atom: &StateAtom) -> Option<Place> {
    match atom {
        StateAtom::Register(copy, register) => {
            Some(Place::Register(copy.thread.index(), register.index()))
        }
        StateAtom::Memory(address) => match &**address {
            Address::Direct(location) => Some(Place::Location(location.index())),
            _ => None,
        },
        StateAtom::At(..) | StateAtom::Deadlock => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_testkit::{Shape, compare_many, oracle, program};

    fn merged(text: &str) -> Option<Program> {
        by_class(&program(text))
    }

    /// The values that a program's stores write, in the order of its text.
    fn stored(program: &Program) -> Vec<Option<Value>> {
        let transitions = program.threads.iter().flat_map(|t| &t.transitions);
        let values = transitions.filter_map(|t| match &t.op {
            Op::Store { value, .. } => Some(value),
            Op::Rmw {
                action: RmwAction::Exchange(value),
                ..
            } => Some(value),
            _ => None,
        });
        values.map(|v| v.constant(program.domain)).collect()
    }

    #[test]
    fn a_payload_that_nobody_looks_at_is_one_value() {
        let text = "shared d, e, flag;
             thread a { d = 3; flag = 1; d = 4; flag = 2; }
             thread b { wait(flag == 2); let r = d; e = r; }";
        let program = merged(text).expect("`d` need not be told apart");
        assert_eq!(stored(&program)[..4], [Some(0), Some(0), Some(0), Some(2)]);
        // `flag` is asked for 2 alone, so 1 is as good as 0.
        let text = text.replace("e = r;", "e = r; assert r != 4;");
        let program = merged(&text).expect("3 is as good as 0");
        assert_eq!(stored(&program)[..4], [Some(0), Some(0), Some(4), Some(2)]);
    }

    #[test]
    fn classes_go_through_what_is_computed() {
        // Whether `r + 1` is at least 3 tells 2 from 0 and 1.
        let text = "shared x; thread a { choose { x = 1; } or { x = 2; } }
             thread b { let r = x; let s = r + 1; assume s >= 3; }";
        assert_eq!(stored(&merged(text).unwrap()), [Some(0), Some(2)]);
        let text = "shared x; thread a { choose { x = 1; } or { x = 2; } }
             thread b { let r = x; let s = r + 1; assume s != 2; assume s != 3; }";
        assert!(merged(text).is_none());
    }

    #[test]
    fn what_nobody_asks_about_does_not_count() {
        let text = "shared n, x; thread a[2] { loop { fadd(n, 1); x = 1; x = 0; } }
             thread b { assert x < 2; }";
        let program = merged(text).expect("`n` only grows");
        assert_eq!(palisade_lang::finite::unbounded(&program), None);
    }

    #[test]
    fn a_never_tells_copies_apart() {
        let text = "shared x; thread t[2] { let r; choose { r = 1; } or { r = 2; } x = 1; x = 0; }
             never t[0].r != t[1].r && t[0]@end;";
        let program = merged(text).unwrap_or_else(|| program(text));
        let assigned: Vec<_> = (program.threads[0].transitions.iter())
            .filter_map(|t| match &t.op {
                Op::Assign(_, value) => value.constant(program.domain),
                _ => None,
            })
            .collect();
        assert!(assigned.contains(&1) && assigned.contains(&2));
    }

    /// Whether something goes wrong, the program says by itself and by class, under SC and TSO. There are few programs in which nothing is alike.
    #[test]
    fn brute_force_finds_the_same() {
        for (shape, safe) in [
            (Shape::SC, oracle::sc_safe as fn(&Program) -> Option<bool>),
            (Shape::TSO_REACH, oracle::tso_safe),
        ] {
            let compared = compare_many(&shape, 0, 4_000, safe, |program| {
                by_class(program).and_then(|merged| safe(&merged))
            });
            println!("{compared:?}");
            assert!(compared.violated * 5 >= compared.programs, "{compared:?}");
        }
    }
}
