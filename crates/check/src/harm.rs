//! What it means for a program that it is not robust against TSO: can an `assert` or a `never` break because of it?

use std::time::Duration;

use palisade_lang::{Op, Program};
use palisade_memory::{Criterion, Model};

use crate::{Answer, Control, Harm, Options, Verdict};

/// This many states are looked at in any case, which takes some hundredths of a second …
const FEW_STATES: u64 = 20_000;
/// … or this many times as many as robustness has taken …
const TIMES: u64 = 4;
/// … but no more than this.
const MANY_STATES: u64 = 400_000;
/// And it takes no longer than this, whatever a state takes: so long that the answer does not depend on how busy a machine is.
const LONGEST: Duration = Duration::from_secs(20);

/// Finds out, with little effort, whether a program that is not robust against TSO can break because of that. `answer` is the answer to robustness;
/// the time that finding out takes is added there, the states are not.
pub fn harm(
    program: &Program,
    answer: &mut Answer,
    options: &Options,
    control: &Control<'_>,
) -> Harm {
    let asserts = |op: &Op| matches!(op, Op::Assert(_));
    let states_something = !program.nevers.is_empty()
        || program
            .threads
            .iter()
            .any(|thread| thread.transitions.iter().any(|t| asserts(&t.op)));
    if !states_something {
        return Harm::NothingStated;
    }
    // With any number of threads: as many as the violation needs. What breaks there breaks; what does not says nothing about more of them.
    let copies = answer.witnesses.first().and_then(|w| w.copies);
    let program = &match (program.is_parameterised(), copies) {
        (false, _) => program.clone(),
        (true, Some(copies)) => program.with_copies(copies),
        (true, None) => {
            return Harm::Unknown(
                "the number of threads is open, `palisade reach` may tell".into(),
            );
        }
    };
    let left = options.timeout.map(|t| t.saturating_sub(answer.stats.wall));
    let most = answer.stats.states.saturating_mul(TIMES);
    let question = Options {
        model: Model::Tso,
        criterion: Criterion::Safe,
        all: false,
        timeout: Some(left.map_or(LONGEST, |left| left.min(LONGEST))),
        most_states: Some(most.clamp(FEW_STATES, MANY_STATES)),
        // It has a limit of its own on time.
        checkpoints: None,
        ..options.clone()
    };
    let safe = crate::reach::check(program, &question, control);
    answer.stats.wall += safe.stats.wall;
    let peak = &mut answer.stats.peak_memory_bytes;
    *peak = (*peak).max(safe.stats.peak_memory_bytes);
    match safe.verdict {
        Verdict::Holds if copies.is_some() => {
            Harm::Unknown("with so many copies it cannot; with more, it is not known".into())
        }
        Verdict::Holds => Harm::None,
        Verdict::Violated if safe.notes.contains(&crate::Note::HappensUnderSc) => {
            Harm::Unknown("the program goes wrong under SC already".into())
        }
        Verdict::Violated => {
            let pattern = safe.witnesses.first().and_then(|w| w.pattern.as_ref());
            Harm::Broken(pattern.map_or_else(String::new, |p| p.message.clone()))
        }
        Verdict::Unknown(_) => {
            Harm::Unknown("a quick search has not found out, `palisade reach` may".into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    fn harm_of(text: &str) -> Harm {
        let program = palisade_testkit::program(text);
        let options = Options::new(Model::Tso, Criterion::Robust);
        let control = Control {
            cancel: &AtomicBool::new(false),
            progress: &|_| {},
        };
        let mut answer = crate::tso::robust::check(&program, &options, &control);
        assert_eq!(answer.verdict, Verdict::Violated);
        harm(&program, &mut answer, &options, &control)
    }

    const SB: &str = "shared x, y; thread a { x = 1; let r = y; } thread b { y = 1; let s = x; }";

    #[test]
    fn a_never_that_tso_makes_true_is_harm() {
        let text = format!("{SB} never a@end && b@end && a.r == 0 && b.s == 0;");
        assert!(matches!(harm_of(&text), Harm::Broken(message) if message.contains("a.r == 0")));
    }

    #[test]
    fn a_never_that_stays_false_is_none() {
        assert_eq!(harm_of(&format!("{SB} never a.r == 2;")), Harm::None);
    }

    #[test]
    fn what_goes_wrong_under_sc_says_nothing() {
        assert!(matches!(
            harm_of(&format!("{SB} never a.r == 1;")),
            Harm::Unknown(_)
        ));
    }

    #[test]
    fn any_number_of_threads_is_asked_with_as_many_as_the_violation_has() {
        let any = "shared x, y; thread a[*] { x = 1; let r = y; y = 1; let s = x; }";
        let program = palisade_testkit::program(&format!("{any} never a[0].r == 9;"));
        let options = Options::new(Model::Tso, Criterion::Robust);
        let control = Control {
            cancel: &AtomicBool::new(false),
            progress: &|_| {},
        };
        let mut answer = crate::tso::robust::check(&program.with_copies(2), &options, &control);
        for copies in [None, Some(2)] {
            for witness in &mut answer.witnesses {
                witness.copies = copies;
            }
            let found = harm(&program, &mut answer, &options, &control);
            assert!(matches!(found, Harm::Unknown(_)), "{found:?}");
        }
    }

    #[test]
    fn nothing_stated_nothing_broken() {
        assert_eq!(harm_of(SB), Harm::NothingStated);
    }
}
