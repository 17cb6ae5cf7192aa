//! Any number of threads: `thread t[*]`.
//!
//! [`check`] answers every question that `palisade_check::check` answers, also for programs in which threads have any number of copies. Three searches take
//! turns. One checks the program with 1, 2, 3, … copies of each such thread as an ordinary program: so violations are found, with the smallest number and an
//! ordinary witness. The two others count copies, and show that no number of them violates the criterion: [`cover`] forward and from above, [`backward`]
//! from what is bad. Each of them alone can be asked by [`prove`].
//!
//! ```
//! use palisade_check::{Control, Criterion, Model, Options, Verdict};
//! use palisade_lang::{ParseOptions, Source, parse};
//!
//! let text = "shared lock; thread t[*] { bcas(lock, 0, 1); cs: skip; lock = 0; } never t[0]@cs && t[1]@cs;";
//! let program = parse(&Source::new("lock.pal", text), &ParseOptions::default()).unwrap().program;
//! let cancel = std::sync::atomic::AtomicBool::new(false);
//! let control = Control { cancel: &cancel, progress: &|_| {} };
//! let answer = palisade_param::check(&program, &Options::new(Model::Sc, Criterion::Safe), &control).unwrap();
//! assert_eq!(answer.verdict, Verdict::Holds);
//! ```

mod antichain;
mod backward;
mod certificate;
mod cover;
mod steps;
#[cfg(test)]
mod tests;

use std::sync::atomic::Ordering;
use web_time::{Duration, Instant};

pub use backward::Proof;
use backward::{Backward, End as BackwardEnd};
pub use certificate::{CERTIFIED, certificate};
use cover::{Cover, End};
use palisade_check::counted::{Asked, Count, MANY, System, with_system};
use palisade_check::note::{How, InMemory, Note, add_new};
use palisade_check::open::{safe_whatever_is_read, with_open_locations};
use palisade_check::{
    Answer, Control, Criterion, Model, Options, Progress, Refusal, Stats, Verdict, WithCopies,
    doubt, meeting, with_any_number_of_copies,
};
use palisade_lang::finite::{Unbounded, unbounded};
use palisade_lang::{Bound, Copies, LocationId, Program};
use steps::Steps;

/// So many more copies are tried in each round, before all numbers are asked for at once: most violations need one or two.
const COPIES_A_ROUND: u32 = 2;

/// About so many states each of them may have in the first round; four times as many in each further one.
const FIRST_STATES: u64 = 50_000;

/// So many copies are tried where all numbers at once cannot be asked for.
const MOST_COPIES: u32 = 5;

/// How many ideals the first walk for a cap may see, and how many elements the backward search may add; four times as many in each round.
const FIRST_BUDGET: u64 = 2_000;

/// No search counts further: what comes next is any number.
const MOST_COUNTED: Count = MANY - 1;

/// Up to so many copies in a local are counted where the backward search looks at what can be reached at all.
const PRUNING_CAP: Count = 1;

/// Decides `options.criterion` under `options.model`, for every number of copies of threads that may have any.
pub fn check(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
) -> Result<Answer, Refusal> {
    if !program.is_parameterised() {
        return palisade_check::check(program, options, control);
    }
    let mut question = Question {
        program,
        options,
        control,
        start: Instant::now(),
        stats: Stats::default(),
        notes: Vec::new(),
        copies: 0,
        bounds: program.bounds.clone(),
    };
    let verdict = match (unbounded(program), options.model, options.criterion) {
        (Some(unbounded), ..) => question.although(&unbounded)?,
        (None, Model::Sc, _) => question.decide()?,
        (None, _, Criterion::Safe) => question.safe_if_robust()?,
        (None, Model::Ra | Model::C20 | Model::Rc11, Criterion::Drf | Criterion::Observational) => {
            question.follows_from_robust()?
        }
        _ => question.decide()?,
    };
    let verdict = question.respecting_bounds(verdict)?;
    let (verdict, witnesses) = match verdict {
        Found::Violation(answer) => (Verdict::Violated, answer.witnesses),
        Found::Nothing(verdict) => (verdict, Vec::new()),
    };
    if verdict == Verdict::Holds {
        question.notes.push(for_every_number(program));
    }
    if options.disk.is_some() {
        let note = Note::InMemoryOnly(InMemory::EveryNumber);
        question.notes.push(note);
    }
    let orders = palisade_check::orders::note(program, options.model);
    add_new(&mut question.notes, orders);
    question.stats.wall = question.start.elapsed();
    Ok(Answer {
        verdict,
        witnesses,
        stats: question.stats,
        notes: question.notes,
        harm: None,
    })
}

