//! SARIF 2.1.0, for tools that collect findings: one document about all FILEs.

use crate::findings::{Finding, FindingPlace, Level, Rule, findings, steps};
use crate::outcome::FileReport;
use crate::words;
use palisade_memory::Criterion;
use serde_json::{Value, json};

/// The document.
pub fn document(reports: &[FileReport]) -> String {
    let found: Vec<(&str, Finding<'_>)> = reports
        .iter()
        .flat_map(|report| {
            let file = report.file.as_str();
            findings(report).into_iter().map(move |f| (file, f))
        })
        .collect();
    let mut rules: Vec<Rule> = found.iter().map(|(_, finding)| finding.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    // That there is no answer is a thing to know about the run of the tool, not a finding about the program.
    rules.retain(|rule| *rule != Rule::Answer);
    let mut results = Vec::new();
    let mut notifications = Vec::new();
    for (file, finding) in &found {
        match rules.iter().position(|rule| *rule == finding.rule) {
            Some(index) => results.push(result(file, finding, index)),
            None => notifications.push(json!({
                "level": level(finding.level),
                "message": { "text": format!("{file}: {}", finding.message) },
                "locations": [location(file, &finding.place, None)],
            })),
        }
    }
    let failed = found
        .iter()
        .any(|(_, f)| f.rule == Rule::Answer && f.level == Level::Error);
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {
                "driver": {
                    "name": "palisade",
                    "semanticVersion": env!("CARGO_PKG_VERSION"),
                    "rules": rules.iter().map(|rule| described(*rule)).collect::<Vec<_>>(),
                }
            },
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": !failed,
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
        }]
    });
    serde_json::to_string_pretty(&document).unwrap_or_default()
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    }
}

fn described(rule: Rule) -> Value {
    let (name, must, help) = match rule {
        Rule::Criterion(model, criterion) => (
            criterion.name(),
            format!("The program is {}", words::holds(model, criterion)),
            help(criterion),
        ),
        Rule::Fences(model, criterion) => (
            "fence",
            format!("Fences make the program {}", words::holds(model, criterion)),
            "These fences are enough, and no cheaper set is.",
        ),
        Rule::Orders(model, criterion) => (
            "orders",
            format!("Orders make the program {}", words::holds(model, criterion)),
            "These orders are enough, and no cheaper ones are.",
        ),
        Rule::Text | Rule::Answer => (
            "program-text",
            "The text is a program".to_owned(),
            "Only a program can be analysed.",
        ),
    };
    json!({
        "id": rule.id(),
        "name": name,
        "shortDescription": { "text": must },
        "fullDescription": { "text": format!("{must}. {help}") },
        "help": { "text": help },
        "defaultConfiguration": {
            "level": if matches!(rule, Rule::Fences(..) | Rule::Orders(..)) { "note" } else { "error" },
        },
        "properties": { "tags": ["concurrency", "memory-model"], "precision": "very-high" },
    })
}

/// What a violation means, in one sentence.
fn help(criterion: Criterion) -> &'static str {
    match criterion {
        Criterion::Safe => {
            "An assertion fails, a state that some `never` forbids is reached, or the program goes wrong."
        }
        Criterion::Drf => {
            "Two threads access the same location at once, and one of the accesses is a store."
        }
        Criterion::Trf => {
            "A load overtakes a store of its own thread just before another thread stores to the loaded location."
        }
        Criterion::Robust => {
            "The memory model shows a behaviour that sequential consistency does not have. Fences prevent it: see `palisade fence`."
        }
        Criterion::Persistent => {
            "The memory model shows an order of program and stores that sequential consistency does not have. Fences prevent it: see `palisade fence`."
        }
        Criterion::Live => {
            "Under a fair scheduler a thread can be stuck for ever in a loop or a wait."
        }
        Criterion::Observational => {
            "A value that sequential consistency would not show at this place is read and used."
        }
    }
}

fn result(file: &str, finding: &Finding<'_>, rule_index: usize) -> Value {
    let mut result = json!({
        "ruleId": finding.rule.id(),
        "ruleIndex": rule_index,
        "level": level(finding.level),
        "message": { "text": finding.message },
        "locations": [location(file, &finding.place, None)],
    });
    if let Some((witness, program)) = finding.run {
        let steps: Vec<Value> = steps(witness, program)
            .iter()
            .enumerate()
            .map(|(index, (place, text))| {
                json!({
                    "executionOrder": index + 1,
                    "location": location(file, place, Some(text)),
                })
            })
            .collect();
        if !steps.is_empty() {
            result["codeFlows"] = json!([{ "threadFlows": [{ "locations": steps }] }]);
        }
    }
    result
}

fn location(file: &str, place: &FindingPlace, message: Option<&str>) -> Value {
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": artifact(place.file.as_deref().unwrap_or(file)),
            "region": { "startLine": place.at.line.max(1), "startColumn": place.at.column.max(1) },
        }
    });
    if let Some(message) = message {
        location["message"] = json!({ "text": message });
    }
    location
}

/// A file: by a path from where the command ran, which for a collector is the root of the sources, or by a whole path.
fn artifact(path: &str) -> Value {
    let path = path.strip_prefix("./").unwrap_or(path);
    match path.starts_with('/') {
        true => json!({ "uri": uri(path) }),
        false => json!({ "uri": uri(path), "uriBaseId": "%SRCROOT%" }),
    }
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
