//! What was asked about one FILE, and what came out.

use palisade_check::note::Note;
use palisade_check::{Answer, Refusal, Verdict};
use palisade_fence::{Candidate, FenceResult, Fences, Orders, OrdersResult};
use palisade_lang::{Diagnostic, Program, Source};
use palisade_memory::{Criterion, Model};

/// What was asked about one FILE, and what came out.
#[derive(Debug)]
pub struct FileReport {
    /// As the user named it.
    pub file: String,
    /// Under which model.
    pub model: Model,
    /// What was asked.
    pub question: Question,
    /// The program, where the file could be read as one.
    pub program: Option<Program>,
    /// What came out.
    pub result: Result<Findings, Failure>,
}

/// What can be asked about a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Does the criterion hold?
    Check(Criterion),
    /// Which of the model's criteria hold?
    CheckAll,
    /// Under which models does the criterion hold?
    CheckModels(Criterion),
    /// Can a forbidden state be reached?
    Reach,
    /// Which fences make the criterion hold?
    Fence(Criterion),
    /// Which orders make the criterion hold?
    Orders(Criterion),
}

/// What came out where the question could be asked.
#[derive(Debug)]
pub enum Findings {
    /// One answer.
    One(Answer),
    /// One answer for each criterion, in the order of strength.
    All(Vec<(Criterion, Result<Answer, Refusal>)>),
    /// One answer for each model.
    Models(Vec<(Model, Result<Answer, Refusal>)>),
    /// The cheapest fences.
    Fences(Box<FenceFindings>),
    /// The cheapest orders.
    Orders(Box<OrderFindings>),
}

impl Findings {
    /// Why answers are unknown, of all those that are.
    pub fn unknown_reasons(&self) -> Vec<&str> {
        fn of<T>(answers: &[(T, Result<Answer, Refusal>)]) -> Vec<&str> {
            let answers = answers.iter().flat_map(|(_, answer)| answer);
            answers.filter_map(reason).collect()
        }
        fn reason(answer: &Answer) -> Option<&str> {
            match &answer.verdict {
                Verdict::Unknown(reason) => Some(reason),
                _ => None,
            }
        }
        match self {
            Findings::One(answer) => reason(answer).into_iter().collect(),
            Findings::All(answers) => of(answers),
            Findings::Models(answers) => of(answers),
            Findings::Fences(found) => match &found.fences.result {
                FenceResult::Unknown { reason, .. } => vec![reason],
                _ => Vec::new(),
            },
            Findings::Orders(found) => match &found.orders.result {
                OrdersResult::Unknown { reason, .. } => vec![reason],
                _ => Vec::new(),
            },
        }
    }

    /// Does something with the notes of every answer.
    pub fn each_notes(&mut self, mut change: impl FnMut(&mut Vec<Note>)) {
        match self {
            Findings::One(answer) => change(&mut answer.notes),
            Findings::All(answers) => {
                let answers = answers.iter_mut().flat_map(|(_, answer)| answer);
                answers.for_each(|answer| change(&mut answer.notes));
            }
            Findings::Models(answers) => {
                let answers = answers.iter_mut().flat_map(|(_, answer)| answer);
                answers.for_each(|answer| change(&mut answer.notes));
            }
            Findings::Fences(found) => change(&mut found.fences.notes),
            Findings::Orders(found) => change(&mut found.orders.notes),
        }
    }
}

/// What came out of the search for fences.
#[derive(Debug)]
pub struct FenceFindings {
    /// The fences.
    pub fences: Fences,
    /// Where it was asked which of the program's own fences can go: all of them, also those that must go (at no cost).
    pub existing: Option<Vec<Candidate>>,
    /// The program's text with them; why it cannot be written where it cannot. `None` where nothing is to be changed.
    pub text: Option<Result<String, String>>,
    /// Whether the text was written back.
    pub written: bool,
}

/// What came out of the search for orders.
#[derive(Debug)]
pub struct OrderFindings {
    /// The orders.
    pub orders: Orders,
    /// Only some changes were allowed: what is said is said of these.
    pub restricted: bool,
    /// What the costs are called.
    pub cost: String,
    /// The files that change, with their new texts; why they cannot be written where they cannot. `None` where nothing is to be changed.
    pub text: Option<Result<Vec<(String, String)>, String>>,
    /// Whether the text was written back.
    pub written: bool,
}

/// Why there is no answer at all.
#[derive(Debug)]
pub enum Failure {
    /// The text is no program.
    Text(Source, Vec<Diagnostic>),
    /// The question cannot be asked about this program.
    Refused(Refusal),
    /// Something else, such as a file that cannot be read.
    Message(String),
}

/// How the command ends for one FILE. The order is that of the exit status: 2 over 3 over 1 over 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// It holds.
    Holds,
    /// It is violated.
    Violated,
    /// Undecided.
    Unknown,
    /// The input or the call is wrong.
    Error,
}

impl Status {
    /// The exit status of the command.
    pub fn code(self) -> u8 {
        match self {
            Status::Holds => 0,
            Status::Violated => 1,
            Status::Error => 2,
            Status::Unknown => 3,
        }
    }

    fn of_verdict(verdict: &Verdict) -> Status {
        match verdict {
            Verdict::Holds => Status::Holds,
            Verdict::Violated => Status::Violated,
            Verdict::Unknown(_) => Status::Unknown,
        }
    }
}

impl FileReport {
    /// How the command ends for this FILE.
    pub fn status(&self) -> Status {
        match &self.result {
            Err(_) => Status::Error,
            Ok(Findings::One(answer)) => Status::of_verdict(&answer.verdict),
            Ok(Findings::Fences(found)) => match found.fences.result {
                FenceResult::Optimal(_) => Status::Holds,
                FenceResult::None => Status::Violated,
                FenceResult::Unknown { .. } => Status::Unknown,
            },
            Ok(Findings::Orders(found)) => match found.orders.result {
                OrdersResult::Optimal(_) => Status::Holds,
                OrdersResult::None => Status::Violated,
                OrdersResult::Unknown { .. } => Status::Unknown,
            },
            // A model that does not know what is in the program says nothing about it, unless all do.
            Ok(Findings::Models(answers)) => {
                let known = answers
                    .iter()
                    .filter_map(|(_, answer)| answer.as_ref().ok());
                let statuses = known.map(|answer| Status::of_verdict(&answer.verdict));
                statuses.max().unwrap_or(Status::Error)
            }
            Ok(Findings::All(answers)) => answers
                .iter()
                .map(|(_, answer)| match answer {
                    Ok(answer) => Status::of_verdict(&answer.verdict),
                    Err(_) => Status::Error,
                })
                .max()
                .unwrap_or(Status::Holds),
        }
    }
}

impl Failure {
    /// The reason in one line, as JSON gives it.
    pub fn reason(&self) -> String {
        match self {
            Failure::Message(message) => message.clone(),
            Failure::Refused(refusal) => refusal.message.clone(),
            Failure::Text(source, diagnostics) => {
                let Some(first) = diagnostics.first() else {
                    return "this is no program".to_owned();
                };
                let at = source.place(first.span.start);
                let mut reason = format!("{at}: {}", first.message);
                if diagnostics.len() > 1 {
                    let more = diagnostics.len() - 1;
                    let errors = if more == 1 { "error" } else { "errors" };
                    reason.push_str(&format!(" (and {more} more {errors})"));
                }
                reason
            }
        }
    }
}
