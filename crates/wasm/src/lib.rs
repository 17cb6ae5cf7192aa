//! The product in a browser: text in, JSON out, without threads, files and processes.
//!
//! A page asks like this: it writes the question, an object in JSON, where [`room`] says, calls [`ask`], and reads the answer where [`answer`] says. The page
//! runs it in a worker, so that it can end a question that takes too long.
//!
//! Questions: `{"do": "check" | "fence" | "orders", "text", "name"?, "model"?, "criterion"?, "seconds"?, "columns"?}` is answered as [`palisade::shown`] says,
//! `{"do": "format", "text"}` by `{"text"}` or `{"problems"}`, `{"do": "setup"}` by the version, the models and their criteria.

// Exported functions must have a name that the linker keeps, which counts as unsafe; nothing else here is.
#![allow(unsafe_code)]

use palisade::{Criterion, Model, Reading, SearchOptions, Seeks, Shows, criteria, shown};
use palisade_lang::{Source, pal};
use serde_json::{Value, json};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The question, and then the answer.
static BYTES: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Beyond this the search stops; the module's memory ends somewhat later.
const MOST_MEMORY: u64 = 700 << 20;

fn bytes() -> MutexGuard<'static, Vec<u8>> {
    BYTES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where a question of so many bytes can be written.
#[unsafe(no_mangle)]
pub extern "C" fn room(length: usize) -> *mut u8 {
    let mut bytes = bytes();
    bytes.clear();
    bytes.resize(length, 0);
    bytes.as_mut_ptr()
}

/// Answers the question that was written; how many bytes the answer has.
#[unsafe(no_mangle)]
pub extern "C" fn ask() -> usize {
    let question = std::mem::take(&mut *bytes());
    let answer = answer_to(&question).to_string().into_bytes();
    let length = answer.len();
    *bytes() = answer;
    length
}

/// Where the answer is.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    bytes().as_ptr()
}

/// The answer to a question in JSON.
pub fn answer_to(question: &[u8]) -> Value {
    let question: Value = match serde_json::from_slice(question) {
        Ok(question) => question,
        Err(error) => return wrong(&format!("this is no JSON: {error}")),
    };
    let text = question["text"].as_str().unwrap_or_default();
    match question["do"].as_str() {
        Some("setup") => setup(),
        Some("format") => match pal::format(text) {
            Ok(text) => json!({ "text": text }),
            Err(problems) => {
                let source = Source::new("program", text);
                let found = problems.iter().map(|p| palisade::problem(&source, p));
                json!({ "problems": found.collect::<Vec<_>>() })
            }
        },
        Some(what @ ("check" | "fence" | "orders")) => {
            let named = |field: &str| question[field].as_str().filter(|name| !name.is_empty());
            let model = match named("model") {
                None => None,
                Some(name) => match Model::ALL.into_iter().find(|m| m.name() == name) {
                    None => return wrong(&format!("there is no model {name:?}")),
                    model => model,
                },
            };
            let criterion = match named("criterion") {
                None => None,
                Some(name) => match all_criteria().into_iter().find(|c| c.name() == name) {
                    None => return wrong(&format!("there is no criterion {name:?}")),
                    criterion => criterion,
                },
            };
            // Orders are looked at under C++20 where nothing else is said.
            let fixed = match what {
                "orders" => model.or(Some(Model::C20)),
                _ => model,
            };
            if let (Some(model), Some(criterion)) = (fixed, criterion)
                && !criteria(model).contains(&criterion)
            {
                let names: Vec<&str> = criteria(model).iter().map(|c| c.name()).collect();
                return wrong(&format!(
                    "the criterion {} has no meaning under the model {}, which knows {}",
                    criterion.name(),
                    model.name(),
                    names.join(", ")
                ));
            }
            let shows = Shows {
                model,
                criterion,
                seeks: match what {
                    "fence" => Seeks::Fences,
                    "orders" => Seeks::Orders,
                    _ => Seeks::Verdict,
                },
                drawn: true,
                columns: question["columns"]
                    .as_u64()
                    .map(|columns| columns.clamp(30, 300) as usize),
            };
            let seconds = question["seconds"].as_f64().unwrap_or(10.0);
            let options = SearchOptions {
                timeout: Some(Duration::from_secs_f64(seconds.clamp(0.1, 600.0))),
                memory: Some(MOST_MEMORY),
                jobs: 1,
                ..SearchOptions::new(Model::Tso, Criterion::Robust)
            };
            let reading = Reading {
                files: |_| Err("cannot be read: there are no other files here".to_owned()),
                ..Reading::default()
            };
            let name = question["name"].as_str().unwrap_or("program");
            let never = AtomicBool::new(false);
            shown(name, text.to_owned(), reading, shows, options, &never)
        }
        _ => wrong("`do` is one of check, fence, orders, format, setup"),
    }
}

fn wrong(message: &str) -> Value {
    json!({ "verdict": "error", "headline": "", "text": message, "reason": message, "problems": [], "lines": [] })
}