/// What came out.
enum Found {
    /// A number of copies violates the criterion.
    Violation(Answer),
    /// No violation was found: it holds, or it is not known.
    Nothing(Verdict),
}

/// What came out for one number of copies.
enum Tried {
    /// Nothing is wrong with so many.
    Holds,
    /// This is the answer.
    Found(Found),
    /// There are more states than were to be looked at.
    TooMany,
}

/// A question about all numbers of copies.
struct Question<'a> {
    program: &'a Program,
    options: &'a Options,
    control: &'a Control<'a>,
    start: Instant,
    stats: Stats,
    notes: Vec<Note>,
    /// Up to so many copies the criterion is known to hold.
    copies: u32,
    /// The bounds of the program that what is shown does not go beyond.
    bounds: Vec<Bound>,
}

/// Why nothing is decided where data is not finite.
fn not_finite(unbounded: &Unbounded) -> Refusal {
    let what = match unbounded.shared {
        true => "the shared location",
        false => "the register",
    };
    Refusal {
        message: format!(
            "{what} `{}` may hold any number, and with any number of threads only finite data can be decided: give a domain (`--domain 4`, or `domain 4;` in the program)",
            unbounded.name
        ),
        span: Some(unbounded.span),
    }
}

impl Question<'_> {
    fn options(&self) -> Options {
        Options {
            timeout: self
                .options
                .timeout
                .map(|timeout| timeout.saturating_sub(self.start.elapsed())),
            ..self.options.clone()
        }
    }

    fn count(&mut self, stats: &Stats) {
        self.stats.states += stats.states;
        self.stats.transitions += stats.transitions;
        self.stats.queries += stats.queries;
        self.stats.pruned = self.stats.pruned.max(stats.pruned);
        self.stats.peak_memory_bytes = self.stats.peak_memory_bytes.max(stats.peak_memory_bytes);
    }

    /// Checks one more copy, over about so many states.
    fn one_more(&mut self, most_states: Option<u64>) -> Result<Tried, Refusal> {
        let copies = self.copies + 1;
        let instance = self.program.with_copies(copies);
        let mut options = self.options();
        options.most_states = options.most_states.into_iter().chain(most_states).min();
        let mut answer = palisade_check::check(&instance, &options, self.control)?;
        self.count(&answer.stats);
        if let Verdict::Unknown(_) = answer.verdict
            && most_states.is_some_and(|most| answer.stats.states >= most)
        {
            return Ok(Tried::TooMany);
        }
        add_new(&mut self.notes, answer.notes.drain(..));
        Ok(match answer.verdict {
            Verdict::Holds => {
                self.copies = copies;
                Tried::Holds
            }
            Verdict::Violated => {
                for witness in &mut answer.witnesses {
                    witness.copies = Some(copies);
                }
                Tried::Found(Found::Violation(answer))
            }
            Verdict::Unknown(why) => {
                let why = format!("with {}: {why}", counted(copies));
                Tried::Found(Found::Nothing(Verdict::Unknown(why)))
            }
        })
    }

    /// Checks all numbers of copies up to this one. `None`: nothing wrong with any of them.
    fn up_to(&mut self, copies: u32) -> Result<Option<Found>, Refusal> {
        while self.copies < copies {
            if let Tried::Found(found) = self.one_more(None)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Checks a few more copies, each over about so many states. `None`: nothing wrong with them as far as was seen.
    fn some_more(&mut self, most_states: u64) -> Result<Option<Found>, Refusal> {
        for _ in 0..COPIES_A_ROUND {
            match self.one_more(Some(most_states))? {
                Tried::Holds => {}
                Tried::Found(found) => return Ok(Some(found)),
                Tried::TooMany => break,
            }
        }
        Ok(None)
    }

    /// Where data is not finite, a few copies may show a violation, and what is not finite may make no difference.
    fn although(&mut self, unbounded: &Unbounded) -> Result<Found, Refusal> {
        if let Some(found @ Found::Violation(_)) = self.some_more(FIRST_STATES)? {
            return Ok(found);
        }
        match self.safe_whatever_is_read(None)? {
            Some(found) => Ok(found),
            None => Err(not_finite(unbounded)),
        }
    }

    /// `safe` under a model with release and acquire, with the values of some locations left open. `robust`: what is known about it.
    fn safe_whatever_is_read(&mut self, robust: Option<Answer>) -> Result<Option<Found>, Refusal> {
        let (program, model) = (self.program, self.options.model);
        if self.options.criterion != Criterion::Safe
            || !matches!(model, Model::Ra | Model::C20 | Model::Rc11)
        {
            return Ok(None);
        }
        let mut open: Vec<LocationId> = Vec::new();
        let mut left = program.clone();
        while let Some(unbounded) = unbounded(&left) {
            let mut names = program.locations.iter().map(|l| &l.name);
            let place = names.position(|name| unbounded.shared && *name == unbounded.name);
            let Some(location) = place.map(|place| LocationId(place as u32)) else {
                return Ok(None);
            };
            if open.contains(&location) {
                return Ok(None);
            }
            open.push(location);
            let Some(fewer) = with_open_locations(program, &open) else {
                return Ok(None);
            };
            left = fewer;
        }
        let mut ask = |program: &Program, model, criterion| {
            let options = Options {
                model,
                criterion,
                ..self.options()
            };
            // What is looked at here is bounded as the program is, and no more is claimed.
            let without_bounds = Program {
                bounds: Vec::new(),
                ..program.clone()
            };
            let answer = check(&without_bounds, &options, self.control)?;
            self.count(&answer.stats);
            Ok(answer)
        };
        let shown = safe_whatever_is_read(program, model, open, robust, &mut ask)?;
        Ok(shown.map(|shown| {
            self.bounds = shown.program.bounds;
            add_new(&mut self.notes, [shown.note]);
            Found::Nothing(Verdict::Holds)
        }))
    }

    /// No false assurance: what holds says nothing where a run meets a bound that the text does not have.
    fn respecting_bounds(&mut self, found: Found) -> Result<Found, Refusal> {
        if !matches!(found, Found::Nothing(Verdict::Holds)) {
            return Ok(found);
        }
        let model = match self.options.criterion {
            Criterion::Robust | Criterion::Observational => Model::Sc,
            _ => self.options.model,
        };
        for bound in std::mem::take(&mut self.bounds) {
            let options = Options {
                model,
                criterion: Criterion::Safe,
                ..self.options()
            };
            let met = match check(&meeting(self.program, &bound), &options, self.control) {
                Ok(answer) => {
                    self.count(&answer.stats);
                    answer.verdict
                }
                Err(refusal) => Verdict::Unknown(refusal.message),
            };
            if let Some(reason) = doubt(self.program, &bound, met) {
                self.notes.retain(|note| !note.says_holds());
                return Ok(Found::Nothing(Verdict::Unknown(reason)));
            }
        }
        Ok(found)
    }

    /// Decides a criterion that can be asked for all numbers at once.
    fn decide(&mut self) -> Result<Found, Refusal> {
        if let Some(found) = self.some_more(FIRST_STATES)? {
            return Ok(found);
        }
        let (program, options) = (self.program, self.options);
        let asked = with_system(program, options, &mut |system| self.take_turns(system))?;
        match asked {
            Asked::Answered(found) => found,
            Asked::Dismissed(questions) => {
                self.stats.pruned = self.stats.pruned.max(questions);
                Ok(Found::Nothing(Verdict::Holds))
            }
            Asked::OnlyInstances(why) => {
                if let Some(found) = self.up_to(MOST_COPIES)? {
                    return Ok(found);
                }
                Ok(Found::Nothing(Verdict::Unknown(self.not_all(&why))))
            }
        }
    }

    fn not_all(&self, why: &str) -> String {
        match self.copies {
            0 => why.to_owned(),
            copies => format!("up to {} there is no violation; {why}", counted(copies)),
        }
    }

    /// Lets the searches take turns.
    fn take_turns(&mut self, system: &mut dyn System) -> Result<Found, Refusal> {
        let mut searches = Searches::new(system, self.limits());
        let (mut budget, mut states) = (FIRST_BUDGET, FIRST_STATES);
        let mut last_cap: Count = 2;
        loop {
            let mut proved = searches.forward(last_cap, budget);
            if let Proved::Open = proved {
                proved = searches.backward(budget);
            }
            searches.report(&mut self.stats);
            match proved {
                Proved::Holds(_) => {
                    let verdict = match searches.steps.system.doubt() {
                        None => Verdict::Holds,
                        Some(why) => Verdict::Unknown(self.not_all(&why)),
                    };
                    return Ok(Found::Nothing(verdict));
                }
                Proved::Violated(enough) => {
                    // Only the smallest number is wanted.
                    if let Some(found) = self.up_to(enough)? {
                        return Ok(found);
                    }
                    // It cannot be; and if it is, then there is no answer.
                    let why = "the searches disagree, which is a mistake of this program";
                    return Ok(Found::Nothing(Verdict::Unknown(self.not_all(why))));
                }
                Proved::Open => {}
                Proved::Stopped(why) => {
                    let why = format!("{why} while all numbers of copies were asked for");
                    return Ok(Found::Nothing(Verdict::Unknown(self.not_all(&why))));
                }
            }
            budget = budget.saturating_mul(4);
            states = states.saturating_mul(4);
            last_cap = last_cap.saturating_add(1).min(MOST_COUNTED);
            if let Some(found) = self.some_more(states)? {
                return Ok(found);
            }
        }
    }

    /// Asks another question about the program.
    fn ask(&mut self, model: Model, criterion: Criterion) -> Result<Answer, Refusal> {
        let options = Options {
            model,
            criterion,
            ..self.options()
        };
        let answer = check(self.program, &options, self.control)?;
        self.count(&answer.stats);
        Ok(answer)
    }

    /// `drf` by happens-before and `observational`: a robust program has no data race, and no stale value to use either.
    fn follows_from_robust(&mut self) -> Result<Found, Refusal> {
        let robust = self.ask(self.options.model, Criterion::Robust)?;
        let why = match robust.verdict {
            Verdict::Holds => return Ok(Found::Nothing(Verdict::Holds)),
            Verdict::Violated => {
                "the program is not robust, and then only given numbers of copies can be checked"
                    .to_owned()
            }
            Verdict::Unknown(why) => not_known("robust", &why),
        };
        if let Some(found) = self.up_to(MOST_COPIES)? {
            return Ok(found);
        }
        Ok(Found::Nothing(Verdict::Unknown(self.not_all(&why))))
    }

    /// `safe` under TSO for all numbers of copies, backwards with load buffers; an error where it is not known, and why.
    fn with_load_buffers(&mut self) -> Result<Result<Found, String>, Refusal> {
        let mut limits = self.limits();
        let mut seen = 0;
        let end = with_any_number_of_copies(self.program, self.options, &mut |states, bytes| {
            seen = states;
            limits.stop(states, bytes)
        });
        self.stats.states += seen;
        Ok(match end {
            WithCopies::Safe(minimal) => {
                let how = How::LoadBuffersBackward { minimal };
                self.notes.push(Note::How(how));
                Ok(Found::Nothing(Verdict::Holds))
            }
            WithCopies::Unsafe(copies) => match self.up_to(copies)? {
                Some(found) => Ok(found),
                None => Err("the searches disagree, which is a mistake of this program".to_owned()),
            },
            WithCopies::OnlyInstances(why) => Err(why),
            WithCopies::Stopped(why) => {
                Err(format!("{why} while all numbers of copies were asked for"))
            }
        })
    }

    /// `safe` under a weak model: what is robust does there what it does under SC.
    fn safe_if_robust(&mut self) -> Result<Found, Refusal> {
        let model = self.options.model;
        let mut most = MOST_COPIES;
        let under_sc = self.ask(Model::Sc, Criterion::Safe)?;
        if let Some(copies) = under_sc.witnesses.first().and_then(|w| w.copies) {
            // So many copies are enough here, too; under TSO, fewer may be.
            most = copies;
            if model != Model::Tso {
                self.copies = copies - 1;
            }
        } else if model == Model::Tso
            && let Some(found) = self.some_more(FIRST_STATES)?
        {
            return Ok(found);
        }
        let mut why = "under SC it is not safe".to_owned();
        if under_sc.verdict != Verdict::Violated {
            let robust = self.ask(model, Criterion::Robust)?;
            if robust.verdict == Verdict::Violated
                && under_sc.verdict == Verdict::Holds
                && let Some(found) = self.safe_whatever_is_read(Some(robust.clone()))?
            {
                return Ok(found);
            }
            why = match (robust.verdict, under_sc.verdict) {
                (Verdict::Holds, Verdict::Holds) => {
                    self.notes.push(Note::RobustAndSafe(model));
                    return Ok(Found::Nothing(Verdict::Holds));
                }
                (Verdict::Violated, _) if model == Model::Tso => {
                    match self.with_load_buffers()? {
                        Ok(found) => return Ok(found),
                        Err(why) => why,
                    }
                }
                (Verdict::Violated, _) => {
                    "the program is not robust, and then only given numbers of copies can be checked"
                        .to_owned()
                }
                (Verdict::Unknown(why), _) => not_known("robust", &why),
                (_, Verdict::Unknown(why)) => not_known("safe under SC", &why),
                (_, Verdict::Violated) => why,
            };
        }
        if let Some(found) = self.up_to(most)? {
            return Ok(found);
        }
        Ok(Found::Nothing(Verdict::Unknown(self.not_all(&why))))
    }
}

impl<'a> Question<'a> {
    fn limits(&self) -> Limits<'a> {
        Limits {
            start: self.start,
            timeout: self.options.timeout,
            memory: self.options.memory_limit(),
            control: self.control,
            peak: 0,
        }
    }
}

