//! Questions and answers.

use crate::ask::{explained, fenced};
use crate::program::{Program, Refused};
use crate::question::complete;
use palisade_check::{Control, QUESTIONS};
use palisade_fence::{FenceOptions, FenceResult};
use palisade_lang::Repair;
use palisade_memory::{Criterion, Model, Witness};
use palisade_report::notes::{sentence, sentences};
use palisade_report::words;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use web_time::Duration;

/// What is asked, and what may be spent on the answer.
///
/// ```
/// use palisade::{Criterion, Model, Options};
/// use std::time::Duration;
///
/// let options = Options::new(Model::Ra, Criterion::Robust)
///     .timeout(Duration::from_secs(60))
///     .memory(8 << 30)
///     .jobs(4);
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    model: Option<Model>,
    criterion: Option<Criterion>,
    /// Everything else.
    inner: palisade_check::Options,
    cancel: Arc<AtomicBool>,
}

impl Default for Options {
    fn default() -> Self {
        Options::usual()
    }
}

impl Options {
    /// Is it right on weak memory? Model and criterion follow from the program, as they do for `palisade check FILE`; [`Answer`] names them.
    ///
    /// ```
    /// use palisade::{Criterion, Model, Options, Program, check};
    ///
    /// let program = Program::parse("shared x; thread t { x.store(1, relaxed); assert x == 1; }")?;
    /// let answer = check(&program, &Options::usual())?;
    /// assert_eq!((answer.model, answer.criterion), (Model::C20, Criterion::Safe));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn usual() -> Options {
        Options {
            model: None,
            criterion: None,
            inner: palisade_check::Options::new(Model::Tso, Criterion::Robust),
            cancel: Arc::default(),
        }
    }

    /// Does the criterion hold under the model? One thread searches, without limits.
    pub fn new(model: Model, criterion: Criterion) -> Options {
        Options {
            model: Some(model),
            criterion: Some(criterion),
            ..Options::usual()
        }
    }

    /// How long the search may take.
    pub fn timeout(mut self, most: Duration) -> Options {
        self.inner.timeout = Some(most);
        self
    }

    /// How many bytes the process may hold.
    pub fn memory(mut self, most: u64) -> Options {
        self.inner.memory = Some(most);
        self
    }

    /// How many threads search; the answer does not depend on it.
    pub fn jobs(mut self, threads: usize) -> Options {
        self.inner.jobs = threads.max(1);
        self
    }

    /// A flag that ends the search once it is set.
    ///
    /// ```
    /// use palisade::{Criterion, Model, Options, Program, Verdict, check};
    /// use std::sync::{Arc, atomic::AtomicBool};
    ///
    /// let endless = Program::parse(
    ///     "shared x, y;
    ///      thread p { loop { x = x + 1; } }
    ///      thread q { loop { y = y + 1; } }",
    /// )?;
    /// let stop = Arc::new(AtomicBool::new(true));
    /// let options = Options::new(Model::Sc, Criterion::Safe).cancel(stop);
    /// let answer = check(&endless, &options)?;
    /// assert!(matches!(answer.verdict, Verdict::Unknown(_)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cancel(mut self, flag: Arc<AtomicBool>) -> Options {
        self.cancel = flag;
        self
    }

    /// Everything about the search for a program. The pair must have a meaning.
    fn about(&self, program: &Program) -> Result<palisade_check::Options, Refused> {
        let (model, criterion) = complete(&program.inner, self.model, self.criterion);
        if QUESTIONS.contains(&(model, criterion)) {
            return Ok(palisade_check::Options {
                model,
                criterion,
                ..self.inner.clone()
            });
        }
        Err(Refused {
            message: format!(
                "the criterion `{}` has no meaning under the model `{}`",
                criterion.name(),
                model.name()
            ),
        })
    }

    fn control(&self) -> Control<'_> {
        Control {
            cancel: &self.cancel,
            progress: &|_| {},
        }
    }
}

/// Whether a criterion holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds, for every run.
    Holds,
    /// It does not: here is a run that shows it.
    Violated(Witness),
    /// Not decided within the limits, and why.
    Unknown(String),
}

/// The answer of [`check`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Answer {
    /// The model that was asked about.
    pub model: Model,
    /// The criterion that was asked about.
    pub criterion: Criterion,
    /// Whether the criterion holds.
    pub verdict: Verdict,
    /// What one should know beside it, a sentence each: what it means, what it leaves out.
    pub notes: Vec<String>,
    /// What it took.
    pub stats: Stats,
}

/// What a search took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// States stored.
    pub states: u64,
    /// Steps taken between states.
    pub transitions: u64,
    /// Time.
    pub wall: Duration,
    /// The most memory that the process held.
    pub peak_memory_bytes: u64,
}

impl Stats {
    fn new(stats: &palisade_check::Stats) -> Stats {
        Stats {
            states: stats.states,
            transitions: stats.transitions,
            wall: stats.wall,
            peak_memory_bytes: stats.peak_memory_bytes,
        }
    }
}

