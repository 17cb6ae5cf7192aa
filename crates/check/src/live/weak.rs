//! `live` under release/acquire, C++20 and RC11.
//!
//! What hangs under SC hangs under the model, where every thread may always read what is newest. A robust program hangs only if it does under SC. For other
//! programs hangs are looked for in which every thread that has not ended waits, in a loop without effect or otherwise (`palisade_memory::waiting`). There are no others where
//! no loop of the program has an effect: then each thread changes memory only so often, and where nothing is changed any more, all that go on go
//! round without effect, and come to see what is newest. Where a loop may change memory again and again, that no such hang is found says nothing.

use web_time::Instant;

use palisade_lang::{
    BinaryOp, Expr, Never, Op, PointId, Program, RegisterExpr, RegisterId, RmwAction, Span,
    StateAtom, Thread, Transition, UnaryOp,
};
use palisade_memory::ra_accepts::blocks_end;

use super::under_sc;
use crate::note::{Note, add_new};
use crate::weak::{everything, is_race, raced, robust, taken, violated_under_sc};
use crate::{Answer, Control, Criterion, Options, Refusal, Verdict, ra};

pub(super) fn check(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
) -> Result<Answer, Refusal> {
    ra::check_meaning(program, options)?;
    let start = Instant::now();
    let part = |model, criterion| Options {
        model,
        criterion,
        timeout: options.timeout.map(|t| t.saturating_sub(start.elapsed())),
        ..options.clone()
    };
    let mut sc = under_sc(program, &part(options.model, Criterion::Live), control);
    let mut total = taken(&mut sc);
    let errs = sc.notes.contains(&Note::ProgramErrs);
    let mut answer = if sc.verdict == Verdict::Violated {
        violated_under_sc(program, sc, &part(options.model, Criterion::Drf), control)?
    } else {
        let mut robust = robust(program, &part(options.model, Criterion::Robust), control)?;
        total.add(&taken(&mut robust));
        match (robust.verdict.clone(), sc.verdict.clone()) {
            (Verdict::Violated, _) if is_race(&robust) => raced(robust, Criterion::Live),
            (Verdict::Holds, Verdict::Holds) if blocks_end(program) => {
                let mut answer = robust;
                answer.notes.push(Note::RobustAndLive);
                answer
            }
            (_, Verdict::Unknown(_)) => sc,
            _ => not_robust(program, &part(options.model, Criterion::Live), control)?,
        }
    };
    for witness in &mut answer.witnesses {
        witness.criterion = Criterion::Live;
    }
    add_new(&mut answer.notes, errs.then_some(Note::ProgramErrs));
    total.add(&answer.stats);
    total.wall = start.elapsed();
    answer.stats = total;
    Ok(answer)
}

fn not_robust(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
) -> Result<Answer, Refusal> {
    let mut answer = everything(&waiting_for_ever(program), options, control)?;
    if answer.verdict == Verdict::Holds
        && let Some(line) = loop_with_effect(program)
    {
        answer.verdict = Verdict::Unknown(format!(
            "the program is not robust; no run ends with all threads waiting for ever, but the loop at line {line} may change memory again and again, and runs without end in which it does are not looked at"
        ));
    }
    Ok(answer)
}

/// The program that asks for states in which nothing moves any more.
fn waiting_for_ever(program: &Program) -> Program {
    let mut question = program.clone();
    question.nevers = vec![Never {
        conditions: vec![Expr::Atom(StateAtom::Deadlock)],
        span: Span { start: 0, end: 0 },
    }];
    question
}

/// The line of a loop in which memory may be changed again and again.
fn loop_with_effect(program: &Program) -> Option<u32> {
    program.threads.iter().find_map(|thread| {
        let effect = thread.transitions.iter().enumerate().find(|(index, t)| {
            let known = match &t.op {
                // A store may write what is there already, but that is not known.
                Op::Store { .. } => None,
                Op::Rmw {
                    register, action, ..
                } => match (register, action) {
                    (Some(register), RmwAction::CompareAndSwap { expected, .. }) => {
                        constant(expected).map(|value| (*register, value, true))
                    }
                    (Some(register), RmwAction::Exchange(value)) => {
                        constant(value).map(|value| (*register, value, false))
                    }
                    _ => None,
                },
                _ => return false,
            };
            comes_back(thread, *index, known)
        });
        let (_, transition) = effect?;
        Some(program.source.line_column(transition.span.start).line)
    })
}

fn constant(expr: &RegisterExpr) -> Option<i64> {
    match expr {
        Expr::Const(value) => Some(*value),
        _ => None,
    }
}

/// Whether a thread that has executed this instruction, with an effect, can come to it again. `known`: then the register has this value, or has not.
fn comes_back(thread: &Thread, index: usize, known: Option<(RegisterId, i64, bool)>) -> bool {
    let start = &thread.transitions[index];
    let mut seen: Vec<(PointId, bool)> = Vec::new();
    let mut work = vec![(start.to, known.is_some())];
    while let Some((point, knows)) = work.pop() {
        if point == start.from {
            return true;
        }
        if seen.contains(&(point, knows)) {
            continue;
        }
        seen.push((point, knows));
        for transition in thread.outgoing(point) {
            let known = known.filter(|_| knows);
            if !is_impossible(transition, known) {
                let sets = |(register, ..): (RegisterId, i64, bool)| {
                    transition.op.target() == Some(register)
                };
                let still = knows && !known.is_some_and(sets);
                work.push((transition.to, still));
            }
        }
    }
    false
}

/// Whether a branch is not taken, given what is known of a register.
fn is_impossible(transition: &Transition, known: Option<(RegisterId, i64, bool)>) -> bool {
    let (Op::Assume(condition), Some((register, value, is))) = (&transition.op, known) else {
        return false;
    };
    truth(condition, register, value, is) == Some(false)
}

fn truth(condition: &RegisterExpr, register: RegisterId, value: i64, is: bool) -> Option<bool> {
    match condition {
        Expr::Unary(UnaryOp::Not, operand) => truth(operand, register, value, is).map(|t| !t),
        Expr::Binary(op @ (BinaryOp::Equal | BinaryOp::NotEqual), left, right) => {
            let other = match (&**left, &**right) {
                (Expr::Atom(r), Expr::Const(c)) | (Expr::Const(c), Expr::Atom(r))
                    if *r == register =>
                {
                    *c
                }
                _ => return None,
            };
            let equal = match (is, other == value) {
                (true, same) => same,
                (false, true) => false,
                (false, false) => return None,
            };
            Some(equal == (*op == BinaryOp::Equal))
        }
        Expr::Atom(r) if *r == register => match (is, value) {
            (true, value) => Some(value != 0),
            (false, 0) => Some(true),
            (false, _) => None,
        },
        _ => None,
    }
}
