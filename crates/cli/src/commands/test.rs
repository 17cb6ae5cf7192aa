//! `palisade test`

use super::ask::{Effort, cancel, guarded, limits_of, options};
use crate::args::{Format, ReadingArgs, TestArgs};
use crate::cache::Cache;
use crate::expect::{Expectation, Expected, expectations};
use crate::input::{self, Job};
use crate::output::Output;
use crate::pairs;
use palisade::limits::within;
use palisade_check::{Control, Verdict};
use palisade_fence::{Candidates, Costs, FenceOptions, FenceResult, Kinds, fences};
use palisade_lang::Program;
use palisade_lang::meter::is_exhausted;
use palisade_param::check;
use palisade_report::{Failure, Status, words};
use serde_json::json;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// What came out about one expectation.
enum Outcome {
    AsExpected,
    /// What it is instead.
    Not(String),
    /// Why it cannot be asked.
    Unusable(String),
}

#[derive(Default)]
struct Count {
    good: u64,
    bad: u64,
    unusable: u64,
    files: u64,
}

pub fn run(args: &'static TestArgs, output: &mut Output) -> Status {
    let mut count = Count::default();
    for job in input::expand(&args.paths) {
        if cancel().load(Ordering::Relaxed) {
            count.unusable += 1;
            output.remark("stopped before the end\n");
            break;
        }
        let path = match job {
            Job::File(path) => path,
            Job::Trouble(path, trouble) => {
                let file = input::display_name(&path);
                unusable(args, &file, None, &trouble, &mut count, output);
                continue;
            }
        };
        let named = args.paths.contains(&path);
        if test_file(&path, named, args, &mut count, output).is_err() {
            break;
        }
    }
    if count.good + count.bad + count.unusable == 0 {
        return output
            .complain("there is no line `// expect MODEL CRITERION: VERDICT` in these files");
    }
    if args.format != Format::Json {
        let mut text = format!(
            "{} of {}: {} as expected",
            words::counted(count.good + count.bad + count.unusable, "answer", "answers"),
            words::counted(count.files, "file", "files"),
            words::number(count.good),
        );
        if count.bad > 0 {
            text.push_str(&format!(", {} not", words::number(count.bad)));
        }
        if count.unusable > 0 {
            text.push_str(&format!(", {} unusable", words::number(count.unusable)));
        }
        let _ = output.answer(&format!("{text}\n"));
    }
    match (count.unusable, count.bad) {
        (0, 0) => Status::Holds,
        (0, _) => Status::Violated,
        _ => Status::Error,
    }
}

fn test_file(
    path: &Path,
    named: bool,
    args: &'static TestArgs,
    count: &mut Count,
    output: &mut Output,
) -> Result<(), crate::output::Closed> {
    let file = input::display_name(path);
    let from = path.to_owned();
    let read = within(limits_of(&args.search, Effort::Full), cancel(), move |_| {
        input::read_text(&from)
    });
    let text = match read.map_err(str::to_owned).and_then(|read| read) {
        Ok(text) => text,
        Err(trouble) => {
            unusable(args, &file, None, &trouble, count, output);
            return Ok(());
        }
    };
    let found = expectations(&text);
    if found.is_empty() {
        if named {
            let trouble = "expects nothing: there is no line `// expect MODEL CRITERION: VERDICT`";
            unusable(args, &file, None, trouble, count, output);
        }
        return Ok(());
    }
    count.files += 1;
    for expectation in found {
        let expectation = match expectation {
            Ok(expectation) => expectation,
            Err((line, trouble)) => {
                unusable(args, &file, Some(line), &trouble, count, output);
                continue;
            }
        };
        let outcome = ask_within(path, &expectation, args);
        let question = format!(
            "{} {}",
            expectation.model.name(),
            expectation.criterion.name()
        );
        let (result, why) = match &outcome {
            Outcome::AsExpected => {
                count.good += 1;
                ("expected", None)
            }
            Outcome::Not(why) => {
                count.bad += 1;
                ("unexpected", Some(why))
            }
            Outcome::Unusable(why) => {
                count.unusable += 1;
                ("unusable", Some(why))
            }
        };
        if args.format == Format::Json {
            let mut line = json!({
                "file": file,
                "line": expectation.line,
                "model": expectation.model.name(),
                "criterion": expectation.criterion.name(),
                "expected": expectation.verdict.name(),
                "result": result,
            });
            if let Some(why) = why {
                line["reason"] = why.as_str().into();
            }
            output.answer(&format!("{line}\n"))?;
            continue;
        }
        match why {
            None if args.quiet => {}
            None => {
                let verdict = expectation.verdict.name();
                output.answer(&format!("ok      {file}: {question}: {verdict}\n"))?;
            }
            Some(why) => {
                let verdict = expectation.verdict.name();
                let line = expectation.line;
                output.answer(&format!(
                    "FAILED  {file}:{line}: {question}: expected {verdict}, but {why}\n"
                ))?;
            }
        }
    }
    Ok(())
}

