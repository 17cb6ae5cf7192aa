//! How persistence grows with the number of threads, with the abstraction and without: Fig. 16 of *The Best of Both Worlds* (Abdulla et al. 2015).
//!
//! The paper's graphs have no numbers; the corpus has what Persist and Trencher took for the same programs on a machine like this.
//! SPIN is run on the instrumented program, for more and more threads until it does not finish.
//!
//! The programs are those that must be *proved* persistent, which takes the whole state space: where the algorithm needs fences, it has them.
//! The static filter would dismiss most of them without a search; it is off, so that there is something to measure.

use std::path::PathBuf;
use std::process::ExitCode;

use bench::output::{Series, Table, fitted, fitted_seconds, plot};
use bench::tool::Palisade;
use bench::verifier::{self, Answer, Spin, Verified};

use crate::expected::expected;
use crate::measure::{Measured, check, house, limit};

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

/// Prints the table. A number sets the limit in seconds for each measurement; `--no-spin` leaves SPIN out.
pub fn figure_16(palisade: &Palisade, arguments: &[String]) -> ExitCode {
    let limit = limit(arguments, 10);
    let spin = Spin::find(arguments);
    let mut table = Table::new(&[
        ("program", 32),
        ("threads", 7),
        ("mode", 9),
        ("verdict", 9),
        ("level", 11),
        ("states", 10),
        ("seconds", 9),
        ("MiB", 8),
        ("pan states", 10),
        ("pan s", 10),
        ("pan/ours", 8),
        ("Persist s", 9),
        ("Trencher s", 10),
        ("remarks", 0),
    ]);
    let mut row = |name: &str,
                   threads: u32,
                   mode: &str,
                   measured: &Measured,
                   verified: Option<&Result<Verified, String>>,
                   others: [&str; 2]| {
        let [pan_states, pan_seconds, pan_ratio] = verifier::cells(verified, measured.seconds);
        table.row(&[
            name,
            &threads.to_string(),
            mode,
            &measured.verdict,
            &measured.level,
            &measured.states.to_string(),
            &measured.time(),
            &measured.mebibytes(),
            &pan_states,
            &pan_seconds,
            &pan_ratio,
            others[0],
            others[1],
            verifier::remark(verified, &measured.verdict),
        ]);
    };
    let mut fits = Vec::new();
    let mut lines = Vec::new();
    for (name, file, place, beside) in SERIES {
        for (mode, arguments) in MODES {
            let mut times = Vec::new();
            let mut states = Vec::new();
            // SPIN goes beside the program itself, as far as it comes.
            let mut spin = spin.as_ref().filter(|_| mode == "concrete");
            for threads in 2..=MOST_THREADS {
                let Some(scaled) = Scaled::write(file, place, threads - beside) else {
                    eprintln!("{name} with {threads} threads cannot be written");
                    break;
                };
                let mut all = vec!["--criterion", "persistent"];
                all.extend(arguments);
                let Ok(measured) = check(palisade, &scaled.0, &all, limit) else {
                    eprintln!("{name} with {threads} threads cannot be measured");
                    break;
                };
                let instrumented = ["--instrumented", "--criterion", "persistent"];
                let verified = spin.map(|spin| spin.verify(palisade, &scaled.0, &instrumented));
                if !matches!(&verified, Some(Ok(v)) if v.answer == Answer::Holds) {
                    spin = None;
                }
                row(name, threads, mode, &measured, verified.as_ref(), ["", ""]);
                if !measured.is_decided() {
                    break;
                }
                times.push((f64::from(threads), measured.seconds));
                states.push((f64::from(threads), measured.states as f64));
            }
            fits.push(format!(
                "{name:20} {mode:9} up to {:2} threads; states {}; seconds {}",
                times.len() + 1,
                fitted(&states),
                fitted_seconds(&times)
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
                let others = ["persist_check_s", "trencher_check_s"].map(|c| expected.get(c));
                row(name, threads.unwrap_or(0), mode, &measured, None, others);
            }
        }
    }
    table.note("growth with the number of threads:");
    for fit in fits {
        table.note(format!("  {fit}"));
    }
    table.save("persist-fig16");
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
        plot(
            &format!("persist-fig16-{mode}"),
            title,
            axes,
            false,
            &of_mode,
        );
    }
    ExitCode::SUCCESS
}

/// One program of a series, in a scratch file.
struct Scaled(PathBuf);

impl Drop for Scaled {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Scaled {
    fn write(file: &str, place: &str, copies: u32) -> Option<Scaled> {
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
        let name = format!("palisade-scaled-{}.pal", std::process::id());
        let scratch = std::env::temp_dir().join(name);
        std::fs::write(&scratch, scaled).ok()?;
        Some(Scaled(scratch))
    }
}
