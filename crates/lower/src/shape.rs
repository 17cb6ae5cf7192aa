//! What can be said about a function before it is inlined.

use crate::unit::{Action, BlockId, End, Function, LocalId};

/// Facts about one function.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Whether each block lies on a cycle.
    pub in_loop: Vec<bool>,
    /// How many steps set each variable.
    pub assignments: Vec<u32>,
}

impl Shape {
    /// Looks at a function.
    pub fn of(function: &Function) -> Self {
        let count = function.blocks.len();
        let in_loop = (0..count)
            .map(|block| {
                let next = successors(&function.blocks[block].end);
                reachable(function, &next)[block]
            })
            .collect();
        let mut assignments = vec![0; function.locals.len()];
        for block in &function.blocks {
            for step in &block.steps {
                for_each_target(&step.action, &mut |local| assignments[local.index()] += 1);
            }
        }
        Shape {
            in_loop,
            assignments,
        }
    }
}

/// Where a block leads.
pub fn successors(end: &End) -> Vec<BlockId> {
    match end {
        End::Goto(block) => vec![*block],
        End::Branch(_, yes, no) => vec![*yes, *no],
        End::Return(_) | End::Finish(_) | End::Stop => Vec::new(),
    }
}

/// Which blocks can be reached from these, themselves included.
pub fn reachable(function: &Function, from: &[BlockId]) -> Vec<bool> {
    let mut reached = vec![false; function.blocks.len()];
    let mut todo = from.to_vec();
    while let Some(block) = todo.pop() {
        if !std::mem::replace(&mut reached[block.index()], true) {
            todo.extend(successors(&function.blocks[block.index()].end));
        }
    }
    reached
}

/// Calls `visit` for every register that the action sets.
pub fn for_each_target(action: &Action, visit: &mut impl FnMut(LocalId)) {
    match action {
        Action::Assign(to, _)
        | Action::Choose(to, _)
        | Action::Load { to, .. }
        | Action::Peek { to, .. }
        | Action::ThisThread(to)
        | Action::Allocate { to, .. }
        | Action::AllocateArray { to, .. } => visit(*to),
        Action::Fetch { to, .. }
        | Action::Exchange { to, .. }
        | Action::Wait { to, .. }
        | Action::Call { to, .. }
        | Action::Join { to, .. } => to.iter().for_each(|to| visit(*to)),
        Action::Spawn { handle, .. } => handle.iter().for_each(|to| visit(*to)),
        Action::CompareExchange { old, success, .. } => {
            visit(*old);
            visit(*success);
        }
        _ => {}
    }
}
