//! `palisade check`

use super::ask::{Asked, Asking, Effort, options};
use super::certificate::{self, Wanted};
use crate::args::{CheckArgs, CheckModel, CriterionName};
use crate::cache::Cache;
use crate::checkpoint;
use crate::output::Output;
use crate::pairs;
use palisade::Wanted as About;
use palisade_check::Control;
use palisade_check::note::Note;
use palisade_lang::Program;
use palisade_memory::{Criterion, Model};
use palisade_report::{Failure, Findings, Question, Status};
use std::sync::Arc;

pub fn run(args: &'static CheckArgs, output: &mut Output) -> Status {
    let given = (
        args.model.and_then(CheckModel::model),
        args.criterion.and_then(CriterionName::criterion),
    );
    let all_models = args.model == Some(CheckModel::All);
    let all_criteria = args.criterion == Some(CriterionName::All);
    if all_models && all_criteria {
        return output
            .complain("`--model all` needs one criterion, and `--criterion all` one model");
    }
    if let (Some(model), Some(criterion)) = given
        && let Some(complaint) = pairs::complaint(model, criterion)
    {
        return output.complain(&complaint);
    }
    let named = match all_criteria {
        true => None,
        false => Some(given.1.unwrap_or(Criterion::Robust)),
    };
    if let Some(complaint) = args.search.complaint(named) {
        return output.complain(&complaint);
    }
    let model = given.0.unwrap_or(Model::Tso);
    if let Some(complaint) = pairs::route_complaint(args.search.route, model, named) {
        return output.complain(&complaint);
    }
    let reading = &args.input.reading;
    if args.certificate.is_some() && reading.client.is_some() && reading.threads.is_none() {
        return output.complain("`--certificate` is about one program: say `--threads N` for how many threads the client has");
    }
    if args.certificate.is_some() && (all_models || all_criteria) {
        return output.complain("`--certificate` is about one model and one criterion");
    }
    let about = match (all_models, all_criteria) {
        (true, _) => About::EveryModel(given.1),
        (_, true) => About::EveryCriterion(given.0),
        _ => About::One(given.0, given.1),
    };
    let wanted = match &args.certificate {
        None => None,
        Some(path) => {
            if let (Some(model), Some(criterion)) = given
                && let Err(complaint) = certificate::exists(model, criterion)
            {
                return output.complain(&complaint);
            }
            match Wanted::new(path, &args.input) {
                Ok(wanted) => Some(wanted),
                Err(complaint) => return output.complain(&complaint),
            }
        }
    };
    if args.checkpoint.is_wanted() && model == Model::Ra && args.search.no_suspects {
        return output.complain("a search with `--no-suspects` has no checkpoints");
    }
    let hosts = match args.hosts.hosts(&args.input.files) {
        Ok(hosts) => hosts.map(Arc::new),
        Err(complaint) => return output.complain(&complaint),
    };
    let place = hosts.as_ref().map(|hosts| checkpoint::Place {
        process: hosts.process(),
        processes: hosts.processes(),
    });
    let kept = match checkpoint::Wanted::new(&args.checkpoint, &args.input, place) {
        Ok(kept) => kept,
        Err(complaint) => return output.complain(&complaint),
    };
    let cache = match args.cache.cache.as_deref().map(Cache::new).transpose() {
        Ok(cache) => cache,
        Err(complaint) => return output.complain(&complaint),
    };
    let (together, silent) = (
        hosts.clone(),
        hosts.as_ref().is_some_and(|hosts| hosts.process() > 0),
    );
    let wanted = Arc::new(wanted);
    let written = Arc::clone(&wanted);
    let answer = move |program: &Program, asked: Asked, effort: Effort, control: &Control<'_>| {
        let options = |(model, criterion)| palisade::SearchOptions {
            hosts: together.clone(),
            ..options(model, criterion, args.all, &args.search, effort)
        };
        let pairs = asked.pairs();
        if wanted.is_some() {
            certificate::exists(pairs[0].0, pairs[0].1).map_err(Failure::Message)?;
        }
        let one = matches!(asked.question, Question::Check(_));
        let cache = cache.as_ref().filter(|_| one && wanted.is_none());
        if let Some(cache) = cache
            && let Some(answer) = cache.answer(program, &options(pairs[0]))
        {
            return Ok(Findings::One(answer));
        }
        let checkpoints = match &kept {
            None => None,
            Some(kept) => {
                let questions: Vec<_> = pairs.iter().map(|&pair| options(pair)).collect();
                Some(kept.open(program, &checkpoint::question("check", &questions))?)
            }
        };
        let search = palisade::SearchOptions {
            checkpoints: checkpoints.clone(),
            ..options(pairs[0])
        };
        let mut findings = palisade::answer(program, asked, &search, control)?;
        if let (true, Findings::One(answer)) = (args.hints, &mut findings) {
            let hint = palisade::order_hint(program, answer, &options(pairs[0]), control);
            answer.notes.extend(hint.map(Note::Said));
        }
        let note = checkpoint::judge(kept.as_ref(), checkpoints.as_deref())?;
        findings.each_notes(|notes| notes.extend(note.clone().map(Note::Said)));
        if let (Some(cache), Findings::One(answer)) = (cache, &findings) {
            cache.keep(program, &options(pairs[0]), control, answer);
        }
        if let (Some(wanted), Findings::One(answer)) = (&*wanted, &mut findings) {
            wanted.write(program, options(pairs[0]), control, answer);
        }
        Ok(findings)
    };
    let asked = Asking {
        asked: about.about_nothing(""),
        named: Some(about),
        choose: Some(Box::new(move |program| about.about(program))),
        input: &args.input,
        format: &args.format,
        search: &args.search,
        picture: args.picture.as_deref().filter(|_| !silent),
        silent,
        answer: Arc::new(answer),
    }
    .run(output);
    // The others may wait for what this one has said last.
    hosts.iter().for_each(|hosts| hosts.leave());
    let written = (*written)
        .as_ref()
        .map_or(Status::Holds, |wanted| wanted.status(output));
    asked.max(written)
}
