//! Running the user's compiler: from a Rust file to its MIR, within limits of time and memory.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use palisade_lang::meter::{exhaust, is_exhausted, memory};

/// The compiler may hold so much, whatever is said about us: with less it compiles nothing.
const LEAST_MEMORY: u64 = 512 << 20;

/// How the compiler is called.
#[derive(Clone, Debug)]
pub struct Compiler {
    /// The program.
    pub rustc: PathBuf,
    /// The edition of the file.
    pub edition: String,
    /// Whether `#[cfg(test)]` is on, and `#[test]` functions are roots.
    pub test: bool,
    /// How long it may take.
    pub timeout: Duration,
    /// More arguments: `--cfg`, `--extern`, `-L`.
    pub arguments: Vec<String>,
}

impl Default for Compiler {
    fn default() -> Self {
        Compiler {
            rustc: std::env::var_os("RUSTC").map_or_else(|| "rustc".into(), PathBuf::from),
            edition: "2021".to_owned(),
            test: false,
            timeout: Duration::from_secs(60),
            arguments: Vec::new(),
        }
    }
}

/// Why there is no MIR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompileError {
    /// The compiler could not be started.
    Absent(String),
    /// The compiler refused the file: what it said.
    Refused(String),
    /// It took too long.
    Slow(Duration),
    /// It took more memory than it may, or its answer is not waited for any more.
    Stopped,
    /// The scratch directory could not be used.
    Scratch(String),
}

/// The MIR of a file, and how the compiler names the file in it.
pub fn mir_of(path: &Path, compiler: &Compiler) -> Result<String, CompileError> {
    let scratch = tempfile::tempdir().map_err(|e| CompileError::Scratch(e.to_string()))?;
    let output = scratch.path().join("out.mir");
    let mut command = Command::new(&compiler.rustc);
    command
        .args(FLAGS)
        .args(["--edition", &compiler.edition])
        .arg("--crate-name=palisade_input")
        .args(if compiler.test { &["--test"][..] } else { &[] })
        .args(&compiler.arguments)
        .arg("-o")
        .arg(&output)
        .arg(path);
    run(command, compiler)?;
    std::fs::read_to_string(&output).map_err(|e| CompileError::Scratch(e.to_string()))
}

/// The same in another form, in which closures have everything that they capture. It has not all that the first one has.
pub fn captures_of(path: &Path, compiler: &Compiler) -> Result<String, CompileError> {
    let scratch = tempfile::tempdir().map_err(|e| CompileError::Scratch(e.to_string()))?;
    let output = scratch.path().join("out.mir");
    let mut command = Command::new(&compiler.rustc);
    command
        .arg("-Zunpretty=stable-mir")
        .args(&FLAGS[2..])
        .args(["--edition", &compiler.edition])
        .arg("--crate-name=palisade_input")
        .args(if compiler.test { &["--test"][..] } else { &[] })
        .args(&compiler.arguments)
        .arg("-o")
        .arg(&output)
        .arg(path);
    run(command, compiler)?;
    std::fs::read_to_string(&output).map_err(|e| CompileError::Scratch(e.to_string()))
}

/// How a crate was compiled for others: what decides what its text means.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Recorded {
    /// The crate's name.
    pub name: String,
    /// Where the compiler was called.
    pub directory: PathBuf,
    /// The first file.
    pub file: PathBuf,
    /// The edition.
    pub edition: String,
    /// `--cfg`, `--extern`, `-L` and their like.
    pub arguments: Vec<String>,
    /// What the crate's macros see.
    pub environment: std::collections::BTreeMap<String, String>,
}

