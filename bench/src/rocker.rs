//! Fig. 7 of *Robustness against Release/Acquire Semantics* (Lahav and Margalit 2019).
//!
//! Rocker instruments a program for SPIN. We print no instrumented program for release/acquire, so SPIN is run here on what the figure
//! compares itself with: the program alone, under SC, and the program instrumented for robustness against TSO.

use std::process::ExitCode;

use bench::output::{Series, Table, scatter};
use bench::tool::{Palisade, times};
use bench::verifier::{self, Spin};

use crate::measure::{Measured, check, house, limit};

/// The rows: our file, whether it is robust against release/acquire, and the seconds of the paper: Rocker (building its verifier included), SPIN
/// without instrumentation, Trencher for TSO (none where it cannot say: the program has instructions that block).
#[rustfmt::skip]
const FIGURE_7: &[(&str, bool, f64, f64, Option<f64>)] = &[
    ("sync/barrier", true, 1.6, 1.1, None),
    ("mutex/dekker-sc", false, 4.2, 1.3, Some(5.9)),
    ("mutex/dekker-tso", true, 5.2, 1.3, Some(5.9)),
    ("mutex/peterson-sc", false, 2.5, 1.2, Some(5.6)),
    ("mutex/peterson-tso", false, 3.3, 1.3, Some(5.6)),
    ("mutex/peterson-ra", true, 5.8, 1.2, Some(5.8)),
    ("mutex/peterson-ra-dmitriy", true, 4.3, 1.2, Some(5.5)),
    ("mutex/peterson-ra-bratosz", false, 3.4, 1.1, Some(5.6)),
    ("mutex/lamport2-sc", false, 9.1, 1.3, Some(8.0)),
    ("mutex/lamport2-tso", false, 13.7, 1.3, Some(8.2)),
    ("mutex/lamport2-ra", true, 18.9, 1.4, Some(7.8)),
    ("mutex/lamport2-3-ra", true, 215.6, 6.1, None),
    ("locks/spinlock", true, 1.6, 1.2, Some(5.4)),
    ("locks/spinlock4", true, 6.4, 1.6, Some(6.8)),
    ("locks/ticketlock", true, 2.6, 1.1, Some(5.8)),
    ("locks/ticketlock4", true, 22.6, 7.5, Some(23.4)),
    ("sync/seqlock", true, 20.7, 3.4, Some(8.9)),
    ("sync/nbw-w-lr-rl", true, 5.7, 1.2, Some(8.6)),
    ("sync/rcu", true, 67.6, 2.2, None),
    ("sync/rcu-offline", true, 137.9, 18.3, None),
    ("queues/cilk-the-wsq-sc", false, 5.0, 1.2, Some(9.6)),
    ("queues/cilk-the-wsq-tso", true, 6.1, 1.3, Some(11.7)),
    ("queues/chase-lev-sc", false, 3.8, 29.5, Some(15.3)),
    ("queues/chase-lev-tso", false, 4.9, 31.3, Some(128.1)),
    ("queues/chase-lev-ra", true, 67.1, 38.1, Some(108.3)),
];

/// Prints the table. A number sets the limit in seconds for each measurement; `--no-spin` leaves SPIN out.
pub fn figure_7(palisade: &Palisade, arguments: &[String]) -> ExitCode {
    let limit = limit(arguments, 60);
    let spin = Spin::find(arguments);
    let mut table = Table::new(&[
        ("program", 20),
        ("RA", 9),
        ("states", 8),
        ("seconds", 8),
        ("Rocker s", 8),
        ("Rocker/ours", 11),
        ("SC s", 8),
        ("pan s", 10),
        ("pan/ours", 8),
        ("paper SC s", 10),
        ("paper/ours", 10),
        ("TSO", 9),
        ("seconds", 8),
        ("pan s", 10),
        ("pan/ours", 8),
        ("Trencher s", 10),
        ("Trencher/ours", 13),
        ("remarks", 0),
    ]);
    let mut fine = true;
    let (mut rocker, mut by_pan, mut trencher) = (Vec::new(), Vec::new(), Vec::new());
    for &(name, robust, rocker_seconds, sc_seconds, trencher_seconds) in FIGURE_7 {
        let file = house(name);
        let ask = |model, criterion| {
            let arguments = ["--model", model, "--criterion", criterion];
            check(palisade, &file, &arguments, limit)
        };
        let all: Result<Vec<Measured>, String> =
            [("ra", "robust"), ("sc", "safe"), ("tso", "robust")]
                .into_iter()
                .map(|(model, criterion)| ask(model, criterion))
                .collect();
        let [ra, sc, tso] = match all.map(<[Measured; 3]>::try_from) {
            Ok(Ok(measured)) => measured,
            Ok(Err(_)) => continue,
            Err(why) => {
                println!("{name}: {why}");
                fine = false;
                continue;
            }
        };
        let by_spin = |arguments: &[&str]| {
            spin.as_ref()
                .map(|spin| spin.verify(palisade, &file, arguments))
        };
        let alone = by_spin(&[]);
        let instrumented = by_spin(&["--instrumented", "--criterion", "robust"]);
        let mut remarks = Vec::new();
        if ra.verdict != if robust { "holds" } else { "violated" } {
            remarks.push("Rocker says otherwise");
        }
        remarks.push(verifier::remark(alone.as_ref(), &sc.verdict));
        remarks.push(verifier::remark(instrumented.as_ref(), &tso.verdict));
        remarks.retain(|remark| !remark.is_empty());
        fine &= ra.is_decided() && tso.is_decided();
        rocker.push((rocker_seconds, ra.seconds));
        trencher.extend(trencher_seconds.map(|theirs| (theirs, tso.seconds)));
        if let Some(Ok(verified)) = &instrumented {
            by_pan.push((verified.build + verified.seconds, tso.seconds));
        }
        let [_, alone_seconds, alone_ratio] = verifier::cells(alone.as_ref(), sc.seconds);
        let [_, pan_seconds, pan_ratio] = verifier::cells(instrumented.as_ref(), tso.seconds);
        table.row(&[
            name.rsplit('/').next().unwrap_or(name).to_owned(),
            ra.verdict.clone(),
            ra.states.to_string(),
            ra.time(),
            format!("{rocker_seconds:.1}"),
            times(rocker_seconds, ra.seconds),
            sc.time(),
            alone_seconds,
            alone_ratio,
            format!("{sc_seconds:.1}"),
            times(sc_seconds, sc.seconds),
            tso.verdict.clone(),
            tso.time(),
            pan_seconds,
            pan_ratio,
            trencher_seconds.map_or("-".to_owned(), |theirs| format!("{theirs:.1}")),
            trencher_seconds.map_or(String::new(), |theirs| times(theirs, tso.seconds)),
            remarks.join("; "),
        ]);
    }
    let (theirs, ours) = rocker
        .iter()
        .fold((0.0, 0.0), |sum, row| (sum.0 + row.0, sum.1 + row.1));
    table.note(format!(
        "all rows: {ours:.2} s, Rocker in the paper {theirs:.0} s: {:.0} times as long",
        theirs / ours
    ));
    table.save("rocker-fig7");
    let series = |name: &str, points| Series {
        name: name.to_owned(),
        points,
    };
    scatter(
        "rocker-fig7",
        "Robustness against release/acquire and TSO: Lahav and Margalit 2019, Fig. 7",
        "their seconds",
        &[
            series("Rocker, as in the paper, against ours for RA", rocker),
            series("Trencher, as in the paper, against ours for TSO", trencher),
            series("SPIN here, building included, against ours for TSO", by_pan),
        ],
    );
    ExitCode::from(u8::from(!fine))
}
