//! What is tried, again and again, with random programs and texts: by `soak`, and by the targets in fuzz/.

use palisade_certificate::{Claim, Header, Locations, Proof, Reader, Sorter, encode, write};
use palisade_check::{
    Answer, CERTIFIED, Control, Criterion, Model, NoCertificate, Options, QUESTIONS, Reductions,
    Verdict, certificate, check,
};
use palisade_export::{instrument, instrument_persistence, to_promela};
use palisade_lang::print::to_pal;
use palisade_lang::{Language, ParseOptions, Program, Source, same_program};
use palisade_memory::PatternKind;
use palisade_testkit::{Shape, oracle, parse, spin};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Why a program shows nothing, or what it shows.
#[derive(Debug)]
pub enum Mistake {
    /// One side has no answer.
    NoAnswer,
    /// They differ.
    Wrong(String),
}

fn wrong(what: String) -> Result<(), Mistake> {
    Err(Mistake::Wrong(what))
}

/// What is tried with a program.
pub type Trial = Box<dyn Fn(&Program) -> Result<(), Mistake>>;

/// A trial by its name, and the shape of the programs that it is for.
pub fn trial(name: &str) -> Option<(Shape, Trial)> {
    match name {
        "reductions" => Some((Shape::TSO, Box::new(reductions))),
        "jobs" => Some((Shape::TSO, Box::new(jobs))),
        "instrumented" => Some((Shape::TSO, Box::new(instrumented))),
        "certificates" => {
            let shape = Shape::TSO_REACH;
            Some((shape, Box::new(|p| certificates(p, Model::Tso))))
        }
        "ra-certificates" => {
            let shape = RA_SAFE;
            Some((shape, Box::new(|p| certificates(p, Model::Ra))))
        }
        "c20-certificates" => {
            let shape = Shape {
                properties: true,
                ..Shape::C20_METHODS
            };
            Some((shape, Box::new(|p| certificates(p, Model::C20))))
        }
        "forged" => Some((Shape::TSO_REACH, Box::new(forged))),
        "spin" => Some((Shape::SC, Box::new(by_spin))),
        name => live(name).or_else(|| criterion(name)),
    }
}

/// The trials that need nothing but this crate, in the order in which `all` tries them; `spin` needs SPIN.
pub const ALL: &[&str] = &[
    "safe",
    "drf",
    "trf",
    "robust",
    "persistent",
    "reach",
    "ra",
    "ra-safe",
    "ra-observational",
    "c20",
    "c20-observational",
    "c20-drf",
    "c20-safe",
    "c20-methods",
    "c20-observational-methods",
    "c20-drf-methods",
    "c20-safe-methods",
    "rc11",
    "rc11-drf",
    "rc11-safe",
    "safe-loops",
    "drf-loops",
    "trf-loops",
    "robust-loops",
    "persistent-loops",
    "reach-loops",
    "ra-loops",
    "ra-safe-loops",
    "c20-loops",
    "c20-observational-loops",
    "c20-drf-loops",
    "c20-safe-loops",
    "live",
    "live-tso",
    "live-ra",
    "live-c20",
    "reductions",
    "jobs",
    "instrumented",
    "certificates",
    "ra-certificates",
    "c20-certificates",
    "forged",
];

/// Programs for release/acquire that say what must not happen.
const RA_SAFE: Shape = Shape {
    properties: true,
    ..Shape::RA
};

