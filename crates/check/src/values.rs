//! Which values registers and locations may hold, and so which locations an instruction may touch: a small set for each register of each
//! running thread (or of each thread's code, for all its copies) and for each location, the same at every point of the code.

use palisade_lang::{
    Address, BinaryOp, Copies, Domain, Expr, LocationId, Op, Program, RegisterExpr, RegisterId,
    RmwAction, ThreadId, Value,
};
use palisade_threads::Footprint;

/// A set of values, in ascending order; `None` stands for all.
pub(crate) type Values = Option<Vec<Value>>;

/// More values than this are as good as all.
const MOST_VALUES: usize = 24;
/// More combinations of operands than this are not tried.
const MOST_COMBINATIONS: usize = 576;
/// Longer code is not analysed: every address may be anything that its form allows.
const MOST_INSTRUCTIONS: usize = 50_000;

/// The values that registers of running threads, and locations, may hold, whatever the memory model.
pub(crate) fn possible_values(program: &Program) -> Possible {
    let instances = program.instances().into_iter();
    let codes = instances.map(|i| (i.thread, vec![Value::from(i.copy)]));
    Possible::new(program, codes.collect(), MOST_VALUES)
}

/// The same for each code, all copies together; more values than `most` (and than there are copies) are as good as all.
pub(crate) fn possible_values_by_code(program: &Program, most: usize) -> Possible {
    let threads = program.threads.iter().enumerate();
    let codes: Vec<(ThreadId, Vec<Value>)> = threads
        .map(|(index, thread)| {
            let copies = match thread.copies {
                Copies::Fixed(copies) => (0..Value::from(copies)).collect(),
                _ => vec![0],
            };
            (ThreadId(index as u32), copies)
        })
        .collect();
    let copies = codes.iter().map(|(_, copies)| copies.len()).max();
    Possible::new(program, codes, most.max(copies.unwrap_or(0)))
}

/// What registers and locations may hold.
pub(crate) struct Possible {
    domain: Domain,
    /// What is told apart: running threads by their code, or codes.
    codes: Vec<ThreadId>,
    /// More values than this are as good as all.
    most: usize,
    /// For each of `codes`, by register.
    pub registers: Vec<Vec<Values>>,
    /// For each location.
    pub memory: Vec<Values>,
    /// How many changes there have been.
    changes: u64,
    /// For each register of each running thread, and for each location, the number of its last change.
    register_changes: Vec<Vec<u64>>,
    memory_changes: Vec<u64>,
}

impl Possible {
    /// `codes`: each with the values of `me`.
    fn new(program: &Program, codes: Vec<(ThreadId, Vec<Value>)>, most: usize) -> Self {
        let mut registers = Vec::new();
        let mut total = 0;
        for (code, copies) in &codes {
            let thread = program.thread(*code);
            total += thread.transitions.len();
            let mut of_thread: Vec<Values> = vec![Some(vec![0]); thread.registers.len()];
            if let Some(me) = thread.me {
                of_thread[me.index()] = Some(copies.clone());
            }
            registers.push(of_thread);
        }
        let initial = |l: &palisade_lang::Location| Some(vec![program.domain.reduce(l.initial)]);
        let mut possible = Possible {
            domain: program.domain,
            codes: codes.into_iter().map(|(code, _)| code).collect(),
            most,
            register_changes: registers.iter().map(|r| vec![1; r.len()]).collect(),
            registers,
            memory: program.locations.iter().map(initial).collect(),
            memory_changes: vec![1; program.locations.len()],
            changes: 1,
        };
        if total > MOST_INSTRUCTIONS {
            possible.registers.iter_mut().for_each(|of| of.fill(None));
            possible.memory.fill(None);
        } else {
            possible.settle(program);
        }
        possible
    }

    /// Lets every instruction have its effects, until that changes nothing.
    pub fn settle(&mut self, program: &Program) {
        let codes = self.codes.clone();
        // For each instruction, how many changes there had been when it had its effects.
        let mut taken: Vec<Vec<u64>> = codes
            .iter()
            .map(|&code| vec![0; program.thread(code).transitions.len()])
            .collect();
        loop {
            let before = self.changes;
            for (index, &code) in codes.iter().enumerate() {
                let transitions = &program.thread(code).transitions;
                for (transition, taken) in transitions.iter().zip(&mut taken[index]) {
                    if *taken == 0 || self.has_changed(index, &transition.op, *taken) {
                        *taken = self.changes;
                        self.take(program, index, &transition.op);
                    }
                }
            }
            if self.changes == before {
                return;
            }
        }
    }

    /// A location may hold anything.
    pub fn forget(&mut self, location: usize) {
        self.keep(location, &None);
    }

