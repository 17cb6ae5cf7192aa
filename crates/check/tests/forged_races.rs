//! A witness of a data race with anything in it changed is none.

use palisade_check::{Control, Criterion, Model, Options, Progress, Verdict, check};
use palisade_memory::{Event, EventRef, Witness};
use palisade_testkit::{Shape, program, random_sketch};
use palisade_validate::validate;
use std::sync::atomic::AtomicBool;

fn witness(text: &str, model: Model, criterion: Criterion) -> Option<Witness> {
    let cancel = AtomicBool::new(false);
    let control = Control {
        cancel: &cancel,
        progress: &|_: &Progress| {},
    };
    let answer = check(&program(text), &Options::new(model, criterion), &control).ok()?;
    let violated = answer.verdict == Verdict::Violated;
    answer
        .witnesses
        .into_iter()
        .next()
        .filter(|w| violated && w.pattern.is_some())
}

#[test]
fn no_value_can_be_changed() {
    let by_hand = [
        "nonatomic shared d; shared f; thread a { d = 1; f = 1; } thread b { let r = f; d = 2; }",
        "nonatomic shared d; shared f; thread a { d = 1; f = 1; d = 3; } thread b { wait(f == 1); let r = d; assert r == 1; }",
        "nonatomic shared d; thread a { d = 1; } thread b { let r = d; }",
        "nonatomic shared d; shared x, y; thread a { d = 1; x = 1; let r = y; if r == 0 { d = 2; } } thread b { y = 1; let r = x; if r == 0 { d = 3; } }",
    ];
    let mut texts: Vec<String> = by_hand.iter().map(|t| (*t).to_owned()).collect();
    let shape = Shape {
        properties: true,
        ..Shape::RA
    };
    texts.extend((0..400).map(|seed| random_sketch(seed, &shape).to_string()));
    let mut forged = 0;
    for text in &texts {
        for model in [Model::Ra, Model::C20] {
            for criterion in [
                Criterion::Robust,
                Criterion::Safe,
                Criterion::Drf,
                Criterion::Observational,
            ] {
                let Some(good) = witness(text, model, criterion) else {
                    continue;
                };
                let program = program(text);
                assert_eq!(validate(&program, &good), Ok(()), "{text}\n{good:#?}");
                for index in 0..good.events.len() {
                    let nothing = Some(EventRef::Event(good.events.len() + 3));
                    for refers_to_nothing in [
                        |event: &mut Event, to| event.rf = to,
                        |event: &mut Event, to| event.after = to,
                    ] {
                        let mut bad = good.clone();
                        refers_to_nothing(&mut bad.events[index], nothing);
                        assert!(
                            validate(&program, &bad).is_err(),
                            "event {index} refers to nothing:\n{text}\n{bad:#?}"
                        );
                    }
                    let mut bad = good.clone();
                    let event = &mut bad.events[index];
                    let Some(value) = event.value else {
                        continue;
                    };
                    event.value = Some(value + 7);
                    forged += 1;
                    assert!(
                        validate(&program, &bad).is_err(),
                        "the value of event {index} was changed:\n{text}\n{bad:#?}"
                    );
                }
            }
        }
    }
    assert!(forged > 50, "{forged}");
}