/// A search that counts copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Forward, from above: with more and more copies that are counted before they are just many.
    Forward,
    /// Backward, from what is bad.
    Backward,
}

/// What a search that counts copies has to say about all numbers of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proved {
    /// The criterion holds for every number of copies; the backward search also says why.
    Holds(Option<Proof>),
    /// It is violated where there are so many copies of each thread that may have any number, and perhaps with fewer.
    Violated(u32),
    /// It is not known yet.
    Open,
    /// A limit was hit.
    Stopped(String),
}

/// Asks one search alone, over at most so many sets of states. `None` where it cannot be asked for all numbers at once; the criterion holds without a search
/// where there is nothing to search for.
pub fn prove(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
    engine: Engine,
    most: u64,
) -> Result<Option<Proved>, Refusal> {
    let asked = with_system(program, options, &mut |system| {
        let limits = Limits {
            start: Instant::now(),
            timeout: options.timeout,
            memory: options.memory_limit(),
            control,
            peak: 0,
        };
        let mut searches = Searches::new(system, limits);
        let proved = match engine {
            Engine::Forward => loop {
                let left = most.saturating_sub(searches.cover.states);
                let cap = searches.cap;
                let proved = searches.forward(cap, left);
                // Nothing is left, or nothing has changed.
                if proved != Proved::Open || left == 0 || cap == searches.cap || cap == MOST_COUNTED
                {
                    break proved;
                }
            },
            Engine::Backward => searches.backward(most),
        };
        match searches.steps.system.doubt() {
            Some(why) if matches!(proved, Proved::Holds(_)) => Proved::Stopped(why),
            _ => proved,
        }
    })?;
    Ok(match asked {
        Asked::Answered(proved) => Some(proved),
        Asked::Dismissed(_) => Some(Proved::Holds(None)),
        Asked::OnlyInstances(_) => None,
    })
}

