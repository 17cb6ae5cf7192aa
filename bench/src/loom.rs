//! Tests in loom's style: the answer of the command beside loom itself, and beside Miri where that is installed, on the same files in the same minute.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use bench::output::Table;
use bench::tool::{Finished, Palisade, run, workspace};

/// What one way came to.
struct Answer {
    verdict: String,
    /// States, or executions.
    number: String,
    seconds: String,
}

impl Answer {
    fn none(why: &str) -> Answer {
        Answer {
            verdict: why.to_owned(),
            number: String::new(),
            seconds: String::new(),
        }
    }
}

fn ours(palisade: &Palisade, file: &Path, limit: Duration) -> Answer {
    let name = file.to_string_lossy();
    let seconds = limit.as_secs().to_string() + "s";
    let arguments = ["check", "--criterion", "safe", "--timeout", &seconds, &name];
    match palisade.json(&arguments, limit + Duration::from_secs(60)) {
        Err(why) => Answer::none(&why),
        Ok((json, finished)) => Answer {
            verdict: json["verdict"].as_str().unwrap_or("none").to_owned(),
            number: json["stats"]["states"].to_string(),
            seconds: format!("{:.2}", finished.seconds),
        },
    }
}

/// What stands for loom where Miri executes a test: Miri has schedules of its own, and knows nothing of loom's.
const WITHOUT_LOOM: &str = "\
pub use std::{hint, sync, thread};
pub fn model(test: impl Fn()) {
    test();
}
pub mod cell {
    #[derive(Default)]
    pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);
    impl<T> UnsafeCell<T> {
        pub fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }
        pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }
        pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }
    }
}
";

/// A package with these files as its tests, outside of the workspace.
struct Package {
    directory: PathBuf,
}

impl Package {
    /// `loom` is what the manifest says of the dependency.
    fn new(files: &[PathBuf], name: &str, loom: &str) -> std::io::Result<Package> {
        let name = format!("palisade-{name}-{}", std::process::id());
        let package = Package {
            directory: std::env::temp_dir().join(name),
        };
        let directory = &package.directory;
        let tests = directory.join("tests");
        std::fs::create_dir_all(&tests)?;
        std::fs::create_dir_all(directory.join("loom"))?;
        let head = "version = \"0.0.0\"\nedition = \"2021\"\n[lib]\npath = \"lib.rs\"\n";
        let manifest = format!(
            "[package]\nname = \"beside\"\n{head}[dependencies]\nloom = {loom}\n[workspace]\n"
        );
        std::fs::write(directory.join("Cargo.toml"), manifest)?;
        std::fs::write(directory.join("lib.rs"), "")?;
        let manifest = format!("[package]\nname = \"loom\"\n{head}");
        std::fs::write(directory.join("loom/Cargo.toml"), manifest)?;
        std::fs::write(directory.join("loom/lib.rs"), WITHOUT_LOOM)?;
        for file in files {
            let name = file.file_name().unwrap_or_default();
            std::fs::copy(file, tests.join(name))?;
        }
        Ok(package)
    }

    fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command
            .args(arguments)
            .current_dir(&self.directory)
            .env("CARGO_TARGET_DIR", self.directory.join("target"))
            .env("RUSTFLAGS", "--cfg loom");
        command
    }

    /// The executables of the tests, by the names of their files without an end; none if they cannot be built, for example because loom cannot be fetched.
    fn build(&self) -> Option<Vec<(String, PathBuf)>> {
        let built = self
            .cargo(&[
                "test",
                "--release",
                "--no-run",
                "--quiet",
                "--message-format=json",
            ])
            .stderr(Stdio::null())
            .output()
            .ok()
            .filter(|output| output.status.success())?;
        let text = String::from_utf8_lossy(&built.stdout);
        let messages = text
            .lines()
            .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let tests = messages.filter_map(|message| {
            let source = Path::new(message["target"]["src_path"].as_str()?).file_stem()?;
            let executable = message["executable"].as_str()?;
            Some((source.to_string_lossy().into_owned(), executable.into()))
        });
        Some(tests.collect())
    }
}

impl Drop for Package {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// What a run of tests came to, if it did not meet the limit.
fn verdict_of(finished: &Finished) -> &'static str {
    match finished.status {
        Some(0) => "passed",
        Some(_) if finished.output.contains("exceeded maximum number") => "gave up",
        Some(_) => "failed",
        None => "no end",
    }
}

