//! Where states are makes no difference: verdict, runs and statistics are the same in memory and on disk.

use palisade_check::note::Note;
use palisade_check::{Answer, Control, Disk, Model, Options, QUESTIONS, Refusal, check};
use palisade_lang::{ParseOptions, Program, Source};
use palisade_testkit::{Shape, parse, random_sketch};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

fn ask(program: &Program, options: &Options) -> Result<Answer, Refusal> {
    let control = Control {
        cancel: &AtomicBool::new(false),
        progress: &|_| {},
    };
    check(program, options, &control)
}

/// All of an answer that must be the same.
fn told(answer: &Result<Answer, Refusal>) -> String {
    match answer {
        Err(refusal) => format!("{refusal:?}"),
        Ok(answer) => {
            let mut stats = answer.stats;
            stats.wall = Duration::ZERO;
            stats.peak_memory_bytes = 0;
            // Some notes say what is not on disk.
            let notes: Vec<&Note> = answer
                .notes
                .iter()
                .filter(|note| !matches!(note, Note::InMemoryOnly(_)))
                .collect();
            let (verdict, witnesses) = (&answer.verdict, &answer.witnesses);
            format!("{verdict:?} {witnesses:?} {notes:?} {stats:?}")
        }
    }
}

/// Asks everything, with memory for a handful of states and with memory for all.
fn ask_both(program: &Program, directory: &Path, seed: u64, most: u64) {
    let rooms = [16_000, 30_000, 100_000];
    for (&(model, criterion), room) in QUESTIONS.iter().zip(rooms.iter().cycle()) {
        // These have searches of their own.
        if matches!(model, Model::C20 | Model::Rc11) {
            continue;
        }
        let mut options = Options::new(model, criterion);
        options.all = seed.is_multiple_of(3);
        options.most_states = Some(most);
        options.jobs = 1 + seed as usize % 3;
        let plain = told(&ask(program, &options));
        options.disk = Some(Disk::new(directory).with_room(*room));
        options.jobs = 1 + (seed as usize + 1) % 3;
        let on_disk = told(&ask(program, &options));
        assert_eq!(on_disk, plain, "{model:?} {criterion:?}, seed {seed}");
        assert_eq!(directory.read_dir().unwrap().count(), 0);
    }
}

#[test]
fn random_programs() {
    let directory = tempfile::tempdir().unwrap();
    for seed in 0..40 {
        let shape = match seed % 3 {
            0 => Shape::LOOPS,
            1 => Shape::TSO_REACH,
            _ => Shape::RA,
        };
        if let Some(program) = parse(&random_sketch(1000 + seed, &shape).to_string()) {
            ask_both(&program, directory.path(), seed, 3000);
        }
    }
}

fn programs(directory: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = directory
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "pal") {
            found.push(path);
        }
    }
}

/// The programs of the project, each as far as some thousand states go.
#[test]
fn programs_of_the_project() {
    let mut paths = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    programs(&root, &mut paths);
    assert!(paths.len() > 50);
    let directory = tempfile::tempdir().unwrap();
    for (number, path) in paths.iter().enumerate() {
        let text = std::fs::read_to_string(path).unwrap();
        let source = Source::new(path.to_str().unwrap(), &text);
        let Ok(parsed) = palisade_lang::parse(&source, &ParseOptions::default()) else {
            continue;
        };
        // One of four: it is about the walks, not about the programs.
        if !parsed.program.is_parameterised() && number % 4 == 0 {
            ask_both(&parsed.program, directory.path(), number as u64, 3000);
        }
    }
}
