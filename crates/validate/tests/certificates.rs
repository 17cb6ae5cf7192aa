//! Certificates of answers that are right are valid; what was changed is not.

use palisade_certificate::{
    Claim, Header, Locations, Proof, Reader, Sorter, decode, encode, write,
};
use palisade_check::{
    CERTIFIED, Control, Criterion, Model, NoCertificate, Options, Route, Verdict,
};
use palisade_lang::{Op, Order, ParseOptions, Program, Source};
use palisade_memory::{Machine, Sc, StepKind, sc};
use palisade_testkit::{Shape, program, random_sketch, workspace_dir};
use palisade_validate::{
    Asked, Certified, Rejected, validate_certificate, validate_certificate_within,
};
use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

static NEVER: AtomicBool = AtomicBool::new(false);
const CONTROL: Control<'static> = Control {
    cancel: &NEVER,
    progress: &|_| {},
};

type Question = (Model, Criterion);

fn options((model, criterion): Question) -> Options {
    Options {
        timeout: Some(Duration::from_secs(2)),
        ..Options::new(model, criterion)
    }
}

fn verdict(program: &Program, question: Question) -> Verdict {
    match palisade_check::check(program, &options(question), &CONTROL) {
        Ok(answer) => answer.verdict,
        // It has no meaning under RA.
        Err(refusal) => Verdict::Unknown(refusal.message),
    }
}

struct Certificate {
    claim: Claim,
    states: Vec<Vec<u8>>,
}

/// The certificate of a walk, whether the criterion holds or not; `None` where there is none.
fn certificate(program: &Program, question: Question) -> Option<Certificate> {
    certificate_with(program, &options(question))
}

fn certificate_with(program: &Program, options: &Options) -> Option<Certificate> {
    let mut states = Vec::new();
    let written = palisade_check::certificate(program, options, &CONTROL, &mut |s| {
        let mut bytes = Vec::new();
        encode(s, &mut bytes);
        states.push(bytes);
        Ok(())
    });
    match written {
        Ok(claim) => Some(Certificate { claim, states }),
        Err(NoCertificate::Unfinished(_) | NoCertificate::Refused(_)) => None,
        Err(NoCertificate::Failed(error)) => panic!("{error}"),
    }
}

fn file(program: &Program, claim: Claim, states: &[Vec<u8>]) -> Vec<u8> {
    let mut sorter = Sorter::default();
    for state in states {
        sorter.push(state).unwrap();
    }
    let mut file = Vec::new();
    let header = Header::new(program, claim);
    write(&header, &mut sorter.finish().unwrap(), &mut file).unwrap();
    file
}

/// Asks what the certificate says that it is about.
fn judge(program: &Program, file: &[u8]) -> Result<Certified, Rejected> {
    let asked = asked(Reader::new(file)?.header.claim);
    validate_certificate(program, asked, || Reader::new(file))
}

fn asked(claim: Claim) -> Asked {
    Asked {
        locations: claim.locations,
        ..Asked::new(claim.model, claim.criterion)
    }
}

/// Every claim that a header can make.
fn every_claim() -> Vec<Claim> {
    let proofs = [
        Proof::States,
        Proof::Attacks,
        Proof::Buffers(0),
        Proof::Buffers(1),
        Proof::LoadBuffers,
        Proof::Monitors,
        Proof::Messages,
        Proof::Suspects,
        Proof::Basis,
    ];
    let mut claims = Vec::new();
    for &(model, criterion) in CERTIFIED {
        for locations in [Locations::Declared, Locations::All] {
            for proof in proofs {
                claims.push(Claim {
                    locations,
                    proof,
                    ..Claim::new(model, criterion)
                });
            }
        }
    }
    claims
}

