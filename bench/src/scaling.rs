//! How persistence grows with the number of threads, with the abstraction and without (Fig. 16 of paper 004).
//!
//! The programs are those that must be *proved* persistent, which takes the whole state space: where the algorithm needs fences, it has them.
//! The static filter would dismiss most of them without a search; it is off, so that there is something to measure.

use std::process::ExitCode;
use std::time::Duration;

use bench::output::{Series, Table, growth, plot};
use bench::tool::Palisade;

use crate::expected::expected;
use crate::measure::{Measured, check, house};

/// A series: its name, our file, and what in its text is the number of threads, with how many threads there are beside.
const SERIES: &[(&str, &str, &str, u32)] = &[
    (
        "dekker-like",
        "mutex/simple-dekker-4-fenced",
        "const N = ",
        0,
    ),
    ("burns", "mutex/burns-4-fenced", "const N = ", 0),
    ("dijkstra", "mutex/dijkstra-4-fenced", "const N = ", 0),
    ("szymanski", "mutex/szymanski-4-fenced", "const N = ", 0),
    ("seqlock", "sync/seqlock", "thread reader[", 1),
    ("pgsql", "sync/pgsql-latch-fenced", "thread waker", 1),
    ("dc-locking", "sync/dc-locking-6", "const N = ", 0),
    (
        "increasing-sequence",
        "sync/increasing-sequence",
        "thread reader[",
        1,
    ),
];

/// The most threads.
const MOST_THREADS: u32 = 12;

const MODES: [(&str, &[&str]); 2] = [
    ("concrete", &["--abstract", "off", "--no-static-filter"]),
    ("abstract", &["--abstract", "2", "--no-static-filter"]),
];

/// Prints the table. An argument sets the limit in seconds for each measurement.
pub fn table(palisade: &Palisade, arguments: &[String]) -> ExitCode {
    let limit = arguments.first().and_then(|a| a.parse().ok()).unwrap_or(10);
    let limit = Duration::from_secs(limit);
    let mut table = Table::new(&[
        ("program", 32),
        ("threads", 7),
        ("mode", 9),
        ("verdict", 9),
        ("level", 11),
        ("states", 10),
        ("seconds", 9),
        ("MiB", 8),
    ]);
    let mut row = |name: &str, threads: u32, mode: &str, measured: &Measured| {
        table.row(&[
            name,
            &threads.to_string(),
            mode,
            &measured.verdict,
            &measured.level,
            &measured.states.to_string(),
            &measured.time(),
            &measured.mebibytes(),
        ]);
    };
    let mut fits = Vec::new();
    let mut lines = Vec::new();
    for (name, file, place, beside) in SERIES {
        for (mode, arguments) in MODES {
            let mut times = Vec::new();
            let mut states = Vec::new();
            for threads in 2..=MOST_THREADS {
                let Some(measured) =
                    measure(palisade, file, place, threads - beside, arguments, limit)
                else {
                    eprintln!("{name} with {threads} threads cannot be measured");
                    break;
                };
                row(name, threads, mode, &measured);
                if !measured.is_decided() {
                    break;
                }
                times.push((f64::from(threads), measured.seconds));
                states.push((f64::from(threads), measured.states as f64));
            }
            let fit = |points: &[(f64, f64)]| {
                growth(points).map_or("too few points".to_owned(), |g| g.to_string())
            };
            fits.push(format!(
                "{name:20} {mode:9} up to {:2} threads; states {}; seconds {}",
                times.len() + 1,
                fit(&states),
                fit(&times)
            ));
            lines.push((
                mode,
                Series {
                    name: (*name).to_owned(),
                    points: states,
                },
            ));
        }
    }
    // The files of the corpus, as they are: where they are not persistent, the first violation ends the walk.
    for expected in expected().iter().filter(|e| e.name.contains("/scaling/")) {
        let digits = expected.name.trim_end_matches(".txt");
        let threads = digits.chars().last().and_then(|c| c.to_digit(10));
        for (mode, arguments) in [
            ("concrete", ["--abstract", "off"]),
            ("abstract", ["--abstract", "2"]),
        ] {
            let mut all = vec!["--criterion", "persistent", "--domain", "256"];
            all.extend(arguments);
            if let Ok(measured) = check(palisade, &expected.file, &all, limit) {
                let name = expected.name.trim_start_matches("persist/");
                row(name, threads.unwrap_or(0), mode, &measured);
            }
        }
    }
    println!("\ngrowth with the number of threads:");
    for fit in fits {
        println!("  {fit}");
    }
    table.save("scaling");
    for (mode, _) in MODES {
        let of_mode: Vec<Series> = lines
            .iter()
            .filter(|(m, _)| *m == mode)
            .map(|(_, series)| Series {
                name: series.name.clone(),
                points: series.points.clone(),
            })
            .collect();
        let title = match mode {
            "concrete" => "Proving persistence: the program itself",
            _ => "Proving persistence: with the abstraction, from K = 2",
        };
        let axes = ("threads", "states");
        plot(&format!("scaling-{mode}"), title, axes, false, &of_mode);
    }
    ExitCode::SUCCESS
}

/// One program of a series, written to a scratch file.
fn measure(
    palisade: &Palisade,
    file: &str,
    place: &str,
    copies: u32,
    arguments: &[&str],
    limit: Duration,
) -> Option<Measured> {
    let text = std::fs::read_to_string(house(file)).ok()?;
    let (before, after) = text.split_once(place)?;
    let after = after.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = match place.ends_with(['[', ' ']) {
        true => copies.to_string(),
        // A thread that is written once.
        false => format!("[{copies}]"),
    };
    let scaled: String = format!("{before}{place}{number}{after}")
        .lines()
        // What must never happen names the threads; persistence does not ask for it.
        .filter(|line| !line.starts_with("never"))
        .map(|line| format!("{line}\n"))
        .collect();
    let scratch = std::env::temp_dir().join(format!("palisade-scaling-{}.pal", std::process::id()));
    std::fs::write(&scratch, scaled).ok()?;
    let mut all = vec!["--criterion", "persistent"];
    all.extend(arguments);
    let measured = check(palisade, &scratch, &all, limit);
    let _ = std::fs::remove_file(&scratch);
    measured.ok()
}
