//! Fences: where they go, what they cost.

use crate::columns::one_line;
use crate::look::{Look, Tone, cut, harmless};
use crate::outcome::{FenceFindings, FileReport, Question};
use crate::{text, words};
use palisade_fence::{Costs, FenceResult};
use palisade_lang::{PlaceId, PlaceKind, Program};
use palisade_memory::Criterion;
use serde::Serialize;

/// One fence, as JSON gives it.
#[derive(Serialize)]
pub(crate) struct FenceLine {
    /// `null` in a function that several threads call.
    thread: Option<String>,
    /// The state or label; where there is none, the statement's line and column.
    before: String,
    line: u32,
    column: u32,
    cost: u64,
}

/// The fences in the order of the text.
pub(crate) fn lines(program: &Program, places: &[PlaceId], costs: &Costs) -> Vec<FenceLine> {
    sorted(program, places)
        .into_iter()
        .map(|id| {
            let place = &program.places[id.index()];
            let at = program.source.line_column(place.span.start);
            let cost = costs.0.iter().find(|(of, _)| *of == id);
            FenceLine {
                thread: place
                    .thread
                    .map(|thread| program.thread(thread).name.clone()),
                before: place.name.clone().unwrap_or_else(|| at.to_string()),
                line: at.line,
                column: at.column,
                cost: cost.map_or(1, |(_, cost)| *cost),
            }
        })
        .collect()
}

/// The answer for people.
pub(crate) fn render(report: &FileReport, findings: &FenceFindings, look: Look) -> String {
    let found = &findings.fences;
    let criterion = match report.question {
        Question::Fence(criterion) | Question::Check(criterion) => criterion,
        Question::CheckAll | Question::Reach => Criterion::Robust,
    };
    let goal = words::holds(report.model, criterion);
    let mut out = String::new();
    match &found.result {
        FenceResult::Optimal { places, .. } if places.is_empty() => {
            out.push_str(&headline(
                report,
                Tone::Good,
                "holds",
                &format!("already {goal}, no fence needed"),
                look,
            ));
        }
        FenceResult::Optimal { places, cost } => {
            let count = words::counted(places.len() as u64, "fence makes", "fences make");
            let what = format!("{count} it {goal}");
            out.push_str(&headline(report, Tone::Good, "holds", &what, look));
            if let Some(program) = &report.program {
                out.push('\n');
                for (fence, place) in lines(program, places, &findings.costs)
                    .iter()
                    .zip(sorted(program, places))
                {
                    out.push_str(&fence_line(program, fence, place, look));
                }
                out.push('\n');
            }
            let text = format!("The cost is {cost}, and no cheaper set of fences is enough.");
            out.push_str(&text::indented(&text, 0, Tone::Plain, look));
            out.push_str(&written(report, findings, look));
        }
        FenceResult::None => {
            let what = format!("no set of fences makes it {goal}");
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
        } => {
            let what = format!("the cheapest fences that make it {goal} are not found");
            out.push_str(&headline(report, Tone::Doubt, "unknown", &what, look));
            let text = format!(
                "The search ended early: {reason}. A set that is enough costs at least {lower_bound}."
            );
            out.push_str(&text::indented(&text, 0, Tone::Plain, look));
        }
    }
    out.push_str(&text::closing(&found.notes, &found.stats, look));
    out
}

fn headline(report: &FileReport, tone: Tone, verdict: &str, what: &str, look: Look) -> String {
    format!("{}: {}: {what}\n", report.file, look.paint(tone, verdict))
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
fn difference(old: &str, new: &str, look: Look) -> String {
    let diff = similar::TextDiff::from_lines(old, new);
    let diff = diff.unified_diff().context_radius(2).to_string();
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

fn sorted(program: &Program, places: &[PlaceId]) -> Vec<PlaceId> {
    let mut places = places.to_vec();
    places.sort_by_key(|place| program.places[place.index()].span);
    places
}

fn fence_line(program: &Program, fence: &FenceLine, place: PlaceId, look: Look) -> String {
    let place = &program.places[place.index()];
    let statement = one_line(program.source.slice(place.span), program.language);
    let what = match place.kind {
        PlaceKind::BeforeStatement => format!("before `{statement}`"),
        PlaceKind::BlockEnd => "at the end of the block".to_owned(),
        PlaceKind::State => format!("before everything that leaves {}", fence.before),
    };
    let thread = match &fence.thread {
        Some(thread) => format!("thread {thread}, "),
        None => String::new(),
    };
    let label = match (&place.name, place.kind) {
        (Some(name), PlaceKind::BeforeStatement) => format!(" (label {name})"),
        _ => String::new(),
    };
    let line = format!("  {thread}line {}: {what}{label}", fence.line);
    format!("{}\n", cut(&line, look.width))
}
