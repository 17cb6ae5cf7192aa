//! Errors of the program being analysed, where another criterion than `safe` is asked for.

use palisade_lang::{Address, BinaryOp, Expr, Op, Program, RegisterExpr, RegisterId, RmwAction};

use crate::values::{Possible, possible_values};
use crate::{Answer, Control, Criterion, Model, Note, Options, Reductions, Verdict};

/// Where errors are not asked for, the answer does not wait for them: they are looked for among so many states where the program has assertions, …
const MOST_STATES: u64 = 20_000;
/// … and among so many where it only has computed addresses, divisions or shifts, which seldom go wrong.
const FEW_STATES: u64 = 1_000;
/// In longer programs they are looked for without first asking which values there may be.
const MOST_INSTRUCTIONS: usize = 2_000;

/// Mentions in an answer that an assertion of the program can fail, or another error of it can be reached, under SC.
///
/// A search that meets an error mentions it anyway. An answer that needed no search, or that came before the error, has met none.
pub fn mention_errors(
    program: &Program,
    answer: &mut Answer,
    options: &Options,
    control: &Control<'_>,
) {
    let mentioned = answer.notes.contains(&Note::ProgramErrs);
    let asserts = |op: &Op| matches!(op, Op::Assert(_));
    let most_states = match () {
        () if has(program, asserts) => MOST_STATES,
        () if has(program, op_can) && may_go_wrong(program) => FEW_STATES,
        () => return,
    };
    if mentioned || options.criterion == Criterion::Safe {
        return;
    }
    let question = Options {
        jobs: options.jobs,
        timeout: options.timeout,
        memory: options.memory,
        machine: options.machine,
        reductions: Reductions::ALL,
        most_states: Some(most_states),
        ..Options::new(Model::Sc, Criterion::Safe)
    };
    let mut program = program.clone();
    program.nevers.clear();
    if crate::safe::check(&program, &question, control).verdict == Verdict::Violated {
        answer.notes.push(Note::ProgramErrs);
    }
}

/// Whether the program has such an instruction.
fn has(program: &Program, such: impl Fn(&Op) -> bool) -> bool {
    let mut transitions = program.threads.iter().flat_map(|t| &t.transitions);
    transitions.any(|transition| such(&transition.op))
}

/// Whether some instruction may go wrong, by the values that registers may hold: no walk is needed where addresses are always in range.
fn may_go_wrong(program: &Program) -> bool {
    let length: usize = program.threads.iter().map(|t| t.transitions.len()).sum();
    // A walk of so few states takes no longer than looking at the values of a long program.
    if length > MOST_INSTRUCTIONS {
        return true;
    }
    let possible = possible_values(program);
    let instances = program.instances();
    instances.iter().enumerate().any(|(index, instance)| {
        let mut transitions = program.thread(instance.thread).transitions.iter();
        transitions.any(|transition| {
            let op = &transition.op;
            values_can(op)
                || op
                    .address()
                    .is_some_and(|address| may_miss(program, &possible, index, address))
        })
    })
}

/// Whether an address of a running thread may be that of no location.
fn may_miss(
    program: &Program,
    possible: &Possible,
    instance: usize,
    address: &Address<RegisterId>,
) -> bool {
    match address {
        Address::Direct(_) => false,
        Address::Element { length, index, .. } => {
            value_can(index)
                || possible.evaluate(instance, index).is_none_or(|values| {
                    let range = 0..i64::from(*length);
                    !values.iter().all(|value| range.contains(value))
                })
        }
        Address::Pointer(pointer) => {
            value_can(pointer)
                || possible.evaluate(instance, pointer).is_none_or(|values| {
                    let mut values = values.into_iter();
                    values.any(|value| program.location_at(value).is_none())
                })
        }
    }
}

/// Whether it can go wrong.
fn op_can(op: &Op) -> bool {
    values_can(op)
        || op
            .address()
            .is_some_and(|address| !matches!(address, Address::Direct(_)))
}

/// Whether it can go wrong whatever its address.
fn values_can(op: &Op) -> bool {
    match op {
        Op::Assert(_) => true,
        Op::Assign(_, value) | Op::Assume(value) => value_can(value),
        Op::Store { value, .. } | Op::Wait { value, .. } => value_can(value),
        Op::Rmw { action, .. } => match action {
            RmwAction::CompareAndSwap {
                expected, desired, ..
            }
            | RmwAction::BlockingCompareAndSwap { expected, desired } => {
                value_can(expected) || value_can(desired)
            }
            RmwAction::Fetch(op, value) => partial(*op) || value_can(value),
            RmwAction::Exchange(value) => value_can(value),
        },
        _ => false,
    }
}

fn partial(op: BinaryOp) -> bool {
    use BinaryOp::{Divide, Remainder, ShiftLeft, ShiftRight};
    matches!(op, Divide | Remainder | ShiftLeft | ShiftRight)
}

fn value_can(value: &RegisterExpr) -> bool {
    match value {
        Expr::Const(_) | Expr::Atom(_) => false,
        Expr::Unary(_, operand) => value_can(operand),
        Expr::Binary(op, left, right) => partial(*op) || value_can(left) || value_can(right),
        Expr::Element { .. } => true,
    }
}
