//! Certificates: sets of states that show that a criterion holds.
//!
//! [`validate_certificate`] believes nothing that a certificate says. It takes each state, derives all its steps by rules as plain as the
//! papers', looks at whether it violates, and then checks that the initial state and everything that a step leads to is in the set.
//! Successors are sorted and merged with the certificate, on disk where memory ends, so that it works for sets of any size. (Those for any number of threads
//! are kept in memory.)

mod attacks;
mod buffers;
mod copies;
mod helpers;
mod listeners;
mod messages;
mod monitors;
mod patterns;
mod states;

use crate::Invalid;
use palisade_certificate::{Claim, Header, Orders, Proof, Reader, Sorter, Unusable, encode};
use palisade_lang::Program;
use palisade_lang::never::{Deadlock, mentions_of_deadlock};
use palisade_memory::ra_accepts::{blocks_end, refusal, with_seqcst_fences};
use palisade_memory::{Criterion, Model, Ra, Sc};
use std::cmp::Ordering;
use std::io::BufRead;

/// What a valid certificate shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certified {
    /// Under this model …
    pub model: Model,
    /// … this criterion holds.
    pub criterion: Criterion,
    /// How many states it has; for any number of threads: how many ideals and minimal states.
    pub states: u64,
}

/// Why a certificate shows nothing.
#[derive(Debug)]
pub enum Rejected {
    /// It is one, and it is wrong.
    Invalid(Invalid),
    /// It cannot be read, or nothing is known about such certificates.
    Unusable(String),
}

impl From<Unusable> for Rejected {
    fn from(Unusable(message): Unusable) -> Self {
        Rejected::Unusable(message)
    }
}

impl From<std::io::Error> for Rejected {
    fn from(error: std::io::Error) -> Self {
        Rejected::Unusable(format!("its states cannot be sorted: {error}"))
    }
}

fn invalid(message: impl Into<String>) -> Rejected {
    Rejected::Invalid(Invalid::new(message))
}

/// The rules by which a set of states is judged.
trait Rules {
    /// The state at the beginning.
    fn initial(&self) -> Vec<i64>;

    /// Calls `next` with everything that a step leads to; or says what is wrong with the state.
    fn visit(&self, state: &[i64], next: &mut dyn FnMut(&[i64])) -> Result<(), String>;
}

/// Bytes of states that are sorted in memory before they go to disk.
const SORTED_IN_MEMORY: usize = 64 << 20;

/// Whether the certificate shows that its criterion holds for the program. `open` begins to read it, and is called twice.
pub fn validate_certificate<R: BufRead>(
    program: &Program,
    open: impl FnMut() -> Result<Reader<R>, Unusable>,
) -> Result<Certified, Rejected> {
    validate_certificate_within(program, SORTED_IN_MEMORY, open)
}

/// The same, sorting on disk what is more than about this many bytes.
pub fn validate_certificate_within<R: BufRead>(
    program: &Program,
    bytes: usize,
    mut open: impl FnMut() -> Result<Reader<R>, Unusable>,
) -> Result<Certified, Rejected> {
    let reader = open()?;
    let header = reader.header.clone();
    let claim = header.claim;
    if header != Header::new(program, claim) {
        return Err(invalid("it was made for another program or question"));
    }
    if program.is_parameterised() {
        return Ok(Certified {
            model: claim.model,
            criterion: claim.criterion,
            states: judge_copies(program, claim, reader)?,
        });
    }
    let (model, criterion) = (claim.model, claim.criterion);
    let program = &match claim.orders {
        Orders::Written => program.clone(),
        Orders::Fences => with_seqcst_fences(program),
    };
    let machine = Sc::new(program);
    let safe = criterion == Criterion::Safe;
    let rules: &dyn Rules = match (model, criterion, claim.proof) {
        (Model::Sc, Criterion::Safe, Proof::States)
        | (Model::Sc | Model::Tso, Criterion::Drf, Proof::States)
        | (Model::Tso, Criterion::Trf | Criterion::Persistent, Proof::States) => {
            &patterns::Patterns::new(machine, criterion, claim.locations)
        }
        (Model::Tso, Criterion::Robust | Criterion::Safe, Proof::Attacks) => {
            &attacks::Attacks::new(machine, safe)
        }
        (Model::Tso, Criterion::Safe, Proof::Buffers(exact)) => {
            &buffers::Buffered::new(machine, exact)
        }
        (Model::Ra, Criterion::Robust | Criterion::Safe, Proof::Monitors) => {
            if let Some(refused) = refusal(program) {
                return Err(Rejected::Unusable(refused.message));
            }
            // Who waits under SC may go on under RA, with an old value.
            let by_sc = mentions_of_deadlock(program) != Deadlock::Otherwise && blocks_end(program);
            if safe && !by_sc {
                let why = "a `never` may be true because there is no `deadlock`, or a block may not end: \
                           then SC does not tell what RA does";
                return Err(Rejected::Unusable(why.to_owned()));
            }
            &monitors::Monitors::new(machine, safe)
        }
        (Model::Ra, Criterion::Safe, Proof::Messages) => {
            let machine = Ra::new(program);
            &messages::Messages::new(machine.map_err(|r| Rejected::Unusable(r.message))?)
        }
        _ => {
            return Err(Rejected::Unusable(format!(
                "such certificates for `{}` under `{}` are not known here",
                criterion.name(),
                model.name()
            )));
        }
    };
    Ok(Certified {
        model,
        criterion,
        states: judge(rules, reader, bytes, &mut open)?,
    })
}