/// The MIR of a crate that others use, which is kept beside what was written down about it.
pub fn mir_of_crate(
    recorded: &Recorded,
    kept: &Path,
    compiler: &Compiler,
) -> Result<String, CompileError> {
    if let Ok(text) = std::fs::read_to_string(kept) {
        return Ok(text);
    }
    let scratch = tempfile::tempdir().map_err(|e| CompileError::Scratch(e.to_string()))?;
    let output = scratch.path().join("out.mir");
    let mut command = Command::new(&compiler.rustc);
    command
        .args(FLAGS)
        .args(["--edition", &recorded.edition])
        .args(["--crate-type=lib", "--crate-name", &recorded.name])
        .args(&recorded.arguments)
        .arg("-o")
        .arg(&output)
        .arg(&recorded.file)
        .current_dir(&recorded.directory)
        .envs(&recorded.environment);
    run(command, compiler)?;
    let text =
        std::fs::read_to_string(&output).map_err(|e| CompileError::Scratch(e.to_string()))?;
    // Whoever asks next finds all of it or nothing. Where it cannot be kept, it is made again.
    let beside = kept.with_extension(format!("{}.part", std::process::id()));
    if std::fs::write(&beside, &text).is_ok() {
        let _ = std::fs::rename(&beside, kept);
    }
    Ok(text)
}

/// What makes the compiler write the text that is read here.
const FLAGS: [&str; 5] = [
    "--emit=mir",
    "-Zmir-include-spans=on",
    "-Zmir-opt-level=0",
    "-Cdebug-assertions=off",
    "-Ztrim-diagnostic-paths=no",
];

/// Compiles a crate that others name, as far as they need it to be compiled themselves.
pub fn library(
    path: &Path,
    output: &Path,
    name: &str,
    compiler: &Compiler,
) -> Result<(), CompileError> {
    let mut command = Command::new(&compiler.rustc);
    command
        .args(["--emit=metadata", "--crate-type=lib", "--edition=2021"])
        .arg("-Zalways-encode-mir")
        .args(["--crate-name", name])
        .arg("-o")
        .arg(output)
        .arg(path);
    run(command, compiler)
}

/// Runs the compiler within its limits.
fn run(mut command: Command, compiler: &Compiler) -> Result<(), CompileError> {
    command
        .args(["--cap-lints=allow", "--error-format=short"])
        // The flags that start with `-Z` are not stable; the text that they give is what we read.
        .env("RUSTC_BOOTSTRAP", "1")
        .env_remove("RUSTFLAGS")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .map_err(|e| CompileError::Absent(format!("{}: {e}", compiler.rustc.display())))?;
    let mut stderr = child.stderr.take();
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(stderr) = &mut stderr {
            // A longer list of errors would not be read.
            let _ = stderr.take(1 << 20).read_to_end(&mut text);
        }
        String::from_utf8_lossy(&text).into_owned()
    });
    bound(&child, compiler.timeout);
    let most = memory().map(|most| most.max(LEAST_MEMORY));
    let begin = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) => {}
            Err(e) => return Err(CompileError::Absent(e.to_string())),
        }
        let late = begin.elapsed() > compiler.timeout;
        let large = most
            .zip(held_by(&child))
            .is_some_and(|(most, held)| held > most);
        if late || large || is_exhausted() {
            let _ = child.kill();
            let _ = child.wait();
            if late {
                return Err(CompileError::Slow(compiler.timeout));
            }
            exhaust();
            return Err(CompileError::Stopped);
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let said = reader.join().unwrap_or_default();
    match status.success() {
        true => Ok(()),
        false => Err(CompileError::Refused(said)),
    }
}

/// Even if no process is left to end it, it ends.
#[cfg(target_os = "linux")]
fn bound(child: &Child, most: Duration) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let seconds = Some(most.as_secs() + 1);
    let limit = Rlimit {
        current: seconds,
        maximum: seconds,
    };
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // If that fails, it is still ended by us.
        let _ = prlimit(Some(pid), Resource::Cpu, limit);
    }
}

#[cfg(not(target_os = "linux"))]
fn bound(_: &Child, _: Duration) {}

/// How many bytes it holds, where the operating system tells.
fn held_by(child: &Child) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
}

/// The compiler's version, as it gives it.
pub fn version(compiler: &Compiler) -> Option<String> {
    let output = Command::new(&compiler.rustc)
        .arg("--version")
        .output()
        .ok()?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
