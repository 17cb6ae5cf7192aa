//! `palisade check`

use super::ask::{Asking, Effort, options};
use super::certificate::Wanted;
use crate::args::CheckArgs;
use crate::checkpoint;
use crate::output::Output;
use crate::pairs;
use palisade_check::{Control, Options, Verdict, harm, mention_errors};
use palisade_lang::Program;
use palisade_memory::{Criterion, Model};
use palisade_param::check;
use palisade_report::{Answer, Failure, Findings, Question, Refusal, Status};
use std::sync::Arc;
use std::time::Instant;

pub fn run(args: &'static CheckArgs, output: &mut Output) -> Status {
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
    let wanted = match &args.certificate {
        None => None,
        Some(path) => match Wanted::new(path, model, criterion, &args.input) {
            Ok(wanted) => Some(wanted),
            Err(complaint) => return output.complain(&complaint),
        },
    };
    if args.checkpoint.is_wanted() && model == Model::Ra && args.search.no_suspects {
        return output.complain("a search with `--no-suspects` has no checkpoints");
    }
    let kept = match checkpoint::Wanted::new(&args.checkpoint, &args.input) {
        Ok(kept) => kept,
        Err(complaint) => return output.complain(&complaint),
    };
    let wanted = Arc::new(wanted);
    let written = Arc::clone(&wanted);
    let answer = move |program: &Program, effort: Effort, control: &Control<'_>| {
        let begin = Instant::now();
        let asked = |criterion| options(model, criterion, args.all, &args.search, effort);
        let criteria = match criterion {
            Some(criterion) => vec![criterion],
            None => pairs::criteria(model),
        };
        let checkpoints = match &kept {
            None => None,
            Some(kept) => {
                let questions: Vec<_> =
                    criteria.iter().map(|&criterion| asked(criterion)).collect();
                Some(kept.open(program, &checkpoint::question("check", &questions))?)
            }
        };
        let decide = |criterion| -> Result<Answer, Refusal> {
            let asked = asked(criterion);
            // The limit is for the FILE, not for each of the questions about it.
            let rest = || {
                asked
                    .timeout
                    .map(|most| most.saturating_sub(begin.elapsed()))
            };
            let mut options = Options {
                checkpoints: checkpoints.clone(),
                timeout: rest(),
                ..asked.clone()
            };
            let mut answer = check(program, &options, control)?;
            // Where all criteria are asked for, `safe` is one of them.
            let alone = args.criterion.criterion().is_some();
            if alone
                && (model, criterion) == (Model::Tso, Criterion::Robust)
                && answer.verdict == Verdict::Violated
            {
                options.timeout = rest();
                answer.harm = Some(harm(program, &mut answer, &options, control));
            }
            if alone {
                options.timeout = rest();
                mention_errors(program, &mut answer, &options, control);
            }
            Ok(answer)
        };
        let rests = || checkpoint::judge(kept.as_ref(), checkpoints.as_deref());
        match criterion {
            Some(criterion) => {
                let mut answer = decide(criterion).map_err(Failure::Refused)?;
                answer.notes.extend(rests()?);
                if let Some(wanted) = &*wanted {
                    wanted.write(program, asked(criterion), control, &mut answer);
                }
                Ok(Findings::One(answer))
            }
            None => {
                let mut answers: Vec<(Criterion, Result<Answer, Refusal>)> = criteria
                    .into_iter()
                    .map(|criterion| (criterion, decide(criterion)))
                    .collect();
                let note = rests()?;
                for answer in answers.iter_mut().flat_map(|(_, answer)| answer) {
                    answer.notes.extend(note.clone());
                }
                Ok(Findings::All(answers))
            }
        }
    };
    let asked = Asking {
        model,
        question: criterion.map_or(Question::CheckAll, Question::Check),
        input: &args.input,
        format: &args.format,
        search: &args.search,
        picture: args.picture.as_deref(),
        answer: Arc::new(answer),
    }
    .run(output);
    let written = (*written)
        .as_ref()
        .map_or(Status::Holds, |wanted| wanted.status(output));
    asked.max(written)
}
