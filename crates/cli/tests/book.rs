//! The book tells the truth: every command in it is run, and prints what the book says.
//!
//! In a page, a block marked `pal`, `tpl` or `automaton` whose first line is a comment with a file's name (`// lock.pal`) is that
//! file; a block marked `console` holds commands after `$ ` and what they print. Figures that differ from run to run, or from
//! version to version (time, memory, how many states were walked), are not compared. A picture (`![…](….svg)`) is one that a command of its
//! page draws under that name.
//!
//! After a change that is meant: `UPDATE_BOOK=1 cargo test -p palisade-cli --test book`, and read the diff.

#![cfg(unix)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    let mut directories = vec![root().join("docs/src")];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

#[test]
fn every_command_prints_what_the_book_says() {
    let update = std::env::var_os("UPDATE_BOOK").is_some();
    let mut wrong = String::new();
    let mut commands = 0;
    let (mut shown, mut compared) = (Vec::new(), Vec::new());
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let (new, count) = rerun(&text, directory.path());
        commands += count;
        // What is below `benchmarks` was measured, by another command.
        let drawn_here = |t: &&str| t.ends_with(".svg") && !t.contains("benchmarks/");
        for target in links(&text).into_iter().filter(drawn_here) {
            let kept = page.parent().unwrap().join(target);
            let drawn = directory.path().join(kept.file_name().unwrap());
            let kept_at = kept.canonicalize().unwrap_or_else(|_| kept.clone());
            let Ok(drawn) = std::fs::read_to_string(&drawn) else {
                // Another page draws it.
                shown.push((page.clone(), kept_at));
                continue;
            };
            compared.push(kept_at);
            if std::fs::read_to_string(&kept).is_ok_and(|kept| kept == drawn) {
                continue;
            }
            match update {
                true => std::fs::write(&kept, drawn).unwrap(),
                false => writeln!(wrong, "{} looks different now", kept.display()).unwrap(),
            }
        }
        if comparable(&new) == comparable(&text) {
            continue;
        }
        if update {
            std::fs::write(&page, new).unwrap();
        } else {
            let name = page.strip_prefix(root()).unwrap_or(&page).display();
            for (old, new) in comparable(&text).iter().zip(comparable(&new)) {
                if *old != new {
                    writeln!(wrong, "{name}\n  says   {old}\n  is now {new}").unwrap();
                    break;
                }
            }
        }
    }
    for (page, picture) in shown {
        let (page, name) = (page.display(), picture.display());
        assert!(compared.contains(&picture), "{page}: nothing draws {name}");
    }
    assert!(wrong.is_empty(), "UPDATE_BOOK=1 mends this:\n{wrong}");
    assert!(commands > 0, "the book has no commands");
}

/// Every page is in the summary, and every link between pages leads somewhere.
#[test]
fn no_page_is_lost_and_no_link_is_dead() {
    let summary = std::fs::read_to_string(root().join("docs/src/SUMMARY.md")).unwrap();
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        if let Ok(inside) = page.strip_prefix(root().join("docs/src"))
            && !inside.ends_with("SUMMARY.md")
        {
            let link = format!("({})", inside.display());
            assert!(summary.contains(&link), "{link} is not in SUMMARY.md");
        }
        for target in links(&text) {
            let path = target.split('#').next().unwrap_or_default();
            if path.is_empty() || path.contains("://") {
                continue;
            }
            let file = page.parent().unwrap().join(path);
            assert!(file.exists(), "{}: no {target}", page.display());
        }
    }
}

/// The targets of `[text](target)` outside code.
fn links(text: &str) -> Vec<&str> {
    let mut result = Vec::new();
    let mut in_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        for part in line.split("](").skip(1) {
            if let Some((target, _)) = part.split_once(')') {
                result.push(target);
            }
        }
    }
    result
}

/// The page with every command run again in a directory, and how many there were.
fn rerun(text: &str, directory: &Path) -> (String, usize) {
    let mut out = String::new();
    let mut count = 0;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        let Some(kind) = line.strip_prefix("```").filter(|kind| !kind.is_empty()) else {
            continue;
        };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if kind == "console" {
            for line in &block {
                if let Some(command) = line.strip_prefix("$ ") {
                    count += 1;
                    writeln!(out, "{line}").unwrap();
                    out.push_str(&run(command, directory));
                }
            }
        } else {
            if let Some(name) = block.first().and_then(|line| file_name(line)) {
                let text = block.join("\n") + "\n";
                std::fs::write(directory.join(name), text).unwrap();
            }
            for line in &block {
                writeln!(out, "{line}").unwrap();
            }
        }
        out.push_str("```\n");
    }
    (out, count)
}

/// `// lock.pal` and `# lock.txt` name a file.
fn file_name(comment: &str) -> Option<&str> {
    let name = comment
        .strip_prefix("// ")
        .or_else(|| comment.strip_prefix("# "))?;
    let plain = name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "-_.+".contains(c));
    (plain && name.contains('.')).then_some(name)
}

fn run(command: &str, directory: &Path) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_palisade"));
    let mut path = binary.parent().unwrap().as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let done = Command::new("sh")
        .arg("-c")
        .arg(format!("{{ {command}\n}} 2>&1"))
        .current_dir(directory)
        .env("PATH", path)
        .output()
        .unwrap();
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// The lines, without the figures that may differ.
fn comparable(text: &str) -> Vec<String> {
    text.lines()
        .map(|line| {
            let figures = line.trim_start();
            let is_stats = line.starts_with("  ")
                && (figures.contains(" state") && figures.contains(" step")
                    || figures.starts_with("no search needed")
                    // The rest of a long line.
                    || figures.ends_with("iB"))
                && figures.contains(" s");
            match line.split_once("\"stats\":{") {
                _ if is_stats => "  (statistics)".to_owned(),
                Some((before, _)) => before.to_owned(),
                None => line.to_owned(),
            }
        })
        .collect()
}
