//! Persistence: Table 1 of paper 004 as it is written in `programs/`, and the files of the corpus beside Persist's times.

use std::process::ExitCode;
use std::time::Duration;

use bench::output::Table;
use bench::tool::Palisade;

use crate::expected::expected;
use crate::measure::{check, house, ratio};

/// The rows of Table 1: what it calls them, how many processes, the seconds that Persist took there (with fences inserted, on the
/// authors' machine), our file.
const TABLE_1: &[(&str, u32, f64, &str)] = &[
    ("SimDekker", 4, 4.0, "mutex/simple-dekker-4"),
    ("Dekker", 4, 14.0, "mutex/dekker-4"),
    ("Peterson", 4, 223.0, "mutex/peterson-filter-4"),
    ("LamBak", 3, 104.0, "mutex/bakery-3"),
    ("LamBak", 4, 286.0, "mutex/bakery-4"),
    ("Dijkstra", 4, 30.0, "mutex/dijkstra-4"),
    ("Dc-Lock", 6, 7.0, "sync/dc-locking-6"),
    ("SpinLock", 2, 1.0, "locks/spinlock"),
    ("TSpinLock", 2, 1.0, "locks/ticketlock-spinning"),
    ("InlinePgsql", 8, 8.0, "sync/pgsql-inline-8"),
    ("Burns", 5, 119.0, "large/burns-5"),
    ("Szymanski", 2, 3.0, "mutex/szymanski-2"),
    ("Szymanski", 4, 88.0, "mutex/szymanski-4"),
    ("LamFast2", 2, 6.0, "mutex/lamport2-sc"),
    ("LamFast2", 3, 10.0, "mutex/lamport2-3-sc"),
    ("CLH Lock", 4, 176.0, "locks/clh-lock4"),
    ("Parker", 6, 76.0, "sync/parker-6"),
    ("Pgsql", 6, 26.0, "sync/pgsql-latch-6"),
    ("AlternatingBit", 2, 2.0, "sync/alternating-bit"),
    ("IncSequence", 6, 21.0, "sync/increasing-sequence"),
    ("TaskSchedule", 10, 5.0, "sync/task-scheduler"),
    ("NBW W WR", 2, 18.0, "sync/nbw-w-wr"),
    ("NBW W 5R", 6, 3.0, "sync/nbw-w-5r"),
    ("SeqLock", 4, 63.0, "sync/seqlock"),
    ("write+r", 5, 2.0, "litmus/write+r"),
    ("r+detour", 5, 1.0, "litmus/r+detour"),
    ("r+detours", 5, 1.0, "litmus/r+detours"),
    ("write+r+co", 6, 7.0, "litmus/write+r+co"),
    ("sb+detours", 6, 3.0, "litmus/sb+detours"),
    ("sb+detour+co", 6, 1.0, "litmus/sb+detour+co"),
    ("Cilk WSQ", 2, 3.0, "queues/cilk-the-wsq-sc"),
    ("CL WSQ", 2, 2.0, "queues/chase-lev-sc"),
    ("FIFO iWSQ", 2, 2.0, "queues/fifo-iwsq"),
    ("LIFO iWSQ", 2, 7.0, "queues/lifo-iwsq"),
    ("Anchor iWSQ", 2, 2.0, "queues/anchor-iwsq"),
];

/// Prints the table. An argument sets the limit in seconds for each row.
pub fn table(palisade: &Palisade, arguments: &[String]) -> ExitCode {
    let limit = arguments.first().and_then(|a| a.parse().ok()).unwrap_or(60);
    let limit = Duration::from_secs(limit);
    let mut table = Table::new(&[
        ("program", 38),
        ("verdict", 9),
        ("level", 10),
        ("states", 9),
        ("seconds", 8),
        ("MiB", 7),
        ("Persist", 8),
        ("ratio", 7),
        ("", 0),
    ]);
    let mut fine = true;
    let mut least: Option<f64> = None;
    let concrete = ["--criterion", "persistent", "--abstract", "off"];
    println!("Table 1 (Persist's seconds: for fences, from the paper)");
    for (name, processes, theirs, file) in TABLE_1 {
        let name = format!("{name} {processes}: {file}");
        match check(palisade, &house(file), &concrete, limit) {
            Ok(measured) => {
                fine &= measured.is_decided();
                table.row(&[
                    name,
                    measured.verdict.clone(),
                    measured.level.clone(),
                    measured.states.to_string(),
                    measured.time(),
                    measured.mebibytes(),
                    format!("{theirs}"),
                    ratio(Some(*theirs), &measured),
                    String::new(),
                ]);
            }
            Err(why) => {
                fine = false;
                println!("{name}: {why}");
            }
        }
    }
    println!("The corpus (Persist's seconds: for the check alone, on a machine like this)");
    for row in expected() {
        let mut arguments = concrete.to_vec();
        arguments.extend(["--domain", "256"]);
        let measured = match check(palisade, &row.file, &arguments, limit) {
            Ok(measured) => measured,
            Err(why) => {
                fine = false;
                println!("{}: {why}", row.name);
                continue;
            }
        };
        let theirs = row.seconds("persist_check_s");
        let said = row.get("persistent");
        let agrees = match said {
            "persistent" => measured.verdict == "holds",
            "not-persistent" => measured.verdict == "violated",
            _ => true,
        };
        let remark = match agrees {
            true => String::new(),
            false => format!("Persist says {said}"),
        };
        fine &= measured.is_decided();
        if let Some(theirs) = theirs {
            let factor = theirs / measured.seconds;
            least = Some(least.map_or(factor, |least| least.min(factor)));
        }
        table.row(&[
            row.name.clone(),
            measured.verdict.clone(),
            measured.level.clone(),
            measured.states.to_string(),
            measured.time(),
            measured.mebibytes(),
            row.get("persist_check_s").to_owned(),
            ratio(theirs, &measured),
            remark,
        ]);
    }
    if let Some(least) = least {
        println!("the least ratio in the corpus is {least:.0}");
    }
    table.save("persist");
    ExitCode::from(u8::from(!fine))
}
