//! C as it is written: the tests of GenMC and the locks of Dat3M, translation included, beside the time that GenMC takes for such a test.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bench::output::Table;
use bench::tool::{Palisade, corpus};

use crate::measure::{limit, shortest};

/// GenMC under RC11, compilation by clang included, on a machine like ours: between these seconds for each of its tests.
const GENMC: (f64, f64) = (0.3, 1.2);

/// What is asked of one program.
struct Row {
    name: String,
    file: PathBuf,
    defines: Vec<String>,
    model: &'static str,
    criterion: &'static str,
    /// `holds` or `violated`, where it is known.
    expected: Option<&'static str>,
}

/// Prints the table and writes it as CSV. A number sets the limit in seconds for each program.
pub fn table(palisade: &Palisade, arguments: &[String]) -> ExitCode {
    let Some(corpus) = corpus().map(|corpus| corpus.join("c")) else {
        eprintln!("the corpus of C programs is not there");
        return ExitCode::SUCCESS;
    };
    let mut table = Table::new(&[
        ("program", 34),
        ("model", 6),
        ("asked", 7),
        ("answer", 9),
        ("s", 8),
        ("states", 9),
        ("GenMC s", 10),
        ("remarks", 0),
    ]);
    let (mut fine, mut slower, mut undecided) = (true, 0, 0);
    for row in rows(&corpus) {
        let file = row.file.display().to_string();
        let mut question = vec!["check", &file, "--model", row.model];
        question.extend(["--criterion", row.criterion]);
        for define in &row.defines {
            question.extend(["-D", define]);
        }
        let mut remarks = Vec::new();
        let (answer, seconds, states) = match shortest(palisade, &question, limit(arguments, 60)) {
            Ok((json, finished)) => (
                json["verdict"].as_str().unwrap_or("none").to_owned(),
                finished.seconds,
                json["stats"]["states"].to_string(),
            ),
            Err(why) => {
                remarks.push(why);
                ("none".to_owned(), f64::NAN, String::new())
            }
        };
        let decided = answer == "holds" || answer == "violated";
        undecided += usize::from(!decided);
        slower += usize::from(decided && seconds > GENMC.0);
        if let Some(expected) = row.expected
            && decided
            && answer != expected
        {
            remarks.push(format!("should be {expected}"));
            fine = false;
        }
        table.row(&[
            row.name,
            row.model.to_owned(),
            row.criterion.to_owned(),
            answer,
            format!("{seconds:.4}"),
            states,
            format!("{} to {}", GENMC.0, GENMC.1),
            remarks.join("; "),
        ]);
    }
    table.note(format!(
        "{undecided} not decided; {slower} above GenMC's least time of {} s. GenMC bounds the loops of the locks, and has no answer for any number of rounds",
        GENMC.0
    ));
    table.save("c");
    ExitCode::from(u8::from(!fine || undecided > 0))
}

fn lines(path: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let rows = text.lines().skip(1);
    rows.map(|row| row.split('\t').map(str::to_owned).collect())
        .collect()
}

fn rows(corpus: &Path) -> Vec<Row> {
    let mut rows = Vec::new();
    for columns in lines(&corpus.join("genmc.tsv")) {
        let [name, _, _, arguments, robust, ..] = columns.as_slice() else {
            continue;
        };
        let words = arguments.split_whitespace();
        let defines = words.filter_map(|word| word.strip_prefix("-D"));
        let Some(file) = program(&corpus.join("genmc").join(name)) else {
            continue;
        };
        rows.push(Row {
            name: name.clone(),
            file,
            defines: defines.map(str::to_owned).collect(),
            model: "rc11",
            criterion: "robust",
            expected: Some(match robust.as_str() {
                "no" => "violated",
                _ => "holds",
            }),
        });
    }
    let mut racy: Vec<PathBuf> = Vec::new();
    if let Ok(entries) = std::fs::read_dir(corpus.join("genmc/racy")) {
        racy.extend(entries.flatten().map(|entry| entry.path()));
    }
    racy.sort();
    for directory in racy {
        let name = directory.file_name().unwrap_or_default();
        if let Some(file) = program(&directory) {
            rows.push(Row {
                name: format!("racy/{}", name.to_string_lossy()),
                file,
                defines: Vec::new(),
                model: "rc11",
                criterion: "safe",
                expected: Some("violated"),
            });
        }
    }
    for threads in 2..=4 {
        for columns in lines(&corpus.join("locks.tsv")) {
            let [name, expected, ..] = columns.as_slice() else {
                continue;
            };
            let (base, change) = name.split_once('-').unwrap_or((name, ""));
            let mut defines = vec![format!("NTHREADS={threads}")];
            if !change.is_empty() {
                let change = change.to_uppercase();
                // Where a lock has but one such place, its macro has the shorter name, or is `FAIL`.
                let short = change.trim_end_matches("_LOCK").trim_end_matches("_UNLOCK");
                defines.extend([short.to_owned(), change.clone(), "FAIL".to_owned()]);
            }
            rows.push(Row {
                name: format!("{name}, {threads} threads"),
                file: corpus.join("locks").join(format!("{base}.c")),
                defines,
                model: "c20",
                criterion: "safe",
                expected: match expected.as_str() {
                    "safe" => Some("holds"),
                    "unsafe" => Some("violated"),
                    _ => None,
                },
            });
        }
    }
    rows
}

/// The first program of a test: of what its variants include, or its one file.
fn program(directory: &Path) -> Option<PathBuf> {
    let files = |directory: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.retain(|path| path.extension().is_some_and(|e| e == "c"));
        files.sort();
        files
    };
    let variants = files(&directory.join("variants"));
    match variants.is_empty() {
        true => files(directory).into_iter().next(),
        false => variants.into_iter().next(),
    }
}
