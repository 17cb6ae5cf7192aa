//! `cargo palisade check|fence|orders|test|export`: the command `palisade` for a target of a cargo package, with its features, and its dependencies compiled by cargo.
//!
//! Cargo compiles the target as `cargo check` does, and this program, which it runs in place of the compiler, writes down how the target is compiled. Then
//! `palisade` is run on the target's file with the same edition, features and dependencies.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Where the compiler's arguments are written down.
const RECORD: &str = "PALISADE_CARGO_RECORD";
/// Marks the target that is asked about; cargo compiles it anew each time, because the value is new.
const MARK: &str = "palisade_target";

const HELP: &str = "\
Ask Palisade about a target of a cargo package

Usage: cargo palisade <check|fence|orders|test|export> [TARGET] [FEATURES] [OPTIONS OF PALISADE]

Target:
  -p, --package <NAME>      the package, where the workspace has several
      --manifest-path <PATH>
      --lib                 the package's library (if not given: the library, or else its only binary)
      --bin <NAME>          this binary
      --example <NAME>      this example
      --bench <NAME>        this benchmark
Features:
      --features <FEATURES>
      --all-features
      --no-default-features
      --target <TRIPLE>
      --offline, --locked, --frozen

Everything else is said to `palisade`: `cargo palisade check --client 'SpinLock<T>'`.
`palisade help` shows what there is.

Cargo runs the build scripts and procedural macros of the package and of its dependencies.
";

fn main() -> ExitCode {
    if let Some(record) = std::env::var_os(RECORD) {
        return as_compiler(Path::new(&record));
    }
    let mut arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    // Cargo gives the subcommand's name first.
    if arguments.first().is_some_and(|first| first == "palisade") {
        arguments.remove(0);
    }
    match run(arguments) {
        Ok(code) => code,
        Err(complaint) => {
            eprintln!("error: {complaint}");
            ExitCode::from(2)
        }
    }
}

/// What cargo has to know, and what `palisade` has.
#[derive(Default)]
struct Split {
    cargo: Vec<OsString>,
    palisade: Vec<OsString>,
    /// Whether a target was named.
    named: bool,
}

fn split(arguments: Vec<OsString>) -> Result<Split, String> {
    let mut split = Split::default();
    let mut rest = arguments.into_iter();
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy().into_owned();
        let flag = text.split('=').next().unwrap_or("");
        match flag {
            "--lib" | "--bin" | "--example" | "--bench" => split.named = true,
            _ => {}
        }
        match flag {
            "--lib"
            | "--all-features"
            | "--no-default-features"
            | "--offline"
            | "--locked"
            | "--frozen" => split.cargo.push(argument),
            "-p" | "--package" | "--manifest-path" | "--bin" | "--example" | "--bench"
            | "--features" | "-F" | "--target" => {
                split.cargo.push(argument);
                if !text.contains('=') {
                    let value = rest.next();
                    split
                        .cargo
                        .push(value.ok_or(format!("{flag} needs a value"))?);
                }
            }
            _ => split.palisade.push(argument),
        }
    }
    Ok(split)
}

fn run(mut arguments: Vec<OsString>) -> Result<ExitCode, String> {
    let first = arguments.first().map(|a| a.to_string_lossy().into_owned());
    let command = match first.as_deref() {
        Some("check" | "fence" | "orders" | "test" | "export") => arguments.remove(0),
        None | Some("-h" | "--help" | "help") => {
            print!("{HELP}");
            return Ok(ExitCode::SUCCESS);
        }
        Some("-V" | "--version") => {
            println!("cargo-palisade {}", env!("CARGO_PKG_VERSION"));
            return Ok(ExitCode::SUCCESS);
        }
        Some(other) => {
            return Err(format!(
                "there is no `cargo palisade {other}`; there are check, fence, orders, test and export"
            ));
        }
    };
    let split = split(arguments)?;
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let record = scratch.path().join("record.json");
    let own = std::env::current_exe().map_err(|e| e.to_string())?;
    compile(&split, &own, &record)?;
    let text = std::fs::read_to_string(&record)
        .map_err(|_| "cargo has compiled no target to ask about".to_owned())?;
    let target: Target = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let beside = own.with_file_name(format!("palisade{}", std::env::consts::EXE_SUFFIX));
    let palisade = match beside.is_file() {
        true => beside,
        false => PathBuf::from("palisade"),
    };
    let status = Command::new(&palisade)
        .arg(command)
        .arg(target.shown_file())
        .args(["--edition", &target.edition])
        .args(target.arguments.iter().map(|a| format!("--rustc-arg={a}")))
        .args(split.palisade)
        .envs(&target.environment)
        .status()
        .map_err(|e| format!("{}: {e}", palisade.display()))?;
    Ok(ExitCode::from(
        u8::try_from(status.code().unwrap_or(2)).unwrap_or(2),
    ))
}

