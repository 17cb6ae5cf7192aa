//! What stands beside the answer to `safe` and `robust`: whether the program is also the other one, found with little effort.

use crate::question::states_something;
use palisade_check::{Answer, Control, Note, Options, QUESTIONS, Verdict};
use palisade_lang::{Copies, Language, Program};
use palisade_memory::{Criterion, Model};
use palisade_param::check;
use palisade_report::words;
use web_time::Duration;

/// It takes no longer than this …
const LONGEST: Duration = Duration::from_secs(3);
/// … and no more states than this.
const MOST_STATES: u64 = 400_000;

/// Adds to the answer what it means: a program that is safe may still not be robust, which then is harmless, and one that is not robust may
/// break or not.
pub fn mention(program: &Program, answer: &mut Answer, options: &Options, control: &Control<'_>) {
    if answer.verdict == Verdict::Holds && has_one_thread(program) {
        answer.notes.push(Note::OneThread);
        return;
    }
    let (model, criterion) = (options.model, options.criterion);
    let weak = !matches!(model, Model::Sc);
    let other = match criterion {
        Criterion::Safe if weak => Criterion::Robust,
        // Under TSO, a violation of robustness is looked into elsewhere.
        Criterion::Robust if !(model == Model::Tso && answer.verdict == Verdict::Violated) => {
            if !states_something(program, model) {
                return;
            }
            Criterion::Safe
        }
        _ => return,
    };
    let decided = !matches!(answer.verdict, Verdict::Unknown(_));
    // The search has said so itself.
    let said = answer.notes.iter().any(Note::tells_robustness);
    if !decided || said && other == Criterion::Robust || !QUESTIONS.contains(&(model, other)) {
        return;
    }
    let question = Options {
        criterion: other,
        all: false,
        timeout: Some(options.timeout.map_or(LONGEST, |left| left.min(LONGEST))),
        most_states: Some(MOST_STATES),
        checkpoints: None,
        ..options.clone()
    };
    let Ok(found) = check(program, &question, control) else {
        return;
    };
    answer.stats.wall += found.stats.wall;
    let name = words::model(model);
    let safe = answer.verdict == Verdict::Holds;
    let note = match (other, &found.verdict) {
        (Criterion::Robust, Verdict::Holds) if safe => {
            format!("it is also robust: {name} adds nothing to what sequential consistency shows")
        }
        (Criterion::Robust, Verdict::Holds) => {
            format!("it is robust: what goes wrong here goes wrong without {name}, too")
        }
        (Criterion::Robust, Verdict::Violated) if safe => format!(
            "it is not robust: {name} shows more than sequential consistency does, which is harmless for what is stated"
        ),
        (Criterion::Robust, Verdict::Violated) => {
            format!("it is not robust: {name} shows more than sequential consistency does")
        }
        (Criterion::Robust, Verdict::Unknown(_)) => {
            "whether it is also robust is not known: `--criterion robust` asks for that alone".to_owned()
        }
        (_, Verdict::Holds) => "nothing that is stated can break".to_owned(),
        (_, Verdict::Violated) => {
            let pattern = found.witnesses.first().and_then(|w| w.pattern.as_ref());
            let what = pattern.map_or_else(String::new, |p| format!(": {}", p.message));
            match answer.verdict {
                Verdict::Holds => format!("what is stated breaks under sequential consistency already{what}"),
                _ => format!("what is stated can break{what}"),
            }
        }
        (_, Verdict::Unknown(_)) => {
            "whether something stated can break is not known: `--criterion safe` asks for that alone".to_owned()
        }
    };
    answer.notes.push(Note::Said(note));
}

/// Whether a program in a language that starts threads while it runs starts none.
fn has_one_thread(program: &Program) -> bool {
    let starts_threads = matches!(program.language, Language::C | Language::Rust);
    let any_number = (program.threads.iter()).any(|thread| thread.copies == Copies::Any);
    starts_threads && !any_number && program.instances().len() < 2
}
