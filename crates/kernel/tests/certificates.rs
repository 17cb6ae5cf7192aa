//! What the searches write as certificates is a proof by these rules, and nothing that lacks a state is.

use palisade_certificate::Proof;
use palisade_check::{Control, Criterion, Model, NoCertificate, Options};
use palisade_kernel::{Judged, Question, judge};
use palisade_lang::Program;
use palisade_testkit::{Shape, program, random_sketch};
use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

static NEVER: AtomicBool = AtomicBool::new(false);

fn states(program: &Program, model: Model, criterion: Criterion) -> Option<BTreeSet<Vec<i64>>> {
    let options = Options {
        timeout: Some(Duration::from_secs(2)),
        ..Options::new(model, criterion)
    };
    let control = Control {
        cancel: &NEVER,
        progress: &|_| {},
    };
    let mut states = BTreeSet::new();
    let take = &mut |state: &[i64]| {
        states.insert(state.to_vec());
        Ok(())
    };
    match palisade_check::certificate(program, &options, &control, take) {
        Ok(claim) => matches!(claim.proof, Proof::States | Proof::Attacks).then_some(states),
        Err(NoCertificate::Failed(error)) => panic!("{error}"),
        Err(_) => None,
    }
}

fn answer(program: &Program, model: Model, criterion: Criterion) -> bool {
    let options = Options::new(model, criterion);
    let control = Control {
        cancel: &NEVER,
        progress: &|_| {},
    };
    let answer = palisade_check::check(program, &options, &control);
    answer.is_ok_and(|answer| answer.verdict == palisade_check::Verdict::Holds)
}

#[test]
fn certificates_are_proofs_and_need_every_state() {
    let all_locations = false;
    for (shape, model, criterion, question) in [
        (Shape::SC, Model::Sc, Criterion::Safe, Question::SafeSc),
        (
            Shape::SC,
            Model::Sc,
            Criterion::Drf,
            Question::Drf { all_locations },
        ),
        (
            Shape::TSO,
            Model::Tso,
            Criterion::Robust,
            Question::RobustTso,
        ),
        (Shape::TSO, Model::Tso, Criterion::Safe, Question::SafeTso),
    ] {
        let mut judged = 0;
        for seed in 0..200 {
            let sketch = random_sketch(seed, &shape);
            let program = program(&sketch.to_string());
            if !answer(&program, model, criterion) {
                continue;
            }
            let Some(states) = states(&program, model, criterion) else {
                continue;
            };
            match judge(&program, question, &states) {
                Judged::Valid => judged += 1,
                Judged::NotJudged(_) => continue,
                Judged::Invalid(why) => panic!("{why}\n{sketch}"),
            }
            for missing in states.iter().take(20) {
                let mut fewer = states.clone();
                fewer.remove(missing);
                let judged = judge(&program, question, &fewer);
                assert!(matches!(judged, Judged::Invalid(_)), "{sketch}");
            }
        }
        assert!(judged > 20, "{criterion:?} under {model:?}: {judged}");
    }
}

/// Numbers that are no state at all are told apart, and nothing falls over them.
#[test]
fn nonsense_is_no_proof() {
    let program = program(
        "shared x, y; thread a { x = 1; let r = y; } thread b { y = 1; fence; let s = x; }",
    );
    let states = states(&program, Model::Tso, Criterion::Drf);
    assert!(states.is_none_or(|s| !s.is_empty()));
    for question in [
        Question::SafeSc,
        Question::RobustTso,
        Question::SafeTso,
        Question::Drf {
            all_locations: true,
        },
    ] {
        for width in 0..30 {
            for value in [-2, -1, 0, 1, 2, 3, 4, 99, i64::MIN, i64::MAX] {
                let rows = BTreeSet::from([vec![value; width]]);
                assert_ne!(judge(&program, question, &rows), Judged::Valid);
            }
        }
    }
}
