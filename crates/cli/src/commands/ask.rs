//! Asking the same question about every FILE: what `check`, `fence` and `reach` have in common.

use crate::args::{Format, FormatArgs, InputArgs, SearchArgs};
use crate::batch;
use crate::config;
use crate::input::{self, Job};
use crate::limits;
use crate::output::{Closed, Output};
use crate::picture::PictureFile;
use crate::progress::{FilesLine, ProgressLine};
use palisade::limits::Limits;
pub use palisade::{Asked, Wanted, guarded};
use palisade_check::note::Note;
use palisade_check::{Control, Disk, Harm, Options, Reductions, Route};
use palisade_lang::Program;
use palisade_memory::{Criterion, Model};
use palisade_report::{
    Failure, FileReport, Findings, Look, Question, Status, github, json, sarif, text,
};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// Set by Ctrl-C (and by a request to terminate): searches stop, and answer what they can.
static CANCEL: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| {
    use signal_hook::{consts, flag};
    let cancelled = Arc::new(AtomicBool::new(false));
    let signals = [
        consts::SIGINT,
        consts::SIGTERM,
        #[cfg(unix)]
        consts::SIGHUP,
    ];
    // A file that becomes larger than `ulimit -f` allows is an error of writing, and no reason to leave half a file behind.
    #[cfg(unix)]
    let _ = flag::register(consts::SIGXFSZ, Arc::new(AtomicBool::new(false)));
    for signal in signals {
        // In this order: the first time the flag is not set yet. A user who asks twice does not want to wait.
        let twice = flag::register_conditional_shutdown(signal, 130, Arc::clone(&cancelled));
        let once = flag::register(signal, Arc::clone(&cancelled));
        // Without a handler Ctrl-C ends the process at once, which is no tragedy.
        let _ = (twice, once);
    }
    cancelled
});

/// What Ctrl-C sets.
pub fn cancel() -> &'static AtomicBool {
    &CANCEL
}

/// What a program is asked, and how long that may take.
pub type Answering =
    dyn Fn(&Program, Asked, Effort, &Control<'_>) -> Result<Findings, Failure> + Send + Sync;

/// Finds the question for a program.
pub type Choosing = dyn Fn(&Program) -> Asked + Send + Sync;

/// A question to ask about every FILE.
pub struct Asking<'a> {
    /// What is asked about a FILE that cannot be read, and about every other one if `choose` is not there.
    pub asked: Asked,
    /// What is asked about a FILE that cannot be read, where that depends on its name.
    pub named: Option<Wanted>,
    /// What is asked about a program, where it depends on the program.
    pub choose: Option<Box<Choosing>>,
    pub input: &'a InputArgs,
    pub format: &'a FormatArgs,
    pub search: &'a SearchArgs,
    /// Where the run is to be drawn.
    pub picture: Option<&'a Path>,
    /// Another process prints the answer.
    pub silent: bool,
    /// Finds the answer for one program.
    pub answer: Arc<Answering>,
}

/// How much is put into the answer about one FILE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// One thread, little time and memory, beside others: enough for most of a large tree.
    Quick,
    /// Everything that the flags allow.
    Full,
}

/// A quick search takes no longer than this, and no more than a quarter of what a FILE may take.
const QUICK_TIME: Duration = Duration::from_secs(2);
/// Nor does the whole process hold more than this while quick searches are under way.
const QUICK_MEMORY: u64 = 1 << 30;

/// A report, and what is to be said about the program's text besides.
struct Done {
    report: FileReport,
    warnings: String,
}

