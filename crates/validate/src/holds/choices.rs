//! What a `never` says about copies of which there may be any number: for which choices of distinct ones it is true.

use super::Rejected;
use super::copies::Copy;
use palisade_lang::{
    BinaryOp, Copies, CopyRef, Expr, LabelRef, Program, ProgramError, StateAtom, Value,
};
use palisade_memory::Code;
use palisade_memory::sc::State;

/// The most choices of copies that are looked at for one shared part and one `never`.
const MOST_CHOICES: usize = 1 << 24;

/// A program, and where its threads are in an instance of it.
pub struct Choices<'c, 'p> {
    pub program: &'p Program,
    pub code: &'c Code<'p>,
    /// For each thread its places among the running ones of the instance.
    pub places: &'c [Vec<usize>],
}

/// A name in a `never` (with a label: some copy is there), and the copy that it stands for.
type Chosen<'c> = ((CopyRef, Option<LabelRef>), Option<&'c Copy>);

impl Choices<'_, '_> {
    fn is_any(&self, thread: usize) -> bool {
        self.program.threads[thread].copies == Copies::Any
    }

    /// Calls `found` with all choices among these copies for which a `never` is true; threads that are there once, and memory, are as in the state.
    pub fn for_each(
        &self,
        state: &State,
        copies: &[&Copy],
        found: &mut dyn FnMut(&[usize]) -> Result<(), Rejected>,
    ) -> Result<(), Rejected> {
        for condition in self.program.nevers.iter().flat_map(|n| &n.conditions) {
            let mut names: Vec<(CopyRef, Option<LabelRef>)> = Vec::new();
            for_each_atom(condition, &mut |atom| {
                let name = match atom {
                    StateAtom::At(copy, label) if copy.copy.is_none() => (*copy, Some(*label)),
                    StateAtom::At(copy, _) | StateAtom::Register(copy, _) => (*copy, None),
                    _ => return,
                };
                if self.is_any(name.0.thread.index()) && !names.contains(&name) {
                    names.push(name);
                }
            });
            let mut conjuncts = Vec::new();
            let mut rest = vec![condition];
            while let Some(condition) = rest.pop() {
                match condition {
                    Expr::Binary(BinaryOp::And, left, right) => rest.extend([&**left, &**right]),
                    other => conjuncts.push(other),
                }
            }
            // For each name the copies that it can stand for: those that alone make nothing false.
            let mut candidates: Vec<Vec<Option<usize>>> = Vec::new();
            for name in &names {
                let mut of_name = Vec::new();
                // That some copy is at a label may be of no matter.
                of_name.extend(name.1.is_some().then_some(None));
                for (at, &copy) in copies.iter().enumerate() {
                    if copy.0 != name.0.thread.index() {
                        continue;
                    }
                    if let Some(label) = name.1 {
                        if self.stands_at(copy, label) {
                            of_name.push(Some(at));
                        }
                        continue;
                    }
                    let alone = [(*name, Some(copy))];
                    let possible = conjuncts.iter().all(|conjunct| {
                        let mut speaks_of_others = false;
                        for_each_atom(conjunct, &mut |atom| {
                            if let StateAtom::At(other, _) | StateAtom::Register(other, _) = atom {
                                speaks_of_others |=
                                    self.is_any(other.thread.index()) && *other != name.0;
                            }
                        });
                        speaks_of_others || self.is_true(conjunct, state, &alone)
                    });
                    of_name.extend(possible.then_some(Some(at)));
                }
                candidates.push(of_name);
            }
            let choices = candidates
                .iter()
                .try_fold(1usize, |product, of| product.checked_mul(of.len()));
            if choices.is_none_or(|choices| choices > MOST_CHOICES) {
                return Err(Rejected::Unusable(
                    "there are too many choices of copies for a `never`".to_owned(),
                ));
            }
            for mut number in 0..choices.unwrap_or(0) {
                let mut chosen = Vec::new();
                let mut all = Vec::new();
                for (name, of_name) in names.iter().zip(&candidates) {
                    let at = of_name[number % of_name.len()];
                    all.extend(at);
                    chosen.push((*name, at.map(|at| copies[at])));
                    number /= of_name.len();
                }
                if self.is_true(condition, state, &chosen) {
                    found(&all)?;
                }
            }
        }
        Ok(())
    }

