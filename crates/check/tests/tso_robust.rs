//! Robustness against TSO: litmus shapes, brute force, and that every reduction leaves the verdict alone.

mod common;

use std::sync::atomic::AtomicBool;

use palisade_check::{Answer, Control, Criterion, Model, Options, Reductions, Verdict, check};
use palisade_lang::Program;
use palisade_testkit::{Shape, compare, oracle};

/// Asks, and has every witness validated.
fn ask(program: &Program, reductions: Reductions, jobs: usize, all: bool) -> Answer {
    let options = Options {
        reductions,
        jobs,
        all,
        ..Options::new(Model::Tso, Criterion::Robust)
    };
    let cancel = AtomicBool::new(false);
    let control = Control {
        cancel: &cancel,
        progress: &|_| {},
    };
    let answer = match check(program, &options, &control) {
        Ok(answer) => answer,
        Err(refusal) => panic!("{}", refusal.message),
    };
    assert_eq!(
        answer.verdict == Verdict::Violated,
        !answer.witnesses.is_empty()
    );
    for witness in &answer.witnesses {
        if let Err(invalid) = palisade_validate::validate(program, witness) {
            panic!("{invalid:?}\n{witness:#?}\n{}", program.source.text());
        }
    }
    answer
}

fn robust(program: &Program, reductions: Reductions) -> Option<bool> {
    match ask(program, reductions, 1, false).verdict {
        Verdict::Holds => Some(true),
        Verdict::Violated => Some(false),
        Verdict::Unknown(_) => None,
    }
}

fn agree(shape: &Shape, seeds: std::ops::Range<u64>, reductions: Reductions) {
    let compared = compare(shape, seeds.clone(), oracle::tso_robust, |program| {
        robust(program, reductions)
    });
    println!("{compared:?}");
    assert!(compared.programs * 10 >= (seeds.end - seeds.start) * 8);
    // Enough of both kinds, or the agreement says little.
    assert!(compared.violated * 5 >= compared.programs);
}

#[test]
fn brute_force_agrees() {
    agree(&Shape::TSO, 0..20_000, Reductions::ALL);
}

#[test]
fn brute_force_agrees_with_each_reduction_off() {
    for (at, reductions) in (1u64..).zip(common::ONE_OFF) {
        agree(&Shape::TSO, at * 100_000..at * 100_000 + 600, reductions);
    }
}

/// With loops there is no brute force: the search without any reduction is asked instead.
#[test]
fn reductions_change_no_verdict_with_loops() {
    let plain = |program: &Program| robust(program, Reductions::NONE);
    let compared = compare(&Shape::LOOPS, 0..1_500, plain, |program| {
        robust(program, Reductions::ALL)
    });
    println!("{compared:?}");
    assert!(compared.violated * 8 >= compared.programs);
}

/// The answer does not depend on how many search, nor on whether all attacks are wanted.
#[test]
fn jobs_and_all_change_no_verdict() {
    let found = compare(
        &Shape::LOOPS,
        50_000..50_300,
        |program| {
            let one = ask(program, Reductions::ALL, 1, false);
            let two = ask(program, Reductions::ALL, 2, false);
            assert_eq!(one.witnesses, two.witnesses);
            Some(one.verdict == Verdict::Holds)
        },
        |program| {
            let one = ask(program, Reductions::ALL, 1, true);
            let two = ask(program, Reductions::NONE, 2, true);
            let attacks = |answer: &Answer| {
                let mut attacks: Vec<_> = answer
                    .witnesses
                    .iter()
                    .map(|w| {
                        let place = |e: usize| (w.events[e].line, w.events[e].column);
                        let thread = w.events[w.cycle[0]].thread.split('[').next();
                        let thread = thread.unwrap_or_default().to_string();
                        (thread, place(w.cycle[0]), place(w.cycle[1]))
                    })
                    .collect();
                attacks.sort();
                attacks.dedup();
                attacks
            };
            assert_eq!(attacks(&one), attacks(&two), "{}", program.source.text());
            Some(one.verdict == Verdict::Holds)
        },
    );
    println!("{found:?}");
}

