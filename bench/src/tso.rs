//! Robustness against TSO beside Trencher: every file of the corpus that it was run on, and fenced mutual exclusion for four and for six threads.

use std::process::ExitCode;

use bench::output::Table;
use bench::tool::Palisade;

use crate::expected::expected;
use crate::measure::{Measured, check, house, limit, ratio};

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
    let limit = limit(arguments, 60);
    let mut table = Table::new(&[
        ("program", 46),
        ("verdict", 9),
        ("states", 10),
        ("seconds", 9),
        ("MiB", 8),
        ("Trencher", 9),
        ("ratio", 7),
        ("remarks", 0),
    ]);
    let mut fine = true;
    let mut slow = 0;
    let mut least: Option<f64> = None;
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
                if let Some(theirs) = expected.seconds("trencher_check_s") {
                    let ratio = theirs / measured.seconds;
                    slow += u32::from(ratio < 1.0);
                    if theirs > 0.5 {
                        least = Some(least.map_or(ratio, |least| least.min(ratio)));
                    }
                }
                fine &= row(expected.name.clone(), &measured, theirs, remark);
            }
            Err(why) => {
                println!("{}: {why}", expected.name);
                fine = false;
            }
        }
    }
    // Nothing is dismissed without a search.
    for name in FOUR {
        if let Ok(measured) = check(palisade, &house(name), &["--no-static-filter"], limit) {
            fine &= row((*name).to_owned(), &measured, "", String::new());
        }
    }
    for name in SIX {
        if let Ok(measured) = check(palisade, &house(name), &[], limit) {
            fine &= row((*name).to_owned(), &measured, "", String::new());
        }
    }
    if let Some(least) = least {
        table.note(format!(
            "least ratio where Trencher takes more than half a second: {least:.0}; rows where it takes less than we do: {slow}"
        ));
    }
    table.save("tso");
    ExitCode::from(u8::from(!fine))
}