/// Decides whether a criterion holds for a program.
///
/// Refuses a pair of model and criterion that has no meaning, and programs that the criterion cannot be asked about.
///
/// ```
/// use palisade::{Criterion, Model, Options, Program, Verdict, check};
///
/// // Message passing: TSO keeps stores in order, so it makes no difference.
/// let program = Program::parse(
///     "shared data, ready;
///      thread p { data = 42; ready = 1; }
///      thread q { wait(ready == 1); assert data == 42; }",
/// )?;
/// for criterion in [Criterion::Robust, Criterion::Safe] {
///     let answer = check(&program, &Options::new(Model::Tso, criterion))?;
///     assert_eq!(answer.verdict, Verdict::Holds);
/// }
/// assert!(check(&program, &Options::new(Model::Sc, Criterion::Robust)).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check(program: &Program, options: &Options) -> Result<Answer, Refused> {
    let search = options.about(program)?;
    let answer = explained(&program.inner, &search, &options.control()).map_err(refused)?;
    let harm = answer.harm.as_ref().map(words::harm);
    let shown = answer.notes.iter().filter(|note| !note.is_internal());
    let notes: Vec<String> = harm.into_iter().chain(shown.map(sentence)).collect();
    let verdict = match (answer.verdict, answer.witnesses.into_iter().next()) {
        (palisade_check::Verdict::Holds, _) => Verdict::Holds,
        (palisade_check::Verdict::Unknown(reason), _) => Verdict::Unknown(reason),
        (palisade_check::Verdict::Violated, Some(witness)) => Verdict::Violated(witness),
        (palisade_check::Verdict::Violated, None) => {
            Verdict::Unknown("it is violated, but the run that shows it was not found".to_owned())
        }
    };
    Ok(Answer {
        model: search.model,
        criterion: search.criterion,
        verdict,
        notes,
        stats: Stats::new(&answer.stats),
    })
}

fn refused(refusal: palisade_check::Refusal) -> Refused {
    Refused {
        message: refusal.message,
    }
}

/// One fence, and where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fence {
    /// The thread; none in a function that several threads call.
    pub thread: Option<String>,
    /// The state or label that it goes before, where there is one.
    pub before: Option<String>,
    /// The line of what it goes before, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
}

/// Which fences make a criterion hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FenceVerdict {
    /// With these it holds, and with no fewer. None at all where it holds already.
    Enough(Vec<Fence>),
    /// No fences make it hold: here is a run that none prevents, where one was kept.
    Impossible(Option<Witness>),
    /// Not decided within the limits, and why.
    Unknown(String),
}

/// The answer of [`fence`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FenceAnswer {
    /// The fences.
    pub verdict: FenceVerdict,
    /// What one should know beside it, a sentence each.
    pub notes: Vec<String>,
    /// What it took.
    pub stats: Stats,
    text: Option<String>,
}

impl FenceAnswer {
    /// The program's text with the fences in it, in its own language; none where there are no such fences, or they cannot be written there.
    pub fn fenced_text(&self) -> Option<&str> {
        self.text.as_deref()
    }
}

/// Finds the fewest fences that make a criterion hold.
///
/// ```
/// use palisade::{Criterion, FenceVerdict, Model, Options, Program, fence};
///
/// let program = Program::parse(
///     "shared flag[2];
///      thread t[2] {
///        flag[me] = 1;
///        if flag[1 - me] == 0 { cs: skip; }
///      }",
/// )?;
/// let answer = fence(&program, &Options::new(Model::Tso, Criterion::Robust))?;
/// let FenceVerdict::Enough(fences) = &answer.verdict else { panic!() };
/// assert_eq!((fences.len(), fences[0].line), (1, 4));
/// assert!(answer.fenced_text().unwrap().contains("fence;"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fence(program: &Program, options: &Options) -> Result<FenceAnswer, Refused> {
    let search = options.about(program)?;
    let findings = fenced(
        &program.inner,
        &search,
        &FenceOptions::default(),
        &options.control(),
    )
    .map_err(refused)?;
    let found = findings.fences;
    let mut text = findings.text.and_then(Result::ok);
    let verdict = match found.result {
        FenceResult::Optimal(set) => {
            let repairs: Vec<Repair> = set.repairs.iter().map(|c| c.repair).collect();
            // Nothing is to be changed where it holds already.
            text = text.or_else(|| repairs.is_empty().then(|| program.text().to_owned()));
            let mut fences: Vec<Fence> = repairs.iter().map(|r| place(program, *r)).collect();
            fences.sort_by_key(|fence| (fence.line, fence.column));
            FenceVerdict::Enough(fences)
        }
        FenceResult::None => FenceVerdict::Impossible(found.witness),
        FenceResult::Unknown { reason, .. } => FenceVerdict::Unknown(reason),
    };
    Ok(FenceAnswer {
        verdict,
        notes: sentences(&found.notes),
        stats: Stats::new(&found.stats),
        text,
    })
}

fn place(program: &Program, repair: Repair) -> Fence {
    let program = &program.inner;
    let site = program.site(repair);
    let at = program.source.line_column(site.span.start);
    Fence {
        thread: site.thread.map(|t| program.thread(t).name.to_string()),
        before: site.name,
        line: at.line,
        column: at.column,
    }
}