/// A criterion against brute force; every witness is replayed.
fn criterion(name: &str) -> Option<(Shape, Trial)> {
    type Decide = fn(&Program) -> Option<bool>;
    let (name, loops) = match name.strip_suffix("-loops") {
        Some(name) => (name, true),
        None => (name, false),
    };
    let (name, methods) = match name.strip_suffix("-methods") {
        Some(name) => (name, true),
        None => (name, false),
    };
    let tso = (Shape::TSO, Model::Tso);
    let stating = |shape: Shape| Shape {
        properties: true,
        ..shape
    };
    let c20 = (stating(Shape::C20), Model::C20);
    let rc11 = (stating(Shape::C20), Model::Rc11);
    let ((mut shape, model), criterion, expected): ((Shape, Model), Criterion, Decide) = match name
    {
        "safe" => ((Shape::SC, Model::Sc), Criterion::Safe, oracle::sc_safe),
        "drf" => ((Shape::SC, Model::Sc), Criterion::Drf, oracle::sc_drf),
        "trf" => (tso, Criterion::Trf, oracle::tso_trf),
        "robust" => (tso, Criterion::Robust, oracle::tso_robust),
        "persistent" => (tso, Criterion::Persistent, oracle::tso_persistent),
        "reach" => (
            (Shape::TSO_REACH, Model::Tso),
            Criterion::Safe,
            oracle::tso_safe,
        ),
        "ra" => ((Shape::RA, Model::Ra), Criterion::Robust, oracle::ra_robust),
        "ra-safe" => ((RA_SAFE, Model::Ra), Criterion::Safe, oracle::ra_safe),
        "ra-observational" => (
            (RA_SAFE, Model::Ra),
            Criterion::Observational,
            oracle::ra_observational,
        ),
        "c20-observational" => (c20, Criterion::Observational, oracle::c20_observational),
        "c20" => (c20, Criterion::Robust, oracle::c20_robust),
        "c20-drf" => (c20, Criterion::Drf, oracle::c20_drf),
        "c20-safe" => (c20, Criterion::Safe, oracle::c20_safe),
        "rc11" => (rc11, Criterion::Robust, oracle::rc11_robust),
        "rc11-drf" => (rc11, Criterion::Drf, oracle::rc11_drf),
        "rc11-safe" => (rc11, Criterion::Safe, oracle::rc11_safe),
        _ => return None,
    };
    if methods {
        shape.methods = true;
        shape.locked = 45;
    }
    if !loops {
        let trial =
            move |program: &Program| against(program, model, criterion, by(expected(program)));
        return Some((shape, Box::new(trial)));
    }
    shape.loops = true;
    shape.threads.1 = 3;
    shape.accesses = 6;
    // Where a state has a buffer of any length in it, more of them take gigabytes: a loop may go round alone.
    let states = match name {
        "safe" | "drf" | "trf" | "robust" | "persistent" | "ra" => 20_000,
        _ => 4000,
    };
    type Bounded = fn(&Program) -> Option<bool>;
    let bounded: Option<Bounded> = match name {
        "robust" => Some(|p| oracle::tso_robust_looping(p, 3)),
        "persistent" => Some(|p| oracle::tso_persistent_looping(p, 3)),
        "ra" => Some(|p| oracle::ra_robust_looping(p, 4)),
        _ => None,
    };
    let expected = move |program: &Program| match bounded {
        Some(bounded) => within_bounds(bounded(program)),
        None => by(expected(program)),
    };
    let trial = move |program: &Program| {
        let expected = oracle::within(states, || expected(program));
        against(program, model, criterion, expected)
    };
    Some((shape, Box::new(trial)))
}

/// `live` against brute force, which under weak models is given loops that ask again in place of instructions that wait.
fn live(name: &str) -> Option<(Shape, Trial)> {
    let loops = Shape {
        accesses: 5,
        ..Shape::LOOPS
    };
    let weak = |base: Shape| Shape {
        accesses: 6,
        threads: (2, 3),
        loops: true,
        spins: 18,
        nonatomic: false,
        pointers: false,
        properties: false,
        ..base
    };
    type Decide = fn(&Program) -> Option<bool>;
    let (shape, model, states, expected): (Shape, Model, usize, Decide) = match name {
        "live" => (loops, Model::Sc, 600, oracle::sc_live),
        "live-tso" => {
            let shape = Shape {
                locked: 15,
                store_buffering: 70,
                properties: false,
                ..loops
            };
            (shape, Model::Tso, 700, oracle::tso_live)
        }
        "live-ra" => (weak(Shape::RA), Model::Ra, 500, oracle::ra_live),
        "live-c20" => {
            let shape = Shape {
                seqcst_accesses: false,
                seqcst_fences: false,
                ..weak(Shape::C20_LOOPS)
            };
            (shape, Model::C20, 500, oracle::c20_live)
        }
        _ => return None,
    };
    let trial = move |program: &Program| {
        let definition = match model {
            Model::Ra | Model::C20 => {
                let polled = parse(&oracle::polled(program.source.text()));
                polled.and_then(|polled| oracle::within(states, || expected(&polled)))
            }
            _ => oracle::within(states, || expected(program)),
        };
        against(program, model, Criterion::Live, by(definition))
    };
    Some((shape, Box::new(trial)))
}

