//! SPIN beside us: an exported program, verified by `pan` within limits of time and memory.
//!
//! `pan` is built with `-O2 -DSAFETY`, its partial-order reduction is on. What it does not finish within the limits is said, and never counts
//! as an answer.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::tool::{Finished, Palisade, run, times};

/// How long `pan` may run, in seconds of CPU.
const RUN_SECONDS: u64 = 10;
/// How long `cc` may take to build it, in seconds of CPU.
const BUILD_SECONDS: u64 = 60;
/// How much memory it may take, in MiB.
const MEMORY: u64 = 2000;

/// What `pan` prints where its stack was too small.
pub const TOO_DEEP: &str = "max search depth too small";

/// What `pan` says about a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It saw all states, and nothing bad.
    Holds,
    /// Something that must never happen does.
    Violated,
    /// It saw a part of the states; why not more.
    Unfinished(String),
}

/// What `pan` said and took.
#[derive(Clone, Debug)]
pub struct Verified {
    /// What it says.
    pub answer: Answer,
    /// States stored.
    pub states: u64,
    /// Seconds that `spin` and `cc` took to build it.
    pub build: f64,
    /// Seconds that it ran.
    pub seconds: f64,
}

/// SPIN, where it is installed.
pub struct Spin {
    directory: PathBuf,
}

impl Drop for Spin {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

impl Spin {
    /// SPIN, if it and a C compiler are there and `--no-spin` is not among the arguments; says so if not.
    pub fn find(arguments: &[String]) -> Option<Spin> {
        if arguments.iter().any(|argument| argument == "--no-spin") {
            return None;
        }
        let starts =
            |program: &str, argument: &str| Command::new(program).arg(argument).output().is_ok();
        if !starts("spin", "-V") || !starts("cc", "--version") {
            println!("SPIN or a C compiler is not installed: our side alone");
            return None;
        }
        let directory = std::env::temp_dir().join(format!("palisade-pan-{}", std::process::id()));
        match std::fs::create_dir_all(&directory) {
            Ok(()) => Some(Spin { directory }),
            Err(error) => {
                println!("cannot make {}: {error}", directory.display());
                None
            }
        }
    }

    /// Exports a file with these further arguments (`--instrumented`, `--criterion`, …) and has it verified.
    pub fn verify(
        &self,
        palisade: &Palisade,
        file: &Path,
        arguments: &[&str],
    ) -> Result<Verified, String> {
        let file = file.to_string_lossy();
        let mut export = vec!["export", &*file, "--to", "promela"];
        export.extend(arguments);
        let model = self.directory.join("model.pml");
        std::fs::write(model, palisade.text(&export)?).map_err(|error| error.to_string())?;
        let unfinished = |why: String, build: f64| Verified {
            answer: Answer::Unfinished(why),
            states: 0,
            build,
            seconds: 0.0,
        };
        let spin = self.run("spin", &["-a", "model.pml"], BUILD_SECONDS)?;
        if spin.status != Some(0) {
            // It reads no more than 2048 `d_step`s, for one.
            return Ok(unfinished("too large for SPIN".to_owned(), spin.seconds));
        }
        let memory = format!("-DMEMLIM={MEMORY}");
        let compile = ["-O2", "-w", "-DSAFETY", &memory, "-o", "pan", "pan.c"];
        let compiled = self.run("cc", &compile, BUILD_SECONDS)?;
        let build = spin.seconds + compiled.seconds;
        if compiled.status != Some(0) {
            return Ok(unfinished(format!("build > {BUILD_SECONDS} s"), build));
        }
        // A deadlock is no error: exported programs wait at an `assume` that will never be true. Most programs are small, and
        // large tables would be most of what is measured.
        let mut ran = self.run("./pan", &["-m10000", "-w18", "-E"], 1)?;
        if ran.output.contains(TOO_DEEP) || ran.status.is_none() {
            ran = self.run("./pan", &["-m2000000", "-w23", "-E"], RUN_SECONDS)?;
        }
        Ok(Verified {
            answer: answer(&ran.output, ran.status),
            states: states_stored(&ran.output),
            build,
            seconds: ran.seconds,
        })
    }

