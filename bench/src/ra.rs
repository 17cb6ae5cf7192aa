//! Robustness against release/acquire beside Rocker: every file of the corpus that it was run on, and larger programs.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use bench::output::Table;
use bench::tool::{Palisade, corpus};

use crate::measure::{Measured, check, house};

/// With more threads.
const LARGER: &[(&str, bool)] = &[
    ("large/rcu4", true),
    ("large/lamport2-4-ra", true),
    ("large/ticketlock6", true),
];

/// What Rocker said and took: it builds a verifier for each program, and runs it.
struct Rocker {
    file: PathBuf,
    name: String,
    robust: bool,
    compile: f64,
    run: f64,
}

/// Of the corpus, if it is there.
fn rocker() -> Vec<Rocker> {
    let Some(corpus) = corpus() else {
        println!("the corpus with Rocker's times is not there");
        return Vec::new();
    };
    let table = std::fs::read_to_string(corpus.join("rocker.tsv")).unwrap_or_default();
    let row = |line: &str| {
        let columns: Vec<&str> = line.split('\t').collect();
        let [name, verdict, compile, run, ..] = columns[..] else {
            return None;
        };
        Some(Rocker {
            file: corpus.join("rocker").join(name),
            name: name.to_owned(),
            robust: verdict == "robust",
            compile: compile.parse().ok()?,
            run: run.parse().ok()?,
        })
    };
    table.lines().skip(1).filter_map(row).collect()
}

/// The targets: all decided, and how much faster than Rocker.
struct Targets {
    decided: bool,
    ours: f64,
    theirs: f64,
    /// The least factor to Rocker's run alone where that takes more than a second.
    least: f64,
}

/// Prints the table. A number sets the limit in seconds for each row; a file is measured instead of all; what begins with `--` is handed on.
pub fn table(palisade: &Palisade, arguments: &[String]) -> ExitCode {
    let (flags, rest): (Vec<&str>, Vec<&str>) = arguments
        .iter()
        .map(String::as_str)
        .partition(|argument| argument.starts_with("--"));
    let limit = rest.iter().find_map(|a| a.parse().ok()).unwrap_or(60);
    let files = rest.iter().filter(|a| a.parse::<u64>().is_err());
    let files: Vec<PathBuf> = files.map(PathBuf::from).collect();
    let limit = Duration::from_secs(limit);
    let mut arguments = vec!["--model", "ra", "--criterion", "robust"];
    arguments.extend(flags);
    let mut table = Table::new(&[
        ("program", 34),
        ("verdict", 9),
        ("states", 10),
        ("seconds", 9),
        ("MiB", 8),
        ("compile", 9),
        ("run", 9),
        ("ratio", 8),
        ("run alone", 10),
        ("remarks", 0),
    ]);
    let mut targets = Targets {
        decided: true,
        ours: 0.0,
        theirs: 0.0,
        least: f64::INFINITY,
    };
    let mut row = |name: &str, file: PathBuf, robust: Option<bool>, rocker: Option<&Rocker>| {
        let measured = match check(palisade, &file, &arguments, limit) {
            Ok(measured) => measured,
            Err(why) => {
                println!("{name}: {why}");
                targets.decided = false;
                return;
            }
        };
        let remark = match robust {
            Some(true) if measured.verdict == "violated" => "robust, it is said",
            Some(false) if measured.verdict == "holds" => "not robust, it is said",
            _ => "",
        };
        targets.decided &= measured.is_decided();
        let mut cells = cells(name, &measured);
        match rocker {
            Some(rocker) => {
                let theirs = rocker.compile + rocker.run;
                targets.ours += measured.seconds;
                targets.theirs += theirs;
                let alone = rocker.run / measured.seconds;
                if rocker.run > 1.0 {
                    targets.least = targets.least.min(alone);
                }
                cells.extend([
                    format!("{:.3}", rocker.compile),
                    format!("{:.3}", rocker.run),
                    format!("{:.0}", theirs / measured.seconds),
                    format!("{alone:.1}"),
                ]);
            }
            None => cells.extend(vec![String::new(); 4]),
        }
        cells.push(remark.to_owned());
        table.row(&cells);
    };
    if !files.is_empty() {
        for file in files {
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            row(&name, file.clone(), None, None);
        }
        return ExitCode::from(u8::from(!targets.decided));
    }
    for rocker in &rocker() {
        let file = rocker.file.clone();
        row(&rocker.name, file, Some(rocker.robust), Some(rocker));
    }
    for (name, robust) in LARGER {
        row(name, house(name), Some(*robust), None);
    }
    let met = targets.note(&mut table);
    table.save("ra");
    ExitCode::from(u8::from(!met))
}

fn cells(name: &str, measured: &Measured) -> Vec<String> {
    vec![
        name.to_owned(),
        measured.verdict.clone(),
        measured.states.to_string(),
        measured.time(),
        measured.mebibytes(),
    ]
}

impl Targets {
    /// Says which are met; whether all are.
    fn note(&self, table: &mut Table) -> bool {
        let met = |met: bool| if met { "met" } else { "NOT met" };
        let decided = met(self.decided);
        table.note(format!("every row decided within the limits: {decided}"));
        if self.theirs == 0.0 {
            return self.decided;
        }
        let factor = self.theirs / self.ours;
        table.note(format!(
            "in total {:.3} s, Rocker {:.3} s: {factor:.0} times faster (30 are asked for): {}",
            self.ours,
            self.theirs,
            met(factor >= 30.0)
        ));
        table.note(format!(
            "where Rocker's run alone takes more than a second: at least {:.1} times faster (10 are asked for): {}",
            self.least,
            met(self.least >= 10.0)
        ));
        self.decided && factor >= 30.0 && self.least >= 10.0
    }
}
