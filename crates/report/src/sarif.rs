//! SARIF 2.1.0, for tools that collect findings: one document about all FILEs.

use crate::columns::{effect, statement};
use crate::cycle;
use crate::outcome::{Failure, FileReport, Findings, Question};
use crate::words;
use palisade_check::{Answer, Refusal, Verdict};
use palisade_lang::{Diagnostic, Program, Severity, Source, Span};
use palisade_memory::{Criterion, Model, Witness};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The rule for what is wrong with a program's text.
const TEXT_RULE: &str = "program-text";

/// The document.
pub fn document(reports: &[FileReport]) -> String {
    let mut collected = Collected::default();
    for report in reports {
        collected.add(report);
    }
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {
                "driver": {
                    "name": "palisade",
                    "semanticVersion": env!("CARGO_PKG_VERSION"),
                    "rules": collected.rules(),
                }
            },
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": collected.notifications.is_empty(),
                "toolExecutionNotifications": collected.notifications,
            }],
            "results": collected.results,
        }]
    });
    serde_json::to_string_pretty(&document).unwrap_or_default()
}

#[derive(Default)]
struct Collected {
    violated: BTreeSet<(Model, Criterion)>,
    has_text_errors: bool,
    results: Vec<Value>,
    notifications: Vec<Value>,
}

impl Collected {
    fn add(&mut self, report: &FileReport) {
        match (&report.result, report.question) {
            (Err(failure), _) => self.add_failure(report, failure),
            (Ok(Findings::One(answer)), question) => {
                let criterion = match question {
                    Question::Check(criterion) | Question::Fence(criterion) => criterion,
                    Question::Reach | Question::CheckAll => Criterion::Safe,
                };
                self.add_answer(report, criterion, answer);
            }
            (Ok(Findings::Fences(..)), _) => {}
            (Ok(Findings::All(answers)), _) => {
                for (criterion, answer) in answers {
                    match answer {
                        Ok(answer) => self.add_answer(report, *criterion, answer),
                        Err(refusal) => self.add_refusal(report, refusal),
                    }
                }
            }
        }
    }

    fn add_failure(&mut self, report: &FileReport, failure: &Failure) {
        match failure {
            Failure::Text(source, diagnostics) => {
                self.has_text_errors = true;
                for diagnostic in diagnostics {
                    self.results
                        .push(text_error(&report.file, source, diagnostic));
                }
            }
            Failure::Refused(refusal) => self.add_refusal(report, refusal),
            Failure::Message(message) => {
                self.notify(
                    report,
                    "error",
                    &format!("{}: {message}", report.file),
                    None,
                );
            }
        }
    }

    fn add_refusal(&mut self, report: &FileReport, refusal: &Refusal) {
        let text = format!("{}: {}", report.file, refusal.message);
        self.notify(report, "error", &text, refusal.span);
    }

    fn add_answer(&mut self, report: &FileReport, criterion: Criterion, answer: &Answer) {
        match &answer.verdict {
            Verdict::Holds => {}
            Verdict::Unknown(reason) => {
                let asked = words::holds(report.model, criterion);
                let text = format!(
                    "{}: whether it is {asked} is not decided: {reason}",
                    report.file
                );
                self.notify(report, "warning", &text, None);
            }
            Verdict::Violated => {
                self.violated.insert((report.model, criterion));
                for witness in &answer.witnesses {
                    if let Some(program) = &report.program {
                        self.results
                            .push(violation(report, criterion, witness, program));
                    }
                }
            }
        }
    }

    fn notify(&mut self, report: &FileReport, level: &str, text: &str, span: Option<Span>) {
        let start = match (&report.program, span) {
            (Some(program), Some(span)) => program.source.line_column(span.start),
            _ => palisade_lang::LineColumn { line: 1, column: 1 },
        };
        self.notifications.push(json!({
            "level": level,
            "message": { "text": text },
            "locations": [location(&report.file, start.line, start.column, None)],
        }));
    }

    fn rules(&self) -> Vec<Value> {
        let rule = |id: &str, name: &str, text: &str| {
            json!({
                "id": id,
                "name": name,
                "shortDescription": { "text": text },
                "defaultConfiguration": { "level": "error" },
            })
        };
        let mut rules: Vec<Value> = self
            .violated
            .iter()
            .map(|&(model, criterion)| {
                let text = format!("The program is {}", words::holds(model, criterion));
                rule(&rule_id(model, criterion), criterion.name(), &text)
            })
            .collect();
        if self.has_text_errors {
            rules.push(rule(TEXT_RULE, TEXT_RULE, "The text is a program"));
        }
        rules
    }
}

fn rule_id(model: Model, criterion: Criterion) -> String {
    format!("{}/{}", model.name(), criterion.name())
}

fn text_error(file: &str, source: &Source, diagnostic: &Diagnostic) -> Value {
    let start = source.line_column(diagnostic.span.start);
    let mut text = diagnostic.message.clone();
    if let Some(help) = &diagnostic.help {
        text.push_str(&format!(" ({help})"));
    }
    json!({
        "ruleId": TEXT_RULE,
        "level": match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "message": { "text": text },
        "locations": [location(file, start.line, start.column, None)],
    })
}

fn violation(
    report: &FileReport,
    criterion: Criterion,
    witness: &Witness,
    program: &Program,
) -> Value {
    let steps: Vec<Value> = witness
        .events
        .iter()
        .enumerate()
        .map(|(index, event)| {
            let what = effect(event);
            let what = if what.is_empty() {
                statement(event, program)
            } else {
                what
            };
            let text = format!("{}: {what}", event.thread);
            json!({
                "executionOrder": index + 1,
                "location": location(&report.file, event.line, event.column, Some(&text)),
            })
        })
        .collect();
    // Where to look first: an access of the cycle or pattern, else the last step, else the beginning.
    let pattern = witness.pattern.iter().flat_map(|p| &p.events);
    let first = witness
        .cycle
        .iter()
        .chain(pattern)
        .find_map(|&index| witness.events.get(index))
        .or(witness.events.last());
    let (line, column) = first.map_or((1, 1), |event| (event.line, event.column));
    let text = format!(
        "{}: {}",
        words::violated(report.model, criterion),
        cycle::summary(witness)
    );
    let mut result = json!({
        "ruleId": rule_id(report.model, criterion),
        "level": "error",
        "message": { "text": text },
        "locations": [location(&report.file, line, column, None)],
    });
    if !steps.is_empty() {
        result["codeFlows"] = json!([{ "threadFlows": [{ "locations": steps }] }]);
    }
    result
}

fn location(file: &str, line: u32, column: u32, message: Option<&str>) -> Value {
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(file) },
            "region": { "startLine": line.max(1), "startColumn": column.max(1) },
        }
    });
    if let Some(message) = message {
        location["message"] = json!({ "text": message });
    }
    location
}

/// A path as a URI reference: everything but the harmless characters is escaped.
fn uri(path: &str) -> String {
    let mut result = String::new();
    if path.starts_with('/') {
        result.push_str("file://");
    }
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                result.push(char::from(byte));
            }
            _ => result.push_str(&format!("%{byte:02X}")),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        assert_eq!(uri("a b/ü.pal"), "a%20b/%C3%BC.pal");
        assert_eq!(uri("/tmp/x.pal"), "file:///tmp/x.pal");
        assert_eq!(uri("c:x"), "c%3Ax");
    }
}
