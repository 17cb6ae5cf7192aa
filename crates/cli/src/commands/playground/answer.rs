//! One question of the page and its answer, in a process of its own: whatever a text does, the server goes on.

use crate::limits;
use crate::pairs;
use palisade::limits::Limits;
use palisade_check::{Control, Options, QUESTIONS};
use palisade_fence::FenceResult;
use palisade_memory::{Criterion, Model, Witness};
use palisade_report::{
    Failure, FenceFindings, FileReport, Findings, Look, Question, picture, text,
};
use serde_json::{Value, json};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Programs to begin with: what they are, and their texts.
const EXAMPLES: &[(&str, &str)] = &[
    (
        "Store buffering",
        include_str!("../../../../../programs/litmus/sb.pal"),
    ),
    (
        "Message passing",
        include_str!("../../../../../programs/litmus/mp.pal"),
    ),
    (
        "Peterson's lock",
        include_str!("../../../../../programs/mutex/peterson-sc.pal"),
    ),
    (
        "Dekker's lock",
        include_str!("../../../../../programs/mutex/dekker-sc.pal"),
    ),
    (
        "Bakery lock",
        include_str!("../../../../../programs/mutex/bakery-2.pal"),
    ),
    (
        "Ticket lock",
        include_str!("../../../../../programs/locks/ticketlock.pal"),
    ),
    (
        "Sequence lock",
        include_str!("../../../../../programs/sync/seqlock.pal"),
    ),
    (
        "Work-stealing queue",
        include_str!("../../../../../programs/queues/chase-lev-sc.pal"),
    ),
    (
        "A lost wake-up",
        include_str!("../../../../../programs/bugs/postgresql-latch.pal"),
    ),
    (
        "Your own",
        "shared x;\n\nthread p {\n  x = 1;\n}\n\nthread q {\n  let r = x;\n}\n",
    ),
];

/// Longer runs are told, not drawn.
const MOST_EVENTS: usize = 400;

/// What is to be found out about a program.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Kind {
    /// Whether a criterion holds.
    Check,
    /// Which fences make it hold.
    Fence,
}

impl Kind {
    /// As the command line and the page's addresses have it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Check => "check",
            Kind::Fence => "fence",
        }
    }
}

/// What the page asks.
pub struct Asked {
    text: String,
    model: Model,
    criterion: Criterion,
    kind: Kind,
    /// Which open page asks: a new question of a page replaces its last one.
    pub page: String,
}

/// The answer; `unknown` where it would take more than it may.
pub fn answer(asked: Asked, timeout: Duration, memory: u64) -> Value {
    let memory = Some(limits::held().saturating_add(memory));
    let limits = Limits {
        timeout: Some(timeout),
        memory,
    };
    let options = Options {
        timeout: Some(timeout),
        memory,
        machine: Some(limits::machine),
        ..Options::new(asked.model, asked.criterion)
    };
    let question = palisade::Asked {
        model: asked.model,
        question: match asked.kind {
            Kind::Fence => Question::Fence(asked.criterion),
            Kind::Check => Question::Check(asked.criterion),
        },
    };
    // A page's text has no business with files.
    let reading = palisade::Reading {
        files: |_| Err("other files cannot be read from here".to_owned()),
        ..palisade::Reading::default()
    };
    let (report, _) = palisade::report(
        "program".to_owned(),
        // A name without an extension: the language follows from a look at the text.
        move || palisade::read("program", asked.text, &reading),
        |_| question,
        move |program, question, stop| {
            let control = Control {
                cancel: stop,
                progress: &|_| {},
            };
            palisade::answer(program, question, &options, &control)
        },
        limits,
        &AtomicBool::new(false),
    );
    told(&report)
}

/// What is said where a question got no answer.
pub fn unknown(reason: &str) -> Value {
    json!({ "verdict": "unknown", "headline": format!("unknown: {reason}"), "text": "", "lines": [] })
}

