//! Which objects only the first thread stores to: what they hold is known to it, also when there are other threads.

use crate::unit::{Action, Atom, End, FunctionId, Object, Unit, ValueExpr};

/// For each object: no other thread stores to it, and nothing knows its address but by its name.
pub fn by_first_thread(unit: &Unit) -> Vec<bool> {
    let mut owned: Vec<bool> = unit.objects.iter().map(|o| !o.thread_local).collect();
    let elsewhere = run_elsewhere(unit);
    for cell in unit.objects.iter().flat_map(|o: &Object| &o.cells) {
        give_away(&cell.initial, &mut owned);
    }
    for (function, elsewhere) in unit.functions.iter().zip(elsewhere) {
        for block in &function.blocks {
            for step in &block.steps {
                for_each_value(&step.action, &mut |value| give_away(value, &mut owned));
                if let (true, Some(address)) = (elsewhere, stored_to(&step.action)) {
                    give_away(address, &mut owned);
                }
            }
            match &block.end {
                End::Return(Some(value)) | End::Finish(Some(value)) => {
                    give_away(value, &mut owned);
                }
                _ => {}
            }
        }
    }
    owned
}

fn give_away(value: &ValueExpr, owned: &mut [bool]) {
    value.for_each_atom(&mut |atom| {
        if let Atom::Object(object) = atom {
            owned[object.index()] = false;
        }
    });
}

/// Whether a thread that is created may execute each function.
fn run_elsewhere(unit: &Unit) -> Vec<bool> {
    let mut todo: Vec<FunctionId> = Vec::new();
    let note = |value: &ValueExpr, todo: &mut Vec<FunctionId>| {
        value.for_each_atom(&mut |atom| {
            if let Atom::Function(function) = atom {
                todo.push(*function);
            }
        });
    };
    // Whatever is named other than in a call may be where a thread begins, or be called by one.
    for cell in unit.objects.iter().flat_map(|o| &o.cells) {
        note(&cell.initial, &mut todo);
    }
    for block in unit.functions.iter().flat_map(|f| &f.blocks) {
        for step in &block.steps {
            for_each_value(&step.action, &mut |value| note(value, &mut todo));
            if let Action::Spawn { callee, .. } = &step.action {
                note(callee, &mut todo);
            }
        }
        if let End::Return(Some(value)) | End::Finish(Some(value)) = &block.end {
            note(value, &mut todo);
        }
    }
    let mut elsewhere = vec![false; unit.functions.len()];
    while let Some(function) = todo.pop() {
        if std::mem::replace(&mut elsewhere[function.index()], true) {
            continue;
        }
        for block in &unit.functions[function.index()].blocks {
            for step in &block.steps {
                if let Action::Call { callee, .. } = &step.action {
                    note(callee, &mut todo);
                }
            }
        }
    }
    elsewhere
}

/// The address that an action stores to.
fn stored_to(action: &Action) -> Option<&ValueExpr> {
    match action {
        Action::Store { address, .. }
        | Action::Fetch { address, .. }
        | Action::Exchange { address, .. }
        | Action::CompareExchange { address, .. }
        | Action::BlockingCompareExchange { address, .. } => Some(address),
        _ => None,
    }
}

/// Calls `visit` for every value that an action gives to something else: not for addresses that it only accesses, nor for conditions.
fn for_each_value(action: &Action, visit: &mut impl FnMut(&ValueExpr)) {
    match action {
        Action::Assign(_, value)
        | Action::Store { value, .. }
        | Action::Exchange { value, .. }
        | Action::Fetch { operand: value, .. }
        | Action::CompareExchange { desired: value, .. }
        | Action::BlockingCompareExchange { desired: value, .. }
        | Action::Free(value) => visit(value),
        Action::Call { arguments, .. } | Action::Spawn { arguments, .. } => {
            arguments.iter().for_each(visit);
        }
        Action::Choose(..)
        | Action::Load { .. }
        | Action::Peek { .. }
        | Action::Never { .. }
        | Action::ThisThread(_)
        | Action::Wait { .. }
        | Action::Fence(_)
        | Action::Assume(_)
        | Action::Assert(_)
        | Action::Join { .. }
        | Action::Allocate { .. }
        | Action::AllocateArray { .. }
        | Action::AtomicBegin
        | Action::AtomicEnd
        | Action::Bound(_)
        | Action::Statement => {}
    }
}
