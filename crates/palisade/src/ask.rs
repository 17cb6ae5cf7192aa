//! The way from a question to its answer: one for the command, for editors, for pages and for programs that call the library.

use crate::beside;
use crate::limits::{Limits, within};
use crate::orders::{order_refusal, ordered, unit_costs};
use crate::question::{Asked, Wanted};
use crate::read::{Input, Reading, Wider, read};
use palisade_check::note::Note;
use palisade_check::{Answer, Control, Options, Stats, Verdict, harm, mention_errors};
use palisade_fence::{
    Candidates, Costs, FenceOptions, FenceResult, Fences, Freedom, Kinds, Orders, OrdersResult,
    RepairSet, fences,
};
use palisade_lang::meter::is_exhausted;
use palisade_lang::{Diagnostic, Language, Program, Repair, repaired_text};
use palisade_memory::{Criterion, Model};
use palisade_report::{
    Failure, FenceFindings, FileReport, Findings, OrderFindings, Question, Refusal,
};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use web_time::{Duration, Instant};

/// Answers a question about a program: with what the answer means, where it is one answer alone.
///
/// `options` are for every answer; model and criterion are those that are asked about. The limit of time is for all of them together.
pub fn answer(
    program: &Program,
    asked: Asked,
    options: &Options,
    control: &Control<'_>,
) -> Result<Findings, Failure> {
    let begin = Instant::now();
    let options = |(model, criterion)| Options {
        model,
        criterion,
        timeout: rest(options.timeout, begin),
        ..options.clone()
    };
    let each = || asked.pairs().into_iter();
    let check = |pair| palisade_param::check(program, &options(pair), control);
    Ok(match asked.question {
        Question::Check(criterion) => {
            let options = options((asked.model, criterion));
            Findings::One(explained(program, &options, control).map_err(Failure::Refused)?)
        }
        Question::Reach => {
            Findings::One(check((asked.model, Criterion::Safe)).map_err(Failure::Refused)?)
        }
        Question::CheckModels(_) => Findings::Models(each().map(|p| (p.0, check(p))).collect()),
        Question::CheckAll => Findings::All(each().map(|p| (p.1, check(p))).collect()),
        Question::Fence(criterion) => {
            let options = options((asked.model, criterion));
            let found = fenced(program, &options, &FenceOptions::default(), control);
            Findings::Fences(Box::new(found.map_err(Failure::Refused)?))
        }
        Question::Orders(criterion) => {
            if let Some(refusal) = order_refusal(program.language, asked.model) {
                return Err(Failure::Message(refusal));
            }
            let options = options((asked.model, criterion));
            let (costs, cost) = unit_costs();
            let freedom = Freedom::ORDERS;
            let found = ordered(program, &freedom, (&costs, cost), false, &options, control);
            Findings::Orders(Box::new(found.map_err(Failure::Refused)?))
        }
    })
}

/// Decides a criterion, and adds what the answer means: whether what it finds does harm, whether the program has errors of its own, and how it
/// does by the criterion that people ask for beside this one.
pub fn explained(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
) -> Result<Answer, Refusal> {
    let begin = Instant::now();
    let mut answer = palisade_param::check(program, options, control)?;
    let options = || Options {
        timeout: rest(options.timeout, begin),
        ..options.clone()
    };
    let asked = (options().model, options().criterion);
    if asked == (Model::Tso, Criterion::Robust) && answer.verdict == Verdict::Violated {
        answer.harm = Some(harm(program, &mut answer, &options(), control));
    }
    mention_errors(program, &mut answer, &options(), control);
    beside::mention(program, &mut answer, &options(), control);
    Ok(answer)
}

/// What is left of the time.
fn rest(timeout: Option<Duration>, begin: Instant) -> Option<Duration> {
    timeout.map(|most| most.saturating_sub(begin.elapsed()))
}

/// The fewest fences that make a criterion hold, and the program's text with them.
pub fn fenced(
    program: &Program,
    options: &Options,
    fence_options: &FenceOptions,
    control: &Control<'_>,
) -> Result<FenceFindings, Refusal> {
    let candidates = Candidates::new(program, Kinds::FENCES, &Costs::Unit);
    let fences = fences(&candidates, options, fence_options, control)?;
    let text = match &fences.result {
        FenceResult::Optimal(set) => text_with(program, set),
        _ => None,
    };
    Ok(FenceFindings {
        fences,
        existing: None,
        text,
        written: false,
    })
}

