//! Whether some order of calls explains what they returned: the programs of programs/rust/linearizable, and how an order is looked for against trying all of them.

#[allow(dead_code)]
#[path = "../../lower/tests/expected/mod.rs"]
mod expected;
#[allow(dead_code, unused_variables, clippy::all)]
#[path = "../src/models/history.rs"]
mod history;

use history::{Entry, NEVER, Row, Single};
use palisade_check::{Criterion, Model, check};
use palisade_lang::Source;
use std::path::{Path, PathBuf};

fn files() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/rust/linearizable");
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory)
        .expect("programs/rust/linearizable is part of the project")
        .map(|entry| entry.expect("a readable directory").path())
        .collect();
    files.sort();
    files
}

/// What is wrong about one file: its line `// linearizable TYPE MODEL: VERDICT` says what is asked.
fn wrong(file: &Path) -> Option<String> {
    let text = std::fs::read_to_string(file).expect("a text");
    let name = file.to_string_lossy();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("// linearizable "));
    let (asked, verdict) = line
        .and_then(|line| line.rsplit_once(": "))
        .expect("a question");
    let (ty, model) = asked.rsplit_once(' ').expect("a type and a model");
    let options = palisade_rust::Options {
        client: Some(palisade_rust::client::Client {
            ty: ty.to_owned(),
            threads: None,
            calls: None,
            linearizable: Some(model.to_owned()),
        }),
        ..palisade_rust::Options::default()
    };
    let source = Source::new(&*name, &*text);
    let loaded = match palisade_rust::load(file, &source, &options) {
        Ok(loaded) => loaded,
        Err(not) => return Some(format!("{name}: {}", not.diagnostics[0].message)),
    };
    let program = palisade_rust::together(loaded.programs);
    let found = expected::ask(check, &program, Model::C20, Criterion::Safe);
    (found != verdict).then(|| format!("{name}: {found}, not {verdict}"))
}

