//! For the tests of the languages that are lowered: programs whose first lines are `// expect MODEL CRITERION: VERDICT`, each verdict judged again by
//! `validate` where a run violates.

use palisade_check::{Answer, Control, Criterion, Model, Options, Refusal, Verdict};
use palisade_lang::Program;
use std::time::Duration;

/// One of the ways to an answer.
pub type Check = fn(&Program, &Options, &Control<'_>) -> Result<Answer, Refusal>;

pub fn ask(check: Check, program: &Program, model: Model, criterion: Criterion) -> String {
    let cancel = std::sync::atomic::AtomicBool::new(false);
    let control = Control {
        cancel: &cancel,
        progress: &|_| {},
    };
    let mut options = Options::new(model, criterion);
    options.timeout = Some(Duration::from_secs(120));
    match check(program, &options, &control) {
        Err(refusal) => format!("refused: {}", refusal.message),
        Ok(answer) => match answer.verdict {
            Verdict::Holds => "holds".to_string(),
            Verdict::Unknown(_) => "unknown".to_string(),
            Verdict::Violated => {
                let witness = answer.witnesses.first().expect("a violation has a run");
                match palisade_validate::validate(program, witness) {
                    Ok(_) => "violated".to_string(),
                    Err(error) => format!("violated, by a run that is none: {error:?}"),
                }
            }
        },
    }
}

fn model(name: &str) -> Model {
    let found = Model::ALL.into_iter().find(|model| model.name() == name);
    found.unwrap_or_else(|| panic!("no model {name}"))
}

fn criterion(name: &str) -> Criterion {
    match name {
        "safe" => Criterion::Safe,
        "robust" => Criterion::Robust,
        "drf" => Criterion::Drf,
        other => panic!("no criterion {other}"),
    }
}

/// What is wrong about a program that was read from a text of this name.
pub fn wrong(check: Check, name: &str, text: &str, program: &Program) -> Vec<String> {
    let lines = text.lines().take_while(|line| line.starts_with("//"));
    let expected: Vec<&str> = lines.filter_map(|l| l.strip_prefix("// expect ")).collect();
    assert!(!expected.is_empty(), "{name} expects nothing");
    let differs = expected.iter().filter_map(|line| {
        let (question, verdict) = line.split_once(": ").expect("a verdict");
        let (which, what) = question.split_once(' ').expect("a criterion");
        let found = ask(check, program, model(which), criterion(what));
        (found != verdict).then(|| format!("{name}: {question}: {found}, not {verdict}"))
    });
    differs.collect()
}
