//! Fences and other repairs: where they go, what they cost.

use crate::columns::one_line;
use crate::findings::FindingPlace;
use crate::look::{Look, Tone, cut, harmless, verdict_line};
use crate::outcome::{FenceFindings, FileReport, Question};
use crate::{text, words};
use palisade_fence::{Candidate, FenceResult, Fences, RepairSet};
use palisade_lang::{Language, Op, PlaceKind, Program, Repair};
use palisade_memory::{Criterion, Witness};
use serde::Serialize;

/// One fence or other repair, as JSON gives it.
#[derive(Serialize)]
pub(crate) struct FenceLine<'a> {
    /// `null` in a function that several threads call.
    thread: Option<String>,
    /// The state or label; where there is none, the statement's line and column.
    before: String,
    /// The file, where the program has several and it is not the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    line: u32,
    column: u32,
    cost: u64,
    /// What it is, where it is no fence: `rmw` or `order`.
    #[serde(skip_serializing_if = "Option::is_none")]
    repair: Option<&'static str>,
    /// With `--explain`: the violation that returns when just this one is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<&'a Witness>,
}

/// The repairs in the order of the text.
pub(crate) fn lines<'a>(
    program: &Program,
    repairs: &[Candidate],
    explanations: &'a [(Repair, Witness)],
) -> Vec<FenceLine<'a>> {
    sorted(program, repairs)
        .into_iter()
        .map(|candidate| {
            let site = program.site(candidate.repair);
            let at = program.source.line_column(site.span.start);
            let explanation = explanations.iter().find(|e| e.0 == candidate.repair);
            FenceLine {
                thread: site.thread.map(|t| program.thread(t).name.clone()),
                before: site.name.unwrap_or_else(|| at.to_string()),
                file: program
                    .source
                    .included_at(site.span.start)
                    .map(str::to_owned),
                line: at.line,
                column: at.column,
                cost: candidate.cost,
                repair: match candidate.repair {
                    Repair::Fence(_) | Repair::Keep(_) => None,
                    Repair::Rmw(_) => Some("rmw"),
                    Repair::SeqCst(_) => Some("order"),
                },
                witness: explanation.map(|(_, witness)| witness),
            }
        })
        .collect()
}

/// Of the program's own fences, those that are not in a set.
pub(crate) fn removed(findings: &FenceFindings, kept: &RepairSet) -> Vec<Candidate> {
    let stays = |fence: &Candidate| kept.repairs.iter().any(|c| c.repair == fence.repair);
    let existing = findings.existing.iter().flatten();
    existing.filter(|fence| !stays(fence)).copied().collect()
}

/// The answer for people.
pub(crate) fn render(report: &FileReport, findings: &FenceFindings, look: Look) -> String {
    let found = &findings.fences;
    let criterion = match report.question {
        Question::Fence(criterion)
        | Question::Check(criterion)
        | Question::Orders(criterion)
        | Question::CheckModels(criterion) => criterion,
        Question::CheckAll | Question::Reach => Criterion::Robust,
    };
    let goal = words::holds(report.model, criterion);
    let mut out = String::new();
    match &found.result {
        FenceResult::Optimal(set) if findings.existing.is_some() => {
            out.push_str(&render_reduced(report, findings, set, &goal, look));
        }
        FenceResult::Optimal(set) if set.repairs.is_empty() => {
            let what = format!("already {goal}, no fence needed");
            out.push_str(&headline(report, Tone::Good, "holds", &what, look));
        }
        FenceResult::Optimal(set) => {
            let what = format!("{} it {goal}", counted(set));
            out.push_str(&headline(report, Tone::Good, "holds", &what, look));
            out.push_str(&list(report, &set.repairs, look));
            let text = format!(
                "The cost is {}, and no cheaper set of {} is enough.",
                set.cost,
                noun(set)
            );
            out.push_str(&text::indented(&text, 0, Tone::Plain, look));
            out.push_str(&written(report, findings, look));
        }
        FenceResult::None => {
            let what = match findings.existing {
                Some(_) => format!("no choice among its own fences makes it {goal}"),
                None => format!("no set of fences makes it {goal}"),
            };
            out.push_str(&headline(report, Tone::Bad, "violated", &what, look));
            if let (Some(witness), Some(program)) = (&found.witness, &report.program) {
                out.push_str("\nThis happens whatever is fenced:\n\n");
                out.push_str(&text::render_witness(witness, program, look));
                out.push('\n');
            }
        }
        FenceResult::Unknown {
            reason,
            lower_bound,
            confirmed,
        } => {
            let what = format!("the cheapest fences that make it {goal} are not found");
            out.push_str(&headline(report, Tone::Doubt, "unknown", &what, look));
            let text = format!(
                "The search ended early: {reason}. A set that is enough costs at least {lower_bound}."
            );
            out.push_str(&text::indented(&text, 0, Tone::Plain, look));
            if let Some(set) = confirmed {
                let text = format!(
                    "{} it {goal}, at a cost of {}, but something cheaper may be enough:",
                    counted(set),
                    set.cost
                );
                out.push_str(&text::indented(&text, 0, Tone::Plain, look));
                out.push_str(&list(report, &set.repairs, look));
            }
        }
    }
    out.push_str(&render_explanations(report, found, look));
    out.push_str(&render_all_sets(report, found, look));
    let decided = !matches!(found.result, FenceResult::Unknown { .. });
    out.push_str(&text::closing(&found.notes, &found.stats, decided, look));
    out
}

