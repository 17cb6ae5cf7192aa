//! `palisade report`

use super::ask::{cancel, guarded};
use crate::args::ReportArgs;
use crate::files::write_whole;
use crate::input::{self, Input, Job};
use crate::limits;
use crate::output::Output;
use crate::progress::ProgressLine;
use palisade::limits::{Limits, within};
use palisade_check::{Control, Options, QUESTIONS, Verdict};
use palisade_fence::Wishes;
use palisade_lang::Program;
use palisade_memory::{Criterion, Model};
use palisade_report::page::{self, Asked, FilePage, Found};
use palisade_report::{Failure, Status, text};

pub fn run(args: &ReportArgs, output: &mut Output) -> Status {
    let mut pages = Vec::new();
    for job in input::expand(&args.input.files) {
        let (path, read) = match job {
            Job::Trouble(path, message) => (path, Err(Failure::Message(message))),
            Job::File(path) => {
                let limits = Limits {
                    timeout: Some(args.timeout),
                    memory: args.memory,
                };
                let (from, reading) = (path.clone(), args.input.reading.clone());
                let read = within(limits, cancel(), move |_| {
                    guarded(|| input::read(&from, &reading))
                });
                let read = read.unwrap_or_else(|reason| {
                    let message = format!("{reason} while the program is read");
                    Err(Failure::Message(message))
                });
                (path, read)
            }
        };
        let file = input::display_name(&path);
        let result = read.and_then(|input| {
            let Input {
                program, warnings, ..
            } = input;
            let look = output.error_look();
            output.remark(&text::warnings(&program.source, &warnings, look));
            let line = ProgressLine::new(&file);
            let show = |progress: &palisade_check::Progress| line.show(progress);
            let control = Control {
                cancel: cancel(),
                progress: &show,
            };
            guarded(|| Ok(found(program, args, &control)))
        });
        if let Err(failure) = &result {
            output.complain(&format!("{file}: {}", failure.reason()));
        }
        pages.push(FilePage { file, result });
    }
    let html = page::render(&pages, env!("CARGO_PKG_VERSION"));
    if input::is_stdin(&args.output) {
        let _ = output.answer(&html);
    } else if let Err(error) = write_whole(&args.output, html.as_bytes()) {
        return output.complain(&format!(
            "{}: cannot be written: {error}",
            args.output.display()
        ));
    }
    match pages.iter().all(|page| page.result.is_ok()) {
        true => Status::Holds,
        false => Status::Error,
    }
}

/// Asks everything.
fn found(program: Program, args: &ReportArgs, control: &Control<'_>) -> Found {
    let answers = QUESTIONS
        .iter()
        .map(|&(model, criterion)| {
            let options = options(model, criterion, args);
            let answer = palisade::explained(&program, &options, control);
            let violated = |a: &palisade_report::Answer| a.verdict == Verdict::Violated;
            let fences = match fences_may_help(model, criterion) {
                true if answer.as_ref().is_ok_and(violated) => {
                    // Each with what happens without it.
                    let wishes = Wishes {
                        all: None,
                        explain: true,
                    };
                    palisade::fenced(&program, &options, &wishes, control).ok()
                }
                _ => None,
            };
            Asked {
                model,
                criterion,
                answer,
                fences,
            }
        })
        .collect();
    Found { program, answers }
}

/// Races are about accesses that nothing orders, and SC has no use for fences.
fn fences_may_help(model: Model, criterion: Criterion) -> bool {
    model != Model::Sc && criterion != Criterion::Drf
}

fn options(model: Model, criterion: Criterion, args: &ReportArgs) -> Options {
    Options {
        jobs: args.jobs.map_or(0, usize::from),
        timeout: Some(args.timeout),
        memory: args.memory,
        machine: Some(limits::machine),
        ..Options::new(model, criterion)
    }
}
