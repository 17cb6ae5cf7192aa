//! `palisade report`

use super::ask::{cancel, guarded};
use crate::args::ReportArgs;
use crate::files::write_whole;
use crate::input::{self, Input, Job};
use crate::limits;
use crate::output::Output;
use crate::progress::ProgressLine;
use palisade::limits::{Limits, within};
use palisade_check::{Answer, Control, Options, QUESTIONS, Stats, Verdict};
use palisade_fence::FenceOptions;
use palisade_lang::Program;
use palisade_memory::{Criterion, Model};
use palisade_report::page::{self, Asked, FilePage, Found};
use palisade_report::{Failure, Status, text};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

pub fn run(args: &ReportArgs, output: &mut Output) -> Status {
    let mut pages = Vec::new();
    for job in input::expand(&args.input.files) {
        let begin = Instant::now();
        let (path, read) = match job {
            Job::Trouble(path, message) => (path, Err(Failure::Message(message))),
            Job::File(path) => {
                let limits = Limits {
                    timeout: Some(args.timeout),
                    memory: args.memory,
                };
                let (from, reading) = (path.clone(), args.input.reading.clone());
                let read = within(limits, cancel(), move |_| {
                    guarded(|| input::read(&from, &reading)?.whole())
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
            let until = begin + args.timeout;
            found(program, args, until, ProgressLine::new(&file))
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

/// A question has so many parts that take time: its answer, its fences, and why each is needed.
const PARTS_OF_A_QUESTION: u32 = 3;

/// Asks everything. Each question has its share of the time that is left; one that does not keep within its limits, and goes on in its thread, is the last one that is asked.
fn found(
    program: Program,
    args: &ReportArgs,
    until: Instant,
    line: ProgressLine,
) -> Result<Found, Failure> {
    let (program, line) = (Arc::new(program), Arc::new(line));
    let mut answers = Vec::new();
    let mut given_up = None;
    for (asked_before, &(model, criterion)) in QUESTIONS.iter().enumerate() {
        let left = until.saturating_duration_since(Instant::now());
        let share = left / (QUESTIONS.len() - asked_before) as u32;
        if left.is_zero() {
            given_up.get_or_insert("the time limit is reached");
        }
        let limits = Limits {
            timeout: Some(share),
            memory: args.memory,
        };
        let options = Options {
            timeout: Some(share / PARTS_OF_A_QUESTION),
            ..options(model, criterion, args)
        };
        let (asked, shown) = (Arc::clone(&program), Arc::clone(&line));
        let work = move |stop: &AtomicBool| {
            let show = |progress: &palisade_check::Progress| shown.show(progress);
            let control = Control {
                cancel: stop,
                progress: &show,
            };
            guarded(|| Ok(answered(&asked, &options, &control)))
        };
        let result = match given_up {
            None => within(limits, cancel(), work),
            Some(reason) => Err(reason),
        };
        answers.push(match result {
            Ok(answered) => answered?,
            Err(reason) => {
                given_up = Some("an earlier question did not keep within the limits");
                Asked {
                    model,
                    criterion,
                    answer: Ok(undecided(reason)),
                    fences: None,
                }
            }
        });
    }
    let program = Arc::try_unwrap(program).unwrap_or_else(|program| (*program).clone());
    Ok(Found { program, answers })
}

fn undecided(reason: &str) -> Answer {
    Answer {
        verdict: Verdict::Unknown(reason.to_owned()),
        witnesses: Vec::new(),
        stats: Stats::default(),
        notes: Vec::new(),
        harm: None,
    }
}

/// The answer to one question, and the fences where it is violated and they may help.
fn answered(program: &Program, options: &Options, control: &Control<'_>) -> Asked {
    let (model, criterion) = (options.model, options.criterion);
    let answer = palisade::explained(program, options, control);
    let violated = |a: &Answer| a.verdict == Verdict::Violated;
    let fences = match fences_may_help(model, criterion) {
        true if answer.as_ref().is_ok_and(violated) => {
            // Each with what happens without it.
            let fence_options = FenceOptions {
                all: None,
                explain: true,
            };
            palisade::fenced(program, options, &fence_options, control).ok()
        }
        _ => None,
    };
    Asked {
        model,
        criterion,
        answer,
        fences,
    }
}

/// Races are about accesses that nothing orders, and SC has no use for fences.
fn fences_may_help(model: Model, criterion: Criterion) -> bool {
    model != Model::Sc && criterion != Criterion::Drf
}

fn options(model: Model, criterion: Criterion, args: &ReportArgs) -> Options {
    Options {
        jobs: args.jobs.map_or(0, usize::from),
        memory: args.memory,
        machine: Some(limits::machine),
        ..Options::new(model, criterion)
    }
}