    fn stands_at(&self, (thread, point, _): &Copy, label: LabelRef) -> bool {
        let code = &self.program.threads[*thread];
        match label {
            LabelRef::End => code.is_end(*point),
            LabelRef::Label(label) => {
                let mut points = code.labels[label.index()].points.iter();
                points.any(|&p| code.behind_jumps(p) == *point)
            }
        }
    }

    /// Whether a condition is true for a choice of copies. An error makes it false.
    fn is_true(&self, condition: &Expr<StateAtom>, state: &State, chosen: &[Chosen<'_>]) -> bool {
        self.value(condition, state, chosen)
            .is_ok_and(|value| value != 0)
    }

    fn value(
        &self,
        expr: &Expr<StateAtom>,
        state: &State,
        chosen: &[Chosen<'_>],
    ) -> Result<Value, ProgramError> {
        let code = self.code;
        let chosen_as = |copy: &CopyRef| {
            let mut names = chosen.iter();
            names
                .find(|((name, label), _)| name == copy && label.is_none())
                .and_then(|c| c.1)
        };
        let fixed = |copy: &CopyRef| {
            let places = self.places[copy.thread.index()].iter().copied();
            let copy = copy.copy;
            places.filter(move |&p| copy.is_none_or(|c| c == code.instances[p].copy))
        };
        expr.eval(self.program.domain, &mut |atom| {
            Ok(match atom {
                StateAtom::Deadlock => 0,
                StateAtom::At(copy, label) if self.is_any(copy.thread.index()) => {
                    Value::from(match copy.copy {
                        Some(_) => chosen_as(copy).is_some_and(|c| self.stands_at(c, *label)),
                        None => chosen.iter().any(|((name, _), c)| {
                            name.thread == copy.thread
                                && c.is_some_and(|c| self.stands_at(c, *label))
                        }),
                    })
                }
                StateAtom::Register(copy, register) if self.is_any(copy.thread.index()) => {
                    chosen_as(copy).map_or(0, |c| c.2[register.index()])
                }
                StateAtom::At(copy, label) => Value::from(fixed(copy).any(|place| match label {
                    LabelRef::End => code.has_ended(place, &state.locals[place]),
                    LabelRef::Label(label) => {
                        let thread = code.thread(place);
                        let mut points = thread.labels[label.index()].points.iter();
                        points.any(|&p| thread.behind_jumps(p) == state.locals[place].point)
                    }
                })),
                StateAtom::Register(copy, register) => fixed(copy)
                    .next()
                    .map_or(0, |place| state.locals[place].registers[register.index()]),
                StateAtom::Memory(address) => {
                    let location =
                        address.locate(self.program, |expr| self.value(expr, state, chosen))?;
                    state.memory[location.index()]
                }
            })
        })
    }
}

/// Whether a condition may be false again with more copies.
pub fn not_upward_closed(program: &Program) -> bool {
    let is_any = |copy: &CopyRef| program.thread(copy.thread).copies == Copies::Any;
    fn grows(condition: &Expr<StateAtom>, is_any: &dyn Fn(&CopyRef) -> bool) -> bool {
        match condition {
            Expr::Binary(BinaryOp::And | BinaryOp::Or, left, right) => {
                grows(left, is_any) && grows(right, is_any)
            }
            Expr::Atom(StateAtom::At(..)) => true,
            other => {
                let mut grows = true;
                for_each_atom(other, &mut |atom| {
                    grows &= match atom {
                        StateAtom::Deadlock => false,
                        StateAtom::At(copy, _) | StateAtom::Register(copy, _) => {
                            copy.copy.is_some() || !is_any(copy)
                        }
                        StateAtom::Memory(_) => true,
                    };
                });
                grows
            }
        }
    }
    let mut conditions = program.nevers.iter().flat_map(|n| &n.conditions);
    !conditions.all(|c| grows(c, &is_any))
}

/// All atoms, also those of addresses. As deep as the expression.
pub fn for_each_atom(expr: &Expr<StateAtom>, visit: &mut dyn FnMut(&StateAtom)) {
    expr.for_each_atom(&mut |atom| {
        visit(atom);
        if let StateAtom::Memory(address) = atom
            && let Some(expr) = address.expr()
        {
            for_each_atom(expr, visit);
        }
    });
}
