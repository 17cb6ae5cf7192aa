//! A second judge of certificates, small enough to be read in an afternoon.
//!
//! It is given a program, a question and a set of states. The set is a proof if the initial state is in it, if everything that a step leads to from a state in it
//! is in it, and if no state in it violates. Where the set comes from does not matter, so that nothing that reads, sorts or decodes
//! certificates need be trusted, nor any search.
//!
//! What must be trusted is here, and it is all there is: values of expressions (`value`), steps of threads (`machine`), attacks (`attacks`), and
//! the check in this file. It shares no function with the searches, nor with `palisade-validate` and the machines of `palisade-memory`: of `palisade-lang`
//! it takes a program as the parser has made it, and calls nothing but names for indices and [`palisade_lang::Domain::size`].
//!
//! Other questions than [`Question`] has, any number of threads, and `deadlock` are judged by `palisade-validate` alone.

#![warn(missing_docs)]

mod attacks;
mod machine;
mod value;

use attacks::Attacks;
use machine::{Effect, Machine, Step, mentions_deadlock};
use palisade_lang::{Copies, Program, Value};
use std::collections::BTreeSet;

/// What is to be shown about a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Under sequential consistency nothing goes wrong and no `never` is true.
    SafeSc,
    /// No two threads are about to access the same location, one of them to write it: a location that is `nonatomic`, or any if none is, or if all are asked about.
    Drf {
        /// All locations are asked about.
        all_locations: bool,
    },
    /// Under TSO the program does what it does under sequential consistency.
    RobustTso,
    /// The same, and it is safe.
    SafeTso,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    /// The set is a proof.
    Valid,
    /// It is none, for this reason.
    Invalid(String),
    /// Such programs are not judged here, for this reason.
    NotJudged(&'static str),
}

/// Whether a set of states is a proof.
pub fn judge(program: &Program, question: Question, states: &BTreeSet<Vec<Value>>) -> Judged {
    if program.threads.iter().any(|t| t.copies == Copies::Any) {
        return Judged::NotJudged("threads with any number of copies");
    }
    let safe = matches!(question, Question::SafeSc | Question::SafeTso);
    if safe && mentions_deadlock(program) {
        return Judged::NotJudged("a `never` about deadlocks");
    }
    let machine = Machine::new(program, safe);
    let attacks = Attacks { machine: &machine };
    let is_about_attacks = matches!(question, Question::RobustTso | Question::SafeTso);
    let contains = |mut row: Vec<Value>| {
        machine.forget(&mut row);
        states.contains(&row)
    };
    let initial = match is_about_attacks {
        true => attacks.initial(),
        false => machine.initial(),
    };
    if !contains(initial) {
        return Judged::Invalid("the initial state is missing".to_owned());
    }
    for (number, row) in states.iter().enumerate() {
        let is_state = match is_about_attacks {
            true => attacks.is_state(row),
            false => {
                row.len() == machine.width
                    && (0..machine.threads.len()).all(|t| machine.stands(row, t))
            }
        };
        let wrong = if !is_state {
            Some("it is none of this program")
        } else if is_about_attacks && attacks.is_attack(row) {
            attacks.succeeds(row).then_some("an attack succeeds")
        } else if safe && goes_wrong(&machine, row) {
            Some("it is not safe")
        } else {
            match question {
                Question::Drf { all_locations } if has_race(&machine, row, all_locations) => {
                    Some("there is a race")
                }
                _ => None,
            }
        };
        if let Some(wrong) = wrong {
            return Judged::Invalid(format!("state {}: {wrong}", number + 1));
        }
        let successors = match is_about_attacks {
            true => attacks.successors(row),
            false => successors(&machine, row),
        };
        if !successors.into_iter().all(contains) {
            let number = number + 1;
            return Judged::Invalid(format!("state {number}: a step leads out of the set"));
        }
    }
    Judged::Valid
}

fn steps(machine: &Machine<'_>, row: &[Value], thread: usize) -> Vec<Step> {
    machine.steps(row, thread, &|location| row[machine.memory + location])
}

/// Everything that a step under sequential consistency leads to. A step that goes wrong leads nowhere: before it a thread can do no less.
fn successors(machine: &Machine<'_>, row: &[Value]) -> Vec<Vec<Value>> {
    let mut next = Vec::new();
    for thread in machine.movers(row) {
        for step in steps(machine, row, thread) {
            if step.effect != Effect::Wrong {
                next.push(machine.after(row, thread, &step));
            }
        }
    }
    next
}

/// Whether a `never` is true, or a step goes wrong.
fn goes_wrong(machine: &Machine<'_>, row: &[Value]) -> bool {
    let errs = |thread: usize| {
        let mut all = steps(machine, row, thread).into_iter();
        all.any(|step| step.effect == Effect::Wrong)
    };
    machine.is_forbidden(row) || machine.movers(row).into_iter().any(errs)
}