/// Judges a certificate for any number of threads, and counts its sets.
fn judge_copies<R: BufRead>(
    program: &Program,
    claim: Claim,
    reader: Reader<R>,
) -> Result<u64, Rejected> {
    let (model, criterion) = (claim.model, claim.criterion);
    let known = claim.proof == Proof::Basis
        && (claim.orders == Orders::Written || model == Model::Ra)
        && matches!(
            (model, criterion),
            (Model::Sc, Criterion::Safe)
                | (Model::Ra, Criterion::Robust)
                | (Model::Sc | Model::Tso, Criterion::Drf)
                | (
                    Model::Tso,
                    Criterion::Trf | Criterion::Persistent | Criterion::Robust
                )
        );
    if !known {
        return Err(Rejected::Unusable(format!(
            "certificates for `{}` under `{}` and any number of threads are not known here",
            criterion.name(),
            model.name()
        )));
    }
    if criterion == Criterion::Safe && copies::not_upward_closed(program) {
        return Err(Rejected::Unusable(
            "a `never` may be false again with more copies, and nothing is known about such certificates"
                .to_owned(),
        ));
    }
    let program = &match claim.orders {
        Orders::Written => program.clone(),
        Orders::Fences => with_seqcst_fences(program),
    };
    if model == Model::Ra
        && let Some(refused) = refusal(program)
    {
        return Err(Rejected::Unusable(refused.message));
    }
    let instance = program.with_copies(2);
    copies::Copied::new(program, &instance, (model, criterion), claim.locations).judge(reader)
}

