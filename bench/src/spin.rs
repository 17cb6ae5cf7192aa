//! The walk of the SC states, beside SPIN: the same programs, exported to Promela, verified by `pan`.
//!
//! `pan` is built with `-O2 -DSAFETY` (compiling is not counted), its partial-order reduction is on, and its tables are large enough that
//! nothing is truncated. Its memory is measured once more with `-DCOLLAPSE`. Times are the least of several runs, taken in turns.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use bench::output::Table;
use bench::tool::{Finished, Palisade, run, workspace};
use bench::verifier::{TOO_DEEP, states_stored};

/// Programs with at least a million states, as `pan` stores them.
const PROGRAMS: &[&str] = &[
    "large/bakery-3",
    "large/burns-6",
    "large/chase-lev",
    "large/dijkstra-5",
    "large/szymanski-5",
];

const LIMIT: Duration = Duration::from_secs(600);

/// What the command line asks for.
struct Settings {
    programs: Vec<PathBuf>,
    runs: usize,
    callgrind: bool,
}

/// Prints the table. Arguments: files to measure instead of all, `--runs N`, `--callgrind` to count instructions per state as well.
pub fn table(palisade: &Palisade, arguments: &[String]) -> ExitCode {
    let mut settings = Settings {
        programs: Vec::new(),
        runs: 3,
        callgrind: false,
    };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--runs" => {
                let runs = rest.next().and_then(|n| n.parse().ok());
                settings.runs = runs.unwrap_or(3).max(1);
            }
            "--callgrind" => settings.callgrind = true,
            file => settings.programs.push(file.into()),
        }
    }
    if settings.programs.is_empty() {
        let file = |name: &&str| workspace().join("programs").join(format!("{name}.pal"));
        settings.programs = PROGRAMS.iter().map(file).collect();
    }
    match compare(palisade, &settings) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn compare(palisade: &Palisade, settings: &Settings) -> Result<(), String> {
    let has_spin = Command::new("spin").arg("-V").output().is_ok();
    if !has_spin {
        eprintln!("SPIN is not installed: measuring our side alone");
    }
    let mut table = Table::new(&[
        ("program", 14),
        ("states", 10),
        ("pan states", 10),
        ("seconds", 8),
        ("pan s", 8),
        ("faster", 7),
        ("MiB", 7),
        ("collapse", 8),
        ("smaller", 7),
        ("bytes/st", 8),
        ("instr/st", 8),
        ("2 threads", 9),
    ]);
    for program in &settings.programs {
        let name = program.file_stem().unwrap_or_default().to_string_lossy();
        let file = program.to_string_lossy();
        let pan = match has_spin {
            true => Some(Pan::build(palisade, &name, &file)?),
            false => None,
        };
        // In turns, so that a busy minute hits both.
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..settings.runs {
            ours.push(walk(palisade, &file, "1")?);
            if let Some(pan) = &pan {
                theirs.push(pan.verify("pan")?);
            }
        }
        let ours = fastest(ours).ok_or("nothing was measured")?;
        let states = ours.0 as f64;
        let theirs = fastest(theirs);
        let collapsed = match &pan {
            Some(pan) => Some(pan.verify("collapse")?),
            None => None,
        };
        let scaling = two_threads(palisade, &file, settings.runs)?;
        let instructions = match settings.callgrind {
            true => instructions(palisade, &file).map(|n| format!("{:.0}", n / states)),
            false => None,
        };
        let mebibytes = |finished: &Finished| finished.peak_bytes as f64 / f64::from(1 << 20);
        let number = |value: Option<f64>, digits: usize| {
            value.map_or("-".to_string(), |value| format!("{value:.digits$}"))
        };
        let their_seconds = theirs.as_ref().map(|(_, f)| f.seconds);
        let their_memory = collapsed.as_ref().map(|(_, f)| mebibytes(f));
        table.row(&[
            name.to_string(),
            ours.0.to_string(),
            number(theirs.as_ref().map(|(states, _)| *states as f64), 0),
            number(Some(ours.1.seconds), 2),
            number(their_seconds, 2),
            number(their_seconds.map(|t| t / ours.1.seconds), 1),
            number(Some(mebibytes(&ours.1)), 1),
            number(their_memory, 1),
            number(their_memory.map(|m| m / mebibytes(&ours.1)), 1),
            number(Some(ours.1.peak_bytes as f64 / states), 1),
            instructions.unwrap_or("-".to_string()),
            format!("{:.0}%", 100.0 * scaling),
        ]);
    }
    table.save("spin");
    println!(
        "faster: pan's time over ours, one thread each (least of {} runs, in turns). smaller: pan's memory with -DCOLLAPSE over ours.\n\
         2 threads: throughput of one walk with two threads, in percent of two walks with one thread each at the same time (least of {} runs;\n\
         of {} where a walk takes less than a second).",
        settings.runs,
        settings.runs,
        settings.runs * 3
    );
    Ok(())
}