    /// Runs a command with so many seconds of CPU for each of its processes: by the wall clock a busy machine would decide what finishes.
    fn run(&self, program: &str, arguments: &[&str], seconds: u64) -> Result<Finished, String> {
        let mut command = Command::new("sh");
        command
            .args(["-c", "ulimit -t $0; exec \"$@\"", &seconds.to_string()])
            .arg(program)
            .args(arguments)
            .current_dir(&self.directory);
        run(&mut command, Duration::from_secs(20 * seconds))
            .map_err(|error| format!("{program}: {error}"))
    }
}

/// How many states `pan` says that it stored.
pub fn states_stored(output: &str) -> u64 {
    let stored = output.lines().find_map(|line| {
        let line = line.trim().strip_suffix("states, stored")?;
        line.trim().parse::<f64>().ok()
    });
    stored.unwrap_or(0.0) as u64
}

/// Reads what `pan` printed.
fn answer(output: &str, status: Option<i32>) -> Answer {
    let errors = output.split("errors: ").nth(1);
    let found = errors.is_some_and(|rest| !rest.trim_start().starts_with('0'));
    if status.is_none() {
        return Answer::Unfinished(format!("> {RUN_SECONDS} s"));
    }
    if found && output.contains("assertion violated") {
        return Answer::Violated;
    }
    if output.contains(TOO_DEEP) {
        return Answer::Unfinished("too deep".to_owned());
    }
    if output.contains("memory bound") || output.contains("-DMEMLIM") || errors.is_none() {
        return Answer::Unfinished(format!("> {MEMORY} MiB"));
    }
    match found {
        true => Answer::Unfinished("an error of its own".to_owned()),
        false => Answer::Holds,
    }
}

/// Three cells of a table: `pan`'s states and seconds (or why it did not finish), and how much longer than ours its run was.
pub fn cells(verified: Option<&Result<Verified, String>>, ours: f64) -> [String; 3] {
    match verified {
        None => ["-".to_owned(), "-".to_owned(), String::new()],
        Some(Err(why)) => ["-".to_owned(), why.clone(), String::new()],
        Some(Ok(verified)) => match &verified.answer {
            Answer::Unfinished(why) => {
                // At least so much longer.
                let ratio = match why.ends_with(" s") && !why.starts_with("build") {
                    true => format!("> {}", times(verified.seconds, ours)),
                    false => String::new(),
                };
                [verified.states.to_string(), why.clone(), ratio]
            }
            _ => [
                verified.states.to_string(),
                format!("{:.2}", verified.seconds),
                times(verified.seconds, ours),
            ],
        },
    }
}

/// Whether `pan` says otherwise: a remark for the table, and nothing where it agrees or has no answer.
pub fn remark(verified: Option<&Result<Verified, String>>, verdict: &str) -> &'static str {
    match verified {
        Some(Ok(Verified { answer, .. })) => match (answer, verdict) {
            (Answer::Holds, "violated") => "pan: holds",
            (Answer::Violated, "holds") => "pan: violated",
            _ => "",
        },
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_pan_prints() {
        let holds = "State-vector 36 byte, depth reached 9, errors: 0\n 12 states, stored\n";
        assert_eq!(answer(holds, Some(0)), Answer::Holds);
        let violated = "pan:1: assertion violated !(goal)\n depth reached 9, errors: 1\n";
        assert_eq!(answer(violated, Some(0)), Answer::Violated);
        let deep = "error: max search depth too small\n depth reached 9, errors: 0\n";
        assert!(matches!(answer(deep, Some(0)), Answer::Unfinished(_)));
        let full = "pan: reached -DMEMLIM bound\n depth reached 9, errors: 0\n";
        assert!(matches!(answer(full, Some(0)), Answer::Unfinished(_)));
        assert!(matches!(answer(holds, None), Answer::Unfinished(_)));
        assert!(matches!(answer("", Some(1)), Answer::Unfinished(_)));
    }
}
