//! Many questions on many machines: `plan` writes one line for each, a scheduler of the user's has the lines run anywhere, and `merge` joins what they left.
//!
//! Nothing here knows what an answer says. A job asks its question as the user would, and keeps what is printed in a file of its own; so a job that is run twice writes the same
//! file again, and a job that was lost is found to be missing.

use crate::args::{self, Format, JobArgs, MergeArgs, PlanArgs};
use crate::files::write_whole;
use crate::input;
use crate::output::Output;
use palisade_report::Status;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Flags that name a file which jobs would take from each other.
const FOR_ONE: [&str; 5] = [
    "--certificate",
    "--checkpoint",
    "--resume",
    "--witness",
    "--output",
];

/// Prints the jobs of a question, one a line.
pub fn plan(args: &PlanArgs, output: &mut Output) -> Status {
    let words = match words_of(&args.question) {
        Ok(words) => words,
        Err(complaint) => return output.complain(&complaint),
    };
    let lines = match lines_of(&words, &args.results) {
        Ok(lines) => lines,
        Err(complaint) => return output.complain(&complaint),
    };
    match output.answer(&lines) {
        Ok(()) => Status::Holds,
        Err(_) => Status::Error,
    }
}

/// The words of a question, as text.
fn words_of(question: &[std::ffi::OsString]) -> Result<Vec<String>, String> {
    let word = |word: &std::ffi::OsString| {
        let text = word.to_str().filter(|text| !text.contains('\n'));
        text.map(str::to_owned)
            .ok_or_else(|| format!("`{}` cannot stand in a line of text", word.display()))
    };
    question.iter().map(word).collect()
}

fn lines_of(words: &[String], results: &Path) -> Result<String, String> {
    let results = results.to_str().filter(|text| !text.contains('\n'));
    let results = results.ok_or("the directory for results needs a name that is text")?;
    let command = std::iter::once("palisade").chain(words.iter().map(String::as_str));
    let matches = args::whole()
        .try_get_matches_from(command)
        .map_err(|error| format!("this is no question: {}", error.render()))?;
    let Some((name @ ("check" | "reach" | "fence"), question)) = matches.subcommand() else {
        return Err("jobs can be planned for `check`, `reach` and `fence`".to_owned());
    };
    if let Some(flag) = words.iter().find(|word| {
        FOR_ONE
            .iter()
            .any(|flag| word.split('=').next() == Some(flag))
    }) {
        return Err(format!("`{flag}` is for one FILE, and jobs have one each"));
    }
    let given: Vec<PathBuf> = question
        .get_many("files")
        .unwrap_or_default()
        .cloned()
        .collect();
    let is_file = |word: &&String| given.iter().any(|file| file.as_os_str() == word.as_str());
    let flags: Vec<&str> = words
        .iter()
        .filter(|word| !is_file(word) && *word != name && *word != "--")
        .map(String::as_str)
        .collect();
    let mut lines = String::new();
    for (number, file) in input::expand(&given).into_iter().enumerate() {
        let file = match file {
            input::Job::File(file) => file,
            input::Job::Trouble(path, why) => return Err(format!("{}: {why}", path.display())),
        };
        let file = match file.to_str().filter(|text| !text.contains('\n')) {
            Some("-") => return Err("a job cannot read standard input".to_owned()),
            Some(file) => file.to_owned(),
            None => return Err(format!("`{}` cannot stand in a line", file.display())),
        };
        let to = format!("{results}/{number:06}.json");
        let fixed = ["palisade", "job", "--to", to.as_str(), "--", name];
        let line = fixed.into_iter().chain(flags.iter().copied());
        let line = line.chain(["--", file.as_str()]);
        lines.push_str(&line.map(quote).collect::<Vec<_>>().join(" "));
        lines.push('\n');
    }
    Ok(lines)
}