fn setup() -> Value {
    let model = |model: Model| {
        let names: Vec<&str> = criteria(model).iter().map(|c| c.name()).collect();
        json!({ "name": model.name(), "criteria": names })
    };
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "models": Model::ALL.map(model),
        "style": palisade_report::page::style(),
    })
}

/// Every criterion that some model knows.
fn all_criteria() -> Vec<Criterion> {
    let mut all: Vec<Criterion> = Model::ALL.into_iter().flat_map(criteria).collect();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(question: &Value) -> Value {
        answer_to(question.to_string().as_bytes())
    }

    const SB: &str =
        "shared x, y;\nthread p { x = 1; let r = y; }\nthread q { y = 1; let s = x; }\n";

    #[test]
    fn a_text_gets_its_verdict_picture_player_and_fences() {
        let answer = asked(&json!({ "do": "check", "text": SB }));
        assert_eq!(answer["verdict"], "violated");
        assert_eq!(
            (&answer["model"], &answer["criterion"]),
            (&"tso".into(), &"robust".into())
        );
        assert!(answer["svg"].as_str().unwrap().starts_with("<svg"));
        assert!(
            answer["player"]
                .as_str()
                .unwrap()
                .contains("class=\"player\"")
        );
        assert_eq!(answer["lines"], json!([2, 3]));
        let answer = asked(&json!({ "do": "fence", "text": SB }));
        let fenced = answer["changed"].as_str().unwrap();
        let answer =
            asked(&json!({ "do": "check", "text": fenced, "model": "tso", "criterion": "robust" }));
        assert_eq!(answer["verdict"], "holds");
    }

    #[test]
    fn orders_are_found_as_another_text() {
        let text = "shared f;\nnonatomic shared d;\nthread p { d = 1; f.store(1, seqcst); }\n\
                    thread q { if f.load(relaxed) == 1 { let r = d; } }\n";
        let answer = asked(&json!({ "do": "orders", "text": text }));
        assert_eq!(answer["verdict"], "holds", "{answer}");
        assert_eq!(
            (&answer["model"], &answer["criterion"]),
            (&"c20".into(), &"safe".into())
        );
        assert_eq!(answer["lines"], json!([3, 4]));
        let changed = answer["changed"].as_str().unwrap();
        assert!(changed.contains("f.store(1, release)"), "{changed}");
        assert!(changed.contains("f.load(acquire)"), "{changed}");
        let again = asked(&json!({ "do": "orders", "text": changed }));
        assert_eq!(again["verdict"], "holds", "{again}");
        assert!(again.get("changed").is_none(), "{again}");
        // Under a model that does not look at orders there are none to choose, and automata have none.
        let automaton = "memory x;\nthread p\ninitial a\ntransition a b write x 1\nend\n";
        for question in [
            json!({ "do": "orders", "text": text, "model": "tso" }),
            json!({ "do": "orders", "text": text, "criterion": "trf" }),
            json!({ "do": "orders", "text": automaton, "name": "a.txt" }),
        ] {
            let answer = asked(&question);
            assert_eq!(answer["verdict"], "error", "{question}: {answer}");
            assert!(!answer["reason"].as_str().unwrap().is_empty());
        }
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        let answer =
            asked(&json!({ "do": "check", "text": "shared flag;\nthread t { flga = 1; }" }));
        assert_eq!(answer["verdict"], "error");
        let problem = &answer["problems"][0];
        assert_eq!(
            (&problem["line"], &problem["column"], &problem["end_column"]),
            (&2.into(), &12.into(), &16.into())
        );
        assert_eq!(problem["help"], "did you mean `flag`?");
        for question in [
            json!({}),
            json!({ "do": "check", "text": SB, "model": "arm" }),
            json!({ "do": "check", "text": SB, "model": "sc", "criterion": "robust" }),
            json!({ "do": "check", "text": "use std::sync; fn main() {}", "name": "a.rs" }),
        ] {
            let answer = asked(&question);
            assert_eq!(answer["verdict"], "error", "{question}");
            assert!(!answer["reason"].as_str().unwrap().is_empty());
        }
        assert_eq!(answer_to(b"{")["verdict"], "error");
    }

    #[test]
    fn every_model_and_criterion_can_be_asked() {
        let setup = asked(&json!({ "do": "setup" }));
        let mut pairs = 0;
        for model in setup["models"].as_array().unwrap() {
            for criterion in model["criteria"].as_array().unwrap() {
                let question = json!({ "do": "check", "text": SB, "model": model["name"], "criterion": criterion });
                let answer = asked(&question);
                assert!(
                    ["holds", "violated"].contains(&answer["verdict"].as_str().unwrap()),
                    "{question}: {answer}"
                );
                pairs += 1;
            }
        }
        assert_eq!(pairs, palisade_check::QUESTIONS.len());
    }

    #[test]
    fn a_search_without_an_end_is_stopped() {
        let text = "shared x, y; thread p { loop { x = y + 1; } } thread q { loop { y = x + 1; } } never x == 0 - 7;";
        let answer = asked(&json!({ "do": "check", "text": text, "seconds": 0.3 }));
        assert_eq!(answer["verdict"], "unknown");
    }
}
