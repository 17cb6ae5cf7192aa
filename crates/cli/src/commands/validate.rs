//! `palisade validate`: witnesses, and certificates.

use super::certificate::{certificate, open};
use crate::args::{Format, ValidateArgs};
use crate::input;
use crate::output::Output;
use palisade_lang::Program;
use palisade_memory::Witness;
use palisade_report::{Failure, Status, diagnostics, words};
use palisade_validate::{Certified, Invalid, Rejected, validate, validate_certificate_within};
use serde_json::{Value, json};

/// What was shown.
enum Shown {
    Violated(Witness),
    Holds(Certified),
}

pub fn run(args: &ValidateArgs, output: &mut Output) -> Status {
    let outcome = outcome(args);
    let file = input::display_name(&args.file);
    let (status, verdict, reason) = match &outcome {
        Ok(Ok(_)) => (Status::Holds, "valid", None),
        Ok(Err(invalid)) => (Status::Violated, "invalid", Some(invalid.to_string())),
        Err(failure) => (Status::Error, "error", Some(failure.reason())),
    };
    match (args.format, &outcome) {
        (Format::Human, Ok(Ok(Shown::Holds(certified)))) => {
            let text = format!(
                "{file}: valid: the certificate shows that it is {}; {} states\n",
                words::holds(certified.model, certified.criterion),
                certified.states
            );
            let _ = output.answer(&text);
        }
        (Format::Human, Ok(Ok(Shown::Violated(witness)))) => {
            let text = format!(
                "{file}: valid: the witness shows that it {}\n",
                match words::violated(witness.model, witness.criterion) {
                    has if has.starts_with("has ") => has,
                    not => format!("is {not}"),
                }
            );
            let _ = output.answer(&text);
        }
        (Format::Human, Ok(Err(invalid))) => {
            let text = format!("{file}: invalid: {invalid}\n");
            let _ = output.answer(&text);
        }
        (Format::Human, Err(Failure::Text(source, problems))) => {
            output.remark(&diagnostics::render(source, problems, output.error_look()));
        }
        (Format::Human, Err(failure)) => {
            output.complain(&failure.reason());
        }
        (Format::Json, _) => {
            let mut line = json!({ "file": file, "verdict": verdict });
            if let Some(reason) = reason {
                line["reason"] = reason.into();
            }
            if let Ok(Err(Invalid {
                event: Some(event), ..
            })) = &outcome
            {
                line["event"] = (*event).into();
            }
            if let Ok(Ok(Shown::Holds(certified))) = &outcome {
                line["model"] = certified.model.name().into();
                line["criterion"] = certified.criterion.name().into();
                line["states"] = certified.states.into();
            }
            let _ = output.answer(&format!("{line}\n"));
        }
        (Format::Sarif | Format::Github, _) => {
            return output.complain("`validate` answers in the formats `human` and `json`");
        }
    }
    status
}

/// What the witness or certificate shows, or why it shows nothing; a failure where the question cannot even be asked.
fn outcome(args: &ValidateArgs) -> Result<Result<Shown, Invalid>, Failure> {
    let input = input::read(&args.file, &args.reading).map_err(|failure| match failure {
        Failure::Message(message) => {
            Failure::Message(format!("{}: {message}", args.file.display()))
        }
        other => other,
    })?;
    if let Some(file) = certificate(&args.witness).map_err(|e| unusable(args, &e))? {
        // Strings grow by doubling, and there is more to hold than these.
        let sorted = usize::try_from(args.memory / 4).unwrap_or(usize::MAX);
        let judged = validate_certificate_within(&input.program, sorted, || open(&file));
        return match judged {
            Ok(certified) => Ok(Ok(Shown::Holds(certified))),
            Err(Rejected::Invalid(invalid)) => Ok(Err(invalid)),
            Err(Rejected::Unusable(message)) => Err(unusable(args, &message)),
        };
    }
    let witnesses = witnesses(args)?;
    let mut last = None;
    for witness in witnesses {
        match check_one(&input.program, witness) {
            Ok(witness) => last = Some(witness),
            Err(invalid) => return Ok(Err(invalid)),
        }
    }
    let nothing = || unusable(args, "there is no witness in it");
    last.map(|w| Ok(Shown::Violated(w))).ok_or_else(nothing)
}

fn check_one(program: &Program, witness: Witness) -> Result<Witness, Invalid> {
    validate(program, &witness).map(|()| witness)
}

/// The witnesses in the file: a bare one, or those of the lines that `check --format json` printed about the program.
fn witnesses(args: &ValidateArgs) -> Result<Vec<Witness>, Failure> {
    let text = input::read_text(&args.witness).map_err(|message| unusable(args, &message))?;
    let mut lines = Vec::new();
    for value in serde_json::Deserializer::from_str(&text).into_iter::<Value>() {
        let value = value.map_err(|error| unusable(args, &format!("is not JSON: {error}")))?;
        lines.push(value);
    }
    if lines.len() > 1 {
        // Answers about several files: only those about this one matter.
        let file = input::display_name(&args.file);
        lines.retain(|line| line["file"] == file.as_str());
    }
    let mut found = Vec::new();
    for line in lines {
        match line {
            Value::Object(mut fields) if !fields.contains_key("events") => {
                match (fields.remove("witnesses"), fields.remove("witness")) {
                    (Some(Value::Array(several)), _) => found.extend(several),
                    (_, Some(one)) => found.push(one),
                    _ => {}
                }
            }
            bare => found.push(bare),
        }
    }
    found
        .into_iter()
        .map(|value| {
            serde_json::from_value(value)
                .map_err(|error| unusable(args, &format!("is not a witness: {error}")))
        })
        .collect()
}

fn unusable(args: &ValidateArgs, message: &str) -> Failure {
    Failure::Message(format!("{}: {message}", args.witness.display()))
}
