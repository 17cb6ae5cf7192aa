//! What a terminal shows.

use crate::look::{Look, Tone, pad, verdict_line, wrap};
use crate::outcome::{Failure, FileReport, Findings, Question, Status};
use crate::{columns, cycle, diagnostics, fences, orders, words};
use palisade_check::note::Note;
use palisade_check::{Answer, Refusal, Stats, Verdict};
use palisade_lang::{Diagnostic, Language, Program, Source, Span};
use palisade_memory::{Criterion, Model, Witness};

/// What is printed about a FILE: for a failure that is meant for standard error, else for standard output.
pub fn render(report: &FileReport, look: Look) -> String {
    match &report.result {
        Err(failure) => render_failure(report, failure, look),
        Ok(Findings::One(answer)) => render_answer(report, answer, look),
        Ok(Findings::Fences(found)) => fences::render(report, found, look),
        Ok(Findings::Orders(found)) => {
            let criterion = match report.question {
                Question::Orders(criterion) => criterion,
                _ => Criterion::Robust,
            };
            orders::render(report, criterion, found, look)
        }
        Ok(Findings::All(answers)) => {
            let title = format!("under {}", words::model(report.model));
            let rows = answers.iter().map(|(criterion, answer)| Row {
                name: criterion.name(),
                model: report.model,
                criterion: *criterion,
                answer,
            });
            render_all(report, &title, &rows.collect::<Vec<_>>(), look)
        }
        Ok(Findings::Models(answers)) => {
            let criterion = match report.question {
                Question::CheckModels(criterion) => criterion,
                _ => Criterion::Robust,
            };
            let rows = answers.iter().map(|(model, answer)| Row {
                name: model.name(),
                model: *model,
                criterion,
                answer,
            });
            render_all(report, criterion.name(), &rows.collect::<Vec<_>>(), look)
        }
    }
}

/// The first line of what is printed about a FILE that has an answer: its verdict.
pub fn headline(report: &FileReport, look: Look) -> String {
    let several: Option<Vec<(&str, &Result<Answer, Refusal>)>> = match &report.result {
        Ok(Findings::All(answers)) => Some(answers.iter().map(|(c, a)| (c.name(), a)).collect()),
        Ok(Findings::Models(answers)) => Some(answers.iter().map(|(m, a)| (m.name(), a)).collect()),
        _ => None,
    };
    if let Some(answers) = several {
        let verdicts: Vec<String> = answers
            .into_iter()
            .map(|(name, answer)| {
                let (verdict, tone) = match answer {
                    Ok(answer) => (words::verdict(&answer.verdict), tone(&answer.verdict)),
                    Err(_) => ("error", Tone::Bad),
                };
                format!("{name} {}", look.paint(tone, verdict))
            })
            .collect();
        return format!("{}: {}\n", report.file, verdicts.join(", "));
    }
    let one_line = Look {
        window: false,
        ..look
    };
    let whole = render(report, one_line);
    match whole.split_once('\n') {
        Some((first, _)) => format!("{first}\n"),
        None => whole,
    }
}

/// One line about several FILEs that were asked the same question.
pub fn summary(question: Question, statuses: &[Status], look: Look) -> String {
    let (good, bad) = match question {
        Question::Check(_) | Question::CheckAll | Question::CheckModels(_) => ("hold", "violated"),
        Question::Reach => ("unreachable", "reachable"),
        Question::Fence(_) => ("hold with fences", "cannot be fenced"),
        Question::Orders(_) => (
            "hold with the cheapest orders",
            "cannot be mended by orders",
        ),
    };
    let mut parts = Vec::new();
    for (status, tone, what) in [
        (Status::Holds, Tone::Good, good),
        (Status::Violated, Tone::Bad, bad),
        (Status::Unknown, Tone::Doubt, "undecided"),
        (Status::Error, Tone::Bad, "not analysed"),
    ] {
        let number = statuses.iter().filter(|s| **s == status).count() as u64;
        if number > 0 {
            let text = format!("{} {what}", words::number(number));
            parts.push(look.paint(tone, &text));
        }
    }
    let files = words::counted(statuses.len() as u64, "file", "files");
    format!("{files}: {}\n", parts.join(", "))
}

