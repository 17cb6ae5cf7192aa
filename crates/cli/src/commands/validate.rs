//! `palisade validate`: witnesses, and certificates.

use super::ask::{cancel, guarded};
use super::certificate::{certificate, open};
use crate::args::{CriterionName, Format, ValidateArgs};
use crate::config;
use crate::input;
use crate::output::Output;
use palisade::Wanted;
use palisade::limits::{Limits, within};
use palisade_certificate::{Locations, Proof, Unusable, decode};
use palisade_kernel::{Judged, Question, judge};
use palisade_lang::Program;
use palisade_lang::meter::is_exhausted;
use palisade_memory::{Criterion, Model, Witness};
use palisade_report::{Failure, Status, diagnostics, words};
use palisade_validate::{
    Asked, Certified, Invalid, Rejected, validate, validate_certificate_within,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::File;

/// What was shown.
enum Shown {
    Violated(Witness),
    /// And whether the second validator has said so, too.
    Holds(Certified, bool),
}

impl Shown {
    /// Everything that the proof is about, so that it is not taken for something else.
    fn claim(&self, program: &Program, args: &ValidateArgs) -> Value {
        let mut claim = json!({
            "language": format!("{:?}", program.language).to_lowercase(),
            "domain": program.domain.size(),
        });
        let (model, criterion) = match self {
            Shown::Violated(witness) => {
                claim["copies"] = witness.copies.into();
                if witness.criterion == Criterion::Drf {
                    claim["locations"] = asked_locations(args).into();
                }
                (witness.model, witness.criterion)
            }
            Shown::Holds(certified, _) => {
                claim["locations"] = match certified.asked.locations {
                    Locations::Declared => "declared",
                    Locations::All => "all",
                }
                .into();
                claim["proof"] = certified.proof.to_string().into();
                (certified.asked.model, certified.asked.criterion)
            }
        };
        claim["model"] = model.name().into();
        claim["criterion"] = criterion.name().into();
        for (name, value) in args.reading.said() {
            claim[name.trim_start_matches('-')] = value.into();
        }
        if let Some(said) = config::said() {
            claim["defaults"] = said.into();
        }
        claim
    }
}

fn asked_locations(args: &ValidateArgs) -> &'static str {
    match args.all_locations {
        true => "all",
        false => "declared",
    }
}

