//! Whether a `never` is true for some choice of distinct copies.
//!
//! `t[0]`, `t[1]`, … stand for any distinct copies. They are chosen one after the other, and a choice is given up as soon as the condition is false
//! whatever the rest will be. `t@label` is true if some copy is there, named or not.

use palisade_lang::{
    Address, BinaryOp, Copies, CopyRef, Expr, LabelRef, LocationId, Never, Program, ProgramError,
    StateAtom, Value,
};
use palisade_threads::{LocalId, View, visit_state_atoms};

use super::{Count, MANY};
use crate::state::Frame;

/// A `never`, with the copies that it names.
pub(super) struct NeverOfCopies {
    condition: Expr<StateAtom>,
    named: Vec<CopyRef>,
}

/// What is known about a condition while not all copies are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Truth {
    True,
    False,
    /// An error of the program: the condition is not true.
    Error,
    /// It depends on copies that are not chosen yet.
    Open,
}

/// Copies that stand somewhere: their code, their local state, and how many.
pub(super) type Present = (usize, LocalId, Count);

/// A state, and the copies that are chosen.
struct Choice<'c, 'f, 'p, 'v, 't> {
    frame: &'f Frame<'p>,
    view: &'v mut View<'t>,
    row: &'c [u32],
    present: &'c [Present],
    named: &'c [CopyRef],
    /// For each named copy, which of `present` it is.
    chosen: Vec<usize>,
}

impl NeverOfCopies {
    pub(super) fn new(program: &Program, never: &Never) -> Self {
        let mut named = Vec::new();
        visit_state_atoms(&never.condition, &mut |atom| {
            if let StateAtom::At(copy, _) | StateAtom::Register(copy, _) = atom
                && copy.copy.is_some()
                && program.thread(copy.thread).copies == Copies::Any
                && !named.contains(copy)
            {
                named.push(*copy);
            }
        });
        NeverOfCopies {
            condition: never.condition.clone(),
            named,
        }
    }

    /// Whether it is true in a state with these copies.
    pub(super) fn holds(
        &self,
        frame: &Frame<'_>,
        view: &mut View<'_>,
        row: &[u32],
        present: &[Present],
    ) -> bool {
        let mut choice = Choice {
            frame,
            view,
            row,
            present,
            named: &self.named,
            chosen: Vec::new(),
        };
        choice.can_be_true(&self.condition)
    }
}

impl Choice<'_, '_, '_, '_, '_> {
    /// Whether the condition is true for some choice of the copies that are not chosen yet. As deep as there are names.
    fn can_be_true(&mut self, condition: &Expr<StateAtom>) -> bool {
        match self.truth(condition) {
            Truth::False | Truth::Error => return false,
            Truth::True | Truth::Open => {}
        }
        // A condition that is true already stays so, but the other copies must be there, too.
        let Some(copy) = self.named.get(self.chosen.len()) else {
            return true;
        };
        for (at, &(code, _, count)) in self.present.iter().enumerate() {
            let taken = self.chosen.iter().filter(|&&c| c == at).count();
            if code != copy.thread.index() || count != MANY && taken >= usize::from(count) {
                continue;
            }
            self.chosen.push(at);
            let found = self.can_be_true(condition);
            self.chosen.pop();
            if found {
                return true;
            }
        }
        false
    }

    fn truth(&mut self, condition: &Expr<StateAtom>) -> Truth {
        match condition {
            Expr::Binary(BinaryOp::And, left, right) => match self.truth(left) {
                Truth::True => self.truth(right),
                Truth::Open if self.truth(right) == Truth::False => Truth::False,
                other => other,
            },
            Expr::Binary(BinaryOp::Or, left, right) => match self.truth(left) {
                Truth::False => self.truth(right),
                other => other,
            },
            other => {
                let mut open = false;
                match self.value(other, &mut open) {
                    _ if open => Truth::Open,
                    Ok(0) => Truth::False,
                    Ok(_) => Truth::True,
                    Err(_) => Truth::Error,
                }
            }
        }
    }

    /// The value of an expression; of no use if `open` is set.
    fn value(&mut self, expr: &Expr<StateAtom>, open: &mut bool) -> Result<Value, ProgramError> {
        let program = self.frame.program();
        expr.eval(program.domain, &mut |atom| match atom {
            StateAtom::Deadlock => Ok(0),
            StateAtom::At(copy, label) => Ok(Value::from(self.is_at(*copy, *label, open))),
            StateAtom::Register(copy, register) => Ok(match self.standing(*copy, open) {
                Some((code, local)) => self.view.register(code, local, *register),
                None => 0,
            }),
            StateAtom::Memory(address) => {
                let location = match &**address {
                    Address::Direct(location) => *location,
                    Address::Element {
                        first,
                        length,
                        index,
                    } => {
                        let index = self.value(index, open)?;
                        if !(0..Value::from(*length)).contains(&index) {
                            return Err(ProgramError::IndexOutOfRange(index, *length));
                        }
                        LocationId(first.0 + index as u32)
                    }
                    Address::Pointer(pointer) => {
                        let address = self.value(pointer, open)?;
                        program
                            .location_at(address)
                            .ok_or(ProgramError::NoSuchLocation(address))?
                    }
                };
                Ok(self.view.value(self.row[self.frame.component(location)]))
            }
        })
    }

    fn is_at(&mut self, copy: CopyRef, label: LabelRef, open: &mut bool) -> bool {
        let code = copy.thread.index();
        if copy.copy.is_none() && self.is_counted(copy) {
            return self.present.iter().any(|&(of, local, _)| {
                of == code && self.frame.stands_at(self.view, code, local, label)
            });
        }
        if copy.copy.is_none() {
            let mut instances = self.frame.matching_instances(copy);
            return instances.any(|i| {
                self.frame
                    .stands_at(self.view, code, LocalId(self.row[i]), label)
            });
        }
        self.standing(copy, open)
            .is_some_and(|(code, local)| self.frame.stands_at(self.view, code, local, label))
    }

    /// Whether the copies of a thread are counted.
    fn is_counted(&self, copy: CopyRef) -> bool {
        self.present
            .iter()
            .any(|(code, ..)| *code == copy.thread.index())
    }

    /// Where a copy stands.
    fn standing(&mut self, copy: CopyRef, open: &mut bool) -> Option<(usize, LocalId)> {
        match self.named.iter().position(|n| *n == copy) {
            Some(at) => match self.chosen.get(at) {
                Some(&chosen) => Some((self.present[chosen].0, self.present[chosen].1)),
                None => {
                    *open = true;
                    None
                }
            },
            None => {
                let instance = self.frame.matching_instances(copy).next()?;
                Some((copy.thread.index(), LocalId(self.row[instance])))
            }
        }
    }
}
