//! `never` conditions that choose among copies of a thread.

use std::collections::HashSet;

use crate::expr::Expr;
use crate::program::{Address, CopyRef, Never, Program, StateAtom, ThreadId};

/// All ways to choose distinct copies of some threads: for each `never` one condition for each way.
///
/// In a parameterised thread, `t[0]` and `t[1]` stand for any distinct copies. With a given number of copies that is one condition for each way to choose
/// them. The same makes what is said about some of several interchangeable copies symmetric.
///
/// The ways are conditions of their own, and not one condition joined by `||`: where one runs into an error, another may be true.
///
/// `copies` gives the number of copies for each thread (by index) whose copies are to be chosen freely. A condition that speaks of more
/// distinct copies than there are cannot be true and is left out.
pub fn for_distinct_copies(nevers: &[Never], copies: &[Option<u32>]) -> Vec<Never> {
    let choose = |never: &Never| Never {
        conditions: every_choice(&never.conditions, copies),
        span: never.span,
    };
    nevers.iter().map(choose).collect()
}

/// All ways are found from one by exchanging neighbours.
fn every_choice(conditions: &[Expr<StateAtom>], copies: &[Option<u32>]) -> Vec<Expr<StateAtom>> {
    let mut all: Vec<Expr<StateAtom>> = Vec::new();
    let mut known: HashSet<Expr<StateAtom>> = HashSet::new();
    for condition in conditions {
        let first = first_choice(condition, copies);
        all.extend(first.filter(|first| known.insert(first.clone())));
    }
    let mut at = 0;
    while at < all.len() {
        for (thread, &copies) in copies.iter().enumerate() {
            let thread = ThreadId(thread as u32);
            for left in 0..copies.unwrap_or(0).saturating_sub(1) {
                let exchanged = substitute(&all[at], &|copy: CopyRef| match copy.copy {
                    Some(number) if copy.thread == thread => CopyRef {
                        copy: Some(match number {
                            _ if number == left => left + 1,
                            _ if number == left + 1 => left,
                            other => other,
                        }),
                        ..copy
                    },
                    _ => copy,
                });
                if !known.contains(&exchanged) {
                    known.insert(exchanged.clone());
                    all.push(exchanged);
                }
            }
        }
        at += 1;
    }
    all
}

/// The first copies in the places of those that are mentioned; `None` where there are not so many.
fn first_choice(condition: &Expr<StateAtom>, copies: &[Option<u32>]) -> Option<Expr<StateAtom>> {
    let mut mentioned: Vec<Vec<u32>> = vec![Vec::new(); copies.len()];
    mentioned_copies(condition, copies, &mut mentioned);
    let few = |(mentioned, copies): (&Vec<u32>, &Option<u32>)| {
        copies.is_none_or(|copies| mentioned.len() as u32 <= copies)
    };
    mentioned.iter().zip(copies).all(few).then(|| {
        substitute(condition, &|copy: CopyRef| {
            let place = |number| {
                let of_thread = &mentioned[copy.thread.index()];
                of_thread.iter().position(|m| *m == number)
            };
            match copy.copy.and_then(place) {
                Some(at) => CopyRef {
                    copy: Some(at as u32),
                    ..copy
                },
                None => copy,
            }
        })
    })
}

/// Adds the copies that are to be chosen freely, by thread.
fn mentioned_copies(expr: &Expr<StateAtom>, copies: &[Option<u32>], found: &mut [Vec<u32>]) {
    expr.for_each_atom(&mut |atom| match atom {
        StateAtom::At(copy, _) | StateAtom::Register(copy, _) => {
            let thread = copy.thread.index();
            if let Some(number) = copy.copy
                && copies[thread].is_some()
                && !found[thread].contains(&number)
            {
                found[thread].push(number);
            }
        }
        StateAtom::Memory(address) => {
            if let Some(expr) = address.expr() {
                mentioned_copies(expr, copies, found);
            }
        }
        StateAtom::Deadlock => {}
    });
}

fn substitute(expr: &Expr<StateAtom>, copy_for: &impl Fn(CopyRef) -> CopyRef) -> Expr<StateAtom> {
    expr.map_atoms(&mut |atom| {
        Expr::Atom(match atom {
            StateAtom::At(copy, label) => StateAtom::At(copy_for(*copy), *label),
            StateAtom::Register(copy, register) => StateAtom::Register(copy_for(*copy), *register),
            StateAtom::Memory(address) => {
                StateAtom::Memory(Box::new(address.map(|expr| substitute(expr, copy_for))))
            }
            StateAtom::Deadlock => StateAtom::Deadlock,
        })
    })
}

impl Never {
    /// Visits all atoms of its conditions, also those of addresses. As deep as the expressions.
    pub fn for_each_atom(&self, visit: &mut dyn FnMut(&StateAtom)) {
        fn inside(expr: &Expr<StateAtom>, visit: &mut dyn FnMut(&StateAtom)) {
            expr.for_each_atom(&mut |atom| {
                visit(atom);
                if let StateAtom::Memory(address) = atom {
                    match &**address {
                        Address::Direct(_) => {}
                        Address::Element { index: expr, .. } | Address::Pointer(expr) => {
                            inside(expr, visit);
                        }
                    }
                }
            });
        }
        for condition in &self.conditions {
            inside(condition, visit);
        }
    }

    /// Whether it speaks of `deadlock`.
    pub fn mentions_deadlock(&self) -> bool {
        let mut found = false;
        self.for_each_atom(&mut |atom| found |= *atom == StateAtom::Deadlock);
        found
    }
}

/// Whether some `never` of a program speaks of `deadlock`.
pub fn mentions_deadlock(program: &Program) -> bool {
    program.nevers.iter().any(Never::mentions_deadlock)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ParseOptions, Source, parse};

    fn conditions(text: &str, copies: u32) -> Vec<Vec<Expr<StateAtom>>> {
        let program = parse(&Source::new("p.pal", text), &ParseOptions::default());
        let program = program.unwrap().program.with_copies(copies);
        // Once more, nothing is added.
        let again = for_distinct_copies(&program.nevers, &[Some(copies), None]);
        for (never, again) in program.nevers.iter().zip(&again) {
            let known: HashSet<_> = never.conditions.iter().collect();
            assert_eq!(known, again.conditions.iter().collect());
            assert_eq!(known.len(), never.conditions.len());
        }
        program.nevers.into_iter().map(|n| n.conditions).collect()
    }

    #[test]
    fn distinct_copies_are_chosen_in_every_way() {
        let text = "shared x[9];\nthread t[*] { let r = 1; l: skip; }\nthread u[2] { let r = 1; l: skip; }\n\
            never t[0]@l && t[3]@l && x[t[3].r] == u[1].r;\nnever t@l && u[0]@l;\nnever t[2].r == 1;\n";
        for (copies, expected) in [(1, [0, 1, 1]), (2, [2, 1, 2]), (4, [12, 1, 4])] {
            let found: Vec<usize> = conditions(text, copies).iter().map(Vec::len).collect();
            assert_eq!(found, expected, "{copies}");
        }
    }
}
