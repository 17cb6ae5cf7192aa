//! No false assurance: what holds for a program says nothing where a run meets a bound that its text does not have.

use palisade_lang::{CopyRef, Expr, LabelRef, Never, Op, Program, StateAtom};
use palisade_memory::{Criterion, Model};

use crate::{Answer, Control, Options, Verdict};

/// Turns `holds` into `unknown` where a run can meet one of the program's bounds.
pub(crate) fn respect(
    program: &Program,
    mut answer: Answer,
    options: &Options,
    control: &Control<'_>,
) -> Answer {
    if answer.verdict != Verdict::Holds {
        return answer;
    }
    // A robust program has the runs of sequential consistency and no others; an observationally robust one goes the same ways.
    let model = match options.criterion {
        Criterion::Robust | Criterion::Observational => Model::Sc,
        _ => options.model,
    };
    let question = Options {
        model,
        criterion: Criterion::Safe,
        timeout: options
            .timeout
            .map(|timeout| timeout.saturating_sub(answer.stats.wall)),
        checkpoints: None,
        ..options.clone()
    };
    for (index, bound) in program.bounds.iter().enumerate() {
        let verdict = match crate::decide(&meeting(program, index), &question, control) {
            Ok(met) => {
                answer.stats.add(&met.stats);
                met.verdict
            }
            Err(refusal) => Verdict::Unknown(refusal.message),
        };
        let line = program.source.line_column(bound.span.start).line;
        let message = &bound.message;
        let reason = match verdict {
            Verdict::Holds => continue,
            Verdict::Violated => format!("line {line}: {message}, and no further is looked"),
            Verdict::Unknown(reason) => {
                format!("whether line {line} is a limit ({message}) is not known: {reason}")
            }
        };
        answer.verdict = Verdict::Unknown(reason);
        break;
    }
    answer
}

/// The program that is safe exactly if no run meets this bound.
fn meeting(program: &Program, bound: usize) -> Program {
    let mut program = program.clone();
    for transition in program.threads.iter_mut().flat_map(|t| &mut t.transitions) {
        // A thread whose assertion fails stops.
        if let Op::Assert(condition) = &transition.op {
            transition.op = Op::Assume(condition.clone());
        }
    }
    let bound = &program.bounds[bound];
    let conditions = bound.at.iter().map(|(thread, label)| {
        let copy = CopyRef {
            thread: *thread,
            copy: None,
        };
        Expr::Atom(StateAtom::At(copy, LabelRef::Label(*label)))
    });
    program.nevers = vec![Never {
        conditions: conditions.collect(),
        span: bound.span,
    }];
    program
}
