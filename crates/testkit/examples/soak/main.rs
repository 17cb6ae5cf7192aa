//! Tries random programs and texts for as long as you like:
//! `cargo run --release -p palisade-testkit --example soak -- WHAT SECONDS [FIRST_SEED]`.
//!
//! WHAT is a criterion (safe, drf, trf, robust, persistent, reach, ra, ra-safe, ra-observational, c20, c20-observational, c20-drf, c20-safe, rc11, rc11-drf, rc11-safe), which is compared with brute force, every witness being replayed
//! (`live`, `live-tso`, `live-ra`, `live-c20` for progress), or one of these
//! with `-methods` (all that can be written in C++ and Rust) or `-loops`: programs with loops, of which brute force sees as much as it can; `reductions` (on against off), `jobs` (one searching thread against
//! three), `instrumented` (the direct search against a walk over the instrumented program), `certificates`,
//! `ra-certificates` and `c20-certificates` (what holds has a valid certificate, what does not has none), `forged` (no states under any header show what does not hold), `spin` (the walk against SPIN, where it is installed), `parsers`
//! (texts with mistakes), `large` (short texts that are large or deep programs, with limits of time and memory), `x86` (random code of litmus tests against an interpreter of the processor); or `all`, which shares the time among them. Ends with status 1 and the smallest program that shows a mistake.

mod bodies;
mod large;

use bodies::{Mistake, Trial};
use palisade_lang::Program;
use palisade_testkit::{Shape, Sketch, parse, random_sketch, shrink::shrink, spin, workspace_dir};
use std::time::{Duration, Instant};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let mut number = |default: u64| {
        let argument = arguments.next();
        argument.and_then(|a| a.parse().ok()).unwrap_or(default)
    };
    let (seconds, first) = (number(60), number(0));
    let names: Vec<&str> = match name.as_str() {
        "all" => {
            let spin = spin::is_installed().then_some("spin");
            let others = bodies::ALL.iter().copied();
            others
                .chain(["parsers", "x86", "large"])
                .chain(spin)
                .collect()
        }
        name => vec![name],
    };
    let budget = Duration::from_secs(seconds) / names.len() as u32;
    for name in names {
        let right = if name == "parsers" {
            soak_parsers(budget, first)
        } else if name == "x86" {
            soak_x86(budget, first)
        } else if name == "large" {
            large::soak(budget, first)
        } else if name == "large-one" {
            large::one(first)
        } else if let Some((shape, trial)) = bodies::trial(name) {
            soak(name, &shape, &trial, budget, first)
        } else {
            eprintln!(
                "all, parsers, x86, large, spin, or one of: {}?",
                bodies::ALL.join(", ")
            );
            std::process::exit(2);
        };
        if !right {
            std::process::exit(1);
        }
    }
}

fn soak(name: &str, shape: &Shape, trial: &Trial, budget: Duration, first: u64) -> bool {
    let start = Instant::now();
    let (mut programs, mut unanswered) = (0u64, 0u64);
    for seed in first.. {
        if start.elapsed() > budget {
            break;
        }
        let sketch = random_sketch(seed, shape);
        let Some(program) = parse(&sketch.to_string()) else {
            continue;
        };
        programs += 1;
        match without_panic(trial, &program) {
            Ok(()) => {}
            Err(Mistake::NoAnswer) => unanswered += 1,
            Err(Mistake::Wrong(mistake)) => {
                println!("{name}: seed {seed}: {mistake}");
                println!("smallest:\n{}", smallest(trial, &sketch));
                return false;
            }
        }
    }
    println!("{name}: {programs} programs, {unanswered} without an answer, no mistake");
    true
}

/// What a trial comes to, where falling over is a mistake like others.
fn without_panic(trial: &Trial, program: &Program) -> Result<(), Mistake> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| trial(program)))
        .unwrap_or_else(|_| Err(Mistake::Wrong("it panics".to_owned())))
}