/// What brute force says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// It says this.
    Known(bool),
    /// Runs within its bounds do not violate. A violation beyond them has a witness, which is judged by the definition.
    NotWithinBounds,
    /// The program is too large for it.
    Unknown,
}

fn by(definition: Option<bool>) -> Expected {
    definition.map_or(Expected::Unknown, Expected::Known)
}

fn within_bounds(answer: Option<bool>) -> Expected {
    match answer {
        Some(true) => Expected::NotWithinBounds,
        Some(false) => Expected::Known(false),
        None => Expected::Unknown,
    }
}

fn against(
    program: &Program,
    model: Model,
    criterion: Criterion,
    expected: Expected,
) -> Result<(), Mistake> {
    let mut answered = expected != Expected::Unknown;
    let mut first = None;
    for (reductions, with) in [
        (Reductions::ALL, ""),
        (Reductions::NONE, " without reductions"),
    ] {
        let answer = ask(program, model, criterion, |o| o.reductions = reductions)?;
        let Some(found) = holds(&answer) else {
            answered = false;
            continue;
        };
        if let Expected::Known(expected) = expected
            && expected != found
        {
            return wrong(format!(
                "by the definition {expected}, by the search {found}{with}"
            ));
        }
        if *first.get_or_insert(found) != found {
            return wrong("the search with reductions and without differ".to_owned());
        }
        if !found && answer.witnesses.is_empty() {
            return wrong(format!("violated, but without a witness{with}"));
        }
        for witness in &answer.witnesses {
            if let Err(invalid) = palisade_validate::validate(program, witness) {
                return wrong(format!("invalid witness{with}: {invalid}"));
            }
        }
    }
    if answered {
        Ok(())
    } else {
        Err(Mistake::NoAnswer)
    }
}

fn ask(
    program: &Program,
    model: Model,
    criterion: Criterion,
    change: impl FnOnce(&mut Options),
) -> Result<Answer, Mistake> {
    let mut options = Options::new(model, criterion);
    options.timeout = Some(Duration::from_secs(1));
    change(&mut options);
    let control = Control {
        cancel: &AtomicBool::new(false),
        progress: &|_| {},
    };
    check(program, &options, &control).map_err(|_| Mistake::NoAnswer)
}

fn holds(answer: &Answer) -> Option<bool> {
    match answer.verdict {
        Verdict::Holds => Some(true),
        Verdict::Violated => Some(false),
        Verdict::Unknown(_) => None,
    }
}

/// Each reduction off, one by one: the verdict stays.
fn reductions(program: &Program) -> Result<(), Mistake> {
    type Off = fn(&mut Reductions);
    let off: [(&str, Off); 8] = [
        ("local steps", |r| r.local_steps = false),
        ("dead registers", |r| r.dead_registers = false),
        ("symmetry", |r| r.symmetry = false),
        ("partial order", |r| r.partial_order = false),
        ("static filter", |r| r.static_filter = false),
        ("suspects", |r| r.suspects = false),
        ("monitors", |r| r.monitors = false),
        ("subsumption", |r| r.subsumption = false),
    ];
    for &(model, criterion) in QUESTIONS {
        let Ok(all) = ask(program, model, criterion, |_| {}) else {
            continue;
        };
        for (name, off) in off {
            let without = ask(program, model, criterion, |o| off(&mut o.reductions))?;
            if let (Some(a), Some(b)) = (holds(&all), holds(&without))
                && a != b
            {
                let question = (model.name(), criterion.name());
                return wrong(format!("{question:?}: {a}, without {name} {b}"));
            }
        }
    }
    Ok(())
}