/// Something that cannot be asked at all.
fn unusable(
    args: &TestArgs,
    file: &str,
    line: Option<u32>,
    why: &str,
    count: &mut Count,
    output: &mut Output,
) {
    count.unusable += 1;
    if args.format == Format::Json {
        let line = json!({ "file": file, "line": line, "result": "unusable", "reason": why });
        let _ = output.answer(&format!("{line}\n"));
        return;
    }
    let place = line.map_or_else(String::new, |line| format!(":{line}"));
    output.remark(&format!("error: {file}{place}: {why}\n"));
}

/// The same within the limits, whatever the text makes us do before and after the search.
fn ask_within(path: &Path, expectation: &Expectation, args: &'static TestArgs) -> Outcome {
    let (path, asked) = (path.to_owned(), expectation.clone());
    let limits = limits_of(&args.search, Effort::Full);
    let outcome = within(limits, cancel(), move |stop| {
        (ask(&path, &asked, args, stop), is_exhausted())
    });
    let reason = match outcome {
        Ok((Outcome::Unusable(_), true)) => "the memory limit is reached",
        Ok((outcome, _)) => return outcome,
        Err(reason) => reason,
    };
    match expectation.verdict {
        Expected::Unknown => Outcome::AsExpected,
        _ => Outcome::Not(format!("it is not decided: {reason}")),
    }
}

fn ask(path: &Path, expectation: &Expectation, args: &TestArgs, stop: &AtomicBool) -> Outcome {
    let reading = ReadingArgs {
        domain: expectation.domain.or(args.reading.domain),
        ..args.reading.clone()
    };
    let expected = expectation.verdict;
    let refused = |why: String| match expected {
        Expected::Error => Outcome::AsExpected,
        _ => Outcome::Unusable(format!("it cannot be asked: {why}")),
    };
    if let Some(complaint) = pairs::complaint(expectation.model, expectation.criterion) {
        return refused(complaint.lines().next().unwrap_or("").to_owned());
    }
    let mut input = match guarded(|| input::read(path, &reading)) {
        Ok(input) => input,
        Err(failure) => return refused(failure.reason()),
    };
    let options = options(
        expectation.model,
        expectation.criterion,
        false,
        &args.search,
        Effort::Full,
    );
    let control = Control {
        cancel: stop,
        progress: &|_| {},
    };
    let cache = match args.cache.cache.as_deref().map(Cache::new).transpose() {
        Ok(cache) => cache,
        Err(complaint) => return Outcome::Unusable(complaint),
    };
    let asked = |program: &Program| {
        let kept = cache.as_ref().and_then(|c| c.answer(program, &options));
        if let Some(answer) = kept {
            return Ok(answer);
        }
        let asked = guarded(|| check(program, &options, &control).map_err(Failure::Refused));
        if let (Some(cache), Ok(answer)) = (&cache, &asked) {
            cache.keep(program, &options, &control, answer);
        }
        asked
    };
    let mut found = asked(&input.program);
    if let (Ok(answer), Some(wider)) = (&found, &input.wider)
        && let Verdict::Unknown(reason) = &answer.verdict
        && wider.is_for(reason)
    {
        match guarded(|| wider.read()) {
            Ok(whole) => input = whole,
            Err(failure) => return refused(failure.reason()),
        }
        found = asked(&input.program);
    }
    let program = &input.program;
    let answer = match found {
        Ok(answer) => answer,
        Err(failure) => return refused(failure.reason()),
    };
    let verdict = match &answer.verdict {
        Verdict::Holds => Expected::Holds,
        Verdict::Violated => Expected::Violated,
        Verdict::Unknown(_) => Expected::Unknown,
    };
    if verdict != expected {
        return Outcome::Not(match &answer.verdict {
            Verdict::Unknown(reason) => format!("it is not decided: {reason}"),
            _ => format!("it is {}", verdict.name()),
        });
    }
    if let Some(copies) = expectation.copies
        && let Some(other) = answer.witnesses.iter().find(|w| w.copies != Some(copies))
    {
        let found = other
            .copies
            .map_or_else(|| "no".to_owned(), |n| n.to_string());
        return Outcome::Not(format!(
            "it is violated by {found} copies instead of {copies}"
        ));
    }
    let Some(number) = expectation.fences else {
        return Outcome::AsExpected;
    };
    let candidates = Candidates::new(program, Kinds::FENCES, &Costs::Unit);
    let fence_options = FenceOptions::default();
    let found = guarded(|| {
        fences(&candidates, &options, &fence_options, &control).map_err(Failure::Refused)
    });
    match found.map(|found| found.result) {
        Err(failure) => Outcome::Unusable(failure.reason()),
        Ok(FenceResult::Optimal(set)) if set.repairs.len() == number => Outcome::AsExpected,
        Ok(FenceResult::Optimal(set)) => {
            let needed = words::counted(set.repairs.len() as u64, "fence", "fences");
            Outcome::Not(format!("it needs {needed} instead of {number}"))
        }
        Ok(FenceResult::None) => Outcome::Not("no set of fences helps".to_owned()),
        Ok(FenceResult::Unknown { reason, .. }) => {
            Outcome::Not(format!("the fences are not found: {reason}"))
        }
    }
}
