//! Any number of threads: where all threads but the first run the same code and share everything, they are copies of one.

use palisade_lang::{Address, Copies, LocationId, Op, Program, Thread};

/// The program with any number of copies of its threads, if they are all the same. Nothing waits for them, so what comes after them is left out.
pub fn any(program: &Program) -> Option<Program> {
    let (main, threads) = program.threads.split_first()?;
    let (first, others) = threads.split_first()?;
    if !program.bounds.is_empty() {
        return None;
    }
    let plain = without_end(program, first)?;
    for other in others {
        if !alike(&plain, &without_end(program, other)?) {
            return None;
        }
    }
    let mut any = program.clone();
    any.nevers.clear();
    any.threads = vec![main.clone(), plain];
    any.threads[1].copies = Copies::Any;
    any.threads[1].name = "client".to_owned();
    Some(any)
}

/// The thread without the store by which the first knows that it has ended; `None` where the first does something before it starts it.
fn without_end(program: &Program, thread: &Thread) -> Option<Thread> {
    let mut ended = thread.clone();
    for transition in &mut ended.transitions {
        let Some(location) = location(&transition.op) else {
            continue;
        };
        let name = &program.locations[location.0 as usize].name;
        if name.starts_with("start_of_") && matches!(transition.op, Op::Wait { .. }) {
            return None;
        }
        let ends = name.starts_with("end_of_") || name.starts_with("ended_of_scope");
        if ends && is_end(program, location) {
            transition.op = Op::Skip;
        }
    }
    Some(ended)
}

/// Whether threads write a location only as their last step, and only the first thread waits for it.
fn is_end(program: &Program, end: LocationId) -> bool {
    program.threads.iter().enumerate().all(|(at, other)| {
        let last = |to| !other.transitions.iter().any(|next| next.from == to);
        other
            .transitions
            .iter()
            .filter(|t| location(&t.op) == Some(end))
            .all(|t| match t.op {
                Op::Wait { .. } => at == 0,
                Op::Store { .. } | Op::Rmw { .. } => last(t.to),
                _ => false,
            })
    })
}

fn location(op: &Op) -> Option<LocationId> {
    match op {
        Op::Load { address, .. }
        | Op::Store { address, .. }
        | Op::Rmw { address, .. }
        | Op::Wait { address, .. } => match address {
            Address::Direct(location) => Some(*location),
            _ => None,
        },
        _ => None,
    }
}

/// Whether two threads do the same to the same memory.
fn alike(a: &Thread, b: &Thread) -> bool {
    a.initial == b.initial
        && a.points.len() == b.points.len()
        && a.registers.len() == b.registers.len()
        && a.transitions.len() == b.transitions.len()
        && a.transitions
            .iter()
            .zip(&b.transitions)
            .all(|(a, b)| a.from == b.from && a.to == b.to && a.op == b.op)
}