/// One searching thread against several: everything but time and memory is the same.
fn jobs(program: &Program) -> Result<(), Mistake> {
    for &(model, criterion) in QUESTIONS {
        let Ok(one) = ask(program, model, criterion, |_| {}) else {
            continue;
        };
        let many = ask(program, model, criterion, |o| o.jobs = 3)?;
        if holds(&one).is_none() || holds(&many).is_none() {
            continue;
        }
        let counts = |a: &Answer| {
            (
                a.stats.states,
                a.stats.transitions,
                a.stats.queries,
                a.stats.pruned,
            )
        };
        if holds(&one) != holds(&many)
            || one.witnesses != many.witnesses
            || counts(&one) != counts(&many)
        {
            let question = (model.name(), criterion.name());
            let both = (counts(&one), counts(&many));
            return wrong(format!(
                "{question:?}: one thread and three differ: {both:?}"
            ));
        }
    }
    Ok(())
}

/// The direct search against a walk over the instrumented program.
fn instrumented(program: &Program) -> Result<(), Mistake> {
    type Weave = fn(&Program) -> Program;
    let routes: [(Criterion, Weave); 2] = [
        (Criterion::Robust, |p| instrument(p, None)),
        (Criterion::Persistent, instrument_persistence),
    ];
    for (criterion, weave) in routes {
        let direct = ask(program, Model::Tso, criterion, |_| {})?;
        let woven = ask(&weave(program), Model::Sc, Criterion::Safe, |o| {
            o.all = true
        })?;
        let (Some(expected), Some(_)) = (holds(&direct), holds(&woven)) else {
            continue;
        };
        // Errors of the program are no goal.
        let goal = |w: &palisade_check::Witness| {
            w.pattern
                .as_ref()
                .is_some_and(|p| p.kind == PatternKind::Never)
        };
        let found = !woven.witnesses.iter().any(goal);
        if expected != found {
            let name = criterion.name();
            return wrong(format!(
                "{name}: {expected}, by the instrumented program {found}"
            ));
        }
    }
    Ok(())
}

/// What holds under the model (under TSO also what holds under SC) has a valid certificate, and no certificate shows what does not hold.
fn certificates(program: &Program, model: Model) -> Result<(), Mistake> {
    let mut missing = false;
    let asked = |m: Model| m == model || (m == Model::Sc && model == Model::Tso);
    for &(model, criterion) in CERTIFIED.iter().filter(|(m, _)| asked(*m)) {
        let Ok(answer) = ask(program, model, criterion, |_| {}) else {
            continue;
        };
        let Some(holds) = holds(&answer) else {
            missing = true;
            continue;
        };
        let Some(file) = certificate_file(program, model, criterion) else {
            missing |= holds;
            continue;
        };
        let question = palisade_validate::Asked::new(model, criterion);
        let judged =
            palisade_validate::validate_certificate(program, question, || Reader::new(&file[..]));
        if judged.is_ok() != holds {
            let question = (model.name(), criterion.name());
            return wrong(format!(
                "{question:?}: {holds}, its certificate: {judged:?}"
            ));
        }
    }
    if missing {
        return Err(Mistake::NoAnswer);
    }
    Ok(())
}

/// States that were found for any question, under headers that claim every way to prove what does not hold, or another question: none shows it.
fn forged(program: &Program) -> Result<(), Mistake> {
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
    let mut sets: Vec<Vec<Vec<u8>>> = vec![Vec::new()];
    let mut violated = Vec::new();
    for &(model, criterion) in CERTIFIED {
        sets.extend(certificate_states(program, model, criterion).map(|(_, states)| states));
        if let Ok(answer) = ask(program, model, criterion, |_| {})
            && holds(&answer) == Some(false)
        {
            violated.push((model, criterion));
        }
    }
    if violated.is_empty() {
        return Err(Mistake::NoAnswer);
    }
    // What is asked comes from the caller: a header about anything else is of no use, either.
    let headers = |model: Model, criterion: Criterion| {
        let own = proofs.iter().map(move |&proof| Claim {
            proof,
            ..Claim::new(model, criterion)
        });
        let others = CERTIFIED.iter().flat_map(|&(model, criterion)| {
            [Locations::Declared, Locations::All].map(|locations| Claim {
                locations,
                ..Claim::new(model, criterion)
            })
        });
        own.chain(others)
    };
    for (model, criterion) in violated {
        for (claim, states) in
            headers(model, criterion).flat_map(|claim| sets.iter().map(move |s| (claim, s)))
        {
            let file = file_of(program, claim, states);
            let question = palisade_validate::Asked::new(model, criterion);
            let judged = palisade_validate::validate_certificate(program, question, || {
                Reader::new(&file[..])
            });
            if judged.is_ok() {
                return wrong(format!("a forged certificate is valid: {claim:?}"));
            }
        }
    }
    Ok(())
}

