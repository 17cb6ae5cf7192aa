//! `palisade check`

use super::ask::{Asking, Effort, options};
use crate::args::CheckArgs;
use crate::output::Output;
use crate::pairs;
use palisade_check::{Control, Verdict, harm};
use palisade_lang::Program;
use palisade_memory::{Criterion, Model};
use palisade_param::check;
use palisade_report::{Answer, Failure, Findings, Question, Refusal, Status};

pub fn run(args: &CheckArgs, output: &mut Output) -> Status {
    let model = Model::from(args.model);
    let criterion = args.criterion.criterion();
    if let Some(criterion) = criterion
        && let Some(complaint) = pairs::complaint(model, criterion)
    {
        return output.complain(&complaint);
    }
    if let Some(complaint) = args.search.complaint(criterion) {
        return output.complain(&complaint);
    }
    if let Some(complaint) = pairs::route_complaint(args.search.route, model, criterion) {
        return output.complain(&complaint);
    }
    let answer = |program: &Program, effort: Effort, control: &Control<'_>| {
        let decide = |criterion| -> Result<Answer, Refusal> {
            let options = options(model, criterion, args.all, &args.search, effort);
            let mut answer = check(program, &options, control)?;
            // Where all criteria are asked for, `safe` is one of them.
            let alone = args.criterion.criterion().is_some();
            if alone
                && (model, criterion) == (Model::Tso, Criterion::Robust)
                && answer.verdict == Verdict::Violated
            {
                answer.harm = Some(harm(program, &mut answer, &options, control));
            }
            Ok(answer)
        };
        match criterion {
            Some(criterion) => decide(criterion)
                .map(Findings::One)
                .map_err(Failure::Refused),
            None => {
                let answers: Vec<(Criterion, Result<Answer, Refusal>)> = pairs::criteria(model)
                    .into_iter()
                    .map(|criterion| (criterion, decide(criterion)))
                    .collect();
                Ok(Findings::All(answers))
            }
        }
    };
    Asking {
        model,
        question: criterion.map_or(Question::CheckAll, Question::Check),
        input: &args.input,
        format: &args.format,
        search: &args.search,
        picture: args.picture.as_deref(),
        answer: &answer,
    }
    .run(output)
}
