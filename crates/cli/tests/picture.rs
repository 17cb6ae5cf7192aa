//! `--picture` as people call it: every format, and everything that can be wrong.

use std::path::Path;
use std::process::{Command, Output};

const SB: &str = "shared x, y;\nthread p { x = 1; let r = y; }\nthread q { y = 1; let r = x; }\n";

fn palisade(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_palisade"))
        .args(arguments)
        .current_dir(directory)
        .output()
        .unwrap()
}

fn scratch() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("sb.pal"), SB).unwrap();
    directory
}

fn is_installed(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output();
    found.is_ok_and(|output| output.status.success())
}

#[test]
fn every_format() {
    let directory = scratch();
    for (name, begins) in [
        ("a.svg", "<svg xmlns="),
        ("a.html", "<!DOCTYPE html>"),
        ("a.dot", "digraph run {"),
    ] {
        let done = palisade(directory.path(), &["check", "sb.pal", "--picture", name]);
        assert_eq!(done.status.code(), Some(1), "{name}");
        let text = std::fs::read_to_string(directory.path().join(name)).unwrap();
        assert!(text.starts_with(begins), "{name}");
        assert!(text.contains("x = 1;"), "{name}");
    }
}

#[test]
fn a_png_or_a_word_about_what_is_missing() {
    let directory = scratch();
    let done = palisade(directory.path(), &["check", "sb.pal", "--picture", "a.png"]);
    let written = std::fs::read(directory.path().join("a.png"));
    if ["rsvg-convert", "resvg", "inkscape"]
        .into_iter()
        .any(is_installed)
    {
        assert_eq!(done.status.code(), Some(1));
        assert!(written.unwrap().starts_with(b"\x89PNG"));
    } else {
        palisade_testkit::skipped("renderer for PNG");
        assert_eq!(done.status.code(), Some(2));
        assert!(written.is_err());
        assert!(String::from_utf8_lossy(&done.stderr).contains("rsvg-convert"));
    }
}

#[test]
fn graphviz_takes_the_dot() {
    if Command::new("dot").arg("-V").output().is_err() {
        palisade_testkit::skipped("Graphviz");
        return;
    }
    let directory = scratch();
    palisade(directory.path(), &["check", "sb.pal", "--picture", "a.dot"]);
    let done = Command::new("dot")
        .args(["-Tsvg", "a.dot"])
        .current_dir(directory.path())
        .output()
        .unwrap();
    assert!(done.status.success() && done.stderr.is_empty(), "{done:?}");
}

#[test]
fn nothing_is_written_where_nothing_is_violated() {
    let directory = scratch();
    let arguments = [
        "check",
        "sb.pal",
        "--criterion",
        "safe",
        "--picture",
        "a.svg",
    ];
    let done = palisade(directory.path(), &arguments);
    assert_eq!(done.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&done.stderr).contains("no run to draw"));
    assert!(!directory.path().join("a.svg").exists());
}

#[test]
fn calls_that_have_no_meaning() {
    let directory = scratch();
    for (arguments, says) in [
        (vec!["sb.pal", "sb.pal", "--picture", "a.svg"], "one FILE"),
        (
            vec!["sb.pal", "--criterion", "all", "--picture", "a.svg"],
            "one criterion",
        ),
        (vec!["sb.pal", "--picture", "a.jpg"], ".svg"),
        (
            vec!["sb.pal", "--picture", "no/where/a.svg"],
            "cannot be written",
        ),
    ] {
        let mut call = vec!["check"];
        call.extend(arguments);
        let done = palisade(directory.path(), &call);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(2), "{call:?}");
        assert!(said.contains(says), "{call:?}: {said}");
    }
}

/// What a file is called must not become part of the document.
#[test]
fn names_are_not_markup() {
    let directory = scratch();
    let name = "<script>alert(1)</script>&.pal";
    // A slash ends a directory's name.
    let name = &name.replace('/', "%");
    std::fs::write(directory.path().join(name), SB).unwrap();
    for picture in ["a.svg", "a.html"] {
        palisade(directory.path(), &["check", name, "--picture", picture]);
        let text = std::fs::read_to_string(directory.path().join(picture)).unwrap();
        assert!(!text.contains("<script") && text.contains("&lt;script&gt;"));
    }
}

#[test]
fn control_flow_graphs() {
    let directory = scratch();
    let done = palisade(directory.path(), &["export", "sb.pal", "--to", "svg"]);
    assert_eq!(done.status.code(), Some(0));
    let text = String::from_utf8(done.stdout).unwrap();
    assert!(text.starts_with("<svg") && text.contains(">x = 1</text>"));
}
