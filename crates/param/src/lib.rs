//! Any number of threads: `thread t[*]`.
//!
//! [`check`] answers every question that `palisade_check::check` answers, also for programs in which threads have any number of copies. Two searches take
//! turns. One checks the program with 1, 2, 3, … copies of each such thread as an ordinary program: so violations are found, with the smallest number and an
//! ordinary witness. The other one ([`cover`]) counts copies, and shows that no number of them violates the criterion.
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

mod cover;

use std::sync::atomic::Ordering;
use std::time::Instant;

use cover::{Cover, End};
use palisade_check::counted::{Asked, Count, System, with_system};
use palisade_check::{
    Answer, Control, Criterion, Model, Options, Progress, Refusal, Stats, Verdict,
};
use palisade_lang::{Copies, Program};

/// So many copies are tried before all numbers are asked for at once: most violations need one or two.
const FIRST_COPIES: u32 = 2;

/// So many copies are tried where all numbers at once cannot be asked for.
const MOST_COPIES: u32 = 5;

/// How many ideals the first walk for a cap may see; four times as many in each round.
const FIRST_BUDGET: u64 = 20_000;

/// Decides `options.criterion` under `options.model`, for every number of copies of threads that may have any.
pub fn check(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
) -> Result<Answer, Refusal> {
    if !program.is_parameterised() {
        return palisade_check::check(program, options, control);
    }
    if let Some(unbounded) = palisade_lang::finite::unbounded(program) {
        return Err(Refusal {
            message: format!(
                "{} `{}` may hold any number, and with any number of threads only finite data can be decided: declare a domain, such as `domain 4;`",
                if unbounded.shared {
                    "the shared location"
                } else {
                    "the register"
                },
                unbounded.name
            ),
            span: Some(unbounded.span),
        });
    }
    let mut question = Question {
        program,
        options,
        control,
        start: Instant::now(),
        stats: Stats::default(),
        notes: Vec::new(),
        copies: 0,
    };
    let verdict = match (options.model, options.criterion) {
        (Model::Tso | Model::Ra, Criterion::Safe) => question.safe_if_robust()?,
        _ => question.decide()?,
    };
    let (verdict, witnesses) = match verdict {
        Found::Violation(answer) => (Verdict::Violated, answer.witnesses),
        Found::Nothing(verdict) => (verdict, Vec::new()),
    };
    if verdict == Verdict::Holds {
        question.notes.push(for_every_number(program));
    }
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

/// A question about all numbers of copies.
struct Question<'a> {
    program: &'a Program,
    options: &'a Options,
    control: &'a Control<'a>,
    start: Instant,
    stats: Stats,
    notes: Vec<String>,
    /// Up to so many copies the criterion is known to hold.
    copies: u32,
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

    /// Checks one more copy. `None`: nothing wrong with so many.
    fn one_more(&mut self) -> Result<Option<Found>, Refusal> {
        let copies = self.copies + 1;
        let instance = self.program.with_copies(copies);
        let mut answer = palisade_check::check(&instance, &self.options(), self.control)?;
        self.count(&answer.stats);
        for note in answer.notes.drain(..) {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        Ok(match answer.verdict {
            Verdict::Holds => {
                self.copies = copies;
                None
            }
            Verdict::Violated => {
                for witness in &mut answer.witnesses {
                    witness.copies = Some(copies);
                }
                Some(Found::Violation(answer))
            }
            Verdict::Unknown(why) => {
                let why = format!("with {}: {why}", counted(copies));
                Some(Found::Nothing(Verdict::Unknown(why)))
            }
        })
    }

    /// Decides a criterion that can be asked for all numbers at once.
    fn decide(&mut self) -> Result<Found, Refusal> {
        while self.copies < FIRST_COPIES {
            if let Some(found) = self.one_more()? {
                return Ok(found);
            }
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
                while self.copies < MOST_COPIES {
                    if let Some(found) = self.one_more()? {
                        return Ok(found);
                    }
                }
                Ok(Found::Nothing(Verdict::Unknown(self.not_all(&why))))
            }
        }
    }

    fn not_all(&self, why: &str) -> String {
        format!(
            "up to {} there is no violation; {why}",
            counted(self.copies)
        )
    }

    /// Lets the two searches take turns.
    fn take_turns(&mut self, system: &mut dyn System) -> Result<Found, Refusal> {
        let mut cover = Cover::new(system);
        let mut budget = FIRST_BUDGET;
        let mut cap: Count = 1;
        let mut last_cap: Count = 2;
        loop {
            while cap <= last_cap {
                let (start, timeout) = (self.start, self.options.timeout);
                let (memory, control) = (self.options.memory, self.control);
                let mut peak = 0;
                let before = (cover.states, cover.transitions);
                let end = cover.explore(cap, budget, &mut |states, bytes| {
                    peak = peak.max(bytes);
                    (control.progress)(&Progress {
                        states,
                        memory_bytes: bytes,
                        ..Progress::default()
                    });
                    if control.cancel.load(Ordering::Relaxed) {
                        Some("it was interrupted".to_owned())
                    } else if timeout.is_some_and(|t| start.elapsed() >= t) {
                        Some("the time limit is reached".to_owned())
                    } else if memory.is_some_and(|m| bytes * 2 > m) {
                        Some("the memory limit is reached".to_owned())
                    } else {
                        None
                    }
                });
                self.stats.states += cover.states - before.0;
                self.stats.transitions += cover.transitions - before.1;
                self.stats.iterations += 1;
                self.stats.peak_memory_bytes = self.stats.peak_memory_bytes.max(peak);
                match end {
                    End::Safe => {
                        let verdict = match cover.doubt() {
                            None => Verdict::Holds,
                            Some(why) => Verdict::Unknown(self.not_all(&why)),
                        };
                        return Ok(Found::Nothing(verdict));
                    }
                    End::Bad => cap += 1,
                    End::TooMany => break,
                    End::Stopped(why) => {
                        let why = format!("{why} while all numbers of copies were asked for");
                        return Ok(Found::Nothing(Verdict::Unknown(self.not_all(&why))));
                    }
                }
            }
            if let Some(found) = self.one_more()? {
                return Ok(found);
            }
            budget = budget.saturating_mul(4);
            last_cap = last_cap.saturating_add(1).min(Count::MAX - 1);
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

    /// `safe` under a weak model: what is robust does there what it does under SC.
    fn safe_if_robust(&mut self) -> Result<Found, Refusal> {
        let model = self.options.model;
        let mut most = MOST_COPIES;
        let under_sc = self.ask(Model::Sc, Criterion::Safe)?;
        if let Some(copies) = under_sc.witnesses.first().and_then(|w| w.copies) {
            // So many copies are enough here, too; under TSO, fewer may be.
            most = copies;
            if model == Model::Ra {
                self.copies = copies - 1;
            }
        } else if model == Model::Tso {
            while self.copies < FIRST_COPIES {
                if let Some(found) = self.one_more()? {
                    return Ok(found);
                }
            }
        }
        let mut why = "under SC it is not safe".to_owned();
        if under_sc.verdict != Verdict::Violated {
            why = match (self.ask(model, Criterion::Robust)?.verdict, under_sc.verdict) {
                (Verdict::Holds, Verdict::Holds) => {
                    self.notes.push(format!(
                        "the program is robust: under {} it does what it does under SC, and there it is safe",
                        model.name().to_uppercase()
                    ));
                    return Ok(Found::Nothing(Verdict::Holds));
                }
                (Verdict::Violated, _) => {
                    "the program is not robust, and then only given numbers of copies can be checked"
                        .to_owned()
                }
                (Verdict::Unknown(why), _) | (_, Verdict::Unknown(why)) => why,
                (_, Verdict::Violated) => why,
            };
        }
        while self.copies < most {
            if let Some(found) = self.one_more()? {
                return Ok(found);
            }
        }
        Ok(Found::Nothing(Verdict::Unknown(self.not_all(&why))))
    }
}

/// Said where a criterion holds.
fn for_every_number(program: &Program) -> String {
    let any = program.threads.iter().filter(|t| t.copies == Copies::Any);
    let names: Vec<String> = any.map(|t| format!("`{}`", t.name)).collect();
    format!(
        "this is so for every number of copies of {}",
        names.join(" and ")
    )
}

/// `1 copy`, `2 copies`.
fn counted(copies: u32) -> String {
    match copies {
        1 => "1 copy".to_owned(),
        n => format!("{n} copies"),
    }
}