/// The program's text with a set of repairs; `None` where there are none.
pub fn text_with(program: &Program, set: &RepairSet) -> Option<Result<String, String>> {
    let repairs: Vec<Repair> = set.repairs.iter().map(|c| c.repair).collect();
    (!repairs.is_empty()).then(|| repaired_text(program, &repairs))
}

/// What the command says about a text, for others that show answers to people, such as editors and pages: the text of the file `name` is read and asked
/// about within the limits of `options`. Also what is said about the text besides.
///
/// ```
/// use palisade::{Criterion, Model, Reading, SearchOptions, Wanted, report_on};
/// use std::sync::atomic::AtomicBool;
///
/// let text = "shared x, y;\nthread p { x = 1; let r = y; }\nthread q { y = 1; let s = x; }\n";
/// let options = SearchOptions::new(Model::Tso, Criterion::Robust);
/// let wanted = Wanted::One(None, None);
/// let never = AtomicBool::new(false);
/// let (report, warnings) =
///     report_on("sb.pal", text.to_owned(), Reading::default(), wanted, options, &never);
/// assert!(warnings.is_empty());
/// assert_eq!(report.status().code(), 1);
/// ```
pub fn report_on(
    name: &str,
    text: String,
    reading: Reading,
    wanted: Wanted,
    options: Options,
    cancel: &AtomicBool,
) -> (FileReport, Vec<Diagnostic>) {
    let file = name.to_owned();
    let limits = Limits {
        timeout: options.timeout,
        memory: options.memory,
    };
    let choose = |program: Option<&Program>| match program {
        Some(program) => wanted.about(program),
        None => wanted.about_nothing(name),
    };
    let find = move |program: &Program, asked: Asked, stop: &AtomicBool| {
        let control = Control {
            cancel: stop,
            progress: &|_| {},
        };
        answer(program, asked, &options, &control)
    };
    let name = file.clone();
    let read = move || read(&name, text, &reading);
    report(file, read, choose, find, limits, cancel)
}

/// Everything about one FILE, within limits: it is read, the question is chosen for the program that it is, and is answered.
///
/// Also what is said about the text besides. A limit is an answer (`unknown`), and so is a bug of ours.
pub fn report(
    file: String,
    read: impl FnOnce() -> Result<Input, Failure> + Send + 'static,
    choose: impl FnOnce(Option<&Program>) -> Asked,
    answer: impl Fn(&Program, Asked, &AtomicBool) -> Result<Findings, Failure> + Send + Sync + 'static,
    limits: Limits,
    cancel: &AtomicBool,
) -> (FileReport, Vec<Diagnostic>) {
    let begin = Instant::now();
    let read = within(limits, cancel, move |_: &AtomicBool| {
        (guarded(read), is_exhausted())
    });
    let read = match read {
        // What was not read to its end is no wrong program.
        Ok((Err(_), true)) => Err(match cancel.load(Ordering::Relaxed) {
            true => "it was interrupted",
            false => "the memory limit is reached",
        }),
        Ok((read, _)) => Ok(read),
        Err(reason) => Err(reason),
    };
    let mut warnings = Vec::new();
    let (asked, program, mut result) = match read {
        Err(reason) => {
            let asked = choose(None);
            let reason = format!("{reason} while the program is read");
            let nothing = nothing_found(asked, &reason, begin.elapsed());
            (asked, None, Ok(nothing))
        }
        Ok(Err(failure)) => (choose(None), None, Err(failure)),
        Ok(Ok(mut input)) => {
            let asked = choose(Some(&input.program));
            let answer = Arc::new(answer);
            // What is left of the time: reading counts, a compiler that runs for it included.
            let search = |program: Program| {
                let program = Arc::new(program);
                let searched = Arc::clone(&program);
                let answer = Arc::clone(&answer);
                let limits = Limits {
                    timeout: rest(limits.timeout, begin),
                    ..limits
                };
                let work = move |stop: &AtomicBool| guarded(move || answer(&searched, asked, stop));
                let result = match within(limits, cancel, work) {
                    Ok(result) => result,
                    Err(reason) => Ok(nothing_found(asked, reason, begin.elapsed())),
                };
                let program = Arc::try_unwrap(program).unwrap_or_else(|program| (*program).clone());
                (program, result)
            };
            let (mut program, mut result) = search(input.program);
            // What was read with little room has had too little: once more with all that there is.
            let is_small = |wider: &Wider| match &result {
                Ok(findings) => findings.unknown_reasons().iter().any(|r| wider.is_for(r)),
                Err(_) => false,
            };
            if let Some(wider) = input.wider.clone().filter(is_small) {
                let limits = Limits {
                    timeout: rest(limits.timeout, begin),
                    ..limits
                };
                let read = move |_: &AtomicBool| guarded(|| wider.read());
                if let Ok(Ok(whole)) = within(limits, cancel, read) {
                    input = whole;
                    (program, result) = search(input.program);
                }
            }
            warnings = input.warnings;
            if let (Some(also), Ok(Findings::One(found))) = (input.also, &mut result)
                && found.verdict == Verdict::Holds
            {
                let (more, answer) = search(also);
                match answer {
                    Ok(Findings::One(other)) if other.verdict == Verdict::Violated => {
                        (program, result) = (more, Ok(Findings::One(other)));
                    }
                    Ok(Findings::One(other)) => {
                        found.notes.push(Note::Said(for_any_number(&other.verdict)));
                        found.stats.wall += other.stats.wall;
                    }
                    Err(failure) => {
                        let unknown = Verdict::Unknown(failure.reason());
                        found.notes.push(Note::Said(for_any_number(&unknown)));
                    }
                    Ok(_) => {}
                }
            }
            if let (Some(_), Ok(Findings::One(found))) = (&input.client, &mut result)
                && matches!(found.verdict, Verdict::Unknown(_))
            {
                found.notes.push(Note::Said(
                    "`--calls 2` asks about clients that make at most two calls in each thread"
                        .to_owned(),
                ));
            }
            if let Ok(findings) = &mut result {
                findings.each_notes(|notes| {
                    notes.splice(0..0, input.notes.iter().cloned().map(Note::Said));
                });
            }
            (asked, Some(program), result)
        }
    };
    if let (Some(program), Ok(findings)) = (&program, &mut result) {
        say_how_it_was_read(program, &warnings, findings);
    }
    let report = FileReport {
        file,
        model: asked.model,
        question: asked.question,
        program,
        result,
    };
    (report, warnings)
}

