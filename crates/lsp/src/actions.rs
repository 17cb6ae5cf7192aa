//! What can be changed in a text: fences put in, orders changed.

use crate::document::Document;
use crate::verdict::Verdict;
use crate::words;
use lsp_types::{CodeAction, CodeActionKind, Position, TextEdit, WorkspaceEdit};
use palisade_lang::Language;
use serde_json::json;
use std::collections::HashMap;

/// The orders that a load, a store, a fence and everything else can have.
const OF_LOADS: &[&str] = &["relaxed", "acquire", "seqcst"];
const OF_STORES: &[&str] = &["relaxed", "release", "seqcst"];
const OF_FENCES: &[&str] = &["acquire", "release", "acqrel", "seqcst"];
const OF_UPDATES: &[&str] = &["relaxed", "acquire", "release", "acqrel", "seqcst"];

/// What can be done at a place of a text. Fences and the cheapest orders are looked for only once they are wanted: such an action has no edit yet.
pub fn actions(document: &Document, at: Position, verdict: Option<&Verdict>) -> Vec<CodeAction> {
    let mut actions = Vec::new();
    let is_current = verdict.is_some_and(|v| v.text == document.text);
    if let Some(verdict) = verdict
        && is_current
    {
        let goal = match verdict.shown["criterion"].as_str() {
            Some("safe") => "it safe",
            Some("robust") => "it robust",
            _ => "what is asked",
        };
        let model = verdict.shown["model"].as_str().unwrap_or("");
        let later = |title: String, kind, data| CodeAction {
            title,
            kind: Some(kind),
            data: Some(data),
            ..CodeAction::default()
        };
        let uri = document.uri.as_str();
        let is_violated = verdict.name() == "violated";
        if is_violated && model != "sc" {
            let goal = goal.replace("what is asked", "it hold");
            actions.push(later(
                format!("Insert the cheapest fences that make {goal} ({model})"),
                CodeActionKind::QUICKFIX,
                json!({ "fences": uri }),
            ));
        }
        // Where a program holds, its orders may be stronger than needed.
        let has_orders = matches!(model, "c20" | "rc11")
            && !matches!(document.language(), Language::Litmus | Language::Trencher);
        if has_orders && (is_violated || verdict.name() == "holds") {
            let (goal, kind) = match is_violated {
                true => (
                    format!("make {}", goal.replace("what is asked", "it hold")),
                    CodeActionKind::QUICKFIX,
                ),
                false => (format!("keep {goal}"), CodeActionKind::REFACTOR_REWRITE),
            };
            actions.push(later(
                format!("Change to the cheapest memory orders that {goal} ({model})"),
                kind,
                json!({ "orders": uri }),
            ));
        }
    }
    actions.extend(orders(document, at));
    actions
}

/// The order at the place, changed to each of the others.
fn orders(document: &Document, at: Position) -> Vec<CodeAction> {
    let Some((word, span)) = document.word(at) else {
        return Vec::new();
    };
    if words::order(word).is_none() {
        return Vec::new();
    }
    let Some((language, own)) = spelling(word) else {
        return Vec::new();
    };
    let (start, end) = (span.start as usize, span.end as usize);
    let before = &document.text[..start];
    let call = before.rfind('(').map_or("", |open| {
        let head = before[..open].trim_end();
        let from = head.rfind(|c: char| !(c.is_alphanumeric() || c == '_'));
        &head[from.map_or(0, |at| at + 1)..]
    });
    // Of a compare-and-swap the last order is that of a failure, which is a load.
    let after = document.text[end..].trim_start();
    let earlier = before[before.rfind('(').unwrap_or(0)..].split(',');
    let failure = after.starts_with(')')
        && earlier
            .filter(|argument| {
                words::order(argument.trim().trim_start_matches("Ordering::")).is_some()
            })
            .count()
            > 0;
    let possible = match call {
        _ if failure => OF_LOADS,
        name if name.contains("fence") => OF_FENCES,
        name if name.contains("load") || name == "wait" => OF_LOADS,
        name if name.contains("store") => OF_STORES,
        _ => OF_UPDATES,
    };
    possible
        .iter()
        .filter(|order| **order != own)
        .map(|order| {
            let text = spelt(order, language);
            CodeAction {
                title: format!("Change the order to {text}"),
                kind: Some(CodeActionKind::REFACTOR_REWRITE),
                edit: Some(edit(document, TextEdit::new(document.range(span), text))),
                ..CodeAction::default()
            }
        })
        .collect()
}