/// Which of the program's own fences can go.
fn render_reduced(
    report: &FileReport,
    findings: &FenceFindings,
    kept: &RepairSet,
    goal: &str,
    look: Look,
) -> String {
    let removed = removed(findings, kept);
    let all = removed.len() + kept.repairs.len();
    let what = match removed.len() {
        _ if all == 0 => format!("already {goal}, and there is no fence in it"),
        0 => format!("none of its {all} fences can go"),
        number if number == all => format!("{goal} without any of its {all} fences"),
        number => format!("{number} of its {all} fences can go, and it stays {goal}"),
    };
    let mut out = headline(report, Tone::Good, "holds", &what, look);
    for (title, fences) in [("can go", &removed), ("must stay", &kept.repairs)] {
        if !fences.is_empty() {
            out.push_str(&format!("\nWhat {title}:"));
            out.push_str(&list(report, fences, look));
        }
    }
    if !kept.repairs.is_empty() {
        let text = format!(
            "What stays costs {}, and no cheaper choice is enough.",
            kept.cost
        );
        out.push_str(&text::indented(&text, 0, Tone::Plain, look));
    }
    out.push_str(&written(report, findings, look));
    out
}

fn render_explanations(report: &FileReport, found: &Fences, look: Look) -> String {
    let mut out = String::new();
    let Some(program) = &report.program else {
        return out;
    };
    for (repair, witness) in &found.explanations {
        let what = match repair {
            Repair::Fence(_) | Repair::Keep(_) => "Without the fence of",
            Repair::Rmw(_) | Repair::SeqCst(_) => "Without what is done at",
        };
        let title = format!("{what} {}:", repair_line(program, *repair));
        out.push('\n');
        out.push_str(&look.paint(Tone::Strong, &cut(&title, look.width)));
        out.push_str("\n\n");
        out.push_str(&text::render_witness(witness, program, look));
        out.push('\n');
    }
    out
}

fn render_all_sets(report: &FileReport, found: &Fences, look: Look) -> String {
    let mut out = String::new();
    let Some(all) = &found.all else {
        return out;
    };
    out.push('\n');
    for (at, set) in all.sets.iter().enumerate() {
        let title = format!(
            "\nSet {} of {}, at cost {}:",
            at + 1,
            all.sets.len(),
            set.cost
        );
        out.push_str(&look.paint(Tone::Strong, &title));
        match set.repairs.is_empty() {
            true => out.push_str(" nothing\n\n"),
            false => out.push_str(&list(report, &set.repairs, look)),
        }
    }
    let text = match &all.complete {
        Ok(()) if all.sets.is_empty() => String::new(),
        Ok(()) => "These are all sets from which nothing can be left out.".to_owned(),
        Err(reason) => format!("There may be more sets: {reason}."),
    };
    out.push_str(&text::indented(&text, 0, Tone::Plain, look));
    out.push('\n');
    out
}

fn noun(set: &RepairSet) -> &'static str {
    let fence = |c: &Candidate| matches!(c.repair, Repair::Fence(_) | Repair::Keep(_));
    match set.repairs.iter().all(fence) {
        true => "fences",
        false => "repairs",
    }
}

pub(crate) fn counted(set: &RepairSet) -> String {
    let number = set.repairs.len() as u64;
    match noun(set) {
        "fences" => words::counted(number, "fence makes", "fences make"),
        _ => words::counted(number, "repair makes", "repairs make"),
    }
}

/// One line for each repair, with an empty line before and behind them.
fn list(report: &FileReport, repairs: &[Candidate], look: Look) -> String {
    let mut out = String::new();
    if let Some(program) = &report.program {
        out.push('\n');
        for candidate in sorted(program, repairs) {
            let line = format!("  {}", repair_line(program, candidate.repair));
            out.push_str(&cut(&line, look.width));
            out.push('\n');
        }
        out.push('\n');
    }
    out
}

