//! Triangular races: brute force, other tools' verdicts, and that it implies robustness.

use std::sync::atomic::AtomicBool;

use palisade_check::{Control, Criterion, Model, Options, Reductions, Verdict, check};
use palisade_lang::Program;
use palisade_testkit::{Shape, compare, oracle};

/// Asks, and has every witness validated.
fn holds(
    program: &Program,
    criterion: Criterion,
    reductions: Reductions,
    all: bool,
) -> Option<bool> {
    let options = Options {
        reductions,
        all,
        ..Options::new(Model::Tso, criterion)
    };
    let cancel = AtomicBool::new(false);
    let control = Control {
        cancel: &cancel,
        progress: &|_| {},
    };
    let answer = check(program, &options, &control).expect("it can be asked");
    assert_eq!(
        answer.verdict == Verdict::Violated,
        !answer.witnesses.is_empty()
    );
    for witness in &answer.witnesses {
        if let Err(invalid) = palisade_validate::validate(program, witness)
            // Loops of silent steps are too much for a plain replay.
            && !invalid.message.contains("too many ways")
        {
            panic!("{invalid:?}\n{witness:#?}\n{}", program.source.text());
        }
    }
    match answer.verdict {
        Verdict::Holds => Some(true),
        Verdict::Violated => Some(false),
        Verdict::Unknown(_) => None,
    }
}

#[test]
fn brute_force_agrees() {
    for (seeds, reductions) in [
        (0..4_000, Reductions::ALL),
        (10_000..10_500, Reductions::NONE),
    ] {
        let compared = compare(&Shape::TSO, seeds, oracle::tso_trf, |program| {
            holds(program, Criterion::Trf, reductions, false)
        });
        println!("{compared:?}");
        assert!(compared.skipped * 10 <= compared.programs);
        assert!(compared.violated * 5 >= compared.programs);
    }
}

#[test]
fn reductions_and_all_change_no_verdict_with_loops() {
    let plain = |program: &Program| holds(program, Criterion::Trf, Reductions::NONE, false);
    let compared = compare(&Shape::LOOPS, 0..800, plain, |program| {
        holds(program, Criterion::Trf, Reductions::ALL, true)
    });
    println!("{compared:?}");
}

/// What has no triangular race is robust.
#[test]
fn freedom_implies_robustness() {
    let free = |program: &Program| {
        let free = holds(program, Criterion::Trf, Reductions::ALL, false)?;
        let robust = holds(program, Criterion::Robust, Reductions::ALL, false)?;
        Some(!free || robust)
    };
    compare(&Shape::LOOPS, 20_000..21_000, |_| Some(true), free);
    compare(&Shape::TSO, 20_000..22_000, |_| Some(true), free);
}

#[test]
fn the_corpus_gets_its_verdicts() {
    let Some(corpus) = palisade_testkit::corpus_dir() else {
        return;
    };
    let expected = std::fs::read_to_string(corpus.join("expected.tsv")).expect("expected.tsv");
    let mut compared = 0;
    for line in expected.lines().skip(1) {
        let mut columns = line.split('\t');
        let (Some(file), _, Some(verdict)) = (columns.next(), columns.next(), columns.next())
        else {
            continue;
        };
        let wanted = match verdict {
            "free" => true,
            "not-free" => false,
            _ => continue,
        };
        let text = std::fs::read_to_string(corpus.join(file)).expect(file);
        let source = palisade_lang::Source::new(file, &text);
        let parsed = palisade_lang::parse(&source, &Default::default()).expect("it can be read");
        assert_eq!(
            holds(&parsed.program, Criterion::Trf, Reductions::ALL, false),
            Some(wanted),
            "{file}"
        );
        compared += 1;
    }
    println!("{compared} files of the corpus");
}
