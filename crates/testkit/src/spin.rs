//! SPIN, where it is installed: what its verifier says about a model in Promela.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Whether a verifier can be made here; the test counts as skipped if not.
pub fn is_installed() -> bool {
    let runs = |program: &str, argument: &str| {
        let output = Command::new(program).arg(argument).output();
        output.is_ok_and(|output| output.status.success())
    };
    let found = runs("spin", "-V") && runs("cc", "--version");
    if !found {
        crate::skipped("SPIN or C compiler");
    }
    found
}

/// Makes a verifier for a model and runs it with these further arguments. Whether it finds no error; `None` where it does not look at everything.
/// An error, with what was said, where SPIN or the C compiler refuses the model.
pub fn verify(model: &str, arguments: &[&str]) -> Result<Option<bool>, String> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("palisade-spin-{}-{number}", std::process::id());
    let directory = Directory(std::env::temp_dir().join(name));
    let said = |error: std::io::Error| error.to_string();
    std::fs::create_dir_all(&directory.0).map_err(said)?;
    std::fs::write(directory.0.join("model.pml"), model).map_err(said)?;
    run(&directory.0, "spin", &["-a", "model.pml"])?;
    let compile = [
        "-O0",
        "-w",
        "-DSAFETY",
        "-DMEMLIM=2000",
        "-o",
        "pan",
        "pan.c",
    ];
    run(&directory.0, "cc", &compile)?;
    let said = run(&directory.0, "./pan", arguments)?;
    let errors = said.split("errors: ").nth(1);
    let Some(errors) = errors.and_then(|rest| rest.split_whitespace().next()) else {
        return Err(said);
    };
    let incomplete = [
        "max search depth too small",
        "Search not completed",
        "memory bound",
    ];
    let holds = errors == "0";
    let complete = !holds || !incomplete.iter().any(|why| said.contains(why));
    Ok(complete.then_some(holds))
}

struct Directory(PathBuf);

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run(directory: &Path, program: &str, arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new(program);
    let output = command.args(arguments).current_dir(directory).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    match output.status.success() {
        true => Ok(said),
        false => Err(format!("{program}: {said}")),
    }
}
