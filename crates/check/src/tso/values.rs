//! Which values registers and locations may hold, and so which locations an instruction may touch: a small set for each register of each
//! running thread and for each location, the same at every point of the code.

use std::collections::BTreeSet;

use palisade_lang::{
    Address, Domain, LocationId, Op, Program, RegisterExpr, RegisterId, RmwAction, Value,
};
use palisade_threads::Footprint;

/// A set of values; `None` stands for all.
pub(crate) type Values = Option<BTreeSet<Value>>;

/// More values than this are as good as all.
const MOST_VALUES: usize = 24;
/// More combinations of operands than this are not tried.
const MOST_COMBINATIONS: usize = 576;
/// Longer code is not analysed: every address may be anything that its form allows.
const MOST_INSTRUCTIONS: usize = 50_000;

/// The values that registers and locations may hold under SC.
pub(crate) fn possible_values(program: &Program) -> Possible {
    let instances = program.instances();
    let total: usize = instances
        .iter()
        .map(|i| program.thread(i.thread).transitions.len())
        .sum();
    let mut state = Possible {
        domain: program.domain,
        registers: instances
            .iter()
            .map(|instance| {
                let thread = program.thread(instance.thread);
                let mut registers = vec![Some(BTreeSet::from([0])); thread.registers.len()];
                if let Some(me) = thread.me {
                    registers[me.index()] = Some(BTreeSet::from([Value::from(instance.copy)]));
                }
                registers
            })
            .collect(),
        memory: program
            .locations
            .iter()
            .map(|l| Some(BTreeSet::from([program.domain.reduce(l.initial)])))
            .collect(),
        changed: true,
    };
    if total > MOST_INSTRUCTIONS {
        state
            .registers
            .iter_mut()
            .for_each(|registers| registers.fill(None));
        state.memory.fill(None);
        state.changed = false;
    }
    while state.changed {
        state.changed = false;
        for (index, instance) in instances.iter().enumerate() {
            for transition in &program.thread(instance.thread).transitions {
                state.take(program, index, &transition.op);
            }
        }
    }
    state
}

/// What registers and locations may hold.
pub(crate) struct Possible {
    domain: Domain,
    registers: Vec<Vec<Values>>,
    /// For each location.
    pub memory: Vec<Values>,
    changed: bool,
}

impl Possible {
    /// For each running thread and each of its instructions, the locations that it may touch, folded to 64 bits (0 where it touches none).
    pub fn touched(&self, program: &Program) -> Vec<Vec<u64>> {
        let instances = program.instances();
        let mask = |index, address| {
            let locations = self.locations(program, index, address);
            locations.map_or(u64::MAX, |locations| {
                locations
                    .into_iter()
                    .map(Footprint::bit)
                    .fold(0, |a, b| a | b)
            })
        };
        instances
            .iter()
            .enumerate()
            .map(|(index, instance)| {
                let transitions = &program.thread(instance.thread).transitions;
                transitions
                    .iter()
                    .map(|t| t.op.address().map_or(0, |address| mask(index, address)))
                    .collect()
            })
            .collect()
    }

    /// Lets an instruction of a running thread have all its effects.
    fn take(&mut self, program: &Program, instance: usize, op: &Op) {
        match op {
            Op::Assign(register, expr) => {
                let values = self.evaluate(instance, expr);
                let values = values.map(|v| v.into_iter().map(|v| self.domain.reduce(v)).collect());
                self.set(instance, *register, values);
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
                self.set(instance, *register, read);
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
                    self.set(instance, *register, read);
                }
                self.write(program, instance, address, written);
            }
            _ => {}
        }
    }

    fn set(&mut self, instance: usize, register: RegisterId, values: Values) {
        let old = &mut self.registers[instance][register.index()];
        self.changed |= include(old, values);
    }

    /// The locations that an address may stand for; `None` for all.
    pub fn locations(
        &self,
        program: &Program,
        instance: usize,
        address: &Address<RegisterId>,
    ) -> Option<Vec<LocationId>> {
        match address {
            Address::Direct(location) => Some(vec![*location]),
            Address::Element {
                first,
                length,
                index,
            } => Some(match self.evaluate(instance, index) {
                Some(values) => values
                    .into_iter()
                    .filter(|v| (0..Value::from(*length)).contains(v))
                    .map(|v| LocationId(first.0 + v as u32))
                    .collect(),
                None => (0..*length).map(|i| LocationId(first.0 + i)).collect(),
            }),
            Address::Pointer(pointer) => self.evaluate(instance, pointer).map(|values| {
                values
                    .into_iter()
                    .filter_map(|v| program.location_at(v))
                    .collect()
            }),
        }
    }

    fn read(&self, program: &Program, instance: usize, address: &Address<RegisterId>) -> Values {
        let mut all = Some(BTreeSet::new());
        match self.locations(program, instance, address) {
            Some(locations) => {
                for location in locations {
                    include(&mut all, self.memory[location.index()].clone());
                }
            }
            None => {
                for values in &self.memory {
                    include(&mut all, values.clone());
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
        let values: Values = values.map(|v| v.into_iter().map(|v| self.domain.reduce(v)).collect());
        match self.locations(program, instance, address) {
            Some(locations) => {
                for location in locations {
                    self.changed |= include(&mut self.memory[location.index()], values.clone());
                }
            }
            None => {
                for old in &mut self.memory {
                    self.changed |= include(old, values.clone());
                }
            }
        }
    }

    /// The values that an expression may have. Errors stop the thread, so they have none.
    pub fn evaluate(&self, instance: usize, expr: &RegisterExpr) -> Values {
        let mut registers: Vec<RegisterId> = Vec::new();
        expr.for_each_atom(&mut |r| {
            if !registers.contains(r) {
                registers.push(*r);
            }
        });
        let mut choices: Vec<(RegisterId, Vec<Value>)> = Vec::new();
        let mut combinations = 1usize;
        for register in registers {
            let values = self.registers[instance][register.index()].as_ref()?;
            combinations = combinations.saturating_mul(values.len().max(1));
            if combinations > MOST_COMBINATIONS {
                return None;
            }
            if values.is_empty() {
                return Some(BTreeSet::new());
            }
            choices.push((register, values.iter().copied().collect()));
        }
        let mut result = BTreeSet::new();
        for number in 0..combinations {
            let value = expr.eval(self.domain, &mut |r| {
                let mut rest = number;
                for (register, values) in &choices {
                    if register == r {
                        return Ok(values[rest % values.len()]);
                    }
                    rest /= values.len();
                }
                Ok(0)
            });
            result.extend(value);
            if result.len() > MOST_VALUES {
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
        let mut result = BTreeSet::new();
        for &a in left {
            for &b in right {
                result.extend(apply(self.domain, a, b));
            }
        }
        (result.len() <= MOST_VALUES).then_some(result)
    }
}

/// Adds values to a set; whether it has grown.
fn include(set: &mut Values, more: Values) -> bool {
    let Some(values) = set else { return false };
    match more {
        None => {
            *set = None;
            true
        }
        Some(more) => {
            let before = values.len();
            values.extend(more);
            let grown = values.len() > before;
            if values.len() > MOST_VALUES {
                *set = None;
            }
            grown
        }
    }
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
