//! `never` conditions that choose among copies of a thread.

use crate::expr::{BinaryOp, Expr};
use crate::program::{Address, CopyRef, Never, StateAtom};

/// All ways to choose distinct copies of some threads, as one condition for each `never`.
///
/// In a parameterised thread, `t[0]` and `t[1]` stand for any distinct copies. For a given number of copies that is a disjunction over all
/// ways to choose them. The same disjunction makes a condition about some of several interchangeable copies symmetric.
///
/// `copies` gives the number of copies for each thread (by index) whose copies are to be chosen freely. A condition that speaks of more
/// distinct copies than there are cannot be true and becomes 0.
pub fn for_distinct_copies(nevers: &[Never], copies: &[Option<u32>]) -> Vec<Never> {
    let mut result = Vec::new();
    for never in nevers {
        let mut mentioned = Vec::new();
        mentioned_copies(&never.condition, copies, &mut mentioned);
        let mut conditions = Vec::new();
        let mut choice = vec![0; mentioned.len()];
        choose(&mentioned, copies, 0, &mut choice, &mut |choice| {
            conditions.push(substitute(
                &never.condition,
                &|copy: CopyRef| match mentioned.iter().position(|m| *m == copy) {
                    Some(at) => CopyRef {
                        copy: Some(choice[at]),
                        ..copy
                    },
                    None => copy,
                },
            ));
        });
        result.push(Never {
            condition: balanced_or(conditions).unwrap_or(Expr::Const(0)),
            span: never.span,
        });
    }
    result
}

/// All injective choices of copies per thread.
fn choose(
    mentioned: &[CopyRef],
    copies: &[Option<u32>],
    at: usize,
    choice: &mut Vec<u32>,
    emit: &mut impl FnMut(&[u32]),
) {
    if at == mentioned.len() {
        return emit(choice);
    }
    for copy in 0..copies[mentioned[at].thread.index()].unwrap_or(0) {
        let taken =
            (0..at).any(|i| mentioned[i].thread == mentioned[at].thread && choice[i] == copy);
        if !taken {
            choice[at] = copy;
            choose(mentioned, copies, at + 1, choice, emit);
        }
    }
}

/// A disjunction as a balanced tree, so that its height stays small; `None` for an empty one.
fn balanced_or(mut conditions: Vec<Expr<StateAtom>>) -> Option<Expr<StateAtom>> {
    while conditions.len() > 1 {
        let mut halves = Vec::with_capacity(conditions.len().div_ceil(2));
        let mut rest = conditions.into_iter();
        while let Some(left) = rest.next() {
            halves.push(match rest.next() {
                Some(right) => Expr::binary(BinaryOp::Or, left, right),
                None => left,
            });
        }
        conditions = halves;
    }
    conditions.pop()
}

fn mentioned_copies(expr: &Expr<StateAtom>, copies: &[Option<u32>], found: &mut Vec<CopyRef>) {
    expr.for_each_atom(&mut |atom| match atom {
        StateAtom::At(copy, _) | StateAtom::Register(copy, _) => {
            if copy.copy.is_some() && copies[copy.thread.index()].is_some() && !found.contains(copy)
            {
                found.push(*copy);
            }
        }
        StateAtom::Memory(address) => match &**address {
            Address::Direct(_) => {}
            Address::Element { index, .. } => mentioned_copies(index, copies, found),
            Address::Pointer(pointer) => mentioned_copies(pointer, copies, found),
        },
        StateAtom::Deadlock => {}
    });
}

fn substitute(expr: &Expr<StateAtom>, copy_for: &impl Fn(CopyRef) -> CopyRef) -> Expr<StateAtom> {
    expr.map_atoms(&mut |atom| {
        Expr::Atom(match atom {
            StateAtom::At(copy, label) => StateAtom::At(copy_for(*copy), *label),
            StateAtom::Register(copy, register) => StateAtom::Register(copy_for(*copy), *register),
            StateAtom::Memory(address) => StateAtom::Memory(Box::new(match &**address {
                Address::Direct(location) => Address::Direct(*location),
                Address::Element {
                    first,
                    length,
                    index,
                } => Address::Element {
                    first: *first,
                    length: *length,
                    index: substitute(index, copy_for),
                },
                Address::Pointer(pointer) => Address::Pointer(substitute(pointer, copy_for)),
            })),
            StateAtom::Deadlock => StateAtom::Deadlock,
        })
    })
}
