//! One command for every table.
//!
//! `cargo run --release -p bench -- TABLE [ARGUMENT…]`; without a table, says which there are.

mod expected;
mod fence;
mod lazy;
mod measure;
mod persist;
mod ra;
mod scaling;
mod spin;
mod tso;

use std::process::ExitCode;

use bench::tool::Palisade;

/// A table: its name, what it shows, and what prints it.
type Table = (
    &'static str,
    &'static str,
    fn(&Palisade, &[String]) -> ExitCode,
);

const TABLES: &[Table] = &[
    (
        "fence",
        "the cheapest fences, beside Trencher and Persist (paper 000, Table 2; paper 004, Table 1)",
        fence::table,
    ),
    (
        "ra",
        "robustness against release/acquire, beside Rocker (paper 003, Fig. 7)",
        ra::table,
    ),
    (
        "tso",
        "robustness against TSO, beside Trencher (paper 000, Table 2; paper 002, Fig. 6)",
        tso::table,
    ),
    (
        "lazy",
        "reachability under TSO (paper 002, Figs. 6 to 9)",
        lazy::table,
    ),
    (
        "persist",
        "persistence, beside Persist (paper 004, Table 1)",
        persist::table,
    ),
    (
        "scaling",
        "persistence for more and more threads, with the abstraction and without (paper 004, Fig. 16)",
        scaling::table,
    ),
    (
        "spin",
        "the walk of the SC states, beside SPIN's pan",
        spin::table,
    ),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let wanted = arguments.first().map(String::as_str);
    match TABLES.iter().find(|(name, _, _)| Some(*name) == wanted) {
        Some((_, _, print)) => match Palisade::build() {
            Ok(palisade) => print(&palisade, &arguments[1..]),
            Err(why) => {
                eprintln!("{why}");
                ExitCode::FAILURE
            }
        },
        None => {
            eprintln!("usage: bench TABLE [ARGUMENT…]");
            for (name, what, _) in TABLES {
                eprintln!("  {name:12} {what}");
            }
            ExitCode::from(2)
        }
    }
}