/// Warnings about a program's text.
pub fn warnings(source: &Source, warnings: &[Diagnostic], look: Look) -> String {
    diagnostics::render(source, warnings, look)
}

fn render_failure(report: &FileReport, failure: &Failure, look: Look) -> String {
    match failure {
        Failure::Text(source, problems) => diagnostics::render(source, problems, look),
        Failure::Refused(Refusal {
            message,
            span: Some(span),
        }) => match &report.program {
            Some(program) => refusal_at(program, message, *span, look),
            None => plain_error(&report.file, message, look),
        },
        Failure::Refused(refusal) => plain_error(&report.file, &refusal.message, look),
        Failure::Message(message) => plain_error(&report.file, message, look),
    }
}

fn refusal_at(program: &Program, message: &str, span: Span, look: Look) -> String {
    diagnostics::render(&program.source, &[Diagnostic::error(span, message)], look)
}

fn plain_error(file: &str, message: &str, look: Look) -> String {
    format!("{} {file}: {message}\n", look.paint(Tone::Bad, "error:"))
}

fn render_answer(report: &FileReport, answer: &Answer, look: Look) -> String {
    let mut out = answer_headline(report, answer, look);
    match &answer.verdict {
        Verdict::Unknown(reason) if answer.witnesses.is_empty() => {
            let text = format!("The search ended early: {reason}.");
            out.push_str(&indented(&text, 0, Tone::Plain, look));
        }
        // What is known is a violation of something else, which leaves this open.
        Verdict::Unknown(reason) => {
            let text = format!("It is left open: {reason}.");
            out.push_str(&indented(&text, 0, Tone::Plain, look));
            if let Some(program) = &report.program {
                for witness in &answer.witnesses {
                    out.push('\n');
                    out.push_str(&render_witness(witness, program, look));
                }
            }
        }
        Verdict::Holds => {}
        Verdict::Violated => {
            for (at, witness) in answer.witnesses.iter().enumerate() {
                if answer.witnesses.len() > 1 {
                    let title = format!("\nViolation {} of {}", at + 1, answer.witnesses.len());
                    out.push_str(&look.paint(Tone::Strong, &title));
                    out.push('\n');
                }
                if let Some(program) = &report.program {
                    out.push('\n');
                    out.push_str(&render_witness(witness, program, look));
                }
            }
        }
    }
    if !answer.witnesses.is_empty() || answer.notes.iter().any(|note| is_shown(note, look)) {
        out.push('\n');
    }
    if let Some(harm) = &answer.harm {
        out.push_str(&indented(&words::harm(harm), 0, Tone::Plain, look));
        out.push('\n');
    }
    let decided = !matches!(answer.verdict, Verdict::Unknown(_));
    out.push_str(&closing(&answer.notes, &answer.stats, decided, look));
    out
}

fn is_shown(note: &Note, look: Look) -> bool {
    look.verbose || !note.is_internal()
}

fn said(note: &Note, look: Look) -> String {
    let text = format!("Note: {}", crate::notes::sentence(note));
    indented(&text, 0, Tone::Plain, look)
}

/// What stands below every answer: notes, and what the search took.
pub(crate) fn closing(notes: &[Note], stats: &Stats, decided: bool, look: Look) -> String {
    let mut out = String::new();
    let notes: Vec<&Note> = notes.iter().filter(|note| is_shown(note, look)).collect();
    for note in &notes {
        out.push_str(&said(note, look));
    }
    if !notes.is_empty() {
        out.push('\n');
    }
    out.push_str(&indented(
        &words::stats(stats, look.verbose, decided),
        2,
        Tone::Faint,
        look,
    ));
    out
}

/// A paragraph that keeps within the window.
pub(crate) fn indented(text: &str, indent: usize, tone: Tone, look: Look) -> String {
    let mut out = String::new();
    for line in wrap(text, look.width.saturating_sub(indent)) {
        out.push_str(&look.paint(tone, &format!("{}{line}", " ".repeat(indent))));
        out.push('\n');
    }
    out
}

/// The run and what is wrong with it.
pub fn render_witness(witness: &Witness, program: &Program, look: Look) -> String {
    let mut out = String::new();
    if let Some(copies) = witness.copies {
        let copies = words::counted(u64::from(copies), "copy", "copies");
        out.push_str(&format!(
            "With {copies} of each thread that may have any number:\n\n"
        ));
    }
    if witness.events.is_empty() {
        out.push_str("Before the first step.\n");
    } else {
        out.push_str(&columns::render(witness, program, look));
    }
    out.push('\n');
    out.push_str(&cycle::render(witness, look));
    out
}

