//! Asking the same question about every FILE: what `check`, `fence` and `reach` have in common.

use crate::args::{Format, InputArgs, SearchArgs};
use crate::input::{self, Job};
use crate::limits;
use crate::output::{Closed, Output};
use crate::picture::PictureFile;
use crate::progress::ProgressLine;
use palisade_check::{Control, Options, Reductions, Route};
use palisade_lang::Program;
use palisade_memory::{Criterion, Model};
use palisade_report::{Failure, FileReport, Findings, Question, Status, json, sarif, text};
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Set by Ctrl-C (and by a request to terminate): searches stop, and answer what they can.
static CANCEL: LazyLock<&'static AtomicBool> = LazyLock::new(|| {
    static FLAG: AtomicBool = AtomicBool::new(false);
    static TIMES: AtomicUsize = AtomicUsize::new(0);
    let installed = ctrlc::set_handler(|| {
        FLAG.store(true, Ordering::Relaxed);
        // Somebody who asks twice does not want to wait.
        if TIMES.fetch_add(1, Ordering::Relaxed) > 0 {
            std::process::exit(130);
        }
    });
    // Without a handler Ctrl-C ends the process at once, which is no tragedy.
    let _ = installed;
    &FLAG
});

/// What Ctrl-C sets.
pub fn cancel() -> &'static AtomicBool {
    *CANCEL
}

/// Does something for one FILE. A bug of ours must not cost the answers about the others.
pub fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    std::panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(Failure::Message(
            "palisade itself went wrong here; please report this, with the program".to_owned(),
        ))
    })
}

/// A question to ask about every FILE.
pub struct Asking<'a> {
    pub model: Model,
    pub question: Question,
    pub input: &'a InputArgs,
    pub format: Format,
    /// Where the run is to be drawn.
    pub picture: Option<&'a Path>,
    /// Finds the answer for one program.
    pub answer: &'a dyn Fn(&Program, &Control<'_>) -> Result<Findings, Failure>,
}

impl Asking<'_> {
    /// Asks, and prints each answer as soon as it is there.
    pub fn run(&self, output: &mut Output) -> Status {
        let mut statuses = Vec::new();
        let mut collected = Vec::new();
        let jobs = input::expand(&self.input.files);
        let picture = match self.picture_file(&jobs) {
            Ok(picture) => picture,
            Err(complaint) => return output.complain(&complaint),
        };
        for job in jobs {
            let report = self.report(&job, output);
            statuses.push(report.status());
            if let Some(picture) = &picture {
                statuses.push(draw(picture, &report, output));
            }
            if self.format == Format::Sarif {
                collected.push(report);
            } else if self.print(&report, output).is_err() {
                break;
            }
        }
        if self.format == Format::Sarif {
            let _ = output.answer(&format!("{}\n", sarif::document(&collected)));
        }
        if picture.is_none() && statuses.len() > 1 && self.format == Format::Human {
            let line = text::summary(&statuses, output.look());
            let _ = output.answer(&line);
        }
        statuses.into_iter().max().unwrap_or(Status::Holds)
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
        if self.question == Question::CheckAll {
            return Err(
                "`--picture` draws one run, so it needs one criterion; `palisade report` draws them all"
                    .to_owned(),
            );
        }
        PictureFile::new(path).map(Some)
    }

    fn report(&self, job: &Job, output: &Output) -> FileReport {
        let (path, read) = match job {
            Job::Trouble(path, message) => (path, Err(Failure::Message(message.clone()))),
            Job::File(path) => (path, input::read(path, &self.input.reading)),
        };
        let file = input::display_name(path);
        let (program, result) = match read {
            Err(failure) => (None, Err(failure)),
            Ok(input) => {
                let warnings =
                    text::warnings(&input.program.source, &input.warnings, output.error_look());
                output.remark(&warnings);
                let result = self.search(path, &input.program);
                (Some(input.program), result)
            }
        };
        FileReport {
            file,
            model: self.model,
            question: self.question,
            program,
            result,
        }
    }

    fn search(&self, path: &Path, program: &Program) -> Result<Findings, Failure> {
        let line = ProgressLine::new(&input::display_name(path));
        let show = |progress: &palisade_check::Progress| line.show(progress);
        let control = Control {
            cancel: cancel(),
            progress: &show,
        };
        guarded(|| (self.answer)(program, &control))
    }

    fn print(&self, report: &FileReport, output: &mut Output) -> Result<(), Closed> {
        match self.format {
            Format::Json | Format::Sarif => output.answer(&format!("{}\n", json::line(report))),
            Format::Human if report.result.is_err() => {
                output.remark(&text::render(report, output.error_look()));
                Ok(())
            }
            Format::Human => output.answer(&text::render(report, output.look())),
        }
    }
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

/// The options of a search, as the flags say.
pub fn options(model: Model, criterion: Criterion, all: bool, search: &SearchArgs) -> Options {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    Options {
        jobs: search.jobs.map_or(cores, usize::from),
        timeout: search.timeout,
        memory: limits::memory_limit(search.memory),
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
        seqcst_as_fences: search.seqcst.is_some(),
        abstraction: search.abstraction.unwrap_or_default(),
        route: search.route.map_or(Route::Any, Route::from),
        ..Options::new(model, criterion)
    }
}
