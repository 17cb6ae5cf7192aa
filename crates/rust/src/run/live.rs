//! Which locals are still needed at the beginning of each block: values that nothing reads any more only make equal states look different.

use crate::mir::{Body, Callee, Operand, Place, Projection, Rvalue, Statement, Terminator};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// For each block, for each local: whether it is needed there. A local whose address is taken always is.
pub fn live(
    known: &mut FxHashMap<u32, Rc<Vec<Vec<bool>>>>,
    number: u32,
    body: &Body,
) -> Rc<Vec<Vec<bool>>> {
    known
        .entry(number)
        .or_insert_with(|| Rc::new(compute(body)))
        .clone()
}

fn compute(body: &Body) -> Vec<Vec<bool>> {
    let locals = body.locals.len();
    let mut always = vec![false; locals];
    always[0] = true;
    for block in &body.blocks {
        for (statement, _) in &block.statements {
            if let Statement::Assign(_, Rvalue::Ref(place)) = statement
                && !place.projection.contains(&Projection::Deref)
            {
                always[place.local] = true;
            }
        }
        if let Some((Terminator::Drop(place, _), _)) = &block.terminator {
            // Dropping takes the address.
            always[place.local] = true;
        }
    }
    let mut live = vec![always.clone(); body.blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for number in (0..body.blocks.len()).rev() {
            let mut now = always.clone();
            let block = &body.blocks[number];
            if let Some((terminator, _)) = &block.terminator {
                for next in successors(terminator) {
                    if let Some(next) = live.get(next) {
                        now.iter_mut()
                            .zip(next)
                            .for_each(|(now, next)| *now |= next);
                    }
                }
                match terminator {
                    Terminator::Switch(operand, ..) | Terminator::Assert(operand, ..) => {
                        operand_uses(operand, &mut now);
                    }
                    Terminator::Drop(place, _) => place_uses(place, &mut now),
                    Terminator::Call(target, callee, arguments, _) => {
                        defines(target, &mut now, &always);
                        if let Callee::Value(operand) = callee {
                            operand_uses(operand, &mut now);
                        }
                        arguments.iter().for_each(|o| operand_uses(o, &mut now));
                    }
                    _ => {}
                }
            }
            for (statement, _) in block.statements.iter().rev() {
                match statement {
                    Statement::Assign(place, rvalue) => {
                        defines(place, &mut now, &always);
                        rvalue_uses(rvalue, &mut now);
                    }
                    Statement::SetDiscriminant(place, _) => place_uses(place, &mut now),
                    Statement::StorageDead(local) | Statement::StorageLive(local) => {
                        now[*local] = always[*local];
                    }
                    Statement::CopyNonOverlapping(a, b, c) => {
                        [a, b, c]
                            .into_iter()
                            .for_each(|o| operand_uses(o, &mut now));
                    }
                    Statement::Nop => {}
                }
            }
            if now != live[number] {
                live[number] = now;
                changed = true;
            }
        }
    }
    live
}

fn successors(terminator: &Terminator) -> Vec<usize> {
    match terminator {
        Terminator::Goto(next) | Terminator::Drop(_, next) | Terminator::Assert(_, _, _, next) => {
            vec![*next]
        }
        Terminator::Call(_, _, _, next) => next.iter().copied().collect(),
        Terminator::Switch(_, values, otherwise) => values
            .iter()
            .map(|(_, block)| *block)
            .chain(*otherwise)
            .collect(),
        _ => Vec::new(),
    }
}

fn defines(place: &Place, live: &mut [bool], always: &[bool]) {
    if place.projection.is_empty() {
        live[place.local] = always[place.local];
    } else {
        place_uses(place, live);
    }
}

fn place_uses(place: &Place, live: &mut [bool]) {
    live[place.local] = true;
    for step in &place.projection {
        if let Projection::Index(local) = step {
            live[*local] = true;
        }
    }
}

fn operand_uses(operand: &Operand, live: &mut [bool]) {
    match operand {
        Operand::Copy(place) | Operand::Move(place) => place_uses(place, live),
        Operand::Const(_) => {}
    }
}

fn rvalue_uses(rvalue: &Rvalue, live: &mut [bool]) {
    match rvalue {
        Rvalue::Use(operand)
        | Rvalue::Unary(_, operand)
        | Rvalue::Cast(operand, ..)
        | Rvalue::Repeat(operand, _) => operand_uses(operand, live),
        Rvalue::Ref(place) | Rvalue::Len(place) | Rvalue::Discriminant(place) => {
            place_uses(place, live)
        }
        Rvalue::Binary(_, left, right) => {
            operand_uses(left, live);
            operand_uses(right, live);
        }
        Rvalue::Array(operands)
        | Rvalue::Tuple(operands)
        | Rvalue::Aggregate(_, _, operands)
        | Rvalue::Closure(_, _, operands) => operands.iter().for_each(|o| operand_uses(o, live)),
        Rvalue::Nullary(..) | Rvalue::ThreadLocal(_) => {}
    }
}
