//! Certificates on the command line.

#![cfg(unix)]

use palisade_testkit::{Shape, random_sketch};
use std::path::Path;
use std::process::{Command, Output, Stdio};

const PALISADE: &str = env!("CARGO_BIN_EXE_palisade");

const HOLDS: &str = "shared x;\nthread a { x = 1; }\nthread b { x = 2; }\n";
const SB: &str = "shared x, y;\nthread a { x = 1; let r = y; }\nthread b { y = 1; let s = x; }\n";
/// Some thousand states, for every question but `drf`.
const LARGER: &str =
    "shared x[3];\nthread t[3] { let n; while n < 3 { n = n + 1; fadd(x[me], 1); fence; } }\n";

fn scratch(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, content) in files {
        std::fs::write(directory.path().join(name), content).unwrap();
    }
    directory
}

/// Runs a line of shell in a directory, with `$P` for the command.
fn sh(directory: &Path, line: &str) -> Output {
    Command::new("sh")
        .args(["-c", line])
        .current_dir(directory)
        .env("P", PALISADE)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn code(output: &Output) -> i32 {
    let stderr = text(&output.stderr);
    assert!(!stderr.contains("panicked"), "{stderr}");
    output.status.code().unwrap()
}

const QUESTIONS: [(&str, &str); 9] = [
    ("sc", "drf"),
    ("sc", "safe"),
    ("tso", "drf"),
    ("tso", "trf"),
    ("tso", "robust"),
    ("tso", "persistent"),
    ("tso", "safe"),
    ("ra", "robust"),
    ("ra", "safe"),
];

#[test]
fn written_and_checked() {
    let directory = scratch(&[("holds.pal", HOLDS), ("sb.pal", SB)]);
    let run = |line: &str| sh(directory.path(), line);
    for (model, criterion) in QUESTIONS.into_iter().filter(|q| q.1 != "drf") {
        let question = format!("--model {model} --criterion {criterion}");
        let certificate = format!("c.{model}.{criterion}");
        let line = format!("$P check {question} --certificate {certificate} holds.pal");
        let output = run(&line);
        assert_eq!(code(&output), 0, "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("states; `palisade validate`"));
        let output = run(&format!("$P validate {question} holds.pal {certificate}"));
        assert_eq!(code(&output), 0, "{}", text(&output.stdout));
        let output = run(&format!(
            "cat {certificate} | $P validate {question} --format json holds.pal -"
        ));
        assert_eq!(code(&output), 0);
        assert!(text(&output.stdout).contains("\"valid\""));
        let output = run(&format!("$P validate {question} sb.pal {certificate}"));
        assert_eq!(code(&output), 1);
        assert!(text(&output.stdout).contains("another program"));
        let output = run(&format!(
            "head -c 150 {certificate} > cut; $P validate {question} holds.pal cut"
        ));
        assert_eq!(code(&output), 2);
    }
    let output = run(
        "$P reach --certificate reach holds.pal && $P validate --criterion safe holds.pal reach",
    );
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("shows that it is safe"));
    let output = run("$P check --certificate none sb.pal");
    assert_eq!(code(&output), 1);
    assert!(!directory.path().join("none").exists());
    for line in [
        "$P check --certificate c --criterion all holds.pal",
        "$P check --certificate c holds.pal sb.pal",
        "$P check --certificate no/where holds.pal",
    ] {
        let output = run(line);
        assert_eq!(code(&output), 2, "{line}");
        assert!(text(&output.stderr).contains("error: "), "{line}");
    }
    std::fs::write(directory.path().join("both"), "palisade certificate 2\n").unwrap();
    assert_eq!(code(&run("$P validate holds.pal both")), 2);
}

/// What is asked comes from the command line, and the answer says all of it.
#[test]
fn a_certificate_does_not_choose_what_it_proves() {
    let directory = scratch(&[("holds.pal", HOLDS), ("sb.pal", SB)]);
    let run = |line: &str| sh(directory.path(), line);
    assert_eq!(
        code(&run("$P check --model ra --certificate c holds.pal")),
        0
    );
    let output = run("$P validate --model ra holds.pal c");
    assert_eq!(code(&output), 0);
    let shown = text(&output.stdout);
    let claim =
        "model ra, criterion robust, language pal, domain none, locations declared, proof monitors";
    assert!(shown.contains(claim), "{shown}");
    let output = run("$P validate --model ra --format json holds.pal c");
    assert!(text(&output.stdout).contains("\"claim\":{"));
    // Without a word it is what `check` asks.
    for (flags, wanted) in [
        ("", "`robust` under `tso` is asked"),
        ("--model ra --criterion safe", "`safe` under `ra` is asked"),
        ("--model sc --criterion drf", "`drf` under `sc` is asked"),
        ("--model ra --all-locations", "all locations is asked"),
        ("--model ra --domain 4", "another program"),
    ] {
        let output = run(&format!("$P validate {flags} holds.pal c"));
        assert_eq!(code(&output), 1, "{flags}");
        assert!(text(&output.stdout).contains(wanted), "{flags}");
    }
    // A witness says what it is about, and where something is asked it must be about that.
    assert_eq!(code(&run("$P check --format json sb.pal > w")), 1);
    assert_eq!(code(&run("$P validate sb.pal w")), 0);
    assert_eq!(
        code(&run("$P validate --model tso --criterion robust sb.pal w")),
        0
    );
    assert_eq!(code(&run("$P validate --model ra sb.pal w")), 1);
    assert_eq!(code(&run("$P validate --criterion safe sb.pal w")), 1);
    assert_eq!(
        code(&run("$P check --criterion trf --format json sb.pal > w")),
        1
    );
    assert_eq!(
        code(&run("$P validate --model tso --criterion trf sb.pal w")),
        0
    );
}

/// Nothing holds of what is no program.
#[test]
fn nothing_to_certify() {
    let directory = scratch(&[
        ("empty.pal", ""),
        ("blank.pal", " \n// nothing\n"),
        ("none.pal", "shared x;\n"),
        ("zero.pal", "shared x;\nthread t[0] { x = 1; }\n"),
        ("empty.txt", "\n"),
        ("empty.tpl", ""),
        ("empty.litmus", ""),
    ]);
    for file in [
        "empty.pal",
        "blank.pal",
        "none.pal",
        "zero.pal",
        "empty.txt",
        "empty.tpl",
        "empty.litmus",
    ] {
        for command in [
            "check",
            "check --model sc --criterion safe --certificate c",
            "reach",
            "fence",
        ] {
            let output = sh(directory.path(), &format!("$P {command} {file}"));
            assert_eq!(code(&output), 2, "{command} {file}");
            assert!(!output.stderr.is_empty());
        }
    }
    assert!(!directory.path().join("c").exists());
}

/// There is a file exactly where the criterion holds, and then it is valid.
#[test]
fn random_programs() {
    let mut written = 0;
    for (number, (model, criterion)) in QUESTIONS.into_iter().enumerate() {
        let shape = match model {
            "sc" => Shape::SC,
            "ra" => Shape::RA,
            _ => Shape::TSO,
        };
        for seed in 0..12 {
            let text = random_sketch(1000 * number as u64 + seed, &shape).to_string();
            let directory = scratch(&[("p.pal", &text)]);
            let asked = format!("--model {model} --criterion {criterion}");
            let question = format!("{asked} --timeout 10s");
            let run = |line: &str| sh(directory.path(), line);
            let status = code(&run(&format!("$P check {question} --certificate c p.pal")));
            let exists = directory.path().join("c").exists();
            assert_eq!(exists, status == 0, "{question}\n{text}");
            if exists {
                assert_eq!(
                    code(&run(&format!("$P validate {asked} p.pal c"))),
                    0,
                    "{question}\n{text}"
                );
                written += 1;
            }
        }
    }
    assert!(written > 30, "{written}");
}

/// A certificate that memory cannot hold: successors are sorted on disk.
#[test]
fn little_memory() {
    let directory = scratch(&[("larger.pal", LARGER)]);
    let run = |line: &str| sh(directory.path(), line);
    for (model, criterion) in [("sc", "safe"), ("tso", "robust"), ("ra", "robust")] {
        let question = format!("--model {model} --criterion {criterion}");
        let output = run(&format!("$P check {question} --certificate c larger.pal"));
        assert_eq!(code(&output), 0, "{}", text(&output.stderr));
        let valid = run(&format!("$P validate {question} larger.pal c"));
        assert_eq!(code(&valid), 0, "{}", text(&valid.stdout));
        // The machine has little memory, and the sorter is told so.
        let output = run(&format!(
            "ulimit -v 60000; exec $P validate {question} --memory 64KiB larger.pal c"
        ));
        assert_eq!(code(&output), 0, "{}", text(&output.stderr));
        // The second judge keeps all states in memory; where it has no room, the first one's word stands alone, and the answer does not say otherwise.
        let once = text(&valid.stdout).replace(", judged twice", "");
        assert_eq!(text(&output.stdout), once);
    }
}

/// Standard input can be read once: the question that follows from it is found on the way.
#[test]
fn of_standard_input() {
    let directory = scratch(&[("holds.pal", HOLDS)]);
    let run = |line: &str| sh(directory.path(), line);
    let output = run("$P check --certificate c - < holds.pal");
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    assert_eq!(code(&run("$P validate holds.pal c")), 0);
    // What has no certificates is said where the question is known.
    let output = run("$P check --criterion observational --certificate c holds.pal");
    assert_eq!(code(&output), 2);
    let said = text(&output.stderr);
    assert!(said.contains("there is no certificate for"), "{said}");
}
