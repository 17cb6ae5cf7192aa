//! The programs of programs/c, each with the verdicts that it must get, judged again by `validate` where a run violates.

use palisade_check::{Control, Criterion, Model, Options, Verdict};
use palisade_param::check;
use std::path::{Path, PathBuf};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/c")
}

fn ask(program: &palisade_lang::Program, model: Model, criterion: Criterion) -> String {
    let cancel = std::sync::atomic::AtomicBool::new(false);
    let control = Control {
        cancel: &cancel,
        progress: &|_| {},
    };
    let mut options = Options::new(model, criterion);
    options.timeout = Some(std::time::Duration::from_secs(60));
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
    match name {
        "sc" => Model::Sc,
        "tso" => Model::Tso,
        "c20" => Model::C20,
        "rc11" => Model::Rc11,
        other => panic!("no model {other}"),
    }
}

fn criterion(name: &str) -> Criterion {
    match name {
        "safe" => Criterion::Safe,
        "robust" => Criterion::Robust,
        "drf" => Criterion::Drf,
        other => panic!("no criterion {other}"),
    }
}

#[test]
fn verdicts_are_as_expected() {
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory())
        .expect("programs/c is part of the project")
        .map(|entry| entry.expect("a readable directory").path())
        .collect();
    files.sort();
    assert!(files.len() >= 30, "programs/c has lost programs");
    let mut wrong = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a text");
        let name = file.to_string_lossy();
        let parsed = match palisade_c::parse(&name, &text, &palisade_c::Options::default()) {
            Ok(parsed) => parsed,
            Err((source, errors)) => {
                for error in errors {
                    let place = source.place(error.span.start);
                    wrong.push(format!("{name}:{place}: {}", error.message));
                }
                continue;
            }
        };
        let lines = text.lines().take_while(|line| line.starts_with("//"));
        let expected: Vec<&str> = lines.filter_map(|l| l.strip_prefix("// expect ")).collect();
        assert!(!expected.is_empty(), "{name} expects nothing");
        for line in expected {
            let (question, verdict) = line.split_once(": ").expect("a verdict");
            let (which, what) = question.split_once(' ').expect("a criterion");
            let found = ask(&parsed.program, model(which), criterion(what));
            if found != verdict {
                wrong.push(format!("{name}: {question}: {found}, not {verdict}"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
