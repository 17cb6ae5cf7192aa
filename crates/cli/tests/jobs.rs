//! `plan`, `job` and `merge`: many questions, asked anywhere, one answer.

#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Output};

const PALISADE: &str = env!("CARGO_BIN_EXE_palisade");

fn run(directory: &Path, line: &[&str]) -> Output {
    Command::new(PALISADE)
        .args(line)
        .current_dir(directory)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Lines of JSON without time and memory.
fn told(bytes: &[u8]) -> Vec<serde_json::Value> {
    let text = text(bytes);
    let answers = text.lines().map(|line| {
        let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
        if let Some(answer) = value.as_object_mut() {
            answer.remove("stats");
        }
        value
    });
    answers.collect()
}

const SAFE: &str = "shared x; thread a { x = 1; } thread b { let r; r = x; }";
const BUFFERED: &str = "shared x, y;
thread a { let r; x = 1; r = y; }
thread b { let r; y = 1; r = x; }
";

#[test]
fn jobs_in_any_order_make_the_answer_of_one_call() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let locks = path.join("my locks");
    std::fs::create_dir(&locks).unwrap();
    std::fs::write(locks.join("it's.pal"), SAFE).unwrap();
    std::fs::write(locks.join("b.pal"), BUFFERED).unwrap();
    std::fs::write(path.join("c.pal"), SAFE).unwrap();
    let question = ["check", "--criterion", "robust", "my locks", "c.pal"];
    let plan = run(
        path,
        &[&["plan", "--results", "out", "--"], &question[..]].concat(),
    );
    assert_eq!(plan.status.code(), Some(0), "{}", text(&plan.stderr));
    let lines = text(&plan.stdout);
    assert_eq!(lines.lines().count(), 3, "{lines}");
    std::fs::write(path.join("jobs"), &lines).unwrap();
    let merge = |format| run(path, &["merge", "jobs", "--format", format]);
    // Nothing is done yet.
    let merged = merge("human");
    assert_eq!(merged.status.code(), Some(3));
    let said = text(&merged.stdout);
    assert!(said.contains("3 jobs: 3 without an answer"), "{said}");
    let plain = run(path, &[&question[..], &["--format", "json"]].concat());
    assert_eq!(plain.status.code(), Some(1));
    let ask = |line: &str| {
        let line = line.replacen("palisade", "\"$P\"", 1);
        let mut shell = Command::new("sh");
        let shell = shell.args(["-c", &line]).env("P", PALISADE);
        let status = shell.current_dir(path).status().unwrap();
        assert_eq!(status.code(), Some(0), "{line}");
    };
    // From the last to the first, and some twice.
    for line in lines.lines().rev() {
        ask(line);
    }
    lines.lines().take(2).for_each(ask);
    let merged = merge("json");
    assert_eq!(merged.status.code(), plain.status.code());
    assert_eq!(told(&merged.stdout), told(&plain.stdout));
    let said = text(&merge("human").stdout);
    assert!(said.ends_with("3 jobs: 2 hold, 1 violated\n"), "{said}");
    // A result in the wrong place, a damaged one and a lost one do not count.
    std::fs::copy(path.join("out/000000.json"), path.join("out/000001.json")).unwrap();
    std::fs::write(path.join("out/000000.json"), "{}").unwrap();
    std::fs::remove_file(path.join("out/000002.json")).unwrap();
    let merged = merge("json");
    assert_eq!(merged.status.code(), Some(3));
    assert!(merged.stdout.is_empty());
    assert_eq!(text(&merged.stderr).lines().count(), 3);
}

#[test]
fn what_is_no_plan_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    std::fs::write(path.join("a.pal"), SAFE).unwrap();
    std::fs::write(path.join("jobs"), "rm -rf /\n").unwrap();
    std::fs::write(path.join("empty"), "\n").unwrap();
    for line in [
        &["merge", "jobs"][..],
        &["merge", "empty"],
        &["merge", "nowhere"],
        &["plan", "--results", "out", "--", "man", "out"],
        &["plan", "--results", "out", "--", "check", "-"],
        &[
            "plan",
            "--results",
            "out",
            "--",
            "check",
            "--checkpoint",
            "k",
            "a.pal",
        ],
        &[
            "plan",
            "--results",
            "out",
            "--",
            "check",
            "--no-such-flag",
            "a.pal",
        ],
        &["plan", "--results", "out"],
        &["job", "--to", "a.pal/out.json", "--", "check", "a.pal"],
    ] {
        let output = run(path, line);
        assert_eq!(output.status.code(), Some(2), "{line:?}");
        assert!(!text(&output.stderr).is_empty(), "{line:?}");
    }
    assert!(!path.join("out").exists());
}