/// A certificate says how it proves what is asked. No field of its header, with its hash made to fit, makes it prove less.
#[test]
fn no_field_of_the_header_weakens_the_claim() {
    // Neither loads nor their orders wait for anything under TSO; the `fadd`s are there so that the other programs have nothing to be
    // found fault with.
    let seqcst = program(
        "shared x, y; thread a { x = 1; let r = y.load(seqcst); } thread b { y = 1; let s = x.load(seqcst); }
         never a@end && b@end && a.r == 0 && b.s == 0;",
    );
    let nonatomic = program(
        "nonatomic shared d; shared x; thread a { fadd(x, 1); let r = x; } thread b { fadd(x, 1); }",
    );
    let mut refused = 0;
    for program in [&seqcst, &nonatomic] {
        // States that were found for any question, and the least that there can be.
        let mut sets: Vec<Vec<Vec<u8>>> = vec![Vec::new()];
        for &question in CERTIFIED {
            sets.extend(certificate(program, question).map(|c| c.states));
        }
        for question in every_claim().into_iter().map(asked) {
            let holds = certificate_for(program, question).is_some();
            for claim in every_claim() {
                for states in &sets {
                    let file = file(program, claim, states);
                    let judged = validate_certificate(program, question, || Reader::new(&file[..]));
                    match judged {
                        Ok(_) => {
                            assert!(holds && asked(claim) == question, "{question:?} {claim:?}")
                        }
                        Err(_) => refused += 1,
                    }
                }
            }
        }
    }
    assert!(refused > 1000, "{refused}");
    // What no field is for is not read.
    let claim = Claim::new(Model::Tso, Criterion::Robust);
    let text = String::from_utf8(file(&seqcst, claim, &[])).unwrap();
    for line in ["orders fences\n", "domain 2\n", "copies 1\n"] {
        for before in ["model", "criterion", "locations", "proof", "hash"] {
            let at = text.find(before).unwrap();
            let forged = format!("{}{line}{}", &text[..at], &text[at..]);
            let judged = judge(&seqcst, forged.as_bytes());
            assert!(matches!(judged, Err(Rejected::Unusable(_))), "{forged}");
        }
    }
}

/// Whether the criterion holds, told by whether there is a certificate.
fn certificate_for(program: &Program, asked: Asked) -> Option<()> {
    let cancel = AtomicBool::new(false);
    let control = Control {
        cancel: &cancel,
        progress: &|_| {},
    };
    let options = Options {
        all_locations: asked.locations == Locations::All,
        ..Options::new(asked.model, asked.criterion)
    };
    let answer = palisade_check::check(program, &options, &control).ok()?;
    (answer.verdict == palisade_check::Verdict::Holds).then_some(())
}

/// The second reading must see what the first one saw.
#[test]
fn a_certificate_that_changes_while_it_is_read() {
    for (program, question) in examples() {
        let Certificate { claim, states } = certificate(&program, question).unwrap();
        let whole = file(&program, claim, &states);
        if program.is_parameterised() || states.len() < 2 {
            continue;
        }
        // The first reading sees less, the second one everything; and the other way round.
        let less = file(&program, claim, &states[..states.len() - 1]);
        for (first, second) in [(&less, &whole), (&whole, &less)] {
            let mut readings = [first, second].into_iter();
            let judged = validate_certificate(&program, asked(claim), || {
                Reader::new(&readings.next().unwrap()[..])
            });
            assert!(judged.is_err(), "{question:?}");
        }
        let other = "shared z; thread a { z = 1; }";
        let other = file(&palisade_testkit::program(other), claim, &states);
        let mut readings = [&whole, &other].into_iter();
        let judged = validate_certificate(&program, asked(claim), || {
            Reader::new(&readings.next().unwrap()[..])
        });
        assert!(
            matches!(&judged, Err(Rejected::Unusable(why)) if why.contains("changed")),
            "{judged:?}"
        );
    }
}

#[track_caller]
fn reason(result: Result<Certified, Rejected>) -> String {
    match result {
        Err(Rejected::Invalid(invalid)) => invalid.to_string(),
        other => panic!("{other:?}"),
    }
}

fn shape(question: Question) -> Shape {
    match question {
        (Model::Sc, _) => Shape::SC,
        (Model::Tso, Criterion::Safe) => Shape::TSO_REACH,
        (Model::Tso, _) => Shape::TSO,
        (Model::Ra, _) => Shape::RA,
        (Model::C20, Criterion::Safe) => Shape {
            properties: true,
            ..Shape::C20
        },
        (Model::C20, _) => Shape::C20_METHODS,
        (Model::Rc11, Criterion::Safe) => Shape {
            properties: true,
            ..Shape::RC11
        },
        (Model::Rc11, _) => Shape::RC11,
    }
}