fn loom(executable: &Path, limit: Duration) -> Answer {
    // What loom says of its work goes to standard output, and a panic's message where both go.
    let mut command = Command::new("sh");
    command
        .args(["-c", "exec \"$0\" --nocapture 2>&1"])
        .arg(executable)
        .env("LOOM_LOG", "info");
    match run(&mut command, limit) {
        Err(error) => Answer::none(&error.to_string()),
        Ok(finished) => {
            // The text is coloured, but the number has none of that.
            let completed = finished.output.split("Completed in ").skip(1);
            let executions = completed.filter_map(|rest| {
                let number = rest.split_whitespace().next()?;
                number.parse::<u64>().ok()
            });
            let executions: u64 = executions.sum();
            Answer {
                verdict: verdict_of(&finished).to_owned(),
                number: match executions {
                    0 => String::new(),
                    number => number.to_string(),
                },
                seconds: format!("{:.2}", finished.seconds),
            }
        }
    }
}

/// So many schedules Miri tries.
const SEEDS: &str = "0..32";

fn miri(package: &Package, name: &str, limit: Duration) -> Answer {
    let mut command = package.cargo(&["miri", "test", "--quiet", "--test", name]);
    command.env("MIRIFLAGS", format!("-Zmiri-many-seeds={SEEDS}"));
    match run(&mut command, limit) {
        Err(error) => Answer::none(&error.to_string()),
        Ok(finished) => Answer {
            verdict: verdict_of(&finished).to_owned(),
            number: String::new(),
            seconds: format!("{:.2}", finished.seconds),
        },
    }
}

fn is_there(package: &Package, tool: &str) -> bool {
    package
        .cargo(&[tool, "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Prints the table. Files are looked at, or those of `programs/rust/loom`; a number sets the limit in seconds for each.
pub fn table(palisade: &Palisade, arguments: &[String]) -> ExitCode {
    let number = arguments.iter().find_map(|word| word.parse().ok());
    let limit = Duration::from_secs(number.unwrap_or(60));
    let mut files: Vec<PathBuf> = arguments.iter().map(PathBuf::from).collect();
    files.retain(|file| file.is_file());
    if files.is_empty() {
        let entries = std::fs::read_dir(workspace().join("programs/rust/loom"));
        files.extend(entries.into_iter().flatten().flatten().map(|e| e.path()));
    }
    files.sort();
    let packages = Package::new(&files, "loom", "\"0.7\"")
        .and_then(|real| Ok((real, Package::new(&files, "miri", "{ path = \"loom\" }")?)));
    let (with_loom, without_loom) = match packages {
        Ok(packages) => packages,
        Err(error) => {
            eprintln!("a package beside this one cannot be written: {error}");
            return ExitCode::FAILURE;
        }
    };
    let built = with_loom.build();
    let with_miri = is_there(&without_loom, "miri");
    let mut table = Table::new(&[
        ("file", 28),
        ("verdict", 10),
        ("states", 9),
        ("s", 7),
        ("loom", 8),
        ("executions", 10),
        ("loom s", 7),
        ("Miri", 8),
        ("Miri s", 7),
    ]);
    for file in &files {
        let name = file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let ours = ours(palisade, file, limit);
        let executable = built
            .iter()
            .flatten()
            .find(|(source, _)| *source == name)
            .map(|(_, executable)| executable);
        let theirs = match executable {
            Some(executable) => loom(executable, limit),
            None => Answer::none(""),
        };
        let miri = match with_miri {
            true => miri(&without_loom, &name, limit),
            false => Answer::none(""),
        };
        table.row(&[
            &name,
            &ours.verdict,
            &ours.number,
            &ours.seconds,
            &theirs.verdict,
            &theirs.number,
            &theirs.seconds,
            &miri.verdict,
            &miri.seconds,
        ]);
    }
    table.note("seconds: ours with translation and the Rust compiler, loom's without the compiler");
    match with_miri {
        true => table.note(format!("Miri executed each with the seeds {SEEDS}")),
        false => table.note("Miri is not installed"),
    }
    if built.is_none() {
        table.note("loom could not be built");
    }
    ExitCode::SUCCESS
}
