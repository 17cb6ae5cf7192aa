//! Robustness against release/acquire: our time beside what Rocker took (seconds to compile its verifier, seconds to run it).

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use bench::tool::workspace;
use palisade_check::{Answer, Control, Criterion, Model, Options, Verdict, check};
use palisade_lang::{ParseOptions, Source, parse};

/// The rows of Fig. 7 that are in `programs/`, and the larger ones that are asked for beyond it.
const PROGRAMS: &[&str] = &[
    "sync/barrier",
    "mutex/dekker-sc",
    "mutex/dekker-tso",
    "mutex/peterson-sc",
    "mutex/peterson-tso",
    "mutex/peterson-ra",
    "mutex/peterson-ra-dmitriy",
    "mutex/peterson-ra-bratosz",
    "mutex/lamport2-sc",
    "mutex/lamport2-tso",
    "mutex/lamport2-ra",
    "mutex/lamport2-3-ra",
    "locks/spinlock",
    "locks/spinlock4",
    "locks/ticketlock",
    "locks/ticketlock4",
    "sync/seqlock",
    "sync/nbw-w-lr-rl",
    "sync/rcu",
    "sync/rcu-offline-2",
    "sync/rcu-offline",
    "queues/cilk-the-wsq-sc",
    "queues/cilk-the-wsq-tso",
    "queues/chase-lev-sc",
    "queues/chase-lev-tso",
    "queues/chase-lev-ra",
    "large/rcu4",
    "large/lamport2-4-ra",
    "large/ticketlock6",
];

/// What Rocker said and took.
struct Rocker {
    verdict: String,
    compile: f64,
    run: f64,
}

/// Prints the table. Arguments: files to measure instead of all, `--timeout SECONDS`, `--memory GIB`.
pub fn table(arguments: &[String]) -> ExitCode {
    let mut options = Options::new(Model::Ra, Criterion::Robust);
    options.timeout = Some(Duration::from_secs(60));
    options.memory = Some(8 << 30);
    let mut files: Vec<(PathBuf, Option<Rocker>)> = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut number = || rest.next().and_then(|n| n.parse::<f64>().ok());
        match argument.as_str() {
            "--timeout" => {
                options.timeout = number().map(|n| Duration::from_secs_f64(n.max(0.0)));
            }
            "--memory" => options.memory = number().map(|n| (n * (1u64 << 30) as f64) as u64),
            "--no-subsumption" => options.reductions.subsumption = false,
            "--no-suspects" => options.reductions.suspects = false,
            "--no-monitors" => options.reductions.monitors = false,
            "--no-symmetry" => options.reductions.symmetry = false,
            "--no-partial-order" => options.reductions.partial_order = false,
            file => files.push((file.into(), None)),
        }
    }
    if files.is_empty() {
        files = all_files();
    }
    println!(
        "{:34} {:>8} {:>12} {:>12} {:>9} {:>9} {:>9} {:>9} {:>8}",
        "program", "verdict", "states", "steps", "seconds", "MiB", "Rocker c", "Rocker r", "factor"
    );
    let mut totals = [0.0; 2];
    let mut fine = true;
    for (file, rocker) in &files {
        let name = short_name(file);
        let answer = match measure(file, &options) {
            Ok(answer) => answer,
            Err(why) => {
                println!("{name:34} {why}");
                fine = false;
                continue;
            }
        };
        let seconds = answer.stats.wall.as_secs_f64();
        let verdict = match &answer.verdict {
            Verdict::Holds => "robust",
            Verdict::Violated => "not",
            Verdict::Unknown(_) => "unknown",
        };
        print!(
            "{name:34} {verdict:>8} {:>12} {:>12} {seconds:>9.3} {:>9.1}",
            answer.stats.states,
            answer.stats.transitions,
            answer.stats.peak_memory_bytes as f64 / (1 << 20) as f64
        );
        if let Some(rocker) = rocker {
            let theirs = rocker.compile + rocker.run;
            totals[0] += seconds;
            totals[1] += theirs;
            print!(
                " {:>9.3} {:>9.3} {:>8.0}",
                rocker.compile,
                rocker.run,
                theirs / seconds
            );
            let expected = if rocker.verdict == "robust" {
                "robust"
            } else {
                "not"
            };
            if expected != verdict {
                print!("  Rocker says {}", rocker.verdict);
                fine = false;
            }
        }
        println!();
    }
    if totals[1] > 0.0 {
        println!(
            "in total {:.3} s, Rocker {:.3} s: factor {:.0}",
            totals[0],
            totals[1],
            totals[1] / totals[0]
        );
    }
    ExitCode::from(u8::from(!fine))
}

fn all_files() -> Vec<(PathBuf, Option<Rocker>)> {
    let mut files = Vec::new();
    let corpus = workspace().join("../shared/corpus");
    let table = std::fs::read_to_string(corpus.join("rocker.tsv")).unwrap_or_default();
    for line in table.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        if let [file, verdict, compile, run, ..] = columns[..] {
            let rocker = Rocker {
                verdict: verdict.to_owned(),
                compile: compile.parse().unwrap_or(0.0),
                run: run.parse().unwrap_or(0.0),
            };
            files.push((corpus.join("rocker").join(file), Some(rocker)));
        }
    }
    if files.is_empty() {
        eprintln!("the corpus with Rocker's times is not there: measuring programs/ alone");
    }
    for program in PROGRAMS {
        let file = workspace().join("programs").join(format!("{program}.pal"));
        files.push((file, None));
    }
    files
}

fn short_name(file: &Path) -> String {
    let mut parts: Vec<_> = file.iter().rev().take(2).collect();
    parts.reverse();
    let parts: Vec<_> = parts.iter().map(|p| p.to_string_lossy()).collect();
    parts.join("/")
}

fn measure(file: &Path, options: &Options) -> Result<Answer, String> {
    let text = std::fs::read_to_string(file).map_err(|e| e.to_string())?;
    let source = Source::new(file.to_string_lossy(), text);
    let program = parse(&source, &ParseOptions::default())
        .map_err(|errors| {
            errors
                .first()
                .map_or(String::new(), |error| error.message.clone())
        })?
        .program;
    let cancel = AtomicBool::new(false);
    let control = Control {
        cancel: &cancel,
        progress: &|_| {},
    };
    check(&program, options, &control).map_err(|refusal| refusal.message)
}