/// The same text without one of its statements, or with another number or location in it.
fn variants(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let changes = [("0", "1"), ("1", "0"), ("x", "y"), ("y", "x")];
        let mut others: Vec<String> = changes.map(|(a, b)| line.replace(a, b)).into();
        if line.trim().ends_with(';') {
            others.push(String::new());
        }
        for other in others.into_iter().filter(|other| other != line) {
            let mut lines = lines.clone();
            lines[at] = &other;
            found.push(lines.join("\n"));
        }
    }
    found
}

/// Whenever a criterion holds there is a certificate, and it is valid; whenever it does not, the set of all states, where there is one, is not.
/// And what shows that a program is right never shows that another one is, even with the other's name on it.
#[test]
fn random_programs() {
    for &question in CERTIFIED {
        let (mut valid, mut refused, mut missing, mut foreign) = (0, 0, 0, 0);
        for seed in 0..300 {
            let sketch = random_sketch(seed, &shape(question));
            let program = program(&sketch.to_string());
            match verdict(&program, question) {
                Verdict::Unknown(_) => {}
                Verdict::Violated => {
                    if let Some(certificate) = certificate(&program, question) {
                        let file = file(&program, certificate.claim, &certificate.states);
                        reason(judge(&program, &file));
                    }
                    refused += 1;
                }
                Verdict::Holds => {
                    let Some(Certificate { claim, states }) = certificate(&program, question)
                    else {
                        missing += u32::from(is_certified(&program, question));
                        continue;
                    };
                    let judged = judge(&program, &file(&program, claim, &states));
                    assert!(judged.is_ok(), "{question:?} {seed}: {judged:?}\n{sketch}");
                    valid += 1;
                    if foreign >= 30 {
                        continue;
                    }
                    for text in variants(&sketch.to_string()) {
                        let Some(other) = palisade_testkit::parse(&text) else {
                            continue;
                        };
                        if verdict(&other, question) == Verdict::Violated {
                            let file = file(&other, claim, &states);
                            assert!(judge(&other, &file).is_err(), "{question:?}\n{text}");
                            foreign += 1;
                        }
                    }
                }
            }
        }
        println!("{question:?}: {valid} valid, {refused} violated, {foreign} foreign");
        assert!(valid > 20 && foreign > 3, "{question:?}: {valid} {foreign}");
        assert!(refused > 20, "{question:?}: {refused}");
        // Only where a limit was met.
        assert!(missing <= 3, "{question:?}: {missing}");
    }
}

/// A plain access of a location that is not declared `nonatomic` says nothing about locations that it cannot reach, and where it reaches several by an index or a pointer it counts for all.
#[test]
fn plain_accesses_of_locations_that_are_not_declared_so() {
    let question = (Model::C20, Criterion::Robust);
    for text in [
        "shared x; thread a { x.store(1, nonatomic); }",
        "shared x, y; thread a { x.store(1, nonatomic); } thread b { y.store(1, relaxed); }",
        "shared x, f; thread a { x.store(1, nonatomic); f.store(1, release); } thread b { wait(f == 1, acquire); let r = x.load(nonatomic); x.store(2, relaxed); }",
        "shared x[2], f; thread a { let i = 1; x[i].store(1, nonatomic); f = 1; } thread b { wait(f == 1); let r = x[0].load(relaxed); let s = x[1]; }",
        "shared x, y, f; thread a { let p = &x; (*p).store(1, nonatomic); f = 1; } thread b { y.store(1, relaxed); wait(f == 1); let r = x; }",
    ] {
        let Some(program) = palisade_testkit::parse(text) else {
            panic!("{text}");
        };
        assert_eq!(verdict(&program, question), Verdict::Holds, "{text}");
        let Certificate { claim, states } = certificate(&program, question).expect(text);
        let judged = judge(&program, &file(&program, claim, &states));
        assert!(judged.is_ok(), "{judged:?}\n{text}");
    }
    // The certificate of a program without the race is none of the one with it.
    let ordered = "shared x, f; thread a { x.store(1, nonatomic); f.store(1, release); } thread b { wait(f == 1, acquire); let r = x; }";
    let racing = ordered.replace("release", "relaxed");
    let program = palisade_testkit::program;
    let Certificate { claim, states } = certificate(&program(ordered), question).expect(ordered);
    let other = program(&racing);
    assert!(judge(&other, &file(&other, claim, &states)).is_err());
}

