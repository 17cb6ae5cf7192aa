//! Running programs from outside, as a user does: process start included, memory as the operating system counts it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// The directory of the workspace.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The corpus of programs with known verdicts, where it is present.
pub fn corpus() -> Option<PathBuf> {
    let path = workspace().join("../shared/corpus");
    path.is_dir().then_some(path)
}

/// What a finished process left behind.
pub struct Finished {
    /// What it printed.
    pub output: String,
    /// Seconds from start to end, by the wall clock.
    pub seconds: f64,
    /// The most memory that was resident, in bytes, as far as it was seen: a process that ends within milliseconds may show 0.
    pub peak_bytes: u64,
    /// Seconds of processors that it took, as far as they were seen: at most some milliseconds are missing.
    pub cpu_seconds: f64,
    /// Its exit status; none if it was ended by a signal or by our time limit.
    pub status: Option<i32>,
}

/// How often our seconds fit into theirs, for a table.
pub fn times(theirs: f64, ours: f64) -> String {
    match theirs / ours {
        factor if factor < 9.95 => format!("{factor:.1}"),
        factor => format!("{factor:.0}"),
    }
}

/// Runs a command to its end, or to the time limit.
pub fn run(command: &mut Command, limit: Duration) -> std::io::Result<Finished> {
    let begin = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut pipe = child.stdout.take();
    let process = format!("/proc/{}", child.id());
    let child = Mutex::new(child);
    let (ended, is_ended) = mpsc::channel();
    std::thread::scope(|scope| {
        // Leaving ends the watch.
        let ended = ended;
        // Another process looks at the clock and at the memory, from time to time only: looking disturbs.
        let watching = scope.spawn(|| watch(&child, &process, begin, limit, is_ended));
        // The end of what it prints is, nearly always, that of the process: a thread that waits for it is woken up at once.
        let mut output = Vec::new();
        if let Some(pipe) = &mut pipe {
            std::io::Read::read_to_end(pipe, &mut output)?;
        }
        let status = loop {
            if let Some(status) = lock(&child).try_wait()? {
                break status.code();
            }
            std::thread::yield_now();
        };
        let seconds = begin.elapsed().as_secs_f64();
        let _ = ended.send(());
        let (peak_bytes, cpu_seconds) = watching.join().unwrap_or_default();
        Ok(Finished {
            output: String::from_utf8_lossy(&output).into_owned(),
            seconds,
            peak_bytes,
            cpu_seconds,
            status,
        })
    })
}

/// Ends a process at its time limit; the most memory that it was seen to hold, and the time of processors that it was seen to take.
fn watch(
    child: &Mutex<Child>,
    process: &str,
    begin: Instant,
    limit: Duration,
    is_ended: mpsc::Receiver<()>,
) -> (u64, f64) {
    let (mut peak_bytes, mut cpu_seconds) = (0, 0.0_f64);
    loop {
        // A process that ends soon is looked at often.
        let pause = begin.elapsed() / 8;
        let pause = pause.clamp(Duration::from_micros(500), Duration::from_millis(5));
        if is_ended.recv_timeout(pause) != Err(mpsc::RecvTimeoutError::Timeout) {
            return (peak_bytes, cpu_seconds);
        }
        if begin.elapsed() > limit {
            let _ = lock(child).kill();
        }
        peak_bytes = peak_bytes.max(high_water_mark(process));
        cpu_seconds = cpu_seconds.max(processor_time(process));
    }
}

fn lock(child: &Mutex<Child>) -> std::sync::MutexGuard<'_, Child> {
    child.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Seconds of processors that a process has taken, itself and on its behalf.
fn processor_time(process: &str) -> f64 {
    let text = std::fs::read_to_string(format!("{process}/stat")).unwrap_or_default();
    // The name of the command is in parentheses, and may have spaces.
    let behind = text.rsplit_once(')').map_or("", |(_, behind)| behind);
    let fields = behind.split_whitespace().skip(11).take(2);
    let ticks: u64 = fields.filter_map(|field| field.parse::<u64>().ok()).sum();
    // Linux counts hundredths for programs, whatever it counts for itself.
    ticks as f64 / 100.0
}

fn high_water_mark(process: &str) -> u64 {
    let text = std::fs::read_to_string(format!("{process}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// The tool itself.
pub struct Palisade {
    binary: PathBuf,
}

impl Palisade {
    /// Builds the command like a user would (release), and remembers where it is. The variable `PALISADE` names another build to be measured.
    pub fn build() -> Result<Palisade, String> {
        if let Some(binary) = std::env::var_os("PALISADE").map(PathBuf::from) {
            return match binary.is_file() {
                true => Ok(Palisade { binary }),
                false => Err(format!("PALISADE: there is no {}", binary.display())),
            };
        }
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo)
            .args(["build", "--release", "--quiet", "--package", "palisade-cli"])
            .current_dir(workspace())
            .status()
            .map_err(|error| format!("cannot run cargo: {error}"))?;
        if !status.success() {
            return Err("`cargo build --release -p palisade-cli` failed".to_string());
        }
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| workspace().join("target"), PathBuf::from);
        Ok(Palisade {
            binary: target.join("release/palisade"),
        })
    }

    /// Where it is.
    pub fn binary(&self) -> &Path {
        &self.binary
    }

    /// Runs it with these arguments and `--format json`; its first line of JSON, and what it cost.
    pub fn json(
        &self,
        arguments: &[&str],
        limit: Duration,
    ) -> Result<(serde_json::Value, Finished), String> {
        let mut command = Command::new(&self.binary);
        command.args(arguments).args(["--format", "json"]);
        let finished = run(&mut command, limit).map_err(|error| error.to_string())?;
        let line = finished.output.lines().next().unwrap_or("null");
        let json = serde_json::from_str(line).map_err(|error| error.to_string())?;
        Ok((json, finished))
    }

    /// What it prints for these arguments.
    pub fn text(&self, arguments: &[&str]) -> Result<String, String> {
        let mut command = Command::new(&self.binary);
        command.args(arguments);
        let finished =
            run(&mut command, Duration::from_secs(60)).map_err(|error| error.to_string())?;
        match finished.status {
            Some(0) => Ok(finished.output),
            _ => Err(format!("palisade {} failed", arguments.join(" "))),
        }
    }
}