/// Small programs with the verdict that theory gives them.
#[test]
fn litmus_shapes() {
    let cases: &[(&str, bool, &str)] = &[
        (
            "SB",
            false,
            "shared x, y; thread a { x = 1; let r = y; } thread b { y = 1; let r = x; }",
        ),
        (
            "SB with one fence: the other thread is the attacker",
            false,
            "shared x, y; thread a { x = 1; fence; let r = y; } thread b { y = 1; let r = x; }",
        ),
        (
            "SB with fences",
            true,
            "shared x, y; thread a { x = 1; fence; let r = y; } thread b { y = 1; fence; let r = x; }",
        ),
        (
            "SB with weak fences",
            false,
            "shared x, y; thread a { x = 1; fence(acqrel); let r = y; } thread b { y = 1; fence(release); let r = x; }",
        ),
        (
            "SB with seqcst stores",
            true,
            "shared x, y; thread a { x.store(1, seqcst); let r = y; } thread b { y.store(1, seqcst); let r = x; }",
        ),
        (
            "SB with seqcst loads only",
            false,
            "shared x, y; thread a { x = 1; let r = y.load(seqcst); } thread b { y = 1; let r = x.load(seqcst); }",
        ),
        (
            "SB with exchanges",
            true,
            "shared x, y; thread a { xchg(x, 1); let r = y; } thread b { xchg(y, 1); let r = x; }",
        ),
        (
            "SB with a read-modify-write elsewhere between",
            true,
            "shared x, y, z; thread a { x = 1; fadd(z, 1); let r = y; } thread b { y = 1; fadd(z, 1); let r = x; }",
        ),
        (
            "SB with a cas that fails between: it waits for the buffer all the same",
            true,
            "shared x, y, z; thread a { x = 1; cas(z, 5, 6); let r = y; } thread b { y = 1; cas(z, 5, 6); let r = x; }",
        ),
        (
            "SB with waits that can go on",
            false,
            "shared x, y; thread a { x = 1; wait(y == 0); } thread b { y = 1; wait(x == 0); }",
        ),
        (
            "waits that only go on after the other store has arrived",
            true,
            "shared x, y; thread a { x = 1; wait(y == 1); } thread b { y = 1; wait(x == 1); }",
        ),
        (
            "the same with loads that are repeated",
            false,
            "shared x, y; thread a { x = 1; while y == 0 { } } thread b { y = 1; while x == 0 { } }",
        ),
        (
            "MP",
            true,
            "shared x, y; thread a { x = 1; y = 1; } thread b { let r = y; let s = x; }",
        ),
        (
            "LB",
            true,
            "shared x, y; thread a { let r = x; y = 1; } thread b { let r = y; x = 1; }",
        ),
        (
            "R",
            false,
            "shared x, y; thread a { x = 1; y = 1; } thread b { y = 2; let r = x; }",
        ),
        (
            "S",
            true,
            "shared x, y; thread a { x = 2; y = 1; } thread b { let r = y; x = 1; }",
        ),
        (
            "RWC",
            false,
            "shared x, y; thread a { x = 1; } thread b { let r = x; let s = y; } thread c { y = 1; let r = x; }",
        ),
        (
            "WRC",
            true,
            "shared x, y; thread a { x = 1; } thread b { let r = x; y = 1; } thread c { let r = y; let s = x; }",
        ),
        (
            "IRIW",
            true,
            "shared x, y; thread a { x = 1; } thread b { y = 1; } thread c { let r = x; let s = y; } thread d { let r = y; let s = x; }",
        ),
        (
            "2+2W",
            true,
            "shared x, y; thread a { x = 1; y = 2; } thread b { y = 1; x = 2; }",
        ),
        (
            "a store, then a load of the same location",
            true,
            "shared x, y; thread a { x = 1; let r = x; } thread b { x = 2; let r = x; }",
        ),
        (
            "SB behind a load of the own store",
            false,
            "shared x, y; thread a { x = 1; let s = x; let r = y; } thread b { y = 1; let s = y; let r = x; }",
        ),
        (
            "a block is one node, though its accesses one by one are harmless",
            false,
            "shared x, y; thread a { x = 1; let r = y; } thread b { atomic { let s = x; if s == 0 { y = 1; } } }",
        ),
        (
            "the same, but for the order of the threads",
            false,
            "shared x, y; thread b { atomic { let s = x; if s == 0 { y = 1; } } } thread a { x = 1; let r = y; }",
        ),
        (
            "a block that touches one of the locations only",
            true,
            "shared x, y; thread a { x = 1; let r = y; } thread b { atomic { let s = x; x = s + 1; } }",
        ),
        (
            "the attacker's own block empties its buffer",
            true,
            "shared x, y; thread a { x = 1; atomic { let r = y; } } thread b { y = 1; atomic { let r = x; } }",
        ),
        (
            "a block that cannot be finished is no part of a run",
            true,
            "shared x, y; thread a { x = 1; let r = y; } thread b { atomic { y = 1; let s = x; assume s == 7; } }",
        ),
        (
            "pointers",
            false,
            "shared x, y; thread a { let p = &x; let q = &y; *p = 1; let r = *q; } thread b { y = 1; let r = x; }",
        ),
        (
            "two pointers to the same location",
            true,
            "shared x, y; thread a { let p = &x; let q = &x; *p = 1; let r = *q; } thread b { y = 1; let r = x; }",
        ),
        (
            "array elements that differ",
            true,
            "shared f[4]; thread a[2] { f[me] = 1; let r = f[me]; let s = f[me + 2]; }",
        ),
        (
            "flags of two threads",
            false,
            "shared f[2]; thread a[2] { f[me] = 1; let r = f[1 - me]; }",
        ),
        (
            "a thread that stops with an error does not stop the others",
            false,
            "shared x, y; thread a { x = 1; let r = y; } thread b { y = 1; let r = x; } thread c { let p; bcas(*p, 1, 2); }",
        ),
        (
            "Dekker's flags with a lock around one side",
            true,
            "shared l, x, y; thread a { bcas(l, 0, 1); x = 1; let r = y; l = 0; } thread b { bcas(l, 0, 1); y = 1; let r = x; l = 0; }",
        ),
        (
            "Peterson without fences",
            false,
            "shared f[2], t; thread a[2] { loop { f[me] = 1; t = 1 - me; while f[1 - me] == 1 && t == 1 - me { } f[me] = 0; } }",
        ),
        (
            "Peterson with fences",
            true,
            "shared f[2], t; thread a[2] { loop { f[me] = 1; t = 1 - me; fence; while f[1 - me] == 1 && t == 1 - me { } f[me] = 0; } }",
        ),
    ];
    for (name, expected, text) in cases {
        let program = palisade_testkit::program(text);
        for reductions in [Reductions::ALL, Reductions::NONE] {
            assert_eq!(
                robust(&program, reductions),
                Some(*expected),
                "{name}: {text}"
            );
        }
        if oracle::is_loop_free(&program) {
            assert_eq!(
                oracle::tso_robust(&program),
                Some(*expected),
                "{name}: {text}"
            );
        }
    }
}