/// What stops a search.
struct Limits<'a> {
    start: Instant,
    timeout: Option<Duration>,
    memory: Option<u64>,
    control: &'a Control<'a>,
    /// The most bytes seen.
    peak: u64,
}

impl Limits<'_> {
    fn stop(&mut self, states: u64, bytes: u64) -> Option<String> {
        self.peak = self.peak.max(bytes);
        (self.control.progress)(&Progress {
            states,
            memory_bytes: bytes,
            ..Progress::default()
        });
        if self.control.cancel.load(Ordering::Relaxed) {
            Some("it was interrupted".to_owned())
        } else if self.timeout.is_some_and(|t| self.start.elapsed() >= t) {
            Some("the time limit is reached".to_owned())
        } else if self.memory.is_some_and(|m| bytes.saturating_mul(2) > m) {
            Some("the memory limit is reached".to_owned())
        } else {
            None
        }
    }
}

/// The searches that count copies.
struct Searches<'s, 'a> {
    steps: Steps<'s>,
    limits: Limits<'a>,
    cover: Cover,
    /// How far the forward search counts.
    cap: Count,
    backward: Option<Backward>,
    walks: u64,
}

impl<'s, 'a> Searches<'s, 'a> {
    fn new(system: &'s mut dyn System, limits: Limits<'a>) -> Self {
        Searches {
            steps: Steps::new(system),
            limits,
            cover: Cover::default(),
            cap: 1,
            backward: None,
            walks: 0,
        }
    }

