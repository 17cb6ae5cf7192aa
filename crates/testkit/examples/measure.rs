//! Measures brute force on random programs: `cargo run -p palisade-testkit --example measure -- robust 2000`.

use palisade_lang::Program;
use palisade_testkit::{Shape, oracle, parse, random_sketch};
use std::time::Instant;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let criterion = arguments.next().unwrap_or_default();
    let count: u64 = arguments
        .next()
        .and_then(|a| a.parse().ok())
        .unwrap_or(1000);
    let (shape, decide): (Shape, fn(&Program) -> Option<bool>) = match criterion.as_str() {
        "safe" => (Shape::SC, oracle::sc_safe),
        "drf" => (Shape::SC, oracle::sc_drf),
        "trf" => (Shape::TSO, oracle::tso_trf),
        "persistent" => (Shape::TSO, oracle::tso_persistent),
        "reach" => (Shape::TSO_REACH, oracle::tso_safe),
        "ra" => (Shape::RA, oracle::ra_robust),
        "robust" => (Shape::TSO, oracle::tso_robust),
        _ => {
            eprintln!("safe, drf, trf, robust, persistent, reach or ra?");
            std::process::exit(2);
        }
    };
    let (mut violated, mut unknown, mut wrong, mut slowest) = (0, 0, 0, (0.0, 0));
    let start = Instant::now();
    for seed in 0..count {
        let text = random_sketch(seed, &shape).to_string();
        let Some(program) = parse(&text) else {
            wrong += 1;
            continue;
        };
        let begin = Instant::now();
        match decide(&program) {
            Some(true) => {}
            Some(false) => violated += 1,
            None => unknown += 1,
        }
        let took = begin.elapsed().as_secs_f64();
        if took > slowest.0 {
            slowest = (took, seed);
        }
    }
    println!(
        "{criterion}: {count} programs, {violated} violated, {unknown} without an answer, {wrong} refused by the parser; {:.1} s, slowest {:.3} s (seed {})",
        start.elapsed().as_secs_f64(),
        slowest.0,
        slowest.1
    );
}
