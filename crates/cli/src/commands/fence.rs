//! `palisade fence`

use super::ask::{Asked, Asking, Effort, options};
use crate::args::{FenceArgs, ReadingArgs, RepairKind};
use crate::files::write_whole;
use crate::input::{self, Input};
use crate::output::Output;
use crate::pairs;
use palisade_check::{Abstraction, Answer, Control, Options, Verdict};
use palisade_fence::{
    Bounds, Candidate, Candidates, CostFile, Costs, FenceOptions, FenceResult, Kinds, Profile,
    RepairSet, fences,
};
use palisade_lang::{Language, Program, Repair, Span, text_without_fences};
use palisade_memory::Model;
use palisade_param::check;
use palisade_report::{Failure, FenceFindings, Findings, Question, Status};
use std::path::Path;
use std::sync::Arc;

pub fn run(args: &'static FenceArgs, output: &mut Output) -> Status {
    let model = Model::from(args.model);
    let Some(criterion) = args.criterion.criterion() else {
        return output.complain(
            "fences are found for one criterion at a time: `--criterion all` has no meaning here",
        );
    };
    if let Some(complaint) = pairs::complaint(model, criterion) {
        return output.complain(&complaint);
    }
    if let Some(complaint) = args.search.complaint(Some(criterion)) {
        return output.complain(&complaint);
    }
    if let Some(complaint) = pairs::route_complaint(args.search.route, model, Some(criterion)) {
        return output.complain(&complaint);
    }
    if args.write && args.input.files.iter().any(|file| input::is_stdin(file)) {
        return output.complain("`--write` cannot write back to standard input");
    }
    let kinds = Kinds {
        fence: args.repairs.contains(&RepairKind::Fence),
        rmw: args.repairs.contains(&RepairKind::Rmw),
        order: args.repairs.contains(&RepairKind::Order),
    };
    if kinds.order && !matches!(model, Model::Tso | Model::C20 | Model::Rc11) {
        return output.complain(
            "`--repairs order` makes stores `seqcst`, which `tso`, `c20` and `rc11` alone give a meaning to",
        );
    }
    let file = match args.cost.as_str() {
        "unit" | "profile" => None,
        path => match read_costs(path) {
            Ok(file) => Some(file),
            Err(complaint) => return output.complain(&complaint),
        },
    };
    let fence_options = FenceOptions {
        all: args.all.then_some(Bounds {
            cost: args.bound,
            sets: args.most,
        }),
        explain: args.explain,
    };
    let answer = move |program: &Program, _: Asked, effort: Effort, control: &Control<'_>| {
        let mut options = options(model, criterion, false, &args.search, effort);
        // A set of fences is confirmed by the program itself sooner than by its abstraction.
        if args.search.abstraction.is_none() {
            options.abstraction = Abstraction::Off;
        }
        let options = options;
        if let Some(refusal) = repairs_refusal(program.language, kinds, model) {
            return Err(Failure::Message(refusal.to_owned()));
        }
        let costs = match &file {
            Some(file) => {
                let unfit = |why| Failure::Message(format!("{}: {why}", args.cost));
                file.fits(program).map_err(unfit)?;
                Costs::File(file.clone())
            }
            None if args.cost == "profile" => Costs::Profile(Profile::measure(program, args.seed)),
            None => Costs::Unit,
        };
        let candidates = match args.reduce {
            true => Candidates::existing(program, &costs),
            false => Candidates::new(program, kinds, &costs),
        };
        let fences =
            fences(&candidates, &options, &fence_options, control).map_err(Failure::Refused)?;
        let existing = args.reduce.then(|| existing_fences(program, &candidates));
        let text = match &fences.result {
            FenceResult::Optimal(set) => changed_text(program, set, existing.as_deref()),
            _ => None,
        };
        let mut findings = FenceFindings {
            fences,
            existing,
            text,
            written: false,
        };
        if let (true, Some(text)) = (args.write, &findings.text) {
            let written = match text {
                Ok(text) => write_back(program, text, &args.input.reading, &options, control),
                Err(reason) => Err(reason.clone()),
            };
            written.map_err(Failure::Message)?;
            findings.written = true;
        }
        Ok(Findings::Fences(Box::new(findings)))
    };
    Asking {
        asked: Asked {
            model,
            question: Question::Fence(criterion),
        },
        named: None,
        choose: None,
        input: &args.input,
        format: &args.format,
        search: &args.search,
        picture: None,
        silent: false,
        answer: Arc::new(answer),
    }
    .run(output)
}

