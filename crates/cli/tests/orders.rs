//! `palisade orders` as scripts call it: what is answered, what may be changed, what is written back in each language.

#[allow(dead_code)]
mod common;

use common::{Files, palisade};
use serde_json::Value;

/// The line of JSON for one file, which must have been answered with this exit status.
#[track_caller]
fn json(code: i32, arguments: &[&str]) -> Value {
    common::json(code, "orders", arguments)
}

/// Line, what, from and to of each change.
fn changes(line: &Value) -> Vec<(u64, &str, &str, &str)> {
    let changes = line["changes"].as_array().expect("a list of changes");
    changes
        .iter()
        .map(|change| {
            let of = |name: &str| change[name].as_str().unwrap();
            assert!(change["column"].as_u64().is_some());
            (
                change["line"].as_u64().unwrap(),
                of("what"),
                of("from"),
                of("to"),
            )
        })
        .collect()
}

const MAILBOX: &str = "shared full;
nonatomic shared letter;
thread sender {
  letter = 1;
  full.store(1, seqcst);
}
thread receiver {
  let r = full.load(seqcst);
  if r == 1 {
    assert letter == 1;
  }
}
";

#[test]
fn what_is_stronger_than_needed() {
    let files = Files::new();
    let file = files.file("mailbox.pal", MAILBOX);
    let line = json(0, &[&file]);
    assert_eq!(line["model"], "c20");
    assert_eq!(line["criterion"], "safe");
    assert_eq!(line["verdict"], "holds");
    assert_eq!(line["optimal"], true);
    assert_eq!(line["cost"], 2);
    assert_eq!(line["cost_before"], 4);
    assert_eq!(line["held_before"], true);
    let expected = [
        (5, "store", "seqcst", "release"),
        (8, "load", "seqcst", "acquire"),
    ];
    assert_eq!(changes(&line), expected);
    // Nothing may become weaker, or nothing in these lines.
    let line = json(0, &["--strengthen-only", &file]);
    assert_eq!(changes(&line), []);
    let line = json(0, &["--keep", "5,8", &file]);
    assert_eq!(changes(&line), []);
    let line = json(0, &["--keep=8", &file]);
    assert_eq!(changes(&line), expected[..1]);
    // On x86 only the store costs anything.
    let line = json(0, &["--cost=x86-64", &file]);
    assert_eq!(changes(&line), expected[..1]);
    assert_eq!(
        (&line["cost"], &line["cost_before"]),
        (&0.into(), &20.into())
    );
    let hints = palisade(&["check", "--hints", &file]);
    assert!(
        hints.stdout.contains("2 orders are stronger than needed"),
        "{}",
        hints.stdout
    );
}

#[test]
fn what_is_too_weak() {
    let files = Files::new();
    let file = files.file("mailbox.pal", &MAILBOX.replace("seqcst", "relaxed"));
    let line = json(0, &[&file]);
    assert_eq!(line["held_before"], false);
    assert_eq!(
        changes(&line),
        [
            (5, "store", "relaxed", "release"),
            (8, "load", "relaxed", "acquire"),
        ]
    );
    let line = json(1, &["--weaken-only", &file]);
    assert_eq!(line["verdict"], "violated");
    assert_eq!(line["changes"], Value::Null);
    assert_eq!(line["witness"]["pattern"]["kind"], "race");
    // Each order that is needed has its violation.
    let line = json(0, &["--explain", &file]);
    let needed = line["needed"].as_array().unwrap();
    assert_eq!(needed.len(), 2);
    assert!(needed.iter().all(|n| n["witness"]["events"].is_array()));
}

#[test]
fn fences_come_and_go() {
    let files = Files::new();
    let text = "shared x, y;\nthread a {\n  x.store(1, relaxed);\n  let r = y.load(relaxed);\n}\nthread b {\n  y.store(1, relaxed);\n  fence(release);\n  let s = x.load(relaxed);\n}\n";
    let file = files.file("sb.pal", text);
    let asked = ["--criterion=robust", "--cost=aarch64"];
    let line = json(0, &[&asked[..], &["--keep=3,7,9", &file]].concat());
    assert_eq!(
        changes(&line),
        [
            (4, "fence", "none", "seqcst"),
            (8, "fence", "release", "seqcst"),
        ]
    );
    // No fence comes before a line that is kept.
    let line = json(1, &[&asked[..], &["--keep=3,4,7,9", &file]].concat());
    assert_eq!(line["changes"], Value::Null);
    // Nothing needs it.
    let alone = files.file(
        "alone.pal",
        "shared x;\nthread a {\n  x = 1;\n  fence;\n}\n",
    );
    let line = json(0, &["--write", &alone]);
    assert_eq!(
        changes(&line),
        [
            (3, "store", "release", "relaxed"),
            (4, "fence", "seqcst", "none"),
        ]
    );
    assert_eq!(
        std::fs::read_to_string(&alone).unwrap(),
        "shared x;\nthread a {\n  x.store(1, relaxed);\n}\n"
    );
}