/// Judges a set by its rules, and counts it.
fn judge<R: BufRead>(
    rules: &dyn Rules,
    mut reader: Reader<R>,
    bytes_in_memory: usize,
    open: &mut dyn FnMut() -> Result<Reader<R>, Unusable>,
) -> Result<u64, Rejected> {
    let mut reached = Sorter::with_run_bytes(bytes_in_memory);
    let mut initial = Vec::new();
    encode(&rules.initial(), &mut initial);
    reached.push(&initial)?;
    let mut begins = false;
    let (mut numbers, mut bytes) = (Vec::new(), Vec::new());
    let mut number = 0u64;
    while let Some(state) = reader.next_state()? {
        number += 1;
        begins |= state == initial;
        let read = palisade_certificate::decode(state, &mut numbers);
        if read.is_none() {
            return Err(invalid(format!("state {number} is none of this program")));
        }
        let mut pushed = Ok(());
        let visited = rules.visit(&numbers, &mut |next| {
            bytes.clear();
            encode(next, &mut bytes);
            if pushed.is_ok() {
                pushed = reached.push(&bytes);
            }
        });
        pushed?;
        visited.map_err(|message| invalid(format!("state {number}: {message}")))?;
    }
    if !begins {
        return Err(invalid("the initial state is missing"));
    }
    drop(reader);
    // Both are sorted: they must be the same.
    let mut reached = reached.finish()?;
    let mut reader = open()?;
    loop {
        let wanted = reached.next_string()?;
        let given = reader.next_state()?;
        let order = match (wanted, given) {
            (None, None) => return Ok(reader.count()),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(wanted), Some(given)) => wanted.cmp(given),
        };
        match order {
            Ordering::Equal => {}
            Ordering::Less => {
                return Err(invalid("a step leads to a state that is missing"));
            }
            Ordering::Greater => {
                let number = reader.count();
                return Err(invalid(format!("no step leads to state {number}")));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_certificate::Locations;
    use palisade_testkit::{Shape, compare, oracle};
    use std::collections::HashSet;

    /// Decides by the rules alone: everything that they reach from the beginning is visited.
    fn holds(rules: &dyn Rules) -> Option<bool> {
        let initial = rules.initial();
        let mut seen = HashSet::from([initial.clone()]);
        let mut todo = vec![initial];
        while let Some(state) = todo.pop() {
            let visited = rules.visit(&state, &mut |next| {
                if seen.insert(next.to_vec()) {
                    todo.push(next.to_vec());
                }
            });
            if visited.is_err() {
                return Some(false);
            }
            if seen.len() > 200_000 {
                return None;
            }
        }
        Some(true)
    }

    fn by_pattern(program: &Program, criterion: Criterion) -> Option<bool> {
        let machine = Sc::new(program);
        holds(&patterns::Patterns::new(
            machine,
            criterion,
            Locations::Declared,
        ))
    }

    /// The rules say the same as the definitions: what is closed under these steps and has no violation does prove the criterion.
    #[test]
    fn the_rules_are_right() {
        type Decide = fn(&Program) -> Option<bool>;
        let questions: [(Shape, Decide, Decide); 7] = [
            (Shape::SC, oracle::sc_safe, |p| {
                by_pattern(p, Criterion::Safe)
            }),
            (Shape::SC, oracle::sc_drf, |p| by_pattern(p, Criterion::Drf)),
            (Shape::TSO, oracle::tso_trf, |p| {
                by_pattern(p, Criterion::Trf)
            }),
            (Shape::TSO, oracle::tso_persistent, |p| {
                by_pattern(p, Criterion::Persistent)
            }),
            (Shape::TSO, oracle::tso_robust, |p| {
                holds(&attacks::Attacks::new(Sc::new(p), false))
            }),
            (Shape::TSO_REACH, oracle::tso_safe, |p| {
                holds(&buffers::Buffered::new(Sc::new(p), 20))
            }),
            (Shape::RA, oracle::ra_robust, |p| match refusal(p) {
                None => holds(&monitors::Monitors::new(Sc::new(p), false)),
                Some(_) => None,
            }),
        ];
        for (number, (shape, expected, found)) in questions.into_iter().enumerate() {
            let within = |p: &Program| oracle::within(50_000, || expected(p));
            let compared = compare(&shape, 0..400, within, found);
            assert!(compared.violated > 5, "{number}: {compared:?}");
            assert!(
                compared.programs - compared.violated > 5,
                "{number}: {compared:?}"
            );
        }
    }

    /// Where buffers lose the order of their stores, there are only more runs; and a robust program that is safe under SC is safe.
    #[test]
    fn what_is_coarser_is_sound() {
        let mut shown = [0; 3];
        let mut safe = 0;
        for seed in 0..600 {
            let sketch = palisade_testkit::random_sketch(seed, &Shape::TSO_REACH);
            let program = palisade_testkit::program(&sketch.to_string());
            let Some(expected) = oracle::within(50_000, || oracle::tso_safe(&program)) else {
                continue;
            };
            safe += usize::from(expected);
            let machine = || Sc::new(&program);
            let by: [&dyn Rules; 3] = [
                &buffers::Buffered::new(machine(), 0),
                &buffers::Buffered::new(machine(), 1),
                &attacks::Attacks::new(machine(), true),
            ];
            for (shown, rules) in shown.iter_mut().zip(by) {
                if holds(rules) == Some(true) {
                    assert!(expected, "{sketch}");
                    *shown += 1;
                }
            }
        }
        assert!(
            safe > 50 && shown.iter().all(|&n| n > 20),
            "{safe} {shown:?}"
        );
    }

    /// What is shown to be safe under RA is robust, and safe under SC: also inside `atomic` blocks.
    #[test]
    fn safe_under_ra() {
        let mut shown = [0; 2];
        for seed in 0..400 {
            let sketch = palisade_testkit::random_sketch(seed, &Shape::RA);
            let mut text = sketch.to_string();
            // Places inside blocks count.
            text = text.replacen("atomic {", "atomic { inside: skip;", 1);
            if let Some((before, name)) = text.split_once("thread t").filter(|_| seed % 2 == 0)
                && !before.is_empty()
            {
                let head: String = name.chars().take_while(|c| c.is_ascii_digit()).collect();
                let never = format!("never t{head}@inside;\n");
                if palisade_testkit::parse(&format!("{text}{never}")).is_some() {
                    text.push_str(&never);
                }
            }
            let program = palisade_testkit::program(&text);
            if refusal(&program).is_some() {
                continue;
            }
            let oracle = oracle::within(50_000, || {
                Some(oracle::ra_robust(&program)? && oracle::sc_safe(&program)?)
            });
            let found = holds(&monitors::Monitors::new(Sc::new(&program), true));
            if let (Some(expected), Some(found)) = (oracle, found) {
                assert_eq!(expected, found, "{text}");
                shown[usize::from(found)] += 1;
            }
        }
        assert!(shown.iter().all(|&n| n > 20), "{shown:?}");
    }
}
