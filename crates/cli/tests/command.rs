//! The built command, as scripts call it: exit codes, JSON lines, standard input, errors.

use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

struct Done {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Done {
    fn lines(&self) -> Vec<Value> {
        self.stdout
            .lines()
            .map(|line| serde_json::from_str(line).expect("one object per line"))
            .collect()
    }
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        Done {
            code: output.status.code().expect("no signal"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.args(arguments).env_remove("NO_COLOR");
    command
}

fn palisade(arguments: &[&str]) -> Done {
    command(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
        .into()
}

fn palisade_with_stdin(arguments: &[&str], input: &[u8]) -> Done {
    let mut child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap().into()
}

struct Directory(tempfile::TempDir);

impl Directory {
    fn new() -> Self {
        Directory(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> String {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, contents).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }

    fn name(&self) -> String {
        self.path().to_str().unwrap().to_owned()
    }
}

#[test]
fn a_wrong_call_exits_with_2() {
    for arguments in [
        &["check"][..],
        &["chekc", "x.pal"],
        &["check", "--model", "arm", "x.pal"],
        &["check", "--timeout", "soon", "x.pal"],
        &["check", "--memory", "much", "x.pal"],
        &["check", "--jobs", "0", "x.pal"],
        &["reach", "--model", "ra", "x.pal"],
        &["export", "x.pal"],
        &["fence", "--criterion", "all", "x.pal"],
    ] {
        let done = palisade(arguments);
        assert_eq!(done.code, 2, "{arguments:?}");
        assert_eq!(done.stdout, "", "{arguments:?}");
        assert!(done.stderr.contains("error:"), "{arguments:?}");
    }
}

#[test]
fn pairs_without_a_meaning_are_named() {
    for (model, criterion) in [
        ("sc", "robust"),
        ("sc", "persistent"),
        ("sc", "trf"),
        ("ra", "persistent"),
        ("ra", "trf"),
        ("ra", "drf"),
    ] {
        for command in ["check", "fence"] {
            let arguments = [command, "--model", model, "--criterion", criterion, "x.pal"];
            let done = palisade(&arguments);
            assert_eq!(done.code, 2, "{arguments:?}");
            assert!(done.stderr.contains("--model tso"), "{}", done.stderr);
            assert!(done.stderr.contains("persistent"), "{}", done.stderr);
        }
    }
}

#[test]
fn help_and_version_go_to_standard_output() {
    for arguments in [&["--help"][..], &["check", "--help"], &["--version"]] {
        let done = palisade(arguments);
        assert_eq!(done.code, 0);
        assert!(!done.stdout.is_empty());
    }
}

#[test]
fn a_file_that_is_not_there_still_gets_its_line() {
    let done = palisade(&["check", "--format", "json", "no-such.pal", "nor-this.pal"]);
    assert_eq!(done.code, 2);
    let lines = done.lines();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["file"], "no-such.pal");
    assert_eq!(lines[1]["file"], "nor-this.pal");
    for line in &lines {
        assert_eq!(line["verdict"], "error");
        assert_eq!(line["model"], "tso");
        assert_eq!(line["criterion"], "robust");
        assert!(line["reason"].as_str().unwrap().contains("cannot be read"));
    }
    let done = palisade(&["check", "no-such.pal"]);
    assert_eq!((done.code, done.stdout.as_str()), (2, ""));
    assert!(done.stderr.contains("no-such.pal: cannot be read"));
}

#[test]
fn a_file_that_is_no_text_is_named_as_such() {
    let directory = Directory::new();
    let file = directory.file("binary.pal", b"shared x;\n\xff\xfe\x00");
    let done = palisade(&["check", "--format=json", &file]);
    assert_eq!(done.code, 2);
    let reason = done.lines()[0]["reason"].as_str().unwrap().to_owned();
    assert_eq!(reason, "is not a text: line 2 is not valid UTF-8");
}

#[test]
fn a_program_with_errors_gets_a_line_and_all_diagnostics() {
    let directory = Directory::new();
    let file = directory.file("wrong.pal", "shared x\nthread p { x = ; }\n");
    let done = palisade(&["check", "--format=json", &file]);
    assert_eq!(done.code, 2);
    let line = &done.lines()[0];
    assert_eq!(line["verdict"], "error");
    assert!(
        line["diagnostics"]
            .as_array()
            .is_some_and(|d| !d.is_empty())
    );
    let done = palisade(&["check", &file]);
    assert_eq!((done.code, done.stdout.as_str()), (2, ""));
    assert!(done.stderr.contains("wrong.pal:"), "{}", done.stderr);
    assert!(!done.stderr.contains('\u{1b}'), "no colours in a pipe");
}

#[test]
fn a_directory_without_programs_is_an_error() {
    let directory = Directory::new();
    directory.file("notes.txt", "nothing to see here\n");
    directory.file(".hidden/lock.pal", "");
    let done = palisade(&["check", &directory.name()]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("no program in this directory"));
}

#[test]
fn a_directory_is_walked_in_the_order_of_names() {
    let directory = Directory::new();
    directory.file("b.pal", "");
    directory.file("a/z.tpl", "");
    directory.file("c.txt", "thread t initial q transition q q noop end");
    directory.file("readme.txt", "these are programs");
    directory.file("readme.md", "these are programs");
    let done = palisade(&["check", "--format=json", &directory.name()]);
    let names: Vec<String> = done
        .lines()
        .iter()
        .map(|line| {
            let path = Path::new(line["file"].as_str().unwrap()).to_owned();
            let name = path.strip_prefix(directory.path()).unwrap();
            name.to_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(names, ["a/z.tpl", "b.pal", "c.txt"]);
}

#[test]
fn standard_input_is_called_a_dash() {
    let done = palisade_with_stdin(&["check", "--format=json", "-"], b"\xff");
    assert_eq!(done.code, 2);
    assert_eq!(done.lines()[0]["file"], "-");
}

#[test]
fn a_closed_pipe_is_no_reason_to_complain() {
    let directory = Directory::new();
    let file = directory.file("wrong.pal", "?");
    let mut arguments = vec!["check", "--format=json"];
    arguments.extend(std::iter::repeat_n(file.as_str(), 5000));
    let mut child = command(&arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let done = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&done.stderr), "");
    assert_eq!(done.status.code(), Some(2));
}

#[test]
fn completions_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let done = palisade(&["completions", shell]);
        assert_eq!(done.code, 0);
        assert!(done.stdout.contains("criterion"), "{shell}");
    }
}

#[test]
fn manual_pages_for_every_command() {
    let directory = Directory::new();
    let pages = directory.path().join("man");
    let done = palisade(&["man", pages.to_str().unwrap()]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    for page in ["palisade.1", "palisade-check.1", "palisade-validate.1"] {
        assert!(pages.join(page).is_file(), "{page}");
    }
    let file = directory.file("file", "");
    let done = palisade(&["man", &file]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("cannot be written"));
}