fn fastest(runs: Vec<(u64, Finished)>) -> Option<(u64, Finished)> {
    let by_time = |a: &(u64, Finished), b: &(u64, Finished)| a.1.seconds.total_cmp(&b.1.seconds);
    runs.into_iter().min_by(by_time)
}

/// One walk; how many states, and what it cost.
fn walk(palisade: &Palisade, file: &str, jobs: &str) -> Result<(u64, Finished), String> {
    let question = ["check", file, "--model", "sc", "--criterion", "safe"];
    let mut arguments = question.to_vec();
    arguments.extend(["--jobs", jobs]);
    let (json, finished) = palisade.json(&arguments, LIMIT)?;
    if json["verdict"] != "holds" {
        return Err(format!("{file}: not the whole state space: {json}"));
    }
    Ok((json["stats"]["states"].as_u64().unwrap_or(0), finished))
}

/// The throughput of one walk with two threads over that of two walks at the same time.
fn two_threads(palisade: &Palisade, file: &str, runs: usize) -> Result<f64, String> {
    let (mut together, mut apart) = (f64::INFINITY, f64::INFINITY);
    // What is over soon is disturbed more easily.
    let first = walk(palisade, file, "2")?.1.seconds;
    let runs = if first < 1.0 { runs * 3 } else { runs };
    for _ in 0..runs {
        together = together.min(walk(palisade, file, "2")?.1.seconds);
        let begin = Instant::now();
        std::thread::scope(|scope| {
            let other = scope.spawn(|| walk(palisade, file, "1"));
            let one = walk(palisade, file, "1");
            let other = other.join().map_err(|_| "a walk failed".to_string())?;
            one.and(other)
        })?;
        apart = apart.min(begin.elapsed().as_secs_f64());
    }
    Ok(apart / (2.0 * together))
}

/// Instructions of one walk, by callgrind; none where valgrind is not installed.
fn instructions(palisade: &Palisade, file: &str) -> Option<f64> {
    let mut command = Command::new("valgrind");
    command
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(palisade.binary())
        .args(["check", file, "--model", "sc", "--criterion", "safe"])
        .args(["--jobs", "1", "--format", "json"]);
    let output = command.output().ok()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = text.lines().find(|line| line.contains("Collected"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

/// A program's verifiers, by SPIN.
struct Pan {
    directory: PathBuf,
}

impl Pan {
    fn build(palisade: &Palisade, name: &str, file: &str) -> Result<Pan, String> {
        let directory = std::env::temp_dir().join(format!("palisade-bench-{name}"));
        let said = |error: std::io::Error| error.to_string();
        std::fs::create_dir_all(&directory).map_err(said)?;
        let promela = palisade.text(&["export", file, "--to", "promela"])?;
        std::fs::write(directory.join("model.pml"), promela).map_err(said)?;
        let step = |program: &str, arguments: &[&str]| {
            let mut command = Command::new(program);
            command.args(arguments).current_dir(&directory);
            match run(&mut command, LIMIT).map_err(said)?.status {
                Some(0) => Ok(()),
                _ => Err(format!("{program} {} failed", arguments.join(" "))),
            }
        };
        step("spin", &["-a", "model.pml"])?;
        let compile = ["-O2", "-DSAFETY", "-DMEMLIM=16000", "-o"];
        step("cc", &[&compile[..], &["pan", "pan.c"]].concat())?;
        let collapse = [&compile[..], &["collapse", "-DCOLLAPSE", "pan.c"]].concat();
        step("cc", &collapse)?;
        Ok(Pan { directory })
    }

    /// Runs a verifier over the whole state space; how many states it stored, and what it cost.
    fn verify(&self, verifier: &str) -> Result<(u64, Finished), String> {
        let path: &Path = &self.directory.join(verifier);
        let mut command = Command::new(path);
        command
            .args(["-m2000000", "-w23"])
            .current_dir(&self.directory);
        let finished = run(&mut command, LIMIT).map_err(|error| error.to_string())?;
        let text = &finished.output;
        if !text.contains("errors: 0") || text.contains(TOO_DEEP) {
            return Err(format!("{}: not the whole state space", path.display()));
        }
        Ok((states_stored(text), finished))
    }
}
