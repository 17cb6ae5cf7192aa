//! Robustness against TSO beside Trencher: Table 2 of paper 000, Fig. 6 of paper 002, every file of the corpus that it was run on, and
//! fenced mutual exclusion for four and for six threads.

use std::process::ExitCode;
use std::time::Duration;

use bench::output::Table;
use bench::tool::{Palisade, corpus};

use crate::expected::expected;
use crate::measure::{Measured, check, house, ratio};

/// The rows of the papers: where, what they call them, the seconds of their time there, the file of the corpus or (without an ending) our own.
const PAPERS: &[(&str, &str, f64, &str)] = &[
    ("000", "Peterson (non-robust)", 2.9, "trencher/peterson.txt"),
    (
        "000",
        "Peterson (robust)",
        0.0,
        "trencher/peterson-correct.txt",
    ),
    ("000", "Dekker (non-robust)", 14.2, "trencher/dekker.txt"),
    ("000", "Dekker (robust)", 0.0, "trencher/dekker-correct.txt"),
    (
        "000",
        "Lamport (non-robust)",
        5.9,
        "trencher/lamport-fast-mutex-alg1.txt",
    ),
    (
        "000",
        "Lamport (robust)",
        0.0,
        "trencher/lamport-fast-mutex-alg1-correct.txt",
    ),
    ("000", "CLH Lock (robust)", 1.6, "trencher/clh-lock.txt"),
    ("000", "MCS Lock (robust)", 0.9, "trencher/mcs-lock.txt"),
    (
        "000",
        "Lock-Free Stack (robust)",
        0.0,
        "trencher/lock-free-stack.txt",
    ),
    (
        "000",
        "Cilk's THE WSQ (non-robust)",
        7.4,
        "trencher/cilk-the-wsq-wrongdoing.txt",
    ),
    ("000", "NBW2 (non-robust)", 0.8, "trencher/nbw-w-wr.txt"),
    ("000", "NBW3 (robust)", 0.0, "trencher/nbw-w-wr-correct.txt"),
    ("000", "NBW4 (robust)", 0.4, "trencher/nbw-w-r.txt"),
    ("000", "NBWL (robust)", 0.7, "trencher/nbw-w-lr-rl.txt"),
    ("000", "Parker (non-robust)", 0.3, "trencher/parker.txt"),
    ("000", "Parker (robust)", 0.0, "trencher/parker-correct.txt"),
    ("002", "Parker (non-rob)", 0.005, "sync/parker"),
    ("002", "Peterson (non-rob)", 0.013, "mutex/peterson-sc"),
    ("002", "Dekker (non-rob)", 0.070, "mutex/dekker-sc"),
    ("002", "Lamport (non-rob)", 0.694, "mutex/lamport1-3"),
    ("002", "MCS Lock", 0.061, "locks/mcs-lock3"),
    ("002", "CLH Lock", 0.007, "locks/clh-lock"),
    ("002", "Lock-Free Stack", 0.007, "queues/lock-free-stack"),
];

/// Fenced, robust mutual exclusion.
const FOUR: &[&str] = &[
    "large/lamport1-4-fenced",
    "large/lamport2-4-fenced",
    "large/dekker-4-fenced",
    "mutex/szymanski-4-fenced",
    "large/bakery-4-fenced",
    "mutex/burns-4-fenced",
    "mutex/dijkstra-4-fenced",
];
const SIX: &[&str] = &[
    "large/lamport1-6-fenced",
    "large/lamport2-6-fenced",
    "large/dekker-6-fenced",
    "large/szymanski-6-fenced",
    "large/bakery-6-fenced",
    "large/burns-6-fenced",
    "large/dijkstra-6-fenced",
];

/// Prints the table. An argument sets the limit in seconds for each row.
pub fn table(palisade: &Palisade, arguments: &[String]) -> ExitCode {
    let limit = arguments.first().and_then(|a| a.parse().ok()).unwrap_or(60);
    let limit = Duration::from_secs(limit);
    let mut table = Table::new(&[
        ("program", 46),
        ("verdict", 9),
        ("states", 10),
        ("seconds", 9),
        ("MiB", 8),
        ("Trencher", 9),
        ("ratio", 7),
        ("", 0),
    ]);
    let mut fine = true;
    let mut row = |name: String, measured: &Measured, theirs: &str, remark: String| {
        table.row(&[
            name,
            measured.verdict.clone(),
            measured.states.to_string(),
            measured.time(),
            measured.mebibytes(),
            theirs.to_owned(),
            ratio(theirs.parse().ok(), measured),
            remark,
        ]);
        measured.is_decided()
    };
    println!("the papers (Trencher's seconds: from there)");
    for (paper, name, theirs, file) in PAPERS {
        let file = match file.ends_with(".txt") {
            true => match corpus() {
                Some(corpus) => corpus.join(file),
                None => continue,
            },
            false => house(file),
        };
        match check(palisade, &file, &[], limit) {
            Ok(measured) => {
                let expected = if name.contains("non") {
                    "violated"
                } else {
                    "holds"
                };
                let remark = match measured.verdict == expected {
                    true => String::new(),
                    false => format!("the paper says {expected}"),
                };
                fine &= row(
                    format!("{paper} {name}"),
                    &measured,
                    &theirs.to_string(),
                    remark,
                );
            }
            Err(why) => println!("{name}: {why}"),
        }
    }
    println!("the corpus (Trencher's seconds: on a machine like this)");
    for expected in expected() {
        let theirs = expected.get("trencher_check_s");
        // Where Trencher found no end, the program counts for ever: with bytes it is finite.
        let arguments: &[&str] = match expected.seconds("trencher_check_s") {
            None => &["--domain", "256"],
            Some(_) => &[],
        };
        match check(palisade, &expected.file, arguments, limit) {
            Ok(measured) => {
                let agrees = match expected.get("tso_robust") {
                    "robust" => measured.verdict == "holds",
                    "not-robust" => measured.verdict == "violated",
                    _ => true,
                };
                let remark = match expected.seconds("trencher_check_s") {
                    _ if !agrees => format!("Trencher says {}", expected.get("tso_robust")),
                    Some(theirs) if theirs > 0.5 && theirs < 20.0 * measured.seconds => {
                        "less than 20 times faster".to_owned()
                    }
                    Some(theirs) if theirs <= 0.5 && theirs < measured.seconds => {
                        "slower".to_owned()
                    }
                    _ => String::new(),
                };
                fine &= row(expected.name.clone(), &measured, theirs, remark);
            }
            Err(why) => println!("{}: {why}", expected.name),
        }
    }
    println!("fenced, four threads, nothing dismissed without a search");
    for name in FOUR {
        if let Ok(measured) = check(palisade, &house(name), &["--no-static-filter"], limit) {
            fine &= row((*name).to_owned(), &measured, "", String::new());
        }
    }
    println!("fenced, six threads");
    for name in SIX {
        if let Ok(measured) = check(palisade, &house(name), &[], limit) {
            fine &= row((*name).to_owned(), &measured, "", String::new());
        }
    }
    table.save("tso");
    ExitCode::from(u8::from(!fine))
}
