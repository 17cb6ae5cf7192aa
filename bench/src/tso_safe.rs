//! `safe` under TSO, each way alone and all in turn: the mutual-exclusion algorithms and locks that the papers on dual TSO measure (Abdulla, Atig, Bouajjani,
//! Ngo 2016 and 2018), with and without fences, and with any number of threads.

use std::process::ExitCode;

use bench::output::Table;
use bench::tool::{Palisade, workspace};

use crate::measure::{house, limit, shortest};

/// What it is called, our file, and whether what must not be can be reached.
type Row = (&'static str, &'static str, bool);

const PROGRAMS: &[Row] = &[
    ("Dekker", "mutex/dekker-sc", true),
    ("Dekker, fenced", "mutex/dekker-tso", false),
    ("Peterson", "mutex/peterson-sc", true),
    ("Peterson, fenced", "mutex/peterson-tso", false),
    ("Burns 2", "mutex/burns-2", true),
    ("Burns 2, fenced", "mutex/burns-2-fenced", false),
    ("Burns 3, fenced", "mutex/burns-3-fenced", false),
    ("Szymanski 2", "mutex/szymanski-2", true),
    ("Szymanski 2, fenced", "mutex/szymanski-2-fenced", false),
    ("Szymanski 3, fenced", "mutex/szymanski-3-fenced", false),
    ("Lamport 1, 3", "mutex/lamport1-3", true),
    ("Lamport 1, 3, fenced", "mutex/lamport1-3-fenced", false),
    ("Lamport 2", "mutex/lamport2-sc", true),
    ("Lamport 2, fenced", "mutex/lamport2-tso", false),
    ("Dijkstra 2", "mutex/dijkstra-2", true),
    ("Dijkstra 2, fenced", "mutex/dijkstra-2-fenced", false),
    ("Dijkstra 3, fenced", "mutex/dijkstra-3-fenced", false),
    ("Bakery 2", "mutex/bakery-2", true),
    ("Bakery 2, fenced", "mutex/bakery-2-fenced", false),
    ("ticket lock", "locks/ticketlock", false),
    ("ticket lock 4", "locks/ticketlock4", false),
    ("spin lock", "locks/spinlock", false),
    ("alternating bit", "sync/alternating-bit", false),
    ("increasing sequence", "sync/increasing-sequence", false),
    ("order of stores", "lazy/store-order", false),
    ("any number: spin lock", "param/spinlock", false),
    ("any number: ticket lock", "param/ticket-lock", false),
    ("any number: TTAS lock", "param/ttas-lock", false),
];

/// Every program of `programs/` that says what must not be, or asserts something, and whose data is finite (which the tool says): is there an answer within a
/// minute and 8 GiB?
pub fn programs(palisade: &Palisade, arguments: &[String]) -> ExitCode {
    let mut table = Table::new(&[("program", 44), ("answer", 12), ("s", 8), ("reason", 0)]);
    let mut files = Vec::new();
    let mut work = vec![workspace().join("programs")];
    while let Some(directory) = work.pop() {
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            match path.extension() {
                Some(extension) if extension == "pal" => files.push(path),
                None if path.is_dir() => work.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    let (mut decided, mut open) = (0, 0);
    for file in files {
        let name = file.strip_prefix(workspace().join("programs"));
        let name = name.unwrap_or(&file).display().to_string();
        let question = ["reach", &file.display().to_string(), "--model", "tso"];
        match shortest(palisade, &question, limit(arguments, 60)) {
            Ok((json, finished)) => {
                let verdict = json["verdict"].as_str().unwrap_or("none").to_owned();
                let reason = json["reason"].as_str().unwrap_or("").to_owned();
                let grows = reason.contains("may hold any number");
                match verdict == "unknown" {
                    true if !grows => open += 1,
                    _ => decided += 1,
                }
                // Only what takes long, or has no answer, is worth a line.
                if verdict == "unknown" || finished.seconds > 1.0 {
                    table.row(&[name, verdict, format!("{:.1}", finished.seconds), reason]);
                }
            }
            Err(why) => {
                table.row(&[name, "error".to_owned(), String::new(), why]);
            }
        }
    }
    table.note(format!(
        "{decided} programs have an answer, or a variable that may hold any number; {open} have none"
    ));
    table.save("tso-programs");
    ExitCode::from(u8::from(open > 0))
}

const ROUTES: [&str; 4] = ["any", "dual", "buffers", "lazy"];

/// Prints the table and writes it as CSV. A number sets the limit in seconds for each way and program.
pub fn table(palisade: &Palisade, arguments: &[String]) -> ExitCode {
    let mut table = Table::new(&[
        ("program", 24),
        ("answer", 12),
        ("any s", 8),
        ("dual s", 8),
        ("dual states", 11),
        ("buffers s", 9),
        ("lazy s", 8),
        ("remarks", 0),
    ]);
    let mut fine = true;
    for &(title, file, reachable) in PROGRAMS {
        let file = house(file).display().to_string();
        let expected = match reachable {
            true => "reachable",
            false => "unreachable",
        };
        let (mut cells, mut remarks) = (vec![title.to_owned(), String::new()], Vec::new());
        for route in ROUTES {
            let question = ["reach", &file, "--model", "tso", "--route", route];
            let (json, finished) = match shortest(palisade, &question, limit(arguments, 60)) {
                Ok(measured) => measured,
                Err(why) => {
                    remarks.push(format!("{route}: {why}"));
                    cells.push(String::new());
                    fine = false;
                    continue;
                }
            };
            let verdict = json["verdict"].as_str().unwrap_or("none");
            if route == "any" {
                cells[1] = verdict.to_owned();
                fine &= verdict == expected;
            }
            // One way alone may give up, or be ended at its limit, but must not contradict.
            let decided = !["unknown", "none"].contains(&verdict);
            if decided && verdict != expected {
                remarks.push(format!("{route} says {verdict}, should be {expected}"));
                fine = false;
            }
            cells.push(match decided {
                true => format!("{:.4}", finished.seconds),
                false => "-".to_owned(),
            });
            if route == "dual" {
                cells.push(json["stats"]["states"].to_string());
            }
        }
        cells.push(remarks.join("; "));
        table.row(&cells);
    }
    table.note("`-`: this way alone gives up or meets a limit");
    table.save("tso-safe");
    ExitCode::from(u8::from(!fine))
}
