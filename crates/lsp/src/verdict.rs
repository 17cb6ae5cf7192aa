//! Asking about a text in the background.

use crate::document::{Document, remark};
use crate::settings::Settings;
use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Range,
    Uri,
};
use palisade::{Reading, SearchOptions, Seeks, Shows, limits};
use palisade_lang::Language;
use palisade_report::FileReport;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What came out about a text.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The text that it is about.
    pub text: Arc<str>,
    /// As [`palisade::shown`] gives it, with the page of the run as `html`.
    pub shown: Value,
}

impl Verdict {
    pub fn name(&self) -> &str {
        self.shown["verdict"].as_str().unwrap_or("error")
    }

    pub fn headline(&self) -> &str {
        self.shown["headline"].as_str().unwrap_or("")
    }

    /// What is said in the text itself: at the first line that the run is about, with the others beside it.
    pub fn problems(&self, document: &Document) -> Vec<Diagnostic> {
        let lines: Vec<u32> = self.shown["lines"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|line| line.as_u64().map(|line| line as u32))
            .collect();
        let first = lines
            .first()
            .map_or(Range::default(), |line| document.line(*line));
        let text = self.shown["text"].as_str().unwrap_or("");
        match self.name() {
            "violated" => {
                let others = lines
                    .iter()
                    .skip(1)
                    .map(|line| DiagnosticRelatedInformation {
                        location: Location::new(document.uri.clone(), document.line(*line)),
                        message: "the run that shows it comes by here".to_owned(),
                    });
                let said = sentence(text);
                vec![Diagnostic {
                    severity: Some(DiagnosticSeverity::WARNING),
                    code: Some(NumberOrString::String(
                        self.shown["criterion"].as_str().unwrap_or("").to_owned(),
                    )),
                    related_information: Some(others.collect()),
                    ..remark(first, &format!("{}{said}", self.headline()))
                }]
            }
            "unknown" => vec![remark(Range::default(), self.headline())],
            "error" if self.shown["problems"].as_array().is_none_or(Vec::is_empty) => {
                let reason = self.shown["reason"]
                    .as_str()
                    .unwrap_or("this is no program");
                vec![remark(
                    Range::default(),
                    &format!("it cannot be asked about: {reason}"),
                )]
            }
            _ => Vec::new(),
        }
    }
}

/// The sentence behind the run that says what is wrong, where there is one.
fn sentence(text: &str) -> String {
    let found = text
        .lines()
        .find(|line| line.starts_with("Now ") || line.starts_with("The cycle"));
    found.map_or_else(String::new, |line| format!("\n{line}"))
}

/// A question that is under way.
pub struct Task {
    pub uri: Uri,
    cancel: Arc<AtomicBool>,
}

impl Task {
    /// Its answer is no longer wanted.
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
}

/// Whether a text may be asked about: Rust runs the compiler, which the user must have allowed.
pub fn allowed(document: &Document, settings: &Settings) -> bool {
    document.language() != Language::Rust || settings.rust
}

/// Asks about a text on a thread of its own; `done` gets the answer there.
pub fn ask(
    document: &Document,
    settings: &Settings,
    seeks: Seeks,
    done: impl FnOnce(Verdict) + Send + 'static,
) -> Task {
    let cancel = Arc::new(AtomicBool::new(false));
    let task = Task {
        uri: document.uri.clone(),
        cancel: Arc::clone(&cancel),
    };
    let (document, settings) = (document.clone(), settings.clone());
    let work = move || done(answer(&document, &settings, seeks, &cancel));
    // Without another thread there is no answer, and the editor goes on.
    drop(std::thread::Builder::new().spawn(work));
    task
}

fn answer(document: &Document, settings: &Settings, seeks: Seeks, cancel: &AtomicBool) -> Verdict {
    let (model, criterion) = settings.question();
    let shows = Shows {
        model,
        criterion,
        seeks,
        drawn: true,
        columns: None,
    };
    let options = SearchOptions {
        timeout: Some(settings.time()),
        memory: Some(limits::held().saturating_add(settings.memory.saturating_mul(1 << 20))),
        machine: Some(limits::machine),
        jobs: 1,
        ..SearchOptions::new(palisade::Model::Tso, palisade::Criterion::Robust)
    };
    let (text, name) = (document.text.to_string(), &document.name);
    let (report, warnings) =
        palisade::shown_report(name, text, Reading::default(), shows, options, cancel);
    let mut shown = palisade::told(&report, &warnings, shows);
    add_page(&report, &mut shown);
    Verdict {
        text: Arc::clone(&document.text),
        shown,
    }
}

/// The run as a page of its own.
fn add_page(report: &FileReport, shown: &mut Value) {
    if shown.get("svg").is_some()
        && let Some(html) = palisade::run_page(report)
    {
        shown["html"] = html.into();
    }
    if let Some(object) = shown.as_object_mut() {
        object.remove("player");
    }
}

/// The answer to `palisade/run`.
pub fn run(verdict: Option<&Verdict>) -> Value {
    match verdict {
        None => {
            json!({ "verdict": "none", "headline": "not asked yet: save the file", "text": "" })
        }
        Some(verdict) => verdict.shown.clone(),
    }
}
