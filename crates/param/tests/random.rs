//! Random programs with any number of threads agree with the same programs for 1 … 4 copies, all searches together and each alone, and every violation is
//! validated.

use std::cell::OnceCell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use palisade_check::{Answer, Control, Criterion, Model, Options, Verdict};
use palisade_lang::Program;
use palisade_param::{Engine, Proved, prove};
use palisade_testkit::{Shape, program, random_sketch, shrink::shrink};

const QUESTIONS: [(Model, Criterion); 7] = [
    (Model::Sc, Criterion::Safe),
    (Model::Sc, Criterion::Drf),
    (Model::Tso, Criterion::Trf),
    (Model::Tso, Criterion::Robust),
    (Model::Tso, Criterion::Persistent),
    (Model::Ra, Criterion::Robust),
    (Model::C20, Criterion::Robust),
];

/// So many copies are checked as an ordinary program.
const MOST_COPIES: u32 = 4;

fn with_control<T>(ask: impl FnOnce(&Control<'_>) -> T) -> T {
    let cancel = AtomicBool::new(false);
    ask(&Control {
        cancel: &cancel,
        progress: &|_| {},
    })
}

/// How long one instance may take: where it takes longer, there is nothing to compare with.
const PATIENCE: Duration = Duration::from_millis(300);

/// A question about a program, and what is known about given numbers of copies.
struct Instances<'p> {
    program: &'p Program,
    model: Model,
    criterion: Criterion,
    violated: [OnceCell<Option<bool>>; MOST_COPIES as usize + 2],
}

impl<'p> Instances<'p> {
    fn new(program: &'p Program, model: Model, criterion: Criterion) -> Self {
        Instances {
            program,
            model,
            criterion,
            violated: Default::default(),
        }
    }

    /// Whether so many copies violate the criterion; `None` where it takes too long, or they are too many to try.
    fn violated_by(&self, copies: u32) -> Option<bool> {
        *self.violated.get(copies as usize)?.get_or_init(|| {
            let options = Options {
                timeout: Some(PATIENCE),
                ..Options::new(self.model, self.criterion)
            };
            let instance = self.program.with_copies(copies);
            let answer =
                with_control(|control| palisade_check::check(&instance, &options, control));
            match answer.ok()?.verdict {
                Verdict::Holds => Some(false),
                Verdict::Violated => Some(true),
                Verdict::Unknown(_) => None,
            }
        })
    }
}

fn ask(program: &Program, model: Model, criterion: Criterion) -> Option<Answer> {
    let options = Options {
        timeout: Some(Duration::from_secs(30)),
        ..Options::new(model, criterion)
    };
    with_control(|control| palisade_param::check(program, &options, control)).ok()
}

/// So many sets of states each search alone may look at.
const MOST_SETS: u64 = 1000;

/// What is wrong with what a search alone says, if anything is; and whether it said anything.
fn mistake_of(engine: Engine, instances: &Instances<'_>) -> Result<bool, String> {
    let options = Options {
        timeout: Some(PATIENCE),
        ..Options::new(instances.model, instances.criterion)
    };
    let proved =
        with_control(|control| prove(instances.program, &options, control, engine, MOST_SETS));
    let violated_by = |copies| instances.violated_by(copies);
    match proved {
        Ok(Some(Proved::Holds(_))) => {
            match (1..=MOST_COPIES).find(|&copies| violated_by(copies) == Some(true)) {
                None => Ok(true),
                Some(copies) => Err(format!(
                    "{engine:?} says that it holds, but {copies} copies violate it"
                )),
            }
        }
        // More copies than are needed can do no less.
        Ok(Some(Proved::Violated(copies))) => match violated_by(copies.min(MOST_COPIES + 1)) {
            Some(false) if copies <= MOST_COPIES + 1 => Err(format!(
                "{engine:?} says that {copies} copies violate it, but they do not"
            )),
            _ => Ok(true),
        },
        _ => Ok(false),
    }
}

/// What is wrong with an answer, or with what a search alone says, if anything is; and which searches had something to say.
fn mistake(instances: &Instances<'_>, answer: &Answer) -> Result<[bool; 2], String> {
    let mut claimed = None;
    if answer.verdict == Verdict::Violated {
        let Some(witness) = answer.witnesses.first() else {
            return Err("a violation without a witness".into());
        };
        if let Err(invalid) = palisade_validate::validate(instances.program, witness) {
            return Err(format!("an invalid witness: {invalid:?}"));
        }
        claimed = witness.copies;
    }
    let mut said = [false; 2];
    for (engine, said) in [Engine::Forward, Engine::Backward]
        .into_iter()
        .zip(&mut said)
    {
        *said = mistake_of(engine, instances)?;
    }
    // Where the time was not enough, nothing was said.
    if let Verdict::Unknown(why) = &answer.verdict
        && why.contains("the time limit is reached")
    {
        return Ok(said);
    }
    for copies in 1..=claimed.unwrap_or(MOST_COPIES) {
        let violates = instances.violated_by(copies);
        if violates == Some(true) && claimed != Some(copies)
            || violates == Some(false) && claimed == Some(copies)
        {
            return Err(format!(
                "the answer is {:?} with {claimed:?} copies, but for {copies} the criterion is violated: {violates:?}",
                answer.verdict
            ));
        }
        if violates.is_none() {
            break;
        }
    }
    Ok(said)
}

/// The same for a program.
fn mistake_about(program: &Program, model: Model, criterion: Criterion) -> Option<String> {
    let answer = ask(program, model, criterion)?;
    mistake(&Instances::new(program, model, criterion), &answer).err()
}

