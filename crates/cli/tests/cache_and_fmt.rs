//! `palisade fmt` and `--cache DIR` as people call them.

use std::path::Path;
use std::process::{Command, Output};

fn palisade(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.args(arguments).current_dir(directory);
    command.output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

const MESSY: &str = "shared x,y; // two\nthread p{x=1;let r=y;}\n";
const TIDY: &str = "shared x, y;  // two\nthread p { x = 1; let r = y; }\n";

#[test]
fn files_are_written_in_one_way() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    std::fs::write(at.join("a.pal"), MESSY).unwrap();
    std::fs::write(at.join("b.pal"), TIDY).unwrap();
    std::fs::write(at.join("c.c"), "int main(void) { return 0; }").unwrap();
    let checked = palisade(at, &["fmt", "--check", "."]);
    assert_eq!(checked.status.code(), Some(1), "{}", said(&checked));
    assert!(said(&checked).contains("a.pal: would be written"));
    assert!(!said(&checked).contains("b.pal"));
    assert_eq!(std::fs::read_to_string(at.join("a.pal")).unwrap(), MESSY);
    assert_eq!(palisade(at, &["fmt", "."]).status.code(), Some(0));
    assert_eq!(std::fs::read_to_string(at.join("a.pal")).unwrap(), TIDY);
    assert_eq!(
        palisade(at, &["fmt", "--check", "."]).status.code(),
        Some(0)
    );
    // What is named must be a program in this language.
    assert_eq!(palisade(at, &["fmt", "c.c"]).status.code(), Some(2));
    std::fs::write(at.join("a.pal"), "thread {").unwrap();
    let wrong = palisade(at, &["fmt", "a.pal"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(said(&wrong).contains("a.pal:1:8"), "{}", said(&wrong));
    assert_eq!(
        std::fs::read_to_string(at.join("a.pal")).unwrap(),
        "thread {"
    );
}

const SB: &str = "shared x, y;\nthread p { x = 1; let r = y; }\nthread q { y = 1; let s = x; }\n";
const FENCED: &str =
    "shared x, y;\nthread p { x = 1; fence; let r = y; }\nthread q { y = 1; fence; let s = x; }\n";

/// The files in the cache, by their ending.
fn kept(directory: &Path, extension: &str) -> Vec<std::path::PathBuf> {
    let files = std::fs::read_dir(directory.join("cache")).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let mut found: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    found.sort();
    found
}

#[test]
fn a_kept_answer_is_proved_again() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    std::fs::write(at.join("sb.pal"), SB).unwrap();
    std::fs::write(at.join("fenced.pal"), FENCED).unwrap();
    let asked = |file: &str| palisade(at, &["check", "--cache", "cache", "--format", "json", file]);
    let cached = |output: &Output| said(output).contains("from the cache");

    for (file, code, verdict) in [("sb.pal", 1, "violated"), ("fenced.pal", 0, "holds")] {
        let first = asked(file);
        assert_eq!(first.status.code(), Some(code), "{}", said(&first));
        assert!(!cached(&first), "{}", said(&first));
        let second = asked(file);
        assert_eq!(second.status.code(), Some(code));
        assert!(cached(&second), "{}", said(&second));
        assert!(said(&second).contains(&format!("\"verdict\":\"{verdict}\"")));
    }
    // Another question, and another program, are not answered from there.
    let other = palisade(
        at,
        &[
            "check",
            "--cache",
            "cache",
            "--criterion",
            "persistent",
            "--format",
            "json",
            "sb.pal",
        ],
    );
    assert!(!cached(&other), "{}", said(&other));
    std::fs::write(at.join("sb.pal"), format!("{SB}// changed\n")).unwrap();
    assert!(!cached(&asked("sb.pal")));

    // The directory is not believed: the proof of one program in the place of another's changes no answer.
    let certificates = kept(at, "certificate");
    assert_eq!(certificates.len(), 1);
    let holds = std::fs::read(&certificates[0]).unwrap();
    let entry = certificates[0].with_extension("json");
    let holds_entry = std::fs::read(&entry).unwrap();
    for json in kept(at, "json").into_iter().filter(|json| *json != entry) {
        std::fs::write(&json, &holds_entry).unwrap();
        std::fs::write(json.with_extension("certificate"), &holds).unwrap();
    }
    let forged = asked("sb.pal");
    assert_eq!(forged.status.code(), Some(1), "{}", said(&forged));
    assert!(!cached(&forged));
    // A certificate that was cut, or is no certificate, is none.
    for broken in [&holds[..holds.len() / 2], b"nothing".as_slice()] {
        std::fs::write(&certificates[0], broken).unwrap();
        let again = asked("fenced.pal");
        assert_eq!(again.status.code(), Some(0));
        assert!(!cached(&again), "{}", said(&again));
    }
    // And what was kept anew is used again.
    assert!(cached(&asked("fenced.pal")));

    // What was said beside an answer has no proof: it is not said as if it had one, nor to a terminal.
    let entry = certificates[0].with_extension("json");
    let forged = r#"{"notes":["\u001b[2Jit holds for any number of threads"],"witness":null}"#;
    std::fs::write(&entry, forged).unwrap();
    let output = said(&asked("fenced.pal"));
    assert!(output.contains("not checked:  [2Jit holds"), "{output}");
    // What is no file is no entry.
    for path in [&entry, &certificates[0]] {
        std::fs::remove_file(path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", path).unwrap();
        let again = asked("fenced.pal");
        assert_eq!(again.status.code(), Some(0), "{}", said(&again));
        assert!(!cached(&again), "{}", said(&again));
    }
}

#[test]
fn tests_use_the_cache_too() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    std::fs::write(
        at.join("a.pal"),
        format!("// expect tso robust: violated\n{SB}"),
    )
    .unwrap();
    for _ in 0..2 {
        let tested = palisade(at, &["test", "--cache", "cache", "a.pal"]);
        assert_eq!(tested.status.code(), Some(0), "{}", said(&tested));
    }
    assert_eq!(kept(at, "json").len(), 1);
    std::fs::write(at.join("file"), "").unwrap();
    let wrong = palisade(at, &["check", "--cache", "file", "a.pal"]);
    assert_eq!(wrong.status.code(), Some(2), "{}", said(&wrong));
}
