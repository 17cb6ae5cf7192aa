//! Whether a `never` is true for some choice of distinct copies.
//!
//! `t[0]`, `t[1]`, … stand for any distinct copies. They are chosen one after the other, and a choice is given up as soon as the condition is false
//! whatever the rest will be. `t@label` is true if some copy is there, named or not.

use palisade_lang::{
    BinaryOp, Copies, CopyRef, Expr, LabelRef, Program, ProgramError, StateAtom, Value,
};
use palisade_threads::{LocalId, View, visit_state_atoms};

use super::{Count, MANY};
use crate::state::Frame;

/// A `never`, with the copies that it names.
pub(crate) struct NeverOfCopies {
    condition: Expr<StateAtom>,
    named: Vec<CopyRef>,
    /// `t@label` without a number, of threads with any number of copies.
    somewhere: Vec<(CopyRef, LabelRef)>,
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
pub(crate) type Present = (usize, LocalId, Count);

/// A state, and the copies that are chosen.
struct Choice<'c, 'f, 'p, 'v, 't> {
    frame: &'f Frame<'p>,
    view: &'v mut View<'t>,
    row: &'c [u32],
    present: &'c [Present],
    never: &'c NeverOfCopies,
    /// For each named copy, and then for each label at which a copy may be, which of `present` it is; `None`: none of them.
    chosen: Vec<Option<usize>>,
}

impl NeverOfCopies {
    pub(crate) fn new(program: &Program, condition: &Expr<StateAtom>) -> Self {
        let mut named = Vec::new();
        let mut somewhere = Vec::new();
        visit_state_atoms([condition], &mut |atom| {
            let (StateAtom::At(copy, _) | StateAtom::Register(copy, _)) = atom else {
                return;
            };
            if program.thread(copy.thread).copies != Copies::Any {
                return;
            }
            if let StateAtom::At(_, label) = atom
                && copy.copy.is_none()
            {
                let place = (*copy, *label);
                somewhere.extend((!somewhere.contains(&place)).then_some(place));
            } else if !named.contains(copy) {
                named.push(*copy);
            }
        });
        NeverOfCopies {
            condition: condition.clone(),
            named,
            somewhere,
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
        self.for_each_choice(frame, view, row, present, &mut |_| true)
    }

    /// Calls `found` for choices among these copies (by their places in the list) that make it true, all minimal ones among them, until it says that it is enough;
    /// and whether it has said so.
    pub(crate) fn for_each_choice(
        &self,
        frame: &Frame<'_>,
        view: &mut View<'_>,
        row: &[u32],
        present: &[Present],
        found: &mut dyn FnMut(&[usize]) -> bool,
    ) -> bool {
        let mut choice = Choice {
            frame,
            view,
            row,
            present,
            never: self,
            chosen: Vec::new(),
        };
        choice.choose(found)
    }
}

impl Choice<'_, '_, '_, '_, '_> {
    /// Makes all further choices. As deep as there are names.
    fn choose(&mut self, found: &mut dyn FnMut(&[usize]) -> bool) -> bool {
        let never = self.never;
        match self.truth(&never.condition) {
            Truth::False | Truth::Error => return false,
            Truth::True | Truth::Open => {}
        }
        let next = self.chosen.len();
        // A condition that is true already stays so, but all named copies must be there, too.
        if let Some(copy) = never.named.get(next) {
            return self.choose_among(copy.thread.index(), None, found);
        }
        let Some((copy, label)) = never.somewhere.get(next - never.named.len()) else {
            let chosen: Vec<usize> = self.chosen.iter().copied().flatten().collect();
            return found(&chosen);
        };
        let code = copy.thread.index();
        self.chosen.push(None);
        let enough = self.choose(found);
        self.chosen.pop();
        enough || !self.somebody_is_at(code, *label) && self.choose_among(code, Some(*label), found)
    }

    /// Chooses any copy of a code, at this label.
    fn choose_among(
        &mut self,
        code: usize,
        label: Option<LabelRef>,
        found: &mut dyn FnMut(&[usize]) -> bool,
    ) -> bool {
        for at in 0..self.present.len() {
            let (of, local, count) = self.present[at];
            let taken = self.chosen.iter().filter(|&&c| c == Some(at)).count();
            if of != code || count != MANY && taken >= usize::from(count) {
                continue;
            }
            if label.is_some_and(|label| !self.frame.stands_at(self.view, code, local, label)) {
                continue;
            }
            self.chosen.push(Some(at));
            let enough = self.choose(found);
            self.chosen.pop();
            if enough {
                return true;
            }
        }
        false
    }

    /// Whether a chosen copy is at a label.
    fn somebody_is_at(&mut self, code: usize, label: LabelRef) -> bool {
        (0..self.chosen.len()).any(|choice| {
            self.chosen[choice].is_some_and(|at| {
                let (of, local, _) = self.present[at];
                of == code && self.frame.stands_at(self.view, code, local, label)
            })
        })
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
                let location = address.locate(program, |expr| self.value(expr, open))?;
                Ok(self.view.value(self.row[self.frame.component(location)]))
            }
        })
    }

    fn is_at(&mut self, copy: CopyRef, label: LabelRef, open: &mut bool) -> bool {
        let code = copy.thread.index();
        let somewhere = self.never.somewhere.contains(&(copy, label));
        if somewhere {
            let all = self.never.named.len() + self.never.somewhere.len();
            let is_at = self.somebody_is_at(code, label);
            *open |= !is_at && self.chosen.len() < all;
            return is_at;
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

    /// Where a copy stands.
    fn standing(&mut self, copy: CopyRef, open: &mut bool) -> Option<(usize, LocalId)> {
        match self.never.named.iter().position(|n| *n == copy) {
            Some(at) => match self.chosen.get(at) {
                Some(&chosen) => {
                    let (code, local, _) = self.present[chosen?];
                    Some((code, local))
                }
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
