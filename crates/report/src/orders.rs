//! Memory orders: what changes, what it costs, and why the rest is needed.

use crate::columns::one_line;
use crate::fences::difference;
use crate::findings::FindingPlace;
use crate::look::{Look, Tone, cut, harmless, verdict_line};
use crate::outcome::{FileReport, OrderFindings};
use crate::{text, words};
use palisade_fence::{Assignment, Needed, OrdersResult, Slot};
use palisade_lang::{OrderChange, Ordered, PlaceKind, Program, Span, change_in_words};
use palisade_memory::{Criterion, Witness};
use serde::Serialize;

/// One change, as JSON gives it.
#[derive(Serialize)]
pub(crate) struct ChangeLine {
    /// The file, where the program has several and it is not the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    line: u32,
    column: u32,
    what: &'static str,
    /// `none` where there is no fence yet.
    from: &'static str,
    /// `none` where the fence goes.
    to: String,
    /// Of a compare-and-swap that fails: `failure`.
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<&'static str>,
}

/// One order that is needed, as JSON gives it.
#[derive(Serialize)]
pub(crate) struct NeededLine<'a> {
    line: u32,
    column: u32,
    what: &'static str,
    order: &'static str,
    weaker: &'static str,
    /// The violation that is there with the weaker order; `null` where there is none, and the order costs nothing.
    witness: Option<&'a Witness>,
}

fn span_of(program: &Program, slot: Slot) -> Span {
    match slot {
        Slot::Site(site) => site.span,
        Slot::Place(place) => program.places[place.index()].span,
    }
}

fn slot_of(change: &OrderChange) -> Slot {
    match change {
        OrderChange::Fence(place, _) => Slot::Place(*place),
        OrderChange::Order(site, _)
        | OrderChange::Exchange(site, _)
        | OrderChange::NoFence(site) => Slot::Site(*site),
    }
}

fn sorted(program: &Program, assignment: &Assignment) -> Vec<OrderChange> {
    let mut changes = assignment.changes.clone();
    changes.sort_by_key(|change| (span_of(program, slot_of(change)), *change));
    changes
}

/// The changes in the order of the text.
pub(crate) fn lines(program: &Program, assignment: &Assignment) -> Vec<ChangeLine> {
    let line = |change: OrderChange| {
        let span = span_of(program, slot_of(&change));
        let at = program.source.line_column(span.start);
        let (what, from, to) = change_in_words(&change);
        let failure = change.site().is_some_and(|s| s.what == Ordered::Failure);
        ChangeLine {
            file: program.source.included_at(span.start).map(str::to_owned),
            line: at.line,
            column: at.column,
            what,
            from,
            to,
            part: failure.then_some("failure"),
        }
    };
    sorted(program, assignment).into_iter().map(line).collect()
}

/// What is needed, in the order of the text.
pub(crate) fn needed_lines<'a>(program: &Program, needed: &'a [Needed]) -> Vec<NeededLine<'a>> {
    let line = |needed: &'a Needed| {
        let at = program
            .source
            .line_column(span_of(program, needed.slot).start);
        NeededLine {
            line: at.line,
            column: at.column,
            what: kind(needed.slot),
            order: needed.order.name(),
            weaker: needed.weaker.map_or("none", |order| order.name()),
            witness: needed.witness.as_ref(),
        }
    };
    needed.iter().map(line).collect()
}

fn kind(slot: Slot) -> &'static str {
    match slot {
        Slot::Place(_) => "fence",
        Slot::Site(site) => match site.what {
            Ordered::Load => "load",
            Ordered::Store => "store",
            Ordered::Rmw | Ordered::Failure => "rmw",
            Ordered::Fence => "fence",
        },
    }
}

/// The answer for people.
pub(crate) fn render(
    report: &FileReport,
    criterion: Criterion,
    findings: &OrderFindings,
    look: Look,
) -> String {
    let found = &findings.orders;
    let goal = words::holds(report.model, criterion);
    let (was, before) = found.written;
    let headline = |tone: Tone, verdict: &str, what: &str| {
        verdict_line(&report.file, tone, verdict, what, look)
    };
    let mut out = String::new();
    // Of all orders, or only of those that were allowed.
    let (which, choice) = match findings.restricted {
        true => ("orders that are allowed", "choice that is allowed"),
        false => ("orders", "choice of orders"),
    };
    let paragraph = |text: &str| text::indented(text, 0, Tone::Plain, look);
    match &found.result {
        OrdersResult::Optimal(best) if best.changes.is_empty() => {
            let what = format!("{goal}, and no cheaper {which} keep it so");
            out.push_str(&headline(Tone::Good, "holds", &what));
            out.push_str(&paragraph(&format!(
                "Its orders cost {} ({}). No cheaper {choice} is enough.",
                best.cost, findings.cost
            )));
        }
        OrdersResult::Optimal(best) => {
            let changes = words::counted(best.changes.len() as u64, "change", "changes");
            let what = match was {
                Some(true) => format!("{goal} with cheaper orders, too: {changes}"),
                _ => format!("{goal} with other orders: {changes}"),
            };
            out.push_str(&headline(Tone::Good, "holds", &what));
            out.push_str(&list(report, best, look));
            let compared = match was {
                Some(true) => format!("where those of the text cost {before}"),
                Some(false) => {
                    format!("and those of the text, which are not enough, cost {before}")
                }
                None => format!("and those of the text cost {before}"),
            };
            out.push_str(&paragraph(&format!(
                "These orders cost {} ({}), {compared}. The criterion was decided with all of them as they are now, the weaker ones too, and no cheaper {choice} is enough.",
                best.cost, findings.cost
            )));
            out.push_str(&written(report, findings, look));
        }
        OrdersResult::None => {
            let what = format!("no {which} make it {goal}");
            out.push_str(&headline(Tone::Bad, "violated", &what));
            if let (Some(witness), Some(program)) = (&found.witness, &report.program) {
                out.push_str(match findings.restricted {
                    true => "\nThis happens whichever of them are chosen:\n\n",
                    false => "\nThis happens whatever the orders are:\n\n",
                });
                out.push_str(&text::render_witness(witness, program, look));
                out.push('\n');
            }
        }
        OrdersResult::Unknown {
            reason,
            lower_bound,
            confirmed,
        } => {
            let what = format!("the cheapest orders that make it {goal} are not found");
            out.push_str(&headline(Tone::Doubt, "unknown", &what));
            out.push_str(&paragraph(&format!(
                "The search ended early: {reason}. Orders that are enough cost at least {lower_bound}{}.",
                match findings.cost.as_str() {
                    // The text was not even read.
                    "" => String::new(),
                    cost => format!(" ({cost})"),
                }
            )));
            if let Some(best) = confirmed {
                out.push_str(&paragraph(&format!(
                    "With these it is {goal}, at a cost of {}, but something cheaper may be enough:",
                    best.cost
                )));
                match best.changes.is_empty() {
                    true => out.push_str("\n  the orders as they are\n\n"),
                    false => out.push_str(&list(report, best, look)),
                }
            }
        }
    }
    out.push_str(&explanations(report, &found.needed, look));
    let decided = !matches!(found.result, OrdersResult::Unknown { .. });
    out.push_str(&text::closing(&found.notes, &found.stats, decided, look));
    out
}

