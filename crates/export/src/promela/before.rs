//! What is known before a step of what will be along its path: guards speak of the state in which the step begins.

use std::collections::BTreeMap;

use super::Model;
use super::text::{self, Text, Unwritable};
use super::thread::{MAX_GUARD, Proctype};
use palisade_lang::{Address, LocationId, Op, RegisterExpr, RegisterId, Relation, RmwAction};

/// Registers and memory along a path, in terms of what they are before the step.
pub(super) struct Before<'a, 'p> {
    thread: &'a Proctype,
    model: &'a Model<'p>,
    /// `None`: it cannot be said.
    registers: BTreeMap<RegisterId, Option<Text>>,
    memory: BTreeMap<LocationId, Option<Text>>,
    arrays_written: bool,
}

impl<'a, 'p> Before<'a, 'p> {
    pub(super) fn new(thread: &'a Proctype, model: &'a Model<'p>) -> Self {
        Before {
            thread,
            model,
            registers: BTreeMap::new(),
            memory: BTreeMap::new(),
            arrays_written: false,
        }
    }

    fn register(&self, register: RegisterId) -> Result<Text, Unwritable> {
        match self.registers.get(&register) {
            Some(Some(text)) => Ok(text.clone()),
            Some(None) => Err(Unwritable::Here),
            None => self.thread.register(self.model, register),
        }
    }

    fn expr(&self, expr: &RegisterExpr) -> Result<Text, Unwritable> {
        text::expr(self.model.program.domain, expr, &mut |r| self.register(*r))
    }

    fn reduced(&self, expr: &RegisterExpr) -> Result<Text, Unwritable> {
        text::reduce(self.model.program.domain, self.expr(expr)?)
    }

    /// What is in memory.
    fn read(&self, address: &Address<RegisterId>) -> Result<Text, Unwritable> {
        let layout = &self.model.layout;
        match address {
            Address::Direct(location) => match self.memory.get(location) {
                Some(Some(text)) => Ok(text.clone()),
                Some(None) => Err(Unwritable::Here),
                None if self.arrays_written && layout.is_in_array(*location) => {
                    Err(Unwritable::Here)
                }
                None => Ok(layout.location(*location)),
            },
            Address::Element { first, index, .. } => {
                let is_clean =
                    !self.arrays_written && !self.memory.keys().any(|l| layout.is_in_array(*l));
                match is_clean {
                    true => Ok(layout.element(*first, &self.expr(index)?)),
                    false => Err(Unwritable::Here),
                }
            }
            Address::Pointer(pointer) => {
                let is_clean =
                    !self.arrays_written && !self.memory.keys().any(|l| layout.is_in_array(*l));
                match is_clean {
                    true => Ok(layout.pointer(&self.expr(pointer)?).unwrap_or_else(nowhere)),
                    false => Err(Unwritable::Here),
                }
            }
        }
    }

    fn write(&mut self, address: &Address<RegisterId>, value: Option<Text>) {
        match address {
            Address::Direct(location) => {
                self.memory.insert(*location, value);
            }
            _ => {
                self.arrays_written = true;
                let layout = &self.model.layout;
                self.memory.retain(|l, _| !layout.is_in_array(*l));
            }
        }
    }

    /// The condition for going on, if there is one; then the effect. What cannot be said is an error only where a condition needs it.
    pub(super) fn run(&mut self, op: &Op) -> Result<Option<String>, Unwritable> {
        let mut guard = None;
        match op {
            Op::Assume(condition) => guard = Some(self.expr(condition)?.text),
            Op::Assign(register, value) => {
                let value = known(self.reduced(value))?;
                self.registers.insert(*register, value);
            }
            Op::Load {
                register, address, ..
            } => {
                let value = known(self.read(address))?;
                self.registers.insert(*register, value);
            }
            Op::Wait {
                register,
                address,
                relation,
                value,
                ..
            } => {
                let found = self.read(address)?;
                let value = self.expr(value)?;
                guard = Some(compared(&found, *relation, &value));
                if let Some(register) = register {
                    self.registers.insert(*register, Some(found));
                }
            }
            Op::Store { address, value, .. } => {
                let value = known(self.reduced(value))?;
                self.write(address, value);
            }
            Op::Rmw {
                register,
                address,
                action,
                ..
            } => {
                let old = known(self.read(address))?;
                let new = match action {
                    RmwAction::BlockingCompareAndSwap { expected, desired } => {
                        let found = old.clone().ok_or(Unwritable::Here)?;
                        let expected = self.expr(expected)?;
                        guard = Some(compared(&found, Relation::Equal, &expected));
                        known(self.reduced(desired))?
                    }
                    RmwAction::Exchange(value) => known(self.reduced(value))?,
                    RmwAction::CompareAndSwap {
                        expected, desired, ..
                    } => {
                        let expected = known(self.expr(expected))?;
                        let desired = known(self.reduced(desired))?;
                        match (&old, expected, desired) {
                            (Some(old), Some(expected), Some(desired)) => Some(Text::new(
                                format!(
                                    "({} == {} -> {} : {})",
                                    old.text, expected.text, desired.text, old.text
                                ),
                                (
                                    old.least.min(desired.least),
                                    old.largest.max(desired.largest),
                                ),
                            )),
                            _ => None,
                        }
                    }
                    // A block that adds twice to one location and then branches on it is rare enough for a stop.
                    RmwAction::Fetch(..) => None,
                };
                self.write(address, new);
                if let Some(register) = register {
                    self.registers.insert(*register, old);
                }
            }
            _ => {}
        }
        let size = |text: &Option<Text>| text.as_ref().is_some_and(|t| t.text.len() > MAX_GUARD);
        // Texts that have grown too large are as good as unknown.
        self.registers.values_mut().for_each(|value| {
            if size(value) {
                *value = None;
            }
        });
        self.memory.values_mut().for_each(|value| {
            if size(value) {
                *value = None;
            }
        });
        Ok(guard)
    }
}

/// Where no pointer leads anywhere; the step is never taken.
pub(super) fn nowhere() -> Text {
    Text::new("old", (0, 0))
}

/// What cannot be said here is unknown; what cannot be said at all is an error.
fn known(text: Result<Text, Unwritable>) -> Result<Option<Text>, Unwritable> {
    match text {
        Ok(text) => Ok(Some(text)),
        Err(Unwritable::Here) => Ok(None),
        Err(other) => Err(other),
    }
}

fn compared(left: &Text, relation: Relation, right: &Text) -> String {
    format!("({} {} {})", left.text, relation.symbol(), right.text)
}