/// Why repairs of these kinds cannot be written in a language.
fn repairs_refusal(language: Language, kinds: Kinds, model: Model) -> Option<&'static str> {
    match language {
        Language::C if kinds.rmw || kinds.order => {
            Some("accesses of C programs cannot be rewritten; fences can be written into them")
        }
        Language::Litmus if kinds.rmw || kinds.order => Some(
            "`--repairs rmw` and `--repairs order` cannot rewrite litmus tests; `palisade export --to pal` makes a program of one that they can rewrite",
        ),
        Language::Tpl if kinds.order => Some(
            "`--repairs order` makes stores `seqcst`, which Rocker's language does not have; `--repairs fence` puts a fence behind them",
        ),
        Language::Trencher if kinds.rmw && model == Model::Ra => Some(
            "`--repairs rmw` puts accesses of automata between `lock` and `unlock`, which is meant for `--model tso`",
        ),
        _ => None,
    }
}

fn read_costs(path: &str) -> Result<CostFile, String> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        format!(
            "`--cost` is `unit`, `profile` or a file with costs; `{path}` cannot be read: {error}"
        )
    })?;
    CostFile::parse(&text).map_err(|why| format!("{path}: {why}"))
}

/// The program's text with a set of repairs, or, where it was asked which of its own fences can go, without those; `None` where nothing changes.
fn changed_text(
    program: &Program,
    set: &RepairSet,
    existing: Option<&[Candidate]>,
) -> Option<Result<String, String>> {
    match existing {
        None => palisade::text_with(program, set),
        Some(existing) => {
            let repairs: Vec<Repair> = set.repairs.iter().map(|c| c.repair).collect();
            let gone: Vec<Span> = existing
                .iter()
                .filter(|fence| !repairs.contains(&fence.repair))
                .map(|fence| program.site(fence.repair).span)
                .collect();
            (!gone.is_empty()).then(|| text_without_fences(program, &gone))
        }
    }
}

/// The program's own fences. Those that must go are no candidates.
fn existing_fences(program: &Program, candidates: &Candidates) -> Vec<Candidate> {
    let cost = |repair: Repair| {
        let mut all = candidates.all().iter();
        all.find(|c| c.repair == repair).map_or(0, |c| c.cost)
    };
    let repairs = program.existing_fences().into_iter().map(Repair::Keep);
    repairs
        .map(|repair| Candidate {
            repair,
            cost: cost(repair),
        })
        .collect()
}

/// Asks about a new text of this file. A compiler reads files only, so that a new Rust text stands beside the old one meanwhile.
fn asked_again(
    path: &Path,
    text: &str,
    reading: &ReadingArgs,
    check: impl Fn(&Program) -> Result<Answer, Failure>,
) -> Result<Answer, Failure> {
    let ask = |input: Input| {
        let answer = check(&input.program)?;
        match (&answer.verdict, &input.wider) {
            (Verdict::Unknown(reason), Some(wider)) if wider.is_for(reason) => {
                check(&wider.read()?.program)
            }
            _ => Ok(answer),
        }
    };
    if path.extension().is_none_or(|extension| extension != "rs") {
        return ask(input::parse(path, text.to_owned(), reading)?);
    }
    let directory = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let beside = tempfile::Builder::new()
        .prefix(".palisade-")
        .suffix(".rs")
        .tempfile_in(directory)
        .map_err(|error| Failure::Message(error.to_string()))?;
    std::fs::write(beside.path(), text).map_err(|error| Failure::Message(error.to_string()))?;
    ask(input::parse(beside.path(), text.to_owned(), reading)?)
}

/// Writes the new text over the old one, once it has been found to hold.
pub(super) fn write_back(
    program: &Program,
    text: &str,
    reading: &ReadingArgs,
    options: &Options,
    control: &Control<'_>,
) -> Result<(), String> {
    let name = program.source.name();
    let broken = "the new text does not do what it should, so nothing was written";
    let ask = |program: &Program| check(program, options, control).map_err(Failure::Refused);
    match asked_again(Path::new(name), text, reading, ask) {
        Ok(answer) if answer.verdict == Verdict::Holds => {}
        Ok(answer) => match answer.verdict {
            Verdict::Unknown(reason) => {
                return Err(format!(
                    "nothing was written, because the new text could not be checked: {reason}"
                ));
            }
            _ => return Err(broken.to_owned()),
        },
        Err(Failure::Refused(refusal)) => return Err(refusal.message),
        Err(_) => return Err(broken.to_owned()),
    }
    write_whole(Path::new(name), text.as_bytes())
        .map_err(|error| format!("cannot be written: {error}"))
}