/// Has cargo compile the target, with this program in place of the compiler.
fn compile(split: &Split, own: &Path, record: &Path) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mark = format!("{MARK}={:?}", record.to_string_lossy());
    let build = |target: &[&str]| {
        Command::new(&cargo)
            .args(["rustc", "--quiet", "--profile", "check"])
            .args(&split.cargo)
            .args(target)
            .args(["--", "--cap-lints=allow", "--cfg", &mark])
            .env(RECORD, record)
            .env("RUSTC_WORKSPACE_WRAPPER", own)
            .output()
            .map_err(|e| format!("cargo cannot be run: {e}"))
    };
    let mut output = build(if split.named { &[] } else { &["--lib"] })?;
    if !split.named && !output.status.success() && !record.exists() {
        let without = build(&[])?;
        if without.status.success() || record.exists() {
            output = without;
        }
    }
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("cargo does not build it:\n{}", said.trim_end()))
}

/// How a target is compiled.
#[derive(serde::Serialize, serde::Deserialize)]
struct Target {
    directory: PathBuf,
    file: PathBuf,
    edition: String,
    arguments: Vec<String>,
    environment: BTreeMap<String, String>,
}

impl Target {
    /// The target's file, with a short name if it is in this directory.
    fn shown_file(&self) -> PathBuf {
        let whole = self.directory.join(&self.file);
        let here = std::env::current_dir().unwrap_or_default();
        whole
            .strip_prefix(&here)
            .map(PathBuf::from)
            .unwrap_or(whole)
    }
}

/// In place of the compiler: writes down how the marked target is compiled, and compiles.
fn as_compiler(record: &Path) -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let Some(compiler) = arguments.next() else {
        return ExitCode::FAILURE;
    };
    let arguments: Vec<OsString> = arguments.collect();
    let texts: Vec<String> = arguments
        .iter()
        .map(|a| a.to_string_lossy().into_owned())
        .collect();
    if texts.iter().any(|text| text.starts_with(MARK)) {
        let target = target(&texts);
        if let Ok(text) = serde_json::to_string(&target) {
            let _ = std::fs::write(record, text);
        }
    }
    match Command::new(compiler)
        .args(arguments)
        .env_remove(RECORD)
        .status()
    {
        Ok(status) => ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1)),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// What of the compiler's arguments decides what the text means.
fn target(texts: &[String]) -> Target {
    let directory = std::env::current_dir().unwrap_or_default();
    let mut found = Target {
        file: PathBuf::new(),
        edition: "2015".to_owned(),
        arguments: Vec::new(),
        environment: std::env::vars()
            .filter(|(name, _)| {
                name.starts_with("CARGO_PKG_")
                    || matches!(
                        name.as_str(),
                        "OUT_DIR" | "CARGO_MANIFEST_DIR" | "CARGO_CRATE_NAME"
                    )
            })
            .collect(),
        directory,
    };
    let mut rest = texts.iter();
    while let Some(text) = rest.next() {
        if let Some(edition) = text.strip_prefix("--edition=") {
            found.edition = edition.to_owned();
        } else if matches!(text.as_str(), "--cfg" | "--extern" | "-L" | "--target") {
            let value = rest.next().cloned().unwrap_or_default();
            if !value.starts_with(MARK) {
                found.arguments.extend([text.clone(), value]);
            }
        } else if !text.starts_with('-') && text.ends_with(".rs") && found.file == Path::new("") {
            found.file = PathBuf::from(text);
        }
    }
    found
}