    /// Walks forward, and counts up to `last_cap`.
    fn forward(&mut self, last_cap: Count, budget: u64) -> Proved {
        while self.cap <= last_cap {
            self.walks += 1;
            let limits = &mut self.limits;
            let end = self
                .cover
                .explore(&mut self.steps, self.cap, budget, &mut |s, b| {
                    limits.stop(s, b)
                });
            match end {
                End::Safe => return Proved::Holds(None),
                End::Bad => self.cap += 1,
                End::TooMany => break,
                End::Stopped(why) => return Proved::Stopped(why),
            }
        }
        Proved::Open
    }

    /// Goes back from what is bad.
    fn backward(&mut self, budget: u64) -> Proved {
        // What is counted less is less to see.
        self.backward_over(&[PRUNING_CAP, 0], budget)
    }

    /// The same, over what can be seen with the first of these caps with which it is not too much.
    fn backward_over(&mut self, caps: &[Count], budget: u64) -> Proved {
        let limits = &mut self.limits;
        let search = match &mut self.backward {
            Some(search) => search,
            None => {
                self.walks += 1;
                let mut ideals = None;
                for &cap in caps {
                    let found = self
                        .cover
                        .collect(&mut self.steps, cap, budget, &mut |s, b| limits.stop(s, b));
                    match found {
                        Ok(found) => ideals = Some(found),
                        Err(End::Stopped(why)) => return Proved::Stopped(why),
                        Err(_) => continue,
                    }
                    break;
                }
                let Some(ideals) = ideals else {
                    return Proved::Open;
                };
                match Backward::new(&mut self.steps, ideals, &mut |s, b| limits.stop(s, b)) {
                    Ok(search) => self.backward.insert(search),
                    Err(why) => return Proved::Stopped(why),
                }
            }
        };
        self.walks += 1;
        let known = self.steps.bytes();
        match search.search(budget, &mut |s, b| limits.stop(s, known + b)) {
            BackwardEnd::Safe => Proved::Holds(Some(search.proof())),
            BackwardEnd::Bad(copies) => Proved::Violated(copies),
            BackwardEnd::TooMany => Proved::Open,
            BackwardEnd::Stopped(why) => Proved::Stopped(why),
        }
    }

    /// Adds what has been done since the last time.
    fn report(&mut self, stats: &mut Stats) {
        stats.states += std::mem::take(&mut self.cover.states);
        stats.transitions += std::mem::take(&mut self.cover.transitions);
        if let Some(search) = &mut self.backward {
            stats.states += std::mem::take(&mut search.states);
            stats.transitions += std::mem::take(&mut search.transitions);
        }
        stats.iterations += std::mem::take(&mut self.walks);
        stats.peak_memory_bytes = stats.peak_memory_bytes.max(self.limits.peak);
    }
}

/// Said where a criterion holds.
fn for_every_number(program: &Program) -> Note {
    let any = program.threads.iter().filter(|t| t.copies == Copies::Any);
    Note::EveryNumber(any.map(|t| t.name.clone()).collect())
}

/// Another question would decide this one, and has no answer either.
fn not_known(what: &str, why: &str) -> String {
    format!("whether it is {what} with every number is not known ({why})")
}

/// `1 copy`, `2 copies`.
fn counted(copies: u32) -> String {
    match copies {
        1 => "1 copy".to_owned(),
        n => format!("{n} copies"),
    }
}
