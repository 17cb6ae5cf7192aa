//! How many processes walk together makes no difference: verdict, runs and statistics are the same. Here, a thread stands for each process, with tables of its own.

use palisade_check::note::Note;
use palisade_check::{Answer, Control, Disk, Hosts, Model, Options, QUESTIONS, Refusal, check};
use palisade_lang::{ParseOptions, Program, Source};
use palisade_testkit::{Shape, parse, random_sketch};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
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

/// Addresses of this machine that nobody listens at.
fn addresses(processes: usize) -> Vec<String> {
    let free: Vec<TcpListener> = (0..processes)
        .map(|_| TcpListener::bind("127.0.0.1:0").unwrap())
        .collect();
    free.iter()
        .map(|listener| listener.local_addr().unwrap().to_string())
        .collect()
}

/// What each of several processes says to a list of questions that it asks one after the other.
fn together(
    processes: usize,
    questions: &(impl Fn(Option<Arc<Hosts>>, usize) -> Vec<String> + Sync),
) -> Vec<Vec<String>> {
    let addresses = addresses(processes);
    std::thread::scope(|scope| {
        let process = |process| {
            let addresses = addresses.clone();
            scope.spawn(move || {
                let hosts = Arc::new(Hosts::new(addresses, process));
                questions(Some(hosts), process)
            })
        };
        let threads: Vec<_> = (0..processes).map(process).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    })
}

/// Asks by one process, and by several.
fn compare(all: &[usize], questions: impl Fn(Option<Arc<Hosts>>, usize) -> Vec<String> + Sync) {
    let alone = questions(None, 0);
    for &processes in all {
        for (process, answers) in together(processes, &questions).into_iter().enumerate() {
            assert_eq!(answers.len(), alone.len());
            for (number, (answer, alone)) in answers.iter().zip(&alone).enumerate() {
                assert_eq!(
                    answer, alone,
                    "question {number}, process {process} of {processes}"
                );
            }
        }
    }
}

/// Every question about a program.
fn every_question(
    program: &Program,
    seed: u64,
    most: u64,
    mut ask_with: impl FnMut(Options) -> Options,
) -> Vec<String> {
    let mut answers = Vec::new();
    for &(model, criterion) in QUESTIONS {
        let mut options = Options::new(model, criterion);
        options.all = seed.is_multiple_of(3);
        options.most_states = Some(most);
        options.jobs = 1 + seed as usize % 2;
        let answer = told(&ask(program, &ask_with(options)));
        answers.push(format!("{model:?} {criterion:?} {answer}"));
    }
    answers
}

fn random_programs(seeds: std::ops::Range<u64>) -> Vec<(u64, Program)> {
    let shape = |seed| match seed % 3 {
        0 => Shape::LOOPS,
        1 => Shape::TSO_REACH,
        _ => Shape::RA,
    };
    seeds
        .filter_map(|seed| {
            let program = parse(&random_sketch(5000 + seed, &shape(seed)).to_string())?;
            Some((seed, program))
        })
        .collect()
}

#[test]
fn random_programs_by_one_two_and_four() {
    let programs = random_programs(0..24);
    compare(&[1, 2, 4], |hosts, _| {
        let ask = |(seed, program): &(u64, Program)| {
            every_question(program, *seed, 2000, |options| Options {
                hosts: hosts.clone(),
                ..options
            })
        };
        programs.iter().flat_map(ask).collect()
    });
}

#[test]
fn random_programs_on_disk() {
    let directory = tempfile::tempdir().unwrap();
    let programs = random_programs(100..112);
    compare(&[2, 3], |hosts, process| {
        let ask = |(seed, program): &(u64, Program)| {
            every_question(program, *seed, 3000, |options| {
                let place = directory.path().join(process.to_string());
                std::fs::create_dir_all(&place).unwrap();
                // Processes that have little memory take all others along.
                let room = [16_000, 60_000][(*seed as usize + process) % 2];
                let disk = hosts.as_ref().map(|_| Disk::new(&place).with_room(room));
                Options {
                    disk,
                    hosts: hosts.clone(),
                    ..options
                }
            })
        };
        programs.iter().flat_map(ask).collect()
    });
}

fn find_programs(directory: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = directory
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("pal" | "tpl") => found.push(path),
            _ if path.is_dir() => find_programs(&path, found),
            _ => {}
        }
    }
}

#[test]
fn programs_of_the_papers() {
    let mut paths = Vec::new();
    let programs = palisade_testkit::workspace_dir().join("programs");
    find_programs(&programs, &mut paths);
    assert!(paths.len() > 50);
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).ok()?;
        let source = Source::new(path.to_string_lossy(), text);
        let parsed = palisade_lang::parse(&source, &ParseOptions::default()).ok()?;
        let is_fixed = !parsed.program.is_parameterised();
        is_fixed.then_some(parsed.program)
    };
    // Each of them would take a minute; other ones come with every new program.
    let programs: Vec<Program> = paths.iter().step_by(5).filter_map(read).collect();
    compare(&[2], |hosts, _| {
        let mut answers = Vec::new();
        for program in &programs {
            for &(model, criterion) in QUESTIONS {
                if matches!(model, Model::C20 | Model::Rc11) {
                    continue;
                }
                let options = Options {
                    hosts: hosts.clone(),
                    most_states: Some(3000),
                    ..Options::new(model, criterion)
                };
                let answer = told(&ask(program, &options));
                answers.push(format!(
                    "{} {model:?} {criterion:?} {answer}",
                    program.source.name()
                ));
            }
        }
        answers
    });
}
