//! One question of the page and its answer, in a process of its own: whatever a text does, the server goes on.

use crate::limits;
use crate::pairs;
use palisade::{Reading, Seeks, Shows};
use palisade_check::{Options, QUESTIONS};
use palisade_memory::{Criterion, Model};
use serde_json::{Value, json};
use std::collections::BTreeSet;
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

/// What is to be found out about a program.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Kind {
    /// Whether a criterion holds.
    Check,
    /// Which fences make it hold.
    Fence,
    /// Which memory orders keep it or make it hold.
    Orders,
}

impl Kind {
    /// As the command line and the page's addresses have it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Check => "check",
            Kind::Fence => "fence",
            Kind::Orders => "orders",
        }
    }
}

/// What the page asks.
pub struct Asked {
    text: String,
    /// What is not given follows from the program.
    model: Option<Model>,
    criterion: Option<Criterion>,
    kind: Kind,
    /// Which open page asks: a new question of a page replaces its last one.
    pub page: String,
}

/// The answer, as [`palisade::shown`] gives it; `unknown` where it would take more than it may.
pub fn answer(asked: Asked, timeout: Duration, memory: u64) -> Value {
    let options = Options {
        timeout: Some(timeout),
        memory: Some(limits::held().saturating_add(memory)),
        machine: Some(limits::machine),
        ..Options::new(Model::Tso, Criterion::Robust)
    };
    let shows = Shows {
        model: asked.model,
        criterion: asked.criterion,
        seeks: match asked.kind {
            Kind::Check => Seeks::Verdict,
            Kind::Fence => Seeks::Fences,
            Kind::Orders => Seeks::Orders,
        },
        drawn: true,
        columns: None,
    };
    // A page's text has no business with files.
    let reading = Reading {
        files: |_| Err("other files cannot be read from here".to_owned()),
        ..Reading::default()
    };
    // A name without an extension: the language follows from a look at the text.
    let never = AtomicBool::new(false);
    let mut shown = palisade::shown("program", asked.text, reading, shows, options, &never);
    if shown["verdict"] == "error" {
        // The page has no other place for mistakes than its margin.
        let problems = shown["problems"].as_array().into_iter().flatten();
        let lines: BTreeSet<u64> = problems.filter_map(|p| p["line"].as_u64()).collect();
        shown["lines"] = json!(lines);
    }
    shown
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
        // An empty name leaves it to the program; orders are looked at under C++20 where nothing else is said.
        let assumed = match (kind, model.as_str()) {
            (Kind::Orders, "") => Model::C20.name(),
            (_, name) => name,
        };
        let fits = |m: &Model, c: &Criterion| {
            (assumed.is_empty() || m.name() == assumed)
                && (criterion.is_empty() || c.name() == criterion)
        };
        if !QUESTIONS.iter().any(|(m, c)| fits(m, c)) {
            return Err(format!(
                "the criterion {criterion:?} has no meaning under the model {assumed:?}"
            ));
        }
        let mut models = Model::ALL.into_iter();
        let mut criteria = QUESTIONS.iter().map(|(_, criterion)| *criterion);
        Ok(Asked {
            text: field("text")?,
            model: models.find(|m| m.name() == model),
            criterion: criteria.find(|c| c.name() == criterion),
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
        "models": Model::ALL.map(model),
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
