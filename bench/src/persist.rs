//! Persistence: Table 1 of *The Best of Both Worlds* (Abdulla et al. 2015) as it is written in `programs/`, and the files of the corpus beside Persist's times.

use std::process::ExitCode;

use bench::output::{Series, Table, scatter};
use bench::tool::{Palisade, times};
use bench::verifier::{self, Spin};

use crate::expected::expected;
use crate::measure::{check, fences, house, limit, ratio};

/// What a tool needs in the paper: fences, and seconds on the authors' machine to find them.
type Fences = (u64, u32);

/// The rows of Table 1: what it calls them, how many processes, Persist, Trencher (none: more than 2400 s), our file.
#[rustfmt::skip]
const TABLE_1: &[(&str, u32, Fences, Option<Fences>, &str)] = &[
    ("SimDekker", 4, (4, 4), Some((4, 163)), "mutex/simple-dekker-4"),
    ("Dekker", 4, (8, 14), None, "mutex/dekker-4"),
    ("Peterson", 4, (4, 223), None, "mutex/peterson-filter-4"),
    ("LamBak", 3, (6, 104), None, "mutex/bakery-3"),
    ("LamBak", 4, (8, 286), None, "mutex/bakery-4"),
    ("Dijkstra", 4, (8, 30), None, "mutex/dijkstra-4"),
    ("Dc-Lock", 6, (0, 7), Some((0, 139)), "sync/dc-locking-6"),
    ("SpinLock", 2, (0, 1), Some((0, 1)), "locks/spinlock"),
    ("TSpinLock", 2, (0, 1), Some((0, 1)), "locks/ticketlock-spinning"),
    ("InlinePgsql", 8, (0, 8), Some((0, 426)), "sync/pgsql-inline-8"),
    ("Burns", 5, (9, 119), None, "large/burns-5"),
    ("Szymanski", 2, (8, 3), Some((8, 642)), "mutex/szymanski-2"),
    ("Szymanski", 4, (16, 88), None, "mutex/szymanski-4"),
    ("LamFast2", 2, (8, 6), Some((4, 48)), "mutex/lamport2-sc"),
    ("LamFast2", 3, (12, 10), None, "mutex/lamport2-3-sc"),
    ("CLH Lock", 4, (4, 176), Some((4, 674)), "locks/clh-lock4"),
    ("Parker", 6, (1, 76), Some((1, 425)), "sync/parker-6"),
    ("Pgsql", 6, (7, 26), Some((7, 260)), "sync/pgsql-latch-6"),
    ("AlternatingBit", 2, (4, 2), Some((4, 5)), "sync/alternating-bit"),
    ("IncSequence", 6, (0, 21), Some((0, 194)), "sync/increasing-sequence"),
    ("TaskSchedule", 10, (0, 5), Some((0, 418)), "sync/task-scheduler"),
    ("NBW W WR", 2, (0, 18), Some((1, 595)), "sync/nbw-w-wr"),
    ("NBW W 5R", 6, (0, 3), Some((0, 514)), "sync/nbw-w-5r"),
    ("SeqLock", 4, (0, 63), Some((0, 364)), "sync/seqlock"),
    ("write+r", 5, (0, 2), Some((4, 7)), "litmus/write+r"),
    ("r+detour", 5, (0, 1), Some((3, 3)), "litmus/r+detour"),
    ("r+detours", 5, (0, 1), Some((3, 1)), "litmus/r+detours"),
    ("write+r+co", 6, (0, 7), Some((4, 38)), "litmus/write+r+co"),
    ("sb+detours", 6, (2, 3), Some((5, 3)), "litmus/sb+detours"),
    ("sb+detour+co", 6, (0, 1), Some((4, 3)), "litmus/sb+detour+co"),
    ("Cilk WSQ", 2, (2, 3), Some((2, 107)), "queues/cilk-the-wsq-sc"),
    ("CL WSQ", 2, (1, 2), Some((1, 796)), "queues/chase-lev-sc"),
    ("FIFO iWSQ", 2, (1, 2), Some((1, 354)), "queues/fifo-iwsq"),
    ("LIFO iWSQ", 2, (1, 7), Some((1, 558)), "queues/lifo-iwsq"),
    ("Anchor iWSQ", 2, (1, 2), Some((1, 20)), "queues/anchor-iwsq"),
];

/// Persistence of the program itself, as Table 1 is measured.
const CONCRETE: [&str; 4] = ["--criterion", "persistent", "--abstract", "off"];

