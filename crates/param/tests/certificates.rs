//! Certificates for any number of threads: those of right answers are valid, and what was changed is not.

use palisade_certificate::{Claim, Header, Proof, Reader, Sorter, encode, write};
use palisade_check::{Control, Criterion, Model, NoCertificate, Options, Verdict};
use palisade_lang::Program;
use palisade_param::{CERTIFIED, certificate, check};
use palisade_testkit::{Shape, program, random_sketch, workspace_dir};
use palisade_validate::{Asked, Certified, Rejected, validate_certificate};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

static NEVER: AtomicBool = AtomicBool::new(false);
const CONTROL: Control<'static> = Control {
    cancel: &NEVER,
    progress: &|_| {},
};

fn options((model, criterion): (Model, Criterion)) -> Options {
    Options {
        timeout: Some(Duration::from_secs(2)),
        jobs: 1,
        ..Options::new(model, criterion)
    }
}

/// What the sets of a certificate are.
fn proof_of(question: (Model, Criterion)) -> Proof {
    match question {
        (Model::Tso, Criterion::Safe) => Proof::LoadBuffers,
        _ => Proof::Basis,
    }
}

/// The sets of a certificate; `None` where there is none.
fn sets(program: &Program, question: (Model, Criterion)) -> Option<Vec<Vec<i64>>> {
    let mut sets = Vec::new();
    let written = certificate(program, &options(question), &CONTROL, &mut |set| {
        sets.push(set.to_vec());
        Ok(())
    });
    match written {
        Ok(claim) => {
            assert_eq!(claim.proof, proof_of(question));
            sets.sort();
            sets.dedup();
            Some(sets)
        }
        Err(NoCertificate::Unfinished(_) | NoCertificate::Refused(_)) => None,
        Err(other) => panic!("{other:?}"),
    }
}

fn judge(
    program: &Program,
    (model, criterion): (Model, Criterion),
    sets: &[Vec<i64>],
) -> Result<Certified, Rejected> {
    let mut sorter = Sorter::default();
    for set in sets {
        let mut bytes = Vec::new();
        encode(set, &mut bytes);
        sorter.push(&bytes).unwrap();
    }
    let claim = Claim {
        proof: proof_of((model, criterion)),
        ..Claim::new(model, criterion)
    };
    let header = Header::new(program, claim);
    let mut file = Vec::new();
    write(&header, &mut sorter.finish().unwrap(), &mut file).unwrap();
    let asked = Asked::new(model, criterion);
    validate_certificate(program, asked, || Reader::new(&file[..]))
}

fn is_invalid(result: Result<Certified, Rejected>) -> bool {
    matches!(result, Err(Rejected::Invalid(_)))
}

