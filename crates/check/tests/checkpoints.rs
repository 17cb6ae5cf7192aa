//! A check that goes on from any of its checkpoints comes to the answer that it would have come to.

use palisade_check::{
    Answer, Checkpoints, Control, Criterion, Model, Options, QUESTIONS, Refusal, Verdict, check,
};
use palisade_lang::Program;
use palisade_testkit::{Shape, parse, program, random_sketch};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn ask(program: &Program, options: &Options) -> Result<Answer, Refusal> {
    let control = Control {
        cancel: &AtomicBool::new(false),
        progress: &|_| {},
    };
    check(program, options, &control)
}

/// All of an answer that must be the same.
fn told(answer: &Result<Answer, Refusal>) -> String {
    match answer {
        Err(refusal) => format!("{refusal:?}"),
        Ok(answer) => {
            let mut stats = answer.stats;
            stats.wall = Duration::ZERO;
            stats.peak_memory_bytes = 0;
            let Answer {
                verdict,
                witnesses,
                notes,
                ..
            } = answer;
            format!("{verdict:?} {witnesses:?} {notes:?} {stats:?}")
        }
    }
}

type Written = Arc<Mutex<Vec<Vec<u8>>>>;

/// Checkpoints that are all kept in memory.
fn in_memory() -> (Arc<Checkpoints>, Written) {
    let written = Written::default();
    let into = Arc::clone(&written);
    let sink = move |content: &mut dyn FnMut(&mut dyn std::io::Write) -> std::io::Result<()>| {
        let mut bytes = Vec::new();
        content(&mut bytes).unwrap();
        into.lock().unwrap().push(bytes);
    };
    let checkpoints = Checkpoints::new(Duration::from_nanos(1), Box::new(sink));
    (Arc::new(checkpoints), written)
}

/// Asks with checkpoints, and again from some of them. How many there were.
fn try_all(program: &Program, options: &Options, most: usize) -> usize {
    let plain = told(&ask(program, options));
    let (checkpoints, written) = in_memory();
    let kept = Options {
        checkpoints: Some(checkpoints),
        ..options.clone()
    };
    assert_eq!(told(&ask(program, &kept)), plain);
    drop(kept);
    let written = std::mem::take(&mut *written.lock().unwrap());
    let every = written.len().div_ceil(most).max(1);
    for bytes in written.iter().rev().step_by(every) {
        for jobs in [1, 2] {
            let (checkpoints, _) = in_memory();
            let source = std::io::Cursor::new(bytes.clone());
            checkpoints.resume(Box::new(source)).unwrap();
            let again = Options {
                checkpoints: Some(checkpoints),
                jobs,
                ..options.clone()
            };
            assert_eq!(told(&ask(program, &again)), plain);
        }
    }
    written.len()
}

#[test]
fn random_programs_from_any_checkpoint() {
    let mut checkpoints = 0;
    for seed in 0..60 {
        let shape = match seed % 3 {
            0 => Shape::LOOPS,
            1 => Shape::TSO_REACH,
            _ => Shape::RA,
        };
        let Some(program) = parse(&random_sketch(seed, &shape).to_string()) else {
            continue;
        };
        for &(model, criterion) in QUESTIONS {
            let mut options = Options::new(model, criterion);
            options.all = seed % 4 == 0;
            options.most_states = Some(5000);
            options.jobs = 1 + seed as usize % 2;
            checkpoints += try_all(&program, &options, 3);
        }
    }
    println!("{checkpoints} checkpoints");
    assert!(checkpoints > 100);
}

/// Two threads in a loop; the registers make many local states.
const LOOPS: &str = "domain 3;
shared turn, flag[2], x;
thread t[2] {
  let n; let r; let s;
  loop {
    n = n + 1;
    flag[me] = n;
    turn = me;
    r = x;
    x = r + 1;
    s = flag[1 - me];
    if s == r { turn = s; }
  }
}
never x == 2 && turn == 2 && flag[0] == 2 && flag[1] == 2;
";

