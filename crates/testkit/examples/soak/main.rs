//! Compares searches with brute force on random programs, and validates every witness:
//! `cargo run --release -p palisade-testkit --example soak -- CRITERION SECONDS [FIRST_SEED]`.
//!
//! CRITERION is one of safe, drf, trf, robust, persistent, reach, ra, or one of these with `-loops`: programs with loops, of which brute
//! force sees as much as it can. Ends with status 1 and the smallest program that shows a mistake.

use palisade_check::{Control, Criterion, Model, Options, Reductions, Verdict};
use palisade_lang::Program;
use palisade_testkit::{Shape, Sketch, oracle, parse, random_sketch, shrink::shrink};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

struct Question {
    shape: Shape,
    model: Model,
    criterion: Criterion,
    expected: fn(&Program) -> Option<bool>,
}

fn question(name: &str) -> Option<Question> {
    type Decide = fn(&Program) -> Option<bool>;
    let (name, loops) = match name.strip_suffix("-loops") {
        Some(name) => (name, true),
        None => (name, false),
    };
    let (mut shape, model, criterion, expected): (Shape, Model, Criterion, Decide) = match name {
        "safe" => (Shape::SC, Model::Sc, Criterion::Safe, oracle::sc_safe),
        "drf" => (Shape::SC, Model::Sc, Criterion::Drf, oracle::sc_drf),
        "trf" => (Shape::TSO, Model::Tso, Criterion::Trf, oracle::tso_trf),
        "robust" => (
            Shape::TSO,
            Model::Tso,
            Criterion::Robust,
            oracle::tso_robust,
        ),
        "persistent" => (
            Shape::TSO,
            Model::Tso,
            Criterion::Persistent,
            oracle::tso_persistent,
        ),
        "reach" => (
            Shape::TSO_REACH,
            Model::Tso,
            Criterion::Safe,
            oracle::tso_safe,
        ),
        "ra" => (Shape::RA, Model::Ra, Criterion::Robust, oracle::ra_robust),
        _ => return None,
    };
    if loops {
        shape.loops = true;
        shape.threads.1 = 3;
        shape.accesses = 6;
    }
    Some(Question {
        shape,
        model,
        criterion,
        expected,
    })
}

enum Mistake {
    NoAnswer,
    Wrong(String),
}

impl Question {
    /// What brute force says.
    fn expected(&self, program: &Program) -> Option<bool> {
        let states = if self.shape.loops {
            20_000
        } else {
            oracle::LIMIT
        };
        oracle::within(states, || (self.expected)(program))
    }

    /// What is wrong with the search's answer for this program, if anything. Says so if brute force or the search has no answer.
    fn mistake(&self, program: &Program) -> Result<(), Mistake> {
        let expected = self.expected(program);
        let mut answered = expected.is_some();
        let wrong = |what: String| Err(Mistake::Wrong(what));
        for reductions in [Reductions::ALL, Reductions::NONE] {
            let mut options = Options::new(self.model, self.criterion);
            options.reductions = reductions;
            options.timeout = Some(Duration::from_secs(1));
            let control = Control {
                cancel: &AtomicBool::new(false),
                progress: &|_| {},
            };
            let Ok(answer) = palisade_check::check(program, &options, &control) else {
                return Err(Mistake::NoAnswer);
            };
            let found = match answer.verdict {
                Verdict::Holds => true,
                Verdict::Violated => false,
                Verdict::Unknown(_) => {
                    answered = false;
                    continue;
                }
            };
            let with = if reductions == Reductions::ALL {
                ""
            } else {
                " without reductions"
            };
            if let Some(expected) = expected
                && expected != found
            {
                return wrong(format!(
                    "by the definition {expected}, by the search {found}{with}"
                ));
            }
            if !found && answer.witnesses.is_empty() {
                return wrong(format!("violated, but without a witness{with}"));
            }
            for witness in &answer.witnesses {
                if let Err(invalid) = palisade_validate::validate(program, witness) {
                    return wrong(format!("invalid witness{with}: {invalid}"));
                }
            }
        }
        if answered {
            Ok(())
        } else {
            Err(Mistake::NoAnswer)
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(question) = arguments.next().and_then(|name| question(&name)) else {
        eprintln!("safe, drf, trf, robust, persistent, reach or ra?");
        std::process::exit(2);
    };
    let mut number = |default: u64| {
        arguments
            .next()
            .and_then(|a| a.parse().ok())
            .unwrap_or(default)
    };
    let (seconds, first) = (number(60), number(0));
    let start = Instant::now();
    let (mut programs, mut violated, mut unanswered) = (0u64, 0u64, 0u64);
    for seed in first.. {
        if start.elapsed() > Duration::from_secs(seconds) {
            break;
        }
        let sketch = random_sketch(seed, &question.shape);
        let Some(program) = parse(&sketch.to_string()) else {
            continue;
        };
        programs += 1;
        violated += u64::from(question.expected(&program) == Some(false));
        match question.mistake(&program) {
            Ok(()) => {}
            Err(Mistake::NoAnswer) => unanswered += 1,
            Err(Mistake::Wrong(mistake)) => {
                let text = smallest(&question, &sketch);
                let last = parse(&text).map(|p| question.mistake(&p));
                println!("seed {seed}: {mistake}");
                if let Some(Err(Mistake::Wrong(mistake))) = last {
                    println!("smallest: {mistake}\n{text}");
                }
                std::process::exit(1);
            }
        }
    }
    println!(
        "{programs} programs, {violated} of them violated, {unanswered} without an answer, no mistake"
    );
}

fn smallest(question: &Question, sketch: &Sketch) -> String {
    let shows_a_mistake = |candidate: &Sketch| {
        parse(&candidate.to_string())
            .is_some_and(|p| matches!(question.mistake(&p), Err(Mistake::Wrong(_))))
    };
    shrink(sketch, shows_a_mistake).to_string()
}
