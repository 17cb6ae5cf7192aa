//! `palisade fence`

use super::ask::{Asking, options};
use crate::args::FenceArgs;
use crate::files::write_whole;
use crate::input;
use crate::output::Output;
use crate::pairs;
use palisade_check::{Control, Options, Verdict, check};
use palisade_fence::{Costs, FenceResult, fences};
use palisade_lang::{ParseOptions, Program, Source, fenced_text, parse};
use palisade_memory::Model;
use palisade_report::{Failure, FenceFindings, Findings, Question, Status};
use std::path::Path;

pub fn run(args: &FenceArgs, output: &mut Output) -> Status {
    let model = Model::from(args.model);
    let Some(criterion) = args.criterion.criterion() else {
        return output.complain(
            "fences are found for one criterion at a time: `--criterion all` has no meaning here",
        );
    };
    if let Some(complaint) = pairs::complaint(model, criterion) {
        return output.complain(&complaint);
    }
    if let Some(complaint) = args.search.complaint(Some(criterion)) {
        return output.complain(&complaint);
    }
    if let Some(complaint) = pairs::route_complaint(args.search.route, model, Some(criterion)) {
        return output.complain(&complaint);
    }
    if args.write && args.input.files.iter().any(|file| input::is_stdin(file)) {
        return output.complain("`--write` cannot write back to standard input");
    }
    if args.all {
        return output.complain("`--all` cannot list other sets of fences yet");
    }
    if args.cost != "unit" {
        return output.complain("only `--cost unit` can be used yet");
    }
    let options = options(model, criterion, false, &args.search);
    let answer = |program: &Program, control: &Control<'_>| {
        let costs = Costs::unit(program);
        let fences = fences(program, &costs, &options, control).map_err(Failure::Refused)?;
        let text = match &fences.result {
            FenceResult::Optimal { places, .. } if !places.is_empty() => {
                Some(fenced_text(program, places))
            }
            _ => None,
        };
        let mut findings = FenceFindings {
            fences,
            costs,
            text,
            written: false,
        };
        if let (true, Some(text)) = (args.write, &findings.text) {
            let written = match text {
                Ok(text) => write_back(program, text, &options, control),
                Err(reason) => Err(reason.clone()),
            };
            written.map_err(Failure::Message)?;
            findings.written = true;
        }
        Ok(Findings::Fences(findings))
    };
    Asking {
        model,
        question: Question::Fence(criterion),
        input: &args.input,
        format: args.format.format,
        picture: None,
        answer: &answer,
    }
    .run(output)
}

/// Writes the new text over the old one, once it has been found to hold.
fn write_back(
    program: &Program,
    text: &str,
    options: &Options,
    control: &Control<'_>,
) -> Result<(), String> {
    let name = program.source.name();
    let source = Source::new(name, text);
    let reading = ParseOptions {
        language: Some(program.language),
        domain: program.domain.size(),
    };
    let broken = "the fenced text does not do what it should, so nothing was written";
    let fenced = parse(&source, &reading).map_err(|_| broken.to_owned())?;
    match check(&fenced.program, options, control) {
        Ok(answer) if answer.verdict == Verdict::Holds => {}
        Ok(answer) => match answer.verdict {
            Verdict::Unknown(reason) => {
                return Err(format!(
                    "nothing was written, because the fenced text could not be checked: {reason}"
                ));
            }
            _ => return Err(broken.to_owned()),
        },
        Err(refusal) => return Err(refusal.message),
    }
    write_whole(Path::new(name), text.as_bytes())
        .map_err(|error| format!("cannot be written: {error}"))
}