/// What is said where the same was asked for any number of threads.
fn for_any_number(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Holds => {
            "the same holds for any number of threads, but for deadlock and for what comes after their end".to_owned()
        }
        Verdict::Unknown(reason) => {
            format!("for any number of threads it is not known: {reason}; `--threads N` asks for more than two")
        }
        Verdict::Violated => unreachable!("a violation is an answer of its own"),
    }
}

/// What a verdict about C means depends on how its text was understood (what is no atomic, whose memory model it is not): the answer says so, too.
fn say_how_it_was_read(program: &Program, warnings: &[Diagnostic], findings: &mut Findings) {
    if program.language == Language::C {
        findings.each_notes(|notes| {
            notes.extend(warnings.iter().map(|w| Note::Said(w.message.clone())))
        });
    }
}

/// Does something for one FILE. A bug of ours must not cost the answers about the others.
pub fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    std::panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(Failure::Message(
            "palisade itself went wrong here; please report this, with the program".to_owned(),
        ))
    })
}

/// What there is to say where a limit came before any answer.
fn nothing_found(asked: Asked, reason: &str, wall: Duration) -> Findings {
    let stats = Stats {
        wall,
        ..Stats::default()
    };
    let unknown = || Answer {
        verdict: Verdict::Unknown(reason.to_owned()),
        witnesses: Vec::new(),
        stats,
        notes: Vec::new(),
        harm: None,
    };
    let each = || asked.pairs().into_iter();
    match asked.question {
        Question::Check(_) | Question::Reach => Findings::One(unknown()),
        Question::CheckModels(_) => {
            Findings::Models(each().map(|p| (p.0, Ok(unknown()))).collect())
        }
        Question::CheckAll => Findings::All(each().map(|p| (p.1, Ok(unknown()))).collect()),
        Question::Orders(_) => Findings::Orders(Box::new(OrderFindings {
            orders: Orders {
                result: OrdersResult::Unknown {
                    reason: reason.to_owned(),
                    lower_bound: 0,
                    confirmed: None,
                },
                written: (None, 0),
                witness: None,
                needed: Vec::new(),
                stats,
                notes: Vec::new(),
            },
            restricted: false,
            cost: String::new(),
            text: None,
            written: false,
        })),
        Question::Fence(_) => Findings::Fences(Box::new(FenceFindings {
            fences: Fences {
                result: FenceResult::Unknown {
                    reason: reason.to_owned(),
                    lower_bound: 0,
                    confirmed: None,
                },
                witness: None,
                all: None,
                explanations: Vec::new(),
                stats,
                notes: Vec::new(),
            },
            existing: None,
            text: None,
            written: false,
        })),
    }
}
