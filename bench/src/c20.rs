//! C++20: robustness and observational robustness of the suite of Margalit and Lahav (2021), where it is there, and of our own programs with memory orders.

use std::path::PathBuf;
use std::process::ExitCode;

use bench::output::Table;
use bench::tool::{Palisade, corpus, workspace};

use crate::measure::{check, limit};

/// Seconds of the paper's machine for observational robustness, without compiling; the other programs took less than one.
const PAPER: &[(&str, f64)] = &[
    ("submission/obs/arc.tpl", 64.0),
    ("submission/obs/chase-lev.tpl", 56.0),
    ("submission/obs/seqlock_fence.tpl", 69.5),
];

/// Where the verdict is another one than the suite's, for a reason that the book gives.
const OTHERWISE: &[&str] = &[
    "litmus/obs/sb_conditional.tpl",
    "litmus/obs/speculative_compute.tpl",
    "litmus/rlx/wait2.tpl",
];

/// A program, a criterion, and whether it holds.
type Row = (String, PathBuf, &'static str, bool);

fn suite() -> Vec<Row> {
    let Some(corpus) = corpus() else {
        println!("the corpus with the suite of 2021 is not there");
        return Vec::new();
    };
    let table = std::fs::read_to_string(corpus.join("rocker20.tsv")).unwrap_or_default();
    let mut rows = Vec::new();
    for line in table.lines().skip(1) {
        let mut columns = line.split('\t');
        let name = columns.next().unwrap_or_default();
        for criterion in ["robust", "observational"] {
            let expected = columns.next().unwrap_or("-");
            if expected != "-" {
                let file = corpus.join("rocker20").join(name);
                rows.push((name.to_owned(), file, criterion, expected == "robust"));
            }
        }
    }
    rows
}

/// What the headers of programs/c20 state.
fn our_own() -> Vec<Row> {
    let directory = workspace().join("programs/c20");
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    let mut rows = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        for criterion in ["robust", "observational", "drf", "safe"] {
            let question = format!("// expect c20 {criterion}: ");
            let stated = text.lines().find_map(|line| line.strip_prefix(&question));
            if let Some(stated) = stated {
                let holds = stated.trim() == "holds";
                rows.push((format!("c20/{name}"), file.clone(), criterion, holds));
            }
        }
    }
    rows
}

/// Prints the table. A number sets the limit in seconds for each row.
pub fn table(palisade: &Palisade, arguments: &[String]) -> ExitCode {
    let mut table = Table::new(&[
        ("program", 44),
        ("criterion", 14),
        ("verdict", 9),
        ("states", 10),
        ("seconds", 9),
        ("MiB", 8),
        ("paper's s", 10),
        ("remarks", 0),
    ]);
    let mut fine = true;
    for (name, file, criterion, holds) in suite().into_iter().chain(our_own()) {
        let question = ["--model", "c20", "--criterion", criterion];
        let measured = match check(palisade, &file, &question, limit(arguments, 60)) {
            Ok(measured) => measured,
            Err(why) => {
                println!("{name}: {why}");
                fine = false;
                continue;
            }
        };
        let expected = if holds { "holds" } else { "violated" };
        let remark = match () {
            () if measured.verdict == expected => "",
            () if !measured.is_decided() => "not decided",
            () if OTHERWISE.contains(&name.as_str()) => "otherwise than the suite",
            () => "wrong",
        };
        fine &= measured.verdict == expected || remark == "otherwise than the suite";
        let paper = PAPER.iter().find(|(file, _)| *file == name);
        table.row(&[
            name,
            criterion.to_owned(),
            measured.verdict.clone(),
            measured.states.to_string(),
            measured.time(),
            measured.mebibytes(),
            paper.map_or_else(String::new, |(_, seconds)| format!("{seconds}")),
            remark.to_owned(),
        ]);
    }
    table.note("paper's s: observational robustness on the paper's machine, compilation apart");
    table.save("c20");
    ExitCode::from(u8::from(!fine))
}
