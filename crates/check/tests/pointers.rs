//! Random programs with pointers: what an access may go to, and verdicts that rest on it, against the plain machines.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

use fastrand::Rng;
use palisade_check::{Control, Criterion, Model, Options, Verdict, check};
use palisade_lang::parse::{ParseOptions, parse};
use palisade_lang::targets::Targets;
use palisade_lang::{Program, Source};
use palisade_memory::{Machine, Sc};
use palisade_testkit::oracle;

/// A statement; `r` and `s` are registers that hold addresses or numbers.
fn statement(rng: &mut Rng, depth: usize) -> String {
    let register = |rng: &mut Rng| if rng.bool() { "r" } else { "s" };
    let place = |rng: &mut Rng| ["x", "y", "p", "a[0]", "a[1]"][rng.usize(..5)];
    let (one, two, at) = (register(rng), register(rng), place(rng));
    match rng.usize(..if depth == 0 { 8 } else { 13 }) {
        0 | 1 => format!("{one} = &{at};"),
        2 => format!("{one} = {at};"),
        3 => format!("{at} = {two};"),
        4 => format!("{at} = {};", rng.usize(..4)),
        5 => format!("{one} = {two} + 1;"),
        6 => format!(
            "if {one} >= 1 && {one} < {} {{ *{one} = {two}; }}",
            rng.usize(2..7)
        ),
        7 => format!(
            "if {one} >= {} {{ if {one} < 6 {{ {two} = *{one}; }} }}",
            rng.usize(1..4)
        ),
        8 => format!(
            "if {one} == {} {{ {} }} else {{ {} }}",
            rng.usize(..4),
            statement(rng, depth - 1),
            statement(rng, depth - 1)
        ),
        _ => format!("assert {at} != {};", rng.usize(1..7)),
    }
}

fn program(rng: &mut Rng, length: usize) -> String {
    let mut text = "shared x, y, p, a[2];\n".to_owned();
    for thread in 0..2 {
        text += &format!("thread t{thread} {{ let r; let s;\n");
        for _ in 0..rng.usize(1..=length) {
            text += &format!("  {}\n", statement(rng, 1));
        }
        // Something that can go wrong at the end of nearly every program.
        let (one, two) = (rng.usize(1..5), rng.usize(1..4));
        text += &format!("  assert x != {one};\n  assert y + a[1] != {two};\n}}\n");
    }
    text
}

fn read(text: &str) -> Program {
    let source = Source::new("random.pal", text);
    let parsed = parse(&source, &ParseOptions::default());
    parsed.expect("a program").program
}

/// Every access of every run under SC, as far as `most` states, goes where it may.
fn accesses_are_among_targets(program: &Program, most: usize) -> usize {
    let targets = Targets::of(program).expect("a small program");
    let machine = Sc::new(program);
    let mut seen = HashSet::from([machine.initial()]);
    let mut work = vec![machine.initial()];
    let mut accesses = 0;
    while let Some(state) = work.pop() {
        for (step, next) in machine.steps(&state) {
            if let Some(location) = step.location {
                let thread = machine.code().instances[step.thread].thread.index();
                let target = targets.of_transition(thread, step.transition);
                assert!(
                    target.locations.contains(&location),
                    "thread {thread}, transition {}: {location:?} is not in {:?}",
                    step.transition,
                    target.locations
                );
                accesses += 1;
            }
            if seen.len() < most && seen.insert(next.clone()) {
                work.push(next);
            }
        }
    }
    accesses
}

fn decides(program: &Program, model: Model) -> Option<bool> {
    let options = Options::new(model, Criterion::Safe);
    let control = Control {
        cancel: &AtomicBool::new(false),
        progress: &|_| {},
    };
    match check(program, &options, &control).ok()?.verdict {
        Verdict::Holds => Some(true),
        Verdict::Violated => Some(false),
        Verdict::Unknown(_) => None,
    }
}

#[test]
fn pointers_go_where_they_may() {
    let mut rng = Rng::with_seed(19);
    let mut accesses = 0;
    for _ in 0..1_500 {
        let text = program(&mut rng, 7);
        println!("{text}");
        accesses += accesses_are_among_targets(&read(&text), 2_000);
    }
    assert!(accesses > 50_000, "{accesses}");
}

#[test]
fn verdicts_of_programs_with_pointers() {
    let mut rng = Rng::with_seed(20);
    let (mut sc, mut c20, mut violated) = (0, 0, 0);
    for number in 0..1_200 {
        let text = program(&mut rng, 5);
        println!("{text}");
        let program = read(&text);
        if let (Some(right), Some(found)) =
            (oracle::sc_safe(&program), decides(&program, Model::Sc))
        {
            assert_eq!(found, right, "under SC");
            sc += 1;
            violated += usize::from(!right);
        }
        if number % 3 == 0
            && let (Some(right), Some(found)) =
                (oracle::c20_safe(&program), decides(&program, Model::C20))
        {
            assert_eq!(found, right, "under c20");
            c20 += 1;
        }
    }
    println!("{sc} under SC, {violated} of them violated; {c20} under c20");
    assert!(sc > 1_000 && c20 > 200 && violated > 100 && violated < sc - 100);
}
