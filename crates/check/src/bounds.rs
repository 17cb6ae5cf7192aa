//! No false assurance: what holds for a program says nothing where a run meets a bound that its text does not have.

use palisade_lang::{Bound, CopyRef, Expr, LabelRef, Never, Op, Program, StateAtom};
use palisade_memory::{Criterion, Model};

use crate::{Answer, Control, Options, Verdict};

/// Turns `holds` into `unknown` where a run can meet one of the program's bounds. `as_sc`: it goes no ways but those that it goes under SC.
pub(crate) fn respect(
    program: &Program,
    mut answer: Answer,
    as_sc: bool,
    options: &Options,
    control: &Control<'_>,
) -> Answer {
    if answer.verdict != Verdict::Holds {
        return answer;
    }
    let model = match as_sc {
        true => Model::Sc,
        false => options.model,
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
    for bound in &program.bounds {
        let verdict = match crate::decide(&meeting(program, bound), &question, control) {
            Ok(met) => {
                answer.stats.add(&met.stats);
                met.verdict
            }
            Err(refusal) => Verdict::Unknown(refusal.message),
        };
        if let Some(reason) = doubt(program, bound, verdict) {
            answer.verdict = Verdict::Unknown(reason);
            answer.notes.retain(|note| !note.says_holds());
            break;
        }
    }
    answer
}

/// Why nothing is known beyond a bound, given whether [`meeting`] it is safe.
pub fn doubt(program: &Program, bound: &Bound, meeting: Verdict) -> Option<String> {
    let line = program.source.line_column(bound.span.start).line;
    let message = &bound.message;
    match meeting {
        Verdict::Holds => None,
        Verdict::Violated => Some(format!("line {line}: {message}, and no further is looked")),
        Verdict::Unknown(reason) => Some(format!(
            "whether line {line} is a limit ({message}) is not known: {reason}"
        )),
    }
}

/// The program that is safe exactly if no run meets this bound.
pub fn meeting(program: &Program, bound: &Bound) -> Program {
    let mut program = program.clone();
    for transition in program.threads.iter_mut().flat_map(|t| &mut t.transitions) {
        // A thread whose assertion fails stops.
        if let Op::Assert(condition) = &transition.op {
            transition.op = Op::Assume(condition.clone());
        }
    }
    program.bounds.clear();
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