/// Prints Table 1. A number sets the limit in seconds for each measurement; `--no-spin` leaves SPIN out.
pub fn table_1(palisade: &Palisade, arguments: &[String]) -> ExitCode {
    let limit = limit(arguments, 20);
    let spin = Spin::find(arguments);
    let mut table = Table::new(&[
        ("program", 16),
        ("threads", 7),
        ("verdict", 9),
        ("states", 9),
        ("check s", 8),
        ("fences", 6),
        ("fence s", 8),
        ("robust fences", 13),
        ("fence s", 8),
        ("pan states", 10),
        ("pan s", 10),
        ("pan/check", 9),
        ("Persist F", 9),
        ("Persist s", 9),
        ("Persist/fence", 13),
        ("Trencher F", 10),
        ("Trencher s", 10),
        ("Trencher/fence", 14),
        ("remarks", 0),
    ]);
    let mut fine = true;
    let (mut persist, mut trencher, mut by_pan) = (Vec::new(), Vec::new(), Vec::new());
    for (name, processes, theirs, robust, file) in TABLE_1 {
        let file = house(file);
        let checked = check(palisade, &file, &CONCRETE, limit);
        let ours = fences(palisade, &file, "persistent", limit);
        let ours_robust = fences(palisade, &file, "robust", limit);
        let (checked, ours, ours_robust) = match (checked, ours, ours_robust) {
            (Ok(checked), Ok(ours), Ok(ours_robust)) => (checked, ours, ours_robust),
            (Err(why), _, _) | (_, Err(why), _) | (_, _, Err(why)) => {
                println!("{name}: {why}");
                fine = false;
                continue;
            }
        };
        let instrumented = ["--instrumented", "--criterion", "persistent"];
        let verified = spin
            .as_ref()
            .map(|spin| spin.verify(palisade, &file, &instrumented));
        fine &= checked.is_decided();
        let mut remarks = Vec::new();
        if ours.1.is_none() || ours_robust.1.is_none() {
            remarks.push("no optimal set within the limit");
        }
        remarks.extend(
            match verifier::remark(verified.as_ref(), &checked.verdict) {
                "" => None,
                remark => Some(remark),
            },
        );
        // What was not decided took the whole limit: it has no ratio.
        if ours.1.is_some() {
            persist.push((f64::from(theirs.1), ours.0));
        }
        if let (Some(robust), Some(_)) = (robust, ours_robust.1) {
            trencher.push((f64::from(robust.1), ours_robust.0));
        }
        if let Some(Ok(verified)) = &verified {
            by_pan.push((verified.build + verified.seconds, checked.seconds));
        }
        let [pan_states, pan_seconds, pan_ratio] =
            verifier::cells(verified.as_ref(), checked.seconds);
        let count = |found: &(f64, Option<u64>)| found.1.map_or("-".to_owned(), |n| n.to_string());
        let ratio = |theirs: u32, found: &(f64, Option<u64>)| match found.1 {
            Some(_) => times(f64::from(theirs), found.0),
            None => String::new(),
        };
        table.row(&[
            (*name).to_owned(),
            processes.to_string(),
            checked.verdict.clone(),
            checked.states.to_string(),
            checked.time(),
            count(&ours),
            format!("{:.4}", ours.0),
            count(&ours_robust),
            format!("{:.4}", ours_robust.0),
            pan_states,
            pan_seconds,
            pan_ratio,
            theirs.0.to_string(),
            theirs.1.to_string(),
            ratio(theirs.1, &ours),
            robust.map_or("-".to_owned(), |robust| robust.0.to_string()),
            robust.map_or("> 2400".to_owned(), |robust| robust.1.to_string()),
            robust.map_or(String::new(), |robust| ratio(robust.1, &ours_robust)),
            remarks.join("; "),
        ]);
    }
    if let Some(least) = persist.iter().map(|(t, o)| t / o).reduce(f64::min) {
        table.note(format!(
            "least ratio to Persist's time in the paper: {least:.1}"
        ));
    }
    table.save("persist-table1");
    let series = |name: &str, points| Series {
        name: name.to_owned(),
        points,
    };
    scatter(
        "persist-table1",
        "Fences for persistence and robustness: Abdulla et al. 2015, Table 1",
        "their seconds",
        &[
            series("Persist, as in the paper, against our fences", persist),
            series("Trencher, as in the paper, against our fences", trencher),
            series("SPIN here, building included, against our check", by_pan),
        ],
    );
    ExitCode::from(u8::from(!fine))
}

/// Prints the table of the corpus, with Persist's seconds for the check alone on a machine like this. A number sets the limit in seconds for each row.
pub fn table(palisade: &Palisade, arguments: &[String]) -> ExitCode {
    let limit = limit(arguments, 60);
    let mut table = Table::new(&[
        ("program", 38),
        ("verdict", 9),
        ("level", 10),
        ("states", 9),
        ("seconds", 8),
        ("MiB", 7),
        ("Persist", 8),
        ("ratio", 7),
        ("remarks", 0),
    ]);
    let mut fine = true;
    let mut least: Option<f64> = None;
    for row in expected() {
        let mut arguments = CONCRETE.to_vec();
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
        table.note(format!("the least ratio in the corpus is {least:.0}"));
    }
    table.save("persist");
    ExitCode::from(u8::from(!fine))
}
