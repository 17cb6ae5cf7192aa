//! Which variables of a function may still be known to others when it returns: those whose address is stored or given to a thread.

use crate::unit::{Action, Atom, Function, Storage, Unit, ValueExpr};

/// For each function, for each of its variables: whether it is in memory and its address leaves the function.
pub fn of(unit: &Unit) -> Vec<Vec<bool>> {
    let mut escaping: Vec<Vec<bool>> = Vec::new();
    escaping.extend(unit.functions.iter().map(|f| vec![false; f.locals.len()]));
    loop {
        let mut changed = false;
        for (index, function) in unit.functions.iter().enumerate() {
            let found = in_function(unit, function, &escaping);
            changed |= found != escaping[index];
            escaping[index] = found;
        }
        if !changed {
            break;
        }
    }
    for (function, escaping) in unit.functions.iter().zip(&mut escaping) {
        for (local, escapes) in function.locals.iter().zip(escaping) {
            *escapes &= matches!(local.storage, Storage::Memory(_));
        }
    }
    escaping
}

/// The variables of one function whose address (of those in memory) or value (of registers) leaves it, given what is known of the others.
fn in_function(unit: &Unit, function: &Function, known: &[Vec<bool>]) -> Vec<bool> {
    let mut leaves = vec![false; function.locals.len()];
    let note = |expr: &ValueExpr, leaves: &mut Vec<bool>| {
        expr.for_each_atom(&mut |atom| {
            if let Atom::Local(local) | Atom::AddressOf(local) = atom {
                leaves[local.index()] = true;
            }
        });
    };
    for block in &function.blocks {
        for step in &block.steps {
            match &step.action {
                Action::Store { value, .. }
                | Action::Exchange { value, .. }
                | Action::CompareExchange { desired: value, .. }
                | Action::BlockingCompareExchange { desired: value, .. } => {
                    note(value, &mut leaves);
                }
                Action::Spawn { arguments, .. } => {
                    arguments.iter().for_each(|a| note(a, &mut leaves));
                }
                Action::Call {
                    callee, arguments, ..
                } => {
                    let callee = match callee {
                        ValueExpr::Atom(Atom::Function(callee)) => Some(callee.index()),
                        _ => None,
                    };
                    for (at, argument) in arguments.iter().enumerate() {
                        let stays = callee.is_some_and(|callee| {
                            let parameter = unit.functions[callee].parameters.get(at);
                            parameter.is_none_or(|p| !known[callee][p.index()])
                        });
                        if !stays {
                            note(argument, &mut leaves);
                        }
                    }
                }
                _ => {}
            }
        }
        // What a function returns does not count: structs are returned by their address, and copied at once.
    }
    // What a register that leaves may hold leaves as well.
    loop {
        let before = leaves.clone();
        for step in function.blocks.iter().flat_map(|b| &b.steps) {
            if let Action::Assign(to, value) = &step.action
                && leaves[to.index()]
            {
                note(value, &mut leaves);
            }
        }
        if leaves == before {
            return leaves;
        }
    }
}