    /// For each running thread and each of its instructions, the locations that it may touch, folded to 64 bits (0 where it touches none).
    pub fn touched(&self, program: &Program) -> Vec<Vec<u64>> {
        let mask = |index, address: &Address<RegisterId>| {
            if let Address::Direct(location) = address {
                return Footprint::bit(*location);
            }
            let locations = self.locations(program, index, address);
            locations.map_or(u64::MAX, |locations| {
                locations
                    .into_iter()
                    .map(Footprint::bit)
                    .fold(0, |a, b| a | b)
            })
        };
        (self.codes.iter().enumerate())
            .map(|(index, &code)| {
                let transitions = &program.thread(code).transitions;
                transitions
                    .iter()
                    .map(|t| t.op.address().map_or(0, |address| mask(index, address)))
                    .collect()
            })
            .collect()
    }

    /// Whether what an instruction's effects depend on has changed since there were so many changes.
    fn has_changed(&self, instance: usize, op: &Op, since: u64) -> bool {
        let register = |expr: &RegisterExpr| {
            let mut changed = false;
            expr.for_each_atom(&mut |r| {
                changed |= self.register_changes[instance][r.index()] > since;
            });
            changed
        };
        let place = |address: &Address<RegisterId>| match address {
            Address::Direct(_) => false,
            Address::Element { index, .. } => register(index),
            Address::Pointer(pointer) => register(pointer),
        };
        let content = |address: &Address<RegisterId>| match address {
            Address::Direct(location) => self.memory_changes[location.index()] > since,
            _ => self.memory_changes.iter().any(|&change| change > since),
        };
        match op {
            Op::Assign(_, expr) => register(expr),
            Op::Load { address, .. } | Op::Wait { address, .. } => {
                place(address) || content(address)
            }
            Op::Store { address, value, .. } => place(address) || register(value),
            Op::Rmw {
                address, action, ..
            } => {
                let operand = match action {
                    RmwAction::CompareAndSwap { desired, .. }
                    | RmwAction::BlockingCompareAndSwap { desired, .. } => desired,
                    RmwAction::Exchange(value) => value,
                    RmwAction::Fetch(_, operand) => operand,
                };
                place(address) || content(address) || register(operand)
            }
            _ => false,
        }
    }

    /// Lets an instruction of a running thread have all its effects.
    fn take(&mut self, program: &Program, instance: usize, op: &Op) {
        match op {
            Op::Assign(register, expr) => {
                let values = self.evaluate(instance, expr);
                let values = self.reduced(values);
                self.set(instance, *register, &values);
            }
            Op::Load {
                register, address, ..
            }
            | Op::Wait {
                register: Some(register),
                address,
                ..
            } => {
                let read = self.read(program, instance, address);
                self.set(instance, *register, &read);
            }
            Op::Store { address, value, .. } => {
                let values = self.evaluate(instance, value);
                self.write(program, instance, address, values);
            }
            Op::Rmw {
                register,
                address,
                action,
                ..
            } => {
                let read = self.read(program, instance, address);
                let written = match action {
                    RmwAction::CompareAndSwap { desired, .. }
                    | RmwAction::BlockingCompareAndSwap { desired, .. } => {
                        self.evaluate(instance, desired)
                    }
                    RmwAction::Exchange(value) => self.evaluate(instance, value),
                    RmwAction::Fetch(op, operand) => {
                        let operand = self.evaluate(instance, operand);
                        self.combine(&read, &operand, |domain, a, b| {
                            domain.binary(*op, a, b).ok()
                        })
                    }
                };
                if let Some(register) = register {
                    self.set(instance, *register, &read);
                }
                self.write(program, instance, address, written);
            }
            _ => {}
        }
    }

    /// The values as the domain has them.
    pub fn reduced(&self, values: Values) -> Values {
        let mut values = values?;
        for value in &mut values {
            *value = self.domain.reduce(*value);
        }
        values.sort_unstable();
        values.dedup();
        Some(values)
    }

    fn set(&mut self, instance: usize, register: RegisterId, values: &Values) {
        let register = register.index();
        if include(&mut self.registers[instance][register], values, self.most) {
            self.changes += 1;
            self.register_changes[instance][register] = self.changes;
        }
    }

    /// The locations that an address may stand for; `None` for all.
    pub fn locations(
        &self,
        program: &Program,
        instance: usize,
        address: &Address<RegisterId>,
    ) -> Option<Vec<LocationId>> {
        address.may_mean(program, |expr| self.evaluate(instance, expr))
    }

    fn read(&self, program: &Program, instance: usize, address: &Address<RegisterId>) -> Values {
        if let Address::Direct(location) = address {
            return self.memory[location.index()].clone();
        }
        let mut all = Some(Vec::new());
        match self.locations(program, instance, address) {
            Some(locations) => {
                for location in locations {
                    include(&mut all, &self.memory[location.index()], self.most);
                }
            }
            None => {
                for values in &self.memory {
                    include(&mut all, values, self.most);
                }
            }
        }
        all
    }