#[test]
fn wrong_calls() {
    let files = Files::new();
    let file = files.file("mailbox.pal", MAILBOX);
    for (arguments, said) in [
        (vec!["--model=tso"], "`c20` and `rc11` look at them"),
        (vec!["--criterion=trf"], "these pairs have one"),
        (vec!["--cost=nowhere.toml"], "unit, x86-64, aarch64, riscv"),
        (vec!["--cost=x86-64,riscv"], "one table of prices"),
        (vec!["--weaken-only", "--strengthen-only"], "cannot be used"),
    ] {
        let done = palisade(&[&["orders"], &arguments[..], &[&file]].concat());
        assert_eq!(done.code, 2, "{arguments:?}");
        assert!(done.stderr.contains(said), "{}", done.stderr);
    }
    let text = "C sb\n{}\nP0(atomic_int* x) { atomic_store(x, 1); }\nexists (x=1)\n";
    let done = palisade(&["orders", &files.file("sb.litmus", text)]);
    assert_eq!(done.code, 2, "{}", done.stdout);
    assert!(done.stderr.contains("export --to pal"), "{}", done.stderr);
}

#[test]
fn written_back() {
    let files = Files::new();
    let file = files.file("mailbox.pal", MAILBOX);
    let line = json(0, &["--write", &file]);
    assert_eq!(line["written"], true);
    let expected = MAILBOX
        .replacen("seqcst", "release", 1)
        .replacen("seqcst", "acquire", 1);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), expected);
    // There is nothing left to be done.
    assert_eq!(changes(&json(0, &[&file])), []);
}

/// Once one access of a `.tpl` has an order, those without one are relaxed: all get theirs.
#[test]
fn written_back_in_the_toy_language() {
    let files = Files::new();
    let text = "max_value 1;
global letter, full;
fn sender {
  letter.store(1);
  full.store(1);
}
fn receiver {
  local r;
  wait(full, 1);
  r = letter.load();
  assert(r == 1);
}
";
    let file = files.file("mailbox.tpl", text);
    let line = json(0, &["--write", "--criterion=robust", &file]);
    assert_eq!(line["written"], true, "{line}");
    let expected = text
        .replace("letter.store(1)", "letter.store(1, rlx)")
        .replace("full.store(1)", "full.store(1, rel)")
        .replace("wait(full, 1)", "wait(full, 1, acq)")
        .replace("letter.load()", "letter.load(rlx)");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), expected);
    assert_eq!(changes(&json(0, &["--criterion=robust", &file])), []);
}

#[test]
fn written_back_in_c() {
    let files = Files::new();
    let text = "#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
int letter;
atomic_int full;
void *sender(void *unused) {
  letter = 1;
  atomic_store(&full, 1); // sent
  return 0;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, sender, 0);
  if (atomic_load_explicit(&full, memory_order_seq_cst) == 1)
    assert(letter == 1);
  return 0;
}
";
    let file = files.file("mailbox.c", text);
    let line = json(0, &["--write", "--no-fences", &file]);
    assert_eq!(line["written"], true, "{line}");
    let written = std::fs::read_to_string(&file).unwrap();
    let expected = text
        .replace(
            "atomic_store(&full, 1)",
            "atomic_store_explicit(&full, 1, memory_order_release)",
        )
        .replace("memory_order_seq_cst", "memory_order_acquire");
    assert_eq!(written, expected);
}

/// The compiler has the last word: what is written back is compiled and checked again.
#[test]
fn written_back_in_rust() {
    let files = Files::new();
    let text = "use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

static LETTER: AtomicU32 = AtomicU32::new(0);
static FULL: AtomicBool = AtomicBool::new(false);

fn main() {
    let sender = thread::spawn(|| {
        LETTER.store(1, Ordering::SeqCst);
        FULL.store(true, Ordering::SeqCst); // sent
    });
    if FULL.load(Ordering::SeqCst) {
        assert_eq!(LETTER.load(Ordering::SeqCst), 1);
    }
    sender.join().unwrap();
}
";
    let file = files.file("mailbox.rs", text);
    let line = json(0, &["--write", "--criterion=safe", &file]);
    assert_eq!(line["written"], true, "{line}");
    let written = std::fs::read_to_string(&file).unwrap();
    let expected = text
        .replacen("Ordering::SeqCst", "Ordering::Relaxed", 1)
        .replacen("Ordering::SeqCst", "Ordering::Release", 1)
        .replacen("Ordering::SeqCst", "Ordering::Acquire", 1)
        .replacen("Ordering::SeqCst", "Ordering::Relaxed", 1);
    assert_eq!(written, expected);
}

