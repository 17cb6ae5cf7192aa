//! The same question gets the same answer and the same numbers, for any number of searching threads, but for time and memory.

use palisade_testkit::workspace_dir;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const PALISADE: &str = env!("CARGO_BIN_EXE_palisade");

/// What is asked: the command with its model and criterion.
const QUESTIONS: [&[&str]; 12] = [
    &["check", "--model", "sc", "--criterion", "drf"],
    &["check", "--model", "sc", "--criterion", "safe"],
    &["check", "--model", "tso", "--criterion", "drf"],
    &["check", "--model", "tso", "--criterion", "trf"],
    &["check", "--model", "tso", "--criterion", "robust"],
    &["check", "--model", "tso", "--criterion", "persistent"],
    &["check", "--model", "tso", "--criterion", "safe"],
    &["check", "--model", "ra", "--criterion", "robust"],
    &["check", "--model", "ra", "--criterion", "safe"],
    &["check", "--model", "tso", "--criterion", "robust", "--all"],
    &["reach", "--model", "tso"],
    &["fence", "--model", "tso", "--criterion", "robust"],
];

/// Programs for each question.
const PROGRAMS: usize = 18;

/// What took longer is not compared: it may have met the limit of 5 seconds, which says nothing about the numbers without one. (A list of all
/// violations, and what is said about harm, can be cut short by it without the verdict being `unknown`.)
const LONGEST: Duration = Duration::from_secs(4);

/// The answer without what may differ; `None` where there is none within the time.
fn answer(question: &[&str], path: &Path, jobs: &str) -> Option<Value> {
    let start = Instant::now();
    let output = Command::new(PALISADE)
        .args(question)
        .args(["--format", "json", "--timeout", "5s", "--jobs", jobs])
        .arg(path)
        .output()
        .unwrap();
    if start.elapsed() > LONGEST {
        return None;
    }
    let text = String::from_utf8(output.stdout).unwrap();
    let mut answer: Value = serde_json::from_str(text.trim()).unwrap();
    if matches!(answer["verdict"].as_str(), Some("unknown" | "error")) {
        return None;
    }
    forget(&mut answer);
    Some(answer)
}

/// Removes time and memory, wherever they are.
fn forget(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("wall_ms");
            fields.remove("peak_memory_bytes");
            fields.values_mut().for_each(forget);
        }
        Value::Array(items) => items.iter_mut().for_each(forget),
        _ => {}
    }
}

#[test]
fn the_same_numbers_for_any_number_of_jobs() {
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut directories = vec![workspace_dir().join("programs")];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true if path.ends_with("large") => {}
                true => directories.push(path),
                false => paths.push(path),
            }
        }
    }
    paths.retain(|p| p.extension().is_some_and(|e| e == "pal" || e == "txt"));
    paths.sort();
    for (number, question) in QUESTIONS.into_iter().enumerate() {
        let mut compared = 0;
        // Other programs for each question, from all directories.
        let step = paths.len() / PROGRAMS;
        for path in paths.iter().skip(number % step).step_by(step) {
            let Some(first) = answer(question, path, "1") else {
                continue;
            };
            for jobs in ["1", "2", "4"] {
                // A busy machine may not be in time.
                if let Some(again) = answer(question, path, jobs) {
                    assert_eq!(
                        first,
                        again,
                        "{question:?} --jobs {jobs} {}",
                        path.display()
                    );
                    compared += 1;
                }
            }
        }
        println!("{question:?}: {compared}");
        assert!(compared > 3, "{question:?}: {compared}");
    }
}
