//! `palisade report` as people call it.

use std::path::Path;
use std::process::{Command, Output};

const SB: &str = "shared x, y;\nthread p { x = 1; let r = y; }\nthread q { y = 1; let r = x; }\n";

/// Far more states than a moment is enough for.
const LARGE: &str = "shared x[4];\nthread t[6] {\n  let i = 0;\n  loop {\n    x[i % 4] = x[(i + me) % 4] + me;\n    \
                     i = (i + 1) % 4;\n  }\n}\ndomain 64;\n";

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
    std::fs::write(directory.path().join("large.pal"), LARGE).unwrap();
    std::fs::write(directory.path().join("broken.pal"), "thread {").unwrap();
    directory
}

#[test]
fn one_page_about_several_files() {
    let directory = scratch();
    let done = palisade(
        directory.path(),
        &[
            "report",
            "sb.pal",
            "broken.pal",
            "missing.pal",
            "-o",
            "r.html",
        ],
    );
    // Two of them are no programs; the page is written all the same.
    assert_eq!(done.status.code(), Some(2));
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(
        said.contains("broken.pal") && said.contains("missing.pal"),
        "{said}"
    );
    let page = std::fs::read_to_string(directory.path().join("r.html")).unwrap();
    assert_eq!(page.matches("<article").count(), 3);
    assert_eq!(page.matches("Not analysed").count(), 2);
    assert!(page.ends_with("</html>\n") || page.ends_with("</html>"));
    // The fences as a diff, each with its reason.
    assert!(page.contains("2 fences make it robust against TSO"));
    assert!(page.contains("<span class=\"add\">"));
    assert!(
        page.contains("store x = 1 can still wait in its buffer when p loads y. This makes a cycle of the shape SB")
    );
}

#[test]
fn what_is_not_decided_is_shown_as_such() {
    let directory = scratch();
    let done = palisade(
        directory.path(),
        &["report", "large.pal", "-o", "r.html", "--timeout", "100ms"],
    );
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let page = std::fs::read_to_string(directory.path().join("r.html")).unwrap();
    assert!(page.contains("? undecided"), "everything was decided");
    assert!(page.contains("the time limit is reached"));
}

#[test]
fn standard_output_and_trouble() {
    let directory = scratch();
    let done = palisade(directory.path(), &["report", "sb.pal", "-o", "-"]);
    assert_eq!(done.status.code(), Some(0));
    assert!(done.stdout.starts_with(b"<!DOCTYPE html>"));
    let done = palisade(
        directory.path(),
        &["report", "sb.pal", "-o", "no/where.html"],
    );
    assert_eq!(done.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&done.stderr).contains("cannot be written"));
    // Without saying where: a call that is wrong.
    let done = palisade(directory.path(), &["report", "sb.pal"]);
    assert_eq!(done.status.code(), Some(2));
}

/// The same programs, the same page: but for time and memory.
#[test]
fn the_page_is_the_same_every_time() {
    let directory = scratch();
    let page = || {
        let done = palisade(directory.path(), &["report", "sb.pal", "-o", "-"]);
        let text = String::from_utf8(done.stdout).unwrap();
        let (before, after) = text.rsplit_once("What it took").unwrap();
        let (_, after) = after.split_once("</details>").unwrap();
        format!("{before}{after}")
    };
    assert_eq!(page(), page());
}
