//! What tests of the command share.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

pub const PALISADE: &str = env!("CARGO_BIN_EXE_palisade");

/// What a call has said.
pub struct Done {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

pub fn palisade(arguments: &[&str]) -> Done {
    let output = Command::new(PALISADE)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Done {
        code: output.status.code().expect("no signal"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The line of JSON for one file, which must have been answered with this exit status.
#[track_caller]
pub fn json(code: i32, command: &str, arguments: &[&str]) -> Value {
    let done = palisade(&[&[command, "--format=json"], arguments].concat());
    assert_eq!(done.code, code, "{}{}", done.stdout, done.stderr);
    serde_json::from_str(done.stdout.lines().next().expect("a line")).unwrap()
}

/// A directory of files.
pub struct Files(tempfile::TempDir);

impl Files {
    pub fn new() -> Files {
        Files(tempfile::tempdir().unwrap())
    }

    pub fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

/// Two threads that count for ever: about 110 times the fourth power of `domain` states.
pub fn counting(domain: u32, never: &str) -> String {
    format!(
        "domain {domain};
shared turn, flag[2], x;
thread t[2] {{
  let n; let r; let s;
  loop {{
    n = n + 1;
    flag[me] = n; fence;
    turn = me; fence;
    r = x;
    x = r + 1; fence;
    s = flag[1 - me];
    if s == r {{ turn = s; fence; }}
  }}
}}
{never}
"
    )
}

/// A call in a directory, its words separated by blanks.
pub fn command(directory: &Path, line: &str) -> Command {
    let mut command = Command::new(PALISADE);
    command
        .args(line.split_whitespace())
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

pub fn run(directory: &Path, line: &str) -> Output {
    command(directory, line).output().unwrap()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// An answer in JSON without time and memory.
pub fn timeless(output: &Output) -> Value {
    let stdout = text(&output.stdout);
    let mut value: Value = serde_json::from_str(&stdout)
        .unwrap_or_else(|error| panic!("{error}: {stdout} {}", text(&output.stderr)));
    for name in ["wall_ms", "peak_memory_bytes"] {
        value["stats"][name] = 0.into();
    }
    value
}

/// The same without notes about how it was found.
pub fn told(output: &Output) -> Value {
    let mut value = timeless(output);
    if let Some(answer) = value.as_object_mut() {
        answer.remove("notes");
    }
    value
}

/// Moments to kill at, different each time.
pub struct Moments(u64);

impl Moments {
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        let now = std::time::SystemTime::now();
        let since = now.duration_since(std::time::UNIX_EPOCH).unwrap();
        Moments(since.as_nanos() as u64 | 1)
    }

    /// Some number below this one.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// From a tenth of so long to nine tenths of it.
    pub fn within(&mut self, time: Duration) -> Duration {
        time.mul_f64(0.1 + self.below(1000) as f64 * 0.0008)
    }
}