impl Asked {
    /// A question as the page puts it.
    pub fn read(kind: Kind, body: &[u8]) -> Result<Asked, String> {
        let value: Value =
            serde_json::from_slice(body).map_err(|error| format!("this is no JSON: {error}"))?;
        let field = |name: &str| {
            let text = value[name].as_str().map(str::to_owned);
            text.ok_or_else(|| format!("`{name}` is missing"))
        };
        let (model, criterion) = (field("model")?, field("criterion")?);
        let pair = QUESTIONS
            .iter()
            .find(|(m, c)| m.name() == model && c.name() == criterion);
        let Some(&(model, criterion)) = pair else {
            return Err(format!(
                "the criterion {criterion:?} has no meaning under the model {model:?}"
            ));
        };
        Ok(Asked {
            text: field("text")?,
            model,
            criterion,
            kind,
            page: field("page")?,
        })
    }
}

/// What the page can offer.
pub fn setup() -> Value {
    let example = |(name, text): &(&str, &str)| json!({ "name": name, "text": shown(text) });
    let model = |model: Model| {
        let criteria: Vec<&str> = pairs::criteria(model).iter().map(|c| c.name()).collect();
        json!({ "name": model.name(), "criteria": criteria })
    };
    json!({
        "examples": EXAMPLES.iter().map(example).collect::<Vec<_>>(),
        "models": [model(Model::Tso), model(Model::Ra), model(Model::Sc)],
    })
}

/// An example without the lines that say which verdicts it must get: those would give the answer away.
fn shown(text: &str) -> String {
    let kept: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("// expect") && !line.starts_with("// orders"))
        .collect();
    let text = kept.join("\n").replace("\n//\n\n", "\n\n");
    format!("{text}\n")
}

/// The report as the page shows it.
fn told(report: &FileReport) -> Value {
    let whole = text::render(report, Look::PLAIN);
    let (verdict, witness, fenced) = match &report.result {
        Err(_) => ("error", None, None),
        Ok(Findings::One(answer)) => (
            palisade_report::words::verdict(&answer.verdict),
            answer.witnesses.first(),
            None,
        ),
        Ok(Findings::Fences(found)) => {
            let verdict = match found.fences.result {
                FenceResult::Optimal(_) => "holds",
                FenceResult::None => "violated",
                FenceResult::Unknown { .. } => "unknown",
            };
            let text = found.text.as_ref().and_then(|text| text.as_ref().ok());
            (verdict, found.fences.witness.as_ref(), text)
        }
        Ok(Findings::All(_) | Findings::Models(_) | Findings::Orders(_)) => ("error", None, None),
    };
    let mut lines: Vec<u32> = match &report.result {
        Ok(Findings::Fences(found)) if fenced.is_some() => fence_lines(report, found),
        Err(Failure::Text(source, problems)) => problems
            .iter()
            .map(|problem| source.line_column(problem.span.start).line)
            .collect(),
        _ => witness.map(involved).unwrap_or_default(),
    };
    lines.sort_unstable();
    lines.dedup();
    let svg = match (witness, &report.program) {
        (Some(witness), Some(program)) if witness.events.len() <= MOST_EVENTS => {
            Some(picture::run(witness, program, "program").svg())
        }
        _ => None,
    };
    let (headline, rest) = match verdict {
        "error" => ("", whole.as_str()),
        _ => whole.split_once('\n').unwrap_or((&whole, "")),
    };
    json!({
        "verdict": verdict,
        "headline": headline.strip_prefix("program: ").unwrap_or(headline),
        "text": rest.trim_matches('\n'),
        "lines": lines,
        "svg": svg,
        "fenced": fenced,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_a_program_and_gives_nothing_away() {
        for (name, text) in EXAMPLES {
            let text = shown(text);
            assert!(!text.contains("expect"), "{name}");
            let read = palisade::read("program", text, &palisade::Reading::default());
            assert!(read.is_ok(), "{name}");
        }
    }
}