/// Under C++20 and RC11 what is safe has a certificate where it is robust, and SC tells what happens.
fn is_certified(program: &Program, question: Question) -> bool {
    match question {
        (model @ (Model::C20 | Model::Rc11), Criterion::Safe) => {
            palisade_memory::ra_accepts::blocks_end(program)
                && verdict(program, (model, Criterion::Robust)) == Verdict::Holds
        }
        _ => true,
    }
}

/// Holds for every question; not robust, but safe with store buffers.
const FENCED: &str = "shared x, y;\n\
    thread a { x = 1; fence; let r = y; if r == 0 { x = 2; } }\n\
    thread b { y = 1; fence; let s = x; }\n\
    never x == 3;\n";
const BUFFERED: &str = "shared x, y;\n\
    thread a { x = 1; let r = y; }\n\
    thread b { y = 1; let s = x; }\n\
    never x == 3;\n";
const ENDLESS_BUFFERS: &str = "shared x, y;\n\
    thread a { loop { x = 1; let r = y; } }\n\
    thread b { loop { y = 1; let s = x; } }\n\
    never x == 3;\n";

fn examples() -> Vec<(Program, Question)> {
    let mut examples = Vec::new();
    for &question in CERTIFIED {
        if question.1 != Criterion::Drf {
            examples.push((program(FENCED), question));
        }
    }
    for text in [BUFFERED, ENDLESS_BUFFERS] {
        examples.push((program(text), (Model::Tso, Criterion::Safe)));
    }
    examples
}

#[test]
fn safety_under_tso_takes_the_proof_that_it_needs() {
    let proof = |text: &str| {
        let question = (Model::Tso, Criterion::Safe);
        certificate(&program(text), question).unwrap().claim.proof
    };
    assert_eq!(proof(FENCED), Proof::Attacks);
    assert_eq!(proof(BUFFERED), Proof::Buffers(1));
    assert_eq!(proof(ENDLESS_BUFFERS), Proof::Buffers(1));
    let two = "shared x, y, z;\n\
        thread a { x = 1; y = 1; let r = z; }\n\
        thread b { z = 1; let s = y; let t = x; }\n\
        never b@end && b.s == 1 && b.t == 0;\n";
    assert_eq!(proof(two), Proof::Buffers(2));
}

/// Buffers grow without end, and the order of what they hold matters: longer buffers do not tell, and sets of stores do not either.
const THREE_BITS: &str = "shared x, y, z;
    thread p { let r; loop { x = 1; y = 1; y = 0; x = 0; r = z; } }
    thread q { let s; let t; loop { z = 1; atomic { s = y; t = x; } assert !(s == 1 && t == 0); z = 0; } }";

const MESSAGE: &str = "shared x, y;
thread a {
  x = 1;
  y = 1;
}
thread b {
  let r = y;
  let s = x;
}
never b@end && b.r == 1 && b.s == 0;
";
const LOOPING_MESSAGE: &str = "shared x, y;
thread a {
  let s;
  loop {
    x = 1;
    y = 1;
    wait(y == 0);
    x = 0;
  }
}
thread b {
  let r;
  loop {
    wait(y == 1);
    r = x;
    assert r == 1;
    y = 0;
  }
}
";
const READERS: &str = "shared x, y;
thread a {
  x = 1;
}
thread b {
  y = 1;
}
thread c {
  let r = x;
  let s = y;
}
thread d {
  let t = y;
  let u = x;
}
never c@end && d@end && c.r == 1 && c.s == 0 && d.t == 1 && d.u == 0;
";