fn smallest(trial: &Trial, sketch: &Sketch) -> String {
    let shows_a_mistake = |candidate: &Sketch| {
        parse(&candidate.to_string())
            .is_some_and(|p| matches!(without_panic(trial, &p), Err(Mistake::Wrong(_))))
    };
    shrink(sketch, shows_a_mistake).to_string()
}

/// Texts of the collection and random programs, with pieces taken out, doubled and exchanged.
fn soak_parsers(budget: Duration, first: u64) -> bool {
    let texts = collection();
    let start = Instant::now();
    let mut tried = 0u64;
    for seed in first.. {
        if start.elapsed() > budget {
            break;
        }
        let mut random = fastrand::Rng::with_seed(seed);
        let mut text = match random.u8(0..4) {
            0 => random_sketch(seed, &Shape::TSO).to_string(),
            _ => texts[random.usize(0..texts.len())].clone(),
        };
        for _ in 0..random.u8(0..4) {
            text = mutate(&text, &texts[random.usize(0..texts.len())], &mut random);
        }
        tried += 1;
        if let Err(Mistake::Wrong(mistake)) = bodies::parsers(&text) {
            println!("parsers: seed {seed}: {mistake}");
            return false;
        }
    }
    println!("parsers: {tried} texts in four languages, no mistake");
    true
}

/// Random code of litmus tests ends as on a processor.
fn soak_x86(budget: Duration, first: u64) -> bool {
    let start = Instant::now();
    let (mut tests, mut endless) = (0u64, 0u64);
    for seed in first.. {
        if start.elapsed() > budget {
            break;
        }
        let Some(text) = palisade_testkit::x86::random_test(seed) else {
            endless += 1;
            continue;
        };
        tests += 1;
        if let Err(Mistake::Wrong(mistake)) = bodies::x86(&text) {
            println!("x86: seed {seed}: {mistake}\n{text}");
            return false;
        }
    }
    println!("x86: {tests} tests, {endless} that may not end, no mistake");
    true
}

fn collection() -> Vec<String> {
    let mut texts = vec!["shared x;\nthread t { x = 1; }\n".to_owned()];
    let mut directories = vec![workspace_dir().join("programs")];
    directories.extend(palisade_testkit::corpus_dir());
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                directories.push(path);
            } else if let Ok(text) = std::fs::read_to_string(&path)
                && text.len() < 20_000
            {
                texts.push(text);
            }
        }
    }
    texts
}

fn mutate(text: &str, other: &str, random: &mut fastrand::Rng) -> String {
    let place = |text: &str, random: &mut fastrand::Rng| {
        let mut at = random.usize(0..=text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let (a, b) = (place(text, random), place(text, random));
    let (a, b) = (a.min(b), a.max(b));
    let b = if random.bool() { b } else { (a + 3).min(b) };
    let b = (a..=b)
        .rev()
        .find(|&b| text.is_char_boundary(b))
        .unwrap_or(a);
    match random.u8(0..4) {
        0 => format!("{}{}", &text[..a], &text[b..]),
        1 => format!("{}{}{}", &text[..b], &text[a..b], &text[b..]),
        2 => {
            const PIECES: [&str; 16] = [
                "(",
                ")",
                "{",
                "}",
                ";",
                "[",
                "]",
                "999999999999999999999",
                "-1",
                "0",
                "=",
                "atomic",
                "never",
                "fence;",
                "\u{0}",
                "é",
            ];
            let piece = PIECES[random.usize(0..PIECES.len())];
            format!("{}{piece}{}", &text[..a], &text[b..])
        }
        _ => {
            let c = place(other, random);
            let end = (c..=(c + 40).min(other.len()))
                .rev()
                .find(|&e| other.is_char_boundary(e));
            format!(
                "{}{}{}",
                &text[..a],
                &other[c..end.unwrap_or(c)],
                &text[b..]
            )
        }
    }
}
