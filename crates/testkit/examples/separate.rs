//! Finds the smallest programs that tell the criteria apart: `cargo run -p palisade-testkit --example separate -- 4`.
//!
//! All programs without branches are tried by size: the number of statements, then of threads, then in the order of the statements below.
//! Brute force by the definitions judges each. For every two criteria, the first program is printed that satisfies one and violates the other.
//! `states` stands for what `safe` can ever see: TSO reaches no other registers than SC does.

use palisade_lang::Program;
use palisade_memory::{Local, Machine, Sc, Tso};
use palisade_testkit::{oracle, program};
use std::collections::HashSet;
use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Statement {
    Store(usize, i64),
    Load(usize),
    Fence,
    Exchange(usize, i64),
}

const LOCATIONS: [&str; 3] = ["x", "y", "z"];
const CRITERIA: [&str; 5] = ["drf", "trf", "robust", "persistent", "states"];

/// The statements that a program of so many locations is made of.
fn statements(locations: usize) -> Vec<Statement> {
    let mut all = Vec::new();
    for value in [1, 0] {
        all.extend((0..locations).map(|l| Statement::Store(l, value)));
    }
    all.extend((0..locations).map(Statement::Load));
    all.push(Statement::Fence);
    all.extend((0..locations).map(|l| Statement::Exchange(l, 1)));
    all
}

struct Candidate(Vec<Vec<Statement>>);

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used = self.0.iter().flatten().filter_map(|s| match s {
            Statement::Store(l, _) | Statement::Load(l) | Statement::Exchange(l, _) => Some(*l),
            Statement::Fence => None,
        });
        let count = used.max().map_or(1, |l| l + 1);
        writeln!(f, "shared {};", LOCATIONS[..count].join(", "))?;
        let mut registers = 0;
        for (number, thread) in self.0.iter().enumerate() {
            write!(f, "thread p{number} {{")?;
            for statement in thread {
                match statement {
                    Statement::Store(l, value) => write!(f, " {} = {value};", LOCATIONS[*l])?,
                    Statement::Load(l) => {
                        write!(f, " let r{registers} = {};", LOCATIONS[*l])?;
                        registers += 1;
                    }
                    Statement::Fence => write!(f, " fence;")?,
                    Statement::Exchange(l, value) => {
                        write!(f, " xchg({}, {value});", LOCATIONS[*l])?;
                    }
                }
            }
            writeln!(f, " }}")?;
        }
        Ok(())
    }
}

/// Locations are named in the order in which they are used, and longer threads come first.
fn is_canonical(threads: &[Vec<Statement>]) -> bool {
    let mut next = 0;
    for statement in threads.iter().flatten() {
        let (Statement::Store(l, _) | Statement::Load(l) | Statement::Exchange(l, _)) = statement
        else {
            continue;
        };
        if *l > next {
            return false;
        }
        next = next.max(l + 1);
    }
    threads
        .windows(2)
        .all(|pair| pair[0].len() >= pair[1].len())
}

/// A question beyond pairs: whether a program with these answers is wanted.
type Wanted = (&'static str, fn([bool; 5]) -> bool);

const MORE: [Wanted; 2] = [
    (
        "robust and persistent, but not trf",
        |[_, trf, robust, persistent, _]| robust && persistent && !trf,
    ),
    (
        "states, but neither robust nor persistent",
        |[_, _, robust, persistent, states]| states && !robust && !persistent,
    ),
];

/// Which criteria hold; `None` where brute force has no answer.
fn judge(program: &Program) -> Option<[bool; 5]> {
    Some([
        oracle::sc_drf_all_locations(program)?,
        oracle::tso_trf(program)?,
        oracle::tso_robust(program)?,
        oracle::tso_persistent(program)?,
        reached(&Tso::new(program)).is_subset(&reached(&Sc::new(program))),
    ])
}

/// Where the threads can stand, with their registers.
fn reached<M: Machine>(machine: &M) -> HashSet<Vec<Local>> {
    let mut seen = HashSet::new();
    let mut found = HashSet::new();
    let mut todo = vec![machine.initial()];
    while let Some(state) = todo.pop() {
        if seen.insert(state.clone()) {
            found.insert(machine.locals(&state).to_vec());
            todo.extend(machine.steps(&state).into_iter().map(|(_, next)| next));
        }
    }
    found
}

/// Calls `visit` for all ways to give `size` statements to `threads` threads.
fn enumerate(size: usize, threads: usize, visit: &mut impl FnMut(&[Vec<Statement>])) {
    let alphabet = statements(LOCATIONS.len().min(size));
    for lengths in splits(size, threads) {
        // Counting in base `alphabet.len()`.
        let mut digits = vec![0; size];
        loop {
            let mut rest = digits.iter().map(|&d: &usize| alphabet[d]);
            let program: Vec<Vec<Statement>> = lengths
                .iter()
                .map(|&length| rest.by_ref().take(length).collect())
                .collect();
            visit(&program);
            let Some(at) = digits.iter().rposition(|&d| d + 1 < alphabet.len()) else {
                break;
            };
            digits[at] += 1;
            digits[at + 1..].fill(0);
        }
    }
}

/// All ways to split `size` into `parts` descending numbers of at least 1.
fn splits(size: usize, parts: usize) -> Vec<Vec<usize>> {
    let mut done = Vec::new();
    let mut work: Vec<Vec<usize>> = vec![Vec::new()];
    while let Some(begun) = work.pop() {
        let used: usize = begun.iter().sum();
        if begun.len() == parts {
            if used == size {
                done.push(begun);
            }
            continue;
        }
        let most = begun.last().copied().unwrap_or(size).min(size - used);
        for next in 1..=most {
            let mut longer = begun.clone();
            longer.push(next);
            work.push(longer);
        }
    }
    done
}

fn main() {
    let most = std::env::args().nth(1).and_then(|a| a.parse().ok());
    let most: usize = most.unwrap_or(4);
    let mut smallest: Vec<Vec<Option<String>>> = vec![vec![None; 5]; 5];
    let mut more: [Option<String>; 2] = [None, None];
    let mut count = 0u64;
    for size in 1..=most {
        for threads in 2..=size {
            enumerate(size, threads, &mut |candidate| {
                if !is_canonical(candidate) {
                    return;
                }
                let text = Candidate(candidate.to_vec()).to_string();
                count += 1;
                let Some(holds) = judge(&program(&text)) else {
                    return;
                };
                for ((_, wanted), found) in MORE.iter().zip(&mut more) {
                    if wanted(holds) && found.is_none() {
                        *found = Some(format!("{size} statements\n{text}"));
                    }
                }
                for a in 0..5 {
                    for b in 0..5 {
                        if holds[a] && !holds[b] && smallest[a][b].is_none() {
                            smallest[a][b] = Some(format!("{size} statements\n{text}"));
                        }
                    }
                }
            });
        }
    }
    println!("{count} programs of up to {most} statements\n");
    for a in 0..5 {
        for b in (0..5).filter(|b| *b != a) {
            match &smallest[a][b] {
                Some(text) => println!("{}, but not {}: {text}", CRITERIA[a], CRITERIA[b]),
                None => println!("{}, but not {}: none\n", CRITERIA[a], CRITERIA[b]),
            }
        }
    }
    for ((what, _), found) in MORE.iter().zip(more) {
        println!("{what}: {}", found.unwrap_or_else(|| "none\n".to_owned()));
    }
}