    fn write(
        &mut self,
        program: &Program,
        instance: usize,
        address: &Address<RegisterId>,
        values: Values,
    ) {
        let values = self.reduced(values);
        if let Address::Direct(location) = address {
            return self.keep(location.index(), &values);
        }
        match self.locations(program, instance, address) {
            Some(locations) => locations.iter().for_each(|l| self.keep(l.index(), &values)),
            None => (0..self.memory.len()).for_each(|l| self.keep(l, &values)),
        }
    }

    fn keep(&mut self, location: usize, values: &Values) {
        if include(&mut self.memory[location], values, self.most) {
            self.changes += 1;
            self.memory_changes[location] = self.changes;
        }
    }

    /// The values that an expression may have. Errors stop the thread, so they have none.
    pub fn evaluate(&self, instance: usize, expr: &RegisterExpr) -> Values {
        if let Expr::Atom(register) = expr {
            return self.registers[instance][register.index()].clone();
        }
        let mut choices: Vec<(RegisterId, &Values)> = Vec::new();
        expr.for_each_atom(&mut |r| {
            if choices.iter().all(|(register, _)| register != r) {
                choices.push((*r, &self.registers[instance][r.index()]));
            }
        });
        let mut combinations = 1usize;
        for (_, values) in &choices {
            let values = values.as_ref()?;
            combinations = combinations.saturating_mul(values.len().max(1));
            if combinations > MOST_COMBINATIONS {
                return None;
            }
            if values.is_empty() {
                return Some(Vec::new());
            }
        }
        let mut result = Vec::new();
        for number in 0..combinations {
            let value = expr.eval(self.domain, &mut |r| {
                let mut rest = number;
                for (register, values) in &choices {
                    let values = values.as_deref().unwrap_or_default();
                    if register == r {
                        return Ok(values[rest % values.len()]);
                    }
                    rest /= values.len();
                }
                Ok(0)
            });
            if let Ok(value) = value {
                insert(&mut result, value);
            }
            if result.len() > self.most {
                return None;
            }
        }
        Some(result)
    }

    fn combine(
        &self,
        left: &Values,
        right: &Values,
        apply: impl Fn(Domain, Value, Value) -> Option<Value>,
    ) -> Values {
        let (left, right) = (left.as_ref()?, right.as_ref()?);
        let mut result = Vec::new();
        for &a in left {
            for &b in right {
                if let Some(value) = apply(self.domain, a, b) {
                    insert(&mut result, value);
                }
            }
        }
        (result.len() <= self.most).then_some(result)
    }
}

/// Whether an expression has a value whatever its registers hold.
pub(crate) fn cannot_fail(expr: &RegisterExpr) -> bool {
    match expr {
        Expr::Const(_) | Expr::Atom(_) => true,
        Expr::Unary(_, operand) => cannot_fail(operand),
        Expr::Binary(op, left, right) => !may_fail(*op) && cannot_fail(left) && cannot_fail(right),
        Expr::Element { .. } => false,
    }
}

/// Whether an operation has no value for some operands.
pub(crate) fn may_fail(op: BinaryOp) -> bool {
    use BinaryOp::{Divide, Remainder, ShiftLeft, ShiftRight};
    matches!(op, Divide | Remainder | ShiftLeft | ShiftRight)
}

/// Adds a value to a set.
fn insert(set: &mut Vec<Value>, value: Value) {
    if let Err(place) = set.binary_search(&value) {
        set.insert(place, value);
    }
}

/// Adds values to a set; whether it has grown.
pub(crate) fn extend(set: &mut Vec<Value>, more: &[Value]) -> bool {
    let before = set.len();
    more.iter().for_each(|&value| insert(set, value));
    set.len() > before
}

/// The same, as long as there are not too many.
fn include(set: &mut Values, more: &Values, most: usize) -> bool {
    let Some(values) = set else { return false };
    let Some(more) = more else {
        *set = None;
        return true;
    };
    let grown = extend(values, more);
    if values.len() > most {
        *set = None;
    }
    grown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touched(text: &str) -> Vec<Vec<u64>> {
        let program = palisade_testkit::program(text);
        let instances = program.instances();
        possible_values(&program)
            .touched(&program)
            .into_iter()
            .zip(&instances)
            .map(|(masks, _)| masks.into_iter().filter(|m| *m != 0).collect())
            .collect()
    }

    #[test]
    fn an_index_by_me_is_one_element() {
        let masks = touched("shared f[4]; thread a[2] { f[me] = 1; let r = f[me + 2]; }");
        assert_eq!(masks, [[0b0001, 0b0100], [0b0010, 0b1000]]);
    }

    #[test]
    fn pointers_through_memory_are_followed() {
        let masks = touched("shared p, x, y; thread a { p = &x; } thread b { let q = p; *q = 1; }");
        // Address 0 is no location.
        assert_eq!(masks, [vec![0b001], vec![0b001, 0b010]]);
    }

    #[test]
    fn what_counts_for_ever_may_be_anything() {
        let masks = touched("shared f[3]; thread a { let i; loop { f[i] = 1; i = i + 1; } }");
        assert_eq!(masks, [[0b111]]);
    }
}