fn answer_headline(report: &FileReport, answer: &Answer, look: Look) -> String {
    let sign = words::verdict(&answer.verdict);
    let model = report.model;
    let (sign, what) = match report.question {
        Question::Reach => (
            words::reach_verdict(&answer.verdict),
            reached(report, &answer.verdict),
        ),
        Question::Check(criterion) | Question::Fence(criterion) | Question::Orders(criterion) => {
            (sign, judged(model, criterion, &answer.verdict))
        }
        Question::CheckAll | Question::CheckModels(_) => (sign, String::new()),
    };
    verdict_line(&report.file, tone(&answer.verdict), sign, &what, look)
}

fn tone(verdict: &Verdict) -> Tone {
    match verdict {
        Verdict::Holds => Tone::Good,
        Verdict::Violated => Tone::Bad,
        Verdict::Unknown(_) => Tone::Doubt,
    }
}

fn reached(report: &FileReport, verdict: &Verdict) -> String {
    let name = words::model(report.model);
    let language = report.program.as_ref().map(|program| program.language);
    let (state, nothing) = match language {
        Some(Language::Litmus) => (
            "the state that the test asks about",
            "the state that the test asks about cannot be reached",
        ),
        _ => (
            "a forbidden state",
            "no forbidden state and no failing assertion can be reached",
        ),
    };
    match verdict {
        Verdict::Holds => format!("{nothing} under {name}"),
        Verdict::Violated => format!("this happens under {name}"),
        Verdict::Unknown(_) => {
            format!("whether {state} can be reached under {name} is not decided")
        }
    }
}

fn judged(model: Model, criterion: Criterion, verdict: &Verdict) -> String {
    match verdict {
        Verdict::Holds => words::holds(model, criterion),
        Verdict::Violated => words::violated(model, criterion),
        Verdict::Unknown(_) => format!(
            "whether it is {} is not decided",
            words::holds(model, criterion)
        ),
    }
}

/// One line of the table of several questions.
struct Row<'a> {
    name: &'static str,
    model: Model,
    criterion: Criterion,
    answer: &'a Result<Answer, Refusal>,
}

/// The table of `--criterion all` or `--model all`.
fn render_all(report: &FileReport, title: &str, rows: &[Row<'_>], look: Look) -> String {
    let mut out = format!("{}: {title}\n\n", report.file);
    let longest = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let names = longest.max("criterion".len()) + 3;
    let verdicts = "violated".len() + 3;
    let line = |name: &str, verdict: &str, tone: Tone, why: &str| {
        let indent = 2 + names + verdicts;
        let why = wrap(why, look.width.saturating_sub(indent));
        format!(
            "  {}{}{}",
            pad(name, names),
            look.paint(tone, &pad(verdict, verdicts)),
            why.join(&format!("\n{}", " ".repeat(indent)))
        )
    };
    for row in rows {
        let (model, criterion) = (row.model, row.criterion);
        let (verdict, tone, why) = match row.answer {
            Ok(answer) => match &answer.verdict {
                Verdict::Holds => ("holds", Tone::Good, words::holds(model, criterion)),
                Verdict::Violated => (
                    "violated",
                    Tone::Bad,
                    answer
                        .witnesses
                        .first()
                        .map(cycle::summary)
                        .unwrap_or_else(|| words::violated(model, criterion)),
                ),
                Verdict::Unknown(reason) => ("unknown", Tone::Doubt, reason.clone()),
            },
            Err(refusal) => ("error", Tone::Bad, refusal.message.clone()),
        };
        out.push_str(line(row.name, verdict, tone, &why).trim_end());
        out.push('\n');
    }
    let notes: Vec<&Note> = rows
        .iter()
        .filter_map(|row| row.answer.as_ref().ok())
        .flat_map(|answer| &answer.notes)
        .filter(|note| is_shown(note, look))
        .collect();
    for (at, note) in notes.iter().enumerate() {
        if !notes[..at].contains(note) {
            out.push('\n');
            out.push_str(&said(note, look));
        }
    }
    out
}