/// Whatever is safe has a proof with load buffers, with and without loops. What is missing in it is noticed, and it shows nothing about another program.
#[test]
fn load_buffers() {
    let question = (Model::Tso, Criterion::Safe);
    let options = Options {
        route: Route::Dual,
        ..options(question)
    };
    let fewer_at_random = |program: &Program, certificate: &Certificate, seed: usize| {
        let mut states = certificate.states.clone();
        states.remove(seed % states.len());
        judge(program, &file(program, certificate.claim, &states))
    };
    let (mut valid, mut with_basis, mut foreign) = (0, 0, 0);
    // Sets of messages show nearly everything about small random programs; where the order of stores matters, there is a basis.
    let mut texts: Vec<String> = [MESSAGE, LOOPING_MESSAGE, READERS]
        .map(str::to_owned)
        .into();
    for seed in 0..700 {
        let shape = if seed < 300 {
            Shape::TSO_REACH
        } else {
            Shape::LOOPS
        };
        texts.push(random_sketch(seed, &shape).to_string());
    }
    for (seed, sketch) in texts.iter().enumerate() {
        let program = program(sketch);
        let answer = palisade_check::check(&program, &options, &CONTROL).unwrap();
        let found = certificate_with(&program, &options);
        if answer.verdict != Verdict::Holds {
            assert!(found.is_none(), "{seed}\n{sketch}");
            continue;
        }
        let Some(found) = found else { continue };
        assert_eq!(found.claim.proof, Proof::LoadBuffers);
        let judged = judge(&program, &file(&program, found.claim, &found.states));
        assert!(judged.is_ok(), "{seed}: {judged:?}\n{sketch}");
        valid += 1;
        let minimal = |state: &Vec<u8>| {
            let mut numbers = Vec::new();
            decode(state, &mut numbers).unwrap();
            numbers[0] == 1
        };
        with_basis += usize::from(found.states.iter().any(minimal));
        let removed = &found.states[seed % found.states.len()];
        // Some minimal configuration may only have been needed for another one that is not minimal.
        assert!(minimal(removed) || fewer_at_random(&program, &found, seed).is_err());
        if foreign >= 100 {
            continue;
        }
        for text in variants(sketch) {
            let Some(other) = palisade_testkit::parse(&text) else {
                continue;
            };
            if verdict(&other, question) == Verdict::Violated {
                let file = file(&other, found.claim, &found.states);
                assert!(judge(&other, &file).is_err(), "{text}");
                foreign += 1;
            }
        }
    }
    println!("{valid} valid, {with_basis} with a basis, {foreign} foreign");
    assert!(valid > 200 && with_basis >= 3 && foreign > 50);
    let program = program(THREE_BITS);
    let found = certificate(&program, question).expect("there is one");
    assert_eq!(found.claim.proof, Proof::LoadBuffers);
    assert!(judge(&program, &file(&program, found.claim, &found.states)).is_ok());
}

/// A deadlock of SC is one under release/acquire, too: a thread that waits could go on with an old value, but no write stays invisible for ever.
#[test]
fn a_deadlock_of_sc_is_one_under_ra() {
    let text = "shared x; thread a { x = 1; } thread b { x = 2; } thread c { wait(x == 2); } never deadlock;";
    let program = program(text);
    let question = (Model::Ra, Criterion::Safe);
    assert_eq!(verdict(&program, question), Verdict::Violated);
    // What was walked is no proof, whatever it claims.
    if let Some(Certificate { claim, states }) = certificate(&program, question) {
        let judged = judge(&program, &file(&program, claim, &states));
        assert!(judged.is_err(), "{judged:?}");
    }
}

