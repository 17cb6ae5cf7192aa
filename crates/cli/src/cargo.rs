//! `cargo palisade check|fence|orders|test|export`: the command `palisade` for a target of a cargo package, with its features, and its dependencies compiled by cargo.
//!
//! Cargo compiles the target as `cargo check` does, in a directory of its own, and this program, which it runs in place of the compiler, writes down how the target and the
//! crates that it uses are compiled. Then `palisade` is run on the target's file with the same edition, features and dependencies.

use palisade_rust::compile::Recorded;
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
    let target: Recorded = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let beside = own.with_file_name(format!("palisade{}", std::env::consts::EXE_SUFFIX));
    let palisade = match beside.is_file() {
        true => beside,
        false => PathBuf::from("palisade"),
    };
    let status = Command::new(&palisade)
        .arg(command)
        .arg(shown_file(&target))
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
    let directory = target_directory(&cargo, split)?;
    let build = |target: &[&str]| {
        Command::new(&cargo)
            .args(["rustc", "--quiet", "--profile", "check"])
            .args(&split.cargo)
            .args(target)
            .arg("--target-dir")
            .arg(&directory)
            .args(["--", "--cap-lints=allow", "--cfg", &mark])
            .env(RECORD, record)
            // Not those of the workspace alone: how the others are compiled is written down, too.
            .env("RUSTC_WRAPPER", own)
            .env_remove("RUSTC_WORKSPACE_WRAPPER")
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

/// Where cargo compiles for us: inside its own directory, so that every crate is compiled by way of this program once.
fn target_directory(cargo: &OsString, split: &Split) -> Result<PathBuf, String> {
    let mut arguments = split.cargo.iter();
    let mut manifest: Vec<&OsString> = Vec::new();
    while let Some(argument) = arguments.next() {
        if argument == "--manifest-path" {
            manifest.push(argument);
            manifest.extend(arguments.next());
        } else if argument.to_string_lossy().starts_with("--manifest-path=") {
            manifest.push(argument);
        }
    }
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version=1", "--offline"])
        .args(manifest)
        .output()
        .map_err(|e| format!("cargo cannot be run: {e}"))?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| String::from_utf8_lossy(&output.stderr).trim().to_owned())?;
    match metadata["target_directory"].as_str() {
        Some(directory) => Ok(Path::new(directory).join("palisade")),
        None => Err("cargo does not say where it compiles".to_owned()),
    }
}

/// The target's file, with a short name if it is in this directory.
fn shown_file(target: &Recorded) -> PathBuf {
    let whole = target.directory.join(&target.file);
    let here = std::env::current_dir().unwrap_or_default();
    whole
        .strip_prefix(&here)
        .map(PathBuf::from)
        .unwrap_or(whole)
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
    let beside = match texts.iter().any(|text| text.starts_with(MARK)) {
        true => Some(record.to_owned()),
        false => beside_library(&texts),
    };
    let library = beside_library(&texts).is_some();
    if let Some(beside) = beside
        && let Ok(text) = serde_json::to_string(&target(&texts))
    {
        let _ = std::fs::write(&beside, text);
        // Its MIR is that of an older text.
        let _ = std::fs::remove_file(beside.with_extension("mir"));
    }
    let mut command = Command::new(compiler);
    command.args(arguments).env_remove(RECORD);
    // What others use of a library they need the code of, and `cargo check` leaves it out. Only what cargo itself compiles: a build script that tries what the compiler
    // can do must not find more than there is.
    if library && texts.iter().any(|text| text.starts_with("metadata=")) {
        command
            .arg("-Zalways-encode-mir")
            .env("RUSTC_BOOTSTRAP", "1");
    }
    match command.status() {
        Ok(status) => ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1)),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Where it is written down how a library is compiled; crates other than libraries are not used by any crate.
fn beside_library(texts: &[String]) -> Option<PathBuf> {
    let behind = |flag: &str| {
        let joined = texts
            .iter()
            .find_map(|t| t.strip_prefix(&format!("{flag}=")));
        let at = texts.iter().position(|text| text == flag);
        joined.or(at.and_then(|at| texts.get(at + 1)).map(String::as_str))
    };
    let kind = behind("--crate-type")?;
    if !matches!(kind, "lib" | "rlib") {
        return None;
    }
    let extra = texts
        .iter()
        .find_map(|text| text.strip_prefix("extra-filename="));
    let name = format!("lib{}{}", behind("--crate-name")?, extra.unwrap_or(""));
    Some(Path::new(behind("--out-dir")?).join(format!("{name}.palisade.json")))
}

/// What of the compiler's arguments decides what the text means.
fn target(texts: &[String]) -> Recorded {
    let directory = std::env::current_dir().unwrap_or_default();
    let mut found = Recorded {
        name: String::new(),
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
        } else if text == "--crate-name" {
            found.name = rest.next().cloned().unwrap_or_default();
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
