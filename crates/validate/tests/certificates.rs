//! Certificates of answers that are right are valid; what was changed is not.

use palisade_certificate::{Header, Locations, Reader, Sorter, decode, encode, write};
use palisade_check::{CERTIFIED, Control, Criterion, Model, NoCertificate, Options, Verdict};
use palisade_lang::{ParseOptions, Program, Source};
use palisade_testkit::{Shape, program, random_sketch, workspace_dir};
use palisade_validate::{Certified, Rejected, validate_certificate};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

static NEVER: AtomicBool = AtomicBool::new(false);
const CONTROL: Control<'static> = Control {
    cancel: &NEVER,
    progress: &|_| {},
};

fn options((model, criterion): (Model, Criterion)) -> Options {
    Options {
        timeout: Some(Duration::from_millis(300)),
        ..Options::new(model, criterion)
    }
}

/// The certificate of a walk, whether the criterion holds or not; `None` where the walk is too large or the attack succeeds.
fn certificate(program: &Program, question: (Model, Criterion)) -> Option<Vec<Vec<u8>>> {
    let mut states = Vec::new();
    let written = palisade_check::certificate(program, &options(question), &CONTROL, &mut |s| {
        let mut bytes = Vec::new();
        encode(s, &mut bytes);
        states.push(bytes);
        Ok(())
    });
    match written {
        Ok(()) => Some(states),
        Err(NoCertificate::Unfinished(_)) => None,
        Err(other) => panic!("{other:?}"),
    }
}

fn file(program: &Program, (model, criterion): (Model, Criterion), states: &[Vec<u8>]) -> Vec<u8> {
    let mut sorter = Sorter::default();
    for state in states {
        sorter.push(state).unwrap();
    }
    let header = Header::new(program, model, criterion, Locations::Declared);
    let mut file = Vec::new();
    write(&header, &mut sorter.finish().unwrap(), &mut file).unwrap();
    file
}

fn judge(program: &Program, file: &[u8]) -> Result<Certified, Rejected> {
    validate_certificate(program, || Reader::new(file))
}

fn is_invalid(result: Result<Certified, Rejected>) -> bool {
    matches!(result, Err(Rejected::Invalid(_)))
}

#[test]
fn random_programs() {
    for &question in CERTIFIED {
        let shape = match question.0 {
            Model::Sc => Shape::SC,
            _ => Shape::TSO,
        };
        let (mut valid, mut refused) = (0, 0);
        for seed in 0..60 {
            let program = program(&random_sketch(seed, &shape).to_string());
            let Some(states) = certificate(&program, question) else {
                continue;
            };
            let answer = palisade_check::check(&program, &options(question), &CONTROL).unwrap();
            let judged = judge(&program, &file(&program, question, &states));
            match answer.verdict {
                Verdict::Holds => {
                    assert!(judged.is_ok(), "{question:?} {seed}: {judged:?}");
                    valid += 1;
                }
                // The set of all states is closed, and one of them violates.
                Verdict::Violated => {
                    assert!(is_invalid(judged), "{question:?} {seed}");
                    refused += 1;
                }
                Verdict::Unknown(_) => {}
            }
        }
        assert!(valid > 0, "{question:?}");
        // Of an attack that succeeds there is no whole walk.
        assert!(
            refused > 0 || question.1 == Criterion::Robust,
            "{question:?}"
        );
    }
}