#[test]
fn what_was_changed_is_rejected() {
    for (program, question) in examples() {
        let Certificate { claim, states } = certificate(&program, question).unwrap();
        let of = |states: &[Vec<u8>]| judge(&program, &file(&program, claim, states));
        let whole = file(&program, claim, &states);
        assert_eq!(
            judge(&program, &whole).map(|c| c.states).ok(),
            Some(states.len() as u64),
            "{question:?}"
        );
        for missing in (0..states.len()).step_by(states.len().div_ceil(40)) {
            let mut fewer = states.clone();
            fewer.remove(missing);
            let reason = reason(of(&fewer));
            let right = reason.contains("missing") || reason.contains("no step leads");
            assert!(right, "{question:?}: {reason}");
        }
        let mut numbers = Vec::new();
        for changed in (0..states.len()).step_by(states.len().div_ceil(8)) {
            decode(&states[changed], &mut numbers).unwrap();
            for at in 0..numbers.len() {
                for by in [1, -1, 1000, i64::MIN] {
                    let mut changed = numbers.clone();
                    changed[at] = changed[at].wrapping_add(by);
                    let mut bytes = Vec::new();
                    encode(&changed, &mut bytes);
                    if states.contains(&bytes) {
                        continue;
                    }
                    let mut more = states.clone();
                    more.push(bytes);
                    let reason = reason(of(&more));
                    assert!(!reason.is_empty(), "{question:?} with {changed:?}");
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
        let hash = Header::new(&program, claim).hash;
        let other: String = hash.chars().rev().collect();
        let start = whole.windows(64).position(|w| w == hash.as_bytes());
        let mut changed = whole.clone();
        changed[start.unwrap()..][..64].copy_from_slice(other.as_bytes());
        let reason = reason(judge(&program, &changed));
        assert!(reason.contains("another program"), "{reason}");
    }
}

#[test]
fn sets_that_memory_cannot_hold_are_sorted_on_disk() {
    for (program, question) in examples() {
        let Certificate { claim, mut states } = certificate(&program, question).unwrap();
        // Some ten states fit.
        let within = |states: &[Vec<u8>]| {
            let file = file(&program, claim, states);
            validate_certificate_within(&program, asked(claim), 300, || Reader::new(&file[..]))
        };
        let judged = within(&states).map(|c| c.states);
        assert_eq!(judged.ok(), Some(states.len() as u64), "{question:?}");
        states.remove(states.len() / 2);
        reason(within(&states));
    }
}

#[test]
fn another_program_question_or_domain() {
    let text = "shared x;\nthread a { x = 1; }\n";
    let one = program(text);
    let question = (Model::Sc, Criterion::Safe);
    let Certificate { claim, states } = certificate(&one, question).unwrap();
    let whole = file(&one, claim, &states);
    assert!(judge(&one, &whole).is_ok());
    let other = |program: &Program| {
        let reason = reason(judge(program, &whole));
        assert!(reason.contains("another program"), "{reason}");
    };
    other(&program(&format!("{text}\n")));
    other(&program("shared x;\nthread a { x = 2; }\n"));
    let options = ParseOptions {
        domain: Some(2),
        ..ParseOptions::default()
    };
    let smaller = palisade_lang::parse(&Source::new("test.pal", text), &options);
    other(&smaller.unwrap().program);
    // The same states under another name.
    let text = String::from_utf8_lossy(&whole);
    let renamed = text.replace("criterion safe", "criterion trf!");
    assert!(judge(&one, renamed.as_bytes()).is_err());
    let renamed = text.replace("criterion safe", "criterion drf");
    let reason = reason(judge(&one, renamed.as_bytes()));
    assert!(reason.contains("question"), "{reason}");
    // A proof that shows nothing about this.
    let unknown = Claim {
        proof: Proof::States,
        ..Claim::new(Model::Ra, Criterion::Robust)
    };
    let unknown = judge(&one, &file(&one, unknown, &states));
    assert!(matches!(unknown, Err(Rejected::Unusable(_))));
}

/// An attack begins at every store of every state, also those that a search dismisses beforehand.
#[test]
fn all_attacks_are_in_it() {
    let question = (Model::Tso, Criterion::Robust);
    let mut dismissed = 0;
    let random = (0..200).map(|seed| program(&random_sketch(seed, &Shape::TSO).to_string()));
    for program in random.chain([program(FENCED)]) {
        let answer = palisade_check::check(&program, &options(question), &CONTROL).unwrap();
        if answer.verdict != Verdict::Holds {
            continue;
        }
        let Some(Certificate { claim, states }) = certificate(&program, question) else {
            continue;
        };
        let begun = beginnings(&program);
        // Registers that do not matter any more are 0 in it.
        let bare = |state: &[u8]| without_registers(&program, state);
        let found: BTreeSet<Vec<i64>> = states.iter().map(|state| bare(state)).collect();
        assert!(begun.iter().all(|attack| found.contains(&bare(attack))));
        if begun.is_empty() || answer.stats.pruned == 0 {
            continue;
        }
        dismissed += 1;
        // Without one of them, and without all of them and what comes after, it shows nothing.
        let fewer: Vec<Vec<u8>> = states
            .iter()
            .filter(|s| bare(s) != bare(&begun[0]))
            .cloned()
            .collect();
        reason(judge(&program, &file(&program, claim, &fewer)));
        let width = width(&program);
        let mut numbers = Vec::new();
        let alone = |state: &&Vec<u8>| {
            decode(state, &mut numbers).unwrap();
            numbers[width] == 0
        };
        let alone: Vec<Vec<u8>> = states.iter().filter(alone).cloned().collect();
        reason(judge(&program, &file(&program, claim, &alone)));
    }
    assert!(dismissed > 20, "{dismissed}");
}

/// The numbers of a state, with 0 for every register.
fn without_registers(program: &Program, state: &[u8]) -> Vec<i64> {
    let mut numbers = Vec::new();
    decode(state, &mut numbers).unwrap();
    let mut at = 0;
    for local in Sc::new(program).initial().locals {
        let registers = at + 1..at + 1 + local.registers.len();
        at = registers.end;
        numbers[registers].fill(0);
    }
    numbers
}

/// How many numbers threads and memory take.
fn width(program: &Program) -> usize {
    let machine = Sc::new(program);
    let state = machine.initial();
    let threads = state.locals.iter().map(|l| 1 + l.registers.len());
    threads.sum::<usize>() + state.memory.len()
}

/// The states in which an attack has just begun.
fn beginnings(program: &Program) -> Vec<Vec<u8>> {
    let machine = Sc::new(program);
    let mut begun = Vec::new();
    let mut seen: HashSet<sc::State> = HashSet::from([machine.initial()]);
    let mut todo = vec![machine.initial()];
    while let Some(state) = todo.pop() {
        let undisturbed = machine.code().holder(&state.locals).is_none();
        for (step, next) in machine.steps(&state) {
            if matches!(step.kind, StepKind::Error(_)) {
                continue;
            }
            let op = &machine.code().thread(step.thread).transitions[step.transition].op;
            let plain = matches!(op, Op::Store { order, .. } if *order != Order::SeqCst);
            if let (true, true, Some(location)) = (plain, undisturbed, step.location) {
                let mut numbers = Vec::new();
                for local in &next.locals {
                    numbers.push(local.point.0.into());
                    numbers.extend(&local.registers);
                }
                numbers.extend(&state.memory);
                let at = location.index();
                numbers.extend([1, step.thread as i64, at as i64]);
                let threads = 0..state.locals.len();
                numbers.extend(threads.map(|t| if t == step.thread { 3 } else { 0 }));
                for other in 0..state.memory.len() {
                    let buffered = (other == at).then_some(step.written).flatten();
                    numbers.extend(buffered.map_or([0, 0], |value| [1, value]));
                }
                numbers.extend(vec![0; state.memory.len()]);
                let mut bytes = Vec::new();
                encode(&numbers, &mut bytes);
                begun.push(bytes);
            }
            if seen.insert(next.clone()) {
                todo.push(next);
            }
        }
    }
    begun
}

#[test]
fn programs_of_the_collection() {
    let mut valid = [0; CERTIFIED.len()];
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
            for (at, &question) in CERTIFIED.iter().enumerate() {
                let mut options = options(question);
                options.timeout = Some(Duration::from_millis(100));
                match palisade_check::check(&program, &options, &CONTROL) {
                    Ok(answer) if answer.verdict == Verdict::Holds && answer.stats.states < 100 => {
                    }
                    _ => continue,
                }
                let Some(Certificate { claim, states }) = certificate_with(&program, &options)
                else {
                    continue;
                };
                if states.len() > 3_000 {
                    continue;
                }
                let judged = judge(&program, &file(&program, claim, &states));
                assert!(judged.is_ok(), "{path:?} {question:?}: {judged:?}");
                valid[at] += 1;
            }
        }
    }
    assert!(valid.iter().all(|&n| n > 0), "{valid:?}");
}