#[test]
fn programs_of_the_collection() {
    let mut paths: Vec<_> = std::fs::read_dir(workspace_dir().join("programs/param"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let next = AtomicUsize::new(0);
    let valid = AtomicUsize::new(0);
    let left_out = Mutex::new(Vec::new());
    let judge_one = |path: &Path| {
        let program = program(&std::fs::read_to_string(path).unwrap());
        for &question in CERTIFIED {
            if question == (Model::Tso, Criterion::Drf) {
                continue;
            }
            let answer = check(&program, &options(question), &CONTROL).unwrap();
            if answer.verdict != Verdict::Holds {
                continue;
            }
            // Large ones take the validator long.
            let Some(sets) = sets(&program, question).filter(|sets| sets.len() < 1500) else {
                left_out.lock().unwrap().push((path.to_owned(), question));
                continue;
            };
            let judged = judge(&program, question, &sets);
            assert!(judged.is_ok(), "{path:?} {question:?}: {judged:?}");
            valid.fetch_add(1, Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(|| {
                while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
                    judge_one(path);
                }
            });
        }
    });
    let valid = valid.into_inner();
    println!("{valid} valid, left out: {left_out:?}");
    assert!(valid > 60, "{valid} valid");
}

#[test]
fn random_programs() {
    for &question in CERTIFIED {
        let (mut valid, mut refused, mut of_another) = (0, 0, 0);
        for seed in 0..60 {
            let shape = match question.0 {
                Model::Ra => Shape::PARAMETERISED_RA,
                _ => Shape::PARAMETERISED,
            };
            let text = random_sketch(seed, &shape).to_string();
            let program = program(&text);
            let answer = check(&program, &options(question), &CONTROL).unwrap();
            let found = sets(&program, question);
            match (answer.verdict, found) {
                (Verdict::Holds, Some(sets)) => {
                    let judged = judge(&program, question, &sets);
                    assert!(
                        judged.is_ok(),
                        "{question:?} {seed}: {judged:?}\n{program}",
                        program = program.source.text()
                    );
                    valid += 1;
                    of_another += usize::from(is_wrong_for_others(&text, question, &sets));
                }
                (Verdict::Violated, found) => {
                    assert!(found.is_none(), "{question:?} {seed}");
                    refused += 1;
                }
                _ => {}
            }
        }
        println!("{question:?}: {valid} valid, {refused} violated, {of_another} of another");
        assert!(valid > 5 && of_another > 1, "{question:?}");
        assert!(refused > 5, "{question:?}");
    }
}

/// What proves something about one program proves nothing about another that is almost the same, and violates. Whether there is one.
fn is_wrong_for_others(text: &str, question: (Model, Criterion), sets: &[Vec<i64>]) -> bool {
    let mut found = false;
    for (one, other) in [
        ("fence;", "skip;"),
        ("cas(x, 1,", "cas(x, 0,"),
        ("== 0", "== 1"),
        ("== 1", "== 0"),
        ("r0 = ", "r1 = "),
        ("= 1;", "= 0;"),
        ("= 0;", "= 1;"),
        ("bcas(", "cas("),
        ("y;", "x;"),
        ("x;", "y;"),
    ] {
        let changed = text.replacen(one, other, 1);
        let Some(program) = palisade_testkit::parse(&changed).filter(|_| changed != text) else {
            continue;
        };
        let answer = check(&program, &options(question), &CONTROL);
        if answer.is_ok_and(|answer| answer.verdict == Verdict::Violated) {
            let judged = judge(&program, question, sets);
            assert!(judged.is_err(), "{question:?}: {one}\n{text}\n{changed}");
            found = true;
        }
    }
    found
}

/// The same for attacks and monitors, where copies also change together.
#[test]
fn robustness_that_was_changed_is_rejected() {
    let locked = "shared lock, x, y;\n\
                  thread t[*] {\n\
                    bcas(lock, 0, 1);\n\
                    choose { x = 1; let r = y; } or { y = 1; let r = x; }\n\
                    lock = 0;\n\
                  }\n";
    let open = locked.replace("bcas", "cas");
    let late = locked.replace("let r = y; }", "let r = y; lock = 0; let s = y; }");
    robustness_is_rejected((Model::Tso, Criterion::Robust), locked, &[open, late]);
    let spin = "shared lock;\n\
                nonatomic shared n;\n\
                thread t[*] { loop { while cas(lock, 0, 1) != 0 { } n = 1; lock = 0; } }\n";
    let open = spin.replace("while cas(lock, 0, 1) != 0 { }", "cas(lock, 0, 1);");
    let late = spin.replace("lock = 0;", "lock = 0; n = 0;");
    robustness_is_rejected((Model::Ra, Criterion::Robust), spin, &[open, late]);
}

fn robustness_is_rejected(question: (Model, Criterion), right: &str, broken: &[String]) {
    let right = program(right);
    let of_right = sets(&right, question).unwrap();
    assert!(judge(&right, question, &of_right).is_ok());
    assert!(of_right.iter().any(|s| s[0] == 1), "nothing to go back to");
    for broken in broken {
        let broken = program(broken);
        let answer = check(&broken, &options(question), &CONTROL).unwrap();
        assert_eq!(answer.verdict, Verdict::Violated);
        assert!(judge(&broken, question, &of_right).is_err());
    }
    let minimal: Vec<usize> = (0..of_right.len())
        .filter(|&set| of_right[set][0] == 1)
        .collect();
    for &missing in minimal.iter().step_by(minimal.len() / 10 + 1) {
        let mut fewer = of_right.clone();
        let removed = fewer.remove(missing);
        assert!(is_invalid(judge(&right, question, &fewer)), "{removed:?}");
    }
    for changed in (0..of_right.len()).step_by(of_right.len() / 3) {
        for at in 0..of_right[changed].len() {
            for by in [-1, i64::MIN] {
                let mut other = of_right.clone();
                other[changed][at] = other[changed][at].wrapping_add(by);
                let _ = judge(&right, question, &other);
            }
        }
    }
}

#[test]
fn what_was_changed_is_rejected() {
    let right = "shared lock;\n\
                 nonatomic shared n;\n\
                 thread t[*] { loop { bcas(lock, 0, 1); cs: n = 1 - n; lock = 0; } }\n\
                 never t[0]@cs && t[1]@cs;\n";
    let right = program(&format!("domain 2;\n{right}"));
    for question in [
        (Model::Sc, Criterion::Safe),
        (Model::Sc, Criterion::Drf),
        (Model::Tso, Criterion::Trf),
        (Model::Tso, Criterion::Persistent),
    ] {
        let sets = sets(&right, question).unwrap();
        let whole = judge(&right, question, &sets).unwrap();
        assert_eq!(whole.states, sets.len() as u64);
        let basis = sets.iter().filter(|s| s[0] == 1).count();
        // A triangular race or a fragile run needs more than a lock has.
        assert_eq!(
            basis > 0,
            matches!(question.1, Criterion::Safe | Criterion::Drf),
            "{question:?}"
        );
        for missing in (0..sets.len()).step_by(2) {
            let mut fewer = sets.clone();
            fewer.remove(missing);
            let judged = judge(&right, question, &fewer);
            assert!(
                is_invalid(judged),
                "{question:?} without {:?}",
                sets[missing]
            );
        }
        // No change makes the judge fall over; and one that says less than is needed is no proof.
        for changed in (0..sets.len()).step_by(5) {
            for at in 0..sets[changed].len() {
                for by in [1, i64::MIN] {
                    let mut other = sets.clone();
                    other[changed][at] = other[changed][at].wrapping_add(by);
                    let _ = judge(&right, question, &other);
                }
            }
        }
        // An ideal that counts where there may be any number.
        for changed in (0..sets.len()).filter(|&s| sets[s][0] == 0) {
            let mut other = sets.clone();
            let last = other[changed].len() - 1;
            assert_eq!(
                other[changed][last], 0,
                "any number, since nothing is counted"
            );
            other[changed][last] = 1;
            assert!(is_invalid(judge(&right, question, &other)), "{question:?}");
        }
    }
    // What is right for one program is wrong for a broken one.
    let broken = program(
        &right
            .source
            .text()
            .replace("bcas(lock, 0, 1)", "xchg(lock, 1)"),
    );
    let question = (Model::Sc, Criterion::Safe);
    let of_right = sets(&right, question).unwrap();
    assert!(judge(&broken, question, &of_right).is_err());
}

/// Safe under TSO and not robust: only load buffers show it.
#[test]
fn what_was_changed_with_load_buffers_is_rejected() {
    let right = "domain 2;\n\
                 shared x, y, z;\n\
                 thread t[*] { let q; z = 1; q = x; x = 1; y = 1; }\n\
                 thread r { let s = y; let u = x; }\n\
                 thread w { x = 1; fence; let v = z; }\n\
                 never r@end && r.s == 1 && r.u == 0;\n";
    let question = (Model::Tso, Criterion::Safe);
    let program = program(right);
    let robust = check(
        &program,
        &options((Model::Tso, Criterion::Robust)),
        &CONTROL,
    );
    assert_eq!(robust.unwrap().verdict, Verdict::Violated);
    let answer = check(&program, &options(question), &CONTROL).unwrap();
    assert_eq!(answer.verdict, Verdict::Holds);
    let all = sets(&program, question).unwrap();
    let whole = judge(&program, question, &all).unwrap();
    assert_eq!(whole.states, all.len() as u64);
    assert!(all.iter().any(|s| s[0] == 1), "nothing to go back to");
    // Neither the targets, nor what leads to them, nor what can be reached may be missing.
    for missing in (0..all.len()).step_by(all.len() / 40 + 1) {
        let mut fewer = all.clone();
        let removed = fewer.remove(missing);
        let judged = judge(&program, question, &fewer);
        assert!(is_invalid(judged), "without {removed:?}");
    }
    // The beginning as a minimal configuration, without and with a copy: `r` and `w` with their registers, memory, no copy inside a block, empty buffers.
    let stands = |thread: usize| {
        let thread = &program.threads[thread];
        let mut numbers = vec![i64::from(thread.behind_jumps(thread.initial).0)];
        numbers.resize(1 + thread.registers.len(), 0);
        numbers
    };
    let beginning = [&[1][..], &stands(1), &stands(2), &[0; 3], &[0], &[0, 0]].concat();
    let with_a_copy = [&beginning[..], &[0], &stands(0), &[0]].concat();
    for more in [beginning, with_a_copy] {
        let mut forged = all.clone();
        forged.push(more);
        let judged = judge(&program, question, &forged);
        assert!(
            format!("{judged:?}").contains("the beginning is above a minimal configuration"),
            "{judged:?}"
        );
    }
    for changed in (0..all.len()).step_by(all.len() / 3 + 1) {
        for at in 0..all[changed].len() {
            for by in [1, i64::MIN] {
                let mut other = all.clone();
                other[changed][at] = other[changed][at].wrapping_add(by);
                let _ = judge(&program, question, &other);
            }
        }
    }
    assert!(is_wrong_for_others(right, question, &all));
    // The name of another proof is no proof.
    let judged = judge(&program, (Model::Tso, Criterion::Robust), &all);
    assert!(judged.is_err());
}

/// Only what is known is believed.
#[test]
fn other_questions_are_unusable() {
    let program = program("shared x;\nthread t[*] { wait(x == 1); }\nnever deadlock;\n");
    for question in [
        (Model::Tso, Criterion::Safe),
        (Model::Ra, Criterion::Safe),
        (Model::Sc, Criterion::Safe),
    ] {
        let judged = judge(&program, question, &[]);
        assert!(matches!(judged, Err(Rejected::Unusable(_))), "{question:?}");
        assert!(sets(&program, question).is_none());
    }
}