fn certificate_file(program: &Program, model: Model, criterion: Criterion) -> Option<Vec<u8>> {
    let (claim, states) = certificate_states(program, model, criterion)?;
    Some(file_of(program, claim, &states))
}

fn file_of(program: &Program, claim: Claim, states: &[Vec<u8>]) -> Vec<u8> {
    let mut sorter = Sorter::default();
    for state in states {
        sorter.push(state).expect("in memory");
    }
    let mut file = Vec::new();
    let mut states = sorter.finish().expect("in memory");
    write(&Header::new(program, claim), &mut states, &mut file).expect("in memory");
    file
}

fn certificate_states(
    program: &Program,
    model: Model,
    criterion: Criterion,
) -> Option<(Claim, Vec<Vec<u8>>)> {
    let mut states = Vec::new();
    let control = Control {
        cancel: &AtomicBool::new(false),
        progress: &|_| {},
    };
    let mut options = Options::new(model, criterion);
    options.timeout = Some(Duration::from_secs(1));
    let written = certificate(program, &options, &control, &mut |state| {
        let mut bytes = Vec::new();
        encode(state, &mut bytes);
        states.push(bytes);
        Ok(())
    });
    match written {
        Ok(claim) => Some((claim, states)),
        Err(NoCertificate::Unfinished(_) | NoCertificate::Refused(_)) => None,
        Err(NoCertificate::Failed(error)) => panic!("in memory: {error}"),
    }
}

/// The walk against SPIN, on what it says about the program in Promela.
fn by_spin(program: &Program) -> Result<(), Mistake> {
    let walk = ask(program, Model::Sc, Criterion::Safe, |_| {})?;
    let Ok(model) = to_promela(program) else {
        return Err(Mistake::NoAnswer);
    };
    let verified = match spin::verify(&model, &["-m1000000"]) {
        Ok(verified) => verified,
        Err(refused) => return wrong(format!("SPIN or the C compiler refuses it: {refused}")),
    };
    match (holds(&walk), verified) {
        (Some(walk), Some(verified)) if walk == verified => Ok(()),
        (Some(walk), Some(verified)) => wrong(format!("by the walk {walk}, by SPIN {verified}")),
        _ => Err(Mistake::NoAnswer),
    }
}

/// The state that the test asks about, which is how a processor ends, can be.
pub fn x86(text: &str) -> Result<(), Mistake> {
    let source = Source::new("random.litmus", text);
    match palisade_lang::parse(&source, &ParseOptions::default()) {
        Err(errors) => wrong(format!("is not read: {}", errors[0].message)),
        Ok(parsed) if oracle::sc_safe(&parsed.program) == Some(false) => Ok(()),
        Ok(_) => wrong("ends in another state".to_owned()),
    }
}

/// A text in each language: no parser falls over, and what is printed and read again is the same program.
pub fn parsers(text: &str) -> Result<(), Mistake> {
    for language in [
        Language::Pal,
        Language::Trencher,
        Language::Tpl,
        Language::Litmus,
    ] {
        let options = ParseOptions {
            language: Some(language),
            ..ParseOptions::default()
        };
        let Ok(parsed) = palisade_lang::parse(&Source::new("fuzz", text), &options) else {
            continue;
        };
        let printed = to_pal(&parsed.program);
        let options = ParseOptions {
            language: Some(Language::Pal),
            ..ParseOptions::default()
        };
        let again = palisade_lang::parse(&Source::new("fuzz.pal", printed.clone()), &options);
        let same = match again {
            Ok(again) => same_program(&parsed.program, &again.program),
            Err(errors) => Err(format!("{:?}", errors.first().map(|e| &e.message))),
        };
        if let Err(difference) = same {
            return wrong(format!(
                "{language:?}: {difference}:\n{text}\nprinted:\n{printed}"
            ));
        }
    }
    Ok(())
}