/// What came out, by verdict.
#[derive(Debug, Default)]
struct Seen {
    holds: AtomicU64,
    violated: AtomicU64,
    unknown: AtomicU64,
    /// Violated only by more than one copy.
    more_than_one: AtomicU64,
    /// The backward search alone had an answer.
    backward: AtomicU64,
    /// The forward search alone had one.
    forward: AtomicU64,
}

fn compare(seeds: std::ops::Range<u64>) -> [Seen; QUESTIONS.len()] {
    let seen: [Seen; QUESTIONS.len()] = Default::default();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(|| {
                while let Some(seed) = seeds.clone().nth(next.fetch_add(1, Ordering::Relaxed)) {
                    let sketch = random_sketch(seed, &Shape::PARAMETERISED);
                    let for_ra = random_sketch(seed, &Shape::PARAMETERISED_RA);
                    let for_c20 = random_sketch(seed, &Shape::PARAMETERISED_C20);
                    for ((model, criterion), seen) in QUESTIONS.into_iter().zip(&seen) {
                        let sketch = match model {
                            Model::Ra => &for_ra,
                            Model::C20 => &for_c20,
                            _ => &sketch,
                        };
                        let program = program(&sketch.to_string());
                        let Some(answer) = ask(&program, model, criterion) else {
                            continue;
                        };
                        let counter = match answer.verdict {
                            Verdict::Holds => &seen.holds,
                            Verdict::Violated => &seen.violated,
                            Verdict::Unknown(_) => &seen.unknown,
                        };
                        counter.fetch_add(1, Ordering::Relaxed);
                        let copies = answer.witnesses.first().and_then(|w| w.copies);
                        seen.more_than_one
                            .fetch_add(u64::from(copies > Some(1)), Ordering::Relaxed);
                        let instances = Instances::new(&program, model, criterion);
                        let found = mistake(&instances, &answer);
                        for (said, seen) in
                            found.iter().flatten().zip([&seen.forward, &seen.backward])
                        {
                            seen.fetch_add(u64::from(*said), Ordering::Relaxed);
                        }
                        if found.is_err() {
                            let smallest = shrink(sketch, |candidate| {
                                palisade_testkit::parse(&candidate.to_string())
                                    .is_some_and(|p| mistake_about(&p, model, criterion).is_some())
                            });
                            let text = smallest.to_string();
                            let mistake =
                                mistake_about(&palisade_testkit::program(&text), model, criterion);
                            panic!(
                                "seed {seed}, {} {}: {}\n{text}",
                                model.name(),
                                criterion.name(),
                                mistake.unwrap_or_default()
                            );
                        }
                    }
                }
            });
        }
    });
    seen
}

#[test]
fn random_programs_agree_with_given_numbers_of_copies() {
    let first = std::env::var("PALISADE_SEED").map_or(0, |s| s.parse().unwrap_or(0));
    let count = std::env::var("PALISADE_COUNT").map_or(2000, |s| s.parse().unwrap_or(2000));
    let seen = compare(first..first + count);
    for ((model, criterion), seen) in QUESTIONS.into_iter().zip(&seen) {
        println!("{} {}: {seen:?}", model.name(), criterion.name());
        // (Of `safe`, some cannot be asked for all numbers at once.)
        let unknown = seen.unknown.load(Ordering::Relaxed);
        assert!(unknown * 10 <= count, "{unknown} are not known");
        // A comparison in which one side is never seen would say nothing.
        for (what, seen, least) in [
            ("holds", &seen.holds, count / 10),
            ("violated", &seen.violated, count / 10),
            (
                "violated by more than one copy",
                &seen.more_than_one,
                count / 20,
            ),
            ("answers of the backward search", &seen.backward, count / 4),
            ("answers of the forward search", &seen.forward, count / 10),
        ] {
            let seen = seen.load(Ordering::Relaxed);
            assert!(
                seen >= least,
                "{} {}: only {seen} {what}",
                model.name(),
                criterion.name()
            );
        }
    }
}

/// `safe` under TSO is decided whether the program is robust or not, and whoever is right for all numbers of copies is right for each.
#[test]
fn safety_under_tso_agrees_with_given_numbers_of_copies() {
    let question = (Model::Tso, Criterion::Safe);
    let (mut holds, mut violated, mut unknown, mut holds_although_not_robust) = (0, 0, 0, 0);
    for seed in 0..800 {
        let text = random_sketch(seed, &Shape::PARAMETERISED).to_string();
        let program = program(&text);
        let Some(answer) = ask(&program, question.0, question.1) else {
            continue;
        };
        let instances = Instances::new(&program, question.0, question.1);
        if let Err(mistake) = mistake(&instances, &answer) {
            panic!("seed {seed}: {mistake}\n{text}");
        }
        match answer.verdict {
            Verdict::Violated => violated += 1,
            Verdict::Unknown(why) => {
                // Only where more copies may make a `never` false.
                assert!(text.contains("never"), "{why}\n{text}");
                unknown += 1;
            }
            Verdict::Holds => {
                holds += 1;
                let robust = ask(&program, Model::Tso, Criterion::Robust);
                let robust = robust.map(|answer| answer.verdict);
                holds_although_not_robust += u32::from(robust == Some(Verdict::Violated));
            }
        }
    }
    println!(
        "{holds} hold, {holds_although_not_robust} of them are not robust, {violated} violated, {unknown} unknown"
    );
    assert!(holds > 100 && violated > 100 && holds_although_not_robust > 20 && unknown < 80);
}
