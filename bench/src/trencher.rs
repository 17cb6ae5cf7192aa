//! Table 2 of *Checking and Enforcing Robustness against TSO* (Bouajjani et al. 2013): robustness, and the fences that make programs robust.
//!
//! Trencher asks SPIN one question for each attack. SPIN is run here as well, on the instrumented program with all attacks at once.

use std::process::ExitCode;

use bench::output::{Series, Table, scatter};
use bench::tool::{Palisade, times};
use bench::verifier::{self, Spin};

use crate::measure::{check, corpus_or_house, fences, limit};

/// A row of the paper's table.
struct Row {
    name: &'static str,
    robust: bool,
    /// How many reachability questions Trencher asked, and how many fences it found.
    queries: u32,
    fences: u64,
    /// CPU seconds of SPIN and the C compiler, CPU seconds of Trencher and the verifiers, and seconds by the wall clock, on four cores of the
    /// authors' machine. 0.0 is less than 0.05.
    spin: f64,
    verifier: f64,
    real: f64,
    /// The paper's input, and the program of the house that is nearest.
    corpus: &'static str,
    house: &'static str,
}

/// All rows.
#[rustfmt::skip]
const TABLE_2: &[Row] = &[
    row("Peterson", false, 23, 2, [7.7, 0.5, 2.9], "peterson", "mutex/peterson-sc"),
    row("Peterson", true, 12, 0, [0.0, 0.0, 0.0], "peterson-correct", "mutex/peterson-tso"),
    row("Dekker", false, 95, 4, [31.7, 2.1, 14.2], "dekker", "mutex/dekker-sc"),
    row("Dekker", true, 30, 0, [0.0, 0.0, 0.0], "dekker-correct", "mutex/dekker-tso"),
    row("Lamport", false, 36, 6, [14.4, 6.0, 5.9], "lamport-fast-mutex-alg1", "mutex/lamport1-3"),
    row("Lamport", true, 27, 0, [0.0, 0.0, 0.0], "lamport-fast-mutex-alg1-correct", "mutex/lamport1-3-fenced"),
    row("CLH Lock", true, 54, 0, [4.9, 0.2, 1.6], "clh-lock", "locks/clh-lock"),
    row("MCS Lock", true, 30, 0, [2.9, 0.4, 0.9], "mcs-lock", "locks/mcs-lock"),
    row("Lock-Free Stack", true, 14, 0, [0.0, 0.0, 0.0], "lock-free-stack", "queues/lock-free-stack"),
    row("Cilk's THE WSQ", false, 152, 3, [10.0, 18.0, 7.4], "cilk-the-wsq-wrongdoing", "queues/cilk-the-wsq-sc"),
    row("NBW2", false, 15, 1, [2.5, 0.2, 0.8], "nbw-w-wr", "sync/nbw-w-wr"),
    row("NBW3", true, 15, 0, [0.0, 0.0, 0.0], "nbw-w-wr-correct", "sync/nbw-w-wr-fenced"),
    row("NBW4", true, 9, 0, [0.7, 0.1, 0.4], "nbw-w-r", "sync/nbw-w-r"),
    row("NBWL", true, 30, 0, [2.7, 0.2, 0.7], "nbw-w-lr-rl", "sync/nbw-w-lr-rl-spinlock"),
    row("Parker", false, 2, 1, [0.5, 0.0, 0.3], "parker", "sync/parker"),
    row("Parker", true, 2, 0, [0.0, 0.0, 0.0], "parker-correct", "sync/parker-fenced"),
];

const fn row(
    name: &'static str,
    robust: bool,
    queries: u32,
    fences: u64,
    [spin, verifier, real]: [f64; 3],
    corpus: &'static str,
    house: &'static str,
) -> Row {
    Row {
        name,
        robust,
        queries,
        fences,
        spin,
        verifier,
        real,
        corpus,
        house,
    }
}