#[test]
fn what_was_changed_is_rejected() {
    let program = program(
        "shared x, y;\n\
         thread a { x = 1; fence; let r = y; if r == 0 { x = 2; } }\n\
         thread b { y = 1; fence; let s = x; }\n\
         never x == 3;\n",
    );
    for &question in CERTIFIED {
        if question.1 == Criterion::Drf {
            continue;
        }
        let states = certificate(&program, question).unwrap();
        let whole = file(&program, question, &states);
        assert_eq!(
            judge(&program, &whole).map(|c| c.states).ok(),
            Some(states.len() as u64),
            "{question:?}"
        );
        for missing in (0..states.len()).step_by(states.len().div_ceil(40)) {
            let mut fewer = states.clone();
            fewer.remove(missing);
            let judged = judge(&program, &file(&program, question, &fewer));
            assert!(is_invalid(judged), "{question:?} without {missing}");
        }
        let mut numbers = Vec::new();
        for changed in (0..states.len()).step_by(states.len().div_ceil(20)) {
            let width = (1..200)
                .find(|&w| decode(&states[changed], w, &mut numbers).is_some())
                .unwrap();
            for at in 0..width {
                for by in [1, -1, 1000, i64::MIN] {
                    decode(&states[changed], width, &mut numbers).unwrap();
                    numbers[at] = numbers[at].wrapping_add(by);
                    let mut bytes = Vec::new();
                    encode(&numbers, &mut bytes);
                    if states.contains(&bytes) {
                        continue;
                    }
                    let mut more = states.clone();
                    more.push(bytes);
                    let judged = judge(&program, &file(&program, question, &more));
                    assert!(is_invalid(judged), "{question:?} with {numbers:?}");
                }
            }
        }
        for end in (0..whole.len()).step_by(7) {
            let judged = judge(&program, &whole[..end]);
            assert!(matches!(judged, Err(Rejected::Unusable(_))), "{end}");
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1 << (at % 8);
            assert!(judge(&program, &changed).is_err(), "{question:?} byte {at}");
        }
    }
}

#[test]
fn another_program_question_or_domain() {
    let text = "shared x;\nthread a { x = 1; }\n";
    let one = program(text);
    let question = (Model::Sc, Criterion::Safe);
    let states = certificate(&one, question).unwrap();
    let whole = file(&one, question, &states);
    assert!(judge(&one, &whole).is_ok());
    assert!(is_invalid(judge(&program(&format!("{text}\n")), &whole)));
    let other = program("shared x;\nthread a { x = 2; }\n");
    assert!(is_invalid(judge(&other, &whole)));
    let options = ParseOptions {
        domain: Some(2),
        ..ParseOptions::default()
    };
    let smaller = palisade_lang::parse(&Source::new("test.pal", text), &options);
    assert!(is_invalid(judge(&smaller.unwrap().program, &whole)));
    // The same states under another name.
    let drf = String::from_utf8_lossy(&whole).replace("criterion safe", "criterion trf!");
    assert!(judge(&one, drf.as_bytes()).is_err());
    let unknown = file(&one, (Model::Ra, Criterion::Robust), &states);
    assert!(matches!(judge(&one, &unknown), Err(Rejected::Unusable(_))));
}

#[test]
fn programs_of_the_collection() {
    let mut valid = 0;
    for directory in ["mutex", "litmus", "locks", "sync"] {
        let Ok(entries) = std::fs::read_dir(workspace_dir().join("programs").join(directory))
        else {
            continue;
        };
        let mut paths: Vec<_> = entries.map(|e| e.unwrap().path()).collect();
        paths.sort();
        for path in paths
            .into_iter()
            .filter(|p| p.extension().is_some_and(|e| e == "pal"))
        {
            let text = std::fs::read_to_string(&path).unwrap();
            let source = Source::new("test.pal", text);
            let Ok(parsed) = palisade_lang::parse(&source, &ParseOptions::default()) else {
                continue;
            };
            let program = parsed.program;
            for &question in CERTIFIED {
                let mut options = options(question);
                options.timeout = Some(Duration::from_millis(100));
                match palisade_check::check(&program, &options, &CONTROL) {
                    Ok(answer) if answer.verdict == Verdict::Holds && answer.stats.states < 100 => {
                    }
                    _ => continue,
                }
                let Some(states) = certificate(&program, question) else {
                    continue;
                };
                if states.len() > 5_000 {
                    continue;
                }
                let judged = judge(&program, &file(&program, question, &states));
                assert!(judged.is_ok(), "{path:?} {question:?}: {judged:?}");
                valid += 1;
            }
        }
    }
    assert!(valid > 0);
}