/// The claim in one line: what is not said there is not claimed.
fn in_words(claim: &Value, args: &ValidateArgs) -> String {
    let reading = args.reading.said();
    let fields = [
        "model",
        "criterion",
        "language",
        "domain",
        "locations",
        "copies",
        "proof",
    ];
    let said = fields.iter().filter_map(|name| {
        let value = match claim.get(*name)? {
            Value::Null if *name == "domain" => "none".to_owned(),
            Value::Null => return None,
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        Some(format!("{name} {value}"))
    });
    let flags = reading
        .iter()
        .map(|(name, value)| format!("`{name} {value}`"));
    let mut text = format!(
        "  what was asked: {}\n",
        said.chain(flags).collect::<Vec<_>>().join(", ")
    );
    if let Some(defaults) = claim.get("defaults").and_then(Value::as_str) {
        text.push_str(&format!("  {defaults}\n"));
    }
    text
}

pub fn run(args: &'static ValidateArgs, output: &mut Output) -> Status {
    let (outcome, claim) = match within_limits(args) {
        Ok((program, Ok(shown))) => {
            let claim = shown.claim(&program, args);
            (Ok(Ok(shown)), Some(claim))
        }
        Ok((_, Err(invalid))) => (Ok(Err(invalid)), None),
        Err(failure) => (Err(failure), None),
    };
    let asked = (claim.as_ref())
        .map(|claim| in_words(claim, args))
        .unwrap_or_default();
    let file = input::display_name(&args.file);
    let (status, verdict, reason) = match &outcome {
        Ok(Ok(_)) => (Status::Holds, "valid", None),
        Ok(Err(invalid)) => (Status::Violated, "invalid", Some(invalid.to_string())),
        Err(failure) => (Status::Error, "error", Some(failure.reason())),
    };
    match (args.format, &outcome) {
        (Format::Human, Ok(Ok(Shown::Holds(certified, twice)))) => {
            let text = format!(
                "{file}: valid: the certificate shows that it is {}; {}{}\n{asked}",
                words::holds(certified.asked.model, certified.asked.criterion),
                words::counted(certified.states, "state", "states"),
                if *twice { ", judged twice" } else { "" }
            );
            let _ = output.answer(&text);
        }
        (Format::Human, Ok(Ok(Shown::Violated(witness)))) => {
            let text = format!(
                "{file}: valid: the witness shows that it {}\n{asked}",
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
            if let Ok(Ok(Shown::Holds(certified, twice))) = &outcome {
                line["model"] = certified.asked.model.name().into();
                line["criterion"] = certified.asked.criterion.name().into();
                line["states"] = certified.states.into();
                line["judged_twice"] = (*twice).into();
            }
            if let Some(claim) = &claim {
                line["claim"] = claim.clone();
            }
            let _ = output.answer(&format!("{line}\n"));
        }
        (Format::Sarif | Format::Github, _) => {
            return output.complain("`validate` answers in the formats `human` and `json`");
        }
    }
    status
}

/// The least that something is judged with.
const LEAST_MEMORY: u64 = 64 << 20;

type Outcome = Result<(Program, Result<Shown, Invalid>), Failure>;

fn within_limits(args: &'static ValidateArgs) -> Outcome {
    let limits = Limits {
        timeout: args.timeout,
        memory: Some(args.memory.max(LEAST_MEMORY).saturating_mul(2)),
    };
    let judged = within(limits, cancel(), |_| {
        (guarded(|| outcome(args)), is_exhausted())
    });
    match judged {
        Ok((judged, false)) => judged,
        Ok((Ok(judged), true)) => Ok(judged),
        Ok((Err(_), true)) => Err(too_large(args, "the memory limit is reached")),
        Err(reason) => Err(too_large(args, reason)),
    }
}

fn too_large(args: &ValidateArgs, reason: &str) -> Failure {
    unusable(args, &format!("too large to be judged: {reason}"))
}

/// What the witness or certificate shows about the program, or why it shows nothing; a failure where the question cannot even be asked.
fn outcome(args: &ValidateArgs) -> Outcome {
    let criterion = match args.criterion.map(CriterionName::criterion) {
        Some(None) => {
            let message = "`validate` is about one criterion at a time";
            return Err(Failure::Message(message.to_owned()));
        }
        other => other.flatten(),
    };
    let model = args.model.map(Model::from);
    let input = input::read(&args.file, &args.reading).map_err(|failure| match failure {
        Failure::Message(message) => {
            Failure::Message(format!("{}: {message}", args.file.display()))
        }
        other => other,
    })?;
    // A file that was read with little room may have been read again with more, and which of the two this is about is not said.
    let wider = input.wider.clone();
    let judged = judged(args, model, criterion, input.program);
    match (wider, &judged) {
        (None, _) | (_, Ok((_, Ok(_)))) => judged,
        (Some(wider), _) => self::judged(args, model, criterion, wider.read()?.program),
    }
}

/// What it shows about a program.
fn judged(
    args: &ValidateArgs,
    model: Option<Model>,
    criterion: Option<Criterion>,
    program: Program,
) -> Outcome {
    if let Some(file) = certificate(&args.witness).map_err(|e| unusable(args, &e))? {
        // What is not said is what `check` would ask.
        let asked = Wanted::One(model, criterion).about(&program);
        let [(model, criterion)] = asked.pairs()[..] else {
            let message = "`validate` is about one criterion at a time";
            return Err(Failure::Message(message.to_owned()));
        };
        let asked = Asked {
            model,
            criterion,
            locations: match args.all_locations {
                true => Locations::All,
                false => Locations::Declared,
            },
        };
        // Strings grow by doubling, and there is more to hold than these.
        let sorted = usize::try_from(args.memory / 4).unwrap_or(usize::MAX);
        return match validate_certificate_within(&program, asked, sorted, || open(&file)) {
            Ok(certified) => {
                let judged = judged_again(&program, &certified, &file, args.memory / 4)
                    .map_err(|Unusable(message)| unusable(args, &message))?;
                Ok((
                    program,
                    match judged {
                        Judged::Valid => Ok(Shown::Holds(certified, true)),
                        Judged::NotJudged(_) => Ok(Shown::Holds(certified, false)),
                        Judged::Invalid(why) => Err(Invalid {
                            message: format!("the second, small validator rejects it: {why}"),
                            event: None,
                        }),
                    },
                ))
            }
            Err(Rejected::Invalid(invalid)) => Ok((program, Err(invalid))),
            Err(Rejected::Unusable(message)) => Err(unusable(args, &message)),
        };
    }
    let witnesses = witnesses(args)?;
    let mut last = None;
    for witness in witnesses {
        match check_one(&program, witness, model, criterion, args.all_locations) {
            Ok(witness) => last = Some(witness),
            Err(invalid) => return Ok((program, Err(invalid))),
        }
    }
    match last {
        Some(witness) => Ok((program, Ok(Shown::Violated(witness)))),
        None => Err(unusable(args, "there is no witness in it")),
    }
}

/// What the second, small validator says about a certificate that the first one has found valid. It holds all states in memory: those that take more
/// bytes than this are judged once.
fn judged_again(
    program: &Program,
    certified: &Certified,
    file: &File,
    bytes: u64,
) -> Result<Judged, Unusable> {
    let Asked {
        model,
        criterion,
        locations,
    } = certified.asked;
    let question = match (model, criterion, certified.proof) {
        (Model::Sc, Criterion::Safe, Proof::States) => Question::SafeSc,
        (Model::Sc | Model::Tso, Criterion::Drf, Proof::States) => Question::Drf {
            all_locations: locations == Locations::All,
        },
        (Model::Tso, Criterion::Robust, Proof::Attacks) => Question::RobustTso,
        (Model::Tso, Criterion::Safe, Proof::Attacks) => Question::SafeTso,
        _ => return Ok(Judged::NotJudged("another question")),
    };
    let mut reader = open(file)?;
    let mut states = BTreeSet::new();
    let mut held = 0;
    let mut numbers = Vec::new();
    while let Some(state) = reader.next_state()? {
        if decode(state, &mut numbers).is_none() {
            return Ok(Judged::Invalid("a state has no numbers".to_owned()));
        }
        held += size_of_val(&numbers[..]) + 2 * size_of::<Vec<i64>>();
        if held as u64 > bytes {
            return Ok(Judged::NotJudged("more states than fit into memory"));
        }
        states.insert(numbers.clone());
    }
    Ok(judge(program, question, &states))
}

/// Whether a witness shows that the criterion is violated, and is about what is asked, where something is.
fn check_one(
    program: &Program,
    witness: Witness,
    model: Option<Model>,
    criterion: Option<Criterion>,
    all_locations: bool,
) -> Result<Witness, Invalid> {
    let found = (witness.model, witness.criterion);
    // Races are found in runs of sequential consistency, whichever model is asked about.
    let is_race = matches!(witness.criterion, Criterion::Drf | Criterion::Trf);
    let same_model = |m: Model| m == found.0 || is_race && (m, found.0) == (Model::Tso, Model::Sc);
    if !model.is_none_or(same_model) || criterion.is_some_and(|c| c != found.1) {
        let name = |what: Option<&'static str>| what.map_or("any", |name| name);
        return Err(Invalid {
            message: format!(
                "it is about `{}` under `{}`, and `{}` under `{}` is asked",
                found.1.name(),
                found.0.name(),
                name(criterion.map(Criterion::name)),
                name(model.map(Model::name))
            ),
            event: None,
        });
    }
    validate(program, &witness)?;
    // Which locations matter is part of the question, so it does not come from the witness.
    if witness.criterion == Criterion::Drf && !all_locations {
        let declared = |name: &str| {
            let mut locations = program.locations.iter();
            locations.any(|l| l.nonatomic && l.name == name)
        };
        let events = witness.pattern.iter().flat_map(|p| &p.events);
        let raced = events.filter_map(|&event| witness.events[event].location.as_deref());
        if program.locations.iter().any(|l| l.nonatomic)
            && let Some(other) = raced.into_iter().find(|name| !declared(name))
        {
            return Err(Invalid {
                message: format!(
                    "the race is on `{other}`, which is not `nonatomic`; `--all-locations` asks about such races"
                ),
                event: None,
            });
        }
    }
    Ok(witness)
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