/// A word as a shell reads it.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// The words of a line that [`quote`] has made.
fn unquote(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        match c {
            ' ' | '\t' | '\r' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match rest.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(rest.next()?),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

/// Asks one question and keeps what is answered.
pub fn job(args: &JobArgs, output: &mut Output) -> Status {
    let words = match words_of(&args.question) {
        Ok(words) => words,
        Err(complaint) => return output.complain(&complaint),
    };
    let asked = std::env::current_exe().and_then(|program| {
        Command::new(program)
            .arg(words.first().map_or("", String::as_str))
            .args(["--format", "json"])
            .args(words.iter().skip(1))
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .stdout(Stdio::piped())
            .output()
    });
    let asked = match asked {
        Ok(asked) => asked,
        Err(error) => return output.complain(&format!("the question cannot be asked: {error}")),
    };
    // A process that a signal has ended has no answer: its job is still to be done.
    let Some(status) = asked.status.code().and_then(status_of) else {
        return output.complain("the question was ended before there was an answer");
    };
    let said = String::from_utf8_lossy(&asked.stdout);
    let answers: Result<Vec<Value>, _> = said.lines().map(serde_json::from_str).collect();
    let Ok(answers) = answers else {
        return output.complain("the answer is none in JSON");
    };
    let complaints = String::from_utf8_lossy(&asked.stderr);
    let result = json!({
        "palisade": env!("CARGO_PKG_VERSION"),
        "question": words,
        "status": status.code(),
        "answers": answers,
        "complaints": complaints,
    });
    if let Some(directory) = args.to.parent() {
        let _ = std::fs::create_dir_all(directory);
    }
    match write_whole(&args.to, format!("{result}\n").as_bytes()) {
        // The answer is in the file, whatever it is: to a scheduler, the job is done.
        Ok(()) => Status::Holds,
        Err(error) => output.complain(&format!("`{}`: {error}", args.to.display())),
    }
}

fn status_of(code: i32) -> Option<Status> {
    let all = [
        Status::Holds,
        Status::Violated,
        Status::Error,
        Status::Unknown,
    ];
    all.into_iter()
        .find(|status| i32::from(status.code()) == code)
}

/// What one job has left.
struct Done {
    status: Status,
    answers: Vec<Value>,
    complaints: String,
}

/// Joins what the jobs of a plan have left.
pub fn merge(args: &MergeArgs, output: &mut Output) -> Status {
    if !matches!(args.format, Format::Human | Format::Json) {
        return output.complain("answers are merged for people or in JSON");
    }
    let text = match std::fs::read_to_string(&args.plan) {
        Ok(text) => text,
        Err(error) => return output.complain(&format!("`{}`: {error}", args.plan.display())),
    };
    // A plan that was lost on the way proves nothing.
    if text.trim().is_empty() {
        return output.complain(&format!("{}: there is no job here", args.plan.display()));
    }
    let mut whole = Status::Holds;
    let mut counts = [0; 4];
    let mut missing = 0;
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let words = unquote(line).unwrap_or_default();
        let job = match &words[..] {
            [_, job, to, path, dashes, question @ ..]
                if job == "job" && to == "--to" && dashes == "--" =>
            {
                Some((path, question))
            }
            _ => None,
        };
        let Some((path, question)) = job else {
            let plan = args.plan.display();
            let complaint = format!("{plan}:{}: this is no line of a plan", number + 1);
            return output.complain(&complaint);
        };
        let file = question.last().map_or("", String::as_str);
        let done = match read(Path::new(path), question) {
            Ok(done) => done,
            Err(why) => {
                missing += 1;
                output.remark(&format!("{file}: there is no answer: `{path}` {why}\n"));
                whole = whole.max(Status::Unknown);
                continue;
            }
        };
        output.remark(&done.complaints);
        whole = whole.max(done.status);
        counts[usize::from(done.status.code())] += 1;
        for answer in &done.answers {
            let line = match args.format {
                Format::Json => format!("{answer}\n"),
                _ => in_words(answer),
            };
            if output.answer(&line).is_err() {
                return Status::Error;
            }
        }
    }
    if args.format != Format::Json {
        let said = [
            (counts[0], "hold"),
            (counts[1], "violated"),
            (counts[3], "undecided"),
            (counts[2], "unusable"),
            (missing, "without an answer"),
        ];
        let said: Vec<String> = said
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        let jobs = counts.iter().sum::<i32>() + missing;
        let _ = output.answer(&format!("{jobs} jobs: {}\n", said.join(", ")));
    }
    whole
}

/// One answer in one line.
fn in_words(answer: &Value) -> String {
    let text = |name: &str| answer[name].as_str().unwrap_or("?").to_owned();
    let (file, verdict) = (text("file"), text("verdict"));
    let (criterion, model) = (text("criterion"), text("model"));
    let reason = answer["reason"].as_str();
    let reason = reason.map_or(String::new(), |reason| format!(" ({reason})"));
    format!("{file}: {verdict}: {criterion} under {model}{reason}\n")
}

/// What a job has left, if it is about the question.
fn read(path: &Path, question: &[String]) -> Result<Done, String> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err("is not there".to_owned());
        }
        Err(error) => return Err(format!("cannot be read: {error}")),
    };
    let value: Value = serde_json::from_str(&text).map_err(|_| "is no result".to_owned())?;
    let version = env!("CARGO_PKG_VERSION");
    if value["palisade"] != version {
        return Err(format!("is a result of another version than {version}"));
    }
    if value["question"] != json!(question) {
        return Err("answers another question".to_owned());
    }
    let status = value["status"]
        .as_i64()
        .and_then(|code| code.try_into().ok());
    let status = status.and_then(status_of).ok_or("is no result")?;
    Ok(Done {
        status,
        answers: value["answers"].as_array().cloned().unwrap_or_default(),
        complaints: value["complaints"].as_str().unwrap_or("").to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_line() {
        let words = ["a", "", "it's", "a b", "$x", "--flag=1", "\\", "a'b'", "*"];
        let line = words.map(quote).join(" ");
        assert_eq!(unquote(&line).unwrap(), words);
        assert_eq!(unquote("'open"), None);
    }
}
