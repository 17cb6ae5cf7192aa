//! What a page or an editor shows about a text: one object in JSON with everything in it.

use crate::ask::{answer, report};
use crate::limits::Limits;
use crate::question::{Asked, Wanted};
use crate::read::{Reading, read};
use palisade_check::{Control, Options};
use palisade_fence::{FenceResult, OrdersResult};
use palisade_lang::{Diagnostic, OrderChange, Program, Severity, Source};
use palisade_memory::{Criterion, Model, Witness};
use palisade_report::page::{FilePage, Found};
use palisade_report::{
    Answer, Failure, FenceFindings, FileReport, Findings, Look, OrderFindings, Question, page,
    picture, text, words,
};
use serde_json::{Value, json};
use std::sync::atomic::AtomicBool;

/// Longer runs are told, not drawn.
const MOST_EVENTS: usize = 400;

/// What is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Seeks {
    /// Whether the criterion holds.
    #[default]
    Verdict,
    /// The cheapest fences that make it hold.
    Fences,
    /// The cheapest memory orders that keep it or make it hold.
    Orders,
}

/// What is asked: a criterion, or what makes it hold; what is not given follows from the program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shows {
    /// Under which model.
    pub model: Option<Model>,
    /// Which criterion.
    pub criterion: Option<Criterion>,
    /// Whether it holds, or what makes it hold.
    pub seeks: Seeks,
    /// Draw the run, where there is one.
    pub drawn: bool,
    /// How many columns the text may have; 100 if nothing is said.
    pub columns: Option<usize>,
}

/// Asks about the text of the file `name` within the limits of `options`.
///
/// The object has `verdict` (`holds`, `violated`, `unknown`, `error`), `model`, `criterion`, `headline`, `text` (what the command says below its first line), `problems` (with
/// `line`, `column`, `end_line`, `end_column` from 1 in characters, `severity`, `message`, `help`), `lines` that the answer is about, and, where there is one, `reason`, `svg` (the
/// picture of the run), `player` (HTML for it) and `changed` (the text with the fences, or with the other orders).
pub fn shown(
    name: &str,
    text: String,
    reading: Reading,
    shows: Shows,
    options: Options,
    cancel: &AtomicBool,
) -> Value {
    let report = shown_report(name, text, reading, shows, options, cancel);
    told(&report.0, &report.1, shows)
}

/// The report behind [`shown`], and what is said about the text besides.
pub fn shown_report(
    name: &str,
    text: String,
    reading: Reading,
    shows: Shows,
    options: Options,
    cancel: &AtomicBool,
) -> (FileReport, Vec<Diagnostic>) {
    let limits = Limits {
        timeout: options.timeout,
        memory: options.memory,
    };
    let model = match shows.seeks {
        // Other models do not look at orders.
        Seeks::Orders => shows.model.or(Some(Model::C20)),
        Seeks::Verdict | Seeks::Fences => shows.model,
    };
    let wanted = Wanted::One(model, shows.criterion);
    let choose = |program: Option<&Program>| {
        let asked = match program {
            Some(program) => wanted.about(program),
            None => wanted.about_nothing(name),
        };
        let question = match (asked.question, shows.seeks) {
            (Question::Check(criterion), Seeks::Fences) => Question::Fence(criterion),
            (Question::Check(criterion), Seeks::Orders) => Question::Orders(criterion),
            (question, _) => question,
        };
        Asked { question, ..asked }
    };
    let find = move |program: &Program, asked: Asked, stop: &AtomicBool| {
        let control = Control {
            cancel: stop,
            progress: &|_| {},
        };
        answer(program, asked, &options, &control)
    };
    let file = name.to_owned();
    let read = move || read(&file, text, &reading);
    report(name.to_owned(), read, choose, find, limits, cancel)
}

