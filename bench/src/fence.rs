//! The cheapest fences: every file of the corpus, for each criterion of TSO, beside what Trencher and Persist took to find some fences.

use std::process::ExitCode;
use std::time::Duration;

use bench::output::Table;
use bench::tool::Palisade;

use crate::expected::{Expected, expected};

/// The criteria, and where the corpus has the number of fences.
const CRITERIA: [(&str, &str); 3] = [
    ("robust", "fences_robust"),
    ("trf", "fences_trf"),
    ("persistent", "fences_persistent"),
];

/// What the tool found, and the seconds it took.
struct Found {
    fences: Option<u64>,
    optimal: bool,
    seconds: f64,
}

/// Prints the table. An argument sets the limit in seconds for each row.
pub fn table(palisade: &Palisade, arguments: &[String]) -> ExitCode {
    let limit = arguments
        .first()
        .and_then(|a| a.parse().ok())
        .unwrap_or(120);
    let mut table = Table::new(&[
        ("program", 40),
        ("robust", 7),
        ("seconds", 8),
        ("trf", 7),
        ("seconds", 8),
        ("persist.", 8),
        ("seconds", 8),
        ("Trencher", 8),
        ("Persist", 8),
        ("ratio", 7),
        ("", 0),
    ]);
    let mut fine = true;
    let mut least: Option<f64> = None;
    for row in expected() {
        let mut cells = vec![row.name.clone()];
        let mut remarks = Vec::new();
        let mut slowest: f64 = 0.0;
        for (criterion, column) in CRITERIA {
            let found = match measure(palisade, &row, criterion, limit) {
                Ok(found) => found,
                Err(why) => {
                    remarks.push(why);
                    cells.extend(["-".to_owned(), "-".to_owned()]);
                    continue;
                }
            };
            // The other tools look for fences against robustness and persistence.
            if criterion != "trf" {
                slowest = slowest.max(found.seconds);
            }
            let known: Option<u64> = row.get(column).parse().ok();
            match (found.fences, known) {
                (Some(ours), Some(theirs)) if ours > theirs => {
                    remarks.push(format!("{criterion}: more than {theirs}"));
                }
                (Some(ours), Some(theirs)) if ours < theirs => {
                    remarks.push(format!("{criterion}: fewer than {theirs}"));
                }
                _ => {}
            }
            fine &= found.optimal && !matches!((found.fences, known), (Some(a), Some(b)) if a > b);
            let count = found.fences.map_or("?".to_owned(), |n| n.to_string());
            let sign = if found.optimal { "" } else { "?" };
            cells.push(format!("{count}{sign}"));
            cells.push(format!("{:.3}", found.seconds));
        }
        let times = [
            row.seconds("trencher_fence_s"),
            row.seconds("persist_fence_s"),
        ];
        let faster = times.into_iter().flatten().reduce(f64::min);
        cells.push(row.get("trencher_fence_s").to_owned());
        cells.push(row.get("persist_fence_s").to_owned());
        let ratio = faster.map(|theirs| theirs / slowest);
        cells.push(ratio.map_or(String::new(), |ratio| format!("{ratio:.0}")));
        if let (Some(theirs), Some(ratio)) = (faster, ratio)
            && theirs > 0.5
        {
            least = Some(least.map_or(ratio, |least| least.min(ratio)));
        }
        cells.push(remarks.join("; "));
        table.row(&cells);
    }
    if let Some(least) = least {
        println!(
            "least ratio where the faster of the two takes more than half a second: {least:.0}"
        );
    }
    table.save("fence");
    ExitCode::from(u8::from(!fine))
}

/// Runs the tool; what takes less than a fifth of a second three times, because the machine may be busy.
fn measure(
    palisade: &Palisade,
    row: &Expected,
    criterion: &str,
    limit: u64,
) -> Result<Found, String> {
    let file = row.file.to_string_lossy();
    let timeout = format!("{limit}s");
    // Some count without bound: 256 values are what Persist checked.
    let arguments = [
        "fence",
        &file,
        "--criterion",
        criterion,
        "--domain=256",
        "--memory=8GiB",
        "--timeout",
        &timeout,
    ];
    let mut best: Option<Found> = None;
    for _ in 0..3 {
        let (json, finished) = palisade.json(&arguments, Duration::from_secs(limit + 10))?;
        let found = Found {
            fences: json["fences"].as_array().map(|fences| fences.len() as u64),
            optimal: json["optimal"] == true,
            seconds: finished.seconds,
        };
        let long = found.seconds > 0.2;
        if best
            .as_ref()
            .is_none_or(|best| found.seconds < best.seconds)
        {
            best = Some(found);
        }
        if long {
            break;
        }
    }
    best.ok_or_else(|| "not run".to_owned())
}
