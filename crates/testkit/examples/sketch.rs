//! Prints random programs: `cargo run -p palisade-testkit --example sketch -- tso 1 5`.

use palisade_testkit::{Shape, random_sketch};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let shape = match arguments.next().as_deref() {
        Some("sc") => Shape::SC,
        Some("reach") => Shape::TSO_REACH,
        Some("ra") => Shape::RA,
        Some("loops") => Shape::LOOPS,
        Some("parameterised") => Shape::PARAMETERISED,
        _ => Shape::TSO,
    };
    let mut number = |default| {
        arguments
            .next()
            .and_then(|a| a.parse().ok())
            .unwrap_or(default)
    };
    let (first, count) = (number(0), number(5));
    for seed in first..first + count {
        println!("// seed {seed}\n{}", random_sketch(seed, &shape));
    }
}