/// The orders as each language spells them: Palisade, Rust, C, and GNU C.
const SPELLINGS: [[&str; 4]; 5] = [
    [
        "relaxed",
        "Relaxed",
        "memory_order_relaxed",
        "__ATOMIC_RELAXED",
    ],
    [
        "acquire",
        "Acquire",
        "memory_order_acquire",
        "__ATOMIC_ACQUIRE",
    ],
    [
        "release",
        "Release",
        "memory_order_release",
        "__ATOMIC_RELEASE",
    ],
    [
        "acqrel",
        "AcqRel",
        "memory_order_acq_rel",
        "__ATOMIC_ACQ_REL",
    ],
    [
        "seqcst",
        "SeqCst",
        "memory_order_seq_cst",
        "__ATOMIC_SEQ_CST",
    ],
];

/// Which language spells an order so, and which order it is.
fn spelling(word: &str) -> Option<(usize, &'static str)> {
    SPELLINGS.iter().find_map(|names| {
        let language = names.iter().position(|name| *name == word)?;
        Some((language, names[0]))
    })
}

fn spelt(order: &str, language: usize) -> String {
    let found = SPELLINGS.iter().find(|names| names[0] == order);
    found.map_or(order, |names| names[language]).to_owned()
}

/// A change of one text.
// The protocol's own type has addresses as keys, which never change.
#[allow(clippy::mutable_key_type)]
pub fn edit(document: &Document, change: TextEdit) -> WorkspaceEdit {
    WorkspaceEdit {
        changes: Some(HashMap::from([(document.uri.clone(), vec![change])])),
        ..WorkspaceEdit::default()
    }
}

/// From one text to another: only the lines that differ, so that cursors and folds stay.
pub fn replacement(document: &Document, new: &str) -> Option<TextEdit> {
    let old = &*document.text;
    if old == new {
        return None;
    }
    let same = old
        .bytes()
        .zip(new.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    // From the beginning of a line …
    let start = old[..floor(old, same)].rfind('\n').map_or(0, |end| end + 1);
    let same_end = old[start..]
        .bytes()
        .rev()
        .zip(new[start..].bytes().rev())
        .take_while(|(a, b)| a == b)
        .count();
    // … to the beginning of another.
    let tail = ceiling(old, old.len() - same_end);
    let tail = old[tail..]
        .find('\n')
        .map_or(old.len(), |length| tail + length);
    let end = new.len() - (old.len() - tail);
    let range = lsp_types::Range::new(document.position(start), document.position(tail));
    Some(TextEdit::new(range, new.get(start..end)?.to_owned()))
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn ceiling(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replacement_changes_what_differs() {
        for (old, new) in [
            ("a\nb\nc\n", "a\nx\nb\nc\n"),
            ("a\nb\nc\n", "a\nc\n"),
            ("", "x\n"),
            ("x\n", ""),
            ("ä\nö", "ä\nü"),
            ("aaaa\naaaa\n", "aaaa\n"),
            ("one", "two"),
            ("😀😀\n", "😀\n"),
        ] {
            let mut document = Document::new("file:///a.pal".parse().unwrap(), old.to_owned(), 1);
            let edit = replacement(&document, new).unwrap_or_else(|| panic!("{old:?} {new:?}"));
            document.change(lsp_types::TextDocumentContentChangeEvent {
                range: Some(edit.range),
                range_length: None,
                text: edit.new_text,
            });
            assert_eq!(&*document.text, new);
        }
    }

    #[test]
    fn orders_are_changed_to_what_the_access_can_have() {
        for (text, at, wanted) in [
            ("x.store(1, relaxed)", "relaxed", "release seqcst"),
            ("x.load(acquire)", "acquire", "relaxed seqcst"),
            ("cas(x, 0, 1, acqrel, acquire)", "acquire", "relaxed seqcst"),
            (
                "cas(x, 0, 1, acqrel, acquire)",
                "acqrel",
                "relaxed acquire release seqcst",
            ),
            ("fence(acquire)", "acquire", "release acqrel seqcst"),
            (
                "atomic_load_explicit(&x, memory_order_relaxed)",
                "memory_order_relaxed",
                "memory_order_acquire memory_order_seq_cst",
            ),
            ("x.store(1, Ordering::Relaxed)", "Relaxed", "Release SeqCst"),
        ] {
            let document = Document::new("file:///a.pal".parse().unwrap(), text.to_owned(), 1);
            let place = document.position(text.rfind(at).unwrap() + 1);
            let titles: Vec<String> = orders(&document, place)
                .iter()
                .map(|action| action.title.replace("Change the order to ", ""))
                .collect();
            assert_eq!(titles.join(" "), wanted, "{text}");
        }
    }
}