/// What other tools say about programs that other people wrote.
#[test]
fn the_corpus_gets_its_verdicts() {
    let Some(corpus) = palisade_testkit::corpus_dir() else {
        return;
    };
    let expected = std::fs::read_to_string(corpus.join("expected.tsv")).expect("expected.tsv");
    let mut compared = 0;
    for line in expected.lines().skip(1) {
        let mut columns = line.split('\t');
        let (Some(file), Some(verdict)) = (columns.next(), columns.next()) else {
            continue;
        };
        let text = std::fs::read_to_string(corpus.join(file)).expect(file);
        let domain = match verdict {
            "robust" | "not-robust" => None,
            // No tool has answered: they count for ever, and are finite with a domain.
            _ => Some(256),
        };
        let source = palisade_lang::Source::new(file, &text);
        let options = palisade_lang::ParseOptions {
            domain,
            ..Default::default()
        };
        let program = palisade_lang::parse(&source, &options)
            .expect("it can be read")
            .program;
        let found = robust(&program, Reductions::ALL);
        match verdict {
            "robust" => assert_eq!(found, Some(true), "{file}"),
            "not-robust" => assert_eq!(found, Some(false), "{file}"),
            _ => {
                println!("{file}: {found:?}");
                continue;
            }
        }
        compared += 1;
    }
    println!("{compared} files of the corpus");
}

/// Threads with the same code that are declared one by one are interchangeable: that changes no verdict, and witnesses name the right ones.
#[test]
fn equal_threads_declared_one_by_one() {
    let doubled = |program: &Program| -> Option<Program> {
        let text = program.source.text();
        let begin = text.find("thread t0 {")?;
        let end = begin + text[begin..].find("\n}\n")? + 3;
        let twin = text[begin..end].replacen("thread t0", "thread twin", 1);
        palisade_testkit::parse(&format!("{}{twin}{}", &text[..end], &text[end..]))
    };
    let shape = Shape {
        threads: (2, 2),
        accesses: 5,
        ..Shape::TSO
    };
    let compared = compare(
        &shape,
        0..1_000,
        |program| oracle::tso_robust(&doubled(program)?),
        |program| robust(&doubled(program)?, Reductions::ALL),
    );
    println!("{compared:?}");
    assert!(compared.programs > 400 && compared.violated > 50);
}
