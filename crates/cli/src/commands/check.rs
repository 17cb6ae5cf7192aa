//! `palisade check`

use super::ask::{Asked, Asking, Effort, options};
use super::beside;
use super::certificate::Wanted;
use crate::args::{CheckArgs, CheckModel, CriterionName};
use crate::checkpoint;
use crate::input;
use crate::output::Output;
use crate::pairs;
use crate::question::{Flags, question};
use palisade_check::{Control, Options, Verdict, harm, mention_errors};
use palisade_lang::Program;
use palisade_memory::{Criterion, Model};
use palisade_param::check;
use palisade_report::{Answer, Failure, Findings, Question, Refusal, Status};
use std::sync::Arc;
use std::time::Instant;

pub fn run(args: &'static CheckArgs, output: &mut Output) -> Status {
    let flags = Flags {
        model: args.model.and_then(CheckModel::model),
        criterion: args.criterion.and_then(CriterionName::criterion),
    };
    let all_models = args.model == Some(CheckModel::All);
    let all_criteria = args.criterion == Some(CriterionName::All);
    if all_models && all_criteria {
        return output
            .complain("`--model all` needs one criterion, and `--criterion all` one model");
    }
    if let (Some(model), Some(criterion)) = (flags.model, flags.criterion)
        && let Some(complaint) = pairs::complaint(model, criterion)
    {
        return output.complain(&complaint);
    }
    let named = match all_criteria {
        true => None,
        false => Some(flags.criterion.unwrap_or(Criterion::Robust)),
    };
    if let Some(complaint) = args.search.complaint(named) {
        return output.complain(&complaint);
    }
    let model = flags.model.unwrap_or(Model::Tso);
    if let Some(complaint) = pairs::route_complaint(args.search.route, model, named) {
        return output.complain(&complaint);
    }
    if args.certificate.is_some() && (all_models || all_criteria) {
        return output.complain("`--certificate` is about one model and one criterion");
    }
    let choose = move |program: &Program| {
        let (model, criterion) = question(program, flags);
        let question = match (all_models, all_criteria) {
            (true, _) => Question::CheckModels(criterion),
            (_, true) => Question::CheckAll,
            _ => Question::Check(criterion),
        };
        Asked { model, question }
    };
    // About a FILE that is no program the usual question is asked.
    let asked = Asked {
        model,
        question: match (all_models, all_criteria) {
            (true, _) => Question::CheckModels(flags.criterion.unwrap_or(Criterion::Robust)),
            (_, true) => Question::CheckAll,
            _ => Question::Check(flags.criterion.unwrap_or(Criterion::Robust)),
        },
    };
    let wanted = match &args.certificate {
        None => None,
        Some(path) => {
            // What is certified must be known before the search.
            let (model, criterion) = match (flags.model, flags.criterion, &args.input.files[..]) {
                (Some(model), Some(criterion), _) => (model, criterion),
                (_, _, [file]) => match input::read(file, &args.input.reading) {
                    Ok(input) => question(&input.program, flags),
                    Err(_) => (model, flags.criterion.unwrap_or(Criterion::Robust)),
                },
                _ => (model, flags.criterion.unwrap_or(Criterion::Robust)),
            };
            match Wanted::new(path, model, Some(criterion), &args.input) {
                Ok(wanted) => Some(wanted),
                Err(complaint) => return output.complain(&complaint),
            }
        }
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
    let answer = move |program: &Program, asked: Asked, effort: Effort, control: &Control<'_>| {
        let begin = Instant::now();
        let options =
            |(model, criterion)| options(model, criterion, args.all, &args.search, effort);
        let model = asked.model;
        let questions: Vec<(Model, Criterion)> = match asked.question {
            Question::CheckModels(criterion) => {
                let models = pairs::models(criterion).into_iter();
                models.map(|model| (model, criterion)).collect()
            }
            Question::CheckAll => {
                let criteria = pairs::criteria(model).into_iter();
                criteria.map(|criterion| (model, criterion)).collect()
            }
            Question::Check(criterion) | Question::Fence(criterion) => vec![(model, criterion)],
            Question::Reach => vec![(model, Criterion::Safe)],
        };
        let checkpoints = match &kept {
            None => None,
            Some(kept) => {
                let questions: Vec<_> = questions.iter().map(|&asked| options(asked)).collect();
                Some(kept.open(program, &checkpoint::question("check", &questions))?)
            }
        };
        let alone = matches!(asked.question, Question::Check(_));
        let decide = |asked: (Model, Criterion)| -> Result<Answer, Refusal> {
            let given = options(asked);
            // The limit is for the FILE, not for each of the questions about it.
            let rest = || {
                given
                    .timeout
                    .map(|most| most.saturating_sub(begin.elapsed()))
            };
            let mut options = Options {
                checkpoints: checkpoints.clone(),
                timeout: rest(),
                ..given.clone()
            };
            let mut answer = check(program, &options, control)?;
            // Where several questions are asked, each has its own answer.
            if alone {
                options.timeout = rest();
                if asked == (Model::Tso, Criterion::Robust) && answer.verdict == Verdict::Violated {
                    answer.harm = Some(harm(program, &mut answer, &options, control));
                    options.timeout = rest();
                }
                mention_errors(program, &mut answer, &options, control);
                options.timeout = rest();
                beside::mention(program, &mut answer, &options, control);
            }
            Ok(answer)
        };
        let rests = || checkpoint::judge(kept.as_ref(), checkpoints.as_deref());
        match asked.question {
            Question::CheckModels(_) | Question::CheckAll => {
                let mut answers: Vec<_> = questions
                    .into_iter()
                    .map(|asked| (asked, decide(asked)))
                    .collect();
                let note = rests()?;
                for answer in answers.iter_mut().flat_map(|(_, answer)| answer) {
                    answer.notes.extend(note.clone());
                }
                let answers = answers.into_iter();
                Ok(match asked.question {
                    Question::CheckAll => {
                        Findings::All(answers.map(|((_, c), answer)| (c, answer)).collect())
                    }
                    _ => Findings::Models(answers.map(|((m, _), answer)| (m, answer)).collect()),
                })
            }
            Question::Check(_) | Question::Fence(_) | Question::Reach => {
                let asked = questions[0];
                let mut answer = decide(asked).map_err(Failure::Refused)?;
                answer.notes.extend(rests()?);
                if let Some(wanted) = &*wanted {
                    wanted.write(program, options(asked), control, &mut answer);
                }
                Ok(Findings::One(answer))
            }
        }
    };
    let asked = Asking {
        asked,
        choose: Some(Box::new(choose)),
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