fn explanations(report: &FileReport, needed: &[Needed], look: Look) -> String {
    let mut out = String::new();
    let Some(program) = &report.program else {
        return out;
    };
    for one in needed {
        let what = one_line(
            program.source.slice(span_of(program, one.slot)),
            program.language,
        );
        let line = program
            .source
            .line_column(span_of(program, one.slot).start)
            .line;
        let weaker = match one.weaker {
            Some(order) => format!("{} instead of {}", order.name(), one.order.name()),
            None => format!("no fence instead of {}", one.order.name()),
        };
        let part = match one.slot {
            Slot::Site(site) if site.what == Ordered::Failure => " where it fails",
            Slot::Place(_) => " (the new fence before it)",
            Slot::Site(_) => "",
        };
        let title = format!("With {weaker} in line {line}, `{what}`{part}:");
        out.push('\n');
        out.push_str(&look.paint(Tone::Strong, &cut(&title, look.width)));
        out.push_str("\n\n");
        match &one.witness {
            Some(witness) => out.push_str(&text::render_witness(witness, program, look)),
            None => out.push_str("  It would be enough, too; the stronger order costs nothing.\n"),
        }
        out.push('\n');
    }
    out
}

/// One line for each change, with an empty line before and behind them.
fn list(report: &FileReport, assignment: &Assignment, look: Look) -> String {
    let mut out = String::new();
    if let Some(program) = &report.program {
        out.push('\n');
        for change in sorted(program, assignment) {
            let line = format!("  {}", change_line(program, &change));
            out.push_str(&cut(&line, look.width));
            out.push('\n');
        }
        out.push('\n');
    }
    out
}

/// The changes in the order of the text, each with its place and in words.
pub(crate) fn places(program: &Program, assignment: &Assignment) -> Vec<(FindingPlace, String)> {
    let changes = sorted(program, assignment).into_iter();
    changes
        .map(|change| {
            let start = span_of(program, slot_of(&change)).start;
            (
                FindingPlace::new(&program.source, start),
                change_line(program, &change),
            )
        })
        .collect()
}

/// A change in words.
fn change_line(program: &Program, change: &OrderChange) -> String {
    let span = span_of(program, slot_of(change));
    let text = one_line(program.source.slice(span), program.language);
    let (_, from, to) = change_in_words(change);
    let what = match change {
        OrderChange::Fence(place, order) => {
            let at = match program.places[place.index()].kind {
                PlaceKind::BlockEnd => "at the end of the block".to_owned(),
                _ => format!("before `{text}`"),
            };
            format!("a fence, {}, {at}", order.name())
        }
        OrderChange::NoFence(_) => format!("`{text}` can go"),
        OrderChange::Exchange(_, order) => {
            format!("`{text}` becomes an exchange, {}", order.name())
        }
        OrderChange::Order(site, _) => {
            let part = match site.what {
                Ordered::Failure => " where it fails",
                _ => "",
            };
            format!("`{text}`{part}: {from} becomes {to}")
        }
    };
    let line = program.source.line_column(span.start).line;
    let file = match program.source.included_at(span.start) {
        None => String::new(),
        Some(file) => format!(" of {}", harmless(file)),
    };
    format!("line {line}{file}: {what}")
}

/// The new text as a difference to the old one, or that it was written.
fn written(report: &FileReport, findings: &OrderFindings, look: Look) -> String {
    let (Some(text), Some(program)) = (&findings.text, &report.program) else {
        return String::new();
    };
    match text {
        Ok(_) if findings.written => format!("{} was rewritten with them.\n", report.file),
        Ok(files) => {
            let mut out = String::new();
            for (name, text) in files {
                let Some(old) = program.source.file_named(name) else {
                    continue;
                };
                if *name != program.source.name() {
                    out.push_str(&format!("\n{}:", harmless(name)));
                }
                out.push_str(&format!("\n{}\n\n", difference(old.text, text, look)));
            }
            out
        }
        Err(reason) => text::indented(&format!("Note: {reason}"), 0, Tone::Plain, look),
    }
}