impl Asking<'_> {
    /// Asks, and prints each answer as soon as it is there and those before it are.
    pub fn run(&self, output: &mut Output) -> Status {
        let jobs = input::expand(&self.input.files);
        let picture = match self.picture_file(&jobs) {
            Ok(picture) => picture,
            Err(complaint) => return output.complain(&complaint),
        };
        let mut statuses = Vec::new();
        let mut drawn = Status::Holds;
        let mut collected = Vec::new();
        let look = output.error_look();
        let workers = match jobs.len() {
            0 | 1 => 1,
            several => palisade_check::threads(jobs_of(self.search)).min(several),
        };
        // One after the other, each has a line of its own.
        let line = FilesLine::new(if workers < 2 { 0 } else { jobs.len() });
        let one = |index: usize, effort: Effort| self.report(&jobs[index], effort, look);
        let mut take = |_: usize, done: Done| {
            line.pause(|| {
                output.remark(&done.warnings);
                let report = done.report;
                statuses.push(report.status());
                if let Some(picture) = &picture {
                    drawn = draw(picture, &report, output);
                }
                if self.format.format == Format::Sarif && !self.silent {
                    collected.push(report);
                } else if self.print(&report, output).is_err() {
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            })
        };
        if workers < 2 {
            // Nothing can be looked at beside anything else.
            for index in 0..jobs.len() {
                if take(index, one(index, Effort::Full)).is_break() {
                    break;
                }
            }
        } else {
            let glance = |index| {
                let done = one(index, Effort::Quick);
                line.advance();
                (is_decided(&done.report) || cancel().load(Ordering::Relaxed)).then_some(done)
            };
            let thorough = |index| line.pause(|| one(index, Effort::Full));
            batch::in_order(jobs.len(), workers, glance, thorough, &mut take);
        }
        drop(line);
        if self.format.format == Format::Sarif && !self.silent {
            let _ = output.answer(&format!("{}\n", sarif::document(&collected)));
        }
        if jobs.len() > 1 && matches!(self.format.format, Format::Human | Format::Github) {
            let summary = text::summary(self.asked.question, &statuses, output.look());
            let _ = output.answer(&summary);
        }
        statuses
            .into_iter()
            .max()
            .unwrap_or(Status::Holds)
            .max(drawn)
    }

    /// The picture that is wanted, if it can be.
    fn picture_file(&self, jobs: &[Job]) -> Result<Option<PictureFile>, String> {
        let Some(path) = self.picture else {
            return Ok(None);
        };
        if jobs.len() != 1 {
            return Err(format!(
                "`--picture` draws one run, so it needs one FILE; there are {}",
                jobs.len()
            ));
        }
        if matches!(
            self.asked.question,
            Question::CheckAll | Question::CheckModels(_)
        ) {
            return Err(
                "`--picture` draws one run, so it needs one criterion; `palisade report` draws them all"
                    .to_owned(),
            );
        }
        PictureFile::new(path).map(Some)
    }

    fn report(&self, job: &Job, effort: Effort, look: Look) -> Done {
        let (path, job) = match job {
            Job::Trouble(path, message) => (path.clone(), Err(message.clone())),
            Job::File(path) => (path.clone(), Ok(path.clone())),
        };
        let file = input::display_name(&path);
        let reading = self.input.reading.clone();
        let read = move || input::read(&job.map_err(Failure::Message)?, &reading);
        let name = file.clone();
        let choose = |program: Option<&Program>| match (program, &self.choose) {
            (Some(program), Some(choose)) => choose(program),
            (None, _) => match self.named {
                Some(wanted) => wanted.about_nothing(&name),
                None => self.asked,
            },
            _ => self.asked,
        };
        let (find, shown) = (Arc::clone(&self.answer), file.clone());
        let answer = move |program: &Program, asked: Asked, stop: &AtomicBool| {
            let line = match effort {
                Effort::Full => ProgressLine::new(&shown),
                Effort::Quick => ProgressLine::none(),
            };
            let control = Control {
                cancel: stop,
                progress: &|progress| line.show(progress),
            };
            find(program, asked, effort, &control)
        };
        let limits = limits_of(self.search, effort);
        let (mut report, warnings) = palisade::report(file, read, choose, answer, limits, cancel());
        let warnings = match &report.program {
            Some(program) => text::warnings(&program.source, &warnings, look),
            None => String::new(),
        };
        report.result = report.result.map(with_defaults_named);
        Done { report, warnings }
    }

    fn print(&self, report: &FileReport, output: &mut Output) -> Result<(), Closed> {
        match self.format.format {
            _ if self.silent && report.result.is_ok() => Ok(()),
            Format::Json | Format::Sarif => output.answer(&format!("{}\n", json::line(report))),
            Format::Github => output.answer(&github::annotations(report)),
            Format::Human if report.result.is_err() => {
                output.remark(&text::render(report, output.error_look()));
                Ok(())
            }
            Format::Human if self.format.brief => {
                output.answer(&text::headline(report, output.look()))
            }
            Format::Human => {
                let look = Look {
                    verbose: self.format.verbose,
                    ..output.look()
                };
                output.answer(&text::render(report, look))
            }
        }
    }
}

