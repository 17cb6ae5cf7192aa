//! `palisade reach`

use super::ask::{Asked, Asking, Effort, options};
use super::certificate::{self, Wanted};
use crate::args::ReachArgs;
use crate::checkpoint;
use crate::output::Output;
use crate::pairs;
use palisade_check::Control;
use palisade_check::note::Note;
use palisade_lang::Program;
use palisade_memory::{Criterion, Model};
use palisade_report::{Findings, Question, Status};
use std::sync::Arc;

pub fn run(args: &'static ReachArgs, output: &mut Output) -> Status {
    let model = Model::from(args.model);
    if let Some(complaint) = args.search.complaint(Some(Criterion::Safe)) {
        return output.complain(&complaint);
    }
    let safe = Some(Criterion::Safe);
    if let Some(complaint) = pairs::route_complaint(args.search.route, model, safe) {
        return output.complain(&complaint);
    }
    let wanted = match &args.certificate {
        None => None,
        Some(path) => {
            let wanted = certificate::exists(model, Criterion::Safe)
                .and_then(|()| Wanted::new(path, &args.input));
            match wanted {
                Ok(wanted) => Some(wanted),
                Err(complaint) => return output.complain(&complaint),
            }
        }
    };
    let kept = match checkpoint::Wanted::new(&args.checkpoint, &args.input, None) {
        Ok(kept) => kept,
        Err(complaint) => return output.complain(&complaint),
    };
    let wanted = Arc::new(wanted);
    let written = Arc::clone(&wanted);
    let answer = move |program: &Program, asked: Asked, effort: Effort, control: &Control<'_>| {
        let mut options = options(model, Criterion::Safe, false, &args.search, effort);
        if let Some(kept) = &kept {
            let question = checkpoint::question("reach", std::slice::from_ref(&options));
            options.checkpoints = Some(kept.open(program, &question)?);
        }
        let mut findings = palisade::answer(program, asked, &options, control)?;
        let note = checkpoint::judge(kept.as_ref(), options.checkpoints.as_deref())?;
        findings.each_notes(|notes| notes.extend(note.clone().map(Note::Said)));
        if let (Some(wanted), Findings::One(answer)) = (&*wanted, &mut findings) {
            wanted.write(program, options, control, answer);
        }
        Ok(findings)
    };
    let asked = Asking {
        asked: Asked {
            model,
            question: Question::Reach,
        },
        named: None,
        choose: None,
        input: &args.input,
        format: &args.format,
        search: &args.search,
        picture: args.picture.as_deref(),
        silent: false,
        answer: Arc::new(answer),
    }
    .run(output);
    let written = (*written)
        .as_ref()
        .map_or(Status::Holds, |wanted| wanted.status(output));
    asked.max(written)
}
