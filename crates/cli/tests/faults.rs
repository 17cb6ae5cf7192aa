//! What goes wrong around the command: memory, disks, files, signals. It must end with a clear word and the right exit status.

#![cfg(unix)]

use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const PALISADE: &str = env!("CARGO_BIN_EXE_palisade");

/// Has more states than anybody waits for.
const ENDLESS: &str =
    "shared x[4];\nthread t[4] { let n; loop { n = (n + 1) % 100; x[me] = n; } }\n";
const HOLDS: &str = "shared x;\nthread a { x = 1; }\nthread b { x = 2; }\n";
const SB: &str = "shared x, y;\nthread a { x = 1; let r = y; }\nthread b { y = 1; let s = x; }\n";

fn scratch(files: &[(&str, &[u8])]) -> tempfile::TempDir {
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

/// The exit status; a test fails where a signal ended the command, or where it fell over.
#[track_caller]
fn code(output: &Output) -> i32 {
    let stderr = text(&output.stderr);
    assert!(!stderr.contains("panicked"), "{stderr}");
    assert_eq!(output.status.signal(), None, "{stderr}");
    output.status.code().unwrap()
}

fn listed(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    names.sort();
    names
}

#[test]
fn out_of_memory_is_unknown() {
    let directory = scratch(&[("endless.pal", ENDLESS.as_bytes())]);
    for kib in [150_000, 300_000] {
        let line = format!(
            "ulimit -v {kib}; exec $P check --model sc --criterion safe --jobs 2 --timeout 120s endless.pal"
        );
        let output = sh(directory.path(), &line);
        assert_eq!(code(&output), 3, "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("memory limit"));
    }
}

#[test]
fn a_full_disk_leaves_files_as_they_were() {
    if !Path::new("/dev/full").exists() {
        println!("there is no /dev/full here");
        return;
    }
    let directory = scratch(&[("holds.pal", HOLDS.as_bytes()), ("sb.pal", SB.as_bytes())]);
    for line in [
        "$P check --certificate /dev/full --criterion robust holds.pal",
        "$P check holds.pal > /dev/full",
        "$P check --format json holds.pal > /dev/full",
        "$P export --to pal holds.pal > /dev/full",
    ] {
        let output = sh(directory.path(), line);
        assert_eq!(code(&output), 2, "{line}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains("written"), "{line}");
    }
    // No more than so many blocks may be written to a file, as on a disk that is full.
    std::fs::write(directory.path().join("cert"), "old").unwrap();
    let large = format!("// {}\n{SB}", "long ".repeat(20_000));
    std::fs::write(directory.path().join("large.pal"), &large).unwrap();
    let before = listed(directory.path());
    let limited = "trap '' XFSZ; ulimit -f 1;";
    let line = format!("{limited} exec $P fence --write large.pal > /dev/null");
    let output = sh(directory.path(), &line);
    assert_eq!(code(&output), 2, "{}", text(&output.stderr));
    let now = std::fs::read_to_string(directory.path().join("large.pal")).unwrap();
    assert_eq!(now, large);
    let many = "shared x, y;\nthread t[4] { x = 1; x = 2; x = 3; x = 4; x = 5; x = 6; }\n";
    std::fs::write(directory.path().join("holds.pal"), many).unwrap();
    let line = format!(
        "{limited} exec $P check --certificate cert --model sc --criterion safe holds.pal > /dev/null"
    );
    let output = sh(directory.path(), &line);
    assert_eq!(code(&output), 2, "{}", text(&output.stderr));
    let now = std::fs::read_to_string(directory.path().join("cert")).unwrap();
    assert_eq!(now, "old");
    assert_eq!(listed(directory.path()), before);
}

#[test]
fn files_that_cannot_be_read() {
    let directory = scratch(&[
        ("binary.pal", &[0x7f, b'E', b'L', b'F', 0, 0xff, 0xfe, 0x80]),
        ("zeros.pal", &[0; 1000]),
        ("empty.pal", b""),
        ("holds.pal", HOLDS.as_bytes()),
    ]);
    std::fs::create_dir(directory.path().join("folder.pal")).unwrap();
    for file in [
        "binary.pal",
        "zeros.pal",
        "missing.pal",
        "folder.pal",
        "a\nb",
    ] {
        let output = sh(directory.path(), &format!("$P check '{file}'"));
        assert_eq!(code(&output), 2, "{file}");
        assert!(!output.stderr.is_empty(), "{file}");
    }
    let output = sh(directory.path(), "$P check empty.pal");
    assert!(matches!(code(&output), 0 | 2));
    for certificate in ["binary.pal", "zeros.pal", "empty.pal", "missing", "."] {
        let output = sh(
            directory.path(),
            &format!("$P validate holds.pal {certificate}"),
        );
        assert_eq!(code(&output), 2, "{certificate}");
    }
}

#[test]
fn endless_input_has_an_end() {
    let directory = scratch(&[]);
    for line in [
        "$P check /dev/zero",
        "yes | $P check -",
        "mkfifo pipe.pal; (yes > pipe.pal 2> /dev/null) & $P check pipe.pal; e=$?; wait; exit $e",
    ] {
        let output = sh(directory.path(), line);
        assert_eq!(code(&output), 2, "{line}");
        let stderr = text(&output.stderr);
        assert!(stderr.contains("too large"), "{line}: {stderr}");
    }
}

#[test]
fn a_thousand_files_in_one_call() {
    let directory = scratch(&[]);
    for number in 0..1000 {
        let name = directory.path().join(format!("p{number:04}.pal"));
        std::fs::write(name, HOLDS).unwrap();
    }
    let output = sh(directory.path(), "$P check --jobs 1 --format json *.pal");
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    let stdout = text(&output.stdout);
    assert_eq!(stdout.lines().count(), 1000);
    for (number, line) in stdout.lines().enumerate() {
        assert!(line.contains(&format!("\"p{number:04}.pal\"")), "{line}");
        assert!(line.contains("\"holds\""), "{line}");
    }
}

#[test]
fn signals_end_a_search_cleanly() {
    let directory = scratch(&[("endless.pal", ENDLESS.as_bytes())]);
    for signal in ["INT", "TERM"] {
        let child = Command::new(PALISADE)
            .args([
                "check",
                "--model",
                "sc",
                "--criterion",
                "safe",
                "--timeout",
                "300s",
            ])
            .args(["--memory", "1GiB", "--format", "json", "endless.pal"])
            .current_dir(directory.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(1500));
        let sent = Command::new("kill")
            .args([&format!("-{signal}"), &child.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(code(&output), 3, "{signal}: {}", text(&output.stderr));
        assert!(text(&output.stdout).contains("\"unknown\""));
    }
}

#[test]
fn nobody_reads_the_rest() {
    let directory = scratch(&[("sb.pal", SB.as_bytes())]);
    let mut child = Command::new(PALISADE)
        .args(["check", "--format", "json"])
        .args(vec!["sb.pal"; 200])
        .current_dir(directory.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut first = [0; 10];
    stdout.read_exact(&mut first).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 3);
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn certificates_on_the_command_line() {
    let directory = scratch(&[("holds.pal", HOLDS.as_bytes()), ("sb.pal", SB.as_bytes())]);
    let run = |line: &str| sh(directory.path(), line);
    for (model, criterion) in [
        ("sc", "safe"),
        ("tso", "trf"),
        ("tso", "robust"),
        ("tso", "persistent"),
    ] {
        let question = format!("--model {model} --criterion {criterion}");
        let line = format!("$P check {question} --certificate c.{criterion} holds.pal");
        let output = run(&line);
        assert_eq!(code(&output), 0, "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("states; `palisade validate`"));
        let output = run(&format!("$P validate holds.pal c.{criterion}"));
        assert_eq!(code(&output), 0, "{}", text(&output.stdout));
        let output = run(&format!(
            "cat c.{criterion} | $P validate --format json holds.pal -"
        ));
        assert_eq!(code(&output), 0);
        assert!(text(&output.stdout).contains("\"valid\""));
        let output = run(&format!("$P validate sb.pal c.{criterion}"));
        assert_eq!(code(&output), 1);
        assert!(text(&output.stdout).contains("another program"));
        let output = run(&format!(
            "head -c 150 c.{criterion} > cut; $P validate holds.pal cut"
        ));
        assert_eq!(code(&output), 2);
    }
    let output = run("$P check --certificate none sb.pal");
    assert_eq!(code(&output), 1);
    assert!(!directory.path().join("none").exists());
    for line in [
        "$P check --certificate c --model ra holds.pal",
        "$P check --certificate c --model tso --criterion safe holds.pal",
        "$P check --certificate c --criterion all holds.pal",
        "$P check --certificate c holds.pal sb.pal",
        "$P check --certificate no/where holds.pal",
    ] {
        let output = run(line);
        assert_eq!(code(&output), 2, "{line}");
        assert!(text(&output.stderr).contains("error: "), "{line}");
    }
    let mut file = std::fs::File::create(directory.path().join("both")).unwrap();
    file.write_all(b"palisade certificate 2\n").unwrap();
    assert_eq!(code(&run("$P validate holds.pal both")), 2);
}