/// Says with an answer where defaults that change its meaning come from.
fn with_defaults_named(mut findings: Findings) -> Findings {
    findings
        .each_notes(|notes| notes.extend(config::said().map(|said| Note::Said(said.to_owned()))));
    findings
}

/// Draws the run of an answer, or says why there is none.
fn draw(picture: &PictureFile, report: &FileReport, output: &Output) -> Status {
    let (Some(program), Ok(Findings::One(answer))) = (&report.program, &report.result) else {
        return Status::Holds;
    };
    match answer.witnesses.first() {
        Some(witness) => match picture.write(witness, program, &report.file) {
            Ok(()) => Status::Holds,
            Err(complaint) => output.complain(&complaint),
        },
        None => {
            output.remark("note: there is no run to draw, so no picture was written\n");
            Status::Holds
        }
    }
}

/// Whether more effort could not say more.
fn is_decided(report: &FileReport) -> bool {
    let harm = match &report.result {
        Ok(Findings::One(answer)) => answer.harm.as_ref(),
        _ => None,
    };
    report.status() != Status::Unknown && !matches!(harm, Some(Harm::Unknown(_)))
}

/// How many threads search, as [`Options::jobs`] counts them.
fn jobs_of(search: &SearchArgs) -> usize {
    search.jobs.map_or(0, usize::from)
}

/// What the answer about one FILE may take.
pub fn limits_of(search: &SearchArgs, effort: Effort) -> Limits {
    let memory = match effort {
        Effort::Full => search.memory,
        // Others are looked at beside it, and it will be looked at again.
        Effort::Quick => None,
    };
    Limits {
        timeout: timeout(search, effort),
        memory,
    }
}

/// How long the answer about one FILE may take.
fn timeout(search: &SearchArgs, effort: Effort) -> Option<Duration> {
    match effort {
        Effort::Full => search.timeout,
        Effort::Quick => Some(
            search
                .timeout
                .map_or(QUICK_TIME, |most| QUICK_TIME.min(most / 4)),
        ),
    }
}

/// The options of a search, as the flags say.
pub fn options(
    model: Model,
    criterion: Criterion,
    all: bool,
    search: &SearchArgs,
    effort: Effort,
) -> Options {
    let (jobs, memory) = match effort {
        Effort::Full => (jobs_of(search), search.memory),
        Effort::Quick => {
            let memory = search.memory.unwrap_or(u64::MAX);
            (1, Some(memory.min(QUICK_MEMORY)))
        }
    };
    // A glance is over before anything has to be put away.
    let disk = search.disk.as_ref().filter(|_| effort == Effort::Full);
    Options {
        jobs,
        timeout: timeout(search, effort),
        memory,
        disk: disk.map(Disk::new),
        machine: Some(limits::machine),
        reductions: Reductions {
            local_steps: !search.no_local_steps,
            dead_registers: !search.no_dead_registers,
            symmetry: !search.no_symmetry,
            partial_order: !search.no_partial_order,
            static_filter: !search.no_static_filter,
            suspects: !search.no_suspects,
            monitors: !search.no_monitors,
            subsumption: !search.no_subsumption,
        },
        all_locations: search.all_locations,
        all,
        abstraction: search.abstraction.unwrap_or_default(),
        route: search.route.map_or(Route::Any, Route::from),
        thread: search.thread.clone(),
        ..Options::new(model, criterion)
    }
}