#[test]
fn types_are_as_expected() {
    let compiler = palisade_rust::compile::Compiler::default();
    if palisade_rust::compile::version(&compiler).is_none() {
        palisade_testkit::skipped("Rust compiler");
        return;
    }
    let files = files();
    assert!(
        files.len() >= 12,
        "programs/rust/linearizable has lost programs"
    );
    let wrong: Vec<String> = files.iter().filter_map(|file| wrong(file)).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

const THREADS: usize = 3;
const CALLS: usize = 2;
type Logs = [[Entry; CALLS]; THREADS];

/// A call that has to come before another one.
#[derive(Clone, Copy)]
struct Before {
    first: (usize, usize),
    second: (usize, usize),
}

/// Whether some permutation of all calls is an order that explains them.
fn by_all_orders<M: Clone>(
    logs: &Logs,
    before: Option<Before>,
    model: &M,
    step: &impl Fn(&mut M, usize, usize, usize) -> i64,
) -> bool {
    let calls: Vec<(usize, usize)> = (0..THREADS)
        .flat_map(|thread| (0..CALLS).map(move |at| (thread, at)))
        .filter(|&(thread, at)| logs[thread][at].kind != 0)
        .collect();
    let mut order: Vec<usize> = (0..calls.len()).collect();
    loop {
        let place = |call: (usize, usize)| order.iter().position(|&at| calls[at] == call);
        let own = (0..THREADS).all(|thread| {
            let (a, b) = (place((thread, 0)), place((thread, 1)));
            a.is_none() || b.is_none() || a < b
        });
        // All that a thread has done up to what is waited for stands before all that the other does from there on.
        let waited = before.is_none_or(|before| {
            (0..=before.first.1).all(|sooner| {
                (before.second.1..CALLS).all(|later| {
                    let sooner = place((before.first.0, sooner));
                    let later = place((before.second.0, later));
                    sooner.is_none() || later.is_none() || sooner < later
                })
            })
        });
        if own && waited {
            let mut state = model.clone();
            let explained = order.iter().all(|&at| {
                let (thread, call) = calls[at];
                let entry = logs[thread][call];
                let code = step(&mut state, entry.kind, thread, call);
                code != NEVER && code == entry.code
            });
            if explained {
                return true;
            }
        }
        if !next_permutation(&mut order) {
            return false;
        }
    }
}

fn next_permutation(order: &mut [usize]) -> bool {
    let Some(last) = (1..order.len()).rev().find(|&at| order[at - 1] < order[at]) else {
        return false;
    };
    let other = (last..order.len())
        .rev()
        .find(|&at| order[at] > order[last - 1])
        .expect("the one at `last` is greater");
    order.swap(last - 1, other);
    order[last..].reverse();
    true
}

fn value(thread: usize, at: usize) -> i64 {
    (thread * CALLS + at + 2) as i64
}

fn compare<M: Clone>(
    seed: u64,
    model: &M,
    kinds: usize,
    step: impl Fn(&mut M, usize, usize, usize) -> i64,
) -> [usize; 2] {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut found = [0; 2];
    for _ in 0..4000 {
        // What a random order of all calls would return, with one or two of the results changed, so that about half are explained.
        let mut logs = [[Entry { kind: 0, code: 0 }; CALLS]; THREADS];
        let mut state = model.clone();
        let mut done = [0; THREADS];
        while let Some(thread) = (0..THREADS)
            .filter(|&thread| done[thread] < CALLS)
            .max_by_key(|_| random.u32(..))
        {
            let at = done[thread];
            done[thread] += 1;
            let kind = random.usize(0..=kinds);
            if kind > 0 {
                let code = step(&mut state, kind, thread, at);
                logs[thread][at] = Entry {
                    kind,
                    code: code.max(0),
                };
            }
        }
        for _ in 0..random.usize(0..3) {
            let entry = &mut logs[random.usize(0..THREADS)][random.usize(0..CALLS)];
            entry.code = random.i64(0..9);
        }
        let call = |random: &mut fastrand::Rng, thread| (thread, random.usize(0..CALLS));
        let before = random.bool().then(|| {
            let first = random.usize(0..THREADS);
            let second = (first + random.usize(1..THREADS)) % THREADS;
            Before {
                first: call(&mut random, first),
                second: call(&mut random, second),
            }
        });
        let ready = |thread: usize, at: usize, other: usize, done: usize| {
            before.is_none_or(|before| {
                thread != before.second.0
                    || other != before.first.0
                    || at < before.second.1
                    || done > before.first.1
            })
        };
        let searched = history::explained(&logs, [0; THREADS], model, &ready, &step);
        let expected = by_all_orders(&logs, before, model, &step);
        assert_eq!(searched, expected, "seed {seed}");
        found[usize::from(expected)] += 1;
    }
    found
}

#[test]
fn orders_are_found_where_there_are_any() {
    for seed in 0..3 {
        let row = Row::new(3);
        let stack = compare(seed, &row, 2, |row, kind, thread, at| match kind {
            1 => history::expected(row.put(value(thread, at))),
            _ => history::expected(row.take_back()),
        });
        let queue = compare(seed, &row, 3, |row, kind, thread, at| match kind {
            1 => history::expected(row.put(value(thread, at))),
            2 => history::expected(row.take_front()),
            _ => history::expected(row.len()),
        });
        let single = Single::new(0);
        let register = compare(seed, &single, 3, |single, kind, thread, at| match kind {
            1 => {
                single.swap(value(thread, at));
                0
            }
            2 => history::expected(single.swap(value(thread, at))),
            _ => history::expected(single.value),
        });
        let lock = compare(seed, &single, 3, |single, kind, thread, at| match kind {
            1 => single.take(),
            2 => single.refuse(),
            _ => single.leave(value(thread, at)),
        });
        for [no, yes] in [stack, queue, register, lock] {
            assert!(
                no > 100 && yes > 100,
                "{no} without an order, {yes} with one"
            );
        }
    }
}

#[test]
fn large_numbers_explain_nothing() {
    assert_eq!(
        history::coded(Some(255_i64)),
        history::expected(Some(255_i64))
    );
    assert_ne!(
        history::coded(Some(300_i64)),
        history::expected(Some(300_i64))
    );
    assert_ne!(
        history::coded(Some(-1_i64)),
        history::expected(Some(-1_i64))
    );
}
