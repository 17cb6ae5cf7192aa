//! Errors of the program being analysed, where another criterion than `safe` is asked for.

use palisade_lang::{Address, BinaryOp, Expr, Op, Program, RegisterExpr, RegisterId, RmwAction};

use crate::{Answer, Control, Criterion, ERROR_NOTE, Model, Options, Reductions, Verdict};

/// Who does not ask for errors does not want to wait for them: they are looked for among so many states where the program has assertions, …
const MOST_STATES: u64 = 20_000;
/// … and among so many where it only has computed addresses, divisions or shifts, which seldom go wrong.
const FEW_STATES: u64 = 1_000;

/// Mentions in an answer that an assertion of the program can fail, or another error of it can be reached, under SC.
///
/// A search that meets an error mentions it anyway. An answer that needed no search, or that came before the error, has met none.
pub fn mention_errors(
    program: &Program,
    answer: &mut Answer,
    options: &Options,
    control: &Control<'_>,
) {
    let mentioned = answer.notes.iter().any(|note| note == ERROR_NOTE);
    let asserts = |op: &Op| matches!(op, Op::Assert(_));
    let most_states = match () {
        () if has(program, asserts) => MOST_STATES,
        () if has(program, op_can) => FEW_STATES,
        () => return,
    };
    if mentioned || options.criterion == Criterion::Safe {
        return;
    }
    let question = Options {
        jobs: options.jobs,
        timeout: options.timeout,
        memory: options.memory,
        reductions: Reductions::ALL,
        most_states: Some(most_states),
        ..Options::new(Model::Sc, Criterion::Safe)
    };
    let mut program = program.clone();
    program.nevers.clear();
    if crate::safe::check(&program, &question, control).verdict == Verdict::Violated {
        answer.notes.push(ERROR_NOTE.to_owned());
    }
}

/// Whether the program has such an instruction.
fn has(program: &Program, such: impl Fn(&Op) -> bool) -> bool {
    let mut transitions = program.threads.iter().flat_map(|t| &t.transitions);
    transitions.any(|transition| such(&transition.op))
}

/// Whether it can go wrong.
fn op_can(op: &Op) -> bool {
    match op {
        Op::Assert(_) => true,
        Op::Assign(_, value) | Op::Assume(value) => value_can(value),
        Op::Load { address, .. } => address_can(address),
        Op::Store { address, value, .. } | Op::Wait { address, value, .. } => {
            address_can(address) || value_can(value)
        }
        Op::Rmw {
            address, action, ..
        } => {
            address_can(address)
                || match action {
                    RmwAction::CompareAndSwap { expected, desired }
                    | RmwAction::BlockingCompareAndSwap { expected, desired } => {
                        value_can(expected) || value_can(desired)
                    }
                    RmwAction::Fetch(op, value) => partial(*op) || value_can(value),
                    RmwAction::Exchange(value) => value_can(value),
                }
        }
        _ => false,
    }
}

fn address_can(address: &Address<RegisterId>) -> bool {
    !matches!(address, Address::Direct(_))
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
