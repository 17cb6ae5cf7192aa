//! Rust files and their mutants: every file of the directories that are named, and the same with one order weakened or one fence left out.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use bench::output::Table;
use bench::tool::Palisade;

/// What one file, or one mutant of it, came to.
struct Row {
    verdict: String,
    states: String,
    seconds: f64,
}

fn ask(palisade: &Palisade, file: &Path, limit: Duration) -> Row {
    let seconds = limit.as_secs().to_string() + "s";
    let name = file.to_string_lossy();
    let arguments = [
        "check",
        "--criterion",
        "safe",
        "--model",
        "c20",
        "--timeout",
        &seconds,
        &*name,
    ];
    // The compiler runs within the command, too.
    match palisade.json(&arguments, limit + Duration::from_secs(60)) {
        Ok((json, finished)) => {
            let verdict = json["verdict"].as_str().unwrap_or("none").to_owned();
            let reason = json["reason"].as_str().unwrap_or("");
            Row {
                verdict: match verdict.as_str() {
                    "error" | "unknown" => format!("{verdict}: {reason}"),
                    _ => verdict,
                },
                states: json["stats"]["states"].to_string(),
                seconds: finished.seconds,
            }
        }
        Err(why) => Row {
            verdict: format!("error: {why}"),
            states: String::new(),
            seconds: 0.0,
        },
    }
}

/// A mutant: its line, what was changed, and its text.
struct Mutant {
    line: usize,
    what: String,
    text: String,
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Every single weakening of an order to `Relaxed`, and every fence left out. Comments and imports stay as they are.
fn mutants(text: &str) -> Vec<Mutant> {
    let mut found = Vec::new();
    let mut offset = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let code = line.split("//").next().unwrap_or("");
        let skip =
            code.trim_start().starts_with("use ") || code.trim_start().starts_with("pub use ");
        let begin = offset;
        offset += line.len();
        if skip {
            continue;
        }
        let trimmed = code.trim();
        if (trimmed.starts_with("fence(") || trimmed.contains("::fence("))
            && trimmed.ends_with(");")
        {
            let without = [&text[..begin], "\n", &text[offset..]].concat();
            found.push(Mutant {
                line: number + 1,
                what: format!("without {trimmed}"),
                text: without,
            });
            continue;
        }
        for order in ["Acquire", "Release", "AcqRel"] {
            for (at, _) in code.match_indices(order) {
                let before = code[..at].chars().next_back();
                let after = code[at + order.len()..].chars().next();
                if before.is_some_and(is_word) || after.is_some_and(is_word) {
                    continue;
                }
                let weak = match code[..at].ends_with("Ordering::") {
                    true => "Relaxed",
                    false => "std::sync::atomic::Ordering::Relaxed",
                };
                let at = begin + at;
                found.push(Mutant {
                    line: number + 1,
                    what: format!("{order} to Relaxed in `{trimmed}`"),
                    text: [&text[..at], weak, &text[at + order.len()..]].concat(),
                });
            }
        }
    }
    found
}

/// Prints the table. Directories and files are looked at; a number sets the limit in seconds for each row; `--no-mutants` leaves the mutants out.
pub fn table(palisade: &Palisade, arguments: &[String]) -> ExitCode {
    let number = arguments.iter().find_map(|word| word.parse().ok());
    let limit = Duration::from_secs(number.unwrap_or(10));
    let with_mutants = !arguments.iter().any(|word| word == "--no-mutants");
    let mut files: Vec<PathBuf> = Vec::new();
    for word in arguments.iter().filter(|word| word.parse::<u64>().is_err()) {
        let path = PathBuf::from(word);
        match std::fs::read_dir(&path) {
            Ok(entries) => files.extend(entries.flatten().map(|entry| entry.path())),
            Err(_) if path.is_file() => files.push(path),
            Err(_) => {}
        }
    }
    if files.is_empty() {
        files = std::fs::read_dir(bench::tool::workspace().join("programs/rust"))
            .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
            .unwrap_or_default();
    }
    files.retain(|file| file.extension().is_some_and(|e| e == "rs"));
    files.sort();
    let scratch = std::env::temp_dir().join(format!("palisade-mutants-{}", std::process::id()));
    if std::fs::create_dir_all(&scratch).is_err() {
        return ExitCode::FAILURE;
    }
    let mut table = Table::new(&[
        ("file", 28),
        ("line", 5),
        ("verdict", 10),
        ("states", 9),
        ("s", 7),
        ("what", 60),
    ]);
    let mut undecided = 0;
    for file in &files {
        let name = file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let row = ask(palisade, file, limit);
        undecided += usize::from(row.verdict.contains(':'));
        let seconds = format!("{:.2}", row.seconds);
        table.row(&[&*name, "", &row.verdict, &row.states, &seconds, "as it is"]);
        if !with_mutants {
            continue;
        }
        let text = std::fs::read_to_string(file).unwrap_or_default();
        for mutant in mutants(&text) {
            let place = scratch.join(&name);
            if std::fs::write(&place, &mutant.text).is_err() {
                return ExitCode::FAILURE;
            }
            let row = ask(palisade, &place, limit);
            undecided += usize::from(row.verdict.contains(':'));
            let (line, seconds) = (mutant.line.to_string(), format!("{:.2}", row.seconds));
            table.row(&[
                &name,
                &line,
                &row.verdict,
                &row.states,
                &seconds,
                &mutant.what,
            ]);
        }
    }
    let _ = std::fs::remove_dir_all(&scratch);
    table.note(format!(
        "{undecided} not decided within {} s",
        limit.as_secs()
    ));
    ExitCode::SUCCESS
}
