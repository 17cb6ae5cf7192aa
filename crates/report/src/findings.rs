//! What there is to be said about places of a FILE, for formats that attach it there.

use crate::columns::{effect, statement};
use crate::outcome::{Failure, FenceFindings, FileReport, Findings, OrderFindings, Question};
use crate::{cycle, fences, orders, words};
use palisade_check::{Answer, Refusal, Verdict};
use palisade_fence::{FenceResult, OrdersResult};
use palisade_lang::{LineColumn, Program, Severity, Source, Span};
use palisade_memory::{Criterion, Event, Model, Witness};

/// Something to be said about a place.
pub(crate) struct Finding<'a> {
    pub rule: Rule,
    pub level: Level,
    pub place: FindingPlace,
    pub message: String,
    /// The run that shows it.
    pub run: Option<(&'a Witness, &'a Program)>,
}

/// Where a finding is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FindingPlace {
    /// The file, where it is not the FILE itself but one that it includes.
    pub file: Option<String>,
    pub at: LineColumn,
}

impl FindingPlace {
    pub fn new(source: &Source, offset: u32) -> Self {
        FindingPlace {
            file: source.included_at(offset).map(str::to_owned),
            at: source.line_column(offset),
        }
    }

    fn of_event(event: &Event) -> Self {
        FindingPlace {
            file: event.file.clone(),
            at: LineColumn {
                line: event.line.max(1),
                column: event.column.max(1),
            },
        }
    }
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rule {
    /// A criterion must hold.
    Criterion(Model, Criterion),
    /// A criterion holds with these fences.
    Fences(Model, Criterion),
    /// A criterion holds with these orders.
    Orders(Model, Criterion),
    /// The text must be a program.
    Text,
    /// The question must find an answer.
    Answer,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Error,
    Warning,
    Note,
}

const BEGINNING: FindingPlace = FindingPlace {
    file: None,
    at: LineColumn { line: 1, column: 1 },
};

impl Rule {
    /// As machines call it.
    pub fn id(self) -> String {
        match self {
            Rule::Criterion(model, criterion) => format!("{}/{}", model.name(), criterion.name()),
            Rule::Fences(model, criterion) => {
                format!("{}/{}/fence", model.name(), criterion.name())
            }
            Rule::Orders(model, criterion) => {
                format!("{}/{}/orders", model.name(), criterion.name())
            }
            Rule::Text => "program-text".to_owned(),
            Rule::Answer => "answer".to_owned(),
        }
    }

    /// In a few words, as the title of a finding.
    pub fn title(self) -> String {
        match self {
            Rule::Criterion(model, criterion) => words::violated(model, criterion),
            Rule::Fences(model, criterion) => {
                format!("fences that make it {}", words::holds(model, criterion))
            }
            Rule::Orders(model, criterion) => {
                format!("orders that make it {}", words::holds(model, criterion))
            }
            Rule::Text => "not a program".to_owned(),
            Rule::Answer => "no answer".to_owned(),
        }
    }
}

/// Everything to be said about a FILE, in the order of importance.
pub(crate) fn findings(report: &FileReport) -> Vec<Finding<'_>> {
    match &report.result {
        Err(failure) => of_failure(report, failure),
        Ok(Findings::One(answer)) => {
            of_answer(report, report.model, criterion(report.question), answer)
        }
        Ok(Findings::Fences(found)) => of_fences(report, criterion(report.question), found),
        Ok(Findings::Orders(found)) => of_orders(report, criterion(report.question), found),
        Ok(Findings::Models(answers)) => answers
            .iter()
            .filter_map(|(model, answer)| Some((*model, answer.as_ref().ok()?)))
            .flat_map(|(model, answer)| {
                of_answer(report, model, criterion(report.question), answer)
            })
            .collect(),
        Ok(Findings::All(answers)) => answers
            .iter()
            .flat_map(|(criterion, answer)| match answer {
                Ok(answer) => of_answer(report, report.model, *criterion, answer),
                Err(refusal) => vec![of_refusal(report, refusal)],
            })
            .collect(),
    }
}

fn criterion(question: Question) -> Criterion {
    match question {
        Question::Check(criterion)
        | Question::CheckModels(criterion)
        | Question::Fence(criterion)
        | Question::Orders(criterion) => criterion,
        Question::Reach | Question::CheckAll => Criterion::Safe,
    }
}

fn of_failure<'a>(report: &'a FileReport, failure: &'a Failure) -> Vec<Finding<'a>> {
    match failure {
        Failure::Refused(refusal) => vec![of_refusal(report, refusal)],
        Failure::Message(message) => vec![no_answer(Level::Error, BEGINNING, message.clone())],
        Failure::Text(source, diagnostics) => diagnostics
            .iter()
            .map(|diagnostic| {
                let help = diagnostic.help.iter();
                let help: String = help.map(|help| format!(" ({help})")).collect();
                Finding {
                    rule: Rule::Text,
                    level: match diagnostic.severity {
                        Severity::Error => Level::Error,
                        Severity::Warning => Level::Warning,
                    },
                    place: FindingPlace::new(source, diagnostic.span.start),
                    message: format!("{}{help}", diagnostic.message),
                    run: None,
                }
            })
            .collect(),
    }
}

