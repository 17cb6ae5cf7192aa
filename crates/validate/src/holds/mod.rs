//! Certificates: sets of states that show that a criterion holds.
//!
//! [`validate_certificate`] believes nothing that a certificate says. It takes each state, derives all its steps by rules as plain as the
//! papers', looks at whether it violates, and then checks that the initial state and everything that a step leads to is in the set.
//! Successors are sorted and merged with the certificate, on disk where memory ends, so that it works for sets of any size.

mod attacks;
mod patterns;
mod states;

use crate::Invalid;
use palisade_certificate::{Header, Reader, Sorter, Unusable, encode};
use palisade_lang::Program;
use palisade_memory::{Criterion, Model, Sc};
use std::cmp::Ordering;
use std::io::BufRead;

/// What a valid certificate shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certified {
    /// Under this model …
    pub model: Model,
    /// … this criterion holds.
    pub criterion: Criterion,
    /// How many states it has.
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

    /// How many numbers a state has.
    fn width(&self) -> usize;

    /// Calls `next` with everything that a step leads to; or says what is wrong with the state.
    fn visit(&self, state: &[i64], next: &mut dyn FnMut(&[i64])) -> Result<(), String>;
}

/// Whether the certificate shows that its criterion holds for the program. `open` begins to read it, and is called twice.
pub fn validate_certificate<R: BufRead>(
    program: &Program,
    mut open: impl FnMut() -> Result<Reader<R>, Unusable>,
) -> Result<Certified, Rejected> {
    let reader = open()?;
    let header = reader.header.clone();
    let (model, criterion) = (header.model, header.criterion);
    if header != Header::new(program, model, criterion, header.locations) {
        return Err(invalid("it was made for another program"));
    }
    if program.is_parameterised() {
        return Err(Rejected::Unusable(
            "certificates for any number of threads are not known here".to_owned(),
        ));
    }
    let machine = Sc::new(program);
    let states = match (model, criterion) {
        (Model::Sc, Criterion::Safe)
        | (Model::Sc | Model::Tso, Criterion::Drf)
        | (Model::Tso, Criterion::Trf | Criterion::Persistent) => {
            let rules = patterns::Patterns::new(machine, criterion, header.locations);
            judge(&rules, reader, &mut open)?
        }
        (Model::Tso, Criterion::Robust) => {
            judge(&attacks::Attacks::new(machine), reader, &mut open)?
        }
        _ => {
            return Err(Rejected::Unusable(format!(
                "certificates for `{}` under `{}` are not known here",
                criterion.name(),
                model.name()
            )));
        }
    };
    Ok(Certified {
        model,
        criterion,
        states,
    })
}

/// Judges a set by its rules, and counts it.
fn judge<R: BufRead>(
    rules: &dyn Rules,
    mut reader: Reader<R>,
    open: &mut dyn FnMut() -> Result<Reader<R>, Unusable>,
) -> Result<u64, Rejected> {
    let mut reached = Sorter::default();
    let mut initial = Vec::new();
    encode(&rules.initial(), &mut initial);
    reached.push(&initial)?;
    let mut begins = false;
    let (mut numbers, mut bytes) = (Vec::new(), Vec::new());
    let mut number = 0u64;
    while let Some(state) = reader.next_state()? {
        number += 1;
        begins |= state == initial;
        let read = palisade_certificate::decode(state, rules.width(), &mut numbers);
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
        let questions: [(Shape, Decide, Decide); 5] = [
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
                holds(&attacks::Attacks::new(Sc::new(p)))
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
}