/// The object for a report.
pub fn told(report: &FileReport, warnings: &[Diagnostic], shows: Shows) -> Value {
    let look = Look {
        width: shows.columns.unwrap_or(Look::PLAIN.width),
        ..Look::PLAIN
    };
    let whole = text::render(report, look);
    let (verdict, witness, changed, reason) = match &report.result {
        Err(failure) => ("error", None, None, Some(failure.reason())),
        Ok(Findings::One(answer)) => (
            words::verdict(&answer.verdict),
            answer.witnesses.first(),
            None,
            match &answer.verdict {
                palisade_check::Verdict::Unknown(reason) => Some(reason.clone()),
                _ => None,
            },
        ),
        Ok(Findings::Fences(found)) => {
            let (verdict, reason) = match &found.fences.result {
                FenceResult::Optimal(_) => ("holds", None),
                FenceResult::None => ("violated", None),
                FenceResult::Unknown { reason, .. } => ("unknown", Some(reason.clone())),
            };
            let text = found.text.as_ref().and_then(|text| text.as_ref().ok());
            let text = text.map(String::as_str);
            (verdict, found.fences.witness.as_ref(), text, reason)
        }
        Ok(Findings::Orders(found)) => {
            let (verdict, reason) = match &found.orders.result {
                OrdersResult::Optimal(_) => ("holds", None),
                OrdersResult::None => ("violated", None),
                OrdersResult::Unknown { reason, .. } => ("unknown", Some(reason.clone())),
            };
            // What is to change in an included file cannot be put into this text.
            let text = match found.text.as_ref().map(|text| text.as_deref()) {
                Some(Ok([(name, text)])) if *name == report.file => Some(text.as_str()),
                _ => None,
            };
            (verdict, found.orders.witness.as_ref(), text, reason)
        }
        Ok(Findings::All(_) | Findings::Models(_)) => ("error", None, None, None),
    };
    let mut lines: Vec<u32> = match &report.result {
        Ok(Findings::Fences(found)) if changed.is_some() => fence_lines(report, found),
        Ok(Findings::Orders(found)) if changed.is_some() => order_lines(report, found),
        _ => witness.map(involved).unwrap_or_default(),
    };
    lines.sort_unstable();
    lines.dedup();
    let (headline, rest) = match verdict {
        "error" => ("", whole.as_str()),
        _ => whole.split_once('\n').unwrap_or((&whole, "")),
    };
    let mut found: Vec<Value> = Vec::new();
    if let Some(program) = &report.program {
        found.extend(warnings.iter().map(|w| problem(&program.source, w)));
    }
    if let Err(Failure::Text(source, problems)) = &report.result {
        found.extend(problems.iter().map(|p| problem(source, p)));
    }
    let criterion = match report.question {
        Question::Check(criterion) | Question::Fence(criterion) | Question::Orders(criterion) => {
            criterion
        }
        _ => Criterion::Safe,
    };
    let mut value = json!({
        "verdict": verdict,
        "model": report.model.name(),
        "criterion": criterion.name(),
        "headline": headline.strip_prefix(&format!("{}: ", report.file)).unwrap_or(headline),
        "text": rest.trim_matches('\n'),
        "problems": found,
        "lines": lines,
    });
    if let Some(reason) = reason {
        value["reason"] = reason.into();
    }
    if let Some(changed) = changed {
        value["changed"] = changed.into();
    }
    if let (true, Some(witness), Some(program)) = (shows.drawn, witness, &report.program)
        && witness.events.len() <= MOST_EVENTS
    {
        value["svg"] = picture::run(witness, program, &report.file).svg().into();
        let panel = panel(report, program, criterion);
        if let Some(panel) = panel {
            value["player"] = page::run_part(&panel).into();
        }
    }
    value
}

/// The run of a report, for a page of its own.
pub fn run_page(report: &FileReport) -> Option<String> {
    let criterion = match report.question {
        Question::Check(criterion) => criterion,
        _ => return None,
    };
    let panel = panel(report, report.program.as_ref()?, criterion)?;
    Some(page::run(&panel))
}

fn panel(report: &FileReport, program: &Program, criterion: Criterion) -> Option<FilePage> {
    let Ok(Findings::One(answer)) = &report.result else {
        return None;
    };
    let answer: Answer = answer.clone();
    let asked = page::Asked {
        model: report.model,
        criterion,
        answer: Ok(answer),
        fences: None,
    };
    Some(FilePage {
        file: report.file.clone(),
        result: Ok(Found {
            program: program.clone(),
            answers: vec![asked],
        }),
    })
}

/// Something about the text. What is said about an included file stands at the beginning, with that file's name.
pub fn problem(source: &Source, diagnostic: &Diagnostic) -> Value {
    let included = source.included_at(diagnostic.span.start);
    let at = |offset: u32| match included {
        Some(_) => source.line_column(0),
        None => source.line_column(offset),
    };
    let (from, to) = (at(diagnostic.span.start), at(diagnostic.span.end));
    let message = match included {
        Some(_) => format!(
            "{}: {}",
            source.place(diagnostic.span.start),
            diagnostic.message
        ),
        None => diagnostic.message.clone(),
    };
    json!({
        "line": from.line,
        "column": from.column,
        "end_line": to.line,
        "end_column": to.column,
        "severity": match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "message": message,
        "help": diagnostic.help,
    })
}

/// The lines of what the fences go before.
fn fence_lines(report: &FileReport, found: &FenceFindings) -> Vec<u32> {
    let (Some(program), FenceResult::Optimal(set)) = (&report.program, &found.fences.result) else {
        return Vec::new();
    };
    let start = |repair| program.site(repair).span.start;
    set.repairs
        .iter()
        .map(|c| program.source.line_column(start(c.repair)).line)
        .collect()
}

/// The lines of the orders that change, and of what new fences go before.
fn order_lines(report: &FileReport, found: &OrderFindings) -> Vec<u32> {
    let (Some(program), OrdersResult::Optimal(best)) = (&report.program, &found.orders.result)
    else {
        return Vec::new();
    };
    let start = |change: &OrderChange| match change {
        OrderChange::Fence(place, _) => program.places[place.index()].span.start,
        OrderChange::Order(site, _)
        | OrderChange::Exchange(site, _)
        | OrderChange::NoFence(site) => site.span.start,
    };
    best.changes
        .iter()
        .map(|change| program.source.line_column(start(change)).line)
        .collect()
}

/// The lines of what the cycle or pattern speaks of.
fn involved(witness: &Witness) -> Vec<u32> {
    let pattern = witness.pattern.iter().flat_map(|p| &p.events);
    witness
        .cycle
        .iter()
        .chain(pattern)
        .filter_map(|&index| witness.events.get(index))
        .map(|event| event.line)
        .collect()
}
