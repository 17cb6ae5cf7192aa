//! One command for every table.
//!
//! `cargo run --release -p bench -- TABLE [ARGUMENT…]`; without a table, or with `--list`, says which there are. `lazy` runs all tables whose
//! names begin with `lazy-`, and `all` runs every table.

mod c;
mod c20;
mod expected;
mod fence;
mod fig16;
mod growth;
mod lazy;
mod loom;
mod measure;
mod order_costs;
mod persist;
mod ra;
mod rocker;
mod rust;
mod scale;
mod spin;
mod trencher;
mod tso;
mod tso_safe;

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
        "trencher-table2",
        "Checking and Enforcing Robustness against TSO (Bouajjani et al. 2013), Table 2: robustness and fences, beside Trencher",
        trencher::table_2,
    ),
    (
        "lazy-fig6",
        "Lazy TSO Reachability (Bouajjani et al. 2015), Fig. 6: reachability, beside Trencher",
        lazy::figure_6,
    ),
    (
        "lazy-fig7",
        "the same paper, Fig. 7: Lamport's mutex for more threads",
        lazy::figure_7,
    ),
    (
        "lazy-fig8",
        "the same paper, Fig. 8: Dekker with diamonds of N branches",
        lazy::figure_8,
    ),
    (
        "lazy-fig9",
        "the same paper, Fig. 9: a loop of length N",
        lazy::figure_9,
    ),
    (
        "lazy-fig10",
        "the same paper, Fig. 10: the programs that are not robust, and the diamonds",
        lazy::figure_10,
    ),
    (
        "lazy-fig11",
        "the same paper, Fig. 11: how the diamonds and the loop grow",
        lazy::figure_11,
    ),
    (
        "c20",
        "Verifying Observational Robustness (Margalit and Lahav 2021): the suite's programs and our own under C++20",
        c20::table,
    ),
    (
        "persist-table1",
        "The Best of Both Worlds (Abdulla et al. 2015), Table 1: fences for persistence and robustness, beside Persist and Trencher",
        persist::table_1,
    ),
    (
        "persist-fig16",
        "the same paper, Fig. 16: persistence for more threads, with the abstraction and without",
        fig16::figure_16,
    ),
    (
        "rocker-fig7",
        "Robustness against Release/Acquire Semantics (Lahav and Margalit 2019), Fig. 7: beside Rocker, SPIN and Trencher",
        rocker::figure_7,
    ),
    (
        "growth",
        "how time and states grow with the number of threads, of locations and of values",
        growth::table,
    ),
    (
        "tso",
        "robustness against TSO on the corpus, beside Trencher on a machine like this",
        tso::table,
    ),
    (
        "tso-safe",
        "safety under TSO: the programs of the papers on dual TSO, each way alone and all in turn",
        tso_safe::table,
    ),
    (
        "tso-programs",
        "safety under TSO of every program here: which take more than a second, and which have no answer",
        tso_safe::programs,
    ),
    (
        "persist",
        "persistence on the corpus, beside Persist on a machine like this",
        persist::table,
    ),
    (
        "ra",
        "robustness against release/acquire on the corpus, beside Rocker on a machine like this",
        ra::table,
    ),
    (
        "fence",
        "the cheapest fences on the corpus, beside Trencher and Persist on a machine like this",
        fence::table,
    ),
    (
        "rust",
        "Rust files as they are and with one order weakened or one fence left out; directories and files as arguments",
        rust::table,
    ),
    (
        "rust-loom",
        "tests in loom's style, beside loom and Miri",
        loom::table,
    ),
    (
        "spin",
        "the walk of the SC states, beside SPIN's pan",
        spin::table,
    ),
    (
        "scale",
        "the walk of the SC states in memory, on disk, and by two and four processes",
        scale::table,
    ),
    (
        "c",
        "C as it is written: GenMC's litmus tests and races, and Dat3M's locks for 2, 3 and 4 threads, beside GenMC",
        c::table,
    ),
    (
        "order-costs",
        "what orders and fences cost on this machine, as a file for `palisade orders --cost`",
        order_costs::table,
    ),
];

/// The tables that a word asks for: the one of that name, all whose names begin with it, or all.
fn wanted(word: &str) -> Vec<&'static Table> {
    if let Some(table) = TABLES.iter().find(|(name, _, _)| *name == word) {
        return vec![table];
    }
    let begins = |name: &str| name.strip_prefix(word).is_some_and(|r| r.starts_with('-'));
    TABLES
        .iter()
        .filter(|(name, _, _)| word == "all" || begins(name))
        .collect()
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let word = arguments.first().map_or("", String::as_str);
    let tables = wanted(word);
    if tables.is_empty() {
        println!("usage: bench TABLE [ARGUMENT…]");
        for (name, what, _) in TABLES {
            println!("  {name:16} {what}");
        }
        println!("  {:16} every table", "all");
        let asked = word.is_empty() || word == "--list";
        return ExitCode::from(if asked { 0 } else { 2 });
    }
    let palisade = match Palisade::build() {
        Ok(palisade) => palisade,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::FAILURE;
        }
    };
    let mut status = ExitCode::SUCCESS;
    for (name, what, print) in tables {
        println!("\n{name}: {what}");
        let ended = print(&palisade, &arguments[1..]);
        if ended != ExitCode::SUCCESS {
            println!("{name}: not everything is as it should be");
            status = ended;
        }
    }
    status
}