/// Whether two threads are about to make accesses that conflict, not both of them locked. A block hinders only others than its thread and the one that it races with.
fn has_race(machine: &Machine<'_>, row: &[Value], all_locations: bool) -> bool {
    let locations = &machine.program.locations;
    let all = all_locations || locations.iter().all(|l| !l.nonatomic);
    let accesses: Vec<(usize, Step)> = (0..machine.threads.len())
        .flat_map(|t| steps(machine, row, t).into_iter().map(move |s| (t, s)))
        .filter(|(_, s)| s.location.is_some_and(|l| all || locations[l].nonatomic))
        .collect();
    let holder = machine.holder(row);
    accesses.iter().enumerate().any(|(at, (a, first))| {
        accesses[at + 1..].iter().any(|(b, second)| {
            a != b
                && first.location == second.location
                && (first.written.is_some() || second.written.is_some())
                && !(first.locked && second.locked)
                && holder.is_none_or(|h| h == *a || h == *b)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_testkit::{Shape, oracle};

    /// What is reached from the initial state by these rules, without what lies behind a violation; `None` where that is too much.
    fn closure(program: &Program, question: Question) -> Option<BTreeSet<Vec<Value>>> {
        let safe = matches!(question, Question::SafeSc | Question::SafeTso);
        let machine = Machine::new(program, safe);
        let attacks = Attacks { machine: &machine };
        let about_attacks = matches!(question, Question::RobustTso | Question::SafeTso);
        let mut todo = vec![match about_attacks {
            true => attacks.initial(),
            false => machine.initial(),
        }];
        let mut seen = BTreeSet::new();
        while let Some(mut row) = todo.pop() {
            machine.forget(&mut row);
            if !seen.insert(row.clone()) {
                continue;
            }
            if seen.len() > 100_000 {
                return None;
            }
            if !(about_attacks && attacks.is_attack(&row) && attacks.succeeds(&row)) {
                todo.extend(match about_attacks {
                    true => attacks.successors(&row),
                    false => successors(&machine, &row),
                });
            }
        }
        Some(seen)
    }

    /// The rules say what the definitions say: a closed set without a violation is there exactly where the criterion holds.
    #[test]
    fn the_rules_are_right() {
        type Decide = fn(&Program) -> Option<bool>;
        let both: Decide = |p| Some(oracle::tso_robust(p)? && oracle::sc_safe(p)?);
        let questions: [(Shape, Question, Decide); 5] = [
            (Shape::SC, Question::SafeSc, oracle::sc_safe),
            (
                Shape::SC,
                Question::Drf {
                    all_locations: false,
                },
                oracle::sc_drf,
            ),
            (
                Shape::SC,
                Question::Drf {
                    all_locations: true,
                },
                oracle::sc_drf_all_locations,
            ),
            (Shape::TSO, Question::RobustTso, oracle::tso_robust),
            (Shape::TSO_REACH, Question::SafeTso, both),
        ];
        for (shape, question, decide) in questions {
            let mut found = [0; 2];
            for seed in 0..400 {
                let sketch = palisade_testkit::random_sketch(seed, &shape);
                let program = palisade_testkit::program(&sketch.to_string());
                let Some(expected) = oracle::within(50_000, || decide(&program)) else {
                    continue;
                };
                let Some(states) = closure(&program, question) else {
                    continue;
                };
                let judged = judge(&program, question, &states);
                if matches!(judged, Judged::NotJudged(_)) {
                    continue;
                }
                assert_eq!(
                    judged == Judged::Valid,
                    expected,
                    "{question:?} {judged:?}\n{sketch}"
                );
                found[usize::from(expected)] += 1;
            }
            assert!(found.iter().all(|&n| n > 10), "{question:?}: {found:?}");
        }
    }

    /// Arithmetic that was written twice is the same.
    #[test]
    fn values_are_the_same() {
        use palisade_lang::{BinaryOp::*, Domain};
        let operators = [
            Multiply,
            Divide,
            Remainder,
            Add,
            Subtract,
            ShiftLeft,
            ShiftRight,
            Less,
            LessEqual,
            Greater,
            GreaterEqual,
            Equal,
            NotEqual,
            BitAnd,
            BitXor,
            BitOr,
            And,
            Or,
            Min,
            Max,
        ];
        let values = [
            i64::MIN,
            i64::MIN + 1,
            -64,
            -7,
            -1,
            0,
            1,
            2,
            3,
            31,
            63,
            64,
            1 << 40,
            i64::MAX - 1,
            i64::MAX,
        ];
        for domain in [Some(Domain::FULL), Domain::modulo(2), Domain::modulo(7)] {
            let domain = domain.unwrap();
            for (op, left) in operators.iter().flat_map(|op| values.map(|v| (*op, v))) {
                for right in values {
                    let here = value::binary(op, domain, left, right).ok();
                    assert_eq!(
                        here,
                        domain.binary(op, left, right).ok(),
                        "{left} {op:?} {right}"
                    );
                }
            }
        }
    }
}