/// The repairs in the order of the text, each with its place and in words.
pub(crate) fn places(program: &Program, repairs: &[Candidate]) -> Vec<(FindingPlace, String)> {
    sorted(program, repairs)
        .into_iter()
        .map(|candidate| {
            let start = program.site(candidate.repair).span.start;
            let place = FindingPlace::new(&program.source, start);
            (place, repair_line(program, candidate.repair))
        })
        .collect()
}

fn headline(report: &FileReport, tone: Tone, verdict: &str, what: &str, look: Look) -> String {
    verdict_line(&report.file, tone, verdict, what, look)
}

/// The new text as a difference to the old one, or that it was written.
fn written(report: &FileReport, findings: &FenceFindings, look: Look) -> String {
    let (Some(text), Some(program)) = (&findings.text, &report.program) else {
        return String::new();
    };
    match text {
        Ok(_) if findings.written => format!("{} was rewritten with them.\n", report.file),
        Ok(text) => format!("\n{}\n\n", difference(program.source.text(), text, look)),
        Err(reason) => text::indented(&format!("Note: {reason}"), 0, Tone::Plain, look),
    }
}

/// A unified diff.
pub(crate) fn unified(old: &str, new: &str) -> String {
    #[cfg_attr(target_arch = "wasm32", allow(unused_mut))]
    let mut config = similar::TextDiff::configure();
    // The shortest difference of large texts takes time without end; any other one is right, too.
    #[cfg(not(target_arch = "wasm32"))]
    config.timeout(std::time::Duration::from_secs(1));
    let diff = config.diff_lines(old, new);
    diff.unified_diff().context_radius(2).to_string()
}

/// The same, coloured.
pub fn difference(old: &str, new: &str, look: Look) -> String {
    let diff = unified(old, new);
    let lines: Vec<String> = diff
        .lines()
        .map(|line| {
            let tone = match line.as_bytes().first() {
                Some(b'+') => Tone::Good,
                Some(b'-') => Tone::Bad,
                Some(b'@') => Tone::Faint,
                _ => Tone::Plain,
            };
            look.paint(tone, &harmless(line))
        })
        .collect();
    lines.join("\n")
}

pub(crate) fn sorted(program: &Program, repairs: &[Candidate]) -> Vec<Candidate> {
    let mut repairs = repairs.to_vec();
    repairs.sort_by_key(|candidate| (program.site(candidate.repair).span, candidate.repair));
    repairs
}

/// A repair in words.
pub(crate) fn repair_line(program: &Program, repair: Repair) -> String {
    let site = program.site(repair);
    let text = one_line(program.source.slice(site.span), program.language);
    let what = match repair {
        Repair::Fence(place) => match program.places[place.index()].kind {
            PlaceKind::BeforeStatement => format!("before `{text}`"),
            PlaceKind::BlockEnd => "at the end of the block".to_owned(),
            PlaceKind::State => {
                let state = site.name.as_deref().unwrap_or_default();
                format!("before everything that leaves {state}")
            }
        },
        Repair::Rmw(_) if program.language == Language::Trencher => {
            format!("`{text}` goes between `lock` and `unlock`")
        }
        Repair::SeqCst(_) if program.language == Language::Trencher => {
            format!("`{text}` gets an `mfence` behind it")
        }
        Repair::Rmw(span) => {
            let mut all = program.threads.iter().flat_map(|t| &t.transitions);
            let is_store = |op: &Op| matches!(op, Op::Store { .. });
            match all.any(|t| t.span == span && is_store(&t.op)) {
                true => format!("`{text}` becomes an exchange"),
                false => format!("the load `{text}` becomes an atomic addition of 0"),
            }
        }
        Repair::SeqCst(_) => format!("`{text}` becomes seqcst"),
        Repair::Keep(_) => format!("`{text}`"),
    };
    let thread = match site.thread {
        Some(thread) => format!("thread {}, ", program.thread(thread).name),
        None => String::new(),
    };
    let is_state = matches!(repair, Repair::Fence(place)
        if program.places[place.index()].kind != PlaceKind::BeforeStatement);
    let label = match &site.name {
        Some(name) if !is_state => format!(" (label {name})"),
        _ => String::new(),
    };
    let line = program.source.line_column(site.span.start).line;
    let file = match program.source.included_at(site.span.start) {
        None => String::new(),
        Some(file) => format!(" of {}", harmless(file)),
    };
    format!("{thread}line {line}{file}: {what}{label}")
}