/// Prints the table. A number sets the limit in seconds for each row; `--no-spin` leaves SPIN out.
pub fn table_2(palisade: &Palisade, arguments: &[String]) -> ExitCode {
    let limit = limit(arguments, 60);
    let spin = Spin::find(arguments);
    let mut table = Table::new(&[
        ("program", 28),
        ("verdict", 9),
        ("queries", 7),
        ("states", 8),
        ("check s", 8),
        ("fences", 6),
        ("fence s", 8),
        ("pan states", 10),
        ("pan s", 10),
        ("pan/check", 9),
        ("paper RQ", 8),
        ("paper F", 7),
        ("paper CPU s", 11),
        ("paper real s", 12),
        ("paper/fence", 11),
        ("remarks", 0),
    ]);
    let mut fine = true;
    let mut real = Vec::new();
    let mut by_pan = Vec::new();
    for row in TABLE_2 {
        let corpus = format!("trencher/{}.txt", row.corpus);
        let file = corpus_or_house(&corpus, row.house);
        let kind = if row.robust { "robust" } else { "non-robust" };
        let name = format!("{} ({kind})", row.name);
        let checked = check(palisade, &file, &[], limit);
        let fenced = fences(palisade, &file, "robust", limit);
        let (checked, (fence_seconds, fences)) = match (checked, fenced) {
            (Ok(checked), Ok(fenced)) => (checked, fenced),
            (Err(why), _) | (_, Err(why)) => {
                println!("{name}: {why}");
                fine = false;
                continue;
            }
        };
        let instrumented = ["--instrumented", "--criterion", "robust"];
        let verified = spin
            .as_ref()
            .map(|spin| spin.verify(palisade, &file, &instrumented));
        let mut remarks = Vec::new();
        if checked.verdict != if row.robust { "holds" } else { "violated" } {
            remarks.push(format!("the paper says {kind}"));
        }
        match fences {
            Some(fences) if fences == row.fences => {}
            Some(_) => remarks.push(format!("the paper has {} fences", row.fences)),
            None => remarks.push("no optimal set".to_owned()),
        }
        remarks.extend(
            match verifier::remark(verified.as_ref(), &checked.verdict) {
                "" => None,
                remark => Some(remark.to_owned()),
            },
        );
        fine &= checked.is_decided() && fences.is_some();
        if let Some(Ok(verified)) = &verified {
            by_pan.push((verified.build + verified.seconds, checked.seconds));
        }
        // The paper rounds to tenths: 0.0 has no ratio.
        if row.real > 0.0 {
            real.push((row.real, fence_seconds));
        }
        let [pan_states, pan_seconds, pan_ratio] =
            verifier::cells(verified.as_ref(), checked.seconds);
        table.row(&[
            name,
            checked.verdict.clone(),
            checked.queries.to_string(),
            checked.states.to_string(),
            checked.time(),
            fences.map_or("-".to_owned(), |n| n.to_string()),
            format!("{fence_seconds:.4}"),
            pan_states,
            pan_seconds,
            pan_ratio,
            row.queries.to_string(),
            row.fences.to_string(),
            format!("{:.1}", row.spin + row.verifier),
            format!("{:.1}", row.real),
            match row.real > 0.0 {
                true => times(row.real, fence_seconds),
                false => String::new(),
            },
            remarks.join("; "),
        ]);
    }
    if let Some(least) = real.iter().map(|(t, o)| t / o).reduce(f64::min) {
        table.note(format!("least ratio to the paper's time: {least:.0}"));
    }
    table.save("trencher-table2");
    let series = |name: &str, points| Series {
        name: name.to_owned(),
        points,
    };
    scatter(
        "trencher-table2",
        "Robustness against TSO: Bouajjani et al. 2013, Table 2",
        "their seconds",
        &[
            series("Trencher, as in the paper, against our fences", real),
            series("SPIN here, building included, against our check", by_pan),
        ],
    );
    ExitCode::from(u8::from(!fine))
}