/// What the standard library does inside is not the user's to change: `Arc` has orders and a fence of its own.
#[test]
fn the_standard_library_stays_as_it_is() {
    let files = Files::new();
    let text = "use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;

fn main() {
    let full = Arc::new(AtomicBool::new(false));
    let other = full.clone();
    let sender = thread::spawn(move || other.store(true, Ordering::SeqCst));
    let _ = full.load(Ordering::SeqCst);
    sender.join().unwrap();
}
";
    let file = files.file("shared.rs", text);
    let line = json(0, &["--write", "--criterion=safe", &file]);
    assert_eq!(line["written"], true, "{line}");
    let written = std::fs::read_to_string(&file).unwrap();
    assert_eq!(written, text.replace("SeqCst", "Relaxed"));
}

/// Fences are put before statements of a Rust file; the new text was compiled and checked before it is written.
#[test]
fn fences_written_into_rust() {
    let files = Files::new();
    let text = "use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static A: AtomicBool = AtomicBool::new(false);
static B: AtomicBool = AtomicBool::new(false);

fn second() -> bool {
    A.load(Ordering::Acquire)
}

fn main() {
    let other = thread::spawn(|| {
        A.store(true, Ordering::Release);
        if B.load(Ordering::Acquire) { 1 } else { 0 }
    });
    B.store(true, Ordering::Release);
    let _ = second();
    other.join().unwrap();
}
";
    let file = files.file("both.rs", text);
    let asked = |more: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_palisade"))
            .args(more)
            .args(["--model=tso", "--criterion=robust", &file])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), said)
    };
    assert_eq!(asked(&["check"]).0, Some(1));
    let (status, said) = asked(&["fence", "--write"]);
    assert_eq!(status, Some(0), "{said}");
    let written = std::fs::read_to_string(&file).unwrap();
    let fence = "std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);";
    assert_eq!(written.matches(fence).count(), 2, "{written}");
    assert!(
        written.contains(&format!("{fence}\n        if B.load")),
        "{written}"
    );
    assert_eq!(asked(&["check"]).0, Some(0));
}

/// Whether the compiler takes this C program, where there is one; what it says otherwise.
fn compiles(file: &str) -> std::io::Result<Result<(), String>> {
    let mut compiler = std::process::Command::new("cc");
    // A function without a declaration would be a warning only.
    compiler.args(["-fsyntax-only", "-std=gnu11", "-Werror=implicit"]);
    let output = compiler.arg(file).output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok(output.status.success().then_some(()).ok_or(said))
}

/// What is written into C programs, orders and fences alike, a compiler takes.
#[test]
fn changed_c_programs_compile() {
    let directory = palisade_testkit::workspace_dir().join("programs/c");
    let files = Files::new();
    let (mut orders, mut fences) = (0, 0);
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        // A header that only we have.
        if text.contains("<palisade/") {
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        for (command, written) in [("orders", &mut orders), ("fence", &mut fences)] {
            let file = files.file(name, &text);
            palisade(&[command, "--write", "--model=c20", "--timeout=2s", &file]);
            let after = std::fs::read_to_string(&file).unwrap();
            if after == text {
                continue;
            }
            match compiles(&file) {
                Ok(Ok(())) => *written += 1,
                Ok(Err(said)) => panic!("`{command}` made this of {name}:\n{after}\n{said}"),
                Err(_) => {
                    palisade_testkit::skipped("C compiler");
                    return;
                }
            }
        }
    }
    assert!(orders >= 8 && fences >= 5, "{orders} and {fences} changed");
}

/// A fence of a Rust file that is not needed goes with its line; where it is the value of something, nothing takes its place.
#[test]
fn fences_taken_out_of_rust() {
    let files = Files::new();
    let text = "use std::sync::atomic::{fence, AtomicBool, AtomicU32, Ordering};
use std::thread;

static UP: AtomicBool = AtomicBool::new(false);
static DATA: AtomicU32 = AtomicU32::new(0);

fn publish() {
    DATA.store(1, Ordering::Relaxed);
    fence(Ordering::Release);
    UP.store(true, Ordering::Relaxed);
}

fn main() {
    let other = thread::spawn(|| {
        if UP.load(Ordering::Relaxed) {
            let _ = DATA.load(Ordering::Relaxed);
            fence(Ordering::Acquire)
        }
    });
    publish();
    other.join().unwrap();
}
";
    let file = files.file("fences.rs", text);
    let line = json(0, &["--write", "--criterion=safe", &file]);
    assert_eq!(line["written"], true, "{line}");
    let written = std::fs::read_to_string(&file).unwrap();
    let without = text.replace("    fence(Ordering::Release);\n", "");
    assert_eq!(written, without.replace("fence(Ordering::Acquire)", "()"));
}