fn of_refusal<'a>(report: &FileReport, refusal: &Refusal) -> Finding<'a> {
    let place = |span: Span| match &report.program {
        Some(program) => FindingPlace::new(&program.source, span.start),
        None => BEGINNING,
    };
    let place = refusal.span.map_or(BEGINNING, place);
    no_answer(Level::Error, place, refusal.message.clone())
}

fn no_answer<'a>(level: Level, place: FindingPlace, message: String) -> Finding<'a> {
    Finding {
        rule: Rule::Answer,
        level,
        place,
        message,
        run: None,
    }
}

fn of_answer<'a>(
    report: &'a FileReport,
    model: Model,
    criterion: Criterion,
    answer: &'a Answer,
) -> Vec<Finding<'a>> {
    match &answer.verdict {
        Verdict::Holds => Vec::new(),
        Verdict::Unknown(reason) => {
            let asked = words::holds(model, criterion);
            let text = format!("whether it is {asked} is not decided: {reason}");
            vec![no_answer(Level::Warning, BEGINNING, text)]
        }
        Verdict::Violated => {
            let rule = Rule::Criterion(model, criterion);
            let of = |witness| violation(report, rule, rule.title(), witness);
            answer.witnesses.iter().map(of).collect()
        }
    }
}

fn violation<'a>(
    report: &'a FileReport,
    rule: Rule,
    what: String,
    witness: &'a Witness,
) -> Finding<'a> {
    Finding {
        rule,
        level: Level::Error,
        place: first_place(witness),
        message: format!("{what}: {}", cycle::summary(witness)),
        run: report.program.as_ref().map(|program| (witness, program)),
    }
}

/// Where to look first: an access of the cycle or pattern, else the last step, else the beginning.
fn first_place(witness: &Witness) -> FindingPlace {
    let pattern = witness.pattern.iter().flat_map(|p| &p.events);
    let first = witness
        .cycle
        .iter()
        .chain(pattern)
        .find_map(|&index| witness.events.get(index))
        .or(witness.events.last());
    first.map_or(BEGINNING, FindingPlace::of_event)
}

fn of_fences<'a>(
    report: &'a FileReport,
    criterion: Criterion,
    found: &'a FenceFindings,
) -> Vec<Finding<'a>> {
    let goal = words::holds(report.model, criterion);
    match &found.fences.result {
        FenceResult::None => {
            let rule = Rule::Criterion(report.model, criterion);
            let what = format!("no set of fences makes it {goal}");
            match &found.fences.witness {
                Some(witness) => vec![violation(report, rule, what, witness)],
                None => vec![no_answer(Level::Error, BEGINNING, what)],
            }
        }
        FenceResult::Unknown { reason, .. } => {
            let text = format!("the cheapest fences that make it {goal} are not found: {reason}");
            vec![no_answer(Level::Warning, BEGINNING, text)]
        }
        FenceResult::Optimal(set) => {
            let Some(program) = &report.program else {
                return Vec::new();
            };
            let note = |(place, text): (FindingPlace, String), why: String| Finding {
                rule: Rule::Fences(report.model, criterion),
                level: Level::Note,
                place,
                message: format!("{text} ({why})"),
                run: None,
            };
            if found.existing.is_some() {
                let gone = fences::removed(found, set);
                let why = format!("it is {goal} without this fence");
                let places = fences::places(program, &gone).into_iter();
                return places.map(|place| note(place, why.clone())).collect();
            }
            let why = format!("with all of them, at a cost of {}, it is {goal}", set.cost);
            let places = fences::places(program, &set.repairs).into_iter();
            places.map(|place| note(place, why.clone())).collect()
        }
    }
}

fn of_orders<'a>(
    report: &'a FileReport,
    criterion: Criterion,
    found: &'a OrderFindings,
) -> Vec<Finding<'a>> {
    let goal = words::holds(report.model, criterion);
    match &found.orders.result {
        OrdersResult::None => {
            let rule = Rule::Criterion(report.model, criterion);
            let what = format!("no orders make it {goal}");
            match &found.orders.witness {
                Some(witness) => vec![violation(report, rule, what, witness)],
                None => vec![no_answer(Level::Error, BEGINNING, what)],
            }
        }
        OrdersResult::Unknown { reason, .. } => {
            let text = format!("the cheapest orders that make it {goal} are not found: {reason}");
            vec![no_answer(Level::Warning, BEGINNING, text)]
        }
        OrdersResult::Optimal(best) => {
            let Some(program) = &report.program else {
                return Vec::new();
            };
            let why = format!(
                "with all of these, at a cost of {}, it is {goal}",
                best.cost
            );
            let places = orders::places(program, best).into_iter();
            places
                .map(|(place, text)| Finding {
                    rule: Rule::Orders(report.model, criterion),
                    level: Level::Note,
                    place,
                    message: format!("{text} ({why})"),
                    run: None,
                })
                .collect()
        }
    }
}

/// The steps of a run: each with its place, its thread and what it does.
pub(crate) fn steps(witness: &Witness, program: &Program) -> Vec<(FindingPlace, String)> {
    let step = |event: &Event| {
        let what = effect(event);
        let what = match what.is_empty() {
            true => statement(event, program),
            false => what,
        };
        (
            FindingPlace::of_event(event),
            format!("{}: {what}", event.thread),
        )
    };
    witness.events.iter().map(step).collect()
}
