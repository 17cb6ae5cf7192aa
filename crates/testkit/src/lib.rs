//! Random programs and brute force by the definitions, for tests only.
//!
//! - [`oracle`]: every criterion decided by its definition, with the plain machines of `palisade-memory`.
//! - [`generate`]: random programs of wanted shapes; [`shrink`]: smaller ones that still show a mistake.
//! - [`languages`]: random programs that are written in `.pal`, C and Rust.
//! - [`spin`]: what SPIN says about a program, where it is installed.
//! - [`witness`]: violations that brute force finds, as witnesses.
//! - [`x86`]: random litmus tests, and a plain interpreter of the processor.
//! - [`compare`]: the one loop over random programs that every comparison with brute force uses.

pub mod generate;
pub mod languages;
pub mod oracle;
pub mod shrink;
pub mod spin;
pub mod witness;
pub mod x86;

pub use generate::{Shape, Sketch, random_sketch};

use palisade_lang::{ParseOptions, Program, Source};
use std::path::PathBuf;

/// Where programs from elsewhere with known verdicts are, if they are there: beside the workspace. A test that reads them is
/// counted as skipped where this is `None`.
pub fn corpus_dir() -> Option<PathBuf> {
    let directory = workspace_dir().join("../shared/corpus");
    if !directory.is_dir() {
        skipped("corpus of programs");
        return None;
    }
    Some(directory)
}

/// Says that the test which calls it, or a part of it, is skipped for lack of something. libtest knows no tests that are skipped while they run, and keeps to
/// itself what a passing test prints: so the line goes past it to standard error, and into `target/skipped-tests`, which `.ci/run` counts in its last line.
pub fn skipped(for_lack_of: &str) {
    use std::io::Write;
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let _ = writeln!(
        std::io::stderr(),
        "skipped {test}: there is no {for_lack_of}"
    );
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.unwrap_or_else(|| workspace_dir().join("target"));
    let mut file = std::fs::OpenOptions::new();
    let opened = file
        .create(true)
        .append(true)
        .open(target.join("skipped-tests"));
    if let Ok(mut file) = opened {
        let _ = file.write_all(format!("{for_lack_of}\n").as_bytes());
    }
}

/// The workspace's root.
pub fn workspace_dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A program from its `.pal` text; `None` where it is not one.
pub fn parse(text: &str) -> Option<Program> {
    let source = Source::new("test.pal", text);
    let parsed = palisade_lang::parse(&source, &ParseOptions::default());
    parsed.ok().map(|parsed| parsed.program)
}

/// The program of a `.pal` text that is known to be one; a test fails with the errors where it is not.
#[track_caller]
pub fn program(text: &str) -> Program {
    let source = Source::new("test.pal", text);
    match palisade_lang::parse(&source, &ParseOptions::default()) {
        Ok(parsed) => parsed.program,
        Err(errors) => {
            let messages: Vec<_> = errors
                .iter()
                .map(|e| format!("{}: {}", source.line_column(e.span.start), e.message))
                .collect();
            panic!("{}\n{text}", messages.join("\n"))
        }
    }
}

/// What a comparison over random programs saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Programs for which both sides answered.
    pub programs: u64,
    /// Among them, those for which the criterion does not hold.
    pub violated: u64,
    /// Programs that were left out because one side gave no answer.
    pub skipped: u64,
}

/// Compares two ways to decide something on random programs, beginning with a seed, until both have answered for so many. Panics like [`compare`], and where more
/// than half of the programs have to be left out.
pub fn compare_many(
    shape: &Shape,
    first: u64,
    programs: u64,
    expected: impl Fn(&Program) -> Option<bool>,
    actual: impl Fn(&Program) -> Option<bool>,
) -> Compared {
    let mut all = Compared::default();
    while all.programs < programs {
        assert!(all.skipped <= programs, "too many are left out: {all:?}");
        // Those that were left out are made up for.
        let seed = first + all.programs + all.skipped;
        let seeds = seed..seed + programs - all.programs;
        let compared = compare(shape, seeds, &expected, &actual);
        all.programs += compared.programs;
        all.violated += compared.violated;
        all.skipped += compared.skipped;
    }
    all
}

/// Compares two ways to decide something on random programs with the seeds `seeds`. Panics with the smallest program that can be found
/// on which they differ.
pub fn compare(
    shape: &Shape,
    seeds: std::ops::Range<u64>,
    expected: impl Fn(&Program) -> Option<bool>,
    actual: impl Fn(&Program) -> Option<bool>,
) -> Compared {
    let mut compared = Compared::default();
    for seed in seeds {
        let sketch = random_sketch(seed, shape);
        let program = program(&sketch.to_string());
        let (Some(right), Some(found)) = (expected(&program), actual(&program)) else {
            compared.skipped += 1;
            continue;
        };
        compared.programs += 1;
        compared.violated += u64::from(!right);
        if right != found {
            let smallest = shrink::shrink(&sketch, |candidate| {
                parse(&candidate.to_string()).is_some_and(|program| {
                    let both = (expected(&program), actual(&program));
                    matches!(both, (Some(a), Some(b)) if a != b)
                })
            });
            let text = smallest.to_string();
            let right = parse(&text).and_then(|program| expected(&program));
            panic!(
                "seed {seed}: by the definition the answer is {right:?}, the search says otherwise:\n{text}"
            );
        }
    }
    compared
}