#[test]
fn larger_walks_with_many_levels() {
    let program = program(LOOPS);
    for (model, criterion) in [
        (Model::Sc, Criterion::Safe),
        (Model::Sc, Criterion::Drf),
        (Model::Tso, Criterion::Trf),
        (Model::Tso, Criterion::Persistent),
        (Model::Tso, Criterion::Robust),
        (Model::Ra, Criterion::Robust),
    ] {
        let mut options = Options::new(model, criterion);
        options.all = true;
        options.most_states = Some(4000);
        let checkpoints = try_all(&program, &options, 2);
        assert!(checkpoints > 0, "{model:?} {criterion:?}");
    }
}

#[test]
fn what_does_not_fit_is_not_gone_on_with() {
    let one = program(LOOPS);
    let options = Options::new(Model::Sc, Criterion::Drf);
    let (checkpoints, written) = in_memory();
    let kept = Options {
        checkpoints: Some(checkpoints),
        ..options.clone()
    };
    assert_ne!(
        ask(&one, &kept).unwrap().verdict,
        Verdict::Unknown(String::new())
    );
    let written = written.lock().unwrap();
    let whole = written.last().unwrap();
    for length in [8, 100, whole.len() / 2] {
        let (checkpoints, _) = in_memory();
        let cut = std::io::Cursor::new(whole[..length].to_vec());
        if checkpoints.resume(Box::new(cut)).is_err() {
            continue;
        }
        let again = Options {
            checkpoints: Some(Arc::clone(&checkpoints)),
            ..options.clone()
        };
        let answer = ask(&one, &again).unwrap();
        assert!(matches!(answer.verdict, Verdict::Unknown(_)));
        assert!(checkpoints.is_damaged());
    }
}

/// Whatever a checkpoint says, a search that goes on from it does not fall over: it finds that no search has written this, or believes it.
#[test]
fn changed_checkpoints_make_no_panic() {
    let mut random = fastrand::Rng::with_seed(1);
    let (mut tried, mut noticed) = (0, 0);
    for seed in 0..24 {
        let shape = match seed % 3 {
            0 => Shape::LOOPS,
            1 => Shape::TSO_REACH,
            _ => Shape::RA,
        };
        let Some(program) = parse(&random_sketch(seed, &shape).to_string()) else {
            continue;
        };
        for &(model, criterion) in QUESTIONS {
            let mut options = Options::new(model, criterion);
            options.most_states = Some(2000);
            options.jobs = 1;
            options.all = seed % 2 == 0;
            let (checkpoints, written) = in_memory();
            options.checkpoints = Some(checkpoints);
            let _ = ask(&program, &options);
            options.checkpoints = None;
            let written = std::mem::take(&mut *written.lock().unwrap());
            for _ in 0..6.min(written.len()) {
                let mut bytes = written[random.usize(..written.len())].clone();
                for _ in 0..random.usize(1..4) {
                    // Numbers have eight bytes, or are packed.
                    let at = random.usize(..bytes.len());
                    let at = if random.bool() { at / 8 * 8 } else { at };
                    bytes[at] = match random.u8(..4) {
                        0 => bytes[at].wrapping_add(1),
                        1 => bytes[at].wrapping_sub(1),
                        2 => 0,
                        _ => random.u8(..),
                    };
                }
                if random.u8(..8) == 0 {
                    bytes.truncate(random.usize(..bytes.len()));
                }
                let (checkpoints, _) = in_memory();
                if checkpoints
                    .resume(Box::new(std::io::Cursor::new(bytes)))
                    .is_err()
                {
                    continue;
                }
                tried += 1;
                let again = Options {
                    checkpoints: Some(Arc::clone(&checkpoints)),
                    timeout: Some(Duration::from_secs(5)),
                    ..options.clone()
                };
                let _ = ask(&program, &again);
                noticed += u32::from(checkpoints.is_damaged());
            }
        }
    }
    println!("{tried} tried, {noticed} noticed");
    assert!(tried > 100 && noticed > 50, "{tried} {noticed}");
}
